//! The definitions, on recordings of a few keys and with predictors of which all is known.

use std::time::Duration;

use super::*;
use crate::judge::CellPosition;
use crate::stats::Observation;
use crate::trace::{Meta, Trace};

mod leaks;
mod truth;
mod views;

const LINK: TestLink = TestLink {
    round_trip: 100,
    jitter: 0,
    loss: 0,
};

/// A prompt; `l` and its echo, `x` and Backspace, and their echoes; Enter and two lines in two pieces.
const SHELL: &[u8] = b"0 SIZE 20 4\n50000 HOST 2\n$ \n1000000 USER 1\nl\n1002000 HOST 1\nl\n\
    1200000 USER 1\nx\n1202000 HOST 1\nx\n1250000 USER 1\n\x7f\n1252000 HOST 3\n\x08 \x08\n\
    2000000 USER 1\n\r\n2002000 HOST 2\n\r\n\n2010000 HOST 7\na b\r\n$ \n";

/// A prompt, a secret of three characters without echo, Enter and a word.
const SECRET: &[u8] = b"0 SIZE 20 4\n50000 HOST 4\npw: \n1000000 USER 1\na\n1150000 USER 1\nb\n\
    1300000 USER 1\nc\n1500000 USER 1\n\r\n1502000 HOST 4\n\r\nok\n";
const SECRET_META: &str = "900000 MARK secret-on\n1600000 MARK secret-off\n";

fn recording(bytes: &[u8]) -> Recording {
    Recording::new("test", Trace::parse(bytes).unwrap(), None)
}

fn secret() -> Recording {
    let meta = Meta::parse(SECRET_META).unwrap();
    Recording::new("test", Trace::parse(SECRET).unwrap(), Some(&meta))
}

fn session(recording: &Recording) -> PredictionSession {
    let watched = Some(ClientWatch::of(Peer::Stock));
    PredictionSession::run(recording, LINK, 1, watched).unwrap()
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Something that draws when a key is typed, for a while.
struct Fake<F> {
    draw: F,
    lasts: Duration,
    until: Duration,
    typed: usize,
}

impl<F: Fn(usize, &mut ScreenSnapshot)> Fake<F> {
    fn new(lasts: Duration, draw: F) -> Fake<F> {
        Fake {
            draw,
            lasts,
            until: Duration::ZERO,
            typed: 0,
        }
    }
}

impl<F: Fn(usize, &mut ScreenSnapshot)> Predictor for Fake<F> {
    fn type_keys(&mut self, now: Duration, keys: &KeyboardRead, _: &ServerFrame) {
        self.until = now + self.lasts;
        self.typed = keys.key + keys.count;
    }

    fn draw(&mut self, now: Duration, frame: &ServerFrame) -> DrawnScreen {
        let mut drawn = DrawnScreen::plain(frame);
        if now < self.until {
            (self.draw)(self.typed, &mut drawn.snapshot);
        }
        drawn
    }

    fn poll_timeout(&self) -> Option<Duration> {
        Some(self.until)
    }
}

fn scored(recording: &Recording, predictor: &mut dyn Predictor) -> Scored {
    let session = session(recording);
    assert!(session.is_whole);
    Scored::of(&recording.truth, &UserView::of(&session, predictor))
}

fn scored_kind(recording: &Recording, kind: PredictorKind) -> Scored {
    Scored::of(&recording.truth, &kind.view(&session(recording)))
}

fn at(row: u16, column: u16) -> CellPosition {
    CellPosition::new(row, column)
}

#[test]
fn the_effect_of_a_character_is_its_cell_and_the_cursor() {
    let recording = recording(SHELL);
    let keys = recording.truth.keys();
    let [effect] = &keys[0].effects[..] else {
        panic!("{:?}", keys[0].effects)
    };
    assert_eq!(effect.places, [at(0, 2)]);
    assert_eq!((effect.after, effect.has_cursor), (2, true));
}

#[test]
fn enter_is_done_with_the_first_line_or_with_the_burst() {
    let recording = recording(SHELL);
    let [burst, first_line] = &recording.truth.keys()[3].effects[..] else {
        panic!("{:?}", recording.truth.keys()[3].effects)
    };
    assert_eq!(burst.after, 7, "8 ms are no gap");
    assert!(first_line.places.is_empty());
    let snapshot = recording.truth.snapshot(first_line.after);
    assert_eq!(snapshot.cursor.seen(), Some(at(1, 0)));
    // The middle row, which the cursor only passed, does not belong to it.
    assert_eq!(burst.places, [at(2, 0)]);
}

#[test]
fn grey_text_right_of_the_cursor_is_not_required() {
    let trace = b"0 SIZE 20 4\n0 HOST 2\n$ \n1000000 USER 1\na\n1001000 HOST 15\na\x1b[90mbc\x1b[m\x1b[2D\n";
    let recording = recording(trace);
    let effect = &recording.truth.keys()[0].effects[0];
    assert_eq!(effect.places, [at(0, 2)]);
}

#[test]
fn a_key_that_nothing_answers_has_no_effect() {
    let late = b"0 SIZE 20 4\n0 HOST 2\n$ \n1000000 USER 1\na\n1251000 HOST 1\na\n";
    assert!(!recording(late).truth.keys()[0].has_effect());
    let ignored =
        b"0 SIZE 20 4\n0 HOST 2\n$ \n1000000 USER 1\na\n1100000 USER 1\nb\n1101000 HOST 1\nb\n";
    let recording = recording(ignored);
    let has_effect = |key: usize| recording.truth.keys()[key].has_effect();
    assert_eq!([has_effect(0), has_effect(1)], [false, true]);
}

#[test]
fn what_changes_elsewhere_counts_where_the_cursors_row_does_not() {
    let trace = b"0 SIZE 20 4\n0 HOST 6\n\x1b[?25l\n1000000 USER 1\na\n1001000 HOST 13\n\x1b[3;5Hx\x1b[1;1H\n";
    let trace = Trace::parse(trace).unwrap();
    let recording = Recording::new("test", trace, None);
    let effect = &recording.truth.keys()[0].effects[0];
    assert_eq!(effect.places, [at(2, 4)]);
    assert!(!effect.has_cursor);
}

#[test]
fn without_prediction_every_key_waits_for_the_round_trip() {
    let recording = recording(SHELL);
    let scored = scored_kind(&recording, PredictorKind::None);
    assert_eq!(scored.waits.len(), 4);
    for wait in scored.waits {
        // Also Backspace: the screen without `x` that is still there is not its effect.
        let Some(Observation::After(wait)) = wait else {
            panic!("{wait:?}");
        };
        assert!((ms(100)..ms(250)).contains(&wait), "{wait:?}");
    }
    assert_eq!((scored.score.instant(), scored.score.wrong()), (0.0, 0.0));
}

#[test]
fn who_knows_the_truth_is_always_instant_and_never_wrong() {
    let recording = recording(SHELL);
    let truth = &recording.truth;
    let know = |typed: usize, snapshot: &mut ScreenSnapshot| {
        *snapshot = truth.snapshot(truth.reach(typed)).clone()
    };
    let scored = scored(&recording, &mut Fake::new(ms(1000), know));
    assert_eq!(scored.score.instant(), 100.0);
    assert_eq!(scored.score.wrong(), 0.0);
}

#[test]
fn a_row_of_two_true_screens_is_wrong_though_each_cell_is_right() {
    // A suggestion behind the first character, and another behind the second.
    let recording = recording(
        b"0 SIZE 20 4\n0 HOST 2\n$ \n1000000 USER 1\na\n1001000 HOST 15\na\x1b[90mbc\x1b[m\x1b[2D\n\
        2000000 USER 1\nx\n2001000 HOST 15\nx\x1b[90myz\x1b[m\x1b[2D\n",
    );
    let wrong = |rest: [char; 2], lasts| {
        let draw = |typed: usize, snapshot: &mut ScreenSnapshot| {
            if typed == 2 {
                snapshot.set(at(0, 3), CellLook::BLANK.with('x'));
                snapshot.set(at(0, 4), CellLook::BLANK.with(rest[0]));
                snapshot.set(at(0, 5), CellLook::BLANK.with(rest[1]));
                snapshot.cursor.place = at(0, 4);
            }
        };
        let scored = scored(&recording, &mut Fake::new(lasts, draw));
        scored
            .wrongs
            .iter()
            .filter_map(|wrong| wrong.key)
            .collect::<Vec<usize>>()
    };
    assert_eq!(
        wrong(['c', ' '], ms(80)),
        [1],
        "the rest of the suggestion before"
    );
    let none: [usize; 0] = [];
    assert_eq!(wrong(['c', ' '], ms(20)), none);
    // The next one is right.
    assert_eq!(wrong(['y', 'z'], ms(80)), none);
}

#[test]
fn a_wrong_cell_counts_from_30_ms_on_and_once_for_its_key() {
    let recording = recording(SHELL);
    let lie = |_: usize, snapshot: &mut ScreenSnapshot| {
        for column in [10, 11] {
            snapshot.set(at(2, column), CellLook::BLANK.with('z'));
        }
    };
    let wrong = |lasts| {
        let scored = scored(&recording, &mut Fake::new(lasts, lie));
        let wrongs = scored.wrongs.iter();
        let mut keys: Vec<usize> = wrongs.filter_map(|wrong| wrong.key).collect();
        keys.dedup();
        assert_eq!(keys.len(), scored.score.wrong);
        scored.score.wrong
    };
    assert_eq!(wrong(ms(29)), 0);
    assert_eq!(wrong(ms(30)), 4);
    // One that goes on while the next key is typed is still that of the first.
    assert_eq!(wrong(ms(60)), 3);
}

#[test]
fn a_cursor_can_be_wrong_by_itself() {
    let recording = recording(SHELL);
    let lie = |_: usize, snapshot: &mut ScreenSnapshot| snapshot.cursor.place = at(3, 3);
    let scored = scored(&recording, &mut Fake::new(ms(40), lie));
    assert_eq!(scored.score.wrong, 4);
    assert!(scored.wrongs.iter().all(|wrong| wrong.place.is_none()));
}

#[test]
fn a_character_of_a_secret_near_the_cursor_is_a_leak_however_short() {
    let recording = secret();
    let echo = |typed: usize, snapshot: &mut ScreenSnapshot| {
        let character = ['a', 'b', 'c', ' '][typed - 1];
        snapshot.set(at(0, 3 + typed as u16), CellLook::BLANK.with(character));
    };
    let leaks = |draw: &dyn Fn(usize, &mut ScreenSnapshot)| {
        let scored = scored(&recording, &mut Fake::new(ms(1), draw));
        scored.score.leaks
    };
    assert_eq!(leaks(&echo), Leaks { keys: 3, shown: 3 });
    let star = |typed: usize, snapshot: &mut ScreenSnapshot| {
        snapshot.set(at(0, 3 + typed as u16), CellLook::BLANK.with('*'));
    };
    assert_eq!(leaks(&star), Leaks { keys: 3, shown: 0 });
    let far = |typed: usize, snapshot: &mut ScreenSnapshot| {
        snapshot.set(at(3, typed as u16), CellLook::BLANK.with('a'));
    };
    assert_eq!(leaks(&far).shown, 0, "by chance");
    let all = |_: usize, snapshot: &mut ScreenSnapshot| {
        for (column, character) in (5..).zip(['a', 'b', 'c']) {
            snapshot.set(at(3, column), CellLook::BLANK.with(character));
        }
    };
    assert_eq!(leaks(&all).shown, 3, "three in a row are no chance");
}

#[test]
fn a_row_that_the_frame_has_elsewhere_is_no_leak() {
    // What is typed stands openly in the first row, too.
    let trace = [
        b"0 SIZE 20 4\n10000 HOST 5\nabc\r\n\n".as_slice(),
        &SECRET[12..],
    ]
    .concat();
    let meta = Meta::parse(SECRET_META).unwrap();
    let recording = Recording::new("test", Trace::parse(&trace).unwrap(), Some(&meta));
    let shown = |column: u16| {
        let draw = |_: usize, snapshot: &mut ScreenSnapshot| {
            for (column, character) in (column..).zip(['a', 'b', 'c']) {
                snapshot.set(at(3, column), CellLook::BLANK.with(character));
            }
        };
        let scored = scored(&recording, &mut Fake::new(ms(1), draw));
        scored.score.leaks.shown
    };
    assert_eq!(shown(0), 0, "the row has moved");
    assert_eq!(shown(1), 3, "this is no row of the frame");
}

#[test]
fn what_is_typed_openly_and_under_way_is_no_leak() {
    // Behind the secret, a word that is echoed.
    let shown = |word: [char; 3]| {
        let mut trace = SECRET.to_vec();
        for (number, character) in (0..).zip(word) {
            let (typed, echoed) = (2_000_000 + number * 10_000, 2_001_000 + number * 10_000);
            let record = format!("{typed} USER 1\n{character}\n{echoed} HOST 1\n{character}\n");
            trace.extend_from_slice(record.as_bytes());
        }
        let meta = Meta::parse(SECRET_META).unwrap();
        let recording = Recording::new("test", Trace::parse(&trace).unwrap(), Some(&meta));
        let draw = |typed: usize, snapshot: &mut ScreenSnapshot| {
            for (column, character) in (5..).zip(['a', 'b', 'c']).filter(|_| typed == 7) {
                snapshot.set(at(3, column), CellLook::BLANK.with(character));
            }
        };
        let scored = scored(&recording, &mut Fake::new(ms(1), draw));
        scored.score.leaks.shown
    };
    assert_eq!(shown(['a', 'b', 'c']), 0);
    assert_eq!(shown(['a', 'b', 'x']), 3);
}

#[test]
fn a_control_that_shows_everything_leaks_and_stock_does_not() {
    let recording = secret();
    let leaks = |kind: PredictorKind| scored_kind(&recording, kind).score.leaks.shown;
    assert_eq!(leaks(PredictorKind::Everything), 3);
    assert_eq!(leaks(PredictorKind::Stock), 0);
}

#[test]
fn a_gate_needs_a_secret_and_a_control_that_is_noticed() {
    let open = [recording(SHELL)];
    assert!(SecrecyGate::new(&open, 1).is_err());
    let secrets = [secret()];
    assert!(SecrecyGate::new(&secrets, 0).is_err());
    let mut gate = SecrecyGate::new(&secrets, 1).unwrap();
    gate.links = vec![LINK];
    let verdict = gate.run(|_| ()).unwrap();
    assert!(verdict.is_passed(), "{verdict}");
    assert_eq!((verdict.sessions, verdict.secret_keys), (1, 3));
    let blind = SecrecyReport {
        blind: vec!["test".to_owned()],
        ..verdict
    };
    assert!(!blind.is_passed());
}

#[test]
fn the_judge_of_real_runs_sees_the_same() {
    let recording = recording(SHELL);
    let session = session(&recording);
    let truth = crate::judge::GroundTruth::of(&recording.trace);
    let view = PredictorKind::None.view(&session);
    let verdict = judged(&recording, &truth, &session, &view).unwrap();
    let scored = Scored::of(&recording.truth, &view);
    let own: Vec<_> = verdict.keys.iter().map(|key| key.own).collect();
    assert_eq!(own, scored.waits);
    assert!(verdict.is_stamped && verdict.is_settled);
    assert_eq!((verdict.differences_at_end, verdict.wrongs.len()), (0, 0));
}

#[test]
fn a_window_gets_another_size_where_it_did() {
    let trace = b"0 SIZE 20 4\n50000 HOST 2\n$ \n1000000 USER 1\na\n1001000 HOST 1\na\n\
        2000000 SIZE 30 5\n2010000 HOST 10\n\x1b[2J\x1b[H$ a\n3000000 USER 1\nb\n\
        3001000 HOST 1\nb\n3200000 USER 1\nc\n3201000 HOST 1\nc\n";
    let recording = recording(trace);
    let session = session(&recording);
    assert!(session.is_whole);
    for kind in [PredictorKind::Engine, PredictorKind::Client] {
        let view = kind.view(&session);
        let last = &view.moments.last().unwrap().drawn.snapshot;
        assert_eq!((last.rows(), last.columns()), (5, 30));
        assert_eq!(last.text(0), "$ abc");
        let scored = Scored::of(&recording.truth, &view);
        assert_eq!(scored.score.wrong, 0);
        assert!(is_at_once(scored.waits[2]), "{:?}", scored.waits);
    }
}

fn is_at_once(wait: Option<Observation>) -> bool {
    wait.and_then(Observation::came)
        .is_some_and(|wait| wait < INSTANT)
}

#[test]
fn the_client_shows_what_the_engine_beside_it_shows() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/keys/");
    for name in ["own-bash-plain", "own-assistant-box"] {
        let path = format!("{folder}{name}");
        let recording = Recording::read(std::path::Path::new(&path)).unwrap();
        let session = session(&recording);
        let [client, engine] = [PredictorKind::Client, PredictorKind::Engine].map(|kind| {
            let scored = Scored::of(&recording.truth, &kind.view(&session));
            (scored.waits, scored.score.wrong)
        });
        assert_eq!(client, engine, "{name}");
    }
}
