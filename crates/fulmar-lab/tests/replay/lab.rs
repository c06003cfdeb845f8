//! The lab's own command, with a recording and a link, and what an outcome of it has.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fulmar_lab::outcome::Outcome;
use fulmar_testbed::peers::leave_out;

use crate::support;

pub(crate) fn recordings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/keys")
}

/// Our program, which is built beside the lab.
pub(crate) fn fulmar() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_fulmar-lab")).with_file_name("fulmar")
}

/// True where a peer can be tried here; otherwise the calling test is left out.
#[track_caller]
pub(crate) fn has(peer: &str) -> bool {
    let mosh = ["mosh", "mosh-client", "mosh-server"];
    if !support::has(&support::SSH) || (peer.starts_with("mosh") && !support::has(&mosh)) {
        return false;
    }
    if peer.starts_with("fulmar") && !fulmar().is_file() {
        leave_out("fulmar is not built beside fulmar-lab");
        return false;
    }
    true
}

pub(crate) fn lab(peer: &str, scenario: &str, recording: &str) -> Command {
    let mut lab = Command::new(env!("CARGO_BIN_EXE_fulmar-lab"));
    lab.args([
        "replay",
        "--peer",
        peer,
        "--scenario",
        scenario,
        "--recording",
        recording,
    ]);
    lab.arg("--recordings").arg(recordings());
    lab
}

/// Plays the beginning of a recording without its long pauses; `None` if that cannot be here.
#[track_caller]
pub(crate) fn played(peer: &str, scenario: &str, recording: &str, typing: &str) -> Option<Outcome> {
    outcome(
        peer,
        lab(peer, scenario, recording).args(["--typing", typing]),
    )
}

/// Runs the program for the beginning of its recording.
#[track_caller]
pub(crate) fn outcome(peer: &str, lab: &mut Command) -> Option<Outcome> {
    if !has(peer) {
        return None;
    }
    let folder = tempfile::tempdir().expect("it can be done");
    let file = folder.path().join("outcome");
    lab.args(["--keys", "25", "--pause-max", "40", "--out"]);
    let output = lab.arg(&file).output().expect("the program can be run");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if is_refused(&said) {
        leave_out(&said);
        return None;
    }
    assert!(output.status.success(), "{said}");
    let outcome = std::fs::read_to_string(&file).expect("an outcome");
    Some(serde_json::from_str(&outcome).expect("an outcome"))
}

/// True where this machine does not permit links, or no sshd.
pub(crate) fn is_refused(said: &str) -> bool {
    said.starts_with("fulmar-lab: making") || said.contains("sshd cannot be had")
}

pub(crate) fn figure(outcome: &Outcome, name: &str) -> f64 {
    let figure = outcome.figures.get(name);
    figure
        .unwrap_or_else(|| panic!("no {name} in {:?}", outcome.figures))
        .value
}

/// Whatever carried it, a session has all this.
#[track_caller]
pub(crate) fn expect_whole(outcome: &Outcome) {
    let verdict = outcome.verdict.as_ref().expect("somebody typed");
    assert_eq!(verdict.keys.len(), 25);
    assert!(verdict.is_settled && verdict.is_stamped, "{verdict:?}");
    assert_eq!(verdict.differences_at_end, 0);
    let delivery = verdict.delivery;
    assert!(
        delivery.is_faithful() && delivery.received == 25,
        "{delivery:?}"
    );
    assert!(verdict.own().iter().all(|own| !own.is_censored()));
    for name in [
        "bytes_up",
        "bytes_down",
        "client_cpu",
        "server_cpu",
        "to_prompt",
    ] {
        assert!(figure(outcome, name) > 0.0, "{name}");
    }
    for name in ["packets_up", "packets_down"] {
        // Keys may share packets, but not all of them.
        assert!((3.0..2500.0).contains(&figure(outcome, name)), "{name}");
    }
    for name in ["client_memory", "server_memory"] {
        // No program is smaller, and none of these larger.
        assert!((1e6..1e9).contains(&figure(outcome, name)), "{name}");
    }
    assert_eq!(figure(outcome, "given_up"), 0.0);
    assert_eq!(outcome.figures["why_over"].unit, "limit reached");
}

/// The least time that somebody waited for the whole screen.
pub(crate) fn least(outcome: &Outcome) -> Duration {
    let whole = outcome.verdict.as_ref().expect("somebody typed").whole();
    whole
        .iter()
        .map(|whole| whole.waited())
        .min()
        .expect("keys with an effect")
}
