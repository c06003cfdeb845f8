//! The user of a session for predictors: types what was recorded, at the times at which it was, whatever the screen
//! shows, and notes what the client gets and shows.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use fulmar_core::Client;
use fulmar_predict::{Overlay, PredictionMode, TtyHints};
use fulmar_terminal::{Row, Screen, Size, Terminal};
use fulmar_transport::{Received, StateNumber, StateOutcome};

use super::snapshot::ScreenSnapshot;
use crate::played::READY;
use crate::simulated::{ClientUser, UNSEEN_START, words};
use crate::trace::{Event, Trace, keystrokes};

/// Something that the user does.
#[derive(Clone, Debug)]
pub enum UserInput {
    /// Types.
    Keys(KeyboardRead),
    /// Gives the window another size.
    Resize(Size),
}

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

/// The maker of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// Stock's: no hints.
    Stock,
    /// Our own.
    Own,
}

/// A client, and whether its terminal is looked at.
#[derive(Clone, Copy, Debug)]
pub struct ClientWatch {
    peer: Peer,
    pub(super) mode: PredictionMode,
    pub(super) is_seen: bool,
}

impl ClientWatch {
    /// With a server of that kind, and prediction as it is by default.
    pub fn of(peer: Peer) -> ClientWatch {
        ClientWatch {
            peer,
            mode: PredictionMode::Adaptive,
            is_seen: true,
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

    /// The same for predictors that are beside the client: nobody looks at its terminal.
    pub(super) fn unseen(self) -> ClientWatch {
        ClientWatch {
            is_seen: false,
            ..self.without_prediction()
        }
    }

    pub(super) fn has_own_server(self) -> bool {
        self.peer == Peer::Own
    }
}

/// Somebody at a client, and what happened there.
#[derive(Default)]
pub(super) struct RecordedUser {
    phase: Phase,
    /// The inputs that are still to come, each with its time after the beginning.
    plan: VecDeque<(Duration, UserInput)>,
    /// The number of bytes that were typed.
    bytes_typed: u64,
    /// The number of them that each state of the user stream holds that was sent.
    states: BTreeMap<StateNumber, u64>,
    sent_state: StateNumber,
    /// The newest state of the server's.
    pub(super) state: StateNumber,
    received: u64,
    /// The terminal, if somebody looks at it.
    outer: Option<Terminal>,
    /// The last of the screens that it showed.
    last_shown: Option<Screen>,
    /// The events, and their times.
    pub(super) records: Vec<(Duration, ClientObservation)>,
    /// The screens that the terminal showed, and from when on.
    pub(super) shown: Vec<ClientScreen>,
    /// The remarks of the client on its decisions.
    pub(super) said: Vec<(Duration, String)>,
    /// The bytes that the client wrote to the terminal.
    pub(super) written: Vec<u8>,
}

pub(super) enum ClientObservation {
    Input(UserInput),
    ServerUpdate(Box<ServerUpdate>),
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

/// The knowledge of the client when something has come from the server.
#[derive(Clone, Debug)]
pub struct ServerUpdate {
    /// The newest screen.
    pub screen: Screen,
    /// The number of its state.
    pub state: StateNumber,
    /// The number of bytes that the server had when it sent this.
    pub received: u64,
    /// The number of them for which the program had had 50 ms.
    pub echoed: u64,
    /// The echo ack: the number of the client's state for which that is so.
    pub echoed_state: u64,
    /// The smoothed round trip, once one was measured.
    pub srtt: Option<Duration>,
    /// The hints that came with it, from a server of our own.
    pub hints: Option<TtyHints>,
}

#[derive(Default)]
enum Phase {
    /// The host is to say that it is ready.
    #[default]
    Arriving,
    /// It was told to start.
    Starting,
    /// It has.
    Typing { began: Duration },
}

impl RecordedUser {
    /// Returns a user who sits down. If nobody looks at the terminal, predictors are beside the client.
    pub(super) fn new(size: Size, recording: &Trace, is_watched: bool) -> RecordedUser {
        RecordedUser {
            plan: plan(recording),
            outer: is_watched.then(|| Terminal::new(size)),
            ..RecordedUser::default()
        }
    }

    pub(super) fn has_begun(&self) -> bool {
        matches!(self.phase, Phase::Typing { .. })
    }

    /// Returns true once everything is typed.
    pub(super) fn is_done(&self) -> bool {
        self.has_begun() && self.plan.is_empty()
    }

    /// Does what is due, and returns whether anything was.
    fn press(&mut self, now: Duration, client: &mut Client) -> bool {
        match self.phase {
            Phase::Arriving if shows_ready(client.screen()) => {
                self.phase = Phase::Starting;
                self.type_bytes(now, client, UNSEEN_START);
            }
            Phase::Starting if !shows_ready(client.screen()) => {
                self.phase = Phase::Typing { began: now };
                self.records.clear();
                self.shown.clear();
                self.said.clear();
                self.note_update(now, client);
            }
            Phase::Arriving | Phase::Starting => return false,
            Phase::Typing { began } => {
                let is_due = |(after, _): &&(Duration, UserInput)| began + *after <= now;
                if self.plan.front().filter(is_due).is_none() {
                    return false;
                }
                if let Some((_, input)) = self.plan.pop_front() {
                    self.give(now, client, input);
                }
            }
        }
        true
    }

    fn give(&mut self, now: Duration, client: &mut Client, mut input: UserInput) {
        match &mut input {
            UserInput::Keys(keys) => {
                keys.sent_state = self.sent_state.get();
                self.type_bytes(now, client, &keys.bytes);
            }
            UserInput::Resize(size) => {
                client.handle_resize(words::time(now), *size);
                if let Some(outer) = &mut self.outer {
                    outer.resize(*size);
                }
            }
        }
        self.records.push((now, ClientObservation::Input(input)));
    }

    fn type_bytes(&mut self, now: Duration, client: &mut Client, bytes: &[u8]) {
        self.bytes_typed += bytes.len() as u64;
        client.handle_keys(words::time(now), bytes);
    }

    fn note_update(&mut self, now: Duration, client: &Client) {
        let echo_ack = client.echo_ack();
        let update = ServerUpdate {
            screen: client.screen().clone(),
            state: self.state,
            received: self.received.max(self.bytes_of(echo_ack)),
            echoed: self.bytes_of(echo_ack),
            echoed_state: echo_ack.get(),
            srtt: client.link_info().round_trip.map(|(smoothed, _)| smoothed),
            hints: client.hints(),
        };
        let update = ClientObservation::ServerUpdate(Box::new(update));
        self.records.push((now, update));
    }

    /// Has the client draw, if somebody looks.
    fn show(&mut self, now: Duration, client: &mut Client) {
        let Some(outer) = &mut self.outer else { return };
        let mut drawn = Vec::new();
        client.draw(words::time(now), &mut drawn);
        let said = client.take_decisions();
        let said = said.iter().map(|(_, decision)| (now, decision.to_string()));
        self.said.extend(said);
        outer.process(&drawn);
        self.written.extend_from_slice(&drawn);
        outer.take_replies();
        // The same may be shown for another key.
        let predicted = client.predicted().cloned();
        let last = self.shown.last();
        if !drawn.is_empty() || last.is_none_or(|last| last.predicted != predicted) {
            let snapshots = last.map(|last| &last.snapshot);
            let known = self.last_shown.as_ref().zip(snapshots);
            self.shown.push(ClientScreen {
                at: now,
                snapshot: ScreenSnapshot::of(outer.screen(), known),
                predicted,
            });
            self.last_shown = Some(outer.screen().clone());
        }
    }

    /// Returns the number of bytes that a state of the user stream holds.
    fn bytes_of(&self, state: StateNumber) -> u64 {
        let known = self.states.range(..=state).next_back();
        known.map_or(0, |(_, bytes)| *bytes)
    }
}

impl ClientUser for RecordedUser {
    fn act(&mut self, now: Duration, client: &mut Client) -> bool {
        if self.press(now, client) {
            return true;
        }
        self.show(now, client);
        false
    }

    fn poll_timeout(&self) -> Option<Duration> {
        match self.phase {
            Phase::Typing { began } => self.plan.front().map(|(after, _)| began + *after),
            Phase::Arriving | Phase::Starting => None,
        }
    }

    fn handle_sent(&mut self, state: StateNumber) {
        self.states.entry(state).or_insert(self.bytes_typed);
        self.sent_state = self.sent_state.max(state);
    }

    /// Notes what came with an instruction, if it brought the newest state or was about it.
    fn handle_received(&mut self, now: Duration, client: &Client, received: &Received) {
        let Some(instruction) = received.instruction else {
            return;
        };
        let numbers = instruction.numbers;
        if is_news(instruction.outcome, numbers.target == self.state) {
            self.state = numbers.target;
            self.received = self.received.max(self.bytes_of(numbers.acknowledged));
            self.note_update(now, client);
        }
    }
}

/// Returns true if an instruction brought the newest state, or was about it once more.
fn is_news(outcome: Option<StateOutcome>, is_of_newest: bool) -> bool {
    match outcome {
        Some(StateOutcome::Newest) => true,
        Some(StateOutcome::Duplicate) => is_of_newest,
        _ => false,
    }
}

fn shows_ready(screen: &Screen) -> bool {
    (0..screen.size().rows()).any(|row| {
        let mut text = String::new();
        screen.row(Row(row)).push_text(&mut text);
        text.contains(READY)
    })
}

/// Returns everything that the user of a recording does, and when after its beginning.
fn plan(recording: &Trace) -> VecDeque<(Duration, UserInput)> {
    let (mut first, mut key) = (UNSEEN_START.len() as u64, 0);
    let mut plan = VecDeque::new();
    // The first is the size at the beginning.
    for record in recording.records().iter().skip(1) {
        let input = match &record.event {
            Event::User(bytes) => {
                let typed = keystrokes(bytes).filter(|keystroke| keystroke.kind.is_typed());
                let typed: Vec<&[u8]> = typed.map(|keystroke| keystroke.bytes).collect();
                let read = KeyboardRead {
                    bytes: typed.concat(),
                    first,
                    key,
                    count: typed.len(),
                    sent_state: 0,
                };
                first += read.bytes.len() as u64;
                key += read.count;
                (read.count > 0).then_some(UserInput::Keys(read))
            }
            Event::Size(size) => Size::new(size.rows, size.columns).map(UserInput::Resize),
            Event::Host(_) => None,
        };
        plan.extend(input.map(|input| (record.at - recording.began(), input)));
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reads of a plan: when, the bytes, and the numbers of the first byte, the first key and the keys.
    fn reads(trace: &[u8]) -> Vec<(u64, Vec<u8>, u64, usize, usize)> {
        let plan = plan(&Trace::parse(trace).unwrap()).into_iter();
        let reads = plan.filter_map(|(after, input)| match input {
            UserInput::Keys(keys) => {
                let after = after.as_millis() as u64;
                Some((after, keys.bytes, keys.first, keys.key, keys.count))
            }
            UserInput::Resize(_) => None,
        });
        reads.collect()
    }

    #[test]
    fn keys_come_as_they_were_recorded_and_are_counted_behind_the_start() {
        let trace = b"500000 SIZE 20 4\n600000 HOST 2\n$ \n1500000 USER 4\nl\x1b[A\n\
            1501000 HOST 1\nl\n2500000 USER 1\n\r\n";
        let expected = [
            (1000, b"l\x1b[A".to_vec(), 4, 0, 2),
            (2000, b"\r".to_vec(), 8, 2, 1),
        ];
        assert_eq!(reads(trace), expected);
    }

    #[test]
    fn what_a_terminal_answers_by_itself_is_not_typed() {
        let trace = b"0 SIZE 20 4\n1000000 USER 7\n\x1b[?1;2c\n2000000 USER 8\na\x1b[?1;2c\n\
            3000000 USER 1\nb\n";
        let expected = [
            (2000, b"a".to_vec(), 4, 0, 1),
            (3000, b"b".to_vec(), 5, 1, 1),
        ];
        assert_eq!(reads(trace), expected);
    }

    #[test]
    fn the_first_size_is_there_and_others_come() {
        let trace = b"0 SIZE 20 4\n1000000 SIZE 30 5\n";
        let plan = plan(&Trace::parse(trace).unwrap());
        let sizes = plan.iter().map(|(after, input)| match input {
            UserInput::Resize(size) => (after.as_secs(), size.columns(), size.rows()),
            UserInput::Keys(keys) => panic!("{keys:?}"),
        });
        assert_eq!(
            sizes.collect::<Vec<_>>(),
            [(1, 30, 5)],
            "0 columns are no window"
        );
    }

    #[test]
    fn a_state_holds_what_was_typed_when_it_was_sent_first() {
        let recording = Trace::parse(b"0 SIZE 20 4\n").unwrap();
        let mut user = RecordedUser::new(Size::default(), &recording, false);
        user.bytes_typed = 7;
        user.handle_sent(StateNumber::new(3));
        user.bytes_typed = 9;
        user.handle_sent(StateNumber::new(3));
        user.handle_sent(StateNumber::new(5));
        let held = [0, 2, 3, 4, 5, 99].map(|state| user.bytes_of(StateNumber::new(state)));
        assert_eq!(held, [0, 0, 7, 7, 9, 9]);
        assert_eq!(user.sent_state, StateNumber::new(5));
    }

    #[test]
    fn only_the_newest_state_and_what_is_said_of_it_again_are_news() {
        let news = |outcome| [true, false].map(|is_of_newest| is_news(outcome, is_of_newest));
        assert_eq!(news(Some(StateOutcome::Newest)), [true; 2]);
        assert_eq!(news(Some(StateOutcome::Duplicate)), [true, false]);
        assert_eq!(news(Some(StateOutcome::Behind)), [false; 2]);
        assert_eq!(news(None), [false; 2]);
    }
}
