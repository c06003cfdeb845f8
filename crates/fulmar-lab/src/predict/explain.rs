//! Explains what went wrong, key by key, for those who improve a predictor.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use anyhow::Result;

use super::leak::leaking;
use super::link::TestLink;
use super::predictor_kind::PredictorKind;
use super::recorded_truth::RecordedTruth;
use super::recording::Recording;
use super::score::{Scored, is_instant};
use super::session::PredictionSession;
use super::user_view::{UserView, ViewSample};

/// The time before a leak that is of interest. Chosen by eye: a leak begins with a frame or a key.
const BEFORE_LEAKS: Duration = Duration::from_secs(1);

/// Returns a text about every key of a recording that was not instant or was wrong: its number, its
/// class, how long it took, the row that it should have shown and the row that was shown, and what the
/// predictor said of it; and a count by class.
///
/// # Errors
///
/// Where no session comes about.
pub fn explain(
    recording: &Recording,
    link: TestLink,
    seed: u64,
    kind: PredictorKind,
) -> Result<String> {
    let truth = &recording.truth;
    let watched = kind.watch();
    let session = PredictionSession::run(recording, link, seed, watched)?;
    let view = kind.view(&session);
    let scored = Scored::of(truth, &view);
    let account = Account {
        truth,
        view: &view,
        scored: &scored,
    };
    let mut text = format!(
        "{} over {link}, seed {seed}, {}\n",
        recording.name,
        kind.name()
    );
    for key in 0..truth.keys().len() {
        account.push_key(&mut text, key);
    }
    account.push_leaks(&mut text);
    account.push_classes(&mut text);
    Ok(text)
}

struct Account<'a> {
    truth: &'a RecordedTruth,
    view: &'a UserView<'a>,
    scored: &'a Scored,
}

/// Counts of a class of keys.
#[derive(Default)]
struct Count {
    keys: usize,
    seen: usize,
    instant: usize,
    wrong: usize,
}

impl Account<'_> {
    fn push_key(&self, text: &mut String, key: usize) {
        let wait = self.scored.waits[key];
        let is_late = wait.is_some_and(|wait| !is_instant(wait));
        let mut wrongs = self
            .scored
            .wrongs
            .iter()
            .filter(|wrong| wrong.key == Some(key));
        let first = wrongs.next();
        let number = self.view.moment_of(key);
        let Some(moment) = self.view.moments.get(number) else {
            return;
        };
        if !is_late && first.is_none() {
            return;
        }
        let bytes = &self.truth.keys()[key].bytes;
        let _ = write!(
            text,
            "key {key} at {:.3} s {} “{}”",
            moment.at.as_secs_f64(),
            class(bytes),
            bytes.escape_ascii()
        );
        if let Some(wait) = wait.filter(|_| is_late) {
            let _ = write!(text, ", late {} ms", wait.waited().as_millis());
        }
        if let Some(wrong) = first {
            let count = 1 + wrongs.count();
            let _ = write!(
                text,
                ", WRONG {count} cells {} ms",
                wrong.lasted.as_millis()
            );
        }
        text.push('\n');
        self.push_screens(text, key, number, "typed");
        if let Some(wrong) = first {
            let place = wrong.place.map_or("the cursor".to_owned(), |place| {
                format!("row {} column {}", place.row, place.column)
            });
            let _ = writeln!(
                text,
                "    wrong: {place}, from {:.3} s",
                wrong.since.as_secs_f64()
            );
            let moments = &self.view.moments;
            let then = moments.partition_point(|moment| moment.at < wrong.since);
            if then != number {
                self.push_screens(text, key, then, "then");
            }
        }
        for remark in &moment.remarks {
            let _ = writeln!(text, "    said: {remark}");
        }
    }

    /// The cursor's row as it should be, as it is shown and as the server's frame has it.
    fn push_screens(&self, text: &mut String, key: usize, number: usize, when: &str) {
        let moment = &self.view.moments[number];
        let true_key = &self.truth.keys()[key];
        let after = true_key.answered().unwrap_or(true_key.reach);
        let after = self.truth.snapshot(after);
        let row = after.caret().place.row;
        for (name, snapshot) in [
            ("true", after),
            ("shown", &moment.drawn.snapshot),
            ("frame", &moment.frame.snapshot),
        ] {
            let cursor = snapshot.caret().place;
            let (line, column) = (cursor.row, cursor.column);
            let hidden = if snapshot.caret().seen().is_some() {
                ""
            } else {
                " hidden"
            };
            let row_text = snapshot.text(row);
            let _ = writeln!(
                text,
                "    {when} {name:>5} row {row} |{row_text}| cursor {line},{column}{hidden}"
            );
        }
    }

    /// The rows that are drawn while a character of a secret is shown.
    fn push_leaks(&self, text: &mut String) {
        for (number, keys) in leaking(self.truth, self.view) {
            let moment = &self.view.moments[number];
            let at = moment.at.as_secs_f64();
            let _ = writeln!(text, "LEAK at {at:.3} s of keys {keys:?}");
            self.push_before(text, number);
            let (drawn, frame) = (&moment.drawn.snapshot, &moment.frame.snapshot);
            for row in (0..frame.rows()).filter(|row| drawn.text(*row) != frame.text(*row)) {
                let (shown, was) = (drawn.text(row), frame.text(row));
                let _ = writeln!(text, "    row {row} shown |{shown}| frame |{was}|");
            }
        }
    }

    /// Appends what came and was said in the second before a moment.
    fn push_before(&self, text: &mut String, number: usize) {
        let moments = &self.view.moments[..=number];
        let end = moments.last().map_or(Duration::ZERO, |moment| moment.at);
        let late = |moment: &&ViewSample<'_>| end.saturating_sub(moment.at) <= BEFORE_LEAKS;
        for moment in moments.iter().filter(late) {
            let frame = moment.frame;
            let _ = writeln!(
                text,
                "    {:.3} s: {} keys typed, frame {} with {} bytes, {} echoed; {}",
                moment.at.as_secs_f64(),
                moment.typed,
                frame.number,
                frame.update.received,
                frame.update.echoed,
                moment.remarks.join("; ")
            );
        }
    }

    fn push_classes(&self, text: &mut String) {
        let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
        for (number, key) in self.truth.keys().iter().enumerate() {
            let count = counts.entry(class(&key.bytes)).or_default();
            count.keys += 1;
            if let Some(wait) = self.scored.waits[number] {
                count.seen += 1;
                count.instant += usize::from(is_instant(wait));
            }
            let is_wrong = self
                .scored
                .wrongs
                .iter()
                .any(|wrong| wrong.key == Some(number));
            count.wrong += usize::from(is_wrong);
        }
        let _ = writeln!(text, "class        keys  seen  instant  wrong");
        for (class, count) in counts {
            let _ = writeln!(
                text,
                "{class:<12} {:4}  {:4}  {:7}  {:5}",
                count.keys, count.seen, count.instant, count.wrong
            );
        }
        let score = &self.scored.score;
        let _ = writeln!(
            text,
            "instant {:.1} %, wrong {:.2} %, mean {:.1} ms, leaks {} of {}",
            score.instant(),
            score.wrong(),
            score.mean(),
            score.leaks.shown,
            score.leaks.keys
        );
    }
}

/// Returns the kind of key that it is.
fn class(bytes: &[u8]) -> &'static str {
    match bytes {
        [0x7f | 0x08] => "backspace",
        b"\r" | b"\n" => "enter",
        b"\t" => "tab",
        [0x1b] => "escape",
        b"\x1b[A" | b"\x1bOA" => "up",
        b"\x1b[B" | b"\x1bOB" => "down",
        b"\x1b[C" | b"\x1bOC" | [0x06] => "right",
        b"\x1b[D" | b"\x1bOD" | [0x02] => "left",
        b"\x1b[H" | b"\x1bOH" | b"\x1b[1~" | [0x01] => "home",
        b"\x1b[F" | b"\x1bOF" | b"\x1b[4~" | [0x05] => "end",
        b"\x1b[3~" | [0x04] => "delete",
        [0x15 | 0x0b] => "kill",
        [0x17] | [0x1b, b'b' | b'f' | b'd' | 0x7f] => "word",
        [0x1b, ..] => "sequence",
        [0..=0x1f] => "control",
        _ => "print",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_classes() {
        let keys: [(&str, &[&[u8]]); 16] = [
            ("backspace", &[b"\x7f", b"\x08"]),
            ("enter", &[b"\r", b"\n"]),
            ("tab", &[b"\t"]),
            ("escape", &[b"\x1b"]),
            ("up", &[b"\x1b[A", b"\x1bOA"]),
            ("down", &[b"\x1b[B", b"\x1bOB"]),
            ("right", &[b"\x1b[C", b"\x1bOC", b"\x06"]),
            ("left", &[b"\x1b[D", b"\x1bOD", b"\x02"]),
            ("home", &[b"\x1b[H", b"\x1b[1~", b"\x01"]),
            ("end", &[b"\x1b[F", b"\x1b[4~", b"\x05"]),
            ("delete", &[b"\x1b[3~", b"\x04"]),
            ("kill", &[b"\x15", b"\x0b"]),
            ("word", &[b"\x17", b"\x1bb", b"\x1b\x7f"]),
            ("sequence", &[b"\x1bx", b"\x1b[1;5C"]),
            ("control", &[b"\x18", b"\x00", b"\x1f"]),
            ("print", &[b"a", b" ", "é".as_bytes(), b"pasted"]),
        ];
        for (expected, keys) in keys {
            for key in keys {
                assert_eq!(class(key), expected, "{}", key.escape_ascii());
            }
        }
    }
}
