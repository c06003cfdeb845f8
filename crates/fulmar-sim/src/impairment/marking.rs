//! Routers that set or wipe the congestion mark.

use std::time::Duration;

use fulmar_base::Ecn;

use crate::datagram::Datagram;
use crate::impairment::{Impairment, Outlet, Stage};
use crate::random::{Chance, Random};

/// A change of the congestion mark, and its chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Marking {
    chance: Chance,
    mark: Mark,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// "Congestion experienced", where the sender takes part (RFC 3168 §5).
    Congestion,
    /// "Not capable", whatever was there: what broken middleboxes do.
    Wipe,
}

impl Marking {
    /// Marks `share` in 100 of those datagrams whose sender takes part.
    ///
    /// # Panics
    ///
    /// Where `share` is not between 0 and 100.
    #[must_use]
    pub fn percent(share: impl Into<f64>) -> Impairment {
        Impairment::Marking(Self {
            chance: Chance::percent(share),
            mark: Mark::Congestion,
        })
    }

    /// Wipes every mark.
    #[must_use]
    pub fn wiped() -> Impairment {
        Impairment::Marking(Self {
            chance: Chance::ALWAYS,
            mark: Mark::Wipe,
        })
    }

    pub(crate) fn into_stage(self, random: Random) -> Marker {
        Marker {
            setting: self,
            random,
        }
    }
}

/// Draws for each datagram.
#[derive(Debug)]
pub(crate) struct Marker {
    setting: Marking,
    random: Random,
}

impl Stage for Marker {
    fn take(&mut self, _now: Duration, mut datagram: Datagram, outlet: &mut Outlet) {
        if self.random.happens(self.setting.chance) {
            datagram.ecn = match self.setting.mark {
                Mark::Congestion if datagram.ecn.is_capable() => Ecn::Congested,
                Mark::Congestion => datagram.ecn,
                Mark::Wipe => Ecn::NotCapable,
            };
        }
        outlet.pass(datagram);
    }

    fn change(&mut self, _now: Duration, to: &Impairment) -> bool {
        let Impairment::Marking(setting) = to else {
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
    fn as_many_are_marked_as_was_asked_for() {
        let mut bench = Bench::of(Marking::percent(20));
        bench.ecn = Ecn::Capable0;
        bench.send_many(50_000, ms(1), 100);
        let marked = bench
            .marks()
            .iter()
            .filter(|&&m| m == Ecn::Congested)
            .count();
        assert!(is_near_share(marked, 50_000, 0.2), "{marked}");
    }

    #[test]
    fn who_takes_no_part_is_never_marked() {
        let mut bench = Bench::of(Marking::percent(100));
        bench.send_many(100, ms(1), 100);
        assert_eq!(bench.marks(), [Ecn::NotCapable; 100]);
    }

    #[test]
    fn marks_can_be_wiped() {
        let mut bench = Bench::of(Marking::wiped());
        bench.ecn = Ecn::Congested;
        bench.send_at(ms(0), 100);
        assert_eq!(bench.marks(), [Ecn::NotCapable]);
    }
}
