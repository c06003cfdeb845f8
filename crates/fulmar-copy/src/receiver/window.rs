//! Remembers the entries that are settled.

use crate::entry::EntryId;
use crate::limits::WINDOW_ENTRIES;

const WORDS: usize = WINDOW_ENTRIES as usize / 64;

/// Everything below the floor, and some within the window above it.
#[derive(Debug)]
pub(super) struct Window {
    floor: u64,
    /// A bit for each number, at its place modulo the window's length.
    bits: [u64; WORDS],
}

impl Window {
    pub(super) fn new() -> Self {
        Self {
            floor: 0,
            bits: [0; WORDS],
        }
    }

    /// The lowest entry that is not settled.
    pub(super) fn floor(&self) -> u64 {
        self.floor
    }

    /// Returns true if the number is neither below nor beyond what may be under way.
    pub(super) fn holds(&self, id: EntryId) -> bool {
        id.0.checked_sub(self.floor)
            .is_some_and(|above| above < WINDOW_ENTRIES)
    }

    pub(super) fn is_settled(&self, id: EntryId) -> bool {
        id.0 < self.floor || (self.holds(id) && self.is_set(id.0))
    }

    /// Settles one that the window holds.
    pub(super) fn settle(&mut self, id: EntryId) {
        if self.holds(id) {
            *self.word_mut(id.0) |= bit(id.0);
        }
        while self.is_set(self.floor) {
            // Its place is that of a number beyond the old window from now on.
            *self.word_mut(self.floor) &= !bit(self.floor);
            self.floor += 1;
        }
    }

    fn is_set(&self, id: u64) -> bool {
        let word = self.bits.get(word(id));
        word.is_some_and(|word| word & bit(id) != 0)
    }

    fn word_mut(&mut self, id: u64) -> &mut u64 {
        let word = self.bits.get_mut(word(id));
        word.expect("a number modulo the window's length is within it")
    }
}

fn word(id: u64) -> usize {
    (id % WINDOW_ENTRIES / 64) as usize
}

fn bit(id: u64) -> u64 {
    1 << (id % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_follows_the_lowest_that_is_open() {
        let mut window = Window::new();
        window.settle(EntryId(1));
        assert_eq!(window.floor(), 0);
        assert!(window.is_settled(EntryId(1)) && !window.is_settled(EntryId(0)));
        window.settle(EntryId(0));
        assert_eq!(window.floor(), 2);
        assert!(window.is_settled(EntryId(0)));
    }

    #[test]
    fn the_window_ends_where_its_length_says() {
        let mut window = Window::new();
        assert!(window.holds(EntryId(WINDOW_ENTRIES - 1)));
        assert!(!window.holds(EntryId(WINDOW_ENTRIES)));
        (0..10_000).for_each(|id| window.settle(EntryId(id)));
        assert_eq!(window.floor(), 10_000);
        assert!(!window.is_settled(EntryId(10_000 + WINDOW_ENTRIES)));
        assert!(!window.is_settled(EntryId(u64::MAX)));
    }
}
