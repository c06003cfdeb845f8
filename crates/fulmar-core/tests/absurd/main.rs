//! Peers that have the key and say what nobody can mean.
//!
//! Source: T-H1 of docs/threat-model.md §12.
#![allow(
    dead_code,
    clippy::allow_attributes,
    reason = "not all of it is said yet"
)]

mod definitions;
mod held;
mod mutations;
mod victim;

use fulmar_transport::Role;

use crate::definitions::Messages;

fn messages(role: Role) -> (Messages, &'static str) {
    match role {
        Role::Client => (definitions::of_screen(), "HostMessage"),
        Role::Server => (definitions::of_keys(), "UserMessage"),
    }
}
