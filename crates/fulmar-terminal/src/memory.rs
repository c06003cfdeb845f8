//! Estimates the memory that a screen takes.

use std::ops::Deref;
use std::sync::Arc;

use crate::hyperlink::Hyperlink;
use crate::row::SharedRow;
use crate::screen::Screen;
use crate::size::Column;

impl Screen {
    /// Returns the memory in bytes that keeping this screen takes beside `neighbour`, with which it
    /// may share rows. An estimate that errs high: the links of a row are counted even if the
    /// neighbour has them too.
    pub fn held_bytes(&self, neighbour: Option<&Screen>) -> usize {
        let texts = [
            self.title().map_or(0, str::len),
            self.icon_name().map_or(0, str::len),
            self.clipboard().len(),
            self.short_clipboard.text.len(),
        ];
        size_of::<Screen>()
            + unshared_bytes(self, neighbour)
            + self.links.held_bytes()
            + self.palette.held_bytes()
            + self.titles_away.held_bytes()
            + self.saved_modes.held_bytes()
            + texts.iter().sum::<usize>()
    }

    /// Returns the links that cells of either grid show, each once.
    pub(crate) fn shown_links(&self) -> Vec<&Arc<Hyperlink>> {
        let rows = once(self.kept_rows().collect());
        let linked = rows.iter().filter(|row| row.links().next().is_some());
        let cells = linked.flat_map(|row| {
            let columns = (0..row.columns()).map(Column);
            columns.filter_map(|column| row.link(column))
        });
        once(cells.collect())
    }

    /// All rows that are kept, some of them many times.
    fn kept_rows(&self) -> impl Iterator<Item = &SharedRow> {
        self.grid.kept_rows().chain(self.hidden.kept_rows())
    }
}

fn unshared_bytes(screen: &Screen, neighbour: Option<&Screen>) -> usize {
    let rows = own_rows(screen, neighbour);
    let links = once(rows.iter().flat_map(|row| row.links()).collect());
    screen.kept_rows().count() * size_of::<SharedRow>()
        + rows.iter().map(|row| row.held_bytes()).sum::<usize>()
        + links.iter().map(|link| link.held_bytes()).sum::<usize>()
}

/// The rows that the neighbour has nowhere, each once.
fn own_rows<'a>(screen: &'a Screen, neighbour: Option<&Screen>) -> Vec<&'a SharedRow> {
    let mut beside = neighbour.into_iter().flat_map(Screen::kept_rows);
    // Nearly all rows stand where the neighbour has them. The others may have scrolled.
    let moved = screen.kept_rows().filter(|row| {
        !beside
            .next()
            .is_some_and(|beside| SharedRow::ptr_eq(beside, row))
    });
    let mut own = once(moved.collect());
    if !own.is_empty() {
        let known = once(neighbour.into_iter().flat_map(Screen::kept_rows).collect());
        own.retain(|&row| {
            let place = known.binary_search_by_key(&address(row), |known| address(*known));
            place.is_err()
        });
    }
    own
}

/// Each of them once, by their addresses.
fn once<P: Deref<Target: Sized>>(mut all: Vec<&P>) -> Vec<&P> {
    all.sort_unstable_by_key(|one| address(*one));
    all.dedup_by_key(|one| address(*one));
    all
}

fn address<P: Deref<Target: Sized>>(shared: &P) -> *const P::Target {
    &raw const **shared
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{CELL_TEXT_MAX, Cell};
    use crate::hyperlink::LINKS_MAX;
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

    #[test]
    fn what_was_written_over_and_is_still_kept_counts() {
        let mut screen = Screen::new(Size::new(1, 100).unwrap());
        screen.apply("e\u{301}\r".repeat(150).as_bytes());
        assert!(screen.held_bytes(None) >= 100 * size_of::<Cell>() + 150 * CELL_TEXT_MAX);
    }

    #[test]
    fn links_count_once_with_their_text() {
        let mut screen = Screen::new(Size::new(1, 100).unwrap());
        let before = screen.held_bytes(None);
        let target = format!("https://example.org/{}", "x".repeat(2000));
        screen.apply(format!("\x1b]8;;{target}\x07linked \x1b[4mtext").as_bytes());
        let links = screen.held_bytes(None) - before;
        assert!((2000..4000).contains(&links), "{links}");
    }

    #[test]
    fn a_screen_keeps_no_copy_of_its_links() {
        let mut screen = Screen::new(Size::new(20, 100).unwrap());
        for number in 0..LINKS_MAX {
            let target = format!("https://example.org/{number}/{}", "x".repeat(1000));
            screen.apply(format!("\x1b]8;;{target}\x07y").as_bytes());
        }
        let mut next = screen.clone();
        next.apply(b"\x1b]8;;https://example.org/another\x07");
        let own = next.held_bytes(Some(&screen));
        assert!(own < 100_000, "{own}");
    }

    #[test]
    fn the_blank_row_that_a_narrow_screen_does_not_show_counts() {
        let mut screen = Screen::new(Size::new(1, 4096).unwrap());
        screen.apply(b"x");
        // The row that is shown, and for each of the two grids the one that erased rows are.
        assert!(screen.held_bytes(None) >= 3 * 4096 * size_of::<Cell>());
    }

    #[test]
    fn a_blank_screen_of_another_width_is_still_one_row() {
        let mut screen = Screen::new(Size::new(1000, 100).unwrap());
        screen.resize(Size::new(1000, 120).unwrap());
        assert!(screen.held_bytes(None) < 100 * 120 * size_of::<Cell>());
    }
}
