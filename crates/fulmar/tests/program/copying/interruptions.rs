//! The network goes away and comes back, an end sleeps or dies: the copy goes on, or is taken up.

use std::fs;
use std::io::Write as _;
use std::time::Instant;

use rustix::process::Signal;

use super::repetitions::{CHUNK, sent};
use super::{
    Running, at_terminal, copy, expect_resumed, far, far_path, near_path, noise, number_before,
    remote_end, scene, wait_for_megabytes,
};
use crate::login::scene::{Scene, is_daemon};
use crate::support::network::{
    Counter, RIGHT, Way, block_udp, change_address, let_udp_pass, rebind, refuse_udp, udp_port, v4,
};
use crate::support::{DEADLINE, Person, Process, Rules, Setup, Terminal, holds};

/// The length of a file that takes some seconds at [`RATE`].
const LENGTH: usize = 6_000_000;

/// Slow enough for something to happen in the middle.
const RATE: &str = "2MB";

/// The direction in which a file goes.
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
    let mut terminal = at_terminal(&scene, &["-l", RATE, &from, &to]);
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
fn only_the_wanted_transport_is_used() {
    let Some(scene) = scene() else { return };
    scene.near.write_home(Person::Alice, "file", noise(300_000));
    let sent = Counter::of_udp_from(&scene.near);
    let over_ssh = copy(
        &scene,
        &["--transport=ssh", "--json", "file", &far("there")],
    );
    let told = String::from_utf8_lossy(&over_ssh.stdout);
    assert!(over_ssh.status.success(), "{told}");
    assert!(told.contains("\"over\":\"ssh\""), "{told}");
    assert_eq!(sent.packets(), 0);
    block_udp(&scene.far, Way::Out);
    let over_udp = copy(&scene, &["--transport=udp", "file", &far("there")]);
    let told = String::from_utf8_lossy(&over_udp.stderr);
    assert!(told.contains("--transport=udp keeps ssh from"), "{told}");
    assert_eq!(over_udp.status.code(), Some(255));
    scene.expect_nothing_left();
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

/// The length of a file that has few chunks for each stream.
const SHORT: usize = 24_000_000;

/// A copy of such a file to the remote machine, of which half is done.
#[track_caller]
fn half_way(scene: &Scene) -> Terminal {
    scene.near.write_home(Person::Alice, "file", noise(SHORT));
    let mut terminal = at_terminal(scene, &["-l", "3MB", "file", &far("")]);
    terminal.wait_for("half of it", |screen| {
        number_before(&screen.contents(), " %  ").is_some_and(|percent| percent >= 50.0)
    });
    terminal
}

/// It ends with that status, and says how to go on.
#[track_caller]
fn expect_cut_short(terminal: &mut Terminal, status: i32) {
    let ended = terminal.wait_for_end();
    terminal.wait_for_text("run the same command again to continue");
    assert_eq!(ended.code(), Some(status));
    terminal.expect_restored();
}

/// The same command again brings the rest.
#[track_caller]
fn expect_taken_up(scene: &Scene) {
    expect_resumed(scene, &["-l", "10MB", "file", &far("")]);
    expect_arrived(scene);
}

#[track_caller]
fn expect_arrived(scene: &Scene) {
    let arrived = fs::read(far_path(scene, "file")).expect("it is there");
    assert!(arrived == noise(SHORT));
}

#[test]
fn ctrl_c_leaves_what_the_same_command_goes_on_from() {
    let Some(scene) = scene() else { return };
    let mut terminal = half_way(&scene);
    terminal.type_keys("\x03");
    expect_cut_short(&mut terminal, 130);
    scene.expect_nothing_left();
    assert!(
        !far_path(&scene, "file").exists(),
        "no half file has its name"
    );
    let sent = sent(&scene, &["file", &far("")]);
    // What is begun and not complete is lost: a chunk on each of 32 streams (docs/copy-protocol.md §5).
    let missing = SHORT / 2 + 33 * CHUNK;
    assert!(sent <= missing, "{sent} bytes, {missing} were missing");
    expect_arrived(&scene);
}

#[test]
fn of_what_has_come_before_both_ends_were_killed_hardly_anything_is_sent_again() {
    const COME: usize = 6_000_000;
    let Some(scene) = scene() else { return };
    scene.near.write_home(Person::Alice, "up", noise(SHORT));
    scene.far.write_home(Person::Bob, "down", noise(SHORT));
    for arguments in [["up", &far("")], [&far("down"), "."]] {
        let mut terminal = at_terminal(&scene, &[&["-l", "3MB"], &arguments[..]].concat());
        wait_for_megabytes(&mut terminal, 6.0);
        let near = Process::of(terminal.pid()).expect("it runs");
        // The other end would wait for it.
        let remote = remote_end(&scene);
        near.signal(Signal::KILL);
        remote.signal(Signal::KILL);
        terminal.wait_for_end();
        scene.expect_nothing_left();
        let sent = sent(&scene, &arguments);
        // Chunks that were not whole, and the first one, which is sent without asking (docs/copy-protocol.md §7).
        let missing = SHORT - COME + 8 * CHUNK;
        assert!(
            sent <= missing,
            "{arguments:?}: {sent} bytes, {missing} were missing"
        );
    }
}

#[test]
fn without_resuming_it_begins_anew() {
    let Some(scene) = scene() else { return };
    let mut terminal = half_way(&scene);
    terminal.type_keys("\x03");
    expect_cut_short(&mut terminal, 130);
    let output = copy(&scene, &["--json", "--no-resume", "file", &far("")]);
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert!(told.contains("\"bytes_resumed\":0,\"errors\":0"), "{told}");
    assert!(!has_part(&scene));
    expect_arrived(&scene);
}

#[test]
fn who_does_not_resume_is_told_of_the_partial_file_that_another_command_goes_on_from() {
    let Some(scene) = scene() else { return };
    scene.near.write_home(Person::Alice, "file", noise(SHORT));
    let mut terminal = at_terminal(&scene, &["-l", "3MB", "--no-resume", "file", &far("")]);
    wait_for_megabytes(&mut terminal, 12.0);
    terminal.type_keys("\x03");
    let ended = terminal.wait_for_end();
    terminal.wait_for_text("without --no-resume");
    assert_eq!(ended.code(), Some(130));
    scene.expect_nothing_left();
    assert!(has_part(&scene));
    let output = copy(&scene, &["--dry-run", "file", &far("")]);
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(told, "file  24.0 MB  resumes an interrupted copy\n");
    expect_taken_up(&scene);
}

#[test]
fn nobody_is_told_to_go_on_with_what_came_through_a_pipe() {
    let Some(scene) = scene() else { return };
    scene.near.write_home(Person::Alice, "file", noise(SHORT));
    let mut shell = scene.near.spawn(Person::Alice, "sh");
    let line = format!("exec fulmar cp -l 3MB - {} <file", far("piped"));
    shell.arg("-c").arg(line);
    let size = Setup::default().size;
    let mut terminal = scene.near.terminal(&shell, size, Rules::None);
    wait_for_megabytes(&mut terminal, 6.0);
    terminal.type_keys("\x03");
    assert_eq!(terminal.wait_for_end().code(), Some(130));
    assert!(!holds(terminal.screen(), "partial file"));
    scene.expect_nothing_left();
}

#[test]
fn a_local_end_that_is_killed_leaves_a_remote_end_that_leaves() {
    let Some(scene) = scene() else { return };
    let mut terminal = half_way(&scene);
    let near = Process::of(terminal.pid()).expect("it runs");
    near.signal(Signal::KILL);
    terminal.wait_for_end();
    // Its machine says that it has gone.
    scene.expect_nothing_left();
    expect_taken_up(&scene);
}

#[test]
fn a_local_end_that_is_not_heard_any_more_is_waited_for_as_long_as_is_said() {
    let Some(scene) = scene() else { return };
    scene.authorize("command=\"fulmar copy-server --idle 2\"");
    let mut terminal = half_way(&scene);
    block_udp(&scene.far, Way::Out);
    scene.far.wait_until_only(is_daemon);
    terminal.type_keys("\x03");
    assert_eq!(terminal.wait_for_end().code(), Some(130));
    scene.expect_nothing_left();
}

#[test]
fn a_remote_end_that_is_killed_is_given_up_and_the_same_command_goes_on() {
    let Some(scene) = scene() else { return };
    let mut terminal = half_way(&scene);
    remote_end(&scene).signal(Signal::KILL);
    terminal.wait_for_text("still trying");
    expect_cut_short(&mut terminal, 255);
    terminal.wait_for_text("is gone: that machine has refused");
    scene.expect_nothing_left();
    expect_taken_up(&scene);
}

#[test]
fn udp_that_is_closed_in_the_middle_is_told_and_the_same_command_goes_on_over_ssh() {
    let Some(scene) = scene() else { return };
    let mut terminal = half_way(&scene);
    refuse_udp(&scene.far);
    terminal.wait_for_text("still trying");
    terminal.type_keys("\x03");
    expect_cut_short(&mut terminal, 130);
    let output = copy(&scene, &["--json", "file", &far("")]);
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert!(told.contains("\"over\":\"ssh\""), "{told}");
    expect_arrived(&scene);
}

#[test]
fn an_outage_that_hides_the_last_word_is_waited_for() {
    let Some(scene) = scene() else { return };
    let mut near = Running::start(&scene, &["-", &far("stream")]);
    let mut input = near.input();
    input.write_all(b"first").expect("it reads");
    let deadline = Instant::now() + DEADLINE;
    let is_alone = || scene.far.processes().len() == 2;
    while !(has_part(&scene) && is_alone()) {
        assert!(Instant::now() < deadline, "nothing has come");
    }
    let remote_end = remote_end(&scene);
    remote_end.signal(Signal::STOP);
    let sent = Counter::of_udp_from(&scene.near);
    input.write_all(b" and last").expect("it reads");
    drop(input);
    sent.wait_for(2);
    block_udp(&scene.far, Way::Back);
    remote_end.signal(Signal::CONT);
    // What is not answered is repeated, after some seconds once in each: so often takes longer than the remote end stays for
    // one that has heard of the end.
    sent.wait_for(22);
    let_udp_pass(&scene.far, Way::Back);
    near.wait_for_line("\"errors\":0");
    let arrived = fs::read(far_path(&scene, "stream")).expect("it is there");
    assert_eq!(arrived, b"first and last");
    scene.expect_nothing_left();
}

/// Returns true if there is something in a partial file of Bob's.
fn has_part(scene: &Scene) -> bool {
    let entries = fs::read_dir(far_path(scene, "")).expect("a home");
    entries.filter_map(Result::ok).any(|entry| {
        let is_part = entry.file_name().to_string_lossy().ends_with("fulmar-part");
        is_part && entry.metadata().is_ok_and(|part| part.len() > 0)
    })
}
