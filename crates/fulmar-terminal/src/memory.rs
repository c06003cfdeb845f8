//! What a screen costs to keep.

use std::sync::Arc;

use crate::cell::{Cell, Cluster};
use crate::grid::Grid;
use crate::row::CellRow;
use crate::screen::Screen;
use crate::style::Style;

impl Screen {
    /// Returns the memory in bytes that keeping this screen takes beside `neighbour`, with which it
    /// may share rows. An estimate that errs high, never by more than a factor of two for screens
    /// made one from the other.
    pub fn held_bytes(&self, neighbour: Option<&Screen>) -> usize {
        let shown = unshared_bytes(&self.grid, neighbour.map(|screen| &screen.grid));
        let hidden = unshared_bytes(&self.hidden, neighbour.map(|screen| &screen.hidden));
        let texts = [
            self.title().map_or(0, str::len),
            self.icon_name().map_or(0, str::len),
            self.clipboard().len(),
        ];
        size_of::<Screen>() + shown + hidden + texts.iter().sum::<usize>()
    }
}

/// Rows that have the same place as in the neighbour, or follow one another, are seen to be shared.
fn unshared_bytes(grid: &Grid, neighbour: Option<&Grid>) -> usize {
    let mut others = neighbour.map(Grid::rows);
    let mut before: Option<&Arc<CellRow>> = None;
    let mut bytes = 0;
    for row in grid.rows() {
        let other = others.as_mut().and_then(Iterator::next);
        let is_shared = [before, other]
            .into_iter()
            .flatten()
            .any(|known| Arc::ptr_eq(known, row));
        bytes += size_of::<Arc<CellRow>>();
        if !is_shared {
            bytes += row_bytes(row);
        }
        before = Some(row);
    }
    bytes
}

fn row_bytes(row: &CellRow) -> usize {
    let special = row
        .cells()
        .iter()
        .map(|cell| {
            let cluster = usize::from(cell.is_cluster()) * size_of::<Cluster>();
            cluster + usize::from(cell.has_extra()) * size_of::<Style>()
        })
        .sum::<usize>();
    size_of::<CellRow>() + size_of_val::<[Cell]>(row.cells()) + special
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::size::Size;

    #[test]
    fn what_two_screens_share_is_not_counted() {
        let mut screen = Screen::new(Size::new(100, 100).unwrap());
        screen.apply("x".repeat(100 * 100).as_bytes());
        let all = screen.held_bytes(None);
        assert!(all >= 100 * 100 * size_of::<Cell>(), "{all}");
        let mut next = screen.clone();
        next.apply(b"one row");
        let own = next.held_bytes(Some(&screen));
        assert!(own < all / 20, "{own} of {all}");
        assert!(own >= 100 * size_of::<Cell>(), "{own}");
    }

    #[test]
    fn a_clipboard_counts() {
        let mut screen = Screen::new(Size::default());
        let before = screen.held_bytes(None);
        screen.apply(format!("\x1b]52;c;{}\x07", "A".repeat(10_000)).as_bytes());
        assert!(screen.held_bytes(None) >= before + 10_000);
    }
}
