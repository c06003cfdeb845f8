//! Bytes of keyboards and terminals that are no plain typing: never drawn, never wrong.

use crate::session::Session;

#[test]
fn typing_at_a_trusted_prompt_is_shown_at_once() {
    let mut session = Session::at_trusted_prompt();
    session.keys("m");
    assert_eq!(session.seen_row(2), "$ m¦");
    session.keys("v");
    session.keys("\x1b[D");
    assert_eq!(session.seen_row(2), "$ m¦v");
}

#[test]
fn the_mouse_and_the_terminals_answers_are_no_keys() {
    for bytes in [
        "\x1b[<0;10;5M",
        "\x1b[<35;10;5M",
        "\x1b[M !!",
        "\x1b[I",
        "\x1b[O",
        "\x1b[?1;2c",
        "\x1b[>41;354;0c",
        "\x1b[24;80R",
        "\x1b]11;rgb:0000/0000/0000\x1b\\",
        "\x1bP>|term\x1b\\",
    ] {
        let mut session = Session::at_trusted_prompt();
        session.keys("m");
        let keys = session.engine.score().keys;
        session.keys(bytes);
        assert_eq!(
            session.engine.score().keys,
            keys,
            "{}",
            bytes.escape_debug()
        );
        session.keys("v");
        assert_eq!(session.seen_row(2), "$ mv¦", "{}", bytes.escape_debug());
        session.program("mv");
        assert!(session.is_plain());
        assert_eq!(session.engine.score().wrong, 0);
    }
}

#[test]
fn a_paste_is_not_drawn_nor_what_is_typed_behind_it() {
    let mut session = Session::at_trusted_prompt();
    session.keys("\x1b[200~secret text\x1b[201~");
    assert!(session.is_plain());
    session.keys("x");
    assert!(session.is_plain());
    session.program("secret textx");
    assert!(session.is_plain());
    session.keys("y");
    session.program("y");
    session.keys("z");
    assert_eq!(session.seen_row(2), "$ secret textxyz¦");
}

#[test]
fn a_paste_in_pieces_is_not_drawn() {
    let mut session = Session::at_trusted_prompt();
    for piece in ["\x1b[20", "0~one", "two", "\r", "three\x1b[2", "01~"] {
        session.keys(piece);
        assert!(session.is_plain(), "{piece:?}");
    }
}

#[test]
fn many_bytes_at_once_are_a_paste() {
    let mut session = Session::at_trusted_prompt();
    session.keys("m");
    session.keys(&"x".repeat(101));
    assert!(session.is_plain());
    session.keys("y");
    assert!(session.is_plain());
}

#[test]
fn wide_characters_take_two_columns() {
    let mut session = Session::at_trusted_prompt();
    session.keys("漢");
    assert_eq!(session.seen_row(2), "$ 漢¦");
    session.keys("字");
    session.keys("x");
    assert_eq!(session.seen_row(2), "$ 漢字x¦");
    session.keys("\x7f");
    session.keys("\x7f");
    assert_eq!(session.seen_row(2), "$ 漢¦");
    session.program("漢字x\x08 \x08\x08\x08  \x08\x08");
    assert!(session.is_plain());
    assert_eq!(session.seen_row(2), "$ 漢¦");
    assert_eq!(session.engine.score().wrong, 0);
}

#[test]
fn committed_input_of_several_characters_is_drawn() {
    let mut session = Session::at_trusted_prompt();
    session.keys("你好");
    assert_eq!(session.seen_row(2), "$ 你好¦");
    session.keys("\x1b[D");
    assert_eq!(session.seen_row(2), "$ 你¦好");
    session.program("你好\x08\x08");
    assert!(session.is_plain());
}

#[test]
fn a_wide_character_that_does_not_fit_is_not_drawn() {
    let mut session = Session::new(6, 11);
    session.program("\x1b[?2004h$ ");
    for key in ["a", "b", "c", "d", "e", "f", "g", "h"] {
        session.keys(key);
        session.program(key);
    }
    session.keys("漢");
    assert!(session.is_plain());
    session.program("\r\n漢");
    assert!(session.is_plain());
}

#[test]
fn combining_marks_are_left_to_the_server() {
    let mut session = Session::at_trusted_prompt();
    session.keys("e");
    assert_eq!(session.seen_row(2), "$ e¦");
    session.keys("\u{301}");
    session.keys("t");
    assert_eq!(session.seen_row(2), "$ e¦");
    session.program("e\u{301}t");
    assert!(session.is_plain());
    assert_eq!(session.seen_row(2), "$ e\u{301}¦t".replace("¦t", "t¦"));
    assert_eq!(session.engine.score().wrong, 0);
}

#[test]
fn a_character_cut_between_reads_is_one_key() {
    let mut session = Session::at_trusted_prompt();
    let typed = session.typed();
    let now = fulmar_base::Time::ZERO + std::time::Duration::from_secs(90);
    session.engine.handle_keys(now, typed, b"\xe6\xbc");
    assert!(session.is_plain());
    session.engine.handle_keys(now, typed + 2, b"\xa2");
    assert_eq!(session.seen_row(2), "$ 漢¦");
}

#[test]
fn a_resize_leaves_nothing_drawn() {
    let mut session = Session::at_trusted_prompt();
    session.keys("m");
    session.keys("v");
    assert!(!session.is_plain());
    session.resize(10, 60);
    assert!(session.is_plain());
    session.keys("x");
    session.program("mvx");
    assert!(session.is_plain());
    session.resize(3, 4);
    session.keys("y");
    session.program("");
    assert!(session.is_plain() || session.seen().size().columns() == 4);
}

#[test]
fn a_frame_of_another_size_is_taken_as_it_is() {
    let mut session = Session::at_trusted_prompt();
    session.keys("m");
    let small = fulmar_terminal::Screen::new(fulmar_terminal::Size::new(1, 1).unwrap());
    let now = fulmar_base::Time::ZERO + std::time::Duration::from_secs(90);
    session.engine.handle_frame(now, &small, 0, 0);
    let mut seen = small.clone();
    session.engine.overlay(now).apply(&mut seen);
    assert_eq!(seen, small);
}

/// In zsh's and bash's vi modes, Escape makes commands of the characters that follow.
#[test]
fn commands_behind_escape_are_not_drawn() {
    let mut session = Session::at_trusted_prompt();
    session.keys("l");
    session.keys("s");
    session.program("ls");
    assert!(session.is_plain());
    session.keys("\x1b");
    // Without waiting for an answer: to the start, a word on, delete to the end.
    for key in ["0", "w", "D"] {
        session.keys(key);
        assert!(session.is_plain(), "{key}");
    }
    session.program("\x08\x08\x1b[K");
    assert!(session.is_plain());
}

#[test]
fn commands_after_the_answer_to_escape_are_not_drawn() {
    let mut session = Session::at_trusted_prompt();
    session.keys("l");
    session.keys("s");
    session.program("ls");
    session.keys("\x1b");
    session.program("\x08");
    for (key, answer) in [
        ("h", "\x08"),
        ("l", "s\x08"),
        ("x", " \x08\x08"),
        ("0", "\x08"),
    ] {
        session.keys(key);
        assert!(session.is_plain(), "{key}");
        session.program(answer);
        assert!(session.is_plain(), "after {key}");
    }
    // Back in the mode in which text is typed: shown again after the first answer.
    session.keys("i");
    session.program("");
    session.keys("x");
    session.program("\x1b[1@x");
    session.keys("y");
    session.program("\x1b[1@y");
    session.keys("z");
    assert!(session.seen_row(2).contains("xyz"));
}

#[test]
fn an_escape_sequence_in_two_reads_draws_nothing_odd() {
    let mut session = Session::at_trusted_prompt();
    session.keys("m");
    session.program("m");
    session.keys("\x1b");
    session.keys("[A");
    assert!(session.is_plain());
}

#[test]
fn a_password_prompt_gets_nothing() {
    let mut session = Session::at_trusted_prompt();
    for key in ["s", "u", "\r"] {
        session.keys(key);
    }
    session.program("su\x1b[?2004l\r\nPassword: ");
    for key in ["h", "u", "n", "t", "e", "r"] {
        session.keys(key);
        assert!(session.is_plain(), "{key}");
        session.program("");
        assert!(session.is_plain(), "after {key}");
    }
}
