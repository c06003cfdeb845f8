//! The renderings of one output that a display may follow, and the one that it is nearest to.

use super::display::DisplayHistory;
use super::ground_truth::{GroundTruth, OutputPosition};
use super::timeline::{RunEvents, RunTimeline, TimelineSample};
use super::wrong_interval::{WRONG_FROM, WrongInterval, WrongIntervals, WrongPlaces};
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

    /// Returns the earliest of the times that are found for a key in each rendering that the display may follow behind
    /// its answer; `single` is what [`wrongs`](Self::wrongs) has found.
    ///
    /// The rendering without an alternate screen counts only where the display was nearer to it: one that is about to
    /// put a screen back, or to clear it, looks like it for a moment.
    pub(crate) fn earliest(
        &self,
        number: usize,
        single: &BTreeSet<usize>,
        find: impl Fn(&RunTimeline<'a>) -> Option<Duration>,
    ) -> Option<Duration> {
        let truth = self.timelines[0].truth;
        let answered = truth.keys()[number].answered().unwrap_or_default();
        let follows_all = single.contains(&truth.leavings(answered));
        let followed = if follows_all { self.timelines.len() } else { 1 };
        self.timelines.iter().take(followed).filter_map(find).min()
    }

    /// Returns the cells in which the last frame differs from a true screen.
    pub(crate) fn differences_at_end(&self, position: OutputPosition) -> usize {
        let timelines = self.timelines.iter();
        let differences = timelines.map(|one| one.differences_at_end(position));
        differences.min().unwrap_or(0)
    }

    /// Returns everything that was wrong in the rendering that the display was nearest to, in the order in which it
    /// began; and behind which leavings of the alternate screen, counted from 1, it was that of a terminal without one,
    /// with 0 for what is before the first.
    pub(crate) fn wrongs(&self) -> (Vec<WrongInterval>, BTreeSet<usize>) {
        let Some(settled) = self.settled() else {
            return (Vec::new(), BTreeSet::new());
        };
        let own = &self.timelines[0];
        let timelines = self.timelines.iter();
        let mut places: Vec<_> = timelines
            .map(|timeline| WrongPlaces::new(timeline, settled))
            .collect();
        let mut wrongs = WrongIntervals::new(own.began);
        let mut single = SingleScreens::default();
        for number in settled..own.samples.len() {
            for of_rendering in &mut places {
                of_rendering.pass(number);
            }
            let distances = places.iter().enumerate();
            let nearest = distances.min_by_key(|(_, places)| places.wrong().len());
            if let Some((rendering, places)) = nearest {
                let sample = &own.samples[number];
                wrongs.pass_unnamed(sample, places.wrong());
                let left = own.truth.leavings(sample.lower);
                single.pass((rendering != 0).then_some(left), sample);
            }
        }
        (wrongs.finish(own.end), single.finish(own.end))
    }
}

/// Finds the times that a display was nearer to what a terminal without an alternate screen shows, for
/// [`WRONG_FROM`] or longer, by the number of times that a program had left the alternate screen.
#[derive(Debug, Default)]
struct SingleScreens {
    /// The number of leavings that the display has behind it, and since when.
    open: Option<(usize, Duration)>,
    leavings: BTreeSet<usize>,
}

impl SingleScreens {
    /// Takes in a sample: how many leavings the display has behind it, if it is nearer to that other rendering.
    fn pass(&mut self, left: Option<usize>, sample: &TimelineSample) {
        self.note(sample.at);
        let since = self.open.filter(|(open, _)| left == Some(*open));
        self.open = left.map(|left| since.unwrap_or((left, sample.at)));
    }

    fn note(&mut self, now: Duration) {
        if let Some((left, since)) = self.open
            && now.saturating_sub(since) >= WRONG_FROM
        {
            self.leavings.insert(left);
        }
    }

    fn finish(mut self, end: Duration) -> BTreeSet<usize> {
        self.note(end);
        self.leavings
    }
}
