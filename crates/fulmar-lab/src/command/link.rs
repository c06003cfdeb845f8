//! `fulmar-lab link`: try a link by hand.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};
use fulmar_testbed::KilledChild;

use crate::link::{Link, Report};
use crate::scenario::{CLIENT_IP, SERVER_IP, Scenario};
use crate::trace::LinkTraces;

/// The words that lists and changes are made of; the documentation of `scenario` says what they mean.
const WORDS: &str = "\
A LIST is separated by commas, and its order is that of the link:
  delay 50ms | delay 40ms..60ms [reordering]
  loss 1% | burst-loss 5% run 4
  gilbert-elliott to-bad 1% to-good 20% good 0% bad 50%
  duplicate 1% | reorder 2% hold 30ms
  rate 5mbit [queue Q] | trace NAME [from 30s] [queue Q]
     Q: endless | 24p | 64kB | codel [target 5ms] [interval 100ms] [1000p] [ecn]
     NAME: a file of the folder of traces, or like-lte-down:7 (-up, evdo)
  mtu 1280 [reported] | mark 5% | unmark
  outage 10s..20s | blocked [udp | port 22] [rejected] | blocked nothing

A CHANGE is up LIST, down LIST or both LIST, or one of:
  client moves [to IP] | client sleeps | client wakes
  link cut | link restored | nat rebinds | nat moves to IP

A scenario has one entry a line:
  seed 7
  up LIST | down LIST | both LIST
  nat IP [expiring 30s] [filter open|address|port]
  at 10s CHANGE | every 10s CHANGE | at 5s every 10s CHANGE
";

/// Runs COMMAND on a client that reaches a server over an emulated link.
///
/// The client is 192.0.2.1, the server 203.0.113.1. COMMAND finds them in FULMAR_LAB_CLIENT and
/// FULMAR_LAB_SERVER, and the server's network in FULMAR_LAB_SERVER_NETWORK, for nsenter --net.
/// The order of the options that make up the link does not matter: it loses, then limits the
/// rate, then delays; --up, --down and --both add to that. For any other order name a --scenario.
#[derive(Debug, Default, clap::Args)]
#[command(after_long_help = WORDS)]
pub struct Arguments {
    /// A file that describes the link and what changes.
    #[arg(long, value_name = "FILE")]
    pub scenario: Option<PathBuf>,
    /// The time on the way, each way: 50ms, or 40ms..60ms for jitter.
    #[arg(long, value_name = "TIME")]
    pub delay: Option<String>,
    /// The share of packets lost, each way: 1%.
    #[arg(long, value_name = "SHARE")]
    pub loss: Option<String>,
    /// The rate of the link, each way: 400kbit, 5mbit.
    #[arg(long, value_name = "RATE")]
    pub rate: Option<String>,
    /// The queue in front of it: 24p, 64kB, codel; otherwise endless.
    #[arg(long, value_name = "QUEUE", requires = "rate")]
    pub queue: Option<String>,
    /// More that happens on the way from the client, as in a scenario: "mtu 1280, duplicate 1%".
    #[arg(long, value_name = "LIST")]
    pub up: Vec<String>,
    /// More that happens on the way to the client.
    #[arg(long, value_name = "LIST")]
    pub down: Vec<String>,
    /// More that happens on both ways.
    #[arg(long, value_name = "LIST")]
    pub both: Vec<String>,
    /// A translator in front of the client: "198.51.100.9 expiring 30s".
    #[arg(long, value_name = "IP")]
    pub nat: Option<String>,
    /// A change that comes once: "10s up loss 30%", "5s client moves".
    #[arg(long, value_name = "TIME CHANGE")]
    pub at: Vec<String>,
    /// A change that comes again and again: "10s client moves".
    #[arg(long, value_name = "PERIOD CHANGE")]
    pub every: Vec<String>,
    /// The number that all chance follows from.
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// The folder of link traces; otherwise that of FULMAR_LAB_DATA.
    #[arg(long, value_name = "FOLDER")]
    pub data: Option<PathBuf>,
    /// A command for the shell, to run on the server meanwhile.
    #[arg(long, value_name = "COMMAND")]
    pub server: Option<String>,
    /// Says at the end what happened to packets, and how late they were.
    #[arg(long)]
    pub report: bool,
    /// The command to run on the client.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// Runs the command on the link and ends as it does.
///
/// # Errors
///
/// Where the description has no meaning, or the link or a program cannot be started.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let scenario = arguments.scenario()?;
    super::into_pid_namespace()?;
    let link = Link::start(&scenario)?;
    let server = arguments.server.as_ref().map(|command| {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]);
        link.server
            .spawn(with_names(&mut shell, &link))
            .map(KilledChild)
    });
    let _server = server.transpose()?;
    let (program, rest) = arguments
        .command
        .split_first()
        .context("there is no command")?;
    let mut command = Command::new(program);
    command.args(rest);
    let status = link.client.spawn(with_names(&mut command, &link))?.wait()?;
    if arguments.report {
        eprint!("{}", told(&link.report()?));
    }
    link.stop()?;
    Ok(super::exit_code_of(status))
}

fn with_names<'a>(command: &'a mut Command, link: &Link) -> &'a mut Command {
    command
        .env("FULMAR_LAB_CLIENT", CLIENT_IP.to_string())
        .env("FULMAR_LAB_SERVER", SERVER_IP.to_string())
        .env("FULMAR_LAB_CLIENT_NETWORK", link.client.network_path())
        .env("FULMAR_LAB_SERVER_NETWORK", link.server.network_path())
}

fn told(report: &Report) -> String {
    let late = &report.lateness;
    let ms = |share| late.quantile(share).as_secs_f64() * 1e3;
    format!(
        "{}  handed over late by {:.3} ms (median), {:.3} ms (99 %), {:.3} ms (most); {:?}\n",
        report.events,
        ms(0.5),
        ms(0.99),
        late.most.as_secs_f64() * 1e3,
        report.priority,
    )
}

impl Arguments {
    /// Returns the scenario that file and options make together.
    ///
    /// # Errors
    ///
    /// Where it has no meaning.
    pub fn scenario(&self) -> Result<Scenario> {
        let traces = LinkTraces::of(self.data.as_deref());
        Scenario::parse(&self.text()?, &traces)
    }

    fn text(&self) -> Result<String> {
        let mut text = match &self.scenario {
            Some(file) => std::fs::read_to_string(file)
                .with_context(|| format!("reading {}", file.display()))?,
            None => String::new(),
        };
        let mut line = |word: &str, rest: &str| {
            // Writing to a string does not fail.
            let _ = write!(text, "\n{word} {rest}");
        };
        if let Some(seed) = self.seed {
            line("seed", &seed.to_string());
        }
        if let Some(loss) = &self.loss {
            line("both", &format!("loss {loss}"));
        }
        if let Some(rate) = &self.rate {
            let queue = self.queue.as_deref().unwrap_or("endless");
            line("both", &format!("rate {rate} queue {queue}"));
        }
        if let Some(delay) = &self.delay {
            line("both", &format!("delay {delay}"));
        }
        let lists = [
            ("up", &self.up),
            ("down", &self.down),
            ("both", &self.both),
            ("at", &self.at),
            ("every", &self.every),
        ];
        for (word, entries) in lists {
            entries.iter().for_each(|entry| line(word, entry));
        }
        if let Some(nat) = &self.nat {
            line("nat", nat);
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulmar_sim::{Delay, Loss, Queue, Rate};

    #[test]
    fn options_make_a_scenario_in_a_fixed_order() {
        let some = |text: &str| Some(text.to_owned());
        let arguments = Arguments {
            delay: some("50ms"),
            loss: some("1%"),
            rate: some("5mbit"),
            queue: some("24p"),
            seed: Some(9),
            every: vec!["10s client moves".to_owned()],
            ..Arguments::default()
        };
        let scenario = arguments.scenario().unwrap();
        let rate = Rate::kbit(5000, Queue::datagrams(24));
        assert_eq!(scenario.up, [Loss::percent(1), rate, Delay::ms(50)]);
        assert_eq!(scenario.up, scenario.down);
        assert_eq!((scenario.seed, scenario.changes.len()), (9, 1));
    }
}
