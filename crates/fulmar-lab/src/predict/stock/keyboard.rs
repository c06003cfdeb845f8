//! What stock makes of the bytes that are typed.

/// What a key is to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// A character one column wide.
    Print(char),
    /// Backspace.
    Backspace,
    /// Return.
    Return,
    /// One to the right.
    Right,
    /// One to the left.
    Left,
    /// Anything about which it knows nothing.
    Other,
}

/// Reads bytes.
#[derive(Debug, Default)]
pub(super) struct Keyboard {
    phase: Phase,
    /// The beginning of a character.
    character: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Ground,
    Escape,
    Sequence,
    Text,
    TextEscape,
}

const ESCAPE: u8 = 0x1b;

impl Keyboard {
    /// Takes in one byte.
    pub(super) fn read(&mut self, byte: u8) -> Option<Action> {
        match (self.phase, byte) {
            (Phase::Text, 0x07) => self.phase = Phase::Ground,
            (Phase::Text, ESCAPE) => self.phase = Phase::TextEscape,
            (Phase::Text, _) => {}
            (_, ESCAPE) => self.phase = Phase::Escape,
            (Phase::Escape | Phase::TextEscape, b'[' | b'O') => self.phase = Phase::Sequence,
            (Phase::Escape | Phase::TextEscape, b']' | b'P' | b'_' | b'^' | b'X') => {
                self.phase = Phase::Text;
            }
            (Phase::Escape | Phase::TextEscape, b' '..=b'/') => {}
            (Phase::Escape | Phase::TextEscape, _) => {
                self.phase = Phase::Ground;
                return Some(Action::Other);
            }
            (Phase::Sequence, b' '..=b'?') => {}
            (Phase::Sequence, _) => {
                self.phase = Phase::Ground;
                return Some(match byte {
                    b'C' => Action::Right,
                    b'D' => Action::Left,
                    _ => Action::Other,
                });
            }
            (Phase::Ground, _) => return self.read_plain(byte),
        }
        None
    }

    fn read_plain(&mut self, byte: u8) -> Option<Action> {
        match byte {
            0x7f => return Some(Action::Backspace),
            b'\r' => return Some(Action::Return),
            0..=0x1f => return Some(Action::Other),
            0x20..=0x7e => return Some(Action::Print(char::from(byte))),
            _ => {}
        }
        self.character.push(byte);
        match std::str::from_utf8(&self.character) {
            Ok(text) => {
                let character = text.chars().next()?;
                self.character.clear();
                Some(match is_narrow(character) {
                    true => Action::Print(character),
                    false => Action::Other,
                })
            }
            Err(error) if error.error_len().is_none() => None,
            Err(_) => {
                self.character.clear();
                Some(Action::Other)
            }
        }
    }
}

/// Whether a character takes one column: found out by printing it.
fn is_narrow(character: char) -> bool {
    let mut terminal = fulmar_terminal::Terminal::new(fulmar_terminal::Size::default());
    terminal.process(format!("a{character}").as_bytes());
    terminal.screen().cursor().position.column.0 == 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Vec<Action> {
        let mut keyboard = Keyboard::default();
        bytes
            .iter()
            .filter_map(|byte| keyboard.read(*byte))
            .collect()
    }

    #[test]
    fn arrows_are_arrows_whatever_is_held_down() {
        let arrows = read(b"\x1b[C\x1bOD\x1b[1;5D\x1b[A");
        let expected = [Action::Right, Action::Left, Action::Left, Action::Other];
        assert_eq!(arrows, expected);
    }

    #[test]
    fn narrow_characters_are_printed_and_others_unknown() {
        let keys = read("aé日\u{301}\x7f\r\x01\x1bf".as_bytes());
        let expected = [
            Action::Print('a'),
            Action::Print('é'),
            Action::Other,
            Action::Other,
            Action::Backspace,
            Action::Return,
            Action::Other,
            Action::Other,
        ];
        assert_eq!(keys, expected);
    }
}
