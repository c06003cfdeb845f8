//! Resizes that follow one another with nothing drawn in between.

use fulmar_terminal::{Screen, Size};

/// Resizes in a row. Any number of them is done by four.
///
/// The first is done as it comes. What those after it leave of the screen is what fits into the smallest
/// of them, in a window of the last. The widest is gone through as well: a change of width ends all wraps.
#[derive(Debug, Default)]
pub(super) struct Resizes {
    rest: Option<Rest>,
    has_begun: bool,
}

#[derive(Debug)]
struct Rest {
    rows_min: u16,
    columns_min: u16,
    columns_max: u16,
    last: Size,
}

impl Resizes {
    /// Takes in one more.
    pub(super) fn push(&mut self, size: Size, screen: &mut Screen) {
        if !self.has_begun {
            self.has_begun = screen.size() != size;
            return screen.resize(size);
        }
        let (rows_min, columns_min, columns_max) = match &self.rest {
            Some(rest) => (rest.rows_min, rest.columns_min, rest.columns_max),
            None => (u16::MAX, u16::MAX, 0),
        };
        self.rest = Some(Rest {
            rows_min: rows_min.min(size.rows()),
            columns_min: columns_min.min(size.columns()),
            columns_max: columns_max.max(size.columns()),
            last: size,
        });
    }

    /// Tells if nothing is left to be done.
    pub(super) fn is_finished(&self) -> bool {
        self.rest.is_none()
    }

    /// Does what is left to be done: something is drawn next, or nothing follows.
    pub(super) fn finish(&mut self, screen: &mut Screen) {
        if let Some(rest) = self.rest.take() {
            for columns in [rest.columns_min, rest.columns_max] {
                if let Some(size) = Size::new(rest.rows_min, columns) {
                    screen.resize(size);
                }
            }
            screen.resize(rest.last);
        }
        self.has_begun = false;
    }
}

#[cfg(test)]
mod tests {
    use fulmar_terminal::Terminal;
    use proptest::prelude::*;

    use super::*;

    fn size() -> impl Strategy<Value = Size> {
        (3..5_u16, 5..8_u16).prop_map(|(rows, columns)| Size::new(rows, columns).unwrap())
    }

    fn drawn() -> Screen {
        let mut terminal = Terminal::new(Size::new(4, 6).unwrap());
        terminal
            .process("a漢b漢cd\r\n\x1b[44mefg\x1b[K\x1b[?1049h漢字x\x1b[2;3r\x1b[4;6HX".as_bytes());
        terminal.screen().clone()
    }

    proptest! {
        #[test]
        fn resizes_in_a_row_leave_what_each_by_itself_would(
            sizes in prop::collection::vec(size(), 0..9),
        ) {
            let (mut together, mut each) = (drawn(), drawn());
            let mut resizes = Resizes::default();
            for size in sizes {
                resizes.push(size, &mut together);
                each.resize(size);
            }
            resizes.finish(&mut together);
            prop_assert_eq!(together, each);
        }
    }

    #[test]
    fn thousands_of_resizes_work_as_much_as_four() {
        let mut screen = drawn();
        let mut resizes = Resizes::default();
        let before = screen.work();
        for columns in (1..=8000).map(|n| 1 + n % 200) {
            resizes.push(Size::new(4, columns).unwrap(), &mut screen);
        }
        resizes.finish(&mut screen);
        assert!(
            screen.work() - before < 4 * 2 * 4 * (2 * 200 + 4),
            "{}",
            screen.work() - before
        );
    }
}
