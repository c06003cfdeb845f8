//! The effects of keys, and what is wrong because of them.

use super::*;
use crate::judge::TypedKey;

/// The screen with which each key's effect is complete.
fn complete(trace: &[u8]) -> Vec<Option<usize>> {
    let recording = recording(trace);
    let keys = recording.truth.keys().iter();
    keys.map(TypedKey::answered).collect()
}

#[test]
fn an_answer_begins_within_250_ms() {
    let answered_after = |micros: u64| {
        let at = 1_000_000 + micros;
        let trace = format!("0 SIZE 20 4\n0 HOST 2\n$ \n1000000 USER 1\na\n{at} HOST 1\na\n");
        complete(trace.as_bytes())
    };
    assert_eq!(answered_after(250_000), [Some(2)]);
    assert_eq!(answered_after(250_001), [None]);
}

#[test]
fn a_burst_ends_at_a_gap_of_20_ms_or_at_the_next_key_that_is_answered() {
    let second_after = |micros: u64| {
        let at = 1_001_000 + micros;
        let trace = format!(
            "0 SIZE 20 4\n0 HOST 2\n$ \n1000000 USER 1\na\n1001000 HOST 1\na\n{at} HOST 1\nb\n"
        );
        complete(trace.as_bytes())
    };
    assert_eq!(second_after(19_999), [Some(3)]);
    assert_eq!(second_after(20_000), [Some(2)]);
    let next = b"0 SIZE 20 4\n0 HOST 2\n$ \n1000000 USER 1\na\n1001000 HOST 1\na\n\
        1005000 USER 1\nb\n1006000 HOST 1\nb\n";
    assert_eq!(complete(next), [Some(2), Some(3)]);
}

#[test]
fn keys_that_come_within_20_ms_have_their_answer_together() {
    let second_after = |micros: u64| {
        let at = 1_000_000 + micros;
        let trace = format!(
            "0 SIZE 20 4\n0 HOST 2\n$ \n1000000 USER 1\na\n{at} USER 1\nb\n1030000 HOST 2\nab\n"
        );
        complete(trace.as_bytes())
    };
    assert_eq!(second_after(19_999), [Some(2), Some(2)]);
    assert_eq!(second_after(20_000), [None, Some(2)]);
}

#[test]
fn screens_are_found_by_the_bytes_that_lead_to_them() {
    let truth = recording(SHELL).truth;
    // The prompt, l, x, Backspace, a newline, a line, a prompt.
    let written: Vec<usize> = (0..=truth.end())
        .map(|screen| truth.written(screen))
        .collect();
    assert_eq!(written, [0, 2, 3, 4, 7, 9, 14, 16]);
    assert_eq!(truth.length(), 16);
    assert_eq!(
        [0, 1, 2, 6, 7, 14, 16, 99].map(|bytes| truth.number_at(bytes)),
        [0, 0, 1, 3, 4, 6, 7, 7]
    );
    assert_eq!(
        [0, 1, 2, 3, 4].map(|keys| truth.reach(keys)),
        [1, 2, 3, 4, 7]
    );
}

/// Draws a wrong cell for a while after each key, and says because of which byte.
struct Blaming<F> {
    fake: Fake<F>,
    bytes: Vec<u64>,
    blamed: fn(&[u64]) -> u64,
}

impl<F: Fn(usize, &mut ScreenSnapshot)> Predictor for Blaming<F> {
    fn type_keys(&mut self, now: Duration, keys: &KeyboardRead, frame: &ServerFrame) {
        self.bytes.push(keys.first);
        self.fake.type_keys(now, keys, frame);
    }

    fn draw(&mut self, now: Duration, frame: &ServerFrame) -> DrawnScreen {
        let mut drawn = self.fake.draw(now, frame);
        if !self.bytes.is_empty() {
            let blamed = (self.blamed)(&self.bytes);
            drawn.causes.insert(at(2, 10), blamed);
            drawn.cursor_cause = Some(blamed);
        }
        drawn
    }

    fn poll_timeout(&self) -> Option<Duration> {
        self.fake.poll_timeout()
    }
}

#[test]
fn the_key_that_a_predictor_names_is_to_blame() {
    let recording = recording(SHELL);
    let wrong = |blamed: fn(&[u64]) -> u64| {
        let lie = |_: usize, snapshot: &mut ScreenSnapshot| {
            snapshot.set(at(2, 10), CellLook::BLANK.with('z'));
        };
        let mut blaming = Blaming {
            fake: Fake::new(ms(60), lie),
            bytes: Vec::new(),
            blamed,
        };
        let scored = scored(&recording, &mut blaming);
        let wrongs = scored.wrongs.iter();
        let wrongs: Vec<_> = wrongs
            .map(|wrong| (wrong.key.unwrap(), wrong.lasted.as_millis()))
            .collect();
        assert!(
            scored
                .wrongs
                .iter()
                .all(|wrong| wrong.place == Some(at(2, 10)))
        );
        (wrongs, scored.score.wrong)
    };
    let newest = wrong(|bytes| bytes[bytes.len() - 1]);
    assert_eq!(newest, (vec![(0, 60), (1, 50), (2, 60), (3, 60)], 4));
    // The second and the third overlap: it is wrong for 110 ms in one go.
    let first = wrong(|bytes| bytes[0]);
    assert_eq!(first, (vec![(0, 60), (0, 110), (0, 60)], 1));
}

#[test]
fn the_screen_behind_a_newline_is_true() {
    let recording = recording(SHELL);
    let wrong = |column: u16| {
        let draw = move |typed: usize, snapshot: &mut ScreenSnapshot| {
            if typed == 4 {
                for (column, character) in (0..).zip("a b".chars()) {
                    snapshot.set(at(1, column), CellLook::BLANK.with(character));
                }
                snapshot.cursor.place = at(2, column);
            }
        };
        let scored = scored(&recording, &mut Fake::new(ms(90), draw));
        scored.wrongs.len()
    };
    assert_eq!((wrong(0), wrong(1)), (0, 1));
}

#[test]
fn what_the_frame_shows_is_not_wrong_and_what_is_not_typed_yet_is() {
    let recording = recording(SHELL);
    let truth = &recording.truth;
    let wrong = |ahead: usize| {
        let draw = |typed: usize, snapshot: &mut ScreenSnapshot| {
            *snapshot = truth.snapshot(truth.reach(typed + ahead)).clone();
        };
        let scored = scored(&recording, &mut Fake::new(ms(1000), draw));
        let wrongs = scored.wrongs.iter();
        let mut keys: Vec<usize> = wrongs.filter_map(|wrong| wrong.key).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    };
    assert_eq!(wrong(0), [0; 0]);
    // `x` is shown with `l`; its end with `x` looks like the screen before; Enter's answer 750 ms too early.
    assert_eq!(wrong(1), [0, 2]);
}

#[test]
fn a_cell_of_a_key_that_is_not_typed_yet_is_wrong() {
    let recording = recording(SHELL);
    // `x` comes 200 ms after `l`.
    let draw = |typed: usize, snapshot: &mut ScreenSnapshot| {
        if typed == 1 {
            snapshot.set(at(0, 3), CellLook::BLANK.with('x'));
        }
    };
    let scored = scored(&recording, &mut Fake::new(ms(60), draw));
    let wrongs = scored.wrongs.iter().map(|wrong| (wrong.place, wrong.key));
    assert_eq!(wrongs.collect::<Vec<_>>(), [(Some(at(0, 3)), Some(0))]);
}

#[test]
fn a_terminal_is_looked_at_up_to_2_ms_late_and_not_after_the_next_screen() {
    let trace = b"0 SIZE 20 4\n0 HOST 2\n$ \n1000000 USER 1\na\n1001000 HOST 1\na\n";
    let meta = "0 TTY 1 1 first\n1003000 TTY 1 1 second\n1003001 TTY 1 1 third\n";
    let meta = Meta::parse(meta).unwrap();
    let truth = RecordedTruth::of(&Trace::parse(trace).unwrap(), Some(&meta));
    let at = |screen: usize, looked: u64| {
        let looked = Duration::from_micros(looked);
        truth.tty(screen, looked).map(|tty| tty.foreground.as_str())
    };
    assert_eq!([at(2, 0), at(2, 1_003_000)], [Some("second"); 2]);
    assert_eq!(at(2, 1_003_001), Some("third"));
    assert_eq!(
        at(1, 9_000_000),
        Some("first"),
        "the next screen is another look"
    );
}

#[test]
fn a_cursor_that_a_program_draws_is_the_keys_own() {
    // A count elsewhere changes with each key, on the row of the hidden cursor.
    let trace = b"0 SIZE 20 4\n50000 HOST 16\n\x1b[?25l> \x1b[7m \x1b[m\n1000000 USER 1\na\n\
        1001000 HOST 23\n\x1b[3Ga\x1b[7m \x1b[m\x1b[4;1H1 in\n";
    let recording = recording(trace);
    let [effect] = &recording.truth.keys()[0].effects[..] else {
        panic!("{:?}", recording.truth.keys()[0].effects)
    };
    assert_eq!(
        (&effect.places[..], effect.has_cursor),
        (&[at(0, 2), at(0, 3)][..], true)
    );
}

#[test]
fn bytes_are_typed_with_their_keys() {
    let trace = b"0 SIZE 20 4\n1000000 USER 4\na\x1b[A\n2000000 USER 1\nb\n";
    let truth = recording(trace).truth;
    let at = |bytes: usize| truth.typed_at(bytes).map(|at| at.as_secs());
    let typed = [0, 1, 3, 4, 5, 99].map(at);
    assert_eq!(typed, [None, Some(1), Some(1), Some(1), Some(2), Some(2)]);
}

#[test]
fn the_key_that_a_predictor_names_is_to_blame_for_the_cursor() {
    let recording = recording(SHELL);
    let lie = |_: usize, snapshot: &mut ScreenSnapshot| snapshot.cursor.place = at(3, 3);
    let mut blaming = Blaming {
        fake: Fake::new(ms(60), lie),
        bytes: Vec::new(),
        blamed: |bytes| bytes[0],
    };
    let scored = scored(&recording, &mut blaming);
    assert!(
        scored
            .wrongs
            .iter()
            .all(|wrong| (wrong.place, wrong.key) == (None, Some(0)))
    );
    assert_eq!((scored.wrongs.len(), scored.score.wrong), (3, 1));
}
