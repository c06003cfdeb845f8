use super::*;
use proptest::prelude::*;

/// The keys of `reads`, each of which follows the one before at once.
fn keys_of(reads: &[&[u8]]) -> Vec<Key> {
    keys(reads, true)
}

fn keys(reads: &[&[u8]], at_once: bool) -> Vec<Key> {
    let strokes = strokes_of(reads, at_once);
    strokes.iter().map(|stroke| stroke.key).collect()
}

fn strokes_of(reads: &[&[u8]], at_once: bool) -> Vec<Keystroke> {
    let mut keyboard = KeyParser::default();
    let mut out = Vec::new();
    let mut first = 0;
    for read in reads {
        keyboard.read(at_once, first, read, &mut out);
        first += read.len() as u64;
    }
    out
}

#[test]
fn a_key_in_kittys_form_is_the_key_of_the_old_one() {
    for (new, old) in [
        (&b"\x1b[97u"[..], &b"a"[..]),
        (b"\x1b[97;;97u", b"a"),
        (b"\x1b[97;1:2u", b"a"),
        (b"\x1b[97;129u", b"a"),
        (b"\x1b[97;2u", b"A"),
        (b"\x1b[97:65;2;65u", b"A"),
        (b"\x1b[47:63;2u", b"?"),
        (b"\x1b[32;2u", b" "),
        (b"\x1b[233u", "é".as_bytes()),
        (b"\x1b[13u", b"\r"),
        (b"\x1b[9u", b"\t"),
        (b"\x1b[27u", b"\x1b"),
        (b"\x1b[127u", b"\x7f"),
        (b"\x1b[127;3u", b"\x1b\x7f"),
        (b"\x1b[119;5u", b"\x17"),
        (b"\x1b[32;5u", b"\0"),
        (b"\x1b[98;3u", b"\x1bb"),
        (b"\x1b[1;1:1D", b"\x1b[D"),
        (b"\x1b[1;5:2D", b"\x1b[1;5D"),
        (b"\x1b[3;129~", b"\x1b[3~"),
        (b"\x1b[57400;;49u", b"1"),
        // As xterm's modifyOtherKeys has it.
        (b"\x1b[27;5;119~", b"\x17"),
        (b"\x1b[27;2;63~", b"?"),
    ] {
        let shown = new.escape_ascii();
        assert_eq!(keys_of(&[new]), keys_of(&[old]), "{shown}");
    }
    for silent in [
        &b"\x1b[97;1:3u"[..],
        b"\x1b[1;1:3A",
        b"\x1b[57441u",
        b"\x1b[57441;2:3u",
    ] {
        assert_eq!(
            keys_of(&[silent]),
            [Key::Silent],
            "{}",
            silent.escape_ascii()
        );
    }
    for other in [
        &b"\x1b[47;2u"[..],
        b"\x1b[97;65u",
        b"\x1b[13;2u",
        b"\x1b[127;5u",
        b"\x1b[119;6u",
        b"\x1b[97;9u",
        b"\x1b[57376u",
        b"\x1b[101;;101:769u",
        b"\x1b[0u",
        b"\x1b[4294967295u",
    ] {
        assert_eq!(keys_of(&[other]), [Key::Other], "{}", other.escape_ascii());
    }
}

#[test]
fn every_form_of_a_key_is_that_key() {
    let table: &[(&[u8], Key)] = &[
        (b"a", Key::Text('a')),
        (b" ", Key::Text(' ')),
        ("é".as_bytes(), Key::Text('é')),
        ("漢".as_bytes(), Key::Text('漢')),
        ("🚀".as_bytes(), Key::Text('🚀')),
        ("\u{301}".as_bytes(), Key::Text('\u{301}')),
        (b"\x7f", Key::Backspace),
        (b"\x08", Key::Control('h')),
        (b"\r", Key::Enter),
        (b"\n", Key::Control('j')),
        (b"\t", Key::Tab),
        (b"\x00", Key::Control('@')),
        (b"\x01", Key::Control('a')),
        (b"\x1a", Key::Control('z')),
        (b"\x1f", Key::Control('_')),
        (b"\x1b", Key::Escape),
        (b"\x1bb", Key::Alt('b')),
        (b"\x1b.", Key::Alt('.')),
        (b"\x1b\x7f", Key::AltBackspace),
        (b"\x1b\x08", Key::AltBackspace),
        (b"\x1b\r", Key::Other),
        (b"\x1b[A", Key::Up),
        (b"\x1bOA", Key::Up),
        (b"\x1b[B", Key::Down),
        (b"\x1bOB", Key::Down),
        (b"\x1b[C", Key::Right),
        (b"\x1bOC", Key::Right),
        (b"\x1b[D", Key::Left),
        (b"\x1bOD", Key::Left),
        (b"\x1b[H", Key::Home),
        (b"\x1bOH", Key::Home),
        (b"\x1b[1~", Key::Home),
        (b"\x1b[7~", Key::Home),
        (b"\x1b[F", Key::End),
        (b"\x1bOF", Key::End),
        (b"\x1b[4~", Key::End),
        (b"\x1b[8~", Key::End),
        (b"\x1b[3~", Key::Delete),
        (b"\x1b[1;1D", Key::Left),
        (b"\x1b[1;5D", Key::WordLeft),
        (b"\x1b[1;3D", Key::WordLeft),
        (b"\x1bOd", Key::WordLeft),
        (b"\x1b[1;5C", Key::WordRight),
        (b"\x1b[1;3C", Key::WordRight),
        (b"\x1bOc", Key::WordRight),
        (b"\x1b[1;2D", Key::Other),
        (b"\x1b[3;5~", Key::Other),
        (b"\x1b[2~", Key::Other),
        (b"\x1b[5~", Key::Other),
        (b"\x1b[Z", Key::Other),
        (b"\x1bOP", Key::Other),
        (b"\x1bO5P", Key::Other),
        (b"\x1bOM", Key::Other),
        (b"\x1b[15~", Key::Other),
        (b"\x1b[1;5R", Key::Other),
        (b"\x1b[[A", Key::Other),
        (b"\x1b[97;5u", Key::Control('a')),
        (b"\x1b[27;5;106~", Key::Control('j')),
        (b"\xff", Key::Other),
        (b"\xc2\x85", Key::Other),
    ];
    for (bytes, key) in table {
        assert_eq!(keys_of(&[bytes]), [*key], "{}", bytes.escape_ascii());
    }
}

#[test]
fn some_keys_without_a_rule_leave_the_line() {
    let keep = [
        Key::Tab,
        Key::Up,
        Key::Delete,
        Key::Control('l'),
        Key::Control('y'),
        Key::Alt('b'),
    ];
    assert!(keep.iter().all(|key| key.keeps_line()));
    let end = [
        Key::Escape,
        Key::Enter,
        Key::Other,
        Key::Paste,
        Key::Control('c'),
        Key::Control('d'),
        Key::Control('x'),
        Key::Control('z'),
        Key::Control('r'),
        Key::Alt('x'),
    ];
    assert!(!end.iter().any(|key| key.keeps_line()));
}

#[test]
fn what_the_terminal_writes_is_no_key() {
    let table: &[(&[u8], Key)] = &[
        (b"\x1b[?1;2c", Key::Reply),
        (b"\x1b[>41;354;0c", Key::Reply),
        (b"\x1b[24;80R", Key::Reply),
        (b"\x1b[?24;80R", Key::Reply),
        (b"\x1b[0n", Key::Reply),
        (b"\x1b[8;24;80t", Key::Reply),
        (b"\x1b[?2004;1$y", Key::Reply),
        (b"\x1b[?1u", Key::Reply),
        (b"\x1b[I", Key::Reply),
        (b"\x1b[O", Key::Reply),
        (b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\", Key::Reply),
        (b"\x1b]52;c;aGVsbG8=\x07", Key::Reply),
        (b"\x1bP>|xterm(390)\x1b\\", Key::Reply),
        (b"\x1b_Gi=1;OK\x1b\\", Key::Reply),
        (b"\x1b[M !!", Key::Mouse),
        (b"\x1b[M \xe0\xff", Key::Mouse),
        (b"\x1b[<0;10;5M", Key::Mouse),
        (b"\x1b[<0;10;5m", Key::Mouse),
        (b"\x1b[<64;10;5M", Key::Mouse),
        (b"\x1b[32;10;5M", Key::Mouse),
    ];
    for (bytes, key) in table {
        let name = bytes.escape_ascii();
        assert_eq!(keys_of(&[bytes]), [*key], "{name}");
        assert!(!key.is_key());
        // Cut anywhere but behind ESC, which is a key when it ends a read.
        for cut in 2..bytes.len() {
            let (left, right) = bytes.split_at(cut);
            assert_eq!(keys_of(&[left, right]), [*key], "{name} at {cut}");
        }
        let behind_escape = keys_of(&[&bytes[..1], &bytes[1..]]);
        assert_eq!(behind_escape[0], Key::Escape);
        if bytes[1] == b'[' {
            assert_eq!(behind_escape[1..], [*key], "{name}");
        }
    }
}

#[test]
fn a_sequence_goes_on_in_the_next_read() {
    assert_eq!(keys_of(&[b"\x1b[", b"A"]), [Key::Up]);
    assert_eq!(keys_of(&[b"\x1bO", b"A"]), [Key::Up]);
    assert_eq!(
        keys_of(&[b"\x1b[1;", b"5Dx"]),
        [Key::WordLeft, Key::Text('x')]
    );
    assert_eq!(keys_of(&[b"\xe6", b"\xbc", b"\xa2"]), [Key::Text('漢')]);
    // The key was told; what follows is known to nobody.
    assert_eq!(
        keys_of(&[b"\x1b", b"[A", b"x"]),
        [Key::Escape, Key::Other, Key::Text('x')]
    );
    assert_eq!(keys_of(&[b"\x1b", b"OA"]), [Key::Escape, Key::Other]);
}

#[test]
fn a_sequence_does_not_wait_for_a_later_read() {
    assert_eq!(
        keys(&[b"\x1b", b"Oab"], false),
        [Key::Escape, Key::Text('O'), Key::Text('a'), Key::Text('b')]
    );
    assert_eq!(keys(&[b"\x1b", b":"], false), [Key::Escape, Key::Text(':')]);
    assert_eq!(
        keys(&[b"\x1b[", b"A"], false),
        [Key::Alt('['), Key::Text('A')]
    );
    assert_eq!(
        keys(&[b"\x1bO", b"A"], false),
        [Key::Alt('O'), Key::Text('A')]
    );
    assert_eq!(
        keys(&[b"\x1b]", b"ls\x07"], false)[1..3],
        [Key::Text('l'), Key::Text('s')]
    );
    assert_eq!(keys(&[b"\xe6\xbc", b"\xa2"], false), [Key::Text('漢')]);
}

#[test]
fn escape_followed_by_another_key_is_told() {
    assert_eq!(keys_of(&[b"\x1b", b":"]), [Key::Escape, Key::Text(':')]);
    assert_eq!(keys_of(&[b"\x1b", b"]"]), [Key::Escape, Key::Text(']')]);
    assert_eq!(keys_of(&[b"\x1b\x1b"]), [Key::Escape, Key::Escape]);
    assert_eq!(keys_of(&[b"\x1b\x1b[A"]), [Key::Escape, Key::Up]);
}

#[test]
fn a_broken_sequence_ends_where_something_else_begins() {
    assert_eq!(
        keys_of(&[b"\x1b[1\rx"]),
        [Key::Other, Key::Enter, Key::Text('x')]
    );
    assert_eq!(keys_of(&[b"\x1b[1\x1b[A"]), [Key::Other, Key::Up]);
    assert_eq!(keys_of(&[b"\xe6\xbcA"]), [Key::Other, Key::Text('A')]);
    assert_eq!(keys_of(&[b"\x1b]1\x1b[A"]), [Key::Reply, Key::Up]);
    assert_eq!(
        keys_of(&[b"\x1b]1\rx"]),
        [Key::Other, Key::Enter, Key::Text('x')]
    );
}

#[test]
fn a_paste_is_never_taken_for_keys() {
    let paste = b"\x1b[200~ls -l\r\x1b[A secret\x1b[201~";
    assert_eq!(keys_of(&[paste, b"x"]), [Key::Paste, Key::Text('x')]);
    for cut in 2..paste.len() {
        let (left, right) = paste.split_at(cut);
        let keys = keys_of(&[left, right, b"x"]);
        let (last, pieces) = keys.split_last().unwrap();
        assert_eq!(*last, Key::Text('x'), "at {cut}");
        assert!(pieces.iter().all(|key| *key == Key::Paste), "at {cut}");
    }
    // However long it takes.
    assert_eq!(
        keys(&[b"\x1b[200~ls", b"pwd", b"\x1b[201~"], false),
        [Key::Paste; 3]
    );
}

#[test]
fn the_end_of_a_paste_is_found_behind_its_own_beginning() {
    assert_eq!(
        keys_of(&[b"\x1b[200~a\x1b[20\x1b[201~b"]),
        [Key::Paste, Key::Text('b')]
    );
    assert_eq!(
        keys_of(&[b"\x1b[200~a\x1b[201\x1b[201~b"]),
        [Key::Paste, Key::Text('b')]
    );
}

#[test]
fn keystrokes_say_which_bytes_they_are() {
    let strokes = strokes_of(&[b"a\x1b", b"[A\xe6", b"\xbc\xa2\x1b[D"], true);
    let places: Vec<_> = strokes
        .iter()
        .map(|it| (it.key, it.start, it.end))
        .collect();
    assert_eq!(
        places,
        [
            (Key::Text('a'), 0, 1),
            (Key::Escape, 1, 2),
            (Key::Other, 2, 4),
            (Key::Text('漢'), 4, 7),
            (Key::Left, 7, 10),
        ]
    );
}

proptest! {
    /// Whatever comes, in whatever pieces: every byte belongs to at most one key, in order.
    #[test]
    fn any_bytes_are_keys_in_order(
        reads in prop::collection::vec(
            (any::<bool>(), prop::collection::vec(
                prop_oneof![Just(0x1b), Just(b'['), Just(b'O'), Just(b'M'), Just(b'2'), Just(b'0'),
                    Just(b'~'), Just(b';'), Just(b']'), Just(0x07), any::<u8>()], 0..12)),
            0..12),
    ) {
        let mut keyboard = KeyParser::default();
        let mut out = Vec::new();
        let mut first = 0;
        for (at_once, read) in &reads {
            keyboard.read(*at_once, first, read, &mut out);
            first += read.len() as u64;
        }
        let mut last = 0;
        for stroke in &out {
            prop_assert!(stroke.start >= last && stroke.end > stroke.start, "{out:?}");
            last = stroke.end;
        }
        prop_assert!(last <= first);
    }

    /// Keys of one read each are the same when they come together, escape left out.
    #[test]
    fn keys_may_come_together(picks in prop::collection::vec(0..8_usize, 0..20)) {
        const FORMS: [&[u8]; 8] = [
            b"x", b"\x1b[A", b"\x1bOB", b"\x7f", b"\x1bb", "漢".as_bytes(), b"\x1b[200~x\x1b[201~", b"\r",
        ];
        let reads: Vec<&[u8]> = picks.iter().map(|&pick| FORMS[pick]).collect();
        let together = reads.concat();
        prop_assert_eq!(keys(&reads, false), keys_of(&[&together]));
    }
}
