//! Thin, tested wrappers of the system calls that Fulmar needs.
//!
//! This is the one crate of the workspace with `unsafe` code, and the one that owns descriptors.
//! It knows nothing of datagrams, screens or sessions: it takes and returns bytes, addresses,
//! sizes and durations. It takes no decisions either. Nothing here waits but [`Poller::wait`],
//! [`wait_for`] and the few functions that say so, and no error is turned into a pause.
//!
//! Linux comes first. What only Linux has stands behind `cfg(target_os = "linux")` with a portable
//! substitute where one takes a few lines.
//!
//! # Example
//!
//! ```no_run
//! use fulmar_platform::{Spawn, WindowSize, pty};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let size = WindowSize { rows: 24, columns: 80 };
//! let (master, slave) = pty::open(size)?;
//! let mut shell = Spawn::new("/bin/sh");
//! shell.argv0("-sh").env("TERM", "xterm-256color").directory("/");
//! let child = slave.spawn(&shell)?;
//! master.write(b"echo hello\n")?;
//! # drop(child);
//! # Ok(())
//! # }
//! ```

mod child;
mod clock;
mod core_dump;
#[cfg(all(feature = "lab", target_os = "linux"))]
pub mod lab;
#[cfg(any(test, feature = "tests"))]
mod leave_out;
mod local_peer;
mod locale;
mod piped;
mod poll;
mod private_file;
mod private_folder;
pub mod process;
pub mod pty;
pub mod resolve;
mod routes;
mod running_program;
mod secret;
mod shortage;
pub mod signals;
mod standard;
mod threads;
mod timer;
mod transfer;
pub mod tty;
pub mod udp;
mod user;
mod utempter;
pub mod utmp;
mod window_size;

pub use child::{Child, Spawn, SpawnError, SpawnStep};
pub use clock::{SleepWatch, boot_time};
pub use core_dump::{CoreLimit, forbid_core_dumps};
#[cfg(any(test, feature = "tests"))]
pub use leave_out::leave_out;
pub use local_peer::{is_own_peer, peer_process};
pub use locale::locale_codeset;
pub use piped::{Piped, Stream};
pub use poll::{Interest, Poller, Readiness, Registry, wait_for};
pub use private_file::{PrivateFileError, Unfit, create_private};
pub use private_folder::{check_private_folder, is_remote_folder, make_private_folder};
pub use pty::{Discipline, Master, Slave};
pub use routes::{NetworkChange, RouteSocket};
pub use running_program::{NAME_BYTES_MAX, RunningProgram};
pub use secret::{SecretBox, random, take_env_secret};
pub use shortage::Shortage;
pub use signals::{Signal, SignalPipe};
pub use standard::{SharedOutput, StandardPipes, was_closed};
pub use timer::DeadlineTimer;
pub use transfer::Transfer;
pub use tty::{RawMode, SavedModes, Tty};
pub use udp::UdpSocket;
pub use user::{User, own_user_id};
pub use utempter::Utempter;
pub use window_size::WindowSize;

#[cfg(test)]
mod test_support;
