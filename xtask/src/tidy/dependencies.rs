//! Every package that we depend on is used, and of none there are two versions without a reason.
//!
//! cargo-deny checks licences and sources; this needs neither it nor a network.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::{Files, Finding};

/// The packages of which there is more than one version, and the reasons.
const SEVERAL_VERSIONS: &[(&str, &str)] = &[
    ("getrandom", "ring is at the older one"),
    ("syn", "macros of zeroize and prost are at the older one"),
    ("windows-sys", "of other systems; nothing of it is compiled"),
];

/// Checks the lock file.
pub(super) fn duplicates(files: &Files) -> Vec<Finding> {
    let lock = Path::new("Cargo.lock");
    let text = files.get(lock).map_or("", String::as_str);
    let several = several_versions(text);
    let is_known = |name: &str| SEVERAL_VERSIONS.iter().any(|(known, _)| *known == name);
    let new = several.iter().filter(|(name, _)| !is_known(name));
    let mut findings: Vec<Finding> = new
        .map(|(name, versions)| {
            let versions: Vec<_> = versions.iter().copied().collect();
            let message = format!(
                "{name} is there as {}: a reason belongs into SEVERAL_VERSIONS",
                versions.join(" and ")
            );
            Finding::error(lock, 0, message)
        })
        .collect();
    let gone = SEVERAL_VERSIONS.iter();
    let gone = gone.filter(|(name, _)| !several.contains_key(name));
    findings.extend(gone.map(|(name, _)| {
        let message = format!("{name} is there once, and still in SEVERAL_VERSIONS");
        Finding::error(lock, 0, message)
    }));
    findings
}

/// Returns the packages of a lock file with more than one version.
fn several_versions(lock: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut name = None;
    for line in lock.lines() {
        let value = |key: &str| line.strip_prefix(key)?.strip_suffix('"');
        if let Some(found) = value("name = \"") {
            name = Some(found);
        } else if let (Some(name), Some(version)) = (name, value("version = \"")) {
            versions.entry(name).or_default().insert(version);
        }
    }
    versions.retain(|_, versions| versions.len() > 1);
    versions
}

/// Checks that each member of the workspace names what it depends on somewhere in its sources.
///
/// # Errors
///
/// When cargo's answer has not the form that we know.
pub(super) fn unused(metadata: &Value, files: &Files, root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for member in metadata["packages"].as_array().context("no packages")? {
        let manifest = PathBuf::from(member["manifest_path"].as_str().context("no manifest")?);
        let manifest = manifest.strip_prefix(root).unwrap_or(&manifest);
        let folder = manifest.parent().unwrap_or(manifest);
        let of_member = |path: &Path| {
            path.starts_with(folder) && path.extension().is_some_and(|ending| ending == "rs")
        };
        let sources = files.iter().filter(|(path, _)| of_member(path));
        let lines = sources.flat_map(|(_, text)| text.lines());
        // Good enough for names, and much faster than to look at each character.
        let code = lines.filter_map(|line| line.split("//").next());
        let words: BTreeSet<&str> = code
            .flat_map(|code| code.split(|c: char| !c.is_alphanumeric() && c != '_'))
            .collect();
        for dependency in member["dependencies"].as_array().into_iter().flatten() {
            let name = dependency["rename"].as_str();
            let name = name.or(dependency["name"].as_str()).unwrap_or_default();
            if !words.contains(name.replace('-', "_").as_str()) {
                let message = format!("{name} is a dependency, and no source names it");
                findings.push(Finding::error(manifest, 0, message));
            }
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn lock(packages: &[(&str, &str)]) -> Files {
        let text = packages
            .iter()
            .map(|(name, version)| {
                format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n\n")
            })
            .collect();
        Files::from([("Cargo.lock".into(), text)])
    }

    #[test]
    fn a_second_version_needs_a_reason_and_a_reason_a_second_version() {
        let mut packages = vec![("a", "1.0.0")];
        for (name, _) in SEVERAL_VERSIONS {
            packages.extend([(*name, "1.0.0"), (*name, "2.0.0")]);
        }
        assert_eq!(duplicates(&lock(&packages)), []);
        packages.push(("a", "1.0.1"));
        packages.retain(|package| *package != (SEVERAL_VERSIONS[0].0, "2.0.0"));
        let messages: Vec<_> = duplicates(&lock(&packages))
            .into_iter()
            .map(|finding| finding.message)
            .collect();
        assert_eq!(messages.len(), 2);
        assert!(messages[0].starts_with("a is there as 1.0.0 and 1.0.1"));
        assert!(messages[1].ends_with("still in SEVERAL_VERSIONS"));
    }

    #[test]
    fn a_dependency_that_only_a_comment_names_is_unused() {
        let metadata = json!({"packages": [{
            "manifest_path": "/w/crates/a/Cargo.toml",
            "dependencies": [{"name": "data-encoding"}, {"name": "long", "rename": "short"}, {"name": "bytes"}],
        }]});
        let files = Files::from([
            (
                "crates/a/src/lib.rs".into(),
                "use data_encoding::A;\nuse short::B; // bytes\n".to_owned(),
            ),
            ("crates/b/src/lib.rs".into(), "use bytes::C;\n".to_owned()),
        ]);
        let findings = unused(&metadata, &files, Path::new("/w")).unwrap();
        let expected = Finding::error(
            "crates/a/Cargo.toml",
            0,
            "bytes is a dependency, and no source names it",
        );
        assert_eq!(findings, [expected]);
    }
}
