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

use std::time::Duration;

use anyhow::Result;

use super::hosts::PeerHosts;
use super::watcher::{ByteStream as _, ScreenWatcher};
use super::{Congestion, Kernel, cell};
use crate::experiment::{Cell, LabSetup, Measured, Work};
use crate::link::Link;
use crate::peer::Peer;
use crate::played::READY;
use crate::replay::LEAVE;
use crate::scenario::Scenario;
use crate::trace::LinkTraces;
pub use bottleneck::Bottleneck;
pub use burst::BurstShape;
use burst::{BurstSeen, WriteSpan};
pub use burst_writer::write_on_terminal;
use plain_tcp::PlainTcp;
use run::{BurstRun, LAST_KEY};

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

/// The time in which a session must be there. Chosen by eye: a thousand times the round trip.
const SET_UP: Duration = Duration::from_secs(100);

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
pub fn cells(setup: &LabSetup) -> Vec<Cell> {
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
    let bursts = if setup.is_quick { 3 } else { BURSTS };
    let controls = PlainTcp::ALL.map(PlainTcp::name).into_iter();
    let peers: Vec<&str> = controls.chain(SESSIONS).collect();
    let takes = Duration::from_secs(2 + 2 * bursts);
    let made = all.map(|(name, title, shape, kernel)| {
        let work = Tinygrams {
            shape,
            kernel,
            bottleneck: SLOW,
            bursts,
            quiet: QUIET,
        };
        cell(name, title, &peers, takes, work)
    });
    made.into()
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

    /// Runs the bursts over plain TCP, and returns what became of them, when they were written, and the commands.
    fn control(&self, plain: PlainTcp, scenario: &Scenario, seed: u64) -> Result<Bursts> {
        let link = Link::start(scenario)?;
        let kernel = self.kernel.set(&link)?;
        // A wide window is that of a connection which has lost nothing.
        let (run, written) = plain.run(&link, self.kernel.is_wide, (self, seed))?;
        let writer = format!("a writer of the lab: {}", plain.name());
        Ok((run, written, vec![writer, kernel]))
    }

    /// As [`control`](Self::control), in a session that a peer carries.
    fn session(
        &self,
        peer: &Peer,
        scenario: &Scenario,
        seed: u64,
        setup: &LabSetup,
    ) -> Result<Bursts> {
        let hosts = PeerHosts::new(scenario, self.kernel, setup)?;
        let log = hosts.session.files.log();
        let command = format!(
            "{} tinygrams --log {} --lines {} --bytes {} --within {} --seed {}",
            hosts.lab()?,
            log.display(),
            self.shape.lines,
            self.shape.bytes,
            self.shape.within.as_micros(),
            seed
        );
        let line = hosts.line(peer, command)?;
        let window = self.shape.terminal();
        let mut watcher = ScreenWatcher::new(hosts.session.start(&line, window)?, window);
        watcher.await_sight("the session", SET_UP, |observer| {
            burst::rows(observer)
                .iter()
                .any(|row| row.contains(READY))
                .then_some(())
        })?;
        let run = self.run(seed, &hosts.session.link, &mut watcher, |_| Ok(()))?;
        watcher.stream.write(LAST_KEY)?;
        watcher.stream.let_end(LEAVE)?;
        hosts.session.end_processes();
        Ok((run, burst_writer::read_log(&log)?, hosts.commands(line)))
    }
}

/// The outcome of the bursts, the times at which each was written, and the commands for a reader.
type Bursts = (BurstRun, Vec<WriteSpan>, Vec<String>);

impl Work for Tinygrams {
    /// `peer` is a control, or what [`Peer::parse`] reads.
    fn measure(&self, peer: &str, seed: u64, setup: &LabSetup) -> Result<Measured> {
        let scenario = self.scenario(seed)?;
        let (run, written, commands) = match PlainTcp::named(peer) {
            Some(plain) => self.control(plain, &scenario, seed)?,
            None => self.session(&Peer::parse(peer)?, &scenario, seed, setup)?,
        };
        let mut measured = run.figures(&written)?;
        let outcome = self.bottleneck.pass(run.sent_down);
        measured.put("lost_down_computed", outcome.lost as f64, "packets");
        measured.put_series("queue_down", outcome.waiting);
        Ok(measured.by(&scenario, commands))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
