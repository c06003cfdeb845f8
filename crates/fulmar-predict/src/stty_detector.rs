//! Detects a typed line that sets the terminal by hand.

use crate::key::Key;

/// The program that does so.
const PROGRAM: &str = "stty";

/// The last characters of the line that is being typed, and whether it has named the program.
#[derive(Debug, Default)]
pub(crate) struct SttyDetector {
    tail: String,
    has_program: bool,
}

impl SttyDetector {
    /// Takes in what is typed next. Returns whether it submits a line that may switch the echo off.
    pub(crate) fn note(&mut self, key: Key) -> bool {
        match key {
            Key::Text(character) => {
                if self.tail.chars().count() == PROGRAM.len() {
                    self.tail.remove(0);
                }
                self.tail.push(character);
                self.has_program |= self.tail == PROGRAM;
            }
            Key::Backspace => {
                self.tail.pop();
            }
            Key::Enter => {
                self.tail.clear();
                return std::mem::take(&mut self.has_program);
            }
            _ => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets(line: &str) -> bool {
        let mut command = SttyDetector::default();
        let keys = line.chars().map(|character| match character {
            '\x7f' => Key::Backspace,
            other => Key::Text(other),
        });
        let early = keys.fold(false, |found, key| found | command.note(key));
        assert!(!early, "not before Enter");
        let sets = command.note(Key::Enter);
        assert!(!command.note(Key::Enter), "each line by itself");
        sets
    }

    #[test]
    fn a_line_that_names_the_program_sets_the_terminal() {
        for line in [
            "stty -echo",
            "clear; stty raw -echo",
            "stt\x7fty -echo",
            "pstty",
        ] {
            assert!(sets(line), "{line:?}");
        }
        for line in ["", "st ty", "cat tty", "漢字 sty"] {
            assert!(!sets(line), "{line:?}");
        }
    }
}
