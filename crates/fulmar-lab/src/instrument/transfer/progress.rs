//! Notes how much had arrived when.

use std::time::Duration;

use crate::instrument::figures::Line;

/// Between two notes, at least. Chosen by eye: half of the shortest round trip.
const PAUSE: Duration = Duration::from_millis(20);

/// The bytes that arrived, as they were noted while they did. Times count from the start of the tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::instrument) struct TransferProgress {
    notes: Vec<(Duration, u64)>,
}

impl TransferProgress {
    /// Notes that so much is there in all, unless that was done just now.
    pub(in crate::instrument) fn note(&mut self, at: Duration, bytes: u64) {
        match self.notes.last() {
            None if bytes == 0 => {}
            Some((last, _)) if at < *last + PAUSE => {}
            _ => self.notes.push((at, bytes)),
        }
    }

    /// Notes the end.
    pub(in crate::instrument) fn end(&mut self, at: Duration, bytes: u64) {
        if self.bytes() < bytes {
            self.notes.push((at, bytes));
        }
    }

    /// Returns how much arrived.
    pub(in crate::instrument) fn bytes(&self) -> u64 {
        self.notes.last().map_or(0, |(_, bytes)| *bytes)
    }

    /// Returns when the first byte was there.
    pub(in crate::instrument) fn first(&self) -> Option<Duration> {
        self.notes.first().map(|(at, _)| *at)
    }

    /// Returns the bytes a second from the first byte on.
    pub(in crate::instrument) fn goodput(&self) -> Option<f64> {
        speed(&self.notes)
    }

    /// Returns the bytes a second in the second half of the time: without the start, in which TCP
    /// looks for its speed.
    ///
    /// It is the slope of the line through the notes with the least squares: where a window at a
    /// time arrives, the difference of two notes would depend on where in a window they are.
    pub(in crate::instrument) fn steady_goodput(&self) -> Option<f64> {
        let ((first, _), (last, _)) = (self.notes.first()?, self.notes.last()?);
        let middle = (*first + *last) / 2;
        let second_half = self.notes.iter().filter(|(at, _)| *at >= middle);
        let points = second_half.map(|(at, bytes)| (at.as_secs_f64(), *bytes as f64));
        Line::through(&points.collect::<Vec<_>>()).map(|line| line.slope)
    }

    /// Returns what had arrived by when: seconds, and bytes.
    pub(in crate::instrument) fn series(&self) -> Vec<(f64, f64)> {
        let notes = self.notes.iter();
        notes
            .map(|(at, bytes)| (at.as_secs_f64(), *bytes as f64))
            .collect()
    }
}

fn speed(notes: &[(Duration, u64)]) -> Option<f64> {
    let ((first, before), (last, after)) = (notes.first()?, notes.last()?);
    let time = last.checked_sub(*first)?.as_secs_f64();
    (time > 0.0).then(|| after.saturating_sub(*before) as f64 / time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn goodput_counts_from_the_first_byte_and_steady_from_the_middle() {
        let mut progress = TransferProgress::default();
        progress.note(ms(500), 0);
        // Slow for a second, then ten times as fast.
        for step in 0..=10 {
            progress.note(ms(1000 + step * 100), 1 + step * 100);
        }
        for step in 1..=10 {
            progress.note(ms(2000 + step * 100), 1001 + step * 1000);
        }
        assert_eq!(progress.first(), Some(ms(1000)));
        assert_eq!(progress.bytes(), 11_001);
        assert_eq!(progress.goodput(), Some(5500.0));
        let steady = progress.steady_goodput().unwrap();
        assert!((steady - 10_000.0).abs() < 1.0, "{steady}");
    }

    #[test]
    fn windows_that_arrive_at_once_make_it_no_larger_and_no_smaller() {
        for end in 5000..5400 {
            // 64 pieces of 1000 bytes, 0.4 ms apart, each 200 ms.
            let mut progress = TransferProgress::default();
            let pieces = (0..).map(|piece| {
                let us = piece / 64 * 200_000 + piece % 64 * 400;
                (Duration::from_micros(us), (piece + 1) * 1000)
            });
            for (at, bytes) in pieces.take_while(|(at, _)| *at < ms(end)) {
                progress.note(at, bytes);
            }
            let steady = progress.steady_goodput().unwrap();
            assert!((steady / 320_000.0 - 1.0).abs() < 0.03, "{end}: {steady}");
        }
    }

    #[test]
    fn notes_are_not_too_many_and_the_end_is_among_them() {
        let mut progress = TransferProgress::default();
        for at in 0..1000 {
            progress.note(ms(at), at + 1);
        }
        assert_eq!(progress.series().len(), 50);
        progress.end(ms(1000), 1000);
        progress.end(ms(1001), 1000);
        assert_eq!(progress.series().last(), Some(&(1.0, 1000.0)));
    }

    #[test]
    fn of_nothing_there_is_no_goodput() {
        let mut progress = TransferProgress::default();
        assert_eq!(
            (progress.goodput(), progress.steady_goodput()),
            (None, None)
        );
        progress.note(ms(1), 5);
        assert_eq!(
            (progress.goodput(), progress.steady_goodput()),
            (None, None)
        );
    }

    #[test]
    fn nothing_is_noted_before_the_first_byte_and_not_too_soon_after_the_last_note() {
        let mut progress = TransferProgress::default();
        progress.note(ms(100), 0);
        progress.note(ms(200), 5);
        progress.note(ms(219), 6);
        progress.note(ms(220), 7);
        assert_eq!(progress.series(), [(0.2, 5.0), (0.22, 7.0)]);
        progress.end(ms(230), 7);
        assert_eq!(progress.series().len(), 2, "nothing more has come");
    }
}
