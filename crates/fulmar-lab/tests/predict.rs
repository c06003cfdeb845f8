//! Predictions on our own recordings.

use std::path::{Path, PathBuf};
use std::process::Command;

use fulmar_lab::predict::{Gate, Recording};
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/keys")
}

/// docs/threat-model.md: what is typed without echo is never shown. `fulmar-lab predict --gate
/// --seeds 20` tries more seeds, and the real client.
#[test]
fn no_character_of_a_secret_is_ever_shown() {
    let mut recordings = Vec::new();
    for half in [folder(), folder().join("held-out")] {
        recordings.extend(Recording::read_all(&half, &[]).expect("recordings"));
    }
    recordings.retain(|recording| recording.truth.has_secret());
    assert!(recordings.len() >= 18, "{}", recordings.len());
    let gate = Gate::new(&recordings, 3).expect("secrets");
    let verdict = gate.without_client().run().expect("sessions");
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
