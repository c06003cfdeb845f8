//! The sources of settings: flags, variables, the configuration file.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Output;

use crate::support::{Rules, Setup, Terminal, World, write_program};
use fulmar_testbed::peers;

/// Writes the usual configuration file.
fn write_config(world: &World, text: &str) -> PathBuf {
    let folder = world.home().join(".config/fulmar");
    fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("config.toml");
    fs::write(&path, text).expect("a file");
    fs::set_permissions(&path, Permissions::from_mode(0o644)).expect("our own file");
    path
}

fn run(world: &World, arguments: &[&str]) -> Output {
    let mut command = world.command(world.ours("fulmar"));
    command.args(arguments).output().expect("it starts")
}

/// Returns the line of a setting in `fulmar config` with these arguments, in words.
#[track_caller]
fn in_force(world: &World, setting: &str, arguments: &[&str]) -> Vec<String> {
    let mut all = vec!["config"];
    all.extend(arguments);
    let output = run(world, &all);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let text = String::from_utf8(output.stdout).expect("text");
    let mut lines = text
        .lines()
        .map(|line| line.split_whitespace().map(str::to_owned));
    let line = lines.find(|words| words.clone().next().as_deref() == Some(setting));
    line.unwrap_or_else(|| panic!("no {setting} in {text}"))
        .skip(1)
        .collect()
}

/// Returns what is said when the program is started with a file of this content.
#[track_caller]
fn complaint(world: &World, arguments: &[&str]) -> String {
    let output = run(world, arguments);
    assert_eq!(output.status.code(), Some(255));
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).expect("text")
}

#[test]
fn what_was_asked_for_and_cannot_be_written_is_a_failure() {
    let world = World::new();
    for words in [
        &["config"][..],
        &["man"],
        &["completions", "bash"],
        &["--help"],
        &["--version"],
        &["client", "-c"],
    ] {
        let full = fs::File::create("/dev/full").expect("Linux has it");
        let mut command = world.command(world.ours("fulmar"));
        let output = command.args(words).stdout(full).output();
        let output = output.expect("it starts");
        assert_eq!(output.status.code(), Some(255), "{words:?}");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("No space left"), "{told}");
    }
}

#[test]
fn a_host_that_no_login_would_take_has_no_settings() {
    let told = complaint(&World::new(), &["config", "ada@a.org:2222"]);
    assert!(told.contains("cannot be a host"), "{told}");
}

#[test]
fn flags_beat_variables_and_those_beat_the_file() {
    let mut world = World::new();
    world.unset("MOSH_PREDICTION_DISPLAY");
    let path = write_config(
        &world,
        "predict = \"never\"\n[[host]]\nmatch = \"*.org\"\npredict = \"always\"\n",
    );
    let path = path.display();
    assert_eq!(
        in_force(&world, "predict", &[]),
        ["never", &format!("{path}:1")]
    );
    let host = &["ada@a.org"][..];
    assert_eq!(
        in_force(&world, "predict", host),
        ["always", &format!("{path}:4")]
    );
    for same in ["ssh://a.org", "ssh://ada@a.org:2222"] {
        assert_eq!(
            in_force(&world, "predict", &[same]),
            ["always", &format!("{path}:4")],
            "{same}"
        );
    }
    assert_eq!(
        in_force(&world, "predict", &["--config", "none", "a.org"]),
        ["adaptive", "default"]
    );
    world.set("MOSH_PREDICTION_DISPLAY", "experimental");
    assert_eq!(
        in_force(&world, "predict", host),
        ["experimental", "MOSH_PREDICTION_DISPLAY"]
    );
    world.set("FULMAR_PREDICT", "adaptive");
    assert_eq!(
        in_force(&world, "predict", host),
        ["adaptive", "FULMAR_PREDICT"]
    );
    assert_eq!(
        in_force(&world, "predict", &["-n", "a.org"]),
        ["never", "-n"]
    );
}

#[test]
fn patterns_match_as_those_of_ssh_config() {
    let Some(ssh) = peers::require("ssh") else {
        return;
    };
    let world = World::new();
    let hosts = [
        "a.org",
        "b.org",
        "A.org",
        "a.org.uk",
        "org",
        "ab",
        "192.0.2.7",
        "2001:db8::7",
    ];
    for (number, patterns) in [
        "*.org",
        "a.org",
        "*.org !b.org",
        "!b.org *",
        "!b.org",
        "?.org a*",
        "*?*?",
        "192.0.2.? *::7",
        "*.*.* org",
        "b.org !*",
    ]
    .into_iter()
    .enumerate()
    {
        let text = format!("Host {patterns}\nPort 4321\n");
        let theirs = world.write(&format!("ssh_config_{number}"), text);
        let text = format!("[[host]]\nmatch = \"{patterns}\"\nport = 4321\n");
        let ours = world.write(&format!("{number}.toml"), text);
        fs::set_permissions(&ours, Permissions::from_mode(0o600)).expect("our own file");
        for host in hosts {
            let mut command = world.command(&ssh);
            let output = command.arg("-G").arg("-F").arg(&theirs).arg(host).output();
            let output = output.expect("ssh starts").stdout;
            let wanted = String::from_utf8(output)
                .expect("text")
                .lines()
                .any(|line| line == "port 4321");
            let ours = ours.to_str().expect("text");
            let said = in_force(&world, "port", &["--config", ours, host]);
            assert_eq!(said[0] == "4321", wanted, "{patterns} {host}");
        }
    }
}

#[test]
fn a_file_with_faults_is_told_line_by_line_and_nothing_begins() {
    let world = World::new();
    let path = write_config(&world, "predcit = \"never\"\ninit = 7\n");
    let told = complaint(&world, &["--local"]);
    let lines: Vec<&str> = told.lines().collect();
    let path = path.display();
    assert_eq!(
        lines[0],
        format!("fulmar: {path}:1:1: there is no setting predcit; the nearest is predict")
    );
    assert!(
        lines[1].starts_with(&format!("fulmar: {path}:2:8: init cannot be 7: ")),
        "{told}"
    );
    assert!(lines[2].starts_with("  fulmar man"), "{told}");
    assert_eq!(lines.len(), 3);
}

#[test]
fn a_file_that_others_could_have_written_is_refused() {
    let world = World::new();
    let path = write_config(&world, "");
    fs::set_permissions(&path, Permissions::from_mode(0o664)).expect("our own file");
    let told = complaint(&world, &["config"]);
    assert!(
        told.contains("mode 664") && told.contains("chmod go-w"),
        "{told}"
    );
}

#[test]
fn a_file_that_was_named_has_to_be_there() {
    let mut world = World::new();
    let told = complaint(&world, &["config", "--config", "no-such-file"]);
    assert!(told.contains("no-such-file: No such file"), "{told}");
    world.set("FULMAR_CONFIG", "/no/such/file");
    let told = complaint(&world, &["--local"]);
    assert!(told.contains("/no/such/file: No such file"), "{told}");
}

#[test]
fn a_value_that_makes_no_sense_is_listed_and_told() {
    let mut world = World::new();
    world.set("FULMAR_PREDICT", "sometimes");
    let output = run(&world, &["config"]);
    assert_eq!(output.status.code(), Some(255));
    assert!(String::from_utf8_lossy(&output.stdout).contains("sometimes"));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        told.starts_with("fulmar: FULMAR_PREDICT: predict cannot be sometimes: "),
        "{told}"
    );
}

#[test]
fn a_session_obeys_the_file() {
    let world = World::new();
    write_config(
        &world,
        "init = false\ntitle-prefix = false\nlog = \"~/session.log\"\n",
    );
    let mut command = world.spawn(world.ours("fulmar"));
    let script = "printf '\\033]2;my title\\a'; echo all is well; read line";
    command
        .arg("--local")
        .arg("--")
        .arg("sh")
        .arg("-c")
        .arg(script);
    command.env("TERM", "xterm-256color");
    let mut terminal = Terminal::start(&command, Setup::default().size, Rules::Client);
    terminal.wait_for_text("all is well");
    terminal.wait_for_bytes(0, b";my title");
    let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
    assert!(
        !shown.contains("\x1b[?1049h") && !shown.contains("[fulmar] "),
        "{shown}"
    );
    terminal.type_keys("\n");
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    assert!(world.home().join("session.log").exists());
}

/// Makes something that takes words as ssh does and runs the command on this machine. What it was
/// called with is in `words`, a line for each.
fn write_ssh(world: &World) -> PathBuf {
    let script = "#!/bin/sh\n\
        for word; do printf '%s\\n' \"$word\" >> \"$HOME/words\"; last=$word; done\n\
        case \" $* \" in *' -V '*) echo OpenSSH_9.2 >&2; exit;; \
        *' -G '*) echo hostname 127.0.0.1; exit;; esac\n\
        exec sh -c \"$last\"\n";
    let path = world.home().join("ssh-of-mine");
    write_program(&path, script);
    path
}

#[test]
fn a_login_obeys_the_sections_of_its_host() {
    let world = World::new();
    let (home, ssh) = (world.home().display(), write_ssh(&world));
    let text = format!(
        "ssh = \"/no/such/ssh\"\n\
         [[host]]\nmatch = \"*x !fox\"\nssh = \"{} 'two words'\"\n\
         [[host]]\nmatch = \"box\"\nserver = \"env ANIMAL=walrus {home}/ours/fulmar server\"\n",
        ssh.display()
    );
    write_config(&world, &text);
    let mut command = world.spawn(world.ours("fulmar"));
    for word in [
        "ada@box",
        "--",
        "sh",
        "-c",
        "echo a $ANIMAL; read line; exit 7",
    ] {
        command.arg(word);
    }
    let mut terminal = Terminal::start(&command, Setup::default().size, Rules::Client);
    terminal.wait_for_text("a walrus");
    terminal.type_keys("\n");
    assert_eq!(terminal.wait_for_end().code(), Some(7));
    terminal.expect_restored();
    let words = fs::read_to_string(world.home().join("words")).expect("it was called");
    assert!(words.lines().any(|word| word == "two words"), "{words}");
    assert!(words.lines().any(|word| word == "ada@box"), "{words}");
    assert_eq!(in_force(&world, "ssh", &["ada@fox"])[0], "/no/such/ssh");
}

#[test]
fn another_client_gets_the_address_and_the_key() {
    let world = World::new();
    let stock = peers::require("mosh-client");
    for client in [Some(world.ours("mosh-client")), stock]
        .into_iter()
        .flatten()
    {
        let ssh = write_ssh(&world);
        let ours = world.ours("fulmar");
        let mut command = world.spawn(&ours);
        for word in ["--client", client.to_str().expect("text"), "--ssh"] {
            command.arg(word);
        }
        command
            .arg(&ssh)
            .arg("--server")
            .arg(&ours)
            .arg("--no-init");
        for word in ["box", "--", "sh", "-c", "echo all is well; read line"] {
            command.arg(word);
        }
        let mut terminal = Terminal::start(&command, Setup::default().size, Rules::None);
        terminal.wait_for_text("all is well");
        terminal.type_keys("\n");
        assert_eq!(terminal.wait_for_end().code(), Some(0));
        terminal.wait_for_text("[mosh is exiting.]");
        let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
        assert!(!shown.contains("\x1b[?1049h"), "{shown}");
    }
}

#[test]
fn another_client_that_is_not_there_is_told() {
    let world = World::new();
    let ssh = write_ssh(&world);
    let ours = world.ours("fulmar");
    let mut command = world.spawn(&ours);
    command.arg("--client").arg("/no/such/client");
    command
        .arg("--ssh")
        .arg(&ssh)
        .arg("--server")
        .arg(&ours)
        .arg("box");
    let mut terminal = Terminal::start(&command, Setup::default().size, Rules::Client);
    terminal.wait_for_text("cannot start /no/such/client");
    assert_eq!(terminal.wait_for_end().code(), Some(255));
    terminal.expect_restored();
}

#[test]
fn where_scrollback_is_off_by_itself_the_list_says_why() {
    let world = World::new();
    write_config(&world, "scrollback = \"auto\"\n");
    let told = |term: &str, arguments: &[&str]| {
        let mut command = world.command(world.ours("fulmar"));
        command.arg("config").args(arguments).env("TERM", term);
        let output = command.output().expect("it starts");
        assert_eq!(output.status.code(), Some(0));
        let text = String::from_utf8(output.stdout).expect("text");
        text.contains("scrollback: off in this terminal: it has not been tried")
    };
    assert!(told("linux", &[]));
    assert!(!told("xterm-256color", &[]));
    assert!(!told("linux", &["--scrollback"]));
    assert!(!told("linux", &["--no-scrollback"]));
}
