use fulmar_terminal::{CursorShape, ModeFlags, MouseEncoding, MouseMode, Position};

use crate::{after, screen};

#[test]
fn flags_are_set_and_reset() {
    for (number, flag) in [
        (1, ModeFlags::APPLICATION_CURSOR),
        (5, ModeFlags::REVERSE_SCREEN),
        (6, ModeFlags::ORIGIN),
        (7, ModeFlags::AUTO_WRAP),
        (66, ModeFlags::APPLICATION_KEYPAD),
        (1004, ModeFlags::FOCUS_REPORTS),
        (1007, ModeFlags::ALTERNATE_SCROLL),
        (2004, ModeFlags::BRACKETED_PASTE),
        (2026, ModeFlags::SYNCHRONIZED),
    ] {
        assert!(
            after(&format!("\x1b[?{number}h"))
                .screen()
                .modes()
                .has(flag),
            "{number}"
        );
        let bytes = format!("\x1b[?{number}h\x1b[?{number}l");
        assert!(!after(&bytes).screen().modes().has(flag), "{number}");
    }
}

#[test]
fn a_program_in_the_middle_of_a_frame_is_known() {
    assert!(after("\x1b[?2026h").screen().is_synchronized());
    assert!(!after("\x1b[?2026h\x1b[?2026l").screen().is_synchronized());
}

#[test]
fn the_mouse_has_one_mode_and_one_encoding() {
    let mouse = |bytes: &str| {
        let terminal = after(bytes);
        let modes = terminal.screen().modes();
        (modes.mouse, modes.mouse_encoding)
    };
    assert_eq!(
        mouse("\x1b[?1000h"),
        (MouseMode::Click, MouseEncoding::Bytes)
    );
    assert_eq!(
        mouse("\x1b[?1000;1003;1006h"),
        (MouseMode::Motion, MouseEncoding::Sgr)
    );
    assert_eq!(
        mouse("\x1b[?1003h\x1b[?1000l"),
        (MouseMode::Off, MouseEncoding::Bytes)
    );
    assert_eq!(
        mouse("\x1b[?1006h\x1b[?1015l"),
        (MouseMode::Off, MouseEncoding::Bytes)
    );
}

#[test]
fn the_cursor_is_shown_hidden_and_shaped() {
    assert!(!after("\x1b[?25l").screen().cursor().visible);
    assert!(after("\x1b[?25l\x1b[?25h").screen().cursor().visible);
    assert!(after("\x1b[?25l\x1bc").screen().cursor().visible);
    assert_eq!(
        after("\x1b[4 q").screen().cursor().shape,
        CursorShape::SteadyUnderline
    );
    assert_eq!(
        after("\x1b[4 q\x1b[7 q").screen().cursor().shape,
        CursorShape::SteadyUnderline
    );
    assert_eq!(
        after("\x1b[4 q\x1b[ q").screen().cursor().shape,
        CursorShape::Default
    );
    assert_eq!(
        after("\x1b[?12h").screen().cursor().shape,
        CursorShape::Default
    );
}

#[test]
fn the_alternate_screen_comes_blank_and_leaves_the_primary_as_it_was() {
    screen("ab\nc│d", "\x1b[?1049hxyz", "\n xyz│");
    screen("ab\nc│d", "\x1b[?1049hxyz\x1b[?1049l", "ab\nc│d");
    screen("ab\nc│d", "\x1b[?1047hxyz\x1b[?1047l", "ab\ncd  │");
    screen("ab\nc│d", "\x1b[?1047hxyz\x1b[?1047l\x1b[?1047h", "\n    │");
    screen("ab\nc│d", "\x1b[?47hxyz\x1b[?47l\x1b[?47h", "\n xyz│");
    screen("ab\nc│d", "\x1b[?1048h\x1b[H\x1b[?1048l", "ab\nc│d");
    assert!(after("\x1b[?1049h").screen().is_alternate());
    assert!(!after("\x1b[?1049h\x1bc").screen().is_alternate());
}

#[test]
fn a_line_feed_in_new_line_mode_returns_the_carriage() {
    screen("ab│", "\x1b[20h\n", "ab\n│");
    screen("ab│", "\x1b[20h\x1b[20l\n", "ab\n  │");
}

#[test]
fn a_program_can_ask_for_an_older_terminal() {
    let level = |bytes: &str| {
        let replies = after(&format!("{bytes}\x1bP$q\"p\x1b\\")).take_replies();
        let text = String::from_utf8(replies).expect("ASCII");
        let report = text.strip_prefix("\x1bP1$r").expect("a report");
        report[..2].parse::<u16>().expect("a level")
    };
    for number in 61..=64 {
        assert_eq!(level(&format!("\x1b[{number};1\"p")), number);
        assert_eq!(level(&format!("\x1b[{number}\"p\x1b[!p")), number);
        assert_eq!(level(&format!("\x1b[{number}\"p\x1bc")), 64);
    }
    for refused in ["\x1b[60\"p", "\x1b[65\"p", "\x1b[\"p"] {
        assert_eq!(level(&format!("\x1b[62\"p{refused}")), 62, "{refused:?}");
    }
    // A soft reset, and nothing of the text goes.
    let terminal = after("\x1b[4hab\x1b[62\"p");
    assert!(!terminal.screen().modes().has(ModeFlags::INSERT));
    screen("a│b", "\x1b[4h\x1b[62\"p", "a│b");
    // Margins at the sides are those of a VT420.
    screen("a│b", "\x1b[63\"p\x1b[?69h\x1b[3;5s\x1b[H\x1b[u", "a│b");
    screen("a│b", "\x1b[63\"p\x1b[64\"p\x1b[?69h\x1b[3;5s", "│ab");
}

#[test]
fn backspace_goes_back_over_a_wrap_where_asked_to() {
    let wrapped = format!("{}y\x08\x08", "x".repeat(80));
    assert_eq!(
        after(&wrapped).screen().cursor().position,
        Position::new(1, 0)
    );
    let asked = after(&format!("\x1b[?45h{wrapped}"));
    assert_eq!(asked.screen().cursor().position, Position::new(0, 79));
    for (count, place) in [(1, (1, 0)), (2, (0, 79)), (3, (0, 78)), (200, (0, 0))] {
        let asked = after(&format!("\x1b[?45h{}y\x1b[{count}D", "x".repeat(80)));
        let (row, column) = place;
        assert_eq!(
            asked.screen().cursor().position,
            Position::new(row, column),
            "{count}"
        );
    }
}

#[test]
fn the_cursor_goes_back_over_any_row_where_asked_to() {
    for (bytes, row, column) in [
        ("\x1b[5;1H\x08", 4, 80),
        ("\x1b[1;1H\x08", 24, 80),
        ("\x1b[5;3H\x1b[10D", 4, 73),
        ("\x1b[5;3H\x1b[5000D", 14, 43),
        ("\x1b[?7l\x1b[5;1H\x08", 5, 1),
        ("\x1b[1;80Hx\x1b[D", 1, 80),
        ("\x1b[1;80Hx\x1b[3D", 1, 78),
        ("\x1b[5;10r\x1b[5;1H\x08", 10, 80),
        ("\x1b[5;10r\x1b[3;1H\x08", 2, 80),
        ("\x1b[5;10r\x1b[1;1H\x08", 24, 80),
        ("\x1b[5;10r\x1b[12;1H\x08", 11, 80),
        ("\x1b[5;10r\x1b[11;1H\x08", 10, 80),
        ("\x1b[?69h\x1b[5;10s\x1b[5;5H\x08", 4, 10),
        ("\x1b[?69h\x1b[5;10s\x1b[5;1H\x08", 4, 10),
        ("\x1b[?69h\x1b[5;10s\x1b[5;3H\x1b[5D", 4, 8),
        ("\x1b[?69h\x1b[5;10s\x1b[5;20H\x1b[16D", 4, 10),
        ("\x1b[?69h\x1b[5;10s\x1b[3;9r\x1b[3;5H\x08", 9, 10),
    ] {
        // As xterm 379 goes, to the cell.
        let terminal = after(&format!("\x1b[?1045h{bytes}"));
        let wanted = Position::new(row - 1, column - 1);
        assert_eq!(terminal.screen().cursor().position, wanted, "{bytes:?}");
    }
    let reset = after("\x1b[?1045h\x1b[!p\x1b[5;1H\x08");
    assert_eq!(reset.screen().cursor().position, Position::new(4, 0));
}

#[test]
fn modes_are_put_away_and_brought_back() {
    let is_set = |bytes: &str, mode: u16| {
        let mut terminal = after(&format!("{bytes}\x1b[?{mode}$p"));
        let answer = String::from_utf8(terminal.take_replies()).unwrap();
        answer == format!("\x1b[?{mode};1$y")
    };
    for mode in [1, 5, 6, 7, 25, 45, 66, 1000, 1006, 1047, 2004] {
        for (before, between) in [('h', 'l'), ('l', 'h')] {
            let bytes =
                format!("\x1b[?{mode}{before}\x1b[?{mode}s\x1b[?{mode}{between}\x1b[?{mode}r");
            assert_eq!(is_set(&bytes, mode), before == 'h', "{bytes:?}");
        }
    }
    assert!(is_set("\x1b[?1h\x1b[?1;7s\x1b[?1;7l\x1b[?7;1r", 1));
    // The same state can be brought back again, and what was not put away stays.
    assert!(is_set(
        "\x1b[?1h\x1b[?1s\x1b[?1l\x1b[?1r\x1b[?1l\x1b[?1r",
        1
    ));
    assert!(is_set("\x1b[?1h\x1b[?1r\x1b[?4711s\x1b[?4711r", 1));
    screen("", "ab\x1b[?1048s\x1b[3;3H\x1b[?1048rc", "abc│");
}
