//! `cargo xtask fuzz --minutes N`: runs the fuzz targets, and enters into the ledger what became of it.
//!
//! The targets are a workspace of their own, built with address sanitiser and the counters that libFuzzer reads. They want
//! unstable flags: those of a nightly compiler where there is one, and otherwise of this one, which is told that it may.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::ledger;
use crate::workspace::{self, Workspace};

/// The folder of the targets.
const FOLDER: &str = "fuzz";

/// The table of the ledger.
const HEADING: &str = "## Fuzzing";

/// The flags of a build in which libFuzzer finds its way: counters at every edge, what is compared, and the sanitiser.
const FLAGS: &str = "--cfg fuzzing -Zsanitizer=address -Cdebug-assertions -Ccodegen-units=1 \
    -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// The memory that one process may have, the sanitiser's included, in MiB: twice what docs/threat-model.md §12 says of the
/// program alone (T-H2).
const MEMORY_MIB: &str = "512";

/// The seconds that one input may take. Source: T-H2 of docs/threat-model.md §12, times ten for the sanitiser and a busy machine.
const SECONDS_MAX: &str = "10";

/// The longest input. Chosen by eye: a datagram, or some dozens of actions.
const LENGTH_MAX: &str = "1600";

/// Runs the fuzz targets, one after the other, and enters executions, coverage and findings into the ledger.
#[derive(clap::Args)]
pub(crate) struct Fuzz {
    /// The minutes for which each target is run
    #[arg(long)]
    minutes: u32,
    /// Keep in fuzz/corpus the few inputs that reach all that was reached
    #[arg(long)]
    keep: bool,
    /// The targets, or parts of their names; all if none is named
    targets: Vec<String>,
}

/// The end of a target's run.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    executions: u64,
    /// The edges that were reached.
    coverage: u64,
    is_clean: bool,
}

impl Fuzz {
    /// Builds the targets and runs them.
    ///
    /// # Errors
    ///
    /// When a target does not build, or has found something.
    pub(crate) fn run(&self, workspace: &Workspace) -> Result<()> {
        let folder = workspace.root().join(FOLDER);
        let targets: Vec<String> = targets(&folder)?
            .into_iter()
            .filter(|name| self.wants(name))
            .collect();
        ensure!(!targets.is_empty(), "no target of {FOLDER} has such a name");
        let programs = build(workspace, &folder, &targets)?;
        let mut findings = Vec::new();
        for target in &targets {
            let outcome = self.fuzz(&folder, &programs, target)?;
            println!("{target}: {outcome:?}");
            self.enter(workspace, target, &outcome)?;
            if !outcome.is_clean {
                findings.push(target.as_str());
            } else if self.keep {
                keep(&folder, &programs, target)?;
            }
        }
        ensure!(
            findings.is_empty(),
            "found something in {}: see {FOLDER}/artifacts",
            findings.join(", ")
        );
        Ok(())
    }

    fn wants(&self, name: &str) -> bool {
        self.targets.is_empty() || self.targets.iter().any(|part| name.contains(part.as_str()))
    }

    fn fuzz(&self, folder: &Path, programs: &Path, target: &str) -> Result<Outcome> {
        let artifacts = folder.join("artifacts").join(target);
        let grown = folder.join("target/grown").join(target);
        for made in [&artifacts, &grown] {
            fs::create_dir_all(made).with_context(|| made.display().to_string())?;
        }
        let mut command = Command::new(programs.join(target));
        command
            .arg(format!("-max_total_time={}", self.minutes * 60))
            .arg(format!("-timeout={SECONDS_MAX}"))
            .arg(format!("-rss_limit_mb={MEMORY_MIB}"))
            .arg(format!("-max_len={LENGTH_MAX}"))
            .arg(format!("-artifact_prefix={}/", artifacts.display()))
            .arg("-print_final_stats=1")
            .args([&grown, &corpus(folder, target)])
            .current_dir(folder)
            .stdout(Stdio::null());
        let output = command
            .stderr(Stdio::piped())
            .output()
            .with_context(|| format!("running {target}"))?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            eprintln!("{said}");
        }
        Ok(outcome(&said, output.status.success()))
    }

    fn enter(&self, workspace: &Workspace, target: &str, outcome: &Outcome) -> Result<()> {
        let [day, commit] = ledger::occasion(workspace)?;
        let found = if outcome.is_clean {
            "nothing"
        } else {
            "something"
        };
        let cells = [
            day,
            commit,
            format!("`{target}`"),
            self.minutes.to_string(),
            outcome.executions.to_string(),
            outcome.coverage.to_string(),
            found.to_owned(),
        ];
        ledger::enter(workspace, HEADING, &cells)
    }
}

/// Returns the names of the targets, which are those of their files.
fn targets(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder.join("targets"))? {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        names.extend(name.strip_suffix(".rs").map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

fn corpus(folder: &Path, target: &str) -> PathBuf {
    folder.join("corpus").join(target)
}

/// Builds the targets and returns the folder that they are in.
fn build(workspace: &Workspace, folder: &Path, targets: &[String]) -> Result<PathBuf> {
    let host = host()?;
    let mut cargo = if has_nightly() {
        let mut cargo = Command::new("cargo");
        cargo.arg("+nightly").current_dir(workspace.root());
        // What rustup has said to this program would come first.
        for variable in ["CARGO", "RUSTUP_TOOLCHAIN"] {
            cargo.env_remove(variable);
        }
        cargo
    } else {
        let mut cargo = workspace.cargo::<&str>([]);
        cargo.env("RUSTC_BOOTSTRAP", "1");
        cargo
    };
    cargo
        .args(["build", "--release", "--target", &host])
        .current_dir(folder)
        .env("RUSTFLAGS", FLAGS)
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env("CARGO_TARGET_DIR", folder.join("target"));
    for target in targets {
        cargo.args(["--bin", target]);
    }
    workspace::run(&mut cargo)?;
    Ok(folder.join("target").join(host).join("release"))
}

fn has_nightly() -> bool {
    let mut cargo = Command::new("cargo");
    cargo.args(["+nightly", "--version"]);
    cargo.env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN");
    cargo.output().is_ok_and(|output| output.status.success())
}

/// Returns the system that this one is, in the words of the compiler.
fn host() -> Result<String> {
    let said = workspace::output_of(Command::new("rustc").arg("-vV"))?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .context("rustc does not say its host")
}

/// Reads what libFuzzer says in the end.
fn outcome(said: &str, is_clean: bool) -> Outcome {
    let executions = said
        .lines()
        .find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    let coverage = said.lines().filter_map(|line| {
        let (_, rest) = line.split_once(" cov: ")?;
        rest.split_whitespace().next()?.parse().ok()
    });
    Outcome {
        executions: executions
            .and_then(|count| count.trim().parse().ok())
            .unwrap_or(0),
        coverage: coverage.max().unwrap_or(0),
        is_clean,
    }
}

/// Puts into the committed corpus what it lacks of what was reached.
fn keep(folder: &Path, programs: &Path, target: &str) -> Result<()> {
    let mut command = Command::new(programs.join(target));
    command
        .arg("-set_cover_merge=1")
        .args([
            corpus(folder, target),
            folder.join("target/grown").join(target),
        ])
        .current_dir(folder);
    workspace::run(&mut command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_run_is_read() {
        let said = "#2\tINITED cov: 12 ft: 13\n#512\tpulse  cov: 300 ft: 14\nDone\n\
            stat::number_of_executed_units: 4711\nstat::peak_rss_mb: 5\n";
        let expected = Outcome {
            executions: 4711,
            coverage: 300,
            is_clean: true,
        };
        assert_eq!(outcome(said, true), expected);
        assert_eq!(outcome("", false).executions, 0);
    }
}
