//! A run of bursts: bursts one after the other, and what the link saw of them.

use std::time::Duration;

use anyhow::{Result, ensure};
use fulmar_sim::{CLIENT, Entry, EntryKind, SERVER};

use super::burst::{Burst, BurstShape};
use super::screen_watcher::{BurstSeen, ByteStream, ScreenWatcher};
use crate::link::Link;

/// The key that asks for a burst: Enter.
pub(super) const KEY: &[u8] = b"\r";

/// The key that asks the far end of a session to leave: Ctrl-].
pub(super) const LAST_KEY: &[u8] = b"\x1d";

/// The time for which a burst is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// So many events of packets are kept.
const EVENTS_MAX: usize = 200_000;

/// Bursts, and what became of them.
pub(super) struct BurstRun {
    pub(super) seed: u64,
    pub(super) shape: BurstShape,
    pub(super) bursts: u64,
    /// The time for which it is quiet before a burst.
    pub(super) quiet: Duration,
    /// The times at which each burst was seen; nothing of one that never came whole.
    pub(super) seen: Vec<Option<BurstSeen>>,
    /// The events of packets from before the first burst to after the last one.
    pub(super) packets: Vec<Entry>,
}

impl BurstRun {
    pub(super) fn new(seed: u64, shape: BurstShape, bursts: u64, quiet: Duration) -> Self {
        Self {
            seed,
            shape,
            bursts,
            quiet,
            seen: Vec::new(),
            packets: Vec::new(),
        }
    }

    /// Asks for all bursts, and looks at each.
    pub(super) fn run(
        &mut self,
        link: &Link,
        mut watcher: ScreenWatcher<impl ByteStream>,
    ) -> Result<()> {
        watcher.await_quiet(self.quiet)?;
        link.keep(EVENTS_MAX)?;
        let before = link.report()?.at;
        for number in 0..self.bursts {
            let burst = Burst::new(self.seed, number, self.shape);
            watcher.stream.prepare()?;
            watcher.stream.write(KEY)?;
            self.seen.push(watcher.await_burst(&burst, PATIENCE)?);
            watcher.await_quiet(self.quiet)?;
        }
        let after = link.report()?.at;
        let packets = link.log()?;
        ensure!(packets.len() < EVENTS_MAX, "more packets than are kept");
        self.packets = packets
            .into_iter()
            .filter(|packet| packet.at > before && packet.at <= after)
            .collect();
        Ok(())
    }

    /// Returns when the server sent packets, and how long they were.
    pub(super) fn sent_down(&self) -> impl Iterator<Item = (Duration, usize)> {
        self.packets_sent(SERVER)
    }

    fn packets_sent(&self, host: fulmar_sim::HostId) -> impl Iterator<Item = (Duration, usize)> {
        let packets = self.packets.iter();
        packets
            .filter(move |packet| packet.host == Some(host) && packet.what == EntryKind::Sent)
            .map(|packet| (packet.at, packet.bytes))
    }

    /// Returns packets and bytes that were sent, and packets that were lost, by name.
    pub(super) fn totals(&self) -> Vec<(&'static str, f64, &'static str)> {
        let lost = |host| {
            let is_lost = |packet: &&Entry| {
                packet.host == Some(host) && matches!(packet.what, EntryKind::Lost(_))
            };
            self.packets.iter().filter(is_lost).count() as f64
        };
        let sent = |host| {
            let lengths: Vec<usize> = self.packets_sent(host).map(|(_, bytes)| bytes).collect();
            (lengths.len() as f64, lengths.iter().sum::<usize>() as f64)
        };
        let ((packets_up, bytes_up), (packets_down, bytes_down)) = (sent(CLIENT), sent(SERVER));
        vec![
            ("packets_up", packets_up, "packets"),
            ("packets_down", packets_down, "packets"),
            ("bytes_up", bytes_up, "B"),
            ("bytes_down", bytes_down, "B"),
            ("lost_up", lost(CLIENT), "packets"),
            ("lost_down", lost(SERVER), "packets"),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulmar_sim::{HostId, LossCause};

    fn packet(at: u64, host: HostId, bytes: usize, what: EntryKind) -> Entry {
        Entry {
            at: Duration::from_millis(at),
            host: Some(host),
            serial: None,
            is_copy: false,
            bytes,
            what,
        }
    }

    #[test]
    fn each_host_s_packets_count_once_however_they_fare() {
        let shape = BurstShape {
            lines: 1,
            bytes: 1,
            within: Duration::ZERO,
        };
        let mut run = BurstRun::new(1, shape, 1, Duration::ZERO);
        run.packets = vec![
            packet(1, CLIENT, 41, EntryKind::Sent),
            packet(2, SERVER, 41, EntryKind::Delivered),
            packet(3, SERVER, 120, EntryKind::Sent),
            packet(3, SERVER, 120, EntryKind::Queued),
            packet(4, SERVER, 130, EntryKind::Sent),
            packet(4, SERVER, 130, EntryKind::Lost(LossCause::Random)),
            packet(5, CLIENT, 120, EntryKind::Delivered),
        ];
        let expected = [
            ("packets_up", 1.0, "packets"),
            ("packets_down", 2.0, "packets"),
            ("bytes_up", 41.0, "B"),
            ("bytes_down", 250.0, "B"),
            ("lost_up", 0.0, "packets"),
            ("lost_down", 1.0, "packets"),
        ];
        assert_eq!(run.totals(), expected);
        let sent: Vec<(u128, usize)> = run
            .sent_down()
            .map(|(at, bytes)| (at.as_millis(), bytes))
            .collect();
        assert_eq!(sent, [(3, 120), (4, 130)]);
    }
}
