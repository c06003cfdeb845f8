//! Answers of the emulator on their way to the program that has asked.

use std::collections::VecDeque;
use std::time::Duration;

use fulmar_base::Time;

/// Answers that wait for the program; more are dropped.
///
/// Source: docs/threat-model.md §6.
const REPLY_BYTES_MAX: usize = 64 * 1024;

/// The most bytes of answers that may lie unread in the terminal when another one is written.
///
/// Chosen by eye: some ten answers, as many as editors and shells ask for at once.
const UNREAD_BYTES_MAX: usize = 128;

/// The most questions that are answered in what is read between a change of the foreground and the moment
/// when nothing older is left: it may be of either program. A program that begins does not ask more. The same
/// holds while a program may have been started, and ended unseen.
///
/// Chosen by eye: editors ask some ten questions when they start.
const MIXED_REPLIES_MAX: usize = 32;

/// The longest time for which an answer waits while the program reads whole lines.
///
/// Chosen by eye: longer than a script takes from its question to the `stty` before its `read`.
const LINE_MODE_MAX: Duration = Duration::from_millis(500);

/// The time that a program has after an interrupt to end or to go on. Meanwhile it is not answered, and what
/// it asks in line mode never is.
///
/// Chosen by eye: longer than interpreters take to end, shorter than it takes to type on.
const INTERRUPT_MAX: Duration = Duration::from_millis(250);

/// The time after Enter in which output of the same program may be that of one that it has started, and that
/// has ended before anybody looked. Chosen by eye.
const ENTERED_MAX: Duration = Duration::from_millis(250);

/// The pauses after which a terminal is looked at again for which answers wait: an eighth of the time
/// that they have waited, within these. Chosen by eye; nothing tells that a program has read.
const LOOK_MIN: Duration = Duration::from_millis(2);
const LOOK_MAX: Duration = Duration::from_millis(250);

/// The program that reads from the terminal, and the way in which it reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TtyReader {
    /// The process group that has the foreground, if that is known.
    pub group: Option<u32>,
    /// Programs read whole lines (`ICANON`).
    pub is_canonical: bool,
    /// Keys upon which the terminal forgets what was written before them and not read.
    pub flush_keys: [Option<u8>; 3],
    /// The number of bytes that wait unread in the terminal, if that is known; 0 only if there are none.
    pub unread: Option<usize>,
}

/// Answers that wait until somebody reads them.
///
/// Whoever asks sets its terminal to single keys and reads the answer. What asks and does not, such as a
/// binary file that is shown, would have its answers typed into whatever reads next: a shell. So they
/// are written only while the terminal is set to single keys and few of them are unread, and those
/// that wait are dropped when somebody else has the foreground, or when an interrupt has the terminal
/// forget what it holds. Keys do not wait for them.
///
/// Source: docs/threat-model.md §6, docs/protocol.md §8.3.
#[derive(Debug, Default)]
pub(crate) struct PtyReplies {
    bytes: VecDeque<u8>,
    /// For each answer that waits, the count of keys before it and its length.
    waiting: VecDeque<(u64, usize)>,
    /// The number of bytes of the first of them that the pty has taken.
    begun: usize,
    /// The number of bytes written that may be unread.
    unread: usize,
    reader: TtyReader,
    /// The time since which the first of them waits.
    since: Option<Time>,
    line_mode_since: Option<Time>,
    /// The time at which a key has interrupted the program that has the foreground, a moment ago.
    interrupted: Option<Time>,
    /// The number of questions since the foreground has changed, as long as those of the program
    /// before may be among them.
    mixed: Option<usize>,
    /// The time at which the program that has the foreground was given a line, a moment ago.
    entered: Option<Time>,
    looked: Option<Time>,
    dropped: u64,
}

impl PtyReplies {
    /// Takes answers to what the program wrote, which wait for the `keys` typed before. There is room for
    /// so many of them, and the rest is dropped.
    pub(crate) fn push(&mut self, now: Time, keys: u64, replies: &[u8]) {
        let is_for_nobody = self.reader.is_canonical && self.interrupted.is_some();
        if let Some(mixed) = &mut self.mixed {
            *mixed = mixed.saturating_add(each(replies).count());
        }
        let is_flood = self.mixed.is_some_and(|mixed| mixed > MIXED_REPLIES_MAX);
        for reply in each(replies) {
            if is_for_nobody || is_flood || self.bytes.len() + reply.len() > REPLY_BYTES_MAX {
                self.dropped = self.dropped.saturating_add(1);
                continue;
            }
            self.bytes.extend(reply);
            self.waiting.push_back((keys, reply.len()));
            self.since.get_or_insert(now);
            if self.reader.is_canonical {
                self.line_mode_since.get_or_insert(now);
            }
        }
    }

    /// The reader of which was heard last.
    pub(crate) fn reader(&self) -> &TtyReader {
        &self.reader
    }

    /// Takes note of who reads.
    pub(crate) fn note_reader(&mut self, now: Time, reader: TtyReader) {
        let before = self.reader.group;
        self.reader = TtyReader {
            // A group that cannot be read for a moment is no other group.
            group: reader.group.or(before),
            ..reader
        };
        self.looked = Some(now);
        // Another program reads now. What the one before has asked would be typed into it
        // (docs/protocol.md §8.3).
        if before.is_some_and(|before| self.reader.group != Some(before)) {
            self.mixed = Some(0);
            self.interrupted = None;
            self.entered = None;
            self.drop_unbegun();
        }
        self.entered = self.entered.filter(|at| now.since(*at) < ENTERED_MAX);
        self.interrupted = self.interrupted.filter(|at| now.since(*at) < INTERRUPT_MAX);
        let is_old = |since| now.since(since) >= LINE_MODE_MAX;
        if self.line_mode_since.is_some_and(is_old) {
            self.drop_unbegun();
        }
        if !reader.is_canonical {
            self.line_mode_since = None;
        }
        // In line mode what is no line does not count.
        if !reader.is_canonical && reader.unread.is_none_or(|unread| unread == 0) {
            self.unread = 0;
        }
    }

    /// Takes note that all that was written before the last look at the terminal was read: what is asked
    /// from here on is asked by whoever has the foreground.
    pub(crate) fn note_drained(&mut self) {
        if self.entered.is_none() {
            self.mixed = None;
        }
    }

    /// Returns what may be written now, when the pty has taken so many keys: whole answers, or the rest of
    /// one.
    pub(crate) fn front(&self, keys: u64) -> &[u8] {
        let room = if self.has_begun() { 0 } else { self.room() };
        let mut length = 0;
        for (place, (after, bytes)) in self.waiting.iter().enumerate() {
            let is_begun = place == 0 && self.begun > 0;
            // Keys that were typed before the question go first.
            if !is_begun && (*after > keys || length >= room) {
                break;
            }
            length += bytes - if is_begun { self.begun } else { 0 };
        }
        let first = self.bytes.as_slices().0;
        first.get(..length).unwrap_or(first)
    }

    /// Returns how many keys are to be written before the next answer; `None` if none may be.
    pub(crate) fn keys_before(&self, keys: u64) -> Option<usize> {
        let (after, _) = self.waiting.front().filter(|_| self.room() > 0)?;
        usize::try_from(after.saturating_sub(keys)).ok()
    }

    /// Takes note that the pty took the first `count` bytes.
    pub(crate) fn take(&mut self, count: usize) {
        let count = count.min(self.bytes.len());
        self.bytes.drain(..count);
        self.unread += count;
        self.begun += count;
        while let Some((_, bytes)) = self.waiting.front().filter(|next| next.1 <= self.begun) {
            self.begun -= bytes;
            self.waiting.pop_front();
        }
        self.rest_if_empty();
    }

    /// Takes note that the pty took these keys. The terminal may forget what was written before them.
    pub(crate) fn keys_taken<'a>(&mut self, now: Time, keys: impl Iterator<Item = &'a u8>) {
        for key in keys {
            if self.reader.flush_keys.contains(&Some(*key)) {
                self.interrupted = Some(now);
                self.unread = 0;
                self.drop_unbegun();
            }
            if matches!(key, b'\r' | b'\n') {
                self.entered = Some(now);
                self.mixed.get_or_insert(0);
            }
        }
    }

    /// Tells whether an answer was begun, which is to be written to its end before anything else.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun > 0
    }

    /// Tells whether it matters what is unread.
    pub(crate) fn wants_unread(&self) -> bool {
        !self.waiting.is_empty() || self.unread > 0
    }

    /// Returns the time at which the terminal is to be looked at again, because answers may not be written now.
    pub(crate) fn due(&self) -> Option<Time> {
        if self.room() > 0 || self.has_begun() {
            return None;
        }
        let (since, looked) = (self.since?, self.looked?);
        let pause = (looked.since(since) / 8).clamp(LOOK_MIN, LOOK_MAX);
        Some(looked + pause)
    }

    /// Returns the number of answers that were dropped.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Returns the number of bytes that may be written, and at most one answer more.
    fn room(&self) -> usize {
        if self.looked.is_none() {
            usize::MAX
        } else if self.reader.is_canonical || self.interrupted.is_some() {
            0
        } else {
            UNREAD_BYTES_MAX.saturating_sub(self.unread)
        }
    }

    /// Drops all but the rest of one that was begun: half of a control sequence would swallow the next
    /// keys that the user types.
    fn drop_unbegun(&mut self) {
        let kept = match (self.begun, self.waiting.front()) {
            (1.., Some((_, bytes))) => (1, bytes - self.begun),
            (_, _) => (0, 0),
        };
        let gone = self.waiting.len().saturating_sub(kept.0);
        self.dropped = self.dropped.saturating_add(gone as u64);
        self.waiting.truncate(kept.0);
        self.bytes.truncate(kept.1);
        self.rest_if_empty();
    }

    fn rest_if_empty(&mut self) {
        if self.waiting.is_empty() {
            self.since = None;
            self.line_mode_since = None;
            self.bytes.shrink_to(UNREAD_BYTES_MAX);
            self.waiting.shrink_to(UNREAD_BYTES_MAX);
        }
    }
}

/// Takes answers apart. Each begins with ESC, and has another one only at its end, in ST.
fn each(replies: &[u8]) -> impl Iterator<Item = &[u8]> {
    let begins =
        |place: usize| replies.get(place) == Some(&0x1b) && replies.get(place + 1) != Some(&b'\\');
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest;
        if start >= replies.len() {
            return None;
        }
        let next = (start + 1..replies.len()).find(|place| begins(*place));
        rest = next.unwrap_or(replies.len());
        replies.get(start..rest)
    })
}

#[cfg(test)]
mod tests;
