//! Rust source, split into code and comments.

/// One file's code and its comments, each as long as the file and with the other blanked out, so
/// that lines keep their numbers. The insides of string and character literals are in neither.
pub(crate) struct Source {
    pub(crate) code: String,
    pub(crate) comments: String,
}

impl Source {
    /// Splits `text`. Text that is not Rust gives something, and no panic.
    pub(crate) fn split(text: &str) -> Self {
        let mut splitter = Splitter {
            rest: text,
            source: Self::empty(text.len()),
            last: ' ',
        };
        while splitter.step() {}
        splitter.source
    }

    fn empty(capacity: usize) -> Self {
        Self {
            code: String::with_capacity(capacity),
            comments: String::with_capacity(capacity),
        }
    }
}

/// The kind of a stretch of the source.
#[derive(Clone, Copy)]
enum Kind {
    Code,
    Comment,
    Literal,
}

struct Splitter<'a> {
    rest: &'a str,
    source: Source,
    /// The last character of code, to tell `r"` from the end of a name.
    last: char,
}

impl Splitter<'_> {
    /// Takes one comment, literal or character; returns `false` at the end.
    fn step(&mut self) -> bool {
        let Some(first) = self.rest.chars().next() else {
            return false;
        };
        let (kind, length) = if self.rest.starts_with("//") {
            (
                Kind::Comment,
                self.rest.find('\n').unwrap_or(self.rest.len()),
            )
        } else if self.rest.starts_with("/*") {
            (Kind::Comment, block_comment(self.rest))
        } else if let Some(length) = self.raw_string() {
            (Kind::Literal, length)
        } else if first == '"' {
            (Kind::Literal, quoted(self.rest, '"'))
        } else if first == '\'' && is_character(self.rest) {
            (Kind::Literal, quoted(self.rest, '\''))
        } else {
            (Kind::Code, first.len_utf8())
        };
        self.take(kind, length);
        true
    }

    /// The length of the raw string that starts here, if one does.
    fn raw_string(&self) -> Option<usize> {
        if self.last.is_alphanumeric() || self.last == '_' {
            return None;
        }
        let prefix = ["r", "br", "cr"].into_iter().find(|prefix| {
            self.rest
                .strip_prefix(prefix)
                .is_some_and(|rest| rest.starts_with(['#', '"']))
        })?;
        let after_prefix = &self.rest[prefix.len()..];
        let hashes = after_prefix.len() - after_prefix.trim_start_matches('#').len();
        let inside = after_prefix[hashes..].strip_prefix('"')?;
        let end = format!("\"{}", "#".repeat(hashes));
        let length = inside.find(&end).map_or(inside.len(), |at| at + end.len());
        Some(self.rest.len() - inside.len() + length)
    }

    fn take(&mut self, kind: Kind, length: usize) {
        let (taken, rest) = self.rest.split_at(length);
        let blank: String = taken
            .chars()
            .map(|c| if c == '\n' { '\n' } else { ' ' })
            .collect();
        let (code, comments) = match kind {
            Kind::Code => (taken, blank.as_str()),
            Kind::Comment => (blank.as_str(), taken),
            Kind::Literal => (blank.as_str(), blank.as_str()),
        };
        self.source.code.push_str(code);
        self.source.comments.push_str(comments);
        self.last = code.chars().next_back().unwrap_or(' ');
        self.rest = rest;
    }
}

/// The length of the block comment at the start of `text`; they nest.
fn block_comment(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// The length of the literal at the start of `text`, up to the second `quote` that has no
/// backslash before it.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// Returns true if the quote at the start of `text` opens a character and not a lifetime.
fn is_character(text: &str) -> bool {
    let mut after = text.chars().skip(1);
    match after.next() {
        Some('\\') => true,
        Some(_) => after.next() == Some('\''),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of the code and of the comments.
    fn words(text: &str) -> (Vec<String>, Vec<String>) {
        let source = Source::split(text);
        assert_eq!(source.code.lines().count(), text.lines().count());
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        (words(&source.code), words(&source.comments))
    }

    #[test]
    fn comments_are_no_code() {
        let (code, comments) = words("a // b \"c\n/* d /* e */ f\n*/ g");
        assert_eq!(code, ["a", "g"]);
        assert_eq!(
            comments,
            ["//", "b", "\"c", "/*", "d", "/*", "e", "*/", "f", "*/"]
        );
    }

    #[test]
    fn literals_are_neither() {
        for literal in [
            r#""b // \" /*""#,
            r##"r#"b " // "#"##,
            r#"b"\\""#,
            r"'\''",
            "'\"'",
            "'é'",
        ] {
            let (code, comments) = words(&format!("a {literal} c"));
            assert_eq!(code.first().map(String::as_str), Some("a"), "{literal}");
            assert_eq!(code.last().map(String::as_str), Some("c"), "{literal}");
            assert!(comments.is_empty(), "{literal}: {comments:?}");
        }
    }

    #[test]
    fn lifetimes_and_raw_names_are_code() {
        let (code, _) = words("fn r#try<'a>(bar: &'a str) -> r#type");
        assert_eq!(
            code,
            ["fn", "r#try<'a>(bar:", "&'a", "str)", "->", "r#type"]
        );
    }

    #[test]
    fn what_never_ends_ends_with_the_file() {
        for open in ["/* a", "\"a", "r#\"a\"", "'\\", "// a"] {
            assert!(words(open).0.len() <= 1, "{open}");
        }
    }
}
