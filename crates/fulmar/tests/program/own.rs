//! The behaviour of our two ends under our own name, beyond that of stock's.

use std::process::Command;

use fulmar_platform::WindowSize;
use fulmar_testbed::peers;

use crate::support::{
    Rules, Setup, Terminal, World, adopt_orphans, holds, row_text, sees_environments,
};

/// `fulmar` with these arguments on a terminal.
fn start(world: &World, arguments: &[&str], size: WindowSize) -> Terminal {
    adopt_orphans();
    let mut command = world.spawn(world.ours("fulmar"));
    for argument in arguments {
        command.arg(*argument);
    }
    Terminal::start(&command, size, Rules::Client)
}

/// A session on this machine with a shell, after its prompt.
#[track_caller]
fn local(world: &World) -> Terminal {
    let arguments = ["--local", "--", "sh", "-i"];
    let mut terminal = start(world, &arguments, Setup::default().size);
    terminal.wait_for_prompt();
    terminal
}

/// Leaves the shell and expects that everything was put back.
#[track_caller]
fn expect_clean_end(mut terminal: Terminal) {
    terminal.type_keys("exit\n");
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    terminal.expect_restored();
}

#[test]
fn a_window_that_changes_while_we_are_suspended_is_looked_at_again() {
    let world = World::new();
    let mut shell = world.spawn("sh");
    shell.arg("-i").env("PS1", "local$ ");
    let mut terminal = Terminal::start(&shell, Setup::default().size, Rules::Client);
    adopt_orphans();
    terminal.wait_for_last_row("local$");
    let session = "PS1='ready$ ' ours/fulmar --local -- sh -i\n";
    terminal.type_keys(session);
    terminal.wait_for_prompt();
    terminal.type_keys(b"\x1e\x1a");
    terminal.wait_for_text("Stopped");
    terminal.wait_for_last_row("local$");
    terminal.resize(WindowSize {
        rows: 30,
        columns: 100,
    });
    terminal.type_keys("fg\n");
    terminal.wait_for_prompt();
    terminal.type_keys("clear; stty size\n");
    terminal.wait_for_text("30 100");
    terminal.type_keys("exit\n");
    terminal.wait_for_last_row("local$");
    terminal.expect_restored();
}

#[test]
fn a_key_on_standard_input_is_taken_and_the_terminal_still_found() {
    let world = World::new();
    adopt_orphans();
    let arguments = "server new -p 0 -i 127.0.0.1 -- sh -i".split(' ');
    let mut server = world.command(world.ours("fulmar"));
    let output = server.args(arguments).output().expect("the server starts");
    let stdout = String::from_utf8(output.stdout).expect("text");
    let words: Vec<&str> = stdout.split_whitespace().collect();
    let ["MOSH", "CONNECT", port, key] = words[..] else {
        panic!("{stdout:?}");
    };
    let mut shell = world.spawn("sh");
    let script = "printf '%s\\n' $KEY | ours/fulmar client 127.0.0.1 $PORT";
    shell
        .arg("-c")
        .arg(script)
        .env("KEY", key)
        .env("PORT", port);
    let mut terminal = Terminal::start(&shell, Setup::default().size, Rules::Client);
    terminal.wait_for_prompt();
    expect_clean_end(terminal);
}

#[test]
fn a_client_whose_output_is_redirected_does_not_draw_on_the_terminal() {
    let world = World::new();
    let mut shell = world.spawn("sh");
    let script = "ours/fulmar client 127.0.0.1 60001 > drawn; echo status $?; cat drawn";
    shell
        .arg("-c")
        .arg(script)
        .env("MOSH_KEY", "AAAAAAAAAAAAAAAAAAAAAA");
    let mut terminal = Terminal::start(&shell, Setup::default().size, Rules::None);
    terminal.wait_for_text("standard output is not a terminal");
    terminal.wait_for_text("status 255");
    terminal.wait_for_end();
    assert!(!terminal.shown().contains(&0x1b), "{:?}", terminal.shown());
}

#[test]
fn the_escape_key_tells_about_the_link_and_helps() {
    let world = World::new();
    let mut terminal = local(&world);
    for (key, title, words) in [
        (
            "i",
            "fulmar: the link to",
            ["round trip", "native: Fulmar at both ends", "predictions"],
        ),
        (
            "?",
            "fulmar: keys after Ctrl-^",
            ["Ctrl-Z", "show the state of the link", "Ctrl-L"],
        ),
    ] {
        terminal.type_keys(format!("\x1e{key}"));
        terminal.wait_for("a panel below the first row", |screen| {
            row_text(screen, 0).starts_with(title) && words.iter().all(|word| holds(screen, word))
        });
    }
    // A key takes the panel away.
    terminal.type_keys("x\x7f");
    terminal.wait_for("no panel", |screen| !holds(screen, "fulmar: "));
    expect_clean_end(terminal);
}

#[test]
fn a_printable_escape_key_works_at_the_first_key_and_its_end_is_the_users() {
    let world = World::new();
    let mut terminal = start(
        &world,
        &["--local", "--escape-key", "~", "--", "sh", "-i"],
        Setup::default().size,
    );
    terminal.wait_for_prompt();
    terminal.type_keys("~.");
    assert_eq!(terminal.wait_for_end().code(), Some(255), "as ssh after ~.");
    terminal.expect_restored();
    assert!(holds(
        terminal.screen(),
        "[fulmar: you have ended the session]"
    ));
}

#[test]
fn a_window_of_no_size_is_taken_for_a_usual_one() {
    let world = World::new();
    let no_size = WindowSize {
        rows: 0,
        columns: 0,
    };
    let arguments = ["--local", "--", "sh", "-c", "stty size > told"];
    let mut terminal = start(&world, &arguments, no_size);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    let told = std::fs::read_to_string(world.home().join("told")).expect("a file");
    assert_eq!(told, "24 80\n");
}

#[test]
fn the_key_is_not_in_the_clients_environment() {
    if !sees_environments() {
        return;
    }
    let world = World::new();
    let key = "AAAAAAAAAAAAAAAAAAAAAA";
    let mut command = world.spawn(world.ours("fulmar"));
    let deaf = std::net::UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let port = deaf
        .local_addr()
        .expect("a bound socket")
        .port()
        .to_string();
    command
        .arg("client")
        .arg("127.0.0.1")
        .arg(&port)
        .env("MOSH_KEY", key);
    let mut terminal = Terminal::start(&command, Setup::default().size, Rules::Client);
    terminal.wait_for_text(&port);
    for list in ["environ", "cmdline"] {
        let path = format!("/proc/{}/{list}", terminal.pid());
        let text = std::fs::read(path).expect("our own process");
        assert!(!String::from_utf8_lossy(&text).contains(key), "{list}");
    }
}

#[test]
fn help_and_version_are_for_standard_output() {
    let world = World::new();
    for (arguments, words) in [
        (&["--help"][..], &["--local", "server", "client"][..]),
        (&["server", "--help"], &["-p", "--trace"]),
        (&["client", "--help"], &["MOSH_KEY", "ADDRESS"]),
        (&["--version"], &["fulmar 0."]),
    ] {
        let mut command = world.command(world.ours("fulmar"));
        let output = command.args(arguments).output().expect("it starts");
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert_eq!(output.stderr, b"", "{arguments:?}");
        for word in words {
            assert!(
                stdout.contains(word),
                "{arguments:?}: no {word:?} in {stdout}"
            );
        }
    }
}

#[test]
fn the_version_names_the_commit_in_a_checkout() {
    // Who compiled the program may have had it.
    if peers::require("git").is_none() {
        return;
    }
    let world = World::new();
    let mut git = Command::new("git");
    git.args(["-C", env!("CARGO_MANIFEST_DIR")]);
    let commit = git.args(["rev-parse", "--short=10", "HEAD"]).output();
    // Sources that are no checkout have no commit.
    let commit = commit.ok().filter(|output| output.status.success());
    let version = match commit.and_then(|output| String::from_utf8(output.stdout).ok()) {
        Some(commit) => format!(
            concat!("fulmar ", env!("CARGO_PKG_VERSION"), " ({})\n"),
            commit.trim()
        ),
        None => concat!("fulmar ", env!("CARGO_PKG_VERSION"), "\n").to_owned(),
    };
    let mut command = world.command(world.ours("fulmar"));
    let output = command.arg("--version").output().expect("it starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), version);
}

#[test]
fn the_shape_that_a_program_gives_the_cursor_is_shown_and_reset_at_the_end() {
    let world = World::new();
    let script = "printf '\\033[6 q'; echo changed; read line; printf '\\033[2 q'; read line";
    let arguments = ["--local", "--", "sh", "-c", script];
    let mut terminal = start(&world, &arguments, Setup::default().size);
    terminal.wait_for_text("changed");
    terminal.wait_for_bytes(0, b"\x1b[6 q");
    let from = terminal.shown().len();
    terminal.type_keys("\n");
    terminal.wait_for_bytes(from, b"\x1b[2 q");
    let from = terminal.shown().len();
    terminal.type_keys("\n");
    terminal.wait_for_end();
    terminal.wait_for_bytes(from, b"\x1b[0 q");
    terminal.expect_restored();
}

#[test]
fn colours_of_24_bits_reach_a_terminal_of_256_colours_unless_the_user_says_otherwise() {
    let world = World::new();
    for (options, told) in [(&[][..], true), (&["--true-color", "never"], false)] {
        let script = "printf '\\033[38;2;1;2;3mcolour\\n'";
        let mut arguments = vec!["--local"];
        arguments.extend(options.iter().chain(&["--", "sh", "-c", script]));
        let mut terminal = start(&world, &arguments, Setup::default().size);
        terminal.wait_for_end();
        let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
        assert!(shown.contains("colour"), "{shown}");
        assert_eq!(shown.contains("38;2;1;2;3m"), told, "{shown}");
    }
}

#[test]
fn a_terminal_that_says_more_of_itself_than_its_type_shows_more() {
    let world = World::new();
    let script = "stty raw -echo; printf '\\033[4:3mcurly\\033[m\\r\\n'; head -c 3 | od -An -tx1";
    for (options, is_asked) in [(&[][..], true), (&["--no-probe"], false)] {
        let mut arguments = vec!["--local"];
        arguments.extend(options.iter().chain(&["--", "sh", "-c", script]));
        let mut terminal = start(&world, &arguments, Setup::default().size);
        terminal.wait_for_text("curly");
        if is_asked {
            // In two pieces, with a key behind them.
            terminal.type_now("\x1bP>|kitty(0.36.4)\x1b");
            terminal.type_now("\\a\x1b[?2026;2$y\x1b[?62;22c");
            terminal.wait_for_bytes(0, b"4:3m");
        } else {
            terminal.type_keys("a");
        }
        terminal.type_keys("bc");
        terminal.wait_for_text("61 62 63");
        terminal.wait_for_end();
        terminal.expect_restored();
        let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
        assert_eq!(shown.contains("\x1b[c"), is_asked, "{shown:?}");
        assert_eq!(shown.contains("4:3m"), is_asked, "{shown:?}");
    }
}

#[test]
fn keys_arrive_in_the_form_that_a_program_has_asked_for_and_the_escape_key_works_in_it() {
    let world = World::new();
    let script = "stty raw -echo; printf '\\033[?u\\033[c'; head -c 22 | od -An -c; printf '\\033[>1u'; \
                  echo asked; head -c 5 | od -An -c; sleep 1000";
    let arguments = ["--local", "--", "sh", "-c", script];
    let mut terminal = start(&world, &arguments, Setup::default().size);
    terminal.wait_for_bytes(0, b"\x1b[c");
    terminal.type_now("\x1b[?0u\x1b[?62;22c");
    // The program is told that the terminal knows it, before it is told what the terminal is.
    terminal.wait_for_text("[   ?   0   u");
    terminal.wait_for_text("asked");
    terminal.wait_for_bytes(0, b"\x1b[=1;1u");
    terminal.type_now("\x1b[27u");
    terminal.wait_for_text("[   2   7");
    let from = terminal.shown().len();
    terminal.type_now("\x1b[94;5u.");
    assert_eq!(terminal.wait_for_end().code(), Some(255));
    terminal.wait_for_bytes(from, b"\x1b[<u");
    terminal.expect_restored();
}

#[test]
fn a_title_is_put_back_if_a_program_has_changed_it_and_the_cursors_shape_is_left_alone() {
    let world = World::new();
    for (change, told) in [("\\033]2;new\\007", true), ("", false)] {
        let script = format!("printf '{change}'; echo changed; read line");
        let arguments = ["--local", "--no-init", "--", "sh", "-c", &script];
        let mut terminal = start(&world, &arguments, Setup::default().size);
        terminal.wait_for_text("changed");
        terminal.type_keys("\n");
        terminal.wait_for_end();
        terminal.expect_restored();
        let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
        for sequence in ["\x1b[22;0;0t", "\x1b[23;0;0t"] {
            assert_eq!(shown.contains(sequence), told, "{sequence:?} in {shown:?}");
        }
        // No program has changed it.
        assert!(!shown.contains(" q"), "{shown:?}");
    }
}
