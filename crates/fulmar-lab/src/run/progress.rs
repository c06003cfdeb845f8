//! Shows a person how a plan is worked off.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

use super::plan::{PlannedRun, forecast, minutes};
use super::scheduler::RunObserver;
use crate::outcome::{Outcome, RunEnd, RunId};
use crate::stats::Summary;

/// A line for each run that is over; and at a terminal, below them, one line that says what is under
/// way and what is left. Without a terminal each run also has a line when it begins.
pub struct ProgressDisplay<W> {
    output: W,
    /// The width of the terminal, if it is one.
    columns: Option<usize>,
    jobs: usize,
    total: usize,
    over: usize,
    /// The times that runs really took, by all but their seed.
    took: BTreeMap<RunId, f64>,
}

impl<W: Write> ProgressDisplay<W> {
    /// Looks on at so many runs, of which so many are made side by side.
    pub fn new(output: W, columns: Option<usize>, total: usize, jobs: usize) -> Self {
        Self {
            output,
            columns,
            jobs,
            total,
            over: 0,
            took: BTreeMap::new(),
        }
    }

    /// Writes a line above the one that changes.
    pub fn say(&mut self, line: &str) {
        let clear = if self.columns.is_some() {
            "\r\x1b[K"
        } else {
            ""
        };
        self.write(&format!("{clear}{line}\n"));
    }

    /// Takes the line that changes away.
    pub fn end(&mut self) {
        if self.columns.is_some() {
            self.write("\r\x1b[K");
        }
    }

    fn write(&mut self, text: &str) {
        // Who looks on may be gone; the runs are not the worse for it.
        let _ = self.output.write_all(text.as_bytes());
        let _ = self.output.flush();
    }

    fn left(&self, under_way: &[(&PlannedRun, Duration)], waiting: &[&PlannedRun]) -> Duration {
        let takes = |run: &PlannedRun| {
            let took = self.took.get(&run.id.without_seed());
            took.and_then(|took| Duration::try_from_secs_f64(*took).ok())
                .unwrap_or(run.takes)
        };
        let rest: Vec<Duration> = under_way
            .iter()
            .map(|(run, since)| takes(run).saturating_sub(*since))
            .collect();
        let waiting: Vec<PlannedRun> = waiting
            .iter()
            .map(|run| PlannedRun {
                takes: takes(run),
                ..(*run).clone()
            })
            .collect();
        forecast(&waiting, &rest, self.jobs)
    }
}

impl<W: Write> RunObserver for ProgressDisplay<W> {
    fn begins(&mut self, run: &PlannedRun) {
        if self.columns.is_none() {
            self.say(&format!("begins: {}", named(run)));
        }
    }

    fn is_over(&mut self, run: &PlannedRun, outcome: &Outcome) {
        self.over += 1;
        self.took.insert(run.id.without_seed(), outcome.facts.took);
        let (over, total) = (self.over, self.total);
        let took = minutes(Duration::from_secs_f64(outcome.facts.took.max(0.0)));
        let line = format!(
            "[{over}/{total}] {} in {took}: {}",
            named(run),
            told(outcome)
        );
        self.say(&line);
    }

    fn looks(&mut self, under_way: &[(&PlannedRun, Duration)], waiting: &[&PlannedRun]) {
        let Some(columns) = self.columns else { return };
        let runs: Vec<String> = under_way
            .iter()
            .map(|(run, since)| format!("{} {}", named(run), minutes(*since)))
            .collect();
        let line = format!(
            "{} of {} over, about {} left; under way: {}",
            self.over,
            self.total,
            minutes(self.left(under_way, waiting)),
            runs.join(", ")
        );
        // A line that is too long would scroll.
        let line: String = line.chars().take(columns.saturating_sub(1)).collect();
        self.write(&format!("\r\x1b[K{line}"));
    }
}

fn named(run: &PlannedRun) -> String {
    let id = &run.id;
    format!("{} {} {} {}", id.experiment, id.cell, id.peer, id.seed)
}

fn told(outcome: &Outcome) -> String {
    let first_line = |why: &str| why.lines().next().unwrap_or_default().to_owned();
    match &outcome.end {
        RunEnd::Complete => {}
        RunEnd::Failed(why) => return format!("FAILED, {}", first_line(why)),
        RunEnd::NotMeasured(why) => return format!("not measured, {}", first_line(why)),
    }
    match &outcome.verdict {
        None => "done".to_owned(),
        Some(verdict) => {
            let own = Summary::of(&verdict.own());
            let median = own.median.map_or("never".to_owned(), |median| {
                format!("{:.1} ms", median.as_secs_f64() * 1e3)
            });
            format!("{} keys, median {median}", verdict.keys.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::outcome as kept;

    fn run(seed: u64) -> PlannedRun {
        PlannedRun {
            id: RunId {
                experiment: "lan".to_owned(),
                cell: "20ms".to_owned(),
                peer: "mosh".to_owned(),
                seed,
            },
            cell: 0,
            peer: "mosh".to_owned(),
            takes: Duration::from_secs(60),
            is_alone: false,
        }
    }

    fn over(progress: &mut ProgressDisplay<&mut Vec<u8>>, seed: u64, took: f64) {
        let run = run(seed);
        let mut outcome = kept(run.id.clone(), Err(anyhow::anyhow!("no answer\nat all")));
        outcome.facts.took = took;
        progress.is_over(&run, &outcome);
    }

    #[test]
    fn without_a_terminal_there_are_plain_lines_only() {
        let mut output = Vec::new();
        let mut progress = ProgressDisplay::new(&mut output, None, 3, 1);
        progress.begins(&run(1));
        progress.looks(&[(&run(1), Duration::ZERO)], &[]);
        over(&mut progress, 1, 12.0);
        progress.end();
        let expected =
            "begins: lan 20ms mosh 1\n[1/3] lan 20ms mosh 1 in 12 s: FAILED, no answer\n";
        assert_eq!(String::from_utf8_lossy(&output), expected);
    }

    #[test]
    fn a_terminal_has_one_line_that_changes_and_learns_how_long_runs_take() {
        let mut output = Vec::new();
        let mut progress = ProgressDisplay::new(&mut output, Some(60), 4, 1);
        progress.looks(&[(&run(1), Duration::from_secs(20))], &[&run(2), &run(3)]);
        over(&mut progress, 1, 30.0);
        progress.looks(&[(&run(2), Duration::from_secs(20))], &[&run(3)]);
        progress.end();
        let text = String::from_utf8_lossy(&output).into_owned();
        assert!(!text.contains("begins"), "{text}");
        assert!(text.contains("0 of 4 over, about 3 min left"), "{text}");
        assert!(text.contains("1 of 4 over, about 40 s left"), "{text}");
        let lines = text
            .split(['\r', '\n'])
            .map(|line| line.replace("\x1b[K", ""));
        assert!(lines.map(|line| line.len()).max() < Some(70), "{text}");
        assert!(text.ends_with("\r\x1b[K"), "{text}");
    }
}
