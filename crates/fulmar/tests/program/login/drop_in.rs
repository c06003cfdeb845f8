//! Our program as `mosh`, where what is around it matters: addresses, jump hosts, shells, questions.
//!
//! That it gives ssh and the server the same words as stock's is tried in `mosh_words`.

use super::scene::{FAR, Kind, Plan, Scene, Starter, expect_session};
use crate::support::network::{self, Families, LEFT, RIGHT};
use crate::support::{Daemon, Machine, PASSWORD, Person, Terminal};
use fulmar_testbed::peers;

/// Alice types `fulmar mosh` and these arguments; `None` if the calling test is to return.
#[track_caller]
fn start(scene: &Scene, arguments: &[&str]) -> Option<Terminal> {
    let command = scene.command_after(&["fulmar"], Starter::Mosh, arguments)?;
    Some(scene.start_command(Starter::Mosh, &command))
}

/// Expects a session with these arguments before the host.
#[track_caller]
fn expect_login_with(scene: &Scene, arguments: &[&str], host: &str) {
    let destination = format!("bob@{host}");
    let arguments: Vec<&str> = arguments.iter().copied().chain([&*destination]).collect();
    if let Some(mut terminal) = start(scene, &arguments) {
        expect_session(scene, Starter::Mosh, &mut terminal);
    }
}

const WAYS: [&str; 3] = [
    "--experimental-remote-ip=proxy",
    "--experimental-remote-ip=remote",
    "--experimental-remote-ip=local",
];

#[test]
fn every_way_leads_to_stocks_server_and_to_ours() {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    for way in WAYS {
        for server in ["mosh-server", "fulmar server"] {
            expect_login_with(&scene, &[way, &format!("--server={server}")], FAR);
        }
    }
}

#[test]
fn what_stocks_server_says_is_in_lines_and_so_is_the_farewell() {
    let plan = Plan {
        shell: "/bin/bash",
        ..Plan::default()
    };
    let Some(scene) = Scene::new(&plan) else {
        return;
    };
    let lines = "shopt -q login_shell || echo Welcome\nPS1='ready$ '\n";
    scene.far.write_home(Person::Bob, ".bashrc", lines);
    let Some(mut terminal) = start(&scene, &["--server=mosh-server", "bob@far"]) else {
        return;
    };
    expect_session(&scene, Starter::Mosh, &mut terminal);
    let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
    assert!(!shown.contains("\\r"), "{shown:?}");
    let contents = terminal.screen().contents();
    let farewell = contents
        .lines()
        .find(|line| line.contains("[mosh is exiting.]"));
    assert_eq!(farewell, Some("[mosh is exiting.]"), "{contents}");
}

#[test]
fn dead_addresses_are_passed_over() {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    let hosts = format!(
        "2001:db8:0::5 {FAR}\n{} {FAR}\n192.0.2.5 {FAR}\n{} {FAR}\n",
        network::v6(0, 2),
        network::v4(0, 2),
    );
    scene.near.write("/etc/hosts", hosts);
    network::kill(&scene.near, &["2001:db8:0::5", "192.0.2.5"]);
    for family in ["-4", "-6", "--family=all", "--family=prefer-inet6"] {
        expect_login_with(&scene, &[family], FAR);
    }
    // It does not choose for the user.
    if let Some(mut terminal) = start(&scene, &["--family=auto", FAR]) {
        assert_eq!(terminal.wait_for_end().code(), Some(1));
        terminal.wait_for_text("both IPv4 and IPv6");
    }
}

#[test]
fn one_family_is_enough() {
    for families in [Families::V4, Families::V6] {
        let plan = Plan {
            families,
            ..Plan::default()
        };
        let Some(scene) = Scene::new(&plan) else {
            return;
        };
        for way in WAYS {
            expect_login_with(&scene, &[way, "--family=auto"], FAR);
        }
    }
}

#[test]
fn an_address_of_one_link_keeps_its_zone() {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    network::add_address(&scene.far, LEFT, "fe80::fa/64");
    let address = format!("fe80::fa%{RIGHT}");
    for way in [
        "--experimental-remote-ip=proxy",
        "--experimental-remote-ip=local",
    ] {
        expect_login_with(&scene, &[way], &address);
    }
}

#[test]
fn behind_a_jump_host_the_remote_side_tells_its_address() {
    let Some(jump) = Machine::start("jump") else {
        return;
    };
    let plan = Plan {
        config: &format!("Host {FAR}\nProxyJump alice@jump\n"),
        jumps: &[&jump],
        ..Plan::default()
    };
    let Some(scene) = Scene::new(&plan) else {
        return;
    };
    network::forbid_passing_tcp(&jump);
    let Some(_daemon) = Daemon::sshd(&jump, "") else {
        return;
    };
    scene.authorize_at(&jump, Person::Alice, "");
    scene.trust(plan.jumps);
    expect_login_with(&scene, &["--experimental-remote-ip=remote"], FAR);
    // As with stock, the proxy takes the jump host's place, and says what to do about it.
    if let Some(mut terminal) = start(&scene, &[&format!("bob@{FAR}")]) {
        assert_eq!(terminal.wait_for_end().code(), Some(1));
        terminal.wait_for_text("cannot connect to far");
        terminal.wait_for_text("--experimental-remote-ip=remote");
    }
}

#[test]
fn shells_that_are_not_posix_tell_their_address_too() {
    for (shell, file, lines) in [
        (
            "fish",
            ".config/fish/config.fish",
            "function fish_prompt\n    printf 'ready$ '\nend\nset -g fish_greeting ''\n",
        ),
        ("tcsh", ".tcshrc", "set prompt = 'ready$ '\n"),
        ("rc", ".rcrc", "prompt = ('ready$ ' '')\n"),
    ] {
        let Some(program) = peers::require(shell) else {
            return;
        };
        let plan = Plan {
            shell: &program.display().to_string(),
            ..Plan::default()
        };
        let Some(scene) = Scene::new(&plan) else {
            return;
        };
        if let Some((folder, _)) = file.rsplit_once('/') {
            scene.far.folder(Person::Bob, folder);
        }
        scene.far.write_home(Person::Bob, file, lines);
        expect_login_with(&scene, &["--experimental-remote-ip=remote"], FAR);
    }
}

#[test]
fn a_password_is_asked_for_by_ssh() {
    let plan = Plan {
        config: "PubkeyAuthentication no\n",
        ..Plan::default()
    };
    let Some(scene) = Scene::new(&plan) else {
        return;
    };
    if let Some(mut terminal) = start(&scene, &[&format!("bob@{FAR}")]) {
        terminal.wait_for_text("bob@far's password:");
        terminal.type_keys(format!("{PASSWORD}\n"));
        expect_session(&scene, Starter::Mosh, &mut terminal);
    }
}

#[test]
fn a_question_of_ssh_can_be_refused_and_interrupted() {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    scene.near.write_home(Person::Alice, ".ssh/known_hosts", "");
    for answer in ["no\n", "\x03"] {
        let Some(mut terminal) = start(&scene, &[&format!("bob@{FAR}")]) else {
            return;
        };
        terminal.wait_for_text("Are you sure you want to continue connecting");
        terminal.type_keys(answer);
        assert_ne!(terminal.wait_for_end().code(), Some(0));
        terminal.expect_restored();
        scene.expect_nothing_left();
    }
}

#[test]
fn without_a_server_there_it_says_what_to_install() {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    if let Some(mut terminal) = start(&scene, &["--server=no-such-server", &format!("bob@{FAR}")]) {
        assert_eq!(terminal.wait_for_end().code(), Some(1));
        // First what the shell over there says.
        terminal.wait_for_text("no-such-server: not found");
        terminal.wait_for_text("no server was started on bob@far");
        terminal.wait_for_text("is installed on");
        scene.expect_nothing_left();
    }
}

#[test]
fn dropbear_at_the_remote_end_is_enough() {
    let plan = Plan {
        daemon: Kind::Dropbear,
        config: "StrictHostKeyChecking accept-new\n",
        ..Plan::default()
    };
    if let Some(scene) = Scene::new(&plan) {
        expect_login_with(&scene, &[], FAR);
        expect_login_with(&scene, &["--experimental-remote-ip=remote"], FAR);
    }
}
