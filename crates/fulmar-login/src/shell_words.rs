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

/// A command line that is still being typed, as far as the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenLine {
    /// The words before the last one.
    pub words: Vec<OsString>,
    /// The word at the cursor, without its quotes; empty behind a blank.
    pub last: OsString,
    /// The quote that is not closed yet.
    pub quote: Option<u8>,
    /// The length of the beginning of `last` that a shell leaves as it is when it completes the rest, in bytes.
    pub kept: usize,
}

/// Characters that readline replaces with what follows them, although they part words.
///
/// Source: seen of bash 5.2; the manual of readline, "rl_special_prefixes".
const TAKEN_ALONG: [u8; 2] = *b"@$";

/// Cuts a line that is still being typed into words, by the rules of [`split`]. A shell completes what follows the
/// last of the characters `breaks` that is not quoted, or the quote that is open.
pub fn split_open(line: &OsStr, breaks: &[u8]) -> OpenLine {
    let mut words = Vec::new();
    let mut last: Option<Vec<u8>> = None;
    let (mut quote, mut kept, mut kept_before_quote) = (None, 0, 0);
    let mut rest = line.as_bytes().iter().copied();
    while let Some(byte) = rest.next() {
        match (byte, quote) {
            (b'\'' | b'"', None) => {
                quote = Some(byte);
                kept_before_quote = kept;
                kept = last.get_or_insert_default().len();
            }
            (_, Some(open)) if byte == open => {
                quote = None;
                kept = kept_before_quote;
            }
            (b'\\', None | Some(b'"')) => last.get_or_insert_default().extend(rest.next()),
            (_, None) if is_blank(byte) => {
                words.extend(last.take());
                kept = 0;
            }
            _ => {
                let word = last.get_or_insert_default();
                word.push(byte);
                if quote.is_none() && breaks.contains(&byte) {
                    kept = word.len() - usize::from(TAKEN_ALONG.contains(&byte));
                }
            }
        }
    }
    OpenLine {
        words: words.into_iter().map(OsString::from_vec).collect(),
        last: OsString::from_vec(last.unwrap_or_default()),
        quote,
        kept,
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

    #[test]
    fn of_a_line_that_is_being_typed_the_last_word_is_told_apart() {
        for (line, words, last, quote, kept) in [
            ("", &[] as &[&str], "", None, 0),
            ("fulmar", &[], "fulmar", None, 0),
            ("fulmar ", &["fulmar"], "", None, 0),
            ("a 'b c' d\\ e", &["a", "b c"], "d e", None, 0),
            ("a ada@h:x", &["a"], "ada@h:x", None, 6),
            ("a ada@h", &["a"], "ada@h", None, 3),
            ("a --predict=al", &["a"], "--predict=al", None, 10),
            ("a h:'b c", &["a"], "h:b c", Some(b'\''), 2),
            ("a \"h:b", &["a"], "h:b", Some(b'"'), 0),
            ("a 'h:b'c", &["a"], "h:bc", None, 0),
            ("a h:'b c'", &["a"], "h:b c", None, 2),
            ("a h\\:b", &["a"], "h:b", None, 0),
            ("a b\\", &["a"], "b", None, 0),
        ] {
            let wanted = OpenLine {
                words: words.iter().map(OsString::from).collect(),
                last: last.into(),
                quote,
                kept,
            };
            assert_eq!(split_open(OsStr::new(line), b"@=:"), wanted, "{line:?}");
        }
    }

    #[test]
    fn whatever_is_typed_the_kept_part_is_within_the_word() {
        let bytes = b"a '\"\\:=";
        for number in 0..bytes.len().pow(4) {
            let digits = [1, 7, 49, 343].map(|place| bytes[number / place % bytes.len()]);
            let open = split_open(OsStr::from_bytes(&digits), b":=");
            assert!(open.kept <= open.last.len(), "{digits:?}");
        }
    }
}
