//! The tools with which the tests drive the real programs.
//!
//! A [`Session`] is a server, a client on a [`Terminal`], and, where the test asks for it, a
//! [`Relay`] between them. Which programs they are is said by a [`Pair`]: stock's, ours, or one of
//! each. A test is written once, for any pair, and made into one test for each by
//! [`for_each_pair`].
//!
//! Nothing here sleeps. A test says what it waits for, and the wait ends with it; the deadline is
//! met by failing tests only.

mod daemon;
mod deaf;
mod judge;
mod machine;
mod memory;
mod modes;
pub(crate) mod network;
mod pair;
mod server;
mod session;
mod terminal;
mod world;

pub(crate) use daemon::{Daemon, make_key};
pub(crate) use deaf::DeafClient;
pub(crate) use judge::{holds, row_text};
pub(crate) use machine::{Bell, Machine, PASSWORD, Person};
pub(crate) use memory::{Needles, mappings, mappings_if_it_runs};
pub(crate) use modes::Modes;
pub(crate) use pair::{Make, Pair, for_each_make, for_each_pair};
pub(crate) use server::Server;
pub(crate) use session::{Session, Setup, Wire, rules};
pub(crate) use terminal::{Rules, Terminal, wait_until_same};
pub(crate) use world::{SERVER_STAYS_SECONDS, World};

use fulmar_testbed::TimedUdpSocket;
pub(crate) use fulmar_testbed::{
    DEADLINE, Process, Relay, adopt_orphans, sees_environments, write_program,
};

/// The prompt of the shell that tests type at.
pub(crate) const PROMPT: &str = "ready$ ";

/// Opens a UDP socket on loopback; a read that lasts until the deadline fails.
pub(crate) fn udp_socket() -> TimedUdpSocket {
    TimedUdpSocket::on_loopback(DEADLINE).expect("a free port")
}
