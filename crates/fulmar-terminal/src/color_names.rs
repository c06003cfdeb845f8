//! Colours by their names.
//!
//! Source: the list of X.Org, `rgb.txt`, as XParseColor(3) reads it: capitals and spaces make no difference.

/// Names in small letters without spaces, in order, each with two hexadecimal digits of red, green and blue. Greys with a number are computed.
const NAMES: &str = include_str!("color_names.txt");

/// The longest name, spaces between its words included. Chosen by eye: the list has none of more than 22 characters.
const NAME_MAX: usize = 32;

/// Returns red, green and blue of the colour that has that name.
pub(crate) fn named_color(name: &str) -> Option<[u16; 3]> {
    if name.len() > NAME_MAX {
        return None;
    }
    let mut name = name.replace(' ', "");
    name.make_ascii_lowercase();
    if let Some(percent) = grey_percent(&name) {
        // Of the two that are half way the list has the lower.
        let half = if matches!(percent, 50 | 90) { 49 } else { 50 };
        let level = (u16::from(percent) * 255 + half) / 100;
        return Some([level * 0x101; 3]);
    }
    let begins_later = |line: &&str| line.split(' ').next().is_some_and(|first| *first > *name);
    let line = NAMES
        .lines()
        .take_while(|line| !begins_later(line))
        .last()?;
    let found = line.split(", ").find_map(|entry| {
        let (known, digits) = entry.split_once(' ')?;
        (known == name).then_some(digits)
    })?;
    let digits = u32::from_str_radix(found, 16).ok()?;
    let [_, levels @ ..] = digits.to_be_bytes();
    Some(levels.map(|level| u16::from(level) * 0x101))
}

/// Returns the number behind `gray` or `grey`, from 0 to 100.
fn grey_percent(name: &str) -> Option<u8> {
    let digits = name.strip_prefix("gray").or(name.strip_prefix("grey"))?;
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    let percent = digits.parse().ok().filter(|_| is_plain);
    percent.filter(|percent| *percent <= 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_however_it_is_written() {
        let slate = Some([0x2f2f, 0x4f4f, 0x4f4f]);
        for (name, levels) in [
            ("red", Some([0xffff, 0, 0])),
            ("Dark Slate Gray", slate),
            ("darkslategrey", slate),
            ("DARKSLATEGRAY", slate),
            ("gray0", Some([0; 3])),
            ("gray10", Some([0x1a1a; 3])),
            ("gray50", Some([0x7f7f; 3])),
            ("grey51", Some([0x8282; 3])),
            ("gray90", Some([0xe5e5; 3])),
            ("grey100", Some([0xffff; 3])),
            ("gray", Some([0xbebe; 3])),
            ("yellow4", Some([0x8b8b, 0x8b8b, 0])),
            ("aliceblue", Some([0xf0f0, 0xf8f8, 0xffff])),
            ("gray101", None),
            ("gray+1", None),
            ("nosuch", None),
            ("re", None),
            ("red ff0000", None),
            ("", None),
            ("redredredredredredredredredredred", None),
        ] {
            assert_eq!(named_color(name), levels, "{name}");
        }
    }

    #[test]
    fn every_name_of_the_list_is_found() {
        for entry in NAMES.lines().flat_map(|line| line.split(", ")) {
            let (name, digits) = entry.split_once(' ').unwrap();
            let levels = named_color(name).unwrap();
            let read: String = levels.map(|level| format!("{:02x}", level >> 8)).concat();
            assert_eq!(read, digits, "{name}");
        }
    }
}
