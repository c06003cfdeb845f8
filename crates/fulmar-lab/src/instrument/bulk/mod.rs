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
pub(in crate::instrument) mod copy;
mod progress;
mod relay;
mod stream;
mod tool;

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, Result};
use fulmar_testbed::peers::find;

use super::Kernel;
use crate::experiment::{Cell, Measured, Surroundings, Work};
use crate::link::Link;
use crate::outcome::Figure;
use crate::peer::Cost;
use crate::replay::Stage;
use crate::scenario::Scenario;
use crate::trace::LinkTraces;
pub use ciphers::Ciphers;
use copy::Files;
use progress::TransferProgress;
use tool::{Kind, TOOLS, Tool};

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
pub fn cells(around: &Surroundings) -> Vec<Cell> {
    let time = if around.is_quick { TIME / 4 } else { TIME };
    let cell = |rtt_ms| Cell {
        name: format!("{rtt_ms}ms"),
        title: format!("round trip {rtt_ms} ms, {} Mbit/s", RATE_BITS / 1_000_000),
        peers: TOOLS.iter().map(|tool| tool.name.to_owned()).collect(),
        takes: time + Duration::from_secs(3),
        is_alone: true,
        work: Box::new(Bulk {
            rtt_ms,
            rate_bits: RATE_BITS,
            bytes: BYTES,
            time,
        }),
    };
    let mut cells: Vec<Cell> = RTTS_MS.map(cell).into();
    cells.push(ciphers::cell(around));
    cells
}

impl Work for Bulk {
    fn measure(&self, peer: &str, seed: u64, _around: &Surroundings) -> Result<Measured> {
        let tool = Tool::named(peer)?;
        let scenario = self.scenario(seed)?;
        match tool.kind {
            Kind::Stream => self.stream(tool, &scenario),
            Kind::Command {
                program,
                line,
                programs,
            } => {
                find(program).with_context(|| format!("{program} is not installed"))?;
                let stage = Stage::new(&scenario, std::path::Path::new("/dev/null"))?;
                let kernel = self.kernel(&stage.link)?;
                let files = Files::new(seed, self.bytes)?;
                let copied = copy::run(&stage, &files, line, programs, self.time)?;
                let mut figures = self.figures(tool, &copied.progress);
                add(
                    &mut figures,
                    "is_whole",
                    f64::from(u8::from(copied.is_whole)),
                    "truth",
                );
                cost_figures(&mut figures, copied.costs, copied.progress.bytes());
                count_packets(&mut figures, &stage.link)?;
                let commands = vec![copied.line, stage.daemon.command.clone(), kernel];
                Ok(measured(&scenario, commands, figures, &copied.progress))
            }
        }
    }
}

type Figures = BTreeMap<String, Figure>;

fn add(figures: &mut Figures, name: &str, value: f64, unit: &str) {
    figures.insert(name.to_owned(), Figure::new(value, unit));
}

impl Bulk {
    fn stream(&self, tool: Tool, scenario: &Scenario) -> Result<Measured> {
        let link = Link::start(scenario)?;
        let kernel = self.kernel(&link)?;
        let progress = stream::run(&link, self.bytes, self.time, tool.window)?;
        let mut figures = self.figures(tool, &progress);
        count_packets(&mut figures, &link)?;
        let window = tool.window.map_or_else(
            || "automatic".to_owned(),
            |window| format!("{window} bytes"),
        );
        let commands = vec![format!("a TCP stream of the lab, window {window}"), kernel];
        Ok(measured(scenario, commands, figures, &progress))
    }

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

    /// Sets the TCP of both hosts, and says what its buffers may grow to.
    fn kernel(&self, link: &Link) -> Result<String> {
        let words = Kernel::USUAL.set(link)?;
        let buffers = |name| -> Result<String> {
            let value = link.client.parameter(name)?;
            Ok(value.split_whitespace().collect::<Vec<_>>().join(" "))
        };
        Ok(format!(
            "{words}, tcp_rmem {}, tcp_wmem {}",
            buffers("ipv4/tcp_rmem")?,
            buffers("ipv4/tcp_wmem")?
        ))
    }

    /// The most that TCP's segments carry at this rate, in bytes a second.
    fn rate_limit(&self) -> f64 {
        self.rate_bits as f64 / 8.0 * SEGMENT_PAYLOAD / PACKET
    }

    fn figures(&self, tool: Tool, progress: &TransferProgress) -> Figures {
        let mut figures = Figures::new();
        let rtt = self.rtt_ms as f64 / 1000.0;
        add(&mut figures, "bytes", progress.bytes() as f64, "B");
        add(&mut figures, "rate_limit", self.rate_limit(), "B/s");
        let formula = tool.window_over_rtt(rtt).filter(|speed| speed.is_finite());
        let expected = formula.unwrap_or(f64::INFINITY).min(self.rate_limit());
        let optional = [
            ("window_over_rtt", formula, "B/s"),
            ("expected", Some(expected), "B/s"),
            (
                "to_first_byte",
                progress.first().map(|at| at.as_secs_f64()),
                "s",
            ),
            ("goodput", progress.goodput(), "B/s"),
            ("goodput_steady", progress.steady_goodput(), "B/s"),
            (
                "window_seen",
                progress
                    .steady_goodput()
                    .filter(|_| rtt > 0.0)
                    .map(|goodput| goodput * rtt),
                "B",
            ),
            (
                "of_expected",
                progress.steady_goodput().map(|goodput| goodput / expected),
                "share",
            ),
        ];
        for (name, value, unit) in optional {
            if let Some(value) = value {
                add(&mut figures, name, value, unit);
            }
        }
        figures
    }
}

/// The least that the queue holds: a tenth of a second of the slowest path that is tried.
const QUEUE_MIN: u64 = 500_000;

/// A full packet, and what TCP with timestamps (RFC 7323) carries in it.
const PACKET: f64 = 1500.0;
const SEGMENT_PAYLOAD: f64 = 1448.0;

fn measured(
    scenario: &Scenario,
    commands: Vec<String>,
    figures: Figures,
    progress: &TransferProgress,
) -> Measured {
    Measured {
        scenario: scenario.text.clone(),
        commands,
        figures,
        series: BTreeMap::from([("bytes".to_owned(), progress.series())]),
        ..Measured::default()
    }
}

/// Adds what the tool took of both processors.
fn cost_figures(figures: &mut Figures, costs: [Option<Cost>; 2], bytes: u64) {
    for (host, cost) in ["client", "server"].into_iter().zip(costs) {
        let Some(cost) = cost else { continue };
        let cpu = cost.cpu.as_secs_f64();
        add(figures, &format!("{host}_cpu"), cpu, "s");
        if bytes > 0 {
            let per_byte = cpu * 1e9 / bytes as f64;
            add(figures, &format!("{host}_cpu_a_byte"), per_byte, "ns/B");
        }
    }
}

/// Adds what went over the link, logins included.
fn count_packets(figures: &mut Figures, link: &Link) -> Result<()> {
    let report = link.report()?;
    for (way, counts) in [("up", report.client), ("down", report.server)] {
        add(
            figures,
            &format!("packets_{way}"),
            counts.sent as f64,
            "packets",
        );
        add(
            figures,
            &format!("lost_{way}"),
            counts.lost_total() as f64,
            "packets",
        );
    }
    Ok(())
}
