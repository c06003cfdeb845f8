//! A text that a program has put on the clipboard.

use std::sync::Arc;

/// The most base64 that a clipboard write may have, in bytes.
///
/// Source: docs/threat-model.md §6.
pub(crate) const CLIPBOARD_BYTES_MAX: usize = 128 * 1024;

/// The text of a write, in base64, and which write of the screen it was: the first has number 1.
///
/// A text that is written twice is two writes, since the user may have put another on the clipboard in between. Two are equal
/// if their texts are: whoever is told of several writes at once counts one.
#[derive(Clone, Debug)]
pub(crate) struct ClipboardWrite {
    pub(crate) text: Arc<str>,
    pub(crate) number: u64,
}

impl Default for ClipboardWrite {
    fn default() -> ClipboardWrite {
        ClipboardWrite {
            text: "".into(),
            number: 0,
        }
    }
}

impl PartialEq for ClipboardWrite {
    fn eq(&self, other: &ClipboardWrite) -> bool {
        self.text == other.text
    }
}

impl Eq for ClipboardWrite {}
