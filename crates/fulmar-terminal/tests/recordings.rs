//! Recorded programs leave the screen as it is drawn beside each recording, and as another emulator has it.

#[expect(dead_code, reason = "a part of what the tests share")]
mod support;

#[path = "support/picture.rs"]
mod picture;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use fulmar_terminal::{Color, ColorKind, Column, Glyph, Row, Screen, Size, Terminal};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/recordings");

/// Returns all recordings, by name.
fn recordings() -> BTreeMap<String, PathBuf> {
    let entries = fs::read_dir(FOLDER).expect("the folder is part of the repository");
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let paths: Vec<PathBuf> = paths.collect::<io::Result<_>>().expect("a readable folder");
    let recordings = paths
        .into_iter()
        .filter(|path| path.extension().is_some_and(|e| e == "bin"));
    let recordings: BTreeMap<_, _> = recordings.map(|path| (name(&path), path)).collect();
    assert!(recordings.len() >= 15, "some recordings are missing");
    recordings
}

fn name(path: &Path) -> String {
    path.file_stem()
        .expect("a file")
        .to_string_lossy()
        .into_owned()
}

fn played(bytes: &[u8]) -> Terminal {
    let mut terminal = Terminal::new(Size::default());
    terminal.process(bytes);
    terminal
}

#[test]
fn recorded_programs_leave_the_screen_as_drawn() {
    for (name, path) in recordings() {
        let bytes = fs::read(&path).expect("a readable recording");
        let drawn = picture::picture(played(&bytes).screen());
        let wanted = fs::read_to_string(path.with_extension("txt")).unwrap_or_default();
        assert!(drawn == wanted, "{name} leaves\n{drawn}\nand not\n{wanted}");
    }
}

/// Recordings on which vt100 0.16 is no judge, with the reason.
const NOT_JUDGED: [(&str, &str); 3] = [
    ("dialog-gauge", "it has no line drawing"),
    ("irssi", "it does not repeat characters"),
    (
        "mutt-empty",
        "it deletes characters without the background colour",
    ),
];

#[test]
fn another_emulator_sees_the_same() {
    for (name, path) in recordings() {
        if NOT_JUDGED.iter().any(|(not_judged, _)| *not_judged == name) {
            continue;
        }
        let bytes = fs::read(&path).expect("a readable recording");
        let mut other = vt100::Parser::new(24, 80, 0);
        other.process(&bytes);
        let terminal = played(&bytes);
        let differences = differences(terminal.screen(), other.screen());
        assert!(differences.is_empty(), "{name}: {differences:#?}");
    }
}

/// Returns a line for each cell that the two see differently, and one for the cursor.
fn differences(ours: &Screen, theirs: &vt100::Screen) -> Vec<String> {
    let mut lines = Vec::new();
    for row in 0..24 {
        for column in 0..80 {
            let ours = look(ours, row, column);
            let theirs = their_look(theirs, row, column);
            if ours != theirs {
                lines.push(format!("row {row} column {column}: {ours} for {theirs}"));
            }
        }
    }
    let position = ours.cursor().position;
    let cursor = (position.row.0, position.column.0);
    if cursor != theirs.cursor_position() {
        lines.push(format!(
            "cursor: {cursor:?} for {:?}",
            theirs.cursor_position()
        ));
    }
    lines
}

fn look(screen: &Screen, row: u16, column: u16) -> String {
    use fulmar_terminal::Attributes;

    let row = screen.row(Row(row));
    let style = row.style(Column(column));
    let text = match row.glyph(Column(column)) {
        Glyph::Blank | Glyph::Spacer => " ".to_owned(),
        Glyph::Char(c) => c.to_string(),
        Glyph::Cluster(text) => text.to_owned(),
    };
    let flags = [
        Attributes::BOLD,
        Attributes::ITALIC,
        Attributes::UNDERLINE,
        Attributes::INVERSE,
    ];
    let flags = flags.map(|flag| style.attributes.intersects(flag));
    appearance(
        &text,
        flags,
        &color(style.foreground),
        &color(style.background),
    )
}

fn their_look(screen: &vt100::Screen, row: u16, column: u16) -> String {
    let cell = screen.cell(row, column).expect("a cell of 24x80");
    let text = if cell.has_contents() {
        cell.contents()
    } else {
        " "
    };
    let flags = [cell.bold(), cell.italic(), cell.underline(), cell.inverse()];
    appearance(
        text,
        flags,
        &their_color(cell.fgcolor()),
        &their_color(cell.bgcolor()),
    )
}

/// Returns what can be seen of a cell, in words. Of a space only the background can, and lines.
fn appearance(text: &str, flags: [bool; 4], foreground: &str, background: &str) -> String {
    let [bold, italic, underline, inverse] = flags;
    let is_space = text == " " || text == "\u{a0}";
    let plain = is_space && !underline && !inverse;
    let foreground = if plain { "" } else { foreground };
    let (bold, italic) = (bold && !is_space, italic && !is_space);
    format!("{text:?} {bold} {italic} {underline} {inverse} {foreground} on {background}")
}

fn color(color: Color) -> String {
    match color.kind() {
        ColorKind::Default => "default".to_owned(),
        ColorKind::Indexed(index) => index.to_string(),
        ColorKind::Rgb(red, green, blue) => format!("{red},{green},{blue}"),
    }
}

fn their_color(color: vt100::Color) -> String {
    match color {
        vt100::Color::Default => "default".to_owned(),
        vt100::Color::Idx(index) => index.to_string(),
        vt100::Color::Rgb(red, green, blue) => format!("{red},{green},{blue}"),
    }
}
