//! Both ends on one machine, started by one command.

use std::net::UdpSocket;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use fulmar_platform::Spawn;
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};
use rustix::process::Signal;

use crate::support::{
    DEADLINE, PROMPT, Process, Rules, Setup, Terminal, World, adopt_orphans, holds,
    sees_environments,
};

/// A home in which a login shell greets with the prompt that tests wait for, and nothing else.
fn world() -> World {
    let world = World::new();
    world.write(".hushlogin", "");
    world.write(".profile", format!("PS1='{PROMPT}'\n"));
    world
}

/// A local session with `command`, or with a shell.
fn local(world: &World, options: &[&str], command: &[&str]) -> Spawn {
    let mut spawn = world.spawn(world.ours("fulmar"));
    spawn.arg("--local");
    for word in options.iter().chain(&["--"]).chain(command) {
        spawn.arg(*word);
    }
    spawn
}

fn start(command: &Spawn) -> Terminal {
    Terminal::start(command, Setup::default().size, Rules::Client)
}

fn shown(terminal: &Terminal) -> String {
    String::from_utf8_lossy(terminal.shown()).into_owned()
}

#[test]
fn a_command_is_shown_and_its_end_is_the_end() {
    let world = world();
    let mut terminal = start(&local(
        &world,
        &[],
        &["sh", "-c", "echo and now, $0", "silence"],
    ));
    let status = terminal.wait_for_end();
    assert_eq!(status.code(), Some(0));
    assert!(shown(&terminal).contains("and now, silence"));
    terminal.expect_restored();
}

#[test]
fn an_empty_command_is_a_shell() {
    let world = world();
    let mut terminal = start(&local(&world, &[], &[""]));
    terminal.wait_for_prompt();
    terminal.type_keys("exit 6\r");
    assert_eq!(terminal.wait_for_end().code(), Some(6));
}

#[test]
fn a_file_that_is_no_program_and_a_folder_are_told_as_such() {
    for (path, told) in [
        ("/etc/passwd", "it is a file that nobody may run"),
        ("/etc", "it is a folder"),
    ] {
        let mut terminal = start(&local(&world(), &[], &[path]));
        assert_eq!(terminal.wait_for_end().code(), Some(127));
        terminal.wait_for_text(told);
    }
}

#[test]
fn a_port_that_was_named_is_used() {
    let taken = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("it is bound").port().to_string();
    let mut terminal = start(&local(&world(), &["-p", &port], &["true"]));
    assert_eq!(terminal.wait_for_end().code(), Some(255));
    terminal.wait_for_text(&format!("cannot listen on UDP port {port}"));
}

#[test]
fn a_command_whose_output_is_redirected_is_run_without_a_session() {
    let world = world();
    let mut command = world.command(world.ours("fulmar"));
    command.args(["--local", "--", "echo one; exit 7"]);
    let output = command.output().expect("it starts");
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "one\n");
    assert!(output.stderr.is_empty());
}

#[test]
fn a_shell_whose_output_is_redirected_is_refused() {
    let world = world();
    let mut shell = world.spawn("sh");
    shell.arg("-c").arg("\"$0\" --local > file");
    shell.arg(world.ours("fulmar"));
    let mut terminal = start(&shell);
    terminal.wait_for_text("standard output is not a terminal");
    assert_eq!(terminal.wait_for_end().code(), Some(255));
}

#[test]
fn the_status_is_that_of_the_command() {
    for (command, status) in [("exit 7", 7), ("kill -TERM $$", 128 + 15)] {
        let world = world();
        let mut terminal = start(&local(&world, &[], &["sh", "-c", command]));
        assert_eq!(terminal.wait_for_end().code(), Some(status), "{command}");
        terminal.expect_restored();
    }
}

#[test]
fn a_client_that_dies_before_the_session_leaves_no_server() {
    if !sees_environments() {
        return;
    }
    adopt_orphans();
    let world = world();
    let path = |name: &str| world.home().join(name);
    // The server's trace is a pipe: it comes as far as that, and waits for a reader.
    let pipe = path("trace.server");
    mkfifo(&pipe);
    // The terminal is a shell's, and stays: its end is not to be what ends the server.
    let mut command = world.spawn("sh");
    let script = "\"$0\" --local --log log --trace trace -- cat; read line";
    command.arg("-c").arg(script).arg(world.ours("fulmar"));
    let terminal = start(&command);
    let shell = Process::of(terminal.pid()).expect("the shell runs");
    // It begins its log when it knows what is wanted.
    wait_while(&shell, || !path("log.server").exists());
    let started_as = |name: &str| {
        let mut all = Process::all_of(world.home());
        all.retain(|process| first_word(process.pid()) == name);
        all.pop().expect("it runs")
    };
    let server = started_as("fulmar");
    let client = started_as(&world.ours("fulmar").display().to_string());
    client.kill();
    assert!(!server.wait(Duration::ZERO), "the server goes on");
    let _reader = open_for_reading(&pipe);
    assert!(server.wait(DEADLINE));
    let mut left = Process::all_of(world.home());
    left.retain(|process| process.pid() != shell.pid());
    for process in left {
        assert!(process.wait(DEADLINE), "{} still runs", process.pid());
    }
    let log = std::fs::read_to_string(path("log.server")).expect("a log");
    assert!(!log.contains("NobodyCame"), "{log}");
}

#[test]
fn a_log_or_trace_goes_to_no_file_that_others_have_a_hand_in() {
    for option in ["--log", "--trace"] {
        for (name, prepare, why) in [
            ("link", "ln -s precious link", "it is a link"),
            ("nowhere", "ln -s absent nowhere", "it is a link"),
            (
                "open",
                "echo dear >open; chmod 644 open",
                "others may read or write it",
            ),
            (
                "group",
                "echo dear >group; chmod 620 group",
                "others may read or write it",
            ),
            (
                "precious",
                "ln precious twin",
                "it has another name as well",
            ),
            ("link.server", "ln -s precious link.server", "it is a link"),
        ] {
            let world = world();
            let prepare = format!("umask 077; echo dear >precious; {prepare}");
            let done = world.command("sh").args(["-c", &prepare]).status();
            assert!(done.expect("there is a shell").success());
            let path = name.strip_suffix(".server").unwrap_or(name);
            let mut terminal = start(&local(&world, &[option, path], &["true"]));
            assert_eq!(terminal.wait_for_end().code(), Some(255), "{option} {name}");
            let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
            let told = format!("will not write to {name}: {why}");
            assert!(shown.contains(&told), "{option}: {shown}");
            assert!(shown.contains("remove it"), "{shown}");
            assert!(!world.home().join("absent").exists());
            for kept in ["precious", name] {
                let text = std::fs::read_to_string(world.home().join(kept)).unwrap_or_default();
                assert!(
                    text == "dear\n" || name == "nowhere" && kept == name,
                    "{kept}: {text}"
                );
            }
        }
    }
}

#[test]
fn a_log_of_ours_is_written_anew_and_a_new_one_is_private() {
    use std::os::unix::fs::MetadataExt as _;
    let world = world();
    for _ in 0..2 {
        let mut terminal = start(&local(
            &world,
            &["--log", "log", "--trace", "trace"],
            &["true"],
        ));
        assert_eq!(terminal.wait_for_end().code(), Some(0));
        for name in ["log", "trace", "log.server", "trace.server"] {
            let path = world.home().join(name);
            assert_eq!(path.metadata().expect("a file").mode() & 0o7777, 0o600);
        }
        let log = std::fs::read_to_string(world.home().join("log")).expect("a log");
        assert_eq!(log.matches("step: connect").count(), 1, "{log}");
    }
}

#[test]
fn once_the_session_runs_nothing_of_its_start_is_left() {
    let world = world();
    let mut terminal = start(&local(&world, &[], &[]));
    terminal.wait_for_prompt();
    let client = Process::of(terminal.pid()).expect("the client runs");
    let children = format!("/proc/{0}/task/{0}/children", terminal.pid());
    // What has ended counts as long as nobody has waited for it.
    let has_children = || {
        let list = std::fs::read_to_string(&children).expect("Linux tells");
        !list.is_empty()
    };
    wait_while(&client, has_children);
    terminal.type_keys("exit\n");
    assert_eq!(terminal.wait_for_end().code(), Some(0));
}

/// Waits for a change that nothing tells of, as long as that process runs.
#[track_caller]
fn wait_while(process: &Process, is_as_before: impl Fn() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while is_as_before() {
        assert!(Instant::now() < deadline, "nothing changes");
        assert!(!process.wait(Duration::from_millis(1)), "it has ended");
    }
}

/// The first word of a process's command line.
fn first_word(pid: u32) -> String {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let word = line.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(word).into_owned()
}

fn mkfifo(path: &Path) {
    let mode = Mode::RUSR | Mode::WUSR;
    mknodat(CWD, path, FileType::Fifo, mode, 0).expect("a named pipe");
}

/// Opens a named pipe without waiting for a writer.
fn open_for_reading(path: &Path) -> OwnedFd {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK;
    open(path, flags, Mode::empty()).expect("a named pipe")
}

#[test]
fn without_a_command_there_is_a_shell() {
    let world = world();
    let mut terminal = start(&local(&world, &[], &[]));
    terminal.wait_for_prompt();
    terminal.type_keys("echo $((6 * 7)) $TERM $0; pwd\n");
    terminal.wait_for_text("42 xterm-256color -sh");
    let home = world.home().display().to_string();
    terminal.wait_for_text(&home);
    terminal.type_keys("exit\n");
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    terminal.expect_restored();
}

#[test]
fn where_no_shell_could_continue_it_the_client_does_not_stop() {
    let world = world();
    let mut terminal = start(&local(&world, &[], &[]));
    terminal.wait_for_prompt();
    terminal.type_keys(b"\x1e\x1aecho still here $((6 * 7))\n");
    terminal.wait_for_text("still here 42");
    terminal.type_keys("exit\n");
    assert_eq!(terminal.wait_for_end().code(), Some(0));
}

#[test]
fn a_trace_and_a_log_hold_numbers_and_no_contents() {
    let world = world();
    let file = |name: &str| world.home().join(name).display().to_string();
    let (trace, log) = (file("trace"), file("log"));
    let mut command = local(&world, &["--trace", &trace, "--log", &log], &[]);
    command.env("FULMAR_LOG", "trace");
    let mut terminal = start(&command);
    terminal.wait_for_prompt();
    terminal.type_keys("echo a-marker; exit\n");
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    for name in [&trace, &format!("{trace}.server")] {
        let text = std::fs::read_to_string(name).expect("a trace");
        assert!(text.starts_with("# fulmar trace 2\n"), "{text}");
        assert!(
            text.contains(" sent path=") && text.contains(" received path="),
            "{text}"
        );
        assert!(!text.contains("marker"), "{text}");
    }
    for name in [&log, &format!("{log}.server")] {
        let text = std::fs::read_to_string(name).expect("a log");
        assert!(text.contains("INFO"), "{text}");
        // Why the session woke up, and how often.
        assert!(text.contains(" woken cause="), "{text}");
        assert!(
            text.contains("session ended") && text.contains("woken: {"),
            "{text}"
        );
        assert!(!text.contains("marker"), "{text}");
    }
}

#[test]
fn the_key_is_in_no_argument_and_no_environment() {
    let world = world();
    let mut terminal = start(&local(&world, &[], &[]));
    terminal.wait_for_prompt();
    terminal.type_keys("env | grep -c -e MOSH_KEY -e FULMAR\n");
    terminal.wait_for_text("0");
    let arguments = format!("/proc/{}/cmdline", terminal.pid());
    let arguments = std::fs::read_to_string(arguments).expect("the client runs");
    assert!(arguments.ends_with("--local\0--\0"), "{arguments:?}");
    terminal.type_keys("exit\n");
    terminal.wait_for_end();
}

#[test]
fn every_signal_that_can_be_caught_ends_the_client_and_restores_the_terminal() {
    for (signal, name) in [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::TERM, "SIGTERM"),
        (Signal::USR1, "SIGUSR1"),
        (Signal::USR2, "SIGUSR2"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::VTALARM, "SIGVTALRM"),
        (Signal::PROF, "SIGPROF"),
        (Signal::XCPU, "SIGXCPU"),
        (Signal::XFSZ, "SIGXFSZ"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::SYS, "SIGSYS"),
        (Signal::TRAP, "SIGTRAP"),
    ] {
        let world = world();
        let mut terminal = start(&local(&world, &["--name", "left"], &[]));
        terminal.wait_for_prompt();
        let client = Process::of(terminal.pid()).expect("the client runs");
        client.signal(signal);
        assert_eq!(terminal.wait_for_end().code(), Some(255), "{name}");
        terminal.expect_restored();
        terminal.wait_for_text(&format!("fulmar: ended by {name}"));
        // The session goes on.
        let mut kill = world.command(world.ours("fulmar"));
        let output = kill.args(["kill", "--local", "left"]).output();
        let output = output.expect("it starts");
        assert!(output.status.success(), "{name}: {output:?}");
    }
}

#[test]
fn a_session_is_not_taken_from_inside_of_it() {
    let world = world();
    let mut terminal = start(&local(&world, &["--name", "work"], &[]));
    terminal.wait_for_prompt();
    let ours = world.ours("fulmar");
    terminal.type_keys(format!("{} attach --local\n", ours.display()));
    terminal.wait_for_text("fulmar: this runs in session work itself");
    terminal.wait_for_prompt();
    terminal.type_keys("exit 7\n");
    assert_eq!(terminal.wait_for_end().code(), Some(7));
}

#[test]
fn a_server_that_was_killed_is_told_and_can_be_left() {
    let world = world();
    let mut terminal = start(&local(&world, &[], &[]));
    terminal.wait_for_prompt();
    terminal.type_keys("echo server is $PPID.\n");
    terminal.wait_for("the server's number", |screen| server_pid(screen).is_some());
    let pid = server_pid(terminal.screen()).expect("it was just there");
    Process::of(pid).expect("the server runs").kill();
    terminal.wait_for_text("nothing listens");
    terminal.wait_for_text("quits");
    // The second time nobody is waited for any more.
    terminal.type_keys(b"\x1e.\x1e.");
    assert_eq!(terminal.wait_for_end().code(), Some(255));
    terminal.expect_restored();
    terminal.wait_for_text("the server is gone: nothing listens any more at 127.0.0.1");
    assert!(!holds(terminal.screen(), "may still run"));
}

#[test]
fn a_session_that_is_started_in_the_background_stops_until_it_has_the_terminal() {
    let world = world();
    let mut shell = world.spawn("sh");
    shell.arg("-i");
    let mut terminal = Terminal::start(&shell, Setup::default().size, Rules::None);
    terminal.wait_for_prompt();
    let program = world.ours("fulmar");
    let command = "sh -c 'echo in the $((6 * 7)). session; read line'";
    terminal.type_keys(format!(
        "{} --local -- {command} & echo server is $!.\n",
        program.display()
    ));
    terminal.wait_for("the job's number", |screen| server_pid(screen).is_some());
    let pid = server_pid(terminal.screen()).expect("it was just there");
    Process::of(pid)
        .expect("the job is there")
        .wait_until_stopped();
    terminal.type_keys("\n");
    terminal.wait_for_text("Stopped");
    terminal.type_keys("fg\n");
    terminal.wait_for_text("in the 42. session");
    terminal.type_keys("\n");
    terminal.wait_for_text("ready$");
}

/// Reads the number in the last line of the form "server is 123.".
fn server_pid(screen: &vt100::Screen) -> Option<u32> {
    let contents = screen.contents();
    let line = contents
        .lines()
        .rfind(|line| line.starts_with("server is "))?;
    line.strip_prefix("server is ")?
        .strip_suffix('.')?
        .parse()
        .ok()
}
