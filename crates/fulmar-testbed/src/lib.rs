//! The test bed: what tests and measurements of real programs share. It is never shipped.
//!
//! Nothing here sleeps. A wait names what it waits for and ends with it, or at a deadline.
//!
//! | module | content |
//! |---|---|
//! | [`peers`] | programs that are not ours: where they are, and tests that need them |
//! | [`median`] | the median of measurements |
//! | [`KilledChild`] | a child that ends with the value that holds it |
//! | [`Process`] | a process that is not our child: its end, its status, signals |
//! | [`write_program`] | a file that can be run at once |
//! | [`PtyProgram`] | a program on a pseudo-terminal: keys, output, its end |
//! | [`SshFiles`], [`Sshd`] | keys and configurations for an sshd; an sshd on loopback that has them |
//! | [`Relay`] | a network on loopback that loses, delays, counts, can be cut, and moves the client |
//! | [`TimedUdpSocket`] | a UDP socket whose reads end at a deadline, and not for a signal |

mod killed_child;
mod median;
pub mod peers;
mod process;
mod program_file;
mod pty_program;
mod relay;
mod ssh_files;
mod sshd;
mod timed_udp_socket;

pub use killed_child::KilledChild;
pub use median::median;
pub use process::{Process, adopt_orphans, sees_environments};
pub use program_file::write_program;
pub use pty_program::PtyProgram;
pub use relay::{Passed, Relay};
pub use ssh_files::SshFiles;
pub use sshd::Sshd;
pub use timed_udp_socket::TimedUdpSocket;

use std::time::Duration;

/// Longer than anything takes on a loaded machine, timeouts of the protocol included: only a test that fails waits
/// for it. Chosen by eye.
pub const DEADLINE: Duration = Duration::from_secs(60);
