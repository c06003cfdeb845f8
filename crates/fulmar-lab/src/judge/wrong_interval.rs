//! Finds what the display showed and never should have.

use super::glyph::CellPosition;
use super::ground_truth::OutputPosition;
use super::observer::places;
use super::timeline::{RunTimeline, TimelineSample};
use crate::stats::millis;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::time::Duration;

/// A cell, or the cursor, that was wrong for longer than [`WRONG_OVER`].
///
/// It is wrong as long as it shows what the truth shows there neither at the position that the
/// display has for certain, nor at any up to that to which the keys typed so far can lead. To be late
/// is not wrong.
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
    /// The number of the newest key when it began: the one that caused it. `None` before any key.
    pub key: Option<usize>,
}

/// The longest time for which something may be wrong without counting: nobody sees it for certain.
///
/// Source: the definition of wrong that the prediction was designed with.
pub const WRONG_OVER: Duration = Duration::from_millis(30);

/// The beginnings of the top row when it holds a peer's own notice. What a notice covers is not wrong.
pub const NOTICES: [&str; 3] = ["mosh: ", "fulmar: ", "[fulmar]"];

impl RunTimeline<'_> {
    /// Returns everything that was wrong, in the order in which it began.
    pub(crate) fn wrongs(&self) -> Vec<WrongInterval> {
        let Some(settled) = self.settled() else {
            return Vec::new();
        };
        let mut watch = WrongDetector::new(self, settled);
        for sample in &self.samples[settled..] {
            watch.pass(sample);
        }
        watch.finish()
    }
}

struct WrongDetector<'a> {
    timeline: &'a RunTimeline<'a>,
    last: TimelineSample,
    has_notice: bool,
    /// The places that are wrong at the moment, since when, and the newest key then.
    open: BTreeMap<Option<CellPosition>, (Duration, Option<usize>)>,
    wrongs: Vec<WrongInterval>,
}

impl<'a> WrongDetector<'a> {
    fn new(timeline: &'a RunTimeline<'a>, settled: usize) -> Self {
        let last = timeline.samples[settled];
        let mut watch = Self {
            timeline,
            last,
            has_notice: false,
            open: BTreeMap::new(),
            wrongs: Vec::new(),
        };
        watch.has_notice = watch.notice(last.frame);
        let all: Vec<CellPosition> = places(timeline.truth.size()).collect();
        watch.judge(&last, all);
        watch
    }

    fn pass(&mut self, sample: &TimelineSample) {
        let mut suspects = Vec::new();
        if sample.frame != self.last.frame {
            suspects.extend(self.timeline.display.changed(sample.frame));
            suspects.extend(self.notice_comes_or_goes(sample.frame));
        }
        for (before, now) in [
            (self.last.lower, sample.lower),
            (self.last.upper, sample.upper),
        ] {
            suspects.extend(self.timeline.truth.changed(before, now));
        }
        suspects.sort_unstable();
        suspects.dedup();
        self.judge(sample, suspects);
        self.last = *sample;
    }

    fn judge(&mut self, sample: &TimelineSample, suspects: impl IntoIterator<Item = CellPosition>) {
        for place in suspects {
            let is_right = self.is_right(place, sample);
            self.set(Some(place), is_right, sample);
        }
        let is_right = self.is_cursor_right(sample);
        self.set(None, is_right, sample);
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

    fn set(&mut self, place: Option<CellPosition>, is_right: bool, sample: &TimelineSample) {
        if is_right {
            if let Some((since, key)) = self.open.remove(&place) {
                self.close(place, since, key, sample.at);
            }
        } else {
            let newest = sample.typed.checked_sub(1);
            self.open.entry(place).or_insert((sample.at, newest));
        }
    }

    fn close(
        &mut self,
        place: Option<CellPosition>,
        since: Duration,
        key: Option<usize>,
        end: Duration,
    ) {
        let lasted = end.saturating_sub(since);
        if lasted > WRONG_OVER {
            self.wrongs.push(WrongInterval {
                place,
                since: since.saturating_sub(self.timeline.began),
                lasted,
                key,
            });
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

    fn finish(mut self) -> Vec<WrongInterval> {
        for (place, (since, key)) in std::mem::take(&mut self.open) {
            self.close(place, since, key, self.timeline.end);
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
