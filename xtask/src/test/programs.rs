//! The compiled test programs of the workspace, and running several of them at once, which cargo does not do.

use std::fmt;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::run::{Silence, TestRun, run_and_count};
use super::tally::Tally;
use crate::workspace::{self, Workspace};

/// A compiled test program: the unit tests of a crate, or one file or folder of its `tests`.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TestProgram {
    /// The folder of the crate, in which it runs.
    folder: PathBuf,
    /// The name of the library, the program or the file in `tests` that it tests.
    target: String,
    executable: PathBuf,
}

impl TestProgram {
    #[cfg(test)]
    pub(super) fn of(package: &str, target: &str) -> Self {
        Self {
            folder: package.into(),
            target: target.to_owned(),
            executable: target.into(),
        }
    }

    /// Reads one line of what cargo says while it builds; `None` if it is about something else.
    fn parse(line: &str) -> Option<Self> {
        let message: Value = serde_json::from_str(line).ok()?;
        if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
            return None;
        }
        Some(Self {
            folder: Path::new(message["manifest_path"].as_str()?)
                .parent()?
                .to_owned(),
            target: message["target"]["name"].as_str()?.to_owned(),
            executable: message["executable"].as_str()?.into(),
        })
    }

    /// Returns the name of its crate.
    pub(super) fn package(&self) -> &str {
        let name = self.folder.file_name().and_then(|name| name.to_str());
        name.unwrap_or_default()
    }

    /// Returns the name of what it tests.
    pub(super) fn target(&self) -> &str {
        &self.target
    }

    /// Returns true if it looks at no clock. A crate that may do so has a `clippy.toml` of its own that permits it.
    pub(super) fn only_computes(&self) -> bool {
        !self.folder.join("clippy.toml").is_file()
    }

    /// Returns the call that runs its tests, in the folder in which cargo would run it.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.executable);
        command
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder);
        command
    }
}

impl fmt::Display for TestProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.package(), self.target)
    }
}

/// Compiles all test programs of the workspace and returns them in order.
///
/// # Errors
///
/// When one cannot be compiled.
pub(super) fn build(workspace: &Workspace) -> Result<Vec<TestProgram>> {
    let mut cargo = workspace.cargo(["test", "--workspace", "--locked", "--no-run"]);
    cargo.arg("--message-format=json-render-diagnostics");
    let mut programs: Vec<_> = workspace::output_of(&mut cargo)?
        .lines()
        .filter_map(TestProgram::parse)
        .collect();
    if programs.is_empty() {
        bail!("there is no test program");
    }
    programs.sort();
    Ok(programs)
}

/// Something to run whose output counts tests.
pub(super) struct Job {
    pub(super) name: String,
    pub(super) command: Command,
}

/// The output of a job that has ended.
pub(super) struct Ended<'a> {
    name: &'a str,
    output: &'a [u8],
    pub(super) succeeded: bool,
}

impl Ended<'_> {
    /// Prints all of it below the name of the job.
    pub(super) fn print(&self) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "\n--- {} ---", self.name)?;
        stdout.write_all(self.output)
    }
}

/// Runs jobs in this order, so many at once and each to its end, and counts their tests together. What each has said is
/// handed to `tell` as a whole, so that those that run at once are not mixed.
///
/// # Errors
///
/// When one cannot be started, or is silent for too long; after the others have ended.
pub(super) fn run_all(
    jobs: Vec<Job>,
    at_once: usize,
    silence: Silence,
    tell: impl Fn(&Ended<'_>) -> io::Result<()> + Sync,
) -> Result<TestRun> {
    let jobs = Mutex::new(jobs.into_iter());
    let next = || jobs.lock().expect("no worker panics").next();
    let work = || -> Vec<_> {
        std::iter::from_fn(next)
            .map(|job| run_one(job, silence, &tell))
            .collect()
    };
    let runs: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..at_once).map(|_| scope.spawn(work)).collect();
        let runs = workers.into_iter().map(|worker| worker.join());
        runs.flat_map(|runs| runs.expect("no worker panics"))
            .collect()
    });
    let mut all = TestRun {
        tally: Tally::default(),
        succeeded: true,
    };
    for run in runs {
        all.add(&run?);
    }
    Ok(all)
}

fn run_one(
    mut job: Job,
    silence: Silence,
    tell: impl Fn(&Ended<'_>) -> io::Result<()>,
) -> Result<TestRun> {
    let mut output = Vec::new();
    let run = run_and_count(&mut job.command, &mut output, silence);
    tell(&Ended {
        name: &job.name,
        output: &output,
        succeeded: run.as_ref().is_ok_and(|run| run.succeeded),
    })?;
    run.with_context(|| job.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(script: &str) -> Job {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Job {
            name: script.to_owned(),
            command,
        }
    }

    fn run(scripts: &[&str]) -> Result<TestRun> {
        let jobs = scripts.iter().map(|script| job(script)).collect();
        run_all(jobs, 2, Silence::Waits, |_| Ok(()))
    }

    #[test]
    fn tests_of_all_jobs_are_counted_and_one_failure_is_a_failure_of_all() {
        const PASSES: &str = "echo 'test result: ok. 2 passed; 0 failed; 0 ignored'";
        const FAILS: &str = "echo 'test result: FAILED. 1 passed; 1 failed; 0 ignored'; exit 101";
        let all = run(&[PASSES, PASSES, PASSES]).unwrap();
        assert!(all.succeeded);
        assert_eq!((all.tally.passed, all.tally.failed), (6, 0));
        let all = run(&[FAILS, PASSES, PASSES]).unwrap();
        assert!(!all.succeeded);
        assert_eq!((all.tally.passed, all.tally.failed), (5, 1));
        // One that is killed counts nothing.
        assert!(!run(&[PASSES, "kill -s KILL $$"]).unwrap().succeeded);
    }

    #[test]
    fn what_each_job_says_is_told_as_a_whole_with_its_end() {
        let told = Mutex::new(Vec::new());
        let jobs = vec![job("echo one; echo two"), job("echo three; exit 1")];
        run_all(jobs, 1, Silence::Waits, |ended| {
            let output = String::from_utf8_lossy(ended.output).into_owned();
            told.lock().unwrap().push((output, ended.succeeded));
            Ok(())
        })
        .unwrap();
        let expected = [("one\ntwo\n", true), ("three\n", false)];
        let expected = expected.map(|(output, succeeded)| (output.to_owned(), succeeded));
        assert_eq!(told.into_inner().unwrap(), expected);
    }

    #[test]
    fn as_many_jobs_run_at_once_as_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        workspace::run(Command::new("mkfifo").arg(&fifo)).unwrap();
        // Each end of it waits until the other one is open.
        let [reads, writes] = ["<", ">"].map(|end| format!("exec 3{end}{}", fifo.display()));
        assert!(run(&[&reads, &writes]).unwrap().succeeded);
    }

    #[test]
    fn a_job_that_cannot_be_started_is_an_error_with_its_name() {
        let missing = Job {
            name: "nobody".to_owned(),
            command: Command::new("/nonexistent/program"),
        };
        let jobs = vec![missing, job("true")];
        let error = run_all(jobs, 1, Silence::Waits, |_| Ok(())).unwrap_err();
        assert_eq!(error.to_string(), "nobody");
    }

    #[test]
    fn what_cargo_compiles_is_found_and_runs_in_the_folder_of_its_crate() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = "[package]\nname = \"a\"\nedition = \"2024\"\n[workspace]\n";
        let test = "#[test] fn t() { assert!(std::fs::exists(\"Cargo.toml\").unwrap()) }";
        for (name, text) in [
            ("Cargo.toml", manifest),
            (
                "Cargo.lock",
                "version = 4\n[[package]]\nname = \"a\"\nversion = \"0.0.0\"\n",
            ),
            ("src/lib.rs", test),
            ("tests/link.rs", test),
            ("examples/no_test.rs", "fn main() {}"),
        ] {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        let programs = build(&Workspace::at(folder.path().to_owned())).unwrap();
        let targets: Vec<_> = programs.iter().map(TestProgram::target).collect();
        assert_eq!(targets, ["a", "link"]);
        let jobs = programs.iter().map(|program| Job {
            name: program.to_string(),
            command: program.command(),
        });
        let all = run_all(jobs.collect(), 2, Silence::Waits, |_| Ok(())).unwrap();
        assert_eq!((all.tally.passed, all.succeeded), (2, true));
    }

    const MESSAGE: &str = r#"{"reason":"compiler-artifact","package_id":"path+file:///w/crates/a#0.1.0",
        "manifest_path":"/w/crates/a/Cargo.toml","target":{"kind":["test"],"name":"link"},
        "profile":{"test":true},"executable":"/w/target/debug/deps/link-1f"}"#;

    #[test]
    fn a_test_program_is_what_cargo_has_compiled_for_tests() {
        let program = TestProgram::parse(MESSAGE).unwrap();
        assert_eq!((program.package(), program.target()), ("a", "link"));
        let command = program.command();
        assert_eq!(command.get_program(), "/w/target/debug/deps/link-1f");
        assert_eq!(command.get_current_dir(), Some(Path::new("/w/crates/a")));
        for (tested, other) in [
            (r#""test":true"#, r#""test":false"#),
            (r#""compiler-artifact""#, r#""build-script-executed""#),
            (r#""/w/target/debug/deps/link-1f""#, "null"),
        ] {
            assert!(MESSAGE.contains(tested));
            let message = MESSAGE.replace(tested, other);
            assert_eq!(TestProgram::parse(&message), None, "{message}");
        }
    }
}
