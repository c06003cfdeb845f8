//! The text of control strings, collected within bounds.

/// The longest OSC 52, which carries the clipboard, in bytes.
///
/// Source: docs/threat-model.md §6.
pub(crate) const CLIPBOARD_STRING_MAX: usize = 128 * 1024;

/// The longest other string, in bytes.
///
/// Source: docs/threat-model.md §6.
pub(crate) const STRING_MAX: usize = 4 * 1024;

/// The start of a string that may be longer than others.
const CLIPBOARD_PREFIX: &str = "52;";

/// Collects the text of one string at a time. One that is too long is dropped as a whole.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strings {
    text: String,
    too_long: bool,
}

impl Strings {
    /// Begins a string.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.too_long = false;
    }

    /// Adds to the string.
    pub(crate) fn push(&mut self, c: char) {
        if self.too_long {
            return;
        }
        let length = self.text.len() + c.len_utf8();
        if length > STRING_MAX
            && (length > CLIPBOARD_STRING_MAX || !self.text.starts_with(CLIPBOARD_PREFIX))
        {
            self.too_long = true;
            self.text = String::new();
        } else {
            self.text.push(c);
        }
    }

    /// Adds ASCII to the string.
    pub(crate) fn push_str(&mut self, text: &str) {
        // How long it may be is decided by how it begins.
        let (beginning, rest) = text.split_at(CLIPBOARD_PREFIX.len().min(text.len()));
        beginning.chars().for_each(|c| self.push(c));
        if self.too_long || rest.is_empty() {
            return;
        }
        let is_clipboard = self.text.starts_with(CLIPBOARD_PREFIX);
        let max = if is_clipboard {
            CLIPBOARD_STRING_MAX
        } else {
            STRING_MAX
        };
        if self.text.len() + rest.len() > max {
            self.too_long = true;
            self.text = String::new();
        } else {
            self.text.push_str(rest);
        }
    }

    /// Ends the string: calls `take` with it unless it was too long.
    pub(crate) fn with_text(&mut self, take: impl FnOnce(&str)) {
        if !self.too_long {
            take(&self.text);
        }
        self.text.clear();
        self.text.shrink_to(STRING_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_kept_alike_in_one_piece_and_in_many() {
        for prefix in ["2;", "52;", "52;c;", "5", ""] {
            for length in [
                0,
                1,
                3,
                STRING_MAX,
                STRING_MAX + 1,
                CLIPBOARD_STRING_MAX,
                CLIPBOARD_STRING_MAX + 1,
            ] {
                let text = format!(
                    "{prefix}{}",
                    "x".repeat(length.saturating_sub(prefix.len()))
                );
                for cut in [0, 1, 2, 4, text.len() / 2, text.len()] {
                    let (mut whole, mut pieces) = (Strings::default(), Strings::default());
                    text.chars().for_each(|c| whole.push(c));
                    let (first, second) = text.split_at(cut.min(text.len()));
                    pieces.push_str(first);
                    pieces.push_str(second);
                    assert_eq!(
                        (whole.too_long, &whole.text),
                        (pieces.too_long, &pieces.text)
                    );
                }
            }
        }
    }

    fn kept(prefix: &str, length: usize) -> Option<usize> {
        let mut strings = Strings::default();
        prefix.chars().for_each(|c| strings.push(c));
        (prefix.len()..length).for_each(|_| strings.push('x'));
        let mut kept = None;
        strings.with_text(|text| kept = Some(text.len()));
        assert!(strings.text.capacity() <= STRING_MAX);
        kept
    }

    #[test]
    fn a_string_at_its_cap_is_kept_and_one_above_is_dropped() {
        assert_eq!(kept("2;", STRING_MAX), Some(STRING_MAX));
        assert_eq!(kept("2;", STRING_MAX + 1), None);
        assert_eq!(
            kept("52;c;", CLIPBOARD_STRING_MAX),
            Some(CLIPBOARD_STRING_MAX)
        );
        assert_eq!(kept("52;c;", CLIPBOARD_STRING_MAX + 1), None);
    }
}
