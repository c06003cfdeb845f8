//! `cargo xtask soak --hours H`: sessions in real time, idle and busy, and whether anything grows.
//!
//! A real server and a real client on loopback for each of five users, who do nothing, type, let a program flood the
//! terminal, leave and come back, and change networks. Memory, descriptors, wake-ups and processor time of both ends are
//! looked at all the while. What rises after the warm-up, by more than its noise, is a finding. In the end each
//! command has to have been run once and in order.

mod sample;
mod session;
mod slope;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use fulmar_platform::Poller;

use self::sample::Sample;
use self::session::{Habit, Place, Session};
use self::slope::Course;
use crate::ledger;
use crate::programs::built;
use crate::workspace::Workspace;

/// The table of the ledger.
const HEADING: &str = "## Endurance";

/// The part of the time that is not looked at: caches and buffers fill. Chosen by eye.
const WARM_UP: f64 = 0.2;

/// The measurements of each process in all. Chosen by eye.
const SAMPLES: u32 = 500;

/// The shortest time between two of them. Chosen by eye.
const INTERVAL_MIN: Duration = Duration::from_millis(500);

/// The figures: their names, and the rise from the first to the last part of the time that does not count, since
/// pages, and what others do on the machine, come in such steps. Chosen by eye.
const FIGURES: [(&str, f64); 4] = [
    ("memory, KiB", 64.0),
    ("descriptors", 0.5),
    ("wake-ups/s", 0.5),
    ("processor, %", 0.2),
];

/// Runs sessions for some time, looks at what they take, and enters into the ledger what rises.
#[derive(clap::Args)]
pub(crate) struct Soak {
    /// The time in hours, as 0.5
    #[arg(long)]
    hours: f64,
    /// The program, if it is not to be built from these sources
    #[arg(long)]
    program: Option<PathBuf>,
}

/// One end of a session, and what was seen of it.
struct Watched {
    name: String,
    pid: u32,
    seen: Vec<(f64, Sample)>,
}

impl Soak {
    /// Runs the sessions and prints the table.
    ///
    /// # Errors
    ///
    /// When a session fails, or a figure rises.
    pub(crate) fn run(&self, workspace: &Workspace) -> Result<()> {
        let whole = Duration::try_from_secs_f64(self.hours * 3600.0)?;
        ensure!(!whole.is_zero(), "no time was given");
        let home = tempfile::tempdir()?;
        let place = Place {
            program: match &self.program {
                Some(program) => program.canonicalize()?,
                None => built(workspace, "fulmar")?,
            },
            home: home.path().to_owned(),
        };
        let sessions = Habit::ALL.map(|habit| Session::start(&place, habit));
        let mut sessions = sessions.into_iter().collect::<Result<Vec<Session>>>()?;
        let watched = watch(&mut sessions, &place, whole)?;
        for session in sessions {
            let name = session.habit.name();
            let commands = session.end(&place)?;
            println!("{name}: {commands} commands, each run once and in order");
        }
        let rising = report(&watched);
        let [day, commit] = ledger::occasion(workspace)?;
        let found = if rising.is_empty() {
            "nothing rises".to_owned()
        } else {
            format!("rising: {}", rising.join(", "))
        };
        let minutes = format!("{:.0}", whole.as_secs_f64() / 60.0);
        ledger::enter(workspace, HEADING, &[day, commit, minutes, found.clone()])?;
        ensure!(rising.is_empty(), "{found}");
        Ok(())
    }
}

/// Lets the users act for that time, and looks at the processes meanwhile.
fn watch(sessions: &mut [Session], place: &Place, whole: Duration) -> Result<Vec<Watched>> {
    let mut watched: Vec<Watched> = sessions.iter().flat_map(ends).collect();
    let began = Instant::now();
    let interval = (whole / SAMPLES).max(INTERVAL_MIN);
    let mut look = began + whole.mul_f64(WARM_UP);
    let mut poller = Poller::new();
    while began.elapsed() < whole {
        let next = sessions.iter().map(Session::next).chain([look]).min();
        let wait = next.map(|next| next.saturating_duration_since(Instant::now()));
        poller.wait(wait, |registry| {
            for session in &*sessions {
                let terminal = session.terminal();
                registry.add((), terminal.master(), terminal.interest());
            }
        })?;
        for session in &mut *sessions {
            session.turn(place)?;
        }
        if Instant::now() >= look {
            look += interval;
            for end in &mut watched {
                let Some(sample) = Sample::of(end.pid) else {
                    bail!("{} has ended", end.name);
                };
                let hours = began.elapsed().as_secs_f64() / 3600.0;
                end.seen.push((hours, sample));
            }
        }
    }
    Ok(watched)
}

fn ends(session: &Session) -> Vec<Watched> {
    let name = session.habit.name();
    let end = |what: &str, pid| Watched {
        name: format!("{what} of {name}"),
        pid,
        seen: Vec::new(),
    };
    let client = session.client().map(|pid| end("client", pid));
    [end("server", session.server())]
        .into_iter()
        .chain(client)
        .collect()
}

/// Prints the table, and returns what rises.
fn report(watched: &[Watched]) -> Vec<String> {
    let mut rising = Vec::new();
    println!(
        "| process | figure | at first | at last | slope per hour | noise | |\n|---|---|---|---|---|---|---|"
    );
    for end in watched {
        for ((name, negligible), points) in FIGURES.iter().zip(points(&end.seen)) {
            let Some(course) = Course::of(&points) else {
                continue;
            };
            let rises = course.rises(*negligible);
            let process = &end.name;
            println!(
                "| {process} | {name} | {:.2} | {:.2} | {:+.3} | {:.3} | {} |",
                course.first,
                course.last,
                course.slope,
                course.noise,
                if rises { "rises" } else { "" }
            );
            if rises {
                rising.push(format!("{name} of the {process}"));
            }
        }
    }
    rising
}

/// Returns the measurements of each figure. Of what is counted, it is the rate between two of them.
fn points(seen: &[(f64, Sample)]) -> [Vec<(f64, f64)>; 4] {
    let of =
        |figure: fn(&Sample) -> f64| seen.iter().map(move |(at, sample)| (*at, figure(sample)));
    let rate = |figure: fn(&Sample) -> f64| {
        seen.windows(2).filter_map(move |pair| {
            let [(before, first), (at, second)] = pair else {
                return None;
            };
            let seconds = (at - before) * 3600.0;
            Some((*at, (figure(second) - figure(first)) / seconds))
        })
    };
    [
        of(|sample| sample.memory).collect(),
        of(|sample| sample.descriptors).collect(),
        rate(|sample| sample.wakes).collect(),
        rate(|sample| sample.seconds * 100.0).collect(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_becomes_a_rate() {
        let sample = |count: u32| Sample {
            memory: 100.0,
            descriptors: 4.0,
            wakes: f64::from(count) * 20.0,
            seconds: f64::from(count),
        };
        let seen: Vec<(f64, Sample)> = (0..3)
            .map(|count| (f64::from(count) / 360.0, sample(count)))
            .collect();
        let [memory, descriptors, wakes, processor] = points(&seen);
        assert_eq!((memory.len(), descriptors.len()), (3, 3));
        assert_eq!((wakes.len(), processor.len()), (2, 2));
        assert!((wakes[1].1 - 2.0).abs() < 1e-9, "{wakes:?}");
        assert!((processor[1].1 - 10.0).abs() < 1e-9, "{processor:?}");
    }
}
