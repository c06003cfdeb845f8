//! `fulmar-lab cast`: what a user's terminal showed.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use crate::film::Asciicast;
use crate::trace::Trace;

/// Prints what a user's terminal showed in a run as an asciicast, version 2.
///
/// TRACE is the `user-side` that `fulmar-lab replay --keep` wrote. The cast begins half a second before the first key.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The name of the session.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub title: String,
    /// The user's side.
    #[arg(value_name = "TRACE")]
    pub user_side: PathBuf,
}

/// Prints the asciicast.
///
/// # Errors
///
/// Where the file is no trace.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let trace = Trace::read(&arguments.user_side)?;
    print!("{}", Asciicast::of(&trace, &arguments.title).text());
    Ok(ExitCode::SUCCESS)
}
