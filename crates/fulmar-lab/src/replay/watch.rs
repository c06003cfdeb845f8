//! Everything that is counted while somebody types.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Result;
use fulmar_platform::boot_time;
use fulmar_sim::Counts;

use super::packets::{Packets, Series};
use crate::instrument::{TcpTransfer, TransferDirection};
use crate::link::{Link, Report};
use crate::outcome::Figure;
use crate::peer::{Costs, Peer, costs};
use crate::scenario::PlannedChange;
use crate::typing::SessionStage;

/// The pause between looks at the processes, and between fetches of the link's log. Chosen by eye: a process
/// that has gone between two looks keeps the costs of the first.
const LOOK_PAUSE: Duration = Duration::from_secs(1);

/// The number of events that the link keeps until the next look: those of more than 100 Mbit/s.
const EVENTS_MAX: usize = 100_000;

/// Figures by name.
pub(super) type Figures = BTreeMap<String, Figure>;

/// The things that are looked at from time to time.
pub(super) struct Looks<'a> {
    link: &'a Link,
    seen: Mutex<Seen>,
}

struct Seen {
    packets: Packets,
    costs: [Costs; 2],
}

impl<'a> Looks<'a> {
    /// Looks at a link, and at the processes on both hosts.
    pub(super) fn new(link: &'a Link, costs: [Costs; 2]) -> Self {
        let packets = Packets::default();
        Self {
            link,
            seen: Mutex::new(Seen { packets, costs }),
        }
    }

    /// Looks again and again until nobody can say any more that it is over.
    pub(super) fn run(&self, is_over: &Receiver<()>) {
        while is_over.recv_timeout(LOOK_PAUSE) == Err(RecvTimeoutError::Timeout) {
            // A link that has failed says so to those who need it.
            let _ = self.look();
        }
    }

    fn look(&self) -> Result<()> {
        let mut seen = self.seen();
        seen.costs.iter_mut().for_each(Costs::look);
        let entries = self.link.take_log(EVENTS_MAX)?;
        seen.packets.take_in(&entries);
        Ok(())
    }

    /// Counts from here on.
    fn begin(&self, will_change: bool) -> Result<()> {
        self.look()?;
        let mut seen = self.seen();
        seen.costs.iter_mut().for_each(Costs::begin);
        seen.packets.begin(!will_change);
        Ok(())
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The watch over one typing session: what it costs, and what the link does meanwhile.
pub(super) struct Watch<'a> {
    looks: &'a Looks<'a>,
    changes: &'a [PlannedChange],
    has_download: bool,
    download: Option<TcpTransfer>,
    /// The time at which the peer was started.
    started: Duration,
    /// The time at which its session was there.
    ready: Duration,
    /// The reports of the link when the typing began, and when it was over.
    reports: [Option<Report>; 2],
    /// The time at which the link's own clock showed zero.
    link_zero: Duration,
}

impl<'a> Watch<'a> {
    /// Watches a link on which these changes are to be made, as soon as the typing begins. The peer
    /// is to be started next.
    pub(super) fn new(
        looks: &'a Looks<'a>,
        changes: &'a [PlannedChange],
        has_download: bool,
    ) -> Self {
        Self {
            looks,
            changes,
            has_download,
            download: None,
            started: boot_time(),
            ready: Duration::ZERO,
            reports: [None, None],
            link_zero: Duration::ZERO,
        }
    }

    /// Does what is to be done at this moment.
    ///
    /// # Errors
    ///
    /// Where the link has failed.
    pub(super) fn at(&mut self, moment: SessionStage) -> Result<()> {
        let link = self.looks.link;
        match moment {
            SessionStage::Ready => {
                self.ready = boot_time();
                if self.has_download {
                    let direction = TransferDirection::Down;
                    self.download = Some(TcpTransfer::start(link, None, direction, u64::MAX)?);
                }
            }
            SessionStage::Begun => {
                self.looks.begin(!self.changes.is_empty())?;
                let report = link.report()?;
                self.link_zero = boot_time().saturating_sub(report.at);
                self.reports[0] = Some(report);
                for planned in self.changes {
                    link.plan(planned.at, planned.every, planned.change.clone())?;
                }
            }
            SessionStage::Over => {
                self.looks.look()?;
                self.reports[1] = Some(link.report()?);
                self.download = None;
            }
        }
        Ok(())
    }

    /// Returns all figures. Those of bytes and packets are the peer's only where nothing else uses
    /// the link, and are left out where something does.
    ///
    /// # Errors
    ///
    /// Where nobody typed.
    pub(super) fn figures(&self, peer: &Peer) -> Result<Figures> {
        let [Some(before), Some(after)] = &self.reports else {
            return Err(anyhow::anyhow!("the typing has not begun or not ended"));
        };
        let mut figures = Figures::new();
        let mut put = |name: &str, value: f64, unit: &str| {
            figures.insert(name.to_owned(), Figure::new(value, unit));
        };
        let to_prompt = self.ready.saturating_sub(self.started);
        put("to_prompt", to_prompt.as_secs_f64() * 1e3, "ms");
        let ways = [
            ("up", [&before.client, &after.client]),
            ("down", [&before.server, &after.server]),
        ];
        for (way, counts) in ways {
            for (name, count, unit) in traffic(counts) {
                // The packets of a download are not the peer's.
                if name == "lost" || !self.has_download {
                    put(&format!("{name}_{way}"), count as f64, unit);
                }
            }
        }
        let seen = self.looks.seen();
        if let Some(share) = seen
            .packets
            .acks_on_data()
            .filter(|_| self.is_tcp_alone(peer))
        {
            put("acks_on_data", share, "share");
        }
        let costs = costs(peer.programs(), seen.costs.each_ref());
        for (host, cost) in ["client", "server"].into_iter().zip(costs) {
            if let Some(cost) = cost {
                put(&format!("{host}_cpu"), cost.cpu.as_secs_f64(), "s");
                put(&format!("{host}_memory"), cost.memory as f64, "B");
            }
        }
        Ok(figures)
    }

    /// Of UDP it cannot be told from outside what a datagram holds.
    fn is_tcp_alone(&self, peer: &Peer) -> bool {
        peer.is_ssh() && !self.has_download
    }

    /// Returns the series of the run, with the start of the play for 0 s.
    pub(super) fn series(&self, play_began: Duration) -> BTreeMap<String, Series> {
        let start = play_began.saturating_sub(self.link_zero);
        let seen = self.looks.seen();
        let [queue_up, queue_down] = seen.packets.queues(start);
        let [lost_up, lost_down] = seen.packets.losses(start);
        [
            ("queue_up", queue_up),
            ("queue_down", queue_down),
            ("lost_up", lost_up),
            ("lost_down", lost_down),
        ]
        .map(|(name, series)| (name.to_owned(), series))
        .into()
    }
}

/// Returns what a host has sent between two counts: name, number, and unit.
fn traffic([before, after]: [&Counts; 2]) -> [(&'static str, u64, &'static str); 3] {
    let lost = |counts: &Counts| counts.lost_total() + counts.refused;
    [
        ("lost", lost(after) - lost(before), "packets"),
        ("packets", after.sent - before.sent, "packets"),
        ("bytes", after.sent_bytes - before.sent_bytes, "B"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulmar_sim::LossCause;

    #[test]
    fn only_what_was_sent_meanwhile_counts() {
        let before = Counts {
            sent: 10,
            sent_bytes: 1000,
            lost: [(LossCause::Random, 2)].into(),
            refused: 1,
            ..Counts::default()
        };
        let after = Counts {
            sent: 25,
            sent_bytes: 4500,
            lost: [(LossCause::Random, 5), (LossCause::Outage, 3)].into(),
            refused: 2,
            ..Counts::default()
        };
        let expected = [
            ("lost", 7, "packets"),
            ("packets", 15, "packets"),
            ("bytes", 3500, "B"),
        ];
        assert_eq!(traffic([&before, &after]), expected);
    }
}
