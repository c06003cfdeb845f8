//! Bulk: how much a window carries over a long path.
//!
//! Whoever lets at most W bytes be under way gets them acknowledged once a round trip, and so carries W / RTT,
//! however fast the path is. OpenSSH up to 4.6 let 64 KiB be under way in a channel, since 4.7 it
//! lets 2 MiB. Each tool carries 300 MB from the memory of the server's host to that of the
//! client's, or what it can in a fixed time, and its goodput stands beside the formula's value.
//!
//! [`Ciphers`] measures what a byte costs with each cipher, without any path.
//!
//! # How fast the path is
//!
//! 200 Mbit/s ([`RATE_BITS`]). On a virtual machine of two cores `fulmar-lab selfcheck` found 300 Mbit/s held to
//! 0.12 %, by a prober that does nothing else. With the ends of TCP, and with ssh and sshd, on
//! the same cores 200 were held to 98 %, while other work took its share. Where a window would carry more than the
//! rate, the rate is what is measured; the cell without delay shows on each machine how much of it tools
//! reach there.

mod ciphers;
mod relay;

use std::time::Duration;

use anyhow::Result;

use super::figures::HostCosts;
use super::hosts::hosts;
use super::transfer::{
    CARRIERS, TcpSettings, Tool, ToolKind, Transfer, TransferDirection, TransferFiles,
    TransferProgress,
};
use super::{Congestion, cell};
use crate::experiment::{Cell, LabSetup, Measured, Work};
use crate::link::Link;
use crate::peer::Cost;
use crate::scenario::Scenario;
use crate::trace::LinkTraces;
pub use ciphers::Ciphers;

/// The rate of the path.
pub const RATE_BITS: u64 = 200_000_000;

/// The number of bytes that are carried: as PSC's page of 2004 did.
const BYTES: u64 = 300_000_000;

/// The longest time that is measured, from the first byte on: in the slowest cell (64 KiB over 200 ms) this
/// is a hundred round trips.
const TIME: Duration = Duration::from_secs(20);

/// The round trips, in milliseconds. SWITCH's page had 45, PSC's 40. The one without delay shows what
/// path and tools carry at most.
const RTTS_MS: [u64; 5] = [0, 40, 45, 100, 200];

/// The window of OpenSSH up to 4.6, and of TCP without window scaling (RFC 7323).
const SMALL: u32 = 64 * 1024;

/// The window of a channel of OpenSSH since 4.7; and what sftp asks for at once.
const LARGE: u32 = 2 * 1024 * 1024;

/// The tools that carry bulk.
const TOOLS: [Tool; 8] = [
    Tool::tcp("tcp-64k", tcp(Some(SMALL))),
    Tool::tcp("tcp-2m", tcp(Some(LARGE))),
    Tool::tcp("tcp-auto", tcp(None)),
    Tool::program("ssh", "ssh", "exec {ssh} {host} cat {source} >{target}"),
    Tool::program("scp", "scp", "exec scp -q -F {config} {from} {to}"),
    // The protocol that scp had before 9.0.
    Tool::program("scp-o", "scp", "exec scp -q -O -F {config} {from} {to}"),
    Tool::program("sftp", "sftp", "exec sftp -q -F {config} {from} {to}"),
    Tool::program(
        "rsync",
        "rsync",
        "exec rsync --inplace --whole-file -e '{ssh}' {from} {to}",
    ),
];

const fn tcp(window: Option<u32>) -> TcpSettings {
    TcpSettings {
        congestion: Congestion::Losses,
        window,
        has_wide_buffers: false,
    }
}

/// The time that the first byte may take: logins over any round trip.
const SET_UP: Duration = Duration::from_secs(60);

/// The work: a tool that carries bulk over one path.
#[derive(Clone, Copy, Debug)]
pub struct Bulk {
    /// The round trip in milliseconds.
    pub rtt_ms: u64,
    /// The rate of the path, in bits a second.
    pub rate_bits: u64,
    /// The number of bytes that are carried.
    pub bytes: u64,
    /// The longest time, from the first byte on.
    pub time: Duration,
}

/// Returns the settings of the experiment.
pub fn cells(setup: &LabSetup) -> Vec<Cell> {
    let time = if setup.is_quick { TIME / 4 } else { TIME };
    let tools = TOOLS.map(|tool| tool.name);
    let cells = RTTS_MS.map(|rtt_ms| {
        let title = format!("round trip {rtt_ms} ms, {} Mbit/s", RATE_BITS / 1_000_000);
        let work = Bulk {
            rtt_ms,
            rate_bits: RATE_BITS,
            bytes: BYTES,
            time,
        };
        let takes = time + Duration::from_secs(3);
        cell(format!("{rtt_ms}ms"), title, &tools, takes, work)
    });
    let cells = cells.into_iter().chain([ciphers::cell(setup)]);
    let alone = |cell| Cell {
        is_alone: true,
        ..cell
    };
    cells.map(alone).collect()
}

impl Work for Bulk {
    fn measure(&self, peer: &str, seed: u64, setup: &LabSetup) -> Result<Measured> {
        let tool = Tool::named(peer, &TOOLS)?;
        let scenario = self.scenario(seed)?;
        let load = (TransferDirection::Down, self.bytes);
        let limit = |first: Option<Duration>| first.map_or(SET_UP, |first| first + self.time);
        let (mut measured, result) = match tool.kind {
            ToolKind::Tcp(settings) => {
                let link = Link::start(&scenario)?;
                let transfer = Transfer::tcp(tool.name, settings, &link, load)?;
                let result = transfer.run(limit, || {})?;
                let mut measured = self.figures(settings.window, &result.progress);
                put_packets(&mut measured, &link)?;
                (measured, result)
            }
            ToolKind::Program { .. } => {
                let hosts = hosts(&scenario)?;
                let files = TransferFiles::random(self.bytes)?;
                let mut costs = HostCosts::begin(&hosts)?;
                let transfer = Transfer::start(tool, (&hosts, &files), load, setup)?;
                let result = transfer.run(limit, || costs.look())?;
                let mut measured = self.figures(Some(LARGE), &result.progress);
                let is_whole = files.are_same()?;
                measured.put("is_whole", f64::from(u8::from(is_whole)), "truth");
                put_costs(&mut measured, costs.of(CARRIERS), result.arrived);
                put_packets(&mut measured, &hosts.link)?;
                (measured, result)
            }
        };
        measured.put_series("bytes", result.progress.series());
        Ok(measured.by(&scenario, result.commands))
    }
}

impl Bulk {
    /// The queue holds what the path holds, so that whoever fills the path loses little.
    fn scenario(&self, seed: u64) -> Result<Scenario> {
        let delay_us = self.rtt_ms * 500;
        let queue = (self.rate_bits / 8 * self.rtt_ms / 1000).max(QUEUE_MIN);
        let text = format!(
            "seed {seed}\nup delay {delay_us}us\n\
            down rate {}bit queue {queue}B, delay {delay_us}us",
            self.rate_bits
        );
        Scenario::parse(&text, &LinkTraces::none())
    }

    /// The most that TCP's segments carry at this rate, in bytes a second.
    fn rate_limit(&self) -> f64 {
        self.rate_bits as f64 / 8.0 * SEGMENT_PAYLOAD / PACKET
    }

    /// Returns what a tool with this window has carried, beside what the formula says.
    fn figures(&self, window: Option<u32>, progress: &TransferProgress) -> Measured {
        let rtt = Some(self.rtt_ms as f64 / 1000.0).filter(|rtt| *rtt > 0.0);
        let formula = window.zip(rtt).map(|(window, rtt)| f64::from(window) / rtt);
        let expected = formula.unwrap_or(f64::INFINITY).min(self.rate_limit());
        let steady = progress.steady_goodput();
        let window_seen = steady.zip(rtt).map(|(goodput, rtt)| goodput * rtt);
        let first = progress.first().map(|at| at.as_secs_f64());
        let of_expected = steady.map(|goodput| goodput / expected);
        let mut measured = Measured::default();
        measured.put("bytes", progress.bytes() as f64, "B");
        measured.put("rate_limit", self.rate_limit(), "B/s");
        measured.put("expected", expected, "B/s");
        measured.put("window_over_rtt", formula, "B/s");
        measured.put("to_first_byte", first, "s");
        measured.put("goodput", progress.goodput(), "B/s");
        measured.put("goodput_steady", steady, "B/s");
        measured.put("window_seen", window_seen, "B");
        measured.put("of_expected", of_expected, "share");
        measured
    }
}

/// The least that the queue holds: a tenth of a second of the slowest path that is tried.
const QUEUE_MIN: u64 = 500_000;

/// A full packet, and what TCP with timestamps (RFC 7323) carries in it.
const PACKET: f64 = 1500.0;
const SEGMENT_PAYLOAD: f64 = 1448.0;

/// Returns how much was carried, and how fast.
fn speed(bytes: u64, took: Duration) -> Measured {
    let mut measured = Measured::default();
    measured.put("bytes", bytes as f64, "B");
    let goodput = bytes as f64 / took.as_secs_f64();
    measured.put("goodput", goodput, "B/s");
    measured
}

/// Notes what the tool took of both processors.
fn put_costs(
    measured: &mut Measured,
    costs: impl Iterator<Item = (&'static str, Cost)>,
    bytes: u64,
) {
    for (host, cost) in costs {
        let cpu = cost.cpu.as_secs_f64();
        let a_byte = (bytes > 0).then(|| cpu * 1e9 / bytes as f64);
        measured.put(&format!("{host}_cpu"), cpu, "s");
        measured.put(&format!("{host}_cpu_a_byte"), a_byte, "ns/B");
    }
}

/// Notes what went over the link, logins included.
fn put_packets(measured: &mut Measured, link: &Link) -> Result<()> {
    let report = link.report()?;
    for (way, counts) in [("up", report.client), ("down", report.server)] {
        let (sent, lost) = (counts.sent as f64, counts.lost_total() as f64);
        measured.put(&format!("packets_{way}"), sent, "packets");
        measured.put(&format!("lost_{way}"), lost, "packets");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 Mbit/s.
    const PATH: Bulk = Bulk {
        rtt_ms: 100,
        rate_bits: 10_000_000,
        bytes: 1,
        time: Duration::ZERO,
    };

    /// So many bytes each 100 ms from 0.5 s on, ten times.
    fn progress(bytes: u64) -> TransferProgress {
        let mut progress = TransferProgress::default();
        for step in 0..=10 {
            progress.note(Duration::from_millis(500 + step * 100), 1 + step * bytes);
        }
        progress
    }

    #[test]
    fn a_window_a_round_trip_is_expected_where_the_path_carries_that() {
        let figures = PATH.figures(Some(SMALL), &progress(65_536)).figures;
        let value = |name: &str| figures[name].value;
        let is_close = |name: &str, wanted: f64| {
            let seen = value(name);
            assert!((seen / wanted - 1.0).abs() < 1e-6, "{name}: {seen}");
        };
        is_close("window_over_rtt", 655_360.0);
        is_close("expected", 655_360.0);
        is_close("goodput", 655_360.0);
        is_close("goodput_steady", 655_360.0);
        is_close("window_seen", 65_536.0);
        is_close("of_expected", 1.0);
        is_close("to_first_byte", 0.5);
        is_close("bytes", 655_361.0);
    }

    #[test]
    fn the_path_is_expected_where_a_window_would_carry_more() {
        // 1448 of 1500 bytes are payload.
        let limit = 1_250_000.0 * 1448.0 / 1500.0;
        for window in [Some(LARGE), None] {
            let figures = PATH.figures(window, &progress(60_000)).figures;
            assert!((figures["expected"].value - limit).abs() < 1e-6);
            assert!((figures["rate_limit"].value - limit).abs() < 1e-6);
            let share = figures["of_expected"].value;
            assert!((share - 600_000.0 / limit).abs() < 1e-6, "{share}");
            assert_eq!(figures.contains_key("window_over_rtt"), window.is_some());
        }
    }

    #[test]
    fn without_a_round_trip_there_is_no_window_to_be_seen() {
        let bulk = Bulk { rtt_ms: 0, ..PATH };
        let figures = bulk.figures(Some(SMALL), &progress(60_000)).figures;
        assert!(!figures.contains_key("window_over_rtt") && !figures.contains_key("window_seen"));
        assert!(figures.contains_key("of_expected"));
        let nothing = bulk.figures(None, &TransferProgress::default()).figures;
        assert!(!nothing.contains_key("goodput") && !nothing.contains_key("to_first_byte"));
    }

    #[test]
    fn costs_are_those_of_a_byte_of_what_was_carried() {
        let costs = || {
            let cpu = Duration::from_millis(30);
            std::iter::once(("server", Cost { cpu, memory: 5 }))
        };
        let mut figures = Measured::default();
        put_costs(&mut figures, costs(), 10_000_000);
        assert_eq!(figures.figures["server_cpu"].value, 0.03);
        assert!((figures.figures["server_cpu_a_byte"].value - 3.0).abs() < 1e-9);
        let mut none = Measured::default();
        put_costs(&mut none, costs(), 0);
        assert_eq!(none.figures.len(), 1);
    }

    #[test]
    fn all_figures_have_their_names_and_units() {
        let measured = PATH.figures(Some(SMALL), &progress(65_536));
        let names: Vec<(&str, &str)> = measured
            .told()
            .into_iter()
            .map(|(name, _, unit)| (name, unit))
            .collect();
        let expected = [
            ("bytes", "B"),
            ("expected", "B/s"),
            ("goodput", "B/s"),
            ("goodput_steady", "B/s"),
            ("of_expected", "share"),
            ("rate_limit", "B/s"),
            ("to_first_byte", "s"),
            ("window_over_rtt", "B/s"),
            ("window_seen", "B"),
        ];
        assert_eq!(names, expected);
        let carried = speed(6_000_000, Duration::from_secs(2));
        assert_eq!(
            carried.told(),
            [("bytes", 6e6, "B"), ("goodput", 3e6, "B/s")]
        );
    }

    #[test]
    fn the_queue_holds_what_the_path_does_and_no_less_than_it_must() {
        let text = |bulk: Bulk| bulk.scenario(7).unwrap().text;
        let path = Bulk {
            rate_bits: 200_000_000,
            ..PATH
        };
        let expected =
            "seed 7\nup delay 50000us\ndown rate 200000000bit queue 2500000B, delay 50000us";
        assert_eq!(text(path), expected);
        assert!(text(PATH).contains(" queue 500000B,"));
    }
}
