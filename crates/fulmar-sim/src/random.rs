//! Randomness that a seed repeats to the bit.

use std::fmt;
use std::time::Duration;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

/// A source of chance, the same for the same seed and stream on every machine.
///
/// Each stage of each path draws from a stream of its own, so adding loss to one path does not
/// change what happens on another. ChaCha8 is chosen for its numbered streams and its fixed
/// output, not for secrecy.
pub struct Random(ChaCha8Rng);

impl Random {
    /// Returns stream number `stream` of the given seed, at its start.
    #[must_use]
    pub fn stream(seed: u64, stream: u64) -> Self {
        let mut key = [0; 32];
        for (byte, value) in key.iter_mut().zip(seed.to_le_bytes()) {
            *byte = value;
        }
        let mut generator = ChaCha8Rng::from_seed(key);
        generator.set_stream(stream);
        Self(generator)
    }

    /// Returns a number with all 64 bits random.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number from 0 up to, and without, 1. All multiples of 2^-53 are equally likely.
    pub fn unit(&mut self) -> f64 {
        // 53 bits are what a double holds exactly, so no rounding can reach 1.
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns true with the given chance.
    pub fn happens(&mut self, chance: Chance) -> bool {
        self.unit() < chance.0
    }

    /// Returns a duration between the two, uniformly; `from` itself where the span is empty.
    pub fn between(&mut self, from: Duration, to: Duration) -> Duration {
        from + to.saturating_sub(from).mul_f64(self.unit())
    }

    /// Returns a number below `end`; 0 where `end` is 0.
    ///
    /// The bias of the multiplication is under 2^-32 for any `end` that a test would use.
    pub fn below(&mut self, end: u64) -> u64 {
        let wide = u128::from(self.bits()) * u128::from(end);
        (wide >> 64) as u64
    }
}

impl fmt::Debug for Random {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Random")
    }
}

/// A probability, from 0 (never) to 1 (always).
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Chance(f64);

impl Chance {
    /// It never happens.
    pub const NEVER: Self = Self(0.0);
    /// It always happens.
    pub(crate) const ALWAYS: Self = Self(1.0);

    /// Returns the chance of `share` in 100: `Chance::percent(30)`, `Chance::percent(0.5)`.
    ///
    /// # Panics
    ///
    /// Where `share` is not between 0 and 100.
    #[must_use]
    pub fn percent(share: impl Into<f64>) -> Self {
        let share = share.into();
        assert!(
            (0.0..=100.0).contains(&share),
            "{share} % is no probability"
        );
        Self(share / 100.0)
    }

    /// Returns the chance as a number from 0 to 1.
    #[must_use]
    pub fn as_unit(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Chance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", self.0 * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::ms;

    #[test]
    fn equal_seed_and_stream_give_equal_numbers() {
        let mut one = Random::stream(7, 1);
        let mut two = Random::stream(7, 1);
        assert!((0..100).all(|_| one.bits() == two.bits()));
    }

    #[test]
    fn streams_and_seeds_differ() {
        let first = |seed, stream| Random::stream(seed, stream).bits();
        assert_ne!(first(7, 1), first(7, 2));
        assert_ne!(first(7, 1), first(8, 1));
    }

    #[test]
    fn the_zero_seed_gives_the_published_key_stream() {
        // ChaCha with 8 rounds, 256 bits, all zero: draft-strombergson-chacha-test-vectors, TC1.
        let mut random = Random::stream(0, 0);
        let published = [0x3e, 0x00, 0xef, 0x2f, 0x89, 0x5f, 0x40, 0xd6];
        assert_eq!(random.bits().to_le_bytes(), published);
    }

    #[test]
    fn the_first_numbers_of_a_seed_never_change() {
        // Seeds in commit messages and bug reports are worth something only while this holds.
        let mut random = Random::stream(7, 1);
        assert_eq!(random.bits(), 17_236_010_905_523_606_670);
        assert_eq!(random.bits(), 5_195_008_117_022_965_769);
    }

    #[test]
    fn unit_is_uniform() {
        // Mean 1/2, variance 1/12; three standard errors of the mean of 100 000 draws.
        let mut random = Random::stream(1, 0);
        let count = 100_000;
        let mean = (0..count).map(|_| random.unit()).sum::<f64>() / f64::from(count);
        let error = (1.0 / 12.0 / f64::from(count)).sqrt();
        assert!((mean - 0.5).abs() < 3.0 * error, "{mean}");
    }

    #[test]
    fn the_ends_of_chance_are_certain() {
        let mut random = Random::stream(1, 0);
        assert!((0..1000).all(|_| random.happens(Chance::ALWAYS)));
        assert!(!(0..1000).any(|_| random.happens(Chance::NEVER)));
    }

    #[test]
    fn between_stays_between() {
        let mut random = Random::stream(1, 0);
        for _ in 0..1000 {
            let drawn = random.between(ms(10), ms(30));
            assert!((ms(10)..ms(30)).contains(&drawn), "{drawn:?}");
        }
        assert_eq!(random.between(ms(10), ms(10)), ms(10));
        assert_eq!(random.between(ms(10), ms(5)), ms(10));
    }

    #[test]
    fn below_reaches_every_number_and_no_more() {
        let mut random = Random::stream(1, 0);
        let mut seen = [0; 5];
        for _ in 0..1000 {
            seen[random.below(5) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
        assert_eq!(random.below(0), 0);
    }
}
