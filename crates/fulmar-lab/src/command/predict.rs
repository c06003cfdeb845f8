//! `fulmar-lab predict`: how much of what is typed is shown at once, and how much of that is wrong.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};

use serde_json::{Value, json};

use super::DataOptions;
use crate::judge::GroundTruth;
use crate::predict::{
    Comparison, HELD_OUT, Plan, PredictionRows, PredictionSession, PredictorKind, Recording,
    SecrecyGate, TestLink, explain, judged,
};
use crate::stats::{AT_ONCE, Summary, share_within};

/// Types recordings over many links in virtual time, and says how much of it predictors show at
/// once, and how much of that is wrong.
///
/// The real emulator, server, transport and client carry every session; keys come at the recorded times
/// and are answered after the recorded ones. No root is needed. `--gate` tries whether a
/// character of a secret is ever shown.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The folder of recordings, or one that has key-traces; otherwise our own for tuning.
    #[arg(long, value_name = "FOLDER")]
    pub data: Option<PathBuf>,
    /// All that is published: our own for tuning, those held out, and the ones of others in --data.
    #[arg(long)]
    pub published: bool,
    /// Only recordings whose names hold one of these.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub traces: Vec<String>,
    /// The links, as ROUND_TRIP:JITTER:LOSS in ms and percent; otherwise all 24, or the gate's 45.
    #[arg(long, value_name = "LINK", value_delimiter = ',')]
    pub links: Vec<TestLink>,
    /// The number of seeds of each.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seeds: u64,
    /// The predictors.
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        default_value = "none,stock,client,client-hints"
    )]
    pub predictor: Vec<PredictorKind>,
    /// A line for each recording, too; with `--judge`, what it says of each key.
    #[arg(long)]
    pub each: bool,
    /// Prints all of it as JSON: seeds, unfinished trials, and a row for each link, predictor, and
    /// recording, group or set. As predict.json beside the outcomes of `run` it gets into their report.
    #[arg(long)]
    pub json: bool,
    /// Says of this recording, on the first link, what went wrong with each key.
    #[arg(long, value_name = "TRACE")]
    pub explain: Option<String>,
    /// The seed of the session that is explained.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, requires = "explain")]
    pub seed: u64,
    /// Prints, as JSON, what the judge of real runs says of each recording and predictor on the first
    /// link: to compare with `replay --typing recorded`.
    #[arg(long)]
    pub judge: bool,
    /// Compares, in a table in Markdown, the model of stock's predictor with real runs on the first
    /// link: FOLDER/TRACE.json, as `replay --peer mosh --typing recorded --out` writes them.
    #[arg(long, value_name = "FOLDER")]
    pub beside: Option<PathBuf>,
    /// Fails if a character of a secret is ever shown by those of the predictors that are ours.
    #[arg(long)]
    pub gate: bool,
}

/// Runs what was asked for.
///
/// # Errors
///
/// Where there are no such recordings, or a session does not come about.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    if arguments.gate {
        return gate(arguments);
    }
    let links = if arguments.links.is_empty() {
        TestLink::table()
    } else {
        arguments.links.clone()
    };
    if let Some(name) = &arguments.explain {
        let recordings = Recording::read_all(&folder(arguments)?, std::slice::from_ref(name))?;
        let exact = recordings.iter().find(|recording| recording.name == *name);
        let recording = exact.or(recordings.first()).context("no such recording")?;
        for kind in &arguments.predictor {
            println!("{}", explain(recording, links[0], arguments.seed, *kind)?);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let recordings = recordings(arguments)?;
    if let Some(real) = &arguments.beside {
        print!("{}", Comparison::of(&recordings, links[0], real)?);
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.judge {
        return judge(arguments, &recordings, links[0]);
    }
    let plan = Plan {
        recordings: &recordings,
        links,
        seeds: arguments.seeds,
        kinds: arguments.predictor.clone(),
        leaks_only: false,
    };
    let rows = PredictionRows::of(&plan, &plan.run()?);
    if arguments.json {
        println!("{:#}", serde_json::to_value(&rows)?)
    } else {
        print!("{}", rows.table(arguments.each))
    }
    Ok(ExitCode::SUCCESS)
}

fn judge(arguments: &Arguments, recordings: &[Recording], link: TestLink) -> Result<ExitCode> {
    let Arguments {
        predictor: kinds,
        each,
        ..
    } = arguments;
    let mut rows = Vec::new();
    for recording in recordings {
        let truth = GroundTruth::of(&recording.trace);
        for kind in kinds {
            let watched = kind.watch();
            let session = PredictionSession::run(recording, link, 1, watched)?;
            let viewing = kind.view(&session);
            let verdict = judged(recording, &truth, &session, &viewing)?;
            let mut row = json!({
                "recording": recording.name,
                "predictor": kind.name(),
                "keys": verdict.keys.len(),
                "own_at_once": share_within(&verdict.own(), AT_ONCE),
                "own": Summary::of(&verdict.own()).to_json(),
                "wrong_share": verdict.wrong_share(),
                "differences_at_end": verdict.differences_at_end,
            });
            if *each {
                row["verdict"] = serde_json::to_value(&verdict)?;
            }
            rows.push(row);
        }
    }
    println!("{:#}", Value::Array(rows));
    Ok(ExitCode::SUCCESS)
}

fn gate(arguments: &Arguments) -> Result<ExitCode> {
    let mut recordings = recordings(arguments)?;
    recordings.retain(|recording| recording.truth.has_secret());
    let mut gate = SecrecyGate::new(&recordings, arguments.seeds)?.kept_by(&arguments.predictor);
    if !arguments.links.is_empty() {
        gate.links.clone_from(&arguments.links);
    }
    let verdict = gate.run(|line| eprintln!("{line}"))?;
    println!("{verdict}");
    Ok(super::exit_code(verdict.is_passed()))
}

fn recordings(arguments: &Arguments) -> Result<Vec<Recording>> {
    if !arguments.published {
        return Recording::read_all(&folder(arguments)?, &arguments.traces);
    }
    let own = DataOptions::default().setup()?.recordings;
    let mut all = Recording::read_all(&own, &arguments.traces)?;
    all.extend(Recording::read_all(&own.join(HELD_OUT), &arguments.traces)?);
    if arguments.data.is_some() {
        let mut others = Recording::read_all(&folder(arguments)?, &arguments.traces)?;
        // A copy of ours is not of others.
        others.retain(|other| all.iter().all(|own| own.trace != other.trace));
        all.extend(others);
    }
    Ok(all)
}

fn folder(arguments: &Arguments) -> Result<PathBuf> {
    let Some(data) = &arguments.data else {
        return Ok(DataOptions::default().setup()?.recordings);
    };
    let traces = data.join("key-traces");
    Ok(if traces.is_dir() {
        traces
    } else {
        data.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    #[derive(clap::Parser)]
    struct CommandLine {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn arguments(given: &[&str]) -> Arguments {
        let line = ["predict"].iter().chain(given);
        let line = CommandLine::try_parse_from(line).expect("a command line");
        line.arguments
    }

    fn names(given: &[&str]) -> Vec<String> {
        let recordings = recordings(&arguments(given)).unwrap();
        recordings.into_iter().map(|one| one.name).collect()
    }

    #[test]
    fn recordings_are_those_of_a_folder_or_of_its_key_traces() {
        let data = tempfile::tempdir().unwrap();
        let path = data.path().to_str().unwrap();
        assert_eq!(folder(&arguments(&["--data", path])).unwrap(), data.path());
        let inner = data.path().join("key-traces");
        std::fs::create_dir(&inner).unwrap();
        assert_eq!(folder(&arguments(&["--data", path])).unwrap(), inner);
        assert!(folder(&arguments(&[])).unwrap().join("own-vim").is_file());
    }

    #[test]
    fn what_is_published_is_for_tuning_and_held_out_and_of_others() {
        let chosen = ["--traces", "own-vim-s"];
        assert_eq!(names(&chosen), ["own-vim-shape"]);
        let published = names(&[&chosen[..], &["--published"]].concat());
        assert_eq!(published, ["own-vim-shape", "own-vim-split"]);
        // Recordings of our own in the folder of others are not theirs.
        let own = DataOptions::default().setup().unwrap().recordings;
        let again = ["--published", "--data", own.to_str().unwrap()];
        assert_eq!(names(&[&chosen[..], &again].concat()), published);
    }
}
