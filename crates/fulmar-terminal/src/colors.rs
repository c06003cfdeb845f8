//! The colours that the user's terminal has by itself, and how colours are written.

use std::str::FromStr;

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
    /// Returns the colour that the OSC of that number is about.
    pub(crate) fn of_osc(&self, number: u8) -> Option<ColorLevels> {
        match number {
            10 => self.text,
            11 => self.background,
            12 => self.cursor,
            _ => None,
        }
    }

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

/// Reads decimal digits, and nothing else.
pub(crate) fn digits<N: FromStr>(text: &str) -> Option<N> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}

/// Reads `rgb:r/g/b` with one to four hexadecimal digits each, or `#rgb` with as many.
///
/// Source: XParseColor(3), as xterm's control sequences name it; but for `#rrggbb`, of which it sets the lower half of each
/// colour to zero, as it does of one digit and of three. Screens of 8 bits a colour show no difference, and a terminal that is asked
/// then tells `rrrr/gggg/bbbb`.
pub(crate) fn parse_color(text: &str) -> Option<ColorLevels> {
    if let Some(digits) = text.strip_prefix('#') {
        return parse_digits(digits);
    }
    let mut parts = text.strip_prefix("rgb:")?.split('/').map(level);
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
