//! A session in virtual time, as the judge's search for effects sees it.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::recorded_truth::RecordedTruth;
use super::user_view::UserView;
use crate::judge::{DisplayedRun, KeyEffect};
use crate::stats::Observation;

/// A view of a session, with its truth.
pub(super) struct ViewedSession<'a> {
    pub(super) truth: &'a RecordedTruth,
    pub(super) view: &'a UserView<'a>,
}

impl ViewedSession<'_> {
    /// Returns how long a key waited for its effect; `None` for a key that has none.
    pub(super) fn wait(&self, key: usize) -> Option<Observation> {
        let effects = &self.truth.keys()[key].effects;
        let pressed = self.time(self.sample_of_key(key))?;
        let times = effects.iter().map(|effect| self.own_effect_at(effect, key));
        let waited = match times.clone().flatten().min() {
            Some(at) => Observation::After(at - pressed),
            None => Observation::Censored(self.view.end.saturating_sub(pressed)),
        };
        (!effects.is_empty()).then_some(waited)
    }
}

impl DisplayedRun for ViewedSession<'_> {
    type Position = usize;
    /// The number of the sample: its snapshot is at hand.
    type Part = usize;

    fn time(&self, sample: usize) -> Option<Duration> {
        self.view.moments.get(sample).map(|moment| moment.at)
    }

    fn sample_of_key(&self, key: usize) -> usize {
        self.view.moment_of(key)
    }

    /// The screen of the server's frame, where nothing is predicted.
    fn displayed(&self, sample: usize) -> Option<usize> {
        let moment = &self.view.moments[sample];
        let is_frame = moment.drawn.snapshot.is_same(&moment.frame.snapshot);
        is_frame.then_some(moment.frame.number)
    }

    fn span(&self, sample: usize) -> (usize, usize) {
        let moment = &self.view.moments[sample];
        (moment.frame.number, self.truth.reach(moment.typed))
    }

    fn written(&self, _: usize) -> Option<RangeInclusive<usize>> {
        None
    }

    fn ends(&self, effect: &KeyEffect<usize>) -> (usize, usize) {
        (effect.before, effect.after)
    }

    fn part(&self, _: &KeyEffect<usize>, sample: usize) -> usize {
        sample
    }

    fn is_like(&self, effect: &KeyEffect<usize>, sample: &usize, screen: usize) -> bool {
        let drawn = &self.view.moments[*sample].drawn.snapshot;
        drawn.agrees(self.truth.snapshot(screen), effect)
    }

    fn first_at_rest(&self, mut screens: impl Iterator<Item = usize>) -> Option<usize> {
        screens.next()
    }
}
