//! Cited sections exist: `docs/protocol.md §5.4` in a comment or in a document.
//!
//! A document's sections are its numbered headings, `## 5. Transport` and `### 5.4 Timers`, and,
//! in a section that holds a numbered list, its items: item 3 of section 5 is §5.3.

use std::collections::BTreeSet;
use std::path::Path;

use super::source::Source;
use super::{Files, Finding, resolve};

/// Checks the citations of all Rust and Markdown files.
pub(super) fn findings(files: &Files) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in files {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => check(path, &Source::split(text).comments, files, &mut findings),
            Some("md") => check(path, text, files, &mut findings),
            _ => {}
        }
    }
    findings
}

fn check(path: &Path, text: &str, files: &Files, findings: &mut Vec<Finding>) {
    for citation in citations(text) {
        let mut error =
            |message: String| findings.push(Finding::error(path, citation.line, message));
        let Some(document) = find(&citation.document, path, files) else {
            error(format!("cites {}, which does not exist", citation.document));
            continue;
        };
        let sections = sections(document);
        for section in citation
            .sections
            .iter()
            .filter(|section| !sections.contains(*section))
        {
            error(format!(
                "cites {} §{section}, which does not exist",
                citation.document
            ));
        }
    }
}

/// A document and the sections cited of it in one place.
struct Citation {
    line: usize,
    document: String,
    sections: Vec<String>,
}

/// Finds each name of a document with a list like `§1.2, §3 and §4` behind it, also where a comment breaks between name and sign.
fn citations(text: &str) -> Vec<Citation> {
    let mut found = Vec::new();
    for (at, extension) in text.match_indices(".md") {
        let start = text[..at].rfind(|c| !is_path(c)).map_or(0, |before| {
            before + text[before..].chars().next().map_or(1, char::len_utf8)
        });
        let end = at + extension.len();
        let sections = section_numbers(&text[end..]);
        if start < at && !sections.is_empty() {
            let line = text[..at].matches('\n').count() + 1;
            found.push(Citation {
                line,
                document: text[start..end].to_owned(),
                sections,
            });
        }
    }
    found
}

/// The numbers after each § of the list that `text` starts with.
fn section_numbers(text: &str) -> Vec<String> {
    let mut numbers = Vec::new();
    let mut rest = text;
    while let Some(after) = after_section_sign(rest) {
        let end = after
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(after.len());
        // The full stop after a number ends the sentence.
        let number = after[..end].trim_end_matches('.');
        if number.is_empty() {
            break;
        }
        numbers.push(number.to_owned());
        rest = &after[number.len()..];
    }
    numbers
}

/// Returns the text after the next § if only punctuation, "and", "to" or a line break is before it.
fn after_section_sign(text: &str) -> Option<&str> {
    let (between, after) = text.split_once('§')?;
    let is_joiner = |word: &str| matches!(word, "" | "and" | "or" | "to" | "-" | "–");
    let punctuation = |c: char| matches!(c, '`' | ')' | ',' | ';' | '/' | '!');
    let mut words = between
        .split_whitespace()
        .map(|word| word.trim_matches(punctuation));
    words.all(is_joiner).then_some(after)
}

/// The text of a cited document: named from the root, from the citing file, or within `docs/`.
fn find<'a>(document: &str, citing: &Path, files: &'a Files) -> Option<&'a str> {
    let from = [
        Path::new("Cargo.toml"),
        citing,
        Path::new("docs/protocol.md"),
    ];
    let mut paths = from.iter().filter_map(|from| resolve(from, document));
    paths.find_map(|path| files.get(&path)).map(String::as_str)
}

/// The numbers of a document's sections.
fn sections(document: &str) -> BTreeSet<String> {
    let mut sections = BTreeSet::new();
    let mut current = String::new();
    for line in document.lines() {
        if line.starts_with('#') {
            current = leading_number(line.trim_start_matches('#').trim_start()).unwrap_or_default();
            sections.insert(current.clone());
        } else if let Some(item) = leading_number(line).filter(|_| !current.is_empty()) {
            sections.insert(format!("{current}.{item}"));
        }
    }
    sections
}

/// The `5` of `5. Transport`, the `5.4` of `5.4 Timers`.
fn leading_number(text: &str) -> Option<String> {
    let (word, _) = text.split_once(' ')?;
    let number = word.strip_suffix('.').unwrap_or(word);
    let is_number = number.split('.').all(|part| part.parse::<u16>().is_ok());
    is_number.then(|| number.to_owned())
}

fn is_path(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/')
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str =
        "# Wire\n## 3. Datagrams\n### 3.1 Layout\n## 5. Rules\n1. One.\n2. Two.\n";

    /// Returns the findings about a Rust file that holds `comment`.
    fn said(comment: &str) -> Vec<String> {
        let files = Files::from([
            ("docs/wire.md".into(), DOCUMENT.to_owned()),
            ("a/b.rs".into(), comment.to_owned()),
        ]);
        findings(&files)
            .iter()
            .map(|finding| finding.to_string())
            .collect()
    }

    #[test]
    fn sections_that_exist_may_be_cited() {
        for fine in [
            "// Source: docs/wire.md §3.1.",
            "// (`docs/wire.md` §3.1, §5 and §5.2)",
            "//! wire.md §3",
            "// ../docs/wire.md §3",
            "/// Source: docs/wire.md\n/// §3.1; the paper",
            "// docs/wire.md has §99 of something else? No: only a list directly behind counts.",
        ] {
            assert_eq!(said(fine), [""; 0], "{fine}");
        }
    }

    #[test]
    fn sections_that_do_not_exist_may_not() {
        let gone = "cites docs/wire.md §3.2, which does not exist";
        let expected = [format!("a/b.rs:1: error: {gone}")];
        assert_eq!(said("// docs/wire.md §3.2"), expected);
        assert_eq!(said("// docs/wire.md §3.1, §3.2"), expected);
        assert_eq!(said("// docs/wire.md §5.3").len(), 1);
        assert_eq!(said("\n//! docs/wire.md\n//! §9").len(), 1);
    }

    #[test]
    fn documents_that_do_not_exist_may_not() {
        let expected = ["a/b.rs:2: error: cites docs/gone.md, which does not exist"];
        assert_eq!(said("\n// docs/gone.md §1"), expected);
    }

    #[test]
    fn strings_are_no_citations() {
        assert_eq!(said("let a = \"docs/gone.md §1\";"), [""; 0]);
    }
}
