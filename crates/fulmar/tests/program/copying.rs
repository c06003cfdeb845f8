//! `fulmar cp` between two machines, with a real sshd (docs/copy.md).

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, UNIX_EPOCH};

use crate::login::scene::{FAR, Plan, Scene, Starter};
use crate::peers;
use crate::support::network::{Families, Way, block_udp, let_udp_pass};
use crate::support::{Person, Process, Terminal};

/// Names that shells and careless programs change.
const NAMES: [&str; 5] = [
    "plain",
    "two words",
    "it's \"quoted\" $HOME `id`",
    "*?[x]",
    "über\n\u{1b}[2J",
];

/// The length of a file of many chunks: more than there are lanes.
const LARGE: usize = 100_000_000;

/// Two machines with IPv4 between them.
fn scene() -> Option<Scene> {
    Scene::new(&Plan {
        families: Families::V4,
        ..Plan::default()
    })
}

/// Bob's file on the far machine, as an operand.
fn far(path: &str) -> String {
    format!("bob@{FAR}:{path}")
}

/// Where a file of Alice's or Bob's is for us.
fn near_path(scene: &Scene, name: &str) -> PathBuf {
    scene.near.path(&format!("/home/alice/{name}"))
}

fn far_path(scene: &Scene, name: &str) -> PathBuf {
    scene.far.path(&format!("/home/bob/{name}"))
}

fn command(scene: &Scene, program: &str, arguments: &[&str]) -> Command {
    let mut command = scene.near.command(Person::Alice, program);
    command.args(arguments);
    command
}

/// Alice runs `fulmar cp` without a terminal.
fn copy(scene: &Scene, arguments: &[&str]) -> Output {
    let mut command = command(scene, "fulmar", &[&["cp"], arguments].concat());
    scene.near.inside(|| command.output().expect("it starts"))
}

/// The same, and all of it is copied without a word.
#[track_caller]
fn expect_copied(scene: &Scene, arguments: &[&str]) {
    let output = copy(scene, arguments);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && told.is_empty(),
        "{arguments:?}: {told}"
    );
}

/// Some bytes that are no repetition.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        state.to_be_bytes()[0]
    };
    std::iter::repeat_with(next).take(length).collect()
}

/// Alice types `fulmar cp` at a terminal.
fn at_terminal(scene: &Scene, arguments: &[&str]) -> Option<Terminal> {
    scene.start(Starter::Fulmar, &[&["cp"], arguments].concat())
}

#[test]
fn files_go_there_and_come_back_whatever_they_are_called() {
    let Some(scene) = scene() else { return };
    for name in NAMES {
        scene.near.write_home(Person::Alice, name, name);
        expect_copied(&scene, &[&format!("./{name}"), &far("")]);
        let arrived = fs::read_to_string(far_path(&scene, name)).expect("it is there");
        assert_eq!(arrived, name);
        expect_copied(&scene, &[&far(name), "back"]);
        let back = scene.near.read_home(Person::Alice, "back");
        assert_eq!(back.as_deref(), Some(name));
    }
    scene.expect_nothing_left();
}

#[test]
fn a_tree_goes_there_and_comes_back_as_it_is() {
    let Some(scene) = scene() else { return };
    scene.near.folder(Person::Alice, "tree");
    scene.near.folder(Person::Alice, "tree/deep");
    scene.near.folder(Person::Alice, "tree/empty");
    scene
        .near
        .write_home(Person::Alice, "tree/deep/file", noise(3_000_000));
    let file = near_path(&scene, "tree/deep/file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o4751)).expect("root may");
    let long_ago = UNIX_EPOCH + Duration::new(1_000_000_000, 123_456_789);
    let opened = fs::File::options()
        .write(true)
        .open(&file)
        .expect("it is there");
    opened.set_modified(long_ago).expect("root may");
    symlink("../../nowhere", near_path(&scene, "tree/link")).expect("a link");
    scene.near.write_home(Person::Alice, "tree/sparse", "");
    let sparse = near_path(&scene, "tree/sparse");
    let sparse = fs::File::options()
        .write(true)
        .open(sparse)
        .expect("it is there");
    sparse.set_len(50_000_000).expect("a hole");
    sparse.write_at(b"end", 49_999_997).expect("there is room");

    expect_copied(&scene, &["-rp", "tree", &far("")]);
    expect_copied(&scene, &["-rp", &far("tree"), "back"]);
    for root in [far_path(&scene, "tree"), near_path(&scene, "back")] {
        let file = root.join("deep/file");
        assert_eq!(fs::read(&file).expect("it is there"), noise(3_000_000));
        let facts = fs::metadata(&file).expect("it is there");
        assert_eq!(facts.mode() & 0o7777, 0o751, "no set-id bits");
        assert_eq!(facts.modified().expect("it has a time"), long_ago);
        let link = fs::read_link(root.join("link")).expect("it is a link");
        assert_eq!(link, PathBuf::from("../../nowhere"));
        let sparse = fs::metadata(root.join("sparse")).expect("it is there");
        assert_eq!(sparse.len(), 50_000_000);
        assert!(sparse.blocks() * 512 < 5_000_000, "holes stay holes");
        assert!(root.join("empty").is_dir());
    }
    scene.expect_nothing_left();
}

#[test]
fn patterns_are_expanded_there_and_several_sources_go_into_a_folder() {
    let Some(scene) = scene() else { return };
    for name in ["a.txt", "b.txt", "c.log", ".d.txt"] {
        scene.far.write_home(Person::Bob, name, name);
    }
    scene.near.folder(Person::Alice, "here");
    expect_copied(&scene, &[&far("*.txt"), &far("~/c.log"), "here"]);
    let mut names: Vec<_> = fs::read_dir(near_path(&scene, "here"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["a.txt", "b.txt", "c.log"]);
}

#[test]
fn standard_input_and_output_are_files_too() {
    let Some(scene) = scene() else { return };
    let mut command = command(&scene, "fulmar", &["cp", "-", &far("stream")]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let output = scene.near.inside(|| {
        let mut child = command.spawn().expect("it starts");
        let mut input = child.stdin.take().expect("a pipe");
        input.write_all(&noise(2_000_000)).expect("it reads");
        drop(input);
        child.wait_with_output().expect("it ends")
    });
    assert!(output.status.success(), "{output:?}");
    let arrived = fs::read(far_path(&scene, "stream")).expect("it is there");
    assert!(arrived == noise(2_000_000));
    scene.far.write_home(Person::Bob, "more", "and more");
    let output = copy(&scene, &[&far("stream"), &far("more"), "-"]);
    assert!(
        output.status.success(),
        "{:?}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.stdout == [noise(2_000_000), b"and more".to_vec()].concat());
    scene.expect_nothing_left();
}

#[test]
fn statuses_are_those_of_scp() {
    if peers::require("scp").is_none() {
        return;
    }
    let plan = Plan {
        families: Families::V4,
        sshd: "Subsystem sftp internal-sftp",
        ..Plan::default()
    };
    let Some(scene) = Scene::new(&plan) else {
        return;
    };
    scene.near.write_home(Person::Alice, "file", "x");
    scene.near.folder(Person::Alice, "folder");
    let there = far("");
    let cases: [(&[&str], i32); 8] = [
        (&["file", &there], 0),
        (&["missing", &there], 1),
        (&["file", "missing", &there], 1),
        (&["folder", &there], 1),
        (&["file", &far("no/such/folder/x")], 1),
        (&[&far("missing"), "."], 1),
        (&["-P", "1", "file", &there], 255),
        (&["--no-such-option", "file", &there], 1),
    ];
    for (arguments, status) in cases {
        let mut scp = command(&scene, "scp", arguments);
        let scp = scene.near.inside(|| scp.output().expect("it starts"));
        // Some releases of scp say 255 where a file is missing.
        let is_like = scp.status.code() == Some(status) || status == 1 && !scp.status.success();
        assert!(is_like, "scp {arguments:?}: {scp:?}");
        let ours = copy(&scene, arguments);
        assert_eq!(ours.status.code(), Some(status), "{arguments:?}: {ours:?}");
        let told = String::from_utf8_lossy(&ours.stderr);
        assert_eq!(told.is_empty(), status == 0, "{told}");
    }
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

#[test]
fn an_outage_in_the_middle_is_waited_for() {
    let Some(scene) = scene() else { return };
    scene
        .near
        .write_home(Person::Alice, "file", noise(6_000_000));
    let Some(mut terminal) = at_terminal(&scene, &["-l", "2MB", "file", &far("")]) else {
        return;
    };
    wait_for_half(&mut terminal);
    for way in [Way::Out, Way::Back] {
        block_udp(&scene.far, way);
    }
    terminal.wait_for_text("no answer for");
    for way in [Way::Out, Way::Back] {
        let_udp_pass(&scene.far, way);
    }
    let status = terminal.wait_for_end();
    terminal.wait_for_text("file  6.0 MB");
    assert_eq!(status.code(), Some(0));
    terminal.expect_restored();
    let arrived = fs::read(far_path(&scene, "file")).expect("it is there");
    assert!(arrived == noise(6_000_000));
    scene.expect_nothing_left();
}

#[test]
fn ctrl_c_leaves_what_the_same_command_goes_on_from() {
    let Some(scene) = scene() else { return };
    scene.near.write_home(Person::Alice, "file", noise(LARGE));
    let arguments = ["-l", "20MB", "file", &far("")];
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
    assert!(arrived == noise(LARGE));
}

/// Waits until the line at the bottom says that half of it is done.
#[track_caller]
fn wait_for_half(terminal: &mut Terminal) {
    terminal.wait_for("half of it", |screen| {
        let text = screen.contents();
        let before = text.split(" %  ").next().unwrap_or_default();
        let number = before.rsplit([' ', '\n']).next().unwrap_or_default();
        number.parse().is_ok_and(|percent: u32| percent >= 50)
    });
}

/// Copies, and expects that a part was there already.
#[track_caller]
fn expect_resumed(scene: &Scene, arguments: &[&str]) {
    let output = copy(scene, &[&["--json"], arguments].concat());
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    let done = told.lines().last().unwrap_or_default();
    assert!(done.contains("\"event\":\"done\""), "{told}");
    assert!(!done.contains("\"bytes_resumed\":0,"), "{told}");
    let parts = fs::read_dir(far_path(scene, "")).expect("a home");
    let mut names = parts.map(|entry| entry.expect("an entry").file_name());
    assert!(!names.any(|name| name.to_string_lossy().contains("fulmar-part")));
}

#[test]
fn a_near_end_that_is_killed_leaves_a_far_end_that_leaves() {
    let Some(scene) = scene() else { return };
    scene.authorize("command=\"fulmar copy-server --idle 2\"");
    scene.near.write_home(Person::Alice, "file", noise(LARGE));
    let arguments = ["-l", "20MB", "file", &far("")];
    let Some(mut terminal) = at_terminal(&scene, &arguments) else {
        return;
    };
    wait_for_half(&mut terminal);
    let near = Process::of(terminal.pid()).expect("it runs");
    near.signal(rustix::process::Signal::KILL);
    terminal.wait_for_end();
    scene.expect_nothing_left();
    expect_resumed(&scene, &["-l", "40MB", "file", &far("")]);
    let arrived = fs::read(far_path(&scene, "file")).expect("it is there");
    assert!(arrived == noise(LARGE));
}

#[test]
fn what_cannot_be_written_is_named_and_the_rest_goes_on() {
    let Some(scene) = scene() else { return };
    scene.far.folder(Person::Bob, "full");
    let mount = scene.far.path("/home/bob/full");
    let size = "size=1M,mode=777";
    let mut command = scene.far.command(Person::Root, "mount");
    command.args(["-t", "tmpfs", "-o", size, "none", "/home/bob/full"]);
    scene.far.output_of(&mut command);
    assert!(mount.is_dir());
    scene
        .near
        .write_home(Person::Alice, "large", noise(4_000_000));
    scene.near.write_home(Person::Alice, "small", "fits");
    let output = copy(&scene, &["large", "small", &far("full/")]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("large: the disk is full"), "{told}");
    let small = fs::read_to_string(mount.join("small")).ok();
    assert_eq!(small.as_deref(), Some("fits"), "{told}");
    scene.expect_nothing_left();
}

#[test]
fn ten_thousand_small_files_need_no_round_trip_each() {
    let Some(scene) = scene() else { return };
    scene.near.folder(Person::Alice, "many");
    for number in 0..10_000 {
        let path = near_path(&scene, &format!("many/{number}"));
        fs::write(path, number.to_string()).expect("there is room");
    }
    expect_copied(&scene, &["-r", "many", &far("")]);
    let arrived = fs::read_dir(far_path(&scene, "many")).expect("a folder");
    assert_eq!(arrived.count(), 10_000);
    let one = fs::read_to_string(far_path(&scene, "many/7777")).ok();
    assert_eq!(one.as_deref(), Some("7777"));
    scene.expect_nothing_left();
}

#[test]
fn without_fulmar_there_it_says_what_to_do() {
    let Some(scene) = scene() else { return };
    scene.near.write_home(Person::Alice, "file", "x");
    let output = copy(&scene, &["--server", "/no/fulmar", "file", &far("")]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(255), "{told}");
    assert!(
        told.contains("cannot copy: it has ended with status 127"),
        "{told}"
    );
    scene.authorize("command=\"echo hello\"");
    let output = copy(&scene, &["file", &far("")]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(255), "{told}");
    assert!(
        told.contains("hello") && told.contains("cannot copy"),
        "{told}"
    );
    scene.expect_nothing_left();
}
