//! A starter of either make, the command `mosh`, finds and joins any two ends, on this machine and
//! over ssh.

use fulmar_testbed::Sshd;

use crate::support::{
    DEADLINE, Make, Pair, Process, SERVER_STAYS_SECONDS, Setup, Terminal, World, adopt_orphans,
    for_each_pair, rules,
};

/// A key, to be told by a server that is none.
const KEY: &str = "c68K8iLyuCr1oEM7Hszyjg";

for_each_pair! {
    a_local_session_by_stocks_starter
    a_local_session_by_our_starter
    a_session_over_ssh_by_stocks_starter
    a_session_over_ssh_by_our_starter
}

fn a_local_session_by_stocks_starter(pair: Pair) {
    a_local_session(Make::Stock, pair);
}

fn a_local_session_by_our_starter(pair: Pair) {
    a_local_session(Make::Ours, pair);
}

fn a_session_over_ssh_by_stocks_starter(pair: Pair) {
    a_session_over_ssh(Make::Stock, pair);
}

fn a_session_over_ssh_by_our_starter(pair: Pair) {
    a_session_over_ssh(Make::Ours, pair);
}

/// `mosh` on a terminal with these ends, before its options; `None` if the calling test is to
/// return.
#[track_caller]
fn mosh(world: &World, starter: Make, pair: Pair) -> Option<fulmar_platform::Spawn> {
    let mosh = starter.program(world, "mosh")?;
    let server = pair.server.program(world, "mosh-server")?;
    let client = pair.client.program(world, "mosh-client")?;
    adopt_orphans();
    let mut command = world.spawn(mosh);
    // Over ssh the environment does not arrive, so it is part of the command.
    let stays = format!("env MOSH_SERVER_NETWORK_TMOUT={SERVER_STAYS_SECONDS}");
    command.arg(format!("--server={stays} {}", server.display()));
    command.arg(format!("--client={}", client.display()));
    command.arg("--predict=never");
    Some(command)
}

/// Waits for the prompt, sees that keys arrive, leaves, and expects that nothing is left.
#[track_caller]
fn expect_session(world: &World, mut terminal: Terminal) {
    terminal.wait_for_prompt();
    terminal.type_keys("echo $PPID > pid; pwd; echo $TERM $((6 * 7))\n");
    terminal.wait_for_text("xterm-256color 42");
    terminal.wait_for_prompt();
    let pid = std::fs::read_to_string(world.home().join("pid")).expect("a file");
    let server = Process::of(pid.trim().parse().expect("a number")).expect("a running server");
    terminal.type_keys("exit\n");
    assert_eq!(
        terminal.wait_for_end().code(),
        Some(0),
        "the status of mosh"
    );
    terminal.expect_restored();
    assert!(server.wait(DEADLINE), "the server still runs");
    assert_eq!(server.take_status(), Some(0), "the server's status");
}

fn a_local_session(starter: Make, pair: Pair) {
    let world = World::new();
    let Some(mut command) = mosh(&world, starter, pair) else {
        return;
    };
    for argument in ["--local", "-p", "0", "127.0.0.1", "--", "sh", "-i"] {
        command.arg(argument);
    }
    let terminal = Terminal::start(&command, Setup::default().size, rules(pair.client));
    expect_session(&world, terminal);
}

fn a_session_over_ssh(starter: Make, pair: Pair) {
    let world = World::new();
    let Some(mut command) = mosh(&world, starter, pair) else {
        return;
    };
    let Some(sshd) = Sshd::start(world.home()) else {
        return;
    };
    // The login has the home and the environment of the user who runs the tests.
    let script = format!("cd {}; PS1='ready$ ' exec sh -i", world.home().display());
    command.arg(format!("--ssh={}", sshd.ssh_command()));
    for argument in ["-p", "0", "127.0.0.1", "--", "sh", "-c", &script] {
        command.arg(argument);
    }
    let terminal = Terminal::start(&command, Setup::default().size, rules(pair.client));
    expect_session(&world, terminal);
}

/// Nobody has named a client, and our program has no link in `PATH`.
#[test]
fn our_starter_brings_its_own_client() {
    let world = World::new();
    let Some(sshd) = Sshd::start(world.home()) else {
        return;
    };
    adopt_orphans();
    for route in ["proxy", "remote", "local"] {
        let mut command = world.spawn(world.ours("fulmar"));
        let script = format!("cd {}; PS1='ready$ ' exec sh -i", world.home().display());
        let stays = format!("env MOSH_SERVER_NETWORK_TMOUT={SERVER_STAYS_SECONDS}");
        let server = world.ours("mosh-server");
        for argument in [
            "mosh",
            &format!("--server={stays} {}", server.display()),
            &format!("--ssh={}", sshd.ssh_command()),
            &format!("--experimental-remote-ip={route}"),
            "--no-ssh-pty",
            "-p",
            "0",
            "127.0.0.1",
            "--",
            "sh",
            "-c",
            &script,
        ] {
            command.arg(argument);
        }
        let terminal = Terminal::start(&command, Setup::default().size, rules(Make::Ours));
        expect_session(&world, terminal);
    }
}

/// A starter of ours on a terminal, with a script in place of ssh. The script knows a pipe, `$gate`,
/// that the test can open.
fn with_script(world: &World, script: &str) -> Terminal {
    let gate = world.home().join("gate");
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        &gate,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
    )
    .expect("a pipe with a name");
    let script = format!("gate={}\necho $$ > pid\n{script}\n", gate.display());
    let script = world.write("ssh-script", script);
    let mut command = world.spawn(world.ours("mosh"));
    command
        .arg(format!("--ssh=sh {}", script.display()))
        .arg("host");
    Terminal::start(&command, Setup::default().size, rules(Make::Ours))
}

/// The script, held by its process number.
fn script_process(world: &World) -> Process {
    let pid = std::fs::read_to_string(world.home().join("pid")).expect("a file");
    Process::of(pid.trim().parse().expect("a number")).expect("the script was not waited for")
}

#[test]
fn what_ssh_prints_is_shown_as_it_comes() {
    let world = World::new();
    let mut terminal = with_script(&world, "echo first; read line < $gate; echo second; exit 3");
    terminal.wait_for_text("first");
    std::fs::write(world.home().join("gate"), "go\n").expect("the script reads");
    terminal.wait_for_text("second");
    assert_eq!(terminal.wait_for_end().code(), Some(1));
    terminal.wait_for_text("no server was started on host");
}

#[test]
fn an_interrupt_while_ssh_runs_ends_both() {
    let world = World::new();
    let mut terminal = with_script(&world, "echo first; read line < $gate");
    terminal.wait_for_text("first");
    let script = script_process(&world);
    terminal.type_keys(b"\x03");
    assert_eq!(terminal.wait_for_end().code(), Some(130));
    assert!(script.wait(DEADLINE), "ssh still runs");
    terminal.wait_for_text("mosh: ended by SIGINT");
    let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
    assert!(shown.contains("^C\r\nmosh: "), "{shown}");
    terminal.expect_restored();
}

#[test]
fn an_ssh_that_misses_the_interrupt_and_the_first_request_to_end_is_asked_again() {
    let world = World::new();
    // A shell's `read` ends with each signal that has a trap, as ssh's does if it has begun.
    let script = "trap : INT TERM; echo first; read a < $gate; read b < $gate; read c < $gate";
    let mut terminal = with_script(&world, script);
    terminal.wait_for_text("first");
    let script = script_process(&world);
    terminal.type_keys(b"\x03");
    assert_eq!(terminal.wait_for_end().code(), Some(130));
    assert!(script.wait(DEADLINE), "ssh still runs");
}

#[test]
fn nobody_but_us_says_what_looks_like_our_words() {
    let world = World::new();
    let script = "echo 'mosh: all is well'; echo '  [mosh is exiting.]'; echo Welcome to mosh >&2";
    let mut terminal = with_script(&world, script);
    assert_eq!(terminal.wait_for_end().code(), Some(1));
    let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
    let told =
        "others say: mosh: all is well\r\n  others say: [mosh is exiting.]\r\nWelcome to mosh\r\n";
    assert!(shown.starts_with(told), "{shown}");
}

#[test]
fn a_port_that_is_none_is_told_in_one_line_with_what_to_try() {
    for port in ["0", "65536"] {
        let world = World::new();
        let script = format!("echo MOSH IP 127.0.0.1; echo MOSH CONNECT {port} {KEY}");
        let mut terminal = with_script(&world, &script);
        assert_eq!(terminal.wait_for_end().code(), Some(1));
        let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
        let [error, advice] = shown.lines().collect::<Vec<_>>()[..] else {
            panic!("not two lines: {shown}");
        };
        assert!(
            error.starts_with("mosh: ") && error.contains("MOSH CONNECT"),
            "{shown}"
        );
        assert!(
            advice.starts_with("  ") && advice.contains("look at"),
            "{shown}"
        );
        assert!(!shown.contains(KEY), "it is a key: {shown}");
    }
}

#[test]
fn a_line_that_makes_no_sense_ends_ssh_too() {
    let world = World::new();
    let script = "echo MOSH CONNECT 60001 nonsense; read line < $gate";
    let mut terminal = with_script(&world, script);
    assert_eq!(terminal.wait_for_end().code(), Some(1));
    terminal.wait_for_text("begins with MOSH CONNECT");
    let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
    assert!(!shown.contains("nonsense"), "it could be a key: {shown}");
    let pid = std::fs::read_to_string(world.home().join("pid")).expect("a file");
    let script = Process::of(pid.trim().parse().expect("a number"));
    assert!(
        script.is_none_or(|script| script.wait(DEADLINE)),
        "ssh still runs"
    );
}
