//! A link that carries nothing at times.

use std::ops::Range;
use std::time::Duration;

use crate::datagram::Datagram;
use crate::impairment::{Impairment, LossCause, Notice, Outlet, Stage};

/// The times at which the link is out. What enters it then is lost; what is further along is not touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    /// From the first instant of each window to before its last.
    windows: Vec<Range<Duration>>,
    notice: Notice,
}

impl Outage {
    /// Out from `start` until before `end`, both counted from the start of the simulation.
    #[must_use]
    pub fn between(start: Duration, end: Duration) -> Impairment {
        Self::windows([start..end], Notice::Silent)
    }

    /// Out from `start` for ever, or until the setting is changed.
    #[must_use]
    pub fn from(start: Duration) -> Impairment {
        Self::between(start, Duration::MAX)
    }

    /// Never out: ends an outage during a run.
    #[must_use]
    pub fn never() -> Impairment {
        Self::windows([], Notice::Silent)
    }

    /// Out in each of the windows; the sender's system is silent about it or reports an error.
    #[must_use]
    pub fn windows(
        windows: impl IntoIterator<Item = Range<Duration>>,
        notice: Notice,
    ) -> Impairment {
        Impairment::Outage(Self {
            windows: windows.into_iter().collect(),
            notice,
        })
    }

    /// Tells whether the link is out at `now`.
    #[must_use]
    pub fn is_out(&self, now: Duration) -> bool {
        self.windows.iter().any(|window| window.contains(&now))
    }
}

impl Stage for Outage {
    fn take(&mut self, now: Duration, datagram: Datagram, outlet: &mut Outlet) {
        if self.is_out(now) {
            outlet.stop(datagram, LossCause::Outage, self.notice);
        } else {
            outlet.pass(datagram);
        }
    }

    fn change(&mut self, _now: Duration, to: &Impairment) -> bool {
        let Impairment::Outage(setting) = to else {
            return false;
        };
        self.clone_from(setting);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Bench;
    use crate::units::{days, secs};
    use fulmar_base::SendError;

    #[test]
    fn the_first_instant_is_out_and_the_last_is_not() {
        let mut bench = Bench::of(Outage::between(secs(5), secs(65)));
        for at in [4, 5, 64, 65] {
            bench.send_at(secs(at), 100);
        }
        assert_eq!(bench.order(), [0, 3]);
        assert_eq!(bench.losses(), [LossCause::Outage; 2]);
    }

    #[test]
    fn an_outage_without_end_can_be_ended() {
        let mut bench = Bench::of(Outage::from(secs(1)));
        bench.send_at(days(1), 100);
        bench.change_at(days(2), Outage::never());
        bench.send_at(days(3), 100);
        assert_eq!(bench.order(), [1]);
    }

    #[test]
    fn windows_of_days_and_errors_for_the_sender() {
        let windows = [secs(1)..secs(2), days(1)..days(4)];
        let notice = Notice::Reported(SendError::Unreachable);
        let mut bench = Bench::of(Outage::windows(windows, notice));
        for at in [secs(1), secs(3), days(2), days(5)] {
            bench.send_at(at, 100);
        }
        assert_eq!(bench.order(), [1, 3]);
        assert_eq!(bench.refusals(), [SendError::Unreachable; 2]);
    }
}
