//! One after the other, on the client of an emulated link: ssh, stock Mosh and Fulmar log in.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use fulmar_platform::Spawn;

use super::login_place::PROMPT;
use super::terminal::Terminal;

/// Longer than any login.
const LIMIT: Duration = Duration::from_secs(60);

/// The most tries to reach the sshd, which was started at the same time as we.
const TRIES_MAX: u32 = 100;
const BETWEEN_TRIES: Duration = Duration::from_millis(100);

/// Makes rounds of logins and tells their times.
#[derive(clap::Args)]
pub(crate) struct Visits {
    /// The folder of what logins are made with
    folder: PathBuf,
    rounds: usize,
}

/// The times of one round, ms.
#[derive(Debug, PartialEq)]
pub(super) struct Round {
    /// From the command to the prompt: of ssh, of stock Mosh, of ours. `None` when it never came.
    pub(super) to_prompt: [Option<f64>; 3],
    /// The steps of one more login of ours, as the log told: each step, and when it was taken.
    pub(super) steps: Vec<(String, f64)>,
}

impl Round {
    /// Reads what [`Visits::run`] has printed.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let value: serde_json::Value = serde_json::from_str(line).ok()?;
        let time = |peer: usize| value["to_prompt"][peer].as_f64();
        let steps = value["steps"].as_array()?.iter();
        Some(Self {
            to_prompt: [time(0), time(1), time(2)],
            steps: steps
                .map(|step| Some((step[0].as_str()?.to_owned(), step[1].as_f64()?)))
                .collect::<Option<_>>()?,
        })
    }

    /// Returns the time at which the step was taken.
    pub(super) fn step(&self, name: &str) -> Option<f64> {
        let (_, time) = self.steps.iter().find(|(step, _)| step == name)?;
        Some(*time)
    }

    fn line(&self) -> String {
        serde_json::json!({ "to_prompt": self.to_prompt, "steps": self.steps }).to_string()
    }
}

impl Visits {
    /// Makes them. What is read for the first time is not counted: there is a round before.
    ///
    /// # Errors
    ///
    /// When the sshd does not come, or a program ends without a prompt.
    pub(crate) fn run(&self) -> Result<()> {
        self.await_sshd()?;
        for number in 0..=self.rounds {
            let round = self.round()?;
            eprintln!("xtask:     {:.0?}", round.to_prompt);
            if number > 0 {
                println!("{}", round.line());
            }
        }
        Ok(())
    }

    fn round(&self) -> Result<Round> {
        let ssh = self.ssh()?;
        let option = format!("--ssh={ssh}");
        let fulmar = self.folder.join("fulmar").display().to_string();
        let log = self.folder.join("log").display().to_string();
        // A round of before has written it.
        let _ = fs::remove_file(&log);
        let ssh: Vec<&str> = ssh.split(' ').collect();
        let to_prompt = [
            time_to_prompt(&self.command(&ssh)?)?,
            time_to_prompt(&self.command(&["mosh", &option])?)?,
            time_to_prompt(&self.command(&[&fulmar, &option])?)?,
        ];
        time_to_prompt(&self.command(&[&fulmar, &option, "--log", &log])?)?;
        let text = fs::read_to_string(&log).context("reading the log")?;
        let steps = text.lines().filter_map(step_of).collect();
        Ok(Round { to_prompt, steps })
    }

    fn ssh(&self) -> Result<String> {
        let folder = self.folder.to_str().context("a path is not UTF-8")?;
        Ok(format!("ssh -F {folder}/ssh_config"))
    }

    /// These words and the server, as the user of a terminal would start them.
    fn command(&self, words: &[&str]) -> Result<Spawn> {
        let (program, arguments) = words.split_first().context("no program")?;
        let mut command = Spawn::new(program);
        for argument in arguments {
            command.arg(argument);
        }
        command.arg(std::env::var_os("FULMAR_LAB_SERVER").context("this is not on a link")?);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.folder.join("near"));
        command.env("TERM", "xterm-256color");
        command.env("LC_ALL", "C.UTF-8");
        Ok(command)
    }

    fn await_sshd(&self) -> Result<()> {
        for _ in 0..TRIES_MAX {
            let ssh = self.ssh()?;
            let mut words = ssh.split(' ');
            let mut command = Command::new(words.next().context("no program")?);
            command
                .args(words)
                .arg(std::env::var_os("FULMAR_LAB_SERVER").context("this is not on a link")?)
                .arg("true")
                .stdin(Stdio::null())
                .stderr(Stdio::null());
            if command.status().context("starting ssh")?.success() {
                return Ok(());
            }
            std::thread::sleep(BETWEEN_TRIES);
        }
        bail!("no sshd answers")
    }
}

/// The milliseconds until the command shows the prompt. Then it is made to leave.
fn time_to_prompt(command: &Spawn) -> Result<Option<f64>> {
    let began = Instant::now();
    let mut terminal = Terminal::start(command)?;
    let shown = terminal.wait_for(&[PROMPT], LIMIT)?;
    let took = began.elapsed().as_secs_f64() * 1000.0;
    terminal.type_keys(b"exit\r");
    terminal.wait_for_end(LIMIT)?;
    Ok(shown.map(|_| took))
}

/// The step of a line of the log, and its time.
fn step_of(line: &str) -> Option<(String, f64)> {
    let (_, step) = line.split_once("step: ")?;
    let (name, rest) = step.split_once(" after_ms=")?;
    let time = rest.split(' ').next()?.parse().ok()?;
    Some((name.to_owned(), time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_is_read_as_it_was_told() {
        let round = Round {
            to_prompt: [Some(1.5), None, Some(3.0)],
            steps: vec![("hello".to_owned(), 12.25)],
        };
        assert_eq!(Round::parse(&round.line()), Some(round));
        assert_eq!(Round::parse("no"), None);
    }

    #[test]
    fn steps_are_found_in_the_log() {
        let line = "0.2 INFO fulmar::steps: step: first answer after_ms=31.007";
        let found = ("first answer".to_owned(), 31.007);
        assert_eq!(step_of(line), Some(found));
        assert_eq!(step_of("0.2 INFO something else"), None);
    }
}
