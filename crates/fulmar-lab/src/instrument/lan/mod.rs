//! Measures the cost of a remote shell by itself, where the network costs next to nothing.
//!
//! | what | how | figures |
//! |---|---|---|
//! | echo | a recording whose host echoes at once, typed in closed loop | `echo`, `link` (UDP, measured before), `cost`: the difference of the medians |
//! | flood | `yes`, or `cat` of many lines, in a shell behind 100 Mbit/s, or behind 2 Mbit/s with a queue of 4 s; Ctrl-C after two seconds | `interrupt_to_prompt`, and `interrupt_to_answer` of a command typed then |
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

use super::cell;
use crate::experiment::{Cell, LabSetup, Work};
use crate::scenario::Scenario;
use crate::trace::LinkTraces;
pub use echo::EchoCost;
pub(in crate::instrument) use echo::echoed;
pub use flood::{FloodInterrupt, FloodSource};
pub use idle::IdleTraffic;
pub use login::LoginTime;
pub use start::StartTime;

/// The round trips of a local network, and of a town, in milliseconds.
const NEAR: [u64; 3] = [0, 1, 20];

/// The round trips over which the start of a session is timed, in milliseconds.
const FAR: [u64; 3] = [20, 100, 300];

/// The round trips over which logins are timed, in milliseconds.
const LOGINS: [u64; 4] = [0, 20, 100, 300];

/// The time for which a session is quiet before what it sends is counted. Chosen by eye: longer than any
/// answer of a login.
const QUIET: Duration = Duration::from_secs(10);

/// The time for which it is quiet in addition where pauses are counted, so that they are as long as they become.
///
/// Source: docs/protocol.md §13.8: after 3, 3, 6, 9 and 12 s.
const PAUSES_GROWN: Duration = Duration::from_secs(45);

/// The round trip of the session in which nothing happens.
const IDLE: Duration = Duration::from_millis(20);

/// Returns the cells of the experiment. The times that they take are seconds that were seen, for what is not planned.
pub fn cells(setup: &LabSetup) -> Vec<Cell> {
    let choose = |few, usual| if setup.is_quick { few } else { usual };
    let times = choose(1, 3);
    let mut cells = Vec::new();
    for millis in NEAR {
        let round_trip = Duration::from_millis(millis);
        let keys = choose(50, 150);
        cells.push(Cell {
            peers: UNPREDICTED.map(str::to_owned).to_vec(),
            ..alone(
                format!("echo-{millis}ms"),
                format!("echo, round trip {millis} ms"),
                Duration::from_millis(4000 + 160 * keys as u64),
                EchoCost { round_trip, keys },
            )
        });
        for (name, source) in FLOODS {
            cells.push(alone(
                format!("flood-{name}-{millis}ms"),
                format!("Ctrl-C in a flood of {name}, round trip {millis} ms"),
                Duration::from_secs(4 + 4 * times as u64),
                FloodInterrupt {
                    round_trip,
                    link: flood::FAST,
                    source,
                    times,
                },
            ));
        }
    }
    for (name, source) in FLOODS {
        cells.push(alone(
            format!("flood-{name}-deep"),
            format!("Ctrl-C in a flood of {name} behind a queue of 4 s, round trip 100 ms"),
            Duration::from_secs(10 + 14 * times as u64),
            FloodInterrupt {
                round_trip: Duration::from_millis(100),
                link: flood::DEEP,
                source,
                times,
            },
        ));
    }
    cells.push(alone(
        "start",
        "time to a prompt over 20, 100 and 300 ms",
        Duration::from_secs(18 * times as u64),
        StartTime {
            round_trips: FAR.to_vec(),
            times,
        },
    ));
    for millis in LOGINS {
        let round_trip = Duration::from_millis(millis);
        cells.push(alone(
            format!("login-{millis}ms"),
            format!("a login as users make it, round trip {millis} ms"),
            // Up to 14 round trips each, three of them a round, and a round that is not counted.
            3 * (times as u32 + 1) * (Duration::from_millis(700) + 14 * round_trip),
            LoginTime { round_trip, times },
        ));
    }
    let time = Duration::from_secs(choose(20, 60) as u64);
    let quiet = QUIET + PAUSES_GROWN;
    let idle = IdleTraffic { quiet, time };
    let takes = quiet + time + Duration::from_secs(5);
    let title = format!(
        "a session in which nothing happens, round trip {} ms",
        IDLE.as_millis()
    );
    cells.push(cell("idle", title, &PEERS, takes, idle));
    cells
}

/// The programs that flood, by name.
const FLOODS: [(&str, FloodSource); 2] = [("yes", FloodSource::Yes), ("cat", FloodSource::Cat)];

/// The peers as found.
const PEERS: [&str; 3] = ["ssh", "mosh", "fulmar"];

/// The same, with nothing predicted: an echo itself is measured.
const UNPREDICTED: [&str; 3] = ["ssh", "mosh-n", "fulmar-n"];

/// Returns a cell whose figures are of the size of what the machine does beside it.
fn alone(
    name: impl Into<String>,
    title: impl Into<String>,
    takes: Duration,
    work: impl Work + 'static,
) -> Cell {
    Cell {
        is_alone: true,
        ..cell(name, title, &PEERS, takes, work)
    }
}

/// Returns a time as a parameter says it.
pub(in crate::instrument) fn in_millis(time: Duration) -> String {
    format!("{} ms", time.as_millis())
}

/// Returns a link with this round trip, on which something else happens before.
pub(in crate::instrument) fn link(
    seed: u64,
    round_trip: Duration,
    before: &str,
) -> Result<Scenario> {
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
        let scenario = link(3, Duration::from_millis(1), flood::FAST).unwrap();
        let rate = Rate::bits(100_000_000, Queue::bytes(256_000));
        let delay = Delay::fixed(Duration::from_micros(500));
        assert_eq!(scenario.up, [rate, delay]);
        assert_eq!((scenario.down, scenario.seed), (scenario.up, 3));
        assert_eq!(link(1, Duration::ZERO, "").unwrap().up, []);
    }

    #[test]
    fn each_cell_has_a_name_of_its_own() {
        let mut names: Vec<String> = cells(&LabSetup::default())
            .into_iter()
            .map(|cell| cell.name)
            .collect();
        assert_eq!(names.len(), 3 * 3 + 2 + 4 + 2);
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 3 * 3 + 2 + 4 + 2);
    }
}
