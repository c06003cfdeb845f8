//! `cargo xtask mutants [NAME…]`: plants one bug after the other, and sees whether the tests find it.
//!
//! The bugs are the patches of `testdata/mutants`. Each is applied to a copy of the workspace, never to the
//! checkout, and then the tests of the one package that it names are run there.

mod patch;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};

use self::patch::Patch;
use crate::mirror::mirror;
use crate::programs;
use crate::test::{self, Silence};
use crate::workspace::{self, Workspace};

/// The folder of the patches.
const FOLDER: &str = "testdata/mutants";

/// The silence after which a test counts as hanging. Chosen by eye: the longest test of the packages in question takes
/// 20 s here, and a machine may be ten times slower.
const SILENCE_MAX: Duration = Duration::from_secs(240);

/// Plants known bugs, one at a time, and checks that the tests find them.
#[derive(clap::Args)]
pub(crate) struct Mutants {
    /// The patches of testdata/mutants to plant, by their names or by parts of them; all if none is named
    names: Vec<String>,
}

/// The answer of the tests to a planted bug.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    /// These tests failed.
    Caught(Vec<String>),
    /// A test did not come to its end.
    Hangs,
    /// All tests passed.
    Missed,
}

impl Mutants {
    /// Plants the bugs and prints the table of what became of them.
    ///
    /// # Errors
    ///
    /// When a bug is not found, a patch does not apply or build, or tests fail without any bug.
    pub(crate) fn run(&self, workspace: &Workspace) -> Result<()> {
        let chosen: Vec<Patch> = Patch::all(&workspace.root().join(FOLDER))?
            .into_iter()
            .filter(|patch| self.wants(&patch.name))
            .collect();
        ensure!(!chosen.is_empty(), "no patch of {FOLDER} has such a name");
        let field = Field::prepare(workspace)?;
        let mut results: Vec<(&Patch, Verdict)> = Vec::new();
        for patch in &chosen {
            if !results
                .iter()
                .any(|(done, _)| done.package == patch.package)
            {
                field.expect_health(&patch.package)?;
            }
            let verdict = field
                .plant(patch)
                .with_context(|| format!("planting {}", patch.name))?;
            eprintln!("{}: {}", patch.name, verdict.shown(patch));
            results.push((patch, verdict));
        }
        println!("| planted bug | in | found by |\n|---|---|---|");
        for (patch, verdict) in &results {
            println!("{}", row(patch, verdict));
        }
        let is_caught = |verdict: &Verdict| matches!(verdict, Verdict::Caught(_));
        let caught = results.iter().filter(|(_, verdict)| is_caught(verdict));
        let (caught, all) = (caught.count(), results.len());
        println!("\n{caught} of {all} found");
        ensure!(caught == all, "{} not found", all - caught);
        Ok(())
    }

    fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|part| name.contains(part.as_str()))
    }
}

/// The copy of the workspace in which bugs are planted.
struct Field {
    copy: Workspace,
    target: std::path::PathBuf,
}

impl Field {
    /// Brings the copy up to date. It stays where it is, so that only what has changed is built again.
    fn prepare(workspace: &Workspace) -> Result<Field> {
        let folder = programs::target(workspace)?.join("mutants");
        let root = folder.join("workspace");
        mirror(workspace.root(), &workspace.files()?, &root)?;
        Ok(Field {
            copy: Workspace::at(root),
            target: folder.join("target"),
        })
    }

    /// Runs the tests of a package without any bug: what fails then finds nothing.
    fn expect_health(&self, package: &str) -> Result<()> {
        match self.test(package)? {
            Verdict::Missed => Ok(()),
            Verdict::Caught(tests) => bail!("{package} fails unchanged: {}", tests.join(", ")),
            Verdict::Hangs => bail!("{package} hangs unchanged"),
        }
    }

    /// Applies a patch, runs the tests, and takes the patch back.
    fn plant(&self, patch: &Patch) -> Result<Verdict> {
        workspace::run(&mut apply(self.copy.root(), &[], patch))?;
        let verdict = self.test(&patch.package);
        workspace::run(&mut apply(self.copy.root(), &["--reverse"], patch))?;
        verdict
    }

    fn test(&self, package: &str) -> Result<Verdict> {
        let cargo = |last: &[&str]| {
            let args = ["test", "--locked", "--quiet", "--package", package];
            let mut cargo = self.copy.cargo(args.iter().chain(last));
            cargo.env("CARGO_TARGET_DIR", &self.target);
            cargo
        };
        // By itself: a bug that does not build is not one that was found.
        workspace::run(&mut cargo(&["--no-run"]))?;
        let mut said = Vec::new();
        let mut tests = cargo(&["--", "--format=pretty"]);
        let Ok(run) = test::run_and_count(&mut tests, &mut said, Silence::EndsIt(SILENCE_MAX))
        else {
            return Ok(Verdict::Hangs);
        };
        if run.succeeded {
            return Ok(Verdict::Missed);
        }
        Ok(Verdict::Caught(failed(&String::from_utf8_lossy(&said))))
    }
}

impl Verdict {
    /// Returns the verdict in words: the test that the patch expects if it was among those that failed.
    fn shown(&self, patch: &Patch) -> String {
        match self {
            Verdict::Missed => "**nothing**".to_owned(),
            Verdict::Hangs => "**nothing**: a test hangs".to_owned(),
            Verdict::Caught(tests) => {
                let expected = tests.iter().find(|test| **test == patch.caught_by);
                let Some(named) = expected.or(tests.first()) else {
                    return "a test program that was killed".to_owned();
                };
                match tests.len() {
                    1 => format!("`{named}`"),
                    count => format!("`{named}` and {} more", count - 1),
                }
            }
        }
    }
}

/// Returns a row of the table.
fn row(patch: &Patch, verdict: &Verdict) -> String {
    let Patch {
        planted, package, ..
    } = patch;
    let package = package.trim_start_matches("fulmar-");
    format!("| {planted} | {package} | {} |", verdict.shown(patch))
}

/// Returns the call that applies a patch to the files of a folder, which need not be a checkout of git's.
fn apply(root: &Path, options: &[&str], patch: &Patch) -> Command {
    let mut git = Command::new("git");
    git.arg("apply").args(options).arg(&patch.path);
    // Below the checkout git would look for the paths of the patch in the checkout.
    if let Some(above) = root.parent() {
        git.env("GIT_CEILING_DIRECTORIES", above);
    }
    git.current_dir(root);
    git
}

/// Returns the names of the tests that failed, from what libtest prints.
fn failed(said: &str) -> Vec<String> {
    let names = said.lines().filter_map(|line| {
        let name = line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
        // Such a test has to panic, and says so behind its name.
        Some(name.trim_end_matches(" - should panic").to_owned())
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patches() -> Vec<Patch> {
        let root = Workspace::of_this_checkout().root().join(FOLDER);
        Patch::all(&root).unwrap()
    }

    #[test]
    fn every_planted_bug_still_applies_to_the_sources() {
        let workspace = Workspace::of_this_checkout();
        for patch in patches() {
            let mut check = apply(workspace.root(), &["--check"], &patch);
            let said = check.output().unwrap();
            let why = String::from_utf8_lossy(&said.stderr);
            assert!(
                said.status.success(),
                "{}: make it again, as testdata/mutants/README.md says: {why}",
                patch.name
            );
        }
    }

    #[test]
    fn there_are_25_planted_bugs_in_seven_packages() {
        let patches = patches();
        let packages: std::collections::BTreeSet<_> =
            patches.iter().map(|patch| &patch.package).collect();
        assert_eq!((patches.len(), packages.len()), (25, 7));
    }

    #[test]
    fn the_tests_that_failed_are_named() {
        let said = "running 3 tests\ntest a::b ... ok\ntest a::c ... FAILED\n\
                    test d - should panic ... FAILED\ntest result: FAILED. 1 passed; 2 failed\n";
        assert_eq!(failed(said), ["a::c", "d"]);
    }

    #[test]
    fn a_row_names_the_expected_test_first_and_says_when_nothing_was_found() {
        let patch = Patch {
            name: "01-a".to_owned(),
            path: "01-a.patch".into(),
            planted: "a number is used twice".to_owned(),
            package: "fulmar-datagram".to_owned(),
            caught_by: "b".to_owned(),
        };
        let caught =
            |tests: &[&str]| Verdict::Caught(tests.iter().map(ToString::to_string).collect());
        for (verdict, found_by) in [
            (caught(&["a", "b", "c"]), "`b` and 2 more"),
            (caught(&["a"]), "`a`"),
            (caught(&[]), "a test program that was killed"),
            (Verdict::Missed, "**nothing**"),
            (Verdict::Hangs, "**nothing**: a test hangs"),
        ] {
            let expected = format!("| a number is used twice | datagram | {found_by} |");
            assert_eq!(row(&patch, &verdict), expected);
        }
    }
}
