//! `fulmar-lab load`: the remote end of a session that carries a load.

use std::process::ExitCode;

use anyhow::Result;

use crate::instrument::load::LoadProgram;

/// Waits for a key on this terminal, and then does its part, in the place of a shell.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The program to run.
    #[command(subcommand)]
    pub program: LoadProgram,
}

/// Runs the program to its end.
///
/// # Errors
///
/// Where there is no terminal.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    arguments.program.play()?;
    Ok(ExitCode::SUCCESS)
}
