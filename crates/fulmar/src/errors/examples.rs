//! An example of each failure, with its cause: the rows of docs/errors.md.
//!
//! A new kind of failure gets a row here, and then
//! `FULMAR_WRITE_DOCUMENTS=1 cargo test -p fulmar --bin fulmar errors` writes the page anew.

use std::any::type_name;
use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::mem::discriminant;
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::ExitStatus;

use fulmar_core::Names::{Own, Stock};
use fulmar_datagram::KeyError;
use fulmar_login::{
    BadDestination, LoginFailure, OfferError, OpeningError, PortRange, SshError, SshExit,
};
use fulmar_platform::resolve::ResolveError;
use fulmar_platform::{Signal, Unfit};

use super::*;
use crate::copy::BadOperand;
use crate::settings::{FileFault, Source, example_fault};
use crate::shell_words::Unfinished;
use crate::{documents, log, offer_input};

/// The names under which a failure can happen.
const BOTH: &[Names] = &[Own, Stock];
const OWN: &[Names] = &[Own];
const STOCK: &[Names] = &[Stock];

/// A failure, the names under which it can happen, and what causes it.
struct Row {
    failure: Box<dyn Advice>,
    kind: Kind,
    names: &'static [Names],
    cause: &'static str,
}

/// The name of a failure's type, and which of its variants it is.
type Kind = (&'static str, String);

fn row<F: Advice + 'static>(failure: F, names: &'static [Names], cause: &'static str) -> Row {
    Row {
        kind: (type_name::<F>(), format!("{:?}", discriminant(&failure))),
        failure: Box::new(failure),
        names,
        cause,
    }
}

/// All rows, by chapter.
fn chapters() -> Vec<(&'static str, Vec<Row>)> {
    vec![
        ("The command line", command_line()),
        ("Settings", settings()),
        ("Login", login()),
        ("Copying", copying()),
        ("The server", server()),
        ("The client and its terminal", client()),
        ("The session", session()),
        ("Under the name mosh", starter()),
        ("Files and the system", system()),
    ]
}

fn command_line() -> Vec<Row> {
    vec![row(
        Failure::NothingToDo,
        OWN,
        "neither a host nor anything else was named",
    )]
}

fn settings() -> Vec<Row> {
    let path = || PathBuf::from("/home/ada/.config/fulmar/config.toml");
    let file = |fault| settings::Failure::ConfigFile {
        path: path(),
        fault,
    };
    vec![
        row(
            settings::Failure::Config {
                path: path(),
                faults: vec![example_fault()],
            },
            OWN,
            "the configuration file has a fault there; each has a line of its own",
        ),
        row(
            file(FileFault::System(said("No such file or directory"))),
            OWN,
            "the file was named by --config or FULMAR_CONFIG and cannot be read",
        ),
        row(
            file(FileFault::NotAFile),
            OWN,
            "a folder, a pipe or a device has the name of the file",
        ),
        row(
            file(FileFault::OthersWrite(0o664)),
            OWN,
            "the group or all may write the file, and it names programs that are run",
        ),
        row(
            file(FileFault::OthersOwn),
            OWN,
            "the file belongs neither to the user nor to root",
        ),
        row(file(FileFault::TooLong), OWN, "a wrong file, most likely"),
        row(
            file(FileFault::NotText(3)),
            OWN,
            "the file is in another encoding, or no text",
        ),
        row(
            settings::Failure::Setting {
                name: "predict",
                value: "sometimes".into(),
                place: Source::Variable("FULMAR_PREDICT"),
                why: "it is one of adaptive, always, never, experimental".to_owned(),
            },
            OWN,
            "a flag or a variable has a value that makes no sense",
        ),
        row(
            settings::Failure::PredictionMode {
                mode: "sometimes".into(),
            },
            STOCK,
            "MOSH_PREDICTION_DISPLAY has a value that makes no sense",
        ),
        row(
            log::Failure::Filter("invalid filter".to_owned()),
            OWN,
            "FULMAR_LOG of a server makes no sense",
        ),
    ]
}

fn login() -> Vec<Row> {
    let host = || "ada@example.org".to_owned();
    let status = SshExit::Status;
    let ssh_ended = |words: &str| LoginFailure::SshEnded {
        host: host(),
        status: status(255),
        error: SshError::of(words),
    };
    let no_server = |system: &str| LoginFailure::NoServer {
        host: host(),
        system: system.to_owned(),
    };
    let rows = [
        (
            LoginFailure::Destination {
                text: "-oProxyCommand=x".into(),
                why: BadDestination::Host,
            },
            "what stands in the host's place is none to ssh either",
        ),
        (
            LoginFailure::NoSsh {
                program: "ssh".into(),
                error: "No such file or directory".to_owned(),
            },
            "there is no ssh here, or what --ssh names is not there",
        ),
        (
            ssh_ended("Could not resolve hostname"),
            "ssh does not find the host; its own words stand above",
        ),
        (
            ssh_ended("Connection refused"),
            "nobody listens for ssh there",
        ),
        (
            ssh_ended("Connection timed out"),
            "nothing leads there, or nobody answers",
        ),
        (
            ssh_ended("Host key verification failed"),
            "the host's key is unknown or has changed, and ssh does not go on",
        ),
        (
            ssh_ended("Permission denied"),
            "no key and no password was right",
        ),
        (
            ssh_ended("Bad configuration option"),
            "ssh does not understand its configuration, or words of --ssh",
        ),
        (
            ssh_ended(""),
            "anything else has ended ssh, somebody who killed it included",
        ),
        (
            LoginFailure::CommandEnded {
                host: host(),
                status: status(1),
                is_chosen: false,
            },
            "the login works, and what starts the server there does not",
        ),
        (
            LoginFailure::CommandEnded {
                host: host(),
                status: status(127),
                is_chosen: true,
            },
            "what --server names is not there, or is no server",
        ),
        (
            no_server("Linux x86_64 debian"),
            "neither program was found, in PATH or where people put programs",
        ),
        (no_server("Darwin arm64"), "the same on another system"),
        (
            LoginFailure::NotForStock { host: host() },
            "only mosh-server is there, and its words travel in one line",
        ),
        (
            LoginFailure::Refused {
                host: host(),
                what: "cannot listen on UDP 60001:60999: Address already in use".to_owned(),
                advice: vec!["name other ports with -p PORT or -p LOW:HIGH".to_owned()],
            },
            "the server has a failure of its own, from the part below",
        ),
        (
            LoginFailure::TooMuchText { host: host() },
            "a start-up file there prints without end",
        ),
        (
            LoginFailure::Malformed { host: host() },
            "something has changed the server's words, or pretends to be one",
        ),
        (
            LoginFailure::Version {
                host: host(),
                version: 2,
            },
            "the server is of a later time",
        ),
        (
            LoginFailure::NoAnswer { host: host() },
            "the offer does not reach the server, which would have answered it or refused it",
        ),
        (
            LoginFailure::TwoServers { host: host() },
            "a start-up file or a forced command has started a server as well",
        ),
        (
            LoginFailure::NoAddress {
                host: host(),
                port: 60001,
                of_family: true,
            },
            "none of the addresses is of the family of -4, -6 or --family",
        ),
        (
            LoginFailure::NoAddress {
                host: host(),
                port: 60001,
                of_family: false,
            },
            "the name has no address here, and --remote-ip local lets nobody else say one",
        ),
    ];
    let row = |(failure, cause)| row(failure, OWN, cause);
    rows.into_iter().map(row).collect()
}

fn copying() -> Vec<Row> {
    let host = || "ada@example.org".to_owned();
    let rows = [
        (copy::Failure::NothingNamed, "there are no operands"),
        (
            copy::Failure::Operand {
                text: "scp://host/x".into(),
                why: BadOperand::Uri,
            },
            "what was named is neither a file here nor one on another machine",
        ),
        (
            copy::Failure::BothHere,
            "no operand has a host; a name with a colon in it is one with a host, unless a slash stands before",
        ),
        (
            copy::Failure::BothThere,
            "source and target both have a host",
        ),
        (
            copy::Failure::Mixed {
                path: "notes".into(),
            },
            "of several sources some are here, where the target is, too",
        ),
        (
            copy::Failure::StreamAmongOthers,
            "- is one of several sources",
        ),
        (
            copy::Failure::TwoOutputs,
            "--json and the target - were given",
        ),
        (
            copy::Failure::NotByHand,
            "somebody has typed fulmar copy-server",
        ),
        (
            copy::Failure::NoFulmar {
                host: host(),
                system: "Linux x86_64 debian".to_owned(),
            },
            "it was not found, in PATH or where people put programs",
        ),
        (
            copy::Failure::NoCopyServer {
                host: host(),
                status: "status 255".to_owned(),
            },
            "the program there is older, or something keeps it from starting",
        ),
        (
            copy::Failure::Version {
                host: host(),
                version: 2,
                ours: 1,
            },
            "the two programs are of different times",
        ),
        (
            copy::Failure::Lost {
                host: host(),
                why: "closed by the other side".to_owned(),
                resumes: true,
            },
            "the far end was killed, or ssh has ended while it carried the copy",
        ),
        (
            copy::Failure::Lost {
                host: host(),
                why: "closed by the other side".to_owned(),
                resumes: false,
            },
            "the same, of a copy to or from a pipe, or with --no-resume",
        ),
        (
            copy::Failure::Silent {
                host: host(),
                minutes: 10,
                resumes: true,
            },
            "the network was gone for longer than a copy waits",
        ),
        (
            copy::Failure::Gone {
                host: host(),
                seconds: 30,
                resumes: true,
            },
            "the far end was killed, or its machine was started anew",
        ),
        (
            copy::Failure::Wrong {
                host: host(),
                what: "a frame of no known kind".to_owned(),
            },
            "the far end does what no far end of ours does",
        ),
        (
            copy::Failure::Refused {
                host: host(),
                what: "/mnt/x: no such file or folder".to_owned(),
            },
            "what was named as target cannot be one",
        ),
        (
            copy::Failure::Here {
                what: "/mnt/x: no such file or folder".to_owned(),
            },
            "the same on this machine",
        ),
        (
            copy::Failure::Incomplete { troubles: 2 },
            "each was named, with the reason",
        ),
        (
            copy::Failure::Interrupted {
                signal: Signal::Interrupt,
                resumes: true,
            },
            "Ctrl-C, or another signal",
        ),
    ];
    let row = |(failure, cause)| row(failure, OWN, cause);
    rows.into_iter().map(row).collect()
}

fn server() -> Vec<Row> {
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
            OWN,
            "the command, or the shell that SHELL or the user database names, is not there or may \
             not be run",
        ),
        row(
            login::Failure::LocalServer,
            OWN,
            "with --local: the server has ended without a word",
        ),
        row(
            offer_input::Failure::NoOffer(OfferError::Missing),
            OWN,
            "fulmar server was started by hand without the word new, or the login has ended",
        ),
        row(
            offer_input::Failure::NoOffer(OfferError::Cut),
            OWN,
            "the login has ended, or something there has read a part of the client's offer",
        ),
        row(
            offer_input::Failure::NoOffer(OfferError::TooLong),
            OWN,
            "the program's arguments do not fit into an offer, or something else comes without end",
        ),
        row(
            offer_input::Failure::NoOffer(OfferError::Version(2)),
            OWN,
            "the client is of a later version with another bootstrap",
        ),
        row(
            offer_input::Failure::NoOffer(OfferError::Malformed(3)),
            OWN,
            "the offer was changed on its way, or is of another version",
        ),
        row(
            login::Failure::Opening(OpeningError::TooLong(70_000)),
            OWN,
            "the program's arguments do not fit into an offer",
        ),
        row(
            login::Failure::Opening(OpeningError::ControlCharacter),
            OWN,
            "what --server says is not a single line",
        ),
        row(
            server::Failure::LoginEnded,
            OWN,
            "the client was ended, or its connection was lost, before the first datagram",
        ),
        row(
            server::Failure::ServerEnded,
            OWN,
            "no client came for a minute, or the server was ended",
        ),
        row(
            login::Failure::OfServer {
                what: "cannot run nano: there is no such program here".to_owned(),
                advice: vec!["check the spelling".to_owned()],
            },
            OWN,
            "the server has said so, with its own next step",
        ),
    ]
}

fn client() -> Vec<Row> {
    vec![
        row(
            client::Failure::KeyMissing,
            BOTH,
            "a client was started by hand, without the server's key",
        ),
        row(
            client::Failure::BadKey(KeyError::WrongLength { found: 21 }),
            BOTH,
            "a character was lost when the key was copied",
        ),
        row(
            client::Failure::BadKey(KeyError::NotBase64),
            BOTH,
            "something else than the key was copied, or a character was mistyped",
        ),
        row(
            client::Failure::BadAddress {
                text: "example.org".into(),
            },
            BOTH,
            "fulmar client and mosh-client take no names",
        ),
        row(
            client::Failure::NoTerminal(said("Inappropriate ioctl for device")),
            BOTH,
            "no terminal is there to draw on",
        ),
        row(
            client::Failure::UnknownTerminal {
                term: "no-such-type".into(),
            },
            STOCK,
            "TERM is not in terminfo; under our own name that is a remark and the terminal is \
             treated as plain",
        ),
    ]
}

fn session() -> Vec<Row> {
    let never = |is_heard| client::Failure::NeverConnected {
        server: "192.0.2.7, UDP port 60001".to_owned(),
        port: 60001,
        sent: 19,
        refusals: 0,
        is_heard,
    };
    vec![
        row(
            never(None),
            BOTH,
            "the server does not run any more, or UDP is blocked in one direction or both",
        ),
        row(
            never(Some(false)),
            OWN,
            "after a login: UDP is blocked on the way there",
        ),
        row(
            never(Some(true)),
            OWN,
            "after a login: UDP is blocked on the way back",
        ),
        row(
            client::Failure::Unanswered {
                server: "192.0.2.7, UDP port 60001".to_owned(),
            },
            BOTH,
            "the user has left while the server could not be reached",
        ),
        row(
            client::Failure::Signalled(Signal::Terminate),
            OWN,
            "somebody sent the client a signal",
        ),
        row(
            client::Failure::TerminalClosed,
            OWN,
            "the window or the connection that showed the client is gone",
        ),
        row(
            client::Failure::Altered,
            OWN,
            "the two ends have not seen the same offer and announcement at the login",
        ),
        row(
            client::Failure::KeySpent,
            BOTH,
            "so much was sent in one session that its key may seal no more",
        ),
        row(
            client::Failure::Panicked("index out of bounds".to_owned()),
            BOTH,
            "a bug",
        ),
    ]
}

fn starter() -> Vec<Row> {
    let host = || OsString::from("example.org");
    vec![
        row(
            wrapper::Failure::StarterOptions(wrapper::Mistake::NoHost),
            STOCK,
            "the words after mosh make no sense",
        ),
        row(
            wrapper::Failure::SshCommand(Unfinished),
            STOCK,
            "a quote in --ssh is not closed",
        ),
        row(wrapper::Failure::NoSshCommand, STOCK, "--ssh is empty"),
        row(
            system::Failure::CannotStart {
                program: "mosh-client".into(),
                error: said("No such file or directory"),
            },
            BOTH,
            "ssh, or what --client names, is not installed or not in PATH",
        ),
        row(
            wrapper::Failure::ClientFailed {
                program: "mosh-client".into(),
                status: ExitStatus::from_raw(1 << 8),
            },
            STOCK,
            "--client names something that is no client",
        ),
        row(
            wrapper::Failure::NoSuchHost {
                host: host(),
                error: ResolveError::Resolver("Name or service not known".to_owned()),
            },
            STOCK,
            "the name has no address here, or none of the family that was asked for",
        ),
        row(
            wrapper::Failure::MixedFamilies { host: host() },
            STOCK,
            "--family=auto wants the user to choose",
        ),
        row(
            wrapper::Failure::NoTcp {
                host: host(),
                address: Some(SocketAddr::from(([192, 0, 2, 7], 22))),
                error: said("Connection refused"),
            },
            STOCK,
            "no address of the host answers on ssh's port",
        ),
        row(
            wrapper::Failure::BadLine {
                begins: "MOSH CONNECT",
            },
            STOCK,
            "what was printed is no line of a server; it may hold a key and is not repeated",
        ),
        row(
            wrapper::Failure::SecondAddress,
            STOCK,
            "two say where the server is, and one of them may lie",
        ),
        row(
            wrapper::Failure::NoServerAddress { host: host() },
            STOCK,
            "ssh has connected in a way that hides the address, or not at all",
        ),
        row(
            wrapper::Failure::NoServerLine { host: host() },
            STOCK,
            "ssh has ended, and no server had printed its port and key",
        ),
        row(
            wrapper::Failure::NoPortRanges,
            STOCK,
            "the far mosh-server is older than ranges of ports",
        ),
    ]
}

fn system() -> Vec<Row> {
    vec![
        row(
            log::Failure::File {
                path: "/no/such/folder/trace".into(),
                error: said("No such file or directory"),
            },
            OWN,
            "a file for --trace or --log cannot be made",
        ),
        row(
            log::Failure::UnfitFile {
                path: "trace".into(),
                why: Unfit::OpenToOthers,
            },
            OWN,
            "the file for --trace or --log is there already, and not private",
        ),
        row(
            log::Failure::UnfitFile {
                path: "trace".into(),
                why: Unfit::Link,
            },
            OWN,
            "the path for --trace or --log leads elsewhere, or is somebody else's",
        ),
        row(
            system::Failure::Refused {
                doing: "opening a terminal for the program",
                error: said("No space left on device"),
            },
            BOTH,
            "the system has no more of something",
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
        names,
        cause,
        ..
    } = row;
    let advice = names.first().and_then(|names| failure.advice(*names));
    let advice = advice.map_or("–".to_owned(), |advice| cell(&advice));
    let statuses: Vec<String> = names.iter().map(|names| status(row, *names)).collect();
    let message = cell(&failure.told().join("\n"));
    format!(
        "| {message} | {cause} | {advice} | {} |\n",
        statuses.join("; ")
    )
}

fn status(row: &Row, names: Names) -> String {
    let status = row.failure.status(names);
    match names {
        Own => status.to_string(),
        Stock => format!("as mosh {status}"),
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
        (type_name::<Failure>(), include_str!("../errors.rs")),
        (
            type_name::<copy::Failure>(),
            include_str!("../copy/error.rs"),
        ),
        (
            type_name::<settings::Failure>(),
            include_str!("../settings/error.rs"),
        ),
        (type_name::<log::Failure>(), include_str!("../log.rs")),
        (
            type_name::<server::Failure>(),
            include_str!("../server/error.rs"),
        ),
        (
            type_name::<offer_input::Failure>(),
            include_str!("../offer_input.rs"),
        ),
        (
            type_name::<client::Failure>(),
            include_str!("../client/error.rs"),
        ),
        (
            type_name::<login::Failure>(),
            include_str!("../login/error.rs"),
        ),
        (
            type_name::<wrapper::Failure>(),
            include_str!("../wrapper/error.rs"),
        ),
        (type_name::<system::Failure>(), include_str!("../system.rs")),
        (
            type_name::<LoginFailure>(),
            include_str!("../../../fulmar-login/src/failure.rs"),
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
            "a kind of {name} has no row in errors/examples.rs"
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
            assert!(!row.names.is_empty() && !row.cause.is_empty());
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
