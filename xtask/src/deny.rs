//! The steps that ask cargo-deny: licences, banned crates, sources, known vulnerabilities.

use std::process::{Child, Command, Stdio};
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

/// The priority of its compilation, as low as there is: tests that wait for a deadline notice nothing of it.
const LOWEST_PRIORITY: &str = "19";

/// Pause between two looks at whether the fetch has ended.
const POLL: Duration = Duration::from_millis(100);

/// Checks the dependencies against the licences, bans and sources of `deny.toml`.
///
/// # Errors
///
/// When a dependency breaks a rule, or, in CI, when cargo-deny cannot be had.
pub(crate) fn licences(
    workspace: &Workspace,
    setup: Setup,
    cargo_deny: &mut CargoDeny,
) -> Result<Outcome> {
    let why_not = match cargo_deny.wait() {
        Ok(true) => {
            let args = ["deny", "--locked", "check", "licenses", "bans", "sources"];
            return workspace::run(&mut workspace.cargo(args)).map(|()| Outcome::Passed);
        }
        Ok(false) => how_to_install(),
        Err(error) if setup.ci => return Err(error),
        Err(error) => format!("{error:#}"),
    };
    Ok(not_checked("licences, bans and sources", &why_not))
}

/// Checks the dependencies against the advisory database, where that can be fetched.
///
/// # Errors
///
/// When the database names one of our dependencies. A database that is out of reach is no
/// failure of ours, but is said loudly.
pub(crate) fn advisories(workspace: &Workspace, cargo_deny: &mut CargoDeny) -> Result<Outcome> {
    if !cargo_deny.wait().unwrap_or(false) {
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

/// cargo-deny on this machine. Where it is to be installed, that begins at once and goes on beside other work.
pub(crate) enum CargoDeny {
    /// It can be called.
    Installed,
    /// It is missing, and nobody wants it to be installed.
    Missing,
    /// It is being compiled.
    Compiling(Child),
}

impl CargoDeny {
    /// Looks for cargo-deny, and begins to install it if it is missing and may be.
    ///
    /// # Errors
    ///
    /// When cargo cannot be started.
    pub(crate) fn provide(workspace: &Workspace, setup: Setup) -> Result<Self> {
        if is_installed(workspace) {
            return Ok(Self::Installed);
        }
        if !setup.installs_all() {
            return Ok(Self::Missing);
        }
        println!("installing cargo-deny {VERSION} beside the other steps");
        let mut install = workspace::wrapped(workspace::nice(LOWEST_PRIORITY), &install(workspace));
        let child = install
            .stdin(Stdio::null())
            .spawn()
            .with_context(|| format!("starting {}", workspace::shown(&install)))?;
        Ok(Self::Compiling(child))
    }

    /// Waits until cargo-deny can be called; returns false if it is missing.
    fn wait(&mut self) -> Result<bool> {
        if let Self::Compiling(child) = self {
            let status = child.wait()?;
            if !status.success() {
                bail!("cargo-deny cannot be installed: cargo install ended with {status}");
            }
            *self = Self::Installed;
        }
        Ok(matches!(self, Self::Installed))
    }
}

/// Returns the call that installs cargo-deny, optimised as little as possible: it runs for a second, and would be
/// optimised for minutes.
fn install(workspace: &Workspace) -> Command {
    workspace.cargo([
        "install",
        "--locked",
        "--quiet",
        "--config=profile.release.lto=false",
        "--config=profile.release.codegen-units=16",
        "--config=profile.release.opt-level=0",
        "cargo-deny",
        "--version",
        VERSION,
    ])
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
    fn an_installation_is_waited_for_and_its_failure_is_one_each_time() {
        let compiling = |program: &str| {
            let mut command =
                workspace::wrapped(workspace::nice(LOWEST_PRIORITY), &Command::new(program));
            CargoDeny::Compiling(command.spawn().unwrap())
        };
        let mut done = compiling("true");
        assert!(done.wait().unwrap());
        assert!(matches!(done, CargoDeny::Installed));
        let mut failed = compiling("false");
        for _ in 0..2 {
            let error = failed.wait().unwrap_err().to_string();
            assert!(
                error.starts_with("cargo-deny cannot be installed"),
                "{error}"
            );
        }
        assert!(!CargoDeny::Missing.wait().unwrap());
    }

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
