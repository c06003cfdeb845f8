//! Shell command lines: cutting one into words, and quoting a word for one.
//!
//! Source: docs/protocol.md §2.2, §2.3.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

/// A quote that is not closed, or a backslash with nothing behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a quote is not closed, or a backslash stands at the end")]
pub struct UnclosedQuote;

/// Cuts a command line into words as a shell does, without expanding anything: blanks part words,
/// `'` and `"` hold them together, `\` takes the meaning from any character outside of `'…'`. No
/// other character means anything, also not `#`, `$` or `;`.
///
/// # Errors
///
/// When the line is not finished.
pub fn split(line: &OsStr) -> Result<Vec<OsString>, UnclosedQuote> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut rest = line.as_bytes().iter().copied();
    while let Some(byte) = rest.next() {
        match (byte, quote) {
            (b'\'' | b'"', None) => {
                quote = Some(byte);
                // Two quotes with nothing between are a word, too.
                word.get_or_insert_default();
            }
            (_, Some(open)) if byte == open => quote = None,
            (b'\\', None | Some(b'"')) => {
                let escaped = rest.next().ok_or(UnclosedQuote)?;
                word.get_or_insert_default().push(escaped);
            }
            (_, None) if is_blank(byte) => words.extend(word.take()),
            _ => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    match quote {
        None => Ok(words.into_iter().map(OsString::from_vec).collect()),
        Some(_) => Err(UnclosedQuote),
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C)
}

/// Returns `word` in single quotes, so that a POSIX shell reads exactly it.
pub fn quoted(word: &OsStr) -> OsString {
    let mut quoted = Vec::with_capacity(word.len() + 2);
    quoted.push(b'\'');
    for &byte in word.as_bytes() {
        match byte {
            b'\'' => quoted.extend_from_slice(br"'\''"),
            other => quoted.push(other),
        }
    }
    quoted.push(b'\'');
    OsString::from_vec(quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Option<Vec<String>> {
        let words = split(OsStr::new(line)).ok()?;
        let texts = words.into_iter().map(|word| word.into_string().unwrap());
        Some(texts.collect())
    }

    #[test]
    fn a_line_is_cut_as_by_a_shell() {
        for (line, wanted) in [
            ("", &[] as &[&str]),
            (" \t\n", &[]),
            ("  ssh  -p 22\n", &["ssh", "-p", "22"]),
            ("ssh\nx\ty", &["ssh", "x", "y"]),
            (
                "a 'b c' \"d e\" f\\ g 'h'i",
                &["a", "b c", "d e", "f g", "hi"],
            ),
            ("'' a=\"\" \"\"", &["", "a=", ""]),
            (r#""a\"b\c\\d\$e" '\'"#, &[r#"a"bc\d$e"#, "\\"]),
            (r"'a'\''b'", &["a'b"]),
            ("'\"' \"'\"", &["\"", "'"]),
            (
                "$HOME `id` ;| & # z ü",
                &["$HOME", "`id`", ";|", "&", "#", "z", "ü"],
            ),
        ] {
            let wanted: Vec<String> = wanted.iter().map(|&word| word.into()).collect();
            assert_eq!(words(line), Some(wanted), "{line:?}");
        }
    }

    #[test]
    fn an_unfinished_line_is_an_error() {
        for line in ["'a", "a \"b", "a\\", "\"a\\\"", "'a'\\'b'"] {
            assert_eq!(words(line), None, "{line:?}");
        }
    }

    #[test]
    fn what_is_quoted_is_one_word_again_whatever_it_holds() {
        assert_eq!(quoted(OsStr::new("it's")), r"'it'\''s'");
        let all_bytes: Vec<u8> = (1..=255).collect();
        for word in [&all_bytes[..], b"", b"'", b"a'b\n\\"] {
            let word = OsStr::from_bytes(word);
            assert_eq!(split(&quoted(word)).unwrap(), [word]);
        }
    }
}
