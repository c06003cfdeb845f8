//! Words of a scenario's text, one after the other.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use fulmar_sim::Chance;

/// The rest of one entry.
#[derive(Clone, Debug)]
pub(super) struct Words<'a> {
    rest: std::iter::Peekable<std::str::SplitWhitespace<'a>>,
}

impl<'a> Words<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self {
            rest: text.split_whitespace().peekable(),
        }
    }

    /// Takes the next word, which is to be `what`.
    pub(super) fn next(&mut self, what: &str) -> Result<&'a str> {
        self.rest
            .next()
            .with_context(|| format!("{what} is missing"))
    }

    /// Takes the next word if it is this one.
    pub(super) fn take(&mut self, word: &str) -> bool {
        self.rest.next_if_eq(&word).is_some()
    }

    /// Takes the next word if `read` can make something of it.
    pub(super) fn take_if<T>(&mut self, read: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let value = read(self.rest.peek()?)?;
        self.rest.next();
        Some(value)
    }

    pub(super) fn duration(&mut self, what: &str) -> Result<Duration> {
        duration(self.next(what)?)
    }

    pub(super) fn chance(&mut self, what: &str) -> Result<Chance> {
        chance(self.next(what)?)
    }

    pub(super) fn number<T: std::str::FromStr>(&mut self, what: &str) -> Result<T> {
        let word = self.next(what)?;
        let number = word.parse().ok();
        number.with_context(|| format!("{what} is a number, which “{word}” is not"))
    }

    /// Fails if anything is left.
    pub(super) fn end(mut self) -> Result<()> {
        match self.rest.next() {
            None => Ok(()),
            Some(word) => bail!("“{word}” has no meaning here"),
        }
    }
}

/// Reads a number with one of these units, such as `2.5ms`, and returns it times the unit's value.
fn measured(word: &str, units: &[(&str, f64)]) -> Option<f64> {
    let at = word.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = word.split_at(at);
    let (_, value) = units.iter().find(|(known, _)| *known == unit)?;
    Some(number.parse::<f64>().ok()? * value)
}

/// Reads `50ms`, `2.5s`, `10min`.
pub(super) fn duration(word: &str) -> Result<Duration> {
    let units = [("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("min", 60.0)];
    measured(word, &units)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .with_context(|| format!("“{word}” is not a time such as 50ms, 2.5s or 10min"))
}

/// Reads `1%` or `0.5%`.
pub(super) fn chance(word: &str) -> Result<Chance> {
    measured(word, &[("%", 1.0)])
        .filter(|share| (0.0..=100.0).contains(share))
        .map(Chance::percent)
        .with_context(|| format!("“{word}” is not a share such as 1% or 0.5%"))
}

/// Reads `9600bit`, `400kbit`, `5.95mbit`, `1gbit`, all of them for each second.
pub(super) fn bits_per_second(word: &str) -> Result<u64> {
    let units = [("bit", 1.0), ("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9)];
    measured(word, &units)
        .filter(|bits| (1.0..1e13).contains(bits))
        .map(|bits| bits.round() as u64)
        .with_context(|| format!("“{word}” is not a rate such as 400kbit or 5mbit"))
}

/// Reads `24p`.
pub(super) fn packets(word: &str) -> Option<usize> {
    word.strip_suffix('p')?.parse().ok()
}

/// Reads `65536B` or `64kB`, of 1000 each.
pub(super) fn bytes(word: &str) -> Option<usize> {
    let bytes = measured(word, &[("B", 1.0), ("kB", 1e3), ("MB", 1e6)])?;
    Some(bytes as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read() {
        assert_eq!(duration("2.5s").unwrap(), Duration::from_millis(2500));
        assert_eq!(duration("10min").unwrap(), Duration::from_secs(600));
        assert_eq!(duration("250us").unwrap(), Duration::from_micros(250));
        assert_eq!(chance("0.5%").unwrap(), Chance::percent(0.5));
        assert_eq!(bits_per_second("5.95mbit").unwrap(), 5_950_000);
        assert_eq!(bits_per_second("1gbit").unwrap(), 1_000_000_000);
        assert_eq!(bits_per_second("9600bit").unwrap(), 9600);
        assert_eq!((packets("24p"), bytes("64kB")), (Some(24), Some(64_000)));
        assert_eq!((bytes("1MB"), bytes("15B")), (Some(1_000_000), Some(15)));
    }

    #[test]
    fn limits_of_shares_and_rates_belong_to_them() {
        assert!(chance("0%").is_ok() && chance("100%").is_ok() && chance("100.1%").is_err());
        assert!(bits_per_second("1bit").is_ok() && bits_per_second("0.9bit").is_err());
        assert!(bits_per_second("9999gbit").is_ok() && bits_per_second("10000gbit").is_err());
    }

    #[test]
    fn what_has_no_unit_or_no_sense_is_refused() {
        for word in [
            "50",
            "ms",
            "-5ms",
            "5 ms",
            "5parsec",
            "99999999999999999999min",
        ] {
            assert!(duration(word).is_err(), "{word}");
        }
        for word in ["1", "101%", "-1%", "%"] {
            assert!(chance(word).is_err(), "{word}");
        }
        for word in ["0mbit", "5mb", "mbit"] {
            assert!(bits_per_second(word).is_err(), "{word}");
        }
        assert_eq!((packets("24"), bytes("24")), (None, None));
    }
}
