//! Programs that go on working, and ask for a secret when they are ready.
//!
//! Source: docs/prediction.md §6, §9.

use super::*;
use crate::tty_hints::ProgramClass;

const COOKED: TtyHints = TtyHints {
    canonical: true,
    echo: true,
    steady: true,
    alternate: false,
    cursor_shape: CursorShape::Default,
    program: 7,
    class: ProgramClass::Other,
};

/// A program whose terminal echoes, and what it has written.
fn cooked(written: &str) -> Scene {
    let mut scene = Scene::new("");
    scene.engine.handle_hints(COOKED);
    scene.answer(written);
    scene
}

#[test]
fn the_newline_of_the_terminal_is_no_answer_of_the_program() {
    let mut scene = cooked("file? ");
    scene.keys("k");
    assert!(scene.shows(), "it asks, and the terminal echoes");
    scene.answer("k");
    scene.key("\r");
    // The program may still be about to ask for a secret.
    scene.answer("\r\n");
    scene.keys("secret");
    assert!(!scene.shows());
}

#[test]
fn a_question_for_a_secret_is_not_believed_to_be_echoed() {
    for question in ["Passphrase: ", "Enter the PIN\r\n> "] {
        let mut scene = cooked(question);
        scene.keys("s");
        assert!(!scene.shows(), "{question}");
    }
}

#[test]
fn what_was_typed_before_the_question_waits_for_its_echo() {
    let mut scene = cooked("");
    scene.keys("s");
    scene.partial("code? ", 0, 0);
    assert!(!scene.shows());
    // Unless the program has been seen to echo at such questions.
    let mut scene = cooked("code? ");
    scene.keys("a");
    scene.answer("a");
    scene.key("\r");
    scene.answer("\r\n");
    scene.keys("b");
    scene.partial("code? ", 2, 2);
    assert_eq!(scene.row(1), "code? b");
}

#[test]
fn what_the_server_has_and_the_terminal_does_not_show_is_not_echoed() {
    let mut scene = cooked("code? ");
    scene.keys("a");
    scene.answer("a");
    scene.key("\r");
    scene.answer("\r\n");
    scene.keys("se");
    // Both were read while the echo was off.
    scene.partial("code? \r\ncode? ", 4, 2);
    assert!(!scene.shows());
}

#[test]
fn a_program_that_reads_without_asking_is_known_by_its_lines() {
    for (class, is_shown) in [(ProgramClass::Other, true), (ProgramClass::Shell, false)] {
        let mut scene = Scene::new("");
        scene.engine.handle_hints(TtyHints { class, ..COOKED });
        scene.answer("");
        for line in 0..3 {
            scene.keys("x");
            assert!(!scene.shows(), "line {line}");
            scene.answer("x");
            scene.key("\r");
            scene.answer("\r\n");
        }
        scene.keys("x");
        assert_eq!(scene.shows(), is_shown, "{class:?}");
    }
}

#[test]
fn hints_count_with_their_frame_and_not_before() {
    let mut scene = cooked("code? ");
    scene.keys("a");
    scene.answer("a");
    scene.key("\r");
    let raw = TtyHints {
        canonical: false,
        echo: false,
        ..COOKED
    };
    scene.engine.handle_hints(raw);
    scene.answer("\r\ncode? ");
    scene.keys("secret\r");
    // All of it was read before the terminal was set to echo again.
    scene.engine.handle_hints(COOKED);
    assert!(!scene.shows());
    scene.partial("\r\ncode? ", scene.typed(), 2);
    assert!(!scene.shows());
}

#[test]
fn a_question_behind_one_key_is_another_line() {
    // On the same row, on the next, and where there is nothing left of the answer.
    for (first, next) in [
        ("sure? ", " code: "),
        ("sure? ", "\r\ncode: "),
        ("", "\r\ncode: "),
    ] {
        let mut scene = Scene::new(first);
        scene.keys("y");
        scene.answer("y");
        scene.answer(next);
        scene.keys("secret");
        assert!(!scene.shows(), "{first:?} {next:?}");
        // The same while the first key is on its way.
        let mut scene = Scene::new(first);
        scene.keys("y");
        scene.answer("y");
        scene.keys("s");
        scene.partial(next, 1, 1);
        assert!(!scene.shows(), "{first:?} {next:?}, typed before");
    }
}

#[test]
fn a_terminal_that_was_set_by_hand_has_to_echo_first() {
    let mut scene = Scene::new(&format!("{EDITING}host$ "));
    for line in 0..2 {
        scene.keys("ls");
        assert_eq!(scene.shows(), line > 0);
        scene.answer("ls");
        scene.key("\r");
        scene.answer("\r\nnotes\r\nhost$ ");
    }
    scene.keys("stty -echo\r");
    // What was echoed before says nothing about what comes.
    scene.answer("stty -echo\r\nhost$ ");
    for key in ["s", "e"] {
        scene.keys(key);
        assert!(!scene.shows());
        scene.answer("");
    }
    scene.key("\r");
    scene.answer("\r\nhost$ ");
    scene.keys("s");
    assert!(!scene.shows());
    scene.answer("s");
    scene.keys("e");
    assert!(scene.shows());
}

#[test]
fn a_line_that_is_only_moved_goes_on() {
    let mut scene = Scene::new("one\r\n$ ");
    scene.keys("ab");
    scene.answer("ab");
    scene.answer("\r\x1b[Jnews\r\n$ ab");
    scene.keys("c");
    assert_eq!(scene.row(2), "$ abc");
}
