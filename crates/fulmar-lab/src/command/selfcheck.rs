//! `fulmar-lab selfcheck`: how precise the emulation is here.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use crate::selfcheck;
use crate::trace::LinkTraces;

/// Measures how precise the emulation is on this machine.
///
/// Delay, loss, queues, rates and traces, from outside: by probes between the two hosts and the
/// kernel's own times. Takes two minutes; what is measured is the better for a quiet machine. Ends
/// with status 1 where something is less precise than it is meant to be.
#[derive(Debug, Default, clap::Args)]
pub struct Arguments {
    /// Only a part, in a few seconds.
    #[arg(long)]
    pub quick: bool,
    /// Writes all of it as JSON to this file as well.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// The folder of link traces; otherwise that of FULMAR_LAB_DATA.
    #[arg(long, value_name = "FOLDER")]
    pub data: Option<PathBuf>,
}

/// Runs the checks and prints the table.
///
/// # Errors
///
/// Where a link cannot be made, or the file cannot be written.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let traces = LinkTraces::of(arguments.data.as_deref());
    super::into_pid_namespace()?;
    let findings = selfcheck::run(arguments.quick, &traces, |line| eprintln!("{line}"))?;
    println!("\n{}", findings.table());
    if let Some(file) = &arguments.json {
        super::write_json(file, &serde_json::to_value(&findings)?)?;
    }
    Ok(super::exit_code(findings.are_good()))
}
