//! Tinygrams: many small writes at once, over a path with a short queue.
//!
//! A user presses Enter, and a program writes 34 lines of about 80 bytes within 4 ms, as `ls` does. A
//! transport that makes a packet of each line overfills a queue of 24 packets; then too few packets
//! come behind the lost ones to tell of the loss, and a retransmission time-out follows. That is
//! what a post to the OpenSSH developers' list complained of in 2004; without `TCP_NODELAY` there were pauses for
//! delayed acknowledgements instead.
//!
//! # What of it is there on Linux today
//!
//! | then | since |
//! |---|---|
//! | after a pause a connection sends as much at once as it once did | its window begins anew with 10 packets (RFC 2861, RFC 6928), and what waits is put together |
//! | three packets behind a lost one, or a time-out | the last packet is sent again after two round trips, and times tell of losses (RFC 8985) |
//! | a receiver delays each second acknowledgement | those after a pause are sent at once, unless the receiver has answered lately |
//!
//! So each setting is measured with the kernel's usual TCP, and with a window that is wide open, as the
//! connection of the complaint must have had. The controls are plain TCP writers without ssh.

mod bottleneck;
mod burst;
mod burst_writer;
mod plain_tcp;
mod run;
mod screen_watcher;
mod session;

use std::time::Duration;

use anyhow::{Context as _, Result};

use super::figures::{Figures, median};
use super::{Congestion, Kernel};
use crate::experiment::{Cell, Measured, Surroundings, Work};
use crate::link::Link;
use crate::peer::Peer;
use crate::scenario::Scenario;
use crate::trace::LinkTraces;
pub use bottleneck::Bottleneck;
pub use burst::BurstShape;
use burst::WriteSpan;
pub use burst_writer::write_on_terminal;
use plain_tcp::{Connections, PlainTcp};
use run::BurstRun;
use screen_watcher::BurstSeen;
use session::BurstSession;

/// The delay each way: half of the round trip of the post.
const DELAY: Duration = Duration::from_millis(50);

/// Of the rate the post tells that of the last ten packets about seven were lost. Here that is so.
const SLOW: Bottleneck = Bottleneck {
    bits_per_second: 512_000,
    queue_packets: 24,
};

/// The burst of the post.
const FOLDER: BurstShape = BurstShape {
    lines: 34,
    bytes: 80,
    within: Duration::from_millis(4),
};

/// A burst that fits into one packet, but for its first line: where Nagle's algorithm waits longest.
const SHORT: BurstShape = BurstShape {
    lines: 12,
    bytes: 80,
    within: Duration::from_millis(2),
};

/// The peers as found.
const SESSIONS: [&str; 3] = ["ssh", "mosh", "fulmar"];

/// Bursts in a run.
const BURSTS: u64 = 10;

/// Between two bursts: longer than a retransmission time-out, so that each is the first after a pause.
const QUIET: Duration = Duration::from_millis(1500);

/// The work: bursts over one link.
pub struct Tinygrams {
    /// The lines that are written each time.
    pub shape: BurstShape,
    /// The settings of TCP on the hosts.
    pub kernel: Kernel,
    /// The slow link on the way to the user.
    pub bottleneck: Bottleneck,
    /// The number of bursts.
    pub bursts: u64,
    /// The time for which it is quiet before each burst.
    pub quiet: Duration,
}

/// Returns the settings of the experiment.
pub fn cells(around: &Surroundings) -> Vec<Cell> {
    let wide = Kernel {
        is_wide: true,
        ..Kernel::USUAL
    };
    let bbr = Kernel {
        congestion: Congestion::Model,
        ..Kernel::USUAL
    };
    let all = [
        ("folder-wide", "34 lines, window wide open", FOLDER, wide),
        ("folder", "34 lines", FOLDER, Kernel::USUAL),
        ("folder-bbr", "34 lines, TCP bbr", FOLDER, bbr),
        ("short", "12 lines", SHORT, Kernel::USUAL),
    ];
    let bursts = if around.is_quick { 3 } else { BURSTS };
    let controls = PlainTcp::ALL.map(PlainTcp::name).into_iter();
    let peers: Vec<String> = controls.chain(SESSIONS).map(str::to_owned).collect();
    let cell = |(name, title, shape, kernel): (&str, &str, BurstShape, Kernel)| Cell {
        name: name.to_owned(),
        title: title.to_owned(),
        peers: peers.clone(),
        takes: Duration::from_secs(2 + 2 * bursts),
        is_alone: false,
        work: Box::new(Tinygrams {
            shape,
            kernel,
            bottleneck: SLOW,
            bursts,
            quiet: QUIET,
        }),
    };
    all.into_iter().map(cell).collect()
}

impl Tinygrams {
    fn scenario(&self, seed: u64) -> Result<Scenario> {
        let delay = DELAY.as_millis();
        let Bottleneck {
            bits_per_second,
            queue_packets,
        } = self.bottleneck;
        let text = format!(
            "seed {seed}\nup delay {delay}ms\n\
            down rate {bits_per_second}bit queue {queue_packets}p, delay {delay}ms"
        );
        Scenario::parse(&text, &LinkTraces::none())
    }

    fn control(
        &self,
        plain: PlainTcp,
        scenario: &Scenario,
        run: &mut BurstRun,
    ) -> Result<BurstSession> {
        let link = Link::start(scenario)?;
        let kernel = self.kernel.set(&link)?;
        // A wide window is that of a connection which has lost nothing.
        let connections = if self.kernel.is_wide {
            Connections::OneABurst
        } else {
            Connections::One
        };
        let written = plain.run(&link, connections, run)?;
        let writer = format!("a writer of the lab: {}", plain.name());
        Ok(BurstSession {
            written,
            commands: vec![writer, kernel],
        })
    }
}

impl Work for Tinygrams {
    /// `peer` is a control, or what [`Peer::parse`] reads.
    fn measure(&self, peer: &str, seed: u64, around: &Surroundings) -> Result<Measured> {
        let scenario = self.scenario(seed)?;
        let mut run = BurstRun::new(seed, self.shape, self.bursts, self.quiet);
        let BurstSession { written, commands } = match PlainTcp::named(peer) {
            Some(plain) => self.control(plain, &scenario, &mut run)?,
            None => {
                let peer = Peer::parse(peer)?;
                session::run(&peer, &scenario, self.kernel, &mut run, around)?
            }
        };
        let outcome = self.bottleneck.pass(run.sent_down());
        let mut figures = figures(&run, &written)?;
        figures.put("lost_down_computed", outcome.lost as f64, "packets");
        let mut measured = figures.measured(&scenario, commands);
        let series = ("queue_down".to_owned(), outcome.waiting);
        measured.series.extend([series]);
        Ok(measured)
    }
}

/// Returns what a person waited for, and what went over the link.
fn figures(run: &BurstRun, written: &[WriteSpan]) -> Result<Figures> {
    let mut figures = Figures::default();
    let bursts = run.seen.len() as f64;
    for (name, value, unit) in run.totals() {
        figures.put(name, value, unit);
        if unit == "packets" && name.ends_with("_down") {
            figures.put(&format!("{name}_a_burst"), value / bursts, unit);
        }
    }
    let spans = written.iter().map(|written| written.ended - written.began);
    figures.put_ms("write_span", median(spans).context("no burst")?);
    figures.put("bursts", bursts, "bursts");
    let whole = written.iter().zip(&run.seen);
    let whole: Vec<_> = whole
        .filter_map(|(written, seen)| Some((written.began, (*seen)?)))
        .collect();
    figures.put("bursts_not_whole", bursts - whole.len() as f64, "bursts");
    let waits = |of: fn(&BurstSeen) -> Duration| {
        let waits = whole.iter().map(move |(began, seen)| (*began, of(seen)));
        waits.map(|(began, at)| at.saturating_sub(began))
    };
    figures.put_some_ms("first_line", median(waits(|seen| seen.first)));
    figures.put_some_ms("all_lines", median(waits(|seen| seen.all)));
    figures.put_some_ms("all_lines_worst", waits(|seen| seen.all).max());
    let pauses = whole.iter().map(|(_, seen)| seen.pause);
    figures.put_some_ms("longest_pause", median(pauses));
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// A burst that was written at some time for 4 ms, and seen so much later; `None` where it never was whole.
    fn burst(began: u64, seen: Option<[u64; 3]>) -> (WriteSpan, Option<BurstSeen>) {
        let written = WriteSpan {
            began: ms(began),
            ended: ms(began + 4),
        };
        let seen = seen.map(|[first, all, pause]| BurstSeen {
            first: ms(began + first),
            all: ms(began + all),
            pause: ms(pause),
        });
        (written, seen)
    }

    #[test]
    fn a_burst_that_never_came_whole_is_counted_and_has_no_times() {
        let (written, seen): (Vec<WriteSpan>, Vec<Option<BurstSeen>>) = [
            burst(1000, Some([50, 60, 5])),
            burst(3000, None),
            burst(5000, Some([52, 1300, 1200])),
            burst(7000, Some([51, 70, 7])),
        ]
        .into_iter()
        .unzip();
        let mut run = BurstRun::new(1, FOLDER, 4, QUIET);
        run.seen = seen;
        let figures = figures(&run, &written).unwrap().0;
        let value = |name: &str| figures[name].value;
        assert_eq!((value("bursts"), value("bursts_not_whole")), (4.0, 1.0));
        assert_eq!((value("first_line"), value("all_lines")), (51.0, 70.0));
        assert_eq!(value("all_lines_worst"), 1300.0);
        assert_eq!(value("longest_pause"), 7.0);
        assert_eq!(value("write_span"), 4.0);
        assert_eq!(value("packets_down_a_burst"), 0.0);
    }

    #[test]
    fn where_no_burst_came_whole_there_are_no_times_at_all() {
        let (written, seen) = burst(1000, None);
        let mut run = BurstRun::new(1, FOLDER, 1, QUIET);
        run.seen = vec![seen];
        let figures = figures(&run, &[written]).unwrap().0;
        assert_eq!(figures["bursts_not_whole"].value, 1.0);
        assert!(!figures.contains_key("all_lines") && !figures.contains_key("longest_pause"));
    }

    #[test]
    fn the_slow_link_is_on_the_way_to_the_user() {
        let work = Tinygrams {
            shape: SHORT,
            kernel: Kernel::USUAL,
            bottleneck: SLOW,
            bursts: 1,
            quiet: QUIET,
        };
        let scenario = work.scenario(3).unwrap();
        let expected = "seed 3\nup delay 50ms\ndown rate 512000bit queue 24p, delay 50ms";
        assert_eq!(scenario.text, expected);
    }
}
