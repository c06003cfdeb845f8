//! Logging in: from `[user@]host` to a server that waits for us, through the user's own ssh.
//!
//! Source: docs/protocol.md §2.

#![cfg_attr(
    not(test),
    expect(dead_code, reason = "the parts come before what joins them")
)]

mod candidates;
mod remote_command;
mod resolve;
mod ssh;
