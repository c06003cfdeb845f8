//! What a copy takes of the network and of memory.

use rustix::process::Signal;

use super::{Running, far, noise, scene};
use crate::support::Person;
use crate::support::network::Counter;

/// Waits until a copy has told so often how far it is since it was connected, and returns how many bytes are
/// done.
#[track_caller]
fn wait_for_progress(copy: &mut Running, times: usize) -> u64 {
    copy.wait_for_line("\"event\":\"connected\"");
    let lines = copy.lines.by_ref().map_while(Result::ok);
    let done = |line: String| {
        let (_, rest) = line.split_once("\"event\":\"progress\",\"bytes\":")?;
        rest.split(',').next()?.parse().ok()
    };
    let mut progress = lines.filter_map(done);
    progress.nth(times - 1).expect("it goes on")
}

#[test]
fn a_far_end_keeps_to_the_rate_from_the_start() {
    let Some(scene) = scene() else { return };
    scene.far.write_home(Person::Bob, "file", noise(10_000_000));
    let sent = Counter::of_udp_from(&scene.far);
    let mut copy = Running::start(&scene, &["-l", "64", &far("file"), "."]);
    let done = wait_for_progress(&mut copy, 3);
    let ahead = sent.bytes().saturating_sub(done);
    // The least window is 256 KiB, and a block of a file 64 KiB.
    assert!(
        ahead < 128 * 1024,
        "{ahead} bytes were sent that are not done"
    );
    copy.process().signal(Signal::TERM);
    copy.child.wait().expect("it is ours");
    scene.expect_nothing_left();
}
