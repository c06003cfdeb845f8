//! Editors in the mode in which keys become text.

use crate::session::Session;

/// An editor of 8 rows with two lines of text, the cursor behind the first.
fn editor() -> Session {
    let mut session = Session::new(8, 40);
    session.program("\x1b[2J\x1b[8;1H-- INSERT --\x1b[2;1H  two\x1b[1;1H  one");
    session
}

#[test]
fn text_is_shown_at_once_where_the_editor_says_that_it_takes_text() {
    let mut session = editor();
    session.keys("x");
    assert_eq!(session.seen_row(0), "  onex¦");
}

#[test]
fn enter_is_shown_once_it_was_right_and_with_it_what_is_typed_behind() {
    let mut session = editor();
    session.keys("\r");
    assert!(session.is_plain());
    session.program("\x1b[2;1H\x1b[L\x1b[8;1H\x1b[K-- INSERT --\x1b[2;3H");
    session.keys("\r");
    assert_eq!(session.seen_row(2), "  ¦");
    assert_eq!(session.seen_row(3), "  two");
    session.keys("y");
    assert_eq!(session.seen_row(2), "  y¦");
    session.program("\x1b[3;1H\x1b[L\x1b[8;1H\x1b[K-- INSERT --\x1b[3;3Hy");
    assert!(session.is_plain());
    assert_eq!(session.engine.score().wrong, 0);
}

#[test]
fn an_editor_that_does_not_indent_is_learned() {
    let mut session = editor();
    session.keys("\r");
    session.program("\x1b[2;1H\x1b[L\x1b[8;1H\x1b[K-- INSERT --\x1b[2;1H");
    session.program("\x1b[2;1H  six");
    session.keys("\r");
    assert_eq!(session.seen_row(2), "¦");
}

#[test]
fn a_mark_counts_no_more_when_escape_was_typed() {
    let mut session = editor();
    session.keys("\x1b");
    session.program("");
    // The editor waits whether Escape is the start of a sequence.
    for key in ["j", "d", "w"] {
        session.keys(key);
        assert!(session.is_plain(), "{key}");
        session.program("");
    }
    session.program("\x1b[8;1H\x1b[K\x1b[1;6H");
    session.keys("i");
    session.program("\x1b[8;1H-- INSERT --\x1b[1;6H");
    session.keys("x");
    assert_eq!(session.seen_row(0), "  onex¦");
}

#[test]
fn the_key_that_switches_to_text_mode_is_no_text_itself() {
    let mut session = Session::new(8, 40);
    session.program("\x1b[2;1Htwo\x1b[1;1Hone");
    session.keys("\x1b");
    session.program("");
    let before = session.typed();
    session.keys("A");
    session.keys("x");
    // The mode has changed, but the program may still be busy with the key.
    session.program_with("\x1b[8;1H-- INSERT --\x1b[1;4H", before + 1, before);
    assert!(session.is_plain());
    session.program_with("x", before + 2, before + 1);
    session.keys("y");
    assert_eq!(session.seen_row(0), "onexy¦");
}

#[test]
fn an_editor_that_answers_late_gets_its_keys_as_they_were_typed() {
    let mut session = editor();
    for key in ["x", "y", "z"] {
        session.keys(key);
    }
    assert_eq!(session.seen_row(0), "  onexyz¦");
    let typed = session.typed();
    // The program has had its time for the first one, but is busy.
    session.program_with("", typed, typed - 2);
    assert!(session.is_plain());
    session.keys("w");
    session.program_with("x", typed, typed - 2);
    assert_eq!(session.seen_row(0), "  onexyzw¦");
}

#[test]
fn an_editor_that_ignores_a_key_is_believed_when_it_answers_the_next() {
    let mut session = editor();
    session.keys("x");
    session.program("");
    assert!(session.is_plain());
    session.keys("y");
    session.program("y");
    assert!(session.is_plain());
    session.keys("z");
    assert_eq!(session.seen_row(0), "  oneyz¦");
}

#[test]
fn the_first_enter_is_shown_where_there_is_nothing_to_indent() {
    let mut session = Session::new(8, 40);
    session.program("\x1b[2J\x1b[8;1H-- INSERT --\x1b[2;1Htwo\x1b[1;1Hone");
    session.keys("\r");
    session.keys("x");
    assert_eq!(session.seen_row(1), "x¦");
    assert_eq!(session.seen_row(2), "two");
}
