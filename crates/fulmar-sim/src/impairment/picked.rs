//! Losses that a test picks by number.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::datagram::Datagram;
use crate::impairment::{Impairment, LossCause, Outlet, Stage};

/// The datagrams that are lost, counted from 0 in the order in which they reach this stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picked {
    numbers: BTreeSet<u64>,
}

impl Picked {
    /// Loses those with these numbers.
    #[must_use]
    pub fn lost(numbers: impl IntoIterator<Item = u64>) -> Impairment {
        Impairment::Picked(Self {
            numbers: numbers.into_iter().collect(),
        })
    }

    pub(crate) fn into_stage(self) -> Picker {
        Picker {
            setting: self,
            next: 0,
        }
    }
}

/// Counts what comes by.
#[derive(Debug)]
pub(crate) struct Picker {
    setting: Picked,
    next: u64,
}

impl Stage for Picker {
    fn take(&mut self, _now: Duration, datagram: Datagram, outlet: &mut Outlet) {
        let number = self.next;
        self.next += 1;
        if self.setting.numbers.contains(&number) {
            outlet.lose(datagram, LossCause::Picked);
        } else {
            outlet.pass(datagram);
        }
    }

    /// The count starts again at 0.
    fn change(&mut self, _now: Duration, to: &Impairment) -> bool {
        let Impairment::Picked(setting) = to else {
            return false;
        };
        *self = setting.clone().into_stage();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Bench;
    use crate::units::ms;

    #[test]
    fn exactly_those_are_lost() {
        let mut bench = Bench::of(Picked::lost([0, 3]));
        bench.send_many(5, ms(1), 100);
        assert_eq!(bench.order(), [1, 2, 4]);
        assert_eq!(bench.losses(), [LossCause::Picked; 2]);
    }

    #[test]
    fn a_new_choice_counts_from_there() {
        let mut bench = Bench::of(Picked::lost(0..2));
        bench.send_many(3, ms(1), 100);
        bench.change_at(ms(3), Picked::lost([0]));
        bench.send_at(ms(3), 100);
        bench.send_at(ms(4), 100);
        assert_eq!(bench.order(), [2, 4]);
    }
}
