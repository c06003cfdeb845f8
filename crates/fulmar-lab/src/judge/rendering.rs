//! The renderings of one output that a display may follow, and the one that it is nearest to.

use super::display::DisplayHistory;
use super::ground_truth::{GroundTruth, OutputPosition};
use super::timeline::{RunEvents, RunTimeline, TimelineSample};
use super::wrong_interval::{WRONG_OVER, WrongInterval, WrongIntervals, WrongPlaces};
use std::collections::BTreeSet;
use std::time::Duration;

/// The timelines of a run, one for each rendering: that of the recording, and that of a terminal without an alternate
/// screen where the two differ.
///
/// They have the same samples, but for what each says of the truth.
#[derive(Debug)]
pub(crate) struct Renderings<'a> {
    timelines: Vec<RunTimeline<'a>>,
}

impl<'a> Renderings<'a> {
    pub(crate) fn of(
        truth: &'a GroundTruth,
        display: &'a DisplayHistory,
        events: &RunEvents,
        end: Duration,
    ) -> Self {
        let renderings = truth.renderings().into_iter();
        Self {
            timelines: renderings
                .map(|truth| RunTimeline::new(truth, display, events, end))
                .collect(),
        }
    }

    /// Returns the first sample at which the display showed a screen that is true in any of them.
    pub(crate) fn settled(&self) -> Option<usize> {
        self.timelines.iter().filter_map(RunTimeline::settled).min()
    }

    /// Returns the end of the observation.
    pub(crate) fn end(&self) -> Duration {
        self.timelines[0].end
    }

    /// Returns the earliest of the times that are found in each.
    pub(crate) fn earliest(
        &self,
        find: impl Fn(&RunTimeline<'a>) -> Option<Duration>,
    ) -> Option<Duration> {
        self.timelines.iter().filter_map(find).min()
    }

    /// Returns the cells in which the last frame differs from a true screen.
    pub(crate) fn differences_at_end(&self, position: OutputPosition) -> usize {
        let timelines = self.timelines.iter();
        let differences = timelines.map(|one| one.differences_at_end(position));
        differences.min().unwrap_or(0)
    }

    /// Returns everything that was wrong in the rendering that the display was nearest to, in the order in which it
    /// began, and how many screens were not put back.
    pub(crate) fn wrongs(&self) -> (Vec<WrongInterval>, usize) {
        let Some(settled) = self.settled() else {
            return (Vec::new(), 0);
        };
        let own = &self.timelines[0];
        let timelines = self.timelines.iter();
        let mut places: Vec<_> = timelines
            .map(|timeline| WrongPlaces::new(timeline, settled))
            .collect();
        let mut wrongs = WrongIntervals::new(own.began);
        let mut covered = CoveredScreens::default();
        for number in settled..own.samples.len() {
            for of_rendering in &mut places {
                of_rendering.pass(number);
            }
            let distances = places.iter().enumerate();
            let nearest = distances.min_by_key(|(_, places)| places.wrong().len());
            if let Some((rendering, places)) = nearest {
                let sample = &own.samples[number];
                wrongs.pass(places.wrong(), sample);
                let left = own.truth.leavings(sample.lower);
                covered.pass((rendering != 0).then_some(left), sample);
            }
        }
        (wrongs.finish(own.end), covered.finish(own.end))
    }
}

/// Counts the screens that were not put back: the times that a program left the alternate screen, and the display was
/// nearer to what a terminal without one shows, for longer than [`WRONG_OVER`].
#[derive(Debug, Default)]
struct CoveredScreens {
    /// The number of the leaving behind which the display is, and since when.
    open: Option<(usize, Duration)>,
    leavings: BTreeSet<usize>,
}

impl CoveredScreens {
    /// Takes in a sample: how many leavings the display has behind it, if it is nearer to that other rendering.
    fn pass(&mut self, left: Option<usize>, sample: &TimelineSample) {
        self.note(sample.at);
        // Before the first one, an alternate screen is shown that was not blank at first.
        let left = left.filter(|left| *left > 0);
        let since = self.open.filter(|(open, _)| left == Some(*open));
        self.open = left.map(|left| since.unwrap_or((left, sample.at)));
    }

    fn note(&mut self, now: Duration) {
        if let Some((left, since)) = self.open
            && now.saturating_sub(since) > WRONG_OVER
        {
            self.leavings.insert(left);
        }
    }

    fn finish(mut self, end: Duration) -> usize {
        self.note(end);
        self.leavings.len()
    }
}
