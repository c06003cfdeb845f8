//! Finds what the display showed and never should have.

use super::glyph::{CellPosition, Glyph};
use super::ground_truth::OutputPosition;
use super::observer::places;
use super::spliced_row::is_spliced;
use super::timeline::{RunTimeline, TimelineSample};
use crate::stats::millis;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A cell, or the cursor, that was wrong for [`WRONG_FROM`] or longer.
///
/// It is wrong as long as it shows what the truth shows there neither at the position that the
/// display has for certain, nor at any up to that to which the keys typed so far can lead. To be late
/// is not wrong. The row of the cursor is wrong at the cursor as long as its parts are of several screens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrongInterval {
    /// The place, and `None` for the cursor, which can be wrong at one place at a time.
    #[serde(with = "place_form")]
    pub place: Option<CellPosition>,
    /// The time at which it began, from the start of the play.
    #[serde(rename = "since_ms", with = "millis")]
    pub since: Duration,
    /// The time that it lasted.
    #[serde(rename = "lasted_ms", with = "millis")]
    pub lasted: Duration,
    /// The number of the key that caused it: the one that a predictor names, or else the newest when it began. `None`
    /// before any key.
    pub key: Option<usize>,
}

/// The time from which on something wrong counts: what goes sooner nobody sees for certain.
///
/// Source: the definition of wrong that the prediction was designed with.
pub const WRONG_FROM: Duration = Duration::from_millis(30);

/// The beginnings of the top row when it holds a peer's own notice. What a notice covers is not wrong.
pub const NOTICES: [&str; 3] = ["mosh: ", "fulmar: ", "[fulmar]"];

/// The places that are wrong in one rendering, from sample to sample.
pub(crate) struct WrongPlaces<'a> {
    timeline: &'a RunTimeline<'a>,
    last: Option<TimelineSample>,
    has_notice: bool,
    wrong: BTreeSet<Option<CellPosition>>,
    /// The cell that is wrong for its row as a whole, in which no cell is wrong by itself.
    spliced: Option<CellPosition>,
}

impl<'a> WrongPlaces<'a> {
    /// Begins before a sample.
    pub(crate) fn new(timeline: &'a RunTimeline<'a>, first: usize) -> Self {
        let mut places = Self {
            timeline,
            last: None,
            has_notice: false,
            wrong: BTreeSet::new(),
            spliced: None,
        };
        places.has_notice = places.notice(timeline.samples[first].frame);
        places
    }

    /// Returns the places that are wrong at the last sample.
    pub(crate) fn wrong(&self) -> &BTreeSet<Option<CellPosition>> {
        &self.wrong
    }

    /// Goes on to the next sample.
    pub(crate) fn pass(&mut self, number: usize) {
        let sample = self.timeline.samples[number];
        let suspects = match self.last.replace(sample) {
            Some(last) => self.suspects(&last, &sample),
            None => places(self.timeline.truth.size()).collect(),
        };
        for place in suspects {
            let is_right = self.is_right(place, &sample);
            self.set(Some(place), is_right);
        }
        let is_right = self.is_cursor_right(&sample);
        self.set(None, is_right);
        if let Some(place) = self.spliced.take() {
            let is_right = self.is_right(place, &sample);
            self.set(Some(place), is_right);
        }
        self.spliced = self.spliced_at(&sample);
        self.wrong.extend(self.spliced.map(Some));
    }

    /// Returns the place of the cursor if its row as a whole is no true one, though each of its cells is. Where nothing is
    /// guessed such a row is half of a write.
    fn spliced_at(&self, sample: &TimelineSample) -> Option<CellPosition> {
        let RunTimeline { truth, display, .. } = self.timeline;
        let cursor = display.frames()[sample.frame].cursor?;
        let is_at_rest = |state: usize| truth.states()[state].is_rest;
        let is_wrong = |place: &Option<CellPosition>| place.is_some_and(|at| at.row == cursor.row);
        if !self.timeline.may_be_predicted
            || sample.is_true && is_at_rest(sample.state)
            || self.has_notice && cursor.row == 0
            || self.wrong.iter().any(is_wrong)
        {
            return None;
        }
        let row = |glyph: &dyn Fn(CellPosition) -> Glyph| -> Vec<Glyph> {
            let columns = 0..truth.size().columns;
            columns
                .map(|column| glyph(CellPosition::new(cursor.row, column)))
                .collect()
        };
        let shown = row(&|place| display.glyph(place, sample.frame));
        let known = row(&|place| truth.glyph(place, sample.lower));
        let (first, last) = (truth.state(sample.lower), truth.state(sample.upper));
        let at_rest = (first..=last)
            .filter(|&state| state == first || state == last || is_at_rest(state))
            .map(|state| row(&|place| truth.glyph_in(place, state)));
        is_spliced(&shown, &known, cursor.column, at_rest).then_some(cursor)
    }

    fn suspects(&mut self, last: &TimelineSample, sample: &TimelineSample) -> Vec<CellPosition> {
        let mut suspects = Vec::new();
        if sample.frame != last.frame {
            suspects.extend(self.timeline.display.changed(sample.frame));
            suspects.extend(self.notice_comes_or_goes(sample.frame));
        }
        for (before, now) in [(last.lower, sample.lower), (last.upper, sample.upper)] {
            suspects.extend(self.timeline.truth.changed(before, now));
        }
        suspects.sort_unstable();
        suspects.dedup();
        suspects
    }

    fn is_right(&self, place: CellPosition, sample: &TimelineSample) -> bool {
        let shown = self.timeline.display.glyph(place, sample.frame);
        let (lower, upper) = (sample.lower, sample.upper);
        (self.has_notice && place.row == 0)
            || self.timeline.truth.ever_shows(place, shown, lower, upper)
    }

    /// A cursor that is not to be seen is nowhere wrong.
    fn is_cursor_right(&self, sample: &TimelineSample) -> bool {
        let Some(place) = self.timeline.display.frames()[sample.frame].cursor else {
            return true;
        };
        let truth = self.timeline.truth;
        let span = truth.first_state(sample.lower)..=truth.state(sample.upper);
        let mut states = truth.states()[span].iter();
        states.any(|state| state.cursor.seen() == Some(place))
    }

    fn set(&mut self, place: Option<CellPosition>, is_right: bool) {
        if is_right {
            self.wrong.remove(&place);
        } else {
            self.wrong.insert(place);
        }
    }

    /// Returns the top row if it begins or ceases to hold a notice.
    fn notice_comes_or_goes(&mut self, frame: usize) -> Vec<CellPosition> {
        let size = self.timeline.truth.size();
        let touches_top = self
            .timeline
            .display
            .changed(frame)
            .any(|place| place.row == 0);
        if !touches_top || self.notice(frame) == self.has_notice {
            return Vec::new();
        }
        self.has_notice = !self.has_notice;
        (0..size.columns)
            .map(|column| CellPosition { row: 0, column })
            .collect()
    }

    fn notice(&self, frame: usize) -> bool {
        let columns = self.timeline.truth.size().columns;
        let top = self.timeline.display.top_row(frame, columns);
        NOTICES
            .iter()
            .any(|notice| top.trim_start().starts_with(notice))
    }
}

/// Joins what is wrong from sample to sample to intervals.
pub(crate) struct WrongIntervals {
    began: Duration,
    /// The places that are wrong at the moment, since when, and because of which key.
    open: BTreeMap<Option<CellPosition>, (Duration, Option<usize>)>,
    wrongs: Vec<WrongInterval>,
}

impl WrongIntervals {
    /// Begins in a run that began then.
    pub(crate) fn new(began: Duration) -> Self {
        Self {
            began,
            open: BTreeMap::new(),
            wrongs: Vec::new(),
        }
    }

    /// Takes in the places that are wrong from a time on, each with the key because of which it is.
    pub(crate) fn pass(
        &mut self,
        now: Duration,
        wrong: &BTreeMap<Option<CellPosition>, Option<usize>>,
    ) {
        for (place, (since, key)) in std::mem::take(&mut self.open) {
            if wrong.get(&place) == Some(&key) {
                self.open.insert(place, (since, key));
            } else {
                self.close(place, (since, key), now);
            }
        }
        for (place, key) in wrong {
            self.open.entry(*place).or_insert((now, *key));
        }
    }

    /// Does so where nobody names a key: the newest is to blame for what was right before.
    pub(crate) fn pass_unnamed(
        &mut self,
        sample: &TimelineSample,
        wrong: &BTreeSet<Option<CellPosition>>,
    ) {
        let newest = sample.typed.checked_sub(1);
        let blamed = |place| self.open.get(place).map_or(newest, |(_, key)| *key);
        let wrong = wrong.iter().map(|place| (*place, blamed(place))).collect();
        self.pass(sample.at, &wrong);
    }

    fn close(
        &mut self,
        place: Option<CellPosition>,
        (since, key): (Duration, Option<usize>),
        end: Duration,
    ) {
        let lasted = end.saturating_sub(since);
        if lasted >= WRONG_FROM {
            self.wrongs.push(WrongInterval {
                place,
                since: since.saturating_sub(self.began),
                lasted,
                key,
            });
        }
    }

    /// Returns the intervals in the order in which they began; those that are open end now.
    pub(crate) fn finish(mut self, end: Duration) -> Vec<WrongInterval> {
        for (place, open) in std::mem::take(&mut self.open) {
            self.close(place, open, end);
        }
        self.wrongs.sort_by_key(|wrong| (wrong.since, wrong.place));
        self.wrongs
    }
}

impl RunTimeline<'_> {
    /// Returns the cells in which the last frame differs from a true screen.
    pub(crate) fn differences_at_end(&self, position: OutputPosition) -> usize {
        let frame = self.display.frames().len() - 1;
        places(self.truth.size())
            .filter(|place| self.display.glyph(*place, frame) != self.truth.glyph(*place, position))
            .count()
    }
}

/// A place as `[row, column]`, or `"cursor"`.
mod place_form {
    use super::*;

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Form {
        Cursor,
        #[serde(untagged)]
        Cell(u16, u16),
    }

    #[expect(clippy::ref_option, reason = "the signature is serde's")]
    pub(super) fn serialize<S: Serializer>(
        place: &Option<CellPosition>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let form = place.map_or(Form::Cursor, |at| Form::Cell(at.row, at.column));
        form.serialize(to)
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(
        from: D,
    ) -> Result<Option<CellPosition>, D::Error> {
        Ok(match Form::deserialize(from)? {
            Form::Cell(row, column) => Some(CellPosition { row, column }),
            Form::Cursor => None,
        })
    }
}
