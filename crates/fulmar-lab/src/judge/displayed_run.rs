//! The run of a real program, as the search for effects sees it.

use super::glyph::{CellPosition, Glyph};
use super::ground_truth::OutputPosition;
use super::key_effect::KeyEffect;
use super::own_effect::DisplayedRun;
use super::timeline::RunTimeline;
use std::ops::RangeInclusive;
use std::time::Duration;

/// The glyphs of the cells that an effect touches, and the place of the cursor if it belongs to the effect.
type EffectPart = (Vec<Glyph>, Option<CellPosition>);

impl DisplayedRun for RunTimeline<'_> {
    type Position = OutputPosition;
    type Part = EffectPart;

    fn time(&self, sample: usize) -> Option<Duration> {
        self.samples.get(sample).map(|sample| sample.at)
    }

    fn sample_of_key(&self, key: usize) -> usize {
        self.samples.partition_point(|sample| sample.typed <= key)
    }

    fn displayed(&self, sample: usize) -> Option<usize> {
        let sample = &self.samples[sample];
        sample.is_true.then_some(sample.state)
    }

    fn span(&self, sample: usize) -> (usize, usize) {
        let sample = &self.samples[sample];
        let first = self.truth.first_state(sample.lower);
        (first, self.truth.state(sample.upper))
    }

    /// With stamps it is known what the display has.
    fn written(&self, sample: usize) -> Option<RangeInclusive<usize>> {
        let written = self.samples[sample].written;
        let states = self.truth.first_state(written)..=self.truth.state(written);
        (!self.is_stamped).then_some(states)
    }

    fn ends(&self, effect: &KeyEffect<OutputPosition>) -> (usize, usize) {
        let before = self.truth.state(effect.before);
        (before, self.truth.first_state(effect.after))
    }

    fn part(&self, effect: &KeyEffect<OutputPosition>, sample: usize) -> EffectPart {
        let frame = self.samples[sample].frame;
        let glyphs = effect.places.iter();
        let glyphs = glyphs.map(|place| self.display.glyph(*place, frame));
        let cursor = self.display.frames()[frame].cursor;
        (glyphs.collect(), cursor.filter(|_| effect.has_cursor))
    }

    fn is_like(
        &self,
        effect: &KeyEffect<OutputPosition>,
        (glyphs, cursor): &EffectPart,
        state: usize,
    ) -> bool {
        let known = self.truth.states()[state].cursor.seen();
        let mut cells = effect.places.iter().zip(glyphs);
        (!effect.has_cursor || known == *cursor)
            && cells.all(|(place, glyph)| self.truth.glyph_in(*place, state) == *glyph)
    }

    fn first_at_rest(&self, states: impl Iterator<Item = usize>) -> Option<usize> {
        self.truth.first_at_rest(states)
    }
}
