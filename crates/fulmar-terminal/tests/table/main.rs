//! The effect of each sequence, as triples: screen before, bytes, screen after.
//!
//! `│` is the cursor. Behind the last column it means that a wrap is pending.

#[path = "../support/mod.rs"]
mod support;

mod charsets;
mod clusters;
mod editing;
mod measured;
mod modes;
mod moving;
mod printing;
mod protection;
mod rectangles;
mod reflow;
mod rendition;
mod replies;
mod resize;
mod sides;
mod strings;
mod wide;

use fulmar_terminal::{Screen, Size, Terminal};

/// On a screen of 4 rows by 8 columns, `bytes` turn `before` into `after`.
#[track_caller]
fn screen(before: &str, bytes: &str, after: &str) {
    on(4, 8, before, bytes, after);
}

/// On a screen of `rows` by `columns`, `bytes` turn `before` into `after`.
#[track_caller]
fn on(rows: u16, columns: u16, before: &str, bytes: &str, after: &str) {
    let size = Size::new(rows, columns).expect("a small size");
    let mut terminal = support::terminal(size, before);
    assert_eq!(
        drawn(terminal.screen()),
        padded(before, rows),
        "the screen before"
    );
    terminal.process(bytes.as_bytes());
    let (drawn, wanted) = (drawn(terminal.screen()), padded(after, rows));
    assert!(
        drawn == wanted,
        "{bytes:?} gives\n{drawn}\nand not\n{wanted}\n"
    );
}

fn drawn(screen: &Screen) -> String {
    support::draw(screen)
}

/// Returns `drawing` with a line for every row, and a cursor at home if it has none.
fn padded(drawing: &str, rows: u16) -> String {
    let home = if drawing.contains(support::CURSOR) {
        ""
    } else {
        "│"
    };
    let lines = usize::from(rows).saturating_sub(drawing.split('\n').count());
    format!("{home}{drawing}{}", "\n".repeat(lines))
}

/// A terminal of 24x80 that has seen `bytes`.
fn after(bytes: &str) -> Terminal {
    let mut terminal = Terminal::new(Size::default());
    terminal.process(bytes.as_bytes());
    terminal
}
