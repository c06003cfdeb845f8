//! The truth of a key: what it does to the screen when nothing is in the way.

use std::time::Duration;

use fulmar_terminal::{Screen, Size, Terminal};

use super::snapshot::ScreenSnapshot;
use crate::judge::{KeyEffect, TrueScreens, Truth, TypedKey};
use crate::trace::{self, Mark, Meta, Note, Trace, TtyState};

/// Every screen that the programs of a recording make, and what each key does to it.
///
/// Screens are counted: number 0 is the blank one, and there is one behind each piece of output, one behind the first
/// newline in it, and one for each other size of the window.
pub type RecordedTruth = Truth<RecordedScreens>;

/// One key, by numbers of screens, and what it does.
pub type RecordedKey = TypedKey<usize>;

/// The screens of a [`RecordedTruth`].
#[derive(Debug)]
pub struct RecordedScreens {
    screens: Vec<TrueScreen>,
    /// From when on what is typed is a secret, or none again, as the sidecar says.
    secrets: Vec<(Duration, bool)>,
    /// The states of the terminal, and from when on, if the sidecar has them.
    ttys: Vec<(Duration, TtyState)>,
}

/// A screen of it.
#[derive(Debug)]
struct TrueScreen {
    screen: Screen,
    snapshot: ScreenSnapshot,
    /// The number of bytes of output that lead to it.
    written: usize,
    /// The time at which it came, on the recording's clock.
    came: Duration,
}

impl RecordedTruth {
    /// Plays a recording without delay. `meta` is its sidecar.
    pub fn of(trace: &Trace, meta: Option<&Meta>) -> RecordedTruth {
        let size = Size::new(trace.size().rows, trace.size().columns).unwrap_or_default();
        let mut terminal = Terminal::new(size);
        let notes = meta.map_or(&[][..], |meta| &meta.notes);
        let mut screens = RecordedScreens {
            screens: Vec::new(),
            secrets: notes.iter().filter_map(secret).collect(),
            ttys: notes.iter().filter_map(tty).collect(),
        };
        screens.push(Duration::ZERO, 0, &mut terminal);
        Truth::play(trace, screens, terminal)
    }

    /// Returns when the last of the keys that so many bytes hold was typed, on the recording's clock.
    pub fn typed_at(&self, bytes: usize) -> Option<Duration> {
        let mut end = 0;
        let is_held = |key: &&RecordedKey| {
            end += key.bytes.len();
            end <= bytes
        };
        let held = self.keys().iter().take_while(is_held);
        held.last().map(|key| key.at)
    }

    /// Returns true if a key belongs to a secret.
    pub fn is_secret(&self, key: usize) -> bool {
        let at = self.keys()[key].at;
        let mut marks = self.secrets.iter().rev();
        let before = marks.find(|(from, _)| *from <= at);
        before.is_some_and(|(_, is_on)| *is_on)
    }

    /// Returns true if a secret is typed anywhere.
    pub fn has_secret(&self) -> bool {
        (0..self.keys().len()).any(|key| self.is_secret(key))
    }
}

fn secret((at, note): &(Duration, Note)) -> Option<(Duration, bool)> {
    match note {
        Note::Mark(Mark::SecretOn) => Some((*at, true)),
        Note::Mark(Mark::SecretOff) => Some((*at, false)),
        _ => None,
    }
}

fn tty((at, note): &(Duration, Note)) -> Option<(Duration, TtyState)> {
    match note {
        Note::Tty(tty) => Some((*at, tty.clone())),
        Note::Mark(_) => None,
    }
}

impl RecordedScreens {
    /// Returns the snapshot of a screen.
    pub fn snapshot(&self, number: usize) -> &ScreenSnapshot {
        &self.screens[number].snapshot
    }

    /// Returns the snapshots from one screen to another.
    pub(super) fn snapshots(
        &self,
        from: usize,
        to: usize,
    ) -> impl Iterator<Item = &ScreenSnapshot> {
        (from..=to).map(|screen| self.snapshot(screen))
    }

    /// A screen.
    pub fn screen(&self, number: usize) -> &Screen {
        &self.screens[number].screen
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

    /// Adds what the terminal shows now.
    fn push(&mut self, came: Duration, written: usize, terminal: &mut Terminal) {
        terminal.take_replies();
        let screen = terminal.screen().clone();
        let last = self.screens.last();
        let snapshot = ScreenSnapshot::of(&screen, last.map(|last| (&last.screen, &last.snapshot)));
        self.screens.push(TrueScreen {
            screen,
            snapshot,
            written,
            came,
        });
    }
}

impl TrueScreens for RecordedScreens {
    type Position = usize;
    type Emulator = Terminal;

    fn end(&self) -> usize {
        self.screens.len() - 1
    }

    /// The window gets another size: a screen of its own, before the programs notice.
    fn resize(&mut self, terminal: &mut Terminal, at: Duration, size: trace::Size) {
        let before = terminal.screen().size();
        if let Some(size) = Size::new(size.rows, size.columns).filter(|size| *size != before) {
            terminal.resize(size);
            self.push(at, self.length(), terminal);
        }
    }

    fn show(&mut self, terminal: &mut Terminal, at: Duration, bytes: &[u8]) -> Option<usize> {
        let newline = bytes.iter().position(|byte| *byte == b'\n');
        let behind_newline = newline.map_or(bytes.len(), |newline| newline + 1);
        let (head, rest) = bytes.split_at(behind_newline);
        terminal.process(head);
        self.push(at, self.length() + head.len(), terminal);
        let end = self.end();
        if !rest.is_empty() {
            terminal.process(rest);
            self.push(at, self.length() + rest.len(), terminal);
        }
        newline.map(|_| end)
    }

    fn effect(&self, before: usize, after: usize) -> Option<KeyEffect<usize>> {
        let (known, snapshot) = (self.snapshot(before), self.snapshot(after));
        KeyEffect::between(
            (before, known.caret()),
            (after, snapshot.caret()),
            snapshot.differences(known),
            |at| snapshot.look(at).is_grey(),
        )
    }
}

/// The longest delay of a note of the terminal's state. Source: the description of the recordings.
const TTY_LATE: Duration = Duration::from_millis(2);
