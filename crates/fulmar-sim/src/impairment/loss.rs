//! Losses, each by chance and for itself.

use std::time::Duration;

use crate::datagram::Datagram;
use crate::impairment::{Impairment, LossCause, Outlet, Stage};
use crate::random::{Chance, Random};

/// The chance that a datagram is lost, whatever happened to the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    chance: Chance,
}

impl Loss {
    /// Loses `share` in 100.
    ///
    /// # Panics
    ///
    /// Where `share` is not between 0 and 100.
    #[must_use]
    pub fn percent(share: impl Into<f64>) -> Impairment {
        Impairment::Loss(Self {
            chance: Chance::percent(share),
        })
    }

    pub(crate) fn into_stage(self, random: Random) -> Sieve {
        Sieve {
            setting: self,
            random,
        }
    }
}

/// Draws for each datagram.
#[derive(Debug)]
pub(crate) struct Sieve {
    setting: Loss,
    random: Random,
}

impl Stage for Sieve {
    fn take(&mut self, _now: Duration, datagram: Datagram, outlet: &mut Outlet) {
        if self.random.happens(self.setting.chance) {
            outlet.lose(datagram, LossCause::Random);
        } else {
            outlet.pass(datagram);
        }
    }

    fn change(&mut self, _now: Duration, to: &Impairment) -> bool {
        let Impairment::Loss(setting) = to else {
            return false;
        };
        self.setting = *setting;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, is_near_share};
    use crate::units::ms;

    #[test]
    fn the_share_is_what_was_asked_for() {
        for percent in [0.5, 10.0, 50.0] {
            let mut bench = Bench::of(Loss::percent(percent));
            bench.send_many(100_000, ms(1), 100);
            let lost = 100_000 - bench.arrivals().len();
            assert!(
                is_near_share(lost, 100_000, percent / 100.0),
                "{percent} %: {lost}"
            );
        }
    }

    #[test]
    fn losses_do_not_attract_each_other() {
        // Of two neighbours both are lost with the square of the chance.
        let mut bench = Bench::of(Loss::percent(30));
        bench.send_many(100_000, ms(1), 100);
        let arrived = bench.order();
        let gaps = arrived
            .windows(2)
            .filter(|pair| pair[1] - pair[0] == 2)
            .count();
        // A run of exactly one loss between two arrivals: 0.7 * 0.3 * 0.7 of all places.
        assert!(is_near_share(gaps, 100_000, 0.7 * 0.3 * 0.7), "{gaps}");
    }

    #[test]
    fn none_and_all_are_exact() {
        let mut bench = Bench::of(Loss::percent(0));
        bench.send_many(100, ms(1), 100);
        bench.change_at(ms(100), Loss::percent(100));
        bench.send_many(100, ms(1), 100);
        assert_eq!(bench.arrivals().len(), 100);
        assert_eq!(bench.losses(), vec![LossCause::Random; 100]);
    }
}
