//! The colours that the user's terminal has by itself.

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

/// Reads `rgb:r/g/b` with one to four hexadecimal digits each, or `#rgb` with as many, of which those that are missing are zeros.
///
/// Source: XParseColor(3), as xterm's control sequences name it.
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
    // Of two digits X makes 16 bits as of those behind rgb:, or else white would be grey on most screens.
    let read = |part: &str| match each {
        2 => level(part),
        _ => u16::from_str_radix(part, 16)
            .ok()
            .map(|value| value << (16 - 4 * each)),
    };
    let (red, rest) = digits.split_at(each);
    let (green, blue) = rest.split_at(each);
    Some([read(red)?, read(green)?, read(blue)?])
}

/// Reads hexadecimal digits, of which all set are the whole of a colour.
fn level(digits: &str) -> Option<u16> {
    if !(1..=4).contains(&digits.len()) {
        return None;
    }
    let value = u32::from_str_radix(digits, 16).ok()?;
    let whole = (1 << (4 * digits.len())) - 1;
    u16::try_from(value * 0xffff / whole).ok()
}
