//! Holding back a screen that its program has not finished drawing.

use std::time::Duration;

use fulmar_base::Time;

/// The longest time for which a synchronised update (mode 2026) may hold a frame back.
///
/// Source: docs/threat-model.md §6.
const HOLD_MAX: Duration = Duration::from_millis(150);

/// The verdict on a frame that a program has drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// Show it.
    Ready,
    /// The program is in the middle of it.
    Unfinished,
}

/// Watches synchronised updates.
#[derive(Debug, Default)]
pub(crate) struct FrameHold {
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Open,
    /// A frame is held back since then.
    Held { since: Time },
    /// The program took too long. Until it ends its update everything is shown as it comes, so that
    /// one that never does cannot slow its user down.
    GivenUp,
}

impl FrameHold {
    /// Tells whether the screen may be shown, which says of itself that it is, or is not, in the
    /// middle of an update.
    pub(crate) fn look(&mut self, now: Time, is_updating: bool) -> Frame {
        self.state = match self.state {
            _ if !is_updating => State::Open,
            State::Open => State::Held { since: now },
            State::Held { since } if now >= since + HOLD_MAX => State::GivenUp,
            unchanged => unchanged,
        };
        match self.state {
            State::Held { .. } => Frame::Unfinished,
            State::Open | State::GivenUp => Frame::Ready,
        }
    }

    /// Returns the latest time at which a held frame will be shown.
    pub(crate) fn due(&self) -> Option<Time> {
        match self.state {
            State::Held { since } => Some(since + HOLD_MAX),
            State::Open | State::GivenUp => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Time {
        Time::from_origin(Duration::from_millis(millis))
    }

    #[test]
    fn a_frame_is_held_until_it_is_finished() {
        let mut hold = FrameHold::default();
        assert_eq!(hold.look(ms(0), false), Frame::Ready);
        assert_eq!(hold.look(ms(10), true), Frame::Unfinished);
        assert_eq!(hold.due(), Some(ms(160)));
        assert_eq!(hold.look(ms(20), false), Frame::Ready);
        assert_eq!(hold.due(), None);
    }

    #[test]
    fn and_not_longer_than_150_ms() {
        let mut hold = FrameHold::default();
        hold.look(ms(10), true);
        assert_eq!(hold.look(ms(159), true), Frame::Unfinished);
        assert_eq!(hold.look(ms(160), true), Frame::Ready);
        assert_eq!(hold.due(), None);
    }

    #[test]
    fn a_program_that_never_finishes_is_held_once() {
        let mut hold = FrameHold::default();
        hold.look(ms(0), true);
        for now in 150..10_000 {
            assert_eq!(hold.look(ms(now), true), Frame::Ready);
        }
        hold.look(ms(10_000), false);
        assert_eq!(hold.look(ms(10_001), true), Frame::Unfinished);
    }
}
