//! Output that floods, and how soon the prompt is there after Ctrl-C.

use std::time::Duration;

use anyhow::{Context as _, Result};
use fulmar_platform::boot_time;

use super::shell::ShellSession;
use super::{in_millis, link};
use crate::experiment::{LabSetup, Measured, Work};
use crate::instrument::Kernel;
use crate::instrument::figures::{Traffic, median, millis, traffic};
use crate::instrument::hosts::PeerHosts;
use crate::instrument::watcher::ByteStream as _;
use crate::peer::Peer;

/// A fast link with the queue that such a link has: 20 ms of it.
pub(super) const FAST: &str = "rate 100mbit queue 256kB";

/// A slow link with a queue that holds 4 s of it, as those of cellular networks do.
pub(super) const DEEP: &str = "rate 2mbit queue 1000kB";

/// The time for which it floods before Ctrl-C.
const FLOOD: Duration = Duration::from_secs(2);

/// The time for which it is quiet before the next flood.
const QUIET: Duration = Duration::from_millis(500);

/// So many bytes of numbered lines are in a file, and the file is shown so often: for longer than it floods,
/// whatever the machine.
const FILE_BYTES: usize = 32 << 20;
const FILE_TIMES: usize = 64;

/// The time for which output that floods goes on after Ctrl-C.
#[derive(Clone, Copy, Debug)]
pub struct FloodInterrupt {
    /// The round trip of the link.
    pub round_trip: Duration,
    /// The rest of the link: a list of a scenario.
    pub link: &'static str,
    /// The program that floods.
    pub source: FloodSource,
    /// The number of floods.
    pub times: usize,
}

/// A program that floods a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloodSource {
    /// `yes`: a screen that never changes.
    Yes,
    /// `cat` of numbered lines: one that always does.
    Cat,
}

impl Work for FloodInterrupt {
    fn measure(&self, peer: &str, seed: u64, setup: &LabSetup) -> Result<Measured> {
        let peer = Peer::parse(peer)?;
        let scenario = link(seed, self.round_trip, self.link)?;
        let file = tempfile::NamedTempFile::new().context("making a file to show")?;
        let command = match self.source {
            FloodSource::Yes => "yes".to_owned(),
            FloodSource::Cat => {
                std::fs::write(file.path(), lines()).context("making a file to show")?;
                let name = file.path().display();
                format!(
                    "set --; while [ $# -lt {FILE_TIMES} ]; do set -- {name} \"$@\"; done; cat \"$@\""
                )
            }
        };
        let hosts = PeerHosts::new(&scenario, Kernel::USUAL, setup)?;
        let mut shell = ShellSession::enter(&hosts, &peer)?;
        shell.await_first_prompt()?;
        shell.set_prompt()?;
        let mut floods = Vec::new();
        for number in 0..self.times {
            shell.watcher.watch(QUIET)?;
            floods.push(FloodTimes::run(&mut shell, &hosts, &command, number)?);
        }
        let mut commands = hosts.commands(shell.line.clone());
        shell.leave()?;
        commands.insert(2, command);
        Ok(figures(&floods).by(&scenario, commands))
    }

    fn takes_any_peer(&self) -> bool {
        true
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![
            ("round trip", in_millis(self.round_trip)),
            ("link", self.link.to_owned()),
            ("interrupts", self.times.to_string()),
        ]
    }
}

/// The measurements of one flood.
struct FloodTimes {
    /// From Ctrl-C to the prompt.
    to_prompt: Duration,
    /// From Ctrl-C to the answer of a command that was typed at the prompt.
    to_answer: Duration,
    /// The number of bytes that the terminal got until Ctrl-C.
    shown: u64,
    /// The traffic that the server's host sent until Ctrl-C.
    sent: Traffic,
}

impl FloodTimes {
    fn run(
        shell: &mut ShellSession,
        hosts: &PeerHosts,
        command: &str,
        number: usize,
    ) -> Result<Self> {
        let link = &hosts.session.link;
        let (before, shown) = (link.report()?, shell.watcher.shown);
        shell.enter_line(command)?;
        shell.watcher.watch(FLOOD)?;
        let [_, sent] = traffic(&before, &link.report()?);
        let shown = shell.watcher.shown - shown;
        let interrupted = boot_time();
        shell.watcher.stream.write(b"\x03")?;
        let prompt = shell.await_prompt()?;
        shell.enter_line(&format!("echo answer $((100 + {number}))"))?;
        let answer = shell.await_answer(&format!("answer {}", 100 + number))?;
        Ok(Self {
            to_prompt: prompt - interrupted,
            to_answer: answer - interrupted,
            shown,
            sent,
        })
    }
}

/// Returns the figures of some floods.
fn figures(floods: &[FloodTimes]) -> Measured {
    let mut measured = Measured::default();
    let all = |time: fn(&FloodTimes) -> Duration| floods.iter().map(time).collect::<Vec<_>>();
    for (name, times) in [
        ("interrupt_to_prompt", all(|flood| flood.to_prompt)),
        ("interrupt_to_answer", all(|flood| flood.to_answer)),
    ] {
        measured.put_series(
            name,
            (1..).map(f64::from).zip(times.iter().copied().map(millis)),
        );
        measured.put_ms(&format!("{name}_most"), times.iter().max().copied());
        measured.put_ms(name, median(times));
    }
    let seconds = FLOOD.as_secs_f64() * floods.len().max(1) as f64;
    let rate = |count: fn(&FloodTimes) -> f64| floods.iter().map(count).sum::<f64>() / seconds;
    measured.put("shown", rate(|flood| flood.shown as f64), "B/s");
    measured.put("bytes_down", rate(|flood| flood.sent.bytes), "B/s");
    measured.put(
        "packets_down",
        rate(|flood| flood.sent.packets),
        "packets/s",
    );
    measured
}

/// Lines that say their number, and are as long as a terminal is wide, more or less.
fn lines() -> Vec<u8> {
    let mut lines = Vec::with_capacity(FILE_BYTES + 100);
    let mut number = 0_u32;
    while lines.len() < FILE_BYTES {
        number += 1;
        let filling = "the quick brown fox jumps over the lazy dog";
        lines.extend(format!("{number:08} {filling:.*}\n", number as usize % 44).into_bytes());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flood(prompt: u64, answer: u64, shown: u64, [bytes, packets]: [f64; 2]) -> FloodTimes {
        let sent = Traffic {
            way: "down",
            packets,
            bytes,
            lost: 0.0,
        };
        FloodTimes {
            to_prompt: Duration::from_millis(prompt),
            to_answer: Duration::from_millis(answer),
            shown,
            sent,
        }
    }

    #[test]
    fn floods_have_the_median_of_their_times_and_the_mean_of_their_traffic() {
        let floods = [
            flood(40, 90, 1000, [3000.0, 30.0]),
            flood(900, 950, 3000, [6000.0, 60.0]),
            flood(60, 120, 2000, [9000.0, 90.0]),
        ];
        let measured = figures(&floods);
        let value = |name: &str| measured.figures[name].value;
        assert_eq!(value("interrupt_to_prompt"), 60.0);
        assert_eq!(value("interrupt_to_prompt_most"), 900.0);
        assert_eq!(value("interrupt_to_answer"), 120.0);
        // Three floods of two seconds.
        assert_eq!(value("shown"), 1000.0);
        assert_eq!(value("bytes_down"), 3000.0);
        assert_eq!(value("packets_down"), 30.0);
        let points = &measured.series["interrupt_to_answer"];
        assert_eq!(*points, [(1.0, 90.0), (2.0, 950.0), (3.0, 120.0)]);
    }

    #[test]
    fn a_file_that_floods_says_another_number_in_each_line() {
        let lines = lines();
        assert!(lines.len() >= FILE_BYTES);
        let text = String::from_utf8(lines).unwrap();
        let mut numbers = text.lines().map(|line| line.split(' ').next().unwrap());
        assert_eq!(
            (numbers.next(), numbers.next()),
            (Some("00000001"), Some("00000002"))
        );
        assert!(text.lines().all(|line| line.len() < 80));
    }
}
