//! Measures the time until a key's right effect was on the screen.

use super::recorded_truth::{RecordedEffect, RecordedTruth};
use super::user_view::{UserView, ViewSample};
use crate::judge::{KeyEffect, LOOK_BACK_MAX};
use crate::stats::Observation;

/// Returns how long a key waited for its effect; `None` for a key that has none.
pub(super) fn wait(truth: &RecordedTruth, view: &UserView<'_>, key: usize) -> Option<Observation> {
    let effect = truth.keys()[key].effect.as_ref()?;
    let typed = view.moment_of(key);
    let pressed = view.moments.get(typed)?.at;
    let search = Search {
        truth,
        view,
        effect,
        typed,
    };
    let later = typed..view.moments.len();
    let first = later.into_iter().find(|number| search.is_shown(*number));
    Some(match first {
        Some(number) => Observation::After(view.moments[number].at - pressed),
        None => Observation::Censored(view.end.saturating_sub(pressed)),
    })
}

struct Search<'a> {
    truth: &'a RecordedTruth,
    view: &'a UserView<'a>,
    effect: &'a RecordedEffect,
    typed: usize,
}

impl Search<'_> {
    /// Returns true if the effect is to be seen at a moment: the display agrees there with the truth where
    /// the effect is complete, or at any later screen that the keys typed so far can lead to.
    fn is_shown(&self, number: usize) -> bool {
        let moment = &self.view.moments[number];
        let part = &self.effect.part;
        let from = moment.frame.number.max(part.after);
        let to = self.truth.reach(moment.typed);
        if !self.agrees_with_any(moment, part, from, to) {
            return self.shows_first_line(moment);
        }
        // A screen that still stands as it stood before two keys that cancel each other shows neither.
        let is_ahead = moment.frame.number < part.after;
        let is_untouched = moment.drawn.snapshot.agrees(&moment.frame.snapshot, part);
        !(is_ahead && is_untouched) || self.position(number) >= part.after
    }

    fn shows_first_line(&self, moment: &ViewSample<'_>) -> bool {
        let Some((part, snapshot)) = &self.effect.first_line else {
            return false;
        };
        // Either the server has sent it by itself, or it is predicted.
        let is_sent = moment.frame.number > part.before;
        moment.drawn.snapshot.agrees(snapshot, part)
            && (is_sent || !moment.drawn.snapshot.agrees(&moment.frame.snapshot, part))
    }

    fn agrees_with_any(
        &self,
        moment: &ViewSample<'_>,
        part: &KeyEffect<usize>,
        from: usize,
        to: usize,
    ) -> bool {
        (from..=to).any(|screen| {
            moment
                .drawn
                .snapshot
                .agrees(self.truth.snapshot(screen), part)
        })
    }

    /// Returns at which true screen the display is at a moment, as far as the effect's part of it
    /// tells: it has gone through them in their order since it last showed the server's own.
    fn position(&self, number: usize) -> usize {
        let moments = &self.view.moments;
        let start = start(self.typed, |number| {
            let moment = &moments[number];
            moment.drawn.snapshot.is_same(&moment.frame.snapshot)
        });
        let mut at = moments[start].frame.number;
        for moment in &moments[start..=number] {
            at = at.max(moment.frame.number);
            let to = self.truth.reach(moment.typed);
            let part = &self.effect.part;
            let is_like = |screen: &usize| {
                moment
                    .drawn
                    .snapshot
                    .agrees(self.truth.snapshot(*screen), part)
            };
            at = (at..=to).find(is_like).unwrap_or(at);
            let is_within = (part.before + 1..part.after).contains(&at);
            if is_within && part.after <= to && is_like(&part.after) {
                at = part.after;
            }
        }
        at
    }
}

/// Returns the last moment before that of a key at which the display was right, or else the earliest that is looked at.
fn start(typed: usize, is_right: impl Fn(usize) -> bool) -> usize {
    let earliest = typed.saturating_sub(LOOK_BACK_MAX);
    let last = (earliest..typed).rev().find(|number| is_right(*number));
    last.unwrap_or(earliest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_starts_at_the_last_right_screen_before_the_key_and_no_earlier_than_its_limit() {
        let typed = LOOK_BACK_MAX + 10;
        assert_eq!(start(typed, |_| true), typed - 1);
        assert_eq!(start(typed, |number| number == 10), 10);
        // One that is only at the key, or too long ago, does not count.
        assert_eq!(start(typed, |number| number >= typed), 10);
        assert_eq!(start(typed, |number| number < 10), 10);
        assert_eq!((start(7, |_| false), start(7, |number| number < 3)), (0, 2));
        assert_eq!(start(0, |_| true), 0);
    }
}
