//! Limits how often a window may change its size.

use std::time::Duration;

use fulmar_base::Time;
use fulmar_terminal::Size;

/// The number of sizes that are applied at once after a while without any, so that a size counts before the
/// keys that were typed after it. Chosen by eye: a window that is dragged changes less often.
const BURST: u32 = 10;

/// The pause between two sizes that is earned back: with [`BURST`], at most 50 sizes are applied in
/// any second.
///
/// Source: docs/threat-model.md §6.
const RESIZE_INTERVAL: Duration = Duration::from_millis(25);

/// Lets the last of the wanted sizes through, not faster than a pty and its program bear.
#[derive(Debug, Default)]
pub(crate) struct ResizePace {
    wanted: Option<Size>,
    /// The time at which all pauses will have been earned back.
    rested: Time,
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
        // A token bucket that is kept as the time at which it will be full (GCRA).
        self.rested = self.rested.max(now) + RESIZE_INTERVAL;
        self.wanted.take()
    }

    /// Returns the time at which [`ResizePace::take`] will return the wanted size.
    pub(crate) fn due(&self) -> Option<Time> {
        self.wanted?;
        Some(self.rested.saturating_sub(RESIZE_INTERVAL * (BURST - 1)))
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
        for now in 0..3000 {
            pace.want(Size::new(24, 80 + now).unwrap());
            if pace.take(ms(now.into())).is_some() {
                applied.push(now);
            }
        }
        let in_second = |start: u16| {
            let second = start..start + 1000;
            applied.iter().filter(|at| second.contains(at)).count()
        };
        assert!((0..2000).all(|start| in_second(start) <= 50));
        assert_eq!(in_second(2000), 40);
        let due = pace.due().unwrap();
        assert_eq!(pace.take(due), Size::new(24, 80 + 2999));
        assert_eq!(pace.due(), None);
        assert_eq!(pace.take(ms(5000)), None);
    }

    #[test]
    fn a_few_sizes_in_a_row_are_applied_at_once() {
        let mut pace = ResizePace::default();
        for columns in 0..10 {
            let size = Size::new(24, 80 + columns);
            pace.want(size.unwrap());
            assert_eq!(pace.take(ms(700)), size);
        }
        pace.want(Size::default());
        assert_eq!(pace.take(ms(700)), None);
        assert_eq!(pace.due(), Some(ms(725)));
    }
}
