//! The use that a copy makes of the network and of memory.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use rustix::process::Signal;

use super::{Running, far, far_path, noise, remote_end, scene};
use crate::support::Person;
use crate::support::network::Counter;

/// Waits until a copy has told so often how far it is since it was connected, and returns how many bytes are
/// done.
#[track_caller]
fn wait_for_progress(copy: &mut Running, times: usize) -> u64 {
    copy.wait_for_line("\"event\":\"connected\"");
    for _ in 1..times {
        next_progress(copy);
    }
    next_progress(copy)
}

/// The same of the next time.
#[track_caller]
fn next_progress(copy: &mut Running) -> u64 {
    let mut lines = copy.lines.by_ref().map_while(Result::ok);
    let done = |line: String| {
        let (_, rest) = line.split_once("\"event\":\"progress\",\"bytes\":")?;
        rest.split(',').next()?.parse().ok()
    };
    lines.find_map(done).expect("it goes on")
}

#[test]
fn a_remote_end_keeps_to_the_rate_from_the_start() {
    let Some(scene) = scene() else { return };
    scene.far.write_home(Person::Bob, "file", noise(10_000_000));
    let sent = Counter::of_udp_from(&scene.far);
    let mut copy = Running::start(&scene, &["-l", "64", &far("file"), "."]);
    let done = wait_for_progress(&mut copy, 3);
    let ahead = sent.bytes().saturating_sub(done);
    // A block of a file is 64 KiB; without the rate a window of 16 MiB would be sent.
    assert!(
        ahead < 128 * 1024,
        "{ahead} bytes were sent that are not done"
    );
    copy.process().signal(Signal::TERM);
    copy.child.wait().expect("it is ours");
    scene.expect_nothing_left();
}

#[test]
fn what_has_not_arrived_is_not_said_to_be_done() {
    let Some(scene) = scene() else { return };
    scene
        .near
        .write_home(Person::Alice, "file", noise(60_000_000));
    let mut copy = Running::start(&scene, &["-l", "8MB", "file", &far("")]);
    wait_for_progress(&mut copy, 1);
    let remote_end = remote_end(&scene);
    remote_end.signal(Signal::STOP);
    // Half a second's worth, 4 MB, may wait at the local end.
    let told = (0..3).map(|_| next_progress(&mut copy)).last();
    let entries = fs::read_dir(far_path(&scene, "")).expect("a home");
    let sizes = entries.filter_map(|entry| entry.ok()?.metadata().ok());
    let there: u64 = sizes
        .filter(|it| it.is_file())
        .map(|it| it.blocks() * 512)
        .sum();
    assert!(there > 0, "nothing has arrived");
    let told = told.expect("three times");
    assert!(told < there + 2_000_000, "{told} of {there} bytes");
    remote_end.signal(Signal::CONT);
    copy.wait_for_line("\"event\":\"done\"");
    copy.child.wait().expect("it is ours");
    scene.expect_nothing_left();
}

/// The memory of an end at most where little is under way, in kilobytes.
///
/// Source: docs/figures.md#copying: as much as up to a product of 12 MB; here that is next to nothing, and most of it is the program.
const MEMORY_KB_MAX: u64 = 48 * 1024;

#[test]
fn neither_end_holds_more_than_what_is_under_way() {
    let Some(scene) = scene() else { return };
    for (person, machine) in [(Person::Alice, &scene.near), (Person::Bob, &scene.far)] {
        machine.write_home(person, "file", noise(60_000_000));
    }
    for (from, to) in [
        ("file", far("there")),
        (far("file").as_str(), "here".to_owned()),
    ] {
        let mut copy = Running::start(&scene, &["-l", "20MB", from, &to]);
        let mut done = wait_for_progress(&mut copy, 1);
        while done < 20_000_000 {
            done = next_progress(&mut copy);
        }
        let ends = [copy.process(), remote_end(&scene)];
        for memory in ends.map(|end| end.memory_max()) {
            assert!(memory <= MEMORY_KB_MAX, "{from}: {memory} kB");
        }
        copy.wait_for_line("\"event\":\"done\"");
        copy.child.wait().expect("it is ours");
        scene.expect_nothing_left();
    }
}
