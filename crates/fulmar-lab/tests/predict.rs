//! Predictions on our own recordings.

use std::path::{Path, PathBuf};
use std::process::Command;

use fulmar_lab::predict::{Plan, PredictorKind, Recording, Score, SecrecyGate};
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
    assert_eq!(verdict.sessions, recordings.len() * 45);
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

/// docs/prediction.md §8: on near links, too, keys are shown as soon as with stock's predictor, whatever is lost.
#[test]
fn on_near_links_no_key_waits_longer_than_with_stock() {
    let names = [
        "own-bash-plain",
        "own-cooked",
        "own-fish",
        "own-python",
        "own-tmux",
        "own-tui-box",
        "own-vim",
        "own-zsh-rprompt",
    ];
    let recordings = Recording::read_all(&folder(), &names.map(str::to_owned)).expect("recordings");
    let links = ["0", "5", "20", "0:0:29", "5:0:29", "20:0:29"];
    let plan = Plan {
        recordings: &recordings,
        links: links.map(|link| link.parse().expect("a link")).to_vec(),
        seeds: 1,
        kinds: vec![PredictorKind::Stock, PredictorKind::Engine],
        leaks_only: false,
    };
    let trials = plan.run().expect("sessions");
    for link in &plan.links {
        let mut scores = [Score::default(), Score::default()];
        for trial in trials.iter().filter(|trial| trial.link == *link) {
            for (sum, score) in scores.iter_mut().zip(&trial.scores) {
                sum.add(score);
            }
        }
        let [stock, ours] = scores;
        let row = format!(
            "{link}: {:.1} % at once, mean {:.1} ms; stock's {:.1} %, {:.1} ms",
            ours.instant(),
            ours.mean(),
            stock.instant(),
            stock.mean()
        );
        assert!(
            ours.instant() >= stock.instant() && ours.mean() <= stock.mean(),
            "{row}"
        );
        // A wrong prediction hides a right screen until it is taken back.
        let pairs = ours.waits.iter().zip(&stock.waits);
        let later = pairs.filter(|(ours, stock)| ours.waited() > stock.waited());
        let later = later.count() as f64 / stock.waits.len() as f64;
        assert!(later <= 0.001, "{row}; {later} later");
    }
}
