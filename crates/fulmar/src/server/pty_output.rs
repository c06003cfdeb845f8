//! The output of the program: read in turns, and drawn as fast as that is no burden.

use std::ops::Range;

/// The most that is read from the pty in one turn.
///
/// Source: docs/threat-model.md §6.
const READ_MAX: usize = 64 * 1024;

/// The least that may be read in a turn: as much as the system gives at a time.
///
/// Source: Linux, `N_TTY_BUF_SIZE`.
const READ_MIN: usize = 4096;

/// Output that was read, and may not be drawn yet.
///
/// Output that is much work to draw is read in small pieces, so that what an interrupted program has
/// written before is soon over: twice as much each turn in which all of it was drawn, and no more than
/// was drawn in one in which it was not.
#[derive(Debug)]
pub(crate) struct PtyOutput {
    bytes: Vec<u8>,
    /// The range of the bytes that are not drawn yet.
    waiting: Range<usize>,
    read_max: usize,
}

impl PtyOutput {
    /// Returns nothing, with room for what may be read in a turn.
    pub(crate) fn new() -> PtyOutput {
        PtyOutput {
            bytes: vec![0; READ_MAX],
            waiting: 0..0,
            read_max: READ_MAX,
        }
    }

    /// Returns what is not drawn yet.
    pub(crate) fn waiting(&self) -> &[u8] {
        self.bytes.get(self.waiting.clone()).unwrap_or_default()
    }

    /// Returns the room for what this turn may still read; none if it has read enough, or if something
    /// older waits to be drawn.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        let end = match self.waiting.start {
            0 => self.read_max,
            _ => self.waiting.end,
        };
        let room = self.bytes.get_mut(self.waiting.end..end);
        room.unwrap_or_default()
    }

    /// Takes note that so many bytes were read into the room.
    pub(crate) fn filled(&mut self, count: usize) {
        self.waiting.end = self.bytes.len().min(self.waiting.end + count);
    }

    /// Takes note that so many bytes were drawn, as many as a turn allows.
    pub(crate) fn drawn(&mut self, count: usize) {
        self.waiting.start = self.waiting.end.min(self.waiting.start + count);
        if self.waiting.is_empty() {
            self.waiting = 0..0;
            self.read_max = READ_MAX.min(2 * self.read_max);
        } else {
            self.read_max = count.clamp(READ_MIN, READ_MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_drawn_is_kept_in_its_order_and_nothing_newer_is_read() {
        let mut output = PtyOutput::new();
        output.room()[..6].copy_from_slice(b"abcdef");
        output.filled(6);
        output.drawn(2);
        assert_eq!(output.waiting(), b"cdef");
        assert!(output.room().is_empty());
        output.drawn(4);
        assert_eq!(output.waiting(), b"");
        assert!(!output.room().is_empty());
    }

    #[test]
    fn what_is_hard_to_draw_is_read_in_small_pieces() {
        let mut output = PtyOutput::new();
        assert_eq!(output.room().len(), READ_MAX);
        output.filled(READ_MAX);
        output.drawn(100);
        assert!(output.room().is_empty());
        output.drawn(READ_MAX - 100);
        assert_eq!(output.room().len(), 2 * READ_MIN);
        output.filled(2 * READ_MIN);
        assert!(output.room().is_empty(), "a turn has its share");
        output.drawn(2 * READ_MIN);
        assert_eq!(output.room().len(), 4 * READ_MIN);
        for _ in 0..9 {
            output.drawn(0);
        }
        assert_eq!(output.room().len(), READ_MAX);
    }
}
