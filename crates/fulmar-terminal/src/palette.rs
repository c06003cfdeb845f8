//! The colours that programs give to numbers, to attributes, and to text, background, cursor and the like.
//!
//! Source: xterm's control sequences, OSC 4, 5, 10 to 19, 104, 105, 110 to 119.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::ops::RangeInclusive;

use crate::colors::{ColorLevels, DefaultColors};

/// The place of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Slot {
    /// One of 256.
    Indexed(u8),
    /// The colour of text that is bold (0), underlined (1), blinks (2), is inverse (3) or italic (4).
    Special(u8),
    /// The colour of text, background or cursor, or another one, which the OSC of this number sets (10 to 19), and 100 more resets.
    Dynamic(u8),
}

/// The number of special colours.
pub(crate) const SPECIAL_COUNT: u8 = 5;

/// The numbers of the OSCs that set dynamic colours.
pub(crate) const DYNAMIC: RangeInclusive<u8> = 10..=19;

impl Slot {
    /// Returns the place that OSC 4 calls by `number`: special colours come behind the 256.
    pub(crate) fn of_number(number: u16) -> Option<Slot> {
        match u8::try_from(number) {
            Ok(index) => Some(Slot::Indexed(index)),
            Err(_) => Slot::of_special(number - 256),
        }
    }

    /// Returns the place that OSC 5 calls by `number`.
    pub(crate) fn of_special(number: u16) -> Option<Slot> {
        let number = u8::try_from(number).ok()?;
        (number < SPECIAL_COUNT).then_some(Slot::Special(number))
    }

    /// Returns the colour of a place where no program has set one. As in xterm, the mouse pointer, the Tektronix and text with an
    /// attribute have those of text, background and cursor, and what is marked has text and background exchanged.
    pub(crate) fn color_in(self, colors: &DefaultColors) -> Option<ColorLevels> {
        match self {
            Slot::Dynamic(10 | 13 | 15 | 17) | Slot::Special(_) => colors.text,
            Slot::Dynamic(11 | 14 | 16 | 19) => colors.background,
            Slot::Dynamic(12 | 18) => colors.cursor,
            Slot::Dynamic(_) | Slot::Indexed(_) => None,
        }
    }

    fn is_indexed(&self) -> bool {
        matches!(self, Slot::Indexed(_))
    }

    fn is_special(&self) -> bool {
        matches!(self, Slot::Special(_))
    }
}

/// The colours that programs have changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Palette {
    set: BTreeMap<Slot, ColorLevels>,
}

impl Palette {
    /// Returns true if no colour is changed.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// Returns a colour that is set.
    pub(crate) fn get(&self, slot: Slot) -> Option<ColorLevels> {
        self.set.get(&slot).copied()
    }

    /// Sets a colour.
    pub(crate) fn set(&mut self, slot: Slot, levels: ColorLevels) {
        self.set.insert(slot, levels);
    }

    /// Resets a colour.
    pub(crate) fn reset(&mut self, slot: Slot) {
        self.set.remove(&slot);
    }

    /// Returns true if one of the 256 is set.
    pub(crate) fn has_indexed(&self) -> bool {
        self.set.keys().any(Slot::is_indexed)
    }

    /// Resets all of the 256.
    pub(crate) fn reset_indexed(&mut self) {
        self.set.retain(|slot, _| !slot.is_indexed());
    }

    /// Returns true if a special colour is set.
    pub(crate) fn has_special(&self) -> bool {
        self.set.keys().any(Slot::is_special)
    }

    /// Resets all special colours.
    pub(crate) fn reset_special(&mut self) {
        self.set.retain(|slot, _| !slot.is_special());
    }

    /// The memory that it takes, about: half of a node of the tree is used at least.
    pub(crate) fn held_bytes(&self) -> usize {
        self.set.len() * 2 * (size_of::<(Slot, ColorLevels)>() + size_of::<usize>())
    }

    /// Appends what makes a terminal with the colours `before` have these.
    pub fn write_changes(&self, before: &Palette, out: &mut Vec<u8>) {
        self.write_resets(before, out);
        for (slot, levels) in &self.set {
            if before.set.get(slot) != Some(levels) {
                let [red, green, blue] = levels;
                let number = match slot {
                    Slot::Indexed(index) => format!("4;{index}"),
                    Slot::Special(index) => format!("5;{index}"),
                    Slot::Dynamic(number) => number.to_string(),
                };
                // Writing to a vector cannot fail.
                let _ = write!(
                    out,
                    "\x1b]{number};rgb:{red:04x}/{green:04x}/{blue:04x}\x1b\\"
                );
            }
        }
    }

    /// Appends what takes back the colours of `before` that are not set here.
    pub fn write_resets(&self, before: &Palette, out: &mut Vec<u8>) {
        for slot in before.set.keys() {
            if !self.set.contains_key(slot) {
                // Writing to a vector cannot fail.
                let _ = match slot {
                    Slot::Indexed(index) => write!(out, "\x1b]104;{index}\x1b\\"),
                    Slot::Special(index) => write!(out, "\x1b]105;{index}\x1b\\"),
                    Slot::Dynamic(number) => write!(out, "\x1b]1{number}\x1b\\"),
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Checker, Size, Terminal, Vocabulary};

    fn drawn(bytes: &str) -> Terminal {
        let mut terminal = Terminal::new(Size::default());
        terminal.process(bytes.as_bytes());
        terminal
    }

    fn changes(from: &str, to: &str) -> String {
        let mut out = Vec::new();
        let (from, to) = (drawn(from), drawn(to));
        to.screen()
            .palette()
            .write_changes(from.screen().palette(), &mut out);
        Checker::default().check(&out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn colours_are_set_in_every_form_and_reset() {
        for (program, told) in [
            (
                "\x1b]4;1;rgb:11/22/33\x07",
                "\x1b]4;1;rgb:1111/2222/3333\x1b\\",
            ),
            (
                "\x1b]4;1;#102030;200;#fff\x1b\\",
                "\x1b]4;1;rgb:1010/2020/3030\x1b\\\x1b]4;200;rgb:f000/f000/f000\x1b\\",
            ),
            ("\x1b]12;#ff8800\x07", "\x1b]12;rgb:ffff/8888/0000\x1b\\"),
            (
                "\x1b]10;#000000;#ffffffffffff\x07",
                "\x1b]10;rgb:0000/0000/0000\x1b\\\x1b]11;rgb:ffff/ffff/ffff\x1b\\",
            ),
            (
                "\x1b]4;+1;#000\x07\x1b]4;1;#+00\x07\x1b]4;1;rgb:+1/2/3\x07\x1b]4;261;#000\x07\x1b]5;5;#000\x07\x1b]4;x;#000\x07\x1b]4;1;nosuch\x07\x1b]20;#000\x07\x1b]4;1\x07",
                "",
            ),
            (
                "\x1b]5;0;#000\x07\x1b]4;260;#000\x07\x1b]17;#000;#fff;#000\x07",
                "\x1b]5;0;rgb:0000/0000/0000\x1b\\\x1b]5;4;rgb:0000/0000/0000\x1b\\\x1b]17;rgb:0000/0000/0000\x1b\\\x1b]18;rgb:f000/f000/f000\x1b\\\x1b]19;rgb:0000/0000/0000\x1b\\",
            ),
            (
                "\x1b]5;0;#000;1;#000\x07\x1b]105;0\x07\x1b]104;257\x07\x1b]4;256;#000\x07\x1b]105\x07",
                "",
            ),
            ("\x1b]5;0;#000\x07\x1b]104\x07\x1b]105;0\x07", ""),
            ("\x1b]13;#000;#000\x07\x1b]113\x07\x1b]114\x07", ""),
            ("\x1b]4;1;#000;2;#fff\x07\x1b]104;1;2\x07", ""),
            ("\x1b]4;1;#000\x07\x1b]104\x07", ""),
            ("\x1b]4;1;#000\x07\x1bc", ""),
            (
                "\x1b]10;#000\x07\x1b]11;#000\x07\x1b]12;#000\x07\x1b]110\x07\x1b]111\x1b\\\x1b]112;\x07",
                "",
            ),
        ] {
            assert_eq!(changes("", program), told, "{program:?}");
        }
        let set = "\x1b]4;7;#000\x07\x1b]5;1;#000\x07\x1b]11;#fff\x07\x1b]19;#fff\x07";
        assert_eq!(
            changes(set, ""),
            "\x1b]104;7\x1b\\\x1b]105;1\x1b\\\x1b]111\x1b\\\x1b]119\x1b\\"
        );
        assert_eq!(changes(set, set), "");
    }

    #[test]
    fn what_a_program_has_set_is_answered() {
        let mut terminal = drawn(
            "\x1b]4;7;#123456\x07\x1b]11;#fff\x07\x1b]4;7;?;8;?;9;#abc;9;?\x07\x1b]11;?\x1b\\",
        );
        let answers = "\x1b]4;7;rgb:1212/3434/5656\x07\x1b]4;9;rgb:a000/b000/c000\x07\x1b]11;rgb:f000/f000/f000\x1b\\";
        assert_eq!(String::from_utf8(terminal.take_replies()).unwrap(), answers);
    }

    #[test]
    fn special_and_dynamic_colours_are_answered_by_the_number_that_was_asked() {
        let mut terminal = drawn(
            "\x1b]4;256;#123456\x07\x1b]17;#fff\x07\x1b]5;0;?\x07\x1b]4;256;?;257;?\x07\x1b]16;?;?\x1b\\",
        );
        let answers = "\x1b]5;0;rgb:1212/3434/5656\x07\x1b]4;256;rgb:1212/3434/5656\x07\x1b]17;rgb:f000/f000/f000\x1b\\";
        assert_eq!(String::from_utf8(terminal.take_replies()).unwrap(), answers);
    }

    #[test]
    fn a_frame_tells_a_reader_of_palettes_and_no_other() {
        let (from, to) = (drawn("\x1b]4;1;#000\x07"), drawn("\x1b]11;#fff\x07"));
        let frame = to.screen().diff_from(from.screen(), &Vocabulary::RICH);
        let mut reader = from.screen().clone();
        reader.apply(&frame);
        assert_eq!(reader.palette(), to.screen().palette());
        assert!(!to.screen().is_same(from.screen(), &Vocabulary::RICH));
        assert!(to.screen().is_same(from.screen(), &Vocabulary::NATIVE));
        assert_eq!(
            to.screen().diff_from(from.screen(), &Vocabulary::STOCK),
            b""
        );
    }
}
