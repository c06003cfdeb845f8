//! Cells by a text that the reader gives the width that they have.
//!
//! A reader either puts grapheme clusters into its cells or characters with their marks, and a screen may have cells of
//! both kinds. Where the reader would take a cell's text for wider, for narrower or for several cells, part of the text is
//! left out. Everything else about frames is said of screens that are told so.

use std::borrow::Cow;

use crate::Screen;
use crate::cell::{CELL_TEXT_MAX, CLUSTER_TEXT_MAX, Cluster, Glyph};
use crate::cluster::continues;
use crate::row::{CellRow, SharedRow};
use crate::size::{Column, Row};
use crate::vocabulary::Vocabulary;
use crate::width::{char_columns, grown_columns};

impl Screen {
    /// Returns the screen with cells whose text the reader gives their width.
    pub(super) fn told(&self, vocabulary: &Vocabulary) -> Cow<'_, Screen> {
        let mut told = Cow::Borrowed(self);
        for (row, cells) in (0..).map(Row).zip(self.rows()) {
            if let Some(cells) = told_row(cells, vocabulary) {
                told.to_mut().set_row(row, SharedRow::new(cells));
            }
        }
        told
    }
}

/// Returns both screens with cells whose text the reader gives their width. Rows that they share are still shared.
pub(super) fn told_pair<'a>(
    source: &'a Screen,
    target: &'a Screen,
    vocabulary: &Vocabulary,
) -> (Cow<'a, Screen>, Cow<'a, Screen>) {
    let told_source = source.told(vocabulary);
    let mut told_target = Cow::Borrowed(target);
    for (row, new) in (0..).map(Row).zip(target.rows()) {
        let (old, told) = (source.row(row), told_source.row(row));
        if !SharedRow::ptr_eq(old, new) {
            if let Some(cells) = told_row(new, vocabulary) {
                told_target.to_mut().set_row(row, SharedRow::new(cells));
            }
        } else if !SharedRow::ptr_eq(told, old) {
            told_target.to_mut().set_row(row, told.clone());
        }
    }
    (told_source, told_target)
}

/// Returns `row` with cells whose text the reader gives their width, or `None` if all are so already.
pub(super) fn told_row(row: &CellRow, vocabulary: &Vocabulary) -> Option<CellRow> {
    if !row.has_clusters() {
        return None;
    }
    let mut told: Option<CellRow> = None;
    for (column, cell) in (0..).map(Column).zip(row.cells()) {
        let Glyph::Cluster(text) = row.glyph_of(cell) else {
            continue;
        };
        let Some(texts) = Told::new(text, cell.width(), vocabulary.clusters) else {
            continue;
        };
        let told = told.get_or_insert_with(|| row.clone());
        let style = row.style(column);
        if let Some(first) = Cluster::from_text(&texts.first) {
            told.write_text(column, &first, texts.columns == 2, &style);
        }
        if let Some(second) = texts.second.as_deref().and_then(Cluster::from_text) {
            told.write_text(Column(column.0 + 1), &second, false, &style);
        }
    }
    if let Some(told) = &mut told {
        told.set_wrapped(row.is_wrapped());
    }
    told
}

/// The texts by which a cell is told.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    first: String,
    /// The columns of the first text: 1 or 2.
    columns: u16,
    /// For a wide cell that is told as two narrow ones: the text of the right one.
    second: Option<String>,
}

impl Told {
    /// Returns the texts for a cell of `columns`; `None` if the reader takes `text` for such a cell.
    fn new(text: &str, columns: u16, clusters: bool) -> Option<Told> {
        if is_one_cell(text, columns, clusters) {
            return None;
        }
        let (first, taken, rest) = take_cell(text, columns, clusters);
        if taken >= columns || columns == 1 {
            return Some(Told {
                first,
                columns,
                second: None,
            });
        }
        // Two narrow cells: a base that takes one column, and what would stand in the next.
        let (second, taken, _) = take_cell(rest, 1, clusters);
        let second = Some(second).filter(|_| taken == 1);
        Some(Told {
            first,
            columns: 1,
            second: Some(second.unwrap_or_else(|| " ".into())),
        })
    }
}

/// Returns true if a reader puts the whole of `text` into one cell of `columns`.
fn is_one_cell(text: &str, columns: u16, clusters: bool) -> bool {
    let mut characters = text.char_indices();
    let Some((_, mut before)) = characters.next() else {
        return false;
    };
    let mut taken = char_columns(before).max(1);
    for (at, c) in characters {
        if char_columns(c) > 0 && !(clusters && continues(text.get(..at).unwrap_or_default(), c)) {
            return false;
        }
        if clusters {
            taken = grown_columns(taken, before, c);
        }
        before = c;
    }
    taken == columns && text.len() <= bytes_max(clusters)
}

/// The longest text of a reader's cell.
const fn bytes_max(clusters: bool) -> usize {
    if clusters {
        CLUSTER_TEXT_MAX
    } else {
        CELL_TEXT_MAX
    }
}

/// Returns what a reader puts into one cell of at most `columns_max` from the start of `text`, the columns that it
/// gives it, and the rest. Characters that would make the cell too wide or its text too long are left out.
fn take_cell(text: &str, columns_max: u16, clusters: bool) -> (String, u16, &str) {
    let mut taken = String::new();
    let mut columns = 0;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let own = char_columns(c);
        let grown = match (taken.is_empty(), clusters) {
            (true, _) => own.max(1),
            (false, true) => grown_columns(columns, before, c),
            (false, false) => columns,
        };
        let begins_another = !taken.is_empty() && own > 0 && !(clusters && continues(&taken, c));
        if begins_another || taken.is_empty() && grown > columns_max {
            // A joiner has nothing to join then.
            let kept = taken.trim_end_matches('\u{200d}').len();
            taken.truncate(kept);
            return (taken, columns, text.get(at..).unwrap_or_default());
        }
        if grown <= columns_max && taken.len() + c.len_utf8() <= bytes_max(clusters) {
            taken.push(c);
            columns = grown;
            before = c;
        }
    }
    (taken, columns, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clustering::Clustering;
    use crate::size::Size;

    fn one(first: &str, columns: u16) -> Option<Told> {
        Some(Told {
            first: first.into(),
            columns,
            second: None,
        })
    }

    fn two(first: &str, second: &str) -> Option<Told> {
        Some(Told {
            first: first.into(),
            columns: 1,
            second: Some(second.into()),
        })
    }

    #[test]
    fn rows_that_two_screens_share_are_told_once() {
        let mut source = Screen::new(Size::new(2, 8).unwrap());
        source.set_clustering(Clustering::Permanent);
        source.apply("👍🏽\r\n👍🏽".as_bytes());
        let mut target = source.clone();
        target.apply(b"x");
        let (source, target) = told_pair(&source, &target, &Vocabulary::STOCK);
        let is_shared = |row| SharedRow::ptr_eq(source.row(row), target.row(row));
        assert_eq!([Row(0), Row(1)].map(is_shared), [true, false]);
        assert_eq!(source.row(Row(0)).glyph(Column(0)), Glyph::Char('👍'));
        assert_eq!(target.row(Row(1)).glyph(Column(0)), Glyph::Char('👍'));
    }

    #[test]
    fn a_reader_of_clusters_is_told_clusters() {
        for (text, columns) in [
            ("e\u{301}", 1),
            ("👍🏽", 2),
            ("❤\u{fe0f}", 2),
            ("🇩🇪", 2),
            ("👨\u{200d}👩\u{200d}👧", 2),
            ("न\u{93e}", 2),
            ("a\u{200b}\u{301}", 1),
        ] {
            assert_eq!(Told::new(text, columns, true), None, "{text}");
        }
    }

    #[test]
    fn a_reader_of_clusters_takes_no_narrow_cell_for_a_wide_one() {
        assert_eq!(Told::new("❤\u{fe0f}", 1, true), one("❤", 1));
        assert_eq!(Told::new("1\u{fe0f}\u{20e3}", 1, true), one("1\u{20e3}", 1));
    }

    #[test]
    fn a_reader_of_characters_is_told_as_much_of_a_cluster_as_fits() {
        let characters = |text, columns| Told::new(text, columns, false);
        assert_eq!(characters("e\u{301}", 1), None);
        assert_eq!(characters("👍\u{fe0f}", 2), None);
        assert_eq!(characters("👍🏽", 2), one("👍", 2));
        assert_eq!(characters("👨\u{200d}👩\u{200d}👧", 2), one("👨", 2));
        assert_eq!(characters("❤\u{fe0f}", 2), two("❤\u{fe0f}", " "));
        assert_eq!(characters("❤\u{fe0f}\u{200d}🔥", 2), two("❤\u{fe0f}", " "));
        assert_eq!(characters("🇩🇪", 2), two("🇩", "🇪"));
        assert_eq!(characters("न\u{93e}", 2), two("न", "\u{93e}"));
        assert_eq!(characters("क\u{94d}ष\u{93f}", 2), two("क\u{94d}", "ष"));
        let long = format!("e{}", "\u{301}".repeat(30));
        assert_eq!(characters(&long, 1), one(&long[..31], 1));
    }
}
