//! `fulmar-lab play`: the remote end of a measured session.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use crate::played::Program;
use crate::trace::Trace;

/// Plays the programs of a recording on this terminal, to whoever types the keys of it.
///
/// It takes the place of the shell in a session that is measured. Who drives the other end waits
/// for the words "fulmar-lab is ready", and then types Enter.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The recording.
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,
    /// The file in which to note what was received and written, and when, in the form of a key trace.
    #[arg(long, value_name = "FILE")]
    pub log: PathBuf,
    /// Leaves the window title alone, which otherwise says how much was written.
    #[arg(long)]
    pub no_stamps: bool,
}

/// Plays until the end is asked for, or the terminal is gone.
///
/// # Errors
///
/// Where there is no such recording, no terminal of its size, or the log cannot be written.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let trace = Trace::read(&arguments.trace)?;
    Program::new(trace, &arguments.log, !arguments.no_stamps)?.run()?;
    Ok(ExitCode::SUCCESS)
}
