//! A link that does not carry large packets.

use std::time::Duration;

use crate::datagram::Datagram;
use crate::impairment::{Impairment, LossCause, Notice, Outlet, Stage};
use fulmar_base::SendError;

/// The largest packet that passes, counted with its IP and UDP headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mtu {
    packet_bytes_max: usize,
    notice: Notice,
}

impl Mtu {
    /// Larger packets vanish, as where ICMP is filtered.
    #[must_use]
    pub fn black_hole(packet_bytes_max: usize) -> Impairment {
        Impairment::Mtu(Self {
            packet_bytes_max,
            notice: Notice::Silent,
        })
    }

    /// Larger packets vanish, and the sender's system reports [`SendError::TooBig`].
    #[must_use]
    pub fn reported(packet_bytes_max: usize) -> Impairment {
        let notice = Notice::Reported(SendError::TooBig);
        Impairment::Mtu(Self {
            packet_bytes_max,
            notice,
        })
    }
}

impl Mtu {
    /// Returns the length of the largest packet that passes.
    #[must_use]
    pub fn packet_bytes_max(&self) -> usize {
        self.packet_bytes_max
    }
}

impl Stage for Mtu {
    fn take(&mut self, _now: Duration, datagram: Datagram, outlet: &mut Outlet) {
        if datagram.packet_len() <= self.packet_bytes_max {
            outlet.pass(datagram);
        } else {
            outlet.stop(datagram, LossCause::TooBig, self.notice);
        }
    }

    fn change(&mut self, _now: Duration, to: &Impairment) -> bool {
        let Impairment::Mtu(setting) = to else {
            return false;
        };
        *self = *setting;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Bench;
    use crate::units::ms;

    #[test]
    fn a_packet_of_exactly_the_mtu_passes() {
        let mut bench = Bench::of(Mtu::black_hole(1280));
        bench.send_at(ms(0), 1280 - 28);
        bench.send_at(ms(1), 1280 - 28 + 1);
        assert_eq!(bench.order(), [0]);
        assert_eq!(bench.losses(), [LossCause::TooBig]);
        assert_eq!(bench.refusals(), []);
    }

    #[test]
    fn the_sender_can_be_told() {
        let mut bench = Bench::of(Mtu::reported(1280));
        bench.send_at(ms(0), 1400);
        assert_eq!(bench.refusals(), [SendError::TooBig]);
    }

    #[test]
    fn a_path_can_shrink() {
        let mut bench = Bench::of(Mtu::black_hole(1500));
        bench.send_at(ms(0), 1400);
        bench.change_at(ms(1), Mtu::black_hole(1280));
        bench.send_at(ms(1), 1400);
        assert_eq!(bench.order(), [0]);
    }
}
