//! The records of a session that a user may ask for.

use std::path::PathBuf;

use clap::Args;

/// The records that may be written about a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct Records {
    /// Write a line about each datagram: numbers, sizes and causes, no contents
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Write a log; FULMAR_LOG says what to log (info, or fulmar=debug, ...)
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
}
