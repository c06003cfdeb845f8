//! Whoever gives up on the way, the user, ssh or the network, leaves nothing behind on either side.

use super::fallback::RECORDER;
use super::scene::{
    FAR, Plan, Scene, Starter, expect_refusal, expect_work, for_each_starter, leave,
};
use crate::support::network::{Families, Way, block_udp};
use crate::support::{Bell, DEADLINE, Machine, PASSWORD, Person, Process, Terminal};
use fulmar_testbed::peers;
use rustix::process::Signal;
use std::time::{Duration, Instant};

for_each_starter! {
    ctrl_c_at_the_question_for_a_host_key: fulmar;
    ctrl_c_at_the_prompt_for_a_password: fulmar;
    ctrl_c_when_the_server_has_said_hello: fulmar;
    ctrl_c_when_the_server_waits_for_us: fulmar;
    a_user_leaves_when_the_server_waits_on_a_terminal: fulmar;
    ctrl_c_in_the_session: fulmar mosh;
    the_window_closed_while_ssh_asks: fulmar;
    the_window_closed_when_the_server_waits_for_us: fulmar;
    ssh_killed_while_it_asks: fulmar;
    ssh_killed_while_the_server_begins: fulmar;
    ssh_killed_when_the_server_waits_for_us: fulmar;
    ssh_killed_when_the_session_runs: fulmar;
    a_client_killed_in_the_session: fulmar;
}

const CTRL_C: &str = "\x03";

/// Expects that our program ends as it does when it is interrupted, and that nothing is left.
#[track_caller]
fn expect_interrupted(scene: &Scene, terminal: &mut Terminal) {
    expect_end(scene, terminal, 130);
}

/// Expects that our program ends as it does without a session, and that nothing is left.
#[track_caller]
fn expect_left(scene: &Scene, terminal: &mut Terminal) {
    expect_end(scene, terminal, 255);
}

#[track_caller]
fn expect_end(scene: &Scene, terminal: &mut Terminal, status: i32) {
    assert_eq!(terminal.wait_for_end().code(), Some(status));
    terminal.expect_restored();
    scene.expect_nothing_left();
}

/// A scene in which ssh asks for a password.
fn asking(starter: Starter) -> Option<(Scene, Terminal)> {
    let plan = Plan {
        config: "PubkeyAuthentication no\n",
        ..Plan::default()
    };
    let scene = Scene::new(&plan)?;
    let mut terminal = scene.start(starter, &[&format!("bob@{FAR}")])?;
    terminal.wait_for_text("bob@far's password:");
    Some((scene, terminal))
}

/// A scene in which a server on the remote machine says hello, and no more.
fn greeting(starter: Starter) -> Option<(Scene, Terminal)> {
    let scene = Scene::new(&Plan::default())?;
    let bell = Bell::new(&scene.far, Person::Bob, "said-hello");
    let server = "#!/bin/sh\necho FULMAR HELLO 0.1.0\necho >~/said-hello\ncat >/dev/null\n";
    scene.far.write_program("/usr/local/bin/greets", server);
    let terminal = scene.start(starter, &["--server", "greets", &format!("bob@{FAR}")])?;
    bell.wait();
    Some((scene, terminal))
}

fn ctrl_c_at_the_question_for_a_host_key(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    scene.near.write_home(Person::Alice, ".ssh/known_hosts", "");
    let Some(mut terminal) = scene.start(starter, &[&format!("bob@{FAR}")]) else {
        return;
    };
    terminal.wait_for_text("Are you sure you want to continue connecting");
    terminal.type_keys(CTRL_C);
    expect_interrupted(&scene, &mut terminal);
}

fn ctrl_c_at_the_prompt_for_a_password(starter: Starter) {
    if let Some((scene, mut terminal)) = asking(starter) {
        terminal.type_keys(CTRL_C);
        expect_interrupted(&scene, &mut terminal);
    }
}

fn ctrl_c_when_the_server_has_said_hello(starter: Starter) {
    if let Some((scene, mut terminal)) = greeting(starter) {
        terminal.type_keys(CTRL_C);
        expect_interrupted(&scene, &mut terminal);
    }
}

/// A scene in which a server waits for datagrams that do not arrive.
fn waiting(starter: Starter) -> Option<(Scene, Terminal)> {
    let scene = Scene::new(&Plan::default())?;
    let bell = Bell::new(&scene.far, Person::Bob, "waits");
    // The real server, whose last line is seen by the test as well.
    let server = "#!/bin/sh\nfulmar server | while IFS= read -r line; do\n    \
                  printf '%s\\n' \"$line\"\n    \
                  case $line in 'MOSH CONNECT'*) echo >~/waits;; esac\ndone\n";
    scene.far.write_program("/usr/local/bin/tells", server);
    block_udp(&scene.far, Way::Out);
    let mut terminal = scene.start(starter, &["--server", "tells", &format!("bob@{FAR}")])?;
    bell.wait();
    // The client has the terminal: until then a key is for the login.
    terminal.wait_for_text("waiting for");
    Some((scene, terminal))
}

fn ctrl_c_when_the_server_waits_for_us(starter: Starter) {
    if let Some((scene, mut terminal)) = waiting(starter) {
        terminal.type_keys(CTRL_C);
        expect_interrupted(&scene, &mut terminal);
    }
}

fn a_user_leaves_when_the_server_waits_on_a_terminal(starter: Starter) {
    let plan = Plan {
        families: Families::V4,
        ..Plan::default()
    };
    let Some(scene) = Scene::new(&plan) else {
        return;
    };
    if peers::require("script").is_none() {
        return;
    }
    scene.authorize(RECORDER);
    block_udp(&scene.far, Way::Out);
    let Some(mut terminal) = scene.start(starter, &[&format!("bob@{FAR}")]) else {
        return;
    };
    terminal.wait_for_text("nothing arrives there");
    // As the key in which a terminal's input ends reaches the server, it ends at once.
    terminal.type_keys("\x1e.");
    expect_left(&scene, &mut terminal);
}

fn ctrl_c_in_the_session(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    let Some(mut terminal) = scene.start(starter, &[&format!("bob@{FAR}")]) else {
        return;
    };
    terminal.wait_for_prompt();
    // It is for the program in the session.
    terminal.type_keys("echo $((6 * 7)); cat\n");
    terminal.wait_for_text("42");
    terminal.type_keys(CTRL_C);
    terminal.wait_for_prompt();
    leave(&mut terminal);
    terminal.expect_restored();
    scene.expect_nothing_left();
}

fn the_window_closed_while_ssh_asks(starter: Starter) {
    if let Some((scene, mut terminal)) = asking(starter) {
        terminal.close_window();
        scene.expect_nothing_left();
    }
}

fn the_window_closed_when_the_server_waits_for_us(starter: Starter) {
    if let Some((scene, mut terminal)) = waiting(starter) {
        terminal.close_window();
        scene.expect_nothing_left();
    }
}

/// Kills the ssh that runs on the near machine.
#[track_caller]
fn kill_ssh(scene: &Scene) {
    let all = scene.near.processes();
    let ssh = all.iter().find(|(_, line)| line.starts_with("ssh "));
    let (pid, _) = ssh.unwrap_or_else(|| panic!("{all:?} run"));
    Process::of(*pid).expect("it runs").signal(Signal::KILL);
}

fn ssh_killed_while_it_asks(starter: Starter) {
    if let Some((scene, mut terminal)) = asking(starter) {
        kill_ssh(&scene);
        expect_refusal(&mut terminal, "ssh");
        scene.expect_nothing_left();
    }
}

fn ssh_killed_while_the_server_begins(starter: Starter) {
    if let Some((scene, mut terminal)) = greeting(starter) {
        kill_ssh(&scene);
        expect_refusal(&mut terminal, "ssh");
        scene.expect_nothing_left();
    }
}

fn ssh_killed_when_the_server_waits_for_us(starter: Starter) {
    if let Some((scene, mut terminal)) = waiting(starter) {
        kill_ssh(&scene);
        // The server has ended with it. Nobody has to say so: a key would be one for ssh or for the session, whichever is first.
        expect_left(&scene, &mut terminal);
    }
}

fn ssh_killed_when_the_session_runs(starter: Starter) {
    let Some((scene, mut terminal)) = asking(starter) else {
        return;
    };
    terminal.type_keys(format!("{PASSWORD}\n"));
    terminal.wait_for_prompt();
    // It has done its work, and may be gone by now.
    for (pid, line) in scene.near.processes() {
        if line.starts_with("ssh ")
            && let Some(ssh) = Process::of(pid)
        {
            ssh.signal(Signal::KILL);
        }
    }
    expect_work(&mut terminal);
    assert_eq!(leave(&mut terminal).code(), Some(7));
    scene.expect_nothing_left();
}

/// Returns the numbers of the processes on a machine that have this name.
fn processes_named(machine: &Machine, name: &str) -> Vec<u32> {
    let is_named = |pid: &u32| {
        let comm = std::fs::read_to_string(format!("/proc/{pid}/comm"));
        comm.is_ok_and(|comm| comm.trim_end() == name)
    };
    let processes = machine.processes().into_iter();
    processes.map(|(pid, _)| pid).filter(is_named).collect()
}

fn a_client_killed_in_the_session(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    let Some(mut first) = scene.start(starter, &[&format!("bob@{FAR}")]) else {
        return;
    };
    first.wait_for_prompt();
    for pid in processes_named(&scene.near, "fulmar") {
        Process::of(pid).expect("it runs").signal(Signal::KILL);
    }
    first.wait_for_end();
    // The machine keeps no login records. A server counts as left behind after 30 s.
    let deadline = Instant::now() + DEADLINE;
    while processes_named(&scene.far, "fulmar-d-60001").is_empty() {
        assert!(Instant::now() < deadline, "{:?}", scene.far.processes());
        std::thread::sleep(Duration::from_millis(500));
    }
    let Some(mut shut_out) = scene.start(starter, &["-p", "60001", &format!("bob@{FAR}")]) else {
        return;
    };
    expect_refusal(
        &mut shut_out,
        "by a session of yours without a client, process ",
    );
    shut_out.wait_for_text("a range of ports, as in --port 60001:60010");
    shut_out.wait_for_text("fulmar attach takes that session");
    let Some(mut second) = scene.start(starter, &[&format!("bob@{FAR}")]) else {
        return;
    };
    second.wait_for_text("a session waits here: far-1 (fulmar attach, ls, kill)");
    second.wait_for_prompt();
    second.type_keys("fulmar kill --local far-1\n");
    second.wait_for_text("session far-1 was told to end");
    second.wait_for_prompt();
    leave(&mut second);
    scene.expect_nothing_left();
}
