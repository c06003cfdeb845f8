//! Behaviour of stock's predictor that its description names.

use super::*;
use crate::predict::{PredictionSession, PredictorKind, Recording, Scored, ServerUpdate, TestLink};
use crate::stats::Observation;
use crate::trace::Trace;
use fulmar_terminal::Terminal;
use fulmar_transport::StateNumber;

/// The waits of all keys and how many were wrong, over a quiet link.
fn tried(trace: &[u8], round_trip: u64) -> (Vec<bool>, usize) {
    let recording = Recording::new("test", Trace::parse(trace).unwrap(), None);
    let link = TestLink {
        round_trip,
        jitter: 0,
        loss: 0,
    };
    let truth = &recording.truth;
    let session = PredictionSession::run(&recording, link, 1, None).unwrap();
    let scored = Scored::of(truth, &PredictorKind::Stock.view(&session));
    let at_once = |wait: &Option<Observation>| {
        wait.and_then(Observation::came)
            .is_some_and(|wait| wait.is_zero())
    };
    (
        scored.waits.iter().map(at_once).collect(),
        scored.score.wrong,
    )
}

/// Four characters, one each 200 ms; then Enter, a new prompt, and two more.
const LINE: &[u8] = b"0 SIZE 20 4\n50000 HOST 2\n$ \n1000000 USER 1\na\n1001000 HOST 1\na\n\
    1200000 USER 1\nb\n1201000 HOST 1\nb\n1400000 USER 1\nc\n1401000 HOST 1\nc\n\
    2000000 USER 1\n\r\n2001000 HOST 4\n\r\n$ \n3000000 USER 1\nd\n3001000 HOST 1\nd\n\
    3200000 USER 1\ne\n3201000 HOST 1\ne\n";

#[test]
fn the_first_character_of_an_epoch_waits_and_the_next_do_not() {
    let (at_once, wrong) = tried(LINE, 100);
    assert_eq!(at_once, [false, true, true, false, false, true]);
    assert_eq!(wrong, 0);
}

#[test]
fn nothing_is_shown_on_a_fast_link() {
    let (at_once, _) = tried(LINE, 10);
    assert_eq!(at_once, [false; 6]);
}

#[test]
fn what_stands_on_the_right_is_pushed_along() {
    // A right prompt at column 15, which stays where it is while somebody types fast.
    let trace =
        b"0 SIZE 20 4\n50000 HOST 12\n\x1b[16GR\x1b[1G$ \n1000000 USER 1\na\n1001000 HOST 1\na\n\
        1050000 USER 1\nb\n1051000 HOST 1\nb\n1100000 USER 1\nc\n1101000 HOST 1\nc\n\
        1150000 USER 1\nd\n1151000 HOST 1\nd\n";
    let (_, wrong) = tried(trace, 100);
    assert!(wrong > 0);
}

#[test]
fn a_paste_is_not_predicted() {
    let mut trace = LINE.to_vec();
    trace.extend(b"4000000 USER 101\n");
    trace.extend([b'x'; 101]);
    trace.extend(b"\n4001000 HOST 1\nx\n");
    let (at_once, wrong) = tried(&trace, 100);
    assert_eq!(at_once[6..], [false; 101]);
    assert_eq!(wrong, 0);
}

/// The predictor on a terminal of 10 columns and 4 rows, told by hand what is typed and what comes.
struct ByHand {
    stock: Stock,
    frame: ServerFrame,
    round_trip: u64,
    now: Duration,
    /// The number of the next byte.
    first: u64,
    /// The number of the last state that was sent.
    state: u64,
}

fn frame(bytes: &str, echoed_state: u64, round_trip: u64) -> ServerFrame {
    let mut terminal = Terminal::new(Size::new(4, 10).unwrap());
    terminal.process(bytes.as_bytes());
    let screen = terminal.screen().clone();
    ServerFrame {
        snapshot: ScreenSnapshot::of(&screen, None),
        number: 0,
        update: ServerUpdate {
            screen,
            state: StateNumber::ZERO,
            received: 0,
            echoed: 0,
            echoed_state,
            srtt: Some(Duration::from_millis(round_trip)),
            hints: None,
        },
    }
}

impl ByHand {
    fn over(round_trip: u64, mode: Mode, bytes: &str) -> ByHand {
        let mut by_hand = ByHand {
            stock: Stock::new(mode),
            frame: frame(bytes, 0, round_trip),
            round_trip,
            now: Duration::from_secs(1),
            first: 0,
            state: 0,
        };
        by_hand.take(bytes, 0);
        by_hand
    }

    fn new(mode: Mode, bytes: &str) -> ByHand {
        ByHand::over(100, mode, bytes)
    }

    /// Takes a screen with these bytes on it that answers the first so many writes, and returns what is shown.
    fn take(&mut self, bytes: &str, answered: u64) -> Shown {
        self.now += Duration::from_millis(10);
        self.frame = frame(bytes, answered, self.round_trip);
        self.stock.take_frame(self.now, &self.frame);
        self.shown()
    }

    fn type_keys(&mut self, bytes: &str) -> Shown {
        self.now += Duration::from_millis(10);
        let keys = KeyboardRead {
            bytes: bytes.as_bytes().to_vec(),
            first: self.first,
            key: 0,
            count: 1,
            sent_state: self.state,
        };
        self.state += 1;
        self.first += bytes.len() as u64;
        self.stock.type_keys(self.now, &keys, &self.frame);
        self.shown()
    }

    fn shown(&mut self) -> Shown {
        let drawn = self.stock.draw(self.now, &self.frame);
        let cursor = drawn.snapshot.cursor.place;
        let rows = (0..4).map(|row| drawn.snapshot.text(row));
        Shown {
            rows: rows.collect::<Vec<_>>().join("\n").trim_end().to_owned(),
            cursor: (cursor.row, cursor.column),
        }
    }
}

#[derive(Debug, PartialEq)]
struct Shown {
    rows: String,
    cursor: (u16, u16),
}

fn shown(rows: &str, cursor: (u16, u16)) -> Shown {
    Shown {
        rows: rows.to_owned(),
        cursor,
    }
}

/// Returns what is shown when keys are typed on a screen and every prediction is shown.
fn everything(bytes: &str, typed: &str) -> Shown {
    ByHand::new(Mode::Everything, bytes).type_keys(typed)
}

#[test]
fn characters_push_the_rest_of_the_row() {
    assert_eq!(everything("$ ", "ab"), shown("$ ab", (0, 4)));
    assert_eq!(everything("$   xyz\x1b[3G", "a"), shown("$ a  xyz", (0, 3)));
    // Nobody knows what comes into the last column.
    assert_eq!(
        everything("0123456789\x1b[5G", "x"),
        shown("0123x45679", (0, 5))
    );
    assert_eq!(everything("\x1b[10G", "x"), shown("         x", (1, 0)));
}

#[test]
fn backspace_pulls_the_rest_of_the_row() {
    assert_eq!(everything("$ abc", "\x7f"), shown("$ ab", (0, 4)));
    assert_eq!(everything("\rx\r", "\x7f"), shown("x", (0, 0)));
    // Nobody knows the last two columns.
    assert_eq!(
        everything("0123456789\x1b[5G", "\x7f"),
        shown("0124567889", (0, 3))
    );
}

#[test]
fn arrows_stay_within_the_row() {
    assert_eq!(everything("ab", "\x1b[D").cursor, (0, 1));
    assert_eq!(everything("ab", "\x1b[D\x1b[D\x1b[D\x1b[D").cursor, (0, 0));
    assert_eq!(everything("ab", "\x1b[C").cursor, (0, 3));
    assert_eq!(everything("\x1b[9G", "\x1b[C\x1b[C\x1b[C").cursor, (0, 9));
}

#[test]
fn return_leads_to_the_next_row_and_clears_the_last() {
    assert_eq!(everything("ab", "\r"), shown("ab", (1, 0)));
    assert_eq!(everything("ab\x1b[3;2Hc", "\r"), shown("ab\n\n c", (3, 0)));
    assert_eq!(everything("ab\x1b[4;2Hc", "\r"), shown("ab", (3, 0)));
}

#[test]
fn a_read_of_101_bytes_is_too_much() {
    let longest = "x\x1b[D".repeat(25);
    assert_eq!(
        everything("$ ", &longest).rows,
        format!("$ {}", "x".repeat(7))
    );
    assert_eq!(everything("$ ", &format!("{longest}x")), shown("$", (0, 2)));
}

/// A predictor that has seen its first character come true.
fn confirmed(round_trip: u64, mode: Mode) -> ByHand {
    let mut by_hand = ByHand::over(round_trip, mode, "$ ");
    assert_eq!(by_hand.type_keys("a"), shown("$", (0, 2)), "not confirmed");
    assert_eq!(by_hand.take("$ ", 0), shown("$", (0, 2)));
    assert_eq!(by_hand.take("$ a", 1), shown("$ a", (0, 3)));
    by_hand
}

#[test]
fn what_is_confirmed_is_shown_until_it_is_wrong() {
    let mut stock = confirmed(100, Mode::Adaptive);
    assert_eq!(stock.type_keys("b"), shown("$ ab", (0, 4)));
    assert_eq!(
        stock.take("$ a", 1),
        shown("$ ab", (0, 4)),
        "not answered yet"
    );
    assert_eq!(stock.take("$ ax", 2), shown("$ ax", (0, 4)));
    assert_eq!(
        stock.type_keys("c"),
        shown("$ ax", (0, 4)),
        "another has to come true"
    );
    assert_eq!(stock.take("$ axc", 3), shown("$ axc", (0, 5)));
    assert_eq!(stock.type_keys("d"), shown("$ axcd", (0, 6)));
}

#[test]
fn a_character_that_was_there_confirms_nothing() {
    let mut stock = ByHand::new(Mode::Adaptive, "$ a\x1b[D");
    stock.type_keys("a");
    stock.take("$ a", 1);
    assert_eq!(stock.type_keys("b"), shown("$ a", (0, 3)));
}

#[test]
fn a_cursor_elsewhere_ends_all_predictions() {
    let next = |answer: &str| {
        let mut stock = confirmed(100, Mode::Adaptive);
        stock.type_keys("b");
        stock.take(answer, 2);
        stock.type_keys("c")
    };
    assert_eq!(next("$ ab"), shown("$ abc", (0, 5)));
    assert_eq!(next("$ ab\r"), shown("$ ab", (0, 0)));
}

#[test]
fn a_cursor_that_moves_after_its_answer_was_not_predicted() {
    let mut stock = confirmed(100, Mode::Adaptive);
    stock.type_keys("b");
    stock.take("$ ab", 2);
    assert_eq!(stock.take("$ ab\r", 2), shown("$ ab", (0, 0)));
    assert_eq!(stock.type_keys("c"), shown("c$ ab", (0, 1)));
}

#[test]
fn a_key_that_nobody_knows_makes_what_follows_tentative() {
    for (typed, shows) in [
        ("\x01b", "$ a"),
        ("b\x01", "$ ab"),
        ("\rb", "$ a"),
        ("日b", "$ a"),
    ] {
        let mut stock = confirmed(100, Mode::Adaptive);
        assert_eq!(stock.type_keys(typed).rows, shows, "{typed:?}");
    }
}

#[test]
fn a_tentative_epoch_that_is_wrong_ends_alone() {
    let mut stock = confirmed(100, Mode::Adaptive);
    assert_eq!(stock.type_keys("b"), shown("$ ab", (0, 4)));
    stock.type_keys("\x01x");
    // The wrong one is answered; what is confirmed is not.
    let wrong = stock.take("$ aby", 3);
    assert_eq!(wrong, shown("$ aby", (0, 5)));
    assert_eq!(stock.type_keys("c"), shown("$ aby", (0, 5)));
}

#[test]
fn a_fast_link_shows_nothing_unless_it_is_to_be_always() {
    assert_eq!(
        confirmed(10, Mode::Adaptive).type_keys("b"),
        shown("$ a", (0, 3))
    );
    assert_eq!(
        confirmed(10, Mode::Always).type_keys("b"),
        shown("$ ab", (0, 4))
    );
}

#[test]
fn it_wakes_while_anything_is_pending() {
    let mut stock = ByHand::new(Mode::Adaptive, "$ ");
    assert_eq!(stock.stock.poll_timeout(), None);
    stock.type_keys("a");
    assert_eq!(stock.stock.poll_timeout(), Some(stock.now + WAKE));
    stock.take("$ a", 1);
    assert_eq!(stock.stock.poll_timeout(), None);
}

#[test]
fn another_size_ends_all_predictions() {
    let mut stock = confirmed(100, Mode::Adaptive);
    stock.type_keys("b");
    let mut terminal = Terminal::new(Size::new(4, 8).unwrap());
    terminal.process(b"$ a");
    let screen = terminal.screen().clone();
    stock.frame.snapshot = ScreenSnapshot::of(&screen, None);
    stock.frame.update.screen = screen;
    assert_eq!(stock.shown(), shown("$ a", (0, 3)));
}
