//! The source of a value.

use std::fmt;
use std::path::PathBuf;

/// The source that has set a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// This flag.
    Flag(String),
    /// This variable.
    Variable(&'static str),
    /// A line of the file.
    File {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
    },
    /// Nobody.
    Default,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Flag(flag) => f.write_str(flag),
            Source::Variable(name) => f.write_str(name),
            Source::File { path, line } => write!(f, "{}:{line}", path.display()),
            Source::Default => f.write_str("default"),
        }
    }
}
