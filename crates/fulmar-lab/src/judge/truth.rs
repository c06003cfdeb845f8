//! The truth of a recording: every screen that its output makes, and what each key does to it.

use super::key_effect::{Chunk, KeyEffect, TypedKey, answer_end, typed_keys};
use crate::trace::{Event, Size, Trace};
use std::ops::Deref;
use std::time::Duration;

/// The screens that output makes, in their order.
pub trait TrueScreens {
    /// The place of a screen among them: later ones come later.
    type Position: Copy + Ord;
    /// The emulator that shows the output.
    type Emulator;

    /// Returns the position of the last screen.
    fn end(&self) -> Self::Position;

    /// Gives the window another size.
    fn resize(&mut self, emulator: &mut Self::Emulator, at: Duration, size: Size);

    /// Shows what was written in one piece, and returns the position behind its first newline.
    fn show(
        &mut self,
        emulator: &mut Self::Emulator,
        at: Duration,
        bytes: &[u8],
    ) -> Option<Self::Position>;

    /// Returns the effect that leads from one screen to another, if there is anything to see.
    fn effect(
        &self,
        before: Self::Position,
        after: Self::Position,
    ) -> Option<KeyEffect<Self::Position>>;
}

/// The screens of a recording, and its keys with what each does to them.
///
/// Screens are kept as those who look at them need it: the judge of real runs has one for each byte, of an emulator that
/// is nobody's; predictions are compared with whole screens of our own. Everything else that is true is the same for both.
#[derive(Debug)]
pub struct Truth<S: TrueScreens> {
    pub(crate) screens: S,
    keys: Vec<TypedKey<S::Position>>,
}

/// A truth answers what its screens do.
impl<S: TrueScreens> Deref for Truth<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.screens
    }
}

impl<S: TrueScreens> Truth<S> {
    /// Plays a trace without delay, from a blank screen on.
    pub(crate) fn play(trace: &Trace, screens: S, mut emulator: S::Emulator) -> Self {
        let keys = Vec::new();
        let mut truth = Self { screens, keys };
        let (mut chunks, mut newlines) = (Vec::new(), Vec::new());
        for record in trace.records() {
            let (at, start) = (record.at, truth.end());
            match &record.event {
                Event::Size(size) => truth.screens.resize(&mut emulator, at, *size),
                Event::User(bytes) => truth.keys.extend(typed_keys(at, bytes, start)),
                Event::Host(bytes) => {
                    newlines.extend(truth.screens.show(&mut emulator, at, bytes));
                    let end = truth.end();
                    chunks.push(Chunk { at, start, end });
                }
            }
        }
        for number in 0..truth.keys.len() {
            truth.keys[number].reach = truth.reach(number + 1);
            truth.keys[number].effects = truth.effects(number, &chunks, &newlines);
        }
        truth
    }

    /// Returns all keys in the order in which they were typed.
    pub fn keys(&self) -> &[TypedKey<S::Position>] {
        &self.keys
    }

    /// Returns the position behind all output.
    pub fn end(&self) -> S::Position {
        self.screens.end()
    }

    /// Returns what can have been written when so many keys were typed: all output before the next one.
    pub fn reach(&self, keys_typed: usize) -> S::Position {
        match self.keys.get(keys_typed) {
            Some(next) => next.before,
            None => self.end(),
        }
    }

    /// Returns the effects of a key: none, one, or, for Enter, two.
    fn effects(
        &self,
        number: usize,
        chunks: &[Chunk<S::Position>],
        newlines: &[S::Position],
    ) -> Vec<KeyEffect<S::Position>> {
        let key = &self.keys[number];
        let Some(after) = answer_end(&self.keys, number, chunks, self.end()) else {
            return Vec::new();
        };
        let first = newlines.partition_point(|newline| *newline <= key.before);
        let newline = newlines.get(first).copied();
        let newline = newline.filter(|newline| key.is_enter() && *newline < after);
        let ends = [Some(after), newline].into_iter().flatten();
        ends.filter_map(|end| self.screens.effect(key.before, end))
            .collect()
    }
}
