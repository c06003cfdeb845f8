//! Examples of copies.

use fulmar_login::StandardStream;
use fulmar_platform::Signal;

use super::{FULMAR, Row, row};
use crate::copy::{BadOperand, CopyError};

pub(super) fn rows() -> Vec<Row> {
    let host = || "ada@example.org".to_owned();
    let rows = [
        (CopyError::NothingNamed, "there are fewer than two operands"),
        (
            CopyError::Operand {
                text: "scp://host/x".into(),
                why: BadOperand::Uri,
            },
            "what was named is neither a file here nor one on another machine",
        ),
        (
            CopyError::BothHere,
            "no operand has a host; a name with a colon in it is one with a host, unless a slash stands before",
        ),
        (CopyError::BothThere, "source and target both have a host"),
        (
            CopyError::Mixed {
                path: "notes".into(),
            },
            "of several sources some are here, where the target is, too",
        ),
        (
            CopyError::MaybeLocal {
                failure: Box::new(CopyError::BothThere),
                name: "a:b".into(),
            },
            "the same, and a file here has such a name; so for a login that fails",
        ),
        (
            CopyError::MaybePort {
                failure: Box::new(CopyError::BothHere),
                name: "60500".into(),
            },
            "a copy fails, and behind -p is a port rather than a file that is here",
        ),
        (CopyError::StdioAmongOthers, "- is one of several sources"),
        (
            CopyError::NotOpen(StandardStream::Input),
            "the source is -, and whoever started the program has closed standard input",
        ),
        (
            CopyError::NotOpen(StandardStream::Output),
            "the target is -, and whoever started the program has closed standard output",
        ),
        (CopyError::TwoOutputs, "--json and the target - were given"),
        (
            CopyError::NotByHand,
            "somebody has typed fulmar copy-server",
        ),
        (
            CopyError::NoFulmar {
                host: host(),
                system: "Linux x86_64 debian".to_owned(),
                copying: None,
            },
            "it was not found, in PATH or where people put programs",
        ),
        (
            CopyError::NoCopyServer {
                host: host(),
                status: "status 255".to_owned(),
                is_missing: false,
            },
            "the program there is older, or something keeps it from starting",
        ),
        (
            CopyError::NoCopyServer {
                host: host(),
                status: "status 127".to_owned(),
                is_missing: true,
            },
            "what --server names is not there, or lacks libraries",
        ),
        (
            CopyError::Version {
                host: host(),
                version: 2,
                ours: 1,
            },
            "the two programs are of different versions",
        ),
        (
            CopyError::Lost {
                host: host(),
                why: "closed by the other side".to_owned(),
                resumes: true,
            },
            "the far end was killed, or ssh has ended while it carried the copy",
        ),
        (
            CopyError::Lost {
                host: host(),
                why: "closed by the other side".to_owned(),
                resumes: false,
            },
            "the same, of a copy to or from a pipe, or with --no-resume",
        ),
        (
            CopyError::Silent {
                host: host(),
                minutes: 10,
                resumes: true,
            },
            "the network was gone for longer than a copy waits",
        ),
        (
            CopyError::Gone {
                host: host(),
                seconds: 30,
                resumes: true,
            },
            "the far end was killed, or its machine was restarted",
        ),
        (
            CopyError::ProtocolError {
                host: host(),
                what: "a frame of no known kind".to_owned(),
            },
            "the far end has broken a rule of the protocol",
        ),
        (
            CopyError::Refused {
                what: "cannot write example.org:/mnt/x: no such file or folder".to_owned(),
            },
            "the named target cannot be used as one",
        ),
        (
            CopyError::Incomplete {
                troubles: 2,
                is_dry_run: false,
            },
            "each was reported, with the reason",
        ),
        (
            CopyError::Incomplete {
                troubles: 2,
                is_dry_run: true,
            },
            "the same, with --dry-run",
        ),
        (
            CopyError::Interrupted {
                signal: Signal::Interrupt,
                resumes: true,
                is_kept: false,
            },
            "Ctrl-C, or another signal",
        ),
        (
            CopyError::Interrupted {
                signal: Signal::Interrupt,
                resumes: false,
                is_kept: true,
            },
            "the same, of a copy with --no-resume",
        ),
    ];
    let row = |(failure, cause)| row(failure, FULMAR, cause);
    rows.into_iter().map(row).collect()
}
