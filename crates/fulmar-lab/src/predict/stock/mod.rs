//! A model of stock's predictor, to compare with.
//!
//! It was written from a description of what a stock client can be seen to do, shares nothing with our
//! engine, and counts as long as it agrees with the real one: docs/prediction.md §10.

mod cells;
mod keyboard;
mod trigger;

use std::collections::BTreeMap;
use std::time::Duration;

use fulmar_terminal::Size;

use self::cells::{CellPrediction, Validity};
use self::keyboard::{Action, Keyboard};
use self::trigger::Triggers;
use super::predictor::{DrawnScreen, Predictor};
use super::recorded_user::KeyboardRead;
use super::session::ServerFrame;
use super::snapshot::{CellLook, ScreenSnapshot};
use crate::judge::CellPosition;

/// The mode of stock's predictor: when it shows what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    /// On slow links, what is confirmed.
    #[default]
    Adaptive,
    /// Always, what is confirmed.
    Always,
    /// Always, and everything: stock's experimental mode.
    Everything,
}

/// A read of more bytes than this is not predicted.
///
/// Source: docs/protocol.md §10.
const BULK_BYTES: usize = 100;

/// So often a client with predictions wakes.
///
/// Source: what a stock client can be seen to do; docs/prediction.md §10 says how well the model agrees.
const WAKE: Duration = Duration::from_millis(50);

/// Stock's predictor.
#[derive(Default)]
pub(super) struct Stock {
    mode: Mode,
    keyboard: Keyboard,
    triggers: Triggers,
    cells: BTreeMap<CellPosition, CellPrediction>,
    cursors: Vec<Cursor>,
    epoch: u64,
    confirmed: u64,
    sent_state: u64,
    late_ack: u64,
    shown: Option<ScreenSnapshot>,
    size: Option<Size>,
    woke: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Cursor {
    at: CellPosition,
    expires: u64,
    epoch: u64,
    key: u64,
}

/// The situation in which a byte is typed: the newest frame, what is displayed, and the number of the byte.
#[derive(Clone, Copy)]
struct Situation<'a> {
    now: Duration,
    frame: &'a ServerFrame,
    shown: &'a ScreenSnapshot,
    key: u64,
}

impl Stock {
    pub(super) fn new(mode: Mode) -> Stock {
        Stock {
            mode,
            epoch: 1,
            ..Stock::default()
        }
    }

    fn is_frozen(&self) -> bool {
        self.mode == Mode::Everything
    }

    fn is_active(&self) -> bool {
        !self.cursors.is_empty() || !self.cells.is_empty()
    }

    fn lose_confidence(&mut self) {
        if !self.is_frozen() {
            self.epoch += 1;
        }
    }

    fn reset(&mut self) {
        self.cells.clear();
        self.cursors.clear();
        self.lose_confidence();
    }

    /// Removes what an epoch and later ones have predicted.
    fn kill(&mut self, epoch: u64, frame: &ServerFrame) {
        self.cursors.retain(|cursor| cursor.epoch < epoch);
        self.cells.retain(|_, prediction| prediction.epoch < epoch);
        self.cursors.push(Cursor {
            at: frame.snapshot.cursor.place,
            expires: self.sent_state + 1,
            epoch: self.epoch,
            key: 0,
        });
        self.lose_confidence();
    }

    /// Compares the predictions with a screen.
    fn cull(&mut self, now: Duration, frame: &ServerFrame, snapshot: &ScreenSnapshot) {
        if self.size.replace(frame.update.screen.size()) != Some(frame.update.screen.size()) {
            self.reset();
        }
        let is_active = self.is_active();
        self.triggers.look(is_active);
        if self.cull_cells(now, frame, snapshot) {
            return;
        }
        if let Some(newest) = self.cursors.last()
            && self.late_ack >= newest.expires
            && newest.at != snapshot.cursor.place
        {
            if self.is_frozen() {
                self.cursors.clear()
            } else {
                return self.reset();
            }
        }
        let late_ack = self.late_ack;
        self.cursors.retain(|cursor| late_ack < cursor.expires);
    }

    /// Compares the cells; returns whether everything was reset.
    fn cull_cells(
        &mut self,
        now: Duration,
        frame: &ServerFrame,
        snapshot: &ScreenSnapshot,
    ) -> bool {
        let columns = snapshot.columns();
        let places = self.cells.keys().copied();
        let places: Vec<CellPosition> = places.filter(|at| at.column < columns).collect();
        for at in places {
            let Some(prediction) = self.cells.get(&at) else {
                continue;
            };
            let (epoch, made) = (prediction.epoch, prediction.at);
            match prediction.validity(at, snapshot, self.late_ack) {
                Validity::Pending => {
                    self.triggers.wait(now, made);
                    continue;
                }
                Validity::Misprediction if self.is_frozen() => {}
                Validity::Misprediction if epoch > self.confirmed => self.kill(epoch, frame),
                Validity::Misprediction => {
                    self.reset();
                    return true;
                }
                Validity::Right => {
                    self.confirmed = self.confirmed.max(epoch);
                    self.triggers.confirm(now, made);
                    self.adopt(at, snapshot.look(at));
                }
                Validity::RightAnyway => {}
            }
            self.cells.remove(&at);
        }
        false
    }

    /// Gives the predictions from a cell to the end of its row the look of what came.
    fn adopt(&mut self, from: CellPosition, actual: CellLook) {
        let end = CellPosition::new(from.row, u16::MAX);
        for (_, prediction) in self.cells.range_mut(from..=end) {
            prediction.look = prediction.look.map(|look| look.dressed_as(actual));
        }
    }

    fn type_byte(&mut self, byte: u8, on: Situation<'_>) {
        self.cull(on.now, on.frame, on.shown);
        if self.is_frozen() {
            self.epoch = self.confirmed;
        }
        if let Some(action) = self.keyboard.read(byte) {
            match action {
                Action::Print(character) => self.insert(character, on),
                Action::Backspace => self.backspace(on),
                Action::Return => {
                    self.lose_confidence();
                    self.new_line(on);
                }
                Action::Right => self.step(1, on),
                Action::Left => self.step(-1, on),
                Action::Other => self.lose_confidence(),
            }
        }
    }

    /// Returns where the predicted cursor is, with one of the present epoch there.
    fn cursor(&mut self, on: Situation<'_>) -> CellPosition {
        let newest = self.cursors.last().copied();
        let at = newest.map_or(on.shown.cursor.place, |newest| newest.at);
        if newest.is_none_or(|newest| newest.epoch != self.epoch) {
            self.cursors.push(Cursor {
                at,
                expires: self.sent_state + 1,
                epoch: self.epoch,
                key: on.key,
            });
        }
        at
    }

    fn move_cursor(&mut self, to: CellPosition, on: Situation<'_>) {
        let expires = self.sent_state + 1;
        if let Some(newest) = self.cursors.last_mut() {
            newest.at = to;
            newest.expires = expires;
            newest.key = on.key;
        }
    }

    fn step(&mut self, by: i32, on: Situation<'_>) {
        let at = self.cursor(on);
        let last = on.shown.columns().saturating_sub(1);
        let column = i32::from(at.column) + by;
        if (0..=i32::from(last)).contains(&column) {
            self.move_cursor(CellPosition::new(at.row, column as u16), on);
        }
    }

    fn insert(&mut self, character: char, on: Situation<'_>) {
        let at = self.cursor(on);
        let last = on.shown.columns().saturating_sub(1);
        let is_last = at.column >= last;
        if is_last {
            self.lose_confidence();
            self.cursor(on);
        }
        for column in (at.column + 1..=last).rev() {
            let taken =
                (column != last).then(|| self.look(CellPosition::new(at.row, column - 1), on));
            self.put(CellPosition::new(at.row, column), taken.flatten(), on);
        }
        let left = match at.column.checked_sub(1) {
            Some(left) => {
                let left = CellPosition::new(at.row, left);
                self.look(left, on).unwrap_or(on.shown.look(left))
            }
            None => CellLook::blank(on.frame.update.screen.style()),
        };
        self.put(at, Some(left.with(character)), on);
        if is_last {
            self.lose_confidence();
            self.new_line(on);
        } else {
            self.move_cursor(CellPosition::new(at.row, at.column + 1), on);
        }
    }

    fn backspace(&mut self, on: Situation<'_>) {
        let at = self.cursor(on);
        let Some(column) = at.column.checked_sub(1) else {
            return;
        };
        self.move_cursor(CellPosition::new(at.row, column), on);
        let columns = on.shown.columns();
        for column in column..columns {
            let taken = (column + 2 < columns)
                .then(|| self.look(CellPosition::new(at.row, column + 1), on));
            self.put(CellPosition::new(at.row, column), taken.flatten(), on);
        }
    }

    fn new_line(&mut self, on: Situation<'_>) {
        let at = self.cursor(on);
        if at.row + 1 < on.shown.rows() {
            return self.move_cursor(CellPosition::new(at.row + 1, 0), on);
        }
        self.move_cursor(CellPosition::new(at.row, 0), on);
        for column in 0..on.shown.columns() {
            self.put(CellPosition::new(at.row, column), Some(CellLook::BLANK), on);
        }
    }

    /// Returns the look that is predicted for a cell, or else displayed; `None` if that is unknown.
    fn look(&self, at: CellPosition, on: Situation<'_>) -> Option<CellLook> {
        match self.cells.get(&at) {
            Some(prediction) => prediction.look,
            None => Some(on.shown.look(at)),
        }
    }

    fn put(&mut self, at: CellPosition, look: Option<CellLook>, on: Situation<'_>) {
        if at.column >= on.shown.columns() {
            return;
        }
        let prediction = self.cells.entry(at).or_default();
        prediction.change(look, on.shown.look(at));
        prediction.epoch = self.epoch;
        prediction.expires = self.sent_state + 1;
        prediction.at = on.now;
        prediction.key = on.key;
    }

    fn is_shown(&self) -> bool {
        self.mode != Mode::Adaptive || self.triggers.shows()
    }
}

impl Predictor for Stock {
    fn type_keys(&mut self, now: Duration, keys: &KeyboardRead, frame: &ServerFrame) {
        self.sent_state = keys.sent_state;
        if keys.bytes.len() > BULK_BYTES {
            return self.reset();
        }
        let shown = self.shown.clone().unwrap_or(frame.snapshot.clone());
        for (number, byte) in keys.bytes.iter().enumerate() {
            let on = Situation {
                now,
                frame,
                shown: &shown,
                key: keys.first + number as u64,
            };
            self.type_byte(*byte, on);
        }
    }

    fn take_frame(&mut self, _: Duration, frame: &ServerFrame) {
        self.late_ack = frame.update.echoed_state;
        self.triggers.set_round_trip(frame.update.srtt);
    }

    fn draw(&mut self, now: Duration, frame: &ServerFrame) -> DrawnScreen {
        self.woke = now;
        self.cull(now, frame, &frame.snapshot);
        let mut drawn = DrawnScreen::plain(frame);
        if self.is_shown() {
            let is_sure = |epoch: u64| epoch <= self.confirmed || self.is_frozen();
            for cursor in self.cursors.iter().filter(|cursor| is_sure(cursor.epoch)) {
                drawn.snapshot.cursor.place = cursor.at;
                drawn.cursor_cause = Some(cursor.key);
            }
            for (at, prediction) in &self.cells {
                let look = prediction.look.filter(|_| is_sure(prediction.epoch));
                if let Some(look) = look.filter(|look| *look != drawn.snapshot.look(*at)) {
                    drawn.snapshot.set(*at, look);
                    drawn.causes.insert(*at, prediction.key);
                }
            }
        }
        self.shown = Some(drawn.snapshot.clone());
        drawn
    }

    fn poll_timeout(&self) -> Option<Duration> {
        self.is_active().then_some(self.woke + WAKE)
    }
}

#[cfg(test)]
mod tests;
