//! The collection interval as the Mosh paper has it, apart from any program.

use std::time::Duration;

/// A model of when frames leave.
///
/// - A write while none waits opens an interval. The frame with it is due when the interval ends.
/// - A frame leaves when it is due, and not less than the pause after the frame before.
/// - All writes up to the moment at which a frame leaves are in it, and have waited until then.
///
/// Nothing else is sent, and nothing is lost. The paper varies the interval with a pause of 250 ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectionModel {
    /// The collection interval.
    pub interval: Duration,
    /// The least time between two frames.
    pub pause: Duration,
}

/// The fate of the writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameTally {
    /// The number of writes.
    pub writes: usize,
    /// The number of frames that left with them.
    pub frames: usize,
    /// The time that all writes together waited.
    pub waited: Duration,
}

/// The shortest pause between frames: docs/protocol.md §5.4.
const PAUSE_MIN: Duration = Duration::from_millis(20);

/// The longest pause between frames: docs/protocol.md §5.4.
const PAUSE_MAX: Duration = Duration::from_millis(250);

/// Returns the pause between frames on a path with this round trip: half of it, within 20 and 250 ms.
#[must_use]
pub fn pause(round_trip: Duration) -> Duration {
    (round_trip / 2).clamp(PAUSE_MIN, PAUSE_MAX)
}

impl CollectionModel {
    /// Says what becomes of writes at these times, which do not go back.
    #[must_use]
    pub fn tally(&self, writes: &[Duration]) -> FrameTally {
        let mut tally = FrameTally::default();
        let mut last: Option<Duration> = None;
        let mut rest = writes;
        while let Some(first) = rest.first() {
            let permitted = last.map_or(Duration::ZERO, |last| last + self.pause);
            let leaves = (*first + self.interval).max(permitted);
            let count = rest.partition_point(|write| *write <= leaves);
            let (with, behind) = rest.split_at(count);
            tally.add(with, leaves);
            (last, rest) = (Some(leaves), behind);
        }
        tally
    }
}

impl FrameTally {
    /// Adds a frame, with the writes in it.
    pub fn add(&mut self, writes: &[Duration], leaves: Duration) {
        self.frames += 1;
        self.writes += writes.len();
        let waits = writes.iter().map(|write| leaves.saturating_sub(*write));
        self.waited += waits.sum::<Duration>();
    }

    /// Returns how long a write waited in the mean, in milliseconds; 0 without any.
    #[must_use]
    pub(crate) fn mean_ms(&self) -> f64 {
        self.waited.as_secs_f64() * 1e3 / self.writes.max(1) as f64
    }

    /// Returns both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            writes: self.writes + other.writes,
            frames: self.frames + other.frames,
            waited: self.waited + other.waited,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn tally(interval: u64, pause: u64, writes: &[u64]) -> (usize, Duration) {
        let model = CollectionModel {
            interval: ms(interval),
            pause: ms(pause),
        };
        let writes: Vec<Duration> = writes.iter().map(|write| ms(*write)).collect();
        let tally = model.tally(&writes);
        assert_eq!(tally.writes, writes.len());
        (tally.frames, tally.waited)
    }

    #[test]
    fn a_lone_write_waits_for_the_interval() {
        assert_eq!(tally(8, 250, &[1000]), (1, ms(8)));
        assert_eq!(tally(0, 250, &[1000]), (1, ms(0)));
        assert_eq!(tally(8, 250, &[]), (0, ms(0)));
    }

    #[test]
    fn what_comes_within_the_interval_rides_along_its_end_included() {
        assert_eq!(tally(8, 250, &[0, 3, 8]), (1, ms(8 + 5)));
    }

    #[test]
    fn what_comes_too_late_waits_for_the_pause() {
        // One frame at 8, the next at 258: the write at 9 waits for 249.
        assert_eq!(tally(8, 250, &[0, 9, 200]), (2, ms(8 + 249 + 58)));
        // Without an interval the same for the write at 1.
        assert_eq!(tally(0, 250, &[0, 1]), (2, ms(249)));
        // An interval that takes both in costs less: that is the minimum of the paper's curve.
        assert_eq!(tally(1, 250, &[0, 1]), (1, ms(1)));
    }

    #[test]
    fn the_interval_counts_where_the_pause_is_over() {
        assert_eq!(tally(8, 20, &[0, 25, 100]), (3, ms(8 + 8 + 8)));
        assert_eq!(tally(100, 20, &[0, 150]), (2, ms(200)));
    }

    #[test]
    fn the_pause_is_half_the_round_trip_within_its_limits() {
        let pauses = [0, 40, 200, 500, 900].map(|round_trip| pause(ms(round_trip)));
        assert_eq!(pauses, [20, 20, 100, 250, 250].map(ms));
    }

    #[test]
    fn the_mean_is_over_writes() {
        let one = FrameTally {
            writes: 3,
            frames: 1,
            waited: ms(6),
        };
        let other = FrameTally {
            writes: 1,
            frames: 1,
            waited: ms(2),
        };
        assert!((one.and(other).mean_ms() - 2.0).abs() < 1e-9);
        assert!(FrameTally::default().mean_ms().abs() < 1e-9);
    }
}
