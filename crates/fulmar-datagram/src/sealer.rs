//! From timestamps and a fragment to a datagram.

use crate::cipher::BLOCK_BYTES;
use crate::key::Filled;
use crate::limits::{CONTENT_BYTES_MAX, DATAGRAM_OVERHEAD_BYTES, KEY_BLOCKS_MAX};
use crate::{Direction, Fragment, Key, Nonce, Sequence, Stamps};

/// The reason why a datagram was not sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// The key has encrypted all that it safely can. The conversation is over.
    #[error("the key is spent")]
    KeySpent,
    /// The content is longer than [`CONTENT_BYTES_MAX`].
    #[error("a fragment of {found} bytes does not fit into a datagram")]
    TooLong {
        /// Bytes of the content.
        found: usize,
    },
}

/// Seals the datagrams of one direction, and alone knows the number of the next.
///
/// A nonce used twice under one key would give the text away and let anybody forge. So there is no
/// second counter: a sealer consumes its key, is not `Clone`, and cannot be stored or resumed.
pub struct Sealer {
    material: Filled,
    direction: Direction,
    next: Sequence,
    blocks: u64,
    blocks_max: u64,
}

impl Sealer {
    /// Returns a sealer that starts at sequence number 0. Make the [`Opener`](crate::Opener) of
    /// the other direction first: the key is gone afterwards.
    pub fn new(key: Key, direction: Direction) -> Sealer {
        Sealer::with_blocks_max(key, direction, KEY_BLOCKS_MAX)
    }

    /// As [`Sealer::new`], for tests that want to see a key spent; a limit above
    /// [`KEY_BLOCKS_MAX`] is lowered to it.
    #[doc(hidden)]
    pub fn with_blocks_max(key: Key, direction: Direction, blocks_max: u64) -> Sealer {
        Sealer {
            material: key.material(),
            direction,
            next: Sequence::ZERO,
            blocks: 0,
            blocks_max: blocks_max.min(KEY_BLOCKS_MAX),
        }
    }

    /// Appends one datagram to `out` and returns its sequence number.
    ///
    /// # Errors
    ///
    /// Nothing is appended and no number used. Once a key is [spent](SealError::KeySpent) it
    /// remains so.
    pub fn seal(
        &mut self,
        stamps: Stamps,
        fragment: Fragment<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Sequence, SealError> {
        if fragment.content.len() > CONTENT_BYTES_MAX {
            return Err(SealError::TooLong {
                found: fragment.content.len(),
            });
        }
        // Both before anything is encrypted, so that no failure leads to a number that is used
        // twice.
        self.spend(Stamps::BYTES + fragment.encoded_bytes())?;
        let nonce = self.take_nonce();

        out.reserve(DATAGRAM_OVERHEAD_BYTES + fragment.content.len());
        out.extend_from_slice(&nonce.to_wire());
        let start = out.len();
        out.extend_from_slice(&stamps.to_wire());
        fragment.encode(out);
        let (_, plaintext) = out.split_at_mut(start);
        let tag = self.material.cipher().seal(&nonce.to_cipher(), plaintext);
        out.extend_from_slice(&tag);
        Ok(nonce.sequence)
    }

    /// Goes on at this number, unless the next one is higher already: numbers only rise.
    pub fn skip_to(&mut self, sequence: Sequence) {
        self.next = self.next.max(sequence);
    }

    /// Counts a plaintext against the life of the key.
    fn spend(&mut self, plaintext_bytes: usize) -> Result<(), SealError> {
        let blocks = plaintext_bytes.div_ceil(BLOCK_BYTES) as u64;
        self.blocks = self.blocks.saturating_add(blocks);
        if self.blocks < self.blocks_max {
            Ok(())
        } else {
            Err(SealError::KeySpent)
        }
    }

    /// Uses up a number, before anything is encrypted under it.
    fn take_nonce(&mut self) -> Nonce {
        let sequence = self.next;
        self.next = sequence
            .next()
            .expect("a key is spent long before its numbers are");
        Nonce {
            direction: self.direction,
            sequence,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::DATAGRAM_BYTES_MAX;
    use crate::testing::key;
    use crate::{FragmentHeader, FragmentIndex};

    fn sealer() -> Sealer {
        Sealer::new(key(1), Direction::ToClient)
    }

    /// Fills `blocks` cipher blocks to the last byte: 4 bytes of stamps, 10 of header, the rest.
    fn content(blocks: usize) -> Vec<u8> {
        vec![7; blocks * BLOCK_BYTES - 14]
    }

    fn seal(sealer: &mut Sealer, content: &[u8]) -> Result<Sequence, SealError> {
        sealer.seal(Stamps::NONE, fragment(content), &mut Vec::new())
    }

    fn fragment(content: &[u8]) -> Fragment<'_> {
        let header = FragmentHeader {
            id: 1,
            index: FragmentIndex::ZERO,
            is_final: true,
        };
        Fragment { header, content }
    }

    #[test]
    fn numbers_rise_from_zero() {
        let mut sealer = sealer();
        for number in 0..5 {
            assert_eq!(seal(&mut sealer, b"").unwrap().get(), number);
        }
        assert_eq!(sealer.next.get(), 5);
    }

    #[test]
    fn numbers_are_left_out_and_never_used_again() {
        let mut sealer = sealer();
        for (skip_to, number) in [
            (7, 7),
            (7, 8),
            (0, 9),
            (1 << 32, 1 << 32),
            (9, (1 << 32) + 1),
        ] {
            sealer.skip_to(Sequence::new(skip_to).unwrap());
            assert_eq!(seal(&mut sealer, b"").unwrap().get(), number);
        }
    }

    #[test]
    fn equal_texts_become_different_datagrams() {
        let mut sealer = sealer();
        let [mut first, mut second] = [const { Vec::new() }; 2];
        sealer
            .seal(Stamps::NONE, fragment(b"text"), &mut first)
            .unwrap();
        sealer
            .seal(Stamps::NONE, fragment(b"text"), &mut second)
            .unwrap();
        assert_ne!(first[8..], second[8..]);
    }

    #[test]
    fn a_datagram_is_put_after_what_the_buffer_holds() {
        let mut out = b"before".to_vec();
        sealer()
            .seal(Stamps::NONE, fragment(b"text"), &mut out)
            .unwrap();
        assert_eq!(out.len(), 6 + DATAGRAM_OVERHEAD_BYTES + 4);
        let nonce = Nonce::of(out.strip_prefix(b"before").unwrap()).unwrap();
        assert_eq!(
            nonce,
            Nonce {
                direction: Direction::ToClient,
                sequence: Sequence::ZERO
            }
        );
    }

    #[test]
    fn a_buffer_used_again_is_not_allocated_again() {
        let (mut sealer, mut out) = (sealer(), Vec::new());
        sealer
            .seal(Stamps::NONE, fragment(&content(60)), &mut out)
            .unwrap();
        let place = out.as_ptr();
        for blocks in 1..=60 {
            out.clear();
            sealer
                .seal(Stamps::NONE, fragment(&content(blocks)), &mut out)
                .unwrap();
            assert_eq!(out.as_ptr(), place, "{blocks} blocks");
        }
    }

    #[test]
    fn content_may_fill_the_longest_datagram_and_not_a_byte_more() {
        let (mut sealer, mut out) = (sealer(), Vec::new());
        let content = [0; CONTENT_BYTES_MAX + 1];
        let too_long = sealer.seal(Stamps::NONE, fragment(&content), &mut out);
        assert_eq!(
            too_long,
            Err(SealError::TooLong {
                found: CONTENT_BYTES_MAX + 1
            })
        );
        assert_eq!((out.len(), sealer.next), (0, Sequence::ZERO));

        sealer
            .seal(Stamps::NONE, fragment(&content[1..]), &mut out)
            .unwrap();
        assert_eq!(out.len(), DATAGRAM_BYTES_MAX);
    }

    #[test]
    fn started_blocks_count_as_whole_ones() {
        let mut sealer = sealer();
        let mut spent = 0;
        for (content, blocks) in [(content(1), 1), (vec![0; 3], 2), (content(2), 2)] {
            seal(&mut sealer, &content).unwrap();
            spent += blocks;
            assert_eq!(sealer.blocks, spent);
        }
    }

    /// T-K3 of docs/threat-model.md §12.
    #[test]
    fn a_spent_key_seals_nothing_ever_again() {
        let mut sealer = Sealer::with_blocks_max(key(1), Direction::ToClient, 10);
        let mut out = Vec::new();
        seal(&mut sealer, &content(9)).unwrap();
        for content in [content(1), content(5), vec![]] {
            let refused = sealer.seal(Stamps::NONE, fragment(&content), &mut out);
            assert_eq!(refused, Err(SealError::KeySpent));
        }
        assert_eq!((out.len(), sealer.next.get()), (0, 1));
    }

    #[test]
    fn a_key_is_spent_when_the_limit_is_reached_however_the_blocks_fall() {
        for blocks_each in 1..=12 {
            let mut sealer = Sealer::with_blocks_max(key(1), Direction::ToClient, 100);
            let sealed = (0..).take_while(|_| seal(&mut sealer, &content(blocks_each)).is_ok());
            assert_eq!(
                sealed.count(),
                99 / blocks_each,
                "{blocks_each} blocks each"
            );
        }
    }

    #[test]
    fn no_key_encrypts_the_block_with_the_number_2_to_the_47() {
        let mut sealer = Sealer::with_blocks_max(key(1), Direction::ToClient, u64::MAX);
        sealer.blocks = (1 << 47) - 2;
        seal(&mut sealer, b"").unwrap();
        assert_eq!(seal(&mut sealer, b""), Err(SealError::KeySpent));
    }
}
