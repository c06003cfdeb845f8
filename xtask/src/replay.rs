//! `cargo xtask replay SEED`: one run of the model test again, to be read by a person.

use anyhow::{Result, bail};

use crate::test;
use crate::workspace::Workspace;

/// Runs one seed of the model test and prints its timeline.
#[derive(clap::Args)]
pub(crate) struct Replay {
    /// The seed that a failed run printed
    seed: u64,
    /// The scenario that printed it: the name of one test in fulmar-core/tests/model.rs, or a part of it
    #[arg(long)]
    scenario: Option<String>,
}

impl Replay {
    /// Runs the model test with `FULMAR_SEED` set, which makes it run this seed alone and tell its timeline.
    ///
    /// # Errors
    ///
    /// When the seed fails, or no scenario has that name.
    pub(crate) fn run(&self, workspace: &Workspace) -> Result<()> {
        let model = [
            "test",
            "--locked",
            "--package",
            "fulmar-core",
            "--test",
            "model",
            "--",
        ];
        let mut cargo = workspace.cargo(model);
        cargo
            .args(["--nocapture", "--test-threads", "1"])
            .args(&self.scenario);
        cargo.env("FULMAR_SEED", self.seed.to_string());
        let run = test::run_and_count(&mut cargo, &mut std::io::stdout())?;
        if !run.succeeded {
            bail!("seed {} failed", self.seed);
        }
        if run.tally.passed == 0 {
            bail!(
                "no scenario is called {}",
                self.scenario.as_deref().unwrap_or("anything")
            );
        }
        Ok(())
    }
}
