//! Examples of files and the system.

use std::io;

use fulmar_platform::Unfit;

use super::{BOTH, FULMAR, Row, row, said};
use crate::log::LogError;
use crate::system::SystemError;

pub(super) fn rows() -> Vec<Row> {
    vec![
        row(
            LogError::File {
                path: "/no/such/folder/trace".into(),
                error: said("No such file or directory"),
            },
            FULMAR,
            "a file for --trace or --log cannot be created",
        ),
        row(
            LogError::UnfitFile {
                path: "trace".into(),
                why: Unfit::OpenToOthers,
            },
            FULMAR,
            "the file for --trace or --log is there already, and not private",
        ),
        row(
            LogError::UnfitFile {
                path: "trace".into(),
                why: Unfit::Link,
            },
            FULMAR,
            "the path for --trace or --log leads elsewhere, or is somebody else's",
        ),
        row(
            SystemError::Refused {
                doing: "opening a terminal for the program",
                error: io::Error::from_raw_os_error(28),
            },
            BOTH,
            "the system has run out of something, here of terminals",
        ),
        row(
            SystemError::Refused {
                doing: "watching for signals",
                error: io::Error::from_raw_os_error(24),
            },
            BOTH,
            "a limit on open files is too low (ulimit -n)",
        ),
    ]
}
