//! The vocabulary of the reader of a frame.

use crate::clipboard::CLIPBOARD_BYTES_MAX;
use crate::modes::{ModeFlags, MouseEncoding};
use crate::osc::{SHORT_CLIPBOARD_MAX, TITLE_MAX};
use crate::permitted::is_permitted_link;
use crate::style::{Attributes, Color, ColorKind, Style, Underline};

/// The part of the terminal language that a reader of frames understands.
///
/// A frame is written for one vocabulary, and everything outside it is left out as if the screen
/// did not have it: see [`Screen::projected`](crate::Screen::projected).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vocabulary {
    /// The number of colours.
    pub colors: Colors,
    /// The attributes that show; of the underlines at most the plain one.
    pub attributes: Attributes,
    /// Underlines that are double, curly, dotted or dashed (`CSI 4:n m`), in their own colour.
    pub underline_styles: bool,
    /// Hyperlinks, OSC 8.
    pub links: bool,
    /// Window title and icon name.
    pub titles: bool,
    /// The longest of them, in characters; the rest is cut.
    pub title_max: usize,
    /// Writing the clipboard, OSC 52.
    pub clipboard: bool,
    /// The most base64 that one write may have; a longer text leaves the one before it.
    pub clipboard_max: usize,
    /// Colours of numbers, text, background and cursor (OSC 4, 10, 11, 12).
    pub palette: bool,
    /// The forms of keys that programs ask for, the flags of kitty's keyboard protocol.
    pub keyboard: bool,
    /// The cursor's shape, DECSCUSR.
    pub cursor_shape: bool,
    /// Mode 1006 and the other encodings of mouse reports that the reader knows.
    pub mouse_encodings: MouseEncodings,
    /// Erasing a count of cells in place, ECH.
    pub erase_characters: bool,
    /// Erased cells take the background colour in force.
    pub back_color_erase: bool,
    /// Cells hold grapheme clusters (mode 2027); otherwise a character with its marks.
    pub clusters: bool,
    /// The cursor is hidden while rows are drawn, since a person may see the frame half drawn.
    pub hide_while_drawing: bool,
}

/// The number of colours that a reader has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colors {
    /// Text colour and background only.
    None,
    /// The eight of ECMA-48.
    Eight,
    /// Eight, and eight bright ones (`CSI 90 m`, `CSI 100 m`).
    Sixteen,
    /// The palette of 256.
    Palette,
    /// 24 bits.
    Rgb,
}

/// The encodings of mouse reports that a reader knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MouseEncodings {
    /// 1005, 1006 and 1015.
    Stock,
    /// All, with 1016.
    All,
}

impl Vocabulary {
    /// The vocabulary of the emulator of stock Mosh 1.4.
    ///
    /// Source: docs/protocol.md §7, §8.6-8.8.
    pub const STOCK: Vocabulary = Vocabulary {
        colors: Colors::Rgb,
        attributes: Attributes::BOLD
            .union(Attributes::ITALIC)
            .union(Attributes::UNDERLINE)
            .union(Attributes::BLINK)
            .union(Attributes::INVERSE)
            .union(Attributes::HIDDEN),
        underline_styles: false,
        links: false,
        titles: true,
        title_max: 254,
        clipboard: true,
        clipboard_max: SHORT_CLIPBOARD_MAX,
        palette: false,
        keyboard: false,
        cursor_shape: false,
        mouse_encodings: MouseEncodings::Stock,
        erase_characters: true,
        back_color_erase: true,
        clusters: false,
        hide_while_drawing: false,
    };

    /// The vocabulary of a client of ours that knows no more of looks than stock does: a longer clipboard.
    ///
    /// Source: docs/protocol.md §8.11.
    pub const NATIVE: Vocabulary = Vocabulary {
        clipboard_max: CLIPBOARD_BYTES_MAX,
        ..Vocabulary::STOCK
    };

    /// The vocabulary of a client of ours with `rich`: also every attribute and underline, in its own colour,
    /// links, colours that programs change, and the forms of keys that they ask for. The cursor's shape comes with the hints.
    ///
    /// Source: docs/protocol.md §13.11.
    pub const RICH: Vocabulary = Vocabulary {
        attributes: Attributes::SHOWN,
        underline_styles: true,
        links: true,
        palette: true,
        keyboard: true,
        mouse_encodings: MouseEncodings::All,
        ..Vocabulary::NATIVE
    };

    /// The vocabulary of a client of ours with `rich` and `terminal`: cells hold grapheme clusters, too.
    ///
    /// Source: docs/protocol.md §13.12.
    pub const CLUSTERED: Vocabulary = Vocabulary {
        clusters: true,
        ..Vocabulary::RICH
    };

    /// The vocabulary of a modern terminal of the xterm kind: everything that a [`Screen`] remembers, but for grapheme
    /// clusters, which not all such terminals have.
    ///
    /// [`Screen`]: crate::Screen
    pub const FULL: Vocabulary = Vocabulary {
        colors: Colors::Rgb,
        attributes: Attributes::SHOWN,
        underline_styles: true,
        links: true,
        titles: true,
        title_max: TITLE_MAX,
        clipboard: true,
        clipboard_max: CLIPBOARD_BYTES_MAX,
        palette: true,
        keyboard: true,
        cursor_shape: true,
        mouse_encodings: MouseEncodings::All,
        erase_characters: true,
        back_color_erase: true,
        clusters: false,
        hide_while_drawing: true,
    };

    /// The vocabulary to rely on where nothing is known of the terminal: text, cursor, eight colours.
    pub const PLAIN: Vocabulary = Vocabulary {
        colors: Colors::Eight,
        attributes: Attributes::BOLD
            .union(Attributes::UNDERLINE)
            .union(Attributes::INVERSE),
        underline_styles: false,
        links: false,
        titles: false,
        title_max: 0,
        clipboard: false,
        clipboard_max: 0,
        palette: false,
        keyboard: false,
        cursor_shape: false,
        mouse_encodings: MouseEncodings::Stock,
        erase_characters: false,
        back_color_erase: false,
        clusters: false,
        hide_while_drawing: true,
    };

    /// The modes that are told to the reader; others stay on this side.
    pub(crate) const MODES: ModeFlags = ModeFlags::REVERSE_SCREEN
        .union(ModeFlags::BRACKETED_PASTE)
        .union(ModeFlags::FOCUS_REPORTS);

    /// Returns `style` as far as the reader can tell it.
    pub fn style(&self, style: &Style) -> Style {
        let underline = match style.attributes.underline() {
            Underline::None => Underline::None,
            kind if self.underline_styles => kind,
            _ => Underline::Single,
        };
        let attributes =
            style.attributes.with_underline(underline) & (self.attributes | Attributes::UNDERLINE);
        let attributes = if self.attributes.contains(Attributes::UNDERLINE) {
            attributes
        } else {
            attributes.with_underline(Underline::None)
        };
        Style {
            foreground: self.color(style.foreground),
            background: self.color(style.background),
            underline_color: if self.underline_styles {
                self.color(style.underline_color)
            } else {
                Color::DEFAULT
            },
            attributes,
            link: style
                .link
                .clone()
                .filter(|link| self.links && is_permitted_link(&link.id, &link.uri)),
        }
    }

    /// Returns `color`, or the nearest that the reader has.
    pub fn color(&self, color: Color) -> Color {
        match (self.colors, color.kind()) {
            (Colors::None, _) => Color::DEFAULT,
            (Colors::Rgb, _) | (_, ColorKind::Default) => color,
            (Colors::Palette, ColorKind::Indexed(_)) => color,
            (Colors::Palette, ColorKind::Rgb(red, green, blue)) => {
                Color::indexed(nearest_of_256(red, green, blue))
            }
            (Colors::Sixteen, kind) => Color::indexed(nearest_of_16(kind)),
            (Colors::Eight, kind) => Color::indexed(nearest_of_16(kind) % 8),
        }
    }

    /// Returns `encoding` if the reader knows it.
    pub(crate) fn mouse_encoding(&self, encoding: MouseEncoding) -> MouseEncoding {
        match (self.mouse_encodings, encoding) {
            (MouseEncodings::Stock, MouseEncoding::SgrPixels) => MouseEncoding::Bytes,
            _ => encoding,
        }
    }
}

/// The levels of the colour cube of xterm's palette, entries 16 to 231.
const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// xterm's first sixteen colours.
const FIRST_16: [(u8, u8, u8); 16] = [
    (0, 0, 0),
    (205, 0, 0),
    (0, 205, 0),
    (205, 205, 0),
    (0, 0, 238),
    (205, 0, 205),
    (0, 205, 205),
    (229, 229, 229),
    (127, 127, 127),
    (255, 0, 0),
    (0, 255, 0),
    (255, 255, 0),
    (92, 92, 255),
    (255, 0, 255),
    (0, 255, 255),
    (255, 255, 255),
];

/// Returns the entry of the cube or the grey ramp that is nearest to a colour.
fn nearest_of_256(red: u8, green: u8, blue: u8) -> u8 {
    let wanted = (red, green, blue);
    let step = |level: u8| -> usize {
        CUBE.iter()
            .enumerate()
            .min_by_key(|&(_, &step)| step.abs_diff(level))
            .map_or(0, |(index, _)| index)
    };
    let (r, g, b) = (step(red), step(green), step(blue));
    let cube = (16 + 36 * r + 6 * g + b) as u8;
    let mean = (u16::from(red) + u16::from(green) + u16::from(blue)) / 3;
    let ramp = (mean.saturating_sub(3) / 10).min(23) as u8;
    let grey = 8 + 10 * ramp;
    if distance(wanted, (grey, grey, grey)) < distance(wanted, (CUBE[r], CUBE[g], CUBE[b])) {
        232 + ramp
    } else {
        cube
    }
}

/// Returns the nearest of xterm's first sixteen colours.
fn nearest_of_16(color: ColorKind) -> u8 {
    let wanted = match color {
        ColorKind::Default => return 0,
        ColorKind::Indexed(index @ 0..=15) => return index,
        ColorKind::Indexed(index @ 16..=231) => {
            let index = usize::from(index - 16);
            (CUBE[index / 36], CUBE[index / 6 % 6], CUBE[index % 6])
        }
        ColorKind::Indexed(index) => {
            let grey = 8 + 10 * (index - 232);
            (grey, grey, grey)
        }
        ColorKind::Rgb(red, green, blue) => (red, green, blue),
    };
    (0..16)
        .min_by_key(|&index| distance(wanted, FIRST_16[usize::from(index)]))
        .unwrap_or(0)
}

/// The squared distance of two colours.
fn distance(a: (u8, u8, u8), b: (u8, u8, u8)) -> u32 {
    let square = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
    square(a.0, b.0) + square(a.1, b.1) + square(a.2, b.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_becomes_the_nearest_that_the_reader_has() {
        let palette = Vocabulary {
            colors: Colors::Palette,
            ..Vocabulary::FULL
        };
        assert_eq!(palette.color(Color::rgb(255, 0, 0)), Color::indexed(196));
        assert_eq!(
            palette.color(Color::rgb(118, 118, 118)),
            Color::indexed(243)
        );
        assert_eq!(palette.color(Color::indexed(3)), Color::indexed(3));
        assert_eq!(
            Vocabulary::PLAIN.color(Color::indexed(12)),
            Color::indexed(4)
        );
        assert_eq!(
            Vocabulary::PLAIN.color(Color::indexed(196)),
            Color::indexed(1)
        );
        assert_eq!(Vocabulary::PLAIN.color(Color::DEFAULT), Color::DEFAULT);
    }

    #[test]
    fn what_stock_does_not_know_is_left_out_of_a_style() {
        let style = Style {
            attributes: (Attributes::BOLD | Attributes::DIM | Attributes::STRIKE)
                .with_underline(Underline::Curly),
            underline_color: Color::indexed(1),
            ..Style::default()
        };
        assert_eq!(
            Vocabulary::STOCK.style(&style),
            Style {
                attributes: Attributes::BOLD.with_underline(Underline::Single),
                ..Style::default()
            }
        );
        assert_eq!(Vocabulary::FULL.style(&style), style);
    }
}
