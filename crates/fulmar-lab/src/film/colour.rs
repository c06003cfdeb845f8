//! The colours of a terminal in a drawing.

use alacritty_terminal::vte::ansi::{Color, NamedColor, Rgb};

/// The ground of a terminal and its text: dark, on a light page and on a dark one.
pub(super) const GROUND: Rgb = rgb(0x1b, 0x1e, 0x23);
pub(super) const TEXT: Rgb = rgb(0xd8, 0xda, 0xd6);

/// The sixteen colours with names. Chosen by eye, to be read on [`GROUND`].
const NAMED: [Rgb; 16] = [
    rgb(0x2c, 0x30, 0x37),
    rgb(0xe0, 0x6c, 0x6c),
    rgb(0x6c, 0xc7, 0x9b),
    rgb(0xdf, 0xc2, 0x4c),
    rgb(0x5c, 0xb3, 0xf0),
    rgb(0xe5, 0x97, 0xc1),
    rgb(0x5f, 0xc4, 0xd0),
    rgb(0xc5, 0xc8, 0xc6),
    rgb(0x6e, 0x75, 0x80),
    rgb(0xf2, 0x90, 0x7e),
    rgb(0x8f, 0xdb, 0xb5),
    rgb(0xf0, 0xd8, 0x7a),
    rgb(0x85, 0xbb, 0xea),
    rgb(0xf0, 0xb8, 0xd6),
    rgb(0x8f, 0xdc, 0xe5),
    rgb(0xf2, 0xf3, 0xf1),
];

const fn rgb(r: u8, g: u8, b: u8) -> Rgb {
    Rgb { r, g, b }
}

/// Returns what a colour of a cell looks like.
pub(super) fn look_of(colour: Color) -> Rgb {
    match colour {
        Color::Spec(rgb) => rgb,
        Color::Indexed(index) => indexed(index),
        Color::Named(NamedColor::Background) => GROUND,
        Color::Named(named) => NAMED.get(named as usize).copied().unwrap_or(TEXT),
    }
}

/// Returns a colour of xterm's 256: sixteen with names, a cube of 6 x 6 x 6, and 24 greys.
///
/// Source: XTerm Control Sequences, "ISO-8613-6 colours"; the levels are those of its default palette.
fn indexed(index: u8) -> Rgb {
    let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
    match index {
        0..16 => NAMED[usize::from(index)],
        16..232 => {
            let place = index - 16;
            rgb(level(place / 36), level(place / 6 % 6), level(place % 6))
        }
        232.. => {
            let grey = 8 + 10 * (index - 232);
            rgb(grey, grey, grey)
        }
    }
}

/// Returns a colour as a stylesheet has it.
pub(super) fn hex(Rgb { r, g, b }: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_256_colours_are_those_of_xterm() {
        let look = |index| hex(look_of(Color::Indexed(index)));
        assert_eq!([16, 21, 231].map(look), ["#000000", "#0000ff", "#ffffff"]);
        assert_eq!([67, 232, 255].map(look), ["#5f87af", "#080808", "#eeeeee"]);
        assert_eq!(look(4), hex(look_of(Color::Named(NamedColor::Blue))));
    }

    #[test]
    fn what_has_no_colour_is_text_on_the_ground() {
        let look = |named| hex(look_of(Color::Named(named)));
        assert_eq!(look(NamedColor::Background), hex(GROUND));
        assert_eq!(look(NamedColor::Foreground), hex(TEXT));
    }
}
