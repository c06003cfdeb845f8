//! Some datagrams arrive twice.

use std::time::Duration;

use crate::datagram::Datagram;
use crate::impairment::{Impairment, Outlet, Stage};
use crate::random::{Chance, Random};

/// The chance that a datagram is doubled. The copy follows directly; stages behind treat the two as any.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Duplication {
    chance: Chance,
}

impl Duplication {
    /// Doubles `share` in 100.
    ///
    /// # Panics
    ///
    /// Where `share` is not between 0 and 100.
    #[must_use]
    pub fn percent(share: impl Into<f64>) -> Impairment {
        Impairment::Duplication(Self {
            chance: Chance::percent(share),
        })
    }

    pub(crate) fn into_stage(self, random: Random) -> Doubler {
        Doubler {
            setting: self,
            random,
        }
    }
}

/// Draws for each datagram.
#[derive(Debug)]
pub(crate) struct Doubler {
    setting: Duplication,
    random: Random,
}

impl Stage for Doubler {
    fn take(&mut self, _now: Duration, datagram: Datagram, outlet: &mut Outlet) {
        if self.random.happens(self.setting.chance) {
            outlet.double(datagram);
        } else {
            outlet.pass(datagram);
        }
    }

    fn change(&mut self, _now: Duration, to: &Impairment) -> bool {
        let Impairment::Duplication(setting) = to else {
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
    fn the_copy_follows_and_is_equal() {
        let mut bench = Bench::of(Duplication::percent(100));
        bench.send_at(ms(3), 100);
        bench.send_at(ms(4), 100);
        assert_eq!(bench.order(), [0, 0, 1, 1]);
        assert_eq!(bench.arrivals(), [ms(3), ms(3), ms(4), ms(4)]);
    }

    #[test]
    fn as_many_are_doubled_as_was_asked_for() {
        let mut bench = Bench::of(Duplication::percent(10));
        bench.send_many(100_000, ms(1), 100);
        let copies = bench.arrivals().len() - 100_000;
        assert!(is_near_share(copies, 100_000, 0.1), "{copies}");
    }
}
