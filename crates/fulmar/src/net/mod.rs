//! UDP as sessions and copies use it: ports, addresses, and the paths between them; and paths over streams of bytes.
//!
//! ```text
//!  client:  CandidateAddresses ─► ClientSockets ─ LocalPorts ══ UDP ══► Listening ─ ServerSockets ◄─ PathTable  :server
//!                                 └──────────── PathHandler: a session or a copy ───────────┘
//! ```

mod client_sockets;
mod listening;
mod local_ports;
mod path_handler;
mod path_table;
mod record;
mod server_sockets;
mod stream_path;
pub(crate) mod udp;

pub(crate) use self::client_sockets::ClientSockets;
pub(crate) use self::path_handler::{Handled, PathHandler, Report};
pub(crate) use self::server_sockets::ServerSockets;
pub(crate) use self::stream_path::{FIRST_STREAM_PATH, StreamPath};
