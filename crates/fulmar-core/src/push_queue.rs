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

/// The most rows of lines that have entered the scrollback and may come back. Chosen by eye: more than a usual window grows by.
const RECENT_ROWS_MAX: usize = 512;

/// The lines that wait until the screen is shown above which they stand.
#[derive(Debug, Default)]
pub(crate) struct PushQueue {
    items: VecDeque<HistoryItem>,
    waiting_cells: usize,
    /// The first line that was neither pushed nor skipped; `None` until there was one.
    next: Option<u64>,
    /// The lines before `next` that were skipped, and of which nothing was told yet.
    skipped: u64,
    /// The rows that the terminal has scrolled off by itself, from the line `next` on. The last of them may run on.
    scrolled: Vec<SharedRow>,
    /// The last lines before `next`, without a gap, which a taller window brings back.
    recent: VecDeque<Vec<SharedRow>>,
    recent_rows: usize,
}

/// The change above a screen.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Pushed {
    /// True if everything goes that stands there.
    pub(crate) clears: bool,
    /// The rows that leave the screen at its top afterwards.
    pub(crate) rows: Vec<SharedRow>,
}

/// The rows right above a screen, of lines without a gap.
#[derive(Debug)]
pub(crate) struct RowsAbove {
    /// The number of the line of the first row.
    pub(crate) first: u64,
    /// All of them, uppermost first.
    pub(crate) rows: Vec<SharedRow>,
}

impl RowsAbove {
    /// The number of the line behind those that end here.
    pub(crate) fn end(&self) -> u64 {
        self.first.saturating_add(line_ends(&self.rows))
    }
}

impl PushQueue {
    /// Takes in what has arrived next.
    pub(crate) fn push(&mut self, item: HistoryItem) {
        self.waiting_cells += cells(&item);
        self.items.push_back(item);
        while self.waiting_cells > WAITING_CELLS_MAX {
            let Some(oldest) = self.pop_oldest() else {
                break;
            };
            self.waiting_cells -= cells(&oldest);
            // The numbers of later lines tell that this one is missing.
            if let (None, HistoryItem::Line { number, .. }) = (self.next, &oldest) {
                self.next = Some(*number);
            }
        }
    }

    /// Takes note that the terminal has scrolled `rows` off by itself. The first one is of the line `number`, as it was shown.
    ///
    /// Where lines are late that belong above them, the order would be wrong: then all of them come once more.
    pub(crate) fn note_scrolled(&mut self, number: u64, rows: &[SharedRow]) {
        if self.end_above(number) == Some(number) {
            self.next = self.next.or(Some(number));
            self.scrolled.extend_from_slice(rows);
        }
    }

    /// Returns the number of the line behind those of which the terminal has all rows above its screen, which begins with the line `end`.
    /// `None` if that is not known.
    fn end_above(&self, end: u64) -> Option<u64> {
        let is_first = end == 0 && self.items.is_empty();
        let next = self.next.or(is_first.then_some(0))?;
        next.checked_add(line_ends(&self.scrolled))
    }

    /// Returns the last rows above a screen that begins with the line `end`, pushed or not, in rows of `columns`. `None` if that line
    /// is not known to be the next one.
    pub(crate) fn rows_above(&self, end: u64, columns: u16) -> Option<RowsAbove> {
        let mut known_to = self.end_above(end)?;
        let mut lines = self.recent.clone();
        let scrolled = self.scrolled.chunk_by(|upper, _| upper.is_wrapped());
        let is_whole = |line: &&[SharedRow]| line.last().is_some_and(|row| !row.is_wrapped());
        lines.extend(scrolled.filter(is_whole).map(<[SharedRow]>::to_vec));
        for item in &self.items {
            if let HistoryItem::Line { number, rows } = item
                && *number == known_to
                && known_to < end
            {
                lines.push_back(rows.clone());
                known_to += 1;
            }
        }
        let first = known_to.checked_sub(lines.len() as u64)?;
        let surplus = usize::try_from(known_to.checked_sub(end)?).ok()?;
        lines.truncate(lines.len().saturating_sub(surplus));
        let rows = lines.iter().flat_map(|line| cut_line(line, columns));
        Some(RowsAbove {
            first,
            rows: rows.collect(),
        })
    }

    /// Returns the rows that the terminal has above its screen, which begins with the line `end` or in it. `None` if it has others there.
    pub(crate) fn rows_above_shown(&self, end: u64, columns: u16) -> Option<RowsAbove> {
        let is_shown = self.end_above(end) == Some(end);
        let mut above = self.rows_above(end, columns).filter(|_| is_shown)?;
        let last_end = self.scrolled.iter().rposition(|row| !row.is_wrapped());
        let open = self.scrolled.get(last_end.map_or(0, |end| end + 1)..)?;
        above.rows.append(&mut cut_line(open, columns));
        Some(above)
    }

    /// Takes note that the terminal has these rows above its screen, and no others of the lines behind: a window of another size has
    /// scrolled some off, or brought some back, which may have to go there once more.
    pub(crate) fn set_above(&mut self, above: RowsAbove) {
        let above_end = above.end();
        let RowsAbove { first, rows } = above;
        let next = self.next.unwrap_or(first);
        let now = next.min(above_end);
        for number in (now..next).rev() {
            let Some(rows) = self.recent.pop_back() else {
                break;
            };
            self.recent_rows -= rows.len();
            let item = HistoryItem::Line { number, rows };
            self.waiting_cells += cells(&item);
            self.items.push_front(item);
        }
        self.next = Some(now);
        let lines = rows.chunk_by(|upper, _| upper.is_wrapped());
        let behind = usize::try_from(now.saturating_sub(first)).unwrap_or(usize::MAX);
        self.scrolled = lines.skip(behind).flatten().cloned().collect();
    }

    /// Takes note that a line stands above.
    fn keep_recent(&mut self, rows: Vec<SharedRow>) {
        self.recent_rows += rows.len();
        self.recent.push_back(rows);
        while self.recent_rows > RECENT_ROWS_MAX
            && let Some(oldest) = self.recent.pop_front()
        {
            self.recent_rows -= oldest.len();
        }
    }

    fn forget_recent(&mut self) {
        self.recent.clear();
        self.recent_rows = 0;
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
                    pushed.rows.append(&mut self.missing_rows(&rows, columns));
                    self.keep_recent(rows);
                    self.next = Some(number.saturating_add(1));
                }
                HistoryItem::Skipped { next } => self.skip_to(next),
                HistoryItem::Cleared { next } => {
                    // What stood there before the first line is not the program's.
                    pushed.clears |= self.next.is_some();
                    pushed.rows.clear();
                    self.scrolled.clear();
                    self.forget_recent();
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

    /// Takes out the oldest item that can be skipped. That all was cleared is no line: of it the last word stays.
    fn pop_oldest(&mut self) -> Option<HistoryItem> {
        let oldest = self.items.pop_front()?;
        if !matches!(oldest, HistoryItem::Cleared { .. }) {
            return Some(oldest);
        }
        let second = self.items.pop_front()?;
        let (kept, dropped) = match second {
            HistoryItem::Cleared { .. } => (second, oldest),
            _ => (oldest, second),
        };
        self.items.push_front(kept);
        Some(dropped)
    }

    fn pop_above(&mut self, end: u64) -> Option<HistoryItem> {
        self.items.front().filter(|item| is_above(item, end))?;
        self.items.pop_front()
    }

    /// Returns the rows of the line `next` that do not stand above yet. A line that is not the same any more stands there anew.
    fn missing_rows(&mut self, rows: &[SharedRow], columns: u16) -> Vec<SharedRow> {
        let there = self.take_scrolled_line();
        let Some(last) = there.last() else {
            return cut_line(rows, columns);
        };
        let (old, new) = (ink(&there), ink(rows));
        if last.is_wrapped() && new.starts_with(&old) {
            let mut rest = cut_line(rows, last.columns());
            rest.drain(..there.len().min(rest.len()));
            return cut_line(&rest, columns);
        }
        if old == new {
            return Vec::new();
        }
        self.scrolled.clear();
        cut_line(rows, columns)
    }

    fn take_scrolled_line(&mut self) -> Vec<SharedRow> {
        let rows = self.scrolled.len();
        let end = self.scrolled.iter().position(|row| !row.is_wrapped());
        let line = self.scrolled.drain(..end.map_or(rows, |end| end + 1));
        line.collect()
    }

    fn skip_to(&mut self, next: u64) {
        while self.next.is_some_and(|known| known < next)
            && self.scrolled.iter().any(|row| !row.is_wrapped())
        {
            // It never comes, but is there.
            let line = self.take_scrolled_line();
            self.keep_recent(line);
            self.next = self.next.map(|known| known + 1);
        }
        let known = self.next.unwrap_or(next);
        if known < next {
            self.scrolled.clear();
            self.forget_recent();
        }
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

fn line_ends(rows: &[SharedRow]) -> u64 {
    rows.iter().filter(|row| !row.is_wrapped()).count() as u64
}

/// Returns the characters of a line but for spaces: at the ends of rows they are as good as blanks, and where rows end differs.
fn ink(rows: &[SharedRow]) -> String {
    let mut text = String::new();
    rows.iter().for_each(|row| row.push_text(&mut text));
    text.retain(|character| character != ' ');
    text
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

    fn row(text: &str, columns: u16) -> SharedRow {
        SharedRow::new(CellRow::of_text(text, &Style::default(), columns))
    }

    #[test]
    fn a_line_that_the_terminal_has_scrolled_off_itself_is_there() {
        let mut queue = queue([line(5)]);
        assert_eq!(taken(&mut queue, 6), "line 5");
        queue.note_scrolled(6, &[row("line 6", 20), row("line 7", 20)]);
        queue.note_scrolled(8, &[row("line 8", 20), row("line 9", 20)]);
        queue.push(line(6));
        queue.push(HistoryItem::Skipped { next: 8 });
        queue.push(line(8));
        assert_eq!(taken(&mut queue, 9), "");
        queue.push(line(9));
        queue.push(line(10));
        assert_eq!(taken(&mut queue, 20), "line 10");
    }

    #[test]
    fn a_line_that_has_changed_since_and_all_behind_it_come_once_more() {
        let mut queue = PushQueue::default();
        queue.note_scrolled(0, &[row("line 0", 20), row("line", 20), row("line 2", 20)]);
        (0..4).for_each(|number| queue.push(line(number)));
        assert_eq!(taken(&mut queue, 4), "line 1, line 2, line 3");
    }

    #[test]
    fn where_lines_are_late_that_belong_above_all_come() {
        let mut queue = queue([line(5)]);
        assert_eq!(taken(&mut queue, 6), "line 5");
        queue.note_scrolled(8, &[row("line 8", 20)]);
        (6..9).for_each(|number| queue.push(line(number)));
        assert_eq!(taken(&mut queue, 9), "line 6, line 7, line 8");
    }

    #[test]
    fn of_a_line_that_the_terminal_has_scrolled_off_in_part_the_rest_comes() {
        let mut queue = PushQueue::default();
        let whole = cut_line(&[row("one two three", 13)], 4);
        queue.note_scrolled(0, &whole[..2]);
        let rows = vec![row("one two three", 13)];
        queue.push(HistoryItem::Line { number: 0, rows });
        assert_eq!(taken(&mut queue, 1), "three");
    }

    fn texts(above: &RowsAbove) -> Vec<String> {
        let text = |row: &SharedRow| {
            let mut text = String::new();
            row.push_text(&mut text);
            text
        };
        above.rows.iter().map(text).collect()
    }

    #[test]
    fn lines_that_a_taller_window_has_brought_back_go_up_once_more() {
        let mut queue = queue((0..6).map(line));
        assert!(taken(&mut queue, 6).ends_with("line 5"));
        let mut above = queue.rows_above_shown(6, 20).expect("it is known");
        assert_eq!(above.first, 0);
        assert_eq!(texts(&above).last().map(String::as_str), Some("line 5"));
        above.rows.truncate(4);
        queue.set_above(above);
        assert_eq!(taken(&mut queue, 4), "");
        assert_eq!(taken(&mut queue, 5), "line 4");
        queue.push(line(5));
        assert_eq!(taken(&mut queue, 6), "line 5");
    }

    #[test]
    fn what_is_above_a_screen_may_have_been_pushed_or_scrolled_off_or_wait() {
        let mut queue = queue([line(0), line(1)]);
        assert_eq!(taken(&mut queue, 2), "line 0, line 1");
        queue.note_scrolled(2, &[row("line 2", 20)]);
        queue.push(line(2));
        queue.push(line(3));
        assert!(queue.rows_above_shown(2, 20).is_none());
        let above = queue.rows_above(2, 20).expect("it is known");
        assert_eq!(texts(&above), ["line 0", "line 1"]);
        let above = queue.rows_above(4, 20).expect("it is known");
        assert_eq!(texts(&above), ["line 0", "line 1", "line 2", "line 3"]);
        assert!(queue.rows_above(5, 20).is_none());
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

    #[test]
    fn what_was_cleared_is_so_even_if_more_waits_than_there_is_room_for() {
        let columns = Size::SIDE_MAX;
        let most = WAITING_CELLS_MAX as u64 / u64::from(columns);
        let mut queue = queue([line(0)]);
        assert_eq!(taken(&mut queue, 1), "line 0");
        queue.push(HistoryItem::Cleared { next: 1 });
        queue.push(HistoryItem::Cleared { next: 2 });
        (2..most + 5).for_each(|number| queue.push(wide_line(number, columns)));
        assert!(queue.take(most + 5, columns).clears);
    }
}
