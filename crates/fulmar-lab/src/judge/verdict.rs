//! The verdict on a run.

use super::delivery::{Delivery, plain};
use super::display::DisplayHistory;
use super::ground_truth::{GroundTruth, OutputPosition};
use super::own_effect::DisplayedRun as _;
use super::rendering::Renderings;
use super::timeline::{RunEvents, RunTimeline};
use super::wrong_interval::WrongInterval;
use crate::stats::{Observation, millis};
use crate::trace::{Event, KeystrokeKind, Trace, keystrokes};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::time::Duration;

/// The records of a run.
#[derive(Clone, Copy, Debug)]
pub struct ObservedRun<'a> {
    /// The truth: of the recording that was played, or of `host_side` where real programs ran.
    pub truth: &'a GroundTruth,
    /// The user's side: what the terminal sent and got, from the start of the peer on.
    pub user_side: &'a Trace,
    /// The host's side: what it received and wrote, on the same clock. Its first record is the moment at
    /// which the play began; keys that were typed before it belong to the set-up.
    pub host_side: &'a Trace,
    /// The least time that output takes from the host to the user's terminal. In a run with
    /// stamps it makes no difference. Without them it is better too small than too large.
    pub one_way_delay: Duration,
    /// True if the peer may have shown what it had only guessed. Where it cannot, the host's output is
    /// known to be there as soon as its screen is, whatever the stamps say: a peer may hold titles back.
    pub may_predict: bool,
}

/// The reason why a run cannot be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JudgeError {
    /// The host wrote something else than the truth says.
    #[error("the host's output differs from the recording after {0} bytes")]
    OtherOutput(usize),
    /// Something else was typed than the truth says.
    #[error("key {0} is not the key of the recording")]
    OtherKey(usize),
    /// Nothing was typed.
    #[error("no key was typed")]
    NoKeys,
}

/// The verdict on one key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyVerdict {
    /// The time at which it was typed, from the start of the play.
    #[serde(rename = "typed_ms", with = "millis")]
    pub typed: Duration,
    /// The time that its own effect took to be right on the screen, predicted or confirmed. `None` for a key
    /// that has no effect.
    pub own: Option<Observation>,
    /// The time that the whole screen took to be right, its effect included, and the host's answer to be in
    /// it. `None` for a key that has no effect.
    pub whole: Option<Observation>,
    /// The time to the first output of any kind, right or wrong.
    pub first_output: Observation,
    /// Cells, and the cursor, that were wrong for over 30 ms because of it.
    pub wrong: usize,
}

/// The verdict on a run.
///
/// As JSON times are milliseconds with fractions, from the start of the play. A wait is `{"ms": 103.2}`, with
/// `"censored": true` where it was in vain, and `null` for a key without effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunVerdict {
    /// The keys in their order.
    pub keys: Vec<KeyVerdict>,
    /// Everything that was wrong.
    pub wrongs: Vec<WrongInterval>,
    /// The delivery of the keys.
    pub delivery: Delivery,
    /// The longest time for which at least one key with an effect waited and none was answered (its
    /// whole screen right).
    #[serde(rename = "longest_stall_ms", with = "millis")]
    pub longest_stall: Duration,
    /// From the start of the play to the last thing that was seen.
    #[serde(rename = "length_ms", with = "millis")]
    pub length: Duration,
    /// True if the run has stamps, so that what a screen holds of the host's output is known.
    pub is_stamped: bool,
    /// True if the display ever showed a true screen. If not, nothing else here means anything.
    pub is_settled: bool,
    /// Cells in which the last screen differs from the host's last one, with or without an alternate screen. In a run
    /// that ended at rest more than none means that judge and peer do not agree about what a terminal does.
    pub differences_at_end: usize,
    /// The number of times that the display did not put back the screen that a full-screen program had covered, as a terminal without
    /// an alternate screen. Each time counts once; what is typed after it is judged by what stands there.
    #[serde(default)]
    pub screens_not_restored: usize,
}

impl RunVerdict {
    /// Returns the waits for keys' own effects, of the keys that have one.
    pub fn own(&self) -> Vec<Observation> {
        self.keys.iter().filter_map(|key| key.own).collect()
    }

    /// Returns the waits for whole right screens, of the keys that have an effect.
    pub fn whole(&self) -> Vec<Observation> {
        self.keys.iter().filter_map(|key| key.whole).collect()
    }

    /// Returns the waits for the first output: what the published scripts measured, for all keys
    /// to which the host answers visibly.
    pub fn first_output(&self) -> Vec<Observation> {
        let answered = self.keys.iter().filter(|key| key.own.is_some());
        answered.map(|key| key.first_output).collect()
    }

    /// Returns the share of all keys because of which something was wrong.
    pub fn wrong_share(&self) -> f64 {
        let wrong = self.keys.iter().filter(|key| key.wrong > 0).count();
        wrong as f64 / self.keys.len().max(1) as f64
    }
}

impl ObservedRun<'_> {
    /// Judges.
    ///
    /// # Errors
    ///
    /// When the run is not one of this truth, or nobody typed in it.
    pub fn judge(&self) -> Result<RunVerdict, JudgeError> {
        let typed = self.typed()?;
        let events = RunEvents {
            typed: typed
                .iter()
                .enumerate()
                .map(|(number, (at, _))| (*at, self.truth.reach(number + 1)))
                .collect(),
            written: self.written()?,
            may_be_predicted: self.may_predict,
            began: self.host_side.began(),
        };
        let display = DisplayHistory::of(self.user_side, self.truth.size());
        let end = self.user_side.ended().max(self.host_side.ended());
        let renderings = Renderings::of(self.truth, &display, &events, end);
        let (wrongs, single) = renderings.wrongs();
        let keys: Vec<KeyVerdict> = (0..typed.len())
            .map(|number| self.key((&renderings, &single), &wrongs, number, typed[number].0))
            .collect();
        let written = events
            .written
            .last()
            .map_or(OutputPosition(0), |last| last.1);
        Ok(RunVerdict {
            longest_stall: longest_stall(&keys),
            keys,
            wrongs,
            delivery: self.delivery(&typed),
            length: end - events.began,
            is_stamped: display.is_stamped(),
            is_settled: renderings.settled().is_some(),
            differences_at_end: renderings.differences_at_end(written),
            screens_not_restored: single.iter().filter(|left| **left > 0).count(),
        })
    }

    /// Returns when each key was typed, and its bytes.
    fn typed(&self) -> Result<Vec<(Duration, Vec<u8>)>, JudgeError> {
        let began = self.host_side.began();
        let typed: Vec<(Duration, Vec<u8>)> = self
            .user_side
            .user()
            .filter(|(at, _)| *at >= began)
            .flat_map(|(at, bytes)| keystrokes(bytes).map(move |keystroke| (at, keystroke)))
            .filter(|(_, keystroke)| keystroke.kind != KeystrokeKind::Answer)
            .map(|(at, keystroke)| (at, keystroke.bytes.to_vec()))
            .collect();
        if typed.is_empty() {
            return Err(JudgeError::NoKeys);
        }
        let keys = self.truth.keys();
        let is_other = |number: &usize| {
            let key = keys.get(*number).map(|key| plain(&key.bytes));
            key != Some(plain(&typed[*number].1))
        };
        match (0..typed.len()).find(is_other) {
            Some(number) => Err(JudgeError::OtherKey(number)),
            None => Ok(typed),
        }
    }

    /// Returns from when on the display may have the host's output, and checks that it is the
    /// truth's.
    fn written(&self) -> Result<Vec<(Duration, OutputPosition)>, JudgeError> {
        let mut end = 0;
        let mut written = Vec::new();
        for (at, bytes) in self.host_side.host() {
            let start = end;
            end += bytes.len();
            if self.truth.output().get(start..end) != Some(bytes) {
                return Err(JudgeError::OtherOutput(start));
            }
            written.push((at + self.one_way_delay, OutputPosition(end)));
        }
        Ok(written)
    }

    fn key(
        &self,
        (renderings, single): (&Renderings<'_>, &BTreeSet<usize>),
        wrongs: &[WrongInterval],
        number: usize,
        typed: Duration,
    ) -> KeyVerdict {
        let waited = |came: Option<Duration>| match came {
            Some(at) => Observation::After(at - typed),
            None => Observation::Censored(renderings.end().saturating_sub(typed)),
        };
        let has_effect = self.truth.keys()[number].has_effect();
        let first = |find: fn(&RunTimeline<'_>, usize) -> Option<Duration>| {
            let found = renderings.earliest(number, single, |one| find(one, number));
            has_effect.then(|| waited(found))
        };
        let (own, whole) = (first(own_at), first(whole_at));
        KeyVerdict {
            typed: typed - self.host_side.began(),
            own,
            whole,
            first_output: waited(self.output_after(typed)),
            wrong: wrongs
                .iter()
                .filter(|wrong| wrong.key == Some(number))
                .count(),
        }
    }

    fn output_after(&self, typed: Duration) -> Option<Duration> {
        let records = self.user_side.records();
        let later = &records[records.partition_point(|record| record.at < typed)..];
        let mut output = later
            .iter()
            .filter(|record| matches!(record.event, Event::Host(_)));
        output.next().map(|record| record.at)
    }

    fn delivery(&self, typed: &[(Duration, Vec<u8>)]) -> Delivery {
        let typed: Vec<u8> = typed.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
        let received: Vec<u8> = self
            .host_side
            .user()
            .flat_map(|(_, bytes)| bytes.to_vec())
            .collect();
        Delivery::compare(&typed, &received)
    }
}

/// Returns when any of the key's own effects was first on the display.
fn own_at(timeline: &RunTimeline<'_>, number: usize) -> Option<Duration> {
    let effects = timeline.truth.keys()[number].effects.iter();
    let first = effects.filter_map(|effect| timeline.own_effect_at(effect, number));
    first.min()
}

/// Returns when the whole screen was right for the first time, with the key's answer in it.
fn whole_at(timeline: &RunTimeline<'_>, number: usize) -> Option<Duration> {
    let truth = timeline.truth;
    let answered = truth.first_state(truth.keys()[number].answered()?);
    let from = timeline.sample_of_key(number);
    timeline.samples[from..]
        .iter()
        .find(|sample| {
            let hash = timeline.display.frames()[sample.frame].hash;
            let newest = truth.last_alike(hash, truth.state(sample.upper));
            truth.state(sample.lower) >= answered && newest.is_some_and(|newest| newest >= answered)
        })
        .map(|sample| sample.at)
}

/// See [`RunVerdict::longest_stall`].
fn longest_stall(keys: &[KeyVerdict]) -> Duration {
    let waits: Vec<(Duration, Duration)> = keys
        .iter()
        .filter_map(|key| {
            key.whole
                .map(|whole| (key.typed, key.typed + whole.waited()))
        })
        .collect();
    let ends: BTreeSet<Duration> = waits.iter().map(|(_, end)| *end).collect();
    let mut last = Duration::ZERO;
    let mut longest = Duration::ZERO;
    for end in ends {
        let waiting = waits.iter().filter(|(from, to)| *from <= end && *to >= end);
        let oldest = waiting.map(|(from, _)| *from).min().unwrap_or(end);
        longest = longest.max(end - oldest.max(last));
        last = end;
    }
    longest
}
