//! Sessions of real peers over emulated links, typed and judged.

mod endings;
mod lab;
mod refusals;
#[path = "../support/mod.rs"]
mod support;

use std::time::Duration;

use fulmar_lab::judge::{GroundTruth, ObservedRun};
use fulmar_lab::stats::Observation;
use fulmar_lab::trace::Trace;
use lab::{expect_whole, figure, lab, least, outcome, played, recordings};

#[test]
fn ssh_shows_nothing_before_a_round_trip() {
    let scenario = "both delay 20ms";
    let Some(outcome) = played("ssh", scenario, "own-bash-plain", "closed") else {
        return;
    };
    expect_whole(&outcome);
    assert!(
        least(&outcome) >= Duration::from_millis(40),
        "{:?}",
        least(&outcome)
    );
    let acks = figure(&outcome, "acks_on_data");
    assert!((0.3..=1.0).contains(&acks), "{acks}");
    assert_eq!(
        figure(&outcome, "lost_up") + figure(&outcome, "lost_down"),
        0.0
    );
    let commands = &outcome.facts.commands;
    assert!(commands[2].contains("TCP"), "{commands:?}");
}

#[test]
fn mosh_plays_a_recording_over_a_link_that_loses() {
    let scenario = "both loss 20%, delay 5ms";
    let Some(outcome) = played("mosh-n", scenario, "own-cooked", "open") else {
        return;
    };
    expect_whole(&outcome);
    assert!(least(&outcome) >= Duration::from_millis(10));
    let lost = outcome.series["lost_up"].len() + outcome.series["lost_down"].len();
    let counted = figure(&outcome, "lost_up") + figure(&outcome, "lost_down");
    assert!(lost > 0 && lost as f64 <= counted, "{lost} of {counted}");
}

#[test]
fn a_guess_is_faster_than_the_link_and_whole_only_after_it() {
    let scenario = "both delay 50ms";
    let Some(outcome) = played("mosh-a", scenario, "own-bash-plain", "closed") else {
        return;
    };
    expect_whole(&outcome);
    let own = outcome.verdict.as_ref().expect("somebody typed").own();
    let guessed = |own: &&Observation| own.waited() < Duration::from_millis(100);
    assert!(own.iter().filter(guessed).count() > 5, "{own:?}");
    assert!(least(&outcome) >= Duration::from_millis(100));
}

#[test]
fn fulmar_plays_a_recording() {
    let scenario = "both delay 20ms";
    let Some(outcome) = played("fulmar", scenario, "own-bash-plain", "open") else {
        return;
    };
    expect_whole(&outcome);
    assert!(least(&outcome) >= Duration::from_millis(40));
    assert!(!outcome.figures.contains_key("acks_on_data"));
}

#[test]
fn a_download_fills_the_queue_in_front_of_a_session() {
    let scenario = "both rate 5mbit queue 24p, delay 5ms";
    let mut lab = lab("ssh", scenario, "own-cooked");
    let Some(outcome) = outcome("ssh", lab.args(["--typing", "closed", "--download"])) else {
        return;
    };
    let verdict = outcome.verdict.as_ref().expect("somebody typed");
    assert!(verdict.is_settled && verdict.delivery.is_faithful());
    let depth = outcome.series["queue_down"].iter().map(|(_, depth)| *depth);
    // A session alone never has as many packets on the way.
    let deepest = depth.fold(0.0, f64::max);
    assert!((8.0..=25.0).contains(&deepest), "{deepest}");
    // Whose bytes they are is not known.
    assert!(!outcome.figures.contains_key("bytes_down"));
}

#[test]
fn a_template_is_a_peer_and_changes_come_when_somebody_types() {
    let peer = "quiet={ssh} -q -e none -t {host} {command}";
    let scenario = "both delay 1ms; at 0s both delay 100ms";
    let Some(outcome) = played(peer, scenario, "own-cooked", "open") else {
        return;
    };
    expect_whole(&outcome);
    assert_eq!(outcome.run.peer, "quiet");
    assert!(least(&outcome) >= Duration::from_millis(200));
    assert!(outcome.facts.scenario.ends_with("at 0s both delay 100ms"));
}

#[test]
fn start_up_files_of_whoever_runs_it_take_no_part() {
    let homely = "case $HOME in */server-home) exec {command};; esac";
    let peer = format!("homely={{ssh}} -q -e none -t {{host}} '{homely}'");
    if let Some(outcome) = played(&peer, "both delay 1ms", "own-cooked", "open") {
        expect_whole(&outcome);
    }
}

#[test]
fn both_sides_can_be_kept_and_judged_again() {
    let sides = tempfile::tempdir().expect("a folder");
    let mut lab_line = lab("ssh", "both delay 1ms", "own-tui-fakecursor");
    lab_line
        .args(["--typing", "open", "--keep"])
        .arg(sides.path());
    let Some(outcome) = outcome("ssh", &mut lab_line) else {
        return;
    };
    expect_whole(&outcome);
    let verdict = outcome.verdict.as_ref().expect("somebody typed");
    // Blanks among them, which move the cursor that the program draws.
    assert_eq!(verdict.own().len(), 25);
    let read = |side: &str| Trace::read(&sides.path().join(side)).expect("a side");
    let recording = Trace::read(&recordings().join("own-tui-fakecursor")).expect("ours");
    let again = ObservedRun {
        truth: &GroundTruth::of(&recording),
        user_side: &read("user-side"),
        host_side: &read("host-side"),
        one_way_delay: Duration::ZERO,
        may_predict: true,
    };
    let again = again.judge().expect("a run");
    // The file has microseconds.
    assert_eq!(again.keys.len(), verdict.keys.len());
    assert_eq!(again.delivery, verdict.delivery);
}
