//! The promises of a `mosh-client` to those who start it: arguments, environment, status, escape keys, and
//! what it does to the terminal (docs/protocol.md §2.8, §9.2, §11).

use fulmar_platform::Spawn;

use crate::support::{Make, Pair, Session, Setup, Terminal, World, for_each_make, rules};

for_each_make! {
    the_version_is_printed
    the_number_of_colours_is_printed
    a_bad_start_is_told_and_leaves_the_terminal_alone
    without_a_terminal_the_start_is_refused
    a_server_that_never_answers_can_be_left
    a_printable_escape_key_works_at_the_beginning_of_a_line
    without_an_escape_key_every_byte_is_passed
    the_escape_key_is_typed_by_its_pass_key
    the_alternate_screen_is_left_alone_on_demand
    titles_have_a_prefix_that_can_be_switched_off
    a_repaint_is_asked_of_client_and_program
}

/// A key that fits no server.
const KEY: &str = "AAAAAAAAAAAAAAAAAAAAAA";

/// A client with these arguments; `None` if the calling test is to return.
#[track_caller]
fn client(make: Make, world: &World, arguments: &[&str]) -> Option<Spawn> {
    let mut command = world.spawn(make.program(world, "mosh-client")?);
    for argument in arguments {
        command.arg(*argument);
    }
    Some(command)
}

fn start(make: Make, command: &Spawn) -> Terminal {
    Terminal::start(command, Setup::default().size, rules(make))
}

fn shown(terminal: &Terminal) -> String {
    String::from_utf8_lossy(terminal.shown()).into_owned()
}

fn the_version_is_printed(make: Make) {
    let world = World::new();
    let Some(program) = make.program(&world, "mosh-client") else {
        return;
    };
    let output = world
        .command(program)
        .arg("--version")
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(0));
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.starts_with("mosh-client ("), "{stdout}");
}

fn the_number_of_colours_is_printed(make: Make) {
    let mut world = World::new();
    for (terminal, status, colours) in [
        ("xterm-256color", 0, "256\n"),
        ("xterm", 0, "8\n"),
        ("vt100", 0, "-1\n"),
        ("nonsense", 1, ""),
    ] {
        world.set("TERM", terminal);
        let Some(program) = make.program(&world, "mosh-client") else {
            return;
        };
        let output = world
            .command(program)
            .arg("-c")
            .output()
            .expect("it starts");
        assert_eq!(output.status.code(), Some(status), "{terminal}");
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            colours,
            "{terminal}"
        );
    }
}

/// A bad start: its fault, the arguments, and the variables beside the usual ones.
type BadStart<'a> = (&'a str, &'a [&'a str], &'a [(&'a str, &'a str)]);

fn a_bad_start_is_told_and_leaves_the_terminal_alone(make: Make) {
    let good = &["127.0.0.1", "60001"];
    let key = ("MOSH_KEY", KEY);
    let cases: &[BadStart<'_>] = &[
        ("no arguments", &[], &[key]),
        ("one argument", &["127.0.0.1"], &[key]),
        ("a third argument", &["127.0.0.1", "60001", "more"], &[key]),
        ("a port that is no number", &["127.0.0.1", "6000l"], &[key]),
        ("a name for an address", &["localhost", "60001"], &[key]),
        ("no key", good, &[]),
        ("a short key", good, &[("MOSH_KEY", "AAAA")]),
        (
            "a long key",
            good,
            &[("MOSH_KEY", "AAAAAAAAAAAAAAAAAAAAAAA")],
        ),
        (
            "other characters",
            good,
            &[("MOSH_KEY", "!!!!!!!!!!!!!!!!!!!!!!")],
        ),
        (
            "a bit too many",
            good,
            &[("MOSH_KEY", "AAAAAAAAAAAAAAAAAAAAAB")],
        ),
        ("an unknown TERM", good, &[key, ("TERM", "nonsense")]),
        (
            "unknown guessing",
            good,
            &[key, ("MOSH_PREDICTION_DISPLAY", "perhaps")],
        ),
    ];
    let world = World::new();
    for (case, arguments, variables) in cases {
        let Some(mut command) = client(make, &world, arguments) else {
            return;
        };
        for (name, value) in *variables {
            command.env(*name, *value);
        }
        let mut terminal = start(make, &command);
        assert_eq!(terminal.wait_for_end().code(), Some(1), "{case}");
        terminal.expect_restored();
        assert!(
            !terminal.screen().contents().trim().is_empty(),
            "{case}: silent"
        );
        assert!(!shown(&terminal).contains(KEY), "{case}: the key is shown");
    }
}

fn without_a_terminal_the_start_is_refused(make: Make) {
    // Even before it is looked for a key.
    let world = World::new();
    let Some(program) = make.program(&world, "mosh-client") else {
        return;
    };
    for key in [None, Some(KEY)] {
        let mut command = world.command(&program);
        command.args(["127.0.0.1", "60001"]);
        if let Some(key) = key {
            command.env("MOSH_KEY", key);
        }
        let output = command.output().expect("it starts");
        assert_eq!(output.status.code(), Some(1));
        assert!(!output.stderr.is_empty());
    }
}

fn a_server_that_never_answers_can_be_left(make: Make) {
    let world = World::new();
    // Nobody listens, and nobody tells that nobody does: the port is ours, and deaf.
    let deaf = std::net::UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let port = deaf
        .local_addr()
        .expect("a bound socket")
        .port()
        .to_string();
    let Some(mut command) = client(make, &world, &["127.0.0.1", &port]) else {
        return;
    };
    command.env("MOSH_KEY", KEY);
    let mut terminal = start(make, &command);
    terminal.wait_for_text(&port);
    terminal.type_keys(b"\x1e.");
    assert_eq!(terminal.wait_for_end().code(), Some(1));
    terminal.expect_restored();
}

/// A session of programs of one make with a shell, and variables for the client.
#[track_caller]
fn session(make: Make, variables: &[(&str, &str)], command: &[&str]) -> Option<Session> {
    let mut world = World::new();
    for (name, value) in variables {
        world.set(name, value);
    }
    let setup = Setup {
        command,
        ..Setup::default()
    };
    let pair = Pair {
        server: make,
        client: make,
    };
    Session::start_in(world, pair, &setup)
}

const SHELL: &[&str] = &["sh", "-i"];

fn a_printable_escape_key_works_at_the_beginning_of_a_line(make: Make) {
    let Some(mut session) = session(make, &[("MOSH_ESCAPE_KEY", "~")], SHELL) else {
        return;
    };
    let terminal = &mut session.terminal;
    terminal.wait_for_prompt();
    terminal.type_keys("echo a~.b\r");
    terminal.wait_for_text("a~.b");
    terminal.wait_for_prompt();
    terminal.type_keys("~.");
    assert_eq!(terminal.wait_for_end().code(), Some(0));
}

/// A session in which the program tells in which bytes `keys` arrive, and these.
#[track_caller]
fn arrived(make: Make, variables: &[(&str, &str)], keys: &[u8], count: usize) -> Option<Vec<u8>> {
    let script = format!("stty raw -echo; echo go; head -c {count} > typed; echo done; read line");
    let mut session = session(make, variables, &["sh", "-c", &script])?;
    session.terminal.wait_for_text("go");
    session.terminal.type_keys(keys);
    session.terminal.wait_for_text("done");
    Some(std::fs::read(session.world.home().join("typed")).expect("a file"))
}

fn without_an_escape_key_every_byte_is_passed(make: Make) {
    let keys = b"\x1e.\x1e\x1a\x1e^x";
    let none = [("MOSH_ESCAPE_KEY", "")];
    if let Some(bytes) = arrived(make, &none, keys, keys.len()) {
        assert_eq!(bytes, keys);
    }
}

fn the_escape_key_is_typed_by_its_pass_key(make: Make) {
    // The pass key sends the escape key alone; any other key of no meaning is sent with it.
    let keys = b"a\x1e^b\x1exc\x1e\x1ed";
    let expected = b"a\x1eb\x1exc\x1e\x1ed";
    if let Some(bytes) = arrived(make, &[], keys, expected.len()) {
        assert_eq!(bytes, expected);
    }
}

fn the_alternate_screen_is_left_alone_on_demand(make: Make) {
    for (variables, is_used) in [(&[][..], true), (&[("MOSH_NO_TERM_INIT", "1")], false)] {
        let Some(mut session) = session(make, variables, SHELL) else {
            return;
        };
        session.terminal.wait_for_text("ready$");
        assert_eq!(session.terminal.screen().alternate_screen(), is_used);
        session.terminal.type_keys("exit\n");
        assert_eq!(session.terminal.wait_for_end().code(), Some(0));
        let was_used = shown(&session.terminal).contains("\x1b[?1049");
        assert_eq!(was_used, is_used);
    }
}

fn titles_have_a_prefix_that_can_be_switched_off(make: Make) {
    for (variables, title) in [
        (&[][..], "[mosh] the title"),
        (&[("MOSH_TITLE_NOPREFIX", "")], "the title"),
    ] {
        let script = "printf '\\033]0;the title\\007told\\n'; read line";
        let Some(mut session) = session(make, variables, &["sh", "-c", script]) else {
            return;
        };
        session.terminal.wait_for_text("told");
        let expected = format!("\x1b]0;{title}\x07");
        let shown = shown(&session.terminal);
        assert!(shown.contains(&expected), "{shown:?}");
    }
}

fn a_repaint_is_asked_of_client_and_program(make: Make) {
    let keys = b"\x0c";
    let script = "stty raw -echo; echo painted; head -c 1 > typed; printf done; read line";
    let Some(mut session) = session(make, &[], &["sh", "-c", script]) else {
        return;
    };
    let terminal = &mut session.terminal;
    terminal.wait_for_text("painted");
    let times = |terminal: &Terminal| shown(terminal).matches("painted").count();
    let before = times(terminal);
    terminal.type_keys(keys);
    terminal.wait_for_text("done");
    assert!(times(terminal) > before, "nothing was painted anew");
}
