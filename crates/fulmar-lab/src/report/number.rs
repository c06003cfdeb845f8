//! Numbers as a reader wants them: as exact as they are meant, in the unit that suits them.

use std::time::{Duration, UNIX_EPOCH};

/// The sign where there is no number.
pub(super) const NONE: &str = "–";

/// Groups of three digits are parted by a narrow space that does not break.
const GAP: char = '\u{202f}';

/// Returns a number with about three digits that count.
pub(super) fn rounded(value: f64) -> String {
    let size = value.abs();
    let decimals = match size {
        _ if !value.is_finite() => return infinite(value),
        _ if size == 0.0 => 0,
        _ if size < 0.01 => 4,
        _ if size < 0.1 => 3,
        _ if size < 9.995 => 2,
        _ if size < 99.95 => 1,
        _ => 0,
    };
    grouped(&format!("{value:.decimals$}"))
}

/// Returns a number without decimals.
pub(super) fn whole(value: f64) -> String {
    if value.is_finite() {
        grouped(&format!("{value:.0}"))
    } else {
        infinite(value)
    }
}

fn infinite(value: f64) -> String {
    match value {
        _ if value.is_nan() => NONE.to_owned(),
        _ if value > 0.0 => "∞".to_owned(),
        _ => "−∞".to_owned(),
    }
}

/// Parts the digits before the point, and writes a minus as one.
fn grouped(plain: &str) -> String {
    let (sign, digits) = match plain.strip_prefix('-') {
        Some(digits) => ("−", digits),
        None => ("", plain),
    };
    let (before, behind) = digits.split_once('.').unwrap_or((digits, ""));
    let mut text = sign.to_owned();
    for (place, digit) in before.chars().enumerate() {
        let left = before.len() - place;
        if place > 0 && left.is_multiple_of(3) && before.len() > 4 {
            text.push(GAP);
        }
        text.push(digit);
    }
    if !behind.is_empty() {
        text.push('.');
        text.push_str(behind);
    }
    text
}

/// Returns a time in milliseconds.
pub(super) fn ms(time: Duration) -> String {
    rounded(time.as_secs_f64() * 1e3)
}

/// Returns a number as it is shown, or what stands for none.
pub(super) fn or_none<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or(NONE.to_owned(), show)
}

/// Returns a time with its unit: `0.8 ms`, `12.3 s`, `8 min`.
pub(super) fn time(seconds: f64) -> String {
    match seconds {
        _ if !seconds.is_finite() => infinite(seconds),
        _ if seconds < 1.0 => format!("{} ms", rounded(seconds * 1e3)),
        _ if seconds < 120.0 => format!("{} s", rounded(seconds)),
        _ if seconds < 7200.0 => format!("{} min", rounded(seconds / 60.0)),
        _ => format!("{} h", rounded(seconds / 3600.0)),
    }
}

/// Returns a share in percent, without the sign.
pub(super) fn percent(share: f64) -> String {
    match share {
        _ if !share.is_finite() => NONE.to_owned(),
        _ if share == 0.0 => "0".to_owned(),
        _ if share < 0.001 => format!("{:.2}", share * 100.0),
        _ => format!("{:.1}", share * 100.0),
    }
}

/// A unit that numbers of a kind are shown in.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unit {
    /// As it is written; empty for a bare count.
    pub(super) name: String,
    /// The divisor of a number.
    pub(super) size: f64,
}

impl Unit {
    /// Returns the unit that suits numbers up to `most`, that were noted in `noted`.
    pub(super) fn for_numbers(noted: &str, most: f64) -> Self {
        const BYTES: &[Step] = &[
            (0.0, 1.0, "B"),
            (1e3, 1e3, "kB"),
            (1e6, 1e6, "MB"),
            (1e9, 1e9, "GB"),
        ];
        const RATES: &[Step] = &[(0.0, 1.0, "B/s"), (1e3, 1e3, "kB/s"), (1e6, 1e6, "MB/s")];
        let (_, size, name) = match noted {
            "B" => step(most, BYTES),
            "B/s" => step(most, RATES),
            "s" => step(
                most,
                &[(0.0, 1e-3, "ms"), (1.0, 1.0, "s"), (600.0, 60.0, "min")],
            ),
            "ms" => step(most, &[(0.0, 1.0, "ms"), (10_000.0, 1e3, "s")]),
            "share" => (0.0, 0.01, "%"),
            other => (0.0, 1.0, other),
        };
        Self {
            name: name.to_owned(),
            size,
        }
    }

    /// Returns a number in this unit, without its name.
    pub(super) fn show(&self, value: f64) -> String {
        match self.name.as_str() {
            "packets" | "keys" | "B" | "frames" => whole(value / self.size),
            "%" => percent(value),
            _ => rounded(value / self.size),
        }
    }
}

/// From which number on a unit suits, its size, and its name.
type Step = (f64, f64, &'static str);

/// Returns the last unit that suits numbers up to `most`.
fn step(most: f64, units: &[Step]) -> Step {
    let fits = units.iter().rev().find(|(from, ..)| most.abs() >= *from);
    *fits.unwrap_or(&units[0])
}

/// Returns the day of a time in seconds since 1970, UTC, as `2026-05-31`.
pub(super) fn day(seconds: u64) -> String {
    written(seconds).chars().take(10).collect()
}

/// Returns a time in seconds since 1970 as `2026-05-31 14:02 UTC`.
pub(super) fn moment(seconds: u64) -> String {
    let minute: String = written(seconds).chars().take(16).collect();
    minute.replace('T', " ") + " UTC"
}

/// Returns a time as RFC 3339 has it, which ends with the year 9999.
fn written(seconds: u64) -> String {
    const LAST: u64 = 253_402_300_799;
    let time = UNIX_EPOCH + Duration::from_secs(seconds.min(LAST));
    humantime::format_rfc3339_seconds(time).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn about_three_digits_count() {
        let shown = [0.0, 0.042, 1.52, 9.999, 94.3, 509.4, 5389.0, 16_800.0, -3.2].map(rounded);
        let expected = [
            "0",
            "0.042",
            "1.52",
            "10.0",
            "94.3",
            "509",
            "5389",
            "16\u{202f}800",
            "−3.20",
        ];
        assert_eq!(shown, expected);
        assert_eq!([f64::INFINITY, f64::NAN].map(rounded), ["∞", "–"]);
        assert_eq!(whole(1_234_567.0), "1\u{202f}234\u{202f}567");
    }

    #[test]
    fn times_have_the_unit_that_suits_them() {
        let shown = [0.0008, 0.5, 12.3, 480.0, 9000.0].map(time);
        assert_eq!(shown, ["0.80 ms", "500 ms", "12.3 s", "8.00 min", "2.50 h"]);
    }

    #[test]
    fn a_unit_suits_the_largest_number() {
        let of = |noted, most| {
            let unit = Unit::for_numbers(noted, most);
            (unit.show(most), unit.name)
        };
        let owned = |number: &str, name: &str| (number.to_owned(), name.to_owned());
        assert_eq!(of("B", 12_300_000.0), owned("12.3", "MB"));
        assert_eq!(of("B", 999.0), owned("999", "B"));
        assert_eq!(of("s", 0.25), owned("250", "ms"));
        assert_eq!(of("s", 1200.0), owned("20.0", "min"));
        assert_eq!(of("ms", 250.0), owned("250", "ms"));
        assert_eq!(of("ms", 16_800.0), owned("16.8", "s"));
        assert_eq!(of("share", 0.704), owned("70.4", "%"));
        assert_eq!(of("packets", 12_345.0), owned("12\u{202f}345", "packets"));
        assert_eq!(of("", 3.0), owned("3.00", ""));
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!(day(0), "1970-01-01");
        assert_eq!(day(951_782_400), "2000-02-29");
        assert_eq!(moment(1_709_251_199), "2024-02-29 23:59 UTC");
        assert_eq!(moment(4_107_542_400), "2100-03-01 00:00 UTC");
        assert_eq!(moment(u64::MAX), "9999-12-31 23:59 UTC");
    }

    #[test]
    fn numbers_on_either_side_of_a_step_have_the_digits_of_their_side() {
        let shown = [
            0.0099, 0.01, 0.0999, 0.1, 9.994, 9.996, 99.94, 99.96, 9999.4, 9999.6,
        ]
        .map(rounded);
        let expected = [
            "0.0099",
            "0.010",
            "0.100",
            "0.10",
            "9.99",
            "10.0",
            "99.9",
            "100",
            "9999",
            "10\u{202f}000",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn negative_numbers_look_like_positive_ones_behind_a_minus() {
        for value in [0.004, 0.5, 3.25, 42.0, 999.6, 12_345.6, 1e7] {
            assert_eq!(rounded(-value), format!("−{}", rounded(value)));
            assert_eq!(whole(-value * 10.0), format!("−{}", whole(value * 10.0)));
        }
        assert_eq!([f64::NEG_INFINITY, f64::INFINITY].map(whole), ["−∞", "∞"]);
    }

    #[test]
    fn shares_are_percent_and_small_ones_have_a_digit_more() {
        let shown = [0.0, 0.00042, 0.00099, 0.001, 0.5, 1.0, f64::NAN].map(percent);
        assert_eq!(shown, ["0", "0.04", "0.10", "0.1", "50.0", "100.0", NONE]);
    }

    #[test]
    fn a_time_changes_its_unit_where_the_next_one_has_enough() {
        let shown = [0.9994, 1.0, 119.9, 120.0, 7199.0, 7200.0, f64::INFINITY].map(time);
        assert_eq!(
            shown,
            [
                "999 ms", "1.00 s", "120 s", "2.00 min", "120 min", "2.00 h", "∞"
            ]
        );
        assert_eq!(or_none(None, ms), NONE);
        assert_eq!(or_none(Some(Duration::from_micros(12_340)), ms), "12.3");
    }

    #[test]
    fn a_unit_changes_where_the_largest_number_has_one_of_it() {
        let name = |noted, most| Unit::for_numbers(noted, most).name;
        let names = [999.0, 1e3, 999e3, 1e6, 1e9].map(|most| name("B", most));
        assert_eq!(names, ["B", "kB", "kB", "MB", "GB"]);
        assert_eq!(
            [0.999, 1.0, 599.0, 600.0].map(|most| name("s", most)),
            ["ms", "s", "s", "min"]
        );
        assert_eq!(
            [9_999.0, 10_000.0].map(|most| name("ms", most)),
            ["ms", "s"]
        );
        // The unit suits the largest by size, whatever its sign.
        assert_eq!(name("B", -2e6), "MB");
        assert_eq!(Unit::for_numbers("s", 600.0).show(90.0), "1.50");
    }
}
