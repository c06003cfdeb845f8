//! The colours that the user's terminal has by itself, and how colours are written.

use std::str::FromStr;

use crate::color_names::named_color;

/// Red, green and blue, from 0 to 65 535.
pub type ColorLevels = [u16; 3];

/// The colours of text, background and cursor where no program has set any (OSC 10, 11, 12), as far as they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DefaultColors {
    /// The colour of text.
    pub text: Option<ColorLevels>,
    /// The colour of the background.
    pub background: Option<ColorLevels>,
    /// The colour of the cursor.
    pub cursor: Option<ColorLevels>,
}

impl DefaultColors {
    /// Notes the colour that the OSC of that number is about.
    pub fn note(&mut self, number: u8, levels: ColorLevels) {
        match number {
            10 => self.text = Some(levels),
            11 => self.background = Some(levels),
            12 => self.cursor = Some(levels),
            _ => {}
        }
    }
}

/// Returns the colour of a number that has the same one on every terminal of 256 colours, unless a program has changed it: not one of the
/// first sixteen, which are the user's.
///
/// Source: xterm's 256colres.pl: a cube of six levels, and 24 greys.
pub(crate) fn fixed_color(index: u8) -> Option<ColorLevels> {
    let of_cube = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
    let levels = match index {
        0..16 => return None,
        16..232 => [(index - 16) / 36, (index - 16) / 6 % 6, (index - 16) % 6].map(of_cube),
        232.. => [8 + 10 * (index - 232); 3],
    };
    Some(levels.map(|level| u16::from(level) * 0x101))
}

/// Reads decimal digits, and nothing else.
pub(crate) fn digits<N: FromStr>(text: &str) -> Option<N> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}

/// Reads `rgb:r/g/b` with one to four hexadecimal digits each, `#rgb` with as many, or a name.
///
/// Source: XParseColor(3), as xterm's control sequences name it; but for `#rrggbb`, of which it sets the lower half of each
/// colour to zero, as it does of one digit and of three. Screens of 8 bits a colour show no difference, and a terminal that is asked
/// then tells `rrrr/gggg/bbbb`.
pub(crate) fn parse_color(text: &str) -> Option<ColorLevels> {
    if let Some(digits) = text.strip_prefix('#') {
        return parse_digits(digits);
    }
    let Some(parts) = text.strip_prefix("rgb:") else {
        return named_color(text);
    };
    let mut parts = parts.split('/').map(level);
    let levels = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(levels)
}

fn parse_digits(digits: &str) -> Option<ColorLevels> {
    let each = digits.len() / 3;
    if !matches!(digits.len(), 3 | 6 | 9 | 12) || !digits.is_ascii() {
        return None;
    }
    let read = |part: &str| match each {
        2 => level(part),
        _ => hexadecimal(part).map(|value| value << (16 - 4 * each)),
    };
    let (red, rest) = digits.split_at(each);
    let (green, blue) = rest.split_at(each);
    Some([read(red)?, read(green)?, read(blue)?])
}

/// Reads hexadecimal digits, of which all set are the whole of a colour.
fn level(digits: &str) -> Option<u16> {
    let value = u32::from(hexadecimal(digits)?);
    let whole = (1 << (4 * digits.len())) - 1;
    u16::try_from(value * 0xffff / whole).ok()
}

/// Reads one to four hexadecimal digits, and nothing else.
fn hexadecimal(digits: &str) -> Option<u16> {
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let value = u16::from_str_radix(digits, 16).ok();
    value.filter(|_| is_plain && digits.len() <= 4)
}
