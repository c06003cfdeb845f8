//! The network goes away and comes back, an end sleeps or dies: the copy goes on, or is taken up.

use std::fs;

use rustix::process::Signal;

use super::{
    at_terminal, copy, expect_resumed, far, far_end, far_path, near_path, noise, scene,
    wait_for_half, wait_for_megabytes,
};
use crate::login::scene::{Scene, is_daemon};
use crate::support::network::{
    Counter, RIGHT, Way, block_udp, change_address, let_udp_pass, rebind, refuse_udp, udp_port, v4,
};
use crate::support::{Person, Process, Terminal};

/// The length of a file that takes some seconds at [`RATE`].
const LENGTH: usize = 6_000_000;

/// The length of a file that has few chunks for each lane.
const SHORT: usize = 24_000_000;

/// Slow enough for something to happen in the middle.
const RATE: &str = "2MB";

/// Which way a file goes.
#[derive(Clone, Copy, Debug)]
enum Course {
    Up,
    Down,
}

/// Has a file be copied while `disturb` happens in the middle of it, and expects that it arrives.
fn expect_to_go_on(course: Course, mut disturb: impl FnMut(&Scene, &mut Terminal)) {
    let Some(scene) = scene() else { return };
    let (from, to) = match course {
        Course::Up => ("file".to_owned(), far("")),
        Course::Down => (far("file"), ".".to_owned()),
    };
    match course {
        Course::Up => scene.near.write_home(Person::Alice, "file", noise(LENGTH)),
        Course::Down => scene.far.write_home(Person::Bob, "file", noise(LENGTH)),
    }
    let Some(mut terminal) = at_terminal(&scene, &["-l", RATE, &from, &to]) else {
        return;
    };
    wait_for_megabytes(&mut terminal, 2.0);
    disturb(&scene, &mut terminal);
    let status = terminal.wait_for_end();
    terminal.wait_for_text("file  6.0 MB");
    assert_eq!(status.code(), Some(0), "{course:?}");
    terminal.expect_restored();
    let arrived = match course {
        Course::Up => far_path(&scene, "file"),
        Course::Down => near_path(&scene, "file"),
    };
    let arrived = fs::read(arrived).expect("it is there");
    assert!(arrived == noise(LENGTH), "{course:?}");
    scene.expect_nothing_left();
}

/// Makes a test for each course.
macro_rules! on_each_course {
    ($($name:ident)*) => {$(
        mod $name {
            #[test]
            fn up() {
                super::$name(super::Course::Up);
            }

            #[test]
            fn down() {
                super::$name(super::Course::Down);
            }
        }
    )*};
}

on_each_course! {
    an_outage_is_waited_for
    a_new_mapping_on_the_way_is_followed
    a_new_address_is_followed
    an_end_that_was_stopped_goes_on
}

fn an_outage_is_waited_for(course: Course) {
    expect_to_go_on(course, |scene, terminal| {
        for way in [Way::Out, Way::Back] {
            block_udp(&scene.far, way);
        }
        terminal.wait_for_text("no answer for");
        for way in [Way::Out, Way::Back] {
            let_udp_pass(&scene.far, way);
        }
    });
}

fn a_new_mapping_on_the_way_is_followed(course: Course) {
    expect_to_go_on(course, |scene, _| {
        let port = udp_port(&scene.near);
        rebind(&scene.near, port, port ^ 1).wait_for(1);
    });
}

fn a_new_address_is_followed(course: Course) {
    expect_to_go_on(course, |scene, _| {
        change_address(
            &scene.near,
            RIGHT,
            &format!("{}/28", v4(0, 1)),
            &format!("{}/28", v4(0, 9)),
        );
    });
}

fn an_end_that_was_stopped_goes_on(course: Course) {
    expect_to_go_on(course, |scene, terminal| {
        let near = Process::of(terminal.pid()).expect("it runs");
        near.signal(Signal::STOP);
        let asked = Counter::of_udp_from(&scene.far);
        // Nobody answers, so each second one datagram asks whether we are there.
        asked.wait_for(5);
        near.signal(Signal::CONT);
    });
}

#[test]
fn without_udp_it_goes_over_ssh_and_says_so_in_one_line() {
    let Some(scene) = scene() else { return };
    block_udp(&scene.far, Way::Out);
    scene
        .near
        .write_home(Person::Alice, "file", noise(3_000_000));
    for (from, to) in [
        ("file", far("there")),
        (far("there").as_str(), "back".to_owned()),
    ] {
        let output = copy(&scene, &[from, &to]);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{told}");
        assert!(
            told.contains("copying over ssh") && told.lines().count() == 1,
            "{told}"
        );
    }
    let back = fs::read(near_path(&scene, "back")).expect("it is there");
    assert!(back == noise(3_000_000));
    scene.expect_nothing_left();
}

#[test]
fn ctrl_c_leaves_what_the_same_command_goes_on_from() {
    let Some(scene) = scene() else { return };
    scene.near.write_home(Person::Alice, "file", noise(SHORT));
    let arguments = ["-l", "3MB", "file", &far("")];
    let Some(mut terminal) = at_terminal(&scene, &arguments) else {
        return;
    };
    wait_for_half(&mut terminal);
    terminal.type_keys("\x03");
    let status = terminal.wait_for_end();
    terminal.wait_for_text("the same command goes on");
    assert_eq!(status.code(), Some(130));
    terminal.expect_restored();
    scene.expect_nothing_left();
    assert!(
        !far_path(&scene, "file").exists(),
        "no half file has its name"
    );
    expect_resumed(&scene, &["-l", "40MB", "file", &far("")]);
    let arrived = fs::read(far_path(&scene, "file")).expect("it is there");
    assert!(arrived == noise(SHORT));
}

#[test]
fn a_near_end_that_is_killed_leaves_a_far_end_that_leaves() {
    let Some(scene) = scene() else { return };
    scene.near.write_home(Person::Alice, "file", noise(SHORT));
    let arguments = ["-l", "3MB", "file", &far("")];
    let Some(mut terminal) = at_terminal(&scene, &arguments) else {
        return;
    };
    wait_for_half(&mut terminal);
    let near = Process::of(terminal.pid()).expect("it runs");
    near.signal(Signal::KILL);
    terminal.wait_for_end();
    // Its machine says that it has gone.
    scene.expect_nothing_left();
    expect_resumed(&scene, &["-l", "40MB", "file", &far("")]);
    let arrived = fs::read(far_path(&scene, "file")).expect("it is there");
    assert!(arrived == noise(SHORT));
}

#[test]
fn a_near_end_that_is_not_heard_any_more_is_waited_for_as_long_as_is_said() {
    let Some(scene) = scene() else { return };
    scene.authorize("command=\"fulmar copy-server --idle 2\"");
    scene.near.write_home(Person::Alice, "file", noise(LENGTH));
    let arguments = ["-l", RATE, "file", &far("")];
    let Some(mut terminal) = at_terminal(&scene, &arguments) else {
        return;
    };
    wait_for_half(&mut terminal);
    block_udp(&scene.far, Way::Out);
    scene.far.wait_until_only(is_daemon);
    terminal.type_keys("\x03");
    assert_eq!(terminal.wait_for_end().code(), Some(130));
    scene.expect_nothing_left();
}

#[test]
fn a_far_end_that_is_killed_is_given_up_and_the_same_command_goes_on() {
    let Some(scene) = scene() else { return };
    scene.near.write_home(Person::Alice, "file", noise(SHORT));
    let arguments = ["-l", "3MB", "file", &far("")];
    let Some(mut terminal) = at_terminal(&scene, &arguments) else {
        return;
    };
    wait_for_half(&mut terminal);
    far_end(&scene).signal(Signal::KILL);
    terminal.wait_for_text("still trying");
    let status = terminal.wait_for_end();
    terminal.wait_for_text("is gone: that machine has refused");
    terminal.wait_for_text("the same command goes on");
    assert_eq!(status.code(), Some(255));
    terminal.expect_restored();
    scene.expect_nothing_left();
    expect_resumed(&scene, &["-l", "40MB", "file", &far("")]);
    let arrived = fs::read(far_path(&scene, "file")).expect("it is there");
    assert!(arrived == noise(SHORT));
}

#[test]
fn udp_that_is_closed_in_the_middle_is_told_and_the_same_command_goes_on_over_ssh() {
    let Some(scene) = scene() else { return };
    scene.near.write_home(Person::Alice, "file", noise(SHORT));
    let arguments = ["-l", "3MB", "file", &far("")];
    let Some(mut terminal) = at_terminal(&scene, &arguments) else {
        return;
    };
    wait_for_half(&mut terminal);
    refuse_udp(&scene.far);
    terminal.wait_for_text("still trying");
    terminal.type_keys("\x03");
    let status = terminal.wait_for_end();
    terminal.wait_for_text("the same command goes on");
    assert_eq!(status.code(), Some(130));
    let output = copy(&scene, &["--json", "file", &far("")]);
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert!(told.contains("\"over\":\"ssh\""), "{told}");
    let arrived = fs::read(far_path(&scene, "file")).expect("it is there");
    assert!(arrived == noise(SHORT));
}
