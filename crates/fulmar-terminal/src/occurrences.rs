//! Bells, and texts that go to the clipboard: they happen once, and are no state that somebody could look at later.

use crate::screen::Screen;
use crate::size::Size;

impl Screen {
    /// Returns a blank screen to whose reader all that has happened on this one was told. What leads from it to a later screen tells
    /// only what has happened since.
    #[must_use]
    pub fn blank_after(&self, size: Size) -> Screen {
        Screen {
            bell_count: self.bell_count,
            clipboard: self.clipboard.clone(),
            short_clipboard: self.short_clipboard.clone(),
            ..Screen::new(size)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Size, Terminal, Vocabulary};

    #[test]
    fn what_was_told_before_is_not_told_again() {
        let size = Size::new(2, 8).unwrap();
        let mut terminal = Terminal::new(size);
        terminal.process(b"\x07\x1b]52;c;aGk=\x07ab");
        let blank = terminal.screen().blank_after(size);
        let frame = |terminal: &Terminal| terminal.screen().diff_from(&blank, &Vocabulary::FULL);
        let first = String::from_utf8(frame(&terminal)).unwrap();
        assert!(first.contains("ab") && !first.contains("52;"), "{first:?}");
        assert!(!first.contains('\x07'), "{first:?}");
        terminal.process(b"\x07\x1b]52;c;aG8=\x07");
        let second = String::from_utf8(frame(&terminal)).unwrap();
        assert!(second.contains("\x07\x1b]52;c;aG8=\x07"), "{second:?}");
    }
}
