//! The output of a program that lists a folder: many lines at once, one write each.

use std::io;
use std::time::Duration;

use fulmar_platform::boot_time;
use fulmar_sim::Random;
use serde::{Deserialize, Serialize};

use crate::judge::ScreenObserver;
use crate::trace::Size;

/// The size of a burst and its pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BurstShape {
    /// The number of lines.
    pub lines: usize,
    /// The length of a line, its end included.
    pub bytes: usize,
    /// From the first to the last.
    pub within: Duration,
}

impl BurstShape {
    /// The terminal on which a burst is seen whole.
    pub(super) fn terminal(self) -> Size {
        Size {
            columns: u16::try_from(self.bytes + 20).unwrap_or(u16::MAX),
            rows: u16::try_from(self.lines + 6).unwrap_or(u16::MAX),
        }
    }
}

/// The time at which something was written, in boot time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WriteSpan {
    pub(super) began: Duration,
    pub(super) ended: Duration,
}

/// The times at which a burst was seen, in boot time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BurstSeen {
    /// The time at which the first of its lines was there.
    pub(super) first: Duration,
    /// The time at which all of them were right.
    pub(super) all: Duration,
    /// The longest time, between the two, in which no line came.
    pub(super) pause: Duration,
}

/// The lines of one burst, as no other burst has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Burst {
    lines: Vec<String>,
    within: Duration,
}

/// The shortest name in a line. Names fill lines up to the length wanted.
const NAME_MIN: usize = 1;

impl Burst {
    /// Returns the burst of that number. Both ends of a run make the same from the same seed.
    pub(super) fn new(seed: u64, number: u64, shape: BurstShape) -> Self {
        let mut random = Random::stream(seed, number);
        let line = |_| line(&mut random, shape.bytes.saturating_sub(2));
        Self {
            lines: (0..shape.lines).map(line).collect(),
            within: shape.within,
        }
    }

    /// Writes one line after the other, each when it is due, as the kernel takes it.
    pub(super) fn write(
        &self,
        mut write: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<WriteSpan> {
        let began = boot_time();
        let gaps = u32::try_from(self.lines.len().saturating_sub(1)).unwrap_or(u32::MAX);
        for (line, number) in self.lines.iter().zip(0..) {
            let due = began + self.within * number / gaps.max(1);
            // A sleep would be longer than the whole burst where the timer is coarse.
            while boot_time() < due {
                std::hint::spin_loop();
            }
            write(format!("{line}\r\n").as_bytes())?;
        }
        let ended = boot_time();
        Ok(WriteSpan { began, ended })
    }

    /// Tells whether all lines are on the screen, one below the other.
    pub(super) fn is_on(&self, observer: &ScreenObserver) -> bool {
        let rows = rows(observer);
        rows.windows(self.lines.len())
            .any(|rows| *rows == self.lines[..])
    }

    /// Returns how many of the lines are on the screen.
    pub(super) fn count_on(&self, observer: &ScreenObserver) -> usize {
        let rows = rows(observer);
        let is_on = |line: &&String| rows.contains(line);
        self.lines.iter().filter(is_on).count()
    }
}

/// Returns all rows that are shown.
pub(super) fn rows(observer: &ScreenObserver) -> Vec<String> {
    let rows = 0..observer.size().rows;
    rows.map(|row| observer.row_text(row)).collect()
}

/// The part of a burst that has come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LineTimes {
    seen: usize,
    first: Duration,
    last: Duration,
    pause: Duration,
}

impl LineTimes {
    /// Notes how many lines are on the screen now.
    pub(super) fn note(&mut self, now: Duration, count: usize) {
        if count > self.seen {
            match self.seen {
                0 => self.first = now,
                _ => self.pause = self.pause.max(now - self.last),
            }
            (self.seen, self.last) = (count, now);
        }
    }

    /// Returns the times of a burst that is whole now.
    pub(super) fn seen_at(self, now: Duration) -> BurstSeen {
        BurstSeen {
            first: self.first,
            all: now,
            pause: self.pause,
        }
    }
}

/// Returns a line of `ls -l`, with a name that makes it this long.
fn line(random: &mut Random, length: usize) -> String {
    let mut line = format!(
        "-rw-r--r-- 1 user user {:>8} Nov {:>2} {:02}:{:02} ",
        random.below(100_000_000),
        random.below(30) + 1,
        random.below(24),
        random.below(60)
    );
    let name = length.saturating_sub(line.len()).max(NAME_MIN);
    line.extend((0..name).map(|_| char::from(b'a' + random.below(26) as u8)));
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: BurstShape = BurstShape {
        lines: 34,
        bytes: 80,
        within: Duration::from_micros(10),
    };

    fn bytes(burst: &Burst) -> Vec<Vec<u8>> {
        let mut writes = Vec::new();
        let write = |bytes: &[u8]| {
            writes.push(bytes.to_vec());
            Ok(())
        };
        burst.write(write).unwrap();
        writes
    }

    #[test]
    fn lines_are_written_one_by_one_and_have_their_length() {
        let burst = Burst::new(1, 0, SHAPE);
        let writes = bytes(&burst);
        assert_eq!(writes.len(), 34);
        assert!(writes.iter().all(|write| write.len() == 80));
        assert_eq!(burst, Burst::new(1, 0, SHAPE));
        assert_ne!(burst, Burst::new(1, 1, SHAPE));
        assert_ne!(burst, Burst::new(2, 0, SHAPE));
    }

    #[test]
    fn a_burst_is_there_with_its_last_line_and_not_before() {
        let mut observer = ScreenObserver::new(SHAPE.terminal());
        observer.show(b"$ ls\r\n", &mut Vec::new());
        let burst = Burst::new(1, 0, SHAPE);
        for (count, write) in bytes(&burst).iter().enumerate() {
            assert_eq!(
                (burst.count_on(&observer), burst.is_on(&observer)),
                (count, false)
            );
            observer.show(write, &mut Vec::new());
        }
        assert_eq!(
            (burst.count_on(&observer), burst.is_on(&observer)),
            (34, true)
        );
        // Another one scrolls it away.
        let next = Burst::new(1, 1, SHAPE);
        for write in bytes(&next) {
            observer.show(&write, &mut Vec::new());
        }
        assert!(next.is_on(&observer) && !burst.is_on(&observer));
    }

    #[test]
    fn a_line_in_the_wrong_place_is_not_right() {
        let burst = Burst::new(1, 0, SHAPE);
        let mut writes = bytes(&burst);
        writes.swap(3, 4);
        let mut observer = ScreenObserver::new(SHAPE.terminal());
        for write in writes {
            observer.show(&write, &mut Vec::new());
        }
        assert_eq!(
            (burst.count_on(&observer), burst.is_on(&observer)),
            (34, false)
        );
    }

    #[test]
    fn the_longest_time_without_a_new_line_is_between_the_first_and_the_last() {
        let ms = Duration::from_millis;
        let mut lines = LineTimes::default();
        // Nothing for a second, then lines, with looks in between at which there is no new one.
        for (at, count) in [
            (0, 0),
            (1000, 1),
            (1010, 3),
            (1100, 3),
            (1140, 4),
            (1150, 4),
            (1160, 34),
        ] {
            lines.note(ms(at), count);
        }
        let seen = lines.seen_at(ms(1400));
        assert_eq!((seen.first, seen.all), (ms(1000), ms(1400)));
        assert_eq!(seen.pause, ms(130));
    }

    #[test]
    fn a_terminal_holds_a_burst_and_what_was_there_before() {
        let size = SHAPE.terminal();
        assert_eq!((size.columns, size.rows), (100, 40));
        let huge = BurstShape {
            lines: 100_000,
            bytes: 100_000,
            ..SHAPE
        };
        assert_eq!(
            huge.terminal(),
            Size {
                columns: u16::MAX,
                rows: u16::MAX
            }
        );
    }

    #[test]
    fn a_line_is_never_shorter_than_what_it_says() {
        let mut random = Random::stream(1, 0);
        let short = line(&mut random, 0);
        assert!(short.len() > 40 && !short.ends_with(' '), "{short}");
        assert_eq!(line(&mut random, 120).len(), 120);
    }
}
