//! Examples of servers.

use std::io;

use fulmar_login::{BootstrapRequestError, OfferError, PortRange, StandardStream};

use super::{BOTH, FULMAR, Row, row, said};
use crate::login::SessionError;
use crate::offer_input::OfferInputError;
use crate::process_title::{PortHolder, PortUse};
use crate::server::ServerError;
use crate::server::shell::Obstacle;

/// The failure over a port that a process of the same user has.
fn held_by(port_use: PortUse) -> ServerError {
    ServerError::PortsBusy {
        ports: PortRange::parse("60001").unwrap(),
        error: said("Address already in use"),
        holder: Some(PortHolder {
            pid: 4711,
            port_use,
            port: 60001,
        }),
    }
}

pub(super) fn rows() -> Vec<Row> {
    vec![
        row(
            ServerError::PortsBusy {
                ports: PortRange::DEFAULT,
                error: said("Address already in use"),
                holder: None,
            },
            BOTH,
            "all ports are taken, on every address that was tried",
        ),
        row(
            ServerError::PortsBusy {
                ports: PortRange::parse("80").unwrap(),
                error: io::Error::new(io::ErrorKind::PermissionDenied, "Permission denied"),
                holder: None,
            },
            BOTH,
            "a port below 1024 was named, and the user is not root",
        ),
        row(
            held_by(PortUse::DetachedSession),
            BOTH,
            "a single port was named, and a session of the same user has it whose client is away",
        ),
        row(
            held_by(PortUse::Session),
            BOTH,
            "the same, and the client of that session is there",
        ),
        row(
            held_by(PortUse::Copy),
            BOTH,
            "the same, and a copy of the same user has the port",
        ),
        row(
            ServerError::CannotRun {
                program: "/bin/zsh".into(),
                obstacle: Obstacle::Missing,
            },
            FULMAR,
            "the command, or the shell that SHELL or the user database names, is not there",
        ),
        row(
            ServerError::CannotRun {
                program: "/etc/passwd".into(),
                obstacle: Obstacle::NotExecutable,
            },
            FULMAR,
            "the command is a file without permission to be run, or a folder",
        ),
        row(
            ServerError::CannotRun {
                program: "cd".into(),
                obstacle: Obstacle::Missing,
            },
            FULMAR,
            "the first of several words means something to a shell, and is no program",
        ),
        row(
            SessionError::Redirected(StandardStream::Output),
            FULMAR,
            "fulmar HOST was started with its input or output redirected, or where there is no terminal",
        ),
        row(
            SessionError::AttachRedirected(StandardStream::Output),
            FULMAR,
            "fulmar attach with its input or output redirected",
        ),
        row(
            SessionError::LocalServer,
            FULMAR,
            "with --local: the server has ended without a message",
        ),
        row(
            OfferInputError::NoOffer(OfferError::Missing),
            FULMAR,
            "fulmar server was started by hand without the word new, or the login has ended",
        ),
        row(
            OfferInputError::NoOffer(OfferError::Cut),
            FULMAR,
            "the login has ended, or something there has read a part of the client's offer",
        ),
        row(
            OfferInputError::NoOffer(OfferError::TooLong),
            FULMAR,
            "the program's arguments do not fit into an offer, or something else sends data without end",
        ),
        row(
            OfferInputError::NoOffer(OfferError::Version(2)),
            FULMAR,
            "the client is of a later version with another bootstrap",
        ),
        row(
            OfferInputError::NoOffer(OfferError::Malformed(3)),
            FULMAR,
            "the offer was changed on its way, or is of another version",
        ),
        row(
            SessionError::Request(BootstrapRequestError::LongCommand(140_000)),
            FULMAR,
            "the program's arguments do not fit into an offer",
        ),
        row(
            SessionError::Request(BootstrapRequestError::ControlCharacter),
            FULMAR,
            "the command of --server is not a single line",
        ),
        row(
            ServerError::LoginEnded,
            FULMAR,
            "the client was ended, or its connection was lost, before the first datagram",
        ),
        row(
            ServerError::ServerEnded,
            FULMAR,
            "no client came for a minute, or the server was ended",
        ),
        row(
            SessionError::OfServer {
                what: "cannot listen on UDP 60001:60999: Address already in use".to_owned(),
                advice: vec!["end sessions that nobody uses".to_owned()],
            },
            FULMAR,
            "the server has said so, with its own next step",
        ),
        row(
            SessionError::ProgramMissing {
                what: "cannot run nano: there is no such program here".to_owned(),
                advice: vec!["check the spelling".to_owned()],
            },
            FULMAR,
            "the server has said so, with its own next step",
        ),
    ]
}
