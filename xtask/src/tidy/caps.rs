//! The table of caps in `docs/caps.md` has the values of the constants, and the tests that it names exist.
//!
//! `caps.txt` beside this file is the one list of them. `FULMAR_WRITE_DOCUMENTS=1 cargo xtask tidy` writes the table again.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::{Files, Finding};

/// The subject, file and name of the constant, file and name of the test, one cap in a line.
const LIST: &str = include_str!("caps.txt");

/// The list, for findings about it.
const LIST_FILE: &str = "xtask/src/tidy/caps.txt";

/// The document with the table.
pub(super) const DOCUMENT: &str = "docs/caps.md";

/// The line above the table; what follows is generated.
const HEAD: &str = "| what | cap | constant | test at the cap and above |\n|---|---|---|---|\n";

/// Checks the list and the document.
pub(super) fn findings(files: &Files) -> Vec<Finding> {
    let (table, mut findings) = table(LIST, files);
    let document = Path::new(DOCUMENT);
    let text = files.get(document).map_or("", String::as_str);
    if !text.ends_with(&table) {
        let message =
            "the table is not that of the constants: FULMAR_WRITE_DOCUMENTS=1 cargo xtask tidy";
        findings.push(Finding::error(document, 0, message));
    }
    findings
}

/// Returns the document with the table as it should be.
pub(super) fn renewed(files: &Files) -> Option<String> {
    let text = files.get(Path::new(DOCUMENT))?;
    let above = text.split(HEAD).next()?;
    Some(format!("{above}{}", table(LIST, files).0))
}

/// Returns the table of a list, and what is wrong with the list.
fn table(list: &str, files: &Files) -> (String, Vec<Finding>) {
    let mut table = HEAD.to_owned();
    let mut findings = Vec::new();
    for (number, line) in list.lines().enumerate() {
        let mut wrong =
            |message: String| findings.push(Finding::error(LIST_FILE, number + 1, message));
        let words: Vec<&str> = line.split(" | ").collect();
        let [what, file, constant, test_file, test] = words.as_slice() else {
            wrong("five parts belong into a line".to_owned());
            continue;
        };
        let text = |file: &str| files.get(&PathBuf::from(format!("crates/{file}")));
        let Some(value) = text(file).and_then(|text| value(text, constant)) else {
            wrong(format!("there is no {constant} in {file}"));
            continue;
        };
        let is_there = text(test_file).is_some_and(|text| text.contains(&format!("fn {test}(")));
        if !is_there {
            wrong(format!("there is no test {test} in {test_file}"));
        }
        // Writing to a string cannot fail.
        let _ = writeln!(
            table,
            "| {what} | {value} | [`{constant}`](../crates/{file}) | [`{test}`](../crates/{test_file}) |"
        );
    }
    (table, findings)
}

/// Returns the value of a constant, in digits as far as it is a number or a time, and as it is written otherwise.
fn value(text: &str, constant: &str) -> Option<String> {
    let declared = text.split(&format!("const {constant}: ")).nth(1)?;
    let (_, expression) = declared.split_once('=')?;
    let expression = expression.split(';').next()?.trim();
    let inner = |start: &str| expression.strip_prefix(start)?.strip_suffix(')');
    Some(if let Some(seconds) = inner("Duration::from_secs(") {
        format!("{} s", shown(evaluated(text, seconds)?))
    } else if let Some(millis) = inner("Duration::from_millis(") {
        format!("{} ms", shown(evaluated(text, millis)?))
    } else {
        evaluated(text, expression).map_or_else(|| format!("`{expression}`"), shown)
    })
}

/// Returns the number that an expression of numbers and constants of the same file means.
fn evaluated(text: &str, expression: &str) -> Option<u64> {
    if let Some((number, bits)) = expression.split_once("<<") {
        return evaluated(text, number)?.checked_shl(u32::try_from(evaluated(text, bits)?).ok()?);
    }
    if let Some((one, other)) = expression.split_once('+') {
        return evaluated(text, one)?.checked_add(evaluated(text, other)?);
    }
    if let Some((one, other)) = expression.split_once('*') {
        return evaluated(text, one)?.checked_mul(evaluated(text, other)?);
    }
    let atom = expression.trim().replace('_', "");
    if let Some(digits) = atom.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok();
    }
    if let Ok(number) = atom.parse() {
        return Some(number);
    }
    let declared = text
        .split(&format!("const {}: ", expression.trim()))
        .nth(1)?;
    let (_, expression) = declared.split_once('=')?;
    evaluated(text, expression.split(';').next()?)
}

/// Returns a number with a gap between its thousands.
fn shown(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) && digits.len() > 4 {
            shown.push(' ');
        }
        shown.push(digit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "pub const A_MAX: usize = 4_194_304;\nconst B_MAX: usize = A_MAX + 64 * 1024;\n\
        const C_MAX: Duration = Duration::from_millis(150);\nconst D_MAX: u64 = 1 << 32;\nconst E_MAX: u16 = 0x7FFF;\n\
        const F_MAX: usize = size_of::<u8>();\nfn a_test() {}\n";

    #[test]
    fn a_constant_is_told_as_a_number_where_it_is_one() {
        for (constant, expected) in [
            ("A_MAX", "4 194 304"),
            ("B_MAX", "4 259 840"),
            ("C_MAX", "150 ms"),
            ("D_MAX", "4 294 967 296"),
            ("E_MAX", "32 767"),
            ("F_MAX", "`size_of::<u8>()`"),
        ] {
            assert_eq!(value(SOURCE, constant).as_deref(), Some(expected));
        }
        assert_eq!(value(SOURCE, "G_MAX"), None);
    }

    #[test]
    fn a_constant_or_a_test_that_is_not_there_is_a_finding() {
        let files = Files::from([("crates/a.rs".into(), SOURCE.to_owned())]);
        let list = "x | a.rs | A_MAX | a.rs | a_test\nx | a.rs | G_MAX | a.rs | a_test\n\
                    x | a.rs | C_MAX | a.rs | no_test\nx | a.rs\n";
        let (table, findings) = table(list, &files);
        assert!(table.contains("| x | 4 194 304 | [`A_MAX`](../crates/a.rs) | [`a_test`]"));
        let lines: Vec<_> = findings.iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [2, 3, 4]);
    }
}
