//! Files arrive as they are.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, UNIX_EPOCH};

use super::{at_terminal, command, copy, expect_copied, far, far_path, near_path, noise, scene};
use crate::login::scene::{Plan, Scene};
use crate::support::Person;
use crate::support::network::Families;
use fulmar_testbed::peers;

/// Names that shells and careless programs change.
const NAMES: [&str; 5] = [
    "plain",
    "two words",
    "it's \"quoted\" $HOME `id`",
    "*?[x]",
    "über\n\u{1b}[2J",
];

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
fn ten_thousand_small_files_all_arrive() {
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

/// More than a terminal takes at once.
#[test]
fn a_dry_run_of_many_files_tells_of_each() {
    let Some(scene) = scene() else { return };
    scene.near.folder(Person::Alice, "tree");
    let name = |number| format!("{number}-{}", "x".repeat(60));
    for number in 0..2000 {
        scene
            .near
            .write_home(Person::Alice, &format!("tree/{}", name(number)), "x");
    }
    let arguments = ["--dry-run", "-r", "tree", &far("")];
    let mut terminal = at_terminal(&scene, &arguments);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
    for number in 0..2000 {
        assert!(
            shown.contains(&format!("tree/{}  1 B", name(number))),
            "{number}"
        );
    }
    let last = "2000 files, 2.0 kB would be copied";
    assert!(shown.trim_end().ends_with(last), "{shown:?}");
    // With a terminal for what is wrong, but not for the list.
    let line = format!("fulmar cp --dry-run -r tree {} > list", far(""));
    let mut command = command(&scene, "script", &["-qec", &line, "/dev/null"]);
    let output = scene.near.inside(|| command.output().expect("it starts"));
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(shown, "2000 files, 2.0 kB would be copied\r\n");
    let list = fs::read_to_string(near_path(&scene, "list")).expect("it was written");
    assert_eq!(list.lines().count(), 2000);
}

/// Errors are on the terminal all the same.
#[test]
fn a_dry_run_into_a_file_shows_ten_errors_of_a_kind_at_a_terminal() {
    let Some(scene) = scene() else { return };
    scene.far.folder(Person::Bob, "tree");
    for number in 0..30 {
        let file = format!("tree/{number}");
        scene.far.write_home(Person::Bob, &file, "x");
        let path = far_path(&scene, &file);
        fs::set_permissions(path, fs::Permissions::from_mode(0o000)).expect("it is ours");
    }
    let line = format!("fulmar cp --dry-run -r {} . > list", far("tree"));
    let mut command = command(&scene, "script", &["-qec", &line, "/dev/null"]);
    let output = scene.near.inside(|| command.output().expect("it starts"));
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(shown.matches("cannot read bob@far:").count(), 10, "{shown}");
    assert!(shown.contains("20 more, for the same reason"), "{shown}");
}

#[test]
fn a_dry_run_tells_what_would_be_copied_and_writes_nothing() {
    let Some(scene) = scene() else { return };
    scene.near.write_home(Person::Alice, "file", noise(1000));
    let output = copy(&scene, &["--dry-run", "file", &far("")]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "file  1.0 kB\n");
    for (arguments, told) in [
        (
            ["-p", "same"],
            "same  4 B  there already, with the same size and time\n",
        ),
        (["-p", "other"], "other  5 B  replaces the file there\n"),
    ] {
        scene.near.write_home(Person::Alice, "same", "same");
        scene.near.write_home(Person::Alice, "other", "other");
        scene.far.write_home(Person::Bob, "other", "older file");
        expect_copied(&scene, &["-p", "same", &far("")]);
        for (from, to) in [
            (arguments[1].to_owned(), far("")),
            (far(arguments[1]), ".".to_owned()),
        ] {
            let output = copy(&scene, &["--dry-run", arguments[0], &from, &to]);
            let lines = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(lines.replace("10 B", "5 B"), told, "{output:?}");
        }
    }
    let output = copy(&scene, &["--dry-run", "--json", "other", &far("")]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"result\":\"replaces\""));
    let output = copy(&scene, &["--dry-run", "-q", "file", &far("")]);
    assert!(
        output.stdout.is_empty() && output.stderr.is_empty(),
        "{output:?}"
    );
    assert!(!far_path(&scene, "file").exists());
    scene.expect_nothing_left();
}
