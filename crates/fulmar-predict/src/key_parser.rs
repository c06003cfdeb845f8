//! Parses the bytes of the keyboard into keys.
//!
//! Terminals also write on the user's behalf: answers to questions, focus, the mouse, pastes. None
//! of these is a key. Sequences and characters may be cut anywhere between two reads.
//!
//! Source: docs/prediction.md §4; xterm's control sequences for the forms.

mod control_sequence;

use control_sequence::{ControlSequence, SequenceStep, motion};

use crate::key::{Key, Keystroke};

/// The number of bytes after which a sequence is given up, strings left out. Chosen by eye: many times what
/// a terminal writes.
const SEQUENCE_MAX: u32 = 256;

/// The end of a bracketed paste.
const PASTE_END: &[u8] = b"\x1b[201~";

const ESC: u8 = 0x1b;

/// Takes the keyboard's bytes apart. Remembers what the end of a read has cut, in constant room.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyParser {
    state: ParserState,
    /// The number of the first byte of what is unfinished.
    start: u64,
    /// Counts those bytes.
    length: u32,
    /// Its ESC was at the end of a read and has been told as a key.
    is_escape_reported: bool,
}

#[derive(Clone, Copy, Debug, Default)]
enum ParserState {
    #[default]
    Ground,
    Character(PartialCharacter),
    /// ESC.
    Escape,
    /// `ESC O`, and a modifier if there was one.
    SingleShift,
    /// `ESC [` and what followed it.
    Sequence(ControlSequence),
    /// `ESC [ M`: so many bytes of the mouse are still to come.
    MouseBytes(u8),
    /// `ESC ]` and other strings; whether the byte before was ESC.
    String {
        escaped: bool,
    },
    /// Inside a bracketed paste, with so many bytes of its end seen.
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
        // A paste and a character go on however late their next bytes come: their beginnings are no
        // keys.
        if !at_once
            && !matches!(
                self.state,
                ParserState::Paste { .. } | ParserState::Character { .. }
            )
        {
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
            ParserState::Escape if !self.is_escape_reported => Key::Escape,
            ParserState::Paste { .. } if self.start < end => Key::Paste,
            _ => return,
        };
        out.push(self.stroke(key, end));
        self.is_escape_reported = true;
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
            Key::Paste | Key::Mouse | Key::Reply | Key::Silent => key,
            _ if self.is_escape_reported => Key::Other,
            _ => key,
        };
        if self.start < end {
            out.push(self.stroke(key, end));
        }
        self.state = ParserState::Ground;
        self.length = 0;
        self.is_escape_reported = false;
    }

    /// Gives up the unfinished sequence before byte `number`: it will not go on.
    fn give_up(&mut self, number: u64, out: &mut Vec<Keystroke>) {
        let key = match self.state {
            ParserState::Ground => return,
            ParserState::Sequence(_) if self.length == 2 => Key::Alt('['),
            ParserState::SingleShift if self.length == 2 => Key::Alt('O'),
            ParserState::String { .. } | ParserState::MouseBytes(_) => Key::Reply,
            _ => Key::Other,
        };
        self.finish(key, number, out);
    }

    fn take(&mut self, number: u64, byte: u8, out: &mut Vec<Keystroke>) {
        if self.length > SEQUENCE_MAX && !matches!(self.state, ParserState::String { .. }) {
            self.give_up(number, out);
        }
        self.length = self.length.saturating_add(1);
        match self.state {
            ParserState::Ground => self.begin(number, byte, out),
            ParserState::Character(character) => self.in_character(character, number, byte, out),
            ParserState::Escape => self.after_escape(number, byte, out),
            ParserState::SingleShift => self.after_single_shift(number, byte, out),
            ParserState::Sequence(sequence) => self.in_sequence(sequence, number, byte, out),
            ParserState::MouseBytes(1) => self.finish(Key::Mouse, number + 1, out),
            ParserState::MouseBytes(left) => self.state = ParserState::MouseBytes(left - 1),
            ParserState::String { escaped } => self.in_string(escaped, number, byte, out),
            ParserState::Paste { seen } => self.in_paste(seen, number, byte, out),
        }
    }

    fn begin(&mut self, number: u64, byte: u8, out: &mut Vec<Keystroke>) {
        self.start = number;
        self.length = 1;
        self.is_escape_reported = false;
        match byte {
            ESC => self.state = ParserState::Escape,
            0xc2..=0xf4 => self.state = ParserState::Character(PartialCharacter::new(byte)),
            0x80.. => self.finish(Key::Other, number + 1, out),
            _ => self.finish(plain_key(byte), number + 1, out),
        }
    }

    /// Ends the unfinished sequence, which was `key`, and begins anew with `byte`.
    fn begin_anew(&mut self, key: Key, number: u64, byte: u8, out: &mut Vec<Keystroke>) {
        self.finish(key, number, out);
        self.begin(number, byte, out);
    }

    fn in_character(
        &mut self,
        mut partial: PartialCharacter,
        number: u64,
        byte: u8,
        out: &mut Vec<Keystroke>,
    ) {
        match partial.push(byte) {
            Ok(None) => self.state = ParserState::Character(partial),
            Ok(Some(character)) if character.is_control() => {
                self.finish(Key::Other, number + 1, out);
            }
            Ok(Some(character)) => self.finish(Key::Text(character), number + 1, out),
            Err(()) => self.begin_anew(Key::Other, number, byte, out),
        }
    }

    fn after_escape(&mut self, number: u64, byte: u8, out: &mut Vec<Keystroke>) {
        let key = match byte {
            b'[' => return self.state = ParserState::Sequence(ControlSequence::default()),
            b'O' => return self.state = ParserState::SingleShift,
            // ESC was the last byte of its read, and a key of its own.
            _ if self.is_escape_reported => return self.begin_anew(Key::Escape, number, byte, out),
            b']' | b'P' | b'_' | b'^' | b'X' => {
                return self.state = ParserState::String { escaped: false };
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
        mut sequence: ControlSequence,
        number: u64,
        byte: u8,
        out: &mut Vec<Keystroke>,
    ) {
        if sequence.is_mouse_bytes(byte) {
            return self.state = ParserState::MouseBytes(3);
        }
        match sequence.push(byte) {
            SequenceStep::More => self.state = ParserState::Sequence(sequence),
            SequenceStep::Broken => self.begin_anew(Key::Other, number, byte, out),
            SequenceStep::PasteBegins => self.state = ParserState::Paste { seen: 0 },
            SequenceStep::Ended(key) => self.finish(key, number + 1, out),
        }
    }

    fn in_string(&mut self, escaped: bool, number: u64, byte: u8, out: &mut Vec<Keystroke>) {
        match (escaped, byte) {
            (true, b'\\') | (false, 0x07) => self.finish(Key::Reply, number + 1, out),
            (false, ESC) => self.state = ParserState::String { escaped: true },
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
        // A paste has no limit.
        self.length = 1;
        let seen = match PASTE_END.get(usize::from(seen)) {
            Some(&expected) if expected == byte => seen + 1,
            _ => u8::from(byte == ESC),
        };
        if usize::from(seen) == PASTE_END.len() {
            self.finish(Key::Paste, number + 1, out);
        } else {
            self.state = ParserState::Paste { seen };
        }
    }
}

/// The first bytes of a character.
#[derive(Clone, Copy, Debug)]
struct PartialCharacter {
    bytes: [u8; 4],
    length: usize,
}

impl PartialCharacter {
    fn new(first: u8) -> PartialCharacter {
        PartialCharacter {
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
