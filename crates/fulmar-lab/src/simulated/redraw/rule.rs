//! The rule by which a server collects what a program writes.

use std::time::Duration;

use fulmar_base::Time;
use fulmar_transport::limits::{ANSWER_FRAMES, COLLECTION_DELAY, ECHO_QUIET};
use fulmar_transport::timing::{Content, paced};

/// A rule that says when a frame leaves, on a path that is never full.
///
/// Source: docs/protocol.md §5.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectionRule {
    /// The time without further output after which an echo leaves.
    pub echo_quiet: Duration,
    /// The time from the first change on after which any frame leaves.
    pub delay: Duration,
    /// The number of frames after a key that are its answer.
    pub answer_frames: u8,
}

impl CollectionRule {
    /// Stock's: 8 ms after the first change, and nothing is an answer.
    pub const STOCK: Self = Self {
        echo_quiet: Duration::from_millis(8),
        delay: Duration::from_millis(8),
        answer_frames: 0,
    };

    /// Ours.
    pub const OURS: Self = Self {
        echo_quiet: ECHO_QUIET,
        delay: COLLECTION_DELAY,
        answer_frames: ANSWER_FRAMES,
    };

    /// Returns when a frame leaves that has changes from `first` to `last`.
    pub(super) fn leaves(
        &self,
        content: Content,
        (first, last): (Time, Time),
        last_frame: Option<Time>,
        round_trip: Duration,
    ) -> Time {
        let latest = first + self.delay;
        let collected = match content {
            Content::Echo => latest.min(last + self.echo_quiet),
            Content::Input | Content::Answer | Content::Output => latest,
        };
        let paced = last_frame.map(|at| paced(content, at, round_trip, None));
        paced.map_or(collected, |paced| paced.max(collected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulmar_transport::timing::collected;

    #[test]
    fn ours_is_the_rule_of_sessions() {
        let at = |micros| Time::from_origin(Duration::from_micros(micros));
        for content in [Content::Echo, Content::Answer, Content::Output] {
            for last in [0, 300, 5000, 7000, 7800, 9000] {
                let leaves =
                    CollectionRule::OURS.leaves(content, (at(0), at(last)), None, Duration::ZERO);
                assert_eq!(leaves, collected(content, at(0), at(last)), "{last}");
            }
        }
    }

    #[test]
    fn stock_waits_for_8_ms_and_an_interval() {
        let at = |millis| Time::from_origin(Duration::from_millis(millis));
        let leaves = |last_frame| {
            let round_trip = Duration::from_millis(100);
            let changes = (at(100), at(107));
            CollectionRule::STOCK.leaves(Content::Output, changes, last_frame, round_trip)
        };
        assert_eq!(leaves(None), at(108));
        assert_eq!(leaves(Some(at(10))), at(108));
        assert_eq!(leaves(Some(at(80))), at(130));
    }
}
