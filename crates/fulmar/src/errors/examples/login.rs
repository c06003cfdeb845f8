//! Examples of logins.

use fulmar_login::{DestinationError, LoginError, SshError, SshExit};

use std::io;

use super::{FULMAR, Row, row};
use crate::advice::remedy;

pub(super) fn rows() -> Vec<Row> {
    let host = || "ada@example.org".to_owned();
    let status = SshExit::Status;
    let ssh_ended = |words: &str| LoginError::SshEnded {
        host: host(),
        status: status(255),
        error: SshError::of(words),
        got_in: false,
    };
    let no_server = |system: &str, unusable: Option<&str>| LoginError::NoServer {
        host: host(),
        system: system.to_owned(),
        unusable: unusable.map(str::to_owned),
        copying: None,
    };
    let program = || Some("/home/ada/.local/bin/fulmar".to_owned());
    let rows = [
        (
            LoginError::Destination {
                text: "-oProxyCommand=x".into(),
                why: DestinationError::Host,
            },
            "what was given as the host is not a host name for ssh either",
        ),
        (
            LoginError::NoSsh {
                program: "ssh".into(),
                error: "No such file or directory".to_owned(),
                remedy: None,
            },
            "there is no ssh here, or what --ssh names is not there",
        ),
        (
            LoginError::NoSsh {
                program: "ssh".into(),
                error: "Resource temporarily unavailable (os error 11)".to_owned(),
                remedy: remedy(&io::Error::from_raw_os_error(11)),
            },
            "the user has as many processes as a user may have",
        ),
        (
            ssh_ended("Could not resolve hostname"),
            "ssh does not find the host; ssh says so above",
        ),
        (
            ssh_ended("Connection refused"),
            "nobody listens for ssh there",
        ),
        (
            ssh_ended("Connection timed out"),
            "there is no route to the host, or nobody answers",
        ),
        (
            ssh_ended("Host key verification failed"),
            "the host's key is unknown or has changed, and ssh has stopped",
        ),
        (
            ssh_ended("Permission denied"),
            "no key or password was accepted",
        ),
        (
            ssh_ended("/home/ada/.ssh/config: line 3: Bad configuration option: foo"),
            "ssh does not understand a file of its configuration, or flags in --ssh",
        ),
        (
            ssh_ended("command-line: line 0: Bad configuration option: foo"),
            "ssh does not understand an option that was handed to it",
        ),
        (
            ssh_ended("Can't open user config file"),
            "the file that was named with -F is not there, or cannot be read",
        ),
        (
            ssh_ended(""),
            "something else has ended ssh; perhaps it was killed",
        ),
        (
            LoginError::SshEnded {
                host: host(),
                status: SshExit::Signal(15),
                error: SshError::Other,
                got_in: true,
            },
            "ssh was killed, or has lost its connection, while the server began",
        ),
        (
            LoginError::CommandEnded {
                host: host(),
                status: status(255),
                is_chosen: false,
                program: program(),
            },
            "the login works, but the command that starts the server does not",
        ),
        (
            LoginError::CommandEnded {
                host: host(),
                status: status(127),
                is_chosen: true,
                program: None,
            },
            "the command of --server is not found there",
        ),
        (
            LoginError::CommandEnded {
                host: host(),
                status: status(1),
                is_chosen: true,
                program: None,
            },
            "the command of --server is not a server",
        ),
        (
            no_server("Linux x86_64 debian", None),
            "neither program was found, in PATH or where people put programs",
        ),
        (
            no_server("Darwin arm64", None),
            "the same on another system",
        ),
        (
            no_server("Linux armv7l debian", Some("/home/ada/.local/bin/fulmar")),
            "the program is for another processor, or wants newer libraries than there are",
        ),
        (
            LoginError::NotForStock { host: host() },
            "only mosh-server is there, and its arguments are sent in one line",
        ),
        (
            LoginError::Refused {
                host: host(),
                what: "cannot listen on UDP 60001:60999: Address already in use".to_owned(),
                advice: vec!["choose other ports with --port PORT or --port LOW:HIGH".to_owned()],
                program: None,
            },
            "the server itself has failed; its errors are in a part below",
        ),
        (
            LoginError::ProgramMissing {
                host: host(),
                what: "cannot run nano: there is no such program here".to_owned(),
                advice: vec!["check the spelling".to_owned()],
            },
            "the server has said so, with its own next step",
        ),
        (
            LoginError::TooMuchText { host: host() },
            "a start-up file there prints without end",
        ),
        (
            LoginError::Malformed { host: host() },
            "something has changed the server's output, or imitates a server",
        ),
        (
            LoginError::SessionServer { host: host() },
            "fulmar cp with a key that may only begin sessions there",
        ),
        (
            LoginError::Version {
                host: host(),
                version: 2,
            },
            "the server is of a later version",
        ),
        (
            LoginError::NoAnswer { host: host() },
            "the offer does not reach the server, which would have answered it or refused it",
        ),
        (
            LoginError::TwoServers { host: host() },
            "a start-up file or a forced command has started a server as well",
        ),
        (
            LoginError::NoAttach { host: host() },
            "fulmar attach, ls, kill or rename, and the server is of an earlier version",
        ),
        (
            LoginError::NoSessionsOfStock { host: host() },
            "the same, and only Mosh is installed there",
        ),
        (
            LoginError::NoAddress {
                host: host(),
                port: 60001,
                of_family: true,
            },
            "none of the addresses is of the family of -4, -6 or --family",
        ),
        (
            LoginError::NoAddress {
                host: host(),
                port: 60001,
                of_family: false,
            },
            "the name has no address here, and with --remote-ip local no other address is used",
        ),
    ];
    let row = |(failure, cause)| row(failure, FULMAR, cause);
    rows.into_iter().map(row).collect()
}
