//! The self-check on any machine: that it measures what it says, not how precise that is.
//!
//! What it says of times depends on the machine and on what else runs there; what it says of counts
//! does not.

mod support;

use std::process::Command;

use fulmar_testbed::peers;
use serde_json::Value;

#[test]
fn counts_are_exact_on_any_machine() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("selfcheck.json");
    let mut lab = Command::new(env!("CARGO_BIN_EXE_fulmar-lab"));
    lab.args(["selfcheck", "--quick", "--json"]).arg(&file);
    let output = lab.output().unwrap();
    let Ok(text) = std::fs::read_to_string(&file) else {
        return peers::leave_out(&String::from_utf8_lossy(&output.stderr));
    };
    let findings: Value = serde_json::from_str(&text).unwrap();
    let checks = findings["checks"].as_array().unwrap();
    let of = |what: &'static str| checks.iter().filter(move |check| check["what"] == what);
    for check in of("loss").chain(of("queue")) {
        assert_eq!(check["good"], true, "{check:#}");
    }
    // Late is possible anywhere, and early nowhere.
    for check in of("delay") {
        let least = check["numbers"]["error_ms"]["least"].as_f64().unwrap();
        assert!(least >= 0.0, "{check:#}");
    }
    for (what, count) in [
        ("delay", 2),
        ("loss", 1),
        ("queue", 2),
        ("rate", 1),
        ("trace", 1),
    ] {
        assert_eq!(of(what).count(), count, "{what}");
    }
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(
        table.contains("check") && table.contains("engine"),
        "{table}"
    );
}
