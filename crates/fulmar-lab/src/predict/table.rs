//! The results of many trials, as a table and for machines.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::link::TestLink;
use super::predictor_kind::PredictorKind;
use super::recording::{ProgramGroup, Recording, RecordingSet};
use super::row::{PredictionRow, PredictionRows, RowSubject};
use super::score::Score;
use super::trial::{Plan, Trial};

/// All scores, by link, recording and predictor; seeds are added up.
#[derive(Debug)]
pub struct Results<'a> {
    recordings: &'a [Recording],
    links: Vec<TestLink>,
    kinds: Vec<PredictorKind>,
    seeds: u64,
    scores: BTreeMap<(TestLink, usize, PredictorKind), Score>,
    /// Trials in which not everything came before it was over.
    unfinished: usize,
}

/// The subject of a line of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Line {
    Recording(usize),
    Group(RecordingSet, ProgramGroup),
    All(RecordingSet),
}

impl<'a> Results<'a> {
    /// Adds up what came of a plan.
    pub fn of(plan: &Plan<'a>, trials: &[Trial]) -> Results<'a> {
        let mut scores: BTreeMap<(TestLink, usize, PredictorKind), Score> = BTreeMap::new();
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

    fn score(&self, link: TestLink, kind: PredictorKind, line: Line) -> Score {
        let mut sum = Score::default();
        for number in self.recordings_of(line) {
            if let Some(score) = self.scores.get(&(link, number, kind)) {
                sum.add(score);
            }
        }
        sum
    }

    fn recordings_of(&self, line: Line) -> impl Iterator<Item = usize> {
        let belongs = move |(number, recording): &(usize, &Recording)| match line {
            Line::Recording(one) => one == *number,
            Line::Group(set, group) => recording.is_counted_in(set) && recording.group() == group,
            Line::All(set) => recording.is_counted_in(set),
        };
        let recordings = self.recordings.iter().enumerate();
        recordings.filter(belongs).map(|(number, _)| number)
    }

    /// Lines about recordings, then about groups, then about sets.
    fn lines(&self) -> Vec<Line> {
        let counted = self.recordings.iter().filter(|one| !one.is_apart());
        let groups: BTreeSet<Line> = counted
            .clone()
            .map(|one| Line::Group(one.set, one.group()))
            .collect();
        let sets: BTreeSet<Line> = counted.map(|one| Line::All(one.set)).collect();
        let recordings = (0..self.recordings.len()).map(Line::Recording);
        recordings.chain(groups).chain(sets).collect()
    }

    fn name(&self, line: Line) -> String {
        match line {
            Line::Recording(number) => self.recordings[number].name.clone(),
            Line::Group(_, group) => group.name().to_owned(),
            Line::All(_) => "all".to_owned(),
        }
    }

    fn set(&self, line: Line) -> RecordingSet {
        match line {
            Line::Recording(number) => self.recordings[number].set,
            Line::Group(set, _) | Line::All(set) => set,
        }
    }

    /// Returns the table: for each link a line for each recording if `each` is set, for each group,
    /// and for all of a set; for each predictor the shares and times.
    pub fn table(&self, each: bool) -> String {
        let mut text = String::new();
        let mut lines = self.lines();
        lines.retain(|line| each || !matches!(line, Line::Recording(_)));
        let has_sets = lines
            .iter()
            .any(|line| self.set(*line) != self.set(lines[0]));
        for link in &self.links {
            let _ = writeln!(text, "{link}: instant %, wrong %, mean, p50, p90, p99 ms");
            for line in &lines {
                let name = if has_sets {
                    format!("{}: {}", self.set(*line).title(), self.name(*line))
                } else {
                    self.name(*line)
                };
                self.push_line(&mut text, *link, *line, &name);
            }
            text.push('\n');
        }
        if self.unfinished > 0 {
            let _ = writeln!(text, "{} trials were not over in time", self.unfinished);
        }
        text
    }

    fn push_line(&self, text: &mut String, link: TestLink, line: Line, name: &str) {
        for (number, kind) in self.kinds.iter().enumerate() {
            let score = self.score(link, *kind, line);
            let name = if number == 0 { name } else { "" };
            let _ = write!(
                text,
                "  {name:<36} {:<12} {:5.1} {:5.2}  {:6.1} {:6.1} {:6.1} {:6.1}",
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

    /// Returns the results for machines.
    pub fn rows(&self) -> PredictionRows {
        let mut rows = Vec::new();
        for link in &self.links {
            for line in self.lines() {
                rows.extend(self.kinds.iter().map(|kind| self.row(*link, line, *kind)));
            }
        }
        PredictionRows {
            seeds: self.seeds,
            unfinished: self.unfinished,
            rows,
        }
    }

    fn row(&self, link: TestLink, line: Line, kind: PredictorKind) -> PredictionRow {
        let of = match line {
            Line::Recording(_) => RowSubject::Recording,
            Line::Group(..) => RowSubject::Group,
            Line::All(_) => RowSubject::All,
        };
        let row = PredictionRow {
            link,
            set: self.set(line),
            of,
            name: self.name(line),
            predictor: kind,
            recordings: self.recordings_of(line).count(),
            ..PredictionRow::default()
        };
        row.with(&self.score(link, kind, line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Trace;

    fn recording(set: RecordingSet, name: &str) -> Recording {
        let trace = Trace::parse(b"0 SIZE 20 4\n50000 HOST 2\n$ \n").unwrap();
        Recording {
            set,
            ..Recording::new(name, trace, None)
        }
    }

    #[test]
    fn sets_are_added_up_by_themselves_and_what_is_apart_is_not() {
        let recordings = [
            recording(RecordingSet::First, "own-adversarial-sameprompt"),
            recording(RecordingSet::First, "own-bash-plain"),
            recording(RecordingSet::HeldOut, "own-bash-two"),
            recording(RecordingSet::HeldOut, "own-gdb"),
        ];
        let link: TestLink = "100".parse().unwrap();
        let plan = Plan {
            recordings: &recordings,
            links: vec![link],
            seeds: 1,
            kinds: vec![PredictorKind::None],
            leaks_only: false,
        };
        let trial = |recording| Trial {
            recording,
            link,
            seed: 1,
            scores: vec![Score {
                keys: 10_usize.pow(recording as u32),
                ..Score::default()
            }],
            is_whole: true,
        };
        let trials: Vec<Trial> = (0..recordings.len()).map(trial).collect();
        let rows = Results::of(&plan, &trials).rows().rows;
        let totals = rows.iter().filter(|row| row.of == RowSubject::All);
        let totals: Vec<_> = totals
            .map(|row| (row.set, row.recordings, row.keys))
            .collect();
        assert_eq!(
            totals,
            [
                (RecordingSet::First, 1, 10),
                (RecordingSet::HeldOut, 2, 1100)
            ]
        );
    }
}
