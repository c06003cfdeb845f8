//! `cargo xtask check`: what CI runs, step after step.
//!
//! Every step runs, also after one has failed, so that one run shows everything there is to fix.

use std::fmt;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::deny::{self, CargoDeny};
use crate::outcome::Outcome;
use crate::workspace::{self, Workspace};
use crate::{Setup, packages, test, tidy};

/// The common ground of all steps.
struct Check<'a> {
    workspace: &'a Workspace,
    setup: Setup,
    cargo_deny: CargoDeny,
}

/// One thing that is checked.
struct Step {
    name: &'static str,
    run: fn(&mut Check<'_>) -> Result<Outcome>,
}

/// The steps: those that take seconds first, then what compiles, then what needs the network.
const STEPS: [Step; 9] = [
    Step {
        name: "format",
        run: |check| format(check.workspace),
    },
    Step {
        name: "tidy",
        run: |check| tidy::run(check.workspace).map(passed),
    },
    Step {
        name: "clippy",
        run: |check| clippy(check.workspace),
    },
    Step {
        name: "tests",
        run: |check| test::run(check.workspace, check.setup).map(passed),
    },
    Step {
        name: "tests without programs",
        run: |check| test::without_programs(check.workspace, check.setup),
    },
    Step {
        name: "docs",
        run: |check| docs(check.workspace),
    },
    Step {
        name: "packages",
        run: |check| packages::check(check.workspace, check.setup),
    },
    Step {
        name: "licences, bans, sources",
        run: |check| deny::licences(check.workspace, check.setup, &mut check.cargo_deny),
    },
    Step {
        name: "advisories",
        run: |check| deny::advisories(check.workspace, &mut check.cargo_deny),
    },
];

/// Runs all steps and prints the table of their results.
///
/// # Errors
///
/// When at least one step failed, after all of them have run.
pub(crate) fn run(workspace: &Workspace, setup: Setup) -> Result<()> {
    let mut check = Check {
        workspace,
        setup,
        cargo_deny: CargoDeny::provide(workspace, setup)?,
    };
    let mut lines = Vec::new();
    for step in &STEPS {
        println!("\n=== {} ===", step.name);
        let started = Instant::now();
        let result = (step.run)(&mut check);
        if let Err(error) = &result {
            eprintln!("xtask: {}: {error:#}", step.name);
        }
        lines.push(Line {
            name: step.name,
            result,
            took: started.elapsed(),
        });
    }

    println!("\n=== result ===");
    for line in &lines {
        println!("{line}");
    }
    let failed = lines.iter().filter(|line| line.result.is_err()).count();
    if failed > 0 {
        bail!("{failed} of {} steps failed", lines.len());
    }
    Ok(())
}

/// One line of the closing table.
struct Line {
    name: &'static str,
    result: Result<Outcome>,
    took: Duration,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<24} {:>7.1} s  ", self.name, self.took.as_secs_f64())?;
        match &self.result {
            Ok(Outcome::Passed) => f.write_str("ok"),
            Ok(Outcome::NotDone(why)) => write!(f, "NOT CHECKED: {why}"),
            Err(error) => write!(f, "FAILED: {error}"),
        }
    }
}

fn passed((): ()) -> Outcome {
    Outcome::Passed
}

fn format(workspace: &Workspace) -> Result<Outcome> {
    workspace::run(&mut workspace.cargo(["fmt", "--all", "--check"])).map(passed)
}

fn clippy(workspace: &Workspace) -> Result<Outcome> {
    let args = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--locked",
        "--quiet",
        "--",
        "-D",
        "warnings",
    ];
    workspace::run(&mut workspace.cargo(args)).map(passed)
}

fn docs(workspace: &Workspace) -> Result<Outcome> {
    let args = ["doc", "--workspace", "--no-deps", "--locked", "--quiet"];
    workspace::run(workspace.cargo(args).env("RUSTDOCFLAGS", "-D warnings")).map(passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_tells_the_three_ends_apart() {
        let line = |result| Line {
            name: "docs",
            result,
            took: Duration::from_millis(1500),
        };
        let head = "docs                         1.5 s  ";
        let not_done = Outcome::NotDone("no network".to_owned());
        assert_eq!(line(Ok(Outcome::Passed)).to_string(), format!("{head}ok"));
        assert_eq!(
            line(Ok(not_done)).to_string(),
            format!("{head}NOT CHECKED: no network")
        );
        let failed = line(Err(anyhow::anyhow!("two links")));
        assert_eq!(failed.to_string(), format!("{head}FAILED: two links"));
    }
}
