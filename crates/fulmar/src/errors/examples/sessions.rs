//! Examples of sessions that are there, or are not.

use fulmar_login::SessionName;

use super::{FULMAR, Row, row, said};
use crate::sessions::SessionsError;

fn name(text: &str) -> SessionName {
    SessionName::parse(text).unwrap()
}

pub(super) fn rows() -> Vec<Row> {
    let rows = [
        (
            SessionsError::NoSessions,
            "fulmar attach has no name, and this user has no session there",
        ),
        (
            SessionsError::NotFound {
                name: name("work"),
                there: vec![name("far-1"), name("play")],
                may_begin: true,
            },
            "the session has ended, or was called otherwise",
        ),
        (
            SessionsError::NotFound {
                name: name("work"),
                there: vec![name("far-1")],
                may_begin: false,
            },
            "the same, of fulmar kill and fulmar rename",
        ),
        (
            SessionsError::Several {
                there: vec![name("far-1"), name("work")],
            },
            "fulmar attach has no name, and each of several sessions has a client",
        ),
        (
            SessionsError::Inside { name: name("work") },
            "fulmar attach was run in the very session that it would take",
        ),
        (
            SessionsError::NameTaken { name: name("work") },
            "--name, or fulmar rename, names a session that is there",
        ),
        (
            SessionsError::Refused("it is just ending".to_owned()),
            "the server of the session has said so",
        ),
        (
            SessionsError::PortsUsed,
            "fulmar attach names another port than those on which the session listens, and those are four",
        ),
        (
            SessionsError::NoAnswer {
                name: name("work"),
                pid: Some(12345),
                error: said("it has been silent for too long"),
            },
            "the server of the session was stopped, or hangs",
        ),
        (
            SessionsError::NoSocket {
                name: name("work"),
                error: said("Read-only file system"),
            },
            "neither the home nor /tmp can be written there",
        ),
        (
            SessionsError::Fixed,
            "a forced command there names a program, and a session could run any",
        ),
    ];
    let row = |(failure, cause)| row(failure, FULMAR, cause);
    rows.into_iter().map(row).collect()
}
