//! Sessions made by hand, with the verdicts that were worked out by hand.

use super::*;

/// A wrong place, the time since when and for how long, in milliseconds, and the key that led to it.
type WrongThere = (Option<CellPosition>, u64, u64, Option<usize>);

fn wrongs(verdict: &RunVerdict) -> Vec<WrongThere> {
    let number = |time: Duration| u64::try_from(time.as_millis()).unwrap();
    let wrongs = verdict.wrongs.iter();
    wrongs
        .map(|wrong| {
            let (since, lasted) = (number(wrong.since), number(wrong.lasted));
            (wrong.place, since, lasted, wrong.key)
        })
        .collect()
}

fn cell(row: u16, column: u16) -> Option<CellPosition> {
    Some(CellPosition { row, column })
}

/// The verdict on a user's side of [`ls`].
fn judged_ls(user_side: Side) -> RunVerdict {
    judged(ls(), user_side, ls_at_host())
}

#[test]
fn a_key_that_is_shown_in_the_moment_of_its_press_has_no_wait() {
    let typed_first = ls_typed().out(1000, "l").out(1300, "s");
    let shown_first = side()
        .out(50, "$ ")
        .out(1000, "l")
        .key(1000, "l")
        .key(1200, "s")
        .out(1300, "s");
    for user in [typed_first, shown_first] {
        let verdict = judged(ls(), user, ls_at_host());
        assert_eq!(own(&verdict), [After(ms(0)), After(ms(100))]);
        assert_eq!(verdict.first_output(), [After(ms(0)), After(ms(100))]);
        assert_eq!(verdict.whole(), [After(ms(100)), After(ms(100))]);
        assert_eq!(wrongs(&verdict), []);
    }
}

#[test]
fn a_key_that_is_shown_twice_is_right_when_the_second_is_taken_back() {
    let user = ls_typed()
        .out(1100, "ll")
        .out(1150, "\x08 \x08")
        .out(1300, "s");
    let verdict = judged(ls(), user, ls_at_host());
    assert_eq!(own(&verdict), [After(ms(150)), After(ms(100))]);
    assert_eq!(verdict.whole(), [After(ms(150)), After(ms(100))]);
    let second = (cell(0, 3), 1100, 50, Some(0));
    assert_eq!(wrongs(&verdict), [(None, 1100, 50, Some(0)), second]);
    assert_eq!((verdict.keys[0].wrong, verdict.keys[1].wrong), (2, 0));
}

#[test]
fn a_key_in_a_wrong_cell_is_wrong_there_and_still_waited_for() {
    let user = ls_typed()
        .out(1100, "\x1b[3;3Hl")
        .out(1140, "\x08 \x1b[1;3Hl")
        .out(1300, "s");
    let verdict = judged(ls(), user, ls_at_host());
    assert_eq!(own(&verdict), [After(ms(140)), After(ms(100))]);
    let elsewhere = (cell(2, 2), 1100, 40, Some(0));
    assert_eq!(wrongs(&verdict), [(None, 1100, 40, Some(0)), elsewhere]);
}

#[test]
fn a_key_that_is_shown_before_it_is_typed_is_wrong_until_then() {
    let early = |at: u64| judged(ls(), ls_typed().out(at, "l").out(1300, "s"), ls_at_host());
    let verdict = early(950);
    assert_eq!(own(&verdict), [After(ms(0)), After(ms(100))]);
    // Nobody's key is to blame.
    let letter = (cell(0, 2), 950, 50, None);
    assert_eq!(wrongs(&verdict), [(None, 950, 50, None), letter]);
    assert_eq!(verdict.wrong_share(), 0.0);
    assert_eq!(verdict.keys[0].first_output, After(ms(300)));
    assert_eq!(wrongs(&early(971)), [], "29 ms are forgiven");
}

#[test]
fn a_secret_that_is_shown_is_wrong_and_hidden_it_has_no_wait() {
    let recording = side()
        .out(0, "Password: ")
        .key(1000, "x")
        .key(1200, "y")
        .key(1400, "\r")
        .out(1400, "\r\nok");
    let typed = side()
        .out(50, "Password: ")
        .key(1000, "x")
        .key(1200, "y")
        .key(1400, "\r");
    let host = recording.clone().later(50);
    let hidden = typed.clone().out(1500, "\r\nok");
    let verdict = judged(recording.clone(), hidden, host.clone());
    let waits: Vec<_> = verdict.keys.iter().map(|key| key.own).collect();
    assert_eq!(waits, [None, None, Some(After(ms(100)))]);
    assert_eq!(wrongs(&verdict), []);
    let shown = typed
        .out(1001, "x")
        .out(1101, "\x08 \x08")
        .out(1500, "\r\nok");
    let verdict = judged(recording, shown, host);
    let letter = (cell(0, 10), 1001, 100, Some(0));
    assert_eq!(wrongs(&verdict), [(None, 1001, 100, Some(0)), letter]);
    assert_eq!(verdict.keys[0].own, None);
}

#[test]
fn wrong_lines_elsewhere_leave_the_key_right_and_the_screen_wrong() {
    let shown = ls_typed()
        .out(1100, "l\x1b7\x1b[3;1Hzz\x1b8")
        .out(1300, "s");
    let mended = shown.clone().out(1500, "\x1b7\x1b[3;1H  \x1b8");
    let verdict = judged(ls(), mended, ls_at_host());
    assert_eq!(own(&verdict), [After(ms(100)), After(ms(100))]);
    assert_eq!(verdict.whole(), [After(ms(500)), After(ms(300))]);
    let there = |lasted| [0, 1].map(|column| (cell(2, column), 1100, lasted, Some(0)));
    assert_eq!(wrongs(&verdict), there(400));
    assert_eq!(verdict.differences_at_end, 0);
    // What is never mended is wrong up to the end.
    let verdict = judged(ls(), shown.out(2000, "\x07"), ls_at_host());
    assert_eq!(own(&verdict), [After(ms(100)), After(ms(100))]);
    assert_eq!(verdict.whole(), [Censored(ms(1000)), Censored(ms(800))]);
    assert_eq!(wrongs(&verdict), there(900));
    assert_eq!(verdict.differences_at_end, 2);
}

#[test]
fn an_acknowledgement_without_the_effect_is_no_answer() {
    let user = ls_typed().stamp(1100, 3).out(1150, "l").out(1300, "s");
    let verdict = judged_ls(user.stamp(1300, 4));
    assert_eq!(own(&verdict), [After(ms(150)), After(ms(100))]);
    assert_eq!(verdict.whole(), [After(ms(150)), After(ms(100))]);
    // The screen is to have what the stamp says that it has.
    let letter = (cell(0, 2), 1100, 50, Some(0));
    assert_eq!(wrongs(&verdict), [(None, 1100, 50, Some(0)), letter]);
    assert_eq!(verdict.keys[0].first_output, After(ms(100)));
}

#[test]
fn a_stamp_beyond_the_truth_and_an_older_one_change_nothing() {
    let plain = ls_typed().out(1100, "l").stamp(1100, 3).out(1300, "s");
    let expected = judged_ls(plain.clone().stamp(1300, 4));
    assert_eq!(expected.whole(), [After(ms(100)), After(ms(100))]);
    assert_eq!(judged_ls(plain.clone().stamp(1300, 4000)), expected);
    assert_eq!(judged_ls(plain.stamp(1300, 4).stamp(1300, 2)), expected);
}

#[test]
fn the_host_writes_the_wrong_screen_and_the_display_is_not_to_blame() {
    // A program draws over its own line, and mends it: true at its time, and late is not wrong.
    let recording = ls().out(1210, "\rzzzz").out(1400, "\r$ ls");
    let host = ls_at_host().out(1260, "\rzzzz").out(1450, "\r$ ls");
    let user = ls_typed()
        .out(1100, "l")
        .out(1300, "s")
        .out(1310, "\rzzzz")
        .out(1500, "\r$ ls");
    let verdict = judged(recording, user, host);
    assert_eq!(wrongs(&verdict), []);
    assert_eq!(verdict.differences_at_end, 0);
}

#[test]
fn output_that_scrolls_moves_what_is_right() {
    let recording = side()
        .out(0, "one\r\n$ ")
        .key(1000, "\r")
        .out(1000, "\r\na\r\nb\r\n$ ")
        .key(2000, "l")
        .out(2000, "l");
    let typed = side().out(50, "one\r\n$ ").key(1000, "\r").key(2000, "l");
    let host = recording.clone().later(50);
    let scrolled = typed.clone().out(1100, "\r\na\r\nb\r\n$ ").out(2100, "l");
    let verdict = judged(recording.clone(), scrolled, host.clone());
    assert_eq!(own(&verdict), [After(ms(100)), After(ms(100))]);
    assert_eq!(verdict.whole(), [After(ms(100)), After(ms(100))]);
    assert_eq!((wrongs(&verdict), verdict.differences_at_end), (vec![], 0));
    // A display that writes the lines without having scrolled: rows 0 to 2 are each one line behind, and
    // right as long as they may be late. The stamp says that they may not.
    let unscrolled = typed
        .out(1100, "\x1b[4;1H$ ")
        .stamp(1100, 15)
        .out(2100, "l")
        .stamp(2100, 16);
    let verdict = judged(recording, unscrolled, host);
    let rows: Vec<_> = verdict.wrongs.iter().map(|wrong| wrong.place).collect();
    let expected = [(0, 0), (0, 1), (0, 2), (1, 0), (2, 0)].map(|(row, column)| cell(row, column));
    assert_eq!(rows, expected);
    assert_eq!(verdict.differences_at_end, 5);
}

#[test]
fn a_wide_character_has_two_cells() {
    let recording = side()
        .out(0, "$ ")
        .key(1000, "日")
        .out(1000, "日")
        .key(2000, "\x7f")
        .out(2000, "\x08\x08  \x08\x08");
    let typed = side().out(50, "$ ").key(1000, "日").key(2000, "\x7f");
    let host = recording.clone().later(50);
    let right = typed
        .clone()
        .out(1100, "日")
        .out(2100, "\x08\x08  \x08\x08");
    let verdict = judged(recording.clone(), right, host.clone());
    assert_eq!(own(&verdict), [After(ms(100)), After(ms(100))]);
    assert_eq!(wrongs(&verdict), []);
    let truth = GroundTruth::of(&recording.clone().trace());
    let effect = &truth.keys()[0].effects[0];
    assert_eq!(
        effect.places.iter().map(|place| place.column).max(),
        Some(3)
    );
    // One column further right, left half on right half.
    let moved = typed
        .out(1100, " 日")
        .out(1150, "\r$ 日 \x08")
        .out(2100, "\x08\x08  \x08\x08");
    let verdict = judged(recording, moved, host);
    assert_eq!(own(&verdict), [After(ms(150)), After(ms(100))]);
    let cells: Vec<_> = wrongs(&verdict).iter().map(|wrong| wrong.0).collect();
    assert_eq!(cells, [None, cell(0, 3), cell(0, 4)]);
}

#[test]
fn a_window_that_grows_keeps_its_keys_right() {
    let redrawn = "\x1b[2J\x1b[H$ l";
    let recording = side()
        .out(0, "$ ")
        .key(1000, "l")
        .out(1000, "l")
        .size(2000, 30, 6)
        .out(2010, redrawn)
        .key(3000, "s")
        .out(3000, "s\x1b[6;25Hfar\x1b[1;5H");
    let host = recording.clone().later(50);
    let user = side()
        .out(50, "$ ")
        .key(1000, "l")
        .out(1100, "l")
        .size(2000, 30, 6)
        .out(2110, redrawn)
        .key(3000, "s")
        .out(3100, "s\x1b[6;25Hfar\x1b[1;5H");
    let verdict = judged(recording, user, host);
    assert_eq!(own(&verdict), [After(ms(100)), After(ms(100))]);
    assert_eq!(verdict.whole(), [After(ms(100)), After(ms(100))]);
    assert_eq!((wrongs(&verdict), verdict.differences_at_end), (vec![], 0));
}

#[test]
fn a_window_that_shrinks_was_as_large_before() {
    // The first row is broken in two when there are 10 columns only.
    for prompt in ["$ ", "a long first row\r\n$ "] {
        let recording = side()
            .out(0, prompt)
            .key(1000, "l")
            .out(1000, "l")
            .size(2000, 10, 3)
            .key(3000, "s")
            .out(3000, "s");
        let host = recording.clone().later(50);
        let user = side()
            .out(50, prompt)
            .key(1000, "l")
            .out(1100, "l")
            .size(2000, 10, 3)
            .key(3000, "s")
            .out(3100, "s");
        let end = prompt.len() + 1;
        let stamped = user.clone().stamp(1100, end).stamp(3100, end + 1);
        for user in [user, stamped] {
            let verdict = judged(recording.clone(), user, host.clone());
            assert_eq!(own(&verdict), [After(ms(100)), After(ms(100))]);
            assert_eq!(verdict.whole(), [After(ms(100)), After(ms(100))]);
            assert_eq!((wrongs(&verdict), verdict.differences_at_end), (vec![], 0));
        }
    }
}

#[test]
fn a_machine_that_sleeps_between_keys_lengthens_no_wait() {
    let hour = 3_600_000;
    let recording = ls();
    let host = side()
        .out(0, "$ ")
        .key(1050, "l")
        .out(1050, "l")
        .key(hour + 1250, "s")
        .out(hour + 1250, "s");
    let user = side()
        .out(50, "$ ")
        .key(1000, "l")
        .out(1100, "l")
        .key(hour + 1200, "s")
        .out(hour + 1300, "s");
    let verdict = judged(recording, user, host);
    assert_eq!(own(&verdict), [After(ms(100)), After(ms(100))]);
    assert_eq!(verdict.longest_stall, ms(100));
    assert_eq!(verdict.length, ms(hour + 1300));
    assert_eq!(wrongs(&verdict), []);
}

#[test]
fn a_clock_that_goes_back_makes_no_trace() {
    let record = |at: u64| Record {
        at: ms(at),
        event: Event::Host(b"x".to_vec()),
    };
    let size = Record {
        at: ms(0),
        event: Event::Size(SIZE),
    };
    let forward = vec![size.clone(), record(5), record(5)];
    assert!(Trace::new(forward).is_ok());
    assert!(Trace::new(vec![size, record(5), record(4)]).is_err());
}

#[test]
fn a_wait_that_is_still_open_at_the_end_counts_up_to_the_end_of_either_side() {
    let quiet = ls_typed().out(1100, "l");
    let verdict = judged(ls(), quiet, ls_at_host().key(4000, "\x1b[?1;2c"));
    assert_eq!(verdict.keys[1].own, Some(Censored(ms(2800))));
    assert_eq!(verdict.keys[1].first_output, Censored(ms(2800)));
    assert_eq!(
        (verdict.length, verdict.longest_stall),
        (ms(4000), ms(2800))
    );
}

#[test]
fn answers_of_terminals_are_no_keys() {
    let user = ls_typed()
        .key(1050, "\x1b[?1;2c")
        .out(1100, "l")
        .out(1300, "s");
    let verdict = judged(ls(), user, ls_at_host());
    assert_eq!(verdict.keys.len(), 2);
    assert_eq!(own(&verdict), [After(ms(100)), After(ms(100))]);
}

#[test]
fn a_key_that_is_lost_is_missing_at_the_host_and_on_the_screen() {
    let host = side().out(0, "$ ").key(1250, "s");
    let verdict = judged(ls(), ls_typed().out(2000, "\x07"), host);
    assert_eq!((verdict.delivery.lost, verdict.delivery.received), (1, 1));
    assert!(!verdict.delivery.is_faithful());
    assert_eq!(own(&verdict), [Censored(ms(1000)), Censored(ms(800))]);
}

#[test]
fn a_display_that_never_showed_a_true_screen_settles_nothing() {
    let user = side().key(1000, "l").key(1200, "s").out(60, "# ");
    let verdict = judged(ls(), user, ls_at_host());
    assert!(!verdict.is_settled);
    assert_eq!((wrongs(&verdict), own(&verdict).len()), (vec![], 2));
}

#[test]
fn a_notice_hides_its_row_and_no_other() {
    let notice = "\x1b7\x1b[1;1H\x1b[2Kfulmar: no answer\x1b[2;1Hzz\x1b8";
    let user = ls_typed()
        .out(1050, notice)
        .out(1300, "\x1b[2;1H  \x1b[1;1H\x1b[2K$ ls");
    let verdict = judged(ls(), user, ls_at_host());
    let below = [0, 1].map(|column| (cell(1, column), 1050, 250, Some(0)));
    assert_eq!(wrongs(&verdict), below);
}

#[test]
fn what_is_shown_wrong_in_the_moment_of_a_press_is_of_that_key() {
    let user = ls_typed()
        .out(1100, "l")
        .out(1200, "x")
        .out(1250, "\x08s")
        .out(1300, "\x07");
    let verdict = judged_ls(user);
    assert_eq!(wrongs(&verdict), [(cell(0, 3), 1200, 50, Some(1))]);
}

#[test]
fn what_a_stamp_has_told_an_older_one_does_not_take_back() {
    let user = ls_typed()
        .out(1100, "l")
        .out(1300, "s")
        .stamp(1300, 4)
        .out(1400, "\x08 \x08")
        .stamp(1400, 2)
        .out(1450, "s");
    let vanished = (cell(0, 3), 1400, 50, Some(1));
    let verdict = judged_ls(user);
    assert_eq!(wrongs(&verdict), [(None, 1400, 50, Some(1)), vanished]);
}

/// The cells of the effect of each key, if it has one.
fn effects(recording: Side) -> Vec<Option<Vec<(u16, u16)>>> {
    let truth = GroundTruth::of(&recording.trace());
    let places = |effect: &KeyEffect<OutputPosition>| {
        let places = effect.places.iter();
        places.map(|place| (place.row, place.column)).collect()
    };
    let keys = truth.keys().iter();
    keys.map(|key| key.effects.first().map(places)).collect()
}

#[test]
fn an_effect_ends_where_its_burst_does() {
    let key = || side().out(0, "$ ").key(1000, "a");
    assert_eq!(effects(key().out(1250, "a")), [Some(vec![(0, 2)])]);
    assert_eq!(effects(key().out(1251, "a")), [None]);
    let second = |at| effects(key().out(1001, "a").out(at, "b"));
    assert_eq!(second(1020), [Some(vec![(0, 2), (0, 3)])]);
    assert_eq!(second(1021), [Some(vec![(0, 2)])]);
}

#[test]
fn an_effect_is_on_the_rows_before_and_behind_the_cursor() {
    let moved = side().out(0, "$ ").key(1000, "x").out(1000, "x\r\ny");
    assert_eq!(effects(moved), [Some(vec![(0, 2), (1, 0)])]);
}

#[test]
fn a_key_is_ignored_from_20_ms_to_the_next_on() {
    let next = |at| {
        let keys = side().out(0, "$ ").key(1000, "a").key(at, "b");
        let effects = effects(keys.out(1030, "ab"));
        effects.iter().map(Option::is_some).collect::<Vec<_>>()
    };
    assert_eq!(next(1019), [true, true]);
    assert_eq!(next(1020), [false, true]);
}

#[test]
fn half_of_an_answer_is_no_answer() {
    let recording = side()
        .out(0, "$ ")
        .key(1000, "x")
        .out(1000, "a")
        .out(1010, "b");
    let host = recording.clone().later(50);
    let user = side()
        .out(50, "$ ")
        .key(1000, "x")
        .out(1100, "a")
        .out(1150, "b");
    let verdict = judged(recording, user, host);
    assert_eq!(own(&verdict), [After(ms(150))]);
    assert_eq!(verdict.whole(), [After(ms(150))]);
}

#[test]
fn enter_has_a_second_effect_only_where_more_follows_its_newline() {
    let count = |answer: &str, key: &str| {
        let recording = side().out(0, "$ ").key(1000, key).out(1000, answer);
        GroundTruth::of(&recording.trace()).keys()[0].effects.len()
    };
    assert_eq!(count("\r\n", "\r"), 1);
    assert_eq!(count("\r\nab", "\r"), 2);
    assert_eq!(count("\r\nab", "\n"), 2);
    assert_eq!(count("\r\nab", "x"), 1);
}
