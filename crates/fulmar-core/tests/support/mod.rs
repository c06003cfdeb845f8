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

use fulmar_base::Time;
use fulmar_datagram::Key;
use fulmar_terminal::{Row, Screen};

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
