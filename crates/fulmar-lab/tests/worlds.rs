//! One session of Fulmar over a real link and in virtual time.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fulmar_lab::experiment::LabSetup;
use fulmar_lab::instrument::agreement::Compared;
use fulmar_lab::outcome::Outcome;
use fulmar_lab::replay::{LIMITS, Replay};
use fulmar_lab::simulated::VirtualReplay;
use fulmar_lab::typing::{Limits, TypingLoop};
use fulmar_testbed::peers::leave_out;

const SCENARIO: &str = "both delay 50ms";
const ROUND_TRIP: f64 = 100.0;
/// Half of the round trip: docs/protocol.md §5.4.
const FRAME_PAUSE: f64 = 50.0;
/// The longest that both ends collect what is to be sent: docs/protocol.md §5.4.
const COLLECTION: f64 = 1.0 + 8.0;

const RECORDING: &str = "own-bash-plain";
const KEYS: usize = 40;
const PAUSE_MAX: u64 = 100;
const SEED: u64 = 5;

fn recordings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/keys")
}

/// The outcome of the real run; `None` where that cannot be here.
#[track_caller]
fn real() -> Option<Outcome> {
    let ours = Path::new(env!("CARGO_BIN_EXE_fulmar-lab")).with_file_name("fulmar");
    if !support::has(&support::SSH) {
        return None;
    }
    if !ours.is_file() {
        leave_out("fulmar is not built beside fulmar-lab");
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("outcome");
    let mut lab = Command::new(env!("CARGO_BIN_EXE_fulmar-lab"));
    lab.args(["replay", "--peer", "fulmar", "--typing", "open"]);
    lab.args(["--scenario", SCENARIO, "--recording", RECORDING]);
    lab.args(["--keys", &KEYS.to_string(), "--seed", &SEED.to_string()]);
    lab.args(["--pause-max", &PAUSE_MAX.to_string()]);
    lab.arg("--recordings").arg(recordings());
    lab.arg("--fulmar").arg(ours).arg("--out").arg(&file);
    let output = lab.output().expect("the program can be run");
    let said = String::from_utf8_lossy(&output.stderr);
    if said.starts_with("fulmar-lab: making") || said.contains("sshd cannot be had") {
        leave_out(&said);
        return None;
    }
    assert!(output.status.success(), "{said}");
    let outcome = std::fs::read_to_string(&file).expect("an outcome");
    Some(serde_json::from_str(&outcome).expect("an outcome"))
}

#[test]
fn a_session_is_the_same_in_both_worlds_but_for_what_a_machine_takes() {
    let Some(real) = real() else { return };
    let real = real.verdict.expect("somebody typed");
    let mut replay = Replay::new(SCENARIO, RECORDING, TypingLoop::Open);
    replay.limits = Limits {
        keys: KEYS,
        pause_max: Some(Duration::from_millis(PAUSE_MAX)),
        ..LIMITS
    };
    let setup = LabSetup {
        recordings: recordings(),
        ..LabSetup::default()
    };
    let rehearsal = VirtualReplay::new(&replay, &setup).expect("a recording");
    let simulated = rehearsal.run(SEED).expect("a session").verdict;

    // The same keys, the same output, the same screen at the end.
    assert_eq!((real.keys.len(), simulated.keys.len()), (KEYS, KEYS));
    assert_eq!(real.delivery, simulated.delivery);
    assert!(real.delivery.is_faithful(), "{:?}", real.delivery);
    assert_eq!(
        (real.differences_at_end, simulated.differences_at_end),
        (0, 0)
    );
    let answered = |verdict: &fulmar_lab::judge::RunVerdict| {
        let keys = verdict.keys.iter();
        keys.map(|key| key.whole.is_some()).collect::<Vec<_>>()
    };
    assert_eq!(answered(&real), answered(&simulated));

    // A busy machine makes real times longer and never shorter, so they have no upper bound here.
    let compared = Compared::of(&real, &simulated).expect("answers");
    for [real, simulated] in &compared.pairs {
        assert!(
            *real >= ROUND_TRIP && *simulated >= ROUND_TRIP,
            "{real} {simulated}"
        );
    }
    let [real, simulated] = compared.medians;
    eprintln!("median confirmed time: real {real:.1} ms, in virtual time {simulated:.1} ms");
    assert!(
        simulated <= ROUND_TRIP + COLLECTION + 2.0 * FRAME_PAUSE,
        "{simulated}"
    );
    assert!(
        real >= simulated - COLLECTION - FRAME_PAUSE,
        "{real} {simulated}"
    );
}
