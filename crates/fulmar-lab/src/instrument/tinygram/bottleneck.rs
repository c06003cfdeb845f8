//! Computes the effect of a queue of so many packets on packets that come at given times.

use std::collections::VecDeque;
use std::time::Duration;

/// A slow link and its queue, as anybody would compute it: no code of the emulation is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bottleneck {
    /// The rate of the link.
    pub bits_per_second: u64,
    /// The most packets that may wait beside the one that is being sent.
    pub queue_packets: usize,
}

/// The fate of packets.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct QueueOutcome {
    /// The number of packets that found the queue full.
    pub(super) lost: usize,
    /// The number of packets that waited after each had come or left: seconds, and packets.
    pub(super) waiting: Vec<(f64, f64)>,
}

impl QueueOutcome {
    /// Lets those go that have left by then.
    fn let_leave(&mut self, leaving: &mut VecDeque<Duration>, by: Duration) {
        while let Some(at) = leaving.front().copied().filter(|leaves| *leaves <= by) {
            leaving.pop_front();
            self.note(at, leaving);
        }
    }

    fn note(&mut self, at: Duration, leaving: &VecDeque<Duration>) {
        let waiting = leaving.len().saturating_sub(1);
        self.waiting.push((at.as_secs_f64(), waiting as f64));
    }
}

impl Bottleneck {
    /// Lets packets come at these times, with these lengths in bytes, the first one first.
    pub(super) fn pass(self, packets: impl IntoIterator<Item = (Duration, usize)>) -> QueueOutcome {
        let mut outcome = QueueOutcome::default();
        // When each of those that are not gone has left, the one being sent first.
        let mut leaving: VecDeque<Duration> = VecDeque::new();
        for (at, bytes) in packets {
            outcome.let_leave(&mut leaving, at);
            if leaving.len() > self.queue_packets {
                outcome.lost += 1;
            } else {
                let start = leaving.back().copied().unwrap_or(at);
                leaving.push_back(start + self.sending_time(bytes));
            }
            outcome.note(at, &leaving);
        }
        outcome.let_leave(&mut leaving, Duration::MAX);
        outcome
    }

    fn sending_time(self, bytes: usize) -> Duration {
        let nanoseconds = (bytes as u64 * 8 * 1_000_000_000).div_ceil(self.bits_per_second);
        Duration::from_nanos(nanoseconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOW: Bottleneck = Bottleneck {
        bits_per_second: 512_000,
        queue_packets: 24,
    };

    fn at(micros: u64) -> (Duration, usize) {
        (Duration::from_micros(micros), 128)
    }

    #[test]
    fn of_packets_at_once_the_queue_and_one_more_get_through() {
        let outcome = SLOW.pass((0..34).map(|_| at(0)));
        assert_eq!(outcome.lost, 34 - 25);
        let longest = outcome.waiting.iter().map(|(_, waiting)| *waiting);
        assert_eq!(longest.fold(0.0, f64::max), 24.0);
        // The last of 25, each of which takes 2 ms.
        assert_eq!(outcome.waiting.last(), Some(&(0.05, 0.0)));
    }

    #[test]
    fn what_leaves_meanwhile_makes_room() {
        // 128 bytes take 2 ms, so two have left after 4 ms.
        let outcome = SLOW.pass((0..34).map(|number| at(number * 4000 / 33)));
        assert_eq!(outcome.lost, 34 - 25 - 2);
        let outcome = SLOW.pass((0..100).map(|number| at(number * 2000)));
        assert_eq!(outcome.lost, 0);
    }

    #[test]
    fn a_pause_empties_it() {
        let bursts = (0..34).map(|_| at(0)).chain((0..34).map(|_| at(100_000)));
        assert_eq!(SLOW.pass(bursts).lost, 18);
    }

    #[test]
    fn a_packet_takes_the_time_of_its_bits_and_each_change_is_noted() {
        let fast = Bottleneck {
            bits_per_second: 1_000_000,
            queue_packets: 1,
        };
        let ms = Duration::from_millis;
        // Each takes a millisecond: the third finds one that is sent and one that waits, and the last comes as the
        // second leaves.
        let outcome = fast.pass([(ms(0), 125), (ms(0), 125), (ms(0), 125), (ms(2), 125)]);
        assert_eq!(outcome.lost, 1);
        let expected = [
            (0.0, 0.0),
            (0.0, 1.0),
            (0.0, 1.0),
            (0.001, 0.0),
            (0.002, 0.0),
            (0.002, 0.0),
            (0.003, 0.0),
        ];
        assert_eq!(outcome.waiting, expected);
    }

    #[test]
    fn a_part_of_a_nanosecond_is_a_whole_one() {
        let odd = Bottleneck {
            bits_per_second: 3_000_000_000,
            queue_packets: 1,
        };
        assert_eq!(odd.sending_time(1), Duration::from_nanos(3));
    }
}
