//! A remote shell that survives bad networks.
//!
//! One program in several parts: the server, the client, and both at once on one machine. Under the
//! names `mosh`, `mosh-server` and `mosh-client` it stands in for those.

#![forbid(unsafe_code)]

mod address;
mod advice;
mod cli;
mod client;
mod clock;
mod copy;
mod crash;
#[cfg(test)]
mod documents;
mod environment;
mod errors;
mod local;
mod log;
mod login;
mod login_parent;
mod mosh;
mod net;
mod offer_input;
mod process_title;
mod random;
mod reactor;
mod report;
mod run;
mod server;
mod session_key;
mod sessions;
mod settings;
mod ssh_login;
mod steps;
mod system;
#[cfg(test)]
mod terminal_page;
mod trace;

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(run::run(std::env::args_os()))
}
