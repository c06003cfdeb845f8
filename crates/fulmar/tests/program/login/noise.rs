//! Output over ssh that is not what we wait for.

use super::scene::{FAR, Plan, Scene, Starter, expect_refusal, expect_session, for_each_starter};
use crate::support::network::Counter;
use crate::support::{Person, Setup};
use fulmar_platform::WindowSize;

for_each_starter! {
    a_megabyte_in_one_line: fulmar;
    a_megabyte_of_lines: fulmar;
    two_servers: fulmar;
    a_foreign_address: fulmar mosh;
    a_terminal_without_columns: fulmar;
}

/// Starts with a bash on the remote machine that does something before each command of ssh.
fn after_bashrc(starter: Starter, lines: &str, refusal: &str) {
    let plan = Plan {
        shell: "/bin/bash",
        ..Plan::default()
    };
    let Some(scene) = Scene::new(&plan) else {
        return;
    };
    scene.far.write_home(Person::Bob, ".bashrc", lines);
    let Some(mut terminal) = scene.start(starter, &[&format!("bob@{FAR}")]) else {
        return;
    };
    expect_refusal(&mut terminal, refusal);
    scene.expect_nothing_left();
}

fn a_megabyte_in_one_line(starter: Starter) {
    let lines = "head -c 1000000 /dev/zero | tr '\\0' x\n";
    after_bashrc(starter, lines, "more than 64 KiB of other text");
}

fn a_megabyte_of_lines(starter: Starter) {
    let lines = "yes this is not for you | head -c 1000000\n";
    after_bashrc(starter, lines, "more than 64 KiB of other text");
}

fn two_servers(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    // Both have said all before anything is passed on.
    let servers = "a=$(fulmar server new 2>&-); b=$(fulmar server new 2>&-); echo $a; echo $b";
    scene.authorize(&format!("command=\"({servers}) | tail -n 2\""));
    let Some(mut terminal) = scene.start(starter, &[&format!("bob@{FAR}")]) else {
        return;
    };
    expect_refusal(&mut terminal, "two servers were started");
}

/// An address that the remote machine has no right to name.
const FOREIGN: &str = "203.0.113.9";

fn a_foreign_address(starter: Starter) {
    let plan = Plan {
        shell: "/bin/bash",
        ..Plan::default()
    };
    let Some(scene) = Scene::new(&plan) else {
        return;
    };
    let lines = format!("export SSH_CONNECTION='192.0.2.1 999 {FOREIGN} 22'\nPS1='ready$ '\n");
    scene.far.write_home(Person::Bob, ".bashrc", lines);
    scene
        .far
        .write_home(Person::Bob, ".bash_profile", ". ~/.bashrc\n");
    let counter = Counter::of_packets_to(&scene.near, FOREIGN);
    let Some(mut terminal) = scene.start(starter, &[&format!("bob@{FAR}")]) else {
        return;
    };
    expect_session(&scene, starter, &mut terminal);
    assert_eq!(counter.packets(), 0);
}

fn a_terminal_without_columns(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    let Some(command) = scene.command(starter, &[&format!("bob@{FAR}")]) else {
        return;
    };
    let size = WindowSize {
        columns: 0,
        ..Setup::default().size
    };
    let mut terminal = scene.start_at(starter, &command, size);
    terminal.wait_for_prompt();
    terminal.type_keys("stty size\n");
    terminal.wait_for_text("24 80");
    expect_session(&scene, starter, &mut terminal);
}
