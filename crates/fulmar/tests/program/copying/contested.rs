//! A copy whose local end has vanished stands in the way of the next one.

use std::fs;

use rustix::process::Signal;

use super::{at_terminal, expect_resumed, far, far_path, noise, scene, wait_for_megabytes};
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
