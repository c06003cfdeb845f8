//! From the bytes of a datagram to an instruction, entered at each layer.

use fulmar_base::Time;
use fulmar_datagram::{
    Direction, Fragment, FragmentHeader, FragmentIndex, Key, Opener, Sealer, Stamps,
};
use fulmar_sim::Choices;
use fulmar_transport::limits::INSTRUCTION_BYTES_MAX;
use fulmar_transport::{Assembly, Deflater, Fragmenter, Inflater, Instruction};

/// Source: docs/threat-model.md §6, compressed bytes of an instruction.
const COMPRESSED_BYTES_MAX: usize = 4 * 1024 * 1024 + 64 * 1024;

/// Enters bytes as a datagram, as fragments under the seal, as a compressed stream, or as an instruction.
///
/// # Panics
///
/// Where something is opened without the key, kept beyond its cap, or written otherwise than it is read.
pub(crate) fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    match choices.below(4) {
        0 => unsealed(choices.rest()),
        1 => fragments(&mut choices),
        2 => {
            let inflated = Inflater::new().inflate(choices.rest()).map(<[u8]>::len);
            assert!(inflated.unwrap_or(0) <= INSTRUCTION_BYTES_MAX);
        }
        _ => instruction(choices.rest()),
    }
}

fn key() -> Key {
    Key::from_bytes([1; 16].into())
}

fn unsealed(datagram: &[u8]) {
    let mut plaintext = Vec::new();
    for direction in [Direction::ToClient, Direction::ToServer] {
        let mut opener = Opener::new(&key(), direction);
        assert!(opener.open(datagram, &mut plaintext).is_err());
        // Nothing of it, or zeros in its place.
        assert!(plaintext.iter().all(|byte| *byte == 0));
        assert_eq!(opener.highest_sequence(), None);
    }
}

fn fragments(choices: &mut Choices<'_>) {
    let mut sealer = Sealer::new(key(), Direction::ToServer);
    let mut opener = Opener::new(&key(), Direction::ToServer);
    let (mut assembly, mut inflater) = (Assembly::new(), Inflater::new());
    let (mut datagram, mut plaintext) = (Vec::new(), Vec::new());
    while !choices.is_over() {
        let place = choices.byte();
        let index = if place & 0x40 == 0 {
            u16::from(place & 7)
        } else {
            choices.number() as u16
        };
        let header = FragmentHeader {
            id: choices.number(),
            index: FragmentIndex::new(index & 0x7fff).expect("15 bits"),
            is_final: place & 0x80 != 0,
        };
        let content = choices.bytes();
        let fragment = Fragment { header, content };
        datagram.clear();
        let sealed = sealer.seal(Stamps::NONE, fragment, &mut datagram);
        sealed.expect("it is short enough");
        let opened = opener.open(&datagram, &mut plaintext);
        let opened = opened.expect("it is genuine");
        assert_eq!(opened.fragment, fragment);
        if let Ok(Some(compressed)) = assembly.add(Time::ZERO, opened.fragment)
            && let Ok(inflated) = inflater.inflate(&compressed)
        {
            instruction(inflated);
        }
        assert!(assembly.held_bytes() <= COMPRESSED_BYTES_MAX);
    }
}

/// An instruction that can be read is the same once it was written, sealed and cut up.
fn instruction(bytes: &[u8]) {
    let Ok(read) = Instruction::decode(bytes) else {
        return;
    };
    let mut written = Vec::new();
    read.encode(&mut written);
    let mut compressed = Vec::new();
    Deflater::new().deflate(&written, &mut compressed);
    let mut assembly = Assembly::new();
    let mut fragments = Fragmenter::new(7, compressed, 500).expect("few enough");
    let mut whole = None;
    while let Some(fragment) = fragments.take() {
        let added = assembly.add(Time::ZERO, fragment);
        whole = added.expect("it fits").map(|whole| whole.to_vec());
    }
    let whole = whole.expect("all were added");
    let mut inflater = Inflater::new();
    let again = inflater.inflate(&whole).expect("it was deflated");
    assert_eq!(Instruction::decode(again), Ok(read));
}
