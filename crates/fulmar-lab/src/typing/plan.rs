//! The plan of what a user types, and of what it waits for before.

use crate::judge::{GroundTruth, OutputPosition};
use crate::trace::{Event, Trace, keystrokes, typed_keys};
use std::time::Duration;

/// The kind of user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum TypingLoop {
    /// Waits for the answer to each key.
    Closed,
    /// Keeps the recorded rhythm, but for what has to be read first.
    Open,
    /// Types at the recorded times and never looks.
    Recorded,
}

impl TypingLoop {
    /// Returns its name on the command line, in the names of cells and in outcomes.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::Recorded => "recorded",
        }
    }
}

/// The least time that it takes to read what the host wrote. Who types sooner has not read it.
///
/// Chosen by eye, between the time that a person takes to choose an answer to something seen (0.3 to
/// 0.5 s) and the pauses of the recordings after a command (0.4 to 1.2 s).
pub const READING: Duration = Duration::from_millis(400);

/// So many cells outside of the cursor's rows are more than an echo, and more than the numbers in a
/// status line. Chosen by eye.
pub const RESULT_CELLS: usize = 10;

/// One write by the keyboard's side, without what terminals answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlannedWrite {
    pub(crate) bytes: Vec<u8>,
    /// The number of keys that it holds.
    pub(crate) keys: usize,
    /// The event that it waits for.
    pub(crate) cue: WriteCue,
    /// The time after that at which it comes.
    pub(crate) pause: Duration,
}

/// The event that a key waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteCue {
    /// The write before it; before the first one, the beginning.
    Write,
    /// The first output after the write before it.
    Output,
    /// The output up to here is to be seen.
    Result(OutputPosition),
}

/// A write of the recording, with what the host did about it before the next one.
struct Recorded<'a> {
    bytes: Vec<u8>,
    keys: usize,
    /// The number of its last key.
    last_key: usize,
    at: Duration,
    /// The host's output until the next write: when, and up to which position.
    answer: Vec<(Duration, OutputPosition)>,
    truth: &'a GroundTruth,
}

/// Returns the plan of a user for a recording, of which `truth` is the truth.
pub(crate) fn plan(trace: &Trace, truth: &GroundTruth, user: TypingLoop) -> Vec<PlannedWrite> {
    let (prompt, writes) = recorded(trace, truth);
    let mut planned = Vec::new();
    for (number, write) in writes.iter().enumerate() {
        let (cue, since) = match number.checked_sub(1) {
            Some(last) => writes[last].cue(write.at, user),
            None if user == TypingLoop::Recorded => (WriteCue::Write, trace.began()),
            None => first_cue(&prompt, trace.began(), write.at),
        };
        planned.push(PlannedWrite {
            bytes: write.bytes.clone(),
            keys: write.keys,
            cue,
            pause: write.at - since,
        });
    }
    planned
}

/// Returns the cue of both users at the beginning: the prompt, if there is one and it was read.
fn first_cue(
    prompt: &[(Duration, OutputPosition)],
    began: Duration,
    at: Duration,
) -> (WriteCue, Duration) {
    match prompt.iter().rfind(|(written, _)| *written + READING <= at) {
        Some((written, position)) => (WriteCue::Result(*position), *written),
        None => (WriteCue::Write, began),
    }
}

impl Recorded<'_> {
    /// Returns what a write at `next` after this one waits for, and when that was in the recording.
    fn cue(&self, next: Duration, user: TypingLoop) -> (WriteCue, Duration) {
        let has_effect = self.truth.keys()[self.last_key].has_effect();
        match (user, self.answer.first()) {
            (TypingLoop::Closed, Some((first, _))) if has_effect => (WriteCue::Output, *first),
            (TypingLoop::Closed, _) => (WriteCue::Write, self.at),
            (TypingLoop::Recorded, _) => (WriteCue::Write, self.at),
            (TypingLoop::Open, _) => self.result(next).unwrap_or((WriteCue::Write, self.at)),
        }
    }

    /// Returns the result of this write that was read before `next`, and when it was complete.
    fn result(&self, next: Duration) -> Option<(WriteCue, Duration)> {
        let (written, position) = self
            .answer
            .iter()
            .rfind(|(written, _)| *written + READING <= next)?;
        let is_result = !is_typed_in_a_row(&self.bytes) || self.changes_much(*position);
        is_result.then_some((WriteCue::Result(*position), *written))
    }

    fn changes_much(&self, position: OutputPosition) -> bool {
        let before = self.truth.keys()[self.last_key].before;
        let rows = [before, position].map(|at| self.truth.cursor(at).place.row);
        let changed = self.truth.difference(before, position);
        let outside = changed.iter().filter(|place| !rows.contains(&place.row));
        outside.count() >= RESULT_CELLS
    }
}

/// True for characters, Backspace, Left and Right: what nobody looks up for after each.
fn is_typed_in_a_row(bytes: &[u8]) -> bool {
    keystrokes(bytes).all(|keystroke| match keystroke.bytes {
        [0x7f | 0x08] => true,
        [0x1b, b'[' | b'O', last] => matches!(last, b'C' | b'D'),
        [first, ..] => *first >= b' ',
        [] => true,
    })
}

/// Returns what the host wrote before the first key, and all writes of the user.
fn recorded<'a>(
    trace: &Trace,
    truth: &'a GroundTruth,
) -> (Vec<(Duration, OutputPosition)>, Vec<Recorded<'a>>) {
    let mut prompt = Vec::new();
    let mut writes: Vec<Recorded> = Vec::new();
    let (mut keys, mut position) = (0, 0);
    for record in trace.records() {
        match &record.event {
            Event::Size(_) => {}
            Event::Host(bytes) => {
                position += bytes.len();
                let written = (record.at, OutputPosition(position));
                let last = writes.last_mut();
                last.map_or(&mut prompt, |last| &mut last.answer)
                    .push(written);
            }
            Event::User(bytes) => {
                let typed: Vec<&[u8]> = typed_keys(bytes).collect();
                keys += typed.len();
                if !typed.is_empty() {
                    writes.push(Recorded {
                        bytes: typed.concat(),
                        keys: typed.len(),
                        last_key: keys - 1,
                        at: record.at,
                        answer: Vec::new(),
                        truth,
                    });
                }
            }
        }
    }
    (prompt, writes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what each write waits for, and how long after that it comes, in milliseconds.
    fn cues(session: &str, user: TypingLoop) -> Vec<(WriteCue, u128)> {
        let trace = Trace::parse(session.as_bytes()).unwrap();
        let planned = plan(&trace, &GroundTruth::of(&trace), user);
        let cues = planned
            .iter()
            .map(|write| (write.cue, write.pause.as_millis()));
        cues.collect()
    }

    fn result(position: usize) -> WriteCue {
        WriteCue::Result(OutputPosition(position))
    }

    #[test]
    fn a_result_is_one_that_was_there_long_enough_to_be_read() {
        let session = |next: u32| {
            format!(
                "0 SIZE 20 4\n100000 HOST 2\n$ \n500000 USER 1\n\r\n600000 HOST 4\n\r\nfi\n\
                 700000 HOST 2\nle\n{next}000 USER 1\nq\n{next}001 HOST 1\nq\n"
            )
        };
        let of = |next| cues(&session(next), TypingLoop::Open);
        assert_eq!(of(1100), [(result(2), 400), (result(8), 400)]);
        assert_eq!(of(1099), [(result(2), 400), (result(6), 499)]);
        assert_eq!(of(999), [(result(2), 400), (WriteCue::Write, 499)]);
    }

    #[test]
    fn a_prompt_that_nobody_could_read_is_not_waited_for() {
        let early = "0 SIZE 20 4\n100000 HOST 2\n$ \n499000 USER 1\nl\n";
        assert_eq!(cues(early, TypingLoop::Open), [(WriteCue::Write, 499)]);
        assert_eq!(cues(early, TypingLoop::Closed), [(WriteCue::Write, 499)]);
        let read = "7000 SIZE 20 4\n100000 HOST 2\n$ \n500000 USER 1\nl\n";
        assert_eq!(cues(read, TypingLoop::Closed), [(result(2), 400)]);
        assert_eq!(cues(read, TypingLoop::Recorded), [(WriteCue::Write, 493)]);
    }

    #[test]
    fn what_is_typed_in_a_row_has_a_result_only_where_it_changes_much() {
        let session = |key: &str, drawn: &str| {
            format!(
                "0 SIZE 20 4\n100000 USER {}\n{key}\n200000 HOST {}\n{drawn}\n900000 USER 1\nq\n",
                key.len(),
                drawn.len()
            )
        };
        let waits = |key, drawn: &str| cues(&session(key, drawn), TypingLoop::Open)[1].0;
        let elsewhere = |text: &str| format!("\x1b7\x1b[3;1H{text}\x1b8");
        let (few, many) = (elsewhere("123456789"), elsewhere("1234567890"));
        for key in ["x", "é", "\x7f", "\x08", "\x1b[C", "\x1bOD"] {
            assert_eq!(waits(key, &few), WriteCue::Write, "{key:?}");
            assert_eq!(waits(key, &many), result(many.len()), "{key:?}");
        }
        // The row of the cursor does not count, where it was and where it is.
        assert_eq!(waits("x", "12345678901234"), WriteCue::Write);
        assert_eq!(waits("x", "\x1b[3;1H12345678901234"), WriteCue::Write);
        for key in ["\r", "\t", "\x1b[A", "\x1b[B", "\x1b[3~", "\x01"] {
            assert_eq!(waits(key, &few), result(few.len()), "{key:?}");
        }
    }

    #[test]
    fn in_closed_loop_only_a_key_with_an_effect_has_an_answer() {
        let session = "0 SIZE 20 4\n100000 USER 1\nl\n101000 HOST 1\nl\n105000 HOST 1\n!\n\
            500000 USER 1\n\x01\n600000 HOST 1\n\x07\n900000 USER 1\nx\n";
        let expected = [
            (WriteCue::Write, 100),
            (WriteCue::Output, 399),
            (WriteCue::Write, 400),
        ];
        assert_eq!(cues(session, TypingLoop::Closed), expected);
    }

    #[test]
    fn answers_of_terminals_are_not_typed() {
        let session = "0 SIZE 20 4\n100000 USER 6\n\x1b[1;1R\n200000 USER 7\na\x1b[1;1R\n";
        let trace = Trace::parse(session.as_bytes()).unwrap();
        let planned = plan(&trace, &GroundTruth::of(&trace), TypingLoop::Recorded);
        assert_eq!(planned.len(), 1);
        assert_eq!(
            (planned[0].bytes.as_slice(), planned[0].keys),
            (&b"a"[..], 1)
        );
    }
}
