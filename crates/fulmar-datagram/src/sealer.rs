//! From timestamps and a fragment to a datagram.

use crate::cipher::{BLOCK_BYTES, Cipher};
use crate::limits::{CONTENT_BYTES_MAX, DATAGRAM_OVERHEAD_BYTES, KEY_BLOCKS_MAX};
use crate::{Direction, Fragment, Key, Nonce, Sequence, Stamps};

/// Why a datagram was not sealed.
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
    cipher: Cipher,
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
            cipher: Cipher::new(&key),
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
        self.spend(Stamps::BYTES + fragment.encoded_bytes())?;
        let nonce = self.take_nonce();

        out.reserve(DATAGRAM_OVERHEAD_BYTES + fragment.content.len());
        out.extend_from_slice(&nonce.to_wire());
        let start = out.len();
        out.extend_from_slice(&stamps.to_wire());
        fragment.encode(out);
        let (_, plaintext) = out.split_at_mut(start);
        let tag = self.cipher.seal(nonce, plaintext);
        out.extend_from_slice(&tag);
        Ok(nonce.sequence)
    }

    /// Returns the sequence number of the next datagram, which is how many have been sealed.
    pub fn next_sequence(&self) -> Sequence {
        self.next
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
