//! Splits the bytes that are typed into keys as stock does.

/// The meaning of a key to it.
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
    /// Behind ESC and a character from blank to `/`.
    Intermediate,
    Sequence,
    Text,
}

const ESCAPE: char = '\x1b';

impl Keyboard {
    /// Takes in one byte.
    pub(super) fn read(&mut self, byte: u8) -> Option<Action> {
        self.character.push(byte);
        let character = match std::str::from_utf8(&self.character) {
            Ok(text) => text.chars().next(),
            Err(error) if error.error_len().is_none() => return None,
            Err(_) => Some(char::REPLACEMENT_CHARACTER),
        };
        self.character.clear();
        self.take(character?)
    }

    fn take(&mut self, character: char) -> Option<Action> {
        match (self.phase, character) {
            (_, ESCAPE) => self.go(Phase::Escape, None),
            (_, '\x18' | '\x1a') => self.go(Phase::Ground, Some(Action::Other)),
            (Phase::Text, '\x07') => self.go(Phase::Ground, None),
            (Phase::Text, _) => None,
            // A control character works within a sequence, too, and leaves it open.
            (_, '\r') => Some(Action::Return),
            (_, '\0'..='\x1f') => Some(Action::Other),
            (Phase::Ground, '\x7f') => Some(Action::Backspace),
            (_, '\x7f') => None,
            (Phase::Ground, _) if is_narrow(character) => Some(Action::Print(character)),
            (Phase::Ground, _) => Some(Action::Other),
            (Phase::Sequence, _) => self.take_in_sequence(character),
            (Phase::Escape | Phase::Intermediate, _) => self.take_behind_escape(character),
        }
    }

    fn take_behind_escape(&mut self, character: char) -> Option<Action> {
        match (self.phase, character) {
            (_, ' '..='/') => self.go(Phase::Intermediate, None),
            (Phase::Escape, '[' | 'O') => self.go(Phase::Sequence, None),
            (Phase::Escape, ']' | 'P' | '_' | '^' | 'X') => self.go(Phase::Text, None),
            _ => self.go(Phase::Ground, Some(Action::Other)),
        }
    }

    fn take_in_sequence(&mut self, character: char) -> Option<Action> {
        match character {
            ' '..='?' => None,
            'C' => self.go(Phase::Ground, Some(Action::Right)),
            'D' => self.go(Phase::Ground, Some(Action::Left)),
            _ => self.go(Phase::Ground, Some(Action::Other)),
        }
    }

    fn go(&mut self, phase: Phase, action: Option<Action>) -> Option<Action> {
        self.phase = phase;
        action
    }
}

/// Returns true if a character takes one column: found out by printing it.
fn is_narrow(character: char) -> bool {
    if character.is_ascii() {
        return true;
    }
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
    fn backspace_behind_escape_leaves_the_sequence_open() {
        // Alt-Backspace, Ctrl-E, blank, #, blank: the first character that ends it is the letter.
        let keys = read(b"\x1b\x7f\x05 # ta");
        assert_eq!(keys, [Action::Other, Action::Other, Action::Print('a')]);
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
