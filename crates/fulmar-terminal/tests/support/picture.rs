//! A whole screen as a text that a person can review: rows, then styles by letter.

use std::fmt::Write;

use fulmar_terminal::{CellRow, Color, ColorKind, Column, Row, Screen, Style, Underline};

/// Returns the picture of `screen`:
///
/// ```text
/// 80x24, cursor at row 0 column 3
/// the text of the rows, the cursor drawn as │ before its cell
/// --- styles
/// 0-3 ..aaa       for rows that have any, a letter for each cell's style
/// a bold foreground 1
/// ```
pub(crate) fn picture(screen: &Screen) -> String {
    let cursor = screen.cursor();
    let Row(row) = cursor.position.row;
    let Column(column) = cursor.position.column;
    let hidden = if cursor.visible { "" } else { ", hidden" };
    let size = screen.size();
    let mut text = format!("{size}, cursor at row {row} column {column}{hidden}\n");
    text.push_str(crate::support::draw(screen).trim_end_matches('\n'));
    text.push_str("\n--- styles\n");
    push_styles(&mut text, screen);
    text
}

fn push_styles(text: &mut String, screen: &Screen) {
    let mut styles = vec![Style::default()];
    let rows = screen
        .rows()
        .map(|row| letters(row, &mut styles))
        .collect::<Vec<_>>();
    let mut first = 0;
    for same in rows.chunk_by(|one, next| one == next) {
        let last = first + same.len() - 1;
        match &*same[0] {
            "" => {}
            letters if first == last => writeln!(text, "{first} {letters}").expect("a string"),
            letters => writeln!(text, "{first}-{last} {letters}").expect("a string"),
        }
        first = last + 1;
    }
    for (index, style) in styles.iter().enumerate().skip(1) {
        writeln!(text, "{}{}", letter(index), words(style)).expect("a string");
    }
}

/// Returns a letter for each cell of `row`; styles met for the first time are added.
fn letters(row: &CellRow, styles: &mut Vec<Style>) -> String {
    let letters = (0..row.columns()).map(|column| {
        let style = row.style(Column(column));
        let known = styles.iter().position(|known| *known == style);
        let index = known.unwrap_or_else(|| {
            styles.push(style);
            styles.len() - 1
        });
        letter(index)
    });
    letters.collect::<String>().trim_end_matches('.').to_owned()
}

fn letter(index: usize) -> char {
    let letters = ".abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    letters.chars().nth(index).unwrap_or('?')
}

fn words(style: &Style) -> String {
    let mut words = String::new();
    for (name, _) in style.attributes.iter_names() {
        if name != "UNDERLINE" {
            write!(words, " {}", name.to_lowercase()).expect("a string");
        }
    }
    if style.attributes.underline() != Underline::None {
        let kind = format!("{:?}", style.attributes.underline()).to_lowercase();
        write!(words, " {kind} underline").expect("a string");
    }
    push_color(&mut words, "foreground", style.foreground);
    push_color(&mut words, "background", style.background);
    push_color(&mut words, "underline", style.underline_color);
    if let Some(link) = &style.link {
        write!(words, " link {}", link.uri).expect("a string");
    }
    words
}

fn push_color(words: &mut String, what: &str, color: Color) {
    match color.kind() {
        ColorKind::Default => Ok(()),
        ColorKind::Indexed(index) => write!(words, " {what} {index}"),
        ColorKind::Rgb(red, green, blue) => {
            write!(words, " {what} #{red:02x}{green:02x}{blue:02x}")
        }
    }
    .expect("a string");
}
