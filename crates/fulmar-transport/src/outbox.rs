//! From an instruction to datagrams.

use fulmar_base::{Ecn, PathId, Time};
use fulmar_datagram::limits::DATAGRAM_OVERHEAD_BYTES;
use fulmar_datagram::{FragmentHeader, SealError, Sealer, Sequence};

use crate::assembly::Fragmenter;
use crate::cause::Cause;
use crate::challenge::Challenge;
use crate::clock::Clock;
use crate::compress::{Deflater, STORED_OVERHEAD_BYTES, store};
use crate::dialect::Addition;
use crate::event::{Transmit, TransmitNumbers};
use crate::extensions::pad;
use crate::instruction::{Instruction, Numbers};
use crate::limits::{
    CHAFF_BYTES_MAX, LEAP_MIN, TRANSMISSION_BYTES_MAX, TRANSMISSION_DATAGRAMS_MAX,
};

/// A source of random bytes, which nobody else can foretell. The core has none of its own, so that a run can be
/// repeated.
pub trait Noise {
    /// Fills the slice.
    fn fill(&mut self, bytes: &mut [u8]);
}

/// Encodes, compresses, cuts and seals. Holds one instruction at a time: the fragments of different
/// ones must not mix, since a receiver collects one only.
pub(crate) struct Outbox {
    sealer: Sealer,
    deflater: Deflater,
    noise: Box<dyn Noise>,
    next_id: u64,
    encoded: Vec<u8>,
    pending: Option<Pending>,
}

/// An instruction that has not left entirely.
struct Pending {
    fragments: Fragmenter,
    path: PathId,
    cause: Cause,
    numbers: Numbers,
    difference_bytes: usize,
}

/// An instruction to send.
pub(crate) struct Outgoing {
    pub(crate) path: PathId,
    pub(crate) cause: Cause,
    pub(crate) numbers: Numbers,
    pub(crate) difference: Vec<u8>,
    pub(crate) addition: Addition,
    /// True if no state of the target's number was sent before.
    pub(crate) is_new: bool,
    /// The length of the datagram, if it is a probe of the path's MTU.
    pub(crate) padded_to: Option<usize>,
}

/// The cost of an instruction on the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub(crate) bytes: usize,
    pub(crate) datagrams: usize,
    /// The bytes of the longest datagram.
    pub(crate) longest: usize,
}

impl Outbox {
    pub(crate) fn new(sealer: Sealer, noise: Box<dyn Noise>) -> Outbox {
        Outbox {
            sealer,
            deflater: Deflater::new(),
            noise,
            next_id: 1,
            encoded: Vec::new(),
            pending: None,
        }
    }

    /// Leaves out sequence numbers, up to this one.
    pub(crate) fn skip_to(&mut self, sequence: Sequence) {
        self.sealer.skip_to(sequence);
    }

    /// Sends nothing of what is left of an instruction: its other datagrams are as long as one that was refused.
    pub(crate) fn drop_rest(&mut self) {
        self.pending = None;
    }

    /// Leaves out so many sequence numbers after that one that the peer takes nothing for lost, whether the datagram of that
    /// number has arrived or not: a probe that does not pass says nothing of how many datagrams the path loses.
    pub(crate) fn leap_from(&mut self, sequence: Sequence) {
        let next = sequence.get().saturating_add(1 + LEAP_MIN);
        if let Some(next) = Sequence::new(next) {
            self.sealer.skip_to(next);
        }
    }

    /// Returns random bytes to challenge a peer with.
    pub(crate) fn challenge(&mut self) -> Challenge {
        let mut bytes = [0; Challenge::BYTES];
        self.noise.fill(&mut bytes);
        Challenge::new(bytes)
    }

    /// Takes an instruction to send, in datagrams of at most so many bytes. Returns what it will cost.
    pub(crate) fn load(&mut self, outgoing: &Outgoing, datagram_bytes: usize) -> Cost {
        let &Outgoing {
            path,
            cause,
            numbers,
            ref difference,
            ref addition,
            ..
        } = outgoing;
        let mut chaff = [0; CHAFF_BYTES_MAX];
        let chaff = fill_chaff(&mut *self.noise, &mut chaff);
        self.encoded.clear();
        let instruction = Instruction {
            extensions: addition.extensions(),
            ..Instruction::new(numbers, difference, chaff)
        };
        instruction.encode(&mut self.encoded);
        let mut compressed = Vec::new();
        if let Some(bytes) = outgoing.padded_to {
            let stored_bytes =
                bytes.saturating_sub(DATAGRAM_OVERHEAD_BYTES + STORED_OVERHEAD_BYTES);
            pad(&mut self.encoded, stored_bytes);
            store(&self.encoded, &mut compressed);
        } else {
            self.deflater.deflate(&self.encoded, &mut compressed);
        }
        self.encoded.shrink_to(KEPT_BYTES);

        // A repetition gets an id of its own, too: its chaff and acknowledgement are others
        // (docs/protocol.md §4).
        let id = self.next_id;
        self.next_id = id.saturating_add(1);
        let datagram_bytes = outgoing.padded_to.unwrap_or(datagram_bytes);
        let fragments = Fragmenter::new(id, compressed, datagram_bytes)
            .expect("an instruction has 4 MiB at most, and 32 768 datagrams hold 15 MB");
        let cost = Cost {
            bytes: fragments.datagrams_bytes(),
            datagrams: fragments.count(),
            longest: fragments.longest_bytes(),
        };
        self.pending = Some(Pending {
            fragments,
            path,
            cause,
            numbers,
            difference_bytes: difference.len(),
        });
        cost
    }

    /// Writes as many datagrams of the instruction as go into one transmission, in place of what the
    /// buffer held.
    pub(crate) fn emit(
        &mut self,
        now: Time,
        clock: &mut Clock,
        out: &mut Vec<u8>,
    ) -> Result<Option<Transmit>, SealError> {
        let Some(pending) = &mut self.pending else {
            return Ok(None);
        };
        out.clear();
        let mut first: Option<(Sequence, FragmentHeader, usize)> = None;
        let count = datagrams_at_once(pending.fragments.longest_bytes());
        for _ in 0..count {
            let Some(fragment) = pending.fragments.take() else {
                break;
            };
            let sequence = self.sealer.seal(clock.stamp(now), fragment, out)?;
            let length = DATAGRAM_OVERHEAD_BYTES + fragment.content.len();
            first.get_or_insert((sequence, fragment.header, length));
        }
        let transmit = first.map(|(sequence, fragment, segment)| Transmit {
            path: pending.path,
            ecn: Ecn::Capable0,
            length: out.len(),
            segment,
            cause: pending.cause,
            numbers: TransmitNumbers {
                sequence,
                fragment,
                fragments: pending.fragments.count(),
                instruction: pending.numbers,
                difference_bytes: pending.difference_bytes,
            },
        });
        if pending.fragments.is_done() {
            self.pending = None;
        }
        Ok(transmit)
    }
}

/// A buffer that has grown above this is given back after use.
///
/// Chosen by eye.
const KEPT_BYTES: usize = 64 * 1024;

/// Returns how many datagrams of that size go into one transmission.
fn datagrams_at_once(datagram_bytes: usize) -> usize {
    (TRANSMISSION_BYTES_MAX / datagram_bytes.max(1)).clamp(1, TRANSMISSION_DATAGRAMS_MAX)
}

/// Returns 0 to 16 random bytes: as many as a random byte modulo 17.
///
/// Source: docs/protocol.md §5.1.
fn fill_chaff<'a>(noise: &mut dyn Noise, chaff: &'a mut [u8; CHAFF_BYTES_MAX]) -> &'a [u8] {
    let mut length = [0];
    noise.fill(&mut length);
    let [length] = length.map(|byte| usize::from(byte) % (CHAFF_BYTES_MAX + 1));
    let chaff = chaff.get_mut(..length).unwrap_or_default();
    noise.fill(chaff);
    chaff
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use fulmar_datagram::{Direction, Key, Opener};

    use super::*;
    use crate::Inflater;

    struct Quiet;

    impl Noise for Quiet {
        fn fill(&mut self, bytes: &mut [u8]) {
            bytes.fill(0);
        }
    }

    /// Two transmissions of short datagrams and more, which do not become smaller by compression.
    fn large() -> Outgoing {
        let noise = |n: u32| (n.wrapping_mul(n).wrapping_mul(0x9E37_79B9) >> 24) as u8;
        Outgoing {
            path: PathId::new(1),
            cause: Cause::First,
            numbers: Numbers::default(),
            difference: (0..100_000).map(noise).collect(),
            addition: Addition::default(),
            is_new: true,
            padded_to: None,
        }
    }

    #[test]
    fn all_datagrams_of_an_instruction_but_the_last_are_as_long_as_was_said() {
        let key = Key::from_base64("c68K8iLyuCr1oEM7Hszyjg").unwrap();
        let sealer = Sealer::new(key, Direction::ToServer);
        let mut outbox = Outbox::new(sealer, Box::new(Quiet));
        let now = Time::from_origin(Duration::from_secs(1));
        let (mut clock, mut out) = (Clock::new(), Vec::new());
        for datagram_bytes in [500, 1252] {
            let cost = outbox.load(&large(), datagram_bytes);
            assert_eq!(cost.longest, datagram_bytes);
            let (mut bytes, mut datagrams) = (0, 0);
            while let Some(sent) = outbox.emit(now, &mut clock, &mut out).unwrap() {
                assert_eq!(sent.segment, datagram_bytes);
                bytes += sent.length;
                datagrams += sent.datagrams();
            }
            assert_eq!((cost.bytes, cost.datagrams), (bytes, datagrams));
        }
    }

    #[test]
    fn a_probe_is_as_long_as_it_has_to_be_to_the_byte() {
        let key = || Key::from_base64("c68K8iLyuCr1oEM7Hszyjg").unwrap();
        let mut outbox = Outbox::new(Sealer::new(key(), Direction::ToServer), Box::new(Quiet));
        let mut opener = Opener::new(&key(), Direction::ToServer);
        let now = Time::from_origin(Duration::from_secs(1));
        let (mut clock, mut out, mut plaintext) = (Clock::new(), Vec::new(), Vec::new());
        for bytes in [300, 1052, 1392, 1472, 2048] {
            let probe = Outgoing {
                cause: Cause::SizeProbe,
                difference: Vec::new(),
                padded_to: Some(bytes),
                ..large()
            };
            let cost = outbox.load(&probe, 500);
            assert_eq!(
                (cost.bytes, cost.datagrams, cost.longest),
                (bytes, 1, bytes)
            );
            let sent = outbox.emit(now, &mut clock, &mut out).unwrap().unwrap();
            assert_eq!((sent.length, sent.datagrams()), (bytes, 1));
            let opened = opener.open(&out, &mut plaintext).unwrap();
            let mut inflater = Inflater::new();
            let inflated = inflater.inflate(opened.fragment.content).unwrap();
            let instruction = Instruction::decode(inflated).unwrap();
            assert!(instruction.extensions.padding.is_some());
            assert_eq!(instruction.numbers, Numbers::default());
        }
    }
}
