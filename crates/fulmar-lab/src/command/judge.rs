//! `fulmar-lab judge`: the verdict on a run that was noted.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::json;

use crate::judge::{GroundTruth, ObservedRun, RunVerdict};
use crate::stats::{AT_ONCE, Summary, share_within};
use crate::trace::Trace;

/// Says what a person saw of each key in a run, as JSON.
///
/// USER-SIDE is what the user's terminal sent and got, HOST-SIDE what the host received and wrote,
/// both key traces on one clock.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The recording that was played. Without it the host's side is the truth.
    #[arg(long, value_name = "TRACE")]
    pub recording: Option<PathBuf>,
    /// The least time from host to user, in milliseconds, for a run without stamps.
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pub transit: u64,
    /// The peer predicted nothing: what was shown had come from the host.
    #[arg(long)]
    pub unpredicted: bool,
    /// The figures alone, without the keys.
    #[arg(long)]
    pub brief: bool,
    /// The user's side.
    #[arg(value_name = "USER-SIDE")]
    pub user_side: PathBuf,
    /// The host's side.
    #[arg(value_name = "HOST-SIDE")]
    pub host_side: PathBuf,
}

/// Judges and prints.
///
/// # Errors
///
/// Where a file is no trace, or the two are no run of the recording.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let user_side = Trace::read(&arguments.user_side)?;
    let host_side = Trace::read(&arguments.host_side)?;
    let truth = match &arguments.recording {
        Some(recording) => GroundTruth::of(&Trace::read(recording)?),
        None => GroundTruth::of(&host_side),
    };
    let run = ObservedRun {
        truth: &truth,
        user_side: &user_side,
        host_side: &host_side,
        one_way_delay: Duration::from_millis(arguments.transit),
        may_predict: !arguments.unpredicted,
    };
    let verdict = run.judge().context("this is no run that can be judged")?;
    let mut report = json!({ "figures": figures(&verdict) });
    if !arguments.brief {
        report["verdict"] = serde_json::to_value(&verdict)?;
    }
    println!("{report:#}");
    Ok(ExitCode::SUCCESS)
}

fn figures(verdict: &RunVerdict) -> serde_json::Value {
    let own = verdict.own();
    json!({
        "own": Summary::of(&own).to_json(),
        "own_at_once": share_within(&own, AT_ONCE),
        "whole": Summary::of(&verdict.whole()).to_json(),
        "first_output": Summary::of(&verdict.first_output()).to_json(),
        "wrong_share": verdict.wrong_share(),
        "screens_not_restored": verdict.screens_not_restored,
    })
}
