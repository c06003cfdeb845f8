//! Client and server of a session, as state machines.
//!
//! Two objects are kept equal at both ends: what the user typed, a [`UserStream`], travels from
//! client to server, and what the program shows, a [`HostScreen`], from server to client.
//! Client and [`Server`] are all that a program needs beside sockets, terminals and a clock.
//!
//! ```text
//!  tty ─► Client ─► UserStream ═══ datagrams ═══► UserStream ─► Server ─► pty
//!  tty ◄─── " ◄──── HostScreen ◄══ datagrams ════ HostScreen ◄─── " ◄──── pty
//! ```
//!
//! Not here, on purpose: sockets, ptys, clocks, threads, the environment, randomness. Time, bytes
//! and seeds come in as arguments; bytes, deadlines and events go out as values. What a datagram
//! means is in `fulmar-datagram`, how states are kept equal in `fulmar-transport`, what a screen is
//! in `fulmar-terminal`.

#![forbid(unsafe_code)]

mod echo_ack;
mod frame_hold;
mod host_screen;
mod link;
mod link_info;
mod presence;
mod pty_input;
mod random;
mod resize_pace;
mod server;
mod session;
mod user_stream;
mod wake;

pub use host_screen::HostScreen;
pub use link_info::LinkInfo;
pub use random::Seed;
pub use server::{ExitRequest, Server, ServerConfig, ServerEnding, ServerEvent};
pub use user_stream::{UserEvent, UserStream, WindowSize};
pub use wake::Wake;
