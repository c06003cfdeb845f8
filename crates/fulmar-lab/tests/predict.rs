//! Predictions on our own recordings.

use std::path::{Path, PathBuf};
use std::process::Command;

use fulmar_lab::predict::{
    ClientWatch, Peer, PredictionSession, PredictorKind, Recording, SecrecyGate, TestLink,
};
use fulmar_lab::trace::Trace;
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/keys")
}

/// docs/threat-model.md: what is typed without echo is never shown. `fulmar-lab predict --gate
/// --published --seeds 20` tries more seeds, and the real client.
#[test]
fn no_character_of_a_secret_is_ever_shown() {
    let mut recordings = Vec::new();
    for half in [folder(), folder().join("held-out")] {
        recordings.extend(Recording::read_all(&half, &[]).expect("recordings"));
    }
    recordings.retain(|recording| recording.truth.has_secret());
    assert!(recordings.len() >= 20, "{}", recordings.len());
    let gate = SecrecyGate::new(&recordings, 1).expect("secrets");
    let gate = gate.kept_by(&[PredictorKind::Engine, PredictorKind::EngineHints]);
    let verdict = gate.run(|_| ()).expect("sessions");
    assert!(verdict.is_passed(), "{verdict}");
    assert_eq!(verdict.sessions, recordings.len() * 36);
}

#[test]
fn the_command_compares_predictors_on_the_same_keys() {
    let mut lab = Command::new(env!("CARGO_BIN_EXE_fulmar-lab"));
    lab.args(["predict", "--traces", "own-bash-plain", "--links", "100"]);
    lab.args(["--predictor", "none,stock,everything", "--json"]);
    let output = lab.arg("--data").arg(folder()).output();
    let output = output.expect("the program can be run");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = report["rows"].as_array().expect("rows");
    let of_all = |predictor: &str| {
        rows.iter()
            .find(|row| row["of"] == "all" && row["predictor"] == predictor)
            .expect("a row")
    };
    let instant = |predictor: &str| {
        of_all(predictor)["instant_percent"]
            .as_f64()
            .expect("a share")
    };
    assert_eq!(of_all("none")["keys"], of_all("stock")["keys"]);
    assert_eq!(instant("none"), 0.0);
    assert!(instant("stock") > 50.0, "{}", instant("stock"));
    assert!(instant("everything") > instant("stock"));
    assert_eq!(report["unfinished"], 0);
}

/// Ten characters at a prompt, the first of which is echoed so many milliseconds later, the others after 2.
fn echoed(first: u64) -> Recording {
    let mut trace = "0 SIZE 20 4\n50000 HOST 10\n\x1b[?2004h$ \n".to_owned();
    for (number, key) in (1_u64..).zip("abcdefghij".chars()) {
        let at = number * 500_000;
        let echo = at + 1000 * if number == 1 { first } else { 2 };
        trace += &format!("{at} USER 1\n{key}\n{echo} HOST 1\n{key}\n");
    }
    let trace = Trace::parse(trace.as_bytes()).expect("a trace");
    Recording::new("echoed", trace, None)
}

/// docs/prediction.md §8: nothing is to be seen of prediction where nothing has to wait.
#[test]
fn on_a_near_link_nothing_is_shown_ahead_until_something_has_to_wait() {
    let predicts = |recording: &Recording, round_trip, watch| {
        let link = TestLink {
            round_trip,
            ..TestLink::default()
        };
        let session = PredictionSession::run(recording, link, 1, Some(watch));
        let shown = session.expect("a session").shown;
        shown.iter().any(|shown| shown.predicted.is_some())
    };
    for watch in [Peer::Stock, Peer::Own].map(ClientWatch::of) {
        for round_trip in [0, 5, 10, 20] {
            let name = format!("{round_trip} ms, {watch:?}");
            assert!(!predicts(&echoed(2), round_trip, watch), "{name}");
            assert!(
                round_trip == 0 || predicts(&echoed(80), round_trip, watch),
                "{name}"
            );
        }
        assert!(predicts(&echoed(2), 100, watch), "{watch:?}");
    }
}
