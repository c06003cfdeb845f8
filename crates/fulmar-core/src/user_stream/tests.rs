use fulmar_terminal::{Clustering, DefaultColors};
use proptest::prelude::*;

use super::log::HELD_BYTES_MAX;
use super::*;

fn size(columns: u16, rows: u16) -> Size {
    Size::new(rows, columns).unwrap()
}

fn keys(bytes: &[u8]) -> UserEvent {
    UserEvent::Keys(bytes.to_vec())
}

fn resize(columns: u16, rows: u16) -> UserEvent {
    UserEvent::Resize(size(columns, rows).into())
}

fn diff(target: &UserStream, source: &UserStream) -> Vec<u8> {
    let difference = target.diff_from(source, Budget::UNLIMITED);
    assert!(matches!(difference.reached, Reached::Target));
    difference.bytes
}

/// Applies a difference as the transport does: to a copy, which is kept only if that succeeds.
fn applied(state: &UserStream, difference: &[u8]) -> Result<UserStream, ApplyError> {
    let mut next = state.clone();
    next.apply(difference, &mut WorkBudget::unlimited())?;
    Ok(next)
}

#[test]
fn differences_are_the_bytes_that_stock_writes() {
    let start = UserStream::writing();
    let mut stream = start.clone();
    stream.push_resize(size(80, 24));
    let sized = stream.clone();
    assert_eq!(diff(&sized, &start), b"\x0a\x06\x1a\x04\x28\x50\x30\x18");
    stream.push_keys(b"e");
    assert_eq!(diff(&stream, &sized), b"\x0a\x05\x12\x03\x22\x01\x65");
}

#[test]
fn a_terminal_report_of_a_later_version_is_read_as_far_as_it_is_known() {
    // Clustering 9, text red 1 to blue 3 in 48 bits, a background of 49 bits, keyboard 7.
    let fields = b"\x20\x09\x08\x83\x80\x88\x80\x10\x10\x80\x80\x80\x80\x80\x80\x80\x01\x28\x07";
    let message = [&[0x0a, 22, 0x82, 0x04, 19], &fields[..]].concat();
    let state = applied(&UserStream::reading(), &message).unwrap();
    let colors = DefaultColors {
        text: Some([1, 2, 3]),
        ..DefaultColors::default()
    };
    let clustering = Clustering::Unknown;
    let report = TerminalReport {
        colors,
        clustering,
        keyboard: false,
        crops: false,
        checksums: false,
    };
    assert_eq!(state.take_new(), [UserEvent::Terminal(report)]);
}

#[test]
fn a_difference_is_empty_exactly_between_equal_states() {
    let mut stream = UserStream::writing();
    stream.push_keys(b"a");
    let same = stream.clone();
    assert!(stream.is_same(&same));
    assert!(diff(&stream, &same).is_empty());
    stream.push_keys(b"b");
    assert!(!stream.is_same(&same));
    assert!(!diff(&stream, &same).is_empty());
}

#[test]
fn keys_that_follow_one_another_are_one_keystroke() {
    let start = UserStream::writing();
    let mut stream = start.clone();
    stream.push_keys(b"ab");
    stream.push_keys(b"c");
    stream.push_resize(size(5, 4));
    stream.push_keys(b"d");
    let mut there = UserStream::reading();
    there
        .apply(&diff(&stream, &start), &mut WorkBudget::unlimited())
        .unwrap();
    assert_eq!(there.take_new(), [keys(b"abc"), resize(5, 4), keys(b"d")]);
    assert_eq!(there.take_new(), []);
}

#[test]
fn what_was_taken_does_not_come_again_by_another_way() {
    let start = UserStream::writing();
    let mut stream = start.clone();
    stream.push_keys(b"ab");
    let first = stream.clone();
    stream.push_keys(b"cd");
    let zero = UserStream::reading();
    let one = applied(&zero, &diff(&first, &start)).unwrap();
    assert_eq!(one.take_new(), [keys(b"ab")]);
    // From state 0 once more, as after a lost acknowledgement.
    let two = applied(&zero, &diff(&stream, &start)).unwrap();
    assert_eq!(two.take_new(), [keys(b"cd")]);
    let overtaken = applied(&one, &diff(&stream, &first)).unwrap();
    assert_eq!(overtaken.take_new(), []);
}

#[test]
fn a_stream_that_contradicts_itself_is_refused() {
    let zero = UserStream::reading();
    let mut liar = UserStream::writing();
    liar.push_keys(b"rm");
    let state = applied(&zero, &diff(&liar, &UserStream::writing())).unwrap();
    for other in [b"ls".as_slice(), b"r\0"] {
        let mut contradiction = UserStream::writing();
        contradiction.push_keys(other);
        contradiction.push_keys(b" more");
        let bytes = diff(&contradiction, &UserStream::writing());
        assert!(applied(&zero, &bytes).is_err());
    }
    let mut resized = UserStream::writing();
    resized.push_keys(b"r");
    resized.push_resize(size(3, 3));
    assert!(applied(&zero, &diff(&resized, &UserStream::writing())).is_err());
    assert_eq!(state.take_new(), [keys(b"rm")]);
}

#[test]
fn instructions_of_other_kinds_are_passed_over() {
    let unknown_kind = b"\x0a\x03\x7a\x01\x00";
    let empty = b"\x0a\x00";
    let unknown_field = b"\x48\x07";
    let key = b"\x0a\x05\x12\x03\x22\x01\x65";
    let bytes = [unknown_kind.as_slice(), empty, unknown_field, key].concat();
    let state = applied(&UserStream::reading(), &bytes).unwrap();
    assert_eq!(state.take_new(), [keys(b"e")]);
}

#[test]
fn an_instruction_with_both_kinds_counts_as_its_keystroke() {
    let both = b"\x0a\x0b\x12\x03\x22\x01\x65\x1a\x04\x28\x50\x30\x18";
    let state = applied(&UserStream::reading(), both).unwrap();
    assert_eq!(state.take_new(), [keys(b"e")]);
}

#[test]
fn impossible_sizes_arrive_and_are_no_screen() {
    for (width, height) in [
        (0, 24),
        (80, 0),
        (-1, 24),
        (80, i32::MIN),
        (4097, 1),
        (4096, 4096),
    ] {
        let impossible = WindowSize { width, height };
        assert_eq!(impossible.to_size(), None);
        let mut log = UserStream::writing();
        let start = log.clone();
        let mark = Mark::Resize(impossible);
        log.log.borrow_mut().push_mark(mark);
        log.position += 1;
        let state = applied(&UserStream::reading(), &diff(&log, &start)).unwrap();
        assert_eq!(state.take_new(), [UserEvent::Resize(impossible)]);
    }
}

#[test]
fn a_budget_is_kept_and_the_rest_follows() {
    let start = UserStream::writing();
    let mut stream = start.clone();
    stream.push_keys(&[b'x'; 1000]);
    stream.push_resize(size(80, 24));
    stream.push_keys(&[b'y'; 1000]);
    let mut here = start;
    let mut there = UserStream::reading();
    let mut events = Vec::new();
    let mut steps = 0;
    while !here.is_same(&stream) {
        let difference = stream.diff_from(&here, Budget::of_bytes(100));
        assert!(difference.bytes.len() <= 100);
        there
            .apply(&difference.bytes, &mut WorkBudget::unlimited())
            .unwrap();
        events.extend(there.take_new());
        here = match difference.reached {
            Reached::Target => stream.clone(),
            Reached::Between(state) => state,
        };
        steps += 1;
        assert!(steps < 100);
    }
    assert_eq!(
        typed(&events),
        [vec![b'x'; 1000], vec![b'y'; 1000]].concat()
    );
    assert_eq!(marks(&events), [resize(80, 24)]);
}

#[test]
fn a_budget_too_small_for_anything_reaches_the_source() {
    let start = UserStream::writing();
    let mut stream = start.clone();
    stream.push_keys(b"x");
    let difference = stream.diff_from(&start, Budget::of_bytes(1));
    assert!(difference.bytes.is_empty());
    assert!(matches!(difference.reached, Reached::Between(state) if state.is_same(&start)));
}

#[test]
fn a_large_paste_travels_in_parts_and_is_stored_once() {
    const PART_BYTES: usize = 32 * 1024;
    let start = UserStream::writing();
    let mut stream = start.clone();
    let paste: Vec<u8> = (0..8 << 20).map(|i: u32| (i % 251) as u8).collect();
    let mut snapshots = Vec::new();
    for read in paste.chunks(16 * 1024) {
        stream.push_keys(read);
        snapshots.push(stream.clone());
    }
    assert_eq!(stream.pending_bytes(), paste.len());
    let capacity = stream.log.borrow().capacity();
    assert!(capacity <= 2 * paste.len() + 4096, "{capacity}");

    let mut here = start;
    let mut there = UserStream::reading();
    let mut arrived = Vec::new();
    while !here.is_same(&stream) {
        let difference = stream.diff_from(&here, Budget::of_bytes(PART_BYTES));
        assert!(difference.bytes.len() <= PART_BYTES);
        there
            .apply(&difference.bytes, &mut WorkBudget::unlimited())
            .unwrap();
        arrived.extend(typed(&there.take_new()));
        here = match difference.reached {
            Reached::Target => stream.clone(),
            Reached::Between(state) => state,
        };
        stream.forget_before(&here);
    }
    assert!(arrived == paste);
    assert_eq!(stream.pending_bytes(), 0);
    assert!(stream.log.borrow().capacity() <= 4096);
    assert!(there.log.borrow().capacity() <= 4 * PART_BYTES);
}

#[test]
fn resizes_by_the_thousand_stay_within_the_message_cap() {
    let start = UserStream::writing();
    let mut stream = start.clone();
    for columns in 0..20_000 {
        stream.push_resize(size(1 + columns % 4000, 1));
    }
    let difference = stream.diff_from(&start, Budget::UNLIMITED);
    let state = applied(&UserStream::reading(), &difference.bytes).unwrap();
    assert!(state.take_new().len() > 1000);
}

#[test]
fn a_peer_cannot_make_the_log_hold_more_than_its_cap() {
    let mut there = UserStream::reading();
    let part = 1 << 20;
    let mut message = Vec::new();
    let mut encoder = Encoder::new(Budget::UNLIMITED);
    encoder.push(&log::Run::Keys(&vec![b'x'; part], &[]));
    message.extend(encoder.finish());
    for _ in 0..HELD_BYTES_MAX / part {
        there.apply(&message, &mut WorkBudget::unlimited()).unwrap();
    }
    assert_eq!(there.pending_bytes(), HELD_BYTES_MAX);
    let one_more = b"\x0a\x05\x12\x03\x22\x01\x65";
    assert!(applied(&there, one_more).is_err());
    assert_eq!(typed(&there.take_new()).len(), HELD_BYTES_MAX);
    assert!(applied(&there, one_more).is_ok());
}

fn typed(events: &[UserEvent]) -> Vec<u8> {
    events
        .iter()
        .flat_map(|event| match event {
            UserEvent::Keys(bytes) => bytes.clone(),
            UserEvent::Resize(_) | UserEvent::Terminal(_) => Vec::new(),
        })
        .collect()
}

fn marks(events: &[UserEvent]) -> Vec<UserEvent> {
    let marks = events
        .iter()
        .filter(|event| !matches!(event, UserEvent::Keys(_)));
    marks.cloned().collect()
}

fn reports() -> impl Strategy<Value = TerminalReport> {
    let levels = || prop::option::of(any::<[u16; 3]>());
    let clustering = prop::sample::select(vec![
        Clustering::Unknown,
        Clustering::Switchable,
        Clustering::Permanent,
    ]);
    let report = (
        levels(),
        levels(),
        levels(),
        clustering,
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
    );
    report.prop_map(
        |(text, background, cursor, clustering, keyboard, crops, checksums)| TerminalReport {
            colors: DefaultColors {
                text,
                background,
                cursor,
            },
            clustering,
            keyboard,
            crops,
            checksums,
        },
    )
}

fn user_events() -> impl Strategy<Value = Vec<UserEvent>> {
    let event = prop_oneof![
        3 => prop::collection::vec(any::<u8>(), 1..20).prop_map(UserEvent::Keys),
        1 => (1..200u16, 1..100u16).prop_map(|(columns, rows)| resize(columns, rows)),
        1 => reports().prop_map(UserEvent::Terminal),
    ];
    prop::collection::vec(event, 0..12)
}

/// Writes events and returns the state after each.
fn write(events: &[UserEvent]) -> Vec<UserStream> {
    let mut stream = UserStream::writing();
    let mut states = vec![stream.clone()];
    for event in events {
        match event {
            UserEvent::Keys(bytes) => stream.push_keys(bytes),
            UserEvent::Resize(size) => stream.push_resize(size.to_size().unwrap()),
            UserEvent::Terminal(report) => stream.push_terminal(*report),
        }
        states.push(stream.clone());
    }
    states
}

proptest! {
    #[test]
    fn every_event_arrives_once_and_in_order(
        events in user_events(),
        steps in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..30),
    ) {
        let states = write(&events);
        let mut held = vec![Some(UserStream::reading())];
        held.resize(states.len(), None);
        let mut arrived = Vec::new();
        let last = states.len() - 1;
        for (source, target) in steps.iter().map(|(a, b)| (a.index(states.len()), b.index(states.len()))).chain([(0, last)]) {
            let (source, target) = (source.min(target), source.max(target));
            if let Some(state) = held[source].clone() {
                let next = applied(&state, &diff(&states[target], &states[source])).unwrap();
                arrived.extend(next.take_new());
                held[target] = Some(next);
            }
        }
        prop_assert_eq!(typed(&arrived), typed(&events));
        prop_assert_eq!(marks(&arrived), marks(&events));
    }

    #[test]
    fn bytes_that_are_no_difference_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut state = UserStream::reading();
        if state.apply(&bytes, &mut WorkBudget::unlimited()).is_ok() {
            state.take_new();
        }
        prop_assert_eq!(state.pending_bytes(), 0);
    }
}
