use super::*;

const ANSWER: &[u8] = b"\x1b[?62;22c";

fn ms(millis: u64) -> Time {
    Time::from_origin(Duration::from_millis(millis))
}

fn reader(group: u32) -> TtyReader {
    TtyReader {
        group: Some(group),
        flush_keys: [Some(3), None, Some(26)],
        unread: Some(0),
        ..TtyReader::default()
    }
}

fn lines(group: u32) -> TtyReader {
    TtyReader {
        is_canonical: true,
        ..reader(group)
    }
}

/// Answers that wait, from a program of group 7 that is read by `reader`.
fn asked(count: usize, reader: TtyReader) -> PtyReplies {
    let mut replies = PtyReplies::default();
    replies.note_reader(ms(0), reader);
    replies.push(ms(0), 0, &ANSWER.repeat(count));
    replies
}

#[test]
fn answers_are_taken_apart() {
    for (all, parts) in [
        (b"".as_slice(), vec![]),
        (b"\x1b[0n", vec![b"\x1b[0n".as_slice()]),
        (b"\x1b[0n\x1b[1;1R", vec![b"\x1b[0n", b"\x1b[1;1R"]),
        (
            b"\x1bP>|x\x1b\\\x1b[c\x1bP0$r\x1b\\",
            vec![b"\x1bP>|x\x1b\\", b"\x1b[c", b"\x1bP0$r\x1b\\"],
        ),
    ] {
        assert_eq!(each(all).collect::<Vec<_>>(), parts);
    }
}

#[test]
fn whoever_asks_and_reads_keys_is_answered_at_once() {
    let mut replies = asked(1, reader(7));
    assert_eq!(replies.front(0), ANSWER);
    assert_eq!(replies.due(), None);
    replies.take(ANSWER.len());
    assert_eq!(replies.front(0), b"");
}

#[test]
fn answers_wait_for_the_keys_before_them() {
    let mut replies = PtyReplies::default();
    replies.push(ms(0), 5, ANSWER);
    assert_eq!(
        (replies.front(4), replies.keys_before(3)),
        (b"".as_slice(), Some(2))
    );
    assert_eq!(
        (replies.front(5), replies.keys_before(5)),
        (ANSWER, Some(0))
    );
}

#[test]
fn there_are_64_kib_of_them_at_most() {
    let mut replies = PtyReplies::default();
    let kib = [b"\x1b[".as_slice(), &[b'1'; 1021], b"R"].concat();
    replies.push(ms(0), 0, &kib.repeat(64));
    assert_eq!(
        (replies.bytes.len(), replies.dropped()),
        (REPLY_BYTES_MAX, 0)
    );
    replies.push(ms(0), 0, b"\x1b[0n");
    assert_eq!(
        (replies.bytes.len(), replies.dropped()),
        (REPLY_BYTES_MAX, 1)
    );
    replies.take(1024);
    replies.push(ms(0), 0, b"\x1b[0n");
    assert_eq!(replies.dropped(), 1);
}

#[test]
fn those_that_wait_are_for_whoever_had_the_foreground() {
    for (after, kept) in [
        (reader(7), true),
        (reader(8), false),
        // Nobody has it, or it is not known: that is not another one …
        (
            TtyReader {
                group: None,
                ..reader(7)
            },
            true,
        ),
    ] {
        let mut replies = asked(1000, reader(7));
        replies.note_reader(ms(1), after);
        assert_eq!(!replies.front(0).is_empty(), kept, "{after:?}");
        // … and not forgotten over it.
        replies.note_reader(ms(2), reader(8));
        assert_eq!((replies.front(0), replies.bytes.len()), (b"".as_slice(), 0));
        assert_eq!(replies.dropped(), 1000);
    }
}

#[test]
fn an_answer_that_was_begun_is_ended_and_the_others_are_not() {
    let mut replies = asked(3, reader(7));
    replies.take(ANSWER.len() + 4);
    replies.note_reader(ms(1), lines(8));
    assert_eq!(replies.front(0), &ANSWER[4..]);
    replies.take(ANSWER.len() - 4);
    assert_eq!((replies.front(0), replies.dropped()), (b"".as_slice(), 1));
}

#[test]
fn who_reads_lines_is_answered_once_it_reads_keys() {
    let mut replies = asked(1, lines(7));
    assert_eq!(
        (replies.front(0), replies.keys_before(0)),
        (b"".as_slice(), None)
    );
    assert!(replies.due().is_some());
    replies.note_reader(ms(499), reader(7));
    assert_eq!(replies.front(0), ANSWER);
    assert_eq!(replies.due(), None);
}

#[test]
fn and_not_if_it_never_does() {
    for late in [reader(7), lines(7)] {
        let mut replies = asked(1, lines(7));
        replies.note_reader(ms(499), lines(7));
        assert_eq!(replies.dropped(), 0);
        replies.note_reader(ms(500), late);
        assert_eq!((replies.dropped(), replies.due()), (1, None));
        // What is asked later waits for itself.
        replies.push(ms(501), 0, ANSWER);
        replies.note_reader(ms(502), reader(7));
        assert_eq!(replies.front(0), ANSWER);
    }
}

#[test]
fn few_lie_unread_in_the_terminal() {
    let mut replies = asked(1000, reader(7));
    let first = replies.front(0).len();
    assert!((UNREAD_BYTES_MAX..UNREAD_BYTES_MAX + ANSWER.len()).contains(&first));
    assert_eq!(first % ANSWER.len(), 0);
    replies.take(first);
    let unread = |unread| TtyReader {
        unread: Some(unread),
        ..reader(7)
    };
    replies.note_reader(ms(1), unread(first));
    assert_eq!(replies.front(0), b"");
    assert!(replies.wants_unread() && replies.due().is_some());
    // Some may be underway to where they are counted; in line mode they do not count.
    replies.note_reader(ms(2), unread(1));
    assert_eq!(replies.front(0), b"");
    replies.note_reader(ms(3), lines(7));
    replies.note_reader(ms(4), unread(first));
    assert_eq!(replies.front(0), b"");
    replies.note_reader(ms(5), unread(0));
    assert_eq!(replies.front(0).len(), first);
}

#[test]
fn a_system_that_does_not_tell_what_is_unread_has_read_it() {
    let mut replies = asked(1000, reader(7));
    for _ in 0..10 {
        let length = replies.front(0).len();
        assert!(length > 0);
        replies.take(length);
        replies.note_reader(
            ms(1),
            TtyReader {
                unread: None,
                ..reader(7)
            },
        );
    }
}

#[test]
fn an_interrupt_drops_them_as_the_terminal_does() {
    for (key, kept) in [(3, 0), (26, 0), (28, 10), (b'c', 10)] {
        let mut replies = asked(10, reader(7));
        replies.keys_taken(ms(1), [b'x', key].iter());
        assert_eq!(replies.waiting.len(), kept, "{key}");
    }
}

#[test]
fn an_interrupted_program_is_answered_once_it_has_gone_on_for_250_ms() {
    let mut replies = asked(0, reader(7));
    replies.keys_taken(ms(1000), [3].iter());
    replies.push(ms(1001), 0, ANSWER);
    replies.note_reader(ms(1249), reader(7));
    assert_eq!(replies.front(0), b"");
    assert!(replies.due().is_some());
    replies.note_reader(ms(1250), reader(7));
    assert_eq!(replies.front(0), ANSWER);
}

#[test]
fn and_never_if_it_asks_in_line_mode_or_ends() {
    for (while_asking, after, dropped) in [
        (lines(7), reader(7), 1),
        (reader(7), reader(8), 1),
        (reader(7), reader(7), 0),
    ] {
        let mut replies = asked(0, while_asking);
        replies.keys_taken(ms(1000), [3].iter());
        replies.push(ms(1001), 0, ANSWER);
        replies.note_reader(ms(1002), after);
        assert_eq!(replies.dropped(), dropped, "{after:?}");
    }
    // Whoever comes then is answered at once.
    let mut replies = asked(0, reader(7));
    replies.keys_taken(ms(1000), [3].iter());
    replies.note_reader(ms(1001), reader(8));
    replies.push(ms(1002), 0, ANSWER);
    assert_eq!(replies.front(0), ANSWER);
}

#[test]
fn a_terminal_is_looked_at_less_and_less_often_while_nobody_reads() {
    let mut replies = asked(1000, reader(7));
    let taken = replies.front(0).len();
    replies.take(taken);
    let (mut now, mut looks) = (ms(0), 0);
    while now < ms(10_000) {
        let reader = TtyReader {
            unread: Some(taken),
            ..reader(7)
        };
        replies.note_reader(now, reader);
        now = replies.due().expect("they wait");
        looks += 1;
    }
    assert!((40..100).contains(&looks), "{looks}");
}

#[test]
fn what_may_be_asked_by_either_of_two_programs_is_answered_if_it_is_little() {
    for (count, kept) in [(MIXED_REPLIES_MAX, true), (MIXED_REPLIES_MAX + 1, false)] {
        let mut replies = asked(0, reader(7));
        replies.note_reader(ms(1), reader(8));
        replies.push(ms(1), 0, &ANSWER.repeat(count));
        assert_eq!(!replies.front(0).is_empty(), kept, "{count}");
        // However the output is cut into turns.
        let mut replies = asked(0, reader(7));
        replies.note_reader(ms(1), reader(8));
        (0..count).for_each(|_| replies.push(ms(1), 0, ANSWER));
        assert_eq!(replies.dropped(), u64::from(!kept));
        // What is asked after it is asked by the second.
        replies.note_drained();
        replies.push(ms(2), 0, &ANSWER.repeat(count));
        assert_eq!(replies.dropped(), u64::from(!kept));
    }
}

#[test]
fn whoever_is_given_a_line_may_start_a_program_that_nobody_sees() {
    let after_enter = |count, millis: u64, group| {
        let mut replies = asked(0, reader(7));
        replies.keys_taken(ms(1000), b"ls\r".iter());
        // The echo is there, and then what the program has written.
        replies.note_drained();
        replies.note_reader(ms(1000 + millis), reader(group));
        replies.note_drained();
        replies.push(ms(1000 + millis), 0, &ANSWER.repeat(count));
        replies.dropped()
    };
    assert_eq!(after_enter(MIXED_REPLIES_MAX, 249, 7), 0);
    assert_eq!(after_enter(MIXED_REPLIES_MAX + 1, 249, 7), 33);
    assert_eq!(after_enter(MIXED_REPLIES_MAX + 1, 250, 7), 0);
    assert_eq!(after_enter(MIXED_REPLIES_MAX + 1, 249, 8), 0);
}
