//! Failures under our own name: each says what happened and what to try, leaves the terminal as it was, and
//! has the status 255.

use std::net::UdpSocket;
use std::process::Output;

use fulmar_platform::Spawn;

use crate::support::{Rules, Setup, Terminal, World, holds};

/// A key that fits no server.
const KEY: &str = "AAAAAAAAAAAAAAAAAAAAAA";

/// Runs `fulmar` with no terminal, as a script would.
fn run(world: &World, arguments: &[&str]) -> Output {
    let mut command = world.command(world.ours("fulmar"));
    command.args(arguments).output().expect("it starts")
}

/// Asserts that a start has failed, with all of these words on standard error and nothing else
/// anywhere.
#[track_caller]
fn expect_failure(output: &Output, words: &[&str]) {
    expect_status(output, 255, words);
}

/// The same with another status.
#[track_caller]
fn expect_status(output: &Output, status: i32, words: &[&str]) {
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{told}");
    for word in words {
        assert!(told.contains(word), "no {word:?} in {told}");
    }
    assert!(output.stdout.is_empty());
}

/// A client on a terminal.
fn client(world: &World, arguments: &[&str], variables: &[(&str, &str)]) -> Terminal {
    let mut command: Spawn = world.spawn(world.ours("fulmar"));
    command.arg("client");
    for argument in arguments {
        command.arg(*argument);
    }
    for (name, value) in variables {
        command.env(*name, *value);
    }
    Terminal::start(&command, Setup::default().size, Rules::Client)
}

#[test]
fn a_command_line_that_makes_no_sense_is_told() {
    let world = World::new();
    expect_failure(&run(&world, &[]), &["nothing to do", "--local"]);
    expect_failure(&run(&world, &["--foo"]), &["--foo", "--help"]);
    expect_failure(&run(&world, &["server", "--foo"]), &["--foo", "--help"]);
    expect_failure(&run(&world, &["server", "-p", "x"]), &["-p", "number"]);
    expect_failure(&run(&world, &["client", "::1"]), &["PORT", "--help"]);
}

#[test]
fn a_host_that_ssh_would_refuse_never_reaches_it() {
    let world = World::new();
    for host in ["-oProxyCommand=x", "ada@-x", "$(x)", "a;b"] {
        let told = run(&world, &["--ssh", "/no/such/ssh", "--", host]);
        expect_failure(&told, &[host, "host name", "as for ssh"]);
    }
}

#[test]
fn what_was_asked_for_is_printed_with_status_0() {
    let world = World::new();
    for (option, word) in [("--help", "--local"), ("--version", "fulmar")] {
        let output = run(&world, &[option]);
        assert_eq!(output.status.code(), Some(0));
        assert!(String::from_utf8_lossy(&output.stdout).contains(word));
        assert!(output.stderr.is_empty());
    }
}

#[test]
fn a_busy_port_is_told_with_its_number() {
    let busy = UdpSocket::bind("0.0.0.0:0").expect("a free port");
    let port = busy.local_addr().expect("it is bound").port().to_string();
    let told = run(&World::new(), &["server", "new", "-p", &port]);
    expect_failure(&told, &[&port, "in use", "--port LOW:HIGH"]);
}

#[test]
fn a_shell_that_is_missing_is_told_before_anybody_connects() {
    let mut world = World::new();
    let told = run(&world, &["server", "new", "--", "no-such-program"]);
    expect_status(&told, 127, &["no-such-program", "PATH"]);
    world.set("SHELL", "/no/such/shell");
    let told = run(&world, &["server", "new"]);
    expect_status(&told, 127, &["/no/such/shell", "SHELL"]);
    let mut command = world.spawn(world.ours("fulmar"));
    command.arg("--local");
    let mut terminal = Terminal::start(&command, Setup::default().size, Rules::Client);
    terminal.wait_for_text("/no/such/shell");
    assert_eq!(terminal.wait_for_end().code(), Some(127));
    terminal.expect_restored();
}

#[test]
fn a_file_that_cannot_be_written_is_told() {
    let words = ["/no/such/folder/trace"];
    let arguments = ["server", "new", "--trace", "/no/such/folder/trace"];
    expect_failure(&run(&World::new(), &arguments), &words);
}

#[test]
fn a_client_that_cannot_begin_leaves_the_terminal_alone() {
    let world = World::new();
    let good = &["127.0.0.1", "60001"] as &[_];
    for (arguments, variables, words) in [
        (good, &[] as &[_], "MOSH_KEY is not set"),
        (good, &[("MOSH_KEY", "AAAA")], "22 characters"),
        (
            good,
            &[("MOSH_KEY", "AAAAAAAAAAAAAAAAAAAAAB")],
            "not base64",
        ),
        (
            &["localhost", "60001"],
            &[("MOSH_KEY", KEY)],
            "localhost is not a",
        ),
        (
            good,
            &[("MOSH_KEY", "AAAA!AAAA!AAAA!AAAA!AA")],
            "not base64",
        ),
    ] {
        let mut terminal = client(&world, arguments, variables);
        assert_eq!(terminal.wait_for_end().code(), Some(255), "{words}");
        terminal.expect_restored();
        terminal.wait_for_text(words);
        let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
        assert!(!shown.contains("AAAA"), "the key is shown");
    }
}

#[test]
fn a_key_may_come_on_standard_input_and_is_not_taken_for_the_terminal() {
    // The output of the client is on its terminal, so that of the shell is looked at.
    let world = World::new();
    let script = format!("echo {KEY} | fulmar client 127.0.0.1 9; echo status $?");
    let mut command = world.spawn("sh");
    let path = world.home().join("ours").display().to_string();
    command.arg("-c").arg(script);
    command.env("PATH", format!("{path}:/usr/bin:/bin"));
    let mut terminal = Terminal::start(&command, Setup::default().size, Rules::None);
    terminal.wait_for_text("127.0.0.1, UDP port 9");
    terminal.type_keys(b"\x1e.\x1e.");
    terminal.wait_for_text("status 255");
    terminal.wait_for_end();
    terminal.expect_restored();
}

#[test]
fn a_closed_port_is_told_with_address_port_and_what_to_check() {
    let world = World::new();
    // Nobody listens, and nobody tells that nobody does: the port is ours, and deaf.
    let deaf = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let port = deaf.local_addr().expect("it is bound").port().to_string();
    let variables = [("MOSH_KEY", KEY)];
    let mut terminal = client(&world, &["127.0.0.1", &port], &variables);
    terminal.wait_for_text(&format!("no answer from 127.0.0.1, UDP port {port}"));
    terminal.type_keys(b"\x1e.\x1e.");
    assert_eq!(terminal.wait_for_end().code(), Some(255));
    terminal.expect_restored();
    terminal.wait_for_text(&format!("no answer from 127.0.0.1, UDP port {port}"));
    terminal.wait_for_text("check that the server runs");
}

#[test]
fn a_port_where_nobody_listens_is_told() {
    let world = World::new();
    let free = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let port = free.local_addr().expect("it is bound").port().to_string();
    drop(free);
    let variables = [("MOSH_KEY", KEY)];
    let mut terminal = client(&world, &["127.0.0.1", &port], &variables);
    terminal.wait_for_text("nothing listens");
    terminal.wait_for_text("quits");
    terminal.type_keys(b"\x1e.\x1e.");
    assert_eq!(terminal.wait_for_end().code(), Some(255));
    terminal.expect_restored();
    terminal.wait_for_text("nothing listens at that port of this machine");
    terminal.wait_for_text("check that the server runs");
    assert!(!holds(terminal.screen(), "on the way"));
}

#[test]
fn an_unknown_terminal_is_told_and_treated_as_plain() {
    let world = World::new();
    let mut command = world.spawn(world.ours("fulmar"));
    command.arg("--local").arg("--");
    command
        .arg("sh")
        .arg("-c")
        .arg("echo; echo all is well; read line");
    command.env("TERM", "no-such-terminal");
    let mut terminal = Terminal::start(&command, Setup::default().size, Rules::Client);
    terminal.wait_for_text("all is well");
    // A notice in the session, and a line after it.
    terminal.wait_for_text("no-such-terminal");
    let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
    assert!(!shown.contains("\x1b[?1049h"), "{shown}");
    terminal.type_keys("\n");
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    terminal.expect_restored();
    terminal.wait_for_text("it is treated as plain");
}

#[test]
fn a_terminal_without_a_screen_is_warned_of() {
    let world = World::new();
    let mut command = world.spawn(world.ours("fulmar"));
    for word in ["--local", "--", "sh", "-c", "read line"] {
        command.arg(word);
    }
    command.env("TERM", "dumb");
    let mut terminal = Terminal::start(&command, Setup::default().size, Rules::Client);
    terminal.wait_for_text("TERM is dumb");
    terminal.type_keys("\n");
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    terminal.expect_restored();
    terminal.wait_for_text("may look wrong");
}

#[test]
fn without_a_terminal_there_is_no_client() {
    let world = World::new();
    let mut command = world.command("setsid");
    command
        .arg("--wait")
        .arg(world.ours("fulmar"))
        .arg("--local");
    let output = command.output().expect("setsid is there");
    expect_failure(&output, &["no terminal", "script(1)"]);
}
