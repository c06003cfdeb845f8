//! Epochs: runs of keys whose predictions are confirmed together.
//!
//! Source: docs/prediction.md §6.

/// The number of an epoch, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Epoch(u64);

impl Epoch {
    /// Returns the number.
    pub(crate) fn get(self) -> u64 {
        self.0
    }
}

/// The present epoch, and the last confirmed one.
#[derive(Debug)]
pub(crate) struct Epochs {
    current: Epoch,
    confirmed: Epoch,
}

impl Epochs {
    /// Returns the first epoch, unconfirmed.
    pub(crate) fn new() -> Epochs {
        Epochs {
            current: Epoch(1),
            confirmed: Epoch(0),
        }
    }

    /// The epoch of the next key.
    pub(crate) fn current(&self) -> Epoch {
        self.current
    }

    /// Begins an unconfirmed epoch, also when the present one is unconfirmed: a key of this one
    /// must not confirm what is typed later.
    pub(crate) fn begin(&mut self) -> Epoch {
        self.current = Epoch(self.current.0.saturating_add(1));
        self.current
    }

    /// Says that predictions of `epoch` may be shown; those before are settled or history.
    pub(crate) fn confirm(&mut self, epoch: Epoch) -> bool {
        let is_news = epoch > self.confirmed;
        self.confirmed = self.confirmed.max(epoch);
        is_news
    }

    /// True if predictions of `epoch` may be shown.
    pub(crate) fn is_confirmed(&self, epoch: Epoch) -> bool {
        epoch <= self.confirmed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_confirms_an_epoch_says_nothing_about_a_later_one() {
        let mut epochs = Epochs::new();
        let first = epochs.current();
        assert!(!epochs.is_confirmed(first));
        let second = epochs.begin();
        let third = epochs.begin();
        assert!(epochs.confirm(second));
        assert!(epochs.is_confirmed(first));
        assert!(epochs.is_confirmed(second));
        assert!(!epochs.is_confirmed(third));
        assert!(!epochs.confirm(first));
        assert!(epochs.is_confirmed(second));
    }
}
