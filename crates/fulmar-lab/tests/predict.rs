//! Predictions on our own recordings.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/keys")
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
