//! Changes to a run that leave its verdict as it is.

use super::*;

/// Sessions in which something is late, wrong, predicted, stamped, scrolled or missing.
fn sessions() -> Vec<[Side; 3]> {
    let lines = "\r\na\r\nb\r\n$ ";
    let scrolled = side()
        .out(0, "one\r\n$ ")
        .key(1000, "\r")
        .out(1000, lines)
        .key(2000, "l")
        .out(2000, "l");
    let scrolled_host = scrolled.clone().later(50);
    let scrolled_typed = side()
        .out(50, "one\r\n$ ")
        .key(1000, "\r")
        .key(2000, "l")
        .out(1120, lines)
        .out(2003, "l");
    let users = [
        ls_typed().out(1100, "l").out(1300, "s"),
        ls_typed().out(1350, "ls"),
        ls_typed().out(1002, "l").out(1203, "s"),
        ls_typed().out(1002, "l").out(1203, "s").stamp(1340, 4),
        ls_typed().out(1001, "x").out(1060, "\x08l").out(1300, "s"),
        ls_typed().out(1100, "l").out(3000, "\x07"),
        ls_typed().stamp(1100, 3).out(1150, "l").out(1300, "s"),
        ls_typed().out(950, "l").out(1400, "s"),
    ];
    let slips = [
        slip_typed().out(1500, "x").out(1600, "\x08 \x08"),
        slip_typed().out(1002, "x").out(1103, "\x08 \x08"),
        slip_typed().stamp(1640, 6),
    ];
    let users = users.map(|user| [ls(), user, ls_at_host()]);
    let slips = slips.map(|user| [slip(), user, slip_at_host()]);
    let scrolled = [scrolled, scrolled_typed, scrolled_host];
    users.into_iter().chain(slips).chain([scrolled]).collect()
}

#[test]
fn another_zero_of_the_clocks_changes_no_verdict() {
    for (number, [recording, user, host]) in sessions().into_iter().enumerate() {
        let verdict = judged(recording.clone(), user.clone(), host.clone());
        let later = |side: Side, by: u64| {
            let mut records = side.trace().records().to_vec();
            for record in &mut records {
                record.at += ms(by);
            }
            Trace::new(records).unwrap()
        };
        for (recorded, run) in [(0, 70_000), (70_000, 0), (123, 456_789)] {
            let truth = GroundTruth::of(&later(recording.clone(), recorded));
            let shifted = ObservedRun {
                truth: &truth,
                user_side: &later(user.clone(), run),
                host_side: &later(host.clone(), run),
                one_way_delay: ms(50),
                may_predict: true,
            };
            assert_eq!(shifted.judge().unwrap(), verdict, "session {number}");
        }
    }
}

/// The verdict without what counts output itself.
fn without_output(mut verdict: RunVerdict) -> RunVerdict {
    for key in &mut verdict.keys {
        key.first_output = After(ms(0));
    }
    verdict
}

#[test]
fn a_frame_that_changes_nothing_changes_no_verdict() {
    for (number, [recording, user, host]) in sessions().into_iter().enumerate() {
        let verdict = judged(recording.clone(), user.clone(), host.clone());
        let last = u64::try_from(verdict.length.as_millis()).unwrap();
        let verdict = without_output(verdict);
        for at in (0..=last).step_by(47) {
            let user = user.clone().out(at, "\x1b[m");
            let with_frame = judged(recording.clone(), user, host.clone());
            let with_frame = without_output(with_frame);
            assert_eq!(with_frame, verdict, "session {number}, frame at {at}");
        }
    }
}

#[test]
fn output_that_comes_in_pieces_is_judged_as_a_whole() {
    for (number, [recording, user, host]) in sessions().into_iter().enumerate() {
        let verdict = judged(recording.clone(), user.clone(), host.clone());
        let cut = |side: Side| {
            let records = side.0.into_iter().flat_map(|(at, event)| match event {
                Event::Host(bytes) => bytes
                    .iter()
                    .map(|byte| (at, Event::Host(vec![*byte])))
                    .collect(),
                other => vec![(at, other)],
            });
            Side(records.collect())
        };
        let in_pieces = judged(recording.clone(), cut(user.clone()), host.clone());
        assert_eq!(in_pieces, verdict, "session {number}");
        let at_host = judged(recording, user, cut(host));
        assert_eq!(at_host, verdict, "session {number}");
    }
}

#[test]
fn two_sessions_in_a_row_have_the_verdicts_of_each() {
    let clear = "\x1b[2J\x1b[H";
    for (number, [recording, user, host]) in sessions().into_iter().enumerate() {
        let recording = side().out(0, clear).and(recording);
        let host = side().out(0, clear).and(host);
        let user = side().out(50, clear).and(user);
        let alone = judged(recording.clone(), user.clone(), host.clone());
        let is_over = |key: &KeyVerdict| matches!(key.own, Some(After(_)));
        let is_nobodys = alone.wrongs.iter().any(|wrong| wrong.key.is_none());
        if alone.is_stamped || is_nobodys || !alone.keys.iter().all(is_over) {
            // Stamps count from the beginning; what was never shown, or was before any key, the other
            // session can show or cause.
            continue;
        }
        let twice = |side: Side| side.clone().and(side.later(10_000));
        let both = judged(twice(recording), twice(user), twice(host));
        let (first, second) = both.keys.split_at(alone.keys.len());
        assert_eq!(first, alone.keys, "session {number}");
        for (key, again) in alone.keys.iter().zip(second) {
            let typed = key.typed + ms(10_000);
            assert_eq!(
                *again,
                KeyVerdict {
                    typed,
                    ..key.clone()
                },
                "session {number}"
            );
        }
        assert_eq!(
            both.wrongs.len(),
            2 * alone.wrongs.len(),
            "session {number}"
        );
        assert_eq!(both.longest_stall, alone.longest_stall, "session {number}");
    }
}

#[test]
fn what_is_shown_later_is_waited_for_longer() {
    for delay in [1, 29, 77, 1000, 60_000] {
        let user = ls_typed().out(1100 + delay, "l").out(1300 + delay, "s");
        let verdict = judged(ls(), user, ls_at_host());
        assert_eq!(own(&verdict), [After(ms(100 + delay)); 2], "{delay}");
        assert_eq!(verdict.whole(), [After(ms(100 + delay)); 2], "{delay}");
        assert_eq!(verdict.wrongs, []);
    }
}
