//! `fulmar-lab replay`: one session, typed and judged.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use anyhow::Result;
use fulmar_platform::boot_time;

use super::{DataOptions, ReplayOptions};
use crate::experiment::{Measured, Work as _};
use crate::outcome::RunId;
use crate::peer::Peer;
use crate::replay::{LIMITS, Replay};
use crate::run::outcome;
use crate::stats::{AT_ONCE, Summary, share_within};
use crate::typing::Limits;

/// The peers that there are; the documentation of `peer` says more.
const PEERS: &str = "\
A PEER is ssh, mosh, mosh-a, mosh-n, fulmar, fulmar-a or fulmar-n (predictions: adaptive, always
with -a, never with -n), or NAME=TEMPLATE. A template is a line for sh that starts a session, with
  {command}         the remote command; every template has it
  {host} {port}     where sshd is
  {ssh}             ssh, with what it needs to get in
  {fulmar} {mosh-server}   where that program is
Example: --peer 'compressed={ssh} -C -e none -t {host} {command}'
";

/// Types a recording to a peer over an emulated link, and says what became of each key.
///
/// The peer runs between a user at its terminal and a host that plays the recorded programs. The
/// link, an sshd of the lab's own and all processes are gone at the end, however it comes.
#[derive(Debug, clap::Args)]
#[command(after_long_help = PEERS)]
pub struct Arguments {
    /// The peer that carries the session.
    #[arg(long, value_name = "PEER")]
    pub peer: String,
    /// The user, the recording, and the link.
    #[command(flatten)]
    pub session: ReplayOptions,
    /// The seed that all chance of the link follows from.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
    /// Waits so many seconds for answers that are missing at the end.
    #[arg(long, value_name = "S", default_value_t = LIMITS.patience.as_secs())]
    pub patience: u64,
    /// Waits so many seconds for the session to be there.
    #[arg(long, value_name = "S", default_value_t = LIMITS.set_up.as_secs())]
    pub set_up: u64,
    /// Lets an endless TCP stream run from the server's host to the client's meanwhile.
    #[arg(long)]
    pub download: bool,
    /// The data and programs to measure with.
    #[command(flatten)]
    pub data: DataOptions,
    /// Keeps what either side saw in this folder, for `fulmar-lab judge`.
    #[arg(long, value_name = "FOLDER")]
    pub keep: Option<PathBuf>,
    /// Writes the whole outcome into this file, as JSON.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Plays one session and prints its figures.
///
/// # Errors
///
/// Where an argument has no meaning, links cannot be made, or no session comes about.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let peer = Peer::parse(&arguments.peer)?;
    let replay = arguments.replay()?;
    let setup = arguments.data.setup()?;
    super::into_pid_namespace()?;
    crate::peer::own_files();
    let (began, from) = (SystemTime::now(), boot_time());
    let measured = replay.measure(&arguments.peer, arguments.seed, &setup)?;
    print!("{}", told(&measured));
    if let Some(file) = &arguments.out {
        let began = began.duration_since(SystemTime::UNIX_EPOCH)?.as_secs();
        let took = (boot_time() - from).as_secs_f64();
        let mut outcome = outcome(arguments.run_id(peer), Ok(measured));
        (outcome.facts.began, outcome.facts.took) = (began, took);
        outcome.facts.side_by_side = 1;
        super::write_json(file, &serde_json::to_value(&outcome)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

impl Arguments {
    fn replay(&self) -> Result<Replay> {
        let replay = self.session.replay()?;
        Ok(Replay {
            limits: Limits {
                patience: Duration::from_secs(self.patience),
                set_up: Duration::from_secs(self.set_up),
                ..replay.limits
            },
            download: self.download,
            keep: self.keep.clone(),
            ..replay
        })
    }

    fn run_id(&self, peer: Peer) -> RunId {
        RunId {
            experiment: "by-hand".to_owned(),
            cell: "replay".to_owned(),
            peer: peer.name,
            seed: self.seed,
        }
    }
}

/// Returns what a person wants to know of it, line by line.
fn told(measured: &Measured) -> String {
    let mut told = String::new();
    if let Some(verdict) = &measured.verdict {
        let own = verdict.own();
        told += &format!(
            "keys        {}, {} with an effect\n",
            verdict.keys.len(),
            own.len()
        );
        for (name, waits) in [
            ("own effect", &own),
            ("whole", &verdict.whole()),
            ("first output", &verdict.first_output()),
        ] {
            told += &format!("{name:<13}{}\n", Summary::of(waits).to_json());
        }
        if let Some(share) = share_within(&own, AT_ONCE) {
            told += &format!("at once     {:.1} %\n", share * 100.0);
        }
        told += &format!(
            "wrong       {:.2} % of keys\n",
            verdict.wrong_share() * 100.0
        );
        if verdict.screens_not_restored > 0 {
            told += &format!(
                "not put back {} screens behind full-screen programs\n",
                verdict.screens_not_restored
            );
        }
        if !verdict.delivery.is_faithful() {
            told += &format!(
                "ATTENTION: what arrived is not what was typed: {:?}\n",
                verdict.delivery
            );
        }
        if !verdict.is_settled {
            told += "ATTENTION: the screen was never right as a whole, so times mean nothing\n";
        }
        if verdict.differences_at_end > 0 {
            told += &format!(
                "ATTENTION: {} cells differ at the end\n",
                verdict.differences_at_end
            );
        }
    }
    for (name, figure) in &measured.figures {
        told += &format!("{name:<20}{} {}\n", figure.value, figure.unit);
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Figure;
    use serde_json::json;

    /// Two keys, of which one has an effect, and one drew something wrong.
    fn measured(lost: usize, is_settled: bool, differences: usize) -> Measured {
        let verdict = json!({
            "keys": [
                {"typed_ms": 0, "own": {"ms": 2}, "whole": {"ms": 9}, "first_output": {"ms": 2},
                    "wrong": 1},
                {"typed_ms": 50, "own": null, "whole": null, "first_output": {"ms": 3}, "wrong": 0},
            ],
            "wrongs": [], "longest_stall_ms": 0, "length_ms": 0, "is_stamped": true,
            "is_settled": is_settled, "differences_at_end": differences, "delivery": {
                "typed": 2, "received": 2 - lost, "lost": lost, "doubled": 0, "reordered": 0,
                "strange": 0, "under_way": 0,
            },
        });
        Measured {
            verdict: Some(serde_json::from_value(verdict).unwrap()),
            figures: [("to_prompt".to_owned(), Figure::new(12.5, "ms"))].into(),
            ..Measured::default()
        }
    }

    #[test]
    fn a_session_is_told_in_a_few_lines() {
        let text = told(&measured(0, true, 0));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "keys        2, 1 with an effect");
        for (line, name) in lines[1..4]
            .iter()
            .zip(["own effect", "whole", "first output"])
        {
            assert!(
                line.starts_with(name) && line.contains("median_ms"),
                "{line}"
            );
        }
        let rest = [
            "at once     100.0 %",
            "wrong       50.00 % of keys",
            "to_prompt           12.5 ms",
        ];
        assert_eq!(lines[4..], rest);
    }

    #[test]
    fn what_makes_times_worth_less_is_told() {
        let attention = |lost, is_settled, differences| {
            let text = told(&measured(lost, is_settled, differences));
            let lines = text.lines().filter(|line| line.starts_with("ATTENTION: "));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(attention(0, true, 0), Vec::<String>::new());
        let lost = attention(1, true, 0);
        assert!(
            lost.len() == 1 && lost[0].contains("not what was typed"),
            "{lost:?}"
        );
        let unsettled = attention(0, false, 0);
        assert!(
            unsettled.len() == 1 && unsettled[0].contains("never right"),
            "{unsettled:?}"
        );
        assert_eq!(
            attention(0, true, 1),
            ["ATTENTION: 1 cells differ at the end"]
        );
    }

    #[test]
    fn without_a_verdict_there_are_only_figures() {
        let mut measured = measured(0, true, 0);
        measured.verdict = None;
        assert_eq!(told(&measured), "to_prompt           12.5 ms\n");
    }
}
