//! Replay: one typed session of a peer over a link, from start to verdict.

mod packets;
mod session;
mod session_hosts;
mod watch;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::experiment::{LabSetup, Measured, Work};
use crate::peer::Peer;
use crate::scenario::Scenario;
use crate::trace::LinkTraces;
use crate::typing::{Limits, TypingLoop};
pub(crate) use session_hosts::{LEAVE, SessionHosts};

/// A session in which somebody types a recording over a link.
///
/// ```text
///   user (typing) ─ pty ─ peer's client ─ link ─ peer's server ─ pty ─ played host
///                       client's network      server's network, with an sshd of its own
/// ```
#[derive(Clone, Debug)]
pub struct Replay {
    /// The link, in the words of a [`Scenario`]. `{seed}` is replaced
    /// by the run's seed, which also is the seed of the link unless the text names one. What is
    /// planned with `at` and `every` counts from the start of the typing.
    pub scenario: String,
    /// The recording: the name of one of ours, of one in the folder of data, or a path.
    pub recording: String,
    /// The kind of user who types.
    pub typing: TypingLoop,
    /// The limits after which the user stops.
    pub limits: Limits,
    /// True if the server's host sends an endless TCP stream to the client's meanwhile.
    pub download: bool,
    /// The folder in which both sides of the run are kept, as the traces `user-side` and `host-side`, for
    /// `fulmar-lab judge`. They are not kept otherwise.
    pub keep: Option<PathBuf>,
}

/// A run ends after 300 keys or 8 minutes. Source: what the evaluation is planned with.
pub const LIMITS: Limits = Limits {
    keys: 300,
    time: Duration::from_secs(480),
    patience: Duration::from_secs(30),
    set_up: Duration::from_secs(180),
    pause_max: None,
};

impl Replay {
    /// Returns a replay with the usual [`LIMITS`] and nothing beside it.
    pub fn new(scenario: &str, recording: &str, typing: TypingLoop) -> Self {
        Self {
            scenario: scenario.to_owned(),
            recording: recording.to_owned(),
            typing,
            limits: LIMITS,
            download: false,
            keep: None,
        }
    }

    /// Plays and judges one session.
    ///
    /// Processes are ended with it. Only in a process namespace
    /// ([`enter_pid_namespace`](fulmar_platform::lab::enter_pid_namespace)) are they also gone when this process is killed.
    ///
    /// # Errors
    ///
    /// Where the scenario or the recording cannot be read, the link cannot be made, or no session
    /// comes about.
    pub fn play(&self, peer: &Peer, seed: u64, setup: &LabSetup) -> Result<Measured> {
        let traces = LinkTraces::of(setup.data.as_deref());
        let scenario = Scenario::parse(&self.scenario_of(seed), &traces)?;
        session::play(self, scenario, peer, setup)
    }

    /// Returns the scenario of a run with this seed.
    pub(crate) fn scenario_of(&self, seed: u64) -> String {
        let text = self.scenario.replace("{seed}", &seed.to_string());
        format!("seed {seed}\n{text}")
    }

    /// Returns where the recording is.
    ///
    /// # Errors
    ///
    /// Where there is none.
    pub(crate) fn find_recording(&self, setup: &LabSetup) -> Result<PathBuf> {
        let name = &self.recording;
        let ours = setup.recordings.join(name);
        let folders = setup.data.iter();
        let theirs = folders.flat_map(|data| [data.join("key-traces").join(name), data.join(name)]);
        let named = name.contains('/').then(|| PathBuf::from(name));
        let mut places = named.into_iter().chain([ours]).chain(theirs);
        match places.find(|place| place.is_file()) {
            Some(place) => Ok(place),
            None => bail!(
                "there is no recording {name} in {}{}; those that are not ours to ship lie in \
                 the folder that --data or FULMAR_LAB_DATA names",
                setup.recordings.display(),
                setup
                    .data
                    .as_ref()
                    .map(|data| format!(", and none in {}", data.display()))
                    .unwrap_or_default(),
            ),
        }
    }
}

impl Work for Replay {
    /// `peer` is what [`Peer::parse`] reads.
    fn measure(&self, peer: &str, seed: u64, setup: &LabSetup) -> Result<Measured> {
        self.play(&Peer::parse(peer)?, seed, setup)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_seed_comes_first_so_that_a_scenario_may_name_another() {
        let replay = Replay::new("up trace like-lte-up:{seed}\nseed 9", "x", TypingLoop::Open);
        let text = replay.scenario_of(7);
        assert_eq!(text, "seed 7\nup trace like-lte-up:7\nseed 9");
        let scenario = Scenario::parse(&text, &LinkTraces::none()).unwrap();
        assert_eq!(scenario.seed, 9);
    }

    #[test]
    fn a_recording_is_ours_or_one_of_the_data_or_a_path() {
        let folder = tempfile::tempdir().unwrap();
        let make = |path: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            path
        };
        let (ours, theirs, loose) = (make("keys/a"), make("data/key-traces/b"), make("data/c"));
        make("data/key-traces/a");
        let mut setup = LabSetup {
            recordings: folder.path().join("keys"),
            data: Some(folder.path().join("data")),
            ..LabSetup::default()
        };
        let find = |name: &str, setup: &LabSetup| {
            Replay::new("", name, TypingLoop::Open).find_recording(setup)
        };
        assert_eq!(find("a", &setup).unwrap(), ours, "ours comes first");
        assert_eq!(find("b", &setup).unwrap(), theirs);
        assert_eq!(find("c", &setup).unwrap(), loose);
        let path = theirs.to_str().unwrap();
        assert_eq!(find(path, &setup).unwrap(), theirs);
        let said = find("d", &setup).unwrap_err().to_string();
        assert!(
            said.contains("no recording d in") && said.contains(", and none in"),
            "{said}"
        );
        setup.data = None;
        let said = find("b", &setup).unwrap_err().to_string();
        assert!(
            said.contains("no recording b in") && !said.contains("and none"),
            "{said}"
        );
    }
}
