//! Behaviour of stock's predictor that its description names.

use crate::predict::{PredictionSession, PredictorKind, Recording, Scored, TestLink};
use crate::stats::Observation;
use crate::trace::Trace;

/// The waits of all keys and how many were wrong, over a quiet link.
fn tried(trace: &[u8], round_trip: u64) -> (Vec<bool>, usize) {
    let recording = Recording::new("test", Trace::parse(trace).unwrap(), None);
    let link = TestLink {
        round_trip,
        jitter: 0,
        loss: 0,
    };
    let truth = &recording.truth;
    let session = PredictionSession::run(&link.scenario(1), &recording.trace, truth, None).unwrap();
    let scored = Scored::of(truth, &PredictorKind::Stock.view(&session));
    let at_once = |wait: &Option<Observation>| {
        wait.and_then(Observation::came)
            .is_some_and(|wait| wait.is_zero())
    };
    (
        scored.waits.iter().map(at_once).collect(),
        scored.score.wrong,
    )
}

/// Four characters, one each 200 ms; then Enter, a new prompt, and two more.
const LINE: &[u8] = b"0 SIZE 20 4\n50000 HOST 2\n$ \n1000000 USER 1\na\n1001000 HOST 1\na\n\
    1200000 USER 1\nb\n1201000 HOST 1\nb\n1400000 USER 1\nc\n1401000 HOST 1\nc\n\
    2000000 USER 1\n\r\n2001000 HOST 4\n\r\n$ \n3000000 USER 1\nd\n3001000 HOST 1\nd\n\
    3200000 USER 1\ne\n3201000 HOST 1\ne\n";

#[test]
fn the_first_character_of_an_epoch_waits_and_the_next_do_not() {
    let (at_once, wrong) = tried(LINE, 100);
    assert_eq!(at_once, [false, true, true, false, false, true]);
    assert_eq!(wrong, 0);
}

#[test]
fn nothing_is_shown_on_a_fast_link() {
    let (at_once, _) = tried(LINE, 10);
    assert_eq!(at_once, [false; 6]);
}

#[test]
fn what_stands_on_the_right_is_pushed_along() {
    // A right prompt at column 15, which stays where it is while somebody types fast.
    let trace =
        b"0 SIZE 20 4\n50000 HOST 12\n\x1b[16GR\x1b[1G$ \n1000000 USER 1\na\n1001000 HOST 1\na\n\
        1050000 USER 1\nb\n1051000 HOST 1\nb\n1100000 USER 1\nc\n1101000 HOST 1\nc\n\
        1150000 USER 1\nd\n1151000 HOST 1\nd\n";
    let (_, wrong) = tried(trace, 100);
    assert!(wrong > 0);
}

#[test]
fn a_paste_is_not_predicted() {
    let mut trace = LINE.to_vec();
    trace.extend(b"4000000 USER 101\n");
    trace.extend([b'x'; 101]);
    trace.extend(b"\n4001000 HOST 1\nx\n");
    let (at_once, wrong) = tried(&trace, 100);
    assert_eq!(at_once[6..], [false; 101]);
    assert_eq!(wrong, 0);
}
