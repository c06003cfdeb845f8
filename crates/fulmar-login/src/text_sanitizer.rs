//! Text of ssh's on its way to the user, in characters that no terminal obeys.

use crate::text::needs_escape;

/// The longest part of a character, or of a line's end, that waits for the rest of it.
///
/// Source: RFC 3629 §3.
const HELD_BYTES_MAX: usize = 4;

/// Makes text that may come in pieces harmless. Ends of lines and tabs stay, other control characters
/// are spelled out, and what is no UTF-8 becomes U+FFFD.
#[derive(Debug, Default)]
pub(crate) struct TextSanitizer {
    /// The beginning of a character, or a carriage return that may belong to an end of line.
    held: Vec<u8>,
}

impl TextSanitizer {
    /// Takes the next piece, and returns what can be shown by now.
    pub(crate) fn take(&mut self, piece: &[u8]) -> String {
        let mut bytes = std::mem::take(&mut self.held);
        bytes.extend_from_slice(piece);
        let end = whole_bytes(&bytes);
        self.held = bytes.split_off(end);
        text(&bytes)
    }

    /// Returns the rest, of which the end has not come.
    pub(crate) fn finish(&mut self) -> String {
        text(&std::mem::take(&mut self.held))
    }
}

/// Returns how many bytes can be judged without knowing what follows.
fn whole_bytes(bytes: &[u8]) -> usize {
    if bytes.ends_with(b"\r") {
        return bytes.len() - 1;
    }
    let last = bytes.utf8_chunks().last();
    let broken = last.map_or(0, |chunk| chunk.invalid().len());
    let tail = bytes.get(bytes.len() - broken..).unwrap_or_default();
    // An error that ends with the text may be half a character.
    let is_begun = broken < HELD_BYTES_MAX
        && str::from_utf8(tail).is_err_and(|error| error.error_len().is_none());
    if is_begun {
        bytes.len() - broken
    } else {
        bytes.len()
    }
}

fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\r' if rest.peek() == Some(&'\n') => {}
            '\n' | '\t' => shown.push(character),
            _ if needs_escape(character) => shown.extend(character.escape_default()),
            _ => shown.push(character),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> String {
        let mut shown = TextSanitizer::default();
        let mut text: String = pieces.into_iter().map(|piece| shown.take(piece)).collect();
        text += &shown.finish();
        text
    }

    #[test]
    fn what_a_terminal_would_obey_is_spelled_out() {
        let text = b"\x1b]0;x\x07a\tb\r\nc\rd \xc2\x9b \xff \xe2\x82\xac\n";
        assert_eq!(
            shown([&text[..]]),
            "\\u{1b}]0;x\\u{7}a\tb\nc\\rd \\u{9b} \u{fffd} \u{20ac}\n"
        );
    }

    #[test]
    fn what_is_whole_is_shown_at_once() {
        let mut shown = TextSanitizer::default();
        assert_eq!(shown.take(b"Password: "), "Password: ");
        assert_eq!(shown.take(b"\xe2\x82"), "");
        assert_eq!(shown.take(b"\xacx\r"), "\u{20ac}x");
        assert_eq!(shown.take(b"\n"), "\n");
        assert_eq!(shown.finish(), "");
    }

    proptest! {
        #[test]
        fn where_the_text_is_cut_makes_no_difference(
            bytes in prop::collection::vec(
                prop_oneof![any::<u8>(), Just(b'\r'), Just(b'\n'), 0xC2..0xF5_u8, 0x80..0xC0_u8],
                0..40,
            ),
            at in 0..40_usize,
        ) {
            let (one, other) = bytes.split_at(at.min(bytes.len()));
            prop_assert_eq!(shown([one, other]), shown([bytes.as_slice()]));
            let each = bytes.chunks(1);
            prop_assert_eq!(shown(each), shown([bytes.as_slice()]));
        }
    }
}
