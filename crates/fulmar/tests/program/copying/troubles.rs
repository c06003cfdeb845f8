//! Files that cannot be copied are named, and the rest goes on.

use std::fs;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};

use fulmar_platform::WindowSize;

use super::{
    at_terminal, command, copy, expect_copied, expect_status, far, far_path, near_path, noise,
    number_before, scene, wait_for_megabytes,
};
use crate::login::dropbear::authorize_dbclient;
use crate::login::scene::{Plan, Scene, Starter};
use crate::support::network::Families;
use crate::support::{PASSWORD, Person};

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
fn a_file_here_with_a_colon_in_its_name_is_told_of_where_no_copy_begins() {
    let Some(scene) = scene() else { return };
    scene
        .near
        .write_home(Person::Alice, "nowhere:file", "hello");
    let meant = "a file named nowhere:file exists here; to copy it, write ./nowhere:file";
    let told = expect_status(&scene, &["nowhere:file", "copy"], 255);
    assert!(told.contains(meant), "{told}");
    let told = expect_status(&scene, &["nowhere:file", &far("")], 1);
    assert!(told.contains(meant), "{told}");
    let told = expect_status(&scene, &["nowhere:other", &far("")], 1);
    assert!(!told.contains("exists here"), "{told}");
    expect_copied(&scene, &["./nowhere:file", &far("")]);
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

#[test]
fn a_key_that_begins_sessions_only_is_told_from_noise() {
    let Some(scene) = scene() else { return };
    scene.near.write_home(Person::Alice, "file", "x");
    scene.authorize("restrict,command=\"fulmar server\"");
    let output = copy(&scene, &["file", &far("")]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(255), "{told}");
    assert!(
        told.contains("begins a session where a copy was asked for")
            && told.contains("forced command"),
        "{told}"
    );
    scene.expect_nothing_left();
}

#[test]
fn what_may_not_be_read_or_written_is_named_and_the_rest_goes_on() {
    let Some(scene) = scene() else { return };
    // They belong to root.
    scene.near.write("/home/alice/secret", "x");
    scene.far.write("/home/bob/secret", "x");
    for path in [near_path(&scene, "secret"), far_path(&scene, "secret")] {
        let nobody = fs::Permissions::from_mode(0o0);
        fs::set_permissions(path, nobody).expect("root may");
    }
    fs::create_dir(far_path(&scene, "locked")).expect("root may");
    scene.near.write_home(Person::Alice, "small", "fits");
    scene.far.write_home(Person::Bob, "tiny", "fits");
    scene.near.folder(Person::Alice, "folder");
    let (secret, locked, below) = (far("secret"), far("locked/small"), far("tiny/below"));
    let cases: [(&[&str], &str); 6] = [
        (
            &["secret", "small", &far("")],
            "cannot read secret: permission denied",
        ),
        (
            &[&secret, &far("tiny"), "."],
            &format!("cannot read {secret}: permission denied"),
        ),
        (
            &["small", &far("locked/")],
            &format!(
                "cannot write {locked}: permission denied (no file can be made in its folder)"
            ),
        ),
        (
            &["small", &below],
            &format!("cannot write {}: it is not a folder", far("tiny")),
        ),
        (
            &[&far("tiny"), "small/below"],
            "cannot write small: it is not a folder",
        ),
        (
            &["folder", &far("")],
            "skipped folder: it is a folder (use -r to copy folders)",
        ),
    ];
    for (arguments, words) in cases {
        let told = expect_status(&scene, arguments, 1);
        let mut lines = told.lines();
        assert_eq!(
            lines.next(),
            Some(format!("fulmar: {words}").as_str()),
            "{arguments:?}"
        );
    }
    for path in [near_path(&scene, "tiny"), far_path(&scene, "small")] {
        assert_eq!(fs::read_to_string(path).ok().as_deref(), Some("fits"));
    }
    scene.expect_nothing_left();
}

#[test]
fn a_file_that_may_not_grow_is_named_and_the_rest_goes_on() {
    let Some(scene) = scene() else { return };
    scene.authorize("command=\"ulimit -f 2000; exec fulmar copy-server\"");
    for (machine, person) in [(&scene.near, Person::Alice), (&scene.far, Person::Bob)] {
        machine.write_home(person, "large", noise(4_000_000));
        machine.write_home(person, "small", "fits");
    }
    scene.near.folder(Person::Alice, "here");
    scene.far.folder(Person::Bob, "there");
    let told = expect_status(&scene, &["large", "small", &far("there")], 1);
    assert!(told.contains("large: the file is too large"), "{told}");
    let script = "ulimit -f 2000; exec fulmar cp \"$@\"";
    let (large, small) = (far("large"), far("small"));
    let arguments = ["-c", script, "sh", large.as_str(), small.as_str(), "here"];
    let mut command = command(&scene, "sh", &arguments);
    let output = scene.near.inside(|| command.output().expect("it starts"));
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("large: the file is too large"), "{told}");
    for path in [
        near_path(&scene, "here/small"),
        far_path(&scene, "there/small"),
    ] {
        assert_eq!(fs::read_to_string(path).ok().as_deref(), Some("fits"));
    }
    scene.expect_nothing_left();
}

#[test]
fn a_file_that_changes_while_it_is_read_is_reported() {
    let Some(scene) = scene() else { return };
    scene
        .near
        .write_home(Person::Alice, "file", noise(6_000_000));
    let path = near_path(&scene, "file");
    for (is_cut, words) in [
        (false, "changed while it was read; what was read was copied"),
        (true, "it became shorter while it was read"),
    ] {
        let arguments = ["-l", "2MB", "--no-resume", "file", &far("")];
        let mut terminal = at_terminal(&scene, &arguments);
        wait_for_megabytes(&mut terminal, 2.0);
        let file = fs::File::options().write(true).open(&path);
        let file = file.expect("it is there");
        if is_cut {
            file.set_len(10).expect("root may")
        } else {
            file.write_all_at(b"other", 5_999_990).expect("root may")
        }
        let status = terminal.wait_for_end();
        terminal.wait_for_text(words);
        assert_eq!(status.code(), Some(1), "{words}");
        let arrived = fs::read(far_path(&scene, "file")).expect("it is there");
        assert_eq!(arrived.len(), 6_000_000, "what was whole is still there");
    }
    scene.expect_nothing_left();
}

#[test]
fn a_password_is_asked_for_as_ever() {
    let plan = Plan {
        families: Families::V4,
        config: "PubkeyAuthentication no\n",
        ..Plan::default()
    };
    let Some(scene) = Scene::new(&plan) else {
        return;
    };
    scene.near.write_home(Person::Alice, "file", noise(30_000));
    let mut terminal = at_terminal(&scene, &["file", &far("")]);
    terminal.wait_for_text("bob@far's password:");
    terminal.type_keys(format!("{PASSWORD}\n"));
    let status = terminal.wait_for_end();
    terminal.wait_for_text("file  30.0 kB");
    assert_eq!(status.code(), Some(0));
    terminal.expect_restored();
    scene.expect_nothing_left();
}

#[test]
fn the_other_ssh_carries_it_too() {
    let Some(scene) = scene() else { return };
    if authorize_dbclient(&scene).is_none() {
        return;
    }
    scene
        .near
        .write_home(Person::Alice, "file", noise(3_000_000));
    for (from, to) in [("file", far("")), (far("file").as_str(), "back".to_owned())] {
        // What it says of a host that it does not know is shown.
        let output = copy(&scene, &["--ssh", "dbclient -y", from, &to]);
        assert!(output.status.success(), "{output:?}");
    }
    let back = fs::read(near_path(&scene, "back")).expect("it is there");
    assert!(back == noise(3_000_000));
    scene.expect_nothing_left();
}

#[test]
fn a_narrow_terminal_has_one_line_of_progress() {
    let Some(scene) = scene() else { return };
    scene
        .near
        .write_home(Person::Alice, "漢字", noise(4_000_000));
    let arguments = ["cp", "-l", "2MB", "漢字", &far("")];
    let Some(command) = scene.command(Starter::Fulmar, &arguments) else {
        return;
    };
    let size = WindowSize {
        rows: 10,
        columns: 20,
    };
    let mut terminal = scene.start_at(Starter::Fulmar, &command, size);
    terminal.wait_for("half of it in one line", |screen| {
        let text = screen.contents();
        assert!(text.trim_end().lines().count() <= 1, "{text}");
        number_before(&text, " %").is_some_and(|percent| percent >= 50.0)
    });
    let status = terminal.wait_for_end();
    assert_eq!(status.code(), Some(0));
    let text = terminal.screen().contents();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let is_told = matches!(lines.as_slice(), ["漢字  4.0 MB", summary, ..]
        if summary.starts_with("1 file, 4.0 MB in"));
    assert!(is_told, "{text}");
    terminal.expect_restored();
    scene.expect_nothing_left();
}

#[test]
fn what_is_not_copied_is_named_by_a_copy_in_the_background_too() {
    let Some(scene) = scene() else { return };
    scene.near.write_home(Person::Alice, "file", noise(1000));
    let in_background = ["sh", "-c", "set -m; \"$@\" & wait $!", "sh"];
    let target = far("");
    let arguments = ["cp", "missing", "file", &target];
    let command = scene.command_after(&in_background, Starter::Fulmar, &arguments);
    let command = command.expect("ours is always there");
    let size = WindowSize {
        rows: 24,
        columns: 120,
    };
    // As a program that knows nothing of terminals.
    let mut terminal = scene.start_at(Starter::Ssh, &command, size);
    assert_eq!(terminal.wait_for_end().code(), Some(1));
    let text = terminal.screen().contents();
    assert!(text.contains("missing: "), "{text}");
    assert!(far_path(&scene, "file").exists());
    scene.expect_nothing_left();
}

#[test]
fn a_quiet_copy_shows_nothing_but_what_is_wrong() {
    let Some(scene) = scene() else { return };
    scene
        .near
        .write_home(Person::Alice, "file", noise(3_000_000));
    let mut terminal = at_terminal(&scene, &["-q", "-l", "3MB", "file", "missing", &far("")]);
    assert_eq!(terminal.wait_for_end().code(), Some(1));
    terminal.wait_for_text("missing: ");
    let text = terminal.screen().contents();
    assert!(!text.contains("MB") && !text.contains("file  "), "{text}");
    assert!(fs::read(far_path(&scene, "file")).expect("it is there") == noise(3_000_000));
    scene.expect_nothing_left();
}

#[test]
fn several_files_go_into_a_folder_that_exists() {
    let Some(scene) = scene() else { return };
    for name in ["a", "b"] {
        scene.near.write_home(Person::Alice, name, name);
    }
    let told = expect_status(&scene, &["a", "b", &far("nowhere")], 1);
    let line =
        "cannot write bob@far:nowhere: no such file or folder (it has to be an existing folder)";
    assert!(told.contains(line), "{told}");
}

#[test]
fn a_server_that_is_named_and_not_there_is_told_of() {
    let Some(scene) = scene() else { return };
    scene.near.write_home(Person::Alice, "file", "content");
    for server in [
        "/nowhere/fulmar",
        "/nowhere/fulmar-0.2 server",
        "/nowhere/else",
    ] {
        let told = expect_status(&scene, &["--server", server, "file", &far("")], 255);
        assert!(told.contains("--server has to name it"), "{told}");
    }
}

#[test]
fn the_own_home_has_a_name_and_those_of_others_have_none() {
    let Some(scene) = scene() else { return };
    scene.near.write_home(Person::Alice, "file", "content");
    scene.far.folder(Person::Bob, "~root");
    let told = expect_status(&scene, &["file", &far("~root/file")], 1);
    let note = "the homes of others are not looked up: write the whole path, or ./~name for a name";
    let place = far("~root/file");
    assert_eq!(
        told,
        format!("fulmar: cannot write {place}: no such file or folder ({note})\n")
    );
    let told = expect_status(&scene, &[&far("~root/file"), "other"], 1);
    assert!(told.contains(note), "{told}");
    for (target, path) in [
        ("./~root/file", "~root/file"),
        ("~bob/own", "own"),
        ("~/home", "home"),
    ] {
        expect_copied(&scene, &["file", &far(target)]);
        let there = fs::read_to_string(far_path(&scene, path));
        assert_eq!(there.ok().as_deref(), Some("content"), "{target}");
    }
}

#[test]
fn a_single_error_is_told_once() {
    let Some(scene) = scene() else { return };
    let told = expect_status(&scene, &["missing", &far("")], 1);
    assert_eq!(
        told,
        "fulmar: cannot read missing: no such file or folder\n"
    );
}

#[test]
fn of_many_errors_of_one_kind_a_terminal_shows_some_and_their_number() {
    let Some(scene) = scene() else { return };
    let mut arguments: Vec<String> = (0..31).map(|number| format!("missing{number}")).collect();
    arguments.push(far(""));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut terminal = at_terminal(&scene, &arguments);
    assert_eq!(terminal.wait_for_end().code(), Some(1));
    let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
    assert_eq!(shown.matches("cannot read missing").count(), 10, "{shown}");
    for words in [
        "cannot read 21 more, for the same reason: no such file or folder",
        "31 files or folders were not copied",
    ] {
        assert!(shown.contains(words), "{shown}");
    }
    let told = expect_status(&scene, &arguments, 1);
    assert_eq!(told.matches("cannot read missing").count(), 31, "{told}");
}

#[test]
fn a_folder_that_cannot_be_made_is_told_once_and_not_for_all_that_is_in_it() {
    let Some(scene) = scene() else { return };
    scene.near.folder(Person::Alice, "tree");
    scene.near.folder(Person::Alice, "tree/below");
    for name in ["tree/a", "tree/b", "tree/below/c"] {
        scene.near.write_home(Person::Alice, name, "x");
    }
    scene.far.write_home(Person::Bob, "file", "y");
    let told = expect_status(&scene, &["-r", "tree", &far("file")], 1);
    let lines: Vec<&str> = told.lines().collect();
    let first = format!("fulmar: cannot write {}: it is not a folder", far("file"));
    assert_eq!(lines.first(), Some(&first.as_str()), "{told}");
    let others = "fulmar: cannot write 4 more, in folders that could not be made";
    assert_eq!(lines.get(1), Some(&others), "{told}");
    assert!(
        lines.len() == 3 && lines[2].contains("5 files or folders were not copied"),
        "{told}"
    );
    let told = expect_status(&scene, &["--dry-run", "-r", "tree", &far("file")], 1);
    let last = "fulmar: 5 files or folders cannot be copied";
    assert_eq!(told.lines().last(), Some(last), "{told}");
}

#[test]
fn an_error_of_standard_output_names_it() {
    let Some(scene) = scene() else { return };
    scene.far.write_home(Person::Bob, "file", "y");
    let script = "exec fulmar cp \"$0\" - > /dev/full";
    let mut command = command(&scene, "sh", &["-c", script, &far("file")]);
    let output = scene.near.inside(|| command.output().expect("it starts"));
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        told.contains("cannot write standard output: the disk is full"),
        "{told}"
    );
}

#[test]
fn a_file_that_the_terminal_shows_has_nothing_of_ours_in_it() {
    let Some(scene) = scene() else { return };
    scene.far.write_home(Person::Bob, "file", "all of it\n");
    let mut terminal = at_terminal(&scene, &[&far("file"), "-"]);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
    assert_eq!(shown, "all of it\r\n");
}

#[test]
fn where_nothing_was_copied_the_error_is_the_last_word() {
    let Some(scene) = scene() else { return };
    let mut terminal = at_terminal(&scene, &["nothing", &far("")]);
    assert_eq!(terminal.wait_for_end().code(), Some(1));
    terminal.wait_for_text("cannot read nothing: no such file or folder");
    let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
    assert!(!shown.contains("0 files"), "{shown}");
}
