//! Examples of copies.

use fulmar_platform::Signal;

use super::{FULMAR, Row, row};
use crate::copy::{BadOperand, Failure};

pub(super) fn rows() -> Vec<Row> {
    let host = || "ada@example.org".to_owned();
    let rows = [
        (Failure::NothingNamed, "there are no operands"),
        (
            Failure::Operand {
                text: "scp://host/x".into(),
                why: BadOperand::Uri,
            },
            "what was named is neither a file here nor one on another machine",
        ),
        (
            Failure::BothHere,
            "no operand has a host; a name with a colon in it is one with a host, unless a slash stands before",
        ),
        (Failure::BothThere, "source and target both have a host"),
        (
            Failure::Mixed {
                path: "notes".into(),
            },
            "of several sources some are here, where the target is, too",
        ),
        (Failure::StdioAmongOthers, "- is one of several sources"),
        (Failure::TwoOutputs, "--json and the target - were given"),
        (Failure::NotByHand, "somebody has typed fulmar copy-server"),
        (
            Failure::NoFulmar {
                host: host(),
                system: "Linux x86_64 debian".to_owned(),
            },
            "it was not found, in PATH or where people put programs",
        ),
        (
            Failure::NoCopyServer {
                host: host(),
                status: "status 255".to_owned(),
            },
            "the program there is older, or something keeps it from starting",
        ),
        (
            Failure::Version {
                host: host(),
                version: 2,
                ours: 1,
            },
            "the two programs are of different versions",
        ),
        (
            Failure::Lost {
                host: host(),
                why: "closed by the other side".to_owned(),
                resumes: true,
            },
            "the far end was killed, or ssh has ended while it carried the copy",
        ),
        (
            Failure::Lost {
                host: host(),
                why: "closed by the other side".to_owned(),
                resumes: false,
            },
            "the same, of a copy to or from a pipe, or with --no-resume",
        ),
        (
            Failure::Silent {
                host: host(),
                minutes: 10,
                resumes: true,
            },
            "the network was gone for longer than a copy waits",
        ),
        (
            Failure::Gone {
                host: host(),
                seconds: 30,
                resumes: true,
            },
            "the far end was killed, or its machine was restarted",
        ),
        (
            Failure::ProtocolError {
                host: host(),
                what: "a frame of no known kind".to_owned(),
            },
            "the far end has broken a rule of the protocol",
        ),
        (
            Failure::Refused {
                host: host(),
                what: "/mnt/x: no such file or folder".to_owned(),
            },
            "the named target cannot be used as one",
        ),
        (
            Failure::Here {
                what: "/mnt/x: no such file or folder".to_owned(),
            },
            "the same on this machine",
        ),
        (
            Failure::Incomplete { troubles: 2 },
            "each was reported, with the reason",
        ),
        (
            Failure::Interrupted {
                signal: Signal::Interrupt,
                resumes: true,
            },
            "Ctrl-C, or another signal",
        ),
    ];
    let row = |(failure, cause)| row(failure, FULMAR, cause);
    rows.into_iter().map(row).collect()
}
