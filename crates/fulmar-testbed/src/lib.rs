//! The test bed: what tests and measurements of real programs share. It is never shipped.
//!
//! Nothing here sleeps. A wait names what it waits for and ends with it, or at a deadline.
//!
//! | module | content |
//! |---|---|
//! | [`peers`] | programs that are not ours: where they are, and tests that need them |
//! | [`median`] | the median of measurements |
//! | [`PtyProgram`] | a program on a pseudo-terminal: keys, output, its end |
//! | [`SshFiles`], [`Sshd`] | keys and configurations for an sshd; an sshd on loopback that has them |
//! | [`TimedUdpSocket`] | a UDP socket whose reads end at a deadline, and not for a signal |

mod median;
pub mod peers;
mod pty_program;
mod ssh_files;
mod sshd;
mod timed_udp_socket;

pub use median::median;
pub use pty_program::PtyProgram;
pub use ssh_files::SshFiles;
pub use sshd::Sshd;
pub use timed_udp_socket::TimedUdpSocket;
