//! The packages that a person would publish: cargo can make them, and nothing is missing in them.

use anyhow::{Result, ensure};
use serde_json::Value;

use crate::Setup;
use crate::outcome::Outcome;
use crate::workspace::{self, Workspace};

/// The fields that crates.io or its readers ask for.
const FIELDS: [&str; 5] = [
    "description",
    "license",
    "readme",
    "documentation",
    "rust_version",
];

/// The lists of which a package has at least one entry each.
const LISTS: [&str; 2] = ["keywords", "categories"];

/// The files that are in each package.
const FILES: [&str; 3] = ["README.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Makes all packages that may be published, with what the steps before have fetched.
///
/// They are not built from their packages: that takes minutes, and the files that are built are those of the workspace.
///
/// # Errors
///
/// When cargo refuses a package, or something is missing in one.
pub(crate) fn check(workspace: &Workspace, _: Setup) -> Result<Outcome> {
    let metadata = workspace.metadata()?;
    let mut cargo = workspace.cargo(["package", "--no-verify", "--allow-dirty"]);
    cargo.args(["--locked", "--offline", "--quiet"]);
    let mut lacks = Vec::new();
    for package in published(&metadata) {
        let name = package["name"].as_str().unwrap_or_default();
        cargo.args(["--package", name]);
        let list = ["package", "--list", "--allow-dirty", "--package", name];
        let files = workspace::output_of(&mut workspace.cargo(list))?;
        let missing = missing(package, &files);
        lacks.extend(missing.map(|what| format!("{name} has no {what}")));
    }
    ensure!(lacks.is_empty(), "{}", lacks.join("; "));
    workspace::run(&mut cargo)?;
    Ok(Outcome::Passed)
}

/// Returns the members that may be published.
fn published(metadata: &Value) -> impl Iterator<Item = &Value> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    // `publish = false` is an empty list of registries.
    packages.filter(|package| {
        package["publish"]
            .as_array()
            .is_none_or(|at| !at.is_empty())
    })
}

/// Returns the names of what is missing in a package with these files, one in a line.
fn missing<'a>(package: &'a Value, files: &'a str) -> impl Iterator<Item = &'static str> + 'a {
    let fields = FIELDS.into_iter();
    let fields = fields.filter(|field| package[field].as_str().is_none_or(str::is_empty));
    let lists = LISTS.into_iter();
    let lists = lists.filter(|list| package[list].as_array().is_none_or(Vec::is_empty));
    let files = FILES
        .into_iter()
        .filter(|file| files.lines().all(|line| line != *file));
    fields.chain(lists).chain(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_package_lacks_is_named() {
        let mut package = json!({
            "description": "a", "license": "MIT", "readme": "README.md", "rust_version": "1.89",
            "documentation": "https://docs.rs/a", "keywords": ["a"], "categories": ["config"],
        });
        let files = "Cargo.toml\nLICENSE-APACHE\nLICENSE-MIT\nREADME.md\nsrc/lib.rs\n";
        assert_eq!(missing(&package, files).next(), None);
        package["description"] = Value::Null;
        package["keywords"] = json!([]);
        let files = files.replace("LICENSE-MIT", "src/LICENSE-MIT");
        let found: Vec<_> = missing(&package, &files).collect();
        assert_eq!(found, ["description", "keywords", "LICENSE-MIT"]);
    }

    #[test]
    fn the_program_is_published_and_what_only_measures_is_not() {
        let metadata = Workspace::of_this_checkout().metadata().unwrap();
        let names: Vec<_> = published(&metadata)
            .filter_map(|package| package["name"].as_str())
            .collect();
        for name in ["fulmar", "fulmar-base", "fulmar-transport"] {
            assert!(names.contains(&name), "{name} {names:?}");
        }
        for name in ["fulmar-lab", "fulmar-sim", "fulmar-testbed", "xtask"] {
            assert!(!names.contains(&name), "{name}");
        }
    }
}
