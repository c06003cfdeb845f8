//! Line numbers at the left of an editor's rows.
//!
//! Source: docs/prediction.md §5.

use fulmar_terminal::{CellRow, Row, Screen};

use crate::text::{char_at, is_vacant};

/// The distance up and down at which a neighbour with a number is looked for. Chosen by eye: a long line
/// has several rows of which only the first is numbered.
const REACH: u16 = 4;

/// The last column at which a number may end. Chosen by eye: room for an editor's signs and 7 digits.
const WIDTH_MAX: u16 = 16;

/// A number at the start of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LineNumber {
    value: u32,
    /// One beyond its last digit.
    end: u16,
}

/// Returns how many columns of the row belong to its line number, or 0.
///
/// Neighbouring rows have neighbouring numbers that end in the same column; editors may also count
/// from the cursor's row, whose number is then on its own.
pub(crate) fn gutter(screen: &Screen, row: Row) -> u16 {
    let above = (1..=REACH).find_map(|distance| number_at(screen, row.0.checked_sub(distance)?));
    let below = (1..=REACH).find_map(|distance| number_at(screen, row.0 + distance));
    let Some(own) = number(screen.row(row)) else {
        // A further row of a numbered line, or one that lost its number to a prefix of our own.
        return match (above, below) {
            (Some(above), Some(below)) if is_pair(above, below) => {
                empty_gutter(screen.row(row), above.end)
            }
            _ => 0,
        };
    };
    let is_neighbour = |other: LineNumber| is_pair(own, other);
    let is_centre = matches!((above, below), (Some(a), Some(b)) if a.value == 1 && b.value == 1 && a.end == b.end);
    if above.is_some_and(is_neighbour) || below.is_some_and(is_neighbour) {
        own.end + 1
    } else if is_centre {
        above.map_or(0, |above| above.end + 1)
    } else {
        0
    }
}

fn is_pair(one: LineNumber, other: LineNumber) -> bool {
    one.end == other.end && one.value.abs_diff(other.value) == 1
}

fn empty_gutter(row: &CellRow, end: u16) -> u16 {
    if (0..=end).all(|column| is_vacant(row, column)) {
        end + 1
    } else {
        0
    }
}

fn number_at(screen: &Screen, row: u16) -> Option<LineNumber> {
    if row < screen.size().rows() {
        number(screen.row(Row(row)))
    } else {
        None
    }
}

/// The number at the start of the row: blanks or one mark, digits, then a blank or the row's end.
fn number(row: &CellRow) -> Option<LineNumber> {
    let columns = row.columns().min(WIDTH_MAX);
    let start = (0..columns).find(|&column| char_at(row, column).is_ascii_digit())?;
    if (0..start).filter(|&column| !is_vacant(row, column)).count() > 1 {
        return None;
    }
    let end = (start..columns).find(|&column| !char_at(row, column).is_ascii_digit())?;
    if !is_vacant(row, end) || end - start > 7 {
        return None;
    }
    let digits = (start..end).filter_map(|column| char_at(row, column).to_digit(10));
    Some(LineNumber {
        value: digits.fold(0, |value, digit| value * 10 + digit),
        end,
    })
}

#[cfg(test)]
mod tests;
