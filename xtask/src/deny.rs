//! The steps that ask cargo-deny: licences, banned crates, sources, known vulnerabilities.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::Setup;
use crate::outcome::Outcome;
use crate::workspace::{self, Workspace};

/// The version that is installed where there is none.
const VERSION: &str = "0.20.2";

/// The time that fetching the advisory database may take before it counts as out of reach. Chosen by eye: it
/// is some megabytes, and a dead network may never answer.
const FETCH_TIMEOUT: Duration = Duration::from_secs(90);

/// Pause between two looks at whether the fetch has ended.
const POLL: Duration = Duration::from_millis(100);

/// Checks the dependencies against the licences, bans and sources of `deny.toml`.
///
/// # Errors
///
/// When a dependency breaks a rule, or, in CI, when cargo-deny cannot be had.
pub(crate) fn licences(workspace: &Workspace, setup: Setup) -> Result<Outcome> {
    match provide(workspace, setup) {
        Ok(true) => {}
        Ok(false) => return Ok(not_checked("licences, bans and sources", &how_to_install())),
        Err(error) if setup.ci => return Err(error),
        Err(error) => {
            return Ok(not_checked(
                "licences, bans and sources",
                &format!("{error:#}"),
            ));
        }
    }
    let args = ["deny", "--locked", "check", "licenses", "bans", "sources"];
    workspace::run(&mut workspace.cargo(args))?;
    Ok(Outcome::Passed)
}

/// Checks the dependencies against the advisory database, where that can be fetched.
///
/// # Errors
///
/// When the database names one of our dependencies. A database that is out of reach is no
/// failure of ours, but is said loudly.
pub(crate) fn advisories(workspace: &Workspace, _: Setup) -> Result<Outcome> {
    if !is_installed(workspace) {
        return Ok(not_checked("advisories", &how_to_install()));
    }
    if let Err(error) = fetch_database(workspace) {
        let why = format!("the database could not be fetched ({error:#})");
        return Ok(not_checked("advisories", &why));
    }
    let args = ["deny", "--locked", "check", "advisories"];
    workspace::run(&mut workspace.cargo(args))?;
    Ok(Outcome::Passed)
}

/// Makes cargo-deny available if it may; returns whether it is.
fn provide(workspace: &Workspace, setup: Setup) -> Result<bool> {
    if is_installed(workspace) {
        return Ok(true);
    }
    if !setup.installs_all() {
        return Ok(false);
    }
    println!("installing cargo-deny {VERSION}, which takes some minutes");
    let args = [
        "install",
        "--locked",
        "--quiet",
        "cargo-deny",
        "--version",
        VERSION,
    ];
    workspace::run(&mut workspace.cargo(args)).context("cargo-deny cannot be installed")?;
    Ok(true)
}

fn is_installed(workspace: &Workspace) -> bool {
    let mut version = workspace.cargo(["deny", "--version"]);
    version.stdout(Stdio::null()).stderr(Stdio::null());
    version.status().is_ok_and(|status| status.success())
}

fn how_to_install() -> String {
    format!("cargo-deny is missing: cargo install --locked cargo-deny --version {VERSION}")
}

fn fetch_database(workspace: &Workspace) -> Result<()> {
    let mut fetch = workspace.cargo(["deny", "fetch", "db"]);
    fetch
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    run_for_at_most(&mut fetch, FETCH_TIMEOUT)
}

/// Runs `command`, and ends it if it takes longer than `limit`.
fn run_for_at_most(command: &mut Command, limit: Duration) -> Result<()> {
    let mut child = command
        .spawn()
        .with_context(|| format!("starting {}", workspace::shown(command)))?;
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => bail!("{} ended with {status}", workspace::shown(command)),
            None => std::thread::sleep(POLL),
        }
    }
    child.kill()?;
    child.wait()?;
    bail!(
        "{} took more than {} s",
        workspace::shown(command),
        limit.as_secs()
    );
}

/// Says so that nobody overlooks it that `what` was not checked.
fn not_checked(what: &str, why: &str) -> Outcome {
    let line = "!".repeat(78);
    eprintln!("{line}\n!! NOT CHECKED: {what}\n!! {why}\n{line}");
    Outcome::NotDone(why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_does_not_end_is_ended() {
        let error = run_for_at_most(Command::new("sleep").arg("1000"), Duration::ZERO);
        assert_eq!(
            error.unwrap_err().to_string(),
            "sleep 1000 took more than 0 s"
        );
    }

    #[test]
    fn a_program_that_fails_is_a_failure() {
        assert!(run_for_at_most(&mut Command::new("false"), Duration::from_secs(60)).is_err());
    }
}
