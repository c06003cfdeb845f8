//! The user's view from moment to moment, and the verdicts on it.

use super::*;

#[test]
fn there_is_a_moment_for_each_event() {
    let recording = recording(SHELL);
    let session = session(&recording);
    let view = PredictorKind::None.view(&session);
    let times = |view: &UserView<'_>| view.moments.iter().map(|one| one.at).collect::<Vec<_>>();
    let events: Vec<Duration> = session.events.iter().map(|event| event.at).collect();
    assert_eq!(times(&view), events);
    assert!(
        view.moments
            .is_sorted_by_key(|moment| (moment.at, moment.typed))
    );
    // The client's own has one for each time at which anything happened or was shown.
    let client = times(&PredictorKind::Client.view(&session));
    assert!(client.is_sorted_by(|one, next| one < next));
    assert!(events.iter().all(|event| client.contains(event)));
}

#[test]
fn there_is_a_moment_for_each_timer() {
    let recording = recording(SHELL);
    let session = session(&recording);
    let draw = |_: usize, snapshot: &mut ScreenSnapshot| {
        snapshot.set(at(3, 3), CellLook::BLANK.with('z'));
    };
    let view = UserView::of(&session, &mut Fake::new(ms(37), draw));
    for key in 0..4 {
        let first = view.moment_of(key);
        let pressed = view.moments[first].at;
        let is_drawn = |moment: &ViewSample<'_>| moment.drawn.snapshot.text(3) == "   z";
        let later = &view.moments[first..];
        let gone = later.iter().find(|moment| !is_drawn(moment)).unwrap();
        assert_eq!(gone.at, pressed + ms(37), "{key}");
        let before = first.checked_sub(1).map(|last| &view.moments[last]);
        assert!(before.is_none_or(|moment| moment.typed == key && !is_drawn(moment)));
    }
}

#[test]
fn bytes_belong_to_keys() {
    let trace = b"0 SIZE 20 4\n50000 HOST 2\n$ \n1000000 USER 5\nl\x1b[Ax\n1500000 USER 1\ny\n";
    let recording = recording(trace);
    let session = session(&recording);
    let view = PredictorKind::None.view(&session);
    // The start of the program has four.
    let keys = [3, 4, 5, 6, 7, 8, 9, 99].map(|byte| view.key_of(byte));
    let expected = [
        None,
        Some(0),
        Some(1),
        Some(1),
        Some(1),
        Some(2),
        Some(3),
        Some(3),
    ];
    assert_eq!(keys, expected);
    // Keys of one read were typed at one moment.
    let moments = [0, 1, 2, 3].map(|key| view.moment_of(key));
    assert!(moments[0] == moments[2] && moments[2] < moments[3]);
}

#[test]
fn frames_say_what_the_server_had() {
    let recording = recording(SHELL);
    let session = session(&recording);
    let frames = session.events.iter().filter_map(|event| match &event.what {
        SessionEventKind::Frame(frame) => Some(frame),
        SessionEventKind::Input(_) => None,
    });
    let frames: Vec<&ServerFrame> = frames.map(|frame| &**frame).collect();
    for (frame, next) in frames.iter().zip(&frames[1..]) {
        assert!(frame.number <= next.number && frame.update.received <= next.update.received);
        assert!(frame.update.echoed <= next.update.echoed);
    }
    for frame in &frames {
        assert!(frame.update.echoed <= frame.update.received);
        assert!(
            recording
                .truth
                .snapshot(frame.number)
                .is_same(&frame.snapshot)
        );
    }
    // Four bytes of the start, and four keys.
    let last = frames[frames.len() - 1];
    assert_eq!((last.update.received, last.update.echoed), (8, 8));
    assert_eq!(last.number, recording.truth.end());
}

#[test]
fn a_session_of_which_something_is_missing_is_not_whole() {
    let recording = recording(SHELL);
    assert!(session(&recording).is_whole);
    let mut cut = recording;
    let longer = [SHELL, b"2020000 HOST 4\nmore\n"].concat();
    cut.truth = RecordedTruth::of(&Trace::parse(&longer).unwrap(), None);
    let session = PredictionSession::run(&cut, LINK, 1, None).unwrap();
    assert!(!session.is_whole);
}

#[test]
fn a_cursor_that_a_program_draws_is_rendered_for_the_judge() {
    let trace = b"0 SIZE 20 4\n50000 HOST 16\n\x1b[?25l$ \x1b[7m \x1b[m\n1000000 USER 1\na\n\
        1001000 HOST 13\n\x1b[3Ga\x1b[7m \x1b[m\n";
    let recording = recording(trace);
    let session = session(&recording);
    let truth = crate::judge::GroundTruth::of(&recording.trace);
    let verdict = judged(
        &recording,
        &truth,
        &session,
        &PredictorKind::None.view(&session),
    );
    let verdict = verdict.unwrap();
    assert!(verdict.own()[0].came().is_some(), "{:?}", verdict.own());
    assert_eq!((verdict.differences_at_end, verdict.wrongs.len()), (0, 0));
}

#[test]
fn a_second_line_will_not_do_for_enter() {
    // Enter's answer begins with a word on its own row, then there are two lines.
    let trace =
        b"0 SIZE 20 4\n50000 HOST 2\n$ \n1000000 USER 1\n\r\n1001000 HOST 10\nok\r\na\r\nb\r\n\n";
    let recording = recording(trace);
    let part = &recording.truth.keys()[0].effects[1];
    let snapshot = recording.truth.snapshot(part.after);
    assert_eq!(
        (snapshot.text(0), snapshot.text(1)),
        ("$ ok".to_owned(), String::new())
    );
    assert_eq!(part.places, [at(0, 2), at(0, 3)]);
    let shows = |rows: &'static [&'static str], cursor: CellPosition| {
        let draw = move |_: usize, snapshot: &mut ScreenSnapshot| {
            for (row, text) in (0..).zip(rows) {
                for (column, character) in (0..).zip(text.chars()) {
                    snapshot.set(at(row, column), CellLook::BLANK.with(character));
                }
            }
            snapshot.cursor.place = cursor;
        };
        is_at_once(scored(&recording, &mut Fake::new(ms(60), draw)).waits[0])
    };
    assert!(shows(&["$ ok"], at(1, 0)), "the first line");
    assert!(shows(&["$ ok", "a", "b"], at(3, 0)), "all of it");
    assert!(!shows(&["$ ok", "a"], at(2, 0)));
    assert!(!shows(&["$ "], at(0, 2)), "nothing");
}

#[test]
fn keys_that_are_late_or_wrong_are_explained_and_counted_by_class() {
    let recording = recording(SHELL);
    let text = explain(&recording, LINK, 1, PredictorKind::None).unwrap();
    assert!(
        text.starts_with("test over 100 ms, seed 1, none\nkey 0 at "),
        "{text}"
    );
    for line in [
        " s print “l”, late 1",
        " s backspace “\\x7f”, late 1",
        "    typed  true row 0 |$ l| cursor 0,3\n    typed shown row 0 |$| cursor 0,2\n",
        "    typed frame row 0 |$ l| cursor 0,3\n",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    let classes = "class        keys  seen  instant  wrong\n\
        backspace       1     1        0      0\n\
        enter           1     1        0      0\n\
        print           2     2        0      0\n\
        instant 0.0 %, wrong 0.00 %, mean ";
    assert!(text.contains(classes), "{text}");
    assert!(!text.contains("WRONG") && !text.contains("LEAK"), "{text}");
}

#[test]
fn leaks_are_explained_with_the_rows_that_show_them() {
    let text = explain(&secret(), LINK, 1, PredictorKind::Everything).unwrap();
    for line in [
        " s of keys {0}\n",
        " s of keys {0, 1}\n",
        "    row 0 shown |pw: a| frame |pw:|\n",
        "WRONG ",
        ", leaks 3 of 3\n",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
}

#[test]
fn a_session_begins_with_the_screen_of_the_start_and_keys_know_the_state_before_them() {
    let session = session(&recording(SHELL));
    assert!(matches!(session.events[0].what, SessionEventKind::Frame(_)));
    let keys = session.events.iter().filter_map(|event| match &event.what {
        SessionEventKind::Input(UserInput::Keys(keys)) => Some(keys),
        _ => None,
    });
    let states: Vec<(usize, u64)> = keys.map(|keys| (keys.key, keys.sent_state)).collect();
    // The start itself is no key, and it was sent in a state.
    assert_eq!(states.len(), 4);
    assert!(states[0].1 > 0, "{states:?}");
    assert!(
        states.is_sorted_by(|one, next| one.0 < next.0 && one.1 < next.1),
        "{states:?}"
    );
}
