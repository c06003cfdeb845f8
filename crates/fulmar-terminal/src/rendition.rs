//! A style as the parameters of SGR, for an answer to DECRQSS.

use std::fmt::Write;

use crate::style::{Attributes, Color, ColorKind, Style};

/// The flags with the number that switches each on.
const FLAGS: [(Attributes, &str); 8] = [
    (Attributes::BOLD, ";1"),
    (Attributes::DIM, ";2"),
    (Attributes::ITALIC, ";3"),
    (Attributes::BLINK, ";5"),
    (Attributes::INVERSE, ";7"),
    (Attributes::HIDDEN, ";8"),
    (Attributes::STRIKE, ";9"),
    (Attributes::OVERLINE, ";53"),
];

/// Returns what makes `style` from any other: `0`, then what is switched on.
pub(crate) fn parameters(style: &Style) -> String {
    let mut text = String::from("0");
    for (flag, number) in FLAGS {
        if style.attributes.contains(flag) {
            text.push_str(number);
        }
    }
    // Writing to a string cannot fail.
    let _ = match style.attributes.underline() as u8 {
        0 => Ok(()),
        1 => write!(text, ";4"),
        kind => write!(text, ";4:{kind}"),
    };
    push_color(&mut text, 38, style.foreground);
    push_color(&mut text, 48, style.background);
    push_color(&mut text, 58, style.underline_color);
    text
}

fn push_color(text: &mut String, code: u16, color: Color) {
    let _ = match color.kind() {
        ColorKind::Default => Ok(()),
        ColorKind::Indexed(index @ 0..8) if code < 58 => {
            write!(text, ";{}", code - 8 + u16::from(index))
        }
        ColorKind::Indexed(index) => write!(text, ";{code}:5:{index}"),
        ColorKind::Rgb(red, green, blue) => write!(text, ";{code}:2::{red}:{green}:{blue}"),
    };
}
