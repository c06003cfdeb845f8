//! The figure about logins: the time from a command to the prompt of a shell, of ssh, stock Mosh and
//! Fulmar, and of Fulmar the steps on the way.

use anyhow::Result;
use fulmar_testbed::median;
use serde_json::Value;

use super::lab::Outcomes;
use super::table;

/// The round trip times of the lab's links, ms.
const ROUND_TRIPS_MS: [u32; 4] = [0, 20, 100, 300];

/// The most time of ours on top of ssh's and of one round trip, ms.
const WANTED_MS: u32 = 30;

/// The beginning of the names of figures that are steps.
const STEP: &str = "step_";

/// All runs over one link.
struct Link {
    round_trip_ms: u32,
    outcomes: Vec<Value>,
}

impl Link {
    fn runs(&self, peer: &str) -> impl Iterator<Item = &Value> {
        let of_peer = move |one: &&Value| one["run"]["peer"] == peer;
        self.outcomes.iter().filter(of_peer)
    }

    /// Returns a figure of each run of a peer.
    fn values(&self, peer: &str, figure: &str) -> Vec<Option<f64>> {
        let runs = self.runs(peer);
        runs.map(|run| run["figures"][figure]["value"].as_f64())
            .collect()
    }
}

/// Draws the tables, and says how many runs there were of each; `None` where nothing was measured.
pub(super) fn draw(outcomes: &Outcomes<'_>) -> Result<Option<(String, usize)>> {
    let mut links = Vec::new();
    for round_trip_ms in ROUND_TRIPS_MS {
        let outcomes = outcomes.read(&format!("lan/login-{round_trip_ms}ms"))?;
        links.extend((!outcomes.is_empty()).then_some(Link {
            round_trip_ms,
            outcomes,
        }));
    }
    let runs = links.iter().map(|link| link.runs("fulmar").count()).max();
    Ok(runs.map(|runs| (format!("{}\n{}", times(&links), steps(&links)), runs)))
}

/// Draws the times of all links.
fn times(links: &[Link]) -> String {
    let mut table = "| round trip, ms | ssh, ms | mosh, ms | fulmar, ms | fulmar less ssh, ms \
                     | in round trips, without the first row's | wanted |\n\
                     |---|---|---|---|---|---|---|\n"
        .to_owned();
    let over_ssh = |link: &Link| link.values("fulmar", "over_ssh");
    let base = links.first().map(over_ssh).unwrap_or_default();
    let base = median(base.into_iter().flatten()).unwrap_or_default();
    for link in links {
        let round_trip = f64::from(link.round_trip_ms);
        let over_ssh = over_ssh(link);
        let in_round_trips = match link.round_trip_ms {
            0 => "–".to_owned(),
            _ => {
                let trips = |over: &Option<f64>| over.map(|over| (over - base) / round_trip);
                table::cell(&over_ssh.iter().map(trips).collect::<Vec<_>>(), 2)
            }
        };
        let peer = |peer: &str| table::cell(&link.values(peer, "to_prompt"), 0);
        table += &format!(
            "| {} | {} | {} | {} | {} | {in_round_trips} | at most {}, 1 |\n",
            link.round_trip_ms,
            peer("ssh"),
            peer("mosh"),
            peer("fulmar"),
            table::cell(&over_ssh, 0),
            link.round_trip_ms + WANTED_MS,
        );
    }
    table
}

/// Draws what the logs told of our way to the prompt: each step's time on each link.
fn steps(links: &[Link]) -> String {
    let mut table = "| step, ms since the command |".to_owned();
    let mut rule = "|---|".to_owned();
    for link in links {
        table += &format!(" round trip {} ms |", link.round_trip_ms);
        rule += "---|";
    }
    table += &format!("\n{rule}\n");
    for figure in step_figures(links) {
        table += &format!("| {} |", figure[STEP.len()..].replace('_', " "));
        for link in links {
            table += &format!(" {} |", table::cell(&link.values("fulmar", &figure), 0));
        }
        table.push('\n');
    }
    table
}

/// Returns the names of the steps, in the order in which they are taken over the longest link.
fn step_figures(links: &[Link]) -> Vec<String> {
    let Some(last) = links.last() else {
        return Vec::new();
    };
    let figures = last
        .runs("fulmar")
        .find_map(|run| run["figures"].as_object());
    let names = figures.into_iter().flat_map(|figures| figures.keys());
    let mut steps: Vec<(f64, &String)> = names
        .filter(|name| name.starts_with(STEP))
        .filter_map(|name| {
            Some((
                median(last.values("fulmar", name).into_iter().flatten())?,
                name,
            ))
        })
        .collect();
    steps.sort_by(|one, other| one.0.total_cmp(&other.0));
    steps.into_iter().map(|(_, name)| name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs over a link: the times of ssh, of mosh and of ours, and how much longer than ssh we took.
    fn link(round_trip_ms: u32, runs: &[[f64; 4]]) -> Link {
        let mut outcomes = Vec::new();
        for [ssh, mosh, fulmar, over] in runs {
            for (peer, time) in [("ssh", ssh), ("mosh", mosh), ("fulmar", fulmar)] {
                let mut figures = serde_json::json!({ "to_prompt": { "value": time } });
                if peer == "fulmar" {
                    figures["over_ssh"] = serde_json::json!({ "value": over });
                    figures["step_first_answer"] = serde_json::json!({ "value": 9.0 });
                    figures["step_hello"] = serde_json::json!({ "value": 7.0 });
                }
                outcomes.push(serde_json::json!({ "run": { "peer": peer }, "figures": figures }));
            }
        }
        Link {
            round_trip_ms,
            outcomes,
        }
    }

    #[test]
    fn times_have_a_median_and_a_range_and_steps_come_in_their_order() {
        let links = [
            link(
                0,
                &[
                    [100.0, 9.0, 110.0, 10.0],
                    [200.0, 9.0, 220.0, 20.0],
                    [300.0, 9.0, 330.0, 30.0],
                ],
            ),
            link(100, &[[500.0, 9.0, 620.0, 120.0]]),
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
        let drawn = "| hello | 7 (7–7) | 7 (7–7) |\n| first answer | 9 (9–9) | 9 (9–9) |\n";
        assert!(steps(&links).ends_with(drawn));
    }
}
