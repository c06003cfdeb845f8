//! Values of any bytes, in lines of printable ASCII.

use percent_encoding::{AsciiSet, CONTROLS, percent_decode, percent_encode};

/// The characters that are written as `%XX`, beside all that is not ASCII.
const ENCODED: &AsciiSet = &CONTROLS.add(b'%');

/// Appends `value` with `%`, control characters and all that is not ASCII as `%XX`.
pub(crate) fn encode(value: &[u8], out: &mut Vec<u8>) {
    out.extend(percent_encode(value, ENCODED).flat_map(str::bytes));
}

/// Returns the value that a text stands for. `None` for a `%` without two hexadecimal digits, for
/// anything that is not printable ASCII, and for a value with a zero byte, which neither an argument
/// nor a variable can have.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let is_printable = text.iter().all(|byte| (0x20..0x7F).contains(byte));
    // The library leaves a `%` without digits as it is.
    let mut behind_signs = text.split(|&byte| byte == b'%').skip(1);
    let has_digits = behind_signs.all(|behind| {
        matches!(behind, [high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
    });
    let value: Vec<u8> = percent_decode(text).collect();
    (is_printable && has_digits && !value.contains(&0)).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(value: &[u8]) -> Vec<u8> {
        let mut text = Vec::new();
        encode(value, &mut text);
        text
    }

    #[test]
    fn what_a_line_cannot_hold_is_written_as_digits() {
        assert_eq!(encoded(b"a b-'\"\\$"), b"a b-'\"\\$");
        assert_eq!(encoded(b"100%\n\x1b\x7f"), b"100%25%0A%1B%7F");
        assert_eq!(encoded("ü".as_bytes()), b"%C3%BC");
        assert_eq!(decode(b"%c3%BC").as_deref(), Some("ü".as_bytes()));
    }

    #[test]
    fn other_texts_stand_for_nothing() {
        for bad in [
            &b"%"[..],
            b"%4",
            b"%4x",
            b"%x4",
            b"%00",
            b"%+4",
            b"\t",
            b"\xC3\xBC",
        ] {
            assert_eq!(decode(bad), None, "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn any_value_comes_back(value in prop::collection::vec(1_u8.., 0..100)) {
            let text = encoded(&value);
            prop_assert!(text.iter().all(|byte| (0x20..0x7F).contains(byte)));
            prop_assert_eq!(decode(&text), Some(value));
        }

        #[test]
        fn any_text_is_read_without_a_fault(text in prop::collection::vec(any::<u8>(), 0..100)) {
            decode(&text);
        }
    }
}
