//! Tab stops.

use std::sync::Arc;

use crate::size::{Column, Size};

/// The columns where a tab stops, a bit each, shared between screens until changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TabStops {
    stops: Arc<[u64; WORDS]>,
}

const WORDS: usize = Size::SIDE_MAX as usize / 64;

/// A stop at every eighth column: 0, 8, 16 ... from the lowest bit up.
const EVERY_EIGHTH: u64 = 0x0101_0101_0101_0101;

impl TabStops {
    /// Stops every 8 columns, for any width.
    pub(crate) fn every_eighth() -> TabStops {
        TabStops {
            stops: Arc::new([EVERY_EIGHTH; WORDS]),
        }
    }

    pub(crate) fn set(&mut self, column: Column) {
        let (word, bit) = place(column);
        Arc::make_mut(&mut self.stops)[word] |= bit;
    }

    pub(crate) fn clear(&mut self, column: Column) {
        let (word, bit) = place(column);
        Arc::make_mut(&mut self.stops)[word] &= !bit;
    }

    pub(crate) fn clear_all(&mut self) {
        *Arc::make_mut(&mut self.stops) = [0; WORDS];
    }

    /// Returns the first stop right of `column`.
    pub(crate) fn after(&self, column: Column) -> Option<Column> {
        let next = column.0 + 1;
        let first = usize::from(next / 64);
        let words = self.stops.iter().enumerate().skip(first);
        words
            .map(|(n, &word)| {
                (
                    n,
                    if n == first {
                        word & (!0 << (next % 64))
                    } else {
                        word
                    },
                )
            })
            .find(|&(_, word)| word != 0)
            .map(|(n, word)| Column(n as u16 * 64 + word.trailing_zeros() as u16))
    }

    /// Returns the first stop left of `column`.
    pub(crate) fn before(&self, column: Column) -> Option<Column> {
        let last = usize::from(column.0 / 64);
        let below = (1 << (column.0 % 64)) - 1;
        let words = self.stops.iter().enumerate().take(last + 1).rev();
        words
            .map(|(n, &word)| (n, if n == last { word & below } else { word }))
            .find(|&(_, word)| word != 0)
            .map(|(n, word)| Column(n as u16 * 64 + 63 - word.leading_zeros() as u16))
    }
}

fn place(column: Column) -> (usize, u64) {
    let index = column.0.min(Size::SIDE_MAX - 1);
    (usize::from(index / 64), 1 << (index % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_are_found_both_ways() {
        let mut tabs = TabStops::every_eighth();
        assert_eq!(tabs.after(Column(0)), Some(Column(8)));
        assert_eq!(tabs.after(Column(8)), Some(Column(16)));
        assert_eq!(tabs.after(Column(60)), Some(Column(64)));
        assert_eq!(tabs.before(Column(64)), Some(Column(56)));
        assert_eq!(tabs.before(Column(8)), Some(Column(0)));
        assert_eq!(tabs.before(Column(0)), None);
        assert_eq!(tabs.after(Column(4095)), None);
        tabs.clear_all();
        assert_eq!(tabs.after(Column(0)), None);
        tabs.set(Column(200));
        assert_eq!(tabs.after(Column(0)), Some(Column(200)));
        assert_eq!(tabs.before(Column(4095)), Some(Column(200)));
        tabs.clear(Column(200));
        assert_eq!(tabs.before(Column(4095)), None);
    }
}
