//! One session in virtual time, as the client lived it, for predictors to be tried on.
//!
//! What a predictor shows changes nothing that is typed or sent. So a session is run once, without
//! any, and then told to as many predictors as one likes.

use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use fulmar_predict::{Overlay, TtyHints};
use fulmar_sim::Simulation;
use fulmar_terminal::{Screen, Size};

use super::hints::hints;
use super::recorded_truth::RecordedTruth;
use super::snapshot::ScreenSnapshot;
use super::typing_client::{ClientWatch, KeyboardRead, TypingClient};
use crate::scenario::Scenario;
use crate::simulated::{PlayedHost, SimulatedServer, Tty, key};
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

/// A screen that a client shows.
#[derive(Debug)]
pub struct ClientScreen {
    /// The time from which it was shown.
    pub at: Duration,
    /// The whole screen.
    pub snapshot: ScreenSnapshot,
    /// The part of it that was predicted.
    pub predicted: Option<Overlay>,
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
    /// Something was typed.
    Keys(KeyboardRead),
    /// The window got another size.
    Resized(Size),
    /// A state of the server's came, or the news that it is still the same.
    Frame(Box<ServerFrame>),
}

/// The knowledge of the client when something has come from the server.
#[derive(Clone, Debug)]
pub struct ServerFrame {
    /// The newest screen.
    pub screen: Screen,
    /// The snapshot of that screen.
    pub snapshot: ScreenSnapshot,
    /// The number of bytes that the server had when it sent this.
    pub received: u64,
    /// The number of them for which the program had had 50 ms.
    pub echoed: u64,
    /// The echo ack: the number of the client's state for which that is so.
    pub echoed_state: u64,
    /// The smoothed round trip, once one was measured.
    pub srtt: Option<Duration>,
    /// The number of the screen among those of the truth.
    pub number: usize,
    /// The hints that a server of our own would give with it.
    pub hints: Option<TtyHints>,
    /// The screen as such a server would send it: with what stock's leaves out, faint text among it.
    pub native: Screen,
}

/// So long the user looks on after the last key, and again so long, so often, for what is missing.
const LOOKS_ON: Duration = Duration::from_secs(4);
const PATIENCE: usize = 15;
/// So long a session may take to be there.
const SET_UP: Duration = Duration::from_secs(120);

impl PredictionSession {
    /// Plays a recording over a link. If the client is watched, what it shows is noted.
    ///
    /// # Errors
    ///
    /// Where no session comes about, or a state machine spins, which is a fault of it.
    pub fn run(
        scenario: &Scenario,
        recording: &Trace,
        truth: &RecordedTruth,
        watched: Option<ClientWatch>,
    ) -> Result<PredictionSession> {
        let wanted = recording.size();
        let size = Size::new(wanted.rows, wanted.columns)
            .context("no window has the size of the recording")?;
        let server = scenario.simulated_server();
        let near = TypingClient::new(key()?, size, server, recording, watched);
        let host = PlayedHost::unstamped(recording);
        let far = match watched {
            Some(watch) if watch.has_own_server() => {
                SimulatedServer::native(key()?, size, host, Tty::new(truth))
            }
            _ => SimulatedServer::new(key()?, size, host),
        };
        let length = recording.ended() - recording.began();
        let mut simulation = scenario.simulation((near, far));
        let spins = |failure| anyhow!("{failure}");
        simulation
            .run_until(SET_UP, |(near, _)| near.has_begun())
            .map_err(spins)?;
        simulation
            .run_until(SET_UP + length, |(near, _)| near.is_done())
            .map_err(spins)?;
        let all = truth.length();
        for _ in 0..PATIENCE {
            simulation.run_for(LOOKS_ON).map_err(spins)?;
            let (near, far) = &simulation.nodes;
            if far.written_by(near.state()) == Some(all) {
                break;
            }
        }
        let end = simulation.now();
        PredictionSession::of(simulation, truth, size, end)
    }

    fn of(
        simulation: Simulation<(TypingClient, SimulatedServer<'_>)>,
        truth: &RecordedTruth,
        size: Size,
        end: Duration,
    ) -> Result<PredictionSession> {
        let (near, far) = simulation.nodes;
        let mut events = Vec::new();
        let mut shown: Vec<ClientScreen> = Vec::new();
        let mut shown_screen: Option<Box<Screen>> = None;
        let mut said = Vec::new();
        let mut last: Option<ServerFrame> = None;
        let mut looks = Looks::default();
        for records in near.records {
            let what = match records.what {
                super::typing_client::ClientObservation::Keys(keys) => {
                    looks.note(&keys, truth);
                    SessionEventKind::Keys(keys)
                }
                super::typing_client::ClientObservation::Resized(size) => {
                    SessionEventKind::Resized(size)
                }
                super::typing_client::ClientObservation::Shown(screen, predicted) => {
                    let snapshot = match (&shown_screen, shown.last()) {
                        (Some(before), Some(last)) => {
                            ScreenSnapshot::like(&screen, before, &last.snapshot)
                        }
                        _ => ScreenSnapshot::of(&screen),
                    };
                    shown_screen = Some(screen);
                    shown.push(ClientScreen {
                        at: records.at,
                        snapshot,
                        predicted,
                    });
                    continue;
                }
                super::typing_client::ClientObservation::Said(remark) => {
                    said.push((records.at, remark));
                    continue;
                }
                super::typing_client::ClientObservation::ServerUpdate(news) => {
                    let snapshot = match &last {
                        Some(last) => {
                            ScreenSnapshot::like(&news.screen, &last.screen, &last.snapshot)
                        }
                        None => ScreenSnapshot::of(&news.screen),
                    };
                    let written = far.written_by(news.state).unwrap_or_default();
                    let newest = truth.number_at(written);
                    let earliest = last.as_ref().map_or(0, |last| last.number);
                    let number = number_of(truth, &snapshot, earliest, newest);
                    let is_whole = truth.snapshot(number).is_same(&snapshot);
                    let frame = ServerFrame {
                        number,
                        native: if is_whole {
                            truth.screen(number).clone()
                        } else {
                            news.screen.clone()
                        },
                        hints: truth
                            .tty(newest, looks.last(news.received, news.echoed))
                            .map(|tty| hints(tty, &news.screen)),
                        snapshot,
                        screen: news.screen,
                        received: news.received,
                        echoed: news.echoed,
                        echoed_state: news.echoed_state,
                        srtt: news.srtt,
                    };
                    last = Some(frame.clone());
                    SessionEventKind::Frame(Box::new(frame))
                }
            };
            events.push(SessionEvent {
                at: records.at,
                what,
            });
        }
        let is_whole = last.is_some_and(|last| last.number == truth.end());
        Ok(PredictionSession {
            size,
            events,
            shown,
            said,
            written: near.written,
            host_side: far.host.finish()?,
            end,
            is_whole,
        })
    }
}

/// The looks of the server at the terminal because of keys: before it writes them, and when the echo ack
/// advances.
#[derive(Default)]
struct Looks {
    /// The byte up to which each read of the keyboard goes, and the time at which it was recorded.
    keys: Vec<(u64, Duration)>,
}

impl Looks {
    fn note(&mut self, keys: &KeyboardRead, truth: &RecordedTruth) {
        let recorded = truth
            .keys()
            .get(keys.key)
            .map_or(Duration::ZERO, |key| key.at);
        self.keys
            .push((keys.first + keys.bytes.len() as u64, recorded));
    }

    /// Returns the last such time, on the recording's clock, at a server that has so many bytes.
    fn last(&self, received: u64, echoed: u64) -> Duration {
        let written = |bytes: u64| {
            let count = self.keys.partition_point(|(end, _)| *end <= bytes);
            count.checked_sub(1).map(|last| self.keys[last].1)
        };
        let acknowledged = written(echoed).map(|at| at + ECHO_ACK_AFTER);
        acknowledged.max(written(received)).unwrap_or_default()
    }
}

/// So long a program has for a key before the echo ack. Source: docs/protocol.md §14.
const ECHO_ACK_AFTER: Duration = Duration::from_millis(50);

/// Returns which of the true screens this is: the newest that looks like it and was written. One that
/// is held back, as an unfinished frame is, is not shown yet.
fn number_of(
    truth: &RecordedTruth,
    snapshot: &ScreenSnapshot,
    earliest: usize,
    newest: usize,
) -> usize {
    let alike = (earliest..=newest)
        .rev()
        .find(|number| truth.snapshot(*number).is_same(snapshot));
    alike.unwrap_or(newest)
}
