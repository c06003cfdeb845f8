//! The truth of a key: what it does to the screen when nothing is in the way.

use std::collections::BTreeSet;
use std::time::Duration;

use fulmar_terminal::{Screen, Size, Terminal};

use super::snapshot::ScreenSnapshot;
use crate::judge::{Chunk, KeyEffect, TypedKey, answer_end, typed_keys};
use crate::trace::{Event, Mark, Meta, Note, Trace, TtyState};

/// Every screen that the programs of a recording make, and what each key does to it.
///
/// Screens are counted: number 0 is the blank one, number n that behind the nth piece of output or other
/// size of the window.
#[derive(Debug)]
pub struct RecordedTruth {
    screens: Vec<TrueScreen>,
    keys: Vec<RecordedKey>,
    /// The keys that belong to a secret.
    secret_keys: BTreeSet<usize>,
    /// The states of the terminal, and from when on, if the sidecar has them.
    ttys: Vec<(Duration, TtyState)>,
}

/// A screen of it.
#[derive(Debug)]
struct TrueScreen {
    screen: Screen,
    snapshot: ScreenSnapshot,
    /// The snapshot behind the first newline of the output that leads to it.
    first_line: Option<ScreenSnapshot>,
    /// The number of bytes of output that lead to it.
    written: usize,
    /// The time at which it came, on the recording's clock.
    came: Duration,
}

/// One key, by numbers of screens, and what it does; `None` for nothing that can be seen.
pub type RecordedKey = TypedKey<usize, Option<RecordedEffect>>;

/// The effect of a key on the screen.
#[derive(Clone, Debug)]
pub struct RecordedEffect {
    /// The part of the screen that it touches.
    pub part: KeyEffect<usize>,
    /// For Enter another screen that will do: that after the first newline.
    pub first_line: Option<(KeyEffect<usize>, ScreenSnapshot)>,
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
        &self.screens[number].snapshot
    }

    /// Returns the snapshot that is there for a moment behind the first newline of the output that leads to a screen.
    pub fn first_line(&self, number: usize) -> Option<&ScreenSnapshot> {
        self.screens[number].first_line.as_ref()
    }

    /// Returns the snapshots from one screen to another, and those on the way between them.
    pub(super) fn snapshots(
        &self,
        from: usize,
        to: usize,
    ) -> impl Iterator<Item = &ScreenSnapshot> {
        let behind_newlines = (from + 1..=to).filter_map(|screen| self.first_line(screen));
        let screens = (from..=to).map(|screen| self.snapshot(screen));
        screens.chain(behind_newlines)
    }

    /// A screen.
    pub fn screen(&self, number: usize) -> &Screen {
        &self.screens[number].screen
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
        self.screens
            .partition_point(|screen| screen.written <= written)
            - 1
    }

    /// Returns the number of bytes of output that lead to a screen.
    pub fn written(&self, number: usize) -> usize {
        self.screens[number].written
    }

    /// Returns the number of bytes of output in all.
    pub fn length(&self) -> usize {
        self.written(self.end())
    }

    /// Returns the state of the terminal at a screen, when it was looked at last: with the screen, or at a
    /// later time of the recording's, but not after the next screen.
    pub fn tty(&self, number: usize, looked: Duration) -> Option<&TtyState> {
        // A stamp comes right after the read it belongs to.
        let came = self.screens[number].came;
        let following = self.screens.get(number + 1);
        let following = following.map_or(Duration::MAX, |screen| screen.came);
        let until = looked.max(came + TTY_LATE).min(following);
        let known = self.ttys.partition_point(|(at, _)| *at <= until);
        Some(&self.ttys[known.checked_sub(1)?].1)
    }

    /// Returns when the last of the keys that so many bytes hold was typed, on the recording's clock.
    pub fn typed_at(&self, bytes: usize) -> Option<Duration> {
        let mut end = 0;
        let is_held = |key: &&RecordedKey| {
            end += key.bytes.len();
            end <= bytes
        };
        let held = self.keys.iter().take_while(is_held);
        held.last().map(|key| key.at)
    }

    /// Returns true if a key belongs to a secret.
    pub fn is_secret(&self, key: usize) -> bool {
        self.secret_keys.contains(&key)
    }

    /// Returns true if a secret is typed anywhere.
    pub fn has_secret(&self) -> bool {
        !self.secret_keys.is_empty()
    }

    /// Returns the part of the screen that changes from one screen to a later look at it, if there is anything to see.
    fn effect(
        &self,
        before: usize,
        after: usize,
        snapshot: &ScreenSnapshot,
    ) -> Option<KeyEffect<usize>> {
        let known = self.snapshot(before);
        KeyEffect::between(
            (before, known.cursor),
            (after, snapshot.cursor),
            snapshot.differences(known),
            |at| snapshot.look(at).is_grey(),
        )
    }
}

struct Play {
    terminal: Terminal,
    truth: RecordedTruth,
}

impl Play {
    fn new(size: Size) -> Play {
        let terminal = Terminal::new(size);
        let blank = TrueScreen {
            screen: terminal.screen().clone(),
            snapshot: ScreenSnapshot::of(terminal.screen(), None),
            first_line: None,
            written: 0,
            came: Duration::ZERO,
        };
        Play {
            truth: RecordedTruth {
                screens: vec![blank],
                keys: Vec::new(),
                secret_keys: BTreeSet::new(),
                ttys: Vec::new(),
            },
            terminal,
        }
    }

    fn type_keys(&mut self, at: Duration, bytes: &[u8]) {
        let keys = typed_keys(at, bytes, self.truth.end());
        self.truth.keys.extend(keys);
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

    fn push(&mut self, came: Duration, written: usize, first_line: Option<Screen>) {
        let screen = self.terminal.screen().clone();
        let last = &self.truth.screens[self.truth.end()];
        let known = Some((&last.screen, &last.snapshot));
        self.truth.screens.push(TrueScreen {
            snapshot: ScreenSnapshot::of(&screen, known),
            first_line: first_line.map(|line| ScreenSnapshot::of(&line, known)),
            screen,
            written,
            came,
        });
    }

    fn finish(mut self, meta: Option<&Meta>) -> RecordedTruth {
        let screens = self.truth.screens.iter().enumerate().skip(1);
        let chunks = screens.map(|(number, screen)| Chunk {
            at: screen.came,
            start: number - 1,
            end: number,
        });
        let chunks: Vec<Chunk<usize>> = chunks.collect();
        for number in 0..self.truth.keys.len() {
            self.truth.keys[number].reach = self.truth.reach(number + 1);
            self.truth.keys[number].effect = self.effect(number, &chunks);
        }
        if let Some(meta) = meta {
            self.mark_secrets(meta);
            self.note_ttys(meta);
        }
        self.truth
    }

    /// The effect of a key, if there is anything to see.
    fn effect(&self, number: usize, chunks: &[Chunk<usize>]) -> Option<RecordedEffect> {
        let (truth, key) = (&self.truth, &self.truth.keys[number]);
        let after = answer_end(&truth.keys, number, chunks, truth.end())?;
        let mut lines = (key.before + 1..=after).filter_map(|screen| truth.first_line(screen));
        let line = lines.next().filter(|_| key.is_enter());
        let first_line = line.and_then(|line| {
            let part = truth.effect(key.before, after, line)?;
            Some((part, line.clone()))
        });
        Some(RecordedEffect {
            part: truth.effect(key.before, after, truth.snapshot(after))?,
            first_line,
        })
    }

    fn mark_secrets(&mut self, meta: &Meta) {
        let marks = meta.notes.iter().filter_map(|(at, note)| match note {
            Note::Mark(Mark::SecretOn) => Some((*at, true)),
            Note::Mark(Mark::SecretOff) => Some((*at, false)),
            _ => None,
        });
        let marks: Vec<(Duration, bool)> = marks.collect();
        for (number, key) in self.truth.keys.iter().enumerate() {
            let before = marks.iter().rev().find(|(at, _)| *at <= key.at);
            if before.is_some_and(|(_, is_on)| *is_on) {
                self.truth.secret_keys.insert(number);
            }
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
