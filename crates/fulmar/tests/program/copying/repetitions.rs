//! A copy that is made again sends what is missing or different, however fast the link is (docs/copy.md).

use std::fs;

use super::{copy, far, far_path, near_path, noise, scene};
use crate::login::scene::Scene;
use crate::support::Person;

/// The size of a file of many chunks.
const LENGTH: usize = 24_000_000;

/// A chunk of such a file, which is also what is sent of the first one before the other end has said what it has.
///
/// Source: docs/copy-protocol.md §5, §7.
pub(super) const CHUNK: usize = 256 * 1024;

/// Copies again, and returns how many bytes were sent.
#[track_caller]
pub(super) fn sent(scene: &Scene, arguments: &[&str]) -> usize {
    let output = copy(scene, &[&["--json"], arguments].concat());
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    let done = told.lines().last().unwrap_or_default();
    number(done, "bytes") - number(done, "bytes_resumed")
}

/// Returns a number of a JSON line.
#[track_caller]
fn number(line: &str, name: &str) -> usize {
    let (_, rest) = line
        .split_once(&format!("\"{name}\":"))
        .expect("it is there");
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().expect("a number")
}

#[test]
fn of_the_same_file_one_chunk_is_sent_again_in_either_direction() {
    let Some(scene) = scene() else { return };
    scene.near.write_home(Person::Alice, "file", noise(LENGTH));
    scene.far.write_home(Person::Bob, "file", noise(LENGTH));
    for arguments in [["file", &far("")], [&far("file"), "."]] {
        let sent = sent(&scene, &arguments);
        assert!(sent <= CHUNK, "{arguments:?}: {sent} bytes");
    }
    scene.expect_nothing_left();
}

#[test]
fn of_a_changed_file_the_changed_chunks_are_sent() {
    let Some(scene) = scene() else { return };
    let mut content = noise(LENGTH);
    scene.far.write_home(Person::Bob, "file", content.clone());
    content[LENGTH / 2] ^= 1;
    scene
        .near
        .write_home(Person::Alice, "file", content.clone());
    let sent = sent(&scene, &["file", &far("")]);
    assert!(sent <= 2 * CHUNK, "{sent} bytes");
    let arrived = fs::read(far_path(&scene, "file")).expect("it is there");
    assert!(arrived == content);
    scene.expect_nothing_left();
}

#[test]
fn of_a_tree_of_which_half_is_there_the_other_half_is_sent() {
    const COUNT: usize = 10;
    const EACH: usize = 1_000_000;
    let Some(scene) = scene() else { return };
    scene.near.folder(Person::Alice, "tree");
    for number in 0..COUNT {
        scene.near.write_home(
            Person::Alice,
            &format!("tree/{number}"),
            noise(EACH + number),
        );
    }
    sent(&scene, &["-r", "tree", &far("")]);
    for number in 0..COUNT / 2 {
        fs::remove_file(far_path(&scene, &format!("tree/{number}"))).expect("it is there");
    }
    let sent = sent(&scene, &["-r", "tree", &far("")]);
    let missing = COUNT / 2 * (EACH + COUNT) + CHUNK;
    assert!(sent <= missing, "{sent} bytes, {missing} were missing");
    for number in 0..COUNT {
        let name = format!("tree/{number}");
        let arrived = fs::read(far_path(&scene, &name)).expect("it is there");
        assert!(
            Some(arrived) == fs::read(near_path(&scene, &name)).ok(),
            "{name}"
        );
    }
    scene.expect_nothing_left();
}
