use super::*;
use proptest::prelude::*;

#[test]
fn a_place_is_trusted_after_one_confirmation() {
    let mut place = ContextHistory::default();
    assert!(!place.expects_echo());
    place.note_echo("");
    assert!(place.expects_echo());
    assert_eq!(place.echoed_lines, 1);
}

#[test]
fn a_failure_costs_two_confirmations_and_each_further_one_more() {
    let mut place = ContextHistory::default();
    place.note_echo("");
    for needed in [2, 3, 4, 5, 6, 6, 6] {
        place.note_missing_echo();
        for _ in 0..needed {
            assert!(!place.expects_echo());
            place.note_echo("");
        }
        assert!(place.expects_echo(), "after {needed}");
    }
}

#[test]
fn the_place_that_was_not_used_longest_is_forgotten() {
    let mut memory = ContextMemory::default();
    for number in 0..CONTEXTS_MAX as u64 {
        memory.entry(ContextId(number)).note_echo("");
    }
    memory.entry(ContextId(0));
    memory.entry(ContextId(9999)).note_echo("");
    assert_eq!(memory.contexts.len(), CONTEXTS_MAX);
    assert!(memory.get(ContextId(0)).is_some());
    assert!(memory.get(ContextId(1)).is_none());
    assert!(
        memory
            .get(ContextId(9999))
            .is_some_and(ContextHistory::expects_echo)
    );
}

#[test]
fn a_key_has_a_record_in_each_place() {
    let mut place = ContextHistory::default();
    assert_eq!(place.record(Key::AltBackspace), KeyRecord::default());
    place.note_right(Key::AltBackspace, Some(0));
    place.note_right(Key::AltBackspace, None);
    assert_eq!(place.record(Key::AltBackspace).right_in_a_row, 2);
    place.adopt_variant(Key::AltBackspace, 2);
    let record = place.record(Key::AltBackspace);
    assert_eq!((record.right_in_a_row, record.variant), (1, Some(2)));
    place.note_wrong(Key::AltBackspace);
    let record = place.record(Key::AltBackspace);
    assert_eq!(
        (record.right_in_a_row, record.wrong, record.variant),
        (0, 1, Some(2))
    );
    place.note_right(Key::Text('a'), Some(0));
    assert_eq!(place.record(Key::Text('b')).right_in_a_row, 1);
}

#[test]
fn what_enter_does_is_learned() {
    let mut place = ContextHistory::default();
    assert_eq!(place.enter, None);
    let next_row = EnterEffect::NextRow {
        clears_right: false,
    };
    for effect in [next_row, EnterEffect::ClearLine] {
        place.enter = Some(effect);
        assert_eq!(place.enter, Some(effect));
    }
}

#[test]
fn the_narrowest_edge_is_kept() {
    let mut place = ContextHistory::default();
    place.learn_edge(70);
    place.learn_edge(75);
    assert_eq!(place.right_edge, Some(70));
}

proptest! {
    #[test]
    fn memory_is_bounded(numbers in prop::collection::vec(any::<u16>(), 0..700), keys in any::<u8>()) {
        let mut memory = ContextMemory::default();
        for number in numbers {
            let place = memory.entry(ContextId(number.into()));
            place.note_right(Key::Alt(char::from(keys)), Some(0));
            place.note_right(Key::Alt(char::from(number as u8)), Some(0));
            prop_assert!(place.keys.len() <= KEYS_MAX);
        }
        prop_assert!(memory.contexts.len() <= CONTEXTS_MAX);
    }
}
