//! The figure about logins: the time from a command to the prompt of a shell, of ssh, stock Mosh and
//! Fulmar, over an emulated link to a real sshd.
//!
//! ```text
//!  figures login ── fulmar-lab link ─┬─ client: Visits ── Terminal ── ssh | mosh | fulmar
//!                                    └─ server: sshd ── sh with a prompt of ours
//! ```
//!
//! All three log in as the same user to the same shell. A round is one login of each, one after the
//! other, so that a machine that gets slower does so for all.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use super::login_place::Place;
use super::programs::built;
use super::table;
use super::visits::Round;
use crate::workspace::{self, Workspace};

/// The least rounds: a login's time varies more than what else is measured.
const ROUNDS_MIN: usize = 7;

/// The round trip times that links of the figure add, ms.
const ROUND_TRIPS_MS: [u32; 4] = [0, 20, 100, 300];

/// The most time of ours on top of ssh's and of one round trip, ms.
const WANTED_MS: u32 = 30;

/// All rounds on one link.
struct Measured {
    round_trip_ms: u32,
    rounds: Vec<Round>,
}

/// Measures on all links and returns the tables, and how they came about.
pub(super) fn measure(
    workspace: &Workspace,
    folder: &Path,
    runs: usize,
) -> Result<(String, String)> {
    let rounds = runs.max(ROUNDS_MIN);
    let lab = built(workspace, "fulmar-lab")?;
    let place = Place::prepare(folder, &built(workspace, "fulmar")?)?;
    let load = load();
    let mut measured = Vec::new();
    for round_trip_ms in ROUND_TRIPS_MS {
        eprintln!("xtask:   over a link of {round_trip_ms} ms");
        let rounds = visit(&lab, &place, round_trip_ms, rounds)?;
        measured.push(Measured {
            round_trip_ms,
            rounds,
        });
    }
    let text = format!("{}\n{}", times(&measured), steps(&measured));
    let how = format!("{rounds} rounds on each link, load average {load} before them");
    Ok((text, how))
}

/// The load average of the last minute.
fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}

/// Makes the rounds on one link.
fn visit(lab: &Path, place: &Place, round_trip_ms: u32, rounds: usize) -> Result<Vec<Round>> {
    let mut command = Command::new(lab);
    command.arg("link");
    if round_trip_ms > 0 {
        command.args(["--delay", &format!("{}ms", round_trip_ms / 2)]);
    }
    command.args(["--server", &place.server_command(), "--"]);
    command.arg(std::env::current_exe()?).arg("visit");
    command.arg(place.folder()).arg(rounds.to_string());
    let output = workspace::output_of(&mut command)?;
    let found: Vec<Round> = output.lines().filter_map(Round::parse).collect();
    if found.len() != rounds {
        bail!("{} of {rounds} rounds are told in {output:?}", found.len());
    }
    Ok(found)
}

/// Draws the times of all links.
fn times(measured: &[Measured]) -> String {
    let mut table = "| round trip, ms | ssh, ms | mosh, ms | fulmar, ms | fulmar less ssh, ms \
                     | in round trips, without the first row's | wanted |\n\
                     |---|---|---|---|---|---|---|\n"
        .to_owned();
    let base = measured
        .first()
        .map_or(0.0, |first| median_of(&more(first)));
    for link in measured {
        let round_trip = f64::from(link.round_trip_ms);
        let more = more(link);
        let in_round_trips = match link.round_trip_ms {
            0 => "–".to_owned(),
            _ => {
                let trips: Vec<_> = more
                    .iter()
                    .map(|more| more.map(|more| (more - base) / round_trip))
                    .collect();
                table::cell(&trips, 2)
            }
        };
        let peer = |peer: usize| {
            let values = link.rounds.iter().map(|round| round.to_prompt[peer]);
            table::cell(&values.collect::<Vec<_>>(), 0)
        };
        table += &format!(
            "| {} | {} | {} | {} | {} | {in_round_trips} | at most {}, 1 |\n",
            link.round_trip_ms,
            peer(0),
            peer(1),
            peer(2),
            table::cell(&more, 0),
            link.round_trip_ms + WANTED_MS,
        );
    }
    table
}

/// Returns how much longer we took than ssh did in the same round.
fn more(link: &Measured) -> Vec<Option<f64>> {
    let of_round = |round: &Round| Some(round.to_prompt[2]? - round.to_prompt[0]?);
    link.rounds.iter().map(of_round).collect()
}

/// Draws what the logs told of our way to the prompt: each step's time on each link.
fn steps(measured: &[Measured]) -> String {
    let mut table = "| step, ms since the command |".to_owned();
    let mut rule = "|---|".to_owned();
    for link in measured {
        table += &format!(" round trip {} ms |", link.round_trip_ms);
        rule += "---|";
    }
    table += &format!("\n{rule}\n");
    let last = measured.last().and_then(|link| link.rounds.last());
    let names = last.map_or(&[][..], |round| &round.steps);
    for (name, _) in names {
        table += &format!("| {name} |");
        for link in measured {
            let values: Vec<_> = link.rounds.iter().map(|round| round.step(name)).collect();
            table += &format!(" {} |", table::cell(&values, 0));
        }
        table.push('\n');
    }
    table
}

/// The median of the values that there are.
fn median_of(values: &[Option<f64>]) -> f64 {
    let mut there: Vec<f64> = values.iter().flatten().copied().collect();
    there.sort_by(f64::total_cmp);
    there.get(there.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(round_trip_ms: u32, times: &[[f64; 3]]) -> Measured {
        let round = |times: &[f64; 3]| Round {
            to_prompt: times.map(Some),
            steps: vec![("hello".to_owned(), 7.0)],
        };
        Measured {
            round_trip_ms,
            rounds: times.iter().map(round).collect(),
        }
    }

    #[test]
    fn we_are_compared_with_ssh_of_the_same_round() {
        let links = [
            link(
                0,
                &[
                    [100.0, 9.0, 110.0],
                    [200.0, 9.0, 220.0],
                    [300.0, 9.0, 330.0],
                ],
            ),
            link(100, &[[500.0, 9.0, 620.0]]),
        ];
        let table = times(&links);
        let rows: Vec<&str> = table.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| 0 | 200 (100–300) | 9 (9–9) | 220 (110–330) | 20 (10–30) | – | at most 30, 1 |",
                "| 100 | 500 (500–500) | 9 (9–9) | 620 (620–620) | 120 (120–120) \
                 | 1.00 (1.00–1.00) | at most 130, 1 |",
            ]
        );
        assert!(steps(&links).ends_with("| hello | 7 (7–7) | 7 (7–7) |\n"));
    }
}
