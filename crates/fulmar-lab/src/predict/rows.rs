//! The results of many trials, for machines and as a table.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::link::TestLink;
use super::predictor_kind::PredictorKind;
use super::recording::{ProgramGroup, Recording, RecordingSet};
use super::score::Score;
use super::trial::{Plan, Trial};

/// The file beside the outcomes of real runs that holds what `predict --json` has printed.
pub const PREDICTIONS: &str = "predict.json";

/// The results of a plan.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PredictionRows {
    /// The number of seeds that were added up.
    pub seeds: u64,
    /// Trials in which not everything came before they were over.
    pub unfinished: usize,
    /// A row for each link, predictor, and recording, group or set.
    pub rows: Vec<PredictionRow>,
}

/// The success of a predictor over a link.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PredictionRow {
    /// The link.
    pub link: TestLink,
    /// The set that all recordings of it belong to.
    pub set: RecordingSet,
    /// The subject of the row.
    pub of: RowSubject,
    /// The recording's or the group's name; `all` for the whole set.
    pub name: String,
    /// The predictor.
    pub predictor: PredictorKind,
    /// The number of recordings that were added up.
    pub recordings: usize,
    /// Keys.
    pub keys: usize,
    /// Keys that have an effect; the shares and times below are theirs, unless they say otherwise.
    pub with_effect: usize,
    /// Those whose effect was there at once.
    pub instant_percent: f64,
    /// Keys that were wrong, of all keys.
    pub wrong_percent: f64,
    /// The mean wait.
    pub mean_ms: f64,
    /// The wait that half of them did not exceed; and nine of ten, and 99 of 100.
    pub p50_ms: f64,
    /// See `p50_ms`.
    pub p90_ms: f64,
    /// See `p50_ms`.
    pub p99_ms: f64,
    /// Keys of secrets.
    pub secret_keys: usize,
    /// The number of them that were shown.
    pub leaks: usize,
}

/// The subject of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowSubject {
    /// One recording.
    #[default]
    Recording,
    /// The recordings of a set with one kind of programs.
    Group,
    /// A whole set, but for recordings that are apart.
    All,
}

impl PredictionRows {
    /// Adds up what came of a plan.
    pub fn of(plan: &Plan<'_>, trials: &[Trial]) -> PredictionRows {
        let mut sums: BTreeMap<(TestLink, usize), Vec<Score>> = BTreeMap::new();
        for trial in trials {
            let sum = sums.entry((trial.link, trial.recording)).or_default();
            sum.resize_with(trial.scores.len(), Score::default);
            for (sum, score) in sum.iter_mut().zip(&trial.scores) {
                sum.add(score);
            }
        }
        let mut rows = Vec::new();
        for link in &plan.links {
            for (subject, recordings) in subjects(plan.recordings) {
                let scores = recordings.iter();
                let scores = scores.filter_map(|recording| sums.get(&(*link, *recording)));
                for (number, predictor) in plan.kinds.iter().enumerate() {
                    let mut sum = Score::default();
                    scores.clone().for_each(|scores| sum.add(&scores[number]));
                    let (link, predictor) = (*link, *predictor);
                    rows.push(PredictionRow {
                        link,
                        predictor,
                        ..subject.with(&sum)
                    });
                }
            }
        }
        PredictionRows {
            seeds: plan.seeds,
            unfinished: trials.iter().filter(|trial| !trial.is_whole).count(),
            rows,
        }
    }

    /// Returns the table: for each link a line for each recording if `each` is set, for each group,
    /// and for all of a set; for each predictor the shares and times.
    pub fn table(&self, each: bool) -> String {
        let is_shown = |row: &&PredictionRow| each || row.of != RowSubject::Recording;
        let mut sets: Vec<RecordingSet> = self
            .rows
            .iter()
            .filter(is_shown)
            .map(|row| row.set)
            .collect();
        sets.dedup();
        let mut text = String::new();
        for of_link in self.rows.chunk_by(|row, next| row.link == next.link) {
            let link = of_link[0].link;
            let _ = writeln!(text, "{link}: instant %, wrong %, mean, p50, p90, p99 ms");
            let shown: Vec<&PredictionRow> = of_link.iter().filter(is_shown).collect();
            for line in shown.chunk_by(|row, next| row.subject() == next.subject()) {
                push_line(&mut text, line, sets.len() > 1);
            }
            text.push('\n');
        }
        if self.unfinished > 0 {
            let _ = writeln!(text, "{} trials were not over in time", self.unfinished);
        }
        text
    }
}

/// Returns the subjects, as rows without figures, and the numbers of the recordings of each: first recordings, then
/// groups, then sets. Recordings that are apart are in no group and in no set.
fn subjects(recordings: &[Recording]) -> Vec<(PredictionRow, Vec<usize>)> {
    let mut subjects = Vec::new();
    let mut groups: BTreeMap<(RecordingSet, ProgramGroup), Vec<usize>> = BTreeMap::new();
    let mut sets: BTreeMap<RecordingSet, Vec<usize>> = BTreeMap::new();
    let subject = |of, set, name: &str, recordings: Vec<usize>| {
        let row = PredictionRow {
            of,
            set,
            name: name.to_owned(),
            recordings: recordings.len(),
            ..PredictionRow::default()
        };
        (row, recordings)
    };
    for (number, recording) in recordings.iter().enumerate() {
        let (set, name) = (recording.set, &recording.name);
        subjects.push(subject(RowSubject::Recording, set, name, vec![number]));
        if !recording.is_apart() {
            groups
                .entry((set, recording.group()))
                .or_default()
                .push(number);
            sets.entry(set).or_default().push(number);
        }
    }
    let groups = groups.into_iter();
    subjects
        .extend(groups.map(|((set, group), of)| subject(RowSubject::Group, set, group.name(), of)));
    let sets = sets.into_iter();
    subjects.extend(sets.map(|(set, of)| subject(RowSubject::All, set, "all", of)));
    subjects
}

/// Appends the rows about one subject over one link, with the name of its set before its own if there are several.
fn push_line(text: &mut String, rows: &[&PredictionRow], has_sets: bool) {
    for (number, row) in rows.iter().enumerate() {
        let name = match number {
            0 if has_sets => format!("{}: {}", row.set.title(), row.name),
            0 => row.name.clone(),
            _ => String::new(),
        };
        let _ = write!(
            text,
            "  {name:<36} {:<12} {:5.1} {:5.2}  {:6.1} {:6.1} {:6.1} {:6.1}",
            row.predictor.name(),
            row.instant_percent,
            row.wrong_percent,
            row.mean_ms,
            row.p50_ms,
            row.p90_ms,
            row.p99_ms,
        );
        if number == 0 {
            let _ = write!(text, "   {} keys, {} seen", row.keys, row.with_effect);
        }
        if row.leaks > 0 {
            let _ = write!(text, "   leaks {} of {}", row.leaks, row.secret_keys);
        }
        text.push('\n');
    }
}

impl PredictionRow {
    /// Returns what it is about.
    fn subject(&self) -> (RowSubject, RecordingSet, &str) {
        (self.of, self.set, &self.name)
    }

    /// Returns the row with the figures of a score.
    fn with(&self, score: &Score) -> PredictionRow {
        PredictionRow {
            keys: score.keys,
            with_effect: score.waits.len(),
            instant_percent: score.instant(),
            wrong_percent: score.wrong(),
            mean_ms: score.mean(),
            p50_ms: score.quantile(0.5),
            p90_ms: score.quantile(0.9),
            p99_ms: score.quantile(0.99),
            secret_keys: score.leaks.keys,
            leaks: score.leaks.shown,
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::leak::Leaks;
    use crate::stats::Observation;
    use crate::trace::Trace;
    use std::time::Duration;

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
        let rows = PredictionRows::of(&plan, &trials).rows;
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

    fn score(waits: &[u64], wrong: usize, leaks: usize) -> Score {
        let wait = |millis: &u64| Observation::After(Duration::from_millis(*millis));
        Score {
            keys: 10,
            wrong,
            waits: waits.iter().map(wait).collect(),
            leaks: Leaks {
                keys: 4,
                shown: leaks,
            },
        }
    }

    /// Rows over two links and seeds about three recordings, of which one is apart.
    fn rows(recordings: &[Recording]) -> PredictionRows {
        let plan = Plan {
            recordings,
            links: ["100", "50:30:5"]
                .map(|link| link.parse().unwrap())
                .to_vec(),
            seeds: 2,
            kinds: vec![PredictorKind::None, PredictorKind::Everything],
            leaks_only: false,
        };
        let mut trials = Vec::new();
        for link in &plan.links {
            for seed in [1, 2] {
                trials.extend((0..recordings.len()).map(|recording| Trial {
                    recording,
                    link: *link,
                    seed,
                    scores: vec![
                        score(&[100, 200 * seed], 0, 0),
                        score(&[0, 300], 1, recording),
                    ],
                    is_whole: (seed, recording) != (2, 1),
                }));
            }
        }
        PredictionRows::of(&plan, &trials)
    }

    #[test]
    fn a_table_has_a_line_for_each_subject_and_link() {
        let recordings = [
            recording(RecordingSet::First, "own-adversarial-sameprompt"),
            recording(RecordingSet::First, "own-bash-plain"),
        ];
        let text = rows(&recordings).table(true);
        let expected = "\
100 ms: instant %, wrong %, mean, p50, p90, p99 ms
  own-adversarial-sameprompt           none           0.0  0.00   200.0  100.0  400.0  400.0   20 keys, 4 seen
                                       everything    50.0 10.00   150.0    0.0  300.0  300.0
  own-bash-plain                       none           0.0  0.00   200.0  100.0  400.0  400.0   20 keys, 4 seen
                                       everything    50.0 10.00   150.0    0.0  300.0  300.0   leaks 2 of 8
  shells                               none           0.0  0.00   200.0  100.0  400.0  400.0   20 keys, 4 seen
                                       everything    50.0 10.00   150.0    0.0  300.0  300.0   leaks 2 of 8
  all                                  none           0.0  0.00   200.0  100.0  400.0  400.0   20 keys, 4 seen
                                       everything    50.0 10.00   150.0    0.0  300.0  300.0   leaks 2 of 8

50 ms, jitter 30 ms, loss 5 %: instant %, wrong %, mean, p50, p90, p99 ms
";
        assert_eq!(&text[..expected.len()], expected);
        assert!(
            text.ends_with("\n\n2 trials were not over in time\n"),
            "{text}"
        );
    }

    #[test]
    fn sets_are_named_where_there_are_several() {
        let recordings = [
            recording(RecordingSet::First, "own-bash-plain"),
            recording(RecordingSet::HeldOut, "own-gdb"),
        ];
        let lines = |recordings: &[Recording]| {
            let text = rows(recordings).table(false);
            let names = text.lines().filter_map(|line| line.get(2..38));
            let names = names.map(str::trim).filter(|name| !name.is_empty());
            names.take(5).map(str::to_owned).collect::<Vec<_>>()
        };
        let both = lines(&recordings);
        let expected = [
            "tuning, older: shells",
            "held out: interpreters",
            "tuning, older: all",
            "held out: all",
        ];
        assert_eq!(both[1..], expected);
        assert_eq!(lines(&recordings[..1])[1..3], ["shells", "all"]);
    }

    #[test]
    fn rows_are_about_recordings_then_groups_then_sets() {
        let recordings = [
            recording(RecordingSet::HeldOut, "own-gdb"),
            recording(RecordingSet::First, "own-vim-one"),
            recording(RecordingSet::First, "own-vim-two"),
        ];
        let rows = rows(&recordings).rows;
        let subjects = rows.iter().take(12).step_by(2);
        let subjects: Vec<_> = subjects
            .map(|row| (row.of, row.name.as_str(), row.recordings, row.keys))
            .collect();
        let expected = [
            (RowSubject::Recording, "own-gdb", 1, 20),
            (RowSubject::Recording, "own-vim-one", 1, 20),
            (RowSubject::Recording, "own-vim-two", 1, 20),
            (RowSubject::Group, "editors", 2, 40),
            (RowSubject::Group, "interpreters", 1, 20),
            (RowSubject::All, "all", 2, 40),
        ];
        assert_eq!(subjects, expected);
    }
}
