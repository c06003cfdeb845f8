//! However a session ends, both programs leave, and the user's terminal is as it was.

use fulmar_platform::Spawn;
use rustix::process::Signal;

use crate::support::{
    Make, Pair, Process, Server, Session, Setup, Terminal, Wire, World, for_each_pair, holds, rules,
};

for_each_pair! {
    a_shell_that_exits_ends_the_session
    the_quit_key_ends_the_session
    a_signal_to_the_client_ends_the_session
    a_signal_to_the_server_ends_the_session
    a_window_that_is_closed_ends_the_session
    a_server_that_was_killed_is_noticed_and_left
    a_suspended_client_comes_back
    the_screen_from_before_is_there_again
}

/// The keys that quit.
const QUIT: &[u8] = b"\x1e.";

/// Waits until both have left, status 0 each, the shell too, and the terminal is restored.
#[track_caller]
fn expect_clean_end(mut session: Session, shell: &Process) {
    let status = session.terminal.wait_for_end();
    assert_eq!(status.code(), Some(0), "the client's status");
    session.terminal.expect_restored();
    assert_eq!(
        session.server.wait_for_end(),
        Some(0),
        "the server's status"
    );
    assert!(shell.wait(crate::support::DEADLINE), "the shell still runs");
}

/// A session, and the shell in it.
#[track_caller]
fn with_shell(pair: Pair) -> Option<(Session, Process)> {
    let mut session = Session::with_shell(pair, Wire::Direct)?;
    session.terminal.type_keys("echo $$ > pid\n");
    session.terminal.type_keys("clear; echo told\n");
    session.terminal.wait_for_text("told");
    session.terminal.wait_for_prompt();
    let pid = std::fs::read_to_string(session.world.home().join("pid")).expect("a file");
    let shell = Process::of(pid.trim().parse().expect("a number")).expect("a running shell");
    Some((session, shell))
}

fn a_shell_that_exits_ends_the_session(pair: Pair) {
    let Some((mut session, shell)) = with_shell(pair) else {
        return;
    };
    session.terminal.type_keys("exit 3\n");
    expect_clean_end(session, &shell);
}

fn the_quit_key_ends_the_session(pair: Pair) {
    let Some((mut session, shell)) = with_shell(pair) else {
        return;
    };
    session.terminal.type_keys(QUIT);
    expect_clean_end(session, &shell);
}

fn a_signal_to_the_client_ends_the_session(pair: Pair) {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT, Signal::PIPE] {
        let Some((session, shell)) = with_shell(pair) else {
            return;
        };
        session.signal_client(signal);
        expect_clean_end(session, &shell);
    }
}

fn a_signal_to_the_server_ends_the_session(pair: Pair) {
    for signal in [Signal::TERM, Signal::INT, Signal::USR1] {
        let Some((session, shell)) = with_shell(pair) else {
            return;
        };
        session.server.process.signal(signal);
        expect_clean_end(session, &shell);
    }
}

fn a_window_that_is_closed_ends_the_session(pair: Pair) {
    let Some((mut session, shell)) = with_shell(pair) else {
        return;
    };
    let client = session.terminal.close_window();
    assert!(
        client.wait(crate::support::DEADLINE),
        "the client still runs"
    );
    assert_eq!(
        session.server.wait_for_end(),
        Some(0),
        "the server's status"
    );
    assert!(shell.wait(crate::support::DEADLINE), "the shell still runs");
}

fn a_server_that_was_killed_is_noticed_and_left(pair: Pair) {
    let Some((mut session, shell)) = with_shell(pair) else {
        return;
    };
    session.server.process.signal(Signal::KILL);
    // On loopback our client hears that nobody has the port any more.
    session.terminal.wait_for_text(match pair.client {
        Make::Stock => "Last contact",
        Make::Ours => "the server is gone: nothing listens",
    });
    session.terminal.wait_for_text("quit");
    session.terminal.type_keys(QUIT);
    let status = session.terminal.wait_for_end();
    assert_eq!(status.code(), Some(1), "the client's status");
    session.terminal.expect_restored();
    assert!(shell.wait(crate::support::DEADLINE), "the shell still runs");
}

/// A shell of the user's machine, in which a client is started as a job.
fn local_shell(pair: Pair) -> Option<(Terminal, Server, World)> {
    let world = World::new();
    let server = pair.server.program(&world, "mosh-server")?;
    let client = pair.client.program(&world, "mosh-client")?;
    let server = Server::start(&world, &server, &["sh", "-i"]);
    let mut shell: Spawn = world.spawn("sh");
    shell
        .arg("-i")
        .env("PS1", "local$ ")
        .env("MOSH_KEY", &server.key)
        .env("CLIENT", client)
        .env("PORT", server.port.to_string());
    let terminal = Terminal::start(&shell, Setup::default().size, rules(pair.client));
    Some((terminal, server, world))
}

fn a_suspended_client_comes_back(pair: Pair) {
    let Some((mut terminal, server, _world)) = local_shell(pair) else {
        return;
    };
    terminal.type_keys("$CLIENT 127.0.0.1 $PORT\n");
    terminal.wait_for_prompt();
    terminal.type_keys("clear; echo in the session\n");
    terminal.wait_for_text("in the session");

    terminal.type_keys(b"\x1e\x1a");
    terminal.wait_for_text("Stopped");
    terminal.wait_for_last_row("local$");
    terminal.expect_restored();
    let before = terminal.shown().len();
    terminal.type_keys("fg\n");
    terminal.wait_for_bytes(before, b"in the session");
    terminal.wait_for_prompt();

    terminal.type_keys("exit\n");
    terminal.wait_for_last_row("local$");
    assert_eq!(server.wait_for_end(), Some(0), "the server's status");
    terminal.type_keys("echo left with $?\n");
    terminal.wait_for_text("left with 0");
}

fn the_screen_from_before_is_there_again(pair: Pair) {
    let Some((mut terminal, _server, _world)) = local_shell(pair) else {
        return;
    };
    terminal.type_keys("echo from before; $CLIENT 127.0.0.1 $PORT\n");
    terminal.wait_for_prompt();
    terminal.type_keys("clear; exit\n");
    terminal.wait_for_last_row("local$");
    assert!(holds(terminal.screen(), "from before"));
    terminal.expect_restored();
}
