//! `cargo xtask replay SEED`: one run of the model test again, to be read by a person.

use std::num::ParseIntError;

use anyhow::{Result, bail};

use crate::test::{self, Silence};
use crate::workspace::Workspace;

/// Runs one seed of the model test and prints its timeline.
#[derive(clap::Args)]
pub(crate) struct Replay {
    /// The seed as the failed run printed it: 7 or 0x1f00
    #[arg(value_parser = seed)]
    seed: u64,
    /// The scenario that failed: a test of fulmar-core/tests/model.rs, or a part of its name
    #[arg(long)]
    scenario: Option<String>,
}

fn seed(text: &str) -> Result<u64, ParseIntError> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    }
}

impl Replay {
    /// Runs the model test with `FULMAR_SEED` set: it then runs this seed alone and tells its
    /// timeline.
    ///
    /// # Errors
    ///
    /// When the seed fails, or no scenario has that name.
    pub(crate) fn run(&self, workspace: &Workspace) -> Result<()> {
        let mut cargo = workspace.cargo(["test", "--locked", "--package", "fulmar-core"]);
        cargo.args(["--test", "model", "--"]);
        cargo
            .args(["--nocapture", "--test-threads", "1"])
            .args(&self.scenario);
        cargo.env("FULMAR_SEED", self.seed.to_string());
        let run = test::run_and_count(&mut cargo, &mut std::io::stdout(), Silence::Waits)?;
        if run.tally.failed > 0 {
            bail!("seed {} fails", self.seed);
        }
        if !run.succeeded {
            bail!("the model test did not come to its end");
        }
        if run.tally.passed == 0 {
            bail!(
                "no scenario is called {}",
                self.scenario.as_deref().unwrap_or("anything")
            );
        }
        println!("seed {} passes", self.seed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_read_as_it_is_printed() {
        assert_eq!(seed("7"), Ok(7));
        assert_eq!(seed("0x1f00"), Ok(0x1f00));
        assert!(seed("seven").is_err() && seed("0x").is_err() && seed("-1").is_err());
    }
}
