//! `fulmar [user@]host` with programs in ssh's place that run the command on this machine, so that
//! each turn of a login can be had at will. Real ssh is in `login`.

use std::net::UdpSocket;
use std::path::Path;

use fulmar_platform::{Spawn, WindowSize};

use crate::support::{PROMPT, Process, Rules, Setup, Terminal, World};

/// A program in ssh's place: first it may answer questions, then it does something, then it runs the
/// command as sshd would.
struct FakeSsh<'a> {
    /// The output of `-V`; in a shell's words.
    version: &'a str,
    /// The commands that run before the command, in a shell's words.
    before: &'a str,
    /// The search path for programs over there.
    path: &'a str,
}

const PRESENT: FakeSsh<'_> = FakeSsh {
    version: "echo OpenSSH_9.2p1 >&2",
    before: "",
    path: "$HOME/ours:/usr/bin:/bin",
};

/// A host's answer that there is no server at all.
const NOTHING_THERE: &str = "$HOME/tools";

impl FakeSsh<'_> {
    fn script(&self) -> String {
        let Self {
            version,
            before,
            path,
        } = self;
        format!(
            "echo \"$@\" >>$HOME/calls\n\
             case \" $* \" in\n*' -V '*) {version}; exit;;\n\
             *' -G '*) printf 'hostname 127.0.0.1\\naddressfamily any\\n'; exit;;\nesac\n\
             for command; do :; done\nexport PATH=\"{path}\" SSH_CONNECTION='127.0.0.1 1 127.0.0.1 22'\n\
             {before}\nexec /bin/sh -c \"$command\"\n"
        )
    }

    /// Returns the command that a user types to log in through it.
    fn command(&self, world: &World, options: &[&str], words: &[&str]) -> Spawn {
        // Run by sh: a script that is written and run by one process may be busy.
        let script = world.write("fake-ssh", self.script());
        let mut command = world.spawn(world.ours("fulmar"));
        command.arg("--ssh").arg(format!("sh {}", script.display()));
        for word in options.iter().chain(&["ada@host"]).chain(words) {
            command.arg(*word);
        }
        command
    }

    fn start(&self, world: &World, options: &[&str], words: &[&str]) -> Terminal {
        start(&self.command(world, options, words))
    }
}

fn start(command: &Spawn) -> Terminal {
    Terminal::start(command, Setup::default().size, Rules::Client)
}

fn shown(terminal: &Terminal) -> String {
    String::from_utf8_lossy(terminal.shown()).into_owned()
}

/// All calls of the program in ssh's place.
fn calls(world: &World) -> String {
    std::fs::read_to_string(world.home().join("calls")).expect("it was called")
}

/// A shell at its prompt, which is left with a status that comes through.
#[track_caller]
fn expect_session(terminal: &mut Terminal) {
    terminal.wait_for_prompt();
    terminal.type_keys("echo $((6 * 7)); exit 7\n");
    // The screen with it may be gone by the time that it is looked at.
    assert_eq!(terminal.wait_for_end().code(), Some(7));
    assert!(shown(terminal).contains("42"), "{}", shown(terminal));
    terminal.expect_restored();
}

/// The end of a login that came to nothing, and these words.
#[track_caller]
fn expect_failure(terminal: &mut Terminal, words: &[&str]) {
    expect_end(terminal, 255, words);
}

/// The end of a login that the user has interrupted, and these words.
#[track_caller]
fn expect_interrupted(terminal: &mut Terminal, words: &[&str]) {
    expect_end(terminal, 130, words);
}

#[track_caller]
fn expect_end(terminal: &mut Terminal, status: i32, words: &[&str]) {
    assert_eq!(terminal.wait_for_end().code(), Some(status));
    terminal.expect_restored();
    let shown = shown(terminal);
    for words in words {
        assert!(shown.contains(words), "no {words:?} in {shown}");
    }
}

/// A home whose login shell has the prompt that tests wait for.
fn world() -> World {
    let world = World::new();
    world.write(".hushlogin", "");
    world.write(".profile", format!("PS1='{PROMPT}'\n"));
    world
}

#[test]
fn a_present_ssh_logs_in_and_is_asked_what_its_configuration_means() {
    let world = world();
    expect_session(&mut PRESENT.start(&world, &[], &[]));
    let calls = calls(&world);
    let options = "-T -o RemoteCommand=none -o SessionType=default -o ForkAfterAuthentication=no \
                   -o StdinNull=no -o ClearAllForwardings=yes -- ada@host";
    assert!(calls.contains(&format!("{options} sh -c '")), "{calls}");
    assert!(calls.contains(&format!("-G {options}\n")), "{calls}");
    assert!(calls.lines().any(|line| line == "-V"), "{calls}");
}

#[test]
fn a_server_listens_where_it_is_wished() {
    let free = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let port = free.local_addr().expect("it is bound").port().to_string();
    drop(free);
    let world = world();
    let options = ["--bind-server", "127.0.0.1", "-p", &port, "--log", "log"];
    expect_session(&mut PRESENT.start(&world, &options, &[]));
    let log = std::fs::read_to_string(world.home().join("log")).expect("a log");
    assert!(log.contains(&format!("127.0.0.1:{port}")), "{log}");
}

#[test]
fn several_words_are_a_program_and_its_arguments_as_they_are() {
    let world = world();
    let script = "printf '%s.' \"$@\"; exit 5";
    let words = ["--", "sh", "-c", script, "x", "a b", "$HOME", "--", "'"];
    let mut terminal = PRESENT.start(&world, &[], &words);
    assert_eq!(terminal.wait_for_end().code(), Some(5));
    assert!(shown(&terminal).contains("a b.$HOME.--.'."));
}

#[test]
fn a_long_command_is_written_once() {
    let world = world();
    // With the words for stock's server, which has them too, it would be more than may be written.
    let long = "x".repeat(40_000);
    let words = [
        "--",
        "sh",
        "-c",
        "test ${#1} = 40000 && exit 9",
        "sh",
        &long,
    ];
    let mut terminal = PRESENT.start(&world, &[], &words);
    assert_eq!(terminal.wait_for_end().code(), Some(9));
}

#[test]
fn a_command_that_is_not_there_is_told_wherever_the_server_listens_and_whoever_joins_it() {
    for options in [
        &[][..],
        &["-p", "60001:60999"],
        &["--bind-server", "127.0.0.1"],
        &["--client", "cat"],
    ] {
        let world = world();
        let mut terminal = PRESENT.start(&world, options, &["no-such-program"]);
        assert_eq!(terminal.wait_for_end().code(), Some(127), "{options:?}");
        terminal.wait_for_text("cannot run no-such-program");
        terminal.expect_restored();
    }
}

#[test]
fn one_word_with_something_for_a_shell_is_a_line_for_the_shell_there() {
    let world = world();
    let mut terminal = PRESENT.start(&world, &[], &["echo \"$((6 * 7)) of $0\" | cat; exit 6"]);
    assert_eq!(terminal.wait_for_end().code(), Some(6));
    assert!(shown(&terminal).contains("42 of /bin/sh"));
}

#[test]
fn an_older_ssh_is_called_again_in_words_that_it_knows() {
    let world = world();
    let old = FakeSsh {
        version: "echo 'OpenSSH_8.4p1 Debian' >&2",
        before: "case \"$*\" in *SessionType*) echo 'Bad configuration option' >&2; exit 255;; esac",
        ..PRESENT
    };
    let mut terminal = old.start(&world, &[], &[]);
    expect_session(&mut terminal);
    assert!(!shown(&terminal).contains("Bad configuration"));
    let again = "-T -o RemoteCommand=none -o ClearAllForwardings=yes -- ada@host sh -c";
    assert!(calls(&world).contains(again));
}

#[test]
fn a_program_that_is_no_openssh_gets_few_words_and_is_not_asked_for_settings() {
    let world = world();
    let other = FakeSsh {
        version: "echo Dropbear v2022.83",
        before: "case \"$*\" in *'-o '*) echo 'what is -o?' >&2; exit 1;; esac",
        ..PRESENT
    };
    let mut terminal = other.start(&world, &[], &[]);
    expect_session(&mut terminal);
    assert!(!shown(&terminal).contains("what is"));
    let calls = calls(&world);
    assert!(calls.contains("-T ada@host sh -c"), "{calls}");
    assert!(!calls.contains("-G"), "that would log in a second time");
}

#[test]
fn a_wrapper_that_does_not_tell_its_version_is_used_as_it_is() {
    let world = world();
    let mute = FakeSsh {
        version: "exec tail -f /dev/null",
        ..PRESENT
    };
    expect_session(&mut mute.start(&world, &[], &[]));
    assert!(!calls(&world).contains("-G"));
}

#[test]
fn what_a_start_up_file_takes_from_the_input_is_written_again() {
    for before in [
        "read -r line",
        "read -r a; read -r b; read -r c",
        "head -n 3 >/dev/null",
    ] {
        let world = world();
        let greedy = FakeSsh { before, ..PRESENT };
        expect_session(&mut greedy.start(&world, &[], &[]));
    }
    let world = world();
    // It takes the words for stock and the beginning of the offer.
    let server = ["--server", "read -r a; read -r b; fulmar server"];
    expect_session(&mut PRESENT.start(&world, &server, &[]));
}

#[test]
fn a_server_of_the_users_choice_is_started() {
    let world = world();
    let marks = ["--server", "touch ~/chosen; exec ~/ours/fulmar"];
    expect_session(&mut PRESENT.start(&world, &marks, &[]));
    assert!(world.home().join("chosen").exists());
    let mut terminal = PRESENT.start(&world, &["--server", "no-such-server"], &[]);
    expect_failure(&mut terminal, &["no-such-server", "status 127", "--server"]);
}

#[test]
fn a_mosh_server_serves_where_there_is_none_of_ours() {
    let world = world();
    let folder = world.home().join("stock");
    std::fs::create_dir(&folder).expect("a folder");
    std::os::unix::fs::symlink(world.ours("mosh-server"), folder.join("mosh-server"))
        .expect("a link");
    let only_stock = FakeSsh {
        path: "$HOME/stock:/usr/bin:/bin",
        ..PRESENT
    };
    let mut terminal = only_stock.start(&world, &[], &["sh", "-c", "echo \"$0\"; exit 7", "a b"]);
    // Of stock no status comes.
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    assert!(shown(&terminal).contains("a b"));
}

#[test]
fn another_client_gets_the_session_and_its_status_is_ours() {
    let world = world();
    let client = world.ours("mosh-client").display().to_string();
    let mut terminal = PRESENT.start(&world, &["--client", &client], &[]);
    terminal.wait_for_prompt();
    terminal.type_keys("echo $((6 * 7)); exit 7\n");
    // A client of stock's make has no status but its own.
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    // The screen with it may be gone by the time that it is looked at.
    assert!(shown(&terminal).contains("42"), "{}", shown(&terminal));
    terminal.expect_restored();
    assert!(shown(&terminal).contains("[mosh is exiting.]"));
    let mut terminal = PRESENT.start(&world, &["--client", "/no/such/client"], &[]);
    expect_failure(&mut terminal, &["/no/such/client"]);
}

#[test]
fn where_there_is_no_server_at_all_it_is_said_how_to_get_one() {
    let world = world();
    let tools = world.home().join("tools");
    std::fs::create_dir(&tools).expect("a folder");
    for tool in ["sh", "uname"] {
        let place = ["/bin", "/usr/bin"].map(|folder| Path::new(folder).join(tool));
        let place = place.iter().find(|place| place.exists());
        std::os::unix::fs::symlink(place.expect(tool), tools.join(tool)).expect("a link");
    }
    let nothing = FakeSsh {
        path: NOTHING_THERE,
        ..PRESENT
    };
    let mut terminal = nothing.start(&world, &[], &[]);
    let words = [
        "neither fulmar nor mosh-server on ada@host",
        "or install Mosh",
        "--server",
    ];
    expect_failure(&mut terminal, &words);
}

#[test]
fn what_ssh_prints_is_shown_and_obeyed_by_no_terminal() {
    let world = world();
    let banner = FakeSsh {
        before: "printf 'a\\033[2Jbanner\\r\\n' >&2; printf 'a \\033]0;motd\\007\\n'",
        ..PRESENT
    };
    let mut terminal = banner.start(&world, &[], &[]);
    expect_session(&mut terminal);
    let shown = shown(&terminal);
    for text in ["a\\u{1b}[2Jbanner\r\n", "a \\u{1b}]0;motd\\u{7}\r\n"] {
        assert!(shown.contains(text), "{shown:?}");
    }
}

#[test]
fn nobody_but_us_says_what_looks_like_our_words() {
    let world = world();
    let imitating = FakeSsh {
        before: "echo 'fulmar: all is well'; printf '  ful' >&2; printf 'mar: one\\n' >&2; \
                 printf '   [fulmar: the session has ended]\\n' >&2; echo Welcome to Mosh: it rides out networks >&2; \
                 head -c 80 /dev/zero | tr '\\0' x; echo fulmar: two; printf 'fulmar: three\\rfulmar: four\\n'; \
                 echo FULMAR WARNING all is well",
        ..PRESENT
    };
    let mut terminal = imitating.start(&world, &[], &[]);
    expect_session(&mut terminal);
    let shown = shown(&terminal);
    // The two streams come in any order, and what is indented below a line of ours is marked before its blanks.
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for told in [
        "others say: fulmar: all is well",
        "others say: fulmar: one",
        "others say: [fulmar: the session has ended]",
        "Welcome to Mosh: it rides out networks",
        "others say: fulmar: two",
        "fulmar: ada@host warns: all is well",
    ] {
        assert!(words.contains(told), "no {told:?} in {shown}");
    }
    for line in shown.lines() {
        let line = line.trim_start();
        let is_theirs = ["all is well", "one", "two", "three", "four"];
        let is_theirs = is_theirs
            .iter()
            .any(|word| line.starts_with(&format!("fulmar: {word}")));
        assert!(!is_theirs, "{line}");
    }
    assert_eq!(shown.matches("[fulmar: the session has ended]").count(), 1);
    let ours = "[fulmar: the program has exited with status 7]";
    assert!(shown.contains(ours), "{shown}");
}

#[test]
fn what_is_said_while_the_session_has_the_terminal_is_shown_after_it() {
    let world = world();
    let slow = FakeSsh {
        before: "mkfifo $HOME/gate; /bin/sh -c \"$command\"; read -r line <$HOME/gate; \
                 echo held back >&2; echo '  fulmar: all is well'; touch $HOME/said; exit 0",
        ..PRESENT
    };
    let mut terminal = slow.start(&world, &[], &[]);
    terminal.wait_for_prompt();
    terminal.type_keys("echo >gate; until test -e said; do :; done; exit 7\n");
    assert_eq!(terminal.wait_for_end().code(), Some(7));
    terminal.expect_restored();
    let left = terminal.screen().contents();
    assert!(left.contains("held back"), "{left}");
    assert!(left.contains("  others say: fulmar: all is well"), "{left}");
}

#[test]
fn however_much_is_said_before_the_session_is_shown_and_of_what_comes_later_the_bound() {
    let world = world();
    let talkative = FakeSsh {
        before: "yes early | head -n 40000 >&2; mkfifo $HOME/gate; /bin/sh -c \"$command\"; \
                 read -r line <$HOME/gate; yes late | head -n 40000 >&2; touch $HOME/said; exit 0",
        ..PRESENT
    };
    let mut terminal = talkative.start(&world, &[], &[]);
    terminal.wait_for_prompt();
    terminal.type_keys("echo >gate; until test -e said; do :; done; exit 7\n");
    assert_eq!(terminal.wait_for_end().code(), Some(7));
    let shown = shown(&terminal);
    assert_eq!(shown.matches("early\r\n").count(), 40_000);
    // With what was left to be read of the former.
    let late = shown.matches("late\r\n").count();
    assert!(late <= 64 * 1024 / "late\n".len(), "{late}");
    assert!(
        shown.contains("more than 64 KiB were said over ssh"),
        "{}",
        shown.len()
    );
}

#[test]
fn messages_that_a_shared_connection_holds_open_are_not_waited_for() {
    let world = world();
    let master = FakeSsh {
        before: "echo early >&2; sh -c 'echo $$ >$HOME/master; exec tail -f /dev/null' </dev/null >/dev/null &",
        ..PRESENT
    };
    let mut terminal = master.start(&world, &[], &[]);
    expect_session(&mut terminal);
    assert!(shown(&terminal).contains("early"));
    let number = std::fs::read_to_string(world.home().join("master")).expect("it runs");
    let master = Process::of(number.trim().parse().expect("a number")).expect("it runs");
    master.kill();
}

#[test]
fn why_ssh_has_failed_leads_to_what_to_try() {
    for (says, advice) in [
        ("ssh: Could not resolve hostname host: no", "spelling"),
        ("Host key verification failed.", "key"),
        (
            "ada@host: Permission denied (publickey).",
            "run ssh -v ada@host, with",
        ),
        ("something else", "ssh ada@host works on its own"),
    ] {
        let world = world();
        let failing = FakeSsh {
            before: &format!("echo '{says}' >&2; exit 255"),
            ..PRESENT
        };
        let words = [says, "ssh did not get in to ada@host", "status 255", advice];
        expect_failure(&mut failing.start(&world, &[], &[]), &words);
    }
    let world = world();
    let mut command = world.spawn(world.ours("fulmar"));
    command.arg("--ssh").arg("/no/such/ssh").arg("host");
    expect_failure(&mut start(&command), &["/no/such/ssh", "--ssh"]);
}

#[test]
fn a_login_in_which_too_much_or_too_many_speak_ends() {
    let key = "AAAAAAAAAAAAAAAAAAAAAA";
    let two = format!("echo MOSH CONNECT 60001 {key}; echo MOSH CONNECT 60002 {key}; exec cat");
    for (before, words) in [
        ("yes noise | head -c 1000000; exec cat", "64 KiB"),
        ("head -c 1000000 /dev/zero | tr '\\0' x; exec cat", "64 KiB"),
        (two.as_str(), "two servers"),
        ("echo FULMAR CONNECT 2 - 9.9; exec cat", "version 2"),
        ("echo MOSH CONNECT 60001 abc; exec cat", "makes no sense"),
        (
            "echo FULMAR ERROR no port; echo FULMAR ERROR name one; exit 255",
            "name one",
        ),
    ] {
        let world = world();
        let speaking = FakeSsh { before, ..PRESENT };
        expect_failure(&mut speaking.start(&world, &[], &[]), &[words]);
    }
}

#[test]
fn what_a_server_says_is_told_though_ssh_does_not_end() {
    // As an ssh whose connection others share.
    let says = "echo FULMAR HELLO 9; echo FULMAR ERROR no port; echo FULMAR ERROR name one";
    let reachable = "echo FULMAR CONNECT 1 exit 9; echo MOSH CONNECT 9 AAAAAAAAAAAAAAAAAAAAAA";
    for before in [says.to_owned(), format!("{says}; {reachable}")] {
        let world = world();
        let shared = FakeSsh {
            before: &format!("{before}; exec tail -f /dev/null"),
            ..PRESENT
        };
        expect_failure(
            &mut shared.start(&world, &[], &[]),
            &["no port", "name one"],
        );
    }
}

#[test]
fn what_a_server_warns_of_can_be_read_after_the_session() {
    let world = world();
    let names = ["MOSH_SERVER_NETWORK_TMOUT", "MOSH_SERVER_SIGNAL_TMOUT"];
    let odd = FakeSsh {
        before: &names.map(|name| format!("export {name}=odd")).join("; "),
        ..PRESENT
    };
    let mut terminal = odd.start(&world, &[], &[]);
    expect_session(&mut terminal);
    let left = terminal.screen().contents();
    for name in names {
        assert!(
            left.contains(&format!("fulmar: ada@host warns: {name} is")),
            "{left}"
        );
    }
}

#[test]
fn ctrl_c_ends_a_login_and_what_it_has_started() {
    let world = world();
    let waiting = FakeSsh {
        before: "echo $$ is asking >&2; exec tail -f /dev/null",
        ..PRESENT
    };
    let mut terminal = waiting.start(&world, &[], &[]);
    terminal.wait_for_text("is asking");
    let shown = terminal.screen().contents();
    let pid = shown
        .split_whitespace()
        .next()
        .and_then(|pid| pid.parse().ok());
    let ssh = Process::of(pid.expect("a number")).expect("it runs");
    terminal.type_keys(b"\x03");
    // What the terminal shows of the key is not in front of it.
    expect_interrupted(&mut terminal, &["\nfulmar: ended by SIGINT"]);
    assert!(ssh.wait(crate::support::DEADLINE));
}

/// The words of a remote side for a copy until it falls silent: nothing but that it has begun; or its address,
/// that ssh is to carry the copy, and its `Hello`.
const SILENT_COPIES: [&str; 2] = [
    "echo FULMAR READY; exec tail -f /dev/null",
    "echo FULMAR READY; echo FULMAR COPY 2 9 AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8; \
     until read -r line && test \"$line\" = 'FULMAR OVER SSH'; do :; done; echo FULMAR OVER SSH; \
     printf '\\0\\0\\0\\4\\1\\2\\1\\0'; exec tail -f /dev/null",
];

#[test]
fn a_remote_side_that_has_begun_and_says_nothing_more_is_told_and_can_be_given_up() {
    let world = world();
    let silent = FakeSsh {
        before: SILENT_COPIES[0],
        ..PRESENT
    };
    let mut terminal = silent.start(&world, &[], &[]);
    terminal.wait_for_text("fulmar: ada@host has said nothing for 10 seconds");
    terminal.type_keys(b"\x03");
    expect_interrupted(&mut terminal, &["ended by SIGINT"]);
}

#[test]
fn a_remote_end_of_a_copy_that_says_nothing_more_is_told_and_can_be_given_up() {
    for (before, operands) in [
        (SILENT_COPIES[0], ["file", "ada@host:"]),
        (SILENT_COPIES[1], ["file", "ada@host:"]),
        (SILENT_COPIES[1], ["ada@host:file", "."]),
    ] {
        let world = world();
        world.write("file", "contents");
        let silent = FakeSsh { before, ..PRESENT };
        let script = world.write("fake-ssh", silent.script());
        let mut command = world.spawn(world.ours("fulmar"));
        command
            .arg("cp")
            .arg("--ssh")
            .arg(format!("sh {}", script.display()));
        for operand in operands {
            command.arg(operand);
        }
        let mut terminal = Terminal::start(&command, Setup::default().size, Rules::None);
        terminal.wait_for_text("fulmar: ada@host has said nothing for 10 seconds");
        terminal.type_keys(b"\x03");
        assert!(!terminal.wait_for_end().success());
        let told = shown(&terminal);
        assert!(
            told.contains("interrupted") || told.contains("SIGINT"),
            "{told}"
        );
    }
}

#[test]
fn nobody_but_us_says_in_a_copy_what_looks_like_our_words() {
    let world = world();
    world.write("file", "contents");
    let imitating = FakeSsh {
        before: "echo 'fulmar: all is well'; echo 'fulmar: one' >&2; echo FULMAR WARNING two; exit 9",
        ..PRESENT
    };
    let script = world.write("fake-ssh", imitating.script());
    let mut command = world.spawn(world.ours("fulmar"));
    command
        .arg("cp")
        .arg("--ssh")
        .arg(format!("sh {}", script.display()));
    command.arg("file").arg("ada@host:");
    let mut terminal = Terminal::start(&command, Setup::default().size, Rules::None);
    assert!(!terminal.wait_for_end().success());
    let told = shown(&terminal);
    for text in [
        "others say: fulmar: all is well",
        "others say: fulmar: one",
        "fulmar: ada@host warns: two",
    ] {
        assert!(told.contains(text), "no {text:?} in {told}");
    }
}

#[test]
fn a_signal_ends_a_login_that_does_not_listen_to_it() {
    let world = world();
    let deaf = FakeSsh {
        before: "trap '' HUP INT TERM; echo is asking >&2; while :; do read -r x || exec tail -f /dev/null; done",
        ..PRESENT
    };
    let mut terminal = deaf.start(&world, &[], &[]);
    terminal.wait_for_text("is asking");
    let client = Process::of(terminal.pid()).expect("it runs");
    client.signal(rustix::process::Signal::TERM);
    expect_end(&mut terminal, 143, &["ended by SIGTERM"]);
}

#[test]
fn a_login_can_be_put_to_sleep_and_goes_on() {
    let world = world();
    let asking = FakeSsh {
        before: "echo is asking >&2; read -r answer </dev/tty; echo thanks for $answer >&2",
        ..PRESENT
    };
    let script = world.write("fake-ssh", asking.script());
    let login = format!(
        "{} --ssh 'sh {}' -p 60001:60999 ada@host -- sh -c 'echo \"in session\"; exit 7'; echo status $?\n",
        world.ours("fulmar").display(),
        script.display()
    );
    let mut shell = world.spawn("sh");
    shell.arg("-i");
    let mut terminal = Terminal::start(&shell, Setup::default().size, Rules::None);
    terminal.wait_for_prompt();
    terminal.type_keys(login);
    terminal.wait_for_text("is asking");
    terminal.type_keys(b"\x1a");
    terminal.wait_for_text("Stopped");
    terminal.wait_for_prompt();
    // The shell waits for our client only. What has not stopped yet would read the keys.
    let shell = terminal.pid();
    for process in Process::all_of(world.home()) {
        if process.pid() != shell {
            process.wait_until_stopped();
        }
    }
    terminal.type_keys("fg\n");
    terminal.type_keys("patience\n");
    terminal.wait_for_bytes(0, b"thanks for patience");
    terminal.wait_for_bytes(0, b"in session");
    terminal.wait_for_prompt();
}

#[test]
fn an_ssh_that_dies_with_the_echo_off_leaves_it_on() {
    let world = world();
    let dying = FakeSsh {
        before: "stty -echo -icanon </dev/tty; kill -9 $$",
        ..PRESENT
    };
    let mut terminal = dying.start(&world, &[], &[]);
    expect_failure(&mut terminal, &["signal 9"]);
}

#[test]
fn an_ssh_that_dies_with_the_echo_off_leaves_it_on_after_a_copy_too() {
    let world = world();
    let dying = FakeSsh {
        before: "stty -echo -icanon </dev/tty; kill -9 $$",
        ..PRESENT
    };
    let script = world.write("fake-ssh", dying.script());
    let mut command = world.spawn(world.ours("fulmar"));
    command.arg("cp").arg("--ssh");
    command.arg(format!("sh {}", script.display()));
    command.arg(world.write("file", "x")).arg("ada@host:");
    expect_failure(&mut start(&command), &["signal 9"]);
}

/// A server in name only: it says where it listens, and is deaf there.
fn blocked(says: &str) -> (World, Terminal, UdpSocket) {
    let deaf = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let port = deaf.local_addr().expect("it is bound").port();
    let world = world();
    let before = format!(
        "echo FULMAR HELLO 9; echo FULMAR CONNECT 1 exit 9; \
         echo MOSH CONNECT {port} AAAAAAAAAAAAAAAAAAAAAA; echo FULMAR AGREED; {says}; \
         exec cat >/dev/null"
    );
    let server = FakeSsh {
        before: &before,
        ..PRESENT
    };
    let terminal = server.start(&world, &[], &[]);
    (world, terminal, deaf)
}

#[test]
fn a_way_that_is_closed_is_told_with_its_direction_and_can_be_given_up() {
    for (says, notice, told) in [
        (":", "nothing arrives", "none arrived"),
        ("echo FULMAR HEARD", "hears us", "no answer arrives here"),
    ] {
        let (_world, mut terminal, _deaf) = blocked(says);
        terminal.wait_for_text(notice);
        terminal.wait_for_text("127.0.0.1, UDP port");
        // Long before it would be given up, and for that ssh is not waited for.
        terminal.type_keys(b"\x03");
        expect_failure(&mut terminal, &[told, "firewall"]);
    }
}

/// A second ago there was no session, and nothing is known of the way yet.
#[test]
fn whoever_gives_up_at_once_is_told_so_and_nothing_of_firewalls() {
    let ended = "you have ended the session";
    for (key, status, told) in [
        (&b"\x03"[..], 130, "ended by SIGINT"),
        (b"\x1e.", 255, ended),
    ] {
        let (_world, mut terminal, _deaf) = blocked(":");
        terminal.wait_for_text("waiting for 127.0.0.1");
        terminal.type_keys(key);
        expect_end(&mut terminal, status, &[told]);
        let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
        assert!(!shown.contains("firewall"), "{shown}");
    }
}

#[test]
fn a_server_whose_login_is_killed_before_it_hears_us_is_not_waited_for() {
    let (_world, mut terminal, _deaf) = blocked("kill -9 $$");
    expect_failure(&mut terminal, &["ended with signal 9"]);
    let (world, mut terminal, _deaf) = blocked("echo $$ >~/number");
    terminal.wait_for_text("waiting for");
    let number = std::fs::read_to_string(world.home().join("number")).expect("it runs");
    let ssh = Process::of(number.trim().parse().expect("a number")).expect("it runs");
    ssh.signal(rustix::process::Signal::KILL);
    expect_failure(&mut terminal, &["ended with signal 9"]);
}

#[test]
fn a_terminal_without_columns_is_one_of_80() {
    let world = world();
    let size = WindowSize {
        rows: 24,
        columns: 0,
    };
    let command = PRESENT.command(&world, &[], &["sh", "-c", "stty size; exit 3"]);
    let mut terminal = Terminal::start(&command, size, Rules::Client);
    assert_eq!(terminal.wait_for_end().code(), Some(3));
    assert!(shown(&terminal).contains("24 80"));
}

#[test]
fn the_log_has_the_steps_in_their_order() {
    let world = world();
    let log = world.home().join("log");
    let log = log.display().to_string();
    expect_session(&mut PRESENT.start(&world, &["--log", &log], &[]));
    let text = std::fs::read_to_string(&log).expect("a log");
    let place = |step: &str| {
        let place = text.find(&format!("step: {step} after_ms="));
        place.unwrap_or_else(|| panic!("no {step} in {text}"))
    };
    for order in [
        &[
            "ssh started",
            "hello",
            "connect",
            "first datagram",
            "first answer",
            "first screen drawn",
        ][..],
        &[
            "ssh started",
            "settings known",
            "address resolved",
            "first datagram",
        ],
        &["connect", "heard"],
    ] {
        assert!(
            order.is_sorted_by_key(|step| place(step)),
            "{order:?}: {text}"
        );
    }
    assert!(!text.contains("MOSH CONNECT"), "{text}");
}
