//! Keys that are typed, shown and settled.

use super::*;

#[test]
fn the_first_character_waits_for_its_echo_and_the_rest_does_not() {
    let mut scene = Scene::new("login: ");
    scene.keys("an");
    assert_eq!(scene.row(0), "login:");
    scene.partial("a", 1, 0);
    assert_eq!(scene.row(0), "login: an");
    assert_eq!(scene.column(), 9);
    scene.keys("na");
    assert_eq!(scene.row(0), "login: anna");
    scene.answer("nna");
    assert!(!scene.shows());
    let score = scene.engine.score();
    assert_eq!((score.keys, score.right, score.wrong), (4, 3, 0));
    // Pending ones are none that were not compared; those that a new size drops are.
    scene.keys("b");
    assert_eq!(scene.row(0), "login: annab");
    assert_eq!(scene.engine.score().open, 0);
    scene.engine.handle_resize(scene.now, Size::default());
    assert_eq!(scene.engine.score().open, 1);
}

#[test]
fn what_the_frame_contains_already_changes_nothing() {
    let mut scene = Scene::new("> ");
    scene.keys("a");
    scene.answer("a");
    scene.keys("bc");
    scene.server.process(b"bc");
    let screen = scene.server.screen().clone();
    assert_eq!(scene.seen(), screen);
}

#[test]
fn a_wrong_prediction_goes_when_the_program_has_had_its_time() {
    let mut scene = Scene::new("> ");
    scene.keys("a");
    scene.answer("a");
    scene.keys("bc");
    scene.answer_early("", 1);
    assert_eq!(scene.row(0), "> abc");
    scene.answer("B");
    assert_eq!(scene.row(0), "> aB");
    scene.keys("d");
    assert_eq!(scene.row(0), "> aB", "doubted until there is evidence");
}

#[test]
fn keys_in_flight_are_laid_again_behind_a_key_without_a_rule() {
    let mut scene = Scene::new("$ ");
    scene.keys("ab");
    scene.answer("ab");
    scene.key("\t");
    scene.keys("xy");
    assert_eq!(scene.row(0), "$ ab", "blind");
    scene.partial("cdef ", 3, 3);
    assert_eq!(scene.row(0), "$ abcdef xy");
    scene.answer("xy");
    assert!(!scene.shows());
}

#[test]
fn a_prompt_that_comes_late_is_recalled() {
    let mut scene = Scene::new(&format!("{EDITING}$ "));
    scene.keys("ls");
    scene.answer("ls");
    scene.key("\r");
    scene.answer("\r\nnotes\r\n");
    scene.answer("$ ");
    scene.keys("p");
    assert_eq!(scene.row(2), "$ p");
}

#[test]
fn what_went_with_the_first_character_is_no_text_the_next_time() {
    let mut scene = Scene::new(&format!("{EDITING}> Try this\x1b[8D"));
    scene.keys("a");
    scene.answer("a\x1b[K");
    scene.keys("b");
    assert_eq!(scene.row(0), "> ab", "it was echoed");
    scene.answer("b");
    scene.key("\r");
    scene.answer("\r\n\r\n> Try this\x1b[8D");
    scene.keys("c");
    assert_eq!(scene.row(2), "> c");
    scene.answer("c\x1b[K");
    scene.key("\r");
    scene.answer("\r\n\r\n> Try that\x1b[8D");
    scene.keys("d");
    assert_eq!(scene.row(4), "> dTry that");
}

#[test]
fn enter_on_a_terminal_that_echoes_goes_to_the_next_row() {
    let cooked = TtyHints {
        canonical: true,
        echo: true,
        steady: true,
        ..TtyHints::default()
    };
    let mut scene = Scene::new("");
    scene.engine.handle_hints(cooked);
    scene.answer("name? ");
    scene.keys("hi");
    scene.key("\r");
    assert_eq!(scene.row(0), "name? hi");
    assert_eq!(scene.seen().cursor().position.row.0, 1);
}

#[test]
fn a_suggestion_that_comes_behind_a_pending_character_goes() {
    let mut scene = Scene::new(&format!("{EDITING}$ "));
    scene.keys("l");
    scene.answer("l");
    scene.keys("s /u");
    let suggested = |text: &str| format!("\x1b[90m{text}\x1b[m\x1b[{}D", text.len());
    // That for what was typed before; the last character is still to come.
    scene.partial(&format!("s /{}", suggested("bin/")), 4, 4);
    assert_eq!(scene.row(0), "$ ls /u");
    scene.partial("", 4, 4);
    assert_eq!(scene.row(0), "$ ls /u");
    // One that agrees stays.
    let mut scene = Scene::new(&format!("{EDITING}$ "));
    scene.keys("l");
    scene.answer("l");
    scene.keys("s /u");
    scene.partial(&format!("s /{}", suggested("usr/")), 4, 4);
    assert_eq!(scene.row(0), "$ ls /usr/");
}

#[test]
fn enter_takes_a_suggestion_away() {
    let mut scene = Scene::new(&format!("{EDITING}$ "));
    scene.keys("ls");
    scene.answer("ls");
    scene.key("\r");
    scene.answer("\r\n$ ");
    scene.keys("l");
    scene.answer("l");
    scene.key("\r");
    scene.partial("\x1b[90ms -la\x1b[m\x1b[2;4H", scene.typed() - 1, 0);
    assert_eq!(scene.row(1), "$ l");
    assert_eq!(scene.seen().cursor().position.row.0, 2);
}

#[test]
fn enter_on_an_empty_prompt_in_the_bottom_row_scrolls_once() {
    let mut scene = Scene::new(&format!("{EDITING}{}$ ", "notes\r\n".repeat(9)));
    scene.keys("ls");
    scene.answer("ls");
    scene.key("\r");
    scene.answer("\r\nnotes\r\n$ ");
    scene.key("\r");
    assert!(scene.shows());
    let typed = scene.typed();
    scene.partial("\r\n$ ", typed, typed - 1);
    assert!(!scene.shows());
}

#[test]
fn ctrl_d_removes_what_is_at_the_caret_of_a_prompt() {
    let mut scene = Scene::new(&format!("{EDITING}$ "));
    scene.keys("abc");
    scene.answer("abc");
    scene.key("\x1b[D");
    scene.answer("\x08");
    scene.key("\x04");
    scene.answer("\x1b[K");
    scene.key("\x1b[D");
    scene.key("\x04");
    scene.keys("x");
    assert_eq!(scene.row(0), "$ ax");
}

#[test]
fn a_second_enter_that_the_server_has_is_not_previewed_on_its_own_answer() {
    let mut scene = Scene::new(&format!("{EDITING}{}$ ", "notes\r\n".repeat(9)));
    scene.keys("ls");
    scene.answer("ls");
    scene.key("\r");
    scene.answer("\r\nboats\r\n$ ");
    scene.keys("\r\r");
    // Both answers have come, and the echo ack of the first.
    let typed = scene.typed();
    scene.partial("\r\n$ \r\n$ ", typed, typed - 1);
    assert!(!scene.shows());
}

#[test]
fn nothing_is_drawn_into_a_line_that_is_another_one() {
    let mut scene = Scene::new(&format!("{EDITING}$ "));
    scene.keys("ls");
    scene.answer("ls");
    scene.keys("-l");
    // The server has the first of them, and the next prompt is there, because of something that it had not said it has.
    scene.partial("\r\n$ ", 3, 2);
    assert!(!scene.shows());
    // Half of an answer contradicts nothing.
    let mut scene = Scene::new(&format!("{EDITING}$ "));
    scene.keys("ls");
    scene.answer("ls");
    scene.keys(" -l");
    scene.partial(" -\x1b[H", 5, 2);
    assert_eq!(scene.row(0), "$ ls -l");
}

#[test]
fn a_second_enter_that_the_program_had_time_for_hushes_no_editor() {
    let mut scene = Scene::new("\x1b[10;1H-- INSERT --\x1b[H");
    scene.keys("a");
    scene.answer("a");
    scene.keys("\r\r");
    // Both answers have come, and the echo ack of the first.
    let typed = scene.typed();
    scene.partial("\x1b[3;1H", typed, typed - 1);
    scene.answer("");
    scene.keys("b");
    assert_eq!(scene.row(2), "b");
}

#[test]
fn a_line_editor_may_be_slow_and_a_terminal_that_echoes_is_not() {
    for (modes, is_waited_for) in [(EDITING, true), ("", false)] {
        let mut scene = Scene::new(&format!("{modes}$ "));
        scene.keys("l");
        scene.answer("l");
        scene.keys("s");
        // It has had its time for that, and nothing has come.
        scene.answer("");
        assert!(!scene.shows(), "{modes:?}");
        scene.keys("x");
        assert!(!scene.shows(), "{modes:?}");
        scene.answer_early("s", scene.typed() - 1);
        assert_eq!(scene.row(0), if is_waited_for { "$ lsx" } else { "$ ls" });
    }
    // Nothing has echoed in this line: it may be a question for a secret.
    let mut scene = Scene::new(&format!("{EDITING}$ "));
    scene.keys("ab");
    scene.answer("ab");
    scene.key("\r");
    scene.answer("\r\nnews\r\n$ ");
    scene.keys("c");
    assert_eq!(scene.row(2), "$ c");
    scene.answer("");
    scene.key("\r");
    scene.answer("\r\nnews\r\n$ ");
    scene.keys("d");
    assert!(!scene.shows(), "the prompt is not trusted again soon");
}

#[test]
fn a_line_editor_may_be_slow_to_remove() {
    // What it removes first may be to be seen, or not.
    for text in ["lsxyz", "lsxy "] {
        let mut scene = Scene::new(&format!("{EDITING}$ "));
        scene.keys(text);
        scene.answer(text);
        scene.keys("\x7f\x7f\x7f");
        // It has had its time for the first, and nothing has come.
        scene.answer_early("", scene.typed() - 2);
        scene.keys("w");
        scene.answer_early("\x08\x1b[K", scene.typed() - 3);
        assert_eq!((scene.row(0).as_str(), scene.column()), ("$ lsxy", 6));
        scene.answer_early("\x08\x1b[K\x08\x1b[Kw", scene.typed() - 1);
        scene.keys("v");
        assert_eq!((scene.row(0).as_str(), scene.column()), ("$ lswv", 6));
    }
}

#[test]
fn what_was_typed_behind_a_command_that_opens_a_line_is_laid_once() {
    let mut scene = Scene::new("one\r\n~\r\n~\x1b[H");
    scene.keys("oxy");
    let typed = scene.typed();
    // The command and the first of the text are answered; the echo ack knows of the command.
    scene.partial(
        "\x1b[10;1H-- INSERT --\x1b[2;1H\x1b[Kx",
        typed - 1,
        typed - 2,
    );
    assert_eq!(scene.row(1), "xy");
}

#[test]
fn a_key_that_the_frame_shows_is_there_although_it_is_not_acknowledged() {
    let mut scene = Scene::new(&format!("{EDITING}$ "));
    scene.keys("a");
    scene.answer("a");
    scene.keys("bcd");
    // A server may acknowledge an older state than the one that its screen answers.
    scene.partial("bc", 1, 1);
    assert_eq!((scene.row(0).as_str(), scene.column()), ("$ abcd", 6));
    scene.answer("d");
    assert_eq!(scene.row(0), "$ abcd");
    assert!(!scene.shows());
    // Two characters and the removal of the second look as the first alone does.
    scene.keys("ee\x7ff");
    scene.partial("e", 4, 4);
    scene.partial("e", 4, 4);
    assert_eq!(scene.row(0), "$ abcdef");
}

#[test]
fn a_line_that_scrolls_takes_its_predictions_along() {
    let mut scene = Scene::new("one\r\n\r\n\r\n$ ");
    scene.keys("ab");
    scene.answer("ab");
    scene.keys("cd");
    scene.partial("\r\x1b[Jnews\r\n$ ab", 2, 2);
    assert_eq!(scene.row(3), "news");
    assert_eq!(scene.row(4), "$ abcd");
}

#[test]
fn a_character_elsewhere_is_no_line_that_has_moved_without_the_rest_of_it() {
    // A command of an editor, whose own line is the last.
    let mut scene = Scene::new("text\r");
    scene.keys(":w");
    scene.partial("\x1b[10;1H:", 1, 0);
    assert_eq!(scene.row(9), ":");
    assert!(!scene.shows());
}

#[test]
fn predictions_are_shown_on_near_links_and_nobody_is_woken_for_that() {
    let mut scene = Scene::new(&format!("{EDITING}> "));
    scene.engine.handle_link(Some(Duration::from_millis(1)));
    scene.keys("a");
    assert!(!scene.shows(), "nothing has echoed here yet");
    scene.answer("a");
    scene.keys("b");
    assert_eq!(scene.row(0), "> ab");
    let due = scene.engine.poll_timeout().unwrap();
    assert_eq!(due, scene.now + Duration::from_secs(5), "underlined then");
}

#[test]
fn a_paste_and_a_new_size_leave_nothing() {
    let mut scene = Scene::new("> ");
    scene.keys("a");
    scene.answer("a");
    scene.keys("b");
    assert!(scene.shows());
    scene.key(&"p".repeat(101));
    assert!(!scene.shows());
    let mut scene = Scene::new("> ");
    scene.keys("a");
    scene.answer("a");
    scene.keys("b");
    scene
        .engine
        .handle_resize(Time::ZERO, Size::new(4, 10).unwrap());
    assert!(!scene.shows());
}

#[test]
fn an_unconfirmed_prediction_is_not_shown_whatever_the_preference() {
    for mode in [PredictionMode::Always, PredictionMode::Experimental] {
        let config = PredictionConfig {
            mode,
            overwrite: false,
        };
        let mut scene = Scene::with(config, "password: ");
        scene.keys("secret");
        assert!(!scene.shows());
    }
}

#[test]
fn a_key_of_several_ways_is_shown_where_they_agree_or_when_one_is_known() {
    let mut scene = Scene::new("\x1b[?2004h$ ");
    scene.keys("one two");
    scene.answer("one two");
    scene.key("\x17");
    assert_eq!(scene.row(0), "$ one", "all notions of a word agree");
    scene.answer("\x08\x08\x08\x1b[K");
    scene.key("\x1b[D");
    scene.key("\x1b[D");
    scene.answer("\x08\x08");
    scene.key("\x15");
    assert_eq!(scene.column(), 4, "up to the caret, or the whole line");
    scene.answer("\x1b[3G\x1b[K");
    scene.keys("six");
    scene.answer("six");
    scene.key("\x1b[D");
    scene.key("\x15");
    assert_eq!(scene.row(0), "$", "the whole line, as before");
}

#[test]
fn control_d_deletes_inside_the_text_behind_a_prompt() {
    for (prompt, expected) in [("$ ", "$ ab"), ("Name: ", "Name: abc")] {
        let mut scene = Scene::new(prompt);
        scene.keys("abc");
        scene.answer("abc");
        scene.key("\x1b[D");
        scene.key("\x04");
        assert_eq!(scene.row(0), expected);
    }
}

#[test]
fn keys_of_words_are_shown_at_a_prompt_and_arrows_once_they_worked() {
    for (key, column) in [("\x1bb", 6), ("\x1b[98;3u", 6), ("\x1b[1;5D", 9)] {
        let mut scene = Scene::new(&format!("{EDITING}$ "));
        scene.keys("one two");
        scene.answer("one two");
        scene.key(key);
        assert_eq!(scene.column(), column, "{}", key.escape_debug());
    }
}

/// A suggestion in the colour of text.
fn plain(text: &str) -> String {
    format!("{text}\x1b[{}D", text.len())
}

/// A shell that suggests in the colour of text, and was seen to.
fn suggesting() -> Scene {
    let mut scene = Scene::new(&format!("{EDITING}$ "));
    scene.keys("l");
    scene.answer(&format!("l{}", plain("s -la")));
    scene
}

#[test]
fn a_suggestion_in_the_colour_of_text_is_none_of_it() {
    let mut scene = suggesting();
    scene.keys("s");
    assert_eq!((scene.row(0), scene.column()), ("$ ls -la".to_owned(), 4));
    scene.keys("x");
    assert_eq!((scene.row(0), scene.column()), ("$ lsx".to_owned(), 5));
    scene.answer("sx   \x1b[3D");
    scene.key("\x1b[D");
    scene.keys("y");
    assert_eq!((scene.row(0), scene.column()), ("$ lsyx".to_owned(), 5));
}

#[test]
fn the_users_own_text_moves_before_a_suggestion_in_its_colour() {
    let mut scene = suggesting();
    scene.keys("s");
    scene.answer("s");
    scene.key("\x1b[D");
    scene.keys("y");
    assert_eq!((scene.row(0), scene.column()), ("$ lys -la".to_owned(), 4));
    scene.key("\x05");
    assert_eq!(scene.column(), 5);
}

#[test]
fn a_suggestion_in_the_colour_of_text_that_comes_behind_a_pending_character_goes() {
    for (suggested, shown) in [("bin/", "$ ls /u"), ("usr/", "$ ls /usr/")] {
        let mut scene = suggesting();
        scene.keys("s /u");
        scene.partial(&format!("s /{}", plain(suggested)), 4, 4);
        assert_eq!(scene.row(0), shown);
    }
}

#[test]
fn enter_takes_a_suggestion_in_the_colour_of_text_away() {
    let mut scene = suggesting();
    scene.keys("s");
    scene.key("\r");
    assert_eq!(scene.row(0), "$ ls");
}

#[test]
fn a_suggestion_in_the_colour_of_text_may_come_later_than_the_character() {
    let mut scene = Scene::new(&format!("{EDITING}$ "));
    scene.keys("l");
    scene.answer("l");
    scene.answer(&plain("s -la"));
    scene.keys("x");
    assert_eq!((scene.row(0), scene.column()), ("$ lx".to_owned(), 4));
}

#[test]
fn the_first_suggestion_in_the_colour_of_text_goes_behind_what_is_pending() {
    let mut scene = Scene::new(&format!("{EDITING}$ "));
    scene.keys("lx");
    scene.partial(&format!("l{}", plain("s -la")), 1, 1);
    assert_eq!((scene.row(0), scene.column()), ("$ lx".to_owned(), 4));
}

#[test]
fn a_key_that_may_accept_a_suggestion_that_is_still_to_come_has_no_rule() {
    for key in ["\x05", "\x1b[C", "\x1bf"] {
        let mut scene = suggesting();
        scene.keys("x");
        scene.key(key);
        scene.keys("y");
        assert_eq!(scene.row(0), "$ lx");
    }
}
