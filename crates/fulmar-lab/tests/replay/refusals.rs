//! Replays that cannot be a session are refused with a reason.

use crate::lab::{has, is_refused, lab};
use fulmar_testbed::peers::leave_out;

#[test]
fn what_makes_no_session_is_said() {
    for (peer, scenario, recording, expected) in [
        ("mush", "", "own-cooked", "there is no peer “mush”"),
        ("x={ssh} {host}", "", "own-cooked", "{command} is missing"),
        (
            "x={ssh} {here} {command}",
            "",
            "own-cooked",
            "“here” is not known",
        ),
        ("ssh", "both loss 1", "own-cooked", "is not a share"),
        ("ssh", "", "no-such", "there is no recording no-such"),
    ] {
        let mut lab = lab(peer, scenario, recording);
        let output = lab
            .args(["--typing", "open"])
            .output()
            .expect("it can be done");
        let said = String::from_utf8_lossy(&output.stderr);
        if is_refused(&said) {
            return leave_out(&said);
        }
        assert_eq!(output.status.code(), Some(1));
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn a_peer_that_begins_no_session_is_quoted() {
    if !has("ssh") {
        return;
    }
    let mut lab = lab("broken=echo cannot {command}", "", "own-cooked");
    let output = lab
        .args(["--typing", "open"])
        .output()
        .expect("it can be done");
    let said = String::from_utf8_lossy(&output.stderr);
    if is_refused(&said) {
        return leave_out(&said);
    }
    assert!(!output.status.success());
    assert!(
        said.contains("the peer left before the session was there") && said.contains("cannot"),
        "{said}"
    );
}
