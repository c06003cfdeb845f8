//! The user sees how far a copy is, and what it came to.

use super::{at_terminal, far, noise, number_before, scene};
use crate::login::scene::Scene;
use crate::support::Person;

/// The length of the file.
const LENGTH: usize = 12_000_000;

/// A rate at which it takes some seconds.
const RATE: &str = "4MB";

/// Copies the file, and expects that its name, its size and the time left are shown before it is half there.
#[track_caller]
fn expect_whole_line(scene: &Scene, from: &str, to: &str) {
    let mut terminal = at_terminal(scene, &["-l", RATE, from, to]);
    terminal.wait_for("the whole of it before half is there", |screen| {
        let text = screen.contents();
        let line = text.lines().rfind(|line| line.contains(" %  "));
        let (Some(line), Some(percent)) = (line, number_before(&text, " %  ")) else {
            return false;
        };
        let is_whole = line.contains(" of 12.0 MB  ") && line.contains(" left");
        percent < 50.0 && line.starts_with("notes.bin ") && is_whole
    });
    let ended = terminal.wait_for_end();
    assert!(ended.success());
    terminal.wait_for_text("1 file, 12.0 MB in ");
    terminal.expect_restored();
}

#[test]
fn name_percentage_total_and_time_left_are_shown_from_the_beginning() {
    let Some(scene) = scene() else { return };
    scene
        .near
        .write_home(Person::Alice, "notes.bin", noise(LENGTH));
    expect_whole_line(&scene, "notes.bin", &far(""));
    scene.near.folder(Person::Alice, "back");
    expect_whole_line(&scene, &far("notes.bin"), "back");
    scene.expect_nothing_left();
}

#[test]
fn of_a_tree_the_files_are_counted() {
    let Some(scene) = scene() else { return };
    scene.near.folder(Person::Alice, "tree");
    for number in 0..5 {
        let name = format!("tree/{number}");
        scene
            .near
            .write_home(Person::Alice, &name, noise(LENGTH / 4));
    }
    let mut terminal = at_terminal(&scene, &["-r", "-l", RATE, "tree", &far("")]);
    terminal.wait_for_text(" of 5 files");
    let ended = terminal.wait_for_end();
    assert!(ended.success());
    terminal.wait_for_text("5 files, 15.0 MB in ");
    scene.expect_nothing_left();
}

#[test]
fn what_was_there_already_is_told_at_the_end() {
    let Some(scene) = scene() else { return };
    for (machine, person) in [(&scene.near, Person::Alice), (&scene.far, Person::Bob)] {
        machine.write_home(person, "notes.bin", noise(LENGTH));
    }
    let mut terminal = at_terminal(&scene, &["-l", "10MB", "notes.bin", &far("")]);
    let ended = terminal.wait_for_end();
    assert!(ended.success());
    terminal.wait_for_text(" MB were there already");
    scene.expect_nothing_left();
}
