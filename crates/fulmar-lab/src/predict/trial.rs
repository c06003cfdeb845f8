//! Trials: a recording, a link and a seed, with some predictors.

use anyhow::Result;

use super::leak::leaks;
use super::link::TestLink;
use super::predictor_kind::PredictorKind;
use super::recorded_user::Peer;
use super::recording::Recording;
use super::score::{Score, Scored};
use super::session::PredictionSession;
use crate::simulated::for_all;

/// The recordings, links, seeds and predictors to try.
#[derive(Debug)]
pub struct Plan<'a> {
    /// The recordings.
    pub recordings: &'a [Recording],
    /// The links.
    pub links: Vec<TestLink>,
    /// The number of seeds, from 1.
    pub seeds: u64,
    /// The predictors.
    pub kinds: Vec<PredictorKind>,
    /// Only what is shown of secrets is of interest.
    pub leaks_only: bool,
}

/// One of it, and what came of it.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The number of the recording.
    pub recording: usize,
    /// The link.
    pub link: TestLink,
    /// The seed.
    pub seed: u64,
    /// The score of each predictor, in the plan's order.
    pub scores: Vec<Score>,
    /// True if everything that the programs wrote had come when it was over.
    pub is_whole: bool,
}

impl Plan<'_> {
    /// Tries everything, on all processors, and returns it in a fixed order: links, seeds, recordings.
    ///
    /// # Errors
    ///
    /// The first that no session came about for.
    pub fn run(&self) -> Result<Vec<Trial>> {
        let mut wanted = Vec::new();
        for link in &self.links {
            for seed in 1..=self.seeds {
                wanted.extend((0..self.recordings.len()).map(|recording| (recording, *link, seed)));
            }
        }
        for_all(&wanted, |(recording, link, seed)| {
            self.one(*recording, *link, *seed)
        })
    }

    fn one(&self, recording: usize, link: TestLink, seed: u64) -> Result<Trial> {
        let (number, recording) = (recording, &self.recordings[recording]);
        let truth = &recording.truth;
        let run = |watch| PredictionSession::run(recording, link, seed, watch);
        // One session serves all with the same server: what is beside a client does not care whether that predicts.
        let watch = |peer| {
            let kinds = self.kinds.iter().filter(|kind| kind.peer() == peer);
            let kind = kinds.max_by_key(|kind| kind.is_client());
            kind.and_then(|kind| kind.watch())
        };
        let session = run(watch(Peer::Stock))?;
        let native = watch(Peer::Own).map(|watch| run(Some(watch)));
        let native = native.transpose()?;
        let score = |kind: &PredictorKind| {
            let own = native.as_ref().filter(|_| kind.peer() == Peer::Own);
            let view = kind.view(own.unwrap_or(&session));
            if self.leaks_only {
                Score {
                    leaks: leaks(truth, &view),
                    ..Score::default()
                }
            } else {
                Scored::of(truth, &view).score
            }
        };
        Ok(Trial {
            recording: number,
            link,
            seed,
            scores: self.kinds.iter().map(score).collect(),
            is_whole: are_whole(&session, native.as_ref()),
        })
    }
}

/// Returns true if everything had come in both sessions; a trial need not have a native one.
fn are_whole(session: &PredictionSession, native: Option<&PredictionSession>) -> bool {
    session.is_whole && native.is_none_or(|native| native.is_whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Trace;

    #[test]
    fn a_trial_is_whole_if_its_native_session_is_too() {
        let session = |is_whole| {
            let trace = Trace::parse(b"0 SIZE 20 4\n50000 HOST 2\n$ \n").unwrap();
            let recording = Recording::new("test", trace, None);
            let link = "100".parse().unwrap();
            PredictionSession {
                is_whole,
                ..PredictionSession::run(&recording, link, 1, None).unwrap()
            }
        };
        let [whole, cut] = [true, false].map(session);
        assert!(are_whole(&whole, None) && are_whole(&whole, Some(&whole)));
        assert!(!are_whole(&whole, Some(&cut)), "the native one is cut");
        assert!(!are_whole(&cut, None) && !are_whole(&cut, Some(&whole)));
    }
}
