//! The near end of a session that is watched: our client, and somebody who types what was recorded
//! at the times at which it was, whatever the screen shows.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use fulmar_base::PathId;
use fulmar_core::{Client, ClientConfig, ClientEvent};
use fulmar_datagram::Key;
use fulmar_predict::{Overlay, PredictionMode};
use fulmar_sim::{Datagram, Node, Transmit};
use fulmar_terminal::{Row, Screen, Size, Terminal};
use fulmar_transport::{Arrival, Countable as _, Received, StateNumber, StateOutcome};

use crate::played::READY;
use crate::simulated::{UNSEEN_START, agreement, outer_terminal, words};
use crate::trace::{Event, Trace, keystrokes};

/// One read of the keyboard.
#[derive(Clone, Debug)]
pub struct KeyboardRead {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The number of the first of them among all bytes ever typed.
    pub first: u64,
    /// The number of the first key among those of the truth.
    pub key: usize,
    /// The number of keys.
    pub count: usize,
    /// The number of the client's last state that was sent before.
    pub sent_state: u64,
}

/// A client, and what happened to it.
pub(super) struct TypingClient {
    client: Client,
    server: SocketAddr,
    paths_opened: u64,
    buffer: Vec<u8>,
    outgoing: VecDeque<Transmit>,
    phase: Phase,
    /// The acts that are still to be done, and when after the beginning.
    plan: VecDeque<PlannedAction>,
    /// The number of bytes that were typed.
    bytes_typed: u64,
    /// The number of them that each state of the user stream holds that was sent.
    states: BTreeMap<StateNumber, u64>,
    sent_state: StateNumber,
    /// The newest state of the server's.
    state: StateNumber,
    received: u64,
    /// The user's terminal, if somebody looks at it.
    outer: Option<Terminal>,
    /// The prediction in what it shows, once that was noted.
    shown: Option<Option<Overlay>>,
    /// The bytes that the client wrote to it.
    pub(super) written: Vec<u8>,
    pub(super) records: Vec<ClientRecord>,
}

/// The maker of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// Stock's: no hints.
    Stock,
    /// Our own.
    Own,
}

/// A client whose terminal is looked at.
#[derive(Clone, Copy, Debug)]
pub struct ClientWatch {
    peer: Peer,
    mode: PredictionMode,
}

impl ClientWatch {
    /// With a server of that kind, and prediction as it is by default.
    pub fn of(peer: Peer) -> ClientWatch {
        ClientWatch {
            peer,
            mode: PredictionMode::Adaptive,
        }
    }

    /// The same, without prediction.
    #[must_use]
    pub fn without_prediction(self) -> ClientWatch {
        ClientWatch {
            mode: PredictionMode::Never,
            ..self
        }
    }

    pub(super) fn has_own_server(self) -> bool {
        self.peer == Peer::Own
    }
}

/// An event at the client, and its time.
pub(super) struct ClientRecord {
    pub(super) at: Duration,
    pub(super) what: ClientObservation,
}

pub(super) enum ClientObservation {
    Keys(KeyboardRead),
    Resized(Size),
    ServerUpdate(Box<ServerUpdate>),
    /// The screen of the user's terminal from here on, and what of it was predicted.
    Shown(Box<Screen>, Option<Overlay>),
    /// A remark of the client on a decision.
    Said(String),
}

/// The news that came from the server.
pub(super) struct ServerUpdate {
    pub(super) screen: Screen,
    pub(super) state: StateNumber,
    pub(super) received: u64,
    pub(super) echoed: u64,
    pub(super) echoed_state: u64,
    pub(super) srtt: Option<Duration>,
}

enum Phase {
    /// The host is to say that it is ready.
    Arriving,
    /// It was told to start.
    Starting,
    /// It has.
    Typing { began: Duration },
}

/// Something that the user does.
struct PlannedAction {
    after: Duration,
    what: ClientAction,
}

enum ClientAction {
    Type {
        bytes: Vec<u8>,
        key: usize,
        count: usize,
    },
    Resize(Size),
}

impl TypingClient {
    /// Returns a user who sits down. If the client is not watched, predictors are beside it.
    pub(super) fn new(
        key: Key,
        size: Size,
        server: SocketAddr,
        recording: &Trace,
        watched: Option<ClientWatch>,
    ) -> TypingClient {
        let config = ClientConfig {
            size,
            outer: outer_terminal(),
            agreement: watched
                .is_some_and(ClientWatch::has_own_server)
                .then(agreement),
            prediction: fulmar_predict::PredictionConfig {
                mode: watched.map_or(PredictionMode::Never, |watch| watch.mode),
                ..fulmar_predict::PredictionConfig::default()
            },
            ..ClientConfig::new(key, [1; 32])
        };
        let mut typed = TypingClient {
            client: Client::new(words::time(Duration::ZERO), config),
            server,
            paths_opened: 0,
            buffer: Vec::new(),
            outgoing: VecDeque::new(),
            phase: Phase::Arriving,
            plan: plan(recording),
            bytes_typed: 0,
            states: BTreeMap::from([(StateNumber::ZERO, 0)]),
            sent_state: StateNumber::ZERO,
            state: StateNumber::ZERO,
            received: 0,
            outer: watched.map(|_| Terminal::new(size)),
            shown: None,
            written: Vec::new(),
            records: Vec::new(),
        };
        if watched.is_some() {
            typed.client.observe_prediction();
        }
        typed.open_path(Duration::ZERO);
        typed
    }

    pub(super) fn has_begun(&self) -> bool {
        matches!(self.phase, Phase::Typing { .. })
    }

    /// Returns true once everything is typed.
    pub(super) fn is_done(&self) -> bool {
        self.has_begun() && self.plan.is_empty()
    }

    /// The number of the newest state of the server's.
    pub(super) fn state(&self) -> StateNumber {
        self.state
    }

    fn open_path(&mut self, now: Duration) {
        self.paths_opened += 1;
        let path = PathId::new(self.paths_opened);
        self.client.handle_path_opened(words::time(now), path);
    }

    fn take_events(&mut self, now: Duration) {
        while let Some(event) = self.client.poll_event() {
            if event == ClientEvent::OpenPath {
                self.open_path(now);
            }
        }
    }

    fn send(&mut self, now: Duration) -> bool {
        let Some(transmit) = self
            .client
            .poll_transmit(words::time(now), &mut self.buffer)
        else {
            return false;
        };
        let target = transmit.numbers.instruction.target;
        self.states.entry(target).or_insert(self.bytes_typed);
        self.sent_state = self.sent_state.max(target);
        for datagram in transmit.split(&self.buffer) {
            let sent = Transmit::to(self.server, datagram)
                .ecn(transmit.ecn)
                .because(transmit.cause.name());
            self.outgoing.push_back(sent);
        }
        true
    }

    /// Types what is due, and returns whether anything was.
    fn press(&mut self, now: Duration) -> bool {
        match self.phase {
            Phase::Arriving if self.shows_ready() => {
                self.phase = Phase::Starting;
                self.type_bytes(now, UNSEEN_START);
                true
            }
            Phase::Starting if !self.shows_ready() => {
                self.phase = Phase::Typing { began: now };
                self.records.clear();
                self.shown = None;
                self.note_news(now);
                true
            }
            Phase::Arriving | Phase::Starting => false,
            Phase::Typing { began } => {
                let next = self.plan.front();
                if next.is_none_or(|act| began + act.after > now) {
                    return false;
                }
                let Some(act) = self.plan.pop_front() else {
                    return false;
                };
                self.act(now, act.what);
                true
            }
        }
    }

    fn act(&mut self, now: Duration, what: ClientAction) {
        match what {
            ClientAction::Type { bytes, key, count } => {
                self.records.push(ClientRecord {
                    at: now,
                    what: ClientObservation::Keys(KeyboardRead {
                        bytes: bytes.clone(),
                        first: self.bytes_typed,
                        key,
                        count,
                        sent_state: self.sent_state.get(),
                    }),
                });
                self.type_bytes(now, &bytes);
            }
            ClientAction::Resize(size) => {
                self.records.push(ClientRecord {
                    at: now,
                    what: ClientObservation::Resized(size),
                });
                self.client.handle_resize(words::time(now), size);
                if let Some(outer) = &mut self.outer {
                    outer.resize(size);
                }
            }
        }
    }

    fn type_bytes(&mut self, now: Duration, bytes: &[u8]) {
        self.bytes_typed += bytes.len() as u64;
        self.client.handle_keys(words::time(now), bytes);
    }

    fn shows_ready(&self) -> bool {
        let screen = self.client.screen();
        (0..screen.size().rows()).any(|row| {
            let mut text = String::new();
            screen.row(Row(row)).push_text(&mut text);
            text.contains(READY)
        })
    }

    /// Notes what came with an instruction, if it brought the newest state or was about it.
    fn note(&mut self, now: Duration, received: &Received) {
        let Some(instruction) = received.instruction else {
            return;
        };
        let numbers = instruction.numbers;
        let is_news = match instruction.outcome {
            Some(StateOutcome::Newest) => true,
            Some(StateOutcome::Duplicate) => numbers.target == self.state,
            _ => false,
        };
        if !is_news {
            return;
        }
        self.state = numbers.target;
        self.received = self.received.max(self.bytes_of(numbers.acknowledged));
        self.note_news(now);
    }

    fn note_news(&mut self, now: Duration) {
        let echo_ack = self.client.echo_ack();
        let news = ServerUpdate {
            screen: self.client.screen().clone(),
            state: self.state,
            received: self.received.max(self.bytes_of(echo_ack)),
            echoed: self.bytes_of(echo_ack),
            echoed_state: echo_ack.get(),
            srtt: self
                .client
                .link_info()
                .round_trip
                .map(|(smoothed, _)| smoothed),
        };
        self.records.push(ClientRecord {
            at: now,
            what: ClientObservation::ServerUpdate(Box::new(news)),
        });
    }

    /// Has the client draw, if somebody looks.
    fn show(&mut self, now: Duration) {
        let Some(outer) = &mut self.outer else { return };
        let mut drawn = Vec::new();
        self.client.draw(words::time(now), &mut drawn);
        let said = self.client.take_decisions();
        self.records
            .extend(said.iter().map(|(_, decision)| ClientRecord {
                at: now,
                what: ClientObservation::Said(decision.to_string()),
            }));
        outer.process(&drawn);
        self.written.extend_from_slice(&drawn);
        outer.take_replies();
        // The same may be shown for another key.
        let predicted = self.client.predicted().cloned();
        let is_news = self.shown.as_ref() != Some(&predicted);
        if !drawn.is_empty() || is_news {
            self.records.push(ClientRecord {
                at: now,
                what: ClientObservation::Shown(Box::new(outer.screen().clone()), predicted.clone()),
            });
            self.shown = Some(predicted);
        }
    }

    /// Returns the number of bytes that a state of the user stream holds.
    fn bytes_of(&self, state: StateNumber) -> u64 {
        let known = self.states.range(..=state).next_back();
        known.map_or(0, |(_, bytes)| *bytes)
    }
}

fn plan(recording: &Trace) -> VecDeque<PlannedAction> {
    let mut key = 0;
    let mut plan = VecDeque::new();
    // The first is the size at the beginning.
    for record in recording.records().iter().skip(1) {
        let after = record.at - recording.began();
        let bytes = match &record.event {
            Event::User(bytes) => bytes,
            Event::Size(size) => {
                let what = Size::new(size.rows, size.columns).map(ClientAction::Resize);
                plan.extend(what.map(|what| PlannedAction { after, what }));
                continue;
            }
            Event::Host(_) => continue,
        };
        let typed: Vec<_> = keystrokes(bytes)
            .filter(|keystroke| keystroke.kind.is_typed())
            .collect();
        if typed.is_empty() {
            continue;
        }
        let bytes = typed.iter().flat_map(|keystroke| keystroke.bytes);
        plan.push_back(PlannedAction {
            after,
            what: ClientAction::Type {
                bytes: bytes.copied().collect(),
                key,
                count: typed.len(),
            },
        });
        key += typed.len();
    }
    plan
}

impl Node for TypingClient {
    fn handle_datagram(&mut self, now: Duration, datagram: Datagram) {
        let arrival = Arrival {
            path: PathId::new(self.paths_opened),
            ecn: datagram.ecn,
            bytes: &datagram.bytes,
        };
        let received = self.client.handle_datagram(words::time(now), arrival);
        self.note(now, &received);
    }

    fn handle_timeout(&mut self, now: Duration) {
        self.client.handle_timeout(words::time(now));
    }

    fn poll_transmit(&mut self, now: Duration) -> Option<Transmit> {
        loop {
            self.take_events(now);
            if let Some(transmit) = self.outgoing.pop_front() {
                return Some(transmit);
            }
            if !self.send(now) && !self.press(now) {
                self.show(now);
                return None;
            }
        }
    }

    fn next_timeout(&self) -> Option<Duration> {
        let client = self.client.poll_timeout().map(|(at, _)| at.since_origin());
        let press = match &self.phase {
            Phase::Typing { began } => self.plan.front().map(|act| *began + act.after),
            Phase::Arriving | Phase::Starting => None,
        };
        [client, press].into_iter().flatten().min()
    }
}
