//! A receiver that is told what nobody can mean, in any order.

use std::collections::BTreeMap;
use std::time::Duration;

use fulmar_base::Time;
use fulmar_sim::Choices;
use fulmar_transport::{
    Intake, Numbers, Receiver, Refusal, StateNumber, StateOutcome, Synced, WorkBudget,
};

use crate::objects::Board;

const CELLS: usize = 16;

/// Source: docs/threat-model.md §6, received states.
const RECEIVED_STATES_MAX: usize = 64;

/// Does what the bytes choose, beside a plain list of all states that were ever taken.
///
/// # Panics
///
/// Where a state is another than the one that was said, more are kept than may be, the newest goes back, or something that
/// was refused has changed something.
pub(crate) fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let mut now = Time::ZERO;
    let mut receiver = Receiver::new(now, Board::blank(CELLS));
    let mut known = BTreeMap::from([(0, Board::blank(CELLS))]);
    let mut sent = 0;
    while !choices.is_over() {
        match choices.below(8) {
            0..=4 => accept(&mut choices, now, &mut receiver, &mut known),
            5 => {
                sent += 1;
                let number = receiver.pledge(now, StateNumber::new(sent));
                assert!(number <= receiver.newest_number());
                assert_eq!(number, receiver.acknowledged());
            }
            6 => receiver.forget_consumed(),
            _ => now += Duration::from_millis(choices.number() & 0xffff),
        }
        assert!((1..=RECEIVED_STATES_MAX + 1).contains(&receiver.count()));
        let newest = receiver.newest_number().get();
        assert_eq!(known.get(&newest), Some(receiver.newest()));
    }
}

fn accept(
    choices: &mut Choices<'_>,
    now: Time,
    receiver: &mut Receiver<Board>,
    known: &mut BTreeMap<u64, Board>,
) {
    let newest = receiver.newest_number().get();
    let source = match choices.below(4) {
        0..=1 => newest,
        2 => newest.saturating_sub(choices.number()),
        _ => choices.number(),
    };
    let target = match choices.below(4) {
        0..=1 => newest.saturating_add(1),
        2 => source.saturating_add(choices.number()),
        _ => choices.number(),
    };
    let throwaway = match choices.below(4) {
        0..=1 => source.saturating_sub(4),
        2 => source,
        _ => choices.number(),
    };
    let (place, byte) = (choices.below(CELLS as u8 + 1), choices.byte());
    let difference = [0, 0, 0, place, byte];
    let difference = match choices.below(4) {
        0 => choices.bytes(),
        _ => &difference,
    };
    let intake = match choices.below(8) {
        0 => Intake::Held,
        _ => Intake::Open,
    };
    let [source, target, throwaway] = [source, target, throwaway].map(StateNumber::new);
    let numbers = Numbers {
        source,
        target,
        acknowledged: StateNumber::new(choices.byte().into()),
        throwaway,
    };
    let before = (receiver.newest_number(), receiver.count());
    let mut work = WorkBudget::unlimited();
    match receiver.accept(now, numbers, difference, intake, &mut work) {
        Ok(StateOutcome::Duplicate) => {
            assert!(known.contains_key(&target.get()));
            assert_eq!(before, (receiver.newest_number(), receiver.count()));
        }
        Ok(outcome) => {
            let mut state = known.get(&source.get()).expect("it was taken").clone();
            if !difference.is_empty() {
                let applied = state.apply(difference, &mut work);
                assert!(applied.is_ok());
            }
            assert_eq!(outcome == StateOutcome::Newest, target > before.0);
            known.insert(target.get(), state);
        }
        Err(refusal) => {
            assert_eq!(before, (receiver.newest_number(), receiver.count()));
            assert_eq!(refusal == Refusal::BadNumbers, numbers.contradict());
        }
    }
}
