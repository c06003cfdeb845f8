//! The project's own commands, run as `cargo xtask NAME`.
//!
//! | command | does |
//! |---|---|
//! | `check` | what CI runs: format, tidy, clippy, tests, docs, packages, licences, advisories |
//! | `test` | every test of the workspace, and says which were left out |
//! | `replay SEED` | one seed of the model test again, with its timeline |
//! | `tidy` | the project's own rules about its sources |
//! | `lines` | how large each crate is |
//! | `figures` | measures beside ssh and stock Mosh and writes `docs/figures.md` |
//! | `mutants` | plants known bugs in a copy, and sees whether the tests find them |
//! | `fuzz` | runs the fuzz targets, and enters into the ledger what became of it |
//! | `simulate` | runs whole sessions in virtual time, by seeds, and enters into the ledger what became of it |
//! | `soak` | runs sessions in real time, and whether anything grows, and enters into the ledger what became of it |
//! | `reproduce` | builds the program twice, in two folders, and compares the results byte for byte |
//! | `recording` | records ssh and our program side by side, for the README |
//!
//! Chores are Rust because Rust is typed, tested and runs wherever the project does.

mod check;
mod deny;
mod figures;
mod fuzz;
mod ledger;
mod lines;
mod mirror;
mod mutants;
mod outcome;
mod packages;
mod peers;
mod programs;
mod recording;
mod replay;
mod reproduce;
mod simulate;
mod soak;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::workspace::Workspace;

/// Chores of the Fulmar project.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs what CI runs, every step, and ends with a table of them
    Check(Setup),
    /// Runs all tests and lists those that were left out
    Test(Setup),
    /// Runs one seed of the model test and prints its timeline
    Replay(replay::Replay),
    /// Checks the project's own rules about its sources
    Tidy,
    /// Counts the lines of each crate, and the share of them that needs no operating system
    Lines(lines::Lines),
    /// Measures beside ssh and stock Mosh and writes docs/figures.md
    Figures(figures::Figures),
    /// Plants known bugs in a copy of the workspace and checks that the tests find each of them
    Mutants(mutants::Mutants),
    /// Runs the fuzz targets and enters into docs/campaigns.md what became of it
    Fuzz(fuzz::Fuzz),
    /// Runs whole sessions in virtual time, by seeds, and enters into docs/campaigns.md what became of it
    Simulate(simulate::Simulate),
    /// Runs sessions in real time, and enters into docs/campaigns.md whether anything grows
    Soak(soak::Soak),
    /// Builds the program twice, in two folders, and compares the results byte for byte
    Reproduce(reproduce::Reproduce),
    /// Records ssh and Fulmar side by side over an emulated link, and draws the film in the README
    Recording,
}

/// The changes that a command may make to the machine it runs on.
#[derive(clap::Args, Clone, Copy)]
struct Setup {
    /// Install what is missing, Debian packages (as root) and cargo-deny, and fail without it
    #[arg(long)]
    install: bool,
    /// Install nothing, not even as root, and leave out what is missing
    #[arg(long, conflicts_with = "install")]
    no_install: bool,
    /// Running in CI: install what is missing, and leave nothing out
    #[arg(long = "ci", env = "CI", num_args = 0..=1, default_missing_value = "true",
          default_value = "false", value_parser = clap::builder::FalseyValueParser::new(), hide = true)]
    ci: bool,
}

/// The treatment of Debian packages that tests need and that are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Missing {
    /// They are installed, and all tests have to run.
    Required,
    /// They are installed if this is root and there is apt; what is missing nonetheless is left out.
    InstalledIfPossible,
    /// The tests that need them are left out.
    LeftOut,
}

impl Setup {
    /// Returns true if everything that is missing is to be installed: in CI, and where somebody asks for it.
    fn installs_all(self) -> bool {
        (self.install || self.ci) && !self.no_install
    }

    /// Returns the treatment of missing packages that tests need.
    fn missing(self) -> Missing {
        match self {
            _ if self.installs_all() => Missing::Required,
            Setup {
                no_install: true, ..
            } => Missing::LeftOut,
            _ => Missing::InstalledIfPossible,
        }
    }
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let workspace = Workspace::of_this_checkout();
    let done = match cli.command {
        Command::Check(setup) => check::run(&workspace, setup),
        Command::Test(setup) => test::run(&workspace, setup),
        Command::Replay(replay) => replay.run(&workspace),
        Command::Tidy => tidy::run(&workspace),
        Command::Lines(lines) => lines.run(&workspace),
        Command::Figures(figures) => figures.run(&workspace),
        Command::Mutants(mutants) => mutants.run(&workspace),
        Command::Fuzz(fuzz) => fuzz.run(&workspace),
        Command::Simulate(simulate) => simulate.run(&workspace),
        Command::Soak(soak) => soak.run(&workspace),
        Command::Reproduce(reproduce) => reproduce.run(&workspace),
        Command::Recording => recording::run(&workspace),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_required_where_everything_is_installed_and_nowhere_else() {
        let missing = |words: &[&str]| {
            let words = ["xtask", "test"].iter().chain(words).copied();
            match Cli::try_parse_from(words) {
                Ok(Cli {
                    command: Command::Test(mut setup),
                }) => {
                    // The variable of whoever runs this test.
                    setup.ci = false;
                    Some(setup.missing())
                }
                _ => None,
            }
        };
        assert_eq!(missing(&[]), Some(Missing::InstalledIfPossible));
        assert_eq!(missing(&["--install"]), Some(Missing::Required));
        assert_eq!(missing(&["--no-install"]), Some(Missing::LeftOut));
        assert_eq!(missing(&["--install", "--no-install"]), None);
        let [install, no_install] = [false, false];
        let in_ci = Setup {
            install,
            no_install,
            ci: true,
        };
        assert_eq!(in_ci.missing(), Missing::Required);
        assert_eq!(
            Setup {
                no_install: true,
                ..in_ci
            }
            .missing(),
            Missing::LeftOut
        );
    }
}
