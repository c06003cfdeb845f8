//! Documents, or parts of them, that tests write and compare.

use std::fs;
use std::path::Path;

/// The variable that makes tests write what they would compare.
const WRITE: &str = "FULMAR_WRITE_DOCUMENTS";

/// Expects that the part of a document between two marks is `wanted`:
/// `<!-- MARK: … -->` and `<!-- end of MARK -->`, each in a line of its own.
///
/// With `FULMAR_WRITE_DOCUMENTS=1` in the environment the part is written instead.
///
/// # Panics
///
/// When it is something else, or there are no such marks.
#[track_caller]
pub(crate) fn expect_part(document: &str, mark: &str, wanted: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = root.join(document);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{document}: {error}"));
    let (before, part, after) =
        split(&text, mark).unwrap_or_else(|| panic!("{document} has no marks for {mark}"));
    let wanted = format!("\n{}\n\n", wanted.trim());
    if part == wanted {
        return;
    }
    if std::env::var_os(WRITE).is_some() {
        fs::write(&path, format!("{before}{wanted}{after}")).expect("it can be written");
        return;
    }
    let differs = |(is, should): &(&str, &str)| is != should;
    let (is, should) = part
        .lines()
        .zip(wanted.lines())
        .find(differs)
        .unwrap_or_default();
    panic!(
        "{document} is not what the code says; {WRITE}=1 cargo test -p fulmar --bin fulmar \
         writes it anew.\n  there: {is}\n  code:  {should}"
    );
}

/// Returns what is before the part, with its mark, the part, and what is after it, with its mark.
fn split<'t>(text: &'t str, mark: &str) -> Option<(&'t str, &'t str, &'t str)> {
    let begin = text.find(&format!("<!-- {mark}:"))?;
    let begin = begin + text.get(begin..)?.find('\n')? + 1;
    let end = text.find(&format!("<!-- end of {mark} -->"))?;
    Some((text.get(..begin)?, text.get(begin..end)?, text.get(end..)?))
}

#[test]
fn a_part_is_between_its_marks() {
    let text = "a\n<!-- x: by tests -->\n\nb\n\n<!-- end of x -->\nc\n";
    let (before, part, after) = split(text, "x").unwrap();
    assert!(before.ends_with("-->\n") && after.starts_with("<!-- end"));
    assert_eq!(part, "\nb\n\n");
    assert_eq!(split(text, "y"), None);
}
