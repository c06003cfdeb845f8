//! The rules that keep secrets off the screen, each with the one thing that would break it.
//!
//! Source: docs/prediction.md §6.

use super::*;
use crate::pending::PendingKey;
use crate::tty_hints::ProgramClass;

/// A prompt that has echoed a command and is shown again.
fn known_prompt(mode: &str) -> Scene {
    let mut scene = Scene::new(&format!("{mode}host$ "));
    scene.keys("ls");
    scene.answer("ls");
    scene.key("\r");
    scene.answer("\r\nnotes\r\nhost$ ");
    scene
}

#[test]
fn a_known_prompt_is_trusted_at_once() {
    let mut scene = known_prompt(EDITING);
    scene.keys("p");
    assert_eq!(scene.row(2), "host$ p");
}

#[test]
fn s1_keys_behind_enter_wait_for_its_answer() {
    let mut scene = known_prompt(EDITING);
    scene.keys("su\r");
    scene.keys("secret");
    let is_blind = |key: &PendingKey| key.drawn_effect().is_none();
    assert!(scene.engine.queue.iter().skip(3).all(is_blind));
    assert!(!scene.row(2).contains("secret") && !scene.row(3).contains("secret"));
    scene.partial("su", 8, 5);
    assert!(!scene.row(2).contains("e") && scene.row(3).is_empty());
}

#[test]
fn s2_the_same_prompt_without_a_change_is_no_answer() {
    let mut scene = known_prompt(EDITING);
    scene.key("\r");
    scene.keys("s");
    // The program has had its time, but it is slower than that.
    scene.answer_early("", scene.typed() - 1);
    assert!(!scene.shows());
    scene.answer("");
    scene.keys("ecret");
    assert!(!scene.shows());
}

#[test]
fn s2_what_is_typed_while_enter_has_no_answer_is_not_drawn() {
    let mut scene = known_prompt(EDITING);
    scene.key("\r");
    // The time for an answer is over, and the prompt that can be seen is the old one.
    scene.answer("");
    scene.keys("secret");
    assert!(!scene.shows());
}

#[test]
fn s3_without_a_line_editor_a_prompt_is_not_recalled() {
    let mut scene = known_prompt(RUNNING);
    scene.keys("p");
    assert!(!scene.shows());
    // The tty alone says nothing: behind ssh it is always raw.
    for (class, is_shown) in [
        (ProgramClass::Relay, false),
        (ProgramClass::Unknown, false),
        (ProgramClass::Other, false),
        (ProgramClass::Shell, true),
        (ProgramClass::LineEditor, true),
    ] {
        let mut scene = Scene::new("");
        let hints = TtyHints {
            class,
            ..TtyHints::default()
        };
        scene.engine.handle_hints(hints);
        scene.answer("host$ ");
        scene.keys("ls");
        scene.answer("ls");
        scene.key("\r");
        scene.answer("\r\nnotes\r\nhost$ ");
        scene.keys("p");
        assert_eq!(scene.shows(), is_shown, "{class:?}");
    }
}

/// The reading of lines with an editor in a loop, with a secret at last: fish can do this.
#[test]
fn s3_a_prompt_that_only_follows_itself_is_recalled_late() {
    let mut scene = Scene::new(&format!("{EDITING}name> "));
    for _ in 0..3 {
        scene.keys("an");
        assert!(!scene.shows());
        scene.answer("an");
        scene.key("\r");
        scene.answer("\r\nname> ");
    }
    scene.keys("an");
    assert!(!scene.shows());
    scene.answer("an");
    scene.key("\r");
    scene.answer("\r\nname> ");
    scene.keys("a");
    assert!(scene.shows(), "four are enough: it is a shell's");
}

#[test]
fn s3_a_question_that_is_drawn_anew_does_not_follow_output() {
    let mut scene = Scene::new(&format!("{EDITING}$ ask\r\nname> "));
    scene.keys("an");
    scene.answer("an");
    scene.answer("\rname> \x1b[K");
    scene.keys("an");
    scene.answer("an");
    scene.key("\r");
    scene.answer("\r\nname> ");
    scene.keys("a");
    assert!(!scene.shows());
}

#[test]
fn below_a_question_for_a_secret_an_echo_proves_nothing() {
    for (question, is_shown) in [("[sudo] password for an: ", false), ("name of an: ", true)] {
        let mut scene = Scene::new(question);
        scene.keys("wrong");
        scene.answer("");
        scene.key("\r");
        scene.answer("\r\n");
        // The tty echoes while nobody asks; then the same is asked again.
        scene.keys("sec");
        scene.answer("sec");
        scene.keys("ret");
        assert_eq!(scene.shows(), is_shown, "{question}");
    }
}

#[test]
fn s4_evidence_says_nothing_about_what_is_typed_behind_a_break() {
    let mut scene = Scene::new("name: ");
    scene.keys("a");
    scene.key("\x1b[5~");
    scene.keys("secret");
    let epochs: Vec<_> = scene.engine.queue.iter().map(|key| key.epoch).collect();
    assert!(
        epochs[0] < epochs[2],
        "a break begins another, confirmed or not"
    );
    scene.partial("a", 1, 1);
    assert!(scene.engine.epochs.is_confirmed(epochs[0]));
    assert!(!scene.engine.epochs.is_confirmed(epochs[2]));
    assert_eq!(scene.row(0), "name: a");
    scene.partial("\r\nword: ", 5, 5);
    assert!(!scene.shows());
}

#[test]
fn s5_a_prompt_that_did_not_echo_is_not_trusted_again_soon() {
    let mut scene = known_prompt(EDITING);
    scene.keys("x");
    assert!(scene.shows());
    scene.answer("");
    assert!(!scene.shows());
    scene.key("\r");
    scene.answer("\r\nhost$ ");
    scene.keys("s");
    assert!(!scene.shows(), "its memory is gone");
    scene.answer("s");
    scene.key("\r");
    scene.answer("\r\nhost$ ");
    scene.keys("s");
    assert!(!scene.shows(), "one confirmation is not enough");
    scene.answer("s");
    scene.key("\r");
    scene.answer("\r\nhost$ ");
    scene.keys("s");
    assert!(scene.shows(), "two are");
}

#[test]
fn s6_memory_does_not_carry_over_a_key_that_ends_the_line() {
    for key in ["\x03", "\x04", "\x18", "\x1a"] {
        let mut scene = known_prompt(EDITING);
        scene.key(key);
        scene.answer("\r\nhost$ ");
        scene.keys("s");
        assert!(!scene.shows(), "{key:?}");
    }
    let mut scene = known_prompt(EDITING);
    scene.keys("s");
    scene.answer("s");
    scene.key("\x1b");
    scene.answer("");
    scene.keys("xs");
    assert!(!scene.shows(), "Esc");
}

#[test]
fn s6_an_editors_mark_counts_only_from_the_next_key_on() {
    let mark = "\x1b[10;1H-- INSERT --";
    let mut scene = Scene::new(&format!("{mark}\x1b[1;1H"));
    scene.keys("a");
    assert!(scene.shows());
    scene.answer("a");
    scene.key("\x03");
    scene.answer("\x1b[3;1H");
    scene.keys("s");
    assert!(!scene.shows());
    // One that leaves the line alone will do.
    scene.answer("");
    scene.key("\t");
    scene.answer("\x1b[5;1H");
    scene.keys("s");
    assert!(scene.shows());
}

#[test]
fn s7_the_second_key_of_a_command_has_no_rule() {
    for prefix in ["\x1b", "\x18", "\x02"] {
        let mut scene = known_prompt(EDITING);
        scene.keys("s");
        scene.answer("s");
        scene.key(prefix);
        scene.answer("");
        scene.key("u");
        let rule = scene
            .engine
            .queue
            .front()
            .map(|key| key.known_effect().is_some());
        assert_eq!(rule, Some(false), "{prefix:?}");
    }
}

#[test]
fn s7_a_control_key_that_does_nothing_at_an_empty_prompt_is_a_prefix() {
    // To the left at the margin, to the right and to the end of nothing.
    for prefix in ["\x02", "\x06", "\x05", "\x0b"] {
        let mut scene = known_prompt(EDITING);
        scene.key(prefix);
        scene.answer("");
        scene.keys("c");
        assert!(!scene.shows(), "{prefix:?}");
    }
}

#[test]
fn s8_the_status_line_of_a_multiplexer_is_no_context() {
    let status = "\x1b[10;1H\x1b[7m[0] 0:bash*      host\x1b[m\x1b[H";
    let mut scene = Scene::new(&format!("{EDITING}{status}$ "));
    scene.keys("ls");
    scene.answer("ls");
    scene.key("\r");
    scene.answer("\r\nPassword: ");
    scene.keys("secret");
    assert!(!scene.shows());
}

#[test]
fn s9_characters_are_shown_in_a_confirmed_epoch_only() {
    let mut scene = known_prompt(EDITING);
    // The record of a key that moves is good; what is typed there is still tentative.
    scene.keys("ab");
    scene.answer("ab");
    scene.key("\x1b[D");
    scene.answer("\x08");
    scene.key("\x03");
    scene.answer("\r\nhost$ ");
    scene.keys("x");
    scene.key("\x1b[D");
    scene.keys("y");
    assert!(
        scene
            .engine
            .queue
            .iter()
            .all(|key| key.known_effect().is_some())
    );
    assert_eq!(scene.row(3), "host$");
}

#[test]
fn s9_keys_that_show_nothing_typed_are_shown_where_they_worked() {
    let mut scene = Scene::new("$ ");
    scene.keys("ab");
    scene.answer("ab");
    for _ in 0..2 {
        scene.key("\x1b[D");
        scene.answer("\x1b[D");
    }
    scene.key("\r");
    scene.answer("\r\n$ ");
    scene.key("\x1b[A");
    scene.answer("ab");
    // Nothing that was typed into this line was echoed.
    scene.key("\x1b[D");
    assert_eq!(scene.column(), 3);
    scene.keys("s");
    assert_eq!(scene.row(1), "$ ab");
}

#[test]
fn masked_input_is_no_echo() {
    let mut scene = Scene::new("Password: ");
    scene.keys("*");
    scene.answer("*");
    scene.keys("secret");
    assert!(!scene.shows());
    let mut scene = Scene::new("Password: ");
    scene.keys("s\x7f");
    scene.answer("");
    scene.keys("ecret");
    assert!(!scene.shows(), "typed and taken back is not echoed");
}

#[test]
fn a_line_that_goes_away_by_itself_takes_its_trust_along() {
    let mut scene = Scene::new("name: ");
    scene.keys("an");
    scene.answer("an");
    scene.answer("\r\ntoo late\r\nPassword: ");
    scene.keys("secret");
    assert!(!scene.shows());
}

#[test]
fn a_terminal_that_does_not_echo_is_believed() {
    let mut scene = known_prompt(EDITING);
    let hints = TtyHints {
        canonical: true,
        echo: false,
        ..TtyHints::default()
    };
    scene.engine.handle_hints(hints);
    scene.answer("");
    scene.keys("secret");
    assert!(!scene.shows());
}

#[test]
fn a_terminal_that_echoes_is_trusted_unless_another_is_behind_it() {
    for (class, is_shown) in [(ProgramClass::Other, true), (ProgramClass::Relay, false)] {
        let mut scene = Scene::new("");
        let hints = TtyHints {
            canonical: true,
            echo: true,
            steady: true,
            class,
            ..TtyHints::default()
        };
        scene.engine.handle_hints(hints);
        scene.answer("remove? ");
        scene.keys("y");
        assert_eq!(scene.shows(), is_shown, "{class:?}");
    }
}

#[test]
fn a_terminal_that_says_it_echoes_and_does_not_is_believed_no_more() {
    let cooked = TtyHints {
        canonical: true,
        echo: true,
        steady: true,
        class: ProgramClass::Shell,
        ..TtyHints::default()
    };
    let mut scene = Scene::new("");
    scene.engine.handle_hints(cooked);
    scene.answer("> ");
    scene.keys("s");
    assert!(scene.shows());
    scene.answer("");
    for key in ["e", "c", "r"] {
        scene.keys(key);
        assert!(!scene.shows(), "{key}");
        scene.answer("");
    }
    // An echo that is seen lets echo be expected again.
    scene.keys("x");
    scene.answer("x");
    scene.keys("y");
    assert_eq!(scene.row(0), "> xy");
    // So does another program.
    let mut scene = Scene::new("");
    scene.engine.handle_hints(cooked);
    scene.answer("> ");
    scene.keys("s");
    scene.answer("");
    let other = TtyHints {
        program: 1,
        ..cooked
    };
    scene.engine.handle_hints(other);
    scene.answer("");
    scene.keys("y");
    assert!(scene.shows());
}

#[test]
fn what_was_typed_in_silence_is_not_shown_when_it_is_over() {
    let cooked = TtyHints {
        canonical: true,
        echo: true,
        steady: true,
        ..TtyHints::default()
    };
    let silent = TtyHints {
        echo: false,
        ..cooked
    };
    // Typed in silence, or just before the client knows of it.
    for is_late in [false, true] {
        let mut scene = Scene::new("Word: ");
        let before = if is_late { TtyHints::default() } else { silent };
        scene.engine.handle_hints(before);
        scene.answer("");
        scene.keys("secret");
        scene.engine.handle_hints(silent);
        // Nobody waited for the end of the line.
        scene.engine.handle_hints(cooked);
        scene.partial("", 6, 0);
        assert!(!scene.shows(), "{is_late}");
        scene.answer("\r\nname: ");
        scene.keys("an");
        assert_eq!(scene.row(1), "name: an");
    }
}

#[test]
fn what_is_shown_goes_when_the_terminal_stops_to_echo() {
    let mut scene = Scene::new("");
    let cooked = TtyHints {
        canonical: true,
        echo: true,
        steady: true,
        ..TtyHints::default()
    };
    scene.engine.handle_hints(cooked);
    scene.answer("name: ");
    scene.keys("an");
    assert_eq!(scene.row(0), "name: an");
    let silent = TtyHints {
        echo: false,
        ..cooked
    };
    scene.engine.handle_hints(silent);
    assert!(!scene.shows());
    // Another program that echoes by itself has to prove it.
    let raw = TtyHints {
        canonical: false,
        ..silent
    };
    scene.engine.handle_hints(raw);
    assert!(!scene.shows());
    scene.partial("", 2, 0);
    assert!(!scene.shows());
}

#[test]
fn other_hints_are_no_answer_to_enter() {
    let raw = TtyHints {
        class: ProgramClass::Shell,
        ..TtyHints::default()
    };
    let cooked = TtyHints {
        canonical: true,
        echo: true,
        steady: true,
        ..raw
    };
    let mut scene = Scene::new("");
    scene.engine.handle_hints(raw);
    scene.answer("host$ ");
    scene.keys("ls");
    scene.answer("ls");
    scene.key("\r");
    scene.keys("secret");
    scene.engine.handle_hints(cooked);
    scene.partial("\r\nnotes\r\n", 9, 2);
    assert!(!scene.shows(), "the program has not had its time");
    scene.engine.handle_hints(raw);
    scene.partial("host$ ", 9, 3);
    assert!(
        !scene.shows(),
        "the server had the keys before the prompt came"
    );
    scene.partial("se", 9, 3);
    assert_eq!(scene.row(2), "host$ secret");
}

#[test]
fn the_second_half_of_a_multiplexers_command_is_not_drawn_where_the_command_leads() {
    let mut scene = known_prompt(EDITING);
    scene.key("\r");
    let start = scene.typed();
    scene.key("\x02");
    scene.key("o");
    scene.partial("\r\nhost$ ", start, start);
    // The command has led to another pane, and the program may still be busy with it.
    scene.partial("\x1b[8;20Hhost$ ", start + 2, start + 1);
    assert!(!scene.shows());
}

#[test]
fn what_history_brings_is_waited_for_before_enter_is_believed() {
    let mut scene = known_prompt(EDITING);
    let start = scene.typed();
    scene.key("\x1b[A");
    scene.key("\x1b[A");
    scene.key("\r");
    // The server has both, and the first has had its time: the second may bring another line.
    scene.partial("echo bye", start + 6, start + 3);
    assert!(!scene.shows(), "Enter may be for another line");
    scene.partial("\x1b[8D\x1b[Kread -s pw", start + 6, start + 6);
    assert!(scene.shows(), "Enter is for this one");
}

#[test]
fn what_was_typed_ahead_and_does_not_appear_takes_a_prompts_trust_away() {
    let mut scene = known_prompt(EDITING);
    scene.keys("\rse");
    let had_time = scene.typed();
    scene.keys("cret");
    // The prompt is back, and the program has had its time for two characters that are not there.
    scene.partial("\r\nhost$ ", had_time, had_time);
    assert!(!scene.shows());
}

/// A terminal that echoes, as hints of it say if they are given, with part of a line on it.
fn half_a_line(written: &str, hints: Option<TtyHints>) -> Scene {
    let mut scene = Scene::new("");
    if let Some(hints) = hints {
        scene.engine.handle_hints(hints);
    }
    scene.answer(written);
    scene.keys("ab");
    scene.answer("ab");
    scene.keys("c");
    assert!(scene.shows(), "{hints:?}");
    scene
}

const COOKED: TtyHints = TtyHints {
    canonical: true,
    echo: true,
    steady: false,
    alternate: false,
    cursor_shape: CursorShape::Default,
    program: 7,
    class: ProgramClass::Other,
};

#[test]
fn s10_after_a_pause_the_terminal_has_to_echo_again() {
    let relayed = TtyHints {
        canonical: false,
        class: ProgramClass::Relay,
        ..COOKED
    };
    for hints in [None, Some(COOKED), Some(relayed)] {
        // With and without something pending.
        for is_pending in [false, true] {
            let mut scene = half_a_line("name: ", hints);
            if !is_pending {
                scene.answer("c");
            }
            scene.pause(400);
            scene.keys("secret");
            let shown = "name: abc";
            assert_eq!(scene.row(0), shown, "{hints:?} {is_pending}");
            // What came before says nothing of it.
            scene.partial(if is_pending { "c" } else { "" }, 3, 3);
            assert_eq!(scene.row(0), shown, "{hints:?} {is_pending}");
            scene.partial("s", 4, 3);
            assert_eq!(scene.row(0), "name: abcsecret", "its echo is enough");
        }
    }
}

#[test]
fn s10_what_line_editors_and_editors_of_text_echo_stays_echoed() {
    let raw = TtyHints {
        canonical: false,
        echo: false,
        ..COOKED
    };
    for (written, hints) in [
        (format!("{EDITING}name: "), None),
        ("name: ".to_owned(), Some(raw)),
        ("\x1b[10;1H-- INSERT --\x1b[H".to_owned(), None),
    ] {
        let mut scene = half_a_line(&written, hints);
        scene.answer("c");
        scene.pause(400);
        scene.keys("d");
        assert!(scene.row(0).ends_with("abcd"), "{written:?}");
    }
}

#[test]
fn s10_hints_of_a_look_that_was_too_early_confirm_nothing() {
    let mut scene = Scene::new("");
    scene.engine.handle_hints(COOKED);
    scene.answer("name: ");
    scene.pause(600);
    scene.keys("s");
    assert!(!scene.shows());
    // A later look is told although nothing else has changed.
    let steady = TtyHints {
        steady: true,
        ..COOKED
    };
    let mut scene = Scene::new("");
    scene.engine.handle_hints(COOKED);
    scene.answer("name: ");
    scene.engine.handle_hints(steady);
    scene.answer("");
    scene.keys("a");
    assert_eq!(scene.row(0), "name: a");
    // It is of no use for long.
    let mut scene = Scene::new("");
    scene.engine.handle_hints(steady);
    scene.answer("name: ");
    scene.pause(9_500);
    scene.keys("s");
    assert!(!scene.shows());
    // Nor in the middle of a line: that it still echoes may be no longer true.
    let mut scene = half_a_line("name: ", Some(steady));
    scene.answer("c");
    scene.pause(400);
    scene.keys("s");
    assert_eq!(scene.row(0), "name: abc");
    // A paste begins a line, too.
    let pasted = "p".repeat(101);
    let mut scene = Scene::new("");
    scene.engine.handle_hints(steady);
    scene.answer("name: ");
    scene.key(&pasted);
    scene.answer(&pasted);
    scene.pause(500);
    scene.keys("s");
    assert!(!scene.shows());
}

#[test]
fn up_and_down_bring_back_what_was_submitted_and_seen() {
    let mut scene = known_prompt(EDITING);
    scene.keys("pwd");
    scene.answer("pwd");
    scene.key("\r");
    scene.answer("\r\n/home\r\nhost$ ");
    scene.key("\x1b[A");
    assert!(!scene.shows(), "the shell may know other lines");
    scene.answer("pwd");
    scene.key("\x1b[A");
    assert_eq!(scene.row(4), "host$ ls");
    scene.answer("\x08\x08\x08ls\x1b[K");
    scene.key("\x1b[B");
    scene.answer("\x08\x08pwd");
    scene.key("\x1b[B");
    assert_eq!(scene.row(4), "host$");
    scene.answer("\x08\x08\x08\x1b[K");
    assert!(!scene.shows());
    assert_eq!(scene.engine.score().wrong, 0);
}

#[test]
fn s11_what_was_typed_in_secret_is_not_brought_back() {
    let mut scene = known_prompt(EDITING);
    scene.key("\x1b[A");
    scene.answer("ls");
    scene.key("\r");
    scene.answer("\r\nnotes\r\nhost$ ");
    scene.key("\x1b[A");
    assert_eq!(scene.row(4), "host$ ls", "the key is known");
    scene.answer("ls");
    scene.key("\x15");
    scene.answer("\x08\x08\x1b[K");
    scene.keys("hunter2");
    scene.key("\r");
    scene.answer("\r\nhost$ ");
    scene.key("\x1b[A");
    assert_eq!(scene.row(5), "host$");
}

#[test]
fn nothing_is_brought_back_behind_a_line_that_was_not_seen() {
    let mut scene = known_prompt(EDITING);
    scene.keys("sleep 1");
    scene.answer("sleep 1");
    scene.key("\r");
    scene.keys("date\r");
    scene.answer("\r\nhost$ date\r\nnoon\r\nhost$ ");
    scene.keys("id");
    scene.answer("id");
    scene.key("\r");
    scene.answer("\r\nroot\r\nhost$ ");
    scene.key("\x1b[A");
    scene.answer("id");
    scene.key("\x1b[A");
    assert_eq!(scene.row(7), "host$ id", "not the line before date");
}
