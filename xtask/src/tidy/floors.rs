//! The floors of the program crate.
//!
//! A part of the program uses parts on the floors below its own, and no other part on the same floor. So
//! whoever changes one knows whom that reaches, and whoever reads one need not read what lies above.
//!
//! A new part gets a word in [`FLOORS`], as low as it can be.

use std::collections::BTreeSet;
use std::path::Path;

use super::modules::{Modules, Name};
use super::{Files, Finding};

/// The sources of the program.
const PROGRAM: &str = "crates/fulmar/src";

/// The parts of the program, the lowest floor first. A module belongs to the part with the longest name
/// that it begins with.
const FLOORS: &[&[&str]] = &[
    &[
        "address",
        "advice",
        "clock",
        "crash",
        "environment",
        "process_title",
        "reactor",
        "steps",
    ],
    &["log", "net", "report", "system"],
    &["offer_input", "random", "session_key", "settings", "trace"],
    // The client holds on to the ssh that has started its server, and what else belongs to a login hands
    // over to the client.
    &["login_parent", "sessions", "ssh_login"],
    &["client", "server"],
    &["login"],
    &["copy", "local", "mosh"],
    &["cli"],
    &["errors"],
    &["run"],
];

/// Checks the program.
pub(super) fn findings(files: &Files) -> Vec<Finding> {
    check(files, Path::new(PROGRAM), FLOORS)
}

fn check(files: &Files, folder: &Path, floors: &[&[&str]]) -> Vec<Finding> {
    let modules = Modules::read(files, folder);
    let imports = modules.imports();
    let mut messages = BTreeSet::new();
    let mut parts = BTreeSet::new();
    for (module, imported) in &imports {
        // The root joins all of them.
        let Some(outermost) = module.first() else {
            continue;
        };
        let Some(part) = part_of(module, floors) else {
            messages.insert(format!(
                "{outermost} has no floor: give it one in xtask/src/tidy/floors.rs"
            ));
            continue;
        };
        parts.insert(part);
        for (other, word) in imported {
            if part_of(other, floors).is_some_and(|other| other != part && other.0 >= part.0) {
                let (module, other) = (module.join("::"), other.join("::"));
                messages.insert(format!(
                    "{module} uses {word} of {other}, which is not on a floor below"
                ));
            }
        }
    }
    let all = (0..)
        .zip(floors)
        .flat_map(|(floor, names)| names.iter().map(move |name| (floor, *name)));
    for (_, name) in all.filter(|part| !parts.contains(part)) {
        messages.insert(format!(
            "there is no {name}: take it out of xtask/src/tidy/floors.rs"
        ));
    }
    messages
        .into_iter()
        .map(|message| Finding::error(folder, 0, message))
        .collect()
}

/// The number of a floor, from the lowest, and the name of a part on it.
type Part<'a> = (usize, &'a str);

/// Returns the part that a module belongs to.
fn part_of<'a>(module: &Name, floors: &[&[&'a str]]) -> Option<Part<'a>> {
    (1..=module.len()).rev().find_map(|length| {
        let name = module[..length].join("::");
        floors.iter().enumerate().find_map(|(floor, names)| {
            let found = names.iter().find(|of| **of == name)?;
            Some((floor, *found))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREE: &[&[&str]] = &[&["base"], &["side::low"], &["client", "side"]];

    /// Returns what is said about a sound crate with one more import in a file.
    fn said(path: &str, import: &str) -> Vec<String> {
        let mut files: Files = ["base.rs", "client/mod.rs", "side/mod.rs", "side/low.rs"]
            .into_iter()
            .chain([path])
            .map(|path| (Path::new("src").join(path), "pub struct A;".to_owned()))
            .collect();
        files.insert(Path::new("src").join(path), import.to_owned());
        files.insert(
            Path::new("src/main.rs").into(),
            "mod base; mod client; mod side; use side::A;".to_owned(),
        );
        let found = check(&files, Path::new("src"), THREE);
        found
            .iter()
            .map(|finding| finding.message.clone())
            .collect()
    }

    #[test]
    fn imports_downwards_and_within_a_part_are_fine() {
        for (path, import) in [
            (
                "client/mod.rs",
                "use crate::base::A; use crate::side::low::A;",
            ),
            (
                "side/mod.rs",
                "mod low; use self::low::A; use crate::base::A;",
            ),
            ("side/inner.rs", "use super::low::A; use crate::side::A;"),
            ("side/low.rs", "use super::A; use crate::base::A;"),
        ] {
            assert_eq!(said(path, import), [""; 0], "{path}: {import}");
        }
    }

    #[test]
    fn an_import_upwards_is_told() {
        assert_eq!(
            said("base.rs", "use crate::client::A;"),
            ["base uses A of client, which is not on a floor below"]
        );
        assert_eq!(
            said("side/low.rs", "use crate::client::A;"),
            ["side::low uses A of client, which is not on a floor below"]
        );
    }

    #[test]
    fn an_import_from_another_part_on_the_floor_is_told() {
        assert_eq!(
            said("client/mod.rs", "use crate::side::A;"),
            ["client uses A of side, which is not on a floor below"]
        );
    }

    #[test]
    fn tests_may_import_what_they_like() {
        let import = "#[cfg(test)] mod tests { use crate::client::A; }";
        assert_eq!(said("base.rs", import), [""; 0]);
    }

    #[test]
    fn the_list_is_that_of_the_modules() {
        let told = said("new.rs", "");
        assert_eq!(told.len(), 1);
        assert!(told[0].starts_with("new has no floor"), "{told:?}");
        let none = check(&Files::new(), Path::new("src"), &[&["gone"]]);
        assert_eq!(none.len(), 1);
        assert!(none[0].message.starts_with("there is no gone"), "{none:?}");
    }
}
