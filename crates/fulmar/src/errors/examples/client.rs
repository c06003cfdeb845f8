//! Examples of clients.

use fulmar_datagram::KeyError;
use fulmar_platform::Signal;

use super::{BOTH, FULMAR, MOSH, Row, row, said};
use crate::client::ClientError;
use crate::login::SessionError;

pub(super) fn rows() -> Vec<Row> {
    vec![
        row(
            ClientError::KeyMissing,
            BOTH,
            "a client was started by hand, without the server's key",
        ),
        row(
            ClientError::BadKey(KeyError::WrongLength { found: 21 }),
            BOTH,
            "a character was lost when the key was copied",
        ),
        row(
            ClientError::BadKey(KeyError::NotBase64),
            BOTH,
            "something else than the key was copied, or a character was mistyped",
        ),
        row(
            ClientError::BadAddress {
                text: "example.org".into(),
            },
            BOTH,
            "fulmar client and mosh-client take no names",
        ),
        row(
            ClientError::NoTerminal(said("Inappropriate ioctl for device")),
            BOTH,
            "no terminal is there to draw on",
        ),
        row(
            ClientError::Redirected,
            FULMAR,
            "the output of fulmar client goes to a file or a pipe, and a session has a screen",
        ),
        row(
            ClientError::UnknownTerminal {
                term: "no-such-type".into(),
            },
            MOSH,
            "TERM is not in terminfo; under our own name it is only a warning, and the terminal is \
             treated as plain",
        ),
    ]
}

/// The rows about a session that was there.
pub(super) fn session() -> Vec<Row> {
    let never = |is_heard| ClientError::NeverConnected {
        server: "192.0.2.7, UDP port 60001".to_owned(),
        port: 60001,
        sent: 19,
        refusals: 0,
        is_filtered: false,
        is_heard,
        is_local: false,
    };
    vec![
        row(
            never(None),
            BOTH,
            "the server does not run any more, or UDP is blocked in one direction or both",
        ),
        row(
            ClientError::NeverConnected {
                server: "127.0.0.1, UDP port 60001".to_owned(),
                port: 60001,
                sent: 19,
                refusals: 19,
                is_filtered: false,
                is_heard: None,
                is_local: true,
            },
            BOTH,
            "the same on this machine itself: the server does not run any more, or has another port",
        ),
        row(
            never(Some(false)),
            FULMAR,
            "after a login: UDP is blocked on the way there",
        ),
        row(
            ClientError::NeverConnected {
                server: "192.0.2.7, UDP port 60001".to_owned(),
                port: 60001,
                sent: 19,
                refusals: 19,
                is_filtered: false,
                is_heard: Some(false),
                is_local: false,
            },
            FULMAR,
            "after a login: a firewall rejects UDP, or the server ended before it was reached",
        ),
        row(
            never(Some(true)),
            FULMAR,
            "after a login: UDP is blocked on the way back",
        ),
        row(
            ClientError::Forbidden {
                server: "192.0.2.7, UDP port 60001".to_owned(),
                port: 60001,
            },
            BOTH,
            "a rule of this machine's own firewall drops the datagrams",
        ),
        row(
            ClientError::NoRoute {
                server: "192.0.2.7, UDP port 60001".to_owned(),
            },
            BOTH,
            "ssh goes through a jump host to a network of which this machine knows no way, or this machine has none",
        ),
        row(
            ClientError::Unanswered {
                server: "192.0.2.7, UDP port 60001".to_owned(),
            },
            BOTH,
            "the user has left while the server could not be reached",
        ),
        row(
            ClientError::LeftUnheard {
                server: "192.0.2.7, UDP port 60001".to_owned(),
                signal: None,
                is_rejected: false,
            },
            FULMAR,
            "the user has left with `Ctrl-^ d` while nothing was heard of the server; the next line has the way back",
        ),
        row(
            ClientError::LeftUnheard {
                server: "192.0.2.7, UDP port 60001".to_owned(),
                signal: Some(Signal::Terminate),
                is_rejected: true,
            },
            FULMAR,
            "the same by a signal, while something rejects UDP",
        ),
        row(
            ClientError::ServerGone {
                server: "192.0.2.7, UDP port 60001".to_owned(),
                is_local: false,
            },
            BOTH,
            "the server was killed, its machine restarted, or a firewall began to reject UDP, and the user has left",
        ),
        row(
            ClientError::ServerGone {
                server: "127.0.0.1, UDP port 60001".to_owned(),
                is_local: true,
            },
            BOTH,
            "the server on this machine was killed, and the user has left",
        ),
        row(
            ClientError::SessionMissing {
                server: "192.0.2.7, UDP port 60001".to_owned(),
            },
            FULMAR,
            "the server was killed, or its machine restarted, which ssh has found out, and the user has left",
        ),
        row(
            SessionError::Interrupted(Signal::Interrupt),
            FULMAR,
            "Ctrl-C, or another signal, before there was a session",
        ),
        row(
            ClientError::GivenUp(Signal::Interrupt),
            FULMAR,
            "the same, before the server could have answered",
        ),
        row(
            ClientError::Signalled(Signal::Terminate),
            FULMAR,
            "somebody sent the client a signal",
        ),
        row(
            ClientError::TerminalClosed,
            FULMAR,
            "the window or the connection that showed the client is gone",
        ),
        row(
            ClientError::Altered,
            FULMAR,
            "the two ends have not seen the same offer and announcement at the login",
        ),
        row(
            ClientError::KeySpent,
            BOTH,
            "so much was sent in one session that its key may not encrypt more",
        ),
        row(
            ClientError::Panicked("index out of bounds".to_owned()),
            BOTH,
            "a bug",
        ),
    ]
}
