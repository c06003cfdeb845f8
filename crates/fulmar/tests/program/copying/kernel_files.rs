//! Files of the kernel, which are not as long as they say.

use std::fs;

use super::{copy, expect_copied, far, far_path, near_path, scene};
use crate::support::Person;

#[test]
fn files_of_the_kernel_arrive_as_they_are_read() {
    let Some(scene) = scene() else { return };
    let version = fs::read("/proc/version").expect("it is there");
    expect_copied(&scene, &["/proc/version", &far("up")]);
    expect_copied(&scene, &[&far("/proc/version"), "down"]);
    for path in [far_path(&scene, "up"), near_path(&scene, "down")] {
        assert_eq!(fs::read(&path).expect("it is there"), version, "{path:?}");
    }
    let output = copy(&scene, &[&far("/proc/version"), "-"]);
    assert_eq!(output.stdout, version);
    scene.near.folder(Person::Alice, "tree");
    expect_copied(&scene, &["-r", &far("/proc/sys/kernel/random"), "tree"]);
    let copied = fs::read_to_string(near_path(&scene, "tree/random/uuid"));
    assert_eq!(copied.expect("it is there").trim_end().len(), 36);
    scene.expect_nothing_left();
}
