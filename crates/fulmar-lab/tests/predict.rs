//! Predictions on our own recordings.

use std::path::{Path, PathBuf};
use std::process::Command;

use fulmar_lab::predict::{
    ClientWatch, Peer, PredictionSession, PredictorKind, Recording, SecrecyGate, TestLink,
};
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
    let gate = SecrecyGate::new(&recordings, 3).expect("secrets");
    let gate = gate.kept_by(&[PredictorKind::Engine, PredictorKind::EngineHints]);
    let verdict = gate.run(|_| ()).expect("sessions");
    assert!(verdict.is_passed(), "{verdict}");
    assert_eq!(verdict.sessions, recordings.len() * 36 * 3);
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

/// docs/prediction.md §8: nothing is to be seen of prediction where it is of no use.
#[test]
fn a_near_link_shows_what_it_would_without_prediction() {
    let parts = [
        "own-bash-plain",
        "own-vim-shape",
        "own-assistant-box",
        "own-cooked",
    ];
    let recordings = Recording::read_all(&folder(), &parts.map(str::to_owned));
    for recording in recordings.expect("recordings") {
        let written = |round_trip: u64, watch: ClientWatch| {
            let link = TestLink {
                round_trip,
                ..TestLink::default()
            };
            let session = PredictionSession::run(&recording, link, 1, Some(watch));
            session.expect("a session").written
        };
        for watch in [Peer::Stock, Peer::Own].map(ClientWatch::of) {
            for round_trip in [0, 5, 10, 20] {
                let plain = written(round_trip, watch.without_prediction());
                let is_same = written(round_trip, watch) == plain;
                let name = &recording.name;
                assert!(is_same, "{name} over {round_trip} ms, {watch:?}");
            }
        }
        let watch = ClientWatch::of(Peer::Stock);
        let plain = written(100, watch.without_prediction());
        assert!(written(100, watch) != plain, "{}", recording.name);
    }
}
