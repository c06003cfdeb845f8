//! Keys: one for each thing that the user did.
//!
//! Terminals also write on the user's behalf: answers to questions, focus, the mouse, pastes. None
//! of these is a key. Sequences and characters may be cut anywhere between two reads.
//!
//! Source: docs/prediction.md §4; xterm's control sequences for the forms.

/// How many bytes of one sequence are read before it is given up, strings left out: many times what
/// a terminal writes.
const SEQUENCE_MAX: u32 = 256;

/// What ends a bracketed paste.
const PASTE_END: &[u8] = b"\x1b[201~";

const ESC: u8 = 0x1b;

/// A key, or what the terminal wrote by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Key {
    /// A character that is printed, perhaps a wide or a combining one.
    Text(char),
    /// The key that most terminals write as DEL. Ctrl-H is [`Key::Control`].
    Backspace,
    /// Removes what is at the cursor.
    Delete,
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    /// Left with Ctrl or Alt.
    WordLeft,
    /// Right with Ctrl or Alt.
    WordRight,
    Enter,
    Tab,
    /// Escape by itself.
    Escape,
    /// Ctrl with a lower-case letter or one of `@ [ \ ] ^ _`.
    Control(char),
    /// Alt with a printable character.
    Alt(char),
    AltBackspace,
    /// A key that nothing is known about: function keys and the like.
    Other,
    /// A part of a bracketed paste.
    Paste,
    /// A button, the wheel, or a motion of the mouse. Not a key.
    Mouse,
    /// An answer of the terminal, or a change of its focus. Not a key.
    Reply,
}

impl Key {
    /// True if the user, and not the terminal, wrote this.
    pub(crate) fn is_key(self) -> bool {
        !matches!(self, Key::Mouse | Key::Reply)
    }

    /// True if the edited line goes on after this key, although nothing is known of its effect. Everything
    /// else that has no rule ends the line.
    ///
    /// Source: docs/prediction.md §4.
    pub(crate) fn keeps_line(self) -> bool {
        match self {
            Key::Control(letter) => matches!(
                letter,
                'a' | 'b' | 'e' | 'f' | 'h' | 'k' | 'l' | 'n' | 'p' | 'u' | 'w' | 'y'
            ),
            Key::Alt(letter) => matches!(letter, 'b' | 'd' | 'f'),
            Key::Enter | Key::Escape | Key::Other | Key::Paste => false,
            _ => true,
        }
    }

    /// True if a shell may put text into the line that nobody typed: from its history, or to complete a
    /// word.
    pub(crate) fn may_recall(self) -> bool {
        matches!(
            self,
            Key::Up | Key::Down | Key::Tab | Key::Control('n' | 'p' | 'y')
        )
    }
}

/// A key and where it stands among all bytes that were ever typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Keystroke {
    pub(crate) key: Key,
    /// The number of its first byte.
    pub(crate) start: u64,
    /// One more than the number of its last byte.
    pub(crate) end: u64,
}

/// Takes the keyboard's bytes apart. Remembers what the end of a read has cut, in constant room.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyParser {
    state: State,
    /// The number of the first byte of what is unfinished.
    start: u64,
    /// How many bytes that is so far.
    length: u32,
    /// Its ESC was at the end of a read and has been told as a key.
    told: bool,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Ground,
    Character(Partial),
    /// ESC.
    Escape,
    /// `ESC O`, and a modifier if there was one.
    SingleShift,
    /// `ESC [` and what followed it.
    Sequence(Sequence),
    /// `ESC [ M`: so many bytes of the mouse are still to come.
    MouseBytes(u8),
    /// `ESC ]` and other strings; whether the byte before was ESC.
    String {
        escaped: bool,
    },
    /// Between the brackets of a paste; how many bytes of its end have been seen.
    Paste {
        seen: u8,
    },
}

impl KeyParser {
    /// Reads `bytes`, the first of which is number `first` of all that were ever typed, and
    /// appends what they are to `out`. `at_once` says that they followed those before within
    /// some 30 ms, so that both may be halves of one sequence.
    ///
    /// At most one entry per byte. An ESC at the end of a read is taken for the key; if its
    /// sequence goes on after all, the rest of that is [`Key::Other`].
    pub(crate) fn read(
        &mut self,
        at_once: bool,
        first: u64,
        bytes: &[u8],
        out: &mut Vec<Keystroke>,
    ) {
        if !at_once && !matches!(self.state, State::Paste { .. } | State::Character { .. }) {
            self.give_up(first, out);
        }
        for (number, &byte) in (first..).zip(bytes) {
            self.take(number, byte, out);
        }
        self.end_read(first.saturating_add(bytes.len() as u64), out);
    }

    /// Tells what does not wait for the next read, which begins with byte `end`.
    fn end_read(&mut self, end: u64, out: &mut Vec<Keystroke>) {
        let key = match self.state {
            State::Escape if !self.told => Key::Escape,
            State::Paste { .. } if self.start < end => Key::Paste,
            _ => return,
        };
        out.push(self.stroke(key, end));
        self.told = true;
        self.start = end;
    }

    fn stroke(&self, key: Key, end: u64) -> Keystroke {
        Keystroke {
            key,
            start: self.start.min(end),
            end,
        }
    }

    /// Tells what ended before byte `end`, and is ready for something new.
    fn finish(&mut self, key: Key, end: u64, out: &mut Vec<Keystroke>) {
        // The ESC of this was told as a key: what it began is not that key.
        let key = match key {
            Key::Paste | Key::Mouse | Key::Reply => key,
            _ if self.told => Key::Other,
            _ => key,
        };
        if self.start < end {
            out.push(self.stroke(key, end));
        }
        self.state = State::Ground;
        self.length = 0;
        self.told = false;
    }

    /// What was unfinished before byte `number` will not go on.
    fn give_up(&mut self, number: u64, out: &mut Vec<Keystroke>) {
        let key = match self.state {
            State::Ground => return,
            State::Sequence(_) if self.length == 2 => Key::Alt('['),
            State::SingleShift if self.length == 2 => Key::Alt('O'),
            State::String { .. } | State::MouseBytes(_) => Key::Reply,
            _ => Key::Other,
        };
        self.finish(key, number, out);
    }

    fn take(&mut self, number: u64, byte: u8, out: &mut Vec<Keystroke>) {
        if self.length > SEQUENCE_MAX && !matches!(self.state, State::String { .. }) {
            self.give_up(number, out);
        }
        self.length = self.length.saturating_add(1);
        match self.state {
            State::Ground => self.begin(number, byte, out),
            State::Character(character) => self.in_character(character, number, byte, out),
            State::Escape => self.after_escape(number, byte, out),
            State::SingleShift => self.after_single_shift(number, byte, out),
            State::Sequence(sequence) => self.in_sequence(sequence, number, byte, out),
            State::MouseBytes(1) => self.finish(Key::Mouse, number + 1, out),
            State::MouseBytes(left) => self.state = State::MouseBytes(left - 1),
            State::String { escaped } => self.in_string(escaped, number, byte, out),
            State::Paste { seen } => self.in_paste(seen, number, byte, out),
        }
    }

    fn begin(&mut self, number: u64, byte: u8, out: &mut Vec<Keystroke>) {
        self.start = number;
        self.length = 1;
        self.told = false;
        match byte {
            ESC => self.state = State::Escape,
            0xc2..=0xf4 => self.state = State::Character(Partial::new(byte)),
            0x80.. => self.finish(Key::Other, number + 1, out),
            _ => self.finish(plain_key(byte), number + 1, out),
        }
    }

    /// What was unfinished ended before `byte`, and was `key`.
    fn begin_anew(&mut self, key: Key, number: u64, byte: u8, out: &mut Vec<Keystroke>) {
        self.finish(key, number, out);
        self.begin(number, byte, out);
    }

    fn in_character(
        &mut self,
        mut partial: Partial,
        number: u64,
        byte: u8,
        out: &mut Vec<Keystroke>,
    ) {
        match partial.push(byte) {
            Ok(None) => self.state = State::Character(partial),
            Ok(Some(character)) if character.is_control() => {
                self.finish(Key::Other, number + 1, out);
            }
            Ok(Some(character)) => self.finish(Key::Text(character), number + 1, out),
            Err(()) => self.begin_anew(Key::Other, number, byte, out),
        }
    }

    fn after_escape(&mut self, number: u64, byte: u8, out: &mut Vec<Keystroke>) {
        let key = match byte {
            b'[' => return self.state = State::Sequence(Sequence::default()),
            b'O' => return self.state = State::SingleShift,
            // ESC was the last byte of its read, and a key of its own.
            _ if self.told => return self.begin_anew(Key::Escape, number, byte, out),
            b']' | b'P' | b'_' | b'^' | b'X' => {
                return self.state = State::String { escaped: false };
            }
            ESC => return self.begin_anew(Key::Escape, number, byte, out),
            0x7f | 0x08 => Key::AltBackspace,
            b' '..=b'~' => Key::Alt(char::from(byte)),
            _ => Key::Other,
        };
        self.finish(key, number + 1, out);
    }

    fn after_single_shift(&mut self, number: u64, byte: u8, out: &mut Vec<Keystroke>) {
        let key = match byte {
            b'c' => Key::WordRight,
            b'd' => Key::WordLeft,
            // A modifier, as some terminals put it.
            b'0'..=b'9' => return,
            0x21..=0x7e if self.length == 3 => motion(byte).unwrap_or(Key::Other),
            0x21..=0x7e => Key::Other,
            _ => return self.begin_anew(Key::Alt('O'), number, byte, out),
        };
        self.finish(key, number + 1, out);
    }

    fn in_sequence(
        &mut self,
        mut sequence: Sequence,
        number: u64,
        byte: u8,
        out: &mut Vec<Keystroke>,
    ) {
        if sequence.is_mouse_bytes(byte) {
            return self.state = State::MouseBytes(3);
        }
        match sequence.push(byte) {
            Step::More => self.state = State::Sequence(sequence),
            Step::Broken => self.begin_anew(Key::Other, number, byte, out),
            Step::PasteBegins => self.state = State::Paste { seen: 0 },
            Step::Ended(key) => self.finish(key, number + 1, out),
        }
    }

    fn in_string(&mut self, escaped: bool, number: u64, byte: u8, out: &mut Vec<Keystroke>) {
        match (escaped, byte) {
            (true, b'\\') | (false, 0x07) => self.finish(Key::Reply, number + 1, out),
            (false, ESC) => self.state = State::String { escaped: true },
            (false, b' '..=b'~' | 0x80..) => {}
            // Not the end of a string: something else began.
            (true, _) => {
                self.begin_anew(Key::Reply, number - 1, ESC, out);
                self.take(number, byte, out);
            }
            (false, _) => self.begin_anew(Key::Other, number, byte, out),
        }
    }

    fn in_paste(&mut self, seen: u8, number: u64, byte: u8, out: &mut Vec<Keystroke>) {
        self.length = 1;
        let seen = match PASTE_END.get(usize::from(seen)) {
            Some(&expected) if expected == byte => seen + 1,
            _ => u8::from(byte == ESC),
        };
        if usize::from(seen) == PASTE_END.len() {
            self.finish(Key::Paste, number + 1, out);
        } else {
            self.state = State::Paste { seen };
        }
    }
}

/// The first bytes of a character.
#[derive(Clone, Copy, Debug)]
struct Partial {
    bytes: [u8; 4],
    length: usize,
}

impl Partial {
    fn new(first: u8) -> Partial {
        Partial {
            bytes: [first, 0, 0, 0],
            length: 1,
        }
    }

    /// Returns the character that `byte` completes, if it does; an error if it does not go on.
    fn push(&mut self, byte: u8) -> Result<Option<char>, ()> {
        let place = self.bytes.get_mut(self.length).ok_or(())?;
        *place = byte;
        self.length += 1;
        match std::str::from_utf8(&self.bytes[..self.length]) {
            Ok(text) => Ok(text.chars().next()),
            Err(error) if error.error_len().is_none() => Ok(None),
            Err(_) => Err(()),
        }
    }
}

/// The parameters of `ESC [ …`, as far as they matter.
#[derive(Clone, Copy, Debug, Default)]
struct Sequence {
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

enum Step {
    More,
    /// The byte is not part of it.
    Broken,
    PasteBegins,
    Ended(Key),
}

impl Sequence {
    fn is_mouse_bytes(&self, byte: u8) -> bool {
        byte == b'M' && !self.begun
    }

    fn push(&mut self, byte: u8) -> Step {
        let first = !std::mem::replace(&mut self.begun, true);
        match byte {
            b'[' if first => self.console = true,
            b'<'..=b'?' if first => self.private = Some(byte),
            b'0'..=b'9' => self.push_digit(byte - b'0'),
            b';' | b':' => self.count = self.count.max(1).saturating_add(1),
            b' '..=b'/' => self.intermediate = true,
            b'@'..=b'~' => return self.end(byte),
            _ => return Step::Broken,
        }
        Step::More
    }

    fn push_digit(&mut self, digit: u8) {
        self.count = self.count.max(1);
        if let Some(number) = self.numbers.get_mut(usize::from(self.count) - 1) {
            *number = number.saturating_mul(10).saturating_add(u16::from(digit));
        }
    }

    fn end(&self, last: u8) -> Step {
        if !self.console && self.private.is_none() && last == b'~' && self.numbers[0] == 200 {
            return Step::PasteBegins;
        }
        Step::Ended(self.key(last))
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
fn motion(last: u8) -> Option<Key> {
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

/// The key of one byte below 0x80 that is not ESC.
fn plain_key(byte: u8) -> Key {
    match byte {
        b'\r' => Key::Enter,
        b'\t' => Key::Tab,
        0x7f => Key::Backspace,
        0x01..=0x1a => Key::Control(char::from(byte + 0x60)),
        0x00..=0x1f => Key::Control(char::from(byte + 0x40)),
        _ => Key::Text(char::from(byte)),
    }
}

#[cfg(test)]
mod tests;
