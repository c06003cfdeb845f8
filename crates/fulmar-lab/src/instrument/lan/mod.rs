//! Measures the cost of a remote shell by itself, where the network costs next to nothing.
//!
//! | what | how | figures |
//! |---|---|---|
//! | echo | a recording whose host echoes at once, typed in closed loop | `echo`, `link` (UDP, measured before), `cost`: the difference of the medians |
//! | flood | `yes`, or `cat` of many lines, in a shell behind 100 Mbit/s; Ctrl-C after two seconds | `interrupt_to_prompt`, and `interrupt_to_answer` of a command typed then |
//! | start | the time to a prompt over round trips of 20, 100 and 300 ms, in turns with ssh | `round_trips`: the slope; `at_once`: what is left at no distance |
//! | login | the time to the prompt of a login as users make it, in turns with ssh | `to_prompt`, `over_ssh`; of ours also each `step` that its log tells |
//! | idle | a session in which nothing happens | packets and bytes a minute, processor time an hour, memory |
//!
//! Times are those of a terminal that takes all it is given as fast as this machine can show it.

mod echo;
mod flood;
mod idle;
mod login;
mod shell;
mod start;

use std::time::Duration;

use anyhow::Result;

use crate::experiment::{Cell, Measured, Surroundings, Work};
use crate::peer::Peer;
use crate::scenario::Scenario;
use crate::trace::LinkTraces;
pub(in crate::instrument) use echo::echoed;

/// The round trips of a local network, and of a town, in milliseconds.
const NEAR: [u64; 3] = [0, 1, 20];

/// The round trips over which the start of a session is timed, in milliseconds.
const FAR: [u64; 3] = [20, 100, 300];

/// The round trips over which logins are timed, in milliseconds.
const LOGINS: [u64; 4] = [0, 20, 100, 300];

/// The time for which a session is quiet before what it sends is counted. Chosen by eye: longer than any
/// answer of a login.
const QUIET: Duration = Duration::from_secs(10);

/// The round trip of the session in which nothing happens, in milliseconds.
const IDLE: u64 = 20;

/// One of the measurements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lan {
    /// The cost of an echo.
    Echo {
        /// The round trip of the link.
        round_trip: Duration,
        /// The number of keys that are typed.
        keys: usize,
    },
    /// The time for which output that floods goes on after Ctrl-C.
    Flood {
        /// The round trip of the link.
        round_trip: Duration,
        /// The program that floods.
        source: FloodSource,
        /// The number of floods.
        times: usize,
    },
    /// The number of round trips that a prompt takes.
    Start {
        /// The round trips of the links, in milliseconds.
        round_trips: Vec<u64>,
        /// The number of sessions over each.
        times: usize,
    },
    /// The time that a login takes.
    Login {
        /// The round trip of the link.
        round_trip: Duration,
        /// The number of logins by the peer, and of those by ssh.
        times: usize,
    },
    /// The traffic while nothing happens.
    Idle {
        /// The time for which it is quiet before.
        quiet: Duration,
        /// The time for which it is counted.
        time: Duration,
    },
}

/// A program that floods a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloodSource {
    /// `yes`: a screen that never changes.
    Yes,
    /// `cat` of numbered lines: one that always does.
    Cat,
}

/// Returns the cells of the experiment.
pub fn cells(around: &Surroundings) -> Vec<Cell> {
    let few = around.is_quick;
    let mut cells = Vec::new();
    for millis in NEAR {
        let round_trip = Duration::from_millis(millis);
        let keys = if few { 50 } else { 150 };
        cells.push(cell(
            format!("echo-{millis}ms"),
            format!("echo, round trip {millis} ms"),
            Lan::Echo { round_trip, keys },
        ));
        let times = if few { 1 } else { 3 };
        for source in [FloodSource::Yes, FloodSource::Cat] {
            let name = source.name();
            cells.push(cell(
                format!("flood-{name}-{millis}ms"),
                format!("Ctrl-C in a flood of {name}, round trip {millis} ms"),
                Lan::Flood {
                    round_trip,
                    source,
                    times,
                },
            ));
        }
    }
    let times = if few { 1 } else { 3 };
    let title = "time to a prompt over 20, 100 and 300 ms".to_owned();
    let round_trips = FAR.to_vec();
    let work = Lan::Start { round_trips, times };
    cells.push(cell("start".to_owned(), title, work));
    for millis in LOGINS {
        let round_trip = Duration::from_millis(millis);
        cells.push(cell(
            format!("login-{millis}ms"),
            format!("a login as users make it, round trip {millis} ms"),
            Lan::Login { round_trip, times },
        ));
    }
    let time = Duration::from_secs(if few { 20 } else { 60 });
    let title = format!("a session in which nothing happens, round trip {IDLE} ms");
    let quiet = QUIET;
    cells.push(cell("idle".to_owned(), title, Lan::Idle { quiet, time }));
    cells
}

fn cell(name: String, title: String, work: Lan) -> Cell {
    Cell {
        name,
        title,
        peers: ["ssh", "mosh", "fulmar"].map(str::to_owned).to_vec(),
        takes: work.about(),
        // What is measured is of the size of what the machine does beside it.
        is_alone: !matches!(work, Lan::Idle { .. }),
        work: Box::new(work),
    }
}

impl Work for Lan {
    fn measure(&self, peer: &str, seed: u64, around: &Surroundings) -> Result<Measured> {
        let peer = Peer::parse(peer)?;
        match self {
            Self::Echo { round_trip, keys } => {
                echo::measure(&peer, &link(seed, *round_trip, "")?, *keys, around)
            }
            Self::Flood {
                round_trip,
                source,
                times,
            } => {
                let scenario = link(seed, *round_trip, flood::LINK)?;
                flood::measure(&peer, &scenario, *source, *times, around)
            }
            Self::Start { round_trips, times } => {
                start::measure(&peer, seed, round_trips, *times, around)
            }
            Self::Login { round_trip, times } => {
                login::measure(&peer.name, &link(seed, *round_trip, "")?, *times, around)
            }
            Self::Idle { quiet, time } => {
                let scenario = link(seed, Duration::from_millis(IDLE), "")?;
                idle::measure(&peer, &scenario, [*quiet, *time], around)
            }
        }
    }

    fn takes_any_peer(&self) -> bool {
        !matches!(self, Self::Login { .. })
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Echo { round_trip, keys } => vec![
                ("round trip", format!("{} ms", round_trip.as_millis())),
                ("keys", keys.to_string()),
            ],
            Self::Flood {
                round_trip, times, ..
            } => vec![
                ("round trip", format!("{} ms", round_trip.as_millis())),
                ("link", flood::LINK.to_owned()),
                ("interrupts", times.to_string()),
            ],
            Self::Start { round_trips, times } => vec![
                ("round trips in ms", format!("{round_trips:?}")),
                ("sessions over each", times.to_string()),
            ],
            Self::Login { round_trip, times } => vec![
                ("round trip", format!("{} ms", round_trip.as_millis())),
                ("logins", times.to_string()),
            ],
            Self::Idle { time, .. } => vec![
                ("round trip", format!("{IDLE} ms")),
                ("counted for", format!("{} s", time.as_secs())),
            ],
        }
    }
}

impl Lan {
    /// Returns the time that it takes, about: seconds that were seen, for what is not planned.
    fn about(&self) -> Duration {
        match self {
            Self::Echo { keys, .. } => Duration::from_millis(4000 + 160 * *keys as u64),
            Self::Flood { times, .. } => Duration::from_secs(4 + 4 * *times as u64),
            Self::Start { times, .. } => Duration::from_secs(18 * *times as u64),
            // Up to 14 round trips each, three of them a round, and a round that is not counted.
            Self::Login { round_trip, times } => {
                let login = Duration::from_millis(700) + 14 * *round_trip;
                3 * (*times as u32 + 1) * login
            }
            Self::Idle { quiet, time } => *quiet + *time + Duration::from_secs(5),
        }
    }
}

impl FloodSource {
    fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Cat => "cat",
        }
    }
}

/// Returns a link with this round trip, on which something else happens before.
fn link(seed: u64, round_trip: Duration, before: &str) -> Result<Scenario> {
    let mut stages: Vec<String> = Vec::new();
    stages.extend((!before.is_empty()).then(|| before.to_owned()));
    if !round_trip.is_zero() {
        stages.push(format!("delay {}us", round_trip.as_micros() / 2));
    }
    let both = if stages.is_empty() {
        String::new()
    } else {
        format!("\nboth {}", stages.join(", "))
    };
    Scenario::parse(&format!("seed {seed}{both}"), &LinkTraces::none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulmar_sim::{Delay, Queue, Rate};

    #[test]
    fn a_link_has_half_of_its_round_trip_each_way() {
        let scenario = link(3, Duration::from_millis(1), flood::LINK).unwrap();
        let rate = Rate::bits(100_000_000, Queue::bytes(256_000));
        let delay = Delay::fixed(Duration::from_micros(500));
        assert_eq!(scenario.up, [rate, delay]);
        assert_eq!((scenario.down, scenario.seed), (scenario.up, 3));
        assert_eq!(link(1, Duration::ZERO, "").unwrap().up, []);
    }

    #[test]
    fn each_cell_has_a_name_of_its_own() {
        let mut names: Vec<String> = cells(&Surroundings::default())
            .into_iter()
            .map(|cell| cell.name)
            .collect();
        assert_eq!(names.len(), 3 * 3 + 4 + 2);
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 3 * 3 + 4 + 2);
    }
}
