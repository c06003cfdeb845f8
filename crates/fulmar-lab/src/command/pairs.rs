//! `fulmar-lab pairs`: whether equal runs come out equal.

use std::process::ExitCode;

use anyhow::{Result, bail};
use serde_json::json;

use super::RunOptions;
use super::run_session::RunSession;
use crate::experiment::catalogue;
use crate::report;
use crate::run::{PAIRS, PairReport, PairSeries, Selection, compare_pairs, missing, pairs};

/// Measures with equal settings twice, and says whether the medians differ by more than chance.
///
/// Of 20 pairs the 90 % interval of the difference is to hold zero in at least 16. Both runs of a pair
/// are made beside others; a third is made alone, so that it is seen whether runs side by side shift
/// medians. Leaves outcomes and pairs.json in DIR, and ends with status 1 where it is not so.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The cells, as for `run`; otherwise some of all kinds.
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// The number of pairs.
    #[arg(long, value_name = "NUMBER", default_value_t = PAIRS)]
    pub pairs: usize,
    /// Goes without the runs that are made alone.
    #[arg(long)]
    pub no_alone: bool,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it as the text of the command")]
    pub options: RunOptions,
}

/// A measured link, a good one and a lossy one, and both users.
const CELLS: [&str; 4] = [
    "evdo/lte-500ms-closed-short",
    "evdo/evdo-200ms-open-short",
    "transoceanic/rtt-273ms-open",
    "loss/loss-29-open",
];

/// The same without the data that are not ours to ship.
const GENERATED: [&str; 4] = [
    "evdo/like-lte-500ms-closed-own-less",
    "evdo/like-evdo-200ms-open-own-less",
    "transoceanic/rtt-273ms-open",
    "loss/loss-29-open",
];

/// The part of them that is measured where it is to be quick.
const QUICK: [&str; 3] = ["evdo", "transoceanic", "loss"];

/// Measures, compares and prints.
///
/// # Errors
///
/// As `run`.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let options = &arguments.options;
    let setup = options.setup()?;
    let usual: &[&str] = if options.quick {
        &QUICK
    } else if options.data.generated {
        &GENERATED
    } else {
        &CELLS
    };
    let selection = Selection {
        names: if arguments.names.is_empty() {
            usual.iter().map(|name| (*name).to_owned()).collect()
        } else {
            arguments.names.clone()
        },
        peers: options.peers.clone(),
    };
    let chosen = selection.choose(&catalogue::ALL, &setup)?;
    if let Some(missing) = missing(&chosen, &setup) {
        bail!("{missing}");
    }
    let plan = pairs(chosen, arguments.pairs, !arguments.no_alone);
    super::into_pid_namespace()?;
    let session = RunSession::open(options, &setup)?;
    let (ended, plan) = session.run(plan)?;
    let equal = compare_pairs(
        &plan,
        &session.folder,
        PairSeries::First,
        PairSeries::Second,
    );
    println!(
        "Runs with equal settings, medians in ms:\n{}",
        equal.table()
    );
    let alone = (!arguments.no_alone).then(|| {
        let alone = compare_pairs(&plan, &session.folder, PairSeries::First, PairSeries::Alone);
        println!("Side by side, and alone:\n{}", alone.table());
        alone
    });
    let is_good = equal.is_good && alone.as_ref().is_none_or(|alone| alone.is_good);
    let found = json!(PairReport { equal, alone });
    super::write_json(&options.out.join(report::PAIRS), &found)?;
    Ok(super::exit_code(is_good && !ended.is_interrupted))
}
