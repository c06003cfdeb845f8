//! `cargo xtask reproduce`: builds the program twice, in two folders, and compares the results byte for byte.
//!
//! Who has the sources can so tell whether a program was made from them. The program is also looked at for what the
//! compiler and linker are to protect it with.

mod elf;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::mirror::mirror;
use crate::programs;
use crate::workspace::{self, Workspace};

/// The program that is built.
const PROGRAM: &str = "fulmar";

/// The names of the two folders, of different lengths: a path that is left in the program shifts what follows it.
const FOLDERS: [&str; 2] = ["one", "another"];

/// Builds the program twice and compares, or tells how to build it so that it can be compared.
#[derive(clap::Args)]
pub(crate) struct Reproduce {
    /// Print the flags (RUSTFLAGS) for a build of this checkout that can be reproduced, and build nothing
    #[arg(long)]
    flags: bool,
}

impl Reproduce {
    /// Builds twice and compares.
    ///
    /// # Errors
    ///
    /// When a build fails, the programs differ, or lack a protection.
    pub(crate) fn run(&self, workspace: &Workspace) -> Result<()> {
        if self.flags {
            println!("{}", flags(workspace.root())?);
            return Ok(());
        }
        let folder = programs::target(workspace)?.join("reproduce");
        let files = workspace.files()?;
        let mut built = Vec::new();
        for name in FOLDERS {
            let root = folder.join(name);
            mirror(workspace.root(), &files, &root.join("sources"))?;
            built.push(build(&root)?);
        }
        let [first, second] = built.as_slice() else {
            unreachable!("there are two folders")
        };
        if let Some(place) = first_difference(first, second) {
            anyhow::bail!(
                "the programs differ, first at byte {place} of {}",
                first.len()
            );
        }
        let lacking = elf::lacking(first).context("reading the program's headers")?;
        ensure!(
            lacking.is_empty(),
            "the program lacks {}",
            lacking.join(", ")
        );
        let folder = folder.to_string_lossy();
        ensure!(
            !contains(first, folder.as_bytes()),
            "{folder} is named in the program"
        );
        println!(
            "{PROGRAM}: {} bytes, the same from both folders",
            first.len()
        );
        println!("protections: {}", elf::PROTECTIONS.join(", "));
        Ok(())
    }
}

/// Builds the sources below `root`, and returns the program.
fn build(root: &Path) -> Result<Vec<u8>> {
    let sources = Workspace::at(root.join("sources"));
    let target = root.join("target");
    let mut cargo = sources.cargo(["build", "--release", "--locked", "--package", PROGRAM]);
    cargo.env("CARGO_TARGET_DIR", &target);
    cargo.env_remove("CARGO_ENCODED_RUSTFLAGS");
    cargo.env("RUSTFLAGS", flags(sources.root())?);
    workspace::run(&mut cargo)?;
    let program = target.join("release").join(PROGRAM);
    fs::read(&program).with_context(|| program.display().to_string())
}

/// Returns the flags of the compiler that take the places of sources and of downloaded packages out of the program.
fn flags(sources: &Path) -> Result<String> {
    let places = [(sources.to_owned(), "/fulmar"), (cargo_home()?, "/cargo")];
    let remapped = places.map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()));
    Ok(remapped.join(" "))
}

fn cargo_home() -> Result<PathBuf> {
    if let Some(home) = std::env::var_os("CARGO_HOME") {
        return Ok(home.into());
    }
    let home = std::env::var_os("HOME").context("neither CARGO_HOME nor HOME is set")?;
    Ok(Path::new(&home).join(".cargo"))
}

/// Returns the place from which on two programs differ.
fn first_difference(first: &[u8], second: &[u8]) -> Option<usize> {
    if first == second {
        return None;
    }
    let same = first.iter().zip(second).take_while(|(a, b)| a == b);
    Some(same.count())
}

fn contains(program: &[u8], text: &[u8]) -> bool {
    program.windows(text.len()).any(|part| part == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_byte_that_differs_is_told() {
        assert_eq!(first_difference(b"same", b"same"), None);
        assert_eq!(first_difference(b"same", b"sane"), Some(2));
        assert_eq!(first_difference(b"sam", b"same"), Some(3));
    }

    #[test]
    fn sources_and_packages_have_the_same_names_wherever_they_are() {
        let flags = flags(Path::new("/src/fulmar")).unwrap();
        assert!(flags.contains("=/src/fulmar=/fulmar "), "{flags}");
        assert!(flags.ends_with("=/cargo"), "{flags}");
    }

    #[test]
    fn release_builds_check_for_overflow() {
        let manifest = Workspace::of_this_checkout().root().join("Cargo.toml");
        let manifest = fs::read_to_string(manifest).unwrap();
        let (_, release) = manifest.split_once("[profile.release]").unwrap();
        let section = release.split("\n[").next().unwrap_or_default();
        assert!(section.contains("overflow-checks = true"), "{section}");
    }
}
