//! Single keys among typed bytes.

/// A key, or the release of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyEvent<'a> {
    /// The bytes that were typed.
    pub(crate) text: &'a [u8],
    /// The byte that the key types where programs ask for no other form of keys, if it is one.
    pub(crate) byte: Option<u8>,
    /// The number of the key on the keyboard, whatever is held with it, if the terminal tells it.
    pub(crate) code: Option<u32>,
    /// True if the key was let go.
    pub(crate) is_release: bool,
    /// True if it only changes others: Shift, Control and the like, by itself.
    pub(crate) is_modifier: bool,
}

/// The modifiers of a key: shift is 1, and these.
const CONTROL: u16 = 4;
/// Alt, super, hyper and meta. Locks are left out: 64 and 128.
const OTHERS: u16 = 2 | 8 | 16 | 32;
const SHIFT: u16 = 1;

/// The numbers of keys that change others.
const MODIFIERS: std::ops::RangeInclusive<u32> = 57_441..=57_454;

/// The ends of sequences of keys that type no text: arrows, Home, End, F1 to F4, and those with a number.
const FUNCTIONS: &[u8] = b"ABCDEFHPQS~";

/// Splits what was typed. With `is_encoded`, a whole sequence of a key is one key: what is cut in two by a read is bytes as any other.
///
/// Source: kitty's keyboard protocol.
pub(crate) fn key_events(bytes: &[u8], is_encoded: bool) -> impl Iterator<Item = KeyEvent<'_>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let encoded = if is_encoded { encoded_key(rest) } else { None };
        let event = encoded.or_else(|| {
            let text = rest.get(..1)?;
            Some(KeyEvent {
                text,
                byte: text.first().copied(),
                code: None,
                is_release: false,
                is_modifier: false,
            })
        })?;
        rest = rest.get(event.text.len()..).unwrap_or_default();
        Some(event)
    })
}

/// Reads `CSI code : shifted : base ; modifiers : event ; text u` at the beginning, or the same with another end, which
/// means a key by itself or with its number.
fn encoded_key(bytes: &[u8]) -> Option<KeyEvent<'_>> {
    let body = bytes.strip_prefix(b"\x1b[")?;
    let length = body
        .iter()
        .position(|byte| !matches!(byte, b'0'..=b'9' | b':' | b';'))?;
    let sequence = std::str::from_utf8(body.get(..length)?).ok()?;
    let is_text_key = match body.get(length)? {
        b'u' => true,
        last if FUNCTIONS.contains(last) => false,
        _ => return None,
    };
    let mut fields = sequence.split(';');
    let mut keys = fields.next()?.split(':').map(str::parse::<u32>);
    let mut modifiers = fields
        .next()
        .unwrap_or("1")
        .split(':')
        .map(str::parse::<u16>);
    // One more than the bits of those that are held.
    let held = modifiers.next()?.unwrap_or(1).checked_sub(1)?;
    let event = modifiers.next().and_then(Result::ok);
    let key = KeyEvent {
        text: bytes.get(..b"\x1b[".len() + length + 1)?,
        byte: None,
        code: None,
        is_release: event == Some(3),
        is_modifier: false,
    };
    if !is_text_key {
        return Some(key);
    }
    let code = keys.next()?.ok()?;
    let shifted = keys.next().and_then(Result::ok);
    let typed = fields.next().and_then(|text| text.parse().ok());
    Some(KeyEvent {
        byte: legacy_byte(code, shifted, typed, held),
        code: Some(code),
        is_modifier: MODIFIERS.contains(&code),
        ..key
    })
}

/// Returns the one byte that a key types in the old form, if that is known: what Shift makes of a key that is no letter depends on
/// the keyboard, so the terminal has to tell it (`shifted`), or the text (`typed`).
fn legacy_byte(code: u32, shifted: Option<u32>, typed: Option<u32>, held: u16) -> Option<u8> {
    let ascii = |code: u32| u8::try_from(code).ok().filter(u8::is_ascii);
    let key = ascii(code)?;
    if held & OTHERS != 0 {
        return None;
    }
    if held & CONTROL != 0 {
        return match key {
            b'a'..=b'z' | b'@'..=b'_' => Some(key & 0x1f),
            // As xterm and those after it have it.
            b'6' => Some(0x1e),
            b'/' | b'-' | b'7' => Some(0x1f),
            b' ' | b'2' => Some(0),
            _ => None,
        };
    }
    match (typed, shifted) {
        (Some(typed), _) => ascii(typed),
        _ if held & SHIFT == 0 => Some(key),
        (None, Some(shifted)) => ascii(shifted),
        (None, None) => match key {
            b'a'..=b'z' => Some(key.to_ascii_uppercase()),
            // The same with Shift on every keyboard.
            b'\0'..=b' ' | 0x7f => Some(key),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn only(bytes: &[u8]) -> (Option<u8>, bool) {
        let events: Vec<_> = key_events(bytes, true).collect();
        let [event] = events.as_slice() else {
            panic!("{events:?}");
        };
        assert_eq!(event.text, bytes);
        (event.byte, event.is_release)
    }

    #[test]
    fn a_key_in_the_new_form_is_the_byte_of_the_old() {
        for (typed, byte) in [
            (&b"\x1b[94;5u"[..], Some(0x1e)),
            (b"\x1b[54;6u", Some(0x1e)),
            (b"\x1b[54:94;6:1u", Some(0x1e)),
            (b"\x1b[122;5u", Some(0x1a)),
            (b"\x1b[46u", Some(b'.')),
            (b"\x1b[47:63;2u", Some(b'?')),
            (b"\x1b[97;2u", Some(b'A')),
            (b"\x1b[46;2u", None),
            (b"\x1b[46;2;62u", Some(b'>')),
            (b"\x1b[47;2;63u", Some(b'?')),
            (b"\x1b[252:220;2u", None),
            (b"\x1b[97;65;65u", Some(b'A')),
            (b"\x1b[32;2u", Some(b' ')),
            (b"\x1b[A", None),
            (b"\x1b[1;5D", None),
            (b"\x1b[3;2~", None),
            (b"\x1b[97;69u", Some(1)),
            (b"\x1b[13u", Some(b'\r')),
            (b"\x1b[120;3u", None),
            (b"\x1b[57441;2u", None),
        ] {
            assert_eq!(only(typed), (byte, false), "{typed:?}");
        }
        assert_eq!(only(b"\x1b[46;1:3u"), (Some(b'.'), true));
        assert_eq!(only(b"\x1b[1;1:3A"), (None, true));
        assert_eq!(only(b"\x1b[3;1:3~"), (None, true));
    }

    #[test]
    fn without_that_form_every_byte_is_a_key() {
        assert_eq!(key_events(b"\x1b[94;5u", false).count(), 7);
        // Another function, the beginning of one, and numbers that are none.
        for bytes in [
            &b"\x1b[5m"[..],
            b"\x1b[94;5",
            b"\x1b[u",
            b"\x1b[;5u",
            b"\x1b[99999999999u",
            b"\x1b[1;0u",
        ] {
            assert_eq!(key_events(bytes, true).count(), bytes.len(), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_typed_is_lost(bytes in "[\x1b\\[0-9;:ua~A]{0,40}") {
            let bytes = bytes.as_bytes();
            let typed: Vec<u8> = key_events(bytes, true).flat_map(|event| event.text).copied().collect();
            prop_assert_eq!(typed, bytes);
        }
    }
}
