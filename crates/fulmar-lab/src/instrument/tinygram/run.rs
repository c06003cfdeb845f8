//! A run of bursts: bursts one after the other, and what the link saw of them.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use fulmar_platform::boot_time;
use fulmar_sim::{Entry, EntryKind, SERVER};

use super::burst::{Burst, LineTimes};
use super::{BurstSeen, Tinygrams, WriteSpan};
use crate::experiment::Measured;
use crate::instrument::figures::{Traffic, median, traffic};
use crate::instrument::watcher::{ByteStream, ScreenWatcher};
use crate::link::Link;

/// The key that asks for a burst: Enter.
pub(super) const KEY: &[u8] = b"\r";

/// The key that asks the remote end of a session to leave: Ctrl-].
pub(super) const LAST_KEY: &[u8] = b"\x1d";

/// The time for which a burst is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// So many events of packets are kept.
const EVENTS_MAX: usize = 200_000;

/// The outcome of the bursts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BurstRun {
    /// The times at which each burst was seen; nothing of one that never came whole.
    pub(super) seen: Vec<Option<BurstSeen>>,
    /// The traffic from before the first burst to after the last one.
    pub(super) traffic: [Traffic; 2],
    /// The packets of it that the server sent: when, and how long they were.
    pub(super) sent_down: Vec<(Duration, usize)>,
}

impl Tinygrams {
    /// Asks for all bursts, which follow from the seed, and looks at each. `renew` is called before each but the first
    /// one.
    pub(super) fn run<S: ByteStream>(
        &self,
        seed: u64,
        link: &Link,
        watcher: &mut ScreenWatcher<S>,
        renew: impl Fn(&mut S) -> Result<()>,
    ) -> Result<BurstRun> {
        watcher.await_quiet(self.quiet)?;
        link.keep(EVENTS_MAX)?;
        let before = link.report()?;
        let mut seen = Vec::new();
        for number in 0..self.bursts {
            let burst = Burst::new(seed, number, self.shape);
            if number > 0 {
                renew(&mut watcher.stream)?;
            }
            watcher.stream.write(KEY)?;
            let mut lines = LineTimes::default();
            seen.push(watcher.look_for(PATIENCE, |observer| {
                lines.note(boot_time(), burst.count_on(observer));
                burst.is_on(observer).then(|| lines.seen_at(boot_time()))
            })?);
            watcher.await_quiet(self.quiet)?;
        }
        let after = link.report()?;
        let log = link.log()?;
        ensure!(log.len() < EVENTS_MAX, "more packets than are kept");
        Ok(BurstRun {
            seen,
            traffic: traffic(&before, &after),
            sent_down: sent_down(&log, before.at, after.at),
        })
    }
}

/// Returns when the server sent packets in a time, and how long they were.
fn sent_down(log: &[Entry], after: Duration, until: Duration) -> Vec<(Duration, usize)> {
    let is_meant = |entry: &&Entry| {
        let is_sent = entry.host == Some(SERVER) && entry.what == EntryKind::Sent;
        is_sent && entry.at > after && entry.at <= until
    };
    let sent = log.iter().filter(is_meant);
    sent.map(|entry| (entry.at, entry.bytes)).collect()
}

impl BurstRun {
    /// Returns what a person waited for, and what went over the link, where bursts were written at these times.
    pub(super) fn figures(&self, written: &[WriteSpan]) -> Result<Measured> {
        let mut measured = Measured::default();
        let bursts = self.seen.len() as f64;
        for Traffic {
            way,
            packets,
            bytes,
            lost,
        } in self.traffic
        {
            measured.put(&format!("packets_{way}"), packets, "packets");
            measured.put(&format!("bytes_{way}"), bytes, "B");
            measured.put(&format!("lost_{way}"), lost, "packets");
            if way == "down" {
                measured.put("packets_down_a_burst", packets / bursts, "packets");
                measured.put("lost_down_a_burst", lost / bursts, "packets");
            }
        }
        let spans = written.iter().map(|written| written.ended - written.began);
        measured.put_ms("write_span", median(spans).context("no burst")?);
        measured.put("bursts", bursts, "bursts");
        let whole = written.iter().zip(&self.seen);
        let whole: Vec<_> = whole
            .filter_map(|(written, seen)| Some((written.began, (*seen)?)))
            .collect();
        measured.put("bursts_not_whole", bursts - whole.len() as f64, "bursts");
        let waits = |of: fn(&BurstSeen) -> Duration| {
            let waits = whole.iter().map(move |(began, seen)| (*began, of(seen)));
            waits.map(|(began, at)| at.saturating_sub(began))
        };
        measured.put_ms("first_line", median(waits(|seen| seen.first)));
        measured.put_ms("all_lines", median(waits(|seen| seen.all)));
        measured.put_ms("all_lines_worst", waits(|seen| seen.all).max());
        let pauses = whole.iter().map(|(_, seen)| seen.pause);
        measured.put_ms("longest_pause", median(pauses));
        Ok(measured)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulmar_sim::{CLIENT, HostId, LossCause};

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn only_packets_of_the_server_and_of_the_run_count_however_they_fare() {
        let packet = |at: u64, host: HostId, bytes: usize, what: EntryKind| Entry {
            at: ms(at),
            host: Some(host),
            serial: None,
            is_copy: false,
            bytes,
            what,
        };
        let log = [
            packet(1, SERVER, 40, EntryKind::Sent),
            packet(2, CLIENT, 41, EntryKind::Sent),
            packet(2, SERVER, 41, EntryKind::Delivered),
            packet(3, SERVER, 120, EntryKind::Sent),
            packet(3, SERVER, 120, EntryKind::Queued),
            packet(4, SERVER, 130, EntryKind::Sent),
            packet(4, SERVER, 130, EntryKind::Lost(LossCause::Random)),
            packet(5, SERVER, 140, EntryKind::Sent),
            packet(6, SERVER, 150, EntryKind::Sent),
        ];
        let expected = [(ms(3), 120), (ms(4), 130), (ms(5), 140)];
        assert_eq!(sent_down(&log, ms(1), ms(5)), expected);
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

    fn figures(bursts: impl IntoIterator<Item = (WriteSpan, Option<BurstSeen>)>) -> Measured {
        let (written, seen): (Vec<_>, Vec<_>) = bursts.into_iter().unzip();
        let way = |way, packets, bytes, lost| Traffic {
            way,
            packets,
            bytes,
            lost,
        };
        let run = BurstRun {
            seen,
            traffic: [way("up", 10.0, 410.0, 1.0), way("down", 80.0, 9600.0, 6.0)],
            sent_down: Vec::new(),
        };
        run.figures(&written).unwrap()
    }

    #[test]
    fn a_burst_that_never_came_whole_is_counted_and_has_no_times() {
        let measured = figures([
            burst(1000, Some([50, 60, 5])),
            burst(3000, None),
            burst(5000, Some([52, 1300, 1200])),
            burst(7000, Some([51, 70, 7])),
        ]);
        let expected = [
            ("all_lines", 70.0, "ms"),
            ("all_lines_worst", 1300.0, "ms"),
            ("bursts", 4.0, "bursts"),
            ("bursts_not_whole", 1.0, "bursts"),
            ("bytes_down", 9600.0, "B"),
            ("bytes_up", 410.0, "B"),
            ("first_line", 51.0, "ms"),
            ("longest_pause", 7.0, "ms"),
            ("lost_down", 6.0, "packets"),
            ("lost_down_a_burst", 1.5, "packets"),
            ("lost_up", 1.0, "packets"),
            ("packets_down", 80.0, "packets"),
            ("packets_down_a_burst", 20.0, "packets"),
            ("packets_up", 10.0, "packets"),
            ("write_span", 4.0, "ms"),
        ];
        assert_eq!(measured.told(), expected);
    }

    #[test]
    fn where_no_burst_came_whole_there_are_no_times_at_all() {
        let figures = figures([burst(1000, None)]).figures;
        assert_eq!(figures["bursts_not_whole"].value, 1.0);
        assert!(!figures.contains_key("all_lines") && !figures.contains_key("longest_pause"));
    }
}
