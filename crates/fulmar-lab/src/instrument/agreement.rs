//! Measures how closely a session in virtual time agrees with the real one.
//!
//! The same recording is typed by the same user over the same scenario with the same seed, by our
//! program over a real link and by its state machines in virtual time. What differs is what computing, the
//! kernel and the ptys take, and where in the pauses of either end a key happens to fall.
//!
//! # Figures
//!
//! `real` and `simulated`: medians of the confirmed times (the whole screen right, with the host's answer),
//! and `difference` of the two. `keys_later` and `keys_later_p90`: for each key by itself, the median and the
//! 90 % quantile of how much longer it took in the real run. Series `real_by_simulated`: each key's times (ms; ms).

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use super::cell;
use super::figures::millis;
use crate::experiment::{Cell, LabSetup, Measured, Work};
use crate::judge::RunVerdict;
use crate::peer::Peer;
use crate::replay::{LIMITS, Replay};
use crate::simulated::VirtualReplay;
use crate::stats::Summary;
use crate::typing::{Limits, TypingLoop};

/// The comparison of one replay.
#[derive(Clone, Debug)]
pub struct Agreement {
    /// The replay that is played in both worlds.
    pub replay: Replay,
}

/// The links: name, and a scenario.
const LINKS: [(&str, &str); 3] = [
    ("clear", "both delay 50ms"),
    ("lossy", "both loss 5%, delay 40ms..60ms"),
    ("slow", "both rate 1mbit queue 64kB, delay 100ms"),
];

/// Somebody at a shell.
const RECORDING: &str = "own-bash-plain";

/// Returns the cells of the experiment.
pub fn cells(setup: &LabSetup) -> Vec<Cell> {
    let limits = Limits {
        keys: if setup.is_quick { 60 } else { LIMITS.keys },
        pause_max: Some(Duration::from_millis(500)),
        ..LIMITS
    };
    let made = LINKS.map(|(name, scenario)| {
        let title = format!("a real run and one in virtual time: {scenario}");
        let takes = Duration::from_secs(10) + Duration::from_millis(300) * limits.keys as u32;
        let replay = Replay {
            limits,
            ..Replay::new(scenario, RECORDING, TypingLoop::Open)
        };
        cell(name, title, &["fulmar"], takes, Agreement { replay })
    });
    made.into()
}

impl Work for Agreement {
    /// `peer` is ours, by whatever name: no other has a model.
    fn measure(&self, peer: &str, seed: u64, setup: &LabSetup) -> Result<Measured> {
        ensure!(
            peer.starts_with("fulmar"),
            "only Fulmar runs in virtual time"
        );
        let simulated = VirtualReplay::new(&self.replay, setup)?.run(seed)?.verdict;
        let mut measured = self.replay.play(&Peer::parse(peer)?, seed, setup)?;
        let real = measured.verdict.as_ref().context("nobody typed")?;
        let compared = Compared::of(real, &simulated)?;
        compared.put_into(&mut measured);
        Ok(measured)
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![
            ("link", self.replay.scenario.clone()),
            ("recording", self.replay.recording.clone()),
            ("keys", self.replay.limits.keys.to_string()),
        ]
    }
}

/// The confirmed times of one run in both worlds, in milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The medians over the keys: in the real run, in virtual time.
    pub medians: [f64; 2],
    /// Each key that was answered in both, in the same order.
    pub pairs: Vec<[f64; 2]>,
}

impl Compared {
    /// Compares the verdicts on a real run and on one in virtual time.
    ///
    /// # Errors
    ///
    /// Where other keys were typed, or no answers came.
    pub fn of(real: &RunVerdict, simulated: &RunVerdict) -> Result<Self> {
        ensure!(
            real.keys.len() == simulated.keys.len(),
            "{} keys were typed in the real run and {} in virtual time",
            real.keys.len(),
            simulated.keys.len()
        );
        let median = |verdict: &RunVerdict| {
            let median = Summary::of(&verdict.whole()).median;
            median.map(millis).context("hardly any answer came")
        };
        let waits = real.keys.iter().zip(&simulated.keys);
        let pairs = waits.filter_map(|(real, other)| {
            Some([millis(real.whole?.came()?), millis(other.whole?.came()?)])
        });
        Ok(Self {
            medians: [median(real)?, median(simulated)?],
            pairs: pairs.collect(),
        })
    }

    fn put_into(&self, measured: &mut Measured) {
        let [real, simulated] = self.medians;
        let later = self.pairs.iter().map(|[real, other]| real - other);
        let mut later: Vec<f64> = later.collect();
        later.sort_by(f64::total_cmp);
        let quantile = |share: f64| {
            let place = (share * later.len() as f64) as usize;
            later.get(place).copied().unwrap_or_default()
        };
        measured.put("real", real, "ms");
        measured.put("simulated", simulated, "ms");
        measured.put("difference", real - simulated, "ms");
        measured.put("keys_later", quantile(0.5), "ms");
        measured.put("keys_later_p90", quantile(0.9), "ms");
        let points = self.pairs.iter().map(|[real, other]| (*other, *real));
        measured.put_series("real_by_simulated", points);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::KeyVerdict;
    use crate::stats::Observation;
    use crate::testing;

    fn verdict(waits: &[Option<u64>]) -> RunVerdict {
        let key = |wait: &Option<u64>| KeyVerdict {
            typed: Duration::ZERO,
            own: None,
            whole: Some(match wait {
                Some(millis) => Observation::After(Duration::from_millis(*millis)),
                None => Observation::Censored(Duration::from_secs(1)),
            }),
            first_output: Observation::Censored(Duration::ZERO),
            wrong: 0,
        };
        testing::verdict(waits.iter().map(key))
    }

    #[test]
    fn keys_are_compared_one_by_one_where_both_were_answered() {
        let real = verdict(&[Some(105), Some(108), None, Some(130)]);
        let simulated = verdict(&[Some(100), Some(106), Some(100), Some(110)]);
        let compared = Compared::of(&real, &simulated).unwrap();
        assert_eq!(
            compared.pairs,
            [[105.0, 100.0], [108.0, 106.0], [130.0, 110.0]]
        );
        let mut measured = Measured::default();
        compared.put_into(&mut measured);
        let points = [(100.0, 105.0), (106.0, 108.0), (110.0, 130.0)];
        assert_eq!(measured.series["real_by_simulated"], points);
        let figures = measured.figures;
        assert_eq!(figures["keys_later"].value, 5.0);
        assert_eq!(figures["keys_later_p90"].value, 20.0);
        let [real, simulated] = compared.medians;
        assert_eq!(figures["difference"].value, real - simulated);
    }

    #[test]
    fn runs_of_other_keys_are_not_compared() {
        let three = verdict(&[Some(1), Some(1), Some(1)]);
        assert!(Compared::of(&three, &verdict(&[Some(1)])).is_err());
        assert!(Compared::of(&verdict(&[None]), &verdict(&[Some(1)])).is_err());
    }

    #[test]
    fn only_our_own_program_has_a_model() {
        let cell = cells(&LabSetup::default()).remove(0);
        let error = cell.work.measure("ssh", 1, &LabSetup::default());
        assert!(error.unwrap_err().to_string().contains("only Fulmar"));
    }
}
