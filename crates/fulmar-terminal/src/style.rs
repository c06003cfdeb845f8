//! The look of a character: colours, attributes, and the link it stands for.

use std::sync::Arc;

use crate::hyperlink::Hyperlink;

/// A colour, packed: the terminal's default, one of its palette of 256, or 24 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Color(u32);

/// A [`Color`] taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColorKind {
    /// Whatever the terminal shows when told nothing.
    Default,
    /// A number in the palette; 0-7 are the plain and 8-15 the bright colours.
    Indexed(u8),
    /// Red, green and blue.
    Rgb(u8, u8, u8),
}

impl Color {
    const INDEXED: u32 = 1 << 24;
    const RGB: u32 = 2 << 24;

    /// The terminal's own colour.
    pub const DEFAULT: Color = Color(0);

    /// Returns the colour at `index` of the palette.
    pub const fn indexed(index: u8) -> Color {
        Color(Color::INDEXED | index as u32)
    }

    /// Returns a 24-bit colour.
    pub const fn rgb(red: u8, green: u8, blue: u8) -> Color {
        Color(Color::RGB | (red as u32) << 16 | (green as u32) << 8 | blue as u32)
    }

    /// Takes the colour apart.
    pub const fn kind(self) -> ColorKind {
        let [tag, red, green, blue] = self.0.to_be_bytes();
        match tag {
            1 => ColorKind::Indexed(blue),
            2 => ColorKind::Rgb(red, green, blue),
            _ => ColorKind::Default,
        }
    }

    /// Returns a number that no other colour has.
    pub(crate) const fn bits(self) -> u32 {
        self.0
    }

    /// Returns true if this is the terminal's own colour.
    pub const fn is_default(self) -> bool {
        self.0 == 0
    }
}

/// The line under a character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Underline {
    /// No line.
    #[default]
    None,
    /// One straight line.
    Single,
    /// Two straight lines.
    Double,
    /// A wave, as under a misspelt word.
    Curly,
    /// Dots.
    Dotted,
    /// Dashes.
    Dashed,
}

bitflags::bitflags! {
    /// The attributes that SGR switches on and off; the kind of underline takes three of the bits.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Attributes: u16 {
        /// SGR 1.
        const BOLD = 1;
        /// SGR 2, also called faint.
        const DIM = 1 << 1;
        /// SGR 3.
        const ITALIC = 1 << 2;
        /// SGR 5 and 6.
        const BLINK = 1 << 3;
        /// SGR 7: foreground and background change places.
        const INVERSE = 1 << 4;
        /// SGR 8: the character takes its room and is not drawn.
        const HIDDEN = 1 << 5;
        /// SGR 9: a line through the character.
        const STRIKE = 1 << 6;
        /// SGR 53: a line above the character.
        const OVERLINE = 1 << 7;
        /// The three bits that hold an [`Underline`]; read and written by
        /// [`Attributes::underline`] and [`Attributes::set_underline`].
        const UNDERLINE = 0b111 << 8;
        /// DECSCA: selective erasing leaves the character alone. It does not show, so no frame tells it.
        const PROTECTED = 1 << 11;
    }
}

impl Attributes {
    const UNDERLINE_SHIFT: u16 = 8;

    /// All that show.
    pub const SHOWN: Attributes = Attributes::all().difference(Attributes::PROTECTED);

    /// Returns the kind of line under the character.
    pub const fn underline(self) -> Underline {
        match (self.bits() & Attributes::UNDERLINE.bits()) >> Attributes::UNDERLINE_SHIFT {
            1 => Underline::Single,
            2 => Underline::Double,
            3 => Underline::Curly,
            4 => Underline::Dotted,
            5 => Underline::Dashed,
            _ => Underline::None,
        }
    }

    /// Replaces the kind of line under the character.
    pub fn set_underline(&mut self, underline: Underline) {
        let kind = Attributes::from_bits_retain((underline as u16) << Attributes::UNDERLINE_SHIFT);
        *self = self.difference(Attributes::UNDERLINE).union(kind);
    }

    /// Returns these attributes with another kind of line under the character.
    #[must_use]
    pub fn with_underline(mut self, underline: Underline) -> Attributes {
        self.set_underline(underline);
        self
    }
}

/// Everything about a cell's look but its text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Style {
    /// The colour of the text.
    pub foreground: Color,
    /// The colour behind the text.
    pub background: Color,
    /// The colour of the underline; the default is the text's own.
    pub underline_color: Color,
    /// Bold and the like.
    pub attributes: Attributes,
    /// The hyperlink, if the cell is part of one.
    pub link: Option<Arc<Hyperlink>>,
}

impl Style {
    /// Returns a style that is plain but for its background: what erasing leaves.
    pub fn erased(background: Color) -> Style {
        Style {
            background,
            ..Style::default()
        }
    }

    /// Returns true if nothing is set, link included.
    pub fn is_plain(&self) -> bool {
        *self == Style::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_keeps_its_kind() {
        assert_eq!(Color::DEFAULT.kind(), ColorKind::Default);
        assert_eq!(Color::indexed(0).kind(), ColorKind::Indexed(0));
        assert_eq!(Color::indexed(255).kind(), ColorKind::Indexed(255));
        assert_eq!(Color::rgb(1, 2, 3).kind(), ColorKind::Rgb(1, 2, 3));
        assert_ne!(Color::rgb(0, 0, 0), Color::DEFAULT);
    }

    #[test]
    fn the_underline_is_apart_from_the_flags() {
        let mut attributes = Attributes::BOLD | Attributes::OVERLINE;
        for kind in [
            Underline::Dashed,
            Underline::Curly,
            Underline::Single,
            Underline::None,
        ] {
            attributes.set_underline(kind);
            assert_eq!(attributes.underline(), kind);
            assert!(attributes.contains(Attributes::BOLD | Attributes::OVERLINE));
        }
        assert_eq!(attributes, Attributes::BOLD | Attributes::OVERLINE);
    }
}
