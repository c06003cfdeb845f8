//! A firewall that lets nothing through, or nothing to one port.

use std::time::Duration;

use crate::datagram::Datagram;
use crate::impairment::{Impairment, Notice};
use crate::stage::{LossCause, Outlet, Stage};

/// What the firewall stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The only destination port it stops; all where there is none.
    port: Option<u16>,
    notice: Notice,
}

impl Blocked {
    /// Stops everything without a word.
    #[must_use]
    pub fn silently() -> Impairment {
        Self::all(Notice::Silent)
    }

    /// Stops everything.
    #[must_use]
    pub fn all(notice: Notice) -> Impairment {
        Impairment::Blocked(Self { port: None, notice })
    }

    /// Stops what goes to this port.
    #[must_use]
    pub fn port(port: u16, notice: Notice) -> Impairment {
        Impairment::Blocked(Self {
            port: Some(port),
            notice,
        })
    }
}

impl Stage for Blocked {
    fn take(&mut self, _now: Duration, datagram: Datagram, outlet: &mut Outlet) {
        if self
            .port
            .is_none_or(|port| datagram.destination.port() == port)
        {
            outlet.stop(datagram, LossCause::Blocked, self.notice);
        } else {
            outlet.pass(datagram);
        }
    }

    fn change(&mut self, _now: Duration, to: &Impairment) -> bool {
        let Impairment::Blocked(setting) = to else {
            return false;
        };
        *self = *setting;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datagram::SendError;
    use crate::testing::Bench;
    use crate::units::ms;

    #[test]
    fn nothing_passes() {
        let mut bench = Bench::of(Blocked::silently());
        bench.send_many(100, ms(1), 100);
        assert_eq!(bench.losses(), vec![LossCause::Blocked; 100]);
    }

    #[test]
    fn one_port_alone_can_be_stopped() {
        let forbidden = Notice::Reported(SendError::Forbidden);
        let mut bench = Bench::of(Blocked::port(Bench::PORT + 1, forbidden));
        bench.send_at(ms(0), 100);
        bench.change_at(ms(1), Blocked::port(Bench::PORT, forbidden));
        bench.send_at(ms(1), 100);
        assert_eq!(bench.order(), [0]);
        assert_eq!(bench.refusals(), [SendError::Forbidden]);
    }
}
