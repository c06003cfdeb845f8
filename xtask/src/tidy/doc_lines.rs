//! A doc comment begins with a statement.

use super::source::Source;
use super::{Files, Finding};

/// The first words of relative clauses, which say nothing until a main clause comes.
const RELATIVE: &[&str] = &["How", "What", "Where", "Whether", "Which", "Who", "Why"];

/// Checks the first lines of all doc comments.
pub(super) fn findings(files: &Files) -> Vec<Finding> {
    let is_rust = |extension| extension == "rs";
    let sources = files
        .iter()
        .filter(|(path, _)| path.extension().is_some_and(is_rust));
    let mut findings = Vec::new();
    for (path, text) in sources {
        for (line, word) in relative_clauses(text) {
            let message = format!("a doc comment begins with “{word}”: make it a statement");
            findings.push(Finding::error(path, line, message));
        }
    }
    findings
}

/// Returns the doc comments that begin with a relative clause: the line, counted from 1, and its first word.
fn relative_clauses(text: &str) -> Vec<(usize, &str)> {
    let source = Source::split(text);
    let mut is_inside = false;
    let mut found = Vec::new();
    for (number, (line, comment)) in (1..).zip(text.lines().zip(source.comments.lines())) {
        let words = doc_text(line).filter(|_| !comment.trim().is_empty());
        let word = words.and_then(|words| words.split_whitespace().next());
        let is_relative = |word: &&str| !is_inside && RELATIVE.contains(word);
        found.extend(word.filter(is_relative).map(|word| (number, word)));
        is_inside = words.is_some();
    }
    found
}

/// Returns the text of a line of a doc comment.
fn doc_text(line: &str) -> Option<&str> {
    let line = line.trim_start();
    ["///", "//!"]
        .into_iter()
        .find_map(|marker| line.strip_prefix(marker))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_line_that_is_a_relative_clause_is_found() {
        let text = "//! What it is.\n\n/// A wait.\nstruct Wait {\n    /// How long it is.\n    long: u8,\n}\n";
        assert_eq!(relative_clauses(text), [(1, "What"), (5, "How")]);
        let files = Files::from([
            ("a.md".into(), text.to_owned()),
            ("a.rs".into(), "/// Whether it is.\nfn a() {}".to_owned()),
        ]);
        let said: Vec<_> = findings(&files)
            .iter()
            .map(|finding| finding.to_string())
            .collect();
        let expected = "a.rs:1: error: a doc comment begins with “Whether”: make it a statement";
        assert_eq!(said, [expected]);
    }

    #[test]
    fn later_lines_plain_comments_and_literals_are_left_alone() {
        let text = "/// A sum.\n/// What is left is dropped.\n///\n/// How it is made.\nfn a() {}\n\
                    // What is here.\nconst A: &str = \"\n/// What\n\";\n/// Whatever it is.\nfn b() {}\n";
        assert_eq!(relative_clauses(text), []);
    }
}
