//! The lines of the history that have arrived.

use std::collections::VecDeque;

use fulmar_terminal::unpack_line;

use crate::history_item::HistoryItem;
use crate::history_place::HistoryPlace;

/// The most lines and bytes that wait to be fetched; then all of them count as lines that never come. As many as a server keeps by
/// default.
///
/// Source: docs/threat-model.md §6.
const LINES_MAX: usize = 10_000;
const BYTES_MAX: usize = 16 << 20;

/// The most cells of the lines that are fetched at once, but for the last. Chosen by eye: some milliseconds.
const CELLS_AT_ONCE: usize = 1 << 20;

/// The part of the history that has arrived, each line once, whatever states it came with: a line is what it is.
#[derive(Debug, Default)]
pub(crate) struct LineInbox {
    waiting: VecDeque<Waiting>,
    bytes: usize,
    /// The number of the next line; `None` before anything was heard of.
    next: Option<u64>,
    clears: u64,
    /// The number of lines that could not be read.
    malformed: u64,
}

#[derive(Debug)]
enum Waiting {
    Line(u64, Box<[u8]>),
    Skipped(u64),
    Cleared(u64),
}

impl LineInbox {
    /// Takes in lines, the first of which has the number `first`: those before it that have not arrived never will.
    pub(crate) fn take(&mut self, place: HistoryPlace, first: u64, lines: &[&[u8]]) {
        let mut next = self.next.unwrap_or(first);
        let is_first = self.next.is_none();
        if place.clears > self.clears {
            self.clears = place.clears;
            if !is_first {
                next = next.max(place.cleared_at);
                self.waiting.push_back(Waiting::Cleared(next));
            }
        }
        if first > next {
            next = first;
            self.waiting.push_back(Waiting::Skipped(next));
        }
        for (index, line) in lines.iter().enumerate() {
            if first.checked_add(index as u64) == Some(next) {
                self.bytes += line.len();
                self.waiting
                    .push_back(Waiting::Line(next, Box::from(*line)));
                next = next.saturating_add(1);
            }
        }
        self.next = Some(next);
        if self.waiting.len() > LINES_MAX || self.bytes > BYTES_MAX {
            // That everything above was cleared is no line, and is not skipped.
            let is_clear = |waiting: &Waiting| matches!(waiting, Waiting::Cleared(_));
            let cleared = self.waiting.iter().rposition(is_clear);
            let cleared = cleared.and_then(|place| self.waiting.swap_remove_back(place));
            self.waiting.clear();
            self.waiting.extend(cleared);
            self.bytes = 0;
            self.waiting.push_back(Waiting::Skipped(next));
        }
    }

    /// Returns the next of what has arrived, in order, with rows of so many columns; and there may be more.
    pub(crate) fn fetch(&mut self, columns: u16) -> Vec<HistoryItem> {
        let mut items = Vec::new();
        let mut cells = 0;
        while cells < CELLS_AT_ONCE
            && let Some(waiting) = self.waiting.pop_front()
        {
            match waiting {
                Waiting::Skipped(next) => items.push(HistoryItem::Skipped { next }),
                Waiting::Cleared(next) => items.push(HistoryItem::Cleared { next }),
                Waiting::Line(number, line) => {
                    self.bytes -= line.len();
                    match unpack_line(&line, columns) {
                        Ok(rows) => {
                            cells += rows.len() * usize::from(columns.max(1));
                            items.push(HistoryItem::Line { number, rows });
                        }
                        // Its number is missing then.
                        Err(_) => self.malformed = self.malformed.saturating_add(1),
                    }
                }
            }
        }
        items
    }

    /// The number of lines that could not be read.
    pub(crate) fn malformed(&self) -> u64 {
        self.malformed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(clears: u64, cleared_at: u64) -> HistoryPlace {
        HistoryPlace {
            clears,
            cleared_at,
            ..HistoryPlace::default()
        }
    }

    #[test]
    fn the_highest_numbers_that_there_are_do_no_harm() {
        for first in [u64::MAX, u64::MAX - 1] {
            let mut inbox = LineInbox::default();
            inbox.take(place(0, 0), first, &[]);
            inbox.take(place(0, 0), first, &[b"a", b"b"]);
            assert!(fetched(&mut inbox).len() <= 2);
        }
    }

    fn fetched(inbox: &mut LineInbox) -> Vec<String> {
        let items = inbox.fetch(80);
        let told = |item| match item {
            HistoryItem::Line { number, rows } => format!("{number}: {} rows", rows.len()),
            HistoryItem::Skipped { next } => format!("skipped to {next}"),
            HistoryItem::Cleared { next } => format!("cleared to {next}"),
        };
        items.into_iter().map(told).collect()
    }

    #[test]
    fn a_line_that_comes_twice_is_there_once() {
        let mut inbox = LineInbox::default();
        inbox.take(place(0, 0), 0, &[b"a", b"b"]);
        inbox.take(place(0, 0), 1, &[b"b", b"c"]);
        assert_eq!(fetched(&mut inbox), ["0: 1 rows", "1: 1 rows", "2: 1 rows"]);
    }

    #[test]
    fn lines_that_are_left_out_are_skipped_but_for_the_first_that_are_heard_of() {
        let mut inbox = LineInbox::default();
        inbox.take(place(3, 5), 7, &[b"a"]);
        inbox.take(place(3, 5), 9, &[b"b"]);
        inbox.take(place(3, 5), 20, &[]);
        assert_eq!(
            fetched(&mut inbox),
            ["7: 1 rows", "skipped to 9", "9: 1 rows", "skipped to 20"]
        );
    }

    #[test]
    fn what_was_cleared_is_not_skipped() {
        let mut inbox = LineInbox::default();
        inbox.take(place(0, 0), 0, &[b"a"]);
        inbox.take(place(1, 9), 9, &[b"b"]);
        assert_eq!(
            fetched(&mut inbox),
            ["0: 1 rows", "cleared to 9", "9: 1 rows"]
        );
    }

    #[test]
    fn more_than_may_wait_is_skipped() {
        let mut inbox = LineInbox::default();
        inbox.take(place(0, 0), 0, &[&b""[..]; LINES_MAX]);
        assert_eq!(inbox.waiting.len(), LINES_MAX);
        inbox.take(place(0, 0), LINES_MAX as u64, &[b""]);
        assert_eq!(fetched(&mut inbox), ["skipped to 10001"]);
    }

    #[test]
    fn what_was_cleared_is_so_even_if_more_has_come_than_may_wait() {
        let mut inbox = LineInbox::default();
        inbox.take(place(0, 0), 0, &[b"a"]);
        inbox.take(place(1, 5), 5, &[&b""[..]; LINES_MAX]);
        assert_eq!(fetched(&mut inbox), ["cleared to 5", "skipped to 10005"]);
    }

    #[test]
    fn as_many_bytes_may_wait_and_no_more() {
        let mut inbox = LineInbox::default();
        let line = vec![0xFF; BYTES_MAX / 256];
        inbox.take(place(0, 0), 0, &[&line[..]; 256]);
        assert_eq!((inbox.waiting.len(), inbox.bytes), (256, BYTES_MAX));
        inbox.take(place(0, 0), 256, &[b"a"]);
        assert_eq!(fetched(&mut inbox), ["skipped to 257"]);
        assert_eq!(inbox.bytes, 0);
    }

    #[test]
    fn a_malformed_line_is_missing_and_counts() {
        let mut inbox = LineInbox::default();
        inbox.take(place(0, 0), 0, &[b"\x1b", b"a"]);
        assert_eq!(fetched(&mut inbox), ["1: 1 rows"]);
        assert_eq!(inbox.malformed(), 1);
    }

    #[test]
    fn many_cells_are_fetched_in_pieces() {
        let mut inbox = LineInbox::default();
        // 65 536 cells that were erased.
        let blanks: &[u8] = &[16, 0x80, 0x80, 4];
        inbox.take(place(0, 0), 0, &[blanks; 40]);
        assert_eq!(fetched(&mut inbox).len(), 16);
        assert_eq!(fetched(&mut inbox).len(), 16);
    }
}
