//! The results of many trials, as a table and for machines.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::group::Group;
use super::link::Link;
use super::predictor::Kind;
use super::recording::Recording;
use super::score::Score;
use super::trial::{Plan, Trial};

/// All scores, by link, recording and predictor; seeds are added up.
#[derive(Debug)]
pub struct Results<'a> {
    recordings: &'a [Recording],
    links: Vec<Link>,
    kinds: Vec<Kind>,
    seeds: u64,
    scores: BTreeMap<(Link, usize, Kind), Score>,
    /// Trials in which not everything came before it was over.
    unfinished: usize,
}

/// What a line of the table is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Line {
    Recording(usize),
    Group(Group),
    All,
}

impl<'a> Results<'a> {
    /// Adds up what came of a plan.
    pub fn of(plan: &Plan<'a>, trials: &[Trial]) -> Results<'a> {
        let mut scores: BTreeMap<(Link, usize, Kind), Score> = BTreeMap::new();
        for trial in trials {
            for (kind, score) in plan.kinds.iter().zip(&trial.scores) {
                let key = (trial.link, trial.recording, *kind);
                scores.entry(key).or_default().add(score);
            }
        }
        Results {
            recordings: plan.recordings,
            links: plan.links.clone(),
            kinds: plan.kinds.clone(),
            seeds: plan.seeds,
            scores,
            unfinished: trials.iter().filter(|trial| !trial.is_whole).count(),
        }
    }

    /// Returns the score over all recordings that are not apart.
    pub fn total(&self, link: Link, kind: Kind) -> Score {
        self.score(link, kind, Line::All)
    }

    /// Returns the score of one recording.
    pub fn of_recording(&self, link: Link, kind: Kind, recording: usize) -> Score {
        self.score(link, kind, Line::Recording(recording))
    }

    fn score(&self, link: Link, kind: Kind, line: Line) -> Score {
        let mut sum = Score::default();
        for (number, recording) in self.recordings.iter().enumerate() {
            let belongs = match line {
                Line::Recording(one) => one == number,
                Line::Group(group) => group == recording.group() && !recording.is_apart(),
                Line::All => !recording.is_apart(),
            };
            if let Some(score) = self.scores.get(&(link, number, kind)).filter(|_| belongs) {
                sum.add(score);
            }
        }
        sum
    }

    fn groups(&self) -> BTreeSet<Group> {
        let counted = self.recordings.iter().filter(|one| !one.is_apart());
        counted.map(Recording::group).collect()
    }

    fn name(&self, line: Line) -> &str {
        match line {
            Line::Recording(number) => &self.recordings[number].name,
            Line::Group(group) => group.name(),
            Line::All => "all",
        }
    }

    /// Returns the table: for each link a line for each recording if `each` is set, for each group,
    /// and for all; for each predictor the shares and times.
    pub fn table(&self, each: bool) -> String {
        let mut text = String::new();
        let mut lines: Vec<Line> = match each {
            true => (0..self.recordings.len()).map(Line::Recording).collect(),
            false => Vec::new(),
        };
        lines.extend(self.groups().into_iter().map(Line::Group));
        lines.push(Line::All);
        for link in &self.links {
            let _ = writeln!(text, "{link}: instant %, wrong %, mean, p50, p90, p99 ms");
            for line in &lines {
                self.push_line(&mut text, *link, *line);
            }
            text.push('\n');
        }
        if self.unfinished > 0 {
            let _ = writeln!(text, "{} trials were not over in time", self.unfinished);
        }
        text
    }

    fn push_line(&self, text: &mut String, link: Link, line: Line) {
        for (number, kind) in self.kinds.iter().enumerate() {
            let score = self.score(link, *kind, line);
            let name = if number == 0 { self.name(line) } else { "" };
            let _ = write!(
                text,
                "  {name:<28} {:<12} {:5.1} {:5.2}  {:6.1} {:6.1} {:6.1} {:6.1}",
                kind.name(),
                score.instant(),
                score.wrong(),
                score.mean(),
                score.quantile(0.5),
                score.quantile(0.9),
                score.quantile(0.99),
            );
            if number == 0 {
                let _ = write!(text, "   {} keys, {} seen", score.keys, score.waits.len());
            }
            if score.leaks.shown > 0 {
                let _ = write!(
                    text,
                    "   leaks {} of {}",
                    score.leaks.shown, score.leaks.keys
                );
            }
            text.push('\n');
        }
    }

    /// Returns the results for machines: an object with `seeds`, `unfinished` (trials in which not
    /// everything came) and `rows`. A row has `link` (`round_trip_ms`, `jitter_ms`, `loss_percent`),
    /// `of` (`recording`, `group` or `all`), `name`, `predictor`, `keys`, `with_effect`,
    /// `instant_percent`, `wrong_percent`, `mean_ms`, `p50_ms`, `p90_ms`, `p99_ms`, `secret_keys`, `leaks`.
    pub fn to_json(&self) -> Value {
        let recordings = (0..self.recordings.len()).map(Line::Recording);
        let groups = self.groups().into_iter().map(Line::Group);
        let lines: Vec<Line> = recordings.chain(groups).chain([Line::All]).collect();
        let mut rows = Vec::new();
        for link in &self.links {
            for line in &lines {
                rows.extend(self.kinds.iter().map(|kind| self.row(*link, *line, *kind)));
            }
        }
        json!({ "seeds": self.seeds, "unfinished": self.unfinished, "rows": rows })
    }

    fn row(&self, link: Link, line: Line, kind: Kind) -> Value {
        let score = self.score(link, kind, line);
        let of = match line {
            Line::Recording(_) => "recording",
            Line::Group(_) => "group",
            Line::All => "all",
        };
        json!({
            "link": {
                "round_trip_ms": link.round_trip,
                "jitter_ms": link.jitter,
                "loss_percent": link.loss,
            },
            "of": of,
            "name": self.name(line),
            "predictor": kind.name(),
            "keys": score.keys,
            "with_effect": score.waits.len(),
            "instant_percent": score.instant(),
            "wrong_percent": score.wrong(),
            "mean_ms": score.mean(),
            "p50_ms": score.quantile(0.5),
            "p90_ms": score.quantile(0.9),
            "p99_ms": score.quantile(0.99),
            "secret_keys": score.leaks.keys,
            "leaks": score.leaks.shown,
        })
    }
}
