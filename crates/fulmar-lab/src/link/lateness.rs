//! Counts how late the engine is.

use std::collections::BTreeMap;
use std::time::Duration;

/// Counts of delays by their size, each class half as wide again as the one before.
///
/// A quantile is exact to a class: at most half too large.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    classes: BTreeMap<i32, u64>,
    /// The number of delays.
    pub count: u64,
    /// The largest of them.
    pub most: Duration,
}

/// The beginning of the second class, in microseconds.
const FIRST_US: f64 = 5.0;
const GROWTH: f64 = 1.5;

impl Lateness {
    pub(crate) fn add(&mut self, late: Duration) {
        *self.classes.entry(class_of(late)).or_default() += 1;
        self.count += 1;
        self.most = self.most.max(late);
    }

    /// Returns what this share, from 0 to 1, was not later than; zero where nothing was counted.
    #[must_use]
    pub(crate) fn quantile(&self, share: f64) -> Duration {
        let wanted = (share * self.count as f64).ceil() as u64;
        let mut seen = 0;
        for (class, count) in &self.classes {
            seen += count;
            if seen >= wanted {
                return upper_end(*class).min(self.most);
            }
        }
        self.most
    }
}

/// Returns the number of the class; the logarithm of what a `Duration` can hold is a small number.
fn class_of(late: Duration) -> i32 {
    let us = late.as_secs_f64() * 1e6;
    if us < FIRST_US {
        return 0;
    }
    ((us / FIRST_US).ln() / GROWTH.ln()) as i32 + 1
}

/// Returns where a class ends.
fn upper_end(class: i32) -> Duration {
    Duration::from_secs_f64(FIRST_US * GROWTH.powi(class) / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_at_most_half_too_large() {
        let mut lateness = Lateness::default();
        (1..=1000).for_each(|us| lateness.add(Duration::from_micros(us)));
        assert_eq!((lateness.count, lateness.most.as_micros()), (1000, 1000));
        for share in [0.1, 0.5, 0.9, 0.99] {
            let exact = share * 1000.0;
            let quantile = lateness.quantile(share).as_secs_f64() * 1e6;
            assert!(
                (exact..=exact * 1.5).contains(&quantile),
                "{share}: {quantile}"
            );
        }
        assert_eq!(lateness.quantile(1.0), lateness.most);
    }

    #[test]
    fn nothing_is_not_late() {
        assert_eq!(Lateness::default().quantile(0.5), Duration::ZERO);
    }

    #[test]
    fn a_class_begins_where_the_one_before_ends() {
        assert_eq!(class_of(Duration::from_nanos(4999)), 0);
        assert_eq!(class_of(Duration::from_micros(5)), 1);
        for class in 0..40 {
            let end = upper_end(class).as_secs_f64();
            assert_eq!(class_of(Duration::from_secs_f64(end * 0.999)), class);
            assert_eq!(class_of(Duration::from_secs_f64(end * 1.001)), class + 1);
        }
    }

    #[test]
    fn a_rare_long_delay_is_the_most_and_no_usual_quantile() {
        let mut lateness = Lateness::default();
        // It stays the most when shorter ones follow.
        lateness.add(Duration::from_millis(30));
        (0..99).for_each(|_| lateness.add(Duration::from_micros(10)));
        // The class of 10 us ends at 11.25.
        assert_eq!(lateness.quantile(0.99), Duration::from_nanos(11_250));
        assert_eq!(lateness.quantile(0.991), Duration::from_millis(30));
        assert_eq!(
            (lateness.count, lateness.most),
            (100, Duration::from_millis(30))
        );
    }
}
