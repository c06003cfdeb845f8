//! Character sets that a program may put in place of ASCII.

/// A character set for the codes 20-7E.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Charset {
    #[default]
    Ascii,
    /// DEC special graphics, the line drawing of `ESC ( 0`.
    DecGraphics,
    /// ASCII with a pound sign in place of the number sign, `ESC ( A`.
    British,
}

/// The characters that DEC special graphics puts in place of `_` to `~`.
///
/// Source: VT220 Programmer Reference Manual, table 2-4, as characters of Unicode.
const DEC_GRAPHICS: [char; 32] = [
    '\u{a0}', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺', '⎻',
    '─', '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
];

impl Charset {
    /// Returns the set that is called by `letter`; unknown ones are shown as ASCII.
    pub(crate) fn from_letter(letter: char) -> Charset {
        match letter {
            '0' => Charset::DecGraphics,
            'A' => Charset::British,
            _ => Charset::Ascii,
        }
    }

    fn translate(self, c: char) -> char {
        match (self, c) {
            (Charset::DecGraphics, '_'..='~') => {
                let index = u32::from(c) - u32::from('_');
                DEC_GRAPHICS.get(index as usize).copied().unwrap_or(c)
            }
            (Charset::British, '#') => '£',
            _ => c,
        }
    }
}

/// The four sets a program has loaded and which of them is in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Charsets {
    loaded: [Charset; 4],
    /// The set in use until further notice.
    locked: u8,
    /// The set in use for one character (SS2, SS3).
    single: Option<u8>,
}

impl Charsets {
    /// Puts `charset` into one of the four slots.
    pub(crate) fn load(&mut self, slot: u8, charset: Charset) {
        if let Some(loaded) = self.loaded.get_mut(usize::from(slot)) {
            *loaded = charset;
        }
    }

    /// Uses the set of `slot` from here on.
    pub(crate) fn lock(&mut self, slot: u8) {
        self.locked = slot;
    }

    /// Uses the set of `slot` for the next character.
    pub(crate) fn shift_once(&mut self, slot: u8) {
        self.single = Some(slot);
    }

    /// Returns true if the next character stands for itself.
    pub(crate) fn is_ascii(&self) -> bool {
        self.single.is_none() && self.charset(self.locked) == Charset::Ascii
    }

    /// Returns what `c` stands for.
    pub(crate) fn translate(&mut self, c: char) -> char {
        let slot = self.single.take().unwrap_or(self.locked);
        self.charset(slot).translate(c)
    }

    fn charset(&self, slot: u8) -> Charset {
        self.loaded
            .get(usize::from(slot))
            .copied()
            .unwrap_or_default()
    }
}
