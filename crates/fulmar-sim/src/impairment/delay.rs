//! Time on the way, steady or not.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::datagram::Datagram;
use crate::impairment::{Impairment, Outlet, Stage};
use crate::random::Random;
use crate::units::ms;

/// The time for which each datagram is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay {
    least: Duration,
    most: Duration,
    overtaking: Overtaking,
}

/// The permission of a datagram with a shorter delay to arrive before one that was sent earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Overtaking {
    Forbidden,
    Allowed,
}

impl Delay {
    /// The same number of milliseconds for all.
    #[must_use]
    pub fn ms(milliseconds: u64) -> Impairment {
        Self::fixed(ms(milliseconds))
    }

    /// The same for all.
    #[must_use]
    pub fn fixed(delay: Duration) -> Impairment {
        Self::jitter(delay, delay)
    }

    /// Uniformly between the two; who would overtake arrives together with whom it caught up.
    #[must_use]
    pub fn jitter(least: Duration, most: Duration) -> Impairment {
        Impairment::Delay(Self {
            least,
            most,
            overtaking: Overtaking::Forbidden,
        })
    }

    /// Uniformly between the two, and the faster overtakes.
    #[must_use]
    pub fn reordering_jitter(least: Duration, most: Duration) -> Impairment {
        Impairment::Delay(Self {
            least,
            most,
            overtaking: Overtaking::Allowed,
        })
    }

    pub(crate) fn into_stage(self, random: Random) -> DelayLine {
        DelayLine {
            setting: self,
            random,
            in_flight: BTreeMap::new(),
            taken: 0,
            last_due: Duration::ZERO,
        }
    }
}

/// The datagrams on their way, by the time they arrive.
#[derive(Debug)]
pub(crate) struct DelayLine {
    setting: Delay,
    random: Random,
    /// Keyed by arrival and, for equal arrivals, by the order in which they were taken.
    in_flight: BTreeMap<(Duration, u64), Datagram>,
    taken: u64,
    /// The latest arrival promised so far.
    last_due: Duration,
}

impl Stage for DelayLine {
    fn take(&mut self, now: Duration, datagram: Datagram, outlet: &mut Outlet) {
        let mut due = now + self.random.between(self.setting.least, self.setting.most);
        if self.setting.overtaking == Overtaking::Forbidden {
            due = due.max(self.last_due);
        }
        self.last_due = self.last_due.max(due);
        if due <= now {
            outlet.pass(datagram);
        } else {
            self.in_flight.insert((due, self.taken), datagram);
            self.taken += 1;
        }
    }

    fn release(&mut self, now: Duration, outlet: &mut Outlet) {
        while let Some(first) = self.in_flight.first_entry() {
            if first.key().0 > now {
                break;
            }
            outlet.pass(first.remove());
        }
    }

    fn next_due(&self) -> Option<Duration> {
        self.in_flight.first_key_value().map(|((due, _), _)| *due)
    }

    fn change(&mut self, _now: Duration, to: &Impairment) -> bool {
        let Impairment::Delay(setting) = to else {
            return false;
        };
        self.setting = *setting;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, is_near};
    use crate::units::{days, secs};

    #[test]
    fn a_fixed_delay_is_exact() {
        let mut bench = Bench::of(Delay::ms(80));
        for sent in [0, 5, 5, 1000] {
            bench.send_at(ms(sent), 100);
        }
        assert_eq!(bench.arrivals(), [ms(80), ms(85), ms(85), ms(1080)]);
        assert_eq!(bench.order(), [0, 1, 2, 3]);
    }

    #[test]
    fn weeks_are_no_different() {
        let mut bench = Bench::of(Delay::fixed(days(42)));
        bench.send_at(secs(1), 100);
        assert_eq!(bench.arrivals(), [days(42) + secs(1)]);
    }

    #[test]
    fn jitter_is_uniform_between_its_ends() {
        // Sent too far apart to catch up: mean (a + b) / 2, standard deviation (b - a) / sqrt 12.
        let mut bench = Bench::of(Delay::jitter(ms(50), ms(150)));
        let count = 10_000;
        let delays = bench.delays_of(count, ms(200));
        assert!(
            delays
                .iter()
                .all(|delay| (ms(50)..=ms(150)).contains(delay))
        );
        let mean = delays.iter().sum::<Duration>().as_secs_f64() / f64::from(count);
        let error = 0.100 / 12_f64.sqrt() / f64::from(count).sqrt();
        assert!(is_near(mean, 0.100, error), "{mean}");
    }

    #[test]
    fn jitter_alone_keeps_the_order() {
        let mut bench = Bench::of(Delay::jitter(ms(0), ms(100)));
        bench.send_many(1000, ms(1), 100);
        assert!(bench.order().is_sorted());
        assert!(bench.arrivals().is_sorted());
    }

    #[test]
    fn reordering_jitter_overtakes_as_often_as_two_draws_cross() {
        // Two sent d apart with uniform delays over a width w cross with (1 - d/w)^2 / 2.
        let (mut crossed, pairs) = (0, 10_000);
        let mut bench = Bench::of(Delay::reordering_jitter(ms(0), ms(100)));
        for pair in 0..pairs {
            bench.send_at(secs(pair), 100);
            bench.send_at(secs(pair) + ms(20), 100);
        }
        for pair in bench.order().chunks(2) {
            crossed += u32::from(pair[0] > pair[1]);
        }
        let expected: f64 = 0.8 * 0.8 / 2.0;
        let error = (expected * (1.0 - expected) / pairs as f64).sqrt();
        let share = f64::from(crossed) / pairs as f64;
        assert!(is_near(share, expected, error), "{share}");
    }

    #[test]
    fn a_shorter_delay_does_not_recall_what_is_under_way() {
        let mut bench = Bench::of(Delay::ms(500));
        bench.send_at(ms(0), 100);
        bench.change_at(ms(10), Delay::ms(20));
        bench.send_at(ms(10), 100);
        // Without overtaking the second waits for the first.
        assert_eq!(bench.arrivals(), [ms(500), ms(500)]);
    }
}
