//! Tells what a user can see while the run goes on.

use crate::judge::{Change, GroundTruth, OutputPosition, ScreenObserver};
use crate::trace::Size;

/// The user's terminal, and what the user knows of the recording.
pub struct ScreenReader<'a> {
    truth: &'a GroundTruth,
    observer: ScreenObserver,
    typed: usize,
    changes: Vec<Change>,
}

impl<'a> ScreenReader<'a> {
    /// Returns a reader at a blank terminal.
    pub fn new(truth: &'a GroundTruth, size: Size) -> Self {
        Self {
            truth,
            observer: ScreenObserver::new(size),
            typed: 0,
            changes: Vec::new(),
        }
    }

    /// Shows the terminal some output.
    pub fn show(&mut self, bytes: &[u8]) {
        self.observer.show(bytes, &mut self.changes);
        self.changes.clear();
    }

    /// Takes in that so many more keys were typed.
    pub fn type_keys(&mut self, keys: usize) {
        self.typed += keys;
    }

    /// Returns how many keys were typed.
    pub fn typed(&self) -> usize {
        self.typed
    }

    /// Returns the terminal.
    pub fn observer(&self) -> &ScreenObserver {
        &self.observer
    }

    /// True when what the host wrote up to `position` is to be seen: a stamp says so, or the whole
    /// screen is one that the host made with it, and that the keys typed so far can lead to, on a terminal with or
    /// without an alternate screen.
    pub fn sees(&self, position: OutputPosition) -> bool {
        self.is_stamped(position) == Some(true) || self.looks_like(position)
    }

    /// As [`sees`](Self::sees), but in a run with stamps a guess will not do: the whole screen has to
    /// be right, and the host's answer in it.
    pub(crate) fn has_for_certain(&self, position: OutputPosition) -> bool {
        self.is_stamped(position) != Some(false) && self.looks_like(position)
    }

    fn looks_like(&self, position: OutputPosition) -> bool {
        let reach = self.truth.reach(self.typed);
        self.truth.renderings().iter().any(|truth| {
            let last = truth.last_like(self.observer.hash(), reach);
            last.is_some_and(|last| last >= truth.since(position))
        })
    }

    /// Returns true if the newest stamp says so; `None` without one.
    fn is_stamped(&self, position: OutputPosition) -> Option<bool> {
        let stamp = self.observer.stamp()?;
        Some(OutputPosition(stamp.0) >= self.truth.since(position))
    }
}
