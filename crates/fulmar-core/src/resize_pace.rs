//! How often a window may change its size.

use std::time::Duration;

use fulmar_datagram::Time;
use fulmar_terminal::Size;

/// The shortest pause between two sizes that are applied: at most 50 a second.
///
/// Source: docs/threat-model.md §6.
const RESIZE_INTERVAL: Duration = Duration::from_millis(20);

/// Lets the last of the wanted sizes through, not faster than a pty and its program bear.
#[derive(Debug, Default)]
pub(crate) struct ResizePace {
    wanted: Option<Size>,
    applied: Option<Time>,
}

impl ResizePace {
    /// Asks for a size; one that was asked for and not yet applied is forgotten.
    pub(crate) fn want(&mut self, size: Size) {
        self.wanted = Some(size);
    }

    /// Returns the size to apply now, if it is time.
    pub(crate) fn take(&mut self, now: Time) -> Option<Size> {
        if self.due()? > now {
            return None;
        }
        self.applied = Some(now);
        self.wanted.take()
    }

    /// When [`ResizePace::take`] will return the wanted size.
    pub(crate) fn due(&self) -> Option<Time> {
        self.wanted?;
        Some(
            self.applied
                .map_or(Time::ZERO, |applied| applied + RESIZE_INTERVAL),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Time {
        Time::from_origin(Duration::from_millis(millis))
    }

    #[test]
    fn fifty_sizes_a_second_are_applied_and_the_last_one_always_is() {
        let mut pace = ResizePace::default();
        let mut applied = Vec::new();
        for now in 0..1000 {
            pace.want(Size::new(24, 80 + now).unwrap());
            applied.extend(pace.take(ms(now.into())));
        }
        assert_eq!(applied.len(), 50);
        let due = pace.due().unwrap();
        assert_eq!(due, ms(1000));
        assert_eq!(pace.take(due), Size::new(24, 80 + 999));
        assert_eq!(pace.due(), None);
        assert_eq!(pace.take(ms(5000)), None);
    }
}
