//! The steps from the command to the first screen, as the log has them.

use super::scene::{FAR, Plan, Scene, Starter, expect_session, for_each_starter};
use crate::support::Person;

for_each_starter! {
    the_log_tells_all_steps_in_their_order: fulmar;
}

/// Each waits for those before it, and for nothing else.
const ON_THE_WAY: [&str; 6] = [
    "ssh started",
    "hello",
    "connect",
    "first datagram",
    "first answer",
    "first screen drawn",
];

/// They are waited for by nobody, or only if they come last.
const BESIDE: [&str; 3] = ["settings known", "address resolved", "agreed"];

fn the_log_tells_all_steps_in_their_order(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    let Some(mut terminal) = scene.start(starter, &["--log", "log", &format!("bob@{FAR}")]) else {
        return;
    };
    expect_session(&scene, starter, &mut terminal);
    let log = scene.near.read_home(Person::Alice, "log").expect("a log");
    let steps: Vec<&str> = log
        .lines()
        .filter_map(|line| line.split_once("step: ")?.1.split(" after_ms=").next())
        .collect();
    let on_the_way: Vec<&str> = steps
        .iter()
        .copied()
        .filter(|step| ON_THE_WAY.contains(step))
        .collect();
    assert_eq!(on_the_way, ON_THE_WAY, "{log}");
    assert!(BESIDE.iter().all(|step| steps.contains(step)), "{log}");
}
