//! A short text that goes with a goodbye.

/// The most bytes of it.
///
/// Source: docs/threat-model.md §6. Longer than any address with a zone.
const BYTES_MAX: usize = 64;

/// A short text without control characters, beside the number that goes with a goodbye.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FarewellWords {
    bytes: [u8; BYTES_MAX],
    length: usize,
}

impl FarewellWords {
    /// Returns that text; `None` if it is empty, longer than 64 bytes, or has control characters.
    pub fn new(text: &str) -> Option<FarewellWords> {
        let is_plain = !text.is_empty() && !text.chars().any(char::is_control);
        let mut bytes = [0; BYTES_MAX];
        bytes
            .get_mut(..text.len())
            .filter(|_| is_plain)?
            .copy_from_slice(text.as_bytes());
        Some(FarewellWords {
            bytes,
            length: text.len(),
        })
    }

    /// Reads what a peer has sent, under the same conditions.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<FarewellWords> {
        FarewellWords::new(std::str::from_utf8(bytes).ok()?)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_64_bytes_is_kept_and_one_above_is_not() {
        let text = "é".repeat(BYTES_MAX / 2);
        let words = FarewellWords::from_bytes(text.as_bytes()).unwrap();
        assert_eq!(words.as_str(), text);
        assert_eq!(FarewellWords::new(&format!("{text}x")), None);
    }

    #[test]
    fn what_could_command_a_terminal_is_not_taken() {
        for text in ["", "a\x1b[2J", "a\nb", "a\u{9b}b"] {
            assert_eq!(FarewellWords::new(text), None, "{text:?}");
        }
        assert_eq!(FarewellWords::from_bytes(b"a\xffb"), None);
    }
}
