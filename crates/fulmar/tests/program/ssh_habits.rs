//! Command lines that users of ssh, scp and rsync type out of habit.

use std::process::Output;

use crate::login::scene::{FAR, Plan, Scene, Starter, expect_session};
use crate::support::{Rules, Setup, Terminal, World};

fn run(world: &World, arguments: &[&str]) -> Output {
    let mut command = world.command(world.ours("fulmar"));
    command.args(arguments).output().expect("it starts")
}

/// Runs `fulmar`, and expects a refusal with these words and nothing that is not to be there.
#[track_caller]
fn expect_refused(line: &str, status: i32, words: &[&str]) {
    let arguments: Vec<&str> = line.split(' ').collect();
    let output = run(&World::new(), &arguments);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{line}: {told}");
    for word in words {
        assert!(told.contains(word), "{line}: no {word:?} in {told}");
    }
    assert!(!told.contains("tip:"), "{line}: {told}");
}

#[test]
fn flags_of_ssh_that_have_no_place_here_say_what_to_do_instead() {
    expect_refused("-A host", 255, &["-A is not a flag of fulmar", "no agent"]);
    let words = ["no ports", "ssh -N -L 80:x:80 host"];
    expect_refused("-L 80:x:80 host", 255, &words);
    expect_refused("-E log host", 255, &["--ssh 'ssh -E log'"]);
    expect_refused("-M host", 255, &["--ssh 'ssh -M'"]);
    expect_refused("-e x host", 255, &["--escape-key"]);
    expect_refused("cp -3 a:x b:y", 1, &["two other machines"]);
    expect_refused("cp -n a b:", 1, &["--dry-run"]);
    expect_refused("cp -A a b:", 1, &["-A is not", "needs no agent"]);
    expect_refused("cp --bwlimit=10 a b:", 1, &["--limit 1MB"]);
    // With flags before the name of the command, too.
    expect_refused("--ssh x cp -3 a:x b:y", 1, &["two other machines"]);
    expect_refused("--ssh x cp -A a b:", 1, &["needs no agent"]);
    expect_refused("cp --delete a b:", 1, &["--delete is not", "use rsync"]);
    expect_refused("config -F x", 255, &["-F is not", "--config"]);
}

#[test]
fn a_flag_that_nobody_has_is_not_taken_for_a_host() {
    expect_refused(
        "--foo host",
        255,
        &["fulmar: unexpected", "--foo", "--help"],
    );
    expect_refused(
        "cp -l 10 a b:",
        1,
        &["fulmar: invalid", "lowest rate is 12"],
    );
    expect_refused("completions tcsh", 255, &["tcsh", "bash, zsh, fish"]);
}

#[test]
fn a_wrong_value_is_told_before_a_redirected_output() {
    expect_refused("--predict=maybe host", 255, &["--predict", "maybe"]);
    expect_refused("host", 255, &["standard output is not a terminal"]);
}

/// Runs `fulmar` on a terminal, and returns the status and what is shown.
fn on_terminal(scene: &Scene, arguments: &[&str]) -> (Option<i32>, String) {
    let mut terminal = scene.start(Starter::Fulmar, arguments).expect("it is ours");
    let status = terminal.wait_for_end().code();
    let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
    (status, shown)
}

#[test]
fn a_subcommand_that_is_taken_for_a_host_is_asked_about() {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    for (word, hint) in [
        ("copy", "did you mean fulmar cp?"),
        ("hlep", "did you mean fulmar help?"),
        ("nowhere:", "write nowhere without a colon"),
        ("ssh nowhere", "did you mean fulmar nowhere?"),
    ] {
        let words: Vec<&str> = word.split(' ').collect();
        let (status, shown) = on_terminal(&scene, &words);
        assert_eq!(status, Some(255));
        assert!(shown.contains(hint), "{shown}");
    }
}

#[test]
fn an_option_behind_the_host_is_told_where_to_go() {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    let host = format!("bob@{FAR}");
    let (status, shown) = on_terminal(&scene, &[&host, "-v"]);
    assert_eq!(status, Some(127));
    let hint = format!("options go before the host: fulmar -v {host}");
    assert!(shown.contains(&hint), "{shown}");
    let (_, shown) = on_terminal(&scene, &[&host, "-X"]);
    assert!(shown.contains("forwards no X11"), "{shown}");
    let (_, shown) = on_terminal(&scene, &[&host, "-p", "60001"]);
    let hint = format!("options go before the host: fulmar -p 60001 {host}");
    assert!(shown.contains(&hint), "{shown}");
    let (_, shown) = on_terminal(&scene, &[&host, "-p", "2223"]);
    let hint = format!("ssh's port is -P: fulmar -P 2223 {host}");
    assert!(shown.contains(&hint), "{shown}");
}

#[test]
fn sshs_port_in_the_wrong_place_is_told_where_to_go() {
    let words = ["--port", "UDP port", "-P", "ssh://host:22"];
    let world = World::new();
    let mut command = world.spawn(world.ours("fulmar"));
    for argument in ["-p", "22", "host"] {
        command.arg(argument);
    }
    let mut terminal = Terminal::start(&command, Setup::default().size, Rules::Client);
    assert_eq!(terminal.wait_for_end().code(), Some(255));
    let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
    for word in words {
        assert!(shown.contains(word), "no {word:?} in {shown}");
    }
    expect_refused("ada@host:2222", 255, &["fulmar -P 2222 ada@host"]);
}

#[test]
fn a_port_that_was_meant_for_ssh_is_asked_about_when_the_login_fails() {
    let world = world_with_ssh();
    let mut command = world.spawn(world.ours("fulmar"));
    for argument in ["--ssh", "sh ssh.sh", "-p", "2223", "host"] {
        command.arg(argument);
    }
    let mut terminal = Terminal::start(&command, Setup::default().size, Rules::Client);
    assert_eq!(terminal.wait_for_end().code(), Some(255));
    terminal.wait_for_text("if it is ssh's, write fulmar -P 2223 host");
}

#[test]
fn a_copy_without_a_source_or_a_target_says_how_it_is_written() {
    for line in ["cp", "cp a"] {
        expect_refused(line, 1, &["nothing to copy", "fulmar cp SOURCE..."]);
    }
}

#[test]
fn a_port_behind_the_flag_that_keeps_times_is_asked_about() {
    let hint = ["the UDP port is --port: fulmar cp --port 60500"];
    expect_refused("cp -p 60500 a b", 1, &hint);
    let hint = ["ssh's port is -P: fulmar cp -P 22"];
    expect_refused("cp -p 22 a b", 1, &hint);
    let output = run(&World::new(), &["cp", "-p", "a", "b"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!told.contains("UDP"), "{told}");
}

#[test]
fn a_copy_with_a_value_that_makes_no_sense_has_the_status_of_a_senseless_line() {
    expect_refused("cp --port 22 a host:", 1, &["port cannot be 22", "-P"]);
}

#[test]
fn flags_before_a_subcommand_are_for_it() {
    expect_refused(
        "--predict never cp a b:",
        255,
        &["--predict means nothing to fulmar cp", "fulmar cp --help"],
    );
    expect_refused("-4 server new", 255, &["-4 means nothing to fulmar server"]);
    let output = run(&World::new(), &["--port", "7:9", "config", "host"]);
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("7:9") && output.status.success(), "{told}");
}

/// A home with an ssh that writes down its arguments and fails.
fn world_with_ssh() -> World {
    let world = World::new();
    world.write("ssh.sh", "echo \"$*\" >> told\nexit 255\n");
    world
}

/// Waits for the fake ssh to have written its arguments, with these words among them.
#[track_caller]
fn expect_told(world: &World, words: &str) {
    let told = std::fs::read_to_string(world.home().join("told")).expect("ssh was started");
    assert!(told.contains(words), "no {words:?} in {told}");
}

#[test]
fn flags_of_ssh_reach_ssh() {
    let world = world_with_ssh();
    let mut command = world.spawn(world.ours("fulmar"));
    let line = "--ssh|sh ssh.sh|-t|-C|-P|2222|-i|key|-J|gw|-F|conf|-l|ada|-o|A=b|host";
    for argument in line.split('|') {
        command.arg(argument);
    }
    let mut terminal = Terminal::start(&command, Setup::default().size, Rules::Client);
    assert_eq!(terminal.wait_for_end().code(), Some(255));
    expect_told(&world, "-p 2222 -i key -F conf -J gw -o A=b -l ada");
}

#[test]
fn flags_of_ssh_reach_ssh_also_where_it_runs_the_command_itself() {
    let world = world_with_ssh();
    let arguments = [
        "--ssh",
        "sh ssh.sh",
        "-P",
        "2222",
        "-l",
        "ada",
        "host",
        "ls",
    ];
    assert_eq!(run(&world, &arguments).status.code(), Some(255));
    expect_told(&world, "-p 2222 -l ada");
    // And -v tells of it.
    let verbose = [&["-v"], arguments.as_slice()].concat();
    let told = String::from_utf8_lossy(&run(&world, &verbose).stderr).into_owned();
    assert!(told.contains("without a session"), "{told}");
    assert!(told.contains("sh ssh.sh -p 2222 -l ada"), "{told}");
}

#[test]
fn a_copy_takes_the_flags_before_it_and_the_harmless_ones_of_others() {
    let world = world_with_ssh();
    let line = "--ssh|sh ssh.sh|-P|2222|cp|-C|-z|-a|-p|ssh.sh|host:";
    let arguments: Vec<&str> = line.split('|').collect();
    assert_eq!(run(&world, &arguments).status.code(), Some(255));
    expect_told(&world, "-p 2222");
}

/// Or else a file there would be replaced by an empty one, and what is there would be lost, with status 0.
#[test]
fn a_copy_from_or_to_a_stream_that_is_closed_is_refused() {
    let world = World::new();
    for (line, words) in [
        ("cp - host:kept <&-", "standard input is not open"),
        ("cp host:a - >&-", "standard output is not open"),
    ] {
        let mut shell = world.command("sh");
        shell.args(["-c", &format!("\"$0\" --ssh false {line}")]);
        shell.arg(world.ours("fulmar"));
        let output = shell.output().expect("it starts");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{line}: {told}");
        assert!(told.contains(words), "{line}: {told}");
    }
}

/// Runs `fulmar --local` and these words on a terminal, and returns the status.
fn local(world: &World, words: &[&str]) -> Option<i32> {
    let mut command = world.spawn(world.ours("fulmar"));
    command.arg("--local");
    for word in words {
        command.arg(*word);
    }
    let mut terminal = Terminal::start(&command, Setup::default().size, Rules::Client);
    let status = terminal.wait_for_end();
    terminal.expect_restored();
    status.code()
}

#[test]
fn one_word_is_a_line_for_the_shell_on_this_machine_too() {
    let world = World::new();
    let status = local(&world, &["echo a b | tr b c > told; exit 3"]);
    assert_eq!(status, Some(3));
    expect_told(&world, "a c");
}

#[test]
fn a_program_that_is_missing_has_the_status_of_a_shell() {
    assert_eq!(local(&World::new(), &["no-such-program"]), Some(127));
}

#[test]
fn over_ssh_a_missing_program_has_that_status_too() {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    let arguments = [&*format!("bob@{FAR}"), "no-such-program"];
    let terminal = scene.start(Starter::Fulmar, &arguments);
    let mut terminal = terminal.expect("ours is always there");
    assert_eq!(terminal.wait_for_end().code(), Some(127));
    terminal.wait_for_text("no-such-program");
    terminal.expect_restored();
}

#[test]
fn a_destination_may_be_a_uri_with_sshs_port() {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    let destination = format!("ssh://bob@{FAR}:22");
    let terminal = scene.start(Starter::Fulmar, &[&destination]);
    let mut terminal = terminal.expect("ours is always there");
    expect_session(&scene, Starter::Fulmar, &mut terminal);
}
