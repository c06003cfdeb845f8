//! The source of a value.

use std::fmt;
use std::path::PathBuf;

/// The source that has set a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueSource {
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

impl fmt::Display for ValueSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueSource::Flag(flag) => f.write_str(flag),
            ValueSource::Variable(name) => f.write_str(name),
            ValueSource::File { path, line } => write!(f, "{}:{line}", path.display()),
            ValueSource::Default => f.write_str("default"),
        }
    }
}
