//! Seeds for many runs, and the way back from a failure to its seed.

use std::fmt;
use std::num::ParseIntError;
use std::ops::Range;
use std::str::FromStr;

/// The seeds that a test runs with: many that follow from a base, or the one of a failure.
///
/// Written as `0x1f00` or `7` for one seed, and as `1000@7` for a thousand from the base 7. The
/// caller decides where the text comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seeds {
    /// This one alone.
    One(u64),
    /// So many.
    Many {
        /// The number that they follow from; it is not one of them.
        base: u64,
        /// The number of seeds.
        count: u64,
    },
}

impl Seeds {
    /// Returns `count` seeds that follow from `base`.
    #[must_use]
    pub fn many(count: u64, base: u64) -> Self {
        Self::Many { base, count }
    }

    /// Returns the seeds in their order: always the same for the same base, and the first n of more
    /// are those of n.
    pub fn iter(self) -> impl Iterator<Item = u64> {
        let (one, base, count) = match self {
            Self::One(seed) => (Some(seed), 0, 0),
            Self::Many { base, count } => (None, base, count),
        };
        one.into_iter()
            .chain((0..count).map(move |number| derived(base, number)))
    }

    /// Reads which of the seeds are meant: `1000` for the first thousand, `5000..6000` for a thousand further on.
    #[must_use]
    pub fn places(text: &str) -> Option<Range<u64>> {
        match text.split_once("..") {
            Some((first, end)) => Some(first.parse().ok()?..end.parse().ok()?),
            None => Some(0..text.parse().ok()?),
        }
    }

    /// Runs `test` with each seed. Says which seed it was, also where the test panics.
    ///
    /// # Errors
    ///
    /// The first failure of the test, with its seed.
    pub fn try_each<E>(self, mut test: impl FnMut(u64) -> Result<(), E>) -> Result<(), Failed<E>> {
        for seed in self.iter() {
            let confession = Confession(seed);
            test(seed).map_err(|error| Failed { seed, error })?;
            drop(confession);
        }
        Ok(())
    }
}

/// Returns number `number` of the seeds from `base`: the output function of SplitMix64, whose
/// outputs are distinct for 2^64 numbers.
///
/// Source: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", 2014.
fn derived(base: u64, number: u64) -> u64 {
    let state = base.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// Names the seed if the test panics.
struct Confession(u64);

impl Drop for Confession {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the seed was {:#x}", self.0);
        }
    }
}

impl FromStr for Seeds {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        match text.split_once('@') {
            Some((count, base)) => Ok(Self::many(number(count)?, number(base)?)),
            None => Ok(Self::One(number(text)?)),
        }
    }
}

fn number(text: &str) -> Result<u64, ParseIntError> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    }
}

impl fmt::Display for Seeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(seed) => write!(f, "{seed:#x}"),
            Self::Many { base, count } => write!(f, "{count}@{base:#x}"),
        }
    }
}

/// A failure with the seed that leads to it.
pub struct Failed<E> {
    /// The seed.
    pub seed: u64,
    /// The failure.
    pub error: E,
}

impl<E: fmt::Display> fmt::Display for Failed<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "with the seed {:#x}: {}", self.seed, self.error)
    }
}

impl<E: fmt::Display> fmt::Debug for Failed<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<E: fmt::Display> std::error::Error for Failed<E> {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn seeds_are_known_answers_of_splitmix64() {
        let first: Vec<u64> = Seeds::many(3, 1_234_567).iter().collect();
        let known = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(first, known);
    }

    #[test]
    fn seeds_are_distinct() {
        let seeds: BTreeSet<u64> = Seeds::many(10_000, 7).iter().collect();
        assert_eq!(seeds.len(), 10_000);
    }

    #[test]
    fn fewer_are_the_first_of_more() {
        let more: Vec<u64> = Seeds::many(20, 7).iter().take(10).collect();
        assert_eq!(Seeds::many(10, 7).iter().collect::<Vec<_>>(), more);
    }

    #[test]
    fn the_text_is_read_as_it_is_written() {
        for seeds in [Seeds::One(0x1f00), Seeds::many(1000, 7)] {
            assert_eq!(seeds.to_string().parse(), Ok(seeds));
        }
        assert_eq!("7".parse(), Ok(Seeds::One(7)));
        assert!("many".parse::<Seeds>().is_err());
    }

    #[test]
    fn places_are_a_count_or_a_range() {
        assert_eq!(Seeds::places("1000"), Some(0..1000));
        assert_eq!(Seeds::places("5000..6000"), Some(5000..6000));
        assert_eq!(Seeds::places("many"), None);
    }

    #[test]
    fn a_failure_names_its_seed() {
        let failed = Seeds::One(0x1f).try_each(|_| Err("wet")).unwrap_err();
        assert_eq!(failed.to_string(), "with the seed 0x1f: wet");
    }

    #[test]
    fn the_first_failure_ends_the_row() {
        let mut ran = 0;
        let failed = Seeds::many(10, 7).try_each(|_| {
            ran += 1;
            if ran == 3 { Err("wet") } else { Ok(()) }
        });
        assert!(failed.is_err());
        assert_eq!(ran, 3);
    }
}
