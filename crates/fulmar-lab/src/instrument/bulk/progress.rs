//! How much had arrived when.

use std::time::Duration;

/// Between two notes, at least. Chosen by eye: half of the shortest round trip.
const PAUSE: Duration = Duration::from_millis(20);

/// What arrived, as it was noted while it did. Times count from the start of the tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Progress {
    notes: Vec<(Duration, u64)>,
}

impl Progress {
    /// Notes that so much is there in all, unless that was done just now.
    pub(super) fn note(&mut self, at: Duration, bytes: u64) {
        match self.notes.last() {
            None if bytes == 0 => {}
            Some((last, _)) if at < *last + PAUSE => {}
            _ => self.notes.push((at, bytes)),
        }
    }

    /// Notes the end.
    pub(super) fn end(&mut self, at: Duration, bytes: u64) {
        if self.bytes() < bytes {
            self.notes.push((at, bytes));
        }
    }

    /// Returns how much arrived.
    pub(super) fn bytes(&self) -> u64 {
        self.notes.last().map_or(0, |(_, bytes)| *bytes)
    }

    /// Returns when the first byte was there.
    pub(super) fn first(&self) -> Option<Duration> {
        self.notes.first().map(|(at, _)| *at)
    }

    /// Returns the bytes a second from the first byte on.
    pub(super) fn goodput(&self) -> Option<f64> {
        speed(&self.notes)
    }

    /// Returns the bytes a second in the second half of the time: without the start, in which TCP
    /// looks for its speed.
    pub(super) fn steady_goodput(&self) -> Option<f64> {
        let ((first, _), (last, _)) = (self.notes.first()?, self.notes.last()?);
        let middle = (*first + *last) / 2;
        let second_half = self.notes.iter().position(|(at, _)| *at >= middle)?;
        speed(self.notes.get(second_half..)?)
    }

    /// Returns what had arrived by when: seconds, and bytes.
    pub(super) fn series(&self) -> Vec<(f64, f64)> {
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
        let mut progress = Progress::default();
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
        assert_eq!(progress.steady_goodput(), Some(10_000.0));
    }

    #[test]
    fn notes_are_not_too_many_and_the_end_is_among_them() {
        let mut progress = Progress::default();
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
        let mut progress = Progress::default();
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
}
