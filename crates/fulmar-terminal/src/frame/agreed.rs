//! Characters on whose width terminals and C libraries agree.

/// Ranges of code points that take the same number of columns everywhere, in order.
///
/// Letters, punctuation, box drawing, common CJK, the signs of today's prompts. Not here: emoji,
/// private use, anything recent, scripts whose letters join into one, and what some count as one
/// column and some as two or none. Characters that East Asian
/// settings of old took for wide (Greek, box drawing) are here: no terminal in use does so
/// unless told to, and borders would cost ten times their bytes.
///
/// Source: East Asian Width and general category of Unicode 5 (from Armenian to Thai and for signs,
/// 3.2) and 17, and `wcwidth` of glibc 2.36, compared; chosen by eye.
const AGREED: [(u32, u32); 63] = [
    (0x0020, 0x007e),
    (0x00a0, 0x00ac),
    (0x00ae, 0x02ff),
    // Combining marks, no column of their own.
    (0x0300, 0x034e),
    (0x0350, 0x036f),
    (0x0370, 0x0377),
    (0x037a, 0x037e),
    (0x0384, 0x038a),
    (0x038e, 0x03a1),
    (0x03a3, 0x0482),
    (0x048a, 0x0513),
    // Armenian, Hebrew and Arabic with their marks, Thai but for U+0E33, Georgian.
    (0x0531, 0x0556),
    (0x0559, 0x055f),
    (0x0561, 0x0587),
    (0x0589, 0x058a),
    (0x05b0, 0x05b9),
    (0x05bb, 0x05c3),
    (0x05d0, 0x05ea),
    (0x05f0, 0x05f4),
    (0x060c, 0x060c),
    (0x061b, 0x061b),
    (0x061f, 0x061f),
    (0x0621, 0x063a),
    (0x0640, 0x0655),
    (0x0660, 0x066d),
    (0x0670, 0x06d5),
    (0x06f0, 0x06fe),
    (0x0e01, 0x0e32),
    (0x0e34, 0x0e3a),
    (0x0e3f, 0x0e5b),
    (0x10d0, 0x10f8),
    (0x1e00, 0x1eff),
    (0x1f00, 0x1f15),
    (0x2010, 0x2027),
    (0x2030, 0x205e),
    (0x20a0, 0x20b5),
    (0x2190, 0x21ff),
    (0x2200, 0x22ff),
    (0x2300, 0x2319),
    (0x231c, 0x2327),
    (0x232b, 0x23ce),
    (0x2500, 0x25fc),
    (0x2605, 0x2606),
    (0x2713, 0x2713),
    (0x2715, 0x2715),
    (0x2717, 0x271c),
    (0x2722, 0x2727),
    (0x2729, 0x2732),
    (0x2758, 0x275e),
    (0x2765, 0x2794),
    (0x2798, 0x27a0),
    (0x27a2, 0x27af),
    (0x2800, 0x28ff),
    (0x3001, 0x3029),
    (0x3041, 0x3096),
    (0x30a1, 0x30fa),
    (0x30fc, 0x30fe),
    (0x3105, 0x312c),
    (0x3400, 0x4db5),
    (0x4e00, 0x9fa5),
    (0xac00, 0xd7a3),
    (0xff01, 0xff60),
    (0xffe0, 0xffe6),
];

/// Returns true if `character` takes the same number of columns everywhere.
pub(super) fn is_agreed(character: char) -> bool {
    let code = u32::from(character);
    if code < 0x7f {
        return code >= 0x20;
    }
    AGREED
        .binary_search_by(|&(first, last)| {
            if last < code {
                std::cmp::Ordering::Less
            } else if first > code {
                std::cmp::Ordering::Greater
            } else {
                std::cmp::Ordering::Equal
            }
        })
        .is_ok()
}

/// Returns true if `character` takes no column anywhere, although it may change how the one before it looks:
/// the joiner of emoji, and the choice between text and emoji.
pub(super) fn is_joiner(character: char) -> bool {
    matches!(character, '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::continues;
    use crate::width::char_columns;

    #[test]
    fn the_ranges_are_in_order() {
        assert!(AGREED.iter().all(|(first, last)| first <= last));
        assert!(AGREED.windows(2).all(|pair| pair[0].1 < pair[1].0));
    }

    /// Neighbours are drawn without a movement between them only if both are agreed.
    #[test]
    fn agreed_characters_of_two_cells_are_never_one_cluster() {
        let bases = AGREED.iter().flat_map(|&(first, last)| first..=last);
        for c in bases
            .filter_map(char::from_u32)
            .filter(|&c| char_columns(c) > 0)
        {
            let mut buffer = [0; 4];
            assert!(!continues("한", c) && !continues("e", c), "{c:?}");
            assert!(!continues(c.encode_utf8(&mut buffer), 'e'), "{c:?}");
        }
    }

    #[test]
    fn letters_are_agreed_and_emoji_are_not() {
        for character in [
            'a', 'é', 'Ж', '─', '你', 'あ', '한', '\u{301}', 'ש', 'م', 'ก', '\u{e31}', '❯', '✓',
        ] {
            assert!(is_agreed(character), "{character}");
        }
        for character in [
            '👩', '✔', '❤', '\u{e33}', 'ক', '\u{200d}', '\u{fe0f}', '\u{e0b0}', '⌚', '\u{ad}',
            '\u{7f}',
        ] {
            assert!(!is_agreed(character), "{character:?}");
        }
    }
}
