//! Remembers the ranges of a file that were written to.

use std::ops::Range;

use fulmar_copy::CHUNKS_MAX;

/// Ranges that are told apart: as many as a file has chunks, so that one without holes never has more.
const RANGES_MAX: usize = CHUNKS_MAX as usize;

/// The ranges of a file that were written, in whatever order. With more than [`RANGES_MAX`] of them, gaps count as written.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// Ascending, with gaps in between.
    ranges: Vec<Range<u64>>,
}

impl Written {
    /// Notes that a range was written.
    pub(crate) fn add(&mut self, added: Range<u64>) {
        if added.is_empty() {
            return;
        }
        let first = self.ranges.partition_point(|range| range.end < added.start);
        let beyond = self
            .ranges
            .partition_point(|range| range.start <= added.end);
        let touched = self.ranges.get(first..beyond).unwrap_or_default();
        let start = touched.first().map_or(added.start, |range| range.start);
        let end = touched.last().map_or(added.end, |range| range.end);
        let merged = start.min(added.start)..end.max(added.end);
        self.ranges.splice(first..beyond, [merged]);
        if self.ranges.len() > RANGES_MAX {
            self.merge_at(first);
        }
    }

    /// Merges a range with the neighbour that is nearer.
    fn merge_at(&mut self, at: usize) {
        let gap_before = |at: usize| {
            let before = self.ranges.get(at.checked_sub(1)?)?;
            Some(self.ranges.get(at)?.start - before.end)
        };
        let second = match (gap_before(at), gap_before(at + 1)) {
            (Some(before), Some(after)) if after < before => at + 1,
            (None, _) => at + 1,
            _ => at,
        };
        if second < self.ranges.len() {
            let removed = self.ranges.remove(second);
            if let Some(first) = self.ranges.get_mut(second - 1) {
                first.end = removed.end;
            }
        }
    }

    /// Returns the end of the last range; 0 without any.
    pub(crate) fn end(&self) -> u64 {
        self.ranges.last().map_or(0, |range| range.end)
    }

    /// Returns the written parts of a range.
    pub(crate) fn within(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        let first = self
            .ranges
            .partition_point(|written| written.end <= range.start);
        let beyond = self
            .ranges
            .partition_point(|written| written.start < range.end);
        let touched = self.ranges.get(first..beyond).unwrap_or_default();
        touched
            .iter()
            .map(|written| written.start.max(range.start)..written.end.min(range.end))
            .collect()
    }
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "lists of ranges are meant")]
mod tests {
    use super::*;
    use crate::testing::Random;

    fn of(ranges: &[Range<u64>]) -> Written {
        let mut written = Written::default();
        for range in ranges {
            written.add(range.clone());
        }
        written
    }

    #[test]
    fn ranges_that_touch_become_one() {
        for (added, merged) in [
            (vec![0..4, 4..8], vec![0..8]),
            (vec![4..8, 0..4], vec![0..8]),
            (vec![0..4, 5..8], vec![0..4, 5..8]),
            (vec![5..8, 0..4, 4..5], vec![0..8]),
            (vec![2..3, 5..6, 8..9, 1..7], vec![1..7, 8..9]),
            (vec![0..9, 3..4], vec![0..9]),
            (vec![3..3], vec![]),
        ] {
            let written = of(&added);
            assert_eq!(written.ranges, merged, "{added:?}");
            assert_eq!(written.end(), merged.last().map_or(0, |range| range.end));
        }
    }

    #[test]
    fn what_was_written_of_a_range() {
        let written = of(&[10..20, 30..40]);
        for (range, expected) in [
            (0..10, vec![]),
            (20..30, vec![]),
            (40..u64::MAX, vec![]),
            (0..11, vec![10..11]),
            (15..35, vec![15..20, 30..35]),
            (12..14, vec![12..14]),
        ] {
            assert_eq!(written.within(&range), expected, "{range:?}");
        }
    }

    /// Against a list of bytes.
    #[test]
    fn every_byte_is_known() {
        let mut random = Random(3);
        let mut written = Written::default();
        let mut bytes = [false; 200];
        for _ in 0..100 {
            let start = random.below(195);
            let end = start + random.below(5);
            written.add(start..end);
            for at in start..end {
                bytes[usize::try_from(at).unwrap()] = true;
            }
            for (at, is_written) in (0..).zip(bytes) {
                assert_eq!(!written.within(&(at..at + 1)).is_empty(), is_written);
            }
        }
    }

    /// The nearest are merged: first those with small gaps.
    #[test]
    fn there_is_an_end_to_what_is_remembered() {
        let mut written = Written::default();
        let count = 3 * RANGES_MAX as u64;
        for number in (0..count).rev() {
            written.add(number * 10..number * 10 + 1);
            assert!(written.ranges.len() <= RANGES_MAX);
        }
        assert_eq!(written.end(), count * 10 - 9);
        for number in 0..count {
            let byte = number * 10..number * 10 + 1;
            assert_eq!(written.within(&byte), [byte]);
        }
    }
}
