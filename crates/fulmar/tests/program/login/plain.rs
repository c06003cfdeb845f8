//! Names, ports and users as the ssh configuration has them.

use super::scene::{FAR, Plan, Scene, Starter, expect_login, expect_session, for_each_starter};
use crate::support::{PASSWORD, Person};
use fulmar_platform::WindowSize;

for_each_starter! {
    keys_typed_before_it_begins: fulmar;
    a_window_that_changes_before_it_begins: fulmar mosh;
    no_terminal_here: fulmar;
    a_command_whose_output_is_redirected: fulmar;
    a_key_and_a_known_host: fulmar mosh ssh;
    an_alias_with_host_name_port_and_user: fulmar mosh ssh;
    an_included_file: fulmar mosh ssh;
    a_match_that_asks_a_program: fulmar mosh ssh;
    a_command_of_words_that_shells_would_change: fulmar mosh;
    a_command_of_a_hundred_kilobytes: fulmar;
    a_terminal_with_true_colour: fulmar;
}

fn a_key_and_a_known_host(starter: Starter) {
    expect_login(starter, &Plan::default(), |_| {});
}

/// Logs in as `friend`, which only the configuration knows.
fn as_friend(starter: Starter, plan: &Plan<'_>, prepare: impl FnOnce(&Scene)) {
    let Some(scene) = Scene::new(plan) else {
        return;
    };
    prepare(&scene);
    if let Some(mut terminal) = scene.start(starter, &["friend"]) {
        expect_session(&scene, starter, &mut terminal);
    }
}

fn an_alias_with_host_name_port_and_user(starter: Starter) {
    let plan = Plan {
        sshd: "Port 2222",
        config: &format!("Host friend\nHostName {FAR}\nPort 2222\nUser bob\n"),
        ..Plan::default()
    };
    as_friend(starter, &plan, |_| {});
}

fn an_included_file(starter: Starter) {
    let plan = Plan {
        config: "Include config.d/*\n",
        ..Plan::default()
    };
    as_friend(starter, &plan, |scene| {
        scene.near.folder(Person::Alice, ".ssh/config.d");
        let lines = format!("Host friend\nHostName {FAR}\nUser bob\n");
        scene
            .near
            .write_home(Person::Alice, ".ssh/config.d/friends", lines);
    });
}

fn a_match_that_asks_a_program(starter: Starter) {
    let lines = format!(
        "Match originalhost friend exec \"test -e ~/.is-here\"\nHostName {FAR}\nUser bob\n"
    );
    let plan = Plan {
        config: &lines,
        ..Plan::default()
    };
    as_friend(starter, &plan, |scene| {
        scene.near.write_home(Person::Alice, ".is-here", "");
    });
}

fn a_command_of_words_that_shells_would_change(starter: Starter) {
    let plan = Plan {
        shell: "/bin/bash",
        ..Plan::default()
    };
    let Some(scene) = Scene::new(&plan) else {
        return;
    };
    let words = ["a  b", "c'd", "$HOME", "\"e\\", "!f", "", "gü", "*", "~"];
    let arguments = [
        "bob@far",
        "--",
        "sh",
        "-c",
        "printf '<%s>' \"$@\"; read line; exit 9",
        "sh",
    ];
    let arguments: Vec<&str> = arguments.iter().chain(&words).copied().collect();
    let Some(mut terminal) = scene.start(starter, &arguments) else {
        return;
    };
    terminal.wait_for_text(&words.map(|word| format!("<{word}>")).concat());
    terminal.type_keys("\n");
    let expected = if starter == Starter::Mosh { 0 } else { 9 };
    assert_eq!(terminal.wait_for_end().code(), Some(expected));
    terminal.expect_restored();
    scene.expect_nothing_left();
}

fn keys_typed_before_it_begins(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    let Some(mut terminal) = scene.start(starter, &["bob@far"]) else {
        return;
    };
    terminal.type_keys("echo $((6 * 7))\n");
    terminal.wait_for_text("42");
    expect_session(&scene, starter, &mut terminal);
}

fn a_window_that_changes_before_it_begins(starter: Starter) {
    let plan = Plan {
        config: "PubkeyAuthentication no\n",
        ..Plan::default()
    };
    let Some(scene) = Scene::new(&plan) else {
        return;
    };
    let Some(mut terminal) = scene.start(starter, &["bob@far"]) else {
        return;
    };
    terminal.wait_for_text("bob@far's password:");
    terminal.resize(WindowSize {
        rows: 31,
        columns: 97,
    });
    terminal.type_keys(format!("{PASSWORD}\n"));
    terminal.wait_for_prompt();
    terminal.type_keys("stty size\n");
    terminal.wait_for_text("31 97");
    expect_session(&scene, starter, &mut terminal);
}

fn a_command_whose_output_is_redirected(_: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    for (words, said, status) in [
        (&["id -un; exit 7"][..], "bob\n", 7),
        (&["printf", "%s|", "a  b", "$HOME"], "a  b|$HOME|", 0),
        (&["cat"], "", 0),
        (&["no-such-program"], "", 127),
    ] {
        let mut command = scene.near.command(Person::Alice, "fulmar");
        command.arg("bob@far").args(words);
        let output = scene.near.inside(|| command.output().expect("it starts"));
        assert_eq!(output.status.code(), Some(status), "{words:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), said, "{words:?}");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!told.contains("fulmar"), "{told}");
    }
}

fn no_terminal_here(_: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    let mut command = scene.near.command(Person::Alice, "fulmar");
    let output = scene
        .near
        .inside(|| command.arg("bob@far").output().expect("it starts"));
    assert_eq!(output.status.code(), Some(255));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("standard output is not a terminal"), "{said}");
    assert!(said.contains("add a command"), "{said}");
    // It has said so before ssh was started.
    let log = scene.daemon.log();
    assert!(!log.contains("Connection from"), "{log}");
}

fn a_command_of_a_hundred_kilobytes(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    // Bytes that become three each on the way.
    let long = "ü".repeat(50_000);
    let script = "printf %s \"$1\" | wc -c; read line; exit 9";
    let Some(mut terminal) = scene.start(starter, &["bob@far", "sh", "-c", script, "sh", &long])
    else {
        return;
    };
    terminal.wait_for_text("100000");
    terminal.type_keys("\n");
    assert_eq!(terminal.wait_for_end().code(), Some(9));
    scene.expect_nothing_left();
}

fn a_terminal_with_true_colour(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    let line = "echo \"<$COLORTERM>\"; read line";
    for (words, shown) in [
        (&["env", "COLORTERM=24bit"][..], "<truecolor>"),
        (&["env", "TERM=xterm"], "<>"),
    ] {
        let Some(command) = scene.command_after(words, starter, &["bob@far", line]) else {
            return;
        };
        let mut terminal = scene.start_command(starter, &command);
        terminal.wait_for_text(shown);
        terminal.type_keys("\n");
        assert_eq!(terminal.wait_for_end().code(), Some(0));
    }
}
