//! Client and server of a session, as state machines.
//!
//! Two objects are kept equal at both ends: what the user typed, a [`UserStream`], travels from
//! client to server, and what the program shows, a [`HostScreen`], from server to client.
//! [`Client`] and [`Server`] are all that a program needs beside sockets, terminals and a clock.
//!
//! ```text
//!  tty ─► Client ─► UserStream ═══ datagrams ═══► UserStream ─► Server ─► pty
//!  tty ◄─── " ◄──── HostScreen ◄══ datagrams ════ HostScreen ◄─── " ◄──── pty
//! ```
//!
//! Not here, on purpose: sockets, ptys, clocks, threads, the environment, randomness. Time, bytes
//! and seeds come in as arguments; bytes, deadlines and events go out as values. What a datagram
//! means is in `fulmar-datagram`, how states are kept equal in `fulmar-transport`, what a screen is
//! in `fulmar-terminal`, and what a key will show before the server answers in `fulmar-predict`.
//!
//! # Example
//!
//! A client and a server joined by a vector.
//!
//! ```
//! use fulmar_core::{Client, ClientConfig, Server, ServerConfig};
//! use fulmar_base::{Ecn, PathId, Time};
//! use fulmar_datagram::Key;
//! use fulmar_transport::Arrival;
//! # fn arrival(bytes: &[u8]) -> Arrival<'_> {
//! #     Arrival { path: PathId::new(0), ecn: Ecn::NotCapable, bytes }
//! # }
//!
//! let (now, key) = (Time::ZERO, || Key::from_base64("c68K8iLyuCr1oEM7Hszyjg"));
//! let mut client = Client::new(now, ClientConfig::new(key()?, [1; 32]));
//! let mut server = Server::new(now, ServerConfig::new(key()?, [2; 32]));
//! client.handle_path_opened(now, PathId::new(0));
//! client.handle_keys(now, b"ls\r");
//!
//! let mut buffer = Vec::new();
//! while let Some(transmit) = client.poll_transmit(now, &mut buffer) {
//!     for datagram in transmit.split(&buffer) {
//!         server.handle_datagram(now, arrival(datagram));
//!     }
//! }
//! assert!(server.poll_event().is_some(), "it is time to start the program");
//! assert_eq!(server.pty_input(), b"ls\r");
//! # Ok::<(), fulmar_datagram::KeyError>(())
//! ```

#![forbid(unsafe_code)]

mod agreement;
mod announcer;
mod attachment;
mod capability;
mod client;
mod client_lifecycle;
mod client_liveness;
mod compat_mode;
mod connection;
mod display;
mod echo_ack;
mod escape_key;
mod exit_status;
mod frame_hold;
mod history_item;
mod history_place;
mod host_screen;
mod key_event;
mod link_info;
mod notice;
mod numbering;
mod outbox;
mod outer_terminal;
mod prediction;
mod program_class;
mod pty_input;
mod pty_replies;
mod push_queue;
mod random;
mod resize_pace;
mod send_trouble;
mod server;
mod session;
mod session_end;
mod terminal_probe;
mod title;
pub mod trace;
mod tty_watch;
mod user_stream;
mod wake;
mod ways;

pub use agreement::Agreement;
pub use announcer::EventWishes;
pub use capability::{Capabilities, Capability};
pub use client::{Client, ClientConfig, ClientEvent};
pub use client_lifecycle::{ClientEnding, ExitCause};
pub use compat_mode::CompatMode;
pub use display::LastScreen;
pub use escape_key::EscapeKey;
pub use exit_status::ExitStatus;
pub use fulmar_terminal::NotificationForm;
pub use history_item::HistoryItem;
pub use history_place::HistoryPlace;
pub use host_screen::HostScreen;
pub use link_info::LinkInfo;
pub use outer_terminal::OuterTerminal;
pub use program_class::program_class;
pub use pty_replies::TtyReader;
pub use random::Seed;
pub use server::{AttachConfig, ExitRequest, Server, ServerConfig, ServerEnding, ServerEvent};
pub use session_end::SessionEnd;
pub use tty_watch::{ForegroundProgram, TtyState};
pub use user_stream::{UserEvent, UserStream, WindowSize};
pub use wake::Wake;
pub use ways::{ChosenWays, Way, WayPreference, Ways};
