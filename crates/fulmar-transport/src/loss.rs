//! Estimates what share of datagrams the path loses, by the gaps in the peer's sequence numbers.

use fulmar_datagram::{DatagramOrder, Sequence};

use crate::limits::{LATE_SHARE_MAX, LEAP_MIN, LOSS_GAP_MAX, LOSS_SPAN_MAX, LOSS_SPAN_MIN};

/// The share of the peer's datagrams that do not arrive, as a mean that forgets.
///
/// The way there is taken to lose as much as the way back: a stock peer does not say what it misses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LossEstimate {
    newest: Option<Sequence>,
    /// The datagrams that the mean is over, sent and lost.
    span: u32,
    share: f64,
    /// The share of those that arrived behind one that was sent later.
    late: f64,
}

impl LossEstimate {
    /// Takes note of a genuine datagram.
    pub(crate) fn hear(&mut self, sequence: Sequence, order: DatagramOrder) {
        if order == DatagramOrder::Late {
            self.late += (1.0 - self.late) / f64::from(self.weight());
            // It counted as lost when it was overtaken.
            self.share = (self.share - 1.0 / f64::from(self.weight())).max(0.0);
            return;
        }
        let missing = self.newest.map_or(0, |newest| {
            sequence
                .get()
                .saturating_sub(newest.get())
                .saturating_sub(1)
        });
        self.newest = Some(sequence);
        // A sender may leave out numbers, and then many (docs/decisions/027).
        let lost = if missing < LEAP_MIN { missing } else { 0 };
        for _ in 0..lost.min(LOSS_GAP_MAX) {
            self.count(1.0);
        }
        self.count(0.0);
        self.late -= self.late / f64::from(self.weight());
    }

    /// Tells whether datagrams arrive in the order in which they were sent, but for a few.
    pub(crate) fn keeps_order(&self) -> bool {
        self.late < LATE_SHARE_MAX
    }

    /// Returns the share of datagrams lost, from 0 to 1.
    pub(crate) fn share(&self) -> f64 {
        self.share
    }

    fn count(&mut self, lost: f64) {
        self.span = (self.span + 1).min(LOSS_SPAN_MAX);
        self.share += (lost - self.share) / f64::from(self.weight());
    }

    fn weight(&self) -> u32 {
        self.span.max(LOSS_SPAN_MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::COPIES_LOSS_MIN;

    /// Returns the estimate after datagrams with these numbers, in this order.
    fn after(numbers: impl IntoIterator<Item = u64>) -> LossEstimate {
        let (mut loss, mut newest) = (LossEstimate::default(), None);
        for number in numbers {
            let order = if newest.is_some_and(|newest| number <= newest) {
                DatagramOrder::Late
            } else {
                newest = Some(number);
                DatagramOrder::InOrder
            };
            loss.hear(Sequence::new(number).unwrap(), order);
        }
        loss
    }

    #[test]
    fn a_path_that_loses_nothing_has_no_loss_wherever_numbers_begin() {
        assert_eq!(after(1_000_000..1_002_000).share(), 0.0);
    }

    #[test]
    fn the_share_of_numbers_that_are_missing_is_the_loss() {
        let third = after((0..3000).filter(|n| n % 3 > 0)).share();
        assert!((third - 1.0 / 3.0).abs() < 0.01, "{third}");
        let twentieth = after((0..3000).filter(|n| n % 20 > 0)).share();
        assert!((twentieth - 0.05).abs() < 0.01, "{twentieth}");
    }

    #[test]
    fn one_of_many_is_no_loss_to_speak_of_and_two_are() {
        assert!(after((0..300).filter(|n| *n != 290)).share() < COPIES_LOSS_MIN);
        let two = after((0..300).filter(|n| !(290..292).contains(n)));
        assert!(two.share() >= COPIES_LOSS_MIN);
    }

    #[test]
    fn a_probe_behind_which_numbers_are_left_out_is_not_lost() {
        let before = 0..10;
        let after_probe = 11 + LEAP_MIN..100 + LEAP_MIN;
        assert_eq!(
            after(before.clone().chain(after_probe.clone())).share(),
            0.0
        );
        assert_eq!(after(before.chain(10..11).chain(after_probe)).share(), 0.0);
    }

    #[test]
    fn what_was_overtaken_is_not_lost() {
        assert_eq!(after([0, 1, 3, 2]).share(), 0.0);
        assert!(after([0, 1, 3, 4]).share() > 0.0);
    }

    #[test]
    fn one_late_of_a_thousand_is_no_change_of_order_and_one_of_ten_is() {
        let swapped = |every: u64| {
            let numbers = (0..1000).map(move |n| match n % every {
                0 => n + 1,
                1 => n - 1,
                _ => n,
            });
            after(numbers).keeps_order()
        };
        assert!(swapped(1000));
        assert!(!swapped(10));
    }

    #[test]
    fn loss_that_stops_is_forgotten() {
        let before = after((0..1000).filter(|n| n % 3 > 0)).share();
        let lossy = (0..1000).filter(|n| n % 3 > 0);
        let after_it = after(lossy.chain(1000..1500)).share();
        assert!(before > 0.3 && after_it < COPIES_LOSS_MIN, "{after_it}");
    }

    #[test]
    fn a_gap_counts_as_a_burst_and_a_leap_as_nothing() {
        let gap = after((0..100).chain(200..201)).share();
        let burst = after((0..100).chain(108..109)).share();
        assert_eq!(gap, burst);
        assert_eq!(after((0..100).chain([1 << 31])).share(), 0.0);
        assert_eq!(after((0..100).chain([100 + LEAP_MIN])).share(), 0.0);
        assert!(after((0..100).chain([99 + LEAP_MIN])).share() > 0.0);
    }
}
