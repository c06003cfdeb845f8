//! Counts how late the engine is.

use std::time::Duration;

/// Counts of delays by their size, each class half as wide again as the one before.
///
/// A quantile is exact to a class: at most half too large.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    classes: Vec<u64>,
    count: u64,
    most: Duration,
}

/// The beginning of the second class, in microseconds.
const FIRST_US: f64 = 5.0;
const GROWTH: f64 = 1.5;

impl Lateness {
    pub(crate) fn add(&mut self, late: Duration) {
        let class = class_of(late);
        if self.classes.len() <= class {
            self.classes.resize(class + 1, 0);
        }
        if let Some(count) = self.classes.get_mut(class) {
            *count += 1;
        }
        self.count += 1;
        self.most = self.most.max(late);
    }

    /// Returns how many were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the largest.
    #[must_use]
    pub fn most(&self) -> Duration {
        self.most
    }

    /// Returns what this share, from 0 to 1, was not later than; zero where nothing was counted.
    #[must_use]
    pub(crate) fn quantile(&self, share: f64) -> Duration {
        let wanted = (share * self.count as f64).ceil() as u64;
        let mut seen = 0;
        for (class, count) in self.classes.iter().enumerate() {
            seen += count;
            if seen >= wanted && *count > 0 {
                return upper_end(class).min(self.most);
            }
        }
        self.most
    }
}

fn class_of(late: Duration) -> usize {
    let us = late.as_secs_f64() * 1e6;
    if us < FIRST_US {
        return 0;
    }
    // The logarithm of what a `Duration` can hold is a small number.
    ((us / FIRST_US).ln() / GROWTH.ln()) as usize + 1
}

fn upper_end(class: usize) -> Duration {
    Duration::from_secs_f64(FIRST_US * GROWTH.powf(class as f64) / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_at_most_half_too_large() {
        let mut lateness = Lateness::default();
        (1..=1000).for_each(|us| lateness.add(Duration::from_micros(us)));
        assert_eq!(
            (lateness.count(), lateness.most().as_micros()),
            (1000, 1000)
        );
        for share in [0.1, 0.5, 0.9, 0.99] {
            let exact = share * 1000.0;
            let quantile = lateness.quantile(share).as_secs_f64() * 1e6;
            assert!(
                (exact..=exact * 1.5).contains(&quantile),
                "{share}: {quantile}"
            );
        }
        assert_eq!(lateness.quantile(1.0), lateness.most());
    }

    #[test]
    fn nothing_is_not_late() {
        assert_eq!(Lateness::default().quantile(0.5), Duration::ZERO);
    }
}
