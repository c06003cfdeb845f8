use super::*;
use crate::testing::{at, line, screen};
use crate::tty_hints::ProgramClass;

/// The context's id behind what was written, at the cursor.
fn behind(bytes: &str) -> Option<ContextId> {
    let screen = screen(6, 60, bytes);
    prompt_id(&screen, screen.cursor().position, None)
}

#[test]
fn prompts_are_known_by_their_ends() {
    for prompt in [
        "$ ",
        "# ",
        "user@host:~/src$ ",
        "user@host ~ % ",
        "❯ ",
        "~/src ❯ ",
        ">>> ",
        "(gdb) ",
        "sqlite> ",
        "db=# ",
        "[user@host dir]$ ",
        "$",
        "λ ",
        "│ > ",
        "... ",
        "➜  ~ ",
        "➜  src git:(main) ✗ ",
        " user \u{e0b0} src \u{e0b0} ",
    ] {
        assert!(behind(prompt).is_some(), "{prompt:?}");
    }
}

#[test]
fn questions_and_text_are_no_prompts() {
    for text in [
        "",
        "   ",
        "Password: ",
        "Name: ",
        "user@host's password: ",
        "Enter passphrase for key '~/.ssh/id' > ",
        "Enter PIN > ",
        "Verification code ❯ ",
        "Passwort> ",
        "token $ ",
        "密码> ",
        "text",
        "yes/no? ",
        "$    ",
        "...and so on... ",
    ] {
        assert_eq!(behind(text), None, "{text:?}");
    }
}

#[test]
fn a_question_in_the_row_above_is_heeded() {
    for question in [
        "Enter your secret",
        "PIN:",
        "Your pass?",
        "Passphrase for key",
        "密码",
    ] {
        assert_eq!(behind(&format!("{question}\r\n> ")), None, "{question:?}");
    }
    for text in [
        "Enter your name",
        "done sleeping",
        "3 passed",
        "tokenizer.rs",
    ] {
        assert!(behind(&format!("{text}\r\n> ")).is_some(), "{text:?}");
    }
}

#[test]
fn a_line_as_long_as_the_row_is_no_prompt() {
    assert!(behind(&format!("{}> ", "x".repeat(42))).is_some());
    assert_eq!(behind(&format!("{}> ", "x".repeat(43))), None);
}

#[test]
fn prompts_differ_by_what_they_are_made_of() {
    let shell = behind("user@host:~$ ");
    assert_eq!(shell, behind("\r\nuser@host:~/other/folder$ "));
    for other in [
        "user@host:~# ",
        "root@host:~$ ",
        "user@host:~$",
        "\x1b[?2004huser@host:~$ ",
        "\x1b[?1000huser@host:~$ ",
        "\x1b[?25luser@host:~$ ",
    ] {
        assert_ne!(shell, behind(other), "{other:?}");
    }
}

#[test]
fn a_prompt_that_ends_with_a_folder_is_the_same_in_others() {
    assert_eq!(behind("➜  src "), behind("➜  other "));
    assert_eq!(behind("➜  src"), None);
    assert_eq!(behind("➜  password "), None);
}

#[test]
fn hints_tell_programs_apart() {
    let screen = line("> ");
    let of = |program, canonical| {
        let class = ProgramClass::Shell;
        let hints = TtyHints {
            program,
            canonical,
            class,
            ..TtyHints::default()
        };
        prompt_id(&screen, at(0, 2), Some(&hints))
    };
    assert!(of(1, false).is_some());
    assert_ne!(of(1, false), of(2, false));
    assert_ne!(of(1, false), of(1, true));
}

#[test]
fn the_prompt_of_a_pane_is_that_without_panes() {
    let alone = behind("$ ");
    let pane = behind("other text │\r\n  and more │ $ ");
    assert!(alone.is_some());
    assert_eq!(pane, alone);
}
