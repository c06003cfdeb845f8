//! Output that floods, and how soon the prompt is there after Ctrl-C.

use std::time::Duration;

use anyhow::{Context as _, Result};
use fulmar_platform::boot_time;

use super::FloodSource;
use super::shell::{ShellHosts, ShellSession};
use crate::experiment::{Measured, Surroundings};
use crate::instrument::Kernel;
use crate::instrument::figures::{Figures, median, millis, traffic};
use crate::peer::Peer;
use crate::scenario::Scenario;

/// A fast link with the queue that such a link has: 20 ms of it.
pub(super) const LINK: &str = "rate 100mbit queue 256kB";

/// The time for which it floods before Ctrl-C.
const FLOOD: Duration = Duration::from_secs(2);

/// The time for which it is quiet before the next flood.
const QUIET: Duration = Duration::from_millis(500);

/// So many bytes of numbered lines are in a file, and the file is shown so often: for longer than it floods,
/// whatever the machine.
const FILE_BYTES: usize = 32 << 20;
const FILE_TIMES: usize = 64;

/// Floods the terminal and interrupts that, several times.
pub(super) fn measure(
    peer: &Peer,
    scenario: &Scenario,
    source: FloodSource,
    times: usize,
    around: &Surroundings,
) -> Result<Measured> {
    let file = tempfile::NamedTempFile::new().context("making a file to show")?;
    let command = match source {
        FloodSource::Yes => "yes".to_owned(),
        FloodSource::Cat => {
            std::fs::write(file.path(), lines()).context("making a file to show")?;
            let name = file.path().display();
            format!(
                "set --; while [ $# -lt {FILE_TIMES} ]; do set -- {name} \"$@\"; done; cat \"$@\""
            )
        }
    };
    let hosts = ShellHosts::new(scenario, around)?;
    let kernel = Kernel::USUAL.set(&hosts.session.link)?;
    let mut shell = hosts.enter(peer)?;
    shell.await_first_prompt()?;
    shell.set_prompt()?;
    let mut floods = Vec::new();
    for number in 0..times {
        shell.watch(QUIET)?;
        floods.push(FloodTimes::run(&mut shell, &hosts, &command, number)?);
    }
    let mut commands = hosts.commands(&shell);
    shell.leave()?;
    commands.extend([command, kernel]);
    let mut measured = Measured {
        scenario: scenario.text.clone(),
        commands,
        ..Measured::default()
    };
    note(&floods, &mut measured);
    Ok(measured)
}

/// The measurements of one flood.
struct FloodTimes {
    /// From Ctrl-C to the prompt.
    to_prompt: Duration,
    /// From Ctrl-C to the answer of a command that was typed at the prompt.
    to_answer: Duration,
    /// The number of bytes that the terminal got until Ctrl-C.
    shown: u64,
    /// The traffic that the server's host sent until Ctrl-C: bytes and packets.
    sent: [f64; 2],
}

impl FloodTimes {
    fn run(
        shell: &mut ShellSession,
        hosts: &ShellHosts,
        command: &str,
        number: usize,
    ) -> Result<Self> {
        let (before, shown) = (hosts.session.link.report()?, shell.shown);
        shell.enter_line(command)?;
        shell.watch(FLOOD)?;
        let after = hosts.session.link.report()?;
        let shown = shell.shown - shown;
        let interrupted = boot_time();
        shell.type_keys(b"\x03")?;
        let prompt = shell.await_prompt()?;
        shell.enter_line(&format!("echo answer $((100 + {number}))"))?;
        let answer = shell.await_answer(&format!("answer {}", 100 + number))?;
        let [_, (_, packets, bytes)] = traffic(&before, &after);
        Ok(Self {
            to_prompt: prompt - interrupted,
            to_answer: answer - interrupted,
            shown,
            sent: [bytes, packets],
        })
    }
}

fn note(floods: &[FloodTimes], measured: &mut Measured) {
    let mut figures = Figures::default();
    let all = |time: fn(&FloodTimes) -> Duration| floods.iter().map(time).collect::<Vec<_>>();
    for (name, times) in [
        ("interrupt_to_prompt", all(|flood| flood.to_prompt)),
        ("interrupt_to_answer", all(|flood| flood.to_answer)),
    ] {
        let longest = times.iter().max().copied();
        let points = (1..).zip(&times);
        let points = points.map(|(number, time)| (f64::from(number), millis(*time)));
        measured.series.insert(name.to_owned(), points.collect());
        figures.put_some_ms(&format!("{name}_most"), longest);
        figures.put_some_ms(name, median(times));
    }
    let seconds = FLOOD.as_secs_f64() * floods.len().max(1) as f64;
    let rate = |count: fn(&FloodTimes) -> f64| floods.iter().map(count).sum::<f64>() / seconds;
    figures.put("shown", rate(|flood| flood.shown as f64), "B/s");
    figures.put("bytes_down", rate(|flood| flood.sent[0]), "B/s");
    figures.put("packets_down", rate(|flood| flood.sent[1]), "packets/s");
    measured.figures = figures.0;
}

/// LineTimes that say their number, and are as long as a terminal is wide, more or less.
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

    fn flood(prompt: u64, answer: u64, shown: u64, sent: [f64; 2]) -> FloodTimes {
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
        let mut measured = Measured::default();
        note(&floods, &mut measured);
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
