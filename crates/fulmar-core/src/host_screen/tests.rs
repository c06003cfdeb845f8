use fulmar_terminal::{Row, Terminal};
use proptest::prelude::*;

use super::*;

fn size(columns: u16, rows: u16) -> Size {
    Size::new(rows, columns).unwrap()
}

/// Returns what is shown after a program on a blank screen wrote `bytes`.
fn shown(start: &HostScreen, bytes: &[u8], echo_ack: u64) -> HostScreen {
    let mut terminal = Terminal::new(start.screen().size());
    terminal.process(bytes);
    start.with(terminal.screen().clone(), StateNumber::new(echo_ack))
}

fn applied(state: &HostScreen, bytes: &[u8]) -> Result<HostScreen, ApplyError> {
    let mut next = state.clone();
    next.apply(bytes)?;
    Ok(next)
}

fn text(state: &HostScreen, row: u16) -> String {
    let mut text = String::new();
    state.screen().row(Row(row)).push_text(&mut text);
    text
}

/// Returns what a peer has of a state: all that it can be told, and nothing else.
fn told(state: &HostScreen) -> HostScreen {
    let blank = HostScreen::blank(state.screen().size());
    applied(&blank, &state.diff_from(&blank, Budget::UNLIMITED).bytes).unwrap()
}

/// Applies what turns `source` into `target`, in parts of a budget, and returns the echo acks of
/// the states on the way.
fn follow(source: &HostScreen, target: &HostScreen, budget: Budget) -> (HostScreen, Vec<u64>) {
    let (mut here, mut there) = (source.clone(), told(source));
    let mut echo_acks = Vec::new();
    for _ in 0..1000 {
        let difference = target.diff_from(&here, budget);
        assert!(budget.allows(difference.bytes.len()));
        there.apply(&difference.bytes).unwrap();
        echo_acks.push(there.echo_ack().get());
        here = match difference.reached {
            Reached::Target => return (there, echo_acks),
            Reached::Between(state) => state,
        };
        assert!(here.is_same(&there), "the state in between is a real one");
    }
    panic!("the target is never reached");
}

#[test]
fn parts_are_written_in_the_order_of_stock() {
    let start = HostScreen::blank(size(80, 24));
    let target =
        HostScreen::blank(size(81, 24)).with(Screen::new(size(81, 24)), StateNumber::new(3));
    let bytes = target.diff_from(&start, Budget::UNLIMITED).bytes;
    assert!(bytes.starts_with(b"\x0a\x04\x3a\x02\x40\x03\x0a\x06\x1a\x04\x28\x51\x30\x18\x0a"));
}

#[test]
fn an_echo_ack_alone_is_a_difference() {
    let start = HostScreen::blank(size(80, 24));
    let target = start.with(start.screen().clone(), StateNumber::new(3));
    assert!(!target.is_same(&start));
    let difference = target.diff_from(&start, Budget::UNLIMITED);
    assert_eq!(difference.bytes, b"\x0a\x04\x3a\x02\x40\x03");
    assert_eq!(
        applied(&start, &difference.bytes).unwrap().echo_ack().get(),
        3
    );
}

#[test]
fn what_stock_cannot_be_told_is_no_difference() {
    let start = HostScreen::blank(size(80, 24));
    let told = shown(&start, b"text", 0);
    for untellable in [
        "\x1b[?1007h",
        "\x1b[2mtext\x1b[m",
        "\x1b[?1htext",
        "\x1b[?6l",
    ] {
        let bytes = format!("{untellable}\x1b[Htext");
        let target = shown(&start, bytes.as_bytes(), 0);
        assert!(target.is_same(&told), "{untellable:?}");
        assert!(target.diff_from(&told, Budget::UNLIMITED).bytes.is_empty());
    }
}

#[test]
fn an_echo_ack_that_goes_back_is_refused() {
    let start = HostScreen::blank(size(80, 24));
    let later = start.with(start.screen().clone(), StateNumber::new(5));
    assert!(applied(&later, b"\x0a\x04\x3a\x02\x40\x04").is_err());
    assert!(applied(&later, b"\x0a\x04\x3a\x02\x40\x05").is_ok());
}

#[test]
fn impossible_sizes_and_unknown_kinds_are_passed_over() {
    let start = HostScreen::blank(size(80, 24));
    let zero = b"\x0a\x06\x1a\x04\x28\x00\x30\x18";
    let negative = b"\x0a\x0f\x1a\x0d\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x30\x18";
    let unknown = b"\x0a\x03\x7a\x01\x00";
    let word = b"\x0a\x06\x12\x04\x22\x02ok";
    let bytes = [zero.as_slice(), negative, unknown, word].concat();
    let state = applied(&start, &bytes).unwrap();
    assert_eq!(state.screen().size(), size(80, 24));
    assert_eq!(text(&state, 0), "ok");
}

#[test]
fn host_bytes_that_ask_for_an_answer_are_harmless() {
    let start = HostScreen::blank(size(80, 24));
    let question = b"\x0a\x0a\x12\x08\x22\x06\x1b[6nok";
    assert_eq!(text(&applied(&start, question).unwrap(), 0), "ok");
}

#[test]
fn a_budget_gives_rows_by_and_by_and_the_echo_ack_last() {
    let start = HostScreen::blank(size(60, 20));
    let rows: Vec<String> = (0..20)
        .map(|row| format!("row {row} {}", "x".repeat(40)))
        .collect();
    let bytes = format!("{}\x1b[11;1H", rows.join("\r\n"));
    let target = shown(&start, bytes.as_bytes(), 9);
    let first = target.diff_from(&start, Budget::of_bytes(300));
    let near = applied(&start, &first.bytes).unwrap();
    assert_eq!(
        text(&near, 10),
        rows[10],
        "the row of the cursor comes first"
    );
    assert_eq!(text(&near, 0), "");

    let (there, echo_acks) = follow(&start, &target, Budget::of_bytes(300));
    assert!(there.is_same(&target));
    assert!(echo_acks.len() > 3);
    let (last, others) = echo_acks.split_last().unwrap();
    assert_eq!(*last, 9);
    assert!(others.iter().all(|&echo_ack| echo_ack == 0));
}

#[test]
fn a_budget_holds_across_a_change_of_size() {
    let start = HostScreen::blank(size(80, 24));
    let wide = HostScreen::blank(size(100, 30));
    let rows: Vec<String> = (0..30)
        .map(|row| format!("row {row} {}", "x".repeat(80)))
        .collect();
    let target = shown(&wide, rows.join("\r\n").as_bytes(), 4);
    let (there, _) = follow(&start, &target, Budget::of_bytes(400));
    assert!(there.is_same(&target));
}

#[test]
fn a_budget_too_small_for_a_row_reaches_the_source() {
    let start = HostScreen::blank(size(80, 24));
    let target = shown(&start, &[b'x'; 400], 1);
    let difference = target.diff_from(&start, Budget::of_bytes(60));
    assert!(difference.bytes.is_empty());
    assert!(matches!(difference.reached, Reached::Between(state) if state.is_same(&start)));
}

#[test]
fn a_peer_is_not_told_of_a_wrap_before_a_disputed_character() {
    let start = HostScreen::blank(size(20, 5));
    // Column 19 stays free, since the last character has two columns on most terminals.
    let source = shown(&start, "\x1b[2;20H\u{20000}".as_bytes(), 0);
    assert!(source.screen().row(Row(1)).is_wrapped());
    let target = start.clone();
    assert!(
        follow(&source, &target, Budget::UNLIMITED)
            .0
            .is_same(&target)
    );
}

proptest! {
    #[test]
    fn a_difference_leads_to_its_target(
        // No bells: they are counted where they are heard, and only heard once.
        old in "[^\x07]{0,80}",
        new in "([^\x07]|\r\n|\x1b\\[[0-9]{1,2};[0-9]{1,2}H|\x1b\\[[0-9]{1,2}m){0,60}",
        sizes in prop::sample::select(vec![(20, 5), (7, 3), (1, 1), (40, 2)]),
        budget in prop::sample::select(vec![usize::MAX, 2000, 1000]),
    ) {
        let start = HostScreen::blank(size(20, 5));
        let source = shown(&start, old.as_bytes(), 1);
        let target = shown(&HostScreen::blank(size(sizes.0, sizes.1)), new.as_bytes(), 2);
        let (there, _) = follow(&source, &target, Budget::of_bytes(budget));
        prop_assert!(there.is_same(&target));
    }

    #[test]
    fn bytes_that_are_no_difference_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = HostScreen::blank(size(20, 5)).apply(&bytes);
    }
}
