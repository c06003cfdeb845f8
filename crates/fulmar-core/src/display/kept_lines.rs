//! The lines that have gone into the scrollback of the user's terminal, as text to read once more.

use std::collections::VecDeque;

use fulmar_terminal::{Vocabulary, line_as_text};

use crate::history_item::HistoryItem;

/// The most lines, and the most bytes of them. As many lines as a server keeps by default.
///
/// Source: docs/threat-model.md §6.
const LINES_MAX: usize = 10_000;
const BYTES_MAX: usize = 16 << 20;

/// The last lines, oldest first, each with its end.
#[derive(Debug, Default)]
pub(super) struct KeptLines {
    lines: VecDeque<Box<[u8]>>,
    bytes: usize,
    /// The number of the next line; `None` before the first.
    next: Option<u64>,
}

impl KeptLines {
    /// Takes in what comes next above the screen.
    pub(super) fn push(&mut self, item: &HistoryItem, vocabulary: &Vocabulary) {
        match item {
            HistoryItem::Line { number, rows } => {
                self.skip_to(*number);
                let mut text = line_as_text(rows, vocabulary);
                text.push(b'\n');
                self.push_text(text);
                self.next = number.checked_add(1);
            }
            HistoryItem::Skipped { next } => self.skip_to(*next),
            HistoryItem::Cleared { next } => {
                self.lines.clear();
                self.bytes = 0;
                self.next = Some(*next);
            }
        }
    }

    /// All of them.
    pub(super) fn text(&self) -> Vec<u8> {
        self.lines
            .iter()
            .flat_map(|line| line.iter())
            .copied()
            .collect()
    }

    /// Returns what is to be read in the place of the lines between these and the line `first`, if there are any: they are on their way.
    pub(super) fn missing_before(&self, first: u64) -> Option<String> {
        let missing = first.saturating_sub(self.next?);
        (missing > 0).then(|| format!("[{missing} lines have not come yet]\n"))
    }

    fn skip_to(&mut self, number: u64) {
        let missing = self.next.map_or(0, |next| number.saturating_sub(next));
        if missing > 0 {
            self.push_text(format!("[{missing} lines skipped]\n").into_bytes());
            self.next = Some(number);
        }
    }

    fn push_text(&mut self, text: Vec<u8>) {
        self.bytes += text.len();
        self.lines.push_back(text.into());
        while self.lines.len() > LINES_MAX || self.bytes > BYTES_MAX {
            let Some(oldest) = self.lines.pop_front() else {
                break;
            };
            self.bytes -= oldest.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulmar_terminal::{Size, Terminal};

    fn line(number: u64, text: &str) -> HistoryItem {
        let mut terminal = Terminal::new(Size::default());
        terminal.process(text.as_bytes());
        let rows = terminal.screen().rows().take(1).cloned().collect();
        HistoryItem::Line { number, rows }
    }

    fn text_of(items: &[HistoryItem]) -> String {
        let mut kept = KeptLines::default();
        for item in items {
            kept.push(item, &Vocabulary::FULL);
        }
        String::from_utf8(kept.text()).unwrap()
    }

    #[test]
    fn lines_are_there_in_order_and_missing_ones_are_counted() {
        let items = [
            line(7, "a"),
            line(8, "b"),
            HistoryItem::Skipped { next: 12 },
            line(14, "\x1b[1mc"),
        ];
        let told = "a\nb\n[3 lines skipped]\n[2 lines skipped]\n\x1b[1mc\x1b[m\n";
        assert_eq!(text_of(&items), told);
        let mut kept = KeptLines::default();
        assert_eq!(kept.missing_before(3), None);
        kept.push(&items[0], &Vocabulary::FULL);
        assert_eq!(kept.missing_before(8), None);
        let told = Some("[2 lines have not come yet]\n".to_owned());
        assert_eq!(kept.missing_before(10), told);
    }

    #[test]
    fn what_a_program_has_cleared_is_gone() {
        let items = [line(0, "a"), HistoryItem::Cleared { next: 5 }, line(5, "b")];
        assert_eq!(text_of(&items), "b\n");
    }

    #[test]
    fn so_many_lines_are_kept_and_no_more() {
        let mut kept = KeptLines::default();
        for number in 0..LINES_MAX as u64 + 2 {
            kept.push(&line(number, &number.to_string()), &Vocabulary::FULL);
        }
        assert_eq!(kept.lines.len(), LINES_MAX);
        assert!(kept.text().starts_with(b"2\n3\n"));
    }

    #[test]
    fn so_many_bytes_are_kept_and_no_more() {
        let mut kept = KeptLines::default();
        for _ in 0..17 {
            kept.push_text(vec![b'x'; 1 << 20]);
        }
        assert_eq!((kept.lines.len(), kept.bytes), (16, BYTES_MAX));
    }
}
