//! What cannot be copied is named, and the rest goes on.

use std::fs;

use super::{copy, far, noise, scene};
use crate::support::Person;

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
