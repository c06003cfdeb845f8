//! `cargo xtask test`: all tests of the workspace, and what was left out.
//!
//! # Tests that need other programs
//!
//! Some tests drive programs that are not ours, such as stock Mosh, sshd or vim. Such a test calls
//! `peers::require("mosh-server")` (`crates/fulmar-testbed/src/peers.rs`) and returns where the
//! answer is `None`. What happens then is settled by two variables, which this command sets:
//!
//! | variable | value | a missing program |
//! |---|---|---|
//! | `FULMAR_TEST_PEERS` | `required` | fails the test |
//! | | `optional`, or not set | leaves the test out |
//! | `FULMAR_TEST_SKIPPED` | a file | each test left out appends one line: its name, TAB, the reason |
//!
//! The file is needed because libtest hides what a passing test prints.
//!
//! In CI and with `--install`, missing programs are installed and then required. Anywhere else they are optional: root
//! gets what is missing installed where there is apt, and where there is not, and with `--no-install`, the tests left
//! out are listed at the end, with the command that installs what they need. So no test may fail for want of a program,
//! which [`without_programs`] tries.
//!
//! # Seeds
//!
//! The model test runs as many seeds as `FULMAR_SEEDS` says. CI runs [`SEEDS_IN_CI`], unless the
//! caller has set the variable; elsewhere the test's own, smaller number holds.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use fulmar_testbed::peers::files_of;

use crate::outcome::Outcome;
use crate::peers;
use crate::workspace::{self, Workspace};
use crate::{Missing, Setup};

mod hidden;
mod programs;
mod run;
mod tally;

use self::programs::{Job, TestProgram};

pub(crate) use run::{Silence, run_and_count};

/// The number of seeds that CI runs of the model test, as CONTRIBUTING.md promises.
const SEEDS_IN_CI: &str = "1000";

/// The longest silence of the tests in CI before they count as hanging. Chosen by eye: one test, such as that
/// of the thousand seeds, takes far less.
const SILENCE_MAX: Duration = Duration::from_secs(15 * 60);

/// The tests that start programs which are not ours: a crate and, if it has others as well, the names of those. What
/// only computes, for minutes, is not among them.
const TESTS_OF_PROGRAMS: [(&str, &[&str]); 4] = [
    ("fulmar-platform", &[]),
    ("fulmar-tree", &["scp", "patterns"]),
    ("fulmar", &[PROGRAM]),
    (
        "fulmar-lab",
        &[
            "agreement",
            "bulk",
            "command",
            "copy",
            "lan",
            "link",
            "load",
            "record",
            "replay",
            "report",
            "run",
            "selfcheck",
            "typing_session",
            "tinygram",
            "worlds",
        ],
    ),
];

/// The tests of the program as a whole.
const PROGRAM: &str = "program";

/// The test programs that take longest. They begin first, so that none of them runs by itself in the end.
const LONGEST: [&str; 4] = [PROGRAM, "meddling", "predict", "model"];

/// The number of test programs that run at once. Chosen by eye for two processors: those of the program mostly wait, and some of
/// the others have a single long test.
const AT_ONCE: usize = 3;

/// The variable that tells a test program how many of its tests run at once.
const THREADS: &str = "RUST_TEST_THREADS";

/// The number of tests of the program that run at once. On two processors and two at a time, they computed for a fifth of the
/// time and waited for the rest.
const THREADS_OF_PROGRAM: &str = "6";

/// The number of tests that run at once where programs are hidden: most of what is left waits for deadlines.
/// Chosen by eye.
const THREADS_WITHOUT_PROGRAMS: &str = "8";

/// The steps by which tests that only compute give way to those that have deadlines. Chosen by eye.
const NICENESS_OF_COMPUTING: &str = "5";

/// Runs all tests and ends with a plain summary.
///
/// # Errors
///
/// When a test fails, when nothing was tested, or when programs are to be installed and cannot be.
pub(crate) fn run(workspace: &Workspace, setup: Setup) -> Result<()> {
    provide(setup.missing())?;
    let skipped = workspace.root().join("target/xtask/skipped-tests");
    start_list(&skipped)?;

    let programs = programs::build(workspace)?;
    let mut jobs: Vec<Job> = longest_first(&programs).map(job).collect();
    jobs.push(documentation(workspace));
    for Job { command, .. } in &mut jobs {
        command.env(
            "FULMAR_TEST_PEERS",
            match setup.missing() {
                Missing::Required => "required",
                Missing::InstalledIfPossible | Missing::LeftOut => "optional",
            },
        );
        command.env("FULMAR_TEST_SKIPPED", &skipped);
        if setup.ci && std::env::var_os("FULMAR_SEEDS").is_none() {
            command.env("FULMAR_SEEDS", SEEDS_IN_CI);
        }
    }
    let tests = programs::run_all(jobs, AT_ONCE, setup.silence(), |ended| ended.print())?;
    let left_out = LeftOut::read(&skipped)?;

    print!("{}", left_out.report(peers::install_command().as_deref()));
    println!("{}", tests.tally.summary(left_out.0.len()));
    if !tests.succeeded {
        bail!("tests failed");
    }
    if tests.tally.passed == 0 {
        bail!("no test was run");
    }
    Ok(())
}

/// Installs programs that are missing, or says how one would.
fn provide(missing: Missing) -> Result<()> {
    let Some(command) = peers::install_command() else {
        return Ok(());
    };
    match missing {
        Missing::Required => peers::install_missing(),
        Missing::InstalledIfPossible if peers::can_install() => {
            println!(
                "Programs are missing that tests need. They are installed (--no-install leaves them out):"
            );
            println!("  {command}\n");
            if let Err(error) = peers::install_missing() {
                println!("\nThat failed, and tests that need them will be left out: {error:#}\n");
            }
            Ok(())
        }
        Missing::InstalledIfPossible | Missing::LeftOut => {
            println!(
                "Programs are missing; tests that need them will be left out. To install them, as root:"
            );
            println!("  {command}\n");
            Ok(())
        }
    }
}

/// Runs the tests that start programs once more, without any of those that a system may lack: none may fail for want of
/// one. What can be tried without them passes again; the others leave themselves out, which takes no time.
///
/// # Errors
///
/// When a test fails, or none was left out, which would mean that nothing was hidden.
pub(crate) fn without_programs(workspace: &Workspace, setup: Setup) -> Result<Outcome> {
    if !hidden::is_possible() {
        let why = "hiding programs takes root and a space of file systems";
        return Ok(Outcome::NotDone(why.to_owned()));
    }
    let skipped = workspace
        .root()
        .join("target/xtask/skipped-without-programs");
    start_list(&skipped)?;
    let files = hidden::files(peers::programs(), |program| files_of(program).collect());
    println!("tests without {} programs", files.len());
    let programs = programs::build(workspace)?;
    let mut jobs = Vec::new();
    for program in tests_of_programs(&programs)? {
        let mut command = program.command();
        command
            .env("FULMAR_TEST_PEERS", "optional")
            .env("FULMAR_TEST_SKIPPED", &skipped)
            .env(THREADS, THREADS_WITHOUT_PROGRAMS);
        jobs.push(Job {
            name: program.to_string(),
            command: hidden::hiding(&files, &command),
        });
    }
    let tests = programs::run_all(jobs, AT_ONCE, setup.silence(), |ended| {
        if ended.succeeded {
            Ok(())
        } else {
            ended.print()
        }
    })?;
    if !tests.succeeded {
        bail!("tests fail where programs are missing");
    }
    let left_out = LeftOut::read(&skipped)?;
    println!("{}", tests.tally.summary(left_out.0.len()));
    if left_out.0.is_empty() {
        bail!("no test was left out, so nothing was hidden");
    }
    Ok(Outcome::Passed)
}

/// Returns those that start programs of others.
///
/// # Errors
///
/// When the list of them has a name that nothing has.
fn tests_of_programs(programs: &[TestProgram]) -> Result<Vec<&TestProgram>> {
    let mut found = Vec::new();
    for (package, targets) in TESTS_OF_PROGRAMS {
        let of_package = || {
            programs
                .iter()
                .filter(|program| program.package() == package)
        };
        if targets.is_empty() {
            found.extend(of_package());
        }
        for target in targets {
            let named = of_package().find(|program| program.target() == *target);
            found.push(named.with_context(|| format!("{package} has no tests called {target}"))?);
        }
    }
    Ok(found)
}

/// Returns those that are named [`LONGEST`] first, and the others in their order.
fn longest_first(programs: &[TestProgram]) -> impl Iterator<Item = &TestProgram> {
    let place = |program: &&TestProgram| {
        let mut longest = LONGEST.iter();
        longest
            .position(|target| *target == program.target())
            .unwrap_or(LONGEST.len())
    };
    let mut programs: Vec<_> = programs.iter().collect();
    programs.sort_by_key(place);
    programs.into_iter()
}

/// Returns what runs a test program. One that only computes gives way to the others.
fn job(program: &TestProgram) -> Job {
    let mut command = program.command();
    if program.target() == PROGRAM && std::env::var_os(THREADS).is_none() {
        command.env(THREADS, THREADS_OF_PROGRAM);
    }
    if program.only_computes() {
        command = workspace::wrapped(workspace::nice(NICENESS_OF_COMPUTING), &command);
    }
    Job {
        name: program.to_string(),
        command,
    }
}

/// Returns what runs the examples in documentation comments.
fn documentation(workspace: &Workspace) -> Job {
    let cargo = workspace.cargo(["test", "--workspace", "--locked", "--doc", "--no-fail-fast"]);
    Job {
        name: "examples in the documentation".to_owned(),
        command: workspace::wrapped(workspace::nice(NICENESS_OF_COMPUTING), &cargo),
    }
}

impl Setup {
    /// Returns what it means that tests are silent. A person sees that nothing moves and can do something about it.
    fn silence(self) -> Silence {
        if self.ci {
            Silence::EndsIt(SILENCE_MAX)
        } else {
            Silence::Waits
        }
    }
}

/// Makes an empty file for the tests to append to.
fn start_list(path: &Path) -> Result<()> {
    let folder = path
        .parent()
        .context("the list of skipped tests has no folder")?;
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    fs::write(path, "").with_context(|| format!("writing {}", path.display()))
}

/// The tests that were left out, each as "name: reason", in order.
struct LeftOut(Vec<String>);

impl LeftOut {
    fn read(path: &Path) -> Result<Self> {
        let text =
            fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        Ok(Self::parse(&text))
    }

    /// Reads the lines that tests wrote. Two reasons of one test are two entries.
    fn parse(text: &str) -> Self {
        let mut tests: Vec<String> = text
            .lines()
            .map(|line| line.replacen('\t', ": ", 1))
            .collect();
        tests.sort();
        tests.dedup();
        Self(tests)
    }

    /// Returns the lines that a person must not overlook; empty when nothing was left out.
    fn report(&self, install_command: Option<&str>) -> String {
        if self.0.is_empty() {
            return String::new();
        }
        let bar = "!".repeat(78);
        let mut report = format!("\n{bar}\n!! {} TESTS WERE LEFT OUT:\n", self.0.len());
        for test in &self.0 {
            report += &format!("!!   {test}\n");
        }
        if let Some(command) = install_command {
            report += &format!("!! To run them too: {command}\n");
        }
        report + &bar + "\n\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that are listed, and one that only computes.
    fn test_programs() -> Vec<TestProgram> {
        let listed = TESTS_OF_PROGRAMS
            .into_iter()
            .flat_map(|(package, targets)| {
                let targets = if targets.is_empty() {
                    &["unit"]
                } else {
                    targets
                };
                targets
                    .iter()
                    .map(move |target| TestProgram::of(package, target))
            });
        listed
            .chain([TestProgram::of("fulmar-core", "model")])
            .collect()
    }

    #[test]
    fn the_longest_begin_first_and_none_is_lost() {
        let programs = test_programs();
        let ordered: Vec<_> = longest_first(&programs).collect();
        let first: Vec<_> = ordered
            .iter()
            .map(|program| program.target())
            .take(3)
            .collect();
        assert_eq!(first, ["program", "model", "unit"]);
        assert_eq!(ordered.len(), programs.len());
    }

    #[test]
    fn what_only_computes_needs_no_other_programs() {
        let programs = test_programs();
        let found = tests_of_programs(&programs).unwrap();
        assert_eq!(found.len(), programs.len() - 1);
        assert!(found.iter().all(|program| program.target() != "model"));
    }

    #[test]
    fn a_listed_name_that_nothing_has_is_an_error() {
        let mut programs = test_programs();
        programs.retain(|program| program.target() != "lan");
        let error = tests_of_programs(&programs).unwrap_err();
        assert_eq!(error.to_string(), "fulmar-lab has no tests called lan");
    }

    #[test]
    fn tests_left_out_are_listed_once_each_and_in_order() {
        let left_out = LeftOut::parse("b\tneeds vim\na\tneeds mosh\nb\tneeds vim\n");
        assert_eq!(left_out.0, ["a: needs mosh", "b: needs vim"]);
    }

    #[test]
    fn the_report_names_the_tests_and_the_command() {
        let report = LeftOut::parse("a\tneeds mosh\n").report(Some("apt-get install mosh"));
        assert!(
            report.contains("!! 1 TESTS WERE LEFT OUT:\n!!   a: needs mosh\n"),
            "{report}"
        );
        assert!(
            report.contains("!! To run them too: apt-get install mosh\n"),
            "{report}"
        );
    }

    #[test]
    fn nothing_left_out_is_nothing_to_report() {
        assert_eq!(LeftOut::parse("").report(Some("apt-get install mosh")), "");
    }
}
