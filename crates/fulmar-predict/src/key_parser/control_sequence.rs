//! Control sequences of the keyboard: `ESC [`, parameters, and a final byte.

use crate::key::Key;

/// The numbers of one parameter that matter.
const PARTS: usize = 3;

/// The modifiers of a key as one less than their number says: Shift is 1, and these. Super and its like are left out.
///
/// Source: xterm's control sequences; kitty's keyboard protocol.
const SHIFT: u32 = 1;
const ALT: u32 = 2;
const CONTROL: u32 = 4;
const CAPS_LOCK: u32 = 64;
const NUM_LOCK: u32 = 128;

/// The number of a release among the events of a key.
///
/// Source: kitty's keyboard protocol.
const RELEASE: u32 = 3;

/// The numbers of keys that only change others, as Shift does.
///
/// Source: kitty's keyboard protocol.
const MODIFIERS: std::ops::RangeInclusive<u32> = 57_441..=57_454;

/// The numbers of keys that are none of a character.
///
/// Source: kitty's keyboard protocol, which takes them from Unicode's private use area.
const FUNCTIONS: std::ops::RangeInclusive<u32> = 57_344..=63_743;

/// The parameters of `ESC [ …`, as far as they matter.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ControlSequence {
    /// One of `< = > ?` right after the bracket.
    private: Option<u8>,
    /// The first three parameters, each with the first numbers of its own.
    parameters: [[Option<u32>; PARTS]; 3],
    /// Counts the parameters, and the numbers of the last.
    count: usize,
    part: usize,
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
            b';' => {
                self.count = self.count.max(1).saturating_add(1);
                self.part = 0;
            }
            b':' => {
                self.count = self.count.max(1);
                self.part = self.part.saturating_add(1);
            }
            b' '..=b'/' => self.intermediate = true,
            b'@'..=b'~' => return self.end(byte),
            _ => return SequenceStep::Broken,
        }
        SequenceStep::More
    }

    fn push_digit(&mut self, digit: u8) {
        self.count = self.count.max(1);
        let parameter = self.parameters.get_mut(self.count - 1);
        if let Some(number) = parameter.and_then(|parts| parts.get_mut(self.part)) {
            let value = number.unwrap_or(0).saturating_mul(10);
            *number = Some(value.saturating_add(u32::from(digit)));
        }
    }

    /// Returns a number of a parameter, both counted from 0.
    fn number(&self, parameter: usize, part: usize) -> Option<u32> {
        *self.parameters.get(parameter)?.get(part)?
    }

    /// Returns the first number of a parameter; 0 where there is none.
    fn first(&self, parameter: usize) -> u32 {
        self.number(parameter, 0).unwrap_or(0)
    }

    /// Returns the modifiers that were held, but for locks.
    fn held(&self) -> u32 {
        self.first(1).saturating_sub(1) & !(CAPS_LOCK | NUM_LOCK)
    }

    fn end(&self, last: u8) -> SequenceStep {
        if !self.console && self.private.is_none() && last == b'~' && self.first(0) == 200 {
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
            (None, b'R') if self.count == 2 && !(self.first(0) == 1 && self.first(1) <= 16) => {
                Key::Reply
            }
            _ if self.intermediate => Key::Other,
            _ if self.number(1, 1) == Some(RELEASE) => Key::Silent,
            (None, b'u') => self.encoded_key(self.first(0)),
            // As xterm's modifyOtherKeys has it.
            (None, b'~') if self.first(0) == 27 && self.count == 3 => {
                self.encoded_key(self.first(2))
            }
            _ => self.motion_key(last),
        }
    }

    /// Returns the key with this number, that of its character: `ESC [ number : shifted ; modifiers ; text u`.
    fn encoded_key(&self, number: u32) -> Key {
        let held = self.held();
        match (number, held) {
            _ if MODIFIERS.contains(&number) => return Key::Silent,
            (13, 0) => return Key::Enter,
            (9, 0) => return Key::Tab,
            (27, 0) => return Key::Escape,
            (127, 0) => return Key::Backspace,
            (127, ALT) => return Key::AltBackspace,
            (9 | 13 | 27 | 127, _) => return Key::Other,
            // It types several characters.
            _ if self.count == 3 && self.number(2, 1).is_some() => return Key::Other,
            _ => {}
        }
        let typed = self.typed(number).and_then(char::from_u32);
        let Some(typed) = typed.filter(|typed| !typed.is_control()) else {
            return Key::Other;
        };
        match held {
            0 | SHIFT => Key::Text(typed),
            ALT | 3 if matches!(typed, ' '..='~') => Key::Alt(typed),
            CONTROL if matches!(typed, 'a'..='z' | '[' | '\\' | ']' | '^' | '_') => {
                Key::Control(typed)
            }
            CONTROL if matches!(typed, ' ' | '@') => Key::Control('@'),
            _ => Key::Other,
        }
    }

    /// Returns the character that a key types, if that is known: what Shift makes of a key that is no letter depends on
    /// the keyboard, so the terminal has to tell it, or the text.
    fn typed(&self, number: u32) -> Option<u32> {
        let is_text = self.count == 3 && self.first(0) != 27;
        let text = self.number(2, 0).filter(|_| is_text);
        let is_locked = self.first(1).saturating_sub(1) & CAPS_LOCK != 0;
        let is_shifted = self.held() & SHIFT != 0;
        let letter = char::from_u32(number).filter(char::is_ascii_lowercase);
        text.or_else(|| self.number(0, 1).filter(|_| is_shifted))
            .or_else(|| match letter {
                _ if FUNCTIONS.contains(&number) || is_locked => None,
                Some(letter) if is_shifted => Some(u32::from(letter.to_ascii_uppercase())),
                _ if is_shifted && number != u32::from(' ') && self.first(0) != 27 => None,
                _ => Some(number),
            })
    }

    fn motion_key(&self, last: u8) -> Key {
        let key = match (last, self.first(0)) {
            (b'~', 1 | 7) => Key::Home,
            (b'~', 4 | 8) => Key::End,
            (b'~', 3) => Key::Delete,
            (b'~', _) => Key::Other,
            (_, 0 | 1) => motion(last).unwrap_or(Key::Other),
            _ => Key::Other,
        };
        match (key, self.held()) {
            (_, 0) => key,
            (Key::Left, ALT | CONTROL) => Key::WordLeft,
            (Key::Right, ALT | CONTROL) => Key::WordRight,
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
