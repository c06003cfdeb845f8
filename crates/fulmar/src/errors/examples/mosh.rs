//! Examples of `mosh`.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use fulmar_compat::{MoshLoginError, UsageError};
use fulmar_login::shell_words::UnclosedQuote;
use fulmar_platform::Signal;
use fulmar_platform::resolve::ResolveError;

use super::{BOTH, MOSH, Row, row, said};
use crate::mosh::MoshError;
use crate::system::SystemError;

pub(super) fn rows() -> Vec<Row> {
    let host = || OsString::from("example.org");
    vec![
        row(
            MoshLoginError::Usage(UsageError::NoHost),
            MOSH,
            "the words after mosh make no sense",
        ),
        row(
            MoshLoginError::SshCommand(UnclosedQuote),
            MOSH,
            "a quote in --ssh is not closed",
        ),
        row(MoshLoginError::NoSshCommand, MOSH, "--ssh is empty"),
        row(
            SystemError::CannotStart {
                program: "mosh-client".into(),
                error: said("No such file or directory"),
            },
            BOTH,
            "ssh, or what --client names, is not installed or not in PATH",
        ),
        row(
            MoshError::ClientFailed {
                program: "mosh-client".into(),
                status: ExitStatus::from_raw(1 << 8),
            },
            MOSH,
            "--client names something that is not a client",
        ),
        row(
            MoshError::Interrupted(Signal::Interrupt),
            MOSH,
            "Ctrl-C, or another signal, while ssh logs in",
        ),
        row(
            MoshError::NoSuchHost {
                host: host(),
                error: ResolveError::Resolver("Name or service not known".to_owned()),
            },
            MOSH,
            "the name has no address here, or none of the family that was asked for",
        ),
        row(
            MoshLoginError::MixedFamilies { host: host() },
            MOSH,
            "--family=auto wants the user to choose",
        ),
        row(
            MoshError::NoTcp {
                host: host(),
                address: Some(SocketAddr::from(([192, 0, 2, 7], 22))),
                error: said("Connection refused"),
            },
            MOSH,
            "no address of the host answers on ssh's port",
        ),
        row(
            MoshLoginError::BadLine {
                begins: "MOSH CONNECT",
            },
            MOSH,
            "the line is not one of a server; it may contain a key, so it is not repeated",
        ),
        row(
            MoshLoginError::SecondAddress,
            MOSH,
            "two sources say where the server is, and one of them may be false",
        ),
        row(
            MoshLoginError::NoServerAddress { host: host() },
            MOSH,
            "ssh has connected in a way that hides the address, or not at all",
        ),
        row(
            MoshLoginError::NoServerLine { host: host() },
            MOSH,
            "ssh has ended, and no server had printed its port and key",
        ),
        row(
            MoshLoginError::NoPortRanges,
            MOSH,
            "the far mosh-server is older than ranges of ports",
        ),
    ]
}
