//! The client of a session as a state machine.

mod config;
mod drawing;
mod history;
mod leaving;
mod way;

use std::collections::VecDeque;
use std::time::Duration;

use fulmar_base::{Hint, PathId, SendError, Time};
use fulmar_datagram::{Direction, Opener, Sealer};
use fulmar_predict::{Overlay, PredictionDecision, TtyHints};
use fulmar_terminal::{Screen, Size, TerminalReport};
use fulmar_transport::{
    Arrival, DatagramVerdict, Dialect, DropReason, Endpoint, EndpointConfig, EndpointEvent,
    Received, Role, StateNumber, StateOutcome, Transmit,
};

pub use self::config::ClientConfig;
use self::leaving::Leaving;
use crate::agreement::Agreement;
use crate::capability::{Capabilities, Capability};
use crate::client_lifecycle::{ClientEnding, Lifecycle};
use crate::display::{Display, LastScreen};
use crate::escape_key::{Command, EscapeReader};
use crate::exit_status::{ExitStatus, WIRE_TAKEN_OVER};
use crate::host_screen::HostScreen;
use crate::key_event::key_events;
use crate::link_info::LinkInfo;
use crate::notice::{Delivery, Notices, ServerLiveness};
use crate::numbering::Numbering;
use crate::prediction::Prediction;
use crate::random::SeededNoise;
use crate::send_trouble;
use crate::terminal_probe::TerminalProbe;
use crate::user_stream::UserStream;
use crate::wake::Wake;
use crate::ways::Way;

/// Input that the server has not acknowledged; with more, no keys are read.
///
/// Source: docs/threat-model.md §6.
const UNACKNOWLEDGED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The time for which nothing is drawn in a window whose size has changed, if it keeps what leaves it: what was meant for another
/// size could overwrite lines that it has brought down from above. Chosen by eye: two steps of a window that a hand drags.
const RESIZE_SETTLES: Duration = Duration::from_millis(40);

/// The notice for a session that would not outlive its client.
const NOT_DETACHED: &str = "this server cannot keep a session without its client";

/// The notice for a session whose lines are not kept.
const NO_SCROLLBACK: &str = "this session keeps no lines that have left the screen";

/// The notice for a session that is only about to begin.
const NOT_YET_DETACHED: &str = "a session can be left once its server has answered";

/// News for the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientEvent {
    /// The user wants the shell back: write what [`Client::leave`] gives, restore the terminal's
    /// settings, stop the process group; afterwards say [`Client::handle_resumed`].
    Suspend,
    /// The user wants ssh to be run on the terminal, where it can ask, so that it carries the session: write what
    /// [`Client::leave`] gives, and afterwards say [`Client::handle_resumed`]. Or tell why not.
    RunSsh,
    /// The user wants to read what has left the screen: write what [`Client::leave`] gives, show [`Client::scrollback_text`] in a pager, and
    /// afterwards say [`Client::handle_resumed`].
    OpenPager,
    /// Open a path from a new local port and say so with [`Client::handle_path_opened`].
    OpenPath,
    /// This path is not needed any more.
    ClosePath {
        /// The path.
        path: PathId,
    },
    /// The session is over: draw once more, write what [`Client::leave`] gives, and go.
    Ended(ClientEnding),
}

/// The client: a user's terminal, and the conversation with a server.
///
/// Owns no socket, no terminal, no clock. Hand over what has happened (`handle_*`, `request_exit`),
/// then fetch `poll_event` until `None`, drain `poll_transmit` until `None`, [`draw`](Client::draw)
/// if the terminal has taken all that was drawn before, fetch events once more, and sleep until
/// `poll_timeout` at the latest. It begins to send when the first path is open
/// ([`Client::handle_path_opened`]).
///
/// ```text
///  tty ─► handle_keys ─► EscapeReader ─► UserStream ─► Endpoint ─► poll_transmit ─► sockets
///  tty ◄─ draw ◄─ Display ◄─ notice, HostScreen ◄──────── " ◄─ handle_datagram ◄─ sockets
/// ```
pub struct Client {
    endpoint: Endpoint<UserStream, HostScreen>,
    numbering: Numbering,
    /// The capabilities that may be used once the server has shown that it agreed, too.
    capabilities: Capabilities,
    /// The user stream up to its end; the endpoint has snapshots.
    stream: UserStream,
    keys: EscapeReader,
    probe: TerminalProbe,
    /// The report about the user's terminal, until the server has it.
    report: Option<TerminalReport>,
    /// True if the server is to cut no lines anew.
    crops: bool,
    notices: Notices,
    is_server_local: bool,
    /// The session was there before us.
    attaches: bool,
    /// The way in use, if there is a choice, or the user has made it.
    way: Option<Way>,
    is_way_wished: bool,
    /// The reason why the system has refused to send, the last time that it did.
    send_error: Option<SendError>,
    /// The datagrams of the newest transmission.
    offered: u64,
    /// The number of datagrams that have not left, but for the one of each error.
    withheld: u64,
    /// The reason why a datagram cannot have arrived, by the last report that was believed.
    report_error: Option<SendError>,
    prediction: Prediction,
    /// The overlay that was drawn last.
    predicted: Option<Overlay>,
    display: Display,
    last_screen: LastScreen,
    size: Size,
    lifecycle: Lifecycle,
    leaving: Leaving,
    suspended: Option<Time>,
    /// The time at which a window that has just changed may be drawn on again.
    resize_settles: Option<Time>,
    /// True if what is to be seen may have changed since it was drawn.
    is_stale: bool,
    /// The time at which the notice reads differently although nothing happens.
    notice_due: Option<Time>,
    events: VecDeque<ClientEvent>,
}

impl Client {
    /// Returns a client that has said nothing yet.
    pub fn new(now: Time, config: ClientConfig) -> Client {
        let ClientConfig {
            key,
            agreement,
            size,
            datagram_bytes,
            outer,
            keeps_history,
            last_screen,
            reflow,
            checksums,
            escape_key,
            compat,
            title_prefix,
            session_label,
            server_label,
            is_server_local,
            prediction,
            server_reports,
            attaches,
            seed,
        } = config;
        let delivery = if server_reports {
            Delivery::Awaited
        } else {
            Delivery::Unknown
        };
        let opener = Opener::new(&key, Direction::ToClient);
        let numbering = Numbering::from_seed(seed);
        let mut sealer = Sealer::new(key, Direction::ToServer);
        sealer.skip_to(numbering.first);
        let mut stream = UserStream::writing();
        let capabilities = Agreement::capabilities_of(agreement);
        let mut endpoint = Endpoint::new(
            now,
            EndpointConfig {
                role: Role::Client,
                datagram_bytes,
                agreement: agreement.map(Agreement::terms),
            },
            sealer,
            opener,
            stream.clone(),
            HostScreen::blank(size).reading(capabilities),
            Box::new(SeededNoise::new(seed)),
        );
        // The first event of a stream is the window's size: docs/protocol.md §6.1.
        stream.push_resize(size);
        endpoint.set_local(now, stream.clone());
        let mut notices = Notices::new(now, compat, server_label, delivery, escape_key);
        notices.set_server_local(is_server_local);
        let mut display = if keeps_history {
            Display::keeping_history(outer, title_prefix)
        } else {
            Display::new(outer, title_prefix)
        };
        display.set_label(session_label);
        Client {
            endpoint,
            numbering,
            capabilities,
            stream,
            keys: EscapeReader::new(escape_key, compat),
            probe: TerminalProbe::default(),
            report: Some(TerminalReport {
                crops: !reflow,
                checksums,
                ..TerminalReport::default()
            }),
            crops: !reflow,
            notices,
            is_server_local,
            attaches,
            way: None,
            is_way_wished: false,
            send_error: None,
            report_error: None,
            offered: 0,
            withheld: 0,
            prediction: Prediction::new(prediction, size),
            predicted: None,
            display,
            last_screen,
            size,
            lifecycle: Lifecycle::begin(now),
            leaving: Leaving::default(),
            suspended: None,
            resize_settles: None,
            is_stale: true,
            notice_due: None,
            events: VecDeque::new(),
        }
    }

    /// Takes in a datagram.
    pub fn handle_datagram(&mut self, now: Time, arrival: Arrival<'_>) -> Received {
        let received = self.endpoint.handle_datagram(now, arrival);
        // The server is ours now: numbers go on where no second client with this key begins
        // (docs/decisions/027-first-sequence-number.md).
        if received.sequence.is_some() {
            self.endpoint.skip_to(self.numbering.answered);
        }
        let is_refused = received.verdict == DatagramVerdict::Dropped(DropReason::BadDifference);
        if received.verdict == DatagramVerdict::Fresh || is_refused {
            self.notices.note_answer();
            self.is_stale = true;
        }
        let instruction = received.instruction.as_ref();
        let outcome = instruction.and_then(|instruction| instruction.outcome);
        if is_refused || outcome == Some(StateOutcome::Newest) {
            self.notices.set_refusing(is_refused);
        }
        self.follow(now, &received);
        self.settle();
        self.leave_if_all_arrived(now);
        self.report_terminal(now);
        received
    }

    /// Takes note that the newest transmission was not sent, since whoever has the server's address has had enough.
    pub fn handle_withheld(&mut self) {
        self.withheld += self.offered;
    }

    /// Takes note that the system refused to send the newest transmission.
    pub fn handle_send_error(&mut self, now: Time, path: PathId, error: SendError) {
        self.send_error = Some(error);
        self.withheld += self.offered.saturating_sub(1);
        if self.endpoint.handle_send_error(now, path, error) {
            self.note_trouble(now, error, self.send_trouble(error));
        }
        self.is_stale = true;
        self.settle();
    }

    /// Takes note that somebody has reported why a datagram cannot have arrived. It is believed, and
    /// told, only as long as the server does not answer. Returns whether it is.
    pub fn handle_report(&mut self, now: Time, path: PathId, error: SendError) -> bool {
        let is_believed = self.endpoint.handle_report(now, path, error);
        if is_believed {
            self.report_error = Some(error);
            let server = self.notices.server();
            let told = send_trouble::of_report(error, server, self.is_server_local);
            self.note_trouble(now, error, told);
            self.is_stale = true;
        }
        self.settle();
        is_believed
    }

    /// Takes note that this machine itself has reported that the next hop does not answer on the local network. Nobody
    /// refuses anything then. It is believed, and told, only as long as the server does not answer.
    pub fn handle_silent_next_hop(&mut self, now: Time, path: PathId) {
        if self
            .endpoint
            .handle_report(now, path, SendError::Unreachable)
        {
            self.notices.note_silent_next_hop(now);
            self.is_stale = true;
        }
        self.settle();
    }

    /// Takes note of a change in the world.
    pub fn handle_hint(&mut self, now: Time, hint: Hint) {
        self.endpoint.handle_hint(now, hint);
        if let Hint::Woke { slept } = hint {
            self.lifecycle.note_sleep(slept);
        }
        self.is_stale = true;
        self.settle();
    }

    /// Takes note that the edge has opened a path, because of [`ClientEvent::OpenPath`] or on its own. The
    /// first one lets the session begin.
    pub fn handle_path_opened(&mut self, now: Time, path: PathId) {
        self.endpoint.handle_path_opened(now, path);
        self.is_stale = true;
        self.settle();
    }

    /// Takes note that the server has said, by another way, that it has heard us.
    pub fn note_heard(&mut self) {
        self.notices.set_heard();
        self.is_stale = true;
    }

    /// Shows something that the user is to know in the notice line for a while, or until the next
    /// key. It has no control characters.
    pub fn tell(&mut self, now: Time, what: String) {
        self.notices.tell(now, what);
        self.is_stale = true;
    }

    /// Takes note that time has passed.
    pub fn handle_timeout(&mut self, now: Time) {
        Wake::log(self.poll_timeout(), now);
        self.endpoint.handle_timeout(now);
        let [title, event] = self.display.dues();
        for due in [self.notice_due, title, event, self.prediction.due()] {
            self.is_stale |= due.is_some_and(|due| due <= now);
        }
        self.resize_settles.take_if(|settles| *settles <= now);
        if self.connect_limit().is_some_and(|limit| limit <= now) {
            self.go(now, self.lifecycle.give_up(self.contact()));
        }
        if self.leaving_due().is_some_and(|due| due <= now) {
            self.leave_session(now);
        }
        let mut keys = Vec::new();
        self.probe.handle_timeout(now, &mut keys);
        if !keys.is_empty() {
            self.handle_typed(now, &keys);
        }
        self.report_terminal(now);
        self.settle();
    }

    /// Takes in what came from the user's terminal: what was typed, and answers.
    pub fn handle_keys(&mut self, now: Time, bytes: &[u8]) {
        if self.probe.is_over() {
            return self.handle_typed(now, bytes);
        }
        let mut keys = Vec::new();
        for answer in self.probe.read(now, bytes, &mut keys) {
            tracing::debug!(?answer, "the terminal");
            self.display.learn(&answer);
            if let Some(report) = &mut self.report {
                report.learn(&answer);
            }
            self.is_stale = true;
        }
        self.report_terminal(now);
        if !keys.is_empty() {
            self.handle_typed(now, &keys);
        }
    }

    /// Returns the time up to which the edge has to read what comes from the terminal before it gives it back. `None` if
    /// no answers are on their way.
    pub fn answers_due(&self) -> Option<Time> {
        self.probe.answers_due()
    }

    /// Takes in what the user typed. A key that closes a panel is not for the program.
    fn handle_typed(&mut self, now: Time, bytes: &[u8]) {
        let is_encoded = self.endpoint.remote().screen().keyboard_flags() != 0;
        let mut pressed = key_events(bytes, is_encoded).filter(|key| !key.is_release);
        let first = pressed.next();
        let only = first.filter(|_| pressed.next().is_none());
        if self.takes_keys()
            && !self.keys.is_armed()
            && let Some(key) = only
            && let Some(byte) = key.byte
            && self.notices.closes_panel(now, byte)
        {
            self.keys.consume(key.code);
            self.notices.dismiss();
            self.is_stale = true;
            return;
        }
        let mut typed = Vec::new();
        let commands = self.keys.read(bytes, is_encoded, &mut typed);
        if self.takes_keys() && !typed.is_empty() {
            self.leaving.forget_warning();
            self.prediction.handle_keys(now, &typed);
            self.stream.push_keys(&typed);
            self.endpoint.set_local(now, self.stream.clone());
            if first.is_some() {
                self.notices.dismiss();
            }
        }
        for command in commands {
            self.run_command(now, command);
        }
        self.notices.set_armed(self.keys.is_armed());
        self.is_stale = true;
        self.settle();
    }

    /// Tells whether keys may be handed over. If not, leave them where they are: more than enough
    /// is waiting for the server.
    pub fn wants_keys(&self) -> bool {
        self.stream.pending_bytes() < UNACKNOWLEDGED_BYTES_MAX
    }

    /// Takes note of the window's size.
    pub fn handle_resize(&mut self, now: Time, size: Size) {
        if size != self.size {
            if self.lifecycle.is_open() {
                self.stream.push_resize(size);
                self.endpoint.set_local(now, self.stream.clone());
            }
            self.prediction.handle_resize(now, size);
            if self.display.keeps_history() {
                self.resize_settles = Some(now + RESIZE_SETTLES);
            }
        }
        self.size = size;
        // What a terminal makes of its content is its own affair.
        self.display.forget();
        self.is_stale = true;
        self.settle();
    }

    /// Takes note that the process was stopped and goes on, with the terminal its own again and
    /// showing anything.
    pub fn handle_resumed(&mut self, now: Time) {
        let slept = now.since(self.suspended.take().unwrap_or(now));
        self.display.forget();
        self.handle_hint(now, Hint::Woke { slept });
    }

    /// Returns datagrams to send now, and puts them into `out` in place of what that held; `None` if
    /// there is nothing to send at present.
    pub fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> Option<Transmit> {
        let transmit = self.endpoint.poll_transmit(now, out);
        match &transmit {
            Some(transmit) => {
                self.offered = transmit.datagrams() as u64;
                let sent = self.endpoint.sender().sent();
                let number = transmit.numbers.instruction.target;
                self.prediction.note_sent(number, || sent.typed_bytes());
            }
            None => self.settle(),
        }
        transmit
    }

    /// Returns the next news.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }

    /// Returns when the client next wants to be woken, and what for.
    pub fn poll_timeout(&self) -> Option<(Time, Wake)> {
        if self.lifecycle.has_ended() {
            return None;
        }
        let transport = self.endpoint.poll_timeout();
        let (notice, [title, event]) = (self.notice_due, self.display.dues());
        let prediction = self.prediction.due();
        Wake::earliest([
            transport.map(|(at, cause)| (at, Wake::Transport(cause))),
            self.connect_limit().map(|at| (at, Wake::ConnectLimit)),
            self.leaving_due().map(|at| (at, Wake::Leaving)),
            // What is stale is drawn as soon as the terminal can take it, not at a time.
            notice
                .filter(|_| !self.is_stale)
                .map(|at| (at, Wake::Notice)),
            title.filter(|_| !self.is_stale).map(|at| (at, Wake::Title)),
            event.filter(|_| !self.is_stale).map(|at| (at, Wake::Event)),
            prediction
                .filter(|_| !self.is_stale)
                .map(|at| (at, Wake::Prediction)),
            self.resize_settles.map(|at| (at, Wake::Resize)),
            self.probe.due().map(|at| (at, Wake::Key)),
            self.report_due().map(|at| (at, Wake::Report)),
        ])
    }

    /// Returns the program's screen, as far as it has arrived.
    pub fn screen(&self) -> &Screen {
        self.endpoint.remote().screen()
    }

    /// Returns the predictions that were last drawn over it.
    pub fn predicted(&self) -> Option<&Overlay> {
        self.predicted.as_ref()
    }

    /// The newest state of what the user typed that the program has had time to answer on the
    /// [`screen`](Client::screen).
    pub fn echo_ack(&self) -> StateNumber {
        self.endpoint.remote().echo_ack()
    }

    /// Returns true if the server has not answered, although it has had the time to.
    pub fn is_answer_late(&self, now: Time) -> bool {
        !self.is_connected() && self.lifecycle.is_answer_late(now)
    }

    /// Returns true once the server has answered.
    pub fn is_connected(&self) -> bool {
        self.endpoint.heard_at().is_some()
    }

    /// Returns true if the server had answered, and nothing listens at its port any more, as far as anybody has said.
    pub fn is_server_gone(&self) -> bool {
        self.notices.is_server_gone(self.liveness())
    }

    /// Returns why the system lets nothing out, if nothing has got out.
    pub fn unsent_because(&self) -> Option<SendError> {
        self.send_error.filter(|_| !self.could_be_heard())
    }

    /// Returns true if somebody on the way has said that it lets nothing through, and not that nobody listens.
    pub fn is_filtered(&self) -> bool {
        matches!(
            self.report_error,
            Some(SendError::Forbidden | SendError::Unreachable)
        )
    }

    /// Returns true if the server is on this machine, so that nothing between it and the client can reject datagrams.
    pub fn is_server_local(&self) -> bool {
        self.is_server_local
    }

    /// Returns how the server's program ended, if the server has said so: both have to have agreed on
    /// [`Capability::Exit`].
    pub fn exit_status(&self) -> Option<ExitStatus> {
        let number = self.endpoint.farewell()?;
        let is_agreed = self.capabilities.has(Capability::Exit);
        ExitStatus::from_wire(number).filter(|_| is_agreed)
    }

    /// Returns who has taken the session, in the words of its server, if it has said so.
    pub fn taken_by(&self) -> Option<&str> {
        let words = self.endpoint.farewell_words()?;
        self.is_taken_over().then_some(words.as_str())
    }

    /// Returns the dialect that is spoken with the server.
    pub fn dialect(&self) -> Dialect {
        self.endpoint.dialect()
    }

    /// Returns what is known of the connection to the server.
    pub fn link_info(&self) -> LinkInfo {
        LinkInfo {
            way: self.way,
            is_way_wished: self.is_way_wished,
            prediction: self.prediction.score(),
            ..LinkInfo::of(&self.endpoint)
        }
    }

    /// Has [`take_decisions`](Client::take_decisions) return what prediction decides from now on.
    pub fn observe_prediction(&mut self) {
        self.prediction.observe();
    }

    /// Returns what prediction has decided since the last call, each with its time: for a
    /// [trace](crate::trace).
    pub fn take_decisions(&mut self) -> Vec<(Time, PredictionDecision)> {
        self.prediction.take_decisions()
    }

    /// Returns what the server has told of its program beside the screen: both have to have agreed on
    /// [`Capability::Hints`].
    pub fn hints(&self) -> Option<TtyHints> {
        let is_agreed = self.capabilities.has(Capability::Hints);
        let hints = self.endpoint.remote().hints();
        hints.filter(|_| is_agreed && self.dialect() == Dialect::Native)
    }

    /// Returns true if the server has said by another way that it has heard us; `None` if it does not do that.
    pub fn is_heard(&self) -> Option<bool> {
        match self.notices.delivery() {
            Delivery::Unknown => None,
            Delivery::Awaited => Some(false),
            Delivery::Heard => Some(true),
        }
    }

    /// Returns the number of bytes that were typed and that the server has not acknowledged.
    pub fn unacknowledged_keys(&self) -> usize {
        self.stream.pending_keys()
    }

    /// Returns the number of bytes of input that the server has not acknowledged.
    pub fn unacknowledged_bytes(&self) -> usize {
        self.stream.pending_bytes()
    }

    fn run_command(&mut self, now: Time, command: Command) {
        match command {
            Command::Quit => self.quit(now, ClientEnding::UserQuit),
            Command::Suspend => {
                self.suspended = Some(now);
                self.events.push_back(ClientEvent::Suspend);
            }
            Command::Repaint => self.display.forget(),
            Command::Detach => {
                if !self.detach(now) {
                    let why = if self.is_connected() {
                        NOT_DETACHED
                    } else {
                        NOT_YET_DETACHED
                    };
                    self.notices.tell(now, why.to_owned());
                }
            }
            Command::Help => self.notices.show_help(now),
            Command::LinkInfo => self.notices.show_link_info(now),
            Command::RunSsh => self.events.push_back(ClientEvent::RunSsh),
            Command::OpenPager if self.display.keeps_history() => {
                self.events.push_back(ClientEvent::OpenPager);
            }
            Command::OpenPager => self.notices.tell(now, NO_SCROLLBACK.to_owned()),
        }
    }

    fn note_trouble(&mut self, now: Time, error: SendError, told: String) {
        if error == SendError::Refused {
            self.notices.note_refused(now);
        }
        self.notices.note_trouble(now, told);
    }

    fn connect_limit(&self) -> Option<Time> {
        self.lifecycle.limit(self.is_connected())
    }

    fn liveness(&self) -> ServerLiveness {
        let heard = self.endpoint.heard_at();
        ServerLiveness {
            heard,
            silent_since: self.endpoint.silent_since(),
            // State 0 is acknowledged from the beginning; that proves nothing.
            answered: heard.map(|_| self.endpoint.unproven_since()),
            round_trip: self.endpoint.round_trip().smoothed(),
        }
    }

    /// Has prediction follow what has come from the server.
    fn follow(&mut self, now: Time, received: &Received) {
        let round_trip = self.endpoint.round_trip();
        let round_trip = round_trip.is_known().then(|| round_trip.smoothed());
        self.prediction.handle_link(round_trip);
        let Some(instruction) = received.instruction else {
            return;
        };
        let numbers = instruction.numbers;
        // The newest screen once more: that the server has more keys by now is news of it, too.
        let is_repeated = numbers.target == self.endpoint.remote_number()
            && instruction.outcome == Some(StateOutcome::Duplicate);
        if is_repeated || instruction.outcome == Some(StateOutcome::Newest) {
            let hints = self.hints();
            let acknowledged = numbers.acknowledged;
            let state = self.endpoint.remote();
            self.prediction
                .handle_frame(now, state, acknowledged, hints);
        }
    }

    /// Draws the conclusions from whatever has happened.
    fn settle(&mut self) {
        while let Some(event) = self.endpoint.poll_event() {
            match event {
                EndpointEvent::OpenPath => self.events.push_back(ClientEvent::OpenPath),
                EndpointEvent::ClosePath { path } => {
                    self.events.push_back(ClientEvent::ClosePath { path })
                }
                // A screen has no past that could be forgotten.
                EndpointEvent::RemoteAdvanced { .. } => self.is_stale = true,
                EndpointEvent::DialectDecided { dialect } => self.handle_dialect(dialect),
                EndpointEvent::Ended(ending) => {
                    let (connected, taken) = (self.is_connected(), self.is_taken_over());
                    self.end(self.lifecycle.ending(ending, connected, taken));
                }
                _ => {}
            }
        }
        let is_full = !self.wants_keys();
        self.is_stale |= self.notices.set_input_full(is_full);
    }

    /// Returns the time at which a report goes out in any case.
    fn report_due(&self) -> Option<Time> {
        let is_owed = self.report.is_some() && self.may_report();
        self.probe.given_up_at().filter(|_| is_owed)
    }

    /// Returns true if the server takes reports about the user's terminal.
    fn may_report(&self) -> bool {
        let is_agreed = self.capabilities.has(Capability::Terminal);
        is_agreed && self.dialect() == Dialect::Native && self.lifecycle.is_open()
    }

    /// Tells the server what the user's terminal is like, once that is known, or the last answer does not come.
    fn report_terminal(&mut self, now: Time) {
        let is_given_up = self.probe.given_up_at().is_some_and(|at| at <= now);
        let is_known = (self.probe.is_over() || is_given_up) && self.display.has_asked_all();
        if is_known
            && self.may_report()
            && let Some(report) = self.report.take()
        {
            self.stream.push_terminal(report);
            self.endpoint.set_local(now, self.stream.clone());
            self.settle();
        }
    }

    fn handle_dialect(&mut self, dialect: Dialect) {
        tracing::info!(?dialect, "the server has spoken");
        // The endpoint says goodbye by itself then.
        if dialect == Dialect::Altered {
            self.lifecycle.begin_closing(ClientEnding::Altered);
            self.show_closing();
        }
    }

    fn is_taken_over(&self) -> bool {
        self.capabilities.has(Capability::Exit) && self.endpoint.farewell() == Some(WIRE_TAKEN_OVER)
    }
}

#[cfg(test)]
mod tests;
