//! `fulmar-lab run`: experiments, from the plan to the report.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail, ensure};

use super::RunOptions;
use super::run_session::RunSession;
use crate::experiment::{LabSetup, catalogue};
use crate::report;
use crate::run::{RunPlan, Selection, missing};

/// Measures, and makes a report of it.
///
/// A NAME is that of an experiment (`fulmar-lab list`), or EXPERIMENT/CELL with the beginning of a
/// cell's name; `paper` is what the Mosh paper and its reproduction measured, `all` is everything. Each
/// run leaves its outcome in DIR as soon as it is over. Ctrl-C keeps what is there; the same
/// command goes on from it, and tries what has failed once more.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The experiments to measure.
    #[arg(value_name = "NAME", required = true)]
    pub names: Vec<String>,
    /// One more for typed sessions, as a line for the shell: see `fulmar-lab replay --help`.
    #[arg(long, value_name = "NAME=TEMPLATE")]
    pub peer: Vec<String>,
    /// The number of runs of each, every one with another seed; otherwise 3, or 1 with --quick.
    #[arg(long, value_name = "NUMBER")]
    pub seeds: Option<u64>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it as the text of the command")]
    pub options: RunOptions,
    /// Only says what would be done, and how long it would take.
    #[arg(long)]
    pub plan: bool,
}

/// As usual.
const SEEDS: u64 = 3;

/// Measures.
///
/// # Errors
///
/// Where a name is not known, data are missing, or links cannot be made.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let options = &arguments.options;
    let setup = options.setup()?;
    let selection = Selection {
        names: arguments.names.clone(),
        peers: [options.peers.as_slice(), &arguments.peer].concat(),
    };
    let chosen = selection.choose(&catalogue::ALL, &setup)?;
    ensure!(!chosen.is_empty(), "nothing of it is for these peers");
    let missing = missing(&chosen, &setup);
    let usual = if options.quick { 1 } else { SEEDS };
    let plan = RunPlan::new(chosen, arguments.seeds.unwrap_or(usual));
    if arguments.plan {
        print!("{}", plan.table(options.jobs()));
        if let Some(missing) = missing {
            println!("\n{missing}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(missing) = missing {
        bail!("{missing}");
    }
    // All that runs is gone with this process, also when it is killed.
    super::into_pid_namespace()?;
    let session = RunSession::open(options, &setup)?;
    let (ended, _) = session.run(plan)?;
    // Where the very first run was interrupted there is nothing to report.
    if !session.folder.all()?.is_empty() {
        println!("{}", page(&options.out, &setup)?);
    }
    Ok(super::exit_code(!ended.is_interrupted && ended.failed == 0))
}

/// Writes the report, also of what is not complete, and says where it is.
fn page(out: &Path, setup: &LabSetup) -> Result<String> {
    let page = report::write(out, &catalogue::ALL, setup).context("making the report")?;
    Ok(page.display().to_string())
}
