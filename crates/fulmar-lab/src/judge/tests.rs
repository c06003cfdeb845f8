//! Timelines made by hand.

use super::*;
use crate::stats::Observation;
use crate::trace::{Event, Record, Size, Trace};
use Observation::{After, Censored};
use serde_json::json;
use std::time::Duration;

mod properties;
mod renderings;
mod sessions;

const SIZE: Size = Size {
    columns: 20,
    rows: 4,
};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The keys and the output of one side, with times in milliseconds.
#[derive(Clone, Default)]
struct Side(Vec<(u64, Event)>);

impl Side {
    fn key(mut self, at: u64, bytes: &str) -> Self {
        self.0.push((at, Event::User(bytes.into())));
        self
    }

    fn out(mut self, at: u64, bytes: &str) -> Self {
        self.0.push((at, Event::Host(bytes.into())));
        self
    }

    fn size(mut self, at: u64, columns: u16, rows: u16) -> Self {
        self.0.push((at, Event::Size(Size { columns, rows })));
        self
    }

    /// This and then that, where both have something at one time.
    fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    fn stamp(self, at: u64, position: usize) -> Self {
        self.out(at, &Stamp(position).sequence())
    }

    fn trace(mut self) -> Trace {
        self.0.insert(0, (0, Event::Size(SIZE)));
        self.0.sort_by_key(|(at, _)| *at);
        let record = |(at, event)| Record { at: ms(at), event };
        Trace::new(self.0.into_iter().map(record).collect()).unwrap()
    }

    /// All of this so much later.
    fn later(mut self, by: u64) -> Self {
        for (at, _) in &mut self.0 {
            *at += by;
        }
        self
    }
}

fn side() -> Side {
    Side::default()
}

/// The verdict on a run of `recording` over a path of 100 ms in all, at the host at once.
fn judged(recording: Side, user_side: Side, host_side: Side) -> RunVerdict {
    judged_over(50, recording, user_side, host_side)
}

fn judged_over(
    one_way_delay: u64,
    recording: Side,
    user_side: Side,
    host_side: Side,
) -> RunVerdict {
    let truth = GroundTruth::of(&recording.trace());
    let run = ObservedRun {
        truth: &truth,
        user_side: &user_side.trace(),
        host_side: &host_side.trace(),
        one_way_delay: ms(one_way_delay),
        may_predict: true,
    };
    run.judge().unwrap()
}

fn own(verdict: &RunVerdict) -> Vec<Observation> {
    verdict.own()
}

/// A prompt, and two letters that are echoed at once.
fn ls() -> Side {
    side()
        .out(0, "$ ")
        .key(1000, "l")
        .out(1000, "l")
        .key(1200, "s")
        .out(1200, "s")
}

/// The host's side of it when keys take 50 ms.
fn ls_at_host() -> Side {
    side()
        .out(0, "$ ")
        .key(1050, "l")
        .out(1050, "l")
        .key(1250, "s")
        .out(1250, "s")
}

fn ls_typed() -> Side {
    side().key(1000, "l").key(1200, "s").out(50, "$ ")
}

#[test]
fn an_echo_takes_as_long_as_the_path() {
    let user = ls_typed().out(1100, "l").out(1300, "s");
    let verdict = judged(ls(), user, ls_at_host());
    assert_eq!(own(&verdict), [After(ms(100)), After(ms(100))]);
    assert_eq!(verdict.whole(), [After(ms(100)), After(ms(100))]);
    assert_eq!(verdict.first_output(), [After(ms(100)), After(ms(100))]);
    assert_eq!((verdict.wrongs.len(), verdict.differences_at_end), (0, 0));
    assert!(verdict.is_settled && !verdict.is_stamped && verdict.delivery.is_faithful());
}

#[test]
fn a_right_guess_is_right_at_once_and_confirmed_later() {
    let user = ls_typed().out(1002, "l").out(1203, "s");
    let stamped = user.clone().stamp(1100, 3).stamp(1340, 4);
    let verdict = judged(ls(), stamped, ls_at_host());
    assert_eq!(own(&verdict), [After(ms(2)), After(ms(3))]);
    assert_eq!(verdict.whole(), [After(ms(100)), After(ms(140))]);
    assert!(verdict.is_stamped && verdict.wrongs.is_empty());
    // Without stamps the answer counts as seen as soon as it can be there.
    let verdict = judged(ls(), user, ls_at_host());
    assert_eq!(own(&verdict), [After(ms(2)), After(ms(3))]);
    assert_eq!(verdict.whole(), [After(ms(100)), After(ms(100))]);
}

#[test]
fn a_screen_of_a_peer_that_predicts_nothing_is_confirmed_before_its_stamp() {
    let truth = GroundTruth::of(&ls().trace());
    let user = ls_typed().out(1101, "l").out(1302, "s").stamp(1390, 4);
    let whole = |may_predict| {
        let run = ObservedRun {
            truth: &truth,
            user_side: &user.clone().trace(),
            host_side: &ls_at_host().trace(),
            one_way_delay: Duration::ZERO,
            may_predict,
        };
        run.judge().unwrap().whole()
    };
    assert_eq!(whole(false), [After(ms(101)), After(ms(102))]);
    assert_eq!(whole(true), [After(ms(390)), After(ms(190))]);
}

/// A run in which a wrong letter stands where `l` belongs, for so long.
fn wrong_for(millis: u64) -> RunVerdict {
    let user = ls_typed()
        .out(1001, "x")
        .out(1001 + millis, "\x08l")
        .out(1300, "s");
    judged(ls(), user, ls_at_host())
}

#[test]
fn a_cell_that_is_wrong_for_29_ms_is_forgiven() {
    let verdict = wrong_for(29);
    assert_eq!((verdict.wrongs.len(), verdict.wrong_share()), (0, 0.0));
    assert_eq!(own(&verdict), [After(ms(30)), After(ms(100))]);
    assert_eq!(wrong_for(30).wrongs.len(), 1);
}

#[test]
fn a_cell_that_is_wrong_for_31_ms_is_charged_to_its_key() {
    let verdict = wrong_for(31);
    let wrong = WrongInterval {
        place: Some(CellPosition { row: 0, column: 2 }),
        since: ms(1001),
        lasted: ms(31),
        key: Some(0),
    };
    assert_eq!(verdict.wrongs, [wrong]);
    assert_eq!((verdict.keys[0].wrong, verdict.keys[1].wrong), (1, 0));
    assert!((verdict.wrong_share() - 0.5).abs() < 1e-9);
    assert_eq!(own(&verdict), [After(ms(32)), After(ms(100))]);
}

/// A letter, and one that the program's suggestion does not agree with. The user sees the second one in a row that ends
/// with `rest`, until the answer comes so much later.
fn spliced_for(millis: u64, rest: &str) -> RunVerdict {
    let suggested = "l\x1b[90ms -a\x1b[m\x1b[1;4H";
    let recording = side()
        .out(0, "$ ")
        .key(1000, "l")
        .out(1000, suggested)
        .key(1300, "x")
        .out(1300, "x\x1b[K");
    let host = side()
        .out(0, "$ ")
        .key(1050, "l")
        .out(1050, suggested)
        .key(1350, "x")
        .out(1350, "x\x1b[K");
    let user = side()
        .key(1000, "l")
        .key(1300, "x")
        .out(50, "$ ")
        .out(1100, suggested)
        .out(1302, &format!("x{rest}"))
        .out(1302 + millis, "\x1b[K");
    judged(recording, user, host)
}

#[test]
fn a_row_whose_parts_are_of_several_screens_is_wrong_at_the_cursor() {
    let verdict = spliced_for(31, "");
    let wrong: Vec<_> = verdict
        .wrongs
        .iter()
        .map(|one| (one.place, one.key))
        .collect();
    assert_eq!(wrong, [(Some(CellPosition::new(0, 4)), Some(1))]);
    assert_eq!(spliced_for(29, "").wrongs, []);
    // Without what was suggested it is right.
    assert_eq!(spliced_for(31, "\x1b[K").wrongs, []);
}

#[test]
fn a_cursor_at_a_wrong_place_is_wrong() {
    let user = ls_typed()
        .out(1001, "\x1b[3;9H")
        .out(1100, "\x1b[1;3Hl")
        .out(1300, "s");
    let verdict = judged(ls(), user, ls_at_host());
    let places: Vec<_> = verdict.wrongs.iter().map(|wrong| wrong.place).collect();
    assert_eq!(places, [None]);
    // One that is hidden is not.
    let user = ls_typed()
        .out(1001, "\x1b[?25l\x1b[3;9H")
        .out(1100, "\x1b[?25h\x1b[1;3Hl")
        .out(1300, "s");
    assert!(judged(ls(), user, ls_at_host()).wrongs.is_empty());
}

#[test]
fn a_skipped_state_counts_when_the_next_one_has_its_effect() {
    let user = ls_typed().out(1350, "ls");
    let verdict = judged(ls(), user, ls_at_host());
    assert_eq!(own(&verdict), [After(ms(350)), After(ms(150))]);
    assert_eq!(verdict.whole(), [After(ms(350)), After(ms(150))]);
    assert!(verdict.wrongs.is_empty());
}

#[test]
fn a_letter_typed_ahead_of_the_keys_is_wrong() {
    // `s` is not yet typed: nobody can know it.
    let user = ls_typed().out(1001, "ls").out(1100, "\x08").out(1300, "s");
    let verdict = judged(ls(), user, ls_at_host());
    let wrongs: Vec<_> = verdict
        .wrongs
        .iter()
        .map(|wrong| (wrong.place, wrong.lasted, wrong.key))
        .collect();
    let letter = Some(CellPosition { row: 0, column: 3 });
    assert_eq!(
        wrongs,
        [(None, ms(99), Some(0)), (letter, ms(199), Some(0))]
    );
}

/// A letter and its backspace, 100 ms apart.
fn slip() -> Side {
    side()
        .out(0, "$ ")
        .key(1000, "x")
        .out(1000, "x")
        .key(1100, "\x7f")
        .out(1100, "\x08 \x08")
}

fn slip_at_host() -> Side {
    side()
        .out(0, "$ ")
        .key(1250, "x")
        .out(1250, "x")
        .key(1350, "\x7f")
        .out(1350, "\x08 \x08")
}

fn slip_typed() -> Side {
    side().out(50, "$ ").key(1000, "x").key(1100, "\x7f")
}

#[test]
fn a_key_and_its_backspace_are_not_right_because_nothing_has_happened_yet() {
    // The display stands still until the echo, and looks as it should in the end all the while.
    let user = slip_typed().out(1500, "x").out(1600, "\x08 \x08");
    for user in [user.clone(), user.stamp(1500, 3).stamp(1600, 6)] {
        let verdict = judged_over(250, slip(), user, slip_at_host());
        assert_eq!(own(&verdict), [After(ms(500)), After(ms(500))]);
        assert_eq!(verdict.whole(), [After(ms(500)), After(ms(500))]);
        assert!(verdict.wrongs.is_empty());
    }
}

#[test]
fn a_key_and_its_backspace_are_right_when_both_were_shown_at_once() {
    let user = slip_typed().out(1002, "x").out(1103, "\x08 \x08");
    for user in [user.clone(), user.stamp(1500, 3).stamp(1600, 6)] {
        let verdict = judged_over(250, slip(), user, slip_at_host());
        assert_eq!(own(&verdict), [After(ms(2)), After(ms(3))]);
        assert!(verdict.wrongs.is_empty());
    }
}

#[test]
fn a_key_and_its_backspace_that_a_frame_skipped_are_right_with_the_frame() {
    // The frame changes nothing, so only a stamp can tell when it came.
    let user = slip_typed().stamp(1640, 6);
    let verdict = judged_over(250, slip(), user, slip_at_host());
    assert_eq!(own(&verdict), [After(ms(640)), After(ms(540))]);
    assert_eq!(verdict.whole(), [After(ms(640)), After(ms(540))]);
    // Without one it is the time at which it can have come.
    let verdict = judged_over(250, slip(), slip_typed(), slip_at_host());
    assert_eq!(own(&verdict), [After(ms(600)), After(ms(500))]);
}

#[test]
fn slips_in_a_row_are_told_apart() {
    let times = [1000, 1100, 1200, 1300];
    let keys = ["x", "\x7f", "x", "\x7f"];
    let echoes = ["x", "\x08 \x08", "x", "\x08 \x08"];
    let mut recording = side().out(0, "$ ");
    let mut typed = side().out(50, "$ ");
    let mut host = side().out(0, "$ ");
    for (number, at) in times.into_iter().enumerate() {
        recording = recording.key(at, keys[number]).out(at, echoes[number]);
        host = host
            .key(at + 250, keys[number])
            .out(at + 250, echoes[number]);
        typed = typed.key(at, keys[number]);
    }
    let positions = [3, 6, 7, 10];
    for (delay, is_stamped) in [
        (1, false),
        (500, false),
        (1, true),
        (500, true),
        (900, true),
    ] {
        let mut user = typed.clone();
        for (number, at) in times.into_iter().enumerate() {
            user = user.out(at + delay, echoes[number]);
            if is_stamped {
                user = user.stamp(at + delay.max(500), positions[number]);
            }
        }
        let verdict = judged_over(250, recording.clone(), user, host.clone());
        assert_eq!(own(&verdict), [After(ms(delay)); 4], "{delay} {is_stamped}");
        assert!(verdict.wrongs.is_empty());
    }
}

#[test]
fn a_key_that_is_never_shown_is_censored() {
    let user = ls_typed().out(1100, "l").out(3000, "\x07");
    let verdict = judged(ls(), user, ls_at_host());
    assert_eq!(own(&verdict), [After(ms(100)), Censored(ms(1800))]);
    assert_eq!(verdict.whole(), [After(ms(100)), Censored(ms(1800))]);
    assert_eq!(verdict.keys[1].first_output, After(ms(1800)));
    assert_eq!(verdict.differences_at_end, 1);
    assert_eq!(verdict.longest_stall, ms(1800));
}

#[test]
fn a_key_without_effect_is_left_out_of_the_waits() {
    let recording = ls().key(1400, "\x07").key(2000, "x").out(2900, "late");
    let verdict = judged(
        recording,
        ls_typed().key(1400, "\x07").key(2000, "x"),
        ls_at_host(),
    );
    assert_eq!(verdict.keys.len(), 4);
    assert_eq!((verdict.keys[2].own, verdict.keys[3].own), (None, None));
    assert_eq!(own(&verdict).len(), 2);
}

#[test]
fn a_key_that_was_ignored_has_not_the_effect_of_the_next() {
    // A secret, and Enter: the new line belongs to Enter alone.
    let recording = side()
        .out(0, "Password: ")
        .key(1000, "x")
        .key(1100, "y")
        .key(1200, "\r")
        .out(1200, "\r\n");
    let effects = |recording: Side| -> Vec<bool> {
        let truth = GroundTruth::of(&recording.trace());
        truth
            .keys()
            .iter()
            .map(GroundTruthKey::has_effect)
            .collect()
    };
    assert_eq!(effects(recording), [false, false, true]);
    // Keys that come in one go are answered in one go.
    let pasted = side()
        .out(0, "$ ")
        .key(1000, "ls")
        .key(1010, "x")
        .out(1020, "lsx");
    assert_eq!(effects(pasted), [true, true, true]);
}

#[test]
fn late_is_not_wrong_and_gone_back_is() {
    let verdict = judged(ls(), ls_typed().out(9000, "ls"), ls_at_host());
    assert!(verdict.wrongs.is_empty());
    // A letter that the display had for certain vanishes.
    let user = ls_typed()
        .out(1100, "l")
        .out(1300, "s")
        .out(1400, "\x08 \x08")
        .out(1500, "s");
    let verdict = judged(ls(), user, ls_at_host());
    let places: Vec<_> = verdict.wrongs.iter().map(|wrong| wrong.place).collect();
    assert_eq!(places, [None, Some(CellPosition { row: 0, column: 3 })]);
}

#[test]
fn the_new_line_of_enter_will_do() {
    let recording = side()
        .out(0, "$ ")
        .key(1000, "\r")
        .out(1000, "\r\n")
        .out(1010, "abc\r\n$ ");
    let host = recording.clone().later(50);
    let user = side()
        .out(50, "$ ")
        .key(1000, "\r")
        .out(1001, "\r\n")
        .out(1110, "abc\r\n$ ");
    let verdict = judged(recording, user, host);
    assert_eq!(own(&verdict), [After(ms(1))]);
    assert_eq!(verdict.whole(), [After(ms(110))]);
}

#[test]
fn what_happens_elsewhere_does_not_keep_a_guess_from_being_right() {
    // A clock in the last row ticks before the key; the guess comes before the tick is seen.
    let clock = "\x1b7\x1b[4;1H12:00\x1b8";
    let recording = ls().out(1190, clock);
    let host = ls_at_host().out(1190, clock);
    let user = ls_typed().out(1100, "l").out(1201, "s").out(1245, clock);
    let verdict = judged(recording, user, host);
    assert_eq!(own(&verdict), [After(ms(100)), After(ms(1))]);
    assert!(verdict.wrongs.is_empty(), "{:?}", verdict.wrongs);
}

#[test]
fn grey_text_behind_the_cursor_is_not_asked_for() {
    let recording = side()
        .out(0, "$ ")
        .key(1000, "l")
        .out(1000, "l\x1b[90ms -l\x1b[m\x1b[4D");
    let host = recording.clone().later(50);
    let user = side()
        .out(50, "$ ")
        .key(1000, "l")
        .out(1001, "l")
        .out(1100, "\x1b[90ms -l\x1b[m\x1b[4D");
    let verdict = judged(recording, user, host);
    assert_eq!(own(&verdict), [After(ms(1))]);
    assert_eq!(verdict.whole(), [After(ms(100))]);
}

#[test]
fn a_notice_of_the_peer_is_not_wrong_and_covers_what_is_right() {
    let notice = "\x1b7\x1b[1;1H\x1b[2Kmosh: Last contact\x1b8";
    let user = ls_typed()
        .out(1050, notice)
        .out(1300, "\x1b[1;1H\x1b[2K$ ls");
    let verdict = judged(ls(), user, ls_at_host());
    assert!(verdict.wrongs.is_empty(), "{:?}", verdict.wrongs);
    assert_eq!(own(&verdict), [After(ms(300)), After(ms(100))]);
    let other = "\x1b7\x1b[1;1H\x1b[2Ksome thing else\x1b8";
    let user = ls_typed()
        .out(1050, other)
        .out(1300, "\x1b[1;1H\x1b[2K$ ls");
    assert!(!judged(ls(), user, ls_at_host()).wrongs.is_empty());
}

#[test]
fn the_longest_stall_is_the_longest_time_without_an_answer_to_anything() {
    let recording = side()
        .out(0, "$ ")
        .key(1000, "a")
        .out(1000, "a")
        .key(1100, "b")
        .out(1100, "b")
        .key(5000, "c")
        .out(5000, "c");
    let host = recording.clone().later(50);
    let user = side()
        .out(50, "$ ")
        .key(1000, "a")
        .key(1100, "b")
        .key(5000, "c")
        .out(1400, "a")
        .out(1700, "b")
        .out(5350, "c");
    let verdict = judged(recording, user, host);
    // 1000 to 1400, 1400 to 1700, 5000 to 5350; nobody waits from 1700 to 5000.
    assert_eq!(verdict.longest_stall, ms(400));
}

#[test]
fn what_came_before_the_play_is_not_judged() {
    let login = side().key(10, "\r").out(20, "Welcome\r\nready");
    let user = login.0.into_iter().chain(
        ls_typed()
            .later(1000)
            .out(1040, "\x1b[2J\x1b[H")
            .out(2100, "l")
            .out(2300, "s")
            .0,
    );
    let mut host = ls_at_host().later(1000).trace().records().to_vec();
    host[0].at = ms(1000);
    let truth = GroundTruth::of(&ls().trace());
    let run = ObservedRun {
        truth: &truth,
        user_side: &Side(user.collect()).trace(),
        host_side: &Trace::new(host).unwrap(),
        one_way_delay: ms(50),
        may_predict: true,
    };
    let verdict = run.judge().unwrap();
    assert_eq!(own(&verdict), [After(ms(100)), After(ms(100))]);
    assert!(verdict.wrongs.is_empty(), "{:?}", verdict.wrongs);
}

#[test]
fn a_run_of_another_recording_is_refused() {
    let refused = |user: Side, host: Side| {
        let truth = GroundTruth::of(&ls().trace());
        let run = ObservedRun {
            truth: &truth,
            user_side: &user.trace(),
            host_side: &host.trace(),
            one_way_delay: ms(50),
            may_predict: true,
        };
        run.judge().unwrap_err()
    };
    let others = side().key(1000, "l").key(1200, "a");
    assert_eq!(refused(others, ls_at_host()), JudgeError::OtherKey(1));
    assert_eq!(
        refused(ls_typed(), side().out(0, "# ")),
        JudgeError::OtherOutput(0)
    );
    assert_eq!(refused(side(), ls_at_host()), JudgeError::NoKeys);
}

#[test]
fn a_verdict_says_what_it_knows() {
    let verdict = RunVerdict {
        keys: vec![
            KeyVerdict {
                typed: ms(1000),
                own: Some(After(Duration::from_micros(1500))),
                whole: Some(Censored(ms(80))),
                first_output: After(ms(1)),
                wrong: 1,
            },
            KeyVerdict {
                typed: ms(1010),
                own: None,
                whole: None,
                first_output: Censored(ms(70)),
                wrong: 0,
            },
        ],
        wrongs: vec![
            WrongInterval {
                place: Some(CellPosition::new(3, 7)),
                since: ms(1001),
                lasted: ms(40),
                key: Some(0),
            },
            WrongInterval {
                place: None,
                since: Duration::from_micros(1_002_500),
                lasted: ms(31),
                key: None,
            },
        ],
        delivery: Delivery::compare(b"ab", b"a"),
        longest_stall: ms(80),
        length: ms(1080),
        is_stamped: true,
        is_settled: true,
        differences_at_end: 0,
        screens_not_restored: 2,
    };
    let expected = json!({
        "length_ms": 1080.0, "is_stamped": true, "is_settled": true, "longest_stall_ms": 80.0,
        "differences_at_end": 0, "screens_not_restored": 2,
        "delivery": { "typed": 2, "received": 1, "lost": 0, "doubled": 0, "reordered": 0,
            "strange": 0, "under_way": 1 },
        "keys": [
            { "typed_ms": 1000.0, "own": { "ms": 1.5 }, "whole": { "ms": 80.0, "censored": true },
                "first_output": { "ms": 1.0 }, "wrong": 1 },
            { "typed_ms": 1010.0, "own": null, "whole": null,
                "first_output": { "ms": 70.0, "censored": true }, "wrong": 0 },
        ],
        "wrongs": [
            { "place": [3, 7], "since_ms": 1001.0, "lasted_ms": 40.0, "key": 0 },
            { "place": "cursor", "since_ms": 1002.5, "lasted_ms": 31.0, "key": null },
        ],
    });
    assert_eq!(serde_json::to_value(&verdict).unwrap(), expected);
    assert_eq!(
        serde_json::from_value::<RunVerdict>(expected).unwrap(),
        verdict
    );
}

#[test]
fn no_other_word_is_a_place() {
    let place = |place: &str| {
        let text = format!(r#"{{"place": {place}, "since_ms": 1, "lasted_ms": 2, "key": 3}}"#);
        serde_json::from_str::<WrongInterval>(&text).map(|wrong| wrong.place)
    };
    assert_eq!(place("[1, 2]").unwrap(), Some(CellPosition::new(1, 2)));
    assert_eq!(place(r#""cursor""#).unwrap(), None);
    for other in [r#""mouse""#, "null", "[1]", "[1, 2, 3]", "[-1, 2]", "7"] {
        assert!(place(other).is_err(), "{other}");
    }
}
