//! The checksum of a rectangle: DECRQCRA.
//!
//! It is that of xterm with `checksumExtension` 23: the characters, in 16 bits, and nothing of their look. Whoever asks for single cells reads
//! the screen by it, so the user has to allow it (docs/threat-model.md §8).
//!
//! Source: xterm's control sequences (DECRQCRA, XTCHECKSUM). Measured: xterm 379, for cells that are empty, hidden or wide. Of a character with marks
//! only the character counts, where xterm counts what the two are composed to; without a rectangle the whole screen counts, where xterm has another sum.

use crate::cell::Glyph;
use crate::csi::Csi;
use crate::replies::Replies;
use crate::screen::Screen;
use crate::size::{Column, Row};
use crate::style::Attributes;

/// The summand of the right half of a wide character in xterm.
const RIGHT_HALF: u16 = 0xffff;

/// Answers DECRQCRA: a number, a page, of which there is one, and a rectangle.
pub(crate) fn answer_checksum(screen: &mut Screen, replies: &mut Replies, csi: &Csi) {
    screen.charge(replies.work());
    // xterm is silent without a number, too.
    if csi.values().is_empty() || !replies.may_sum() {
        return;
    }
    let mut sum = 0_u16;
    if let Some((rows, columns)) = screen.rectangle(csi, 2) {
        screen.charge(rows.len() as u64 * columns.len() as u64);
        for row in rows {
            for column in columns.clone() {
                sum = sum.wrapping_add(summand(screen, Row(row), Column(column)));
            }
        }
    }
    replies.answer_checksum(screen, csi.value(0), sum);
}

/// Returns what a cell adds: its first character, without the marks.
fn summand(screen: &Screen, row: Row, column: Column) -> u16 {
    let row = screen.row(row);
    let shown = match row.glyph(column) {
        Glyph::Spacer => return RIGHT_HALF,
        Glyph::Blank => ' ',
        Glyph::Char(c) => c,
        Glyph::Cluster(text) => text.chars().next().unwrap_or(' '),
    };
    let style = row.style(column);
    if style.attributes.contains(Attributes::HIDDEN) {
        return u16::from(b' ');
    }
    // The lower 16 bits, as xterm.
    u32::from(shown) as u16
}

#[cfg(test)]
mod tests {
    use crate::{Size, Terminal, TerminalReport};

    /// The answer to `asked` where `drawn` is on the screen, if checksums are allowed.
    fn answer(drawn: &str, asked: &str, checksums: bool) -> String {
        let mut terminal = Terminal::new(Size::default());
        terminal.set_report(TerminalReport {
            checksums,
            ..TerminalReport::default()
        });
        terminal.process(drawn.as_bytes());
        terminal.process(asked.as_bytes());
        String::from_utf8(terminal.take_replies()).unwrap()
    }

    /// The sums are those of xterm 379 with `checksumExtension` 23, of which renditions were asked one by one.
    #[test]
    fn a_checksum_is_that_of_xterm() {
        let margins = "\x1b#8\x1b[2;3r\x1b[?69h\x1b[3;5s";
        let in_margins = format!("{margins}\x1b[?6h");
        for (drawn, rectangle, sum) in [
            ("", "1;1;1;1", "0020"),
            ("", "2;1;2;80", "0A00"),
            ("ab", "1;1;1;2", "00C3"),
            ("\x1b[1;2Hb", "1;1;1;2", "0082"),
            ("abc\x1b[1;2H\x1b[X", "1;1;1;3", "00E4"),
            ("abc\x1b[2J", "1;1;1;3", "0060"),
            ("\x1b[1;4;7;31ma", "1;1;1;1", "0061"),
            ("\x1b[1\"qa", "1;1;1;1", "0061"),
            ("\x1b[8ma", "1;1;1;1", "0020"),
            ("é", "1;1;1;1", "00E9"),
            ("一", "1;1;1;1", "4E00"),
            ("一", "1;1;1;2", "4DFF"),
            ("一", "1;2;1;2", "FFFF"),
            ("😀", "1;1;1;2", "F5FF"),
            ("\x1b(0q", "1;1;1;1", "2500"),
            ("\x1b(A#", "1;1;1;1", "00A3"),
            ("a", "1;1;100;300", "F041"),
            ("a", "100;300;200;400", "0000"),
            ("ab\r\ncd", "2;2;1;1", "0000"),
            ("ab\x1b[3;4r\x1b[?6hx", "1;1;3;1", "0098"),
            (margins, "1;1;9;9", "15D5"),
            (&in_margins, "1;1;9;9", "019E"),
            ("abc\x1b[1;1;1;2$z", "1;1;1;3", "00A3"),
            ("ab\x1b[1;1H\x1b[@", "1;1;1;3", "00E3"),
            ("\x1b[41m\x1b[2J", "1;1;1;2", "0040"),
        ] {
            let asked = format!("\x1b[7;1;{rectangle}*y");
            let wanted = format!("\x1bP7!~{sum}\x1b\\");
            assert_eq!(answer(drawn, &asked, true), wanted, "{drawn:?} {asked:?}");
        }
        assert_eq!(answer("a", "\x1b[*y", true), "");
        for page in [0, 2, 9] {
            let asked = format!("\x1b[65000;{page};1;1;1;1*y");
            assert_eq!(answer("a", &asked, true), "\x1bP65000!~0061\x1b\\");
        }
    }

    #[test]
    fn without_a_rectangle_it_is_that_of_the_screen() {
        assert_eq!(answer("\x1b#8", "\x1b[7*y", true), "\x1bP7!~0580\x1b\\");
    }

    #[test]
    fn nobody_reads_the_screen_where_that_is_not_allowed() {
        assert_eq!(answer("a", "\x1b[7;1;1;1;1;1*y\x1b[5n", false), "\x1b[0n");
    }

    #[test]
    fn a_checksum_waits_for_the_report_and_is_that_of_when_it_was_asked_for() {
        for (checksums, answer) in [(true, "\x1bP7!~0061\x1b\\\x1b[0n"), (false, "\x1b[0n")] {
            let mut terminal = Terminal::new(Size::default());
            terminal.await_report();
            terminal.process(b"a\x1b[7;1;1;1;1;1*y\x1b[5n\rb");
            assert_eq!(terminal.take_replies(), b"");
            terminal.set_report(TerminalReport {
                checksums,
                ..TerminalReport::default()
            });
            assert_eq!(String::from_utf8_lossy(&terminal.take_replies()), answer);
        }
    }

    #[test]
    fn the_work_of_a_checksum_is_that_of_its_cells() {
        let work = |rectangle: &str| {
            let mut terminal = Terminal::new(Size::default());
            terminal.set_report(TerminalReport {
                checksums: true,
                ..TerminalReport::default()
            });
            terminal.process(format!("\x1b[7;1;{rectangle}*y").as_bytes());
            terminal.screen().work()
        };
        assert_eq!(work("1;1;9;9") - work("1;1;1;1"), 80);
    }
}
