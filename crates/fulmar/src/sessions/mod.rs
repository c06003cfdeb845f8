//! The sessions of this user on this machine: a socket for each, by which another process of the user asks the session's
//! server about it, ends it, or has it expect another client.
//!
//! ```text
//!  fulmar server, started by a login ── ControlRequest ──► socket of the session ─► its server
//!                                    ◄── SESSION, PORT, HEARD, ERROR ──
//! ```
//!
//! Source: docs/protocol.md §2.11, docs/threat-model.md §9.

mod control_client;
mod control_request;
mod control_socket;
mod error;
mod run_folder;

pub(crate) use self::control_client::{Attaching, Directory, Listing, SilentSession};
pub(crate) use self::control_request::{AttachPlace, AttachRequest, ControlRequest};
pub(crate) use self::control_socket::{ControlSocket, PeerId};
pub(crate) use self::error::{NO_SESSION, PORTS_USED, SessionsError};
pub(crate) use self::run_folder::RunFolder;
