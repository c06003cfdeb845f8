//! What a screen costs to keep.

use std::collections::HashSet;
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

fn unshared_bytes(grid: &Grid, neighbour: Option<&Grid>) -> usize {
    let mut seen: HashSet<*const CellRow> = neighbour
        .into_iter()
        .flat_map(Grid::rows)
        .map(Arc::as_ptr)
        .collect();
    grid.rows()
        .map(|row| {
            let is_new = seen.insert(Arc::as_ptr(row));
            size_of::<Arc<CellRow>>() + if is_new { row_bytes(row) } else { 0 }
        })
        .sum()
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

    fn full() -> Screen {
        let mut screen = Screen::new(Size::new(100, 100).unwrap());
        screen.apply("x".repeat(100 * 100).as_bytes());
        screen
    }

    #[test]
    fn what_two_screens_share_is_not_counted() {
        let screen = full();
        let all = screen.held_bytes(None);
        assert!(all >= 100 * 100 * size_of::<Cell>(), "{all}");
        let mut next = screen.clone();
        next.apply(b"\x1b[Hone row");
        let own = next.held_bytes(Some(&screen));
        assert!(own < all / 20, "{own} of {all}");
        assert!(own >= 100 * size_of::<Cell>(), "{own}");
    }

    #[test]
    fn what_has_scrolled_is_still_shared() {
        let screen = full();
        let mut next = screen.clone();
        next.apply(b"\r\nnew row");
        let own = next.held_bytes(Some(&screen));
        assert!(own < screen.held_bytes(None) / 20, "{own}");
    }

    #[test]
    fn a_clipboard_counts() {
        let mut screen = Screen::new(Size::default());
        let before = screen.held_bytes(None);
        screen.apply(format!("\x1b]52;c;{}\x07", "A".repeat(10_000)).as_bytes());
        assert!(screen.held_bytes(None) >= before + 10_000);
    }
}
