//! An example of each failure, with its cause: the rows of docs/errors.md.
//!
//! A new kind of failure gets a row below, and then
//! `FULMAR_WRITE_DOCUMENTS=1 cargo test -p fulmar --bin fulmar errors` writes the page anew.

mod client;
mod copying;
mod login;
mod mosh;
mod server;
mod sessions;
mod settings;
mod system;

use std::any::type_name;
use std::collections::HashSet;
use std::io;
use std::mem::discriminant;

use fulmar_compat::MoshLoginError;
use fulmar_core::CompatMode::{self, Fulmar, Mosh};
use fulmar_login::{LoginError, SessionName, SessionNameError, SshError, SshExit};
use fulmar_settings::{FlagSet, instead_of};

use super::FulmarError;
use crate::advice::Advice;
use crate::cli::MisplacedFlag;
use crate::client::ClientError;
use crate::copy::CopyError;
use crate::documents;
use crate::log::LogError;
use crate::login::{ATTACH_USAGE, SessionError};
use crate::mosh::MoshError;
use crate::offer_input::OfferInputError;
use crate::server::ServerError;
use crate::sessions::SessionsError;
use crate::system::SystemError;

/// The modes in which a failure can happen.
const BOTH: &[CompatMode] = &[Fulmar, Mosh];
const FULMAR: &[CompatMode] = &[Fulmar];
const MOSH: &[CompatMode] = &[Mosh];

/// A failure, the modes in which it can happen, and what causes it.
struct Row {
    failure: Box<dyn Advice>,
    kind: Kind,
    modes: &'static [CompatMode],
    cause: &'static str,
}

/// The name of a failure's type, and which of its variants it is.
type Kind = (&'static str, String);

fn row<F: Advice + 'static>(failure: F, modes: &'static [CompatMode], cause: &'static str) -> Row {
    Row {
        kind: (type_name::<F>(), format!("{:?}", discriminant(&failure))),
        failure: Box::new(failure),
        modes,
        cause,
    }
}

/// All rows, by chapter.
fn chapters() -> Vec<(&'static str, Vec<Row>)> {
    vec![
        ("The command line", command_line()),
        ("Settings", settings::rows()),
        ("Login", login::rows()),
        ("Copying", copying::rows()),
        ("The server", server::rows()),
        ("Sessions that are there", sessions::rows()),
        ("The client and its terminal", client::rows()),
        ("The session", client::session()),
        ("Under the name mosh", mosh::rows()),
        ("Files and the system", system::rows()),
    ]
}

fn command_line() -> Vec<Row> {
    vec![
        row(
            FulmarError::NothingToDo,
            FULMAR,
            "neither a host nor anything else was named",
        ),
        row(
            FulmarError::MisplacedFlag(MisplacedFlag {
                flag: "--predict".to_owned(),
                command: "cp",
            }),
            FULMAR,
            "flags before a subcommand are for it, and it has no such flag",
        ),
        row(
            FulmarError::Operands {
                command: "attach",
                usage: ATTACH_USAGE,
            },
            FULMAR,
            "words behind a subcommand about sessions are missing, or too many",
        ),
        row(
            SessionName::parse("my work").unwrap_err(),
            FULMAR,
            "a word behind --name, or behind a subcommand about sessions, is no name",
        ),
        row(
            FulmarError::ForeignFlag {
                flag: "-L".to_owned(),
                instead: instead_of(FlagSet::Login, "-L", None, None).unwrap_or_default(),
                status: 255,
            },
            FULMAR,
            "the flag is one of ssh, scp or rsync (status 1 for fulmar cp)",
        ),
        row(
            FulmarError::Hinted {
                failure: Box::new(SessionError::Login(LoginError::SshEnded {
                    host: "copy".to_owned(),
                    status: SshExit::Status(255),
                    error: SshError::UnknownHost,
                    got_in: false,
                })),
                hint: "did you mean fulmar cp?".to_owned(),
            },
            FULMAR,
            "a word that is no subcommand is taken for a host",
        ),
    ]
}

/// An error of the system, in words that are the same on every system.
fn said(words: &str) -> io::Error {
    io::Error::other(words.to_owned())
}

fn page() -> String {
    let mut page = String::new();
    for (title, rows) in chapters() {
        page +=
            &format!("## {title}\n\n| message | cause | next step | status |\n|---|---|---|---|\n");
        page.extend(rows.iter().map(line));
        page += "\n";
    }
    page
}

fn line(row: &Row) -> String {
    let Row {
        failure,
        modes,
        cause,
        ..
    } = row;
    let advice = modes.first().and_then(|compat| failure.advice(*compat));
    let advice = advice.map_or("–".to_owned(), |advice| cell(&advice));
    let statuses: Vec<String> = modes.iter().map(|compat| status(row, *compat)).collect();
    let message = cell(&failure.told().join("\n"));
    format!(
        "| {message} | {cause} | {advice} | {} |\n",
        statuses.join("; ")
    )
}

fn status(row: &Row, compat: CompatMode) -> String {
    let status = row.failure.status(compat);
    match compat {
        Fulmar => status.to_string(),
        Mosh => format!("as mosh {status}"),
    }
}

/// Returns a text for a cell of a table.
fn cell(text: &str) -> String {
    let text = text.replace('|', "\\|").replace('<', "&lt;");
    text.lines().map(str::trim).collect::<Vec<_>>().join("<br>")
}

/// The types of failures, each with the file that it is written in.
fn types() -> Vec<(&'static str, &'static str)> {
    vec![
        (type_name::<FulmarError>(), include_str!("../errors.rs")),
        (
            type_name::<SessionNameError>(),
            include_str!("../../../fulmar-login/src/session_name.rs"),
        ),
        (type_name::<CopyError>(), include_str!("../copy/error.rs")),
        (
            type_name::<fulmar_settings::SettingsError>(),
            include_str!("../../../fulmar-settings/src/error.rs"),
        ),
        (type_name::<LogError>(), include_str!("../log.rs")),
        (
            type_name::<ServerError>(),
            include_str!("../server/error.rs"),
        ),
        (
            type_name::<SessionsError>(),
            include_str!("../sessions/error.rs"),
        ),
        (
            type_name::<OfferInputError>(),
            include_str!("../offer_input.rs"),
        ),
        (
            type_name::<ClientError>(),
            include_str!("../client/error.rs"),
        ),
        (
            type_name::<SessionError>(),
            include_str!("../login/error.rs"),
        ),
        (type_name::<MoshError>(), include_str!("../mosh/error.rs")),
        (
            type_name::<MoshLoginError>(),
            include_str!("../../../fulmar-compat/src/mosh_login_error.rs"),
        ),
        (type_name::<SystemError>(), include_str!("../system.rs")),
        (
            type_name::<LoginError>(),
            include_str!("../../../fulmar-login/src/login_error.rs"),
        ),
    ]
}

#[test]
fn every_failure_has_an_example() {
    let rows = chapters().into_iter().flat_map(|(_, rows)| rows);
    let kinds: HashSet<Kind> = rows.map(|row| row.kind).collect();
    for (name, file) in types() {
        // Each kind has one attribute with its text, but for those that pass on another's.
        let written = file.matches("#[error(").count();
        let passed_on = file.matches("#[error(transparent)]").count();
        let shown = kinds.iter().filter(|(of, _)| *of == name).count();
        assert_eq!(
            shown,
            written - passed_on,
            "a kind of {name} has no row in errors/examples"
        );
    }
    let names: HashSet<&str> = types().into_iter().map(|(name, _)| name).collect();
    let unknown = kinds.iter().find(|(of, _)| !names.contains(of));
    assert_eq!(unknown, None, "a type that is not looked at");
}

#[test]
fn the_page_of_errors_is_what_the_code_says() {
    documents::expect_part("docs/errors.md", "errors", &page());
}

#[test]
fn every_failure_says_something_in_one_line() {
    for (_, rows) in chapters() {
        for row in rows {
            assert!(!row.modes.is_empty() && !row.cause.is_empty());
            for line in row.failure.told() {
                assert!(
                    !line.is_empty() && !line.contains('\n'),
                    "{:?}",
                    row.failure
                );
            }
        }
    }
}
