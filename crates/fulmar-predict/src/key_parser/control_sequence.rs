//! Control sequences of the keyboard: `ESC [`, parameters, and a final byte.

use crate::key::Key;

/// The parameters of `ESC [ …`, as far as they matter.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ControlSequence {
    /// One of `< = > ?` right after the bracket.
    private: Option<u8>,
    /// The first two numbers, and how many there are.
    numbers: [u16; 2],
    count: u8,
    intermediate: bool,
    /// A second bracket: function keys of the Linux console.
    console: bool,
    begun: bool,
}

pub(super) enum SequenceStep {
    More,
    /// The byte is not part of it.
    Broken,
    PasteBegins,
    Ended(Key),
}

impl ControlSequence {
    pub(super) fn is_mouse_bytes(&self, byte: u8) -> bool {
        byte == b'M' && !self.begun
    }

    pub(super) fn push(&mut self, byte: u8) -> SequenceStep {
        let first = !std::mem::replace(&mut self.begun, true);
        match byte {
            b'[' if first => self.console = true,
            b'<'..=b'?' if first => self.private = Some(byte),
            b'0'..=b'9' => self.push_digit(byte - b'0'),
            b';' | b':' => self.count = self.count.max(1).saturating_add(1),
            b' '..=b'/' => self.intermediate = true,
            b'@'..=b'~' => return self.end(byte),
            _ => return SequenceStep::Broken,
        }
        SequenceStep::More
    }

    fn push_digit(&mut self, digit: u8) {
        self.count = self.count.max(1);
        if let Some(number) = self.numbers.get_mut(usize::from(self.count) - 1) {
            *number = number.saturating_mul(10).saturating_add(u16::from(digit));
        }
    }

    fn end(&self, last: u8) -> SequenceStep {
        if !self.console && self.private.is_none() && last == b'~' && self.numbers[0] == 200 {
            return SequenceStep::PasteBegins;
        }
        SequenceStep::Ended(self.key(last))
    }

    fn key(&self, last: u8) -> Key {
        if self.console {
            return Key::Other;
        }
        match (self.private, last) {
            (Some(b'<'), b'M' | b'm') => Key::Mouse,
            (Some(_), _) => Key::Reply,
            // Three numbers: urxvt's way to tell about the mouse.
            (None, b'M') if self.count == 3 => Key::Mouse,
            (None, b'I' | b'O') if self.count == 0 => Key::Reply,
            (None, b'c' | b'n' | b't' | b'y' | b'x') => Key::Reply,
            // Where the cursor is; with 1 and a modifier it is F3.
            (None, b'R') if self.count == 2 && !(self.numbers[0] == 1 && self.numbers[1] <= 16) => {
                Key::Reply
            }
            _ if self.intermediate => Key::Other,
            _ => self.motion_key(last),
        }
    }

    fn motion_key(&self, last: u8) -> Key {
        let modifier = if self.count < 2 {
            0
        } else {
            self.numbers[1].saturating_sub(1)
        };
        let key = match (last, self.numbers[0]) {
            (b'~', 1 | 7) => Key::Home,
            (b'~', 4 | 8) => Key::End,
            (b'~', 3) => Key::Delete,
            (b'~', _) => Key::Other,
            (_, 0 | 1) => motion(last).unwrap_or(Key::Other),
            _ => Key::Other,
        };
        match (key, modifier) {
            (_, 0) => key,
            // Alt is 2 and Ctrl is 4.
            (Key::Left, 2 | 4) => Key::WordLeft,
            (Key::Right, 2 | 4) => Key::WordRight,
            _ => Key::Other,
        }
    }
}

/// The key that a final byte stands for by itself.
pub(super) fn motion(last: u8) -> Option<Key> {
    match last {
        b'A' => Some(Key::Up),
        b'B' => Some(Key::Down),
        b'C' => Some(Key::Right),
        b'D' => Some(Key::Left),
        b'F' => Some(Key::End),
        b'H' => Some(Key::Home),
        _ => None,
    }
}
