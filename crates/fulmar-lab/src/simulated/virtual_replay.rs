//! A replay in virtual time, for as many seeds as one likes.

use std::ops::Range;

use anyhow::{Context as _, Result, ensure};
use fulmar_predict::PredictionMode;

use super::{Simulated, for_all};
use crate::experiment::LabSetup;
use crate::judge::{GroundTruth, RunVerdict};
use crate::replay::Replay;
use crate::scenario::Scenario;
use crate::trace::{LinkTraces, Trace};

/// A [`Replay`] in virtual time, with everything read that it needs.
pub struct VirtualReplay<'a> {
    replay: &'a Replay,
    traces: LinkTraces,
    recording: Trace,
    truth: GroundTruth,
    prediction: PredictionMode,
}

/// One seed's session, and what the user saw of it.
#[derive(Clone, Debug)]
pub struct VirtualRun {
    /// The session.
    pub run: Simulated,
    /// The verdict on it.
    pub verdict: RunVerdict,
}

impl<'a> VirtualReplay<'a> {
    /// Reads the recording.
    ///
    /// # Errors
    ///
    /// Where there is none, or the replay has a download beside it, which only a kernel can play.
    pub fn new(replay: &'a Replay, setup: &LabSetup) -> Result<Self> {
        ensure!(
            !replay.download,
            "a download is TCP's, which virtual time does not have"
        );
        let recording = Trace::read(&replay.find_recording(setup)?)?;
        Ok(Self {
            replay,
            traces: LinkTraces::of(setup.data.as_deref()),
            truth: GroundTruth::of(&recording),
            recording,
            prediction: PredictionMode::default(),
        })
    }

    /// Returns the replay by a client that shows nothing before the server has sent it.
    #[must_use]
    pub fn without_prediction(self) -> Self {
        Self {
            prediction: PredictionMode::Never,
            ..self
        }
    }

    /// Plays one seed.
    ///
    /// # Errors
    ///
    /// Where the scenario has no meaning or no session comes about.
    pub fn run(&self, seed: u64) -> Result<VirtualRun> {
        let scenario = Scenario::parse(&self.replay.scenario_of(seed), &self.traces)?;
        let Replay { typing, limits, .. } = *self.replay;
        let run = Simulated::run(
            &scenario,
            &self.recording,
            &self.truth,
            typing,
            limits,
            self.prediction,
        )?;
        let verdict = run.judge(&self.truth);
        Ok(VirtualRun {
            verdict: verdict.context("this run cannot be judged")?,
            run,
        })
    }

    /// Plays many seeds, on all processors, and returns what `keep` keeps of each, in their order.
    ///
    /// # Errors
    ///
    /// The first seed's that fails, with its number.
    pub fn run_all<T: Send>(
        &self,
        seeds: Range<u64>,
        keep: impl Fn(VirtualRun) -> T + Sync,
    ) -> Result<Vec<T>> {
        let seeds: Vec<u64> = seeds.collect();
        for_all(&seeds, |seed| {
            let run = self.run(*seed).with_context(|| format!("seed {seed}"))?;
            Ok(keep(run))
        })
    }
}
