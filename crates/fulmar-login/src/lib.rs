//! Starting a remote end over ssh, as a state machine.
//!
//! [`Login`] is told what ssh says and how it ends, what it says of its configuration, which addresses the host has, and
//! what time it is. It says how ssh is started, what is written to it and shown to the user, and at the end how the far
//! end is reached, or why it is not. What is started is a [`RemoteService`]: a session or a copy. [`TransportChoice`] decides
//! if UDP or ssh carries it.
//!
//! ```text
//!  ssh's output, errors, exit ─► Login ─► orders to ssh, text for the user
//!  answers, addresses, time   ─►       ─► connection parameters, or a failure
//! ```
//!
//! Not here, on purpose: processes, pipes, sockets, clocks, threads, the environment.
//!
//! # Example
//!
//! A server that needs no ssh, because a program beside us has started it.
//!
//! ```
//! use fulmar_base::Time;
//! use fulmar_core::Capabilities;
//! use fulmar_datagram::Key;
//! use fulmar_login::{Login, LoginEvent, Offer, BootstrapRequest, SessionService};
//!
//! let offer = Offer::of(Capabilities::ALL);
//! let request = BootstrapRequest { start: None, fallback: None, offer };
//! let service = SessionService::new(request.encode()?);
//! let (now, here) = (Time::ZERO, "127.0.0.1:0".parse().expect("an address"));
//! let mut login = Login::without_ssh(now, "here".into(), vec![here], service, Key::from_base64);
//!
//! login.handle_output(now, b"MOSH CONNECT 60001 c68K8iLyuCr1oEM7Hszyjg\n");
//! let reachable = std::iter::from_fn(|| login.poll_event(now)).find_map(|event| match event {
//!     LoginEvent::Reachable(params, addresses) => Some((params.port, addresses)),
//!     _ => None,
//! });
//! assert_eq!(reachable, Some((60001, vec!["127.0.0.1:60001".parse().expect("an address")])));
//! # Ok::<(), fulmar_login::BootstrapRequestError>(())
//! ```
//!
//! Source: docs/protocol.md §2.9, §2.10, docs/decisions/028-login-machine.md.

#![forbid(unsafe_code)]

mod address_preference;
mod bootstrap;
mod candidate_addresses;
mod candidates;
mod copy;
mod deferred_text;
mod diagnostics;
mod execution;
mod host_lookup;
mod host_names;
mod install_advice;
mod login;
mod login_error;
mod output;
mod output_error;
mod output_event;
mod ports;
mod remote_command;
mod remote_listing;
mod remote_service;
mod server_options;
mod session;
mod session_info;
mod session_list;
mod session_name;
mod session_request;
mod session_task;
pub mod shell_words;
mod silence_timer;
mod spoof_filter;
mod ssh;
mod ssh_error;
mod stderr_buffer;
mod text;
mod text_sanitizer;
mod transport_choice;

pub use address_preference::AddressPreference;
pub use bootstrap::{
    Announcement, BindAddress, BootstrapLine, BootstrapRequest, BootstrapRequestError, CopyParams,
    EncodedRequest, InputEndWatcher, MalformedLine, MoshConnect, Offer, OfferError, OfferReader,
    ReadKey, ReceivedOffer, mosh_connect_line, split_assignment,
};
pub use candidate_addresses::{CandidateAddresses, TriedAddress};
pub use candidates::AddressSource;
pub use copy::{COPY_VERSION, CopyLoginError, CopyService, OVER_SSH_LINE};
pub use diagnostics::{Diagnostics, SERVER_STATUS_NO_PROGRAM, STATUS_NO_PROGRAM};
pub use execution::{Execution, StandardStream};
pub use host_lookup::QueryStream;
pub use host_names::{SshConfigNames, continuing, known_host_names};
pub use install_advice::{copying_command, install_advice};
pub use login::{Login, LoginConfig, LoginEvent, LoginStep, LoginTimer};
pub use login_error::{LoginError, SshExit};
pub use output::LoginOutput;
pub use output_error::OutputError;
pub use output_event::OutputEvent;
pub use ports::{PortRange, PortRangeError};
pub use remote_command::{TERMINAL_VARIABLE, copy_command, is_shell_safe, remote_command};
pub use remote_listing::listed;
pub use remote_service::{ExitFacts, RemoteService};
pub use server_options::{
    DIRECT_COLORS, LOCALE_VARIABLES, PartialServerOptions, ServerOptions, TerminalColors,
};
pub use session::{SessionParams, SessionService};
pub use session_info::SessionInfo;
pub use session_list::SessionListService;
pub use session_name::{SessionName, SessionNameError};
pub use session_request::{SessionRequest, session_command};
pub use session_task::SessionTask;
pub use silence_timer::SilenceTimer;
pub use spoof_filter::{SpoofFilter, without_spoofing};
pub use ssh::{Destination, DestinationError, SshCommand, SshImplementation, SshVersion};
pub use ssh_error::SshError;
pub use text::{escaped, needs_escape};
pub use transport_choice::{Transport, TransportChoice, TransportError, TransportEvent};
