//! Lines that leave the top of the screen can be read again.

use fulmar_terminal::{
    Column, History, MalformedLine, Scrollback, ScrollbackLimits, SharedRow, Size, Terminal,
    unpack_line,
};
use proptest::prelude::*;

fn size(rows: u16, columns: u16) -> Size {
    Size::new(rows, columns).expect("a usual size")
}

fn terminal(size: Size, limits: ScrollbackLimits) -> Terminal {
    let mut terminal = Terminal::new(size);
    terminal.keep_history(limits);
    terminal
}

fn history(terminal: &Terminal) -> History<'_> {
    terminal.history().expect("it is kept")
}

/// The rows of all lines above the screen.
fn rows_above(terminal: &Terminal) -> Vec<SharedRow> {
    let history = history(terminal);
    let columns = terminal.screen().size().columns();
    let mut packed = Vec::new();
    let lines = (history.first()..history.end()).map(|number| {
        assert!(history.read(number, &mut packed));
        unpack_line(&packed, columns).expect("what was packed")
    });
    lines.flatten().collect()
}

/// Returns true if two rows are the same but for the cell that a wide character had no place in.
fn is_same(one: &SharedRow, other: &SharedRow) -> bool {
    let gap = |row: &SharedRow| {
        row.is_wrapped()
            && row
                .cells()
                .last()
                .is_some_and(fulmar_terminal::Cell::is_blank)
    };
    let text = |row: &SharedRow| {
        let columns = (0..row.columns() - u16::from(gap(row))).map(Column);
        let cells = columns.map(|column| (format!("{:?}", row.glyph(column)), row.style(column)));
        cells.collect::<Vec<_>>()
    };
    one == other || gap(one) && gap(other) && text(one) == text(other)
}

/// The text on the screen, line for line as it has wrapped.
fn shown_text(terminal: &Terminal) -> String {
    let mut text = String::new();
    for row in terminal.screen().rows() {
        row.push_text(&mut text);
        text.push_str(if row.is_wrapped() { "" } else { "\n" });
    }
    text
}

/// Fails if one of the lines that are `known` has changed, and takes in those that are new.
fn check_numbers(terminal: &Terminal, known: &mut Vec<Vec<u8>>) -> Result<(), TestCaseError> {
    let history = history(terminal);
    let mut line = Vec::new();
    for number in 0..history.end() {
        prop_assert!(history.read(number, &mut line));
        match known.get(number as usize) {
            Some(known) => prop_assert_eq!(known, &line, "number {}", number),
            None => known.push(line.clone()),
        }
    }
    Ok(())
}

/// Output that programs print line by line.
fn output() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z ]{1,9}",
        4 => Just("\r\n".to_owned()),
        1 => Just("\r\n\r\n\r\n".to_owned()),
        1 => "[é漢字あ한]{1,5}",
        1 => Just("e\u{301}漢\u{301}".to_owned()),
        1 => Just("\t".to_owned()),
        1 => Just("\r\n\x1b[K".to_owned()),
        2 => (0..8u8, 30..38u8).prop_map(|(attribute, color)| format!("\x1b[{attribute};{color}m")),
        1 => any::<[u8; 3]>().prop_map(|[r, g, b]| format!("\x1b[38;2;{r};{g};{b};58;5;{b}m")),
        1 => Just("\x1b[m".to_owned()),
        1 => "[a-z]{1,3}".prop_map(|name| format!("\x1b]8;id={name};http://{name}.org/\x07")),
        1 => Just("\x1b]8;;\x07".to_owned()),
    ];
    prop::collection::vec(piece, 0..120).prop_map(|pieces| pieces.concat())
}

/// The same with colours behind the text.
fn painted_output() -> impl Strategy<Value = String> {
    let piece = (output(), 40..50u8).prop_map(|(text, color)| format!("\x1b[{color}m{text}"));
    prop::collection::vec(piece, 1..4).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn rows_are_read_as_they_were(columns in 2..20u16, output in painted_output()) {
        let mut terminal = terminal(size(1000, columns), ScrollbackLimits::default());
        terminal.process(output.as_bytes());
        let before: Vec<SharedRow> = terminal.screen().rows().cloned().collect();
        terminal.process(b"\x1b[999S");
        let above = rows_above(&terminal);
        prop_assert_eq!(above.len(), 999);
        for (number, (above, before)) in above.iter().zip(&before).enumerate() {
            prop_assert!(is_same(above, before), "{number}: {:?}", (above, before));
        }
    }

    /// A tall window shows what a short one has above it.
    #[test]
    fn nothing_is_lost_between_the_screen_and_the_lines_above(
        rows in 1..6u16, columns in 2..20u16, output in output(),
    ) {
        let mut short = terminal(size(rows, columns), ScrollbackLimits::default());
        let mut tall = Terminal::new(size(1000, columns));
        short.process(output.as_bytes());
        tall.process(output.as_bytes());
        let above = rows_above(&short);
        for (number, (above, expected)) in above.iter().zip(tall.screen().rows()).enumerate() {
            prop_assert!(is_same(above, expected), "{number}: {:?}", (above, expected));
        }
        // All that is not above is on the screen, but for a line that goes on there.
        let others = tall.screen().rows().skip(above.len());
        let begun = above.len() + others.take_while(|row| row.is_wrapped()).count();
        let cursor = tall.screen().cursor().position.row.0;
        prop_assert!(begun + usize::from(rows) > usize::from(cursor));
    }

    /// Lines are the same, however often the window changed.
    #[test]
    fn lines_do_not_depend_on_windows(
        first in (1..6u16, 2..20u16),
        pieces in prop::collection::vec((output(), 1..6u16, 2..20u16), 0..6),
    ) {
        let mut changing = terminal(size(first.0, first.1), ScrollbackLimits::default());
        let mut wide = Terminal::new(size(1000, 1000));
        for (output, rows, columns) in pieces {
            // Neither tabs nor what is erased at the end of a row are the same in another window.
            let output = output.replace("\t", " ").replace("\x1b[K", "");
            let output = format!("\r\n{output}\x1b[m\x1b]8;;\x07\r\n$");
            changing.process(output.as_bytes());
            wide.process(output.as_bytes());
            changing.resize(size(rows, columns));
        }
        let history = history(&changing);
        let mut packed = Vec::new();
        for (number, row) in (0..history.end()).zip(wide.screen().rows()) {
            prop_assert!(history.read(number, &mut packed));
            let rows = unpack_line(&packed, 1000).expect("what was packed");
            prop_assert_eq!(rows.len(), 1);
            prop_assert!(rows.first() == Some(row), "{number}");
        }
    }

    /// Whatever a program does with what a window brings back.
    #[test]
    fn a_number_is_always_the_same_line_and_what_was_not_erased_is_in_one(
        steps in prop::collection::vec((0..6u8, 1..8u16, 8..20u16), 1..30),
    ) {
        let mut terminal = terminal(size(4, 10), ScrollbackLimits::default());
        let (mut known, mut word) = (Vec::new(), 0);
        let mut wanted = Vec::new();
        for (what, rows, columns) in steps {
            let mut print = |count: u16| {
                let words = (0..count).map(|_| {
                    word += 1;
                    wanted.push(format!("<{word}>"));
                    format!("<{word}>\r\n")
                });
                words.collect::<String>()
            };
            match what {
                0 | 1 => terminal.process(print(columns / 2).as_bytes()),
                2 | 3 => terminal.resize(size(rows, columns)),
                4 => {
                    let text = print(1);
                    let shown = shown_text(&terminal);
                    wanted.retain(|word| !shown.contains(word.as_str()));
                    terminal.process(format!("\x1b[H\x1b[J{text}").as_bytes());
                }
                _ => {
                    // Above the cursor, and so perhaps of a line that came back.
                    let text = print(1);
                    let shown = shown_text(&terminal);
                    wanted.retain(|word| !shown.contains(word.as_str()));
                    terminal.process(format!("\x1b[{rows}A\x1b[K{text}\x1b[{rows}B").as_bytes());
                }
            }
            check_numbers(&terminal, &mut known)?;
        }
        terminal.process("\r\n".repeat(10).as_bytes());
        check_numbers(&terminal, &mut known)?;
        let all: String = known.iter().map(|line| String::from_utf8_lossy(line)).collect();
        for word in wanted {
            prop_assert!(all.contains(&word), "{word} is not in {all:?}");
        }
    }

    #[test]
    fn any_bytes_are_a_line_or_are_refused(
        bytes in prop::collection::vec(prop_oneof![0..20u8, any::<u8>()], 0..200), columns in 1..100u16,
    ) {
        if let Ok(rows) = unpack_line(&bytes, columns) {
            prop_assert!(rows.iter().all(|row| row.columns() == columns));
        }
    }
}

#[test]
fn lines_of_an_absurd_length_are_refused() {
    assert!(unpack_line(&vec![b'x'; 64 << 10], 80).is_ok());
    assert_eq!(
        unpack_line(&vec![b'x'; (64 << 10) + 1], 80),
        Err(MalformedLine)
    );
    let blanks = |count: usize| {
        let groups = [count & 0x7f | 0x80, count >> 7 & 0x7f | 0x80, count >> 14];
        [&[16][..], &groups.map(|group| group as u8)].concat()
    };
    assert!(unpack_line(&blanks(64 << 10), 80).is_ok());
    assert_eq!(unpack_line(&blanks((64 << 10) + 1), 80), Err(MalformedLine));
    assert_eq!(
        unpack_line(&blanks(40_000).repeat(2), 80),
        Err(MalformedLine)
    );
}

#[test]
fn ten_thousand_lines_in_24_bit_colours_take_less_than_8_mb() {
    let mut terminal = terminal(size(24, 80), ScrollbackLimits::default());
    for line in 0..10_100u32 {
        let cells = (0..80).map(|column| {
            let [_, low, high, _] = (line * 80 + column).to_be_bytes();
            format!("\x1b[38;2;{low};{high};{column};48;2;{column};{high};{low}mx")
        });
        let text = cells.collect::<String>() + "\x1b[m\r\n";
        terminal.process(text.as_bytes());
    }
    let history = history(&terminal);
    assert_eq!(history.end() - history.first(), 10_000);
    assert!(history.held_bytes() < 8_000_000, "{}", history.held_bytes());
}

#[test]
fn the_oldest_lines_go_when_there_are_too_many_bytes() {
    let limits = ScrollbackLimits {
        lines: usize::MAX,
        bytes: 1 << 20,
    };
    let mut terminal = terminal(size(2, 80), limits);
    for line in 0..100_000 {
        terminal.process(format!("{line:79}\r\n").as_bytes());
        assert!(history(&terminal).held_bytes() <= 1 << 20);
    }
    let history = history(&terminal);
    assert_eq!(history.end(), 99_999);
    assert!((10_000..15_000).contains(&(history.end() - history.first())));
    let mut line = Vec::new();
    assert!(!history.read(history.first() - 1, &mut line));
    assert!(history.read(history.first(), &mut line));
    assert_eq!(line, format!("{:79}", history.first()).as_bytes());
    assert!(!history.read(history.end(), &mut line));
}

#[test]
fn empty_lines_take_no_more_than_the_limits_allow() {
    for limits in [
        ScrollbackLimits::default(),
        ScrollbackLimits {
            lines: usize::MAX,
            bytes: 200 << 10,
        },
    ] {
        let mut terminal = terminal(size(2, 80), limits);
        let newlines = [b'\n'; 1000];
        for _ in 0..300 {
            terminal.process(&newlines);
            let held = history(&terminal).held_bytes();
            assert!(held <= 300 << 10, "{held} for {limits:?}");
        }
        let history = history(&terminal);
        assert_eq!(history.end(), 299_999);
        assert!(history.end() - history.first() >= 10_000);
    }
}

#[test]
fn no_limit_lets_a_line_be_longer_than_it_may() {
    let mut terminal = terminal(size(2, 4096), ScrollbackLimits::default());
    let link = "x".repeat(2000);
    for number in 0..4096 {
        terminal.process(format!("\x1b]8;;http://{link}{number}\x07漢\u{301}").as_bytes());
    }
    terminal.process(b"\r\n\n\n");
    let history = history(&terminal);
    let mut line = Vec::new();
    for number in history.first()..history.end() {
        assert!(history.read(number, &mut line));
        assert!(line.len() <= 64 << 10, "{}", line.len());
        assert!(unpack_line(&line, 80).is_ok());
    }
}

#[test]
fn a_copy_has_the_numbers_that_it_is_given() {
    let mut copy = Scrollback::new(ScrollbackLimits::default());
    copy.push_line(b"a");
    copy.skip_to(7);
    copy.push_line(b"b");
    assert_eq!((copy.first(), copy.end()), (7, 8));
    assert_eq!(
        [copy.line(0), copy.line(7), copy.line(8)],
        [None, Some(&b"b"[..]), None]
    );
}
