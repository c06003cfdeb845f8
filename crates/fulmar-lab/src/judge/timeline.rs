//! The timeline of a run: what was typed, written and shown at each moment, and which true screens
//! the display can be at.

use super::display::DisplayHistory;
use super::ground_truth::{GroundTruth, OutputPosition};
use std::collections::VecDeque;
use std::time::Duration;

/// Everything that the judge knows of a run.
#[derive(Debug)]
pub(crate) struct RunTimeline<'a> {
    pub(crate) truth: &'a GroundTruth,
    pub(crate) display: &'a DisplayHistory,
    /// In order of time.
    pub(crate) samples: Vec<TimelineSample>,
    /// True if the run has stamps.
    pub(crate) is_stamped: bool,
    /// True if what the display shows may be a guess of the peer's.
    pub(crate) may_be_predicted: bool,
    /// The beginning of the play.
    pub(crate) began: Duration,
    /// The end of the observation.
    pub(crate) end: Duration,
}

/// One sample of it: right after something was typed, written or shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimelineSample {
    pub(crate) at: Duration,
    /// The number of keys that were typed.
    pub(crate) typed: usize,
    /// The number of the frame that the display shows.
    pub(crate) frame: usize,
    /// The least position of the display: the host's output in it goes at least this far.
    pub(crate) lower: OutputPosition,
    /// The end of what the host had written so long ago that the display may have it.
    pub(crate) written: OutputPosition,
    /// The end of what the keys that were typed can lead to.
    pub(crate) upper: OutputPosition,
    /// The newest true state that the display is known to have shown as a whole.
    pub(crate) state: usize,
    /// True if the display shows that state.
    pub(crate) is_true: bool,
}

/// The events of a run, apart from what the display shows by itself.
#[derive(Debug)]
pub(crate) struct RunEvents {
    /// The time at which each key was typed, and up to where the truth goes when it was.
    pub(crate) typed: Vec<(Duration, OutputPosition)>,
    /// The times from which on the display may have the host's output up to a position.
    pub(crate) written: Vec<(Duration, OutputPosition)>,
    /// True if what the display shows may be a guess of the peer's.
    pub(crate) may_be_predicted: bool,
    /// The beginning of the truth; what the display showed before it is not looked at.
    pub(crate) began: Duration,
}

impl<'a> RunTimeline<'a> {
    pub(crate) fn new(
        truth: &'a GroundTruth,
        display: &'a DisplayHistory,
        events: &RunEvents,
        end: Duration,
    ) -> Self {
        let mut tracker = ScreenTracker::new(truth, display, events);
        let mut samples = Vec::new();
        let (mut typed, mut written, mut frames) = (
            events.typed.iter().peekable(),
            events.written.iter().peekable(),
            display.frames().iter().enumerate().skip(1).peekable(),
        );
        loop {
            let times = [
                typed.peek().map(|(at, _)| *at),
                written.peek().map(|(at, _)| *at),
                frames.peek().map(|(_, frame)| frame.at),
            ];
            let Some(next) = times.iter().flatten().min().copied() else {
                break;
            };
            // What happens at one time is taken in the order of cause and effect.
            if times[0] == Some(next) {
                let reach = typed.next().map(|(_, reach)| *reach);
                tracker.type_key(reach.unwrap_or_default());
            } else if times[1] == Some(next) {
                let position = written.next().map(|(_, position)| *position);
                tracker.write(position.unwrap_or_default());
            } else if let Some((number, _)) = frames.next() {
                tracker.show(number);
            }
            tracker.now.at = next;
            samples.push(tracker.now);
        }
        Self {
            truth,
            is_stamped: display.is_stamped(),
            may_be_predicted: events.may_be_predicted,
            display,
            samples,
            began: events.began,
            end,
        }
    }

    /// Returns the first sample at which the display showed a true screen. Before it, it shows
    /// whatever a session begins with.
    pub(crate) fn settled(&self) -> Option<usize> {
        self.samples.iter().position(|sample| sample.is_true)
    }
}

/// Follows the display through the true screens.
///
/// The display shows true screens in their order, though not all of them. So when it changes to
/// one, that is the first such screen from the newest one on that it is known to have shown: one
/// and the same screen may come again and again. Where nothing is predicted the host's output is then
/// known to be there. Two things push it on without a change: a stamp, and, where a run has none,
/// that it shows just what the host had written one delay of the path before.
struct ScreenTracker<'a> {
    truth: &'a GroundTruth,
    display: &'a DisplayHistory,
    began: Duration,
    is_stamped: bool,
    may_be_predicted: bool,
    now: TimelineSample,
    /// States that the display has shown, in their order, of which the host has not written all:
    /// they were predicted.
    ahead: VecDeque<usize>,
}

impl<'a> ScreenTracker<'a> {
    fn new(truth: &'a GroundTruth, display: &'a DisplayHistory, events: &RunEvents) -> Self {
        Self {
            truth,
            display,
            began: events.began,
            is_stamped: display.is_stamped(),
            may_be_predicted: events.may_be_predicted,
            now: TimelineSample {
                at: events.began,
                typed: 0,
                frame: 0,
                lower: OutputPosition(0),
                written: OutputPosition(0),
                upper: truth.reach(0),
                state: 0,
                is_true: false,
            },
            ahead: VecDeque::new(),
        }
    }

    fn type_key(&mut self, reach: OutputPosition) {
        self.now.typed += 1;
        self.now.upper = self.now.upper.max(reach);
    }

    fn write(&mut self, position: OutputPosition) {
        self.now.written = position;
        self.catch_up();
    }

    fn show(&mut self, frame: usize) {
        self.now.frame = frame;
        let frame = self.display.frames()[frame];
        if frame.at < self.began {
            return;
        }
        if let Some(stamp) = frame.stamp {
            let stamped = OutputPosition(stamp.0).min(self.truth.end());
            self.now.lower = self.now.lower.max(stamped);
            self.now.upper = self.now.upper.max(stamped);
        }
        let from = self.now.state.max(self.truth.first_state(self.now.lower));
        let to = self.truth.state(self.now.upper);
        self.now.state = from;
        let first = self.truth.first_alike(frame.hash, from, to);
        self.now.is_true = first.is_some();
        if let Some(first) = first {
            self.now.state = first;
            if !self.may_be_predicted {
                self.now.lower = self.now.lower.max(self.truth.states()[first].from);
            }
            self.ahead.push_back(first);
        }
        self.catch_up();
    }

    /// Without stamps: what was shown is known to be there once it has been written.
    fn catch_up(&mut self) {
        let frame = self.display.frames()[self.now.frame];
        if self.is_stamped || frame.at < self.began {
            self.ahead.clear();
            return;
        }
        let written = self.truth.state(self.now.written);
        let earliest = self.now.state.max(self.truth.first_state(self.now.written));
        let is_shown = |state: &usize| self.truth.states()[*state].hash == frame.hash;
        if let Some(shown) = (earliest..=written).rev().find(is_shown) {
            self.now.state = shown;
            self.now.is_true = true;
            self.ahead.push_back(shown);
        }
        while let Some(shown) = self.ahead.front().filter(|shown| **shown <= written) {
            self.now.lower = self.now.lower.max(self.truth.states()[*shown].from);
            self.ahead.pop_front();
        }
    }
}
