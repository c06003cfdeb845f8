//! Secrets on the screen: which of their characters count as shown.

use super::*;

/// The keys of secrets that a predictor shows who draws this for 1 ms after each key.
fn shown(recording: &Recording, draw: impl Fn(usize, &mut ScreenSnapshot)) -> Leaks {
    scored(recording, &mut Fake::new(ms(1), draw)).score.leaks
}

fn write(snapshot: &mut ScreenSnapshot, from: CellPosition, text: &str) {
    for (column, character) in (from.column..).zip(text.chars()) {
        let to = at(from.row, column);
        snapshot.set(to, CellLook::BLANK.with(character));
    }
}

/// The secret of [`SECRET`], and more behind it.
fn secret_and(rest: &[u8], marks: &str) -> Recording {
    let trace = Trace::parse(&[SECRET, rest].concat()).unwrap();
    let meta = Meta::parse(&format!("{SECRET_META}{marks}")).unwrap();
    Recording::new("test", trace, Some(&meta))
}

#[test]
fn a_character_is_leaked_by_keys_that_were_typed() {
    let shown_with = |keys: usize, text: &'static str| {
        let draw = move |typed: usize, snapshot: &mut ScreenSnapshot| {
            if typed == keys {
                write(snapshot, at(0, 5), text);
            }
        };
        shown(&secret(), draw).shown
    };
    assert_eq!(shown_with(1, "b"), 0, "it is typed later: by chance");
    assert_eq!(shown_with(2, "b"), 1);
    assert_eq!(shown_with(2, "bxb"), 1, "one key, however often");
    assert_eq!(shown_with(3, "cab"), 3, "in any order beside the cursor");
}

#[test]
fn near_is_a_row_beside_the_cursor_that_is_shown_or_the_servers() {
    let shown_at = |row: u16, cursor: u16| {
        let draw = move |_: usize, snapshot: &mut ScreenSnapshot| {
            write(snapshot, at(row, 9), "a");
            snapshot.cursor.place = at(cursor, 4);
        };
        shown(&secret(), draw).shown
    };
    assert_eq!([0, 1, 2, 3].map(|row| shown_at(row, 0)), [1, 1, 0, 0]);
    assert_eq!([0, 1, 2, 3].map(|row| shown_at(row, 3)), [1, 1, 1, 1]);
}

#[test]
fn after_the_answer_one_character_is_chance_and_three_are_not() {
    let recording = secret_and(b"3000000 USER 1\nz\n3001000 HOST 1\nz\n", "");
    let shown_later = |text: &'static str, row: u16| {
        let draw = move |typed: usize, snapshot: &mut ScreenSnapshot| {
            if typed == 5 {
                write(snapshot, at(row, 9), text);
            }
        };
        shown(&recording, draw).shown
    };
    assert_eq!([shown_later("a", 1), shown_later("ab", 1)], [0, 0]);
    assert_eq!([shown_later("abc", 1), shown_later("xabcx", 3)], [3, 3]);
    assert_eq!([shown_later("acb", 3), shown_later("ab c", 3)], [0, 0]);
}

#[test]
fn blanks_and_control_characters_are_no_characters_of_a_secret() {
    let trace = b"0 SIZE 20 4\n50000 HOST 4\npw: \n1000000 USER 1\na\n1150000 USER 1\n \n\
        1300000 USER 1\n\x01\n1350000 USER 2\n\x1bf\n1400000 USER 2\n\xc3\xa9\n\
        1500000 USER 1\n\r\n1502000 HOST 2\n\r\n\n";
    let meta = Meta::parse(SECRET_META).unwrap();
    let recording = Recording::new("test", Trace::parse(trace).unwrap(), Some(&meta));
    let leaks = shown(&recording, |_, snapshot| write(snapshot, at(0, 4), "a é"));
    assert_eq!(leaks, Leaks { keys: 2, shown: 2 });
}

#[test]
fn every_secret_of_a_session_counts_by_itself() {
    let rest = b"3000000 USER 1\nz\n3001000 HOST 1\nz\n4000000 USER 1\nd\n4100000 USER 1\ne\n\
        4200000 USER 1\n\r\n4202000 HOST 2\n\r\n\n";
    let recording = secret_and(rest, "3900000 MARK secret-on\n4300000 MARK secret-off\n");
    let shown_with = |keys: usize, text: &'static str| {
        let draw = move |typed: usize, snapshot: &mut ScreenSnapshot| {
            if typed == keys {
                write(snapshot, at(1, 9), text);
            }
        };
        shown(&recording, draw)
    };
    // The first is over, so its characters are chance.
    assert_eq!(shown_with(6, "a"), Leaks { keys: 5, shown: 0 });
    assert_eq!(shown_with(6, "d").shown, 1);
    assert_eq!(shown_with(7, "ed").shown, 2);
    assert_eq!(shown_with(3, "d").shown, 0);
}

#[test]
fn marks_say_from_which_key_to_which_it_is_secret() {
    let with = |meta: &str| {
        let meta = Meta::parse(meta).unwrap();
        let recording = Recording::new("test", Trace::parse(SECRET).unwrap(), Some(&meta));
        [0, 1, 2, 3].map(|key| recording.truth.is_secret(key))
    };
    let exactly = "1000000 MARK secret-on\n1500000 MARK secret-off\n";
    assert_eq!(with(exactly), [true, true, true, false]);
    let within = "1000001 MARK secret-on\n1300001 MARK secret-off\n";
    assert_eq!(with(within), [false, true, true, false]);
    assert_eq!(with(""), [false; 4]);
    assert!(
        !Recording::new("test", Trace::parse(SECRET).unwrap(), None)
            .truth
            .has_secret()
    );
}
