//! Limits and times say where they come from.

use std::path::Path;

use super::source::Source;
use super::{Files, Finding};

/// The crates that are never shipped, and so may try numbers out.
const NOT_SHIPPED: &[&str] = &["crates/fulmar-lab", "crates/fulmar-sim"];

/// The last words of names of limits.
const LIMITS: &[&str] = &[
    "AFTER", "AGE", "BYTES", "DELAY", "EACH", "INTERVAL", "LIMIT", "MAX", "MIN", "PAUSE",
    "TIMEOUT", "TRIES", "WINDOW", "WITHIN",
];

/// The beginnings of an origin: a document or a section of one, a measurement, or that there is none.
const ORIGINS: &[&str] = &[
    "Source", "§", "RFC ", "Measured", "measured", "Chosen", "chosen",
];

/// Checks the constants of all crates that are shipped.
pub(super) fn findings(files: &Files) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in files.iter().filter(|(path, _)| is_shipped(path)) {
        for limit in limits(text) {
            let message = format!(
                "{} does not say where it comes from: “Source: …”, “Measured: …” or “Chosen by eye: …”",
                limit.name
            );
            findings.push(Finding::error(path, limit.line, message));
        }
    }
    findings
}

fn is_shipped(path: &Path) -> bool {
    let mut folders = path.iter().filter_map(|folder| folder.to_str());
    folders.next() == Some("crates")
        && folders.nth(1) == Some("src")
        && path.extension().is_some_and(|extension| extension == "rs")
        && !NOT_SHIPPED.iter().any(|folder| path.starts_with(folder))
        && !is_of_tests(path)
}

/// Returns true if all of a file belongs to tests.
pub(crate) fn is_of_tests(path: &Path) -> bool {
    path.iter().any(|part| {
        ["tests", "tests.rs", "testing.rs", "test_support.rs"]
            .iter()
            .any(|of_tests| part == *of_tests)
    })
}

/// A constant without an origin.
struct Limit<'a> {
    /// Counted from 1.
    line: usize,
    name: &'a str,
}

/// Returns the limits of one file that do not say where they come from.
fn limits(text: &str) -> Vec<Limit<'_>> {
    let source = Source::split(text);
    let code: Vec<&str> = source.code.lines().collect();
    let lines = text.lines().zip(source.comments.lines());
    let mut limits = Vec::new();
    let mut has_origin = false;
    let mut after_constant = false;
    for (at, (line, comment)) in lines.enumerate() {
        let rest = code.get(at..).unwrap_or_default();
        if begins_tests(rest) {
            break;
        }
        let is_comment = !comment.trim().is_empty() && comment.trim() == line.trim();
        // What is said above a constant holds for those right below it, too.
        has_origin &= !(is_comment && after_constant);
        has_origin |= ORIGINS.iter().any(|origin| comment.contains(origin));
        if is_comment || line.trim_start().starts_with("#[") {
            after_constant = false;
            continue;
        }
        let constant = constant(line);
        if let Some((name, kind)) = constant
            && is_limit(name, kind)
            && has_number(&value(rest))
            && !has_origin
        {
            limits.push(Limit { line: at + 1, name });
        }
        after_constant = constant.is_some();
        has_origin &= after_constant;
    }
    limits
}

/// Returns true if a module of tests begins at the first of these lines.
pub(crate) fn begins_tests(code: &[&str]) -> bool {
    matches!(code, [attribute, module, ..]
        if attribute.trim() == "#[cfg(test)]" && module.trim_end().ends_with('{'))
}

/// Returns name and type of the constant that a line declares.
fn constant(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let visible = line.strip_prefix("pub").map(|rest| {
        rest.strip_prefix('(')
            .and_then(|rest| rest.split_once(')'))
            .map_or(rest, |(_, rest)| rest)
    });
    let declared = visible.unwrap_or(line).trim_start();
    let (name, rest) = declared.strip_prefix("const ")?.split_once(':')?;
    let kind = rest.split('=').next().unwrap_or(rest);
    Some((name, kind.trim()))
}

/// Returns what stands behind the equals sign of a constant that begins at the first of these lines.
fn value(code: &[&str]) -> String {
    let all = code.join(" ");
    let value = all.split_once('=').map_or("", |(_, value)| value);
    value.split(';').next().unwrap_or_default().to_owned()
}

fn is_limit(name: &str, kind: &str) -> bool {
    let is_number = kind.starts_with(['u', 'i', 'f'])
        && kind.ends_with(|c: char| c.is_ascii_digit())
        || kind == "usize";
    let last = name.rsplit('_').next().unwrap_or(name);
    kind == "Duration" || is_number && LIMITS.contains(&last)
}

/// Returns true if a value holds a number and is not made of other constants alone.
fn has_number(value: &str) -> bool {
    let mut words = value.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| word.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the findings about one file, each as line and name.
    fn said(text: &str) -> Vec<String> {
        let limits = limits(text).into_iter();
        limits
            .map(|limit| format!("{} {}", limit.line, limit.name))
            .collect()
    }

    #[test]
    fn a_limit_says_where_it_comes_from() {
        for origin in [
            "Source: docs/protocol.md §4.",
            "A cap (docs/threat-model.md §6).",
            "As RFC 9002 has it.",
            "Measured: `cargo bench`.",
            "Chosen by eye.",
        ] {
            let text = format!("/// Bytes.\n///\n/// {origin}\npub const A_MAX: usize = 1 << 4;");
            assert_eq!(said(&text), [""; 0], "{origin}");
        }
        let text = "/// Bytes.\n#[cfg(unix)]\npub(crate) const A_MAX: usize = 1 << 4;";
        assert_eq!(said(text), ["3 A_MAX"]);
        assert_eq!(said("const A_MAX: u8 = 3; // Chosen by eye."), [""; 0]);
    }

    #[test]
    fn durations_are_limits_whatever_they_are_called() {
        let text = "/// A pause.\nconst FAR: Duration =\n    Duration::from_secs(9);";
        assert_eq!(said(text), ["2 FAR"]);
    }

    #[test]
    fn other_constants_and_those_made_of_others_need_no_origin() {
        for text in [
            "const PORT: u16 = 1;",
            "const NAMES_MAX: &str = \"9\";",
            "const A_MAX: usize = B_MAX + size_of::<u64>();",
            "// Chosen by eye.\nconst A_MAX: usize = 1;\nconst B_MAX: usize = 2;",
            "#[cfg(test)]\nmod tests {\n    const A_MAX: usize = 1;\n}",
        ] {
            assert_eq!(said(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn an_origin_holds_to_the_next_comment_or_gap() {
        let text = "// Chosen by eye.\nconst A_MAX: u8 = 1;\n/// B.\nconst B_MAX: u8 = 1;";
        assert_eq!(said(text), ["4 B_MAX"]);
        let text = "// Chosen by eye.\nconst A_MAX: u8 = 1;\n\nconst B_MAX: u8 = 1;";
        assert_eq!(said(text), ["4 B_MAX"]);
    }

    #[test]
    fn what_is_not_shipped_is_not_asked() {
        let found = |path: &str| {
            let files = Files::from([(path.into(), "const A_MAX: u8 = 1;".to_owned())]);
            findings(&files).len()
        };
        assert_eq!(found("crates/fulmar/src/copy/mod.rs"), 1);
        for path in [
            "crates/fulmar/src/copy/tests.rs",
            "crates/fulmar/tests/main.rs",
            "crates/fulmar-lab/src/lib.rs",
            "xtask/src/main.rs",
        ] {
            assert_eq!(found(path), 0, "{path}");
        }
    }
}
