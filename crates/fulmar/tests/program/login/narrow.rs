//! Ways that carry packets of some length only, and on which nobody reports those that are longer.
//!
//! Source: docs/protocol.md §3.6 and §13.10.

use std::time::Instant;

use super::scene::{FAR, Plan, Scene, Starter};
use crate::support::network::{Families, LEFT, RIGHT, narrow};
use crate::support::{DEADLINE, Machine, Person, Terminal};

/// The file in Alice's home that the client writes.
const TRACE: &str = "trace";

/// Joins both ends over a machine between them, which drops what is longer than its ends of the cables carry: it comes in, and
/// so the kernel reports nothing.
fn with_session(families: Families, act: impl FnOnce(&Machine, &Machine, &mut Terminal)) {
    let Some(middle) = Machine::start("middle") else {
        return;
    };
    let plan = Plan {
        families,
        jumps: &[&middle],
        ..Plan::default()
    };
    let Some(scene) = Scene::new(&plan) else {
        return;
    };
    let arguments = ["--trace", TRACE, &format!("bob@{FAR}")];
    let Some(mut terminal) = scene.start(Starter::Fulmar, &arguments) else {
        return;
    };
    act(&scene.near, &middle, &mut terminal);
}

/// Has the remote machine show a screen that takes several datagrams.
fn expect_screen(terminal: &mut Terminal, name: &str) {
    let split = name.split_at(1);
    terminal.type_keys(format!(
        "clear; head -c 1600 /dev/urandom | base64; echo {}''{}\n",
        split.0, split.1
    ));
    terminal.wait_for_text(name);
}

/// Shows screens until the client has received a datagram of that length, by its own account.
#[track_caller]
fn expect_length(near: &Machine, terminal: &mut Terminal, name: &str, bytes: usize) {
    let deadline = Instant::now() + DEADLINE;
    let lengths = || {
        let trace = near.read_home(Person::Alice, TRACE).expect("a trace");
        let wanted = format!(" bytes={bytes} ");
        let mut lines = trace.lines().filter(|line| line.contains(" received "));
        lines.any(|line| line.contains(&wanted))
    };
    for number in 100.. {
        expect_screen(terminal, &format!("{name}{number}"));
        if lengths() {
            return;
        }
        assert!(Instant::now() < deadline, "no datagram of {bytes}");
    }
}

fn the_length_follows_the_way(families: Families, longest: usize) {
    with_session(families, |near, middle, terminal| {
        expect_length(near, terminal, "wide", longest);
        for interface in [LEFT, RIGHT] {
            narrow(middle, interface, 1300);
        }
        expect_length(near, terminal, "narrow", 1252);
    });
}

#[test]
fn a_session_over_ipv4_uses_what_passes() {
    the_length_follows_the_way(Families::V4, 1472);
}

#[test]
fn a_session_over_ipv6_uses_what_passes() {
    the_length_follows_the_way(Families::V6, 1452);
}
