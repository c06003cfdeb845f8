//! A typed session of an experiment.

use std::time::Duration;

use anyhow::Result;

use super::super::{Cell, LabSetup, Measured, Work};
use super::recording::Recording;
use super::response::Response;
use super::route::Route;
use crate::judge::{KeyVerdict, RunVerdict};
use crate::outcome::Figure;
use crate::replay::{LIMITS, Replay};
use crate::stats::{AT_ONCE, Observation, share_within};
use crate::typing::{Limits, TypingLoop};

/// The time that a run takes besides: for the link, a server, and the judge. Seen here.
const SET_UP: Duration = Duration::from_secs(5);

/// The number of times that a log-in waits for an answer. Seen here.
const LOG_IN_ANSWERS: u32 = 12;

/// It takes no longer than this, also where later there are no answers at all.
const LOG_IN_MAX: Duration = Duration::from_secs(60);

/// The remote shells that are compared.
pub(super) const SHELLS: &[&str] = &["ssh", "mosh", "fulmar"];

/// Somebody types a recording over a link: one setting of a typing experiment.
#[derive(Clone, Debug)]
pub struct Typed {
    setting: Setting,
    recording: &'static Recording,
    user: TypingLoop,
    is_generated: bool,
    limits: Limits,
}

/// The limits after which a user stops where it is to be quick. Chosen so that all of it fits in ten minutes.
const QUICK: Limits = Limits {
    keys: 60,
    time: Duration::from_secs(60),
    patience: Duration::from_secs(15),
    ..LIMITS
};

/// The settings of a typing experiment that differ in user and recording only.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    /// The beginning of their names.
    pub(super) name: &'static str,
    /// The beginning of their titles.
    pub(super) title: &'static str,
    /// The link.
    pub(super) route: Route,
    /// The time that answers take.
    pub(super) response: Response,
    /// True if a file is fetched over the same link meanwhile.
    pub(super) has_download: bool,
    /// The peers that are compared.
    pub(super) peers: &'static [&'static str],
}

impl Setting {
    /// The usual three are compared, and nothing else uses the link.
    pub(super) const fn new(
        name: &'static str,
        title: &'static str,
        route: Route,
        response: Response,
    ) -> Self {
        Self {
            name,
            title,
            route,
            response,
            has_download: false,
            peers: SHELLS,
        }
    }

    /// Returns the cell of one user and one recording.
    pub(super) fn cell(
        &self,
        user: TypingLoop,
        recording: &'static Recording,
        setup: &LabSetup,
    ) -> Cell {
        let recording = recording.or_stand_in(setup);
        let typed = Typed {
            setting: *self,
            recording,
            user,
            is_generated: setup.is_generated,
            limits: if setup.is_quick { QUICK } else { LIMITS },
        };
        let likeness = match self.route.traces {
            Some(_) if setup.is_generated => "like-",
            _ => "",
        };
        let takes = self.peers.iter().map(|peer| typed.time(peer)).max();
        Cell {
            name: format!(
                "{likeness}{}-{}-{}",
                self.name,
                user.name(),
                recording.short
            ),
            title: format!("{}, {} loop, {}", self.title, user.name(), recording.name),
            peers: self.peers.iter().map(|peer| (*peer).to_owned()).collect(),
            takes: takes.unwrap_or_default(),
            is_alone: false,
            work: Box::new(typed),
        }
    }
}

impl Typed {
    /// Returns how long a run takes, about.
    fn time(&self, peer: &str) -> Duration {
        let answer = self.setting.response.of(peer);
        let typing = self.recording.takes(self.user, answer, self.limits.keys);
        let limit = self.limits.time + self.limits.patience;
        SET_UP + LOG_IN_MAX.min(answer * LOG_IN_ANSWERS) + typing.min(limit)
    }
}

/// The first output and the own effect of a key that came together: as many milliseconds as a display
/// needs for one frame and another. Chosen by eye.
const TOGETHER: Duration = Duration::from_millis(20);

/// Returns figures of how much the first output after a key, which the published scripts measured, has to do
/// with the key: `at_once` and `first_at_once` are the shares of keys whose own effect, and whose first
/// output, came within 5 ms; `first_is_own` is the share of keys whose first output showed their effect.
fn first_outputs(verdict: &RunVerdict) -> Vec<(String, Figure)> {
    let is_own = |key: &&KeyVerdict| {
        let own = key.own.and_then(Observation::came);
        let first = key.first_output.came();
        own.zip(first)
            .is_some_and(|(own, first)| own <= first + TOGETHER)
    };
    let with_effect: Vec<&KeyVerdict> = verdict
        .keys
        .iter()
        .filter(|key| key.own.is_some())
        .collect();
    let own = with_effect.iter().copied().filter(is_own).count();
    let figures = [
        ("at_once", share_within(&verdict.own(), AT_ONCE)),
        (
            "first_at_once",
            share_within(&verdict.first_output(), AT_ONCE),
        ),
        (
            "first_is_own",
            Some(own as f64 / with_effect.len().max(1) as f64),
        ),
    ];
    let figures = figures.into_iter();
    figures
        .filter_map(|(name, share)| Some((name.to_owned(), Figure::new(share?, "share"))))
        .collect()
}

impl Work for Typed {
    fn measure(&self, peer: &str, seed: u64, setup: &LabSetup) -> Result<Measured> {
        let replay = Replay {
            download: self.setting.has_download,
            limits: self.limits,
            ..Replay::new(
                &self.setting.route.scenario(seed, setup),
                self.recording.name,
                self.user,
            )
        };
        let mut measured = replay.measure(peer, seed, setup)?;
        if let Some(verdict) = &measured.verdict {
            measured.figures.extend(first_outputs(verdict));
        }
        Ok(measured)
    }

    fn takes(&self, peer: &str) -> Option<Duration> {
        Some(self.time(peer))
    }

    fn takes_any_peer(&self) -> bool {
        true
    }

    fn needs(&self) -> Vec<String> {
        let mut needs = self.setting.route.needs(self.is_generated);
        if self.recording.stand_in.is_some() {
            needs.push(format!("key-traces/{}", self.recording.name));
        }
        needs
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        let setup = LabSetup {
            is_generated: self.is_generated,
            ..LabSetup::default()
        };
        let scenario = self.setting.route.scenario(1, &setup);
        let mut parameters = vec![
            ("link", scenario.lines().collect::<Vec<_>>().join("; ")),
            ("user", format!("{} loop", self.user.name())),
            ("recording", self.recording.name.to_owned()),
            (
                "ends",
                format!(
                    "after {} keys or {} s",
                    self.limits.keys,
                    self.limits.time.as_secs()
                ),
            ),
        ];
        if self.setting.has_download {
            parameters.push(("besides", "a TCP download over the same link".to_owned()));
        }
        parameters
    }
}

#[cfg(test)]
mod tests {
    use super::super::recording::TRACE_01;
    use super::super::route::LTE;
    use super::*;

    const SETTING: Setting = Setting::new(
        "lte-500ms",
        "LTE",
        Route::traced(LTE, "up {up}\ndown {down}"),
        Response::millis(500, 100).tcp(60_000),
    );

    #[test]
    fn a_cell_is_named_by_link_user_and_recording() {
        let mut setup = LabSetup::default();
        let cell = SETTING.cell(TypingLoop::Open, &TRACE_01, &setup);
        assert_eq!(cell.name, "lte-500ms-open-trace-01");
        assert_eq!(cell.work.needs().len(), 3);
        setup.is_generated = true;
        let cell = SETTING.cell(TypingLoop::Open, &TRACE_01, &setup);
        assert_eq!(cell.name, "like-lte-500ms-open-own-bash");
        assert!(cell.work.needs().is_empty());
    }

    #[test]
    fn a_first_output_that_shows_something_else_is_told_from_the_own_effect() {
        let key = |own: serde_json::Value, first: u64| {
            serde_json::json!({
                "typed_ms": 0, "own": own, "whole": own, "first_output": {"ms": first}, "wrong": 0,
            })
        };
        let keys = [
            key(serde_json::json!({"ms": 2}), 2),
            key(serde_json::json!({"ms": 5000}), 1000),
            key(serde_json::json!({"ms": 5020}), 5000),
            key(serde_json::json!({"ms": 5021}), 5000),
            key(serde_json::json!({"ms": 9000, "censored": true}), 3),
            key(serde_json::Value::Null, 1),
        ];
        let verdict = serde_json::json!({
            "keys": keys, "wrongs": [], "longest_stall_ms": 0, "length_ms": 0, "is_stamped": true,
            "is_settled": true, "differences_at_end": 0, "delivery": {
                "typed": 5, "received": 5, "lost": 0, "doubled": 0, "reordered": 0, "strange": 0,
                "under_way": 0,
            },
        });
        let verdict: RunVerdict = serde_json::from_value(verdict).unwrap();
        let figures = first_outputs(&verdict);
        let values: Vec<(&str, f64)> = figures
            .iter()
            .map(|(name, figure)| (name.as_str(), figure.value))
            .collect();
        let expected = [
            ("at_once", 0.2),
            ("first_at_once", 0.4),
            ("first_is_own", 0.4),
        ];
        assert_eq!(values, expected);
    }

    #[test]
    fn no_run_takes_longer_than_its_limit() {
        let cell = SETTING.cell(TypingLoop::Closed, &TRACE_01, &LabSetup::default());
        let takes = |peer| cell.work.takes(peer).unwrap();
        let limit = SET_UP + LOG_IN_MAX + LIMITS.time + LIMITS.patience;
        assert_eq!(takes("ssh"), limit);
        assert_eq!(cell.takes, takes("ssh"));
        assert!(takes("mosh") < takes("mosh-n") && takes("mosh-n") < takes("ssh"));
    }
}
