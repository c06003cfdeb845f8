//! The steps from the command to the first screen, as the log has them.

use super::scene::{FAR, Plan, Scene, Starter, expect_session, for_each_starter};
use crate::support::Person;

for_each_starter! {
    a_user_who_asks_is_told_of_them: fulmar;
    so_is_one_who_copies: fulmar;
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

/// The words of which a user is told on the way to a remote end that waits.
const TOLD: [&str; 4] = [
    "s: ssh is started",
    "s: the remote side answers",
    "s: the server says on which UDP port it waits",
    "s: UDP is tried to ",
];

/// Expects these words in this order.
#[track_caller]
fn expect_in_order(text: &str, words: &[&str]) {
    let mut rest = text;
    for word in words {
        let found = rest.split_once(word);
        let Some((_, behind)) = found else {
            panic!("no {word:?} in its place: {text}");
        };
        rest = behind;
    }
}

fn a_user_who_asks_is_told_of_them(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    let Some(mut terminal) = scene.start(starter, &["-v", &format!("bob@{FAR}")]) else {
        return;
    };
    expect_session(&scene, starter, &mut terminal);
    let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
    expect_in_order(&shown, &TOLD);
    // The session has had the terminal meanwhile.
    let later = [
        "s: the first datagram is sent",
        "s: the first answer has come over UDP",
    ];
    let (_, behind) = shown.rsplit_once("exit 7").expect("it was typed");
    expect_in_order(behind, &later);
}

fn so_is_one_who_copies(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    scene.near.write_home(Person::Alice, "file", "hello");
    let target = format!("bob@{FAR}:");
    let Some(mut terminal) = scene.start(starter, &["cp", "-v", "file", &target]) else {
        return;
    };
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
    expect_in_order(&shown, &TOLD);
    expect_in_order(&shown, &["s: the first answer has come over UDP"]);
}

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
