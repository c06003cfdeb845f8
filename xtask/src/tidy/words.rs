//! Words that may not be written, in one file at a time.

use std::path::Path;

use super::source::Source;
use super::{Files, Finding};
use crate::peers;

/// From here a file is asked which noun is missing.
const LINES_MAX: usize = 800;

/// The one crate that may call what the compiler cannot check.
const UNSAFE_CRATE: &str = "crates/fulmar-platform";

/// Folders of one person or one machine. Put together here, so that this file does not break its own rule.
const HOMES: &[&str] = &[
    concat!("/", "home/"),
    concat!("/", "Users/"),
    concat!("/", "root/"),
    concat!("/", "work/"),
];

/// People who exist in examples only, and so may have a home.
const EXAMPLE_PEOPLE: &[&str] = &["ada", "alice", "bob", "user", "you"];

/// Checks the words of all files.
pub(super) fn findings(files: &Files) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in files {
        if path.extension().is_some_and(|extension| extension == "rs") {
            code(path, text, &mut findings);
        }
        if !path.starts_with("testdata") {
            homes(path, text, &mut findings);
        }
    }
    findings
}

/// Rules for Rust alone.
fn code(path: &Path, text: &str, findings: &mut Vec<Finding>) {
    let lines = text.lines().count();
    if lines > LINES_MAX {
        findings.push(Finding::warning(
            path,
            format!("{lines} lines: which noun is missing?"),
        ));
    }
    let source = Source::split(text);
    for (number, line) in (1..).zip(source.code.lines()) {
        let mut error = |message: &str| findings.push(Finding::error(path, number, message));
        if has_word(line, "unsafe") && !path.starts_with(UNSAFE_CRATE) {
            error("`unsafe` outside fulmar-platform");
        }
        if line.contains("#[ignore") {
            error("an ignored test: fix it, or let it say what it lacks with peers::require");
        }
        for word in ["todo", "unimplemented"] {
            if has_word(line, word) && line.contains(&format!("{word}!")) {
                error("something is left to do");
            }
        }
    }
    for (number, (line, code)) in (1..).zip(text.lines().zip(source.code.lines())) {
        // That it is a call stands in the code; its name is a literal, and stands in the text.
        let programs = required_programs(line).filter(|_| code.contains("peers::require("));
        for program in programs.filter(|program| !peers::is_listed(program)) {
            let message = format!("{program} is not in the table of xtask/src/peers.rs");
            findings.push(Finding::error(path, number, message));
        }
    }
}

/// Paths that exist on one machine only.
fn homes(path: &Path, text: &str, findings: &mut Vec<Finding>) {
    for (number, line) in (1..).zip(text.lines()) {
        for home in HOMES {
            for (at, _) in line.match_indices(home) {
                let before = line[..at].chars().next_back();
                let owner = line[at + home.len()..]
                    .split(|c| !is_name(c))
                    .next()
                    .unwrap_or("");
                let inside_a_path = before.is_some_and(|c| is_name(c) || "./~-}>".contains(c));
                if !inside_a_path && !owner.is_empty() && !EXAMPLE_PEOPLE.contains(&owner) {
                    let message = format!("a path of one machine: {home}{owner}");
                    findings.push(Finding::error(path, number, message));
                }
            }
        }
    }
}

/// The names in `peers::require("…")` on one line.
fn required_programs(line: &str) -> impl Iterator<Item = &str> {
    let calls = line.split("peers::require(\"").skip(1);
    calls.filter_map(|rest| rest.split_once('"').map(|(program, _)| program))
}

/// Returns true if `word` stands in `line` on its own.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !before.is_some_and(is_name) && !after.is_some_and(is_name)
    })
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the findings about one file.
    fn said(path: &str, text: &str) -> Vec<String> {
        let files = Files::from([(path.into(), text.to_owned())]);
        findings(&files)
            .iter()
            .map(|finding| finding.to_string())
            .collect()
    }

    #[test]
    fn the_keyword_is_found_in_code_alone() {
        let text = "#![forbid(unsafe_code)]\n// unsafe\nlet a = \"unsafe\";\nunsafe { b() }\n";
        let expected = ["crates/fulmar/a.rs:4: error: `unsafe` outside fulmar-platform"];
        assert_eq!(said("crates/fulmar/a.rs", text), expected);
        assert_eq!(said("crates/fulmar-platform/src/a.rs", text), [""; 0]);
    }

    #[test]
    fn nothing_is_ignored_or_left_to_do() {
        assert_eq!(
            said("a.rs", "/// ```ignore\n#[ignore = \"slow\"]\nfn a() {}").len(),
            1
        );
        assert_eq!(
            said(
                "a.rs",
                "fn a() { todo!() }\nfn b() { unimplemented!(\"c\") }"
            )
            .len(),
            2
        );
        assert_eq!(said("a.rs", "let todo = todos != 3;"), [""; 0]);
    }

    #[test]
    fn a_long_file_is_a_warning() {
        assert_eq!(said("a.rs", &"\n".repeat(LINES_MAX)), [""; 0]);
        let expected = ["a.rs: warning: 801 lines: which noun is missing?"];
        assert_eq!(said("a.rs", &"\n".repeat(LINES_MAX + 1)), expected);
    }

    #[test]
    fn homes_of_real_people_are_found() {
        let home = HOMES[0];
        assert_eq!(said("a.md", &format!("see `{home}carol/notes`")).len(), 1);
        for fine in ["alice/notes", "<name>", "", "you"] {
            assert_eq!(said("a.md", &format!("`{home}{fine}`")), [""; 0], "{fine}");
        }
        assert_eq!(
            said("a.md", &format!("$TMP{home}carol https://a.example{home}b")),
            [""; 0]
        );
    }

    #[test]
    fn a_program_nobody_would_install_is_found() {
        let require = "peers::require";
        assert_eq!(
            said("a.rs", &format!("{require}(\"mosh-server\")")),
            [""; 0]
        );
        let expected = ["a.rs:1: error: emacs is not in the table of xtask/src/peers.rs"];
        assert_eq!(said("a.rs", &format!("{require}(\"emacs\")")), expected);
    }
}
