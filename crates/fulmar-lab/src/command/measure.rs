//! `fulmar-lab measure`: one run of a plan, in a process of its own.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, Result};

use super::DataOptions;
use crate::experiment::{LabSetup, catalogue};
use crate::outcome::RunId;
use crate::peer;
use crate::run::outcome;

/// Makes one run of an experiment and writes its outcome as JSON to the output.
///
/// `run` calls it for each run. A run that fails has an outcome as well, which says why.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it as the text of the command")]
    pub data: DataOptions,
    /// As with `run --quick`.
    #[arg(long)]
    pub quick: bool,
    /// The experiment.
    #[arg(value_name = "EXPERIMENT")]
    pub experiment: String,
    /// Its cell.
    #[arg(value_name = "CELL")]
    pub cell: String,
    /// The peer.
    #[arg(value_name = "PEER")]
    pub peer: String,
    /// The seed that all chance follows from.
    #[arg(value_name = "SEED")]
    pub seed: u64,
}

/// Measures.
///
/// # Errors
///
/// Where there is no such cell, or its processes get no namespace.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let setup = LabSetup {
        is_quick: arguments.quick,
        ..arguments.data.setup()?
    };
    let experiment =
        catalogue::named(&arguments.experiment).context("there is no such experiment")?;
    let mut cells = (experiment.cells)(&setup).into_iter();
    let cell = cells.find(|cell| cell.name == arguments.cell);
    let cell = cell.context("there is no such cell")?;
    super::into_pid_namespace()?;
    peer::own_files();
    let measured = cell.work.measure(&arguments.peer, arguments.seed, &setup);
    let (name, _) = arguments
        .peer
        .split_once('=')
        .unwrap_or((&arguments.peer, ""));
    let id = RunId {
        experiment: arguments.experiment.clone(),
        cell: arguments.cell.clone(),
        peer: name.to_owned(),
        seed: arguments.seed,
    };
    let text = serde_json::to_string(&outcome(id, measured))?;
    let written = std::io::stdout().lock().write_all(text.as_bytes());
    written.context("writing the outcome")?;
    Ok(ExitCode::SUCCESS)
}
