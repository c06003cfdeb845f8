use super::*;
use crate::judge::GroundTruth;
use crate::scenario::Scenario;
use crate::simulated::{PredictionMode, Simulated};
use crate::trace::LinkTraces;
use crate::typing::{Limits, TypingLoop};
use std::path::Path;

const ROUND_TRIP: Duration = Duration::from_millis(40);

/// A key, and an answer in three pieces, 3 ms from one to the next.
const ANSWER: &str = "0 SIZE 20 4\n0 HOST 2\n$ \n1000000 USER 1\nx\n1001000 HOST 1\nx\n\
    1004000 HOST 1\ny\n1007000 HOST 1\nz\n";

fn tally(text: &str, rule: CollectionRule) -> RedrawTally {
    let recording = Trace::parse(text.as_bytes()).unwrap();
    RedrawTally::of(&recording, rule, ROUND_TRIP).unwrap()
}

fn counts(text: &str, rule: CollectionRule) -> (usize, usize) {
    let tally = tally(text, rule);
    (tally.frames, tally.cuts)
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A rule that collects nothing.
fn hasty() -> CollectionRule {
    CollectionRule {
        echo_quiet: Duration::ZERO,
        delay: Duration::ZERO,
        ..CollectionRule::OURS
    }
}

#[test]
fn a_rule_that_cuts_is_told_from_one_that_does_not() {
    assert_eq!(counts(ANSWER, CollectionRule::STOCK), (2, 0));
    let patient = CollectionRule {
        echo_quiet: ms(4),
        ..CollectionRule::OURS
    };
    assert_eq!(counts(ANSWER, patient), (2, 0));
    // Three pieces 5 ms apart at least: the second waits for that pause, the third is in a frame of its own.
    assert_eq!(counts(ANSWER, hasty()), (4, 2));
    assert!(tally(ANSWER, hasty()).bytes > tally(ANSWER, CollectionRule::STOCK).bytes);
}

#[test]
fn ours_cuts_hardly_more_of_what_programs_draw_and_a_hasty_rule_does() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/keys");
    for name in ["own-vim", "own-nano", "own-less"] {
        let recording = Trace::read(&folder.join(name)).unwrap();
        let cuts = |rule| RedrawTally::of(&recording, rule, ROUND_TRIP).unwrap().cuts;
        let [stock, ours, worse] = [CollectionRule::STOCK, CollectionRule::OURS, hasty()].map(cuts);
        assert!(
            ours <= stock + 1 && ours + 20 < worse,
            "{name}: {stock} {ours} {worse}"
        );
    }
}

#[test]
fn a_key_begins_another_answer() {
    let keys = "0 SIZE 20 4\n0 USER 1\na\n1000 HOST 1\na\n4000 USER 1\nb\n8900 HOST 1\nb\n";
    assert_eq!(counts(keys, hasty()), (2, 0));
    let none_between = keys.replace("4000 USER 1\nb\n", "");
    assert_eq!(counts(&none_between, hasty()), (2, 1));
}

#[test]
fn what_changes_nothing_is_no_frame_and_no_rest() {
    // The third write moves the cursor and takes it back.
    let still = ANSWER.replace("1007000 HOST 1\nz\n", "1007000 HOST 4\n\x1b[C\x08\n");
    assert_eq!(counts(&still, hasty()), (3, 1));
}

#[test]
fn a_burst_that_is_longer_than_8_ms_is_cut_by_stock_too() {
    let mut text = "0 SIZE 20 4\n".to_owned();
    for write in 0..10 {
        text += &format!("{} HOST 1\nx\n", 1_000_000 + write * 2000);
    }
    let tally = tally(&text, CollectionRule::STOCK);
    assert_eq!((tally.frames, tally.cuts), (2, 1));
    assert!(tally.waits.is_empty(), "nobody typed");
}

#[test]
fn an_answer_waits_from_its_first_write_to_its_first_frame() {
    let waits = |rule| tally(ANSWER, rule).waits;
    assert_eq!(waits(CollectionRule::STOCK), [ms(8)]);
    assert_eq!(
        waits(CollectionRule::OURS),
        [CollectionRule::OURS.echo_quiet]
    );
}

#[test]
fn a_redraw_leaves_whole_and_an_echo_at_once() {
    let redraw = ANSWER
        .replace("1001000 HOST 1\nx\n", "1001000 HOST 6\n\x1b[?25l\n")
        .replace("1007000 HOST 1\nz\n", "1007000 HOST 6\n\x1b[?25h\n");
    let tally = tally(&redraw, CollectionRule::OURS);
    assert_eq!((tally.frames, tally.cuts), (2, 0));
    // The cursor is back at 6 ms.
    assert_eq!(tally.waits, [Duration::from_micros(6500)]);
    // What comes after an echo is together in the next frame.
    assert_eq!(counts(ANSWER, CollectionRule::OURS), (3, 1));
}

#[test]
fn bytes_are_those_of_datagrams() {
    let one = tally("0 SIZE 20 4\n5 HOST 1\nx\n", CollectionRule::STOCK);
    assert_eq!(one.frames, 1);
    // Headers of 28 bytes, 38 of the datagram, and an instruction of 30 to 60.
    assert!((96..=126).contains(&one.bytes), "{}", one.bytes);
}

/// Returns the number of frames with something new that our server sends in a session with this recording.
fn frames_of_session(recording: &Trace) -> usize {
    let limits = Limits {
        keys: usize::MAX,
        time: Duration::from_secs(3600),
        patience: Duration::from_secs(30),
        set_up: Duration::from_secs(30),
        pause_max: None,
    };
    let scenario = Scenario::parse("both delay 20ms", &LinkTraces::none()).unwrap();
    let truth = GroundTruth::of(recording);
    let (typing, mode) = (TypingLoop::Open, PredictionMode::Never);
    let run = Simulated::run(&scenario, recording, &truth, typing, limits, mode).unwrap();
    let with_content = run.frames.iter().filter(|frame| frame.difference_bytes > 0);
    let mut written: Vec<usize> = with_content.map(|frame| frame.written).collect();
    written.dedup();
    written.iter().filter(|written| **written > 0).count()
}

#[test]
fn our_server_sends_as_many_frames_as_are_counted() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/keys");
    for name in ["own-vim", "own-bash-plain"] {
        let recording = Trace::read(&folder.join(name)).unwrap();
        let counted = |rule| {
            let tally = RedrawTally::of(&recording, rule, ROUND_TRIP);
            tally.unwrap().frames
        };
        let sent = frames_of_session(&recording);
        let [ours, other] = [CollectionRule::OURS, hasty()].map(counted);
        // What is left out, and the stamps of the played host, make a frame or two of some hundred.
        assert!(
            sent.abs_diff(ours) <= 2,
            "{name}: {ours} counted, {sent} sent"
        );
        assert!(
            sent.abs_diff(other) > 5,
            "{name}: {other} counted for another rule"
        );
    }
}
