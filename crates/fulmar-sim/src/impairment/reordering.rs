//! Some datagrams are held up, and later ones overtake them.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::datagram::Datagram;
use crate::impairment::{Impairment, Outlet, Stage};
use crate::random::{Chance, Random};

/// The chance that a datagram is held up, and for how long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reordering {
    chance: Chance,
    hold: Duration,
}

impl Reordering {
    /// Holds up each datagram for `hold` with a chance of `share` in 100.
    ///
    /// # Panics
    ///
    /// Where `share` is not between 0 and 100.
    #[must_use]
    pub fn percent(share: impl Into<f64>, hold: Duration) -> Impairment {
        Impairment::Reordering(Self {
            chance: Chance::percent(share),
            hold,
        })
    }

    pub(crate) fn into_stage(self, random: Random) -> SideTrack {
        SideTrack {
            setting: self,
            random,
            held: BTreeMap::new(),
            taken: 0,
        }
    }
}

/// The datagrams that are held up.
#[derive(Debug)]
pub(crate) struct SideTrack {
    setting: Reordering,
    random: Random,
    held: BTreeMap<(Duration, u64), Datagram>,
    taken: u64,
}

impl Stage for SideTrack {
    fn take(&mut self, now: Duration, datagram: Datagram, outlet: &mut Outlet) {
        if self.random.happens(self.setting.chance) && !self.setting.hold.is_zero() {
            self.held
                .insert((now + self.setting.hold, self.taken), datagram);
            self.taken += 1;
        } else {
            outlet.pass(datagram);
        }
    }

    fn release(&mut self, now: Duration, outlet: &mut Outlet) {
        while let Some(first) = self.held.first_entry() {
            if first.key().0 > now {
                break;
            }
            outlet.pass(first.remove());
        }
    }

    fn next_due(&self) -> Option<Duration> {
        self.held.first_key_value().map(|((due, _), _)| *due)
    }

    fn change(&mut self, _now: Duration, to: &Impairment) -> bool {
        let Impairment::Reordering(setting) = to else {
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
    use crate::units::{ms, secs};

    #[test]
    fn the_held_one_arrives_late_and_the_others_at_once() {
        let mut bench = Bench::of(Reordering::percent(100, ms(30)));
        bench.send_at(ms(0), 100);
        bench.change_at(ms(1), Reordering::percent(0, ms(30)));
        bench.send_at(ms(10), 100);
        assert_eq!(bench.order(), [1, 0]);
        assert_eq!(bench.arrivals(), [ms(10), ms(30)]);
    }

    #[test]
    fn as_many_are_held_as_was_asked_for() {
        let mut bench = Bench::of(Reordering::percent(25, ms(30)));
        let delays = bench.delays_of(20_000, secs(1));
        let held = delays.iter().filter(|&&delay| delay == ms(30)).count();
        assert!(is_near_share(held, 20_000, 0.25), "{held}");
        assert!(
            delays
                .iter()
                .all(|&delay| delay == ms(30) || delay == ms(0))
        );
    }
}
