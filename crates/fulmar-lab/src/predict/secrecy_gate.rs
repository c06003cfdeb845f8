//! The gate: no character of a secret is shown, and a control that shows everything would be noticed.

use std::fmt;

use anyhow::{Result, ensure};

use super::link::TestLink;
use super::predictor_kind::PredictorKind;
use super::recording::Recording;
use super::trial::{Plan, Trial};

/// The predictors that have to keep secrets.
const KEEPERS: [PredictorKind; 4] = [
    PredictorKind::Engine,
    PredictorKind::EngineHints,
    PredictorKind::Client,
    PredictorKind::ClientHints,
];
/// The predictor that must not be able to.
const CONTROL: PredictorKind = PredictorKind::Everything;

/// The gate for some recordings.
#[derive(Debug)]
pub struct SecrecyGate<'a> {
    recordings: &'a [Recording],
    /// The links.
    pub links: Vec<TestLink>,
    seeds: u64,
    keepers: Vec<PredictorKind>,
}

/// The verdict of the gate.
#[derive(Debug)]
pub struct SecrecyReport {
    /// The number of sessions.
    pub sessions: usize,
    /// The number of keys of secrets that were typed in them.
    pub secret_keys: usize,
    /// The sessions in which something was shown that is a secret, in words.
    pub leaks: Vec<String>,
    /// The number of keys of secrets that the control showed.
    pub control: usize,
    /// The recordings on which the control showed nothing: there the gate would notice nothing.
    pub blind: Vec<String>,
}

impl<'a> SecrecyGate<'a> {
    /// Returns the gate over all its links, for the recordings that have a secret.
    ///
    /// # Errors
    ///
    /// Where none has.
    pub fn new(recordings: &'a [Recording], seeds: u64) -> Result<SecrecyGate<'a>> {
        let has_secrets = recordings.iter().all(|one| one.truth.has_secret());
        ensure!(
            has_secrets && !recordings.is_empty() && seeds > 0,
            "there is no secret to be kept"
        );
        Ok(SecrecyGate {
            recordings,
            links: TestLink::gate(),
            seeds,
            keepers: KEEPERS.to_vec(),
        })
    }

    /// Takes only these of what has to keep secrets; all others of them are left out.
    #[must_use]
    pub fn kept_by(self, kinds: &[PredictorKind]) -> SecrecyGate<'a> {
        let keepers = KEEPERS.into_iter().filter(|keeper| kinds.contains(keeper));
        SecrecyGate {
            keepers: keepers.collect(),
            ..self
        }
    }

    /// Runs all sessions, link after link, and says after each how far it is.
    ///
    /// # Errors
    ///
    /// Where one does not come about, or there is nobody to keep a secret.
    pub fn run(&self, mut say: impl FnMut(String)) -> Result<SecrecyReport> {
        ensure!(!self.keepers.is_empty(), "nobody has to keep the secrets");
        let mut verdict = SecrecyReport {
            sessions: 0,
            secret_keys: 0,
            leaks: Vec::new(),
            control: 0,
            blind: Vec::new(),
        };
        let mut seen = vec![0; self.recordings.len()];
        for (number, link) in self.links.iter().enumerate() {
            for trial in self.trials(*link)? {
                let control = trial.scores[self.keepers.len()].leaks;
                verdict.sessions += 1;
                verdict.secret_keys += control.keys;
                verdict.control += control.shown;
                verdict.leaks.extend(self.leaks(&trial));
                seen[trial.recording] += control.shown;
            }
            let (done, all, leaks) = (number + 1, self.links.len(), verdict.leaks.len());
            say(format!("{link}: {done} of {all} links, {leaks} leaks"));
        }
        let blind = self.recordings.iter().zip(seen);
        verdict.blind = blind
            .filter(|(_, seen)| *seen == 0)
            .map(|(recording, _)| recording.name.clone())
            .collect();
        Ok(verdict)
    }

    fn trials(&self, link: TestLink) -> Result<Vec<Trial>> {
        let mut kinds = self.keepers.clone();
        kinds.push(CONTROL);
        Plan {
            recordings: self.recordings,
            links: vec![link],
            seeds: self.seeds,
            kinds,
            leaks_only: true,
        }
        .run()
    }

    fn leaks(&self, trial: &Trial) -> Vec<String> {
        let name = &self.recordings[trial.recording].name;
        let (link, seed) = (trial.link, trial.seed);
        let scores = self.keepers.iter().zip(&trial.scores);
        scores
            .filter(|(_, score)| score.leaks.shown > 0)
            .map(|(kind, score)| {
                let (shown, kind) = (score.leaks.shown, kind.name());
                format!("{name} over {link}, seed {seed}: {kind} shows {shown} keys of a secret")
            })
            .collect()
    }
}

impl SecrecyReport {
    /// Returns true if nothing was shown, and the control shows that it would have been noticed.
    pub fn is_passed(&self) -> bool {
        self.leaks.is_empty() && self.blind.is_empty() && self.control > 0
    }
}

impl fmt::Display for SecrecyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for leak in &self.leaks {
            writeln!(f, "{leak}")?;
        }
        for name in &self.blind {
            writeln!(f, "{name}: the control shows nothing, so nothing is proven")?;
        }
        write!(
            f,
            "{}: {} sessions, {} keys of secrets typed; {} sessions leak; the control shows {}",
            if self.is_passed() { "passed" } else { "FAILED" },
            self.sessions,
            self.secret_keys,
            self.leaks.len(),
            self.control
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::leak::Leaks;
    use crate::predict::score::Score;
    use crate::trace::{Meta, Trace};

    fn recording() -> Recording {
        let trace = b"0 SIZE 20 4\n50000 HOST 4\npw: \n1000000 USER 1\na\n";
        let meta = Meta::parse("900000 MARK secret-on\n").unwrap();
        Recording::new("pw", Trace::parse(trace).unwrap(), Some(&meta))
    }

    #[test]
    fn who_shows_a_secret_is_named() {
        let recordings = [recording()];
        let gate = SecrecyGate::new(&recordings, 1).unwrap();
        let shows = |shown| Score {
            leaks: Leaks { keys: 4, shown },
            ..Score::default()
        };
        // The last is the control's.
        let trial = |shown: [usize; 5]| Trial {
            recording: 0,
            link: "100".parse().unwrap(),
            seed: 7,
            scores: shown.map(shows).to_vec(),
            is_whole: true,
        };
        assert_eq!(gate.leaks(&trial([0, 0, 0, 0, 4])), [""; 0]);
        let leaks = gate.leaks(&trial([0, 2, 0, 1, 4]));
        let named = ["engine-hints shows 2", "client-hints shows 1"];
        assert_eq!(leaks.len(), named.len());
        for (leak, name) in leaks.iter().zip(named) {
            let expected = format!("pw over 100 ms, seed 7: {name} keys of a secret");
            assert_eq!(*leak, expected);
        }
    }

    #[test]
    fn only_some_may_be_asked_and_nobody_may_not() {
        let recordings = [recording()];
        let gate = || SecrecyGate::new(&recordings, 1).unwrap();
        let some = gate().kept_by(&[PredictorKind::Client, PredictorKind::Stock]);
        assert_eq!(some.keepers, [PredictorKind::Client]);
        let nobody = gate().kept_by(&[PredictorKind::Everything]);
        assert!(nobody.run(|_| ()).is_err());
    }

    #[test]
    fn a_gate_is_passed_without_leaks_and_with_a_control_that_is_seen_everywhere() {
        let report = |leaks: &[&str], control: usize, blind: &[&str]| {
            let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
            SecrecyReport {
                sessions: 9,
                secret_keys: 30,
                leaks: owned(leaks),
                control,
                blind: owned(blind),
            }
        };
        let passed = report(&[], 3, &[]);
        assert!(passed.is_passed());
        assert_eq!(
            passed.to_string(),
            "passed: 9 sessions, 30 keys of secrets typed; 0 sessions leak; the control shows 3"
        );
        for failed in [
            report(&["leaked"], 3, &[]),
            report(&[], 0, &[]),
            report(&[], 3, &["pw"]),
        ] {
            assert!(!failed.is_passed());
            assert!(failed.to_string().contains("FAILED"), "{failed}");
        }
    }
}
