//! Random bytes that follow from a seed.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use fulmar_transport::Noise;

/// Bytes for a seed; the edge takes it from the system, a test from its number.
pub type Seed = [u8; 32];

/// The chaff of a conversation, which hides lengths, and its challenges, which are sent under the seal. Nobody sees
/// enough of either to tell what follows; eight rounds are plenty.
pub(crate) struct SeededNoise(ChaCha8Rng);

impl SeededNoise {
    pub(crate) fn new(seed: Seed) -> SeededNoise {
        SeededNoise(ChaCha8Rng::from_seed(seed))
    }
}

/// Returns four bytes that follow from the seed and are none of the chaff's.
pub(crate) fn random_word(seed: Seed) -> u32 {
    let mut generator = ChaCha8Rng::from_seed(seed);
    generator.set_stream(1);
    generator.next_u32()
}

impl Noise for SeededNoise {
    fn fill(&mut self, bytes: &mut [u8]) {
        self.0.fill_bytes(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_bytes(seed: Seed) -> [u8; 32] {
        let mut bytes = [0; 32];
        SeededNoise::new(seed).fill(&mut bytes);
        bytes
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes() {
        assert_eq!(first_bytes([7; 32]), first_bytes([7; 32]));
        assert_ne!(first_bytes([7; 32]), first_bytes([8; 32]));
    }
}
