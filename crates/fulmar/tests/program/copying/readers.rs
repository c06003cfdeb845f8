//! Whoever reads what a copy writes takes its time, and the copy waits for it without losing its head.

use std::fs;
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::{Child, Stdio};

use rustix::process::Signal;

use super::{Running, command, copy, far, far_path, near_path, noise, scene};
use crate::login::scene::Scene;
use crate::support::network::Counter;
use crate::support::{DEADLINE, Person};

/// A copy that ends with this value, or its machine never would.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// As many files as tell more than a pipe and we ourselves hold.
const FILES: usize = 7000;

/// A folder of Alice's with so many files.
fn make_many(scene: &Scene) {
    scene.near.folder(Person::Alice, "many");
    for number in 0..FILES {
        let path = near_path(scene, &format!("many/{number}"));
        fs::write(path, "x").expect("there is room");
    }
}

/// A copy of that folder which nobody listens to, and which waits for that.
fn stuck(scene: &Scene) -> Running {
    make_many(scene);
    let sent = Counter::of_udp_from(&scene.near);
    let copy = Running::start(scene, &["-r", "many", &far("")]);
    sent.wait_for(10);
    sent.wait_until_still();
    let arrived = fs::read_dir(far_path(scene, "many")).expect("a folder");
    assert!(arrived.count() < FILES, "it has not waited");
    copy
}

#[test]
fn a_copy_that_nobody_listens_to_is_ended_by_a_signal() {
    let Some(scene) = scene() else { return };
    let mut copy = stuck(&scene);
    let near = copy.process();
    near.signal(Signal::TERM);
    assert!(near.wait(DEADLINE), "it does not end");
    let status = copy.child.wait().expect("it is ours");
    assert_eq!(status.code(), Some(143));
    scene.expect_nothing_left();
}

#[test]
fn who_listens_late_hears_everything() {
    let Some(scene) = scene() else { return };
    let mut copy = stuck(&scene);
    let lines: Vec<String> = copy.lines.by_ref().map_while(Result::ok).collect();
    let told = |what: &str| lines.iter().filter(|line| line.contains(what)).count();
    assert_eq!(told("\"event\":\"file\""), FILES);
    assert!(
        lines
            .last()
            .is_some_and(|line| line.contains("\"errors\":0")),
        "{:?}",
        lines.last()
    );
    assert!(copy.child.wait().expect("it is ours").success());
    scene.expect_nothing_left();
}

/// The bytes under way are never more than the user allows, whoever does not take them.
#[test]
fn no_more_is_under_way_than_is_allowed() {
    const LENGTH: usize = 30_000_000;
    let Some(scene) = scene() else { return };
    scene.far.write_home(Person::Bob, "file", noise(LENGTH));
    let mut command = command(
        &scene,
        "fulmar",
        &["cp", "--window-max", "512K", &far("file"), "-"],
    );
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let sent = Counter::of_udp_from(&scene.far);
    let child = scene.near.inside(|| command.spawn().expect("it starts"));
    let mut copy = Ended(child);
    sent.wait_for(100);
    let bytes = sent.wait_until_still();
    let mut arrived = Vec::new();
    let mut output = copy.0.stdout.take().expect("a pipe");
    output.read_to_end(&mut arrived).expect("it ends");
    assert!(arrived == noise(LENGTH));
    assert!(copy.0.wait().expect("it is ours").success());
    // What the pipe holds and what was read of the connection came to less than as much again; without the option it
    // would have been 16 MiB.
    assert!(bytes < 1536 * 1024, "{bytes} bytes were under way");
    scene.expect_nothing_left();
}

#[test]
fn a_pipe_takes_a_large_file_in_order_or_it_is_said_how() {
    const LENGTH: usize = 10_000_000;
    let Some(scene) = scene() else { return };
    for (person, machine) in [(Person::Alice, &scene.near), (Person::Bob, &scene.far)] {
        machine.write_home(person, "file", noise(LENGTH));
        let mut mkfifo = machine.command(person, "mkfifo");
        mkfifo.arg("pipe");
        machine.output_of(&mut mkfifo);
    }
    // A pipe that nobody has open for reading is none that one could write to.
    let script = format!(
        "exec 3<>pipe 4<pipe; cat <&4 3>&- >read & fulmar cp {} pipe 3>&- 4<&-; status=$?; \
         exec 3>&-; wait; exit $status",
        far("file")
    );
    let mut down = command(&scene, "sh", &["-c", &script]);
    let output = scene.near.inside(|| down.output().expect("it starts"));
    assert!(output.status.success(), "{output:?}");
    assert!(fs::read(near_path(&scene, "read")).expect("it is there") == noise(LENGTH));

    let mut pipe = fs::File::options();
    pipe.read(true).write(true);
    pipe.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    let mut pipe = pipe.open(far_path(&scene, "pipe")).expect("it is there");
    let output = copy(&scene, &["file", &far("pipe")]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("use: fulmar cp - host:name < file"), "{told}");
    let read = pipe.read(&mut [0; 64]);
    let nothing = read.expect_err("nothing was written").kind();
    assert_eq!(nothing, ErrorKind::WouldBlock);
    scene.expect_nothing_left();
}
