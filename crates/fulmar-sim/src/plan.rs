//! Changes that are due later.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::change::Change;

/// Changes by the time they are due and, for equal times, by the order in which they were planned.
#[derive(Debug, Default)]
pub struct Plan {
    entries: BTreeMap<(Duration, u64), Planned>,
    planned: u64,
}

#[derive(Debug)]
struct Planned {
    change: Change,
    every: Option<Duration>,
}

impl Plan {
    /// Plans a change for an instant, counted from the start.
    pub fn once(&mut self, at: Duration, change: Change) {
        self.enter(at, change, None);
    }

    /// Plans a change for an instant, and then again after each period.
    ///
    /// # Panics
    ///
    /// Where the period is zero.
    pub fn every(&mut self, first: Duration, period: Duration, change: Change) {
        assert!(!period.is_zero(), "a period takes time");
        self.enter(first, change, Some(period));
    }

    /// Drops whatever is planned.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Returns when the next change is due.
    #[must_use]
    pub fn next_due(&self) -> Option<Duration> {
        self.entries.first_key_value().map(|((at, _), _)| *at)
    }

    /// Takes the first change that is due at `now`; one that returns is planned again.
    pub fn take_due(&mut self, now: Duration) -> Option<Change> {
        let first = self.entries.first_entry()?;
        let at = first.key().0;
        if at > now {
            return None;
        }
        let Planned { change, every } = first.remove();
        if let Some(period) = every {
            self.enter(at + period, change.clone(), every);
        }
        Some(change)
    }

    fn enter(&mut self, at: Duration, change: Change, every: Option<Duration>) {
        self.entries
            .insert((at, self.planned), Planned { change, every });
        self.planned += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datagram::HostId;
    use crate::units::secs;

    const CUT: Change = Change::Cut(HostId(0));
    const RESTORE: Change = Change::Restore(HostId(0));

    #[test]
    fn changes_come_in_order_of_time_and_then_of_planning() {
        let mut plan = Plan::default();
        plan.once(secs(2), Change::MoveOn(HostId(0)));
        plan.once(secs(1), RESTORE);
        plan.once(secs(1), CUT);
        assert_eq!(plan.take_due(secs(0)), None);
        assert_eq!(plan.take_due(secs(1)), Some(RESTORE));
        assert_eq!(plan.take_due(secs(1)), Some(CUT));
        assert_eq!(plan.take_due(secs(1)), None);
        assert_eq!(plan.next_due(), Some(secs(2)));
    }

    #[test]
    fn a_period_counts_from_the_planned_time_and_not_from_the_look() {
        let mut plan = Plan::default();
        plan.every(secs(1), secs(10), CUT);
        assert_eq!(plan.take_due(secs(5)), Some(CUT));
        assert_eq!(plan.next_due(), Some(secs(11)));
    }
}
