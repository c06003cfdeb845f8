//! The table of set-ups that a login copes with names tests that exist, and all of them.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Files, Finding};

/// The document with the table.
const DOCUMENT: &str = "docs/login.md";

/// The folder that holds the tests.
const FOLDER: &str = "crates/fulmar/tests/program/login";

/// The beginning of a list of tests.
const LIST: &str = "for_each_starter! {";

/// The starter that stands for our program.
const OURS: &str = "fulmar";

/// Checks that table and tests name the same, in both directions.
pub(super) fn findings(files: &Files) -> Vec<Finding> {
    let Some(document) = files.get(Path::new(DOCUMENT)) else {
        return Vec::new();
    };
    let tests = tests(files);
    let named = named(document);
    let unknown = named
        .iter()
        .filter(|(name, _)| !tests.contains_key(**name))
        .map(|(name, line)| Finding::error(DOCUMENT, *line, format!("there is no test {name}")));
    let untold = tests
        .iter()
        .filter(|(name, _)| !named.contains_key(name.as_str()))
        .map(|(name, file)| Finding::error(*file, 0, format!("{DOCUMENT} does not name {name}")));
    unknown.chain(untold).collect()
}

/// The tests of our login, as `topic::name`, with their files.
fn tests(files: &Files) -> BTreeMap<String, &Path> {
    let mut tests = BTreeMap::new();
    for (path, text) in files {
        let topic = path.file_stem().and_then(|stem| stem.to_str());
        let (true, Some(topic)) = (path.starts_with(FOLDER), topic) else {
            continue;
        };
        let lists = text.split(LIST).skip(1);
        let entries = lists.flat_map(|list| list.split('}').next().unwrap_or("").split(';'));
        for (name, starters) in entries.filter_map(|entry| entry.split_once(':')) {
            if starters.split_whitespace().any(|starter| starter == OURS) {
                tests.insert(format!("{topic}::{}", name.trim()), path.as_path());
            }
        }
    }
    tests
}

/// The tests that stand as code in rows of tables, with their lines.
fn named(document: &str) -> BTreeMap<&str, usize> {
    let rows = (1..).zip(document.lines());
    let rows = rows.filter(|(_, line)| line.starts_with('|'));
    rows.flat_map(|(number, line)| {
        let code = line.split('`').skip(1).step_by(2);
        code.filter(|code| is_test(code))
            .map(move |code| (code, number))
    })
    .collect()
}

fn is_test(code: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    code.split_once("::")
        .is_some_and(|(topic, name)| is_name(topic) && is_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the findings about a table with `row` beside the two tests `jumps::over_one` and `jumps::over_two`.
    fn said(row: &str) -> Vec<String> {
        let list = "for_each_starter! {\n    over_one: fulmar mosh;\n    over_two: fulmar;\n    \
                    only_stock: mosh;\n}\nfn a() { b: c; }\n";
        let files = Files::from([
            (format!("{FOLDER}/jumps.rs").into(), list.to_owned()),
            (DOCUMENT.into(), format!("`jumps::in_a_text`\n{row}\n")),
        ]);
        findings(&files)
            .iter()
            .map(|finding| finding.to_string())
            .collect()
    }

    #[test]
    fn a_table_that_names_all_tests_is_fine() {
        let row = "| `ssh -J` | works | `jumps::over_one`, `jumps::over_two` | `A::b` |";
        assert_eq!(said(row), [""; 0]);
        assert_eq!(said("").len(), 2);
    }

    #[test]
    fn tests_that_do_not_exist_and_those_not_named_are_found() {
        assert_eq!(
            said("| a | `jumps::over_one` and `jumps::over_three` |"),
            [
                "docs/login.md:2: error: there is no test jumps::over_three",
                "crates/fulmar/tests/program/login/jumps.rs: error: docs/login.md does not name \
                 jumps::over_two"
            ]
        );
    }
}
