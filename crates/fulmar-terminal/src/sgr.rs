//! Select graphic rendition: `CSI ... m`.
//!
//! Source: docs/protocol.md §8.6 for what a stock server sends; ISO 8613-6 for colours after
//! colons; the underline extensions are those of kitty, which xterm's users' programs expect.

use crate::csi::Csi;
use crate::screen::Screen;
use crate::style::{Attributes, Color, Style, Underline};

impl Screen {
    /// Changes the rendition of what is printed from here on.
    pub(crate) fn set_rendition(&mut self, csi: &Csi) {
        if csi.values().is_empty() {
            reset(&mut self.style);
        }
        let mut groups = csi.groups();
        while let Some(group) = groups.next() {
            match *group {
                [code @ (38 | 48 | 58)] => {
                    if let Some(color) = color_after_semicolons(&mut groups) {
                        set_color(&mut self.style, code, color);
                    }
                }
                [code @ (38 | 48 | 58), ref rest @ ..] => {
                    if let Some(color) = color_after_colons(rest) {
                        set_color(&mut self.style, code, color);
                    }
                }
                [4, kind] => set_underline(&mut self.style.attributes, kind),
                [code] => set(&mut self.style, code),
                _ => {}
            }
        }
    }
}

fn set(style: &mut Style, code: u16) {
    let attributes = &mut style.attributes;
    match code {
        0 => reset(style),
        1 => attributes.insert(Attributes::BOLD),
        2 => attributes.insert(Attributes::DIM),
        3 => attributes.insert(Attributes::ITALIC),
        4 => attributes.set_underline(Underline::Single),
        // 6, which blinks quickly in ECMA-48, is nothing in xterm and to stock.
        5 => attributes.insert(Attributes::BLINK),
        7 => attributes.insert(Attributes::INVERSE),
        8 => attributes.insert(Attributes::HIDDEN),
        9 => attributes.insert(Attributes::STRIKE),
        21 => attributes.set_underline(Underline::Double),
        22 => attributes.remove(Attributes::BOLD | Attributes::DIM),
        23 => attributes.remove(Attributes::ITALIC),
        24 => attributes.set_underline(Underline::None),
        25 => attributes.remove(Attributes::BLINK),
        27 => attributes.remove(Attributes::INVERSE),
        28 => attributes.remove(Attributes::HIDDEN),
        29 => attributes.remove(Attributes::STRIKE),
        39 => style.foreground = Color::DEFAULT,
        49 => style.background = Color::DEFAULT,
        53 => attributes.insert(Attributes::OVERLINE),
        55 => attributes.remove(Attributes::OVERLINE),
        59 => style.underline_color = Color::DEFAULT,
        30..=37 => style.foreground = Color::indexed((code - 30) as u8),
        40..=47 => style.background = Color::indexed((code - 40) as u8),
        90..=97 => style.foreground = Color::indexed((code - 90 + 8) as u8),
        100..=107 => style.background = Color::indexed((code - 100 + 8) as u8),
        _ => {}
    }
}

/// Back to plain; a link and protection are no rendition and stay.
fn reset(style: &mut Style) {
    *style = Style {
        link: style.link.take(),
        attributes: style.attributes & Attributes::PROTECTED,
        ..Style::default()
    };
}

fn set_color(style: &mut Style, code: u16, color: Color) {
    match code {
        38 => style.foreground = color,
        48 => style.background = color,
        _ => style.underline_color = color,
    }
}

fn set_underline(attributes: &mut Attributes, kind: u16) {
    let underline = match kind {
        0 => Underline::None,
        1 => Underline::Single,
        2 => Underline::Double,
        3 => Underline::Curly,
        4 => Underline::Dotted,
        5 => Underline::Dashed,
        _ => return,
    };
    attributes.set_underline(underline);
}

/// `38;5;n` and `38;2;r;g;b`: the colour takes the parameters that follow.
fn color_after_semicolons<'a>(groups: &mut impl Iterator<Item = &'a [u16]>) -> Option<Color> {
    let mut next = || groups.next()?.first().copied();
    match next()? {
        5 => indexed(next()?),
        2 => rgb(next()?, next()?, next()?),
        _ => None,
    }
}

/// `38:5:n`, `38:2:r:g:b` and, with a colour space that nobody uses, `38:2:s:r:g:b`.
fn color_after_colons(values: &[u16]) -> Option<Color> {
    match *values {
        [5, index, ..] => indexed(index),
        [2, red, green, blue] => rgb(red, green, blue),
        [2, _, red, green, blue, ..] => rgb(red, green, blue),
        _ => None,
    }
}

fn indexed(index: u16) -> Option<Color> {
    Some(Color::indexed(index.try_into().ok()?))
}

fn rgb(red: u16, green: u16, blue: u16) -> Option<Color> {
    Some(Color::rgb(
        red.try_into().ok()?,
        green.try_into().ok()?,
        blue.try_into().ok()?,
    ))
}
