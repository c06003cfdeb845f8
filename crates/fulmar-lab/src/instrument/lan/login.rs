//! Measures a login as users make it: from the command to the prompt that their start-up file sets.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::shell::ShellHosts;
use crate::experiment::{Measured, Surroundings};
use crate::instrument::Kernel;
use crate::instrument::figures::{Figures, median, millis};
use crate::peer::{Values, plain};
use crate::scenario::Scenario;

/// The start-up file of the account. No message of the day ends as its prompt does.
const PROFILE: &str = "PS1='#PROMPT# '\n";

/// Logs in in turns by this peer and by ssh.
pub(super) fn measure(
    peer: &str,
    scenario: &Scenario,
    times: usize,
    around: &Surroundings,
) -> Result<Measured> {
    let hosts = ShellHosts::new(scenario, around)?;
    let kernel = Kernel::USUAL.set(&hosts.session.link)?;
    let fulmar = &around.fulmar;
    furnish(&hosts.session.files.server_home(), fulmar).context("furnishing the account")?;
    let values = hosts.session.files.values(fulmar)?;
    let [line, ssh] = [line(peer, &values)?, line("ssh", &values)?];
    let log = hosts.session.files.home().join("steps");
    let logged = line.replace(" --ssh", &format!(" --log {} --ssh", log.display()));
    let mut took = Vec::new();
    let mut over_ssh = Vec::new();
    let mut steps: BTreeMap<String, Vec<Duration>> = BTreeMap::new();
    // What is read for the first time is not counted.
    for round in 0..=times {
        let [own, of_ssh] = [log_in(&hosts, &line)?, log_in(&hosts, &ssh)?];
        if peer == "fulmar" && round > 0 {
            log_in(&hosts, &logged)?;
            let text = fs::read_to_string(&log).context("reading the log")?;
            fs::remove_file(&log)?;
            for (step, time) in text.lines().filter_map(step_of) {
                steps.entry(step).or_default().push(time);
            }
        }
        if round > 0 {
            took.push(own);
            over_ssh.push(millis(own) - millis(of_ssh));
        }
    }
    let mut figures = Figures::default();
    figures.put_some_ms("to_prompt", median(took));
    if peer != "ssh" {
        figures.put_some("over_ssh", fulmar_testbed::median(over_ssh), "ms");
    }
    for (step, times) in steps {
        figures.put_some_ms(&format!("step_{step}"), median(times));
    }
    let sshd = hosts.session.sshd.command.clone();
    Ok(figures.measured(scenario, vec![line, sshd, kernel]))
}

/// Gives the account a prompt, and our program where users put their own.
fn furnish(home: &Path, fulmar: &Path) -> Result<()> {
    fs::write(home.join(".profile"), PROFILE)?;
    // Otherwise somebody prints a message of the day.
    fs::write(home.join(".hushlogin"), "")?;
    let programs = home.join(".local/bin");
    fs::create_dir_all(&programs)?;
    Ok(symlink(fulmar, programs.join("fulmar"))?)
}

/// Returns the line with which users of this peer log in.
fn line(peer: &str, values: &Values) -> Result<String> {
    let Values { ssh, host, .. } = values;
    Ok(match peer {
        "ssh" => format!("exec {ssh} {host}"),
        "mosh" => format!("exec mosh --ssh='{ssh}' {host}"),
        "fulmar" => format!("exec {} --ssh='{ssh}' {host}", plain(&values.fulmar)?),
        _ => bail!("nobody has said how users of {peer} log in"),
    })
}

/// Returns the time from the command to the prompt.
fn log_in(hosts: &ShellHosts, line: &str) -> Result<Duration> {
    let mut shell = hosts.start(line)?;
    let took = shell.await_first_prompt()?;
    shell.leave()?;
    Ok(took)
}

/// Returns the step that a line of our log tells of, as a figure is named, and when it was taken.
fn step_of(line: &str) -> Option<(String, Duration)> {
    let (_, step) = line.split_once("step: ")?;
    let (name, rest) = step.split_once(" after_ms=")?;
    let millis: f64 = rest.split(' ').next()?.parse().ok()?;
    let time = Duration::try_from_secs_f64(millis / 1e3).ok()?;
    Some((name.replace(' ', "_"), time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_found_in_the_log() {
        let line = "0.2 INFO fulmar::steps: step: first answer after_ms=31.5";
        let found = ("first_answer".to_owned(), Duration::from_micros(31_500));
        assert_eq!(step_of(line), Some(found));
        assert_eq!(step_of("0.2 INFO something else"), None);
    }
}
