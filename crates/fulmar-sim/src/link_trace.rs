//! The moments at which a measured link could carry something.

use std::fmt;
use std::time::Duration;

use crate::units::ms;

/// The bytes that one opportunity carries: a full packet of Ethernet.
pub(crate) const OPPORTUNITY_BYTES: usize = 1500;

/// The moments at which a link could deliver 1500 bytes, repeated for ever.
///
/// The text form is that of Mahimahi: one line for each opportunity, its time in whole milliseconds
/// since the start; several may have the same time. The last time is the period.
///
/// ```
/// use fulmar_sim::{LinkTrace, ms};
///
/// let trace = LinkTrace::parse("2\n2\n10\n").unwrap();
/// assert_eq!((trace.len(), trace.period()), (3, ms(10)));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct LinkTrace {
    /// Never falling; the last is not 0.
    times_ms: Vec<u32>,
}

/// The reason why a text is no trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkTraceError {
    /// Line number `line`, counted from 1, is not a number of milliseconds below 2^32.
    NoNumber {
        /// The line.
        line: usize,
    },
    /// The time in line number `line`, counted from 1, is before that of the line above.
    GoesBack {
        /// The line.
        line: usize,
    },
    /// There is no line, or all times are 0: it takes no time and could not be repeated.
    TakesNoTime,
}

impl fmt::Display for LinkTraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNumber { line } => write!(f, "line {line} is not a number of milliseconds"),
            Self::GoesBack { line } => write!(f, "the time in line {line} is before the last"),
            Self::TakesNoTime => f.write_str("the trace takes no time"),
        }
    }
}

impl std::error::Error for LinkTraceError {}

impl LinkTrace {
    /// Reads the text form.
    ///
    /// # Errors
    ///
    /// Where it is not that.
    pub fn parse(text: &str) -> Result<Self, LinkTraceError> {
        let numbers = (1..).zip(text.lines()).map(|(line, text)| {
            let number = text.trim().parse();
            number.map_err(|_| LinkTraceError::NoNumber { line })
        });
        Self::from_times(numbers.collect::<Result<_, _>>()?)
    }

    /// Returns the trace with opportunities at these times, in milliseconds.
    ///
    /// # Errors
    ///
    /// Where a time is before the one in front of it, or the last is 0.
    pub fn from_times(times_ms: Vec<u32>) -> Result<Self, LinkTraceError> {
        if let Some(index) = times_ms.windows(2).position(|pair| pair[1] < pair[0]) {
            return Err(LinkTraceError::GoesBack { line: index + 2 });
        }
        match times_ms.last() {
            None | Some(0) => Err(LinkTraceError::TakesNoTime),
            Some(_) => Ok(Self { times_ms }),
        }
    }

    /// Returns the times of the opportunities of one period, in milliseconds.
    #[must_use]
    pub fn times_ms(&self) -> &[u32] {
        &self.times_ms
    }

    /// Returns how many opportunities a period has.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is always one")]
    pub fn len(&self) -> usize {
        self.times_ms.len()
    }

    /// Returns after what time it begins again.
    #[must_use]
    pub fn period(&self) -> Duration {
        ms(u64::from(self.period_ms()))
    }

    /// Returns what it can carry, in bits per second.
    #[must_use]
    pub fn bits_per_second(&self) -> f64 {
        (self.len() * OPPORTUNITY_BYTES * 8) as f64 / self.period().as_secs_f64()
    }

    /// Returns how many opportunities there are after `from` and up to and including `to`, both
    /// counted from the start of the trace.
    #[must_use]
    pub fn count_between(&self, from: Duration, to: Duration) -> u64 {
        self.count_until(to).saturating_sub(self.count_until(from))
    }

    fn count_until(&self, to: Duration) -> u64 {
        let next = self.first_after(to);
        next.cycle * self.len() as u64 + next.index as u64
    }

    fn period_ms(&self) -> u32 {
        *self.times_ms.last().expect("a trace has an opportunity")
    }

    /// Returns the first opportunity that is later than `at`.
    pub(crate) fn first_after(&self, at: Duration) -> Position {
        // An opportunity at a whole millisecond is later than `at` if it is later than its
        // milliseconds, whatever the rest.
        let at_ms = u64::try_from(at.as_millis()).unwrap_or(u64::MAX);
        let period = u64::from(self.period_ms());
        let (cycle, rest) = (at_ms / period, at_ms % period);
        let index = self
            .times_ms
            .partition_point(|&time| u64::from(time) <= rest);
        Position { cycle, index }
    }

    /// Returns the opportunity behind this one.
    pub(crate) fn next(&self, position: Position) -> Position {
        let Position { cycle, index } = position;
        if index + 1 < self.len() {
            Position {
                cycle,
                index: index + 1,
            }
        } else {
            Position {
                cycle: cycle + 1,
                index: 0,
            }
        }
    }

    /// Returns when an opportunity is, counted from the start of the trace.
    pub(crate) fn time_of(&self, position: Position) -> Duration {
        let within = self.times_ms.get(position.index).copied().unwrap_or(0);
        ms(position.cycle * u64::from(self.period_ms()) + u64::from(within))
    }
}

/// One opportunity of all the periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    cycle: u64,
    index: usize,
}

/// Says how long it is and what it carries, not each time.
impl fmt::Debug for LinkTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, period) = (self.len(), self.period());
        write!(f, "LinkTrace({count} opportunities in {period:?})")
    }
}

/// The text form.
impl fmt::Display for LinkTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.times_ms
            .iter()
            .try_for_each(|time| writeln!(f, "{time}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_text_is_read_as_it_is_written() {
        let trace = LinkTrace::parse("0\n0\n3\n7\n").unwrap();
        assert_eq!(trace.to_string(), "0\n0\n3\n7\n");
        assert_eq!(trace.times_ms(), [0, 0, 3, 7]);
    }

    #[test]
    fn what_is_no_trace_is_refused_by_line() {
        use LinkTraceError::{GoesBack, NoNumber, TakesNoTime};
        for (text, error) in [
            ("", TakesNoTime),
            ("0\n0\n", TakesNoTime),
            ("1\n2 ms\n", NoNumber { line: 2 }),
            ("1\n\n2\n", NoNumber { line: 2 }),
            ("1\n-2\n", NoNumber { line: 2 }),
            ("1\n4294967296\n", NoNumber { line: 2 }),
            ("1\n5\n4\n", GoesBack { line: 3 }),
        ] {
            assert_eq!(LinkTrace::parse(text), Err(error), "{text:?}");
        }
    }

    #[test]
    fn the_rate_is_that_of_all_opportunities() {
        // 3 times 12 000 bits in 10 ms.
        let trace = LinkTrace::parse("2\n2\n10\n").unwrap();
        assert!((trace.bits_per_second() - 3.6e6).abs() < 1e-6);
    }

    #[test]
    fn the_end_of_a_period_and_the_start_of_the_next_are_one_instant() {
        let trace = LinkTrace::parse("0\n10\n").unwrap();
        assert_eq!(trace.count_between(ms(9), ms(10)), 2);
        assert_eq!(trace.count_between(ms(10), ms(19)), 0);
        assert_eq!(trace.count_between(ms(0), ms(1000)), 200);
    }

    proptest! {
        /// Against all opportunities written down one by one.
        #[test]
        fn the_first_after_an_instant_is_found(
            gaps in prop::collection::vec(0_u32..5, 1..20), last in 1_u32..5, at in 0_u64..200,
        ) {
            let mut times: Vec<u32> = gaps
                .iter()
                .scan(0, |sum, gap| { *sum += gap; Some(*sum) })
                .collect();
            times.push(times.last().unwrap() + last);
            let period = u64::from(*times.last().unwrap());
            let all: Vec<u64> = (0..201)
                .flat_map(|cycle| times.iter().map(move |&time| cycle * period + u64::from(time)))
                .collect();
            let trace = LinkTrace::from_times(times).unwrap();
            let later: Vec<u64> = all.into_iter().filter(|&time| time > at).collect();
            let mut position = trace.first_after(ms(at) + Duration::from_micros(300));
            for expected in later.into_iter().take(50) {
                prop_assert_eq!(trace.time_of(position), ms(expected));
                position = trace.next(position);
            }
        }
    }
}
