//! Pages of text of all kinds, which a shell shows.

use std::fmt::Write as _;

/// The number of pages that [`cursors`] has.
pub(super) const CURSOR_PAGES: usize = 8;

/// Returns the pages with their names.
pub(super) fn all() -> [(&'static str, Vec<String>); 5] {
    [
        ("renditions", vec![renditions(), colors(), palette()]),
        ("characters", vec![characters(), lines(), wraps()]),
        ("disputed", vec![disputed()]),
        ("underlines", vec![underlines()]),
        ("cursor", cursors()),
    ]
}

const HOME: &str = "\x1b[m\x1b[H\x1b[2J";

/// Each attribute alone and with each other, spaces included, and ended by its own sequence.
fn renditions() -> String {
    let codes = [1, 2, 3, 4, 5, 7, 8, 9, 53];
    let mut page = HOME.to_owned();
    for first in codes {
        for second in codes {
            let _ = write!(page, "\x1b[0;{first};{second}m{first:2} x ");
        }
        page += "\x1b[m\r\n";
    }
    for end in [22, 23, 24, 25, 27, 28, 29, 55] {
        let _ = write!(page, "\x1b[1;3;4;5;7;9;53mon\x1b[{end}m off \x1b[m ");
    }
    page
}

/// The lines that xterm does not have.
fn underlines() -> String {
    let mut page = HOME.to_owned();
    for line in [
        "21",
        "4:1",
        "4:2",
        "4:3",
        "4:4",
        "4:5",
        "4:3;58:2::255:0:0",
        "4;58:5:2",
    ] {
        for other in [1, 3, 4, 7, 9, 24, 59] {
            let _ = write!(page, "\x1b[{other};{line}m{other};{line}\x1b[m ");
        }
        page += "\r\n";
    }
    page
}

fn colors() -> String {
    let mut page = HOME.to_owned();
    for attributes in ["", "1;", "2;", "7;", "1;7;", "2;7;"] {
        for color in (30..38).chain(90..98) {
            let _ = write!(page, "\x1b[0;{attributes}{color}m x ");
        }
        page += "\x1b[m\r\n";
        for color in (40..48).chain(100..108) {
            let _ = write!(page, "\x1b[0;{attributes}{color}m x ");
        }
        page += "\x1b[m\r\n";
    }
    // Erased cells keep the background.
    for (row, erasing) in (14..).zip(["K", "1K", "4X", "3P", "2@"]) {
        let _ = write!(
            page,
            "\x1b[{row}H\x1b[4;44mtext and more\x1b[{row};9H\x1b[0;4{}m\x1b[{erasing}\x1b[m",
            row % 6 + 1
        );
    }
    // Terminals disagree where the cursor is behind the last one.
    page + "\x1b[22Hend"
}

/// A page that kitty 0.26 shows otherwise than xterm: it leaves inserted rows in the colour of the window, and keeps a wide character
/// over whose right half something is written.
fn disputed() -> String {
    let mut page = HOME.to_owned();
    for row in 1..20 {
        let _ = write!(page, "{row} text and more\r\n");
    }
    page += "漢字\x1b[3Dx\r\n漢字漢字\x1b[7D\x1b[P";
    for (row, sequence) in [(3, "L"), (7, "2L"), (12, "M")] {
        let _ = write!(
            page,
            "\x1b[{row};9H\x1b[4{}m\x1b[{sequence}\x1b[m",
            row % 6 + 1
        );
    }
    page + "\x1b[9;12r\x1b[9H\x1b[45m\x1bM\x1b[m\x1b[r\x1b[23Hend"
}

fn palette() -> String {
    let mut page = HOME.to_owned();
    for index in 0..256 {
        let _ = write!(page, "\x1b[38;5;{index}mo\x1b[m\x1b[48;5;{index}m \x1b[m");
    }
    page += "\r\n";
    for level in (0..=255).step_by(5) {
        let other = 255 - level;
        let _ = write!(
            page,
            "\x1b[38;2;{level};{other};1mo\x1b[48;2;1;{level};{other}mx\x1b[m"
        );
    }
    // Reverse for the whole screen.
    page + "\x1b[?5h"
}

/// Characters of each width, and those that are joined.
fn characters() -> String {
    format!(
        "{HOME}\x1b[?5l\x1b[1;31mé à 漢字 ｶﾅ e\u{301} 한국\x1b[m a\u{300}\u{323} \u{fb01} שלום\r\n\
         \x1b[44m漢\x1b[7m字\x1b[m|\x1b[4m漢字\x1b[m|\r\n漢字\x1b[2Dx\r\n\
         {}漢\r\n|\t|\t|\r\n1234567890\x1b[5D\x1b[@\x1b[@漢\r\n",
        "x".repeat(79)
    )
}

/// Lines of both kinds, and blocks.
fn lines() -> String {
    let mut page =
        format!("{HOME}\x1b(0lqwqk\r\nx x x\r\ntqnqu\r\nmqvqj `afgopqrs{{|}}~\x1b(B\r\n");
    for character in '\u{2500}'..='\u{259f}' {
        page.push(character);
    }
    page + "\r\n\x1b)0\x0elqk\x0f \x1b[1;34m┌─┐\x1b[m"
}

/// Lines that wrap, scroll, and end at the margin.
fn wraps() -> String {
    let full = "0123456789".repeat(8);
    format!(
        "{HOME}{full}\r\n{full}x\r\n{full}|\r\n\x1b[5;9r\x1b[5H1\r\n2\r\n3\r\n4\r\n5\r\n6\x1b[5H\
         \x1bM7\x1b[r\x1b[10H\x1b[41m\n\n\x1b[m{full}\x1b[4hins\x1b[4l\x1b[23H\x1b[2S\x1b[42mend"
    )
}

/// The shapes of the cursor, and none.
fn cursors() -> Vec<String> {
    let mut pages = vec![format!("{HOME}text\x1b[4D")];
    pages.extend((1..=6).map(|shape| format!("{HOME}text\x1b[{}D\x1b[{shape} q", shape % 4 + 1)));
    pages.push("\x1b[?25l".to_owned());
    pages
}
