//! Every recording of our own, played again by the judge's rules over paths that do nothing but
//! delay.

use fulmar_lab::judge::{
    GroundTruth, ObservedRun, OutputPosition, RunVerdict, ScreenObserver, Stamp,
};
use fulmar_lab::stats::Observation;
use fulmar_lab::trace::{Event, Mark, Meta, Note, Record, Trace, keystrokes};
use fulmar_testbed::median;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/keys")
}

/// All recordings with their names, those that are held out from tuning too.
fn recordings() -> Vec<(String, Trace)> {
    let mut found: Vec<(String, Trace)> = [".", "held-out"]
        .into_iter()
        .flat_map(|part| {
            let entries = fs::read_dir(folder().join(part)).expect("a folder of recordings");
            entries.map(move |entry| (part, entry.expect("a readable folder").path()))
        })
        .filter(|(_, path)| path.is_file() && path.extension().is_none())
        .map(|(part, path)| {
            let name = path.file_name().expect("a name").to_string_lossy();
            let trace = Trace::read(&path).unwrap_or_else(|error| panic!("{error}"));
            (format!("{part}/{name}"), trace)
        })
        .collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found
}

#[test]
fn recordings_are_written_as_they_were_read() {
    let recordings = recordings();
    assert!(recordings.len() >= 21, "{} recordings", recordings.len());
    for (name, trace) in recordings {
        assert!(
            trace.to_bytes() == fs::read(folder().join(&name)).unwrap(),
            "{name}"
        );
        let meta = Meta::read(&Meta::path_beside(&folder().join(&name)));
        meta.unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn recordings_hold_somebody_typing() {
    for (name, trace) in recordings() {
        let typed: Vec<Duration> = trace.user().flat_map(typed_at).collect();
        // Somebody who reads types little.
        assert!(typed.len() >= 40, "{name}: {} keys", typed.len());
        // Keys that are held down and pastes without brackets have another rhythm.
        if ["paste", "repeat"].iter().any(|word| name.contains(word)) {
            continue;
        }
        let gaps = typed
            .windows(2)
            .map(|pair| (pair[1] - pair[0]).as_secs_f64());
        let median = median(gaps).expect("many keys");
        assert!((0.08..2.0).contains(&median), "{name}: {median} s");
    }
}

/// Returns the time once for each key of a write.
fn typed_at((at, bytes): (Duration, &[u8])) -> impl Iterator<Item = Duration> {
    let typed = keystrokes(bytes).filter(|keystroke| keystroke.kind.is_typed());
    typed.map(move |_| at)
}

/// Returns what is typed from a mark to the next, without what was taken back, and from when to its last key.
fn marked(trace: &Trace, meta: &Meta, mark: Mark) -> Vec<(Duration, Duration, String)> {
    let marks = meta.notes.iter().filter_map(|(at, note)| match note {
        Note::Mark(mark) => Some((*at, *mark)),
        Note::Tty(_) => None,
    });
    let marks: Vec<(Duration, Mark)> = marks.collect();
    let is_on = |mark| matches!(mark, Mark::SecretOn | Mark::OpenOn);
    let alternates = marks.iter().map(|(_, mark)| is_on(*mark));
    assert!(alternates.eq((0..marks.len()).map(|number| number % 2 == 0)));
    let spans = marks.windows(2).filter(|pair| pair[0].1 == mark);
    let typed = |from: Duration, to: Duration| {
        let mut text = String::new();
        let mut last = from;
        for (at, bytes) in trace.user().filter(|(at, _)| (from..to).contains(at)) {
            last = at;
            match bytes {
                b"\x7f" => drop(text.pop()),
                bytes => text.push_str(&String::from_utf8_lossy(bytes)),
            }
        }
        let text = text.trim_end_matches(char::is_control);
        (from, last, text.to_owned())
    };
    spans.map(|pair| typed(pair[0].0, pair[1].0)).collect()
}

/// Returns the output of programs from one time to another, without colours.
fn written(trace: &Trace, from: Duration, to: Duration) -> String {
    let pieces = trace.host().filter(|(at, _)| (from..to).contains(at));
    let bytes: Vec<u8> = pieces.flat_map(|(_, bytes)| bytes.to_vec()).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A mark that is off by a key would make the gate for secrets blind.
#[test]
fn programs_showed_no_secret() {
    let mut count = 0;
    for (name, trace) in recordings() {
        let meta = Meta::read(&Meta::path_beside(&folder().join(&name)));
        let meta = meta.unwrap_or_else(|error| panic!("{error}"));
        for (from, to, secret) in marked(&trace, &meta, Mark::SecretOn) {
            assert!(secret.chars().count() >= 4, "{name}: {secret:?}");
            let shown = written(&trace, from, to);
            let begin: String = secret.chars().take(3).collect();
            assert!(!shown.contains(&begin), "{name}: {secret:?} in {shown:?}");
            count += 1;
        }
    }
    assert!(count >= 50, "{count} secrets");
}

/// A path that delays a recording: output comes this much later than the host writes it.
#[derive(Clone, Copy)]
struct DelayedPath {
    delay: Duration,
    is_stamped: bool,
}

/// The verdict on a recording whose keys reach the host at once.
fn verdict(trace: &Trace, truth: &GroundTruth, path: DelayedPath) -> RunVerdict {
    let mut position = 0;
    let mut records = Vec::new();
    for record in trace.records() {
        let mut record = record.clone();
        if let Event::Host(bytes) = &mut record.event {
            position += bytes.len();
            record.at += path.delay;
            if path.is_stamped && may_be_stamped(bytes) {
                bytes.extend(Stamp(position).sequence().into_bytes());
            }
        }
        records.push(record);
    }
    records.sort_by_key(|record| record.at);
    let run = ObservedRun {
        truth,
        user_side: &Trace::new(records).expect("sorted records"),
        host_side: trace,
        one_way_delay: path.delay,
        may_predict: true,
    };
    run.judge().unwrap_or_else(|error| panic!("{error}"))
}

/// A stamp must not fall into a sequence that the next piece of output goes on with.
fn may_be_stamped(bytes: &[u8]) -> bool {
    bytes.is_ascii() && bytes.last().is_some_and(|last| b"\r\n $#>".contains(last))
}

/// Returns the time at which the output of a recording up to a position was there.
fn written_at(trace: &Trace, position: OutputPosition) -> Duration {
    let mut end = 0;
    let mut host = trace.host();
    let found = host.find(|(_, bytes)| {
        end += bytes.len();
        end >= position.0
    });
    found.map(|(at, _)| at).expect("a position in the output")
}

fn check(name: &str, trace: &Trace, truth: &GroundTruth, path: DelayedPath) {
    let verdict = verdict(trace, truth, path);
    assert!(
        verdict.is_settled && verdict.delivery.is_faithful(),
        "{name}"
    );
    assert_eq!(verdict.wrongs, [], "{name}");
    assert_eq!(verdict.differences_at_end, 0, "{name}");
    assert_eq!(verdict.keys.len(), truth.keys().len(), "{name}");
    for (number, (key, judged)) in truth.keys().iter().zip(&verdict.keys).enumerate() {
        let Some(answered) = key.answered() else {
            assert_eq!(judged.own, None, "{name}, key {number}");
            continue;
        };
        let at = |position| written_at(trace, truth.since(position)) + path.delay - key.at;
        let own = judged.own.expect("a key with an effect");
        assert!(!own.is_censored(), "{name}, key {number}: {key:?}");
        // The effect may be complete before all of the answer is there, not before its first byte.
        let first = written_at(trace, OutputPosition(key.before.0 + 1)) + path.delay - key.at;
        let last = key.effects.iter().map(|effect| at(effect.after)).min();
        let expected = first..=last.unwrap_or(first);
        assert!(
            expected.contains(&own.waited()),
            "{name}, key {number}: {own:?} {key:?}"
        );
        if !path.is_stamped {
            let whole = judged.whole.expect("a key with an effect");
            assert_eq!(
                whole,
                Observation::After(at(answered)),
                "{name}, key {number}: {key:?}"
            );
        }
    }
}

#[test]
fn recordings_played_without_a_network_are_perfect() {
    for (name, trace) in recordings() {
        let truth = GroundTruth::of(&trace);
        let path = DelayedPath {
            delay: Duration::ZERO,
            is_stamped: false,
        };
        check(&name, &trace, &truth, path);
    }
}

#[test]
fn recordings_played_over_a_path_are_late_by_the_path() {
    for (name, trace) in recordings() {
        let truth = GroundTruth::of(&trace);
        for is_stamped in [false, true] {
            let path = DelayedPath {
                delay: Duration::from_millis(700),
                is_stamped,
            };
            check(&name, &trace, &truth, path);
        }
    }
}

/// A display that knows all answers before they are given: what can be guessed without looking
/// ahead of the keys.
#[test]
fn recordings_guessed_by_an_oracle_are_right_at_once() {
    for (name, trace) in recordings() {
        let truth = GroundTruth::of(&trace);
        let mut records: Vec<Record> = Vec::new();
        let mut typed = trace.began();
        for record in trace.records() {
            let mut record = record.clone();
            match &record.event {
                Event::User(bytes) => {
                    // What the terminal answers is no key.
                    if keystrokes(bytes).any(|keystroke| keystroke.kind.is_typed()) {
                        typed = record.at;
                    }
                }
                Event::Host(_) => record.at = typed,
                Event::Size(_) => {}
            }
            records.push(record);
        }
        records.sort_by_key(|record| record.at);
        let host_side: Vec<Record> = trace.records().to_vec();
        let run = ObservedRun {
            truth: &truth,
            user_side: &Trace::new(records).expect("sorted records"),
            host_side: &Trace::new(host_side).expect("a trace"),
            one_way_delay: Duration::from_millis(500),
            may_predict: true,
        };
        let verdict = run.judge().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(verdict.wrongs, [], "{name}");
        for (number, own) in verdict
            .keys
            .iter()
            .enumerate()
            .map(|(number, key)| (number, key.own))
        {
            let key = &truth.keys()[number];
            // Keys typed ahead of the answers have theirs together, with the last one.
            let Some(own) = own.filter(|_| key.reach > key.before) else {
                continue;
            };
            assert!(
                own == Observation::After(Duration::ZERO),
                "{name}, key {number}: {own:?} {key:?}"
            );
        }
    }
}

#[test]
fn the_eye_misses_no_change_of_a_cell() {
    for (name, trace) in recordings() {
        let mut mirror = ScreenObserver::new(trace.size());
        let mut whole = ScreenObserver::new(trace.size());
        let mut ignored = Vec::new();
        for (number, (_, bytes)) in trace.host().enumerate() {
            for byte in bytes {
                mirror.show(&[*byte], &mut ignored);
            }
            whole.show(bytes, &mut ignored);
            assert!(mirror.hash() == whole.hash(), "{name}: output {number}");
        }
    }
}
