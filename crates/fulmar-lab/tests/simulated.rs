//! Whole sessions of Fulmar in virtual time.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fulmar_lab::experiment::LabSetup;
use fulmar_lab::judge::{GroundTruth, RunVerdict};
use fulmar_lab::replay::Replay;
use fulmar_lab::scenario::Scenario;
use fulmar_lab::simulated::{PredictionMode, Simulated, VirtualReplay};
use fulmar_lab::stats::Summary;
use fulmar_lab::trace::{LinkTraces, Trace};
use fulmar_lab::typing::{Limits, SessionEnd, TypingLoop};

const LIMITS: Limits = Limits {
    keys: 40,
    time: Duration::from_secs(480),
    patience: Duration::from_secs(30),
    set_up: Duration::from_secs(30),
    pause_max: None,
};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/keys")
}

struct Session {
    trace: Trace,
    truth: GroundTruth,
}

impl Session {
    fn of(name: &str) -> Self {
        let trace = Trace::read(&folder().join(name)).expect("a recording");
        let truth = GroundTruth::of(&trace);
        Self { trace, truth }
    }

    fn over(&self, scenario: &str, user: TypingLoop) -> Simulated {
        self.with(scenario, user, PredictionMode::default())
    }

    fn with(&self, scenario: &str, user: TypingLoop, mode: PredictionMode) -> Simulated {
        let scenario = Scenario::parse(scenario, &LinkTraces::none()).expect("a scenario");
        Simulated::run(&scenario, &self.trace, &self.truth, user, LIMITS, mode)
            .unwrap_or_else(|error| panic!("{error:#}"))
    }

    fn verdict(&self, run: &Simulated) -> RunVerdict {
        run.judge(&self.truth).expect("a run of the recording")
    }
}

#[test]
fn every_recording_is_carried_over_a_bad_link() {
    let names = std::fs::read_dir(folder()).expect("a folder of recordings");
    let names = names.map(|entry| entry.expect("an entry").path());
    let mut count = 0;
    for path in names.filter(|path| path.is_file() && path.extension().is_none()) {
        let name = path.file_name().expect("a name").to_string_lossy();
        let session = Session::of(&name);
        // Each user has half of the recordings: a debug build takes its time to judge.
        let user = [TypingLoop::Closed, TypingLoop::Open][count % 2];
        let run = session.over("seed 3\nboth loss 5%, delay 50ms..60ms", user);
        assert_eq!(
            run.session.why_over,
            SessionEnd::LimitReached,
            "{name} {user:?}"
        );
        let verdict = session.verdict(&run);
        assert!(verdict.delivery.is_faithful(), "{name} {user:?}");
        assert_eq!(verdict.differences_at_end, 0, "{name} {user:?}");
        assert!(verdict.is_settled && verdict.is_stamped, "{name} {user:?}");
        count += 1;
    }
    assert!(count >= 21, "{count} recordings");
}

#[test]
fn an_answer_takes_hardly_more_than_the_round_trip() {
    let session = Session::of("own-bash-plain");
    let run = session.with("both delay 10ms", TypingLoop::Closed, PredictionMode::Never);
    let own = Summary::of(&session.verdict(&run).own());
    // docs/protocol.md §5.4: a key waits for nothing, and its echo for half a millisecond of quiet. The
    // program that was recorded took some ms.
    let median = own.median.expect("answers");
    assert!((ms(20)..=ms(25)).contains(&median), "{median:?}");
}

#[test]
fn a_seed_is_one_run_to_the_microsecond_and_another_seed_another() {
    let session = Session::of("own-less");
    let run = |seed: u64| {
        let scenario = format!("seed {seed}\nboth loss 10%, delay 40ms..60ms");
        session.verdict(&session.over(&scenario, TypingLoop::Open))
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7).keys, run(8).keys);
}

#[test]
fn a_user_without_a_server_does_not_type() {
    let session = Session::of("own-bash-plain");
    let scenario = Scenario::parse("up loss 100%", &LinkTraces::none()).expect("a scenario");
    let error = Simulated::run(
        &scenario,
        &session.trace,
        &session.truth,
        TypingLoop::Open,
        LIMITS,
        PredictionMode::default(),
    );
    let error = error.expect_err("nobody answers");
    assert!(
        format!("{error:#}").contains("before the session was there"),
        "{error:#}"
    );
}

/// A replay of a few keys.
fn short(scenario: &str) -> Replay {
    let mut replay = Replay::new(scenario, "own-less", TypingLoop::Open);
    replay.limits = Limits { keys: 8, ..LIMITS };
    replay
}

#[test]
fn many_seeds_come_in_their_order_and_as_each_would_alone() {
    let replay = short("both loss 10%, delay 20ms..30ms");
    let setup = LabSetup {
        recordings: folder(),
        ..LabSetup::default()
    };
    let rehearsal = VirtualReplay::new(&replay, &setup).expect("a recording");
    let all = rehearsal.run_all(3..10, |run| run.verdict);
    let alone = (3..10).map(|seed| rehearsal.run(seed).expect("a session").verdict);
    assert_eq!(all.expect("sessions"), alone.collect::<Vec<_>>());
    let nobody = short("up loss 100%");
    let failed = VirtualReplay::new(&nobody, &setup).and_then(|none| none.run_all(4..6, |_| ()));
    let said = format!("{:#}", failed.expect_err("nobody answers"));
    assert!(said.starts_with("seed 4: "), "{said}");
}

#[test]
fn without_prediction_no_key_is_shown_before_its_round_trip() {
    let mut replay = Replay::new("both delay 50ms", "own-bash-plain", TypingLoop::Recorded);
    replay.limits = Limits { keys: 40, ..LIMITS };
    let setup = LabSetup {
        recordings: folder(),
        ..LabSetup::default()
    };
    let earliest = |replay: VirtualReplay<'_>| {
        let verdict = replay.run(1).expect("a session").verdict;
        verdict.own().iter().map(|wait| wait.waited()).min()
    };
    let replay = || VirtualReplay::new(&replay, &setup).expect("a recording");
    let round_trip = Some(Duration::from_millis(100));
    assert!(earliest(replay()) < round_trip);
    assert!(earliest(replay().without_prediction()) >= round_trip);
}

#[test]
fn the_command_sums_up_the_keys_of_all_seeds() {
    let mut lab = Command::new(env!("CARGO_BIN_EXE_fulmar-lab"));
    lab.args(["simulate", "--scenario", "both delay 20ms; both loss 1%"]);
    lab.args(["--recording", "own-bash-plain", "--typing", "open"]);
    lab.args(["--seeds", "3", "--keys", "10", "--pause-max", "100"]);
    let output = lab.arg("--recordings").arg(folder()).output();
    let output = output.expect("the program can be run");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["seeds"], 3);
    assert_eq!(report["whole"]["count"], 30);
    let median = report["whole"]["median_ms"].as_f64().expect("answers");
    assert!(median >= 40.0, "{median}");
}
