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
        let scenario = link.scenario(1);
        let session = PredictionSession::run(&scenario, &recording.trace, &recording.truth, None)?;
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
}
