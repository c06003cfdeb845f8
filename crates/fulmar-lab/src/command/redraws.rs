//! `fulmar-lab redraws`: counts frames with half a redraw.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use fulmar_testbed::median;

use super::DataOptions;
use crate::experiment::LabSetup;
use crate::instrument::collection::RecordingSet;
use crate::simulated::redraw::{CollectionRule, RedrawTally};
use crate::trace::Trace;

/// Says how many frames have half of what a program was drawing, by stock's rule of collecting output and by
/// ours.
///
/// The keys and writes of recordings go through both rules in virtual time. The table has, for each recording and for all
/// together, the frames, those of them that cut a burst of writes, the bytes of their datagrams, the median time for which
/// an answer to a key waits, and how many of our answers wait longer than a millisecond. No root is needed.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The round trip of the path, which decides how far apart frames are.
    #[arg(long, value_name = "TIME", default_value = "40ms", value_parser = humantime::parse_duration)]
    pub round_trip: Duration,
    /// Only recordings with one of these names.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub traces: Vec<String>,
    /// Other pauses in place of ours.
    #[command(flatten)]
    pub tried: TriedRule,
    /// The folders of recordings.
    #[command(flatten)]
    pub data: DataOptions,
}

/// The values of our rule that are to be different.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct TriedRule {
    /// The time without further output after which an echo leaves.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub echo_quiet: Option<Duration>,
    /// The time from the first change on after which any frame leaves.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub delay: Option<Duration>,
    /// The number of frames after a key that are its answer.
    #[arg(long, value_name = "NUMBER")]
    pub answer_frames: Option<u8>,
}

/// The folder of recordings of long output, beside those of typing.
const OUTPUT: &str = "output";

/// Prints the table.
///
/// # Errors
///
/// Where there is no such recording.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mut paths = paths(&arguments.data.setup()?)?;
    paths.retain(|path| arguments.traces.is_empty() || arguments.traces.contains(&name(path)));
    ensure!(!paths.is_empty(), "no such recording");
    let mut all = Row::new("all");
    println!("{HEAD}");
    for path in &paths {
        let row = Row::of(path, arguments.tried.rule(), arguments.round_trip)?;
        println!("{row}");
        all = all.and(row);
    }
    println!("{all}");
    Ok(ExitCode::SUCCESS)
}

/// Returns our own recordings, and those of others if there is a folder of them.
fn paths(setup: &LabSetup) -> Result<Vec<PathBuf>> {
    let mut paths = RecordingSet::Own.paths(setup)?;
    let output = LabSetup {
        recordings: setup.recordings.join(OUTPUT),
        ..setup.clone()
    };
    if output.recordings.is_dir() {
        paths.extend(RecordingSet::Own.paths(&output)?);
    }
    if setup.data.is_some() {
        paths.extend(RecordingSet::Others.paths(setup)?);
    }
    Ok(paths)
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

impl TriedRule {
    fn rule(&self) -> CollectionRule {
        let ours = CollectionRule::OURS;
        CollectionRule {
            echo_quiet: self.echo_quiet.unwrap_or(ours.echo_quiet),
            delay: self.delay.unwrap_or(ours.delay),
            answer_frames: self.answer_frames.unwrap_or(ours.answer_frames),
        }
    }
}

const HEAD: &str = "\
| recording | frames: stock, ours | half redraws: stock, ours | kB: stock, ours | bytes, ours to stock's | an answer waits, ms: stock, ours | over 1 ms: ours |
|---|---|---|---|---|---|---|";

/// A line of the table.
struct Row {
    name: String,
    stock: RedrawTally,
    ours: RedrawTally,
}

impl Row {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            stock: RedrawTally::default(),
            ours: RedrawTally::default(),
        }
    }

    fn of(path: &Path, ours: CollectionRule, round_trip: Duration) -> Result<Self> {
        let recording = Trace::read(path)?;
        let tally = |rule| {
            RedrawTally::of(&recording, rule, round_trip)
                .with_context(|| format!("playing {}", path.display()))
        };
        Ok(Self {
            name: name(path),
            stock: tally(CollectionRule::STOCK)?,
            ours: tally(ours)?,
        })
    }

    fn and(self, other: Self) -> Self {
        Self {
            name: self.name,
            stock: self.stock.and(other.stock),
            ours: self.ours.and(other.ours),
        }
    }
}

/// Returns how many of a hundred waits are longer than a millisecond.
fn late_percentage(waits: &[Duration]) -> f64 {
    let late = waits
        .iter()
        .filter(|wait| **wait > Duration::from_millis(1));
    100.0 * late.count() as f64 / waits.len().max(1) as f64
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, stock, ours } = self;
        let kilobytes = |tally: &RedrawTally| tally.bytes as f64 / 1e3;
        let wait = |tally: &RedrawTally| {
            let waits = tally.waits.iter().map(|wait| wait.as_secs_f64() * 1e3);
            median(waits).unwrap_or_default()
        };
        write!(
            f,
            "| {name} | {}, {} | {}, {} | {:.1}, {:.1} | {:.2} | {:.1}, {:.1} | {:.0} % |",
            stock.frames,
            ours.frames,
            stock.cuts,
            ours.cuts,
            kilobytes(stock),
            kilobytes(ours),
            kilobytes(ours) / kilobytes(stock),
            wait(stock),
            wait(ours),
            late_percentage(&ours.waits),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_tried_stays_as_it_is() {
        assert_eq!(TriedRule::default().rule(), CollectionRule::OURS);
        let tried = TriedRule {
            echo_quiet: Some(Duration::from_millis(1)),
            ..TriedRule::default()
        };
        let expected = CollectionRule {
            echo_quiet: Duration::from_millis(1),
            ..CollectionRule::OURS
        };
        assert_eq!(tried.rule(), expected);
    }

    #[test]
    fn a_row_has_both_rules_and_rows_add_up() {
        let tally = |frames, cuts, wait| RedrawTally {
            frames,
            cuts,
            bytes: 1000 * frames,
            waits: vec![Duration::from_millis(wait)],
        };
        let row = |name: &str| Row {
            stock: tally(10, 1, 8),
            ours: tally(15, 2, 2),
            ..Row::new(name)
        };
        let expected = "| x | 10, 15 | 1, 2 | 10.0, 15.0 | 1.50 | 8.0, 2.0 | 100 % |";
        assert_eq!(row("x").to_string(), expected);
        let early = Row {
            ours: tally(15, 2, 0),
            ..row("all")
        };
        let all = early.and(row("x")).to_string();
        assert_eq!(
            all,
            "| all | 20, 30 | 2, 4 | 20.0, 30.0 | 1.50 | 8.0, 1.0 | 50 % |"
        );
    }
}
