//! Lines that are to enter the scrollback of the user's terminal, each once and in their order.

use std::collections::VecDeque;

use fulmar_terminal::{Attributes, CellRow, SharedRow, Size, Style, cut_line};

use crate::history_item::HistoryItem;

/// The most cells of lines that wait; with more, the oldest are skipped. As many as the largest screen has.
///
/// Source: docs/threat-model.md §6.
const WAITING_CELLS_MAX: usize = Size::CELLS_MAX as usize;

/// The cells as which a row counts at least. Chosen by eye: about what a row takes beside its cells.
const ROW_CELLS_MIN: usize = 8;

/// The lines that wait until the screen is shown above which they stand.
#[derive(Debug, Default)]
pub(crate) struct PushQueue {
    items: VecDeque<HistoryItem>,
    waiting_cells: usize,
    /// The first line that was neither pushed nor skipped; `None` until there was one.
    next: Option<u64>,
    /// The lines before `next` that were skipped, and of which nothing was told yet.
    skipped: u64,
}

/// The change above a screen.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Pushed {
    /// True if everything goes that stands there.
    pub(crate) clears: bool,
    /// The rows that leave the screen at its top afterwards.
    pub(crate) rows: Vec<SharedRow>,
}

impl PushQueue {
    /// Takes in what has arrived next.
    pub(crate) fn push(&mut self, item: HistoryItem) {
        self.waiting_cells += cells(&item);
        self.items.push_back(item);
        while self.waiting_cells > WAITING_CELLS_MAX {
            let Some(oldest) = self.items.pop_front() else {
                break;
            };
            self.waiting_cells -= cells(&oldest);
            // The numbers of later lines tell that this one is missing.
            if let (None, HistoryItem::Line { number, .. }) = (self.next, &oldest) {
                self.next = Some(*number);
            }
        }
    }

    /// Returns what stands above a screen that the line `end` is the first of, in rows of `columns`, and was not returned before.
    pub(crate) fn take(&mut self, end: u64, columns: u16) -> Pushed {
        let mut pushed = Pushed::default();
        while let Some(item) = self.pop_above(end) {
            self.waiting_cells -= cells(&item);
            match item {
                HistoryItem::Line { number, rows } => {
                    if self.next.is_some_and(|next| number < next) {
                        continue;
                    }
                    self.skip_to(number);
                    self.tell_of_skipped(columns, &mut pushed.rows);
                    pushed.rows.append(&mut cut_line(&rows, columns));
                    self.next = Some(number.saturating_add(1));
                }
                HistoryItem::Skipped { next } => self.skip_to(next),
                HistoryItem::Cleared { next } => {
                    // What stood there before the first line is not the program's.
                    pushed.clears |= self.next.is_some();
                    pushed.rows.clear();
                    self.next = Some(self.next.unwrap_or_default().max(next));
                    self.skipped = 0;
                }
            }
        }
        if self.next == Some(end) {
            self.tell_of_skipped(columns, &mut pushed.rows);
        }
        pushed
    }

    fn pop_above(&mut self, end: u64) -> Option<HistoryItem> {
        self.items.front().filter(|item| is_above(item, end))?;
        self.items.pop_front()
    }

    fn skip_to(&mut self, next: u64) {
        let known = self.next.unwrap_or(next);
        self.skipped = self.skipped.saturating_add(next.saturating_sub(known));
        self.next = Some(known.max(next));
    }

    /// Appends the one dim line that stands for those that are missing.
    fn tell_of_skipped(&mut self, columns: u16, rows: &mut Vec<SharedRow>) {
        let text = match std::mem::take(&mut self.skipped) {
            0 => return,
            1 => "[1 line skipped]".to_owned(),
            count => format!("[{count} lines skipped]"),
        };
        let dim = Style {
            attributes: Attributes::DIM,
            ..Style::default()
        };
        rows.push(SharedRow::new(CellRow::of_text(&text, &dim, columns)));
    }
}

/// Returns true if an item stands above a screen that the line `end` is the first of.
fn is_above(item: &HistoryItem, end: u64) -> bool {
    match item {
        HistoryItem::Line { number, .. } => *number < end,
        HistoryItem::Skipped { next } | HistoryItem::Cleared { next } => *next <= end,
    }
}

fn cells(item: &HistoryItem) -> usize {
    match item {
        HistoryItem::Line { rows, .. } => {
            let cells = |row: &SharedRow| usize::from(row.columns()).max(ROW_CELLS_MIN);
            rows.iter().map(cells).sum::<usize>().max(ROW_CELLS_MIN)
        }
        HistoryItem::Skipped { .. } | HistoryItem::Cleared { .. } => ROW_CELLS_MIN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(number: u64) -> HistoryItem {
        wide_line(number, 20)
    }

    fn wide_line(number: u64, columns: u16) -> HistoryItem {
        let row = CellRow::of_text(&format!("line {number}"), &Style::default(), columns);
        HistoryItem::Line {
            number,
            rows: vec![SharedRow::new(row)],
        }
    }

    fn queue(items: impl IntoIterator<Item = HistoryItem>) -> PushQueue {
        let mut queue = PushQueue::default();
        items.into_iter().for_each(|item| queue.push(item));
        queue
    }

    fn taken(queue: &mut PushQueue, end: u64) -> String {
        let pushed = queue.take(end, 40);
        let mut text = String::from(if pushed.clears { "cleared, " } else { "" });
        for row in pushed.rows {
            assert_eq!(row.columns(), 40);
            row.push_text(&mut text);
            text = format!("{}, ", text.trim_end());
        }
        text.trim_end_matches(", ").to_owned()
    }

    #[test]
    fn a_line_waits_for_the_screen_that_it_is_above_and_comes_once() {
        let mut queue = queue([line(5), line(6), line(6), line(7)]);
        assert_eq!(taken(&mut queue, 5), "");
        assert_eq!(taken(&mut queue, 7), "line 5, line 6");
        assert_eq!(taken(&mut queue, 7), "");
        queue.push(line(6));
        assert_eq!(taken(&mut queue, 9), "line 7");
    }

    #[test]
    fn lines_that_are_missing_are_one_line_in_their_place() {
        let mut queue = queue([
            line(5),
            line(8),
            HistoryItem::Skipped { next: 10 },
            line(11),
        ]);
        assert_eq!(taken(&mut queue, 9), "line 5, [2 lines skipped], line 8");
        assert_eq!(taken(&mut queue, 12), "[2 lines skipped], line 11");
        queue.push(HistoryItem::Skipped { next: 13 });
        assert_eq!(taken(&mut queue, 12), "");
        assert_eq!(taken(&mut queue, 13), "[1 line skipped]");
        assert_eq!(taken(&mut queue, 13), "");
    }

    #[test]
    fn what_was_before_the_first_item_is_not_missing() {
        assert_eq!(taken(&mut queue([line(1000)]), 2000), "line 1000");
        let mut skipped = queue([HistoryItem::Skipped { next: 7 }, line(8)]);
        assert_eq!(taken(&mut skipped, 2000), "[1 line skipped], line 8");
        let mut cleared = queue([HistoryItem::Cleared { next: 7 }, line(7)]);
        assert_eq!(taken(&mut cleared, 2000), "line 7");
    }

    #[test]
    fn what_a_program_has_cleared_neither_comes_nor_is_missing() {
        let cleared = HistoryItem::Cleared { next: 9 };
        let mut queue = queue([line(3), line(5), cleared, line(9)]);
        assert_eq!(taken(&mut queue, 8), "line 3, [1 line skipped], line 5");
        assert_eq!(taken(&mut queue, 10), "cleared, line 9");
    }

    #[test]
    fn cells_that_wait_have_a_bound() {
        let columns = Size::SIDE_MAX;
        let most = WAITING_CELLS_MAX as u64 / u64::from(columns);
        let mut full = queue((0..most).map(|number| wide_line(number, columns)));
        assert_eq!(full.take(most, columns).rows.len() as u64, most);
        let mut fuller = queue((0..=most).map(|number| wide_line(number, columns)));
        let rows = fuller.take(most + 1, columns).rows;
        assert_eq!(
            rows.len() as u64,
            most + 1,
            "one line stands for the oldest"
        );
        let mut text = String::new();
        rows[0].push_text(&mut text);
        assert_eq!(text, "[1 line skipped]");
    }
}
