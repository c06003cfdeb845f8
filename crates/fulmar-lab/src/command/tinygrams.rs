//! `fulmar-lab tinygrams`: the remote end of a measurement of small packets.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;

use crate::instrument::tinygram::{BurstShape, write_on_terminal};

/// Writes many lines at once on this terminal whenever Enter is received, one write each.
///
/// It takes the place of a shell in a session that is measured, and ends with Ctrl-] or with
/// its terminal.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The number of lines.
    #[arg(long, value_name = "NUMBER", default_value_t = 34)]
    pub lines: usize,
    /// The length of a line in bytes, its end included.
    #[arg(long, value_name = "NUMBER", default_value_t = 80)]
    pub bytes: usize,
    /// The time from the first line to the last, in microseconds.
    #[arg(long, value_name = "MICROSECONDS", default_value_t = 4000)]
    pub within: u64,
    /// The seed that the lines follow from.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
    /// The file in which to note when each burst was written.
    #[arg(long, value_name = "FILE")]
    pub log: PathBuf,
}

/// Writes bursts until that is over.
///
/// # Errors
///
/// Where there is no terminal, or the log cannot be written.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let shape = BurstShape {
        lines: arguments.lines,
        bytes: arguments.bytes,
        within: Duration::from_micros(arguments.within),
    };
    write_on_terminal(shape, arguments.seed, &arguments.log)?;
    Ok(ExitCode::SUCCESS)
}
