//! Tells base64 from other text.

use data_encoding::BASE64;

/// Returns true if an encoder of base64 may have written `text`: padded, in one piece, and without bits that
/// are left over and set. Terminals do not agree on what to make of anything else.
///
/// Source: RFC 4648 §3.5, §4; docs/threat-model.md §8.
pub(crate) fn is_base64(text: &str) -> bool {
    // The library takes several such texts behind one another, too.
    let is_one = text
        .find('=')
        .is_none_or(|padding| text.len() - padding <= 2);
    is_one && BASE64.decode(text.as_bytes()).is_ok()
}
