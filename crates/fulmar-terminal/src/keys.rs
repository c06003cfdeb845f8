//! Cursor keys, from what a client sends to what the program expects.

/// Translates the cursor keys of a terminal in application mode for a program that may not be.
///
/// A client's terminal always sends `ESC O A` for the upward key. A program that has not set DECCKM
/// expects `ESC [ A`. A lone `ESC O` waits for the byte after it.
///
/// Source: docs/protocol.md §9.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CursorKeys {
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// ESC was passed on.
    Escape,
    /// `O` was held back.
    EscapeO,
}

/// The form of cursor keys that the program wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CursorKeyMode {
    /// `ESC [ A`.
    Normal,
    /// `ESC O A`: the program has set DECCKM.
    Application,
}

impl CursorKeys {
    /// Appends the translation of one byte to `out`: none to two bytes.
    pub fn translate(&mut self, byte: u8, mode: CursorKeyMode, out: &mut Vec<u8>) {
        match (self.state, byte) {
            (State::Escape, b'O') => {
                self.state = State::EscapeO;
                return;
            }
            (State::EscapeO, b'A'..=b'D') if mode == CursorKeyMode::Normal => {
                out.extend([b'[', byte]);
            }
            (State::EscapeO, _) => out.extend([b'O', byte]),
            (State::Text | State::Escape, _) => out.push(byte),
        }
        self.state = if byte == 0x1b {
            State::Escape
        } else {
            State::Text
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(keys: &[u8], mode: CursorKeyMode) -> Vec<u8> {
        let mut translator = CursorKeys::default();
        let mut out = Vec::new();
        keys.iter()
            .for_each(|&key| translator.translate(key, mode, &mut out));
        out
    }

    #[test]
    fn cursor_keys_take_the_form_the_program_wants() {
        let keys = b"x\x1bOA\x1bOD\x1b[A";
        assert_eq!(
            translated(keys, CursorKeyMode::Normal),
            b"x\x1b[A\x1b[D\x1b[A"
        );
        assert_eq!(translated(keys, CursorKeyMode::Application), keys);
    }

    #[test]
    fn everything_else_is_passed_on() {
        for keys in [
            &b"\x1bOQ"[..],
            b"OA",
            b"\x1b\x1b",
            b"\x1b[200~OA\x1b[201~",
            "é漢".as_bytes(),
        ] {
            assert_eq!(translated(keys, CursorKeyMode::Normal), keys);
        }
    }

    #[test]
    fn escape_o_waits_for_one_more_byte() {
        assert_eq!(translated(b"\x1bO", CursorKeyMode::Normal), b"\x1b");
        assert_eq!(
            translated(b"\x1bO\x1bOA", CursorKeyMode::Normal),
            b"\x1bO\x1b[A"
        );
    }
}
