//! The content of a key trace, in numbers.

use super::keys::{KeystrokeKind, keystrokes};
use super::record::Trace;
use std::time::Duration;

/// The numbers of one trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Keys typed, with reports of the mouse and pastes as one each.
    pub keys: usize,
    /// The number of answers that the terminal itself sent.
    pub answers: usize,
    /// Bytes from the keyboard's side, answers included.
    pub user_bytes: usize,
    /// Bytes from the programs.
    pub host_bytes: usize,
    /// From the first record to the last.
    pub length: Duration,
    /// The median of the time between two keys that follow each other; keys of one write follow
    /// at once. `None` below two keys.
    pub gap_median: Option<Duration>,
    /// The longest of these times.
    pub gap_max: Option<Duration>,
}

impl Statistics {
    /// Counts and measures.
    pub fn of(trace: &Trace) -> Self {
        let mut statistics = Self {
            host_bytes: trace.host().map(|(_, bytes)| bytes.len()).sum(),
            user_bytes: trace.user().map(|(_, bytes)| bytes.len()).sum(),
            length: trace.ended() - trace.began(),
            ..Self::default()
        };
        let mut times = Vec::new();
        for (at, bytes) in trace.user() {
            for keystroke in keystrokes(bytes) {
                match keystroke.kind {
                    KeystrokeKind::Answer => statistics.answers += 1,
                    KeystrokeKind::Key | KeystrokeKind::Mouse | KeystrokeKind::Paste => {
                        times.push(at)
                    }
                }
            }
        }
        statistics.keys = times.len();
        let mut gaps: Vec<Duration> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        gaps.sort_unstable();
        statistics.gap_median = gaps.get(gaps.len() / 2).copied();
        statistics.gap_max = gaps.last().copied();
        statistics
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_gaps_and_bytes_are_counted() {
        let trace = Trace::parse(
            b"1000 SIZE 80 24\n1000 USER 2\nab\n3000 HOST 3\nxyz\n4000 USER 6\n\x1b[1;1R\n\
              5000 USER 3\n\x1b[A\n9000 HOST 1\nx\n",
        )
        .unwrap();
        let expected = Statistics {
            keys: 3,
            answers: 1,
            user_bytes: 11,
            host_bytes: 4,
            length: Duration::from_millis(8),
            gap_median: Some(Duration::from_millis(4)),
            gap_max: Some(Duration::from_millis(4)),
        };
        assert_eq!(Statistics::of(&trace), expected);
    }

    #[test]
    fn a_trace_without_keys_has_no_gaps() {
        let trace = Trace::parse(b"1000 SIZE 80 24\n").unwrap();
        assert_eq!(Statistics::of(&trace), Statistics::default());
    }
}
