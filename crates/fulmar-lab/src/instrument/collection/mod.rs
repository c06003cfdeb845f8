//! Measures how long output should wait for more of it (figure 3 of the Mosh paper).
//!
//! A frame that leaves at the first write of an answer leaves the rest of it behind, for a whole pause
//! between frames. One that waits for the rest delays the first. [`CollectionModel`] says what each interval from 0.1
//! to 100 ms makes of recorded writes: the mean wait of a write, and how many frames leave.
//!
//! Our rule is a point in the same plot. It is taken from our server itself, which carries the recording in
//! virtual time to a user in open loop, with whatever else it sends: a write has waited until the
//! first frame that left after it.
//!
//! # Figures
//!
//! Peer `model`: over the times of the recordings. Peer `fulmar`: `delay` and `frames` are those of our rule, and the
//! others are the model's over the writes of the very sessions that our rule was taken from.
//!
//! Series: `delay_by_interval` and `frames_by_interval` (s; ms, frames), `delay_by_frames` (frames; ms), and `rule`, the point
//! of our rule in the last one.

mod model;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};

use super::cell;
use crate::experiment::{Cell, LabSetup, Measured, Work};
use crate::judge::GroundTruth;
use crate::scenario::Scenario;
use crate::simulated::{PredictionMode, Simulated};
use crate::trace::{LinkTraces, Trace};
use crate::typing::{Limits, TypingLoop};
pub use model::{CollectionModel, FrameTally, pause};

/// Round trips that make a pause of 20, 100 and 250 ms between frames. The paper's figure has the last.
const ROUND_TRIPS: [u64; 3] = [40, 200, 500];

/// So many intervals in each power of ten.
const PER_DECADE: i32 = 20;

/// The interval that the paper chose.
const CHOSEN: Duration = Duration::from_millis(8);

/// A whole recording is typed.
const LIMITS: Limits = Limits {
    keys: usize::MAX,
    time: Duration::from_secs(24 * 3600),
    patience: Duration::from_secs(30),
    set_up: Duration::from_secs(30),
    pause_max: None,
};

/// The measurement over some recordings, with one round trip.
#[derive(Clone, Debug)]
pub struct Collection {
    /// The recordings.
    pub recordings: RecordingSet,
    /// The round trip, from which the pause between frames follows.
    pub round_trip: Duration,
}

/// The origin of the recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordingSet {
    /// Ours.
    Own,
    /// Those of the folder of data that are not ours.
    Others,
}

/// Returns the cells of the experiment.
pub fn cells(setup: &LabSetup) -> Vec<Cell> {
    let mut sources = vec![(RecordingSet::Own, "own", "our recordings")];
    if setup.data.is_some() {
        sources.push((RecordingSet::Others, "others", "the published recordings"));
    }
    let mut cells = Vec::new();
    for (recordings, name, title) in sources {
        for millis in ROUND_TRIPS {
            let round_trip = Duration::from_millis(millis);
            let pause = pause(round_trip).as_millis();
            let title = format!("{title}, round trip {millis} ms: frames {pause} ms apart");
            let work = Collection {
                recordings,
                round_trip,
            };
            let takes = Duration::from_secs(20);
            cells.push(Cell {
                // They compute all the time: what is timed beside them would wait for a core.
                is_alone: true,
                ..cell(
                    format!("{name}-{millis}ms"),
                    title,
                    &["model", "fulmar"],
                    takes,
                    work,
                )
            });
        }
    }
    cells
}

impl Work for Collection {
    fn takes(&self, peer: &str) -> Option<Duration> {
        (peer == "model").then_some(Duration::from_secs(1))
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        let pause = pause(self.round_trip).as_millis();
        vec![
            ("round trip", format!("{} ms", self.round_trip.as_millis())),
            ("pause between frames", format!("{pause} ms")),
            (
                "intervals",
                "0.1 to 100 ms, 20 in each power of ten".to_owned(),
            ),
        ]
    }

    fn measure(&self, peer: &str, _seed: u64, setup: &LabSetup) -> Result<Measured> {
        let paths = self.recordings.paths(setup)?;
        let mut measured = Measured {
            recording: Some(names(&paths)),
            ..Measured::default()
        };
        let writes = match peer {
            "model" => paths.iter().map(|path| writes_of(path)).collect(),
            "fulmar" => self.simulate(&paths, &mut measured),
            _ => bail!("only “model” and “fulmar” say when a frame leaves"),
        };
        self.sweep(&writes?, &mut measured);
        Ok(measured)
    }
}

impl Collection {
    /// Runs our server on all recordings, notes what its rule does, and returns when the hosts wrote.
    fn simulate(&self, paths: &[PathBuf], measured: &mut Measured) -> Result<Vec<Vec<Duration>>> {
        let text = format!("both delay {}us", self.round_trip.as_micros() / 2);
        let scenario = Scenario::parse(&text, &LinkTraces::none())?;
        let mut rule = FrameTally::default();
        let mut sent = 0;
        let mut all = Vec::new();
        for path in paths {
            let recording = Trace::read(path)?;
            let truth = GroundTruth::of(&recording);
            let run = Simulated::run(
                &scenario,
                &recording,
                &truth,
                TypingLoop::Open,
                LIMITS,
                PredictionMode::default(),
            )
            .with_context(|| format!("playing {}", path.display()))?;
            rule = rule.and(tally(&run));
            sent += run.frames.len();
            all.push(run.host_side.host().map(|(at, _)| at).collect());
        }
        measured.scenario = scenario.text;
        measured.typing = Some("open".to_owned());
        let point = (rule.frames as f64, rule.mean_ms());
        measured.put("delay", point.1, "ms");
        measured.put("frames", point.0, "frames");
        measured.put("sent_in_all", sent as f64, "frames");
        measured.put_series("rule", [point]);
        Ok(all)
    }

    /// Notes what the model makes of all intervals.
    fn sweep(&self, recordings: &[Vec<Duration>], measured: &mut Measured) {
        let pause = pause(self.round_trip);
        let tally = |interval| {
            let model = CollectionModel { interval, pause };
            let tallies = recordings.iter().map(|writes| model.tally(writes));
            tallies.fold(FrameTally::default(), FrameTally::and)
        };
        let curve: Vec<(Duration, FrameTally)> = intervals().map(|at| (at, tally(at))).collect();
        let mut add = |name: &str, point: fn(f64, FrameTally) -> (f64, f64)| {
            let points = curve
                .iter()
                .map(|(at, tally)| point(at.as_secs_f64(), *tally));
            measured.put_series(name, points);
        };
        add("delay_by_interval", |at, tally| (at, tally.mean_ms()));
        add("frames_by_interval", |at, tally| (at, tally.frames as f64));
        add("delay_by_frames", |_, tally| {
            (tally.frames as f64, tally.mean_ms())
        });
        let chosen = tally(CHOSEN);
        measured.put("writes", chosen.writes as f64, "writes");
        measured.put("delay_at_8ms", chosen.mean_ms(), "ms");
        measured.put("frames_at_8ms", chosen.frames as f64, "frames");
        let best = curve.iter().min_by_key(|(_, tally)| tally.waited);
        if let Some((interval, tally)) = best {
            measured.put_ms("best_interval", *interval);
            measured.put("delay_at_best", tally.mean_ms(), "ms");
        }
    }
}

/// Returns what the server's rule made of the host's writes.
fn tally(run: &Simulated) -> FrameTally {
    let mut tally = FrameTally::default();
    let mut end = 0;
    let mut writes = run
        .host_side
        .host()
        .map(|(at, bytes)| {
            end += bytes.len();
            (at, end)
        })
        .peekable();
    for frame in run.frames.iter().filter(|frame| frame.difference_bytes > 0) {
        let mut with = Vec::new();
        while let Some((at, _)) = writes.next_if(|(_, end)| *end <= frame.written) {
            with.push(at);
        }
        if !with.is_empty() {
            tally.add(&with, frame.at);
        }
    }
    tally
}

/// From 0.1 to 100 ms, evenly on a scale of powers.
fn intervals() -> impl Iterator<Item = Duration> {
    let exponent = |step: i32| f64::from(step) / f64::from(PER_DECADE) - 4.0;
    (0..=3 * PER_DECADE).map(move |step| Duration::from_secs_f64(10_f64.powf(exponent(step))))
}

impl RecordingSet {
    /// Returns the files, in order of their names.
    pub(crate) fn paths(self, setup: &LabSetup) -> Result<Vec<PathBuf>> {
        let folder = match self {
            Self::Own => setup.recordings.clone(),
            Self::Others => {
                let data = setup.data.as_ref();
                data.context("no folder of data is named")?
                    .join("key-traces")
            }
        };
        let reading = || format!("reading {}", folder.display());
        let entries = std::fs::read_dir(&folder).with_context(reading)?;
        let entries = entries.map(|entry| Ok(entry?.path()));
        let mut paths: Vec<PathBuf> = entries
            .collect::<std::io::Result<_>>()
            .with_context(reading)?;
        paths.retain(|path| path.is_file() && self.has(path));
        ensure!(!paths.is_empty(), "no recording in {}", folder.display());
        paths.sort();
        Ok(paths)
    }

    fn has(self, path: &Path) -> bool {
        let name = path.file_name().and_then(|name| name.to_str());
        let is_recording = path.extension().is_none();
        let is_own = name.is_some_and(|name| name.starts_with("own-"));
        is_recording && is_own == (self == Self::Own)
    }
}

/// Returns the times at which the host of a recording wrote.
fn writes_of(path: &Path) -> Result<Vec<Duration>> {
    Ok(Trace::read(path)?.host().map(|(at, _)| at).collect())
}

fn names(paths: &[PathBuf]) -> String {
    let names = paths.iter().filter_map(|path| path.file_name()?.to_str());
    names.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
