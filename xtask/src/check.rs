//! `cargo xtask check`: what CI runs, step after step.
//!
//! Every step runs, also after one has failed, so that one run shows everything there is to fix.

use std::fmt;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::outcome::Outcome;
use crate::workspace::{self, Workspace};
use crate::{Setup, deny, packages, test, tidy};

/// One thing that is checked.
struct Step {
    name: &'static str,
    run: fn(&Workspace, Setup) -> Result<Outcome>,
}

/// The steps: those that take seconds first, then what compiles, then what needs the network.
const STEPS: [Step; 9] = [
    Step {
        name: "format",
        run: format,
    },
    Step {
        name: "tidy",
        run: |workspace, _| tidy::run(workspace).map(|()| Outcome::Passed),
    },
    Step {
        name: "clippy",
        run: clippy,
    },
    Step {
        name: "tests",
        run: |workspace, setup| test::run(workspace, setup).map(passed),
    },
    Step {
        name: "tests without programs",
        run: test::without_programs,
    },
    Step {
        name: "docs",
        run: docs,
    },
    Step {
        name: "packages",
        run: packages::check,
    },
    Step {
        name: "licences, bans, sources",
        run: deny::licences,
    },
    Step {
        name: "advisories",
        run: deny::advisories,
    },
];

/// Runs all steps and prints the table of their results.
///
/// # Errors
///
/// When at least one step failed, after all of them have run.
pub(crate) fn run(workspace: &Workspace, setup: Setup) -> Result<()> {
    let mut lines = Vec::new();
    for step in &STEPS {
        println!("\n=== {} ===", step.name);
        let started = Instant::now();
        let result = (step.run)(workspace, setup);
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

fn format(workspace: &Workspace, _: Setup) -> Result<Outcome> {
    workspace::run(&mut workspace.cargo(["fmt", "--all", "--check"])).map(passed)
}

fn clippy(workspace: &Workspace, _: Setup) -> Result<Outcome> {
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

fn docs(workspace: &Workspace, _: Setup) -> Result<Outcome> {
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
