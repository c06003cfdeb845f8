use fulmar_predict::ProgramClass;
use fulmar_terminal::{CursorShape, Row, Terminal};
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
    next.apply(bytes, &mut WorkBudget::unlimited())?;
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
        there
            .apply(&difference.bytes, &mut WorkBudget::unlimited())
            .unwrap();
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
fn somebody_waits_for_text_and_hints_and_for_no_echo_ack() {
    let start = HostScreen::blank(size(80, 24));
    let acknowledged = start.with(start.screen().clone(), StateNumber::new(7));
    assert!(!acknowledged.is_same(&start));
    assert!(!acknowledged.is_urgent_after(&start));
    assert!(shown(&start, b"x", 7).is_urgent_after(&start));
    assert!(start.clone().with_hints(shell()).is_urgent_after(&start));
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

/// A shell that edits a line, as docs/protocol.md §13.7 has it.
const SHELL: &[u8] = b"\x0a\x0c\x82\x04\x09\x08\x00\x10\x00\x18\x01\x20\xb9\x60";

fn shell() -> TtyHints {
    TtyHints {
        class: ProgramClass::Shell,
        program: 12345,
        ..TtyHints::default()
    }
}

#[test]
fn hints_alone_are_a_difference_and_come_first() {
    let start = HostScreen::blank(size(80, 24));
    let target = start.clone().with_hints(shell());
    assert!(!target.is_same(&start));
    let bytes = target.diff_from(&start, Budget::UNLIMITED).bytes;
    assert_eq!(bytes, SHELL);
    assert_eq!(applied(&start, &bytes).unwrap().hints(), Some(shell()));
    let next = target.with(target.screen().clone(), StateNumber::new(3));
    let bytes = next.diff_from(&start, Budget::UNLIMITED).bytes;
    assert_eq!(bytes, [SHELL, b"\x0a\x04\x3a\x02\x40\x03"].concat());
    let bytes = next.diff_from(&target, Budget::UNLIMITED).bytes;
    assert_eq!(bytes, b"\x0a\x04\x3a\x02\x40\x03", "they are the same");
}

#[test]
fn without_hints_a_difference_and_its_budget_are_those_of_stock() {
    let start = HostScreen::blank(size(60, 20));
    let target = shown(&start, &[b'x'; 900], 1);
    for budget in 100..1200 {
        let bytes = target.diff_from(&start, Budget::of_bytes(budget)).bytes;
        let kind = [0x82, 0x04];
        assert!(!bytes.windows(2).any(|two| two == kind), "{budget}");
    }
    assert_eq!(applied(&start, &told_bytes(&target)).unwrap().hints(), None);
}

fn told_bytes(state: &HostScreen) -> Vec<u8> {
    let blank = HostScreen::blank(state.screen().size());
    state.diff_from(&blank, Budget::UNLIMITED).bytes
}

#[test]
fn hints_do_not_wait_for_the_rest_of_a_screen() {
    let start = HostScreen::blank(size(60, 20));
    let target = shown(&start, &[b'x'; 900], 1).with_hints(shell());
    let first = target.diff_from(&start, Budget::of_bytes(300));
    assert!(matches!(&first.reached, Reached::Between(state) if state.hints() == Some(shell())));
    let near = applied(&start, &first.bytes).unwrap();
    assert_eq!((near.hints(), near.echo_ack().get()), (Some(shell()), 0));
    assert!(
        follow(&start, &target, Budget::of_bytes(300))
            .0
            .is_same(&target)
    );
}

#[test]
fn hints_of_a_later_version_are_read_as_far_as_they_go() {
    let start = HostScreen::blank(size(80, 24));
    // All flags, an unknown shape and class, and a field that has no meaning.
    let later = b"\x0a\x0e\x82\x04\x0b\x08\xff\x01\x10\x63\x18\x63\x20\x07\x28\x01";
    let hints = applied(&start, later).unwrap().hints().unwrap();
    assert!(hints.canonical && hints.echo && hints.alternate);
    assert_eq!(hints.cursor_shape, CursorShape::Default);
    assert_eq!((hints.class, hints.program), (ProgramClass::Unknown, 7));
}

#[test]
fn hints_that_cannot_be_read_are_counted_and_take_back_what_was_said() {
    let start = HostScreen::blank(size(80, 24)).with_hints(shell());
    let word = b"\x0a\x06\x12\x04\x22\x02ok";
    for (count, hostile) in [
        b"\x0a\x05\x82\x04\x02\x08\xff".as_slice(),
        b"\x0a\x05\x82\x04\x02\x0a\x00",
        b"\x0a\x03\x80\x04\x07",
    ]
    .into_iter()
    .enumerate()
    {
        let state = applied(&start, &[hostile, word].concat()).unwrap();
        assert_eq!(state.hints(), Some(TtyHints::default()), "{hostile:x?}");
        assert_eq!(text(&state, 0), "ok", "the rest counts");
        assert_eq!(start.ignored_hints(), count as u64 + 1);
    }
}

proptest! {
    #[test]
    fn any_hints_travel(flags in 0..16_u64, class in 0..6_u64, program: u64, shape in 0..7_u16) {
        let hints = TtyHints {
            canonical: flags & 1 != 0,
            echo: flags & 2 != 0,
            alternate: flags & 4 != 0,
            steady: flags & 8 != 0,
            cursor_shape: CursorShape::from_number(shape).unwrap(),
            program,
            class: [
                ProgramClass::Unknown,
                ProgramClass::Shell,
                ProgramClass::LineEditor,
                ProgramClass::Editor,
                ProgramClass::Relay,
                ProgramClass::Other,
            ][class as usize],
        };
        let start = HostScreen::blank(size(20, 5));
        let target = shown(&start, b"x", 0).with_hints(hints);
        let (there, _) = follow(&start, &target, Budget::of_bytes(200));
        prop_assert!(there.is_same(&target));
        prop_assert_eq!(there.hints(), Some(hints));
    }

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
        let _ = HostScreen::blank(size(20, 5)).apply(&bytes, &mut WorkBudget::unlimited());
    }
}

#[test]
fn a_clipboard_that_is_too_long_for_stock_leaves_the_one_before() {
    let start = HostScreen::blank(size(80, 24));
    let short = "\x1b]52;c;aGk=\x07";
    let both = format!("{short}\x1b]52;c;{}\x07", "A".repeat(20_000));
    let long = shown(&start, both.as_bytes(), 0);
    assert!(long.is_same(&shown(&start, short.as_bytes(), 0)));
    let bytes = long.diff_from(&start, Budget::UNLIMITED).bytes;
    assert_eq!(
        applied(&start, &bytes).unwrap().screen().clipboard(),
        "aGk="
    );
}

#[test]
fn a_native_peer_is_told_of_a_clipboard_up_to_the_cap() {
    let start = HostScreen::blank(size(80, 24));
    let text = "A".repeat(128 * 1024 - 8);
    let long = shown(&start, format!("\x1b]52;c;{text}\x07").as_bytes(), 0)
        .for_native_peer(Capabilities::NONE);
    let bytes = long.diff_from(&start, Budget::UNLIMITED).bytes;
    assert_eq!(applied(&start, &bytes).unwrap().screen().clipboard(), text);
}

#[test]
fn looks_that_stock_does_not_know_reach_a_peer_that_agreed_on_rich_and_no_other() {
    let start = HostScreen::blank(size(80, 24));
    let drawn = b"\x1b[2;9;53;4:3;58:5:9mlook\x1b[m\x1b]8;id=1;https://example.org\x07link\x1b]8;;\x07\x1b[5 q\x1b[?1000h\x1b[?1016h";
    let told = |state: HostScreen| {
        let bytes = state.diff_from(&start, Budget::UNLIMITED).bytes;
        applied(&start, &bytes).unwrap()
    };
    let plain = shown(&start, drawn, 0);
    let wanted = plain.screen().projected(&Vocabulary::RICH);
    let rich = Capabilities::from_iter([Capability::Rich]);
    let reached = told(plain.clone().for_native_peer(rich));
    assert_eq!(reached.screen().projected(&Vocabulary::FULL), wanted);
    let legacy = plain.diff_from(&start, Budget::UNLIMITED).bytes;
    let native = plain.clone().for_native_peer(Capabilities::NONE);
    assert_eq!(native.diff_from(&start, Budget::UNLIMITED).bytes, legacy);
    let stock = plain.screen().projected(&Vocabulary::STOCK);
    assert_ne!(stock, wanted);
    assert_eq!(told(plain).screen().projected(&Vocabulary::FULL), stock);
}

#[test]
fn a_change_of_look_alone_wakes_only_a_sender_to_a_peer_that_can_show_it() {
    let start = HostScreen::blank(size(80, 24));
    let plain = shown(&start, b"look", 0);
    let dim = shown(&start, b"\x1b[2mlook", 0);
    assert!(dim.is_same(&plain));
    let rich = Capabilities::from_iter([Capability::Rich]);
    assert!(!dim.for_native_peer(rich).is_same(&plain));
}

fn with_lines(end: u64, told: u64) -> HostScreen {
    let place = HistoryPlace {
        end,
        ..HistoryPlace::default()
    };
    let screen = HostScreen::blank(Size::default()).reading(Capabilities::ALL);
    screen.with_history(place, told, &Rc::default())
}

#[test]
fn a_history_that_was_not_agreed_on_is_refused() {
    let without = Capabilities::ALL
        .iter()
        .filter(|one| *one != Capability::History);
    let difference = with_lines(3, 0).diff_from(&with_lines(0, 0), Budget::UNLIMITED);
    for (agreed, is_taken) in [(Capabilities::ALL, true), (without.collect(), false)] {
        let mut state = HostScreen::blank(Size::default()).reading(agreed);
        let applied = state.apply(&difference.bytes, &mut WorkBudget::unlimited());
        assert_eq!(applied.is_ok(), is_taken);
    }
}

#[test]
fn where_the_history_ends_travels_and_is_news() {
    let (before, after) = (with_lines(3, 0), with_lines(5, 0));
    let difference = after.diff_from(&before, Budget::UNLIMITED);
    assert!(matches!(difference.reached, Reached::Target));
    let mut copy = before;
    let applied = copy.apply(&difference.bytes, &mut WorkBudget::unlimited());
    assert_eq!(applied, Ok(()));
    assert!(copy.is_same(&after));
}

#[test]
fn lines_that_are_nowhere_are_left_out() {
    let (before, after) = (with_lines(9, 0), with_lines(9, 9));
    let difference = after.diff_from(&before, Budget::UNLIMITED);
    let mut copy = before;
    let applied = copy.apply(&difference.bytes, &mut WorkBudget::unlimited());
    assert_eq!(applied, Ok(()));
    assert!(copy.is_same(&after));
}

#[test]
fn a_history_may_go_back_and_has_an_end() {
    // Instruction { History { end = 1, first = …, line = "" } }
    let message = |first: &[u8]| {
        let fields = [&[0x08, 1, 0x28], first, &[0x32, 0]].concat();
        let history = [&[0x92, 0x04, fields.len() as u8][..], &fields].concat();
        [&[0x0a, history.len() as u8][..], &history].concat()
    };
    let apply = |first: &[u8]| {
        let mut state = with_lines(9, 5);
        state.apply(&message(first), &mut WorkBudget::unlimited())
    };
    assert_eq!(apply(&[5]), Ok(()));
    assert_eq!(apply(&[7]), Ok(()));
    assert_eq!(apply(&[4]), Ok(()));
    let last = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
    assert!(apply(&last).is_err());
}

#[test]
fn lines_make_work() {
    let line = vec![b'x'; 60_000];
    let message = HistoryMessage {
        place: HistoryPlace::default(),
        first: None,
        lines: vec![&line; 10],
    };
    let whole = Message {
        hints: None,
        clusters: false,
        echo_ack: None,
        size: None,
        frame: b"",
        history: Some(message),
        events: &[],
    };
    let mut bytes = Vec::new();
    whole.encode(&mut bytes);
    let mut work = WorkBudget::new(100_000);
    assert!(with_lines(0, 0).apply(&bytes, &mut work).is_err());
}

/// Returns the message of events of these numbers, of which none has a text longer than `length`.
fn events_message(numbers: &[u64], length: usize) -> Vec<u8> {
    let text = "A".repeat(length);
    let event = |&number: &u64| {
        let event = TerminalEvent::selection("p", &text);
        (number, event.expect("whole base64"))
    };
    let events: Vec<_> = numbers.iter().map(event).collect();
    let message = Message {
        hints: None,
        clusters: false,
        echo_ack: None,
        size: None,
        frame: b"",
        history: None,
        events: &events,
    };
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    bytes
}

#[test]
fn an_event_is_taken_once_whatever_states_it_comes_with() {
    let start = HostScreen::blank(Size::default());
    let (mut first, mut second) = (start.clone(), start.clone());
    let apply = |state: &mut HostScreen, numbers: &[u64]| {
        let bytes = events_message(numbers, 4);
        state.apply(&bytes, &mut WorkBudget::unlimited()).unwrap();
    };
    apply(&mut second, &[0, 1, 3]);
    apply(&mut first, &[0, 1]);
    assert_eq!((first.events_end(), second.events_end()), (2, 4));
    assert_eq!(start.fetch_events().len(), 3);
    apply(&mut first, &[2, 3, u64::MAX]);
    assert_eq!(start.fetch_events().len(), 1);
    assert_eq!(start.fetch_events(), []);
}

#[test]
fn an_event_fits_into_what_is_reckoned_for_it() {
    for length in [0, 4, 60_000] {
        let bytes = events_message(&[u64::MAX], length);
        assert!(bytes.len() <= 1 + length + wire::EVENT_BYTES_MAX);
    }
    let mut work = WorkBudget::new(1000);
    let mut state = HostScreen::blank(Size::new(1, 1).unwrap());
    let bytes = events_message(&[0], 4000);
    assert!(state.apply(&bytes, &mut work).is_err());
}
