//! Examples of servers.

use fulmar_login::{OfferError, OpeningError, PortRange};

use super::{BOTH, FULMAR, Row, row, said};
use crate::{login, offer_input, server};

pub(super) fn rows() -> Vec<Row> {
    vec![
        row(
            server::Failure::PortsBusy {
                ports: PortRange::DEFAULT,
                error: said("Address already in use"),
            },
            BOTH,
            "all ports are taken, on every address that was tried",
        ),
        row(
            server::Failure::ShellMissing {
                program: "/bin/zsh".into(),
            },
            FULMAR,
            "the command, or the shell that SHELL or the user database names, is not there or may \
             not be run",
        ),
        row(
            login::Failure::LocalServer,
            FULMAR,
            "with --local: the server has ended without a message",
        ),
        row(
            offer_input::Failure::NoOffer(OfferError::Missing),
            FULMAR,
            "fulmar server was started by hand without the word new, or the login has ended",
        ),
        row(
            offer_input::Failure::NoOffer(OfferError::Cut),
            FULMAR,
            "the login has ended, or something there has read a part of the client's offer",
        ),
        row(
            offer_input::Failure::NoOffer(OfferError::TooLong),
            FULMAR,
            "the program's arguments do not fit into an offer, or something else sends data without end",
        ),
        row(
            offer_input::Failure::NoOffer(OfferError::Version(2)),
            FULMAR,
            "the client is of a later version with another bootstrap",
        ),
        row(
            offer_input::Failure::NoOffer(OfferError::Malformed(3)),
            FULMAR,
            "the offer was changed on its way, or is of another version",
        ),
        row(
            login::Failure::Opening(OpeningError::TooLong(70_000)),
            FULMAR,
            "the program's arguments do not fit into an offer",
        ),
        row(
            login::Failure::Opening(OpeningError::ControlCharacter),
            FULMAR,
            "the command of --server is not a single line",
        ),
        row(
            server::Failure::LoginEnded,
            FULMAR,
            "the client was ended, or its connection was lost, before the first datagram",
        ),
        row(
            server::Failure::ServerEnded,
            FULMAR,
            "no client came for a minute, or the server was ended",
        ),
        row(
            login::Failure::OfServer {
                what: "cannot run nano: there is no such program here".to_owned(),
                advice: vec!["check the spelling".to_owned()],
            },
            FULMAR,
            "the server has said so, with its own next step",
        ),
    ]
}
