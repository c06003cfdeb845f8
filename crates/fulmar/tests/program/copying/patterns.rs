//! A pattern that stands for several files needs a folder as target.

use std::fs;

use super::{copy, expect_copied, expect_status, far, far_path, near_path, scene};
use crate::support::Person;

#[test]
fn a_pattern_with_several_matches_replaces_no_file() {
    let Some(scene) = scene() else { return };
    scene.far.folder(Person::Bob, "g");
    for name in ["n1", "n2"] {
        scene
            .far
            .write_home(Person::Bob, &format!("g/{name}"), name);
    }
    scene.near.write_home(Person::Alice, "file", "old");
    let is_file = "fulmar: cannot write file: it is not a folder (several sources need a folder)\n";
    let is_missing =
        "fulmar: cannot write new: no such file or folder (it has to be an existing folder)\n";
    for (target, words) in [("file", is_file), ("new", is_missing)] {
        for option in ["-p", "-r", "--dry-run"] {
            let told = expect_status(&scene, &[option, &far("g/n[12]"), target], 1);
            assert_eq!(told, words, "{option}");
        }
    }
    let file = fs::read_to_string(near_path(&scene, "file"));
    assert_eq!(file.expect("it is there"), "old");
    assert!(!near_path(&scene, "new").exists());

    expect_copied(&scene, &[&far("g/n[1]"), "file"]);
    let file = fs::read_to_string(near_path(&scene, "file"));
    assert_eq!(
        file.expect("it is there"),
        "n1",
        "one match may have any name"
    );
    let output = copy(&scene, &[&far("g/n[12]"), "-"]);
    assert_eq!(output.stdout, b"n1n2", "standard output takes any number");
    scene.expect_nothing_left();
}

#[test]
fn a_pattern_that_no_shell_has_expanded_replaces_no_file() {
    let Some(scene) = scene() else { return };
    scene.far.write_home(Person::Bob, "file", "old");
    for name in ["n1", "n2"] {
        scene.near.write_home(Person::Alice, name, name);
    }
    expect_status(&scene, &["n[12]", &far("file")], 1);
    for option in ["-p", "-r", "--dry-run"] {
        let told = expect_status(&scene, &[option, "n1", "n2", &far("file")], 1);
        assert!(told.ends_with("file: it is not a folder\n"), "{told}");
        assert_eq!(told.lines().count(), 1, "{told}");
    }
    let file = fs::read_to_string(far_path(&scene, "file"));
    assert_eq!(file.expect("it is there"), "old");
    scene.expect_nothing_left();
}
