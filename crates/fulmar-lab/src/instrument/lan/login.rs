//! Measures a login as users make it: from the command to the prompt that their start-up file sets.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::shell::ShellSession;
use super::{in_millis, link};
use crate::experiment::{LabSetup, Measured, Work};
use crate::instrument::Kernel;
use crate::instrument::figures::{median, millis};
use crate::instrument::hosts::PeerHosts;
use crate::peer::{Values, plain};

/// The start-up file of the account. No message of the day ends as its prompt does.
const PROFILE: &str = "PS1='#PROMPT# '\n";

/// The time that a login takes, in turns by this peer and by ssh.
#[derive(Clone, Copy, Debug)]
pub struct LoginTime {
    /// The round trip of the link.
    pub round_trip: Duration,
    /// The number of logins by the peer, and of those by ssh.
    pub times: usize,
}

impl Work for LoginTime {
    fn measure(&self, peer: &str, seed: u64, setup: &LabSetup) -> Result<Measured> {
        let scenario = link(seed, self.round_trip, "")?;
        let hosts = PeerHosts::new(&scenario, Kernel::USUAL, setup)?;
        let files = &hosts.session.files;
        furnish(&files.server_home(), &setup.fulmar).context("furnishing the account")?;
        let values = hosts.values()?;
        let [line, ssh] = [line(peer, &values)?, line("ssh", &values)?];
        let log = files.home().join("steps");
        let logged = line.replace(" --ssh", &format!(" --log {} --ssh", log.display()));
        let mut took = Vec::new();
        let mut over_ssh = Vec::new();
        let mut steps: BTreeMap<String, Vec<Duration>> = BTreeMap::new();
        // What is read for the first time is not counted.
        for round in 0..=self.times {
            let [own, of_ssh] = [log_in(&hosts, &line)?, log_in(&hosts, &ssh)?];
            if round == 0 {
                continue;
            }
            if peer == "fulmar" {
                log_in(&hosts, &logged)?;
                let text = fs::read_to_string(&log).context("reading the log")?;
                fs::remove_file(&log)?;
                for (step, time) in text.lines().filter_map(step_of) {
                    steps.entry(step).or_default().push(time);
                }
            }
            took.push(own);
            over_ssh.push(millis(own) - millis(of_ssh));
        }
        let mut measured = Measured::default();
        measured.put_ms("to_prompt", median(took));
        if peer != "ssh" {
            measured.put("over_ssh", fulmar_testbed::median(over_ssh), "ms");
        }
        for (step, times) in steps {
            measured.put_ms(&format!("step_{step}"), median(times));
        }
        Ok(measured.by(&scenario, hosts.commands(line)))
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![
            ("round trip", in_millis(self.round_trip)),
            ("logins", self.times.to_string()),
        ]
    }
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
fn log_in(hosts: &PeerHosts, line: &str) -> Result<Duration> {
    let mut shell = ShellSession::start(hosts, line.to_owned())?;
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

    #[test]
    fn a_step_needs_a_name_and_a_time() {
        for line in [
            "",
            "step: hello",
            "step: hello after_ms=",
            "step: hello after_ms=soon",
            "step: hello after_ms=-1",
            "step: hello after_ms=1e300",
            "hello after_ms=1",
        ] {
            assert_eq!(step_of(line), None, "{line}");
        }
        let line = "step: hello after_ms=2 more=1";
        assert_eq!(
            step_of(line),
            Some(("hello".to_owned(), Duration::from_millis(2)))
        );
    }

    #[test]
    fn users_log_in_by_the_name_of_the_peer() {
        let values = Values {
            host: "203.0.113.1".to_owned(),
            port: 22,
            command: "sh".to_owned(),
            ssh: "/usr/bin/ssh -F /tmp/config".to_owned(),
            fulmar: "/opt/fulmar".into(),
            mosh_server: None,
        };
        let of = |peer| line(peer, &values).unwrap();
        assert_eq!(of("ssh"), "exec /usr/bin/ssh -F /tmp/config 203.0.113.1");
        let ssh = "--ssh='/usr/bin/ssh -F /tmp/config' 203.0.113.1";
        assert_eq!(of("mosh"), format!("exec mosh {ssh}"));
        assert_eq!(of("fulmar"), format!("exec /opt/fulmar {ssh}"));
        assert!(
            line("telnet", &values)
                .unwrap_err()
                .to_string()
                .contains("telnet")
        );
    }

    #[test]
    fn an_account_finds_our_program_and_says_nothing_but_its_prompt() {
        let home = tempfile::tempdir().unwrap();
        let program = home.path().join("a program");
        fs::write(&program, "it").unwrap();
        furnish(home.path(), &program).unwrap();
        assert_eq!(
            fs::read_to_string(home.path().join(".local/bin/fulmar")).unwrap(),
            "it"
        );
        assert!(home.path().join(".hushlogin").is_file());
        assert!(
            fs::read_to_string(home.path().join(".profile"))
                .unwrap()
                .contains("#PROMPT#")
        );
    }
}
