//! Helpers of several files' unit tests: repeatable bytes and hand-made datagrams.

use zeroize::Zeroizing;

use crate::{Key, Nonce};

/// Returns the same key for the same seed.
pub(crate) fn key(seed: u64) -> Key {
    Key::from_bytes(Zeroizing::new(Random::seeded(seed).array()))
}

/// Returns a genuine datagram with any nonce and any plaintext.
pub(crate) fn sealed(key: &Key, nonce: Nonce, plaintext: &[u8]) -> Vec<u8> {
    let mut text = plaintext.to_vec();
    let tag = key.material().cipher().seal(&nonce.to_cipher(), &mut text);
    [&nonce.to_wire(), text.as_slice(), &tag].concat()
}

/// SplitMix64 (Steele, Lea, Flood 2014): enough to choose test messages.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn seeded(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 to `bound - 1`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.number() % bound as u64) as usize
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.number().to_le_bytes()[..chunk.len()]);
        }
    }

    pub(crate) fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.fill(&mut bytes);
        bytes
    }
}
