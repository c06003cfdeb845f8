//! The user's screen when a session is over, on the terminal's alternate screen or on its main one.

use vt100::Screen;

use crate::support::{PROMPT, Rules, Setup, Terminal, World, adopt_orphans, row_text};

/// Runs `fulmar --local` with these words between two lines of a shell, and returns the screen that is left.
#[track_caller]
fn left_by(words: &str) -> Screen {
    left_after(words, |_| {})
}

/// The same with what a user does in the session.
#[track_caller]
fn left_after(words: &str, act: impl FnOnce(&mut Terminal)) -> Screen {
    adopt_orphans();
    let world = World::new();
    world.write(".profile", format!("PS1='{PROMPT}'\n"));
    world.write(".hushlogin", "");
    let mut shell = world.spawn("sh");
    let script = format!("echo before; \"$0\" --local {words}; echo after");
    shell.arg("-c").arg(script).arg(world.ours("fulmar"));
    let mut terminal = Terminal::start(&shell, Setup::default().size, Rules::Client);
    act(&mut terminal);
    terminal.wait_for_end();
    terminal.expect_restored();
    terminal.screen().clone()
}

/// The rows of a screen down to the last one with text.
fn rows(screen: &Screen) -> Vec<String> {
    let (rows, _) = screen.size();
    let mut rows: Vec<String> = (0..rows).map(|row| row_text(screen, row)).collect();
    let filled = rows.iter().rposition(|row| !row.is_empty());
    rows.truncate(filled.map_or(0, |last| last + 1));
    rows
}

#[test]
fn what_a_command_has_written_stays_without_scrollback() {
    let screen = left_by("--no-scrollback -- sh -c 'echo one; tput setaf 1; echo two'");
    assert_eq!(rows(&screen), ["before", "one", "two", "after"]);
    let two = screen.cell(2, 0).expect("a cell");
    assert_eq!(two.fgcolor(), vt100::Color::Idx(1));
    let after = screen.cell(3, 0).expect("a cell");
    assert_eq!(after.fgcolor(), vt100::Color::Default);
}

#[test]
fn a_line_that_is_longer_than_a_row_stays_one_line_without_scrollback() {
    let long = "x".repeat(100);
    let screen = left_by(&format!("--no-scrollback -- echo {long}"));
    assert!(screen.row_wrapped(1), "the row runs on in the next");
    assert_eq!(rows(&screen)[3], "after");
}

#[test]
fn of_a_program_on_the_second_screen_nothing_stays() {
    let screen = left_by("--no-scrollback -- sh -c 'tput smcup; echo over; tput rmcup'");
    assert_eq!(rows(&screen), ["before", "after"]);
}

#[test]
fn without_a_second_screen_there_is_no_blank_below_a_commands_last_line() {
    let screen = left_by("--no-init -- sh -c 'echo one; echo two'");
    let rows = rows(&screen);
    assert!(
        rows.ends_with(&["one".into(), "two".into(), "after".into()]),
        "{rows:?}"
    );
}

#[test]
fn of_a_shell_nothing_stays_without_scrollback() {
    let screen = left_after("--no-scrollback", |terminal| {
        terminal.wait_for_prompt();
        terminal.type_keys("exit 3\n");
    });
    let told = "[fulmar: the program has exited with status 3]";
    assert_eq!(rows(&screen), ["before", told, "after"]);
}

#[test]
fn of_a_command_that_the_user_has_left_the_screen_stays_without_scrollback() {
    let screen = left_after(
        "--no-scrollback -- sh -c 'echo one; read line'",
        |terminal| {
            terminal.wait_for_text("one");
            terminal.type_keys("\x1e.");
        },
    );
    let told = "[fulmar: you have ended the session]";
    assert_eq!(rows(&screen), ["before", "one", told, "after"]);
}

#[test]
fn what_a_command_has_written_stays() {
    let screen = left_by("-- sh -c 'echo one; tput setaf 1; echo two'");
    assert_eq!(rows(&screen), ["one", "two", "after"]);
    let two = screen.cell(1, 0).expect("a cell");
    assert_eq!(two.fgcolor(), vt100::Color::Idx(1));
    let after = screen.cell(2, 0).expect("a cell");
    assert_eq!(after.fgcolor(), vt100::Color::Default);
}

#[test]
fn a_line_that_is_longer_than_a_row_stays_one_line() {
    let screen = left_by(&format!("-- echo {}", "x".repeat(100)));
    assert!(screen.row_wrapped(0), "the row runs on in the next");
    assert_eq!(rows(&screen)[2], "after");
}

#[test]
fn of_a_shell_the_last_screen_stays_as_with_ssh() {
    let screen = left_after("", |terminal| {
        terminal.wait_for_prompt();
        terminal.type_keys("exit 3\n");
    });
    let rows = rows(&screen);
    assert!(rows[0].starts_with(PROMPT.trim_end()), "{rows:?}");
    let told = "[fulmar: the program has exited with status 3]";
    assert_eq!(rows[rows.len() - 2..], [told, "after"]);
}

#[test]
fn a_program_on_the_second_screen_leaves_what_was_on_the_first() {
    let screen = left_by("-- sh -c 'echo one; tput smcup; echo over; tput rmcup; echo two'");
    assert_eq!(rows(&screen), ["one", "two", "after"]);
}

#[test]
fn of_a_command_that_the_user_has_left_the_screen_stays() {
    let screen = left_after("-- sh -c 'echo one; read line'", |terminal| {
        terminal.wait_for_text("one");
        terminal.type_keys("\x1e.");
    });
    let told = "[fulmar: you have ended the session]";
    assert_eq!(rows(&screen), ["one", told, "after"]);
}
