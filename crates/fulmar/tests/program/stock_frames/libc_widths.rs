//! The columns that characters have for this host's C library, on which stock's programs rely.

use std::collections::BTreeMap;
use std::process::Command;

use fulmar_terminal::{Size, Terminal};

/// Characters that not every system gives the same number of columns, or that the judge does not
/// know, each with a stand-in.
#[derive(Clone, Debug, Default)]
pub(crate) struct LibcWidths(BTreeMap<char, Known>);

#[derive(Clone, Copy, Debug)]
struct Known {
    columns: u16,
    stand_in: char,
}

impl LibcWidths {
    /// Asks the C library for the columns of each character, by way of `wc -L`. A character that it
    /// does not know has 0, as a combining one has.
    pub(crate) fn measure(characters: &[char]) -> LibcWidths {
        let folder = tempfile::tempdir().expect("a folder");
        let paths = characters.iter().enumerate().map(|(index, character)| {
            let path = folder.path().join(index.to_string());
            std::fs::write(&path, character.to_string()).expect("a file");
            path
        });
        let output = Command::new("wc")
            .arg("-L")
            .args(paths)
            .env("LC_ALL", "C.UTF-8")
            .output()
            .expect("wc is part of every system");
        let counts = String::from_utf8(output.stdout).expect("numbers and names");
        let columns = counts.lines().map(|line| {
            let count = line.split_whitespace().next().expect("a count");
            count.parse().expect("a number")
        });
        let known = characters.iter().zip(columns).enumerate();
        LibcWidths(
            known
                .map(|(index, (&character, columns))| {
                    let stand_in = stand_in(columns, index as u32);
                    (character, Known { columns, stand_in })
                })
                .collect(),
        )
    }

    /// Returns the columns of a character if they were asked for.
    pub(crate) fn columns(&self, character: char) -> Option<u16> {
        self.0.get(&character).map(|known| known.columns)
    }

    /// Returns `text` without the characters to which the C library gives other columns than we do.
    pub(crate) fn without_differing(&self, text: &str) -> String {
        let is_same = |character: &char| {
            self.columns(*character)
                .is_none_or(|columns| columns == our_columns(*character))
        };
        text.chars().filter(is_same).collect()
    }

    /// Puts stand-ins in the place of all characters that were measured: ones that have the same
    /// columns everywhere.
    pub(crate) fn stand_ins(&self, text: &str) -> String {
        text.chars()
            .map(|character| self.0.get(&character).map_or(character, |k| k.stand_in))
            .collect()
    }
}

/// Returns how far our terminal's cursor goes for a character after another one.
fn our_columns(character: char) -> u16 {
    let mut terminal = Terminal::new(Size::default());
    terminal.process(format!("x{character}").as_bytes());
    terminal.screen().cursor().position.column.0 - 1
}

/// Returns the `index`th stand-in of that width: a mark, a geometric shape or an ideograph.
fn stand_in(columns: u16, index: u32) -> char {
    let first = match columns {
        0 => 0x0310,
        1 => 0x25a0,
        _ => 0x4e10,
    };
    char::from_u32(first + index).expect("there are no surrogates nearby")
}

#[test]
fn widths_are_those_of_the_c_library() {
    let widths = LibcWidths::measure(&['x', '你', '\u{301}']);
    assert_eq!(
        ['x', '你', '\u{301}', 'y'].map(|character| widths.columns(character)),
        [Some(1), Some(2), Some(0), None]
    );
    assert_eq!(widths.stand_ins("xy"), "\u{25a0}y");
    assert_eq!(widths.without_differing("x你e\u{301}"), "x你e\u{301}");
}
