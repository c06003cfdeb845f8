//! `cargo xtask lines`: how large each crate is, and how much of what is shipped needs an operating system.
//!
//! A line counts if code or a literal stands on it. Lines of tests are those of files and modules of tests, of benchmarks and of examples.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::tidy::{Source, begins_tests, is_of_tests};
use crate::workspace::Workspace;

/// Folders of crates that are never shipped.
const NOT_SHIPPED: &[&str] = &[
    "crates/fulmar-lab",
    "crates/fulmar-sim",
    "crates/fulmar-testbed",
    "fuzz",
    "xtask",
];

/// Folders of crates that call the operating system.
const OF_SYSTEM: &[&str] = &[
    "crates/fulmar",
    "crates/fulmar-platform",
    "crates/fulmar-tree",
];

/// Counts the lines of Rust in a checkout.
#[derive(clap::Args)]
pub(crate) struct Lines {
    /// Another checkout of the project, to compare with
    #[arg(long, value_name = "FOLDER")]
    of: Option<PathBuf>,
}

impl Lines {
    /// Prints one row for each crate, and the sums.
    ///
    /// # Errors
    ///
    /// When the checkout cannot be read.
    pub(crate) fn run(self, workspace: &Workspace) -> Result<()> {
        let workspace = match self.of {
            Some(root) => &Workspace::at(root),
            None => workspace,
        };
        let mut crates = BTreeMap::new();
        for file in workspace.files()? {
            let Some(folder) = crate_of(&file) else {
                continue;
            };
            let text = fs::read_to_string(workspace.root().join(&file))
                .with_context(|| format!("reading {}", file.display()))?;
            let counts: &mut LineCounts = crates.entry(folder).or_default();
            counts.add(LineCounts::of(&file, &text));
        }
        print!("{}", table(&crates));
        Ok(())
    }
}

/// The folder of the crate that a file of Rust belongs to.
fn crate_of(file: &Path) -> Option<PathBuf> {
    if file.extension()? != "rs" {
        return None;
    }
    let mut folders = file.iter();
    let first = PathBuf::from(folders.next()?);
    if first == Path::new("crates") {
        Some(first.join(folders.next()?))
    } else {
        Some(first)
    }
}

/// The lines of one or more files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LineCounts {
    code: usize,
    tests: usize,
    files: usize,
    /// The length of the longest file without its tests, comments and blank lines included.
    longest: usize,
}

impl LineCounts {
    /// Counts those of one file.
    fn of(path: &Path, text: &str) -> Self {
        let source = Source::split(text);
        let code: Vec<&str> = source.code.lines().collect();
        let comments = source.comments.lines().map(|line| !line.trim().is_empty());
        let mut counts = Self {
            files: 1,
            ..Self::default()
        };
        let mut is_of_tests = is_of_tests(path)
            || path
                .iter()
                .any(|part| part == "benches" || part == "examples");
        for (at, (line, is_comment)) in text.lines().zip(comments).enumerate() {
            is_of_tests |= begins_tests(code.get(at..).unwrap_or_default());
            let has_code = code.get(at).is_some_and(|code| !code.trim().is_empty());
            let counts_as_line = has_code || !is_comment && !line.trim().is_empty();
            match (is_of_tests, counts_as_line) {
                (true, true) => counts.tests += 1,
                (false, true) => counts.code += 1,
                (_, false) => {}
            }
            if !is_of_tests {
                counts.longest = at + 1;
            }
        }
        counts
    }

    fn add(&mut self, other: Self) {
        self.code += other.code;
        self.tests += other.tests;
        self.files += other.files;
        self.longest = self.longest.max(other.longest);
    }
}

impl fmt::Display for LineCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ratio = ratio(self.tests, self.code);
        write!(
            f,
            "{} | {} | {ratio:.2} | {} | {}",
            self.code, self.tests, self.files, self.longest
        )
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    let [part, whole] = [part, whole.max(1)].map(|lines| u32::try_from(lines).unwrap_or(u32::MAX));
    f64::from(part) / f64::from(whole)
}

/// Draws the table of all crates.
fn table(crates: &BTreeMap<PathBuf, LineCounts>) -> String {
    let mut table = "| crate | code | tests | tests per line of code | files | longest |\n\
                     |---|---|---|---|---|---|\n"
        .to_owned();
    let [mut all, mut shipped, mut without_system] = [LineCounts::default(); 3];
    for (folder, counts) in crates {
        table += &format!("| {} | {counts} |\n", folder.display());
        all.add(*counts);
        let is_among = |folders: &[&str]| folders.iter().any(|other| folder == Path::new(other));
        if !is_among(NOT_SHIPPED) {
            shipped.add(*counts);
            if !is_among(OF_SYSTEM) {
                without_system.add(*counts);
            }
        }
    }
    table += &format!("| all | {all} |\n| shipped | {shipped} |\n");
    table += &format!("| shipped, without an operating system | {without_system} |\n");
    let share = 100.0 * ratio(without_system.code, shipped.code);
    table + &format!("\n{share:.1} % of the shipped code needs no operating system.\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_counts_if_code_or_a_literal_stands_on_it() {
        let text = "//! Doc.\n\nfn f() {\n    // Why.\n    g(\"a\n        b\"); // too\n}\n\n\
                    #[cfg(test)]\nmod tests {\n    // Why.\n    fn t() {}\n}\n";
        let counts = LineCounts::of(Path::new("crates/a/src/b.rs"), text);
        let expected = LineCounts {
            code: 4,
            tests: 4,
            files: 1,
            longest: 8,
        };
        assert_eq!(counts, expected);
    }

    #[test]
    fn files_of_tests_are_tests_throughout() {
        for file in [
            "crates/a/tests/b.rs",
            "crates/a/src/b/tests.rs",
            "crates/a/examples/c.rs",
        ] {
            let counts = LineCounts::of(Path::new(file), "fn f() {}\n");
            assert_eq!((counts.code, counts.tests), (0, 1), "{file}");
        }
    }

    #[test]
    fn the_share_is_that_of_shipped_crates_that_call_no_system() {
        let count = |folder: &str, code| {
            let counts = LineCounts {
                code,
                ..LineCounts::default()
            };
            (PathBuf::from(folder), counts)
        };
        let crates = BTreeMap::from([
            count("crates/fulmar", 20),
            count("crates/fulmar-core", 60),
            count("crates/fulmar-lab", 500),
        ]);
        assert!(
            table(&crates).ends_with("\n75.0 % of the shipped code needs no operating system.\n")
        );
    }

    #[test]
    fn only_rust_has_a_crate() {
        assert_eq!(
            crate_of(Path::new("crates/a/src/b.rs")),
            Some("crates/a".into())
        );
        assert_eq!(
            crate_of(Path::new("xtask/src/main.rs")),
            Some("xtask".into())
        );
        assert_eq!(crate_of(Path::new("crates/a/README.md")), None);
    }
}
