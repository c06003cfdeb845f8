//! Finds the time at which a key's own effect is on the screen.

use super::glyph::{CellPosition, Glyph};
use super::ground_truth::OutputPosition;
use super::key_effect::KeyEffect;
use super::timeline::{RunTimeline, TimelineSample};
use std::time::Duration;

/// So many samples before a key are looked at to find out which true screen the display was at.
/// Chosen by eye; a screen is wholly true at least once in a few hundred.
pub(crate) const LOOK_BACK_MAX: usize = 2000;

impl RunTimeline<'_> {
    /// Returns when a key's own effect was first on the display, if it ever was.
    ///
    /// It is there when the cells and the cursor of the effect agree with the truth where the
    /// effect is complete, or at any later position that the keys typed by then can lead to. Where
    /// several of these screens agree the display is at the first that it can be at: one that still
    /// stands as it stood before two keys that cancel each other shows neither.
    pub(crate) fn own_effect_at(
        &self,
        effect: &KeyEffect<OutputPosition>,
        key: usize,
    ) -> Option<Duration> {
        let typed = self.sample_of_key(key);
        let (start, state) = self.start(typed);
        let mut search = Search {
            timeline: self,
            effect,
            state,
        };
        self.samples[start..]
            .iter()
            .enumerate()
            .find(|(number, sample)| {
                let agrees = search.agrees(sample);
                agrees && start + number >= typed
            })
            .map(|(_, sample)| sample.at)
    }

    /// Returns the last sample up to that of a key at which the display showed a true screen, and
    /// which that was.
    fn start(&self, typed: usize) -> (usize, usize) {
        let earliest = typed.saturating_sub(LOOK_BACK_MAX);
        let last = (earliest..typed).rev().find(|number| {
            let sample = &self.samples[*number];
            sample.is_true
        });
        let start = last.unwrap_or(earliest);
        match self.samples.get(start) {
            Some(sample) if sample.is_true => (start, sample.state),
            Some(sample) => (start, self.truth.first_state(sample.lower)),
            None => (start, 0),
        }
    }
}

/// The search for one effect from sample to sample.
struct Search<'a> {
    timeline: &'a RunTimeline<'a>,
    effect: &'a KeyEffect<OutputPosition>,
    /// The newest true state of which the display is known to have shown these cells.
    state: usize,
}

/// The part of the display that an effect touches.
struct Part {
    glyphs: Vec<Glyph>,
    cursor: Option<CellPosition>,
}

impl Search<'_> {
    /// True when the display shows the effect.
    fn agrees(&mut self, sample: &TimelineSample) -> bool {
        let truth = self.timeline.truth;
        let part = self.part(sample.frame);
        let mut from = self.state.max(truth.first_state(sample.lower));
        if sample.is_true {
            from = from.max(sample.state);
        }
        let to = truth.state(sample.upper);
        let mut found = self.first_alike(&part, from, to);
        // What the host had written one delay of the path before needs no move. With stamps that is known.
        if !self.timeline.is_stamped {
            let earliest = from.max(truth.first_state(sample.written));
            let mut written = (earliest..=truth.state(sample.written)).rev();
            found = found.max(written.find(|state| self.is_like(&part, *state)));
        }
        self.state = found.unwrap_or(from);
        found.is_some_and(|state| state >= truth.first_state(self.effect.after))
    }

    /// Returns the first state that looks like this: `from` itself if it does, since a display that
    /// has not moved is where it was.
    fn first_alike(&self, part: &Part, from: usize, to: usize) -> Option<usize> {
        if from <= to && self.is_like(part, from) {
            return Some(self.completed(part, from, to));
        }
        let alike = (from..=to).filter(|state| self.is_like(part, *state));
        let first = self.timeline.truth.first_at_rest(alike)?;
        Some(self.completed(part, first, to))
    }

    /// Returns the state that a screen is at which looks like `state`: where that lies within the
    /// key's own answer, which looks the same in the end, it is the end.
    fn completed(&self, part: &Part, state: usize, to: usize) -> usize {
        let truth = self.timeline.truth;
        let end = truth.first_state(self.effect.after);
        let is_within = (truth.state(self.effect.before) + 1..end).contains(&state);
        if is_within && end <= to && self.is_like(part, end) {
            end
        } else {
            state
        }
    }

    fn part(&self, frame: usize) -> Part {
        let display = &self.timeline.display;
        Part {
            glyphs: self
                .effect
                .places
                .iter()
                .map(|place| display.glyph(*place, frame))
                .collect(),
            cursor: if self.effect.has_cursor {
                display.frames()[frame].cursor
            } else {
                None
            },
        }
    }

    fn is_like(&self, part: &Part, number: usize) -> bool {
        let truth = self.timeline.truth;
        let state = &truth.states()[number];
        let has_cursor = !self.effect.has_cursor || state.cursor.seen() == part.cursor;
        has_cursor
            && self
                .effect
                .places
                .iter()
                .zip(&part.glyphs)
                .all(|(place, glyph)| truth.glyph_in(*place, number) == *glyph)
    }
}
