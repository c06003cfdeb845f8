//! One session in virtual time, as the client lived it, for predictors to be tried on.
//!
//! What a predictor shows changes nothing that is typed or sent. So a session is run once, without
//! any, and then told to as many predictors as one likes.

use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use fulmar_core::ClientConfig;
use fulmar_predict::{PredictionConfig, PredictionMode};
use fulmar_sim::Simulation;
use fulmar_terminal::Size;

use super::link::TestLink;
use super::recorded_truth::RecordedTruth;
use super::recorded_user::{
    ClientObservation, ClientScreen, ClientWatch, RecordedUser, ServerUpdate, UserInput,
};
use super::recording::Recording;
use super::snapshot::ScreenSnapshot;
use crate::scenario::Scenario;
use crate::simulated::{
    PlayedHost, SimulatedClient, SimulatedServer, Tty, agreement, client_config, key,
};
use crate::trace::Trace;

/// The events at the client, in order of time.
#[derive(Debug)]
pub struct PredictionSession {
    /// The window's size.
    pub size: Size,
    /// The events.
    pub events: Vec<SessionEvent>,
    /// The screens that the client itself showed, from when on, if it was watched.
    pub shown: Vec<ClientScreen>,
    /// The remarks that it made about its decisions.
    pub said: Vec<(Duration, String)>,
    /// The bytes that it wrote to its terminal.
    pub written: Vec<u8>,
    /// The bytes that the programs received and wrote.
    pub host_side: Trace,
    /// The time at which it was over.
    pub end: Duration,
    /// True if everything that the programs wrote came.
    pub is_whole: bool,
}

/// Something that happened at the client.
#[derive(Clone, Debug)]
pub struct SessionEvent {
    /// The time of the event.
    pub at: Duration,
    /// The event.
    pub what: SessionEventKind,
}

/// The kinds of event.
#[derive(Clone, Debug)]
pub enum SessionEventKind {
    /// The user did something.
    Input(UserInput),
    /// A state of the server's came, or the news that it is still the same.
    Frame(Box<ServerFrame>),
}

/// An update that came from the server, and the screen that it is in truth.
#[derive(Clone, Debug)]
pub struct ServerFrame {
    /// The update.
    pub update: ServerUpdate,
    /// The snapshot of its screen.
    pub snapshot: ScreenSnapshot,
    /// The number of the screen among those of the truth.
    pub number: usize,
}

/// So long the user looks on after the last key, and again so long, so often, for what is missing. Chosen by eye: a
/// minute is more than the worst of the links takes.
const LOOKS_ON: Duration = Duration::from_secs(4);
const PATIENCE: usize = 15;
/// So long a session may take to be there. Chosen by eye, as above.
const SET_UP: Duration = Duration::from_secs(120);

/// Both ends of a session.
type Ends<'a> = (SimulatedClient<RecordedUser>, SimulatedServer<'a>);

impl PredictionSession {
    /// Plays a recording over a link. If the client is watched, what it shows is noted.
    ///
    /// # Errors
    ///
    /// Where no session comes about, or a state machine spins, which is a fault of it.
    pub fn run(
        recording: &Recording,
        link: TestLink,
        seed: u64,
        watched: Option<ClientWatch>,
    ) -> Result<PredictionSession> {
        let session = PredictionSession::play(recording, &link.scenario(seed), watched);
        session.with_context(|| format!("{} over {link}, seed {seed}", recording.name))
    }

    fn play(
        recording: &Recording,
        scenario: &Scenario,
        watched: Option<ClientWatch>,
    ) -> Result<PredictionSession> {
        let Recording {
            trace: recording,
            truth,
            ..
        } = recording;
        let wanted = recording.size();
        let size = Size::new(wanted.rows, wanted.columns)
            .context("no window has the size of the recording")?;
        let has_own_server = watched.is_some_and(ClientWatch::has_own_server);
        let config = ClientConfig {
            agreement: has_own_server.then(agreement),
            prediction: PredictionConfig {
                mode: watched.map_or(PredictionMode::Never, |watch| watch.mode),
                ..PredictionConfig::default()
            },
            ..client_config(key()?, size)
        };
        let is_seen = watched.is_some_and(|watch| watch.is_seen);
        let user = RecordedUser::new(size, recording, is_seen);
        let mut near = SimulatedClient::new(config, scenario.simulated_server(), user);
        if is_seen {
            near.client.observe_prediction();
        }
        let tty = has_own_server.then(|| Tty::new(truth));
        let far = SimulatedServer::new(key()?, size, PlayedHost::unstamped(recording), tty);
        let mut simulation = scenario.simulation((near, far));
        let length = recording.ended() - recording.began();
        let spins = |failure| anyhow!("{failure}");
        simulation
            .run_until(SET_UP, |(near, _)| near.user.has_begun())
            .map_err(spins)?;
        simulation
            .run_until(SET_UP + length, |(near, _)| near.user.is_done())
            .map_err(spins)?;
        for _ in 0..PATIENCE {
            simulation.run_for(LOOKS_ON).map_err(spins)?;
            let (near, far) = &simulation.nodes;
            if far.written_by(near.user.state) == Some(truth.length()) {
                break;
            }
        }
        PredictionSession::of(simulation, truth, size)
    }

    fn of(
        simulation: Simulation<Ends<'_>>,
        truth: &RecordedTruth,
        size: Size,
    ) -> Result<PredictionSession> {
        let end = simulation.now();
        let (SimulatedClient { user, .. }, far) = simulation.nodes;
        let mut events = Vec::new();
        let mut last: Option<ServerFrame> = None;
        for (at, observation) in user.records {
            let what = match observation {
                ClientObservation::Input(input) => SessionEventKind::Input(input),
                ClientObservation::ServerUpdate(update) => {
                    let written = far.written_by(update.state).unwrap_or_default();
                    let frame = ServerFrame::of(*update, last.as_ref(), truth, written);
                    last = Some(frame.clone());
                    SessionEventKind::Frame(Box::new(frame))
                }
            };
            events.push(SessionEvent { at, what });
        }
        Ok(PredictionSession {
            size,
            events,
            shown: user.shown,
            said: user.said,
            written: user.written,
            host_side: far.host.finish()?,
            end,
            is_whole: last.is_some_and(|last| last.number == truth.end()),
        })
    }
}

impl ServerFrame {
    /// Returns what an update is in truth that came after `last`, when so many bytes of the recording had been
    /// written.
    fn of(
        update: ServerUpdate,
        last: Option<&ServerFrame>,
        truth: &RecordedTruth,
        written: usize,
    ) -> ServerFrame {
        let known = last.map(|last| (&last.update.screen, &last.snapshot));
        let snapshot = ScreenSnapshot::of(&update.screen, known);
        let newest = truth.number_at(written);
        let earliest = last.map_or(0, |last| last.number);
        // The newest that looks like it and was written. One that is held back, as an unfinished frame is, is not
        // shown yet.
        let alike = (earliest..=newest)
            .rev()
            .find(|number| truth.snapshot(*number).is_same(&snapshot));
        ServerFrame {
            number: alike.unwrap_or(newest),
            snapshot,
            update,
        }
    }
}

#[cfg(test)]
mod tests {
    use fulmar_terminal::Screen;

    use super::*;
    use fulmar_transport::StateNumber;

    /// A prompt; a key, its echo, and the end of echoing while the program has its 50 ms; another key that nothing
    /// answers.
    const TRACE: &[u8] = b"0 SIZE 20 4\n0 HOST 2\n$ \n1000000 USER 1\na\n1001000 HOST 1\na\n\
        2000000 USER 1\nb\n3000000 HOST 3\n\x08 \x08\n";

    fn truth() -> RecordedTruth {
        RecordedTruth::of(&Trace::parse(TRACE).unwrap(), None)
    }

    fn update(screen: &Screen, received: u64, echoed: u64) -> ServerUpdate {
        ServerUpdate {
            screen: screen.clone(),
            state: StateNumber::ZERO,
            received,
            echoed,
            echoed_state: 0,
            srtt: None,
            hints: None,
        }
    }

    #[test]
    fn a_frame_is_the_newest_true_screen_that_looks_like_it() {
        let truth = truth();
        let of = |screen: usize, last: Option<&ServerFrame>, written| {
            let update = update(truth.screen(screen), 0, 0);
            ServerFrame::of(update, last, &truth, written)
        };
        // The prompt is there before the key, and again when it is erased.
        assert_eq!(of(1, None, 2).number, 1);
        assert_eq!(of(1, None, 3).number, 1);
        assert_eq!(of(1, None, 6).number, 3);
        let second = of(2, None, 3);
        assert_eq!(second.number, 2);
        // What came before does not come again: it is no whole screen.
        let torn = of(1, Some(&second), 3);
        assert_eq!(torn.number, 2);
        assert!(torn.snapshot.is_same(truth.snapshot(1)));
    }
}
