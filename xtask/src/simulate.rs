//! `cargo xtask simulate --seeds A..B`: whole sessions in virtual time, each with a seed of its own.

use std::process::Command;
use std::str::FromStr;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};

use crate::ledger;
use crate::test::{self, Silence};
use crate::workspace::Workspace;

/// The tests that run sessions by seeds: the one of random sessions, and the one of clients that take each other's.
const TESTS: [&str; 2] = ["model", "attach"];

/// The profile of Cargo.toml that they are built with.
const PROFILE: &str = "campaign";

/// The table of the ledger.
const HEADING: &str = "## Simulation";

/// Runs the model tests with some of the seeds, and enters into the ledger what became of it.
#[derive(clap::Args)]
pub(crate) struct Simulate {
    /// The places of the seeds in their order: 0..1000 are those that CI runs
    #[arg(long)]
    seeds: Places,
}

/// Places from one up to, and without, another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Places {
    first: u64,
    end: u64,
}

impl FromStr for Places {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Places> {
        let (first, end) = text.split_once("..").context("seeds are given as A..B")?;
        let places = Places {
            first: first.parse()?,
            end: end.parse()?,
        };
        ensure!(places.first < places.end, "there is none in {text}");
        Ok(places)
    }
}

impl Simulate {
    /// Runs the tests, in an optimised build with all assertions.
    ///
    /// # Errors
    ///
    /// When a seed fails: what is printed names it, with its timeline and the command that replays it.
    pub(crate) fn run(&self, workspace: &Workspace) -> Result<()> {
        let Places { first, end } = self.seeds;
        let began = Instant::now();
        let mut outcome = Ok(());
        for name in TESTS {
            let mut cargo = self.test(workspace, name);
            let run = test::run_and_count(&mut cargo, &mut std::io::stdout(), Silence::Waits)?;
            if !run.succeeded || run.tally.failed > 0 {
                outcome = Err(name);
                break;
            }
        }
        let [day, commit] = ledger::occasion(workspace)?;
        let minutes = began.elapsed().as_secs().div_ceil(60);
        let found = match outcome {
            Ok(()) => "nothing".to_owned(),
            Err(name) => format!("a seed of `{name}` fails"),
        };
        let tests = TESTS.join(", ");
        let seeds = format!("{first} to {}", end - 1);
        let cells = [day, commit, tests, seeds, minutes.to_string(), found];
        ledger::enter(workspace, HEADING, &cells)?;
        if let Err(name) = outcome {
            bail!("a seed of the test {name} fails");
        }
        println!("seeds {first}..{end} pass");
        Ok(())
    }

    fn test(&self, workspace: &Workspace, name: &str) -> Command {
        let Places { first, end } = self.seeds;
        let mut cargo = workspace.cargo(["test", "--locked", "--package", "fulmar-core"]);
        cargo.args(["--profile", PROFILE, "--test", name]);
        cargo.env("FULMAR_SEEDS", format!("{first}..{end}"));
        cargo
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read() {
        let places = |text: &str| text.parse::<Places>().ok();
        assert_eq!(places("5..9"), Some(Places { first: 5, end: 9 }));
        for wrong in ["5", "9..5", "5..5", "a..b", ""] {
            assert_eq!(places(wrong), None, "{wrong}");
        }
    }
}
