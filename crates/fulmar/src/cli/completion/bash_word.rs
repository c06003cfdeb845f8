//! The word at the cursor as bash sees it: a part stays as it is, and the rest is replaced.

use fulmar_login::shell_words::OpenLine;

/// The characters that mean something to bash. A tilde does not where our words have one, which is behind a colon.
///
/// Source: POSIX.1-2017, Shell Command Language, section 2.2, and bash(1), "History Expansion".
const SPECIAL: &str = "|&;<>()$`\\\"' *?[]#=%!{}^";

/// The part of a word that bash keeps, and the quote that is open.
pub(super) struct BashWord {
    kept: usize,
    quote: Option<u8>,
}

impl BashWord {
    /// Returns the word at the end of a line.
    pub(super) fn of(line: &OpenLine) -> BashWord {
        BashWord {
            kept: line.kept,
            quote: line.quote,
        }
    }

    /// Returns what replaces the rest of the word so that it is `word`, with a blank if nothing else can follow.
    pub(super) fn completed(&self, word: &str) -> Option<String> {
        let rest = word.get(self.kept..)?;
        Some(match self.quote {
            // Readline closes the quote.
            Some(b'\'') if rest.contains('\'') => return None,
            Some(b'\'') => rest.to_owned(),
            Some(_) => escaped(rest, "\"$`\\!"),
            None if super::words::is_complete(word) => escaped(rest, SPECIAL) + " ",
            None => escaped(rest, SPECIAL),
        })
    }
}

fn escaped(text: &str, special: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if special.contains(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use fulmar_login::shell_words::split_open;

    use super::*;

    fn completed(line: &str, word: &str) -> Option<String> {
        BashWord::of(&split_open(OsStr::new(line), b"@=:")).completed(word)
    }

    #[test]
    fn only_what_bash_replaces_is_written_and_quoted_as_it_has_to_be() {
        for (line, word, wanted) in [
            ("fulmar --pre", "--predict", "--predict "),
            ("fulmar --predict=al", "--predict=always", "always "),
            ("fulmar wal", "walrus:", "walrus:"),
            ("fulmar ada@wal", "ada@walrus", "@walrus "),
            ("fulmar cp h:~/a", "h:~/ab", "~/ab "),
            ("fulmar cp h:di", "h:dir/", "dir/"),
            ("fulmar cp h:a", "h:a b$", "a\\ b\\$ "),
            ("fulmar cp 'h:a", "h:a b", "h:a b"),
            ("fulmar cp h:\"a", "h:a $b", "a \\$b"),
        ] {
            assert_eq!(completed(line, word).as_deref(), Some(wanted), "{line}");
        }
        assert_eq!(completed("fulmar cp 'h:it", "h:it's"), None);
        assert_eq!(completed("fulmar cp host:", "x"), None);
    }
}
