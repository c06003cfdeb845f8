//! AES-128-OCB3 (RFC 7253) with a 12-byte nonce, a 16-byte tag and no associated data.

use aes::Aes128;
use ocb3::aead::consts::{U12, U16};
use ocb3::{AeadInOut, KeyInit, Ocb3};
use zeroize::Zeroize;

use crate::limits::DATAGRAM_BYTES_MAX;
use crate::nonce::NONCE_BYTES;
use crate::stack::wiped;

/// Bytes of an authentication tag.
///
/// Source: docs/protocol.md §3.1.
pub(crate) const TAG_BYTES: usize = 16;

/// Bytes of a cipher block.
///
/// Source: FIPS 197.
pub(crate) const BLOCK_BYTES: usize = 16;

/// Offsets that are computed in advance: enough for 2^7 blocks, which no datagram reaches. The
/// crate's own default would derive and keep, unwiped, nineteen more from each key.
const OFFSETS: usize = 7;
const _: () = assert!(DATAGRAM_BYTES_MAX - NONCE_BYTES - TAG_BYTES < BLOCK_BYTES << OFFSETS);

/// Key schedule and offsets of one key.
///
/// Not `Clone`, for it is to lie in one place: `aes` wipes its round keys when dropped, `ocb3` does
/// not wipe its offsets, which is left to the memory that they lie in.
pub(crate) struct Cipher(Ocb3<Aes128, U12, U16, OFFSETS>);

/// The seal is not that of this key, this nonce and these bytes.
pub(crate) struct Unsealed;

impl Cipher {
    pub(crate) fn new(key: &[u8; 16]) -> Cipher {
        Cipher(Ocb3::new(key.into()))
    }

    /// Encrypts `text` where it is and returns the tag.
    pub(crate) fn seal(&self, nonce: &[u8; 12], text: &mut [u8]) -> [u8; TAG_BYTES] {
        // Processors that take several blocks at a time have the round keys spread out on the stack.
        wiped(|| {
            self.0
                .encrypt_inout_detached(nonce.into(), &[], text.into())
                .expect("a datagram is shorter than the longest text")
                .into()
        })
    }

    /// Decrypts `text` where it is, or fills it with zeros: the cipher decrypts before it can
    /// compare tags, and an unproven plaintext must not outlive the comparison.
    pub(crate) fn open(
        &self,
        nonce: &[u8; 12],
        text: &mut [u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Unsealed> {
        wiped(|| {
            self.0
                .decrypt_inout_detached(nonce.into(), &[], (&mut *text).into(), tag.into())
        })
        .map_err(|_| {
            text.zeroize();
            Unsealed
        })
    }
}

#[cfg(test)]
mod tests;
