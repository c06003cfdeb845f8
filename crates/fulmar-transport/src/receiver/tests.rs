use std::time::Duration;

use super::*;
use crate::testing::{Board, Log};
use crate::{Budget, Difference, WorkBudget};

const NOW: Time = Time::ZERO;

fn numbers(source: u64, target: u64, throwaway: u64) -> Numbers {
    let [source, target, throwaway] = [source, target, throwaway].map(StateNumber::new);
    Numbers {
        source,
        target,
        throwaway,
        ..Numbers::default()
    }
}

fn receiver() -> Receiver<Log> {
    Receiver::new(NOW, Log::default())
}

impl<S: Synced> Receiver<S> {
    fn take(&mut self, numbers: Numbers, difference: &[u8]) -> Result<StateOutcome, Refusal> {
        self.accept(
            NOW,
            numbers,
            difference,
            Intake::Open,
            &mut WorkBudget::unlimited(),
        )
    }

    /// Acknowledges, in an instruction that leads to a state of ours that the peer never gets.
    fn acknowledge(&mut self) -> u64 {
        self.pledge(NOW, StateNumber::SHUTDOWN).get()
    }

    fn held_numbers(&self) -> Vec<u64> {
        self.held.iter().map(|held| held.number.get()).collect()
    }

    /// Holds the sum of what is held against one reckoned from nothing.
    fn assert_measured(&self) {
        let mut before = None;
        for held in &self.held {
            assert_eq!(held.bytes, held.state.held_bytes(before));
            before = Some(&held.state);
        }
    }
}

#[test]
fn a_difference_makes_the_next_state() {
    let mut receiver = receiver();
    assert_eq!(
        receiver.take(numbers(0, 1, 0), b"ab"),
        Ok(StateOutcome::Newest)
    );
    assert_eq!(
        receiver.take(numbers(1, 5, 0), b"c"),
        Ok(StateOutcome::Newest)
    );
    assert_eq!(receiver.newest().since(0), b"abc");
    assert_eq!(receiver.newest_number(), StateNumber::new(5));
}

#[test]
fn a_state_that_is_held_is_not_made_again() {
    let mut receiver = receiver();
    assert_eq!(
        receiver.take(numbers(0, 1, 0), b"ab"),
        Ok(StateOutcome::Newest)
    );
    assert_eq!(
        receiver.take(numbers(0, 2, 0), b"cd"),
        Ok(StateOutcome::Newest)
    );
    // Nor does such an instruction forget anything.
    assert_eq!(
        receiver.take(numbers(2, 2, 2), b"x"),
        Ok(StateOutcome::Duplicate)
    );
    assert_eq!(receiver.held_numbers(), [0, 1, 2]);
    assert_eq!(receiver.newest().since(0), b"cd");
}

#[test]
fn a_difference_from_a_state_that_is_not_held_is_dropped() {
    let mut receiver = receiver();
    let refused = receiver.take(numbers(1, 2, 0), b"x");
    assert_eq!(refused, Err(Refusal::SourceMissing));
    assert_eq!(receiver.held_numbers(), [0]);
}

#[test]
fn a_state_behind_a_newer_one_is_held_and_not_the_newest() {
    let mut receiver = receiver();
    assert_eq!(
        receiver.take(numbers(0, 3, 0), b"abc"),
        Ok(StateOutcome::Newest)
    );
    assert_eq!(
        receiver.take(numbers(0, 2, 0), b"ab"),
        Ok(StateOutcome::Behind)
    );
    assert_eq!(receiver.held_numbers(), [0, 2, 3]);
    assert_eq!(receiver.acknowledge(), 3);
}

#[test]
fn what_the_peer_throws_away_is_forgotten() {
    let mut receiver = receiver();
    for n in 1..=4 {
        let taken = receiver.take(numbers(n - 1, n, 0), b"x");
        assert_eq!(taken, Ok(StateOutcome::Newest));
    }
    assert_eq!(
        receiver.take(numbers(4, 5, 3), b"x"),
        Ok(StateOutcome::Newest)
    );
    assert_eq!(receiver.held_numbers(), [3, 4, 5]);
}

#[test]
fn numbers_that_contradict_each_other_change_nothing() {
    let mut receiver = receiver();
    assert_eq!(
        receiver.take(numbers(0, 4, 0), b"x"),
        Ok(StateOutcome::Newest)
    );
    for bad in [numbers(0, 5, 1), numbers(4, 5, u64::MAX), numbers(4, 3, 0)] {
        assert_eq!(
            receiver.take(bad, b"x"),
            Err(Refusal::BadNumbers),
            "{bad:?}"
        );
        assert_eq!(receiver.held_numbers(), [0, 4]);
    }
}

#[test]
fn a_difference_that_does_not_apply_changes_nothing() {
    let mut receiver = Receiver::new(NOW, Board::blank(10));
    let change = |place: u8| [0, 0, 0, place, b'x'];
    assert_eq!(
        receiver.take(numbers(0, 1, 0), &change(9)),
        Ok(StateOutcome::Newest)
    );
    let refused = receiver.take(numbers(1, 2, 1), &change(10));
    assert!(matches!(refused, Err(Refusal::BadDifference(_))));
    assert_eq!(receiver.held_numbers(), [0, 1]);
}

#[test]
fn while_intake_is_held_only_what_changes_nothing_or_ends_is_taken() {
    let mut receiver = receiver();
    let mut take = |numbers, difference| {
        receiver.accept(
            NOW,
            numbers,
            difference,
            Intake::Held,
            &mut WorkBudget::unlimited(),
        )
    };
    assert_eq!(take(numbers(0, 1, 0), b"x"), Err(Refusal::Held));
    assert_eq!(take(numbers(0, 2, 0), b""), Ok(StateOutcome::Newest));
    assert_eq!(
        take(numbers(0, u64::MAX, 0), b"x"),
        Ok(StateOutcome::Newest)
    );
}

#[test]
fn the_floor_and_the_newest_64_are_kept() {
    let mut receiver = receiver();
    let cap = RECEIVED_STATES_MAX as u64;
    for n in 1..=cap {
        let taken = receiver.take(numbers(0, n, 0), b"x");
        assert_eq!(taken, Ok(StateOutcome::Newest));
    }
    assert_eq!(receiver.held_numbers(), (0..=cap).collect::<Vec<_>>());
    for n in cap + 1..5000 {
        assert_eq!(
            receiver.take(numbers(0, n, 0), b"x"),
            Ok(StateOutcome::Newest)
        );
        let newest = n - cap + 1..=n;
        let expected: Vec<u64> = std::iter::once(0).chain(newest).collect();
        assert_eq!(receiver.held_numbers(), expected);
    }
    let refused = receiver.take(numbers(64, 5000, 0), b"x");
    assert_eq!(refused, Err(Refusal::SourceMissing));
}

#[test]
fn pledged_states_outlive_any_number_of_others() {
    let mut receiver = receiver();
    for n in 1..1000 {
        assert_eq!(
            receiver.take(numbers(0, n, 0), b"x"),
            Ok(StateOutcome::Newest)
        );
        if n % 7 == 0 {
            receiver.acknowledge();
        }
        assert!(receiver.count() <= RECEIVED_STATES_MAX + 1);
    }
    let pledged: Vec<u64> = (1..=PLEDGED_STATES_MAX as u64).map(|n| 7 * n).collect();
    let held = receiver.held_numbers();
    assert!(pledged.iter().all(|n| held.contains(n)), "{held:?}");
    // The room is used up, so the last of these is acknowledged again …
    assert_eq!(receiver.acknowledge(), 7 * PLEDGED_STATES_MAX as u64);
    // … until the peer lets go of some.
    assert_eq!(
        receiver.take(numbers(7, 1000, 7), b"x"),
        Ok(StateOutcome::Newest)
    );
    assert_eq!(receiver.acknowledge(), 1000);
}

#[test]
fn a_pledge_ends_when_the_peer_has_seen_it_and_made_no_use_of_it() {
    let mut receiver = receiver();
    let pledged = |receiver: &Receiver<Log>| -> Vec<u64> {
        let held = receiver.held.iter().filter(|held| held.pledge.is_some());
        held.map(|held| held.number.get()).collect()
    };
    for n in 1..=3 {
        assert_eq!(
            receiver.take(numbers(0, n, 0), b"x"),
            Ok(StateOutcome::Newest)
        );
        // Our states 11, 12 and 13 bring the acknowledgements.
        assert_eq!(receiver.pledge(NOW, StateNumber::new(10 + n)).get(), n);
    }
    let acknowledging = |numbers, ours| Numbers {
        acknowledged: StateNumber::new(ours),
        ..numbers
    };
    let repeated = acknowledging(numbers(0, 3, 0), 12);
    assert_eq!(receiver.take(repeated, b"x"), Ok(StateOutcome::Duplicate));
    assert_eq!(pledged(&receiver), [3]);
    // The third it does use.
    let next = acknowledging(numbers(3, 4, 3), 13);
    assert_eq!(receiver.take(next, b"x"), Ok(StateOutcome::Newest));
    assert_eq!(receiver.held_numbers(), [3, 4]);
}

#[test]
fn pledges_are_spread_over_the_time_that_they_take() {
    let mut receiver = receiver();
    let at = |millis| NOW + Duration::from_millis(millis);
    let take = |now, numbers, receiver: &mut Receiver<Log>| {
        let taken = receiver.accept(
            at(now),
            numbers,
            b"x",
            Intake::Open,
            &mut WorkBudget::unlimited(),
        );
        assert_eq!(taken, Ok(StateOutcome::Newest));
        receiver.pledge(at(now), StateNumber::SHUTDOWN).get()
    };
    assert_eq!(take(0, numbers(0, 1, 0), &mut receiver), 1);
    // It takes 3200 ms until the peer makes use of it, so one is pledged every 100 ms.
    assert_eq!(take(3200, numbers(1, 2, 1), &mut receiver), 2);
    assert_eq!(take(3299, numbers(1, 3, 1), &mut receiver), 2);
    assert_eq!(take(3300, numbers(1, 4, 1), &mut receiver), 4);
}

#[test]
fn pledges_take_half_of_the_memory_at_most() {
    let mut receiver = receiver();
    receiver.bytes_max = 1000;
    for n in 1..=9 {
        let taken = receiver.take(numbers(0, n, 0), &[b'x'; 100]);
        assert_eq!(taken, Ok(StateOutcome::Newest));
        // The sixth makes it more than half.
        assert_eq!(receiver.acknowledge(), n.min(6));
    }
}

#[test]
fn the_end_is_acknowledged_in_any_case() {
    let mut receiver = receiver();
    for n in 1..100 {
        assert_eq!(
            receiver.take(numbers(0, n, 0), b"x"),
            Ok(StateOutcome::Newest)
        );
        receiver.acknowledge();
    }
    assert_ne!(receiver.acknowledge(), receiver.newest_number().get());
    let end = numbers(0, u64::MAX, 0);
    assert_eq!(receiver.take(end, b"x"), Ok(StateOutcome::Newest));
    assert_eq!(receiver.acknowledge(), u64::MAX);
}

#[test]
fn states_are_kept_within_64_mib() {
    const MIB: usize = 1024 * 1024;
    let mut receiver = receiver();
    let mib = vec![b'x'; MIB];
    for n in 1..=64 {
        assert_eq!(
            receiver.take(numbers(0, n, 0), &mib),
            Ok(StateOutcome::Newest)
        );
    }
    assert_eq!(receiver.held_bytes(), RECEIVED_BYTES_MAX);
    assert_eq!(receiver.count(), 65);
    assert_eq!(
        receiver.take(numbers(0, 65, 0), b"x"),
        Ok(StateOutcome::Newest)
    );
    // One of 64 newer ones had to go although there was a place for it.
    assert_eq!(receiver.count(), 65);
    assert_eq!(receiver.held_bytes(), 63 * MIB + 1);
    assert_eq!(
        receiver.take(numbers(0, 66, 0), &mib),
        Ok(StateOutcome::Newest)
    );
    assert_eq!(receiver.held_bytes(), 63 * MIB + 1);
}

#[test]
fn a_newest_state_is_kept_however_large_it_is() {
    let mut receiver = receiver();
    receiver.bytes_max = 1000;
    let large = vec![b'x'; 5000];
    for n in 1..10 {
        assert_eq!(
            receiver.take(numbers(0, n, 0), &large),
            Ok(StateOutcome::Newest)
        );
        receiver.acknowledge();
        assert_eq!(receiver.held_numbers(), [0, n]);
    }
}

#[test]
fn shared_memory_counts_once() {
    let mut receiver = Receiver::new(NOW, Board::blank(1000));
    let blank = Board::blank(1000);
    let mut board = blank.clone();
    for n in 1..=30_u8 {
        board.write(usize::from(n), b"x");
        let Difference { bytes, .. } = board.diff_from(&blank, Budget::UNLIMITED);
        let taken = receiver.take(numbers(0, n.into(), 0), &bytes);
        assert_eq!(taken, Ok(StateOutcome::Newest));
    }
    assert_eq!(receiver.held_bytes(), 1000 + 30);
}

#[test]
fn what_is_held_is_measured_through_everything() {
    let mut receiver = Receiver::new(NOW, Board::blank(100));
    receiver.bytes_max = 300;
    let blank = Board::blank(100);
    for n in 1..500_u64 {
        let mut board = blank.clone();
        board.write((n % 90) as usize, &n.to_be_bytes());
        let Difference { bytes, .. } = board.diff_from(&blank, Budget::UNLIMITED);
        // Some arrive behind others, and now and then the floor rises.
        let (target, outcome) = match n % 3 {
            0 => (2 * n - 3, StateOutcome::Behind),
            _ => (2 * n, StateOutcome::Newest),
        };
        let floor = receiver.held_numbers()[usize::from(n % 50 == 0)];
        let taken = receiver.take(numbers(floor, target, floor), &bytes);
        assert_eq!(taken, Ok(outcome), "{n}");
        receiver.assert_measured();
    }
}

#[test]
fn consumed_input_is_forgotten_in_all_states() {
    let mut receiver = receiver();
    assert_eq!(
        receiver.take(numbers(0, 1, 0), b"abc"),
        Ok(StateOutcome::Newest)
    );
    assert_eq!(
        receiver.take(numbers(1, 2, 0), b"def"),
        Ok(StateOutcome::Newest)
    );
    receiver.forget_consumed();
    assert_eq!(receiver.held_bytes(), 0);
    receiver.assert_measured();
    // What starts from an older state brings what is known already, and more.
    assert_eq!(
        receiver.take(numbers(1, 3, 1), b"defgh"),
        Ok(StateOutcome::Newest)
    );
    assert_eq!(receiver.newest().since(6), b"gh");
}
