//! A firewall that lets nothing through, or nothing to one port.

use std::time::Duration;

use crate::datagram::Datagram;
use crate::impairment::{Impairment, LossCause, Notice, Outlet, Stage};

/// A firewall, and what it stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocked {
    what: BlockedTraffic,
    notice: Notice,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockedTraffic {
    Nothing,
    All,
    Udp,
    /// UDP and TCP to this port.
    Port(u16),
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
        Self::stopping(BlockedTraffic::All, notice)
    }

    /// Stops UDP. Where everything is UDP, as with simulated hosts, that is everything.
    #[must_use]
    pub fn udp(notice: Notice) -> Impairment {
        Self::stopping(BlockedTraffic::Udp, notice)
    }

    /// Stops nothing: takes the firewall away during a run.
    #[must_use]
    pub fn nothing() -> Impairment {
        Self::stopping(BlockedTraffic::Nothing, Notice::Silent)
    }

    /// Stops what goes to this port.
    #[must_use]
    pub fn port(port: u16, notice: Notice) -> Impairment {
        Self::stopping(BlockedTraffic::Port(port), notice)
    }

    fn stopping(what: BlockedTraffic, notice: Notice) -> Impairment {
        Impairment::Blocked(Self { what, notice })
    }

    fn stops(self, datagram: &Datagram) -> bool {
        match self.what {
            BlockedTraffic::Nothing => false,
            BlockedTraffic::All => true,
            BlockedTraffic::Udp => datagram.content.is_udp(),
            BlockedTraffic::Port(port) => datagram.destination.port() == port,
        }
    }
}

impl Stage for Blocked {
    fn take(&mut self, _now: Duration, datagram: Datagram, outlet: &mut Outlet) {
        if self.stops(&datagram) {
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
    use crate::datagram::Content;
    use crate::testing::Bench;
    use crate::units::ms;
    use fulmar_base::SendError;

    #[test]
    fn nothing_passes() {
        let mut bench = Bench::of(Blocked::silently());
        bench.send_many(100, ms(1), 100);
        assert_eq!(bench.losses(), vec![LossCause::Blocked; 100]);
    }

    #[test]
    fn udp_alone_can_be_stopped() {
        let mut bench = Bench::of(Blocked::udp(Notice::Silent));
        let contents = [
            Content::UdpPayload,
            Content::OtherPacket,
            Content::UdpPacket,
        ];
        for content in contents {
            bench.content = content;
            bench.send_at(ms(0), 100);
        }
        assert_eq!(bench.order(), [1]);
    }

    #[test]
    fn the_firewall_can_be_taken_away() {
        let mut bench = Bench::of(Blocked::silently());
        bench.send_at(ms(0), 100);
        bench.change_at(ms(1), Blocked::nothing());
        bench.send_at(ms(1), 100);
        assert_eq!(bench.order(), [1]);
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
