//! Counts the packets of a run, from the link's own log.

use std::collections::BTreeMap;
use std::time::Duration;

use fulmar_sim::{CLIENT, Entry, EntryKind, HostId};

/// A TCP packet of at most this length has no data: 20 bytes of IPv4, and the largest header of TCP
/// (RFC 9293 §3.1). One of ssh with data is longer: its smallest message has 36 bytes, behind 52 of headers.
const PURE_ACK_BYTES_MAX: usize = 80;

/// The depth of a queue is noted this often at most: its greatest in this time. Chosen by eye: a
/// fraction of the round-trip times.
const STEP: Duration = Duration::from_millis(50);

/// The identity of a packet: its number, and whether the network made it.
type Which = (u64, bool);

/// The packets of one way.
#[derive(Debug, Default)]
struct Way {
    /// Those on the way: when they were sent.
    sent: BTreeMap<Which, Duration>,
    /// Those of them that had to wait: since when.
    waiting: BTreeMap<Which, Duration>,
    /// Those that have waited and arrived: since when, and how long they were on the way.
    waited: Vec<(Duration, Duration)>,
    /// Those that waited and were lost: from when until when.
    dropped: Vec<(Duration, Duration)>,
    lost: Vec<Duration>,
    /// The least time on the way.
    least: Option<Duration>,
}

/// The packets of a run, both ways. Times are those of the link.
#[derive(Debug, Default)]
pub(super) struct Packets {
    up: Way,
    down: Way,
    pure_acks: u64,
    with_data: u64,
}

/// A series: seconds and values.
pub(super) type Series = Vec<(f64, f64)>;

impl Packets {
    /// Takes in what happened next.
    pub(super) fn take_in(&mut self, entries: &[Entry]) {
        for entry in entries {
            self.take(entry);
        }
    }

    fn take(&mut self, entry: &Entry) {
        let (Some(host), Some(serial)) = (entry.host, entry.serial) else {
            return;
        };
        let which = (serial, entry.is_copy);
        match entry.what {
            EntryKind::Sent => {
                if entry.bytes > PURE_ACK_BYTES_MAX {
                    self.with_data += 1
                } else {
                    self.pure_acks += 1
                }
                self.way_from(host).sent.insert(which, entry.at);
            }
            EntryKind::Queued => {
                self.way_from(host).waiting.insert(which, entry.at);
            }
            EntryKind::Delivered => self.way_to(host).arrive(which, entry.at),
            EntryKind::Lost(_) | EntryKind::Refused(_) => {
                self.way_from(host).lose(which, entry.at);
            }
            _ => {}
        }
    }

    /// Counts from here on. What is known of the least time on the way stays, unless the link is
    /// about to change.
    pub(super) fn begin(&mut self, keeps_least: bool) {
        let least = [&self.up, &self.down].map(|way| way.least.filter(|_| keeps_least));
        *self = Self::default();
        [self.up.least, self.down.least] = least;
    }

    fn way_from(&mut self, sender: HostId) -> &mut Way {
        if sender == CLIENT {
            &mut self.up
        } else {
            &mut self.down
        }
    }

    fn way_to(&mut self, receiver: HostId) -> &mut Way {
        if receiver == CLIENT {
            &mut self.down
        } else {
            &mut self.up
        }
    }

    /// Returns the share of TCP packets that carry data: each acknowledges what came before it.
    pub(super) fn acks_on_data(&self) -> Option<f64> {
        let all = self.pure_acks + self.with_data;
        (all > 0).then(|| self.with_data as f64 / all as f64)
    }

    /// Returns how many packets waited in the queues, up and down, with `start` for 0 s.
    pub(super) fn queues(&self, start: Duration) -> [Series; 2] {
        [&self.up, &self.down].map(|way| way.queue(start))
    }

    /// Returns when packets were lost, up and down, with `start` for 0 s.
    pub(super) fn losses(&self, start: Duration) -> [Series; 2] {
        [&self.up, &self.down].map(|way| {
            let lost = way.lost.iter().filter_map(|at| since(*at, start));
            lost.map(|at| (at, 1.0)).collect()
        })
    }
}

impl Way {
    fn arrive(&mut self, which: Which, at: Duration) {
        let since = self.waiting.remove(&which);
        // Of a copy it is not known when it was sent.
        let Some(sent) = self.sent.remove(&which) else {
            return;
        };
        let took = at.saturating_sub(sent);
        self.least = Some(self.least.map_or(took, |least| least.min(took)));
        self.waited.extend(since.map(|since| (since, took)));
    }

    fn lose(&mut self, which: Which, at: Duration) {
        self.lost.push(at);
        self.sent.remove(&which);
        if let Some(since) = self.waiting.remove(&which) {
            self.dropped.push((since, at));
        }
    }

    /// The link says when a packet came to wait and when it arrived. So long as it took longer than
    /// the fastest, it was in the queue.
    fn queue(&self, start: Duration) -> Series {
        let least = self.least.unwrap_or_default();
        let left = self.waited.iter().map(|(since, took)| {
            let waited = took.saturating_sub(least);
            (*since, *since + waited)
        });
        let mut steps: Vec<(Duration, i64)> = left
            .chain(self.dropped.iter().copied())
            .flat_map(|(since, until)| [(since, 1), (until, -1)])
            .collect();
        steps.extend(self.waiting.values().map(|since| (*since, 1)));
        // One that comes and goes at once was there.
        steps.sort_unstable_by_key(|(at, step)| (*at, -step));
        let mut depths = Depths::default();
        for (at, step) in steps {
            depths.step(at, step);
        }
        let depths = depths.finish();
        let since = depths.iter().map(|(at, depth)| (since(*at, start), *depth));
        since.filter_map(|(at, depth)| Some((at?, depth))).collect()
    }
}

/// Follows the depth of a queue, and notes the greatest of each [`STEP`].
#[derive(Default)]
struct Depths {
    noted: Vec<(Duration, f64)>,
    depth: i64,
    /// The end of the step that the last note is in.
    end: Duration,
}

impl Depths {
    fn step(&mut self, at: Duration, step: i64) {
        if at >= self.end {
            self.close();
            self.end = STEP
                * (at.as_nanos() / STEP.as_nanos() + 1)
                    .try_into()
                    .unwrap_or(u32::MAX);
            self.noted.push((at, self.depth as f64));
        }
        self.depth += step;
        if let Some((_, most)) = self.noted.last_mut() {
            *most = most.max(self.depth as f64);
        }
    }

    /// Notes how deep it is at the end of a step, where that is not its greatest depth.
    fn close(&mut self) {
        let depth = self.depth as f64;
        if self.noted.last().is_some_and(|(_, most)| *most != depth) {
            self.noted.push((self.end, depth));
        }
    }

    fn finish(mut self) -> Vec<(Duration, f64)> {
        self.close();
        self.noted
    }
}

/// The seconds since the start; nothing before it.
fn since(at: Duration, start: Duration) -> Option<f64> {
    Some(at.checked_sub(start)?.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulmar_sim::{LossCause, SERVER};

    fn entry(at: u64, host: HostId, serial: u64, what: EntryKind) -> Entry {
        Entry {
            at: Duration::from_millis(at),
            host: Some(host),
            serial: Some(serial),
            is_copy: false,
            bytes: if serial == 1 { 80 } else { 81 },
            what,
        }
    }

    /// Three packets from the client, of which the second and the third wait; the fourth is lost. The
    /// fastest takes 100 ms.
    fn packets() -> Packets {
        let mut packets = Packets::default();
        packets.take_in(&[
            entry(1000, CLIENT, 1, EntryKind::Sent),
            entry(1000, CLIENT, 2, EntryKind::Sent),
            entry(1000, CLIENT, 2, EntryKind::Queued),
            entry(1010, CLIENT, 3, EntryKind::Sent),
            entry(1010, CLIENT, 3, EntryKind::Queued),
            entry(1100, SERVER, 1, EntryKind::Delivered),
            entry(1300, SERVER, 2, EntryKind::Delivered),
        ]);
        packets.take_in(&[
            entry(1310, SERVER, 3, EntryKind::Delivered),
            entry(1400, CLIENT, 4, EntryKind::Sent),
            entry(1400, CLIENT, 4, EntryKind::Lost(LossCause::Random)),
        ]);
        packets
    }

    #[test]
    fn a_queue_is_as_deep_as_packets_wait_in_it() {
        let [up, down] = packets().queues(Duration::from_secs(1));
        let expected = [(0.0, 2.0), (0.2, 2.0), (0.25, 0.0)];
        assert_eq!((up.as_slice(), down.len()), (&expected[..], 0));
    }

    #[test]
    fn the_fastest_may_have_been_before() {
        let later = |keeps_least| {
            let mut packets = packets();
            packets.begin(keeps_least);
            packets.take_in(&[
                entry(2000, CLIENT, 5, EntryKind::Sent),
                entry(2000, CLIENT, 5, EntryKind::Queued),
                entry(2400, SERVER, 5, EntryKind::Delivered),
            ]);
            let [up, _] = packets.queues(Duration::from_secs(1));
            up
        };
        assert_eq!(later(true), [(1.0, 1.0), (1.3, 1.0), (1.35, 0.0)]);
        assert_eq!(later(false), [(1.0, 1.0), (1.05, 0.0)]);
    }

    #[test]
    fn losses_have_their_times_and_acknowledgements_their_share() {
        let [up, down] = packets().losses(Duration::from_secs(1));
        assert_eq!((up, down), (vec![(0.4, 1.0)], vec![]));
        assert_eq!(packets().acks_on_data(), Some(0.75));
        assert_eq!(Packets::default().acks_on_data(), None);
    }

    #[test]
    fn what_waits_on_the_way_to_the_client_waits_down_there() {
        let mut packets = Packets::default();
        packets.take_in(&[
            entry(1000, SERVER, 2, EntryKind::Sent),
            entry(1000, SERVER, 2, EntryKind::Queued),
            entry(1100, CLIENT, 2, EntryKind::Delivered),
        ]);
        let [up, down] = packets.queues(Duration::from_secs(1));
        assert_eq!((up, down), (vec![], vec![(0.0, 1.0), (0.05, 0.0)]));
    }

    #[test]
    fn a_packet_waits_until_it_is_lost_or_for_ever() {
        let queue = |entries: &[Entry]| {
            let mut packets = Packets::default();
            packets.take_in(entries);
            let [up, _] = packets.queues(Duration::from_secs(1));
            up
        };
        let waits = [
            entry(1000, CLIENT, 2, EntryKind::Sent),
            entry(1000, CLIENT, 2, EntryKind::Queued),
            entry(1200, CLIENT, 2, EntryKind::Lost(LossCause::QueueFull)),
        ];
        assert_eq!(queue(&waits[..2]), [(0.0, 1.0)]);
        assert_eq!(queue(&waits), [(0.0, 1.0), (0.2, 1.0), (0.25, 0.0)]);
    }

    #[test]
    fn a_depth_is_noted_once_in_each_step() {
        let mut depths = Depths::default();
        let ms = Duration::from_millis;
        for at in [0, 49, 50] {
            depths.step(ms(at), 1);
        }
        assert_eq!(depths.finish(), [(ms(0), 2.0), (ms(50), 3.0)]);
    }

    #[test]
    fn what_was_lost_before_the_start_does_not_count() {
        let [up, _] = packets().losses(Duration::from_millis(1401));
        assert_eq!(up, []);
    }
}
