//! A client with its user and a server with its program, joined by a simulated network.
#![allow(
    dead_code,
    unused_imports,
    clippy::allow_attributes,
    reason = "each test file uses a part of this, so an expectation would fail in some"
)]

mod far;
mod near;
mod world;

pub(crate) use far::Far;
pub(crate) use near::Near;
pub(crate) use world::World;

use std::time::Duration;

use fulmar_datagram::{Ecn, Key, Time};
use fulmar_terminal::{Row, Screen};
use fulmar_transport::{Hint, SendError};

/// The key of all simulated sessions.
pub(crate) fn key() -> Key {
    Key::from_base64("c68K8iLyuCr1oEM7Hszyjg").expect("22 characters of base64")
}

/// Returns the screen as text, one line for each row, trailing blanks removed.
pub(crate) fn text(screen: &Screen) -> String {
    let mut lines = Vec::new();
    for row in 0..screen.size().rows() {
        let mut line = String::new();
        screen.row(Row(row)).push_text(&mut line);
        lines.push(line.trim_end().to_owned());
    }
    lines.join("\n").trim_end().to_owned()
}

pub(crate) fn time(now: Duration) -> Time {
    Time::from_origin(now)
}

fn ecn(ecn: fulmar_sim::Ecn) -> Ecn {
    match ecn {
        fulmar_sim::Ecn::NotCapable => Ecn::NotCapable,
        fulmar_sim::Ecn::Capable0 => Ecn::Capable0,
        fulmar_sim::Ecn::Capable1 => Ecn::Capable1,
        fulmar_sim::Ecn::CongestionExperienced => Ecn::Congested,
    }
}

fn simulated(ecn: Ecn) -> fulmar_sim::Ecn {
    match ecn {
        Ecn::NotCapable => fulmar_sim::Ecn::NotCapable,
        Ecn::Capable0 => fulmar_sim::Ecn::Capable0,
        Ecn::Capable1 => fulmar_sim::Ecn::Capable1,
        Ecn::Congested => fulmar_sim::Ecn::CongestionExperienced,
    }
}

fn send_error(error: fulmar_sim::SendError) -> SendError {
    match error {
        fulmar_sim::SendError::TooBig => SendError::TooBig,
        fulmar_sim::SendError::Unreachable | fulmar_sim::SendError::AddressGone => {
            SendError::Unreachable
        }
        fulmar_sim::SendError::Refused => SendError::Refused,
        fulmar_sim::SendError::Forbidden => SendError::Forbidden,
    }
}

fn hint(hint: fulmar_sim::Hint) -> Option<Hint> {
    match hint {
        fulmar_sim::Hint::Woke { slept } => Some(Hint::Woke { slept }),
        fulmar_sim::Hint::AddressChanged => Some(Hint::AddressChanged),
        fulmar_sim::Hint::LinkUp => Some(Hint::LinkUp),
        _ => None,
    }
}
