//! Finds the time at which a key's own effect is on the screen.

use super::key_effect::KeyEffect;
use std::ops::RangeInclusive;
use std::time::Duration;

/// So many samples before a key are looked at to find out which true screen the display was at.
/// Chosen by eye; a screen is wholly true at least once in a few hundred.
const LOOK_BACK_MAX: usize = 2000;

/// Everything that was displayed in the course of a run, sample by sample, beside the true screens. True screens are counted.
pub(crate) trait DisplayedRun {
    /// The position of a true screen.
    type Position;
    /// The part of the display that an effect touches.
    type Part;

    /// Returns the time of a sample, if there are so many.
    fn time(&self, sample: usize) -> Option<Duration>;

    /// Returns the number of the sample at which a key was typed.
    fn sample_of_key(&self, key: usize) -> usize;

    /// Returns which true screen is displayed as a whole.
    fn displayed(&self, sample: usize) -> Option<usize>;

    /// Returns the first and the last true screen that the display can be at.
    fn span(&self, sample: usize) -> (usize, usize);

    /// Returns the true screens that the host had written one delay of the path before, where nothing else tells what
    /// the display has.
    fn written(&self, sample: usize) -> Option<RangeInclusive<usize>>;

    /// Returns the last screen of an effect's first position and the first of its last.
    fn ends(&self, effect: &KeyEffect<Self::Position>) -> (usize, usize);

    /// Returns the part of the display that an effect touches.
    fn part(&self, effect: &KeyEffect<Self::Position>, sample: usize) -> Self::Part;

    /// True when a true screen looks there like the display.
    fn is_like(&self, effect: &KeyEffect<Self::Position>, part: &Self::Part, screen: usize)
    -> bool;

    /// Returns the first of some screens at which the host paused, or else the first of all.
    fn first_at_rest(&self, screens: impl Iterator<Item = usize>) -> Option<usize>;

    /// Returns when a key's own effect was first on the display, if it ever was.
    ///
    /// It is there when the cells and the cursor of the effect agree with the truth where the
    /// effect is complete, or at any later position that the keys typed by then can lead to. Where
    /// several of these screens agree the display is at the first that it can be at: one that still
    /// stands as it stood before two keys that cancel each other shows neither.
    fn own_effect_at(&self, effect: &KeyEffect<Self::Position>, key: usize) -> Option<Duration>
    where
        Self: Sized,
    {
        let typed = self.sample_of_key(key);
        let (start, screen) = start(self, typed);
        let mut search = Search {
            run: self,
            effect,
            screen,
        };
        let mut samples = (start..).map_while(|sample| Some((sample, self.time(sample)?)));
        let found = samples.find(|(sample, _)| {
            let agrees = search.agrees(*sample);
            agrees && *sample >= typed
        });
        found.map(|(_, at)| at)
    }
}

/// Returns the last sample up to that of a key at which a true screen was displayed, or else the earliest that is looked
/// at, and which screen it was at.
fn start(run: &impl DisplayedRun, typed: usize) -> (usize, usize) {
    let earliest = typed.saturating_sub(LOOK_BACK_MAX);
    let mut samples = (earliest..typed).rev();
    let last = samples.find_map(|sample| Some((sample, run.displayed(sample)?)));
    last.unwrap_or_else(|| {
        let first = run.time(earliest).map_or(0, |_| run.span(earliest).0);
        (earliest, first)
    })
}

/// The search for one effect from sample to sample.
struct Search<'a, R: DisplayedRun> {
    run: &'a R,
    effect: &'a KeyEffect<R::Position>,
    /// The newest true screen of which the display is known to have shown these cells.
    screen: usize,
}

impl<R: DisplayedRun> Search<'_, R> {
    /// True when the display shows the effect.
    fn agrees(&mut self, sample: usize) -> bool {
        let part = self.run.part(self.effect, sample);
        let (first, to) = self.run.span(sample);
        let mut from = self.screen.max(first);
        if let Some(displayed) = self.run.displayed(sample) {
            from = from.max(displayed);
        }
        let mut found = self.first_alike(&part, from, to);
        if let Some(written) = self.run.written(sample) {
            let mut written = (from.max(*written.start())..=*written.end()).rev();
            found = found.max(written.find(|screen| self.is_like(&part, *screen)));
        }
        self.screen = found.unwrap_or(from);
        found.is_some_and(|screen| screen >= self.run.ends(self.effect).1)
    }

    /// Returns the first screen that looks like this: `from` itself if it does, since a display that
    /// has not moved is where it was.
    fn first_alike(&self, part: &R::Part, from: usize, to: usize) -> Option<usize> {
        if from <= to && self.is_like(part, from) {
            return Some(self.completed(part, from, to));
        }
        let alike = (from..=to).filter(|screen| self.is_like(part, *screen));
        let first = self.run.first_at_rest(alike)?;
        Some(self.completed(part, first, to))
    }

    /// Returns the screen that a display is at which looks like `screen`: where that lies within the
    /// key's own answer, which looks the same in the end, it is the end.
    fn completed(&self, part: &R::Part, screen: usize, to: usize) -> usize {
        let (before, end) = self.run.ends(self.effect);
        let is_within = (before + 1..end).contains(&screen);
        if is_within && end <= to && self.is_like(part, end) {
            end
        } else {
            screen
        }
    }

    fn is_like(&self, part: &R::Part, screen: usize) -> bool {
        self.run.is_like(self.effect, part, screen)
    }
}
