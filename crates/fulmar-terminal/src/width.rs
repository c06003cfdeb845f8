//! Tells how many columns a character takes.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

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
/// So a family emoji is as wide as its members together, as programs and stock peers count with the C library of their
/// host; where cells hold grapheme clusters (mode 2027), [`grown_columns`] counts.
///
/// Source: docs/protocol.md §8.4; the tables are those of the Unicode version of `unicode-width`,
/// but for [`AS_IN_C`].
pub(crate) fn width(c: char) -> Width {
    // The first character that is not one column wide is U+0300, a combining grave accent.
    if c < '\u{300}' {
        return Width::One;
    }
    // Most of what is not ASCII, and none of the exceptions.
    if matches!(c, '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}') {
        return Width::Two;
    }
    // It stands for what is no UTF-8.
    if c == char::REPLACEMENT_CHARACTER {
        return Width::One;
    }
    if let Some(width) = as_in_c(u32::from(c)) {
        return width;
    }
    match c.width() {
        Some(0) => Width::Zero,
        Some(2) => Width::Two,
        _ => Width::One,
    }
}

/// Returns the number of columns that a character takes by itself: 0 for a mark, 1 or 2.
///
/// Source: docs/protocol.md §8.4.
pub fn char_columns(character: char) -> u16 {
    match width(character) {
        Width::Zero => 0,
        Width::One => 1,
        Width::Two => 2,
    }
}

/// Returns how many columns a cell of `columns` takes once `c` goes on with its grapheme cluster behind `before`: those
/// that each character takes by itself, but two at most, and two from the selector of an emoji's look (U+FE0F) on,
/// where it has that meaning. What selects the look of a text (U+FE0E) changes nothing.
///
/// Source: docs/protocol.md §8.5.
pub(crate) fn grown_columns(columns: u16, before: char, c: char) -> u16 {
    match c {
        '\u{fe0f}' if is_shown_as_emoji(before) => 2,
        _ => (columns + char_columns(c)).min(2),
    }
}

/// Returns true if U+FE0F behind `c` makes it an emoji of two columns.
fn is_shown_as_emoji(c: char) -> bool {
    let mut buffer = [0; 8];
    let end = c.len_utf8() + '\u{fe0f}'.len_utf8();
    let Some(selector) = buffer.get_mut(c.len_utf8()..) else {
        return false;
    };
    '\u{fe0f}'.encode_utf8(selector);
    c.encode_utf8(&mut buffer);
    std::str::from_utf8(&buffer[..end]).is_ok_and(|sequence| sequence.width() == 2)
}

fn as_in_c(code: u32) -> Option<Width> {
    let index = AS_IN_C.partition_point(|&(_, last, _)| last < code);
    AS_IN_C
        .get(index)
        .filter(|(first, ..)| *first <= code)
        .map(|(.., width)| *width)
}

/// Characters that `unicode-width` counts by what they become in a cluster, and `wcwidth` by their
/// general category, in order: vowel signs with a column of their own, letters that are attached to
/// the next one, fillers and tone marks of Hangul, joiners. Also numbers in squares, which are
/// ambiguous, and wide for C.
///
/// Source: glibc 2.36 beside `unicode-width` 0.2.3, but for what Unicode 16 has made wide.
const AS_IN_C: [(u32, u32, Width); 59] = [
    (0x0605, 0x0605, Width::One),
    (0x070f, 0x070f, Width::One),
    (0x0890, 0x0891, Width::One),
    (0x08e2, 0x08e2, Width::One),
    (0x09be, 0x09be, Width::One),
    (0x09d7, 0x09d7, Width::One),
    (0x0b3e, 0x0b3e, Width::One),
    (0x0b57, 0x0b57, Width::One),
    (0x0bbe, 0x0bbe, Width::One),
    (0x0bd7, 0x0bd7, Width::One),
    (0x0cc0, 0x0cc0, Width::One),
    (0x0cc2, 0x0cc2, Width::One),
    (0x0cc7, 0x0cc8, Width::One),
    (0x0cca, 0x0ccb, Width::One),
    (0x0cd5, 0x0cd6, Width::One),
    (0x0d3e, 0x0d3e, Width::One),
    (0x0d4e, 0x0d4e, Width::One),
    (0x0d57, 0x0d57, Width::One),
    (0x0dcf, 0x0dcf, Width::One),
    (0x0ddf, 0x0ddf, Width::One),
    (0x1715, 0x1715, Width::One),
    (0x1734, 0x1734, Width::One),
    (0x17a4, 0x17a4, Width::One),
    (0x1b35, 0x1b35, Width::One),
    (0x1b3b, 0x1b3b, Width::One),
    (0x1b3d, 0x1b3d, Width::One),
    (0x1b43, 0x1b44, Width::One),
    (0x1baa, 0x1baa, Width::One),
    (0x1bf2, 0x1bf3, Width::One),
    (0x2d7f, 0x2d7f, Width::Zero),
    (0x302e, 0x302f, Width::Two),
    (0x3164, 0x3164, Width::Two),
    (0x3248, 0x324f, Width::Two),
    (0xa8fa, 0xa8fa, Width::One),
    (0xa953, 0xa953, Width::One),
    (0xa9c0, 0xa9c0, Width::One),
    (0xffa0, 0xffa0, Width::One),
    (0xfff9, 0xfffb, Width::Zero),
    (0x111c0, 0x111c0, Width::One),
    (0x111c2, 0x111c3, Width::One),
    (0x11235, 0x11235, Width::One),
    (0x1133e, 0x1133e, Width::One),
    (0x1134d, 0x1134d, Width::One),
    (0x11357, 0x11357, Width::One),
    (0x114b0, 0x114b0, Width::One),
    (0x114bd, 0x114bd, Width::One),
    (0x115af, 0x115af, Width::One),
    (0x116b6, 0x116b6, Width::One),
    (0x1171e, 0x1171e, Width::Zero),
    (0x11930, 0x11930, Width::One),
    (0x1193d, 0x1193d, Width::One),
    (0x1193f, 0x1193f, Width::One),
    (0x11941, 0x11941, Width::One),
    (0x11a84, 0x11a89, Width::One),
    (0x11d46, 0x11d46, Width::One),
    (0x13430, 0x13438, Width::Zero),
    (0x16ff0, 0x16ff1, Width::Two),
    (0x1d165, 0x1d166, Width::One),
    (0x1d16d, 0x1d172, Width::One),
];

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
            // Vowel signs of Bengali and Tamil, and one of Hindi that the crate has right.
            ('\u{9be}', Width::One),
            ('\u{bbe}', Width::One),
            ('\u{93e}', Width::One),
            ('\u{302e}', Width::Two),
            ('㉈', Width::Two),
            ('①', Width::One),
            ('\u{fff9}', Width::Zero),
            ('\u{3400}', Width::Two),
            ('\u{9fff}', Width::Two),
            ('한', Width::Two),
        ] {
            assert_eq!(width(c), expected, "{:04x}", u32::from(c));
        }
    }

    #[test]
    fn a_cell_grows_to_two_columns_and_no_more() {
        let columns = |text: &str| {
            let pairs = text.chars().zip(text.chars().skip(1));
            pairs.fold(1, |columns, (before, c)| grown_columns(columns, before, c))
        };
        for narrow in ["e\u{301}", "a\u{fe0f}", "1\u{20e3}", "❤\u{fe0e}", "🇩"] {
            assert_eq!(columns(narrow), 1, "{narrow}");
        }
        for wide in [
            "❤\u{fe0f}",
            "1\u{fe0f}\u{20e3}",
            "🇩🇪",
            "❤\u{200d}🔥",
            "⛹🏽",
            "न\u{93e}",
            "©\u{fe0f}",
            "क\u{94d}ष\u{93f}",
        ] {
            assert_eq!(columns(wide), 2, "{wide}");
        }
        assert_eq!(grown_columns(2, '👩', '\u{200d}'), 2);
        assert_eq!(grown_columns(2, '\u{200d}', '👩'), 2);
        assert_eq!(grown_columns(2, '👍', '\u{fe0e}'), 2);
    }

    #[test]
    fn the_exceptions_are_in_order_and_are_exceptions() {
        assert!(AS_IN_C.iter().all(|(first, last, _)| first <= last));
        assert!(AS_IN_C.windows(2).all(|pair| pair[0].1 < pair[1].0));
        for (first, _, width) in AS_IN_C {
            let c = char::from_u32(first).unwrap();
            let by_crate = match c.width() {
                Some(0) => Width::Zero,
                Some(2) => Width::Two,
                _ => Width::One,
            };
            assert_ne!(by_crate, width, "{first:04x}");
        }
    }
}
