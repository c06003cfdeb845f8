//! The promises of a `mosh-server` to those who start it: options, output, status, and what the program
//! inside finds (docs/protocol.md §2.6).

use std::net::{Ipv4Addr, UdpSocket};
use std::process::Output;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::Signal;

use crate::support::{
    DEADLINE, Make, Pair, Rules, Server, Session, Setup, Terminal, World, adopt_orphans,
    for_each_make,
};
use fulmar_testbed::peers;

for_each_make! {
    version_and_help_are_printed_and_nothing_starts
    a_bad_option_ends_the_start
    an_unknown_option_prints_usage_and_the_start_goes_on
    an_option_for_nobody_swallows_its_argument
    the_connect_line_is_all_of_standard_output
    the_connect_line_stands_alone_on_a_terminal
    the_old_forms_start_too
    the_lowest_free_port_of_a_range_is_taken
    a_range_without_a_free_port_ends_the_start
    the_address_that_ssh_came_in_on_is_bound
    without_that_address_any_is_bound_with_a_warning
    an_address_that_cannot_be_bound_is_told_and_any_is
    without_a_command_a_login_shell_is_started
    the_colours_asked_for_name_the_terminal
    the_locale_of_the_command_line_is_a_fallback
    a_command_that_does_not_exist_is_told_to_the_user
    a_server_left_alone_leaves_when_it_is_told_to
    a_server_that_has_a_client_does_not_obey_a_polite_signal
}

/// A part of the usage. The path under which the program was called may stand before it.
const USAGE: &str = "mosh-server new [-s] [-v] ";

/// Starts a server with these arguments; `None` if the calling test is to return.
#[track_caller]
fn run(make: Make, world: &World, arguments: &[&str]) -> Option<Output> {
    adopt_orphans();
    let mut command = world.command(make.program(world, "mosh-server")?);
    command.args(arguments);
    Some(command.output().expect("the server starts"))
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Expects that the start has succeeded, and returns what was said on standard error with the
/// server, which ends when it is dropped.
#[track_caller]
fn expect_started(output: &Output) -> (Server, String) {
    let (stdout, stderr) = texts(output);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let server = Server::parse(&stdout, &stderr).unwrap_or_else(|| panic!("{output:?}"));
    (server, stderr)
}

/// Expects that the start has failed with `words` on standard error, and nothing is on standard
/// output.
#[track_caller]
fn expect_refused(output: &Output, words: &str) {
    let (stdout, stderr) = texts(output);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stderr.contains(words), "{stderr}");
    assert_eq!(stdout, "", "standard output");
}

fn version_and_help_are_printed_and_nothing_starts(make: Make) {
    let world = World::new();
    for (arguments, first) in [
        (&["--version"][..], "mosh-server ("),
        (&["new", "-p", "0", "--version"], "mosh-server ("),
        (&["--help"], USAGE),
        (&["new", "-h", "--", "true"], USAGE),
    ] {
        let Some(output) = run(make, &world, arguments) else {
            return;
        };
        let (stdout, stderr) = texts(&output);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
        assert!(stdout.contains(first), "{arguments:?}: {stdout}");
        assert_eq!(stderr, "", "{arguments:?}");
    }
}

fn a_bad_option_ends_the_start(make: Make) {
    let world = World::new();
    for (arguments, words) in [
        (["new", "-p", "bogus"], "Bad UDP port range (bogus)"),
        (["new", "-p", "0:70"], "Bad UDP port range (0:70)"),
        (["new", "-p", "99999"], "Bad UDP port range (99999)"),
        (
            ["new", "-p", "60010:60001"],
            "Bad UDP port range (60010:60001)",
        ),
        (["new", "-p", "60001:"], "Bad UDP port range (60001:)"),
        (["new", "-p", "-1"], "Bad UDP port range (-1)"),
        (["new", "-c", "many"], "Bad number of colors (many)"),
    ] {
        let Some(output) = run(make, &world, &arguments) else {
            return;
        };
        expect_refused(&output, words);
        expect_refused(&output, USAGE);
    }
}

fn an_unknown_option_prints_usage_and_the_start_goes_on(make: Make) {
    let Some(output) = run(make, &World::new(), &["new", "-p", "0", "-x"]) else {
        return;
    };
    let (_server, stderr) = expect_started(&output);
    assert!(stderr.contains(USAGE), "{stderr}");
}

fn an_option_for_nobody_swallows_its_argument(make: Make) {
    let arguments = ["new", "-@", "whatever it is", "-p", "0"];
    let Some(output) = run(make, &World::new(), &arguments) else {
        return;
    };
    let (_server, stderr) = expect_started(&output);
    assert!(!stderr.contains(USAGE), "{stderr}");
}

fn the_connect_line_is_all_of_standard_output(make: Make) {
    let Some(output) = run(make, &World::new(), &["new", "-p", "0"]) else {
        return;
    };
    let (server, _) = expect_started(&output);
    let expected = format!("MOSH CONNECT {} {}\n", server.port, server.key);
    assert_eq!(texts(&output).0, expected);
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    assert!(server.key.len() == 22 && server.key.bytes().all(is_base64));
    // The last of 22 characters has two bits of the 16 bytes.
    assert!(server.key.ends_with(['A', 'Q', 'g', 'w']), "{}", server.key);
}

fn the_connect_line_stands_alone_on_a_terminal(make: Make) {
    let world = World::new();
    let Some(program) = make.program(&world, "mosh-server") else {
        return;
    };
    adopt_orphans();
    let mut command = world.spawn(program);
    command.arg("new").arg("-p").arg("0");
    let mut terminal = Terminal::start(&command, Setup::default().size, Rules::None);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
    // The terminal makes CR LF of each LF.
    assert!(shown.starts_with("\r\r\n\r\nMOSH CONNECT "), "{shown:?}");
    let lines = shown.replace("\r\n", "\n");
    let _server = Server::parse(&lines, &lines).expect("a server has started");
}

fn the_old_forms_start_too(make: Make) {
    let port = free_ports(1).to_string();
    for arguments in [&[][..], &["127.0.0.1"], &["127.0.0.1", &port]] {
        let Some(output) = run(make, &World::new(), arguments) else {
            return;
        };
        let (server, _) = expect_started(&output);
        let expected = if arguments.is_empty() {
            Ipv4Addr::UNSPECIFIED
        } else {
            Ipv4Addr::LOCALHOST
        };
        assert_eq!(bound_address(server.port), Some(expected), "{arguments:?}");
        if arguments.len() == 2 {
            assert_eq!(server.port.to_string(), port);
        } else {
            assert!((60001..=60999).contains(&server.port), "{}", server.port);
        }
    }
}

/// Returns the first of `count` free ports in a row, which no other test is given.
fn free_ports(count: u16) -> u16 {
    // Below those that the system hands out; test programs that run side by side begin apart.
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let begin = std::process::id() % 1000 * 20;
    let is_free = |port| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port)).is_ok();
    std::iter::repeat_with(|| NEXT.fetch_add(count.into(), Ordering::Relaxed))
        .map(|number| 10_000 + (begin + number) % 20_000)
        .map(|port| u16::try_from(port).expect("at most 30000"))
        .find(|first| (0..count).all(|number| is_free(first + number)))
        .expect("an endless search")
}

/// The address that a UDP port of this machine is bound to, as the kernel lists it.
fn bound_address(port: u16) -> Option<Ipv4Addr> {
    let list = std::fs::read_to_string("/proc/net/udp").expect("Linux lists its sockets");
    let wanted = format!(":{port:04X}");
    list.lines().skip(1).find_map(|line| {
        let local = line.split_whitespace().nth(1)?;
        let address = local.strip_suffix(&wanted)?;
        let bytes = u32::from_str_radix(address, 16).ok()?.to_ne_bytes();
        Some(Ipv4Addr::from(bytes))
    })
}

fn the_lowest_free_port_of_a_range_is_taken(make: Make) {
    let first = free_ports(3);
    let _taken = UdpSocket::bind((Ipv4Addr::LOCALHOST, first)).expect("a free port");
    let range = format!("{first}:{}", first + 2);
    let arguments = ["new", "-i", "127.0.0.1", "-p", &range];
    let Some(output) = run(make, &World::new(), &arguments) else {
        return;
    };
    let (server, _) = expect_started(&output);
    assert_eq!(server.port, first + 1);
}

fn a_range_without_a_free_port_ends_the_start(make: Make) {
    let taken = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a free port");
    let port = taken
        .local_addr()
        .expect("a bound socket")
        .port()
        .to_string();
    for arguments in [
        &["new", "-p", &port][..],
        &["new", "-i", "127.0.0.1", "-p", &port],
    ] {
        let Some(output) = run(make, &World::new(), arguments) else {
            return;
        };
        expect_refused(&output, "");
        let (_, stderr) = texts(&output);
        assert!(stderr.to_lowercase().contains("in use"), "{stderr}");
    }
}

fn the_address_that_ssh_came_in_on_is_bound(make: Make) {
    let mut world = World::new();
    for address in ["127.0.0.1", "::ffff:127.0.0.1", "::FFFF:127.0.0.1"] {
        world.set("SSH_CONNECTION", &format!("192.0.2.1 1000 {address} 22"));
        let Some(output) = run(make, &world, &["new", "-s", "-p", "0"]) else {
            return;
        };
        let (server, _) = expect_started(&output);
        assert_eq!(
            bound_address(server.port),
            Some(Ipv4Addr::LOCALHOST),
            "{address}"
        );
    }
}

fn without_that_address_any_is_bound_with_a_warning(make: Make) {
    let Some(output) = run(make, &World::new(), &["new", "-s", "-p", "0"]) else {
        return;
    };
    let (server, stderr) = expect_started(&output);
    assert!(stderr.contains("SSH_CONNECTION"), "{stderr}");
    assert_eq!(bound_address(server.port), Some(Ipv4Addr::UNSPECIFIED));
}

fn an_address_that_cannot_be_bound_is_told_and_any_is(make: Make) {
    // A name, and an address of nobody (RFC 5737).
    for address in ["localhost", "192.0.2.1"] {
        let arguments = ["new", "-i", address, "-p", "0"];
        let Some(output) = run(make, &World::new(), &arguments) else {
            return;
        };
        let (server, stderr) = expect_started(&output);
        assert!(stderr.contains(address), "{stderr}");
        assert_eq!(bound_address(server.port), Some(Ipv4Addr::UNSPECIFIED));
    }
}

/// A session of programs of one make, and its terminal when it shows `text`.
#[track_caller]
fn session(make: Make, world: World, command: &[&str], text: &str) -> Option<Session> {
    let pair = Pair {
        server: make,
        client: make,
    };
    let setup = Setup {
        command,
        ..Setup::default()
    };
    let mut session = Session::start_in(world, pair, &setup)?;
    session.terminal.wait_for_text(text);
    Some(session)
}

fn without_a_command_a_login_shell_is_started(make: Make) {
    for (shell, name) in [(Some("/bin/sh"), "-sh"), (Some(""), "-sh"), (None, "-")] {
        // What root of Debian has for a shell.
        if shell.is_none() && peers::require("bash").is_none() {
            return;
        }
        let mut world = World::new();
        match shell {
            Some(shell) => world.set("SHELL", shell),
            None => world.unset("SHELL"),
        }
        world.write(".hushlogin", "");
        // What a system says to those who log in is not of interest, and may clear the screen.
        for profile in [".profile", ".bash_profile"] {
            world.write(profile, "PS1='ready$ '; echo I am $0\n");
        }
        if session(make, world, &[], &format!("I am {name}")).is_none() {
            return;
        }
    }
}

fn the_colours_asked_for_name_the_terminal(make: Make) {
    let mut world = World::new();
    world.set("STY", "1234.pts-1.host");
    for (colours, terminal) in [("256", "xterm-256color"), ("8", "xterm"), ("0", "xterm")] {
        let script = "echo $TERM ${STY-none} $NCURSES_NO_UTF8_ACS $PWD > seen; mv seen told";
        let arguments = [
            "new",
            "-p",
            "0",
            "-i",
            "127.0.0.1",
            "-c",
            colours,
            "--",
            "sh",
            "-c",
            script,
        ];
        let Some(output) = run(make, &world, &arguments) else {
            return;
        };
        let (server, _) = expect_started(&output);
        let client = make.program(&world, "mosh-client").expect("as the server");
        let mut command = world.spawn(client);
        command.arg("127.0.0.1").arg(server.port.to_string());
        command.env("MOSH_KEY", &server.key);
        let mut client = Terminal::start(&command, Setup::default().size, Rules::None);
        client.wait_for_end();
        let seen = std::fs::read_to_string(world.home().join("told")).expect("a file");
        let expected = format!("{terminal} none 1 {}\n", world.home().display());
        assert_eq!(seen, expected);
    }
}

fn the_locale_of_the_command_line_is_a_fallback(make: Make) {
    // An environment without UTF-8 takes what the client says; one with UTF-8 keeps its own.
    for (own, expected) in [("C", "seen C.UTF-8"), ("C.utf8", "seen C.utf8")] {
        let mut world = World::new();
        world.set("LC_ALL", own);
        let arguments = [
            "new",
            "-p",
            "0",
            "-i",
            "127.0.0.1",
            "-l",
            "LC_ALL=C.UTF-8",
            "--",
            "sh",
            "-c",
            "echo seen $LC_ALL; read line",
        ];
        let Some(output) = run(make, &world, &arguments) else {
            return;
        };
        let (server, _) = expect_started(&output);
        world.set("LC_ALL", "C.UTF-8");
        let client = make.program(&world, "mosh-client").expect("as the server");
        let mut command = world.spawn(client);
        command.arg("127.0.0.1").arg(server.port.to_string());
        command.env("MOSH_KEY", &server.key);
        let mut client = Terminal::start(&command, Setup::default().size, Rules::None);
        client.wait_for_text(expected);
    }
}

fn a_command_that_does_not_exist_is_told_to_the_user(make: Make) {
    let command = ["/nonexistent/program"];
    let Some(mut session) = session(make, World::new(), &command, "/nonexistent/program") else {
        return;
    };
    session.terminal.wait_for_end();
    session.terminal.expect_restored();
    session.server.wait_for_end();
}

fn a_server_left_alone_leaves_when_it_is_told_to(make: Make) {
    let mut world = World::new();
    world.set("MOSH_SERVER_NETWORK_TMOUT", "1");
    let Some(session) = session(make, world, &["sh", "-i"], "ready$") else {
        return;
    };
    // A client that is stopped says nothing more, not even goodbye.
    session.signal_client(Signal::STOP);
    assert!(
        session.server.process.wait(DEADLINE),
        "the server still runs"
    );
    assert_eq!(session.server.process.take_status(), Some(0));
}

fn a_server_that_has_a_client_does_not_obey_a_polite_signal(make: Make) {
    let mut world = World::new();
    world.set("MOSH_SERVER_SIGNAL_TMOUT", "600");
    let Some(mut session) = session(make, world, &["sh", "-i"], "ready$") else {
        return;
    };
    session.server.process.signal(Signal::USR1);
    session.terminal.type_keys("echo still $((6 * 7))\n");
    session.terminal.wait_for_text("still 42");
}

#[test]
fn programs_find_the_same_surroundings_with_either_server() {
    let script = "(env; stty -a; umask; ulimit -c; id) > seen 2>&1; mv seen told; read line";
    let seen = |make| {
        let mut world = World::new();
        world.set("STY", "1234.pts-1.host");
        world.set("MINE", "kept");
        let session = session(make, world, &["sh", "-c", script], "")?;
        let mut terminal = session.terminal;
        terminal.type_keys("\n");
        terminal.wait_for_end();
        let seen = std::fs::read_to_string(session.world.home().join("told")).expect("a file");
        let home = session.world.home().display().to_string();
        let mut lines: Vec<String> = seen.lines().map(|line| line.replace(&home, "~")).collect();
        lines.sort();
        Some(lines)
    };
    if peers::require("mosh-server").is_none() {
        return;
    }
    assert_eq!(seen(Make::Ours), seen(Make::Stock));
}
