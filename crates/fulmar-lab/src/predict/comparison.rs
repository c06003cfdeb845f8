//! The model of stock's predictor beside the real one.

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use super::link::TestLink;
use super::predictor_kind::PredictorKind;
use super::recording::Recording;
use super::rendered::judged;
use super::session::PredictionSession;
use crate::judge::{GroundTruth, RunVerdict};
use crate::outcome::Outcome;
use crate::stats::{AT_ONCE, share_within};

/// A model that differs by more, in points of percent, is none.
///
/// Source: docs/prediction.md §10.
const AGREES_WITHIN: f64 = 2.0;

/// The verdicts of the judge of real runs on both, recording by recording.
#[derive(Debug)]
pub struct Comparison {
    lines: Vec<Line>,
}

#[derive(Debug)]
struct Line {
    recording: String,
    keys: usize,
    real: Shares,
    model: Shares,
}

/// Shares of keys in percent.
#[derive(Clone, Copy, Debug)]
struct Shares {
    at_once: f64,
    wrong: f64,
}

impl Comparison {
    /// Compares each recording that has a real run over this link in the folder `real`.
    ///
    /// # Errors
    ///
    /// Where there is none, or one cannot be read.
    pub fn of(recordings: &[Recording], link: TestLink, real: &Path) -> Result<Comparison> {
        let mut lines = Vec::new();
        for recording in recordings {
            let file = real.join(format!("{}.json", recording.name));
            if file.is_file() {
                let reading = || format!("reading {}", file.display());
                let text = fs::read_to_string(&file).with_context(reading)?;
                let outcome: Outcome = serde_json::from_str(&text).with_context(reading)?;
                let verdict = outcome
                    .verdict
                    .context("nobody typed")
                    .with_context(reading)?;
                lines.push(Line::of(recording, link, &verdict)?);
            }
        }
        ensure!(!lines.is_empty(), "{} has no real run", real.display());
        Ok(Comparison { lines })
    }
}

impl Line {
    fn of(recording: &Recording, link: TestLink, real: &RunVerdict) -> Result<Line> {
        let truth = GroundTruth::of(&recording.trace);
        let session = PredictionSession::run(recording, link, 1, None)?;
        let model = judged(
            recording,
            &truth,
            &session,
            &PredictorKind::Stock.view(&session),
        )?;
        Ok(Line {
            recording: recording.name.clone(),
            keys: model.keys.len(),
            real: Shares::of(real),
            model: Shares::of(&model),
        })
    }

    fn difference(&self) -> f64 {
        self.model.at_once - self.real.at_once
    }
}

impl Shares {
    fn of(verdict: &RunVerdict) -> Shares {
        Shares {
            at_once: 100.0 * share_within(&verdict.own(), AT_ONCE).unwrap_or_default(),
            wrong: 100.0 * verdict.wrong_share(),
        }
    }
}

impl fmt::Display for Comparison {
    /// A table in Markdown, and a sentence.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| recording | keys | at once, real | model | points | wrong, real | model |\n\
             |---|---|---|---|---|---|---|"
        )?;
        for line in &self.lines {
            writeln!(
                f,
                "| {} | {} | {:.1} | {:.1} | {:+.1} | {:.2} | {:.2} |",
                line.recording,
                line.keys,
                line.real.at_once,
                line.model.at_once,
                line.difference(),
                line.real.wrong,
                line.model.wrong,
            )?;
        }
        let agree = self.lines.iter();
        let agree = agree.filter(|line| line.difference().abs() <= AGREES_WITHIN);
        let (agree, all) = (agree.count(), self.lines.len());
        writeln!(
            f,
            "\n{agree} of {all} recordings agree within {AGREES_WITHIN} points."
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::KeyVerdict;
    use crate::stats::Observation;
    use crate::testing;
    use crate::trace::Trace;
    use std::time::Duration;

    #[test]
    fn two_points_agree_and_more_do_not() {
        let line = |recording: &str, real, model| Line {
            recording: recording.to_owned(),
            keys: 9,
            real: Shares {
                at_once: real,
                wrong: 0.5,
            },
            model: Shares {
                at_once: model,
                wrong: 0.25,
            },
        };
        let comparison = Comparison {
            lines: vec![line("own-a", 70.0, 72.0), line("own-b", 70.0, 67.9)],
        };
        let text = comparison.to_string();
        assert!(
            text.contains("| own-a | 9 | 70.0 | 72.0 | +2.0 | 0.50 | 0.25 |\n"),
            "{text}"
        );
        assert!(
            text.ends_with("\n1 of 2 recordings agree within 2 points.\n"),
            "{text}"
        );
    }

    fn verdict() -> RunVerdict {
        let wait = |own: u64, wrong| KeyVerdict {
            typed: Duration::ZERO,
            own: Some(Observation::After(Duration::from_millis(own))),
            whole: None,
            first_output: Observation::After(Duration::ZERO),
            wrong,
        };
        testing::verdict([wait(5, 0), wait(6, 0), wait(0, 2), wait(100, 0)])
    }

    #[test]
    fn shares_are_of_keys_that_are_there_at_once_and_of_those_that_are_wrong() {
        let shares = Shares::of(&verdict());
        assert_eq!((shares.at_once, shares.wrong), (50.0, 25.0));
    }

    /// The comparison of two recordings with real runs in a folder, of which the first has this verdict.
    fn compared(real: Option<Option<RunVerdict>>) -> Result<Comparison> {
        let folder = tempfile::tempdir().unwrap();
        if let Some(verdict) = real {
            let outcome = Outcome {
                verdict,
                ..testing::outcome("mosh", 1)
            };
            let text = serde_json::to_string(&outcome).unwrap();
            fs::write(folder.path().join("own-a.json"), text).unwrap();
        }
        let trace = b"0 SIZE 20 4\n0 HOST 2\n$ \n1000000 USER 1\na\n1001000 HOST 1\na\n";
        let recording = |name| Recording::new(name, Trace::parse(trace).unwrap(), None);
        let recordings = ["own-a", "own-b"].map(recording);
        Comparison::of(&recordings, "100".parse().unwrap(), folder.path())
    }

    #[test]
    fn only_recordings_with_a_real_run_are_compared() {
        let none = compared(None).unwrap_err().to_string();
        assert!(none.ends_with("has no real run"), "{none}");
        let one = compared(Some(Some(verdict()))).unwrap();
        let names: Vec<&str> = one.lines.iter().map(|line| &*line.recording).collect();
        assert_eq!((names, one.lines[0].keys), (vec!["own-a"], 1));
        // Stock's model shows nothing before the first echo.
        assert_eq!(
            (one.lines[0].real.at_once, one.lines[0].model.at_once),
            (50.0, 0.0)
        );
    }

    #[test]
    fn a_real_run_in_which_nobody_typed_is_an_error() {
        let error = format!("{:#}", compared(Some(None)).unwrap_err());
        assert!(error.ends_with("own-a.json: nobody typed"), "{error}");
    }
}
