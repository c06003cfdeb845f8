//! A copy whose local end has vanished stands in the way of the next one.

use std::fs;

use rustix::process::Signal;

use super::{
    at_terminal, expect_resumed, expect_status, far, far_path, noise, scene, wait_for_megabytes,
};
use crate::support::network::{Way, block_udp, let_udp_pass};
use crate::support::{Person, Process};

/// The length of a file that takes some seconds.
const LENGTH: usize = 24_000_000;

#[test]
fn a_newer_copy_goes_on_where_one_that_has_vanished_was_and_is_not_replaced_by_it() {
    let Some(scene) = scene() else { return };
    let mut newer = noise(LENGTH);
    newer[..1000].fill(b'n');
    scene.near.write_home(Person::Alice, "older", noise(LENGTH));
    scene.near.write_home(Person::Alice, "newer", &newer);
    let arguments = ["-l", "3MB", "older", &far("file")];
    let mut terminal = at_terminal(&scene, &arguments);
    wait_for_megabytes(&mut terminal, 12.0);
    let near = Process::of(terminal.pid()).expect("it runs");
    near.signal(Signal::STOP);
    expect_resumed(&scene, &["-l", "10MB", "newer", &far("file")]);
    let is_newer = || fs::read(far_path(&scene, "file")).expect("it is there") == newer;
    assert!(is_newer());
    near.signal(Signal::CONT);
    let status = terminal.wait_for_end();
    terminal.wait_for_text("the name is taken (a newer copy");
    assert_eq!(status.code(), Some(1));
    assert!(is_newer(), "the older one has replaced it");
    scene.expect_nothing_left();
}

#[test]
fn a_copy_that_was_interrupted_in_an_outage_lets_go_of_its_port_for_the_next_one() {
    let Some(scene) = scene() else { return };
    scene.near.write_home(Person::Alice, "file", noise(LENGTH));
    let arguments = ["--port", "60007", "-l", "3MB", "file", &far("")];
    let mut terminal = at_terminal(&scene, &arguments);
    wait_for_megabytes(&mut terminal, 12.0);
    block_udp(&scene.far, Way::Out);
    terminal.wait_for_text("no answer for");
    terminal.type_keys("\x03");
    assert_eq!(terminal.wait_for_end().code(), Some(130));
    let_udp_pass(&scene.far, Way::Out);
    expect_resumed(&scene, &["--port", "60007", "-l", "10MB", "file", &far("")]);
    assert!(fs::read(far_path(&scene, "file")).expect("it is there") == noise(LENGTH));
    scene.expect_nothing_left();
}

#[test]
fn a_copy_that_goes_on_keeps_its_port() {
    let Some(scene) = scene() else { return };
    scene.near.write_home(Person::Alice, "file", noise(LENGTH));
    let mut terminal = at_terminal(&scene, &["--port", "60007", "-l", "1MB", "file", &far("")]);
    wait_for_megabytes(&mut terminal, 1.0);
    let told = expect_status(&scene, &["--port", "60007", "file", &far("other")], 255);
    assert!(told.contains("by a copy of yours, process "), "{told}");
    assert!(told.contains("--port 60007:60016"), "{told}");
    terminal.type_keys("\x03");
    assert_eq!(terminal.wait_for_end().code(), Some(130));
    scene.expect_nothing_left();
}
