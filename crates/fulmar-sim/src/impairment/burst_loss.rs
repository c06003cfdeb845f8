//! Losses that come in bursts: the model of Gilbert and Elliott.

use std::time::Duration;

use crate::datagram::Datagram;
use crate::impairment::{Impairment, LossCause, Outlet, Stage};
use crate::random::{Chance, Random};

/// A channel with a good and a bad state, which may change with every datagram.
///
/// ```text
///            p: chance to turn bad
///        ┌───────────────────────────►┐
///      good                          bad
///        └◄───────────────────────────┘
///            r: chance to turn good
///
///   share of time bad: p / (p + r)      mean stay in bad: 1 / r datagrams
/// ```
///
/// Source: E. N. Gilbert, "Capacity of a burst-noise channel", 1960; E. O. Elliott, "Estimates of
/// error rates for codes on burst-noise channels", 1963.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BurstLoss {
    /// Chance, per datagram, to turn bad.
    pub to_bad: Chance,
    /// Chance, per datagram, to turn good again.
    pub to_good: Chance,
    /// Chance of loss while good.
    pub loss_in_good: Chance,
    /// Chance of loss while bad.
    pub loss_in_bad: Chance,
}

impl BurstLoss {
    /// Loses `share` in 100 on average, in runs of `mean_run` datagrams on average: all in the bad
    /// state, none in the good one.
    ///
    /// # Panics
    ///
    /// Where `share` is not from 0 to below 100, `mean_run` is below 1, or the runs are so short for
    /// the share that the channel would have to turn bad more than always.
    #[must_use]
    pub fn percent(share: impl Into<f64>, mean_run: impl Into<f64>) -> Impairment {
        let (share, mean_run) = (share.into() / 100.0, mean_run.into());
        assert!(
            (0.0..1.0).contains(&share) && mean_run >= 1.0,
            "no such burst loss"
        );
        // share = p / (p + r) with r = 1 / mean_run, solved for p.
        let to_good = 1.0 / mean_run;
        let to_bad = share * to_good / (1.0 - share);
        Impairment::BurstLoss(Self {
            to_bad: Chance::percent(to_bad * 100.0),
            to_good: Chance::percent(to_good * 100.0),
            loss_in_good: Chance::NEVER,
            loss_in_bad: Chance::ALWAYS,
        })
    }

    /// The model with all four of its chances.
    #[must_use]
    pub fn gilbert_elliott(self) -> Impairment {
        Impairment::BurstLoss(self)
    }

    pub(crate) fn into_stage(self, random: Random) -> Channel {
        Channel {
            setting: self,
            random,
            state: State::Good,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Good,
    Bad,
}

/// The channel, in one of its states.
#[derive(Debug)]
pub(crate) struct Channel {
    setting: BurstLoss,
    random: Random,
    state: State,
}

impl Channel {
    fn step(&mut self) {
        self.state = match self.state {
            State::Good if self.random.happens(self.setting.to_bad) => State::Bad,
            State::Bad if self.random.happens(self.setting.to_good) => State::Good,
            unchanged => unchanged,
        };
    }

    fn loss(&self) -> Chance {
        match self.state {
            State::Good => self.setting.loss_in_good,
            State::Bad => self.setting.loss_in_bad,
        }
    }
}

impl Stage for Channel {
    fn take(&mut self, _now: Duration, datagram: Datagram, outlet: &mut Outlet) {
        self.step();
        if self.random.happens(self.loss()) {
            outlet.lose(datagram, LossCause::Burst);
        } else {
            outlet.pass(datagram);
        }
    }

    fn change(&mut self, _now: Duration, to: &Impairment) -> bool {
        let Impairment::BurstLoss(setting) = to else {
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
    use crate::units::ms;

    const COUNT: u32 = 200_000;

    /// Sends `COUNT` and returns the share lost and the mean length of a run of losses.
    fn measure(impairment: Impairment) -> (f64, f64) {
        let mut bench = Bench::of(impairment);
        bench.send_many(COUNT, ms(1), 100);
        let arrived = bench.order();
        let lost = COUNT as usize - arrived.len();
        let runs = arrived
            .windows(2)
            .filter(|pair| pair[1] - pair[0] > 1)
            .count();
        (lost as f64 / f64::from(COUNT), lost as f64 / runs as f64)
    }

    #[test]
    fn share_and_run_length_are_what_was_asked_for() {
        let (share, run) = measure(BurstLoss::percent(10, 5));
        // A two-state chain's sample mean has the variance pi(1-pi)/n * (1+c)/(1-c), c = 1 - p - r.
        let correlation: f64 = 1.0 - 0.1 * 0.2 / 0.9 - 0.2;
        let spread = (1.0 + correlation) / (1.0 - correlation);
        let error = (0.1 * 0.9 / f64::from(COUNT) * spread).sqrt();
        assert!(is_near(share, 0.10, error), "{share}");
        // Runs are geometric with mean 5: standard deviation sqrt(1 - r) / r.
        let runs = 0.1 * f64::from(COUNT) / 5.0;
        assert!(
            is_near(run, 5.0, 0.8_f64.sqrt() / 0.2 / runs.sqrt()),
            "{run}"
        );
    }

    #[test]
    fn all_four_chances_count() {
        let channel = BurstLoss {
            to_bad: Chance::percent(5),
            to_good: Chance::percent(15),
            loss_in_good: Chance::percent(1),
            loss_in_bad: Chance::percent(60),
        };
        // Bad a quarter of the time: 0.75 * 0.01 + 0.25 * 0.60. The error bound takes the losses
        // as independent and is widened by the chain's factor (1 + 0.8) / (1 - 0.8) = 9.
        let expected: f64 = 0.75 * 0.01 + 0.25 * 0.60;
        let error = (9.0 * expected * (1.0 - expected) / f64::from(COUNT)).sqrt();
        let (share, _) = measure(channel.gilbert_elliott());
        assert!(is_near(share, expected, error), "{share}");
    }

    #[test]
    #[should_panic(expected = "no probability")]
    fn runs_too_short_for_the_share_are_refused() {
        let _ = BurstLoss::percent(90, 1);
    }
}
