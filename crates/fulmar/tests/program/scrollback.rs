//! The scrollback of a terminal whose second screen is not used.

use vt100::Parser;

use crate::support::{PROMPT, Rules, Setup, Terminal, World, adopt_orphans, write_program};

/// More than any test writes.
const LINES_MAX: usize = 1000;

/// Starts `fulmar --local --no-init` with these words below a line that was there before.
fn start(words: &[&str]) -> (Terminal, World) {
    adopt_orphans();
    let world = World::new();
    world.write(".hushlogin", "");
    world.write(".profile", format!("PS1='{PROMPT}'\n"));
    let mut shell = world.spawn("sh");
    let script = "echo from before; exec \"$0\" --local --no-init \"$@\"";
    shell.arg("-c").arg(script).arg(world.ours("fulmar"));
    for word in words {
        shell.arg(*word);
    }
    (
        Terminal::start(&shell, Setup::default().size, Rules::Client),
        world,
    )
}

/// All lines that a user can scroll to, the oldest first.
fn lines(terminal: &Terminal) -> Vec<String> {
    let (rows, columns) = terminal.screen().size();
    let mut parser = Parser::new(rows, columns, LINES_MAX);
    parser.process(terminal.shown());
    let screen = parser.screen_mut();
    screen.set_scrollback(LINES_MAX);
    let mut lines = Vec::new();
    for above in (1..=screen.scrollback()).rev() {
        screen.set_scrollback(above);
        lines.extend(screen.rows(0, columns).next());
    }
    screen.set_scrollback(0);
    lines.extend(screen.rows(0, columns));
    lines
}

/// Expects that these lines are there, each once and in this order.
#[track_caller]
fn expect_lines(terminal: &Terminal, expected: impl Iterator<Item = String>) {
    let all = lines(terminal);
    let expected: Vec<String> = expected.collect();
    let found: Vec<&String> = all.iter().filter(|line| expected.contains(line)).collect();
    assert_eq!(found, expected.iter().collect::<Vec<_>>(), "of {all:#?}");
}

#[test]
fn every_line_that_was_shown_can_be_scrolled_back_to() {
    let script = "stty -echo; for i in $(seq 100); do echo $i; read line; done";
    let (mut terminal, _world) = start(&["--", "sh", "-c", script]);
    for number in 1..=100 {
        let line = number.to_string();
        terminal.wait_for(&format!("line {number}"), |screen| {
            screen.rows(0, 80).any(|row| row.trim_end() == line)
        });
        terminal.type_keys("\n");
    }
    terminal.wait_for_end();
    let before = ["from before".to_owned()].into_iter();
    expect_lines(
        &terminal,
        before.chain((1..=100).map(|number| number.to_string())),
    );
}

#[test]
fn lines_that_came_at_once_can_be_scrolled_back_to() {
    let (mut terminal, _world) = start(&[]);
    for batch in 0..20 {
        terminal.wait_for_prompt();
        let (first, last) = (batch * 5 + 1, batch * 5 + 5);
        terminal.type_keys(format!("seq {first} {last}\n"));
        terminal.wait_for(&format!("line {last}"), |screen| {
            screen
                .rows(0, 80)
                .any(|row| row.trim_end() == last.to_string())
        });
    }
    terminal.wait_for_prompt();
    terminal.type_keys("exit\n");
    terminal.wait_for_end();
    expect_lines(&terminal, (1..=100).map(|number: u32| number.to_string()));
}

#[test]
fn a_pager_shows_what_has_left_the_screen_while_the_session_goes_on() {
    adopt_orphans();
    let world = World::new();
    world.write(".hushlogin", "");
    world.write(".profile", format!("PS1='{PROMPT}'\n"));
    let pager = world.home().join("pager");
    write_program(
        &pager,
        "#!/bin/sh\ncp /dev/stdin \"$HOME/read\"\necho this is the pager\nread answer </dev/tty\n",
    );
    let mut fulmar = world.spawn(world.ours("fulmar"));
    fulmar.arg("--local").env("PAGER", &pager);
    fulmar.env("TMPDIR", world.home());
    let mut terminal = Terminal::start(&fulmar, Setup::default().size, Rules::Client);
    terminal.wait_for_prompt();
    terminal.type_keys("for n in $(seq 100); do printf 'line %s\\033[31m!\\033[m\\n' $n; done\n");
    terminal.wait_for("the last line", |screen| {
        screen.rows(0, 80).any(|row| row.trim_end() == "line 100!")
    });
    // Lines may come after the screen.
    for turn in 0..100 {
        terminal.type_keys(format!("echo turn {turn}\n"));
        terminal.wait_for_text(&format!("turn {turn}"));
        let all = lines(&terminal);
        if all.iter().filter(|line| line.starts_with("line ")).count() >= 100 {
            break;
        }
    }
    terminal.type_keys("(until [ -e read ]; do sleep 0.05; done; echo from below) &\n");
    terminal.type_keys("\x1e[");
    terminal.wait_for_text("this is the pager");
    let read = std::fs::read_to_string(world.home().join("read")).expect("lines");
    let lines: Vec<&str> = read
        .lines()
        .filter(|line| line.starts_with("line "))
        .collect();
    let wanted: Vec<String> = (1..=100)
        .map(|n| format!("line {n}\x1b[31m!\x1b[m"))
        .collect();
    assert_eq!(lines, wanted);
    let is_left = |entry: std::fs::DirEntry| {
        entry
            .file_name()
            .to_string_lossy()
            .starts_with("fulmar-lines")
    };
    let folder = std::fs::read_dir(world.home()).expect("a folder");
    assert!(!folder.flatten().any(is_left), "the copy has no name");
    // Ctrl-C is the pager's alone.
    terminal.type_keys("\x03");
    terminal.wait_for("the session", |screen| {
        let has = |text: &str| screen.rows(0, 80).any(|row| row.contains(text));
        has("turn") && has("from below")
    });
    terminal.type_keys("echo back $((6 * 7))\n");
    terminal.wait_for_text("back 42");
    terminal.type_keys("exit\n");
    terminal.wait_for_end();
    terminal.expect_restored();
}
