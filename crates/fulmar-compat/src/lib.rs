//! Standing in for stock Mosh's three programs: their command lines, the words that they start each other with, and
//! the lines by which they find each other.
//!
//! [`Program`] tells by its name which program this is to be. [`MoshRequest`], [`MoshServerRequest`] and
//! [`MoshClientRequest`] are what their command lines ask for. For `mosh` there are also the words for ssh ([`ssh_words`]),
//! the command line for the server ([`server_command`]), which addresses are tried ([`MoshFamily`]), and the meaning
//! of what ssh and the server print ([`MoshLoginOutput`]).
//!
//! Scripts and habits depend on what these programs do. All of it follows stock, in words, lines and texts, also where
//! a library would do otherwise.
//!
//! Not here, on purpose: processes, pipes, sockets, the process's own environment. Words and lines come in, and
//! values and words go out.
//!
//! # Example
//!
//! ```
//! use fulmar_compat::{MoshRequest, server_command, ssh_words};
//! use fulmar_settings::Environment;
//!
//! let words = ["--experimental-remote-ip=remote", "-4", "ada@example.org"].map(Into::into);
//! let environment = Environment::from_iter([("LANG", "C.UTF-8")]);
//! let MoshRequest::Session(options) = MoshRequest::parse(&words, &environment)? else {
//!     panic!("it asks for a session");
//! };
//! let server = server_command(&options, "256", &environment);
//! let ssh = ssh_words(&options, &options.host, &[], &server)?;
//! assert_eq!(ssh[..5], ["ssh", "-n", "-tt", "-4", "ada@example.org"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: docs/protocol.md §2.2 to §2.8, docs/decisions/035-compat-crate.md.

#![forbid(unsafe_code)]

mod command_line;
mod mosh;
mod mosh_client;
mod mosh_family;
mod mosh_login_error;
mod mosh_login_output;
mod mosh_server;
mod program;
mod server_command;
mod ssh_words;

pub use command_line::CommandLineError;
pub use mosh::{
    MOSH_USAGE, MoshBind, MoshOptions, MoshRequest, MoshRoute, UsageError, mosh_version_text,
};
pub use mosh_client::MoshClientRequest;
pub use mosh_family::MoshFamily;
pub use mosh_login_error::MoshLoginError;
pub use mosh_login_output::{MoshLoginOutput, ServerAddress, ServerLine};
pub use mosh_server::{MoshServerRequest, mosh_server_version_text};
pub use program::Program;
pub use server_command::server_command;
pub use ssh_words::ssh_words;
