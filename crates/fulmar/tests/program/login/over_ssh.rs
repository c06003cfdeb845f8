//! Sessions that ssh carries, where no UDP passes or the user wishes it.

use std::fs;

use super::scene::{
    FAR, Plan, Scene, Starter, expect_session, expect_work, for_each_starter, leave,
};
use crate::support::network::{Families, Way, block_udp, let_udp_pass};
use crate::support::{PASSWORD, Person, Process, Terminal};

for_each_starter! {
    no_udp_there: fulmar;
    no_udp_back: fulmar;
    no_udp_either_way: fulmar;
    by_wish: fulmar;
    udp_that_opens_and_closes: fulmar;
    an_ssh_that_is_killed: fulmar;
    udp_that_closes_in_a_session: fulmar;
    an_ssh_that_has_to_ask_again: fulmar;
    an_ssh_that_fails_and_then_works: fulmar;
}

/// The notice when ssh is the way.
const BY_SSH: &str = "ssh carries the session";

/// The notice when UDP is it again.
const BY_UDP: &str = "UDP carries the session again";

const BOTH_WAYS: [Way; 2] = [Way::Out, Way::Back];

/// A login to a machine that does not let UDP pass in these directions.
fn blocked(starter: Starter, ways: &[Way], words: &[&str]) -> Option<(Scene, Terminal)> {
    let plan = Plan {
        families: Families::V4,
        ..Plan::default()
    };
    let scene = Scene::new(&plan)?;
    ways.iter().for_each(|way| block_udp(&scene.far, *way));
    let destination = format!("bob@{FAR}");
    let terminal = scene.start(starter, &[words, &[&destination]].concat())?;
    Some((scene, terminal))
}

fn expect_session_without(starter: Starter, ways: &[Way]) {
    let Some((scene, mut terminal)) = blocked(starter, ways, &[]) else {
        return;
    };
    terminal.wait_for_text(BY_SSH);
    expect_session(&scene, starter, &mut terminal);
}

fn no_udp_there(starter: Starter) {
    expect_session_without(starter, &[Way::Out]);
}

fn no_udp_back(starter: Starter) {
    expect_session_without(starter, &[Way::Back]);
}

fn no_udp_either_way(starter: Starter) {
    expect_session_without(starter, &BOTH_WAYS);
}

fn by_wish(starter: Starter) {
    let Some((scene, mut terminal)) = blocked(starter, &BOTH_WAYS, &["--transport=ssh"]) else {
        return;
    };
    BOTH_WAYS
        .iter()
        .for_each(|way| let_udp_pass(&scene.far, *way));
    expect_work(&mut terminal);
    // UDP would be the way by now if it were not for the wish.
    terminal.type_keys("\x1ei");
    terminal.wait_for_text("ssh, as you wish");
    terminal.type_keys(" ");
    expect_session(&scene, starter, &mut terminal);
}

fn udp_that_opens_and_closes(starter: Starter) {
    let Some((scene, mut terminal)) = blocked(starter, &BOTH_WAYS, &[]) else {
        return;
    };
    terminal.wait_for_text(BY_SSH);
    expect_work(&mut terminal);
    expect_ssh_in_panel(&mut terminal);
    BOTH_WAYS
        .iter()
        .for_each(|way| let_udp_pass(&scene.far, *way));
    terminal.wait_for_text(BY_UDP);
    terminal.type_keys("clear; echo twice $((5 * 11))\n");
    terminal.wait_for_text("twice 55");
    BOTH_WAYS.iter().for_each(|way| block_udp(&scene.far, *way));
    terminal.type_keys("clear; echo once $((6 * 11))\n");
    terminal.wait_for_text("once 66");
    expect_ssh_in_panel(&mut terminal);
    assert_eq!(leave(&mut terminal).code(), Some(7));
    scene.expect_nothing_left();
}

/// Ends each ssh on the near machine.
fn kill_ssh(scene: &Scene) {
    let mut ssh = scene.near.processes();
    ssh.retain(|(_, line)| line.starts_with("ssh "));
    for (pid, _) in ssh {
        Process::of(pid).expect("it runs").kill();
    }
}

/// Expects that the panel tells ssh as the way: a key may have dismissed what was told of it.
fn expect_ssh_in_panel(terminal: &mut Terminal) {
    terminal.type_keys("\x1ei");
    terminal.wait_for_text("ssh, as UDP does not answer");
    terminal.type_keys(" ");
}

fn an_ssh_that_is_killed(starter: Starter) {
    let Some((scene, mut terminal)) = blocked(starter, &BOTH_WAYS, &[]) else {
        return;
    };
    terminal.wait_for_text(BY_SSH);
    expect_work(&mut terminal);
    kill_ssh(&scene);
    terminal.wait_for_text("has ended: UDP is tried");
    terminal.type_keys("clear; echo once $((6 * 11))\n");
    // It is run once more.
    terminal.wait_for_text("once 66");
    expect_session(&scene, starter, &mut terminal);
}

fn udp_that_closes_in_a_session(starter: Starter) {
    let Some((scene, mut terminal)) = blocked(starter, &[], &[]) else {
        return;
    };
    terminal.wait_for_prompt();
    expect_work(&mut terminal);
    BOTH_WAYS.iter().for_each(|way| block_udp(&scene.far, *way));
    terminal.type_keys("clear; echo once $((6 * 11))\n");
    // ssh is run for it.
    terminal.wait_for_text("once 66");
    expect_ssh_in_panel(&mut terminal);
    assert_eq!(leave(&mut terminal).code(), Some(7));
    scene.expect_nothing_left();
}

fn an_ssh_that_has_to_ask_again(starter: Starter) {
    let plan = Plan {
        families: Families::V4,
        config: "PubkeyAuthentication no\nNumberOfPasswordPrompts 1\n",
        ..Plan::default()
    };
    let Some(scene) = Scene::new(&plan) else {
        return;
    };
    BOTH_WAYS.iter().for_each(|way| block_udp(&scene.far, *way));
    let destination = format!("bob@{FAR}");
    let Some(mut terminal) = scene.start(starter, &[&destination]) else {
        return;
    };
    let asked = "bob@far's password:";
    terminal.wait_for_text(asked);
    terminal.type_keys(format!("{PASSWORD}\n"));
    terminal.wait_for_text(BY_SSH);
    expect_work(&mut terminal);
    kill_ssh(&scene);
    terminal.type_keys("clear; echo once $((6 * 11))\n");
    terminal.wait_for_text("Ctrl-^ r runs ssh here");
    // Given up, wrong, and right.
    for (answer, told) in [
        ("\x03".to_owned(), "the session: it was given up"),
        ("wrong\n".to_owned(), "no ssh carries the session: ssh"),
        (format!("{PASSWORD}\n"), "once 66"),
    ] {
        // What ssh has asked before is still on the screen.
        let before = terminal.shown().len();
        terminal.type_keys("\x1er");
        terminal.wait_for_bytes(before, asked.as_bytes());
        terminal.type_keys(answer);
        terminal.wait_for_text(told);
    }
    expect_ssh_in_panel(&mut terminal);
    assert_eq!(leave(&mut terminal).code(), Some(7));
    terminal.expect_restored();
    scene.expect_nothing_left();
}

/// The end of this ssh comes before the end of what it writes, since a child of its holds its pipes for a while.
fn an_ssh_that_fails_and_then_works(starter: Starter) {
    let words = ["--ssh", "ssh-or-not", "--transport=ssh"];
    let plan = Plan {
        families: Families::V4,
        ..Plan::default()
    };
    let Some(scene) = Scene::new(&plan) else {
        return;
    };
    let program = "#!/bin/sh\nif [ -e ~/no-ssh ]; then sleep 1 & exit 255; fi\nexec ssh \"$@\"\n";
    scene
        .near
        .write_program("/usr/local/bin/ssh-or-not", program);
    let destination = format!("bob@{FAR}");
    let Some(mut terminal) = scene.start(starter, &[&words[..], &[&destination]].concat()) else {
        return;
    };
    expect_work(&mut terminal);
    scene.near.write_home(Person::Alice, "no-ssh", "");
    kill_ssh(&scene);
    terminal.wait_for_text("in the background it failed");
    fs::remove_file(scene.near.path("/home/alice/no-ssh")).expect("it is there");
    terminal.type_keys("clear; echo once $((6 * 11))\n");
    terminal.wait_for_text("once 66");
    expect_session(&scene, starter, &mut terminal);
}
