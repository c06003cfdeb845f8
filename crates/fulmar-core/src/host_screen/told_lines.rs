//! The lines of the history that a client is being told.

use std::collections::VecDeque;
use std::rc::Rc;

use fulmar_terminal::History;

use crate::history_place::HistoryPlace;

/// The most bytes of lines that are told and not known to have arrived, but for the last line: what a person who types after an outage
/// may have to wait for.
///
/// Chosen by eye: a second of a slow link, and at a round trip of 100 ms 300 kB/s.
const WINDOW_BYTES: usize = 32 << 10;

/// The lines from the first on that the client may not have. The states of one connection share them.
#[derive(Debug, Default)]
pub(crate) struct ToldLines {
    /// In the order of their numbers; those in between are gone.
    lines: VecDeque<(u64, Rc<[u8]>)>,
    bytes: usize,
}

/// Lines with numbers in a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Run {
    /// The number of the first.
    pub(crate) first: u64,
    pub(crate) lines: Vec<Rc<[u8]>>,
}

impl Run {
    /// The number of the next line.
    pub(crate) fn end(&self) -> u64 {
        self.first + self.lines.len() as u64
    }
}

impl ToldLines {
    /// Forgets the lines before `number`, which the client has, and fills the window with those of `history` that the screen at
    /// `place` has above it.
    pub(crate) fn follow(&mut self, number: u64, history: &History<'_>, place: HistoryPlace) {
        let number = number.max(place.cleared_at);
        while let Some((first, line)) = self.lines.front()
            && *first < number
        {
            self.bytes -= cost(line);
            self.lines.pop_front();
        }
        let last = self.lines.back().map_or(number, |(last, _)| last + 1);
        let mut packed = Vec::new();
        for next in last.max(history.first())..place.end {
            if self.bytes >= WINDOW_BYTES || !history.read(next, &mut packed) {
                break;
            }
            self.bytes += cost(&packed);
            self.lines.push_back((next, packed.as_slice().into()));
        }
    }

    /// The number behind the last line.
    pub(crate) fn end(&self) -> Option<u64> {
        self.lines.back().map(|(last, _)| last + 1)
    }

    /// The lines from `from` on and before `to` that have numbers in a row and at most so many bytes. If `is_alone`, there is at least one
    /// if there is any.
    pub(crate) fn run(&self, from: u64, to: u64, bytes_max: usize, is_alone: bool) -> Run {
        let start = self.lines.partition_point(|(number, _)| *number < from);
        let mut run = Run {
            first: to,
            lines: Vec::new(),
        };
        let mut left = bytes_max;
        for (number, line) in self.lines.range(start..) {
            let cost = cost(line);
            let is_wanted = cost <= left || is_alone && run.lines.is_empty();
            if run.lines.is_empty() && *number < to {
                run.first = *number;
            }
            if *number >= to || !is_wanted || *number != run.end() {
                break;
            }
            left = left.saturating_sub(cost);
            run.lines.push(Rc::clone(line));
        }
        if run.lines.is_empty() && run.first < to {
            // No room, and nothing is told: not that lines are gone, either.
            run.first = from;
        }
        run
    }

    /// The last lines from `from` on and before `to` that have numbers in a row up to there, whatever their length: what a
    /// single message has to say that leaves nothing to be told.
    pub(crate) fn run_to_end(&self, from: u64, to: u64) -> Run {
        let end = self.lines.partition_point(|(number, _)| *number < to);
        let mut run = Run {
            first: to,
            lines: Vec::new(),
        };
        for (number, line) in self.lines.range(..end).rev() {
            if *number < from || number.checked_add(1) != Some(run.first) {
                break;
            }
            run.first = *number;
            run.lines.push(Rc::clone(line));
        }
        run.lines.reverse();
        run
    }
}

/// The most bytes that a line needs in a message beside its own.
///
/// Source: docs/protocol.md §13.14, as the encoding of Protocol Buffers has it.
const LINE_OVERHEAD_BYTES: usize = 1 + 3;

/// Returns the most bytes that a packed line takes in a message: more than none if it is empty.
pub(super) fn cost(line: &[u8]) -> usize {
    line.len() + LINE_OVERHEAD_BYTES
}

#[cfg(test)]
mod tests {
    use fulmar_terminal::{ScrollbackLimits, Size, Terminal};

    use super::*;

    #[test]
    fn empty_lines_fill_the_window_too() {
        let mut terminal = Terminal::new(Size::new(2, 8).unwrap());
        terminal.keep_history(ScrollbackLimits {
            lines: usize::MAX,
            ..ScrollbackLimits::default()
        });
        terminal.process(&[b'\n'; 20_000]);
        let history = terminal.history().unwrap();
        let place = HistoryPlace {
            end: history.end(),
            ..HistoryPlace::default()
        };
        let mut told = ToldLines::default();
        told.follow(0, &history, place);
        assert_eq!(
            told.end(),
            Some((WINDOW_BYTES / LINE_OVERHEAD_BYTES) as u64)
        );
        told.follow(10, &history, place);
        assert_eq!(
            told.end(),
            Some((WINDOW_BYTES / LINE_OVERHEAD_BYTES + 10) as u64)
        );
    }

    fn lines(numbers: &[u64]) -> ToldLines {
        let line = |number: &u64| (*number, Rc::from(number.to_string().as_bytes()));
        ToldLines {
            lines: numbers.iter().map(line).collect(),
            bytes: 0,
        }
    }

    fn numbers(run: &Run) -> std::ops::Range<u64> {
        run.first..run.end()
    }

    #[test]
    fn a_run_ends_where_a_number_is_missing_or_there_is_no_room() {
        let told = lines(&[3, 4, 5, 8, 9]);
        assert_eq!(numbers(&told.run(0, 10, 1000, false)), 3..6);
        assert_eq!(numbers(&told.run(4, 5, 1000, false)), 4..5);
        assert_eq!(numbers(&told.run(6, 10, 1000, false)), 8..10);
        assert_eq!(numbers(&told.run(3, 10, 11, false)), 3..5);
    }

    #[test]
    fn without_room_nothing_is_said_of_lines_that_are_gone() {
        let told = lines(&[3, 4]);
        assert_eq!(numbers(&told.run(1, 5, 2, false)), 1..1);
        assert_eq!(numbers(&told.run(1, 5, 2, true)), 3..4);
    }

    #[test]
    fn without_a_limit_all_is_told_that_leads_to_the_end() {
        let told = lines(&[1, 2, 5, 6, 7, 9]);
        let run = |from, to| numbers(&told.run_to_end(from, to));
        assert_eq!(run(1, 8), 5..8);
        assert_eq!(run(6, 8), 6..8);
        assert_eq!(run(1, 3), 1..3);
        assert_eq!(run(1, 9), 9..9, "the last is gone");
        assert_eq!(run(9, 3), 3..3);
    }

    #[test]
    fn lines_that_are_all_gone_are_left_out() {
        assert_eq!(numbers(&lines(&[]).run(1, 5, 1000, false)), 5..5);
    }
}
