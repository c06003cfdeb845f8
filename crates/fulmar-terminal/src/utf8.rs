//! UTF-8, one code point at a time, from input that may be cut anywhere.
//!
//! Bad bytes become one U+FFFD for each maximal ill-formed part, as Unicode recommends.

/// The start of some bytes as a code point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decoded {
    /// A code point and the number of its bytes.
    Char(char, usize),
    /// So many bytes that belong together and are none.
    Invalid(usize),
    /// More bytes are needed to tell; also for no bytes.
    Incomplete,
}

/// Decodes the first code point of `bytes`.
pub(crate) fn decode(bytes: &[u8]) -> Decoded {
    match bytes {
        [] => Decoded::Incomplete,
        [byte @ 0..0x80, ..] => Decoded::Char(char::from(*byte), 1),
        _ => decode_long(bytes.get(..4).unwrap_or(bytes)),
    }
}

fn decode_long(bytes: &[u8]) -> Decoded {
    // The first chunk holds everything valid before the first bad part.
    let Some(chunk) = bytes.utf8_chunks().next() else {
        return Decoded::Incomplete;
    };
    match chunk.valid().chars().next() {
        Some(c) => Decoded::Char(c, c.len_utf8()),
        None if is_incomplete(chunk.invalid()) && chunk.invalid().len() == bytes.len() => {
            Decoded::Incomplete
        }
        None => Decoded::Invalid(chunk.invalid().len()),
    }
}

/// Returns true if more bytes could make a code point of `bytes`.
fn is_incomplete(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

/// The first bytes of a code point whose last are still to come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Partial {
    bytes: [u8; 4],
    length: usize,
}

impl Partial {
    /// Keeps `bytes` if more of them could make a code point, and returns whether so.
    pub(crate) fn keep(&mut self, bytes: &[u8]) -> bool {
        let incomplete = is_incomplete(bytes);
        if incomplete && let Some(kept) = self.bytes.get_mut(..bytes.len()) {
            kept.copy_from_slice(bytes);
            self.length = bytes.len();
        }
        incomplete
    }

    /// Goes on with `next`. Returns `None` if nothing was kept; else the code point, unless it is
    /// still incomplete, and the bytes of `next` that are not part of it.
    pub(crate) fn complete<'a>(&mut self, next: &'a [u8]) -> Option<(Option<char>, &'a [u8])> {
        if self.length == 0 || next.is_empty() {
            return None;
        }
        let held = self.length;
        let added = next.len().min(self.bytes.len() - held);
        self.bytes[held..held + added].copy_from_slice(&next[..added]);
        let (code_point, length) = match decode(&self.bytes[..held + added]) {
            Decoded::Char(c, length) => (Some(c), length),
            Decoded::Invalid(length) => (Some('\u{fffd}'), length),
            Decoded::Incomplete => (None, held + added),
        };
        self.length = if code_point.is_some() { 0 } else { length };
        Some((code_point, &next[length.saturating_sub(held)..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode_all(mut bytes: &[u8]) -> String {
        let mut text = String::new();
        loop {
            let (c, length) = match decode(bytes) {
                Decoded::Char(c, length) => (c, length),
                Decoded::Invalid(length) => ('\u{fffd}', length),
                Decoded::Incomplete => break,
            };
            text.push(c);
            bytes = &bytes[length..];
        }
        if !bytes.is_empty() {
            text.push('\u{fffd}');
        }
        text
    }

    #[test]
    fn bad_bytes_become_marks_as_the_standard_library_does_it() {
        let samples: [&[u8]; 9] = [
            b"A\xf0\x80\x80\xafB",
            b"A\xc0\x80B",
            b"A\xed\xa0\x80B\xed\xbf\xbfC",
            b"A\xf4\x90\x80\x80B",
            b"caf\xe9 \xfc\xber",
            b"\xe6\xbcA",
            b"\xf0\x9f\x98A",
            b"\xe6\xbc",
            b"\xff\xfe\x80\x9b",
        ];
        for sample in samples {
            assert_eq!(
                decode_all(sample),
                String::from_utf8_lossy(sample),
                "{sample:x?}"
            );
        }
    }

    #[test]
    fn a_cut_code_point_is_completed_or_given_up() {
        let mut partial = Partial::default();
        assert_eq!(partial.complete(b"x"), None);
        assert!(partial.keep(b"\xf0"));
        assert_eq!(partial.complete(b"\x9f"), Some((None, &b""[..])));
        assert_eq!(partial.complete(b"\x98"), Some((None, &b""[..])));
        assert_eq!(partial.complete(b"\x80z"), Some((Some('😀'), &b"z"[..])));
        assert!(partial.keep(b"\xe6\xbc"));
        assert_eq!(
            partial.complete(b"Az"),
            Some((Some('\u{fffd}'), &b"Az"[..]))
        );
        assert_eq!(partial.complete(b"x"), None);
        assert!(!partial.keep(b"\xff"));
    }
}
