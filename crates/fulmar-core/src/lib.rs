//! Client and server of a session, as state machines.
//!
//! Two objects are kept equal at both ends: what the user typed, a [`UserStream`], travels from
//! client to server, and what the program shows, a [`HostScreen`], from server to client.

#![forbid(unsafe_code)]

mod host_screen;
mod user_stream;

pub use host_screen::HostScreen;
pub use user_stream::{UserEvent, UserStream, WindowSize};
