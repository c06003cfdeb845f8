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

/// Splits a number from its unit: `2.5` and `ms`.
fn split(word: &str) -> Option<(f64, &str)> {
    let at = word.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = word.split_at(at);
    Some((number.parse().ok()?, unit))
}

/// Reads `50ms`, `2.5s`, `10min`.
pub(super) fn duration(word: &str) -> Result<Duration> {
    let seconds = split(word).and_then(|(number, unit)| match unit {
        "us" => Some(number / 1e6),
        "ms" => Some(number / 1e3),
        "s" => Some(number),
        "min" => Some(number * 60.0),
        _ => None,
    });
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .with_context(|| format!("“{word}” is not a time such as 50ms, 2.5s or 10min"))
}

/// Reads `1%` or `0.5%`.
pub(super) fn chance(word: &str) -> Result<Chance> {
    let share = split(word).and_then(|(number, unit)| (unit == "%").then_some(number));
    share
        .filter(|share| (0.0..=100.0).contains(share))
        .map(Chance::percent)
        .with_context(|| format!("“{word}” is not a share such as 1% or 0.5%"))
}

/// Reads `9600bit`, `400kbit`, `5.95mbit`, `1gbit`, all of them for each second.
pub(super) fn bits_per_second(word: &str) -> Result<u64> {
    let bits = split(word).and_then(|(number, unit)| match unit {
        "bit" => Some(number),
        "kbit" => Some(number * 1e3),
        "mbit" => Some(number * 1e6),
        "gbit" => Some(number * 1e9),
        _ => None,
    });
    bits.filter(|bits| (1.0..1e13).contains(bits))
        .map(|bits| bits.round() as u64)
        .with_context(|| format!("“{word}” is not a rate such as 400kbit or 5mbit"))
}

/// Reads `24p`.
pub(super) fn packets(word: &str) -> Option<usize> {
    word.strip_suffix('p')?.parse().ok()
}

/// Reads `65536B` or `64kB`, of 1000 each.
pub(super) fn bytes(word: &str) -> Option<usize> {
    let (number, unit) = split(word)?;
    match unit {
        "B" => Some(number as usize),
        "kB" => Some((number * 1e3) as usize),
        "MB" => Some((number * 1e6) as usize),
        _ => None,
    }
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
        assert_eq!((packets("24p"), bytes("64kB")), (Some(24), Some(64_000)));
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
