//! Values of any bytes, in lines of printable ASCII.

/// Appends `value` with `%`, control characters and all that is not ASCII as `%XX`.
pub(super) fn encode(value: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let digit = |number: u8| DIGITS.get(usize::from(number)).copied().unwrap_or(b'0');
    for &byte in value {
        match byte {
            b'%' | 0..0x20 | 0x7F.. => out.extend([b'%', digit(byte >> 4), digit(byte & 15)]),
            plain => out.push(plain),
        }
    }
}

/// Returns the value that a text stands for. `None` for a `%` without two hexadecimal digits, for
/// anything that is not printable ASCII, and for a value with a zero byte, which neither an argument
/// nor a variable can have.
pub(super) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut value = Vec::with_capacity(text.len());
    let mut rest = text.iter();
    while let Some(&byte) = rest.next() {
        value.push(match byte {
            b'%' => match digit(*rest.next()?)? << 4 | digit(*rest.next()?)? {
                0 => return None,
                byte => byte,
            },
            0x20..0x7F => byte,
            _ => return None,
        });
    }
    Some(value)
}

fn digit(character: u8) -> Option<u8> {
    char::from(character)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
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
