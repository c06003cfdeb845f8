//! Finding rows that moved.

use std::ops::Range;

use crate::cell::Glyph;
use crate::row::{CellRow, SharedRow};

/// Rows that are on both screens, but higher or lower.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scroll {
    /// The rows to scroll, old place and new place together.
    pub(super) region: Range<u16>,
    pub(super) direction: Direction,
    /// The number of rows by which they scroll.
    pub(super) count: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Up,
    Down,
}

/// The least text, in columns, that scrolling must save: about what it costs in bytes.
///
/// Chosen by eye.
const SAVING_MIN: usize = 24;

/// The furthest that rows are looked for; keeps the work for a screen of 4096 rows bounded.
///
/// Chosen by eye.
const COUNT_MAX: usize = 256;

/// The rows of two screens of the same height, with what tells one row from another.
pub(super) struct Compared {
    changed: Vec<bool>,
    old: Vec<Key>,
    new: Vec<Key>,
}

impl Compared {
    /// Compares two screens of the same height; `None` if fewer than two rows differ, so that nothing has scrolled.
    pub(super) fn of(old: &[&SharedRow], new: &[&SharedRow]) -> Option<Compared> {
        let changed: Vec<bool> = old.iter().zip(new).map(|(old, new)| old != new).collect();
        if changed.iter().filter(|&&changed| changed).count() < 2 {
            return None;
        }
        let old: Vec<Key> = old.iter().map(|row| key(row)).collect();
        let rows = new.iter().zip(&old).zip(&changed);
        let new = rows.map(|((row, old), &changed)| if changed { key(row) } else { *old });
        Some(Compared {
            new: new.collect(),
            old,
            changed,
        })
    }

    /// Returns the scrolling of the old screen after which the fewest columns are left to be drawn to reach the new
    /// one, or `None` if drawing is as cheap. With `keeps_top`, no row is scrolled off at the top of the screen.
    pub(super) fn find(&self, keeps_top: bool) -> Option<Scroll> {
        let changed = &self.changed;
        let first = changed.iter().position(|&changed| changed)?;
        let last = changed.iter().rposition(|&changed| changed)?;
        // Rows above the first and below the last that differ are right already, and stay where they
        // are.
        let old_keys = &self.old[first..=last];
        let new_keys = &self.new[first..=last];
        let height = last - first + 1;
        let mut best: Option<(usize, Scroll)> = None;
        for count in 1..height.min(COUNT_MAX + 1) {
            for direction in [Direction::Up, Direction::Down] {
                let (old_start, new_start) = match direction {
                    Direction::Up => (count, 0),
                    Direction::Down => (0, count),
                };
                let pairs = (0..height - count)
                    .map(|i| (&old_keys[old_start + i], &new_keys[new_start + i]));
                let is_kept = keeps_top && direction == Direction::Up && first == 0;
                let pairs = pairs.enumerate().skip(usize::from(is_kept));
                let Some((run, saving)) = best_run(pairs, |i| changed[first + new_start + i])
                else {
                    continue;
                };
                if best.as_ref().is_none_or(|(known, _)| saving > *known) {
                    let region = first + run.start..first + run.end + count;
                    let scroll = Scroll {
                        region: region.start as u16..region.end as u16,
                        direction,
                        count: count as u16,
                    };
                    best = Some((saving, scroll));
                }
            }
        }
        best.filter(|&(saving, _)| saving >= SAVING_MIN)
            .map(|(_, scroll)| scroll)
    }

    /// Returns the scrolling of the whole screen upwards after which the fewest columns are left to be drawn, or
    /// `None` if nothing can be saved so. Only the rows at the bottom may be new.
    ///
    /// It is the one by which lines enter a terminal's scrollback, and so it need not be the cheapest.
    pub(super) fn find_whole(&self) -> Option<Scroll> {
        let Compared { changed, old, new } = self;
        let counts = 1..old.len().min(COUNT_MAX + 1);
        let savings = counts.map(|count| (whole_saving(old, new, changed, count), count));
        // Of those that save as much, the shortest.
        let (saving, count) = savings.rev().max_by_key(|&(saving, _)| saving)?;
        (saving > 0).then_some(Scroll {
            region: 0..old.len() as u16,
            direction: Direction::Up,
            count: count as u16,
        })
    }
}

/// Returns how much is gained if the whole screen scrolls by `count` rows: the columns of the rows from the top on that
/// are in place then, without those that were in place before. For a prompt that stays at the bottom that may be a
/// little less than nothing.
fn whole_saving(old: &[Key], new: &[Key], changed: &[bool], count: usize) -> usize {
    let moved = old.iter().skip(count).zip(new);
    let in_place = moved.take_while(|(old, new)| old.hash == new.hash).count();
    let columns = |rows: Range<usize>, is_changed: bool| -> usize {
        let rows = rows.filter(|&row| changed[row] == is_changed);
        rows.map(|row| new[row].columns).sum()
    };
    match columns(0..in_place, true) {
        0 => 0,
        saved => (saved + SAVING_MIN).saturating_sub(columns(in_place..new.len(), false)),
    }
}

/// The hash by which a row is known again, and the columns that it would cost to draw.
#[derive(Clone, Copy)]
struct Key {
    hash: u64,
    columns: usize,
}

fn key(row: &CellRow) -> Key {
    let mut hash = RowHash::default();
    let mut columns = 0;
    for (index, cell) in row.used_cells().iter().enumerate() {
        let is_empty = cell.is_blank() || cell.glyph == u32::from(' ');
        if is_empty && cell.background().is_default() {
            continue;
        }
        // Blanks and spaces are the same; the number of a cluster is its row's own.
        let glyph = if is_empty || cell.is_cluster() {
            0
        } else {
            cell.glyph
        };
        hash.mix((index as u64) << 32 | u64::from(glyph));
        if let Glyph::Cluster(text) = row.glyph_of(cell) {
            text.bytes().for_each(|byte| hash.mix(byte.into()));
        }
        let colours = u64::from(cell.background().bits()) << 32;
        hash.mix(colours | u64::from(cell.foreground().bits()));
        hash.mix(cell.attributes().bits().into());
        columns += 1;
    }
    Key {
        hash: hash.0,
        columns,
    }
}

/// A hash for all cells of a screen, many times a second. Collisions are easy to make: the worst
/// one does is a scroll that saves nothing.
#[derive(Default)]
struct RowHash(u64);

impl RowHash {
    /// 2^64 divided by the golden ratio, which spreads the bits of small numbers.
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(RowHash::FACTOR);
    }
}

/// Returns the run of equal pairs that saves most, and what it saves: the columns of its rows
/// that would otherwise have to be drawn.
fn best_run<'a>(
    pairs: impl Iterator<Item = (usize, (&'a Key, &'a Key))>,
    would_be_drawn: impl Fn(usize) -> bool,
) -> Option<(Range<usize>, usize)> {
    let mut best: Option<(Range<usize>, usize)> = None;
    let mut pairs = pairs.peekable();
    let (mut start, mut saving) = (pairs.peek().map_or(0, |(index, _)| *index), 0);
    for (index, (old, new)) in pairs {
        if old.hash != new.hash {
            (start, saving) = (index + 1, 0);
            continue;
        }
        if would_be_drawn(index) {
            saving += new.columns;
        }
        if saving > best.as_ref().map_or(0, |(_, known)| *known) {
            best = Some((start..index + 1, saving));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::size::{Column, Size};
    use crate::style::Color;

    fn rows(texts: &[&str]) -> Vec<SharedRow> {
        let size = Size::new(1, 40).unwrap();
        texts
            .iter()
            .map(|text| {
                let mut row = CellRow::new(size.columns(), Color::DEFAULT);
                let pen = row.pen(&crate::style::Style::default());
                row.write_ascii(Column(0), text.as_bytes(), pen);
                SharedRow::new(row)
            })
            .collect()
    }

    fn found(old: &[&str], new: &[&str]) -> Option<Scroll> {
        let (old, new) = (rows(old), rows(new));
        let all = |rows| Vec::from_iter(rows);
        Compared::of(&all(old.iter()), &all(new.iter()))?.find(false)
    }

    const A: &str = "a line with enough text";
    const B: &str = "b line with enough text";
    const C: &str = "c line with enough text";
    const D: &str = "d line with enough text";

    #[test]
    fn rows_that_went_up_are_found() {
        let found = found(&[A, B, C, ""], &[B, C, D, ""]);
        assert_eq!(
            found,
            Some(Scroll {
                region: 0..3,
                direction: Direction::Up,
                count: 1
            })
        );
    }

    #[test]
    fn rows_that_are_to_stay_on_the_screen_are_not_scrolled_off_its_top() {
        let region = |old: &[&str], new: &[&str]| {
            let (old, new) = (rows(old), rows(new));
            let all = |rows| Vec::from_iter(rows);
            let compared = Compared::of(&all(old.iter()), &all(new.iter()))?;
            compared.find(true).map(|scroll| scroll.region)
        };
        assert_eq!(region(&[A, B, C, D, ""], &[B, C, D, "", ""]), Some(1..4));
        assert_eq!(region(&[A, B, C, ""], &[B, "", "", ""]), None);
        assert_eq!(region(&[A, B, C, D], &["", A, B, C]), Some(0..4));
    }

    #[test]
    fn rows_that_went_down_inside_a_region_are_found() {
        let found = found(&[A, B, C, "", D], &[A, "", B, C, D]);
        assert_eq!(
            found,
            Some(Scroll {
                region: 1..4,
                direction: Direction::Down,
                count: 1
            })
        );
    }

    fn found_whole(old: &[&str], new: &[&str]) -> Option<u16> {
        let (old, new) = (rows(old), rows(new));
        let all = |rows| Vec::from_iter(rows);
        let scroll = Compared::of(&all(old.iter()), &all(new.iter()))?.find_whole()?;
        assert_eq!(
            (scroll.region, scroll.direction),
            (0..new.len() as u16, Direction::Up)
        );
        Some(scroll.count)
    }

    #[test]
    fn a_whole_screen_scrolls_however_short_its_lines_are() {
        assert_eq!(found_whole(&["x", "y", "z"], &["y", "z", "a"]), Some(1));
        assert_eq!(found_whole(&["x", "y", "z"], &["z", "a", "b"]), Some(2));
        assert_eq!(
            found_whole(&["x", "x", "y", "$"], &["x", "y", "$ z", "$"]),
            Some(1)
        );
    }

    #[test]
    fn a_part_that_moves_is_no_whole_screen() {
        assert_eq!(found_whole(&[A, B, C, D], &[A, C, D, ""]), None);
        assert_eq!(found_whole(&["x", "y", C, D], &["y", "a", C, D]), None);
        assert_eq!(found_whole(&[A, B, C], &[A, B, D]), None);
    }

    #[test]
    fn what_stayed_or_is_cheap_is_not_scrolled() {
        assert_eq!(found(&[A, B, C], &[A, B, C]), None);
        assert_eq!(found(&[A, B, C], &[A, D, C]), None);
        assert_eq!(found(&["x", "y", ""], &["y", "z", ""]), None);
    }
}
