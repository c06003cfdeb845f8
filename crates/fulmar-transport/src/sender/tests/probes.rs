use std::collections::BTreeMap;

use super::*;
use crate::WorkBudget;
use crate::receiver::{Intake, Receiver, StateOutcome};
use crate::testing::Log;

/// A peer of a sender of keys.
pub(super) struct Reader(pub(super) Receiver<Log>);

impl Reader {
    pub(super) fn new() -> Reader {
        Reader(Receiver::new(at(0), Log::default()))
    }

    /// Takes what was sent; what does not apply makes no state.
    pub(super) fn take(&mut self, composed: &Composed) -> Option<StateOutcome> {
        let numbers = Numbers {
            source: composed.source,
            target: composed.target,
            throwaway: composed.throwaway,
            ..Numbers::default()
        };
        let outcome = self.0.accept(
            at(0),
            numbers,
            &composed.difference,
            Intake::Open,
            &mut WorkBudget::unlimited(),
        );
        outcome.ok()
    }
}

/// A sender that has sent so many states, the last of them 3000 keys after the one before, and whether
/// its peer got each of them or only the first, which alone is acknowledged.
fn cut_off(states: usize, has_all: bool) -> (Sender<Log>, Reader) {
    let mut sender = Sender::new(at(0), Log::default(), Budget::UNLIMITED);
    let mut reader = Reader::new();
    // The first few leave out no numbers.
    for _ in 0..4 {
        let empty = sender.resend(0);
        reader.take(&empty);
        sender.acknowledge(at(0), empty.target);
    }
    let mut typed = log("a");
    for place in 0..states {
        let composed = sender.send(100 * place as u64, typed.clone());
        if place == 0 || has_all {
            assert_eq!(reader.take(&composed), Some(StateOutcome::Newest));
        }
        if place == 0 {
            sender.acknowledge(at(0), composed.target);
        }
        typed.append(&b"b".repeat(if place + 2 < states { 1 } else { 3000 }));
    }
    sender.set_current(at(9000), typed);
    (sender, reader)
}

#[test]
fn of_two_probes_one_is_news_whatever_has_arrived_before() {
    // As many states as are kept, and more.
    for states in [2, 3, 20, 40] {
        for has_all in [false, true] {
            let (mut sender, mut reader) = cut_off(states, has_all);
            for turn in 0..50 {
                let mut news = 0;
                for time in [0, 250] {
                    let before = reader.0.newest().end();
                    let probe = sender.compose_probe(at(9000 + 500 * turn + time));
                    assert!((1..=PROBE_DIFFERENCE_BYTES).contains(&probe.difference.len()));
                    // All that was answered was lost again.
                    if turn % 10 == 9 && reader.take(&probe) == Some(StateOutcome::Newest) {
                        news += 1;
                        let acknowledged = sender.acknowledge(at(9000), probe.target);
                        assert_ne!(acknowledged, Acknowledged::Unknown);
                    }
                    assert!(reader.0.newest().end() >= before, "it led back");
                }
                assert!(news > 0 || turn % 10 != 9, "{states} {has_all} {turn}");
                assert!(sender.count() <= SENT_STATES_MAX);
            }
        }
    }
}

#[test]
fn a_short_difference_is_its_own_probe() {
    let mut sender = Sender::new(at(0), Log::default(), Budget::UNLIMITED);
    sender.send(10, log("a"));
    sender.send(20, log("ab"));
    let probe = sender.compose_probe(at(30));
    assert_eq!(numbers(&probe), [0, 3, 0]);
    assert_eq!(
        (probe.difference.as_slice(), probe.is_new),
        (&b"ab"[..], true)
    );
    assert_eq!(sender.sent_at(), at(30));
}

#[test]
fn nothing_starts_from_what_only_a_probe_has_led_to() {
    let (mut sender, mut reader) = cut_off(2, false);
    let beginning = sender.compose_probe(at(9000));
    assert!(!beginning.is_new, "a higher number was sent before");
    assert_eq!(sender.resend(9010).source, beginning.source);
    reader.take(&beginning);
    sender.acknowledge(at(9020), beginning.target);
    let rest = sender.resend(9030);
    assert_eq!(rest.source, beginning.target);
    assert_eq!(reader.take(&rest), Some(StateOutcome::Newest));
    assert_eq!(reader.0.newest().end(), 6001);
}

#[test]
fn a_probe_of_an_object_that_cannot_stop_half_way_has_a_number_and_nothing_else() {
    #[derive(Clone)]
    struct Whole(Board);
    impl Synced for Whole {
        fn is_same(&self, other: &Whole) -> bool {
            self.0 == other.0
        }
        fn diff_from(&self, source: &Whole, budget: Budget) -> Difference<Whole> {
            let whole = self.0.diff_from(&source.0, Budget::UNLIMITED).bytes;
            if budget.allows(whole.len()) {
                Difference::complete(whole)
            } else {
                Difference {
                    bytes: Vec::new(),
                    reached: Reached::Between(source.clone()),
                }
            }
        }
        fn apply(
            &mut self,
            difference: &[u8],
            work: &mut WorkBudget,
        ) -> Result<(), crate::ApplyError> {
            self.0.apply(difference, work)
        }
        fn held_bytes(&self, _: Option<&Whole>) -> usize {
            0
        }
    }
    let mut sender = Sender::new(at(0), Whole(Board::blank(CELLS)), Budget::UNLIMITED);
    sender.send(10, Whole(board(&"x".repeat(1000))));
    let probe = sender.compose_probe(at(20));
    assert_eq!((numbers(&probe), probe.difference.len()), ([1, 2, 0], 0));
}

/// Numbers that say what was sent when: one for each seed and step.
fn dice(seed: u64, step: u64) -> u64 {
    let mut number = (seed << 32 | step).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    number = (number ^ (number >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number ^ (number >> 29)
}

/// Whatever is sent, probed, acknowledged and forgotten for lack of room: a peer that has kept all of it
/// never has two states of one number.
#[test]
fn of_one_number_there_is_one_state() {
    for seed in 0..200 {
        let mut sender = Sender::new(at(0), Log::default(), Budget::UNLIMITED);
        let mut current = Log::default();
        let mut states = BTreeMap::from([(StateNumber::ZERO, Log::default())]);
        for step in 0..400 {
            let (now, dice) = (100 * step, dice(seed, step));
            let composed = match dice % 64 {
                // Seldom, so that far more is sent than is kept.
                0 => {
                    let place = (dice >> 8) as usize % states.len();
                    let number = *states.keys().nth(place).expect("it is within");
                    sender.acknowledge(at(now), number);
                    continue;
                }
                1..=20 => {
                    let length = if dice % 2 == 0 { 700 } else { 9 };
                    current.append(&vec![b'a' + (dice >> 16 & 15) as u8; length]);
                    sender.send(now, current.clone())
                }
                _ => sender.compose_probe(at(now)),
            };
            let mut target = states[&composed.source].clone();
            let applied = target.apply(&composed.difference, &mut WorkBudget::unlimited());
            assert_eq!(applied, Ok(()));
            let known = states
                .entry(composed.target)
                .or_insert_with(|| target.clone());
            assert!(
                known.is_same(&target),
                "{:?} of seed {seed}",
                composed.target
            );
        }
    }
}
