//! Makes times of the protocol of those of the simulator.

use std::time::Duration;

use fulmar_datagram::{Ecn, Time};
use fulmar_transport::{Hint, SendError};

pub(crate) fn time(now: Duration) -> Time {
    Time::from_origin(now)
}

pub(crate) fn received(ecn: fulmar_sim::Ecn) -> Ecn {
    match ecn {
        fulmar_sim::Ecn::NotCapable => Ecn::NotCapable,
        fulmar_sim::Ecn::Capable0 => Ecn::Capable0,
        fulmar_sim::Ecn::Capable1 => Ecn::Capable1,
        fulmar_sim::Ecn::CongestionExperienced => Ecn::Congested,
    }
}

pub(crate) fn sent(ecn: Ecn) -> fulmar_sim::Ecn {
    match ecn {
        Ecn::NotCapable => fulmar_sim::Ecn::NotCapable,
        Ecn::Capable0 => fulmar_sim::Ecn::Capable0,
        Ecn::Capable1 => fulmar_sim::Ecn::Capable1,
        Ecn::Congested => fulmar_sim::Ecn::CongestionExperienced,
    }
}

pub(crate) fn send_error(error: fulmar_sim::SendError) -> SendError {
    match error {
        fulmar_sim::SendError::TooBig => SendError::TooBig,
        fulmar_sim::SendError::Unreachable | fulmar_sim::SendError::AddressGone => {
            SendError::Unreachable
        }
        fulmar_sim::SendError::Refused => SendError::Refused,
        fulmar_sim::SendError::Forbidden => SendError::Forbidden,
    }
}

pub(crate) fn hint(hint: fulmar_sim::Hint) -> Option<Hint> {
    match hint {
        fulmar_sim::Hint::Woke { slept } => Some(Hint::Woke { slept }),
        fulmar_sim::Hint::AddressChanged => Some(Hint::AddressChanged),
        fulmar_sim::Hint::LinkUp => Some(Hint::LinkUp),
        _ => None,
    }
}
