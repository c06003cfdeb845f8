//! Circles of imports between the modules of a crate.
//!
//! Two modules that import each other can be read, tested and moved only together. Mostly one type or
//! constant is to blame that lies in the wrong one of them. A module and those that it lies in may name
//! each other.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use super::modules::{Modules, Name};
use super::{Files, Finding};

/// Checks the modules of every crate.
pub(super) fn findings(files: &Files) -> Vec<Finding> {
    let folders: BTreeSet<&Path> = files.keys().filter_map(|path| sources(path)).collect();
    folders
        .into_iter()
        .flat_map(|folder| check(files, folder))
        .collect()
}

/// The `src` that a file of a member lies in.
fn sources(path: &Path) -> Option<&Path> {
    path.ancestors()
        .filter(|folder| folder.ends_with("src"))
        .find(|folder| folder.starts_with("crates") || folder.starts_with("xtask"))
}

fn check(files: &Files, folder: &Path) -> Vec<Finding> {
    let modules = Modules::read(files, folder);
    let imports = modules.imports();
    let circles = imports.keys().filter_map(|module| circle(module, &imports));
    let mut findings = Vec::new();
    let mut told = BTreeSet::new();
    for circle in circles {
        let members: BTreeSet<&Name> = circle.iter().map(|(module, _)| *module).collect();
        if told.insert(members) {
            findings.push(Finding::error(folder, 0, describe(&circle)));
        }
    }
    findings
}

/// A step of a circle: a module, and a word that it imports from the next.
type Step<'a> = (&'a Name, &'a str);

/// Returns the shortest circle from a module back to itself.
fn circle<'a>(
    from: &'a Name,
    imports: &BTreeMap<&'a Name, BTreeMap<&'a Name, &'a str>>,
) -> Option<Vec<Step<'a>>> {
    let mut ways = VecDeque::from([(from, Vec::new())]);
    let mut seen = BTreeSet::new();
    while let Some((module, way)) = ways.pop_front() {
        for (next, word) in imports.get(module)? {
            let mut way: Vec<Step<'a>> = way.clone();
            way.push((module, *word));
            if *next == from {
                return Some(way);
            }
            if seen.insert(*next) {
                ways.push_back((*next, way));
            }
        }
    }
    None
}

fn describe(circle: &[Step<'_>]) -> String {
    let steps: Vec<String> = circle
        .iter()
        .map(|(module, word)| format!("{} uses {word} of", module.join("::")))
        .collect();
    let first = circle.first().map(|(module, _)| module.join("::"));
    format!(
        "a circle of imports: {} {}",
        steps.join(" "),
        first.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(texts: &[(&str, &str)]) -> Files {
        let file = |(path, text): &(&str, &str)| {
            (Path::new("crates/x/src").join(path), (*text).to_owned())
        };
        texts.iter().map(file).collect()
    }

    /// Returns the findings about a crate of these files.
    fn said(texts: &[(&str, &str)]) -> Vec<String> {
        let found = check(&files(texts), Path::new("crates/x/src"));
        found.iter().map(ToString::to_string).collect()
    }

    const PAIR: [(&str, &str); 3] = [
        ("a.rs", "pub struct A; use crate::b::B;"),
        ("b.rs", "pub struct B; use crate::a::A;"),
        ("c.rs", "use crate::a::A;"),
    ];

    #[test]
    fn two_that_import_each_other_are_told_once() {
        let message = "crates/x/src: error: a circle of imports: a uses B of b uses A of a";
        assert_eq!(said(&PAIR), [message]);
    }

    #[test]
    fn a_circle_may_be_longer() {
        let long = [
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "use crate::c::C;"),
            ("c.rs", "use crate::a::A;"),
        ];
        assert_eq!(said(&long).len(), 1);
        assert_eq!(said(&long[..2]), [""; 0]);
    }

    #[test]
    fn every_member_is_looked_at() {
        assert_eq!(findings(&files(&PAIR)).len(), 1);
        let folder = |path| sources(Path::new(path));
        assert_eq!(
            folder("crates/x/src/a/b.rs"),
            Some(Path::new("crates/x/src"))
        );
        assert_eq!(folder("xtask/src/main.rs"), Some(Path::new("xtask/src")));
        assert_eq!(folder("crates/x/tests/a.rs"), None);
        assert_eq!(folder("fuzz/src/a.rs"), None);
    }
}
