//! A screen that changes all the time beside a TCP stream in one queue: how much of the link each gets.

use std::time::Duration;

use anyhow::{Result, ensure};

use super::program::LoadProgram;
use super::{LARGE, LoadSession, Repaint};
use crate::experiment::{LabSetup, Measured, Work};
use crate::instrument::{Kernel, TcpTransfer, TransferDirection};
use crate::peer::Peer;
use crate::scenario::Scenario;
use crate::trace::LinkTraces;

/// The time for which the stream is alone: Cubic has found the end of the queue by then.
const ALONE: Duration = Duration::from_secs(5);

/// The time that both have to find their shares, and the time for which these are measured. Chosen by eye:
/// Cubic takes seconds from one loss to the next.
const SETTLING: Duration = Duration::from_secs(10);
const MEASURED: Duration = Duration::from_secs(30);

/// The time that it takes, with the login.
pub(super) const TAKES: Duration = Duration::from_secs(52);

/// The bytes of a packet for each byte of a stream's payload: 1448 fit into one of 1500.
const PACKET_SHARE: f64 = 1500.0 / 1448.0;

/// As often as a session sends frames, for longer than is measured.
const REPAINT: Repaint = Repaint {
    rate: 50,
    seconds: 60,
};

/// The work: a screen of 200x60 that changes 50 times a second, and a TCP stream with Cubic towards the same client.
#[derive(Clone, Copy, Debug)]
pub(super) struct BesideTcp {
    /// The rate of the link, in kilobits a second.
    pub(super) kilobits: u32,
    /// The bytes that its queue holds.
    pub(super) queue: u32,
}

impl Work for BesideTcp {
    fn measure(&self, peer: &str, seed: u64, setup: &LabSetup) -> Result<Measured> {
        let peer = Peer::parse(peer)?;
        let link = format!(
            "seed {seed}\nboth rate {}kbit queue {}B, delay 20ms",
            self.kilobits, self.queue
        );
        let scenario = Scenario::parse(&link, &LinkTraces::none())?;
        let program = LoadProgram::Repaint {
            columns: LARGE.columns,
            rows: LARGE.rows,
            rate: REPAINT.rate,
            seconds: REPAINT.seconds,
        };
        let start = |lab: &str| program.line(lab);
        let (mut session, line) =
            LoadSession::start(peer, &scenario, (Kernel::USUAL, LARGE), setup, start)?;
        // More than the link carries meanwhile.
        let bytes = u64::from(self.kilobits) * 125 * TAKES.as_secs();
        let link = &session.hosts.session.link;
        let stream = TcpTransfer::start(link, None, TransferDirection::Down, bytes)?;
        session.terminal.rest(ALONE)?;
        session.begin();
        session.terminal.rest(SETTLING)?;
        let look = |session: &LoadSession| -> Result<_> {
            Ok((session.hosts.session.link.report()?, stream.received()))
        };
        let before = look(&session)?;
        session.terminal.rest(MEASURED)?;
        let after = look(&session)?;
        let arrived = after.0.client.delivered_bytes - before.0.client.delivered_bytes;
        let arrived = arrived as f64;
        let streamed = (after.1 - before.1) as f64 * PACKET_SHARE;
        ensure!(streamed < arrived, "the stream has more than the link");
        session.hosts.session.end_processes();
        Ok(shares(arrived, streamed).by(&scenario, session.hosts.commands(line)))
    }

    fn takes_any_peer(&self) -> bool {
        true
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![
            ("link", format!("{} kbit/s, 40 ms", self.kilobits)),
            ("queue", format!("{} B", self.queue)),
            ("window", format!("{}x{}", LARGE.columns, LARGE.rows)),
            ("beside", "a TCP stream with Cubic to the client".to_owned()),
        ]
    }
}

/// Returns the shares of session and stream of what reached the client, bytes of packets each.
fn shares(all: f64, streamed: f64) -> Measured {
    let seconds = MEASURED.as_secs_f64();
    let mut measured = Measured::default();
    measured.put("rate", (all - streamed) / seconds, "B/s");
    measured.put("rate_beside", streamed / seconds, "B/s");
    measured.put("share", 1.0 - streamed / all, "share");
    measured
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_stream_did_not_have_is_the_session_s() {
        let figures = shares(120_000_000.0, 90_000_000.0).figures;
        let value = |name: &str| figures[name].value;
        assert_eq!(value("rate"), 1e6);
        assert_eq!(value("rate_beside"), 3e6);
        assert_eq!(value("share"), 0.25);
    }
}
