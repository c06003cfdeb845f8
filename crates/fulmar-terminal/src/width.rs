//! How many columns a character takes.

use unicode_width::UnicodeWidthChar;

/// The room a character needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// A mark that joins the character before it.
    Zero,
    One,
    Two,
}

/// Returns the width of one character by itself, as `wcwidth` does.
///
/// No cluster is ever formed, so a family emoji is as wide as its members together: stock peers
/// count that way, with the C library of their host.
///
/// Source: docs/protocol.md §8.4; the tables are those of the Unicode version of `unicode-width`.
pub(crate) fn width(c: char) -> Width {
    // The first character that is not one column wide is U+0300, a combining grave accent.
    if c < '\u{300}' {
        return Width::One;
    }
    match c.width() {
        Some(0) => Width::Zero,
        Some(2) => Width::Two,
        _ => Width::One,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_c_library() {
        for (c, expected) in [
            ('a', Width::One),
            ('é', Width::One),
            ('\u{ad}', Width::One),
            ('\u{301}', Width::Zero),
            ('\u{200d}', Width::Zero),
            ('\u{fe0f}', Width::Zero),
            ('漢', Width::Two),
            ('ｱ', Width::One),
            ('Ａ', Width::Two),
            ('🚀', Width::Two),
            ('─', Width::One),
            ('\u{fffd}', Width::One),
            ('\u{e0b0}', Width::One),
        ] {
            assert_eq!(width(c), expected, "{:04x}", u32::from(c));
        }
    }
}
