//! Tells the echo of a key from a redraw that may not be over.

use crate::screen::Screen;
use crate::size::Column;

impl Screen {
    /// Tells whether what has changed since `before` looks like the whole effect of a key: the cursor is where a
    /// program lets it rest, and something has changed there. After anything else there is often more to come.
    ///
    /// Of a program that keeps the cursor hidden nothing can be told. It is believed, so that one that draws a cursor
    /// of its own is not slowed down for ever.
    ///
    /// Source: docs/protocol.md §5.4. What the conditions do together is measured in docs/figures.md, "redraws".
    pub fn is_echo_after(&self, before: &Screen) -> bool {
        if !before.cursor.visible && !self.cursor.visible {
            return true;
        }
        self.cursor.visible
            && self.cursor.position.column > Column(0)
            && self.has_changed_at_cursor(before)
            && !self.has_lost_text_after_cursor(before)
    }

    /// Tells whether the cursor has moved, or its row has changed. If neither is true, the program is busy elsewhere,
    /// with a status line for example.
    fn has_changed_at_cursor(&self, before: &Screen) -> bool {
        let place = self.cursor.position;
        place != before.cursor.position || self.row(place.row) != before.row(place.row)
    }

    /// Tells whether there was text after the cursor and there is none any more. A shell that suggests how a line goes
    /// on erases what does not fit before it suggests something else.
    fn has_lost_text_after_cursor(&self, before: &Screen) -> bool {
        before.has_text_after_cursor() && !self.has_text_after_cursor()
    }

    fn has_text_after_cursor(&self) -> bool {
        let place = self.cursor.position;
        let cells = self.row(place.row).cells().iter();
        let mut after = cells.skip(usize::from(place.column.0));
        after.any(|cell| !cell.is_blank())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Size, Terminal};

    /// Tells whether `output` looks like an echo on a screen that `shown` has made.
    fn is_echo(shown: &str, output: &str) -> bool {
        let mut terminal = Terminal::new(Size::new(3, 20).unwrap());
        terminal.process(shown.as_bytes());
        let before = terminal.screen().clone();
        terminal.process(output.as_bytes());
        terminal.screen().is_echo_after(&before)
    }

    #[test]
    fn what_changes_at_the_cursor_is_an_echo() {
        assert!(is_echo("$ ", "l"));
        assert!(is_echo("$ ls", "\x08\x1b[K"));
        assert!(is_echo("$ ls", "\x1b[D"), "a cursor key");
        assert!(is_echo("$ ls\x1b[2D", "\x1b[P"), "a deleted character");
        assert!(is_echo("$ l", "\x1b[?25ls\x1b[?25h"));
        assert!(is_echo("$ ls\r\n", "docs\r\n$ "), "a whole answer");
    }

    #[test]
    fn a_program_that_has_hidden_its_cursor_is_at_work() {
        assert!(!is_echo("ab", "\x1b[?25lc"));
        assert!(is_echo("ab\x1b[?25l", "c\x1b[?25h"));
    }

    #[test]
    fn a_program_that_keeps_its_cursor_hidden_is_believed() {
        assert!(is_echo("ab\x1b[?25l", "c"));
        assert!(is_echo("ab\x1b[?25l", "\r"));
    }

    #[test]
    fn after_the_end_of_a_line_another_follows() {
        assert!(!is_echo("$ ls", "\r\n"));
        assert!(!is_echo("$ ls\r\n", "docs\r\n"));
    }

    #[test]
    fn a_change_elsewhere_is_no_echo() {
        assert!(!is_echo("$ ls", "\x1b7\x1b[3;1Hclock\x1b8"));
        assert!(!is_echo("$ ls", "\x07"));
        assert!(is_echo("$ ls", "\x1b7\x1b[3;1Hclock\x1b8 "));
    }

    #[test]
    fn another_suggestion_follows_one_that_was_erased() {
        let suggested = "$ lXYZ\x1b[3D";
        assert!(!is_echo(suggested, "s\x1b[K"));
        assert!(is_echo(suggested, "X"));
        assert!(is_echo(suggested, "s\x1b[K -a\x1b[3D"));
    }
}
