//! Finds what was shown and never should have been.

use std::collections::BTreeMap;
use std::time::Duration;

use super::recorded_truth::RecordedTruth;
use super::snapshot::CellLook;
use super::spliced_row::spliced_at;
use super::user_view::{UserView, ViewSample};
use crate::judge::{CellPosition, WRONG_OVER};

/// The time from which on something wrong counts: in virtual time something can last exactly as long as the judge of real
/// runs forgives.
pub const WRONG_FROM: Duration = WRONG_OVER;

/// A cell, or the cursor, that was wrong for [`WRONG_FROM`] or longer.
///
/// It is wrong as long as it differs from the server's frame and from every true screen between that
/// frame and the last key. What is there behind the first newline of an answer is a true screen, too. The cursor's
/// row is wrong at the cursor as long as its parts are of several.
#[derive(Clone, Debug)]
pub struct Misprediction {
    /// The place; `None` for the cursor.
    pub place: Option<CellPosition>,
    /// The time at which it began.
    pub since: Duration,
    /// The time that it lasted.
    pub lasted: Duration,
    /// The number of the key that caused it.
    pub key: usize,
    /// The number of the moment at which it began.
    pub moment: usize,
}

/// Returns the cells that are wrong at a moment.
pub(super) fn wrong_cells(truth: &RecordedTruth, moment: &ViewSample<'_>) -> Vec<CellPosition> {
    let (frame, drawn) = (&moment.frame.snapshot, &moment.drawn.snapshot);
    let (from, to) = (moment.frame.number, truth.reach(moment.typed));
    let is_true = |at: &CellPosition| {
        let look = drawn.look(*at);
        truth
            .snapshots(from, to)
            .any(|snapshot| snapshot.look(*at) == look)
    };
    drawn.differences(frame).filter(|at| !is_true(at)).collect()
}

/// Returns true if the cursor is wrong at a moment. One that is not to be seen is not.
pub(super) fn is_cursor_wrong(truth: &RecordedTruth, moment: &ViewSample<'_>) -> bool {
    let Some(shown) = moment.drawn.snapshot.cursor.seen() else {
        return false;
    };
    let (from, to) = (moment.frame.number, truth.reach(moment.typed));
    let mut snapshots = truth.snapshots(from, to);
    moment.frame.snapshot.cursor.seen() != Some(shown)
        && !snapshots.any(|snapshot| snapshot.cursor.seen() == Some(shown))
}

/// Returns everything that was wrong in a session.
pub(super) fn wrongs(truth: &RecordedTruth, view: &UserView<'_>) -> Vec<Misprediction> {
    let mut watch = MispredictionDetector {
        view,
        open: BTreeMap::new(),
        drawn: BTreeMap::new(),
        cursor: None,
        wrongs: Vec::new(),
    };
    for (number, moment) in view.moments.iter().enumerate() {
        watch.pass(truth, number, moment);
    }
    for (place, open) in std::mem::take(&mut watch.open) {
        watch.close(place, open, view.end);
    }
    watch.wrongs.sort_by_key(|wrong| (wrong.since, wrong.place));
    watch.wrongs
}

#[derive(Clone, Copy)]
struct Open {
    since: Duration,
    key: usize,
    moment: usize,
}

struct MispredictionDetector<'a> {
    view: &'a UserView<'a>,
    open: BTreeMap<Option<CellPosition>, Open>,
    /// The looks that are drawn over the frame, and the key because of which each is.
    drawn: BTreeMap<CellPosition, (CellLook, usize)>,
    cursor: Option<(CellPosition, usize)>,
    wrongs: Vec<Misprediction>,
}

impl MispredictionDetector<'_> {
    fn pass(&mut self, truth: &RecordedTruth, number: usize, moment: &ViewSample<'_>) {
        self.blame(moment);
        let mut wrong = BTreeMap::new();
        for at in wrong_cells(truth, moment) {
            let key = self.drawn.get(&at).map_or(0, |(_, key)| *key);
            wrong.insert(Some(at), key);
        }
        let is_wrong = |row| {
            wrong
                .keys()
                .any(|place| place.is_some_and(|at| at.row == row))
        };
        if let Some(at) = spliced_at(truth, moment).filter(|at| !is_wrong(at.row)) {
            let in_row = self.drawn.iter().filter(|(place, _)| place.row == at.row);
            let newest = in_row.map(|(_, (_, key))| *key).max();
            wrong.entry(Some(at)).or_insert(newest.unwrap_or(0));
        }
        if is_cursor_wrong(truth, moment) {
            wrong.insert(None, self.cursor.map_or(0, |(_, key)| key));
        }
        let open = std::mem::take(&mut self.open);
        for (place, was) in open {
            match wrong.get(&place) {
                Some(key) if *key == was.key => {
                    self.open.insert(place, was);
                }
                _ => self.close(place, was, moment.at),
            }
        }
        for (place, key) in wrong {
            self.open.entry(place).or_insert(Open {
                since: moment.at,
                key,
                moment: number,
            });
        }
    }

    /// Finds out which key is to blame for each cell that is drawn: the one that the predictor names,
    /// or else the newest when it was drawn first.
    fn blame(&mut self, moment: &ViewSample<'_>) {
        let newest = moment.typed.saturating_sub(1);
        let named = |byte: Option<&u64>| byte.and_then(|byte| self.view.key_of(*byte));
        let snapshot = &moment.drawn.snapshot;
        let before = std::mem::take(&mut self.drawn);
        for at in snapshot.differences(&moment.frame.snapshot) {
            let look = snapshot.look(at);
            let known = before.get(&at).filter(|(was, _)| *was == look);
            let cause = moment.drawn.cause_of(at);
            let key = named(cause.as_ref()).or(known.map(|(_, key)| *key));
            self.drawn.insert(at, (look, key.unwrap_or(newest)));
        }
        let place = snapshot.cursor.place;
        let known = self.cursor.filter(|(was, _)| *was == place);
        let key = named(moment.drawn.cursor_cause.as_ref()).or(known.map(|(_, key)| key));
        self.cursor = Some((place, key.unwrap_or(newest)));
    }

    fn close(&mut self, place: Option<CellPosition>, open: Open, end: Duration) {
        let lasted = end.saturating_sub(open.since);
        if lasted >= WRONG_FROM {
            self.wrongs.push(Misprediction {
                place,
                since: open.since,
                lasted,
                key: open.key,
                moment: open.moment,
            });
        }
    }
}
