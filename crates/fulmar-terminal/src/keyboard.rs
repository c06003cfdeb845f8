//! The forms of keys that a program asks for: the flags of kitty's keyboard protocol.
//!
//! Source: kitty's keyboard protocol, "progressive enhancement".

/// The most flags that a program can put aside; of more the oldest go. Chosen by eye: programs in programs in a shell.
const KEPT_MAX: usize = 16;

/// The flags that have a meaning.
const FLAGS: u16 = 0b1_1111;

/// The flags in force on one of the two screens, and those that were put aside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyboardFlags {
    now: u8,
    kept: Vec<u8>,
}

impl KeyboardFlags {
    /// Returns the flags in force.
    pub(crate) fn now(&self) -> u8 {
        self.now
    }

    /// `CSI = flags ; way u`: sets them, sets only these, or resets them.
    pub(crate) fn change(&mut self, flags: u16, way: u16) {
        let flags = masked(flags);
        match way {
            0 | 1 => self.now = flags,
            2 => self.now |= flags,
            3 => self.now &= !flags,
            _ => {}
        }
    }

    /// `CSI > flags u`: puts those in force aside.
    pub(crate) fn push(&mut self, flags: u16) {
        if self.kept.len() == KEPT_MAX {
            self.kept.remove(0);
        }
        self.kept.push(self.now);
        self.now = masked(flags);
    }

    /// `CSI < count u`: brings back what was put aside so many times before; none if that is too often.
    pub(crate) fn pop(&mut self, count: u16) {
        for _ in 0..count.min(KEPT_MAX as u16 + 1) {
            self.now = self.kept.pop().unwrap_or(0);
        }
    }
}

fn masked(flags: u16) -> u8 {
    (flags & FLAGS) as u8
}

#[cfg(test)]
mod tests {
    use crate::{Size, Terminal, TerminalReport, Vocabulary};

    fn speaking() -> Terminal {
        let mut terminal = Terminal::new(Size::default());
        terminal.set_report(TerminalReport {
            keyboard: true,
            ..TerminalReport::default()
        });
        terminal
    }

    /// Returns the flags that the program is told.
    fn asked(terminal: &mut Terminal, program: &str) -> String {
        terminal.process(program.as_bytes());
        terminal.process(b"\x1b[?u");
        String::from_utf8(terminal.take_replies()).unwrap()
    }

    #[test]
    fn flags_are_set_and_put_aside_on_each_screen() {
        let mut terminal = speaking();
        for (program, flags) in [
            ("", 0),
            ("\x1b[>1u", 1),
            ("\x1b[=2;2u", 3),
            ("\x1b[=1;3u", 2),
            ("\x1b[=5u", 5),
            ("\x1b[>255u", 31),
            ("\x1b[?1049h", 0),
            ("\x1b[>3u\x1b[>8u", 8),
            ("\x1b[<2u", 0),
            ("\x1b[?1049l", 31),
            ("\x1b[<u", 5),
            ("\x1b[<9999u", 0),
            ("\x1b[>1u\x1bc", 0),
        ] {
            assert_eq!(
                asked(&mut terminal, program),
                format!("\x1b[?{flags}u"),
                "{program:?}"
            );
        }
    }

    #[test]
    fn no_more_than_some_are_put_aside() {
        let mut terminal = speaking();
        assert_eq!(asked(&mut terminal, &"\x1b[>1u".repeat(10_000)), "\x1b[?1u");
        assert_eq!(
            asked(&mut terminal, "\x1b[<16u"),
            "\x1b[?1u",
            "the oldest are gone"
        );
        assert_eq!(asked(&mut terminal, "\x1b[<u"), "\x1b[?0u");
    }

    #[test]
    fn where_the_users_terminal_does_not_know_them_they_are_ignored() {
        let mut terminal = Terminal::new(Size::default());
        assert_eq!(asked(&mut terminal, "\x1b[>1u\x1b[=2u"), "");
        let blank = Terminal::new(Size::default());
        assert!(terminal.screen().is_same(blank.screen(), &Vocabulary::RICH));
        // And without a marker it is another function.
        terminal.process(b"\x1b[3;3H\x1b[s\x1b[H\x1b[u");
        assert_eq!(
            terminal.screen().cursor().position,
            crate::Position::new(2, 2)
        );
    }

    #[test]
    fn a_frame_tells_a_reader_that_speaks_it_and_no_other() {
        let mut terminal = speaking();
        let blank = terminal.screen().clone();
        terminal.process(b"\x1b[>5u");
        let frame = terminal.screen().diff_from(&blank, &Vocabulary::RICH);
        assert_eq!(frame, b"\x1b[=5;1u");
        let mut reader = blank.clone();
        reader.apply(&frame);
        assert!(reader.is_same(terminal.screen(), &Vocabulary::RICH));
        assert_eq!(
            terminal.screen().diff_from(&blank, &Vocabulary::NATIVE),
            b""
        );
        assert_eq!(
            terminal
                .screen()
                .repaint(&Vocabulary::RICH)
                .windows(7)
                .filter(|part| part == b"\x1b[=5;1u")
                .count(),
            1
        );
    }
}
