//! The truth of a key: what it does to the screen when nothing is in the way.

use std::time::Duration;

use fulmar_terminal::{Screen, Size, Terminal};

use super::snapshot::ScreenSnapshot;
use crate::judge::{ANSWER_WITHIN, BURST_GAP, CellPosition};
use crate::trace::{Event, KeystrokeKind, Mark, Meta, Note, Trace, TtyState, keystrokes};

/// Every screen that the programs of a recording make, and what each key does to it.
///
/// Screens are counted: number 0 is the blank one, number n that behind the nth piece of output or other
/// size of the window.
#[derive(Debug)]
pub struct RecordedTruth {
    screens: Vec<Screen>,
    snapshots: Vec<ScreenSnapshot>,
    /// The snapshots behind the first newline of each piece of output that has one.
    first_lines: Vec<Option<ScreenSnapshot>>,
    keys: Vec<RecordedKey>,
    /// The number of bytes of output that lead to each screen.
    written: Vec<usize>,
    /// The time at which each screen came, on the recording's clock.
    came: Vec<Duration>,
    /// The states of the terminal, and from when on, if the sidecar has them.
    ttys: Vec<(Duration, TtyState)>,
}

/// One key and what it does.
#[derive(Clone, Debug)]
pub struct RecordedKey {
    /// The bytes that the keyboard sent.
    pub bytes: Vec<u8>,
    /// A key, a report of the mouse, or a paste.
    pub kind: KeystrokeKind,
    /// The time on the recording's clock.
    pub at: Duration,
    /// The screen that it was typed at.
    pub before: usize,
    /// The last screen before the next key: all that can come of the keys up to this one.
    pub reach: usize,
    /// True if it belongs to a secret.
    pub is_secret: bool,
    /// The effect; `None` for nothing that can be seen.
    pub effect: Option<RecordedEffect>,
}

/// The effect of a key on the screen.
#[derive(Clone, Debug)]
pub struct RecordedEffect {
    /// The screen with which it is complete.
    pub after: usize,
    /// The cells and whether the cursor belongs to it.
    pub part: ScreenRegion,
    /// For Enter another screen that will do: that after the first newline.
    pub first_line: Option<(ScreenRegion, ScreenSnapshot)>,
}

/// Part of a screen.
#[derive(Clone, Debug, Default)]
pub struct ScreenRegion {
    /// The cells.
    pub places: Vec<CellPosition>,
    /// True if the cursor belongs to it.
    pub has_cursor: bool,
}

impl ScreenRegion {
    /// Returns true if two snapshots agree there.
    pub fn agrees(&self, one: &ScreenSnapshot, other: &ScreenSnapshot) -> bool {
        let has_cursor = !self.has_cursor || one.cursor.seen() == other.cursor.seen();
        has_cursor
            && self
                .places
                .iter()
                .all(|at| one.look(*at) == other.look(*at))
    }
}

impl RecordedTruth {
    /// Plays a recording without delay. `meta` is its sidecar.
    pub fn of(trace: &Trace, meta: Option<&Meta>) -> RecordedTruth {
        let size = Size::new(trace.size().rows, trace.size().columns).unwrap_or_default();
        let mut play = Play::new(size);
        for record in trace.records() {
            match &record.event {
                Event::Size(size) => play.resize(record.at, size.columns, size.rows),
                Event::User(bytes) => play.type_keys(record.at, bytes),
                Event::Host(bytes) => play.write(record.at, bytes),
            }
        }
        play.finish(meta)
    }

    /// The keys in their order.
    pub fn keys(&self) -> &[RecordedKey] {
        &self.keys
    }

    /// The number of the last screen.
    pub fn end(&self) -> usize {
        self.screens.len() - 1
    }

    /// Returns the snapshot of a screen.
    pub fn snapshot(&self, number: usize) -> &ScreenSnapshot {
        &self.snapshots[number.min(self.snapshots.len() - 1)]
    }

    /// Returns the snapshot that is there for a moment behind the first newline of the output that leads to a screen.
    pub fn first_line(&self, number: usize) -> Option<&ScreenSnapshot> {
        self.first_lines.get(number)?.as_ref()
    }

    /// A screen.
    pub fn screen(&self, number: usize) -> &Screen {
        &self.screens[number.min(self.screens.len() - 1)]
    }

    /// The last screen that so many keys can lead to.
    pub fn reach(&self, keys_typed: usize) -> usize {
        match self.keys.get(keys_typed) {
            Some(next) => next.before,
            None => self.end(),
        }
    }

    /// The screen that is there when so many bytes were written.
    pub fn number_at(&self, written: usize) -> usize {
        self.written.partition_point(|bytes| *bytes <= written) - 1
    }

    /// Returns the number of bytes of output that lead to a screen.
    pub fn written(&self, number: usize) -> usize {
        self.written.get(number).copied().unwrap_or_default()
    }

    /// Returns the number of bytes of output in all.
    pub fn length(&self) -> usize {
        self.written.last().copied().unwrap_or_default()
    }

    /// Returns the state of the terminal at a screen, when it was looked at last: with the screen, or at a
    /// later time of the recording's, but not after the next screen.
    pub fn tty(&self, number: usize, looked: Duration) -> Option<&TtyState> {
        // A stamp comes right after the read it belongs to.
        let came = *self.came.get(number)?;
        let following = self.came.get(number + 1).copied().unwrap_or(Duration::MAX);
        let until = looked.max(came + TTY_LATE).min(following);
        let known = self.ttys.partition_point(|(at, _)| *at <= until);
        Some(&self.ttys[known.checked_sub(1)?].1)
    }

    /// Returns true if a secret is typed anywhere.
    pub fn has_secret(&self) -> bool {
        self.keys.iter().any(|key| key.is_secret)
    }
}

struct Play {
    terminal: Terminal,
    truth: RecordedTruth,
}

impl Play {
    fn new(size: Size) -> Play {
        let terminal = Terminal::new(size);
        let screen = terminal.screen().clone();
        Play {
            truth: RecordedTruth {
                snapshots: vec![ScreenSnapshot::of(&screen, None)],
                screens: vec![screen],
                first_lines: vec![None],
                keys: Vec::new(),
                written: vec![0],
                came: vec![Duration::ZERO],
                ttys: Vec::new(),
            },
            terminal,
        }
    }

    fn type_keys(&mut self, at: Duration, bytes: &[u8]) {
        let before = self.truth.end();
        for keystroke in keystrokes(bytes).filter(|keystroke| keystroke.kind.is_typed()) {
            self.truth.keys.push(RecordedKey {
                bytes: keystroke.bytes.to_vec(),
                kind: keystroke.kind,
                at,
                before,
                reach: before,
                is_secret: false,
                effect: None,
            });
        }
    }

    /// The window gets another size: a screen of its own, before the programs notice.
    fn resize(&mut self, at: Duration, columns: u16, rows: u16) {
        let before = self.terminal.screen().size();
        let Some(size) = Size::new(rows, columns).filter(|size| *size != before) else {
            return;
        };
        self.terminal.resize(size);
        let written = self.truth.length();
        self.push(at, written, None);
    }

    fn write(&mut self, at: Duration, bytes: &[u8]) {
        let line = bytes.iter().position(|byte| *byte == b'\n');
        let (head, rest) = bytes.split_at(line.map_or(0, |line| line + 1));
        self.terminal.process(head);
        let first_line = line.map(|_| self.terminal.screen().clone());
        self.terminal.process(rest);
        self.terminal.take_replies();
        let written = self.truth.length() + bytes.len();
        self.push(at, written, first_line);
    }

    fn push(&mut self, at: Duration, written: usize, first_line: Option<Screen>) {
        let screen = self.terminal.screen().clone();
        let last = self.truth.end();
        let known = Some((&self.truth.screens[last], &self.truth.snapshots[last]));
        let snapshot = ScreenSnapshot::of(&screen, known);
        let first_line = first_line.map(|line| ScreenSnapshot::of(&line, known));
        self.truth.screens.push(screen);
        self.truth.snapshots.push(snapshot);
        self.truth.written.push(written);
        self.truth.came.push(at);
        self.truth.first_lines.push(first_line);
    }

    fn finish(mut self, meta: Option<&Meta>) -> RecordedTruth {
        for number in 0..self.truth.keys.len() {
            self.truth.keys[number].reach = self.truth.reach(number + 1);
            self.truth.keys[number].effect = self.effect(number);
        }
        if let Some(meta) = meta {
            self.mark_secrets(meta);
            self.note_ttys(meta);
        }
        self.truth
    }

    /// The effect of a key, if there is anything to see.
    fn effect(&self, number: usize) -> Option<RecordedEffect> {
        let key = &self.truth.keys[number];
        let after = self.answered(number)?;
        let part = part(self.truth.snapshot(key.before), self.truth.snapshot(after))?;
        Some(RecordedEffect {
            after,
            part,
            first_line: self.first_line(number, after),
        })
    }

    fn first_line(&self, number: usize, after: usize) -> Option<(ScreenRegion, ScreenSnapshot)> {
        let key = &self.truth.keys[number];
        if !matches!(key.bytes.as_slice(), b"\r" | b"\n") {
            return None;
        }
        let mut lines = (key.before + 1..=after).filter_map(|screen| self.truth.first_line(screen));
        let snapshot = lines.next()?;
        let part = part(self.truth.snapshot(key.before), snapshot)?;
        Some((part, snapshot.clone()))
    }

    /// The screen with which a key's first burst of output is over, if there is one: it begins within
    /// 250 ms, and ends before a gap of 20 ms or the next key that is answered. A key that was
    /// followed by another after 20 ms and more, and not by output, was ignored.
    fn answered(&self, number: usize) -> Option<usize> {
        let key = &self.truth.keys[number];
        let later = &self.truth.keys[number..];
        let is_ignored = later
            .iter()
            .take_while(|later| later.before == key.before)
            .any(|later| later.at >= key.at + BURST_GAP);
        if is_ignored {
            return None;
        }
        let limit = later
            .iter()
            .map(|later| later.before)
            .find(|before| *before > key.before)
            .unwrap_or(self.truth.end());
        let first = key.before + 1;
        if first > limit || self.truth.came[first].saturating_sub(key.at) > ANSWER_WITHIN {
            return None;
        }
        let is_last = |screen: &usize| {
            *screen == limit || self.truth.came[screen + 1] - self.truth.came[*screen] >= BURST_GAP
        };
        (first..=limit).find(is_last)
    }

    fn mark_secrets(&mut self, meta: &Meta) {
        let marks = meta.notes.iter().filter_map(|(at, note)| match note {
            Note::Mark(Mark::SecretOn) => Some((*at, true)),
            Note::Mark(Mark::SecretOff) => Some((*at, false)),
            _ => None,
        });
        let marks: Vec<(Duration, bool)> = marks.collect();
        for key in &mut self.truth.keys {
            let before = marks.iter().rev().find(|(at, _)| *at <= key.at);
            key.is_secret = before.is_some_and(|(_, is_on)| *is_on);
        }
    }

    fn note_ttys(&mut self, meta: &Meta) {
        let notes = meta.notes.iter().filter_map(|(at, note)| match note {
            Note::Tty(tty) => Some((*at, tty.clone())),
            Note::Mark(_) => None,
        });
        self.truth.ttys = notes.collect();
    }
}

/// The longest delay of a note of the terminal's state. Source: the description of the recordings.
const TTY_LATE: Duration = Duration::from_millis(2);

/// Returns the part that is different in one snapshot and to be seen in the other: on the rows of the cursor,
/// before and after, and the cursor if it is visible; or everything, if nothing of that is.
fn part(before: &ScreenSnapshot, after: &ScreenSnapshot) -> Option<ScreenRegion> {
    let rows = [before, after].map(|snapshot| snapshot.cursor.place.row);
    let has_cursor = after.cursor.seen().is_some();
    let cursor_differs = has_cursor && before.cursor.seen() != after.cursor.seen();
    let end = after.cursor.place;
    let is_suggestion = |at: &CellPosition| {
        at.row == end.row && at.column >= end.column && after.look(*at).is_grey()
    };
    let changed: Vec<CellPosition> = after
        .differences(before)
        .filter(|at| !is_suggestion(at))
        .collect();
    let on_rows: Vec<CellPosition> = changed
        .iter()
        .filter(|at| rows.contains(&at.row))
        .copied()
        .collect();
    let places = if on_rows.is_empty() && !cursor_differs {
        changed
    } else {
        on_rows
    };
    let is_seen = cursor_differs || !places.is_empty();
    is_seen.then_some(ScreenRegion { places, has_cursor })
}
