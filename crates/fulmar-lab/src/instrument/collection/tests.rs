use super::*;
use std::fs;
use tempfile::TempDir;

/// A key every half second, each answered in three writes within 3 ms.
fn recording() -> Vec<u8> {
    let mut text = b"0 SIZE 80 24\n1000 HOST 2\n$ \n".to_vec();
    for key in 1..=20_u64 {
        let at = key * 500_000;
        let line = format!(
            "{at} USER 1\na\n{} HOST 1\na\n{} HOST 1\nb\n{} HOST 1\nc\n",
            at + 1000,
            at + 2000,
            at + 4000
        );
        text.extend(line.into_bytes());
    }
    text
}

struct Place {
    setup: LabSetup,
    _folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("own-made"), recording()).unwrap();
        fs::write(folder.path().join("own-made.meta"), "").unwrap();
        let setup = LabSetup {
            recordings: folder.path().to_owned(),
            ..LabSetup::default()
        };
        Self {
            setup,
            _folder: folder,
        }
    }

    fn measure(&self, peer: &str, round_trip: u64) -> Measured {
        let collection = Collection {
            recordings: RecordingSet::Own,
            round_trip: Duration::from_millis(round_trip),
        };
        collection.measure(peer, 1, &self.setup).unwrap()
    }
}

fn figure(measured: &Measured, name: &str) -> f64 {
    measured.figures[name].value
}

#[test]
fn the_curve_has_its_minimum_where_an_answer_is_whole() {
    let measured = Place::new().measure("model", 500);
    assert_eq!(figure(&measured, "writes"), 61.0);
    // From 3 ms on one frame takes an answer, and a longer interval only adds to its wait.
    let best = figure(&measured, "best_interval");
    assert!((3.0..3.4).contains(&best), "{best}");
    assert_eq!(figure(&measured, "frames_at_8ms"), 21.0);
    // 20 answers wait 8, 7 and 5 ms, the prompt 8 ms.
    let delay = figure(&measured, "delay_at_8ms");
    assert!((delay - (20.0 * 20.0 + 8.0) / 61.0).abs() < 1e-6, "{delay}");
    let curve = &measured.series["delay_by_interval"];
    assert_eq!(curve.len(), 61);
    assert!((curve[0].0 - 1e-4).abs() < 1e-9 && (curve[60].0 - 0.1).abs() < 1e-9);
    // Too short an interval costs a pause between frames.
    assert!(curve[0].1 > 100.0, "{:?}", curve[0]);
    let frames = &measured.series["frames_by_interval"];
    assert!(frames.is_sorted_by(|one, next| one.1 >= next.1));
}

#[test]
fn our_rule_is_a_point_of_the_server_itself() {
    let measured = Place::new().measure("fulmar", 40);
    let [(frames, delay)] = measured.series["rule"][..] else {
        panic!("one point")
    };
    // Each write is carried, an answer by one frame or, at the most, each write by its own.
    assert!((21.0..=61.0).contains(&frames), "{frames}");
    // docs/protocol.md §5.4: nothing waits longer than 8 ms and a pause between frames, here 20 ms.
    assert!((0.0..=28.0).contains(&delay), "{delay}");
    assert_eq!(figure(&measured, "writes"), 61.0);
    assert!(figure(&measured, "sent_in_all") >= frames);
}

#[test]
fn a_write_has_waited_until_the_first_frame_with_it() {
    use crate::simulated::SentFrame;
    let place = Place::new();
    let recording = Trace::read(&place.setup.recordings.join("own-made")).unwrap();
    let truth = GroundTruth::of(&recording);
    let scenario = Scenario::parse("both delay 20ms", &LinkTraces::none()).unwrap();
    let mut run = Simulated::run(
        &scenario,
        &recording,
        &truth,
        TypingLoop::Open,
        LIMITS,
        PredictionMode::default(),
    )
    .unwrap();
    let (at, _) = run.host_side.host().next().unwrap();
    let frame = |millis, written, difference_bytes| SentFrame {
        at: at + Duration::from_millis(millis),
        written,
        difference_bytes,
    };
    // One without content carries nothing, and one from before the write neither.
    run.frames = vec![
        frame(1, 2, 0),
        frame(2, 1, 9),
        frame(5, 2, 9),
        frame(7, 2, 9),
    ];
    let tally = tally(&run);
    let expected = FrameTally {
        writes: 1,
        frames: 1,
        waited: Duration::from_millis(5),
    };
    assert_eq!(tally, expected);
}

#[test]
fn recordings_are_told_by_their_names_and_their_descriptions_are_none() {
    let has = |set: RecordingSet, name: &str| set.has(&PathBuf::from("/somewhere").join(name));
    assert!(has(RecordingSet::Own, "own-vim") && !has(RecordingSet::Others, "own-vim"));
    assert!(has(RecordingSet::Others, "user-7") && !has(RecordingSet::Own, "user-7"));
    for set in [RecordingSet::Own, RecordingSet::Others] {
        assert!(!has(set, "own-vim.meta") && !has(set, "user-7.meta"));
    }
}

#[test]
fn files_come_in_the_order_of_their_names() {
    let place = Place::new();
    for name in ["own-b", "own-a", "user-1"] {
        fs::write(place.setup.recordings.join(name), recording()).unwrap();
    }
    let paths = RecordingSet::Own.paths(&place.setup).unwrap();
    assert_eq!(names(&paths), "own-a own-b own-made");
}

#[test]
fn nobody_else_has_a_rule_that_can_be_asked() {
    let collection = Collection {
        recordings: RecordingSet::Own,
        round_trip: Duration::from_millis(40),
    };
    assert!(collection.measure("ssh", 1, &Place::new().setup).is_err());
    let setup = Place::new().setup;
    assert!(RecordingSet::Others.paths(&setup).is_err());
    assert_eq!(cells(&setup).len(), ROUND_TRIPS.len());
}
