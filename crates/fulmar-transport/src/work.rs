//! Limits the work that input may make.

use crate::ApplyError;

/// The rest of the work that something may make.
///
/// Work is counted, not timed, so that the same input is refused on every machine: a unit is a cell
/// touched or a byte copied, some nanoseconds. Whoever works on input [spends](WorkBudget::spend) it.
#[derive(Debug)]
pub struct WorkBudget {
    left: u64,
    spent: u64,
}

impl WorkBudget {
    /// Returns a budget of as much as it takes.
    pub const fn unlimited() -> WorkBudget {
        WorkBudget::new(u64::MAX)
    }

    /// Returns a budget of so many units.
    pub const fn new(units: u64) -> WorkBudget {
        WorkBudget {
            left: units,
            spent: 0,
        }
    }

    /// Returns how many units are left.
    pub const fn left(&self) -> u64 {
        self.left
    }

    /// Returns how many units were spent, the last of which may have gone beyond the budget.
    pub const fn spent(&self) -> u64 {
        self.spent
    }

    /// Takes work that was done off the budget.
    ///
    /// # Errors
    ///
    /// That was more than there was; nothing is left.
    pub fn spend(&mut self, units: u64) -> Result<(), ApplyError> {
        self.spent = self.spent.saturating_add(units);
        let left = self.left.checked_sub(units);
        self.left = left.unwrap_or(0);
        left.map(|_| ())
            .ok_or(ApplyError::new("the difference makes too much work"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_enough_for_itself_and_not_for_one_more() {
        let mut budget = WorkBudget::new(10);
        assert_eq!(budget.spend(10), Ok(()));
        assert_eq!((budget.left(), budget.spent()), (0, 10));
        assert!(budget.spend(1).is_err());
        assert_eq!((budget.left(), budget.spent()), (0, 11));
        assert_eq!(budget.spend(0), Ok(()));
    }
}
