//! Counts frames with half a redraw: those that left while a program was still drawing.
//!
//! A recording's keys and writes, at their times, go through a [`CollectionRule`] and our terminal. What leaves is
//! counted as it would be on a path of which every frame finds room.
//!
//! A *burst* is a run of writes that are less than 8 ms apart, with no key between them. A frame that takes the first writes
//! of a burst, while the rest changes the screen once more, has cut it. Stock's 8 ms decide what a burst is, so
//! that stock cuts only bursts that last longer.
//!
//! # What is not the same as in a session
//!
//! - A key has reached the program when the recording has it, and nothing is lost.
//! - Echo acks, acknowledgements and the first frames, which wait for no interval, are left out.

mod rule;
mod wire;

use std::time::Duration;

use anyhow::{Context as _, Result};
use fulmar_base::Time;
use fulmar_terminal::{Size, Terminal};
use fulmar_transport::timing::Content;

use super::words::time;
use crate::trace::{Event, Trace};
pub use rule::CollectionRule;
use wire::Wire;

/// Writes that are closer together belong together.
///
/// Source: docs/protocol.md §5.4, stock's collection delay.
const BURST_GAP: Duration = Duration::from_millis(8);

/// The frames that a rule made of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RedrawTally {
    /// The number of frames.
    pub frames: usize,
    /// The number of those that cut a burst.
    pub cuts: usize,
    /// The bytes of all datagrams, with the headers of IPv4 and UDP.
    pub bytes: usize,
    /// The time that each answer to a key waited, from its first write to its first frame.
    pub waits: Vec<Duration>,
}

impl RedrawTally {
    /// Counts what a rule makes of a recording on a path with this round trip.
    ///
    /// # Errors
    ///
    /// Where no window has the size of the recording, or a frame is longer than any.
    pub fn of(recording: &Trace, rule: CollectionRule, round_trip: Duration) -> Result<Self> {
        let mut replay = Replay::new(size(recording.size())?, rule, round_trip);
        for record in recording.records() {
            let now = time(record.at);
            replay.run_until(now)?;
            match &record.event {
                Event::Size(wanted) => replay.terminal.resize(size(*wanted)?),
                Event::User(_) => replay.handle_key(),
                Event::Host(bytes) => replay.handle_write(now, bytes),
            }
        }
        replay.send()?;
        replay.tally.bytes = replay.wire.bytes;
        Ok(replay.tally)
    }

    /// Returns both together.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.frames += other.frames;
        self.cuts += other.cuts;
        self.bytes += other.bytes;
        self.waits.extend(other.waits);
        self
    }
}

fn size(wanted: crate::trace::Size) -> Result<Size> {
    Size::new(wanted.rows, wanted.columns).context("no window has the size of the recording")
}

/// A recording on its way through a rule.
struct Replay {
    rule: CollectionRule,
    round_trip: Duration,
    terminal: Terminal,
    wire: Wire,
    /// The first and the last write that wait for a frame.
    waiting: Option<(Time, Time)>,
    /// The newest write, if no key has come since.
    last_write: Option<Time>,
    /// True if what waits goes on with what the last frame had.
    is_rest: bool,
    last_frame: Option<Time>,
    answer_frames: u8,
    /// True from a key to the first frame after it.
    is_answer: bool,
    tally: RedrawTally,
}

impl Replay {
    fn new(size: Size, rule: CollectionRule, round_trip: Duration) -> Self {
        Self {
            rule,
            round_trip,
            terminal: Terminal::new(size),
            wire: Wire::new(size),
            waiting: None,
            last_write: None,
            is_rest: false,
            last_frame: None,
            answer_frames: 0,
            is_answer: false,
            tally: RedrawTally::default(),
        }
    }

    fn handle_key(&mut self) {
        self.answer_frames = self.rule.answer_frames;
        self.last_write = None;
        self.is_answer = true;
    }

    fn handle_write(&mut self, now: Time, bytes: &[u8]) {
        self.terminal.process(bytes);
        let is_near = |last: Time| now < last + BURST_GAP;
        let first = match self.waiting {
            Some((first, _)) => first,
            None => {
                self.is_rest = self.last_frame.is_some() && self.last_write.is_some_and(is_near);
                now
            }
        };
        self.waiting = Some((first, now));
        self.last_write = Some(now);
    }

    /// Lets go what leaves before `now`; a write at that very moment travels with it.
    fn run_until(&mut self, now: Time) -> Result<()> {
        if self.leaves().is_some_and(|leaves| leaves < now) {
            self.send()?;
        }
        Ok(())
    }

    fn leaves(&self) -> Option<Time> {
        let waiting = self.waiting?;
        let leaves = self
            .rule
            .leaves(self.content(), waiting, self.last_frame, self.round_trip);
        Some(leaves)
    }

    fn content(&self) -> Content {
        let is_first = self.answer_frames == self.rule.answer_frames;
        if self.answer_frames == 0 {
            Content::Output
        } else if is_first && self.wire.is_echo(self.terminal.screen()) {
            Content::Echo
        } else {
            Content::Answer
        }
    }

    fn send(&mut self) -> Result<()> {
        let (Some(leaves), Some((first, _))) = (self.leaves(), self.waiting.take()) else {
            return Ok(());
        };
        if !self.wire.send(self.terminal.screen())? {
            return Ok(());
        }
        self.tally.frames += 1;
        self.tally.cuts += usize::from(self.is_rest);
        if std::mem::take(&mut self.is_answer) {
            self.tally.waits.push(leaves.since(first));
        }
        self.answer_frames = self.answer_frames.saturating_sub(1);
        self.last_frame = Some(leaves);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
