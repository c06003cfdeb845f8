//! The server of a session as a state machine.

mod program_end;

use std::collections::VecDeque;
use std::time::Duration;

use fulmar_base::{Hint, PathId, SendError, Time};
use fulmar_datagram::Key;
use fulmar_datagram::limits::DATAGRAM_BYTES_IPV4;
use fulmar_terminal::{Screen, ScrollbackLimits, Size, TerminalReport};
use fulmar_transport::{
    Arrival, Dialect, Ending, EndpointEvent, FarewellWords, Received, StateNumber, Transmit,
};

use crate::agreement::Agreement;
use crate::attachment::Attachment;
use crate::client_liveness::{Change, ClientLiveness};
use crate::connection::{Connection, ConnectionConfig};
use crate::exit_status::ExitStatus;
use crate::host_screen::HostScreen;
use crate::link_info::LinkInfo;
use crate::pty_replies::TtyReader;
use crate::random::Seed;
use crate::session::Session;
use crate::tty_watch::TtyState;
use crate::wake::Wake;

/// The settings of a server.
pub struct ServerConfig {
    /// The key of the conversation.
    pub key: Key,
    /// The agreement with the client; `None` with a stock one.
    pub agreement: Option<Agreement>,
    /// The window's size until the client tells its own.
    pub size: Size,
    /// The longest datagram to send: see
    /// [`DATAGRAM_BYTES_IPV4`] and
    /// [`DATAGRAM_BYTES_IPV6`](fulmar_datagram::limits::DATAGRAM_BYTES_IPV6).
    pub datagram_bytes: usize,
    /// The time for which the session outlives the last sign of its client; `None` for ever.
    /// (`MOSH_SERVER_NETWORK_TMOUT`)
    pub network_timeout: Option<Duration>,
    /// The silence of the client after which [`ExitRequest::IfIdle`] is obeyed. (`MOSH_SERVER_SIGNAL_TMOUT`)
    pub signal_timeout: Option<Duration>,
    /// The lines above the screen that are kept, if the client takes them.
    pub history: ScrollbackLimits,
    /// For the chaff and for a salt; from the system's random source.
    pub seed: Seed,
}

impl ServerConfig {
    /// Returns what a server is without further wishes: 80x24, datagrams for IPv4, no timeouts,
    /// nothing agreed on.
    pub fn new(key: Key, seed: Seed) -> ServerConfig {
        ServerConfig {
            key,
            agreement: None,
            size: Size::default(),
            datagram_bytes: DATAGRAM_BYTES_IPV4,
            network_timeout: None,
            signal_timeout: None,
            history: ScrollbackLimits::default(),
            seed,
        }
    }
}

/// The settings of an attachment: those of a client that takes a session which is there.
pub struct AttachConfig {
    /// The key of the new conversation: never one that was used before.
    pub key: Key,
    /// The agreement with the client.
    pub agreement: Agreement,
    /// The size of the blank screen from which both ends start: as in [`ServerConfig`].
    pub size: Size,
    /// The longest datagram to send.
    pub datagram_bytes: usize,
    /// Says who attaches, to the client that loses the session.
    pub taker: Option<FarewellWords>,
    /// For the chaff; from the system's random source.
    pub seed: Seed,
}

/// News for the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerEvent {
    /// The client is there: start the program on a pty of that size. Comes once, before
    /// [`ServerEvent::ResizePty`].
    StartShell {
        /// The window's size.
        size: Size,
    },
    /// Give the pty that size.
    ResizePty {
        /// The window's size.
        size: Size,
    },
    /// The client is at that path, for the first time, again, or anew: for utmp.
    ClientAt {
        /// The path.
        path: PathId,
    },
    /// Nothing has come from the client for 30 s, or it has left: for utmp.
    ClientDetached,
    /// The client of an attachment has taken the session.
    Attached,
    /// An attachment is dropped that was not used, or whose client does not keep the agreement.
    AttachmentDropped,
    /// The session is over; leave.
    Ended(ServerEnding),
}

/// The way in which a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ServerEnding {
    /// The program has ended.
    ProgramEnded,
    /// The client has ended the session.
    ClientLeft,
    /// No client came within 60 s.
    NobodyCame,
    /// The client was away for longer than it may.
    ClientAway,
    /// The edge has asked for it.
    Asked,
    /// The offer or the announcement has changed on its way; nothing was begun.
    Altered,
    /// The key has encrypted all that it safely can.
    KeySpent,
}

/// The reason for which the edge wants the session to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExitRequest {
    /// SIGTERM, SIGINT: say goodbye, or leave at once if nobody is there or it is said already.
    Now,
    /// SIGUSR1: as above, unless the client was heard of within
    /// [`ServerConfig::signal_timeout`].
    IfIdle,
}

/// The clients to be told that their session was taken: of more, the oldest are not told any more.
///
/// Source: docs/threat-model.md §6.
const DISMISSED_MAX: usize = 4;

/// The stage that a session has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Serving,
    /// The program has ended, and the client is told what it has printed above the screen, up to that time.
    Telling(Time),
    /// The client is being told.
    Closing(ServerEnding),
    /// The program has ended, and the client was not there to be told. It is when it is heard again, up to that time.
    Missed(Time),
    /// The client is told once; the session ends when that has been sent.
    Leaving(ServerEnding),
    Ended,
}

/// The server: a session, and the connection to its client.
///
/// Owns no socket, no pty, no clock. Hand over what has happened (`handle_*`, `pty_taken`,
/// `request_exit`), then fetch `poll_event` until `None`, write what [`pty_input`] has, drain
/// `poll_transmit` until `None`, fetch events once more, and sleep until `poll_timeout` at the
/// latest.
///
/// ```text
///  sockets ─► handle_datagram ─► Connection ── user events ─► Session ─► pty_input ─► pty
///  sockets ◄─ poll_transmit ◄────── "  ◄────── screen ───── " ◄── handle_pty_output ◄── pty
/// ```
///
/// [`pty_input`]: Server::pty_input
pub struct Server {
    session: Session,
    connection: Option<Connection>,
    /// The newest screen of the client that has left, without its text.
    told_before: HostScreen,
    /// The connection of a client that is to take the session, and was not heard of yet.
    attachment: Option<Attachment>,
    /// The connections of clients whose session was taken, until they are told; the newest comes last.
    dismissed: VecDeque<Connection>,
    liveness: ClientLiveness,
    phase: Phase,
    /// The end of the program, if it is known.
    status: Option<ExitStatus>,
    has_started_shell: bool,
    signal_timeout: Option<Duration>,
    history: ScrollbackLimits,
    events: VecDeque<ServerEvent>,
}

impl Server {
    /// Returns a server that waits for its client.
    pub fn new(now: Time, config: ServerConfig) -> Server {
        let ServerConfig {
            key,
            agreement,
            size,
            datagram_bytes,
            network_timeout,
            signal_timeout,
            history,
            seed,
        } = config;
        let connection = ConnectionConfig {
            agreement,
            blank: HostScreen::blank(size),
            datagram_bytes,
            seed,
        };
        let connection = Connection::new(now, key, connection);
        let mut session = Session::new(size, seed);
        if connection.may_want_history() {
            session.keep_history(history);
        }
        if connection.reports_terminal() {
            session.await_report();
        }
        Server {
            session,
            connection: Some(connection),
            told_before: HostScreen::blank(size),
            attachment: None,
            dismissed: VecDeque::new(),
            liveness: ClientLiveness::new(now, network_timeout),
            phase: Phase::Serving,
            status: None,
            has_started_shell: false,
            signal_timeout,
            history,
            events: VecDeque::new(),
        }
    }

    /// Expects another client, which takes the session once it is heard in native: the client before it is
    /// told so, and what it says then is not accepted any more. Until then, nothing changes for it. An
    /// attachment that nobody uses within 60 s is dropped, and the session stays.
    ///
    /// The key has to be a new one. Replaces an attachment that nobody has used. Returns false, and does
    /// nothing, if the session is ending.
    #[must_use = "a session that is ending cannot be attached to"]
    pub fn attach(&mut self, now: Time, config: AttachConfig) -> bool {
        if !matches!(self.phase, Phase::Serving | Phase::Missed(_)) {
            return false;
        }
        let AttachConfig {
            key,
            agreement,
            size,
            datagram_bytes,
            taker,
            seed,
        } = config;
        let config = ConnectionConfig {
            agreement: Some(agreement),
            blank: HostScreen::blank(size),
            datagram_bytes,
            seed,
        };
        tracing::info!("another client may attach");
        let connection = Connection::new(now, key, config).attaching();
        self.attachment = Some(Attachment::new(now, connection, taker));
        true
    }

    /// The newest screen that the client has, or the one that has left the session.
    fn told(&self) -> &HostScreen {
        match &self.connection {
            Some(connection) => connection.endpoint.acknowledged(),
            None => &self.told_before,
        }
    }

    /// Drops the attachment that nobody has used, if there is one: its login has ended.
    pub fn drop_attachment(&mut self) {
        self.attachment = None;
    }

    /// Takes in a datagram.
    pub fn handle_datagram(&mut self, now: Time, arrival: Arrival<'_>) -> Option<Received> {
        if let Some(received) = self.hear_attachment(now, arrival) {
            return Some(received);
        }
        for dismissed in &mut self.dismissed {
            let received = dismissed.endpoint.handle_datagram(now, arrival);
            if received.sequence.is_some() {
                self.settle(now);
                return Some(received);
            }
        }
        let connection = self.connection.as_mut()?;
        let received = connection.endpoint.handle_datagram(now, arrival);
        // What is not genuine has changed nothing, and is to cost nothing.
        if received.sequence.is_some() {
            self.settle(now);
        }
        Some(received)
    }

    /// Tells if the number of a path is still needed: something is known of it.
    pub fn remembers(&self, path: PathId) -> bool {
        self.connections()
            .any(|connection| connection.endpoint.remembers(path))
    }

    /// Takes note that the system refused to send.
    pub fn handle_send_error(&mut self, now: Time, path: PathId, error: SendError) {
        for connection in self.speaking() {
            connection.endpoint.handle_send_error(now, path, error);
        }
        self.settle(now);
    }

    /// Takes note of a change in the world.
    pub fn handle_hint(&mut self, now: Time, hint: Hint) {
        for connection in self.speaking() {
            connection.endpoint.handle_hint(now, hint);
        }
        self.settle(now);
    }

    /// Takes note that time has passed.
    pub fn handle_timeout(&mut self, now: Time) {
        Wake::log(self.poll_timeout(), now);
        for connection in self.speaking() {
            connection.endpoint.handle_timeout(now);
        }
        self.session.handle_timeout(now);
        self.settle(now);
    }

    /// Takes in what the program wrote, as much of it as `work` units draw
    /// ([`TURN_WORK_MAX`](fulmar_transport::limits::TURN_WORK_MAX) in a quiet turn), and returns how many bytes
    /// that were: at least one of any. Hand over the others in the next turn, after keys, signals and timers.
    #[must_use = "what was not taken is to be handed over again"]
    pub fn handle_pty_output(&mut self, now: Time, bytes: &[u8], work: u64) -> usize {
        let taken = self.session.handle_output(now, bytes, work);
        self.settle(now);
        taken
    }

    /// Tells if [`handle_tty`](Server::handle_tty) is wanted: each time before bytes of the program are
    /// handed over, before keys are written to it, and before [`handle_timeout`](Server::handle_timeout).
    /// Never in a legacy session.
    pub fn wants_tty(&self) -> bool {
        self.connection
            .as_ref()
            .is_some_and(Connection::wants_hints)
    }

    /// Takes note of what the program's terminal is set to and who has its foreground. The client
    /// is told what is new about it.
    pub fn handle_tty(&mut self, now: Time, tty: TtyState<'_>) {
        if self.wants_tty() && self.session.note_tty(now, tty) {
            self.settle(now);
        }
    }

    /// Tells if [`handle_reader`](Server::handle_reader) is to say how much nobody has read.
    pub fn wants_unread(&self) -> bool {
        self.session.input().replies().wants_unread()
    }

    /// Takes note of who reads what is written to the program's terminal: best said right before the
    /// program's output is read, before anything is written to it, and before
    /// [`handle_timeout`](Server::handle_timeout). Answers to questions of a program are written to whoever
    /// has asked.
    pub fn handle_reader(&mut self, now: Time, reader: TtyReader) {
        self.session.note_reader(now, reader);
    }

    /// Takes note that all output was handed over that was written before the last
    /// [`handle_reader`](Server::handle_reader).
    pub fn handle_pty_drained(&mut self) {
        self.session.note_drained();
    }

    /// Takes in a text that is shown before the program starts, such as a message of the day.
    /// Questions to the terminal in it are not answered.
    pub fn handle_greeting(&mut self, now: Time, bytes: &[u8]) {
        self.session.handle_text(now, bytes);
        self.settle(now);
    }

    /// Takes note that the program has ended, or that its pty does not work any more.
    pub fn handle_pty_closed(&mut self, now: Time) {
        self.session.finish();
        self.settle(now);
        // Only after the last output has become the screen, since a shutdown accepts no further
        // change (docs/protocol.md §5.6).
        self.begin_telling(now);
        self.settle(now);
    }

    /// Takes note of how the program ended. Best said before
    /// [`handle_pty_closed`](Server::handle_pty_closed), so that the first goodbye has it.
    pub fn handle_program_ended(&mut self, now: Time, status: ExitStatus) {
        tracing::info!(?status, "program ended");
        self.status = Some(status);
        if let Some(connection) = &mut self.connection {
            connection.tell_status(status);
        }
        self.settle(now);
    }

    /// Returns what is to be written to the pty next; empty if nothing is. There may be more when
    /// all of it is [taken](Server::pty_taken).
    pub fn pty_input(&self) -> &[u8] {
        if self.has_started_shell {
            self.session.input().front()
        } else {
            &[]
        }
    }

    /// Takes note that the pty took the first `count` bytes.
    pub fn pty_taken(&mut self, now: Time, count: usize) {
        self.session.handle_taken(now, count);
        if let Some(connection) = &mut self.connection {
            connection.endpoint.expect_echo(now);
        }
        self.settle(now);
    }

    /// Asks for the session's end.
    pub fn request_exit(&mut self, now: Time, request: ExitRequest) {
        if request == ExitRequest::IfIdle && !self.is_idle(now) {
            return;
        }
        let can_say_goodbye = self
            .connection
            .as_ref()
            .is_some_and(|connection| connection.endpoint.path().is_some());
        let is_open = matches!(self.phase, Phase::Serving | Phase::Telling(_));
        if is_open && can_say_goodbye {
            self.close(now, ServerEnding::Asked);
        } else {
            self.end(ServerEnding::Asked);
        }
        self.settle(now);
    }

    /// Returns datagrams to send now, and puts them into `out` in place of what that held; `None` if
    /// there is nothing to send at present.
    pub fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> Option<Transmit> {
        for dismissed in &mut self.dismissed {
            if let Some(transmit) = dismissed.endpoint.poll_transmit(now, out) {
                return Some(transmit);
            }
        }
        self.drop_connections(now);
        let connection = self.connection.as_mut()?;
        let transmit = connection.endpoint.poll_transmit(now, out);
        if transmit.is_none() {
            if let Phase::Leaving(why) = self.phase {
                self.end(why);
            }
            self.handle_link_events(now);
        }
        transmit
    }

    /// Returns the next news.
    pub fn poll_event(&mut self) -> Option<ServerEvent> {
        self.events.pop_front()
    }

    /// Returns when the server next wants to be woken, and what for.
    pub fn poll_timeout(&self) -> Option<(Time, Wake)> {
        if self.phase == Phase::Ended {
            return None;
        }
        let spoken = self.connection.iter().chain(&self.dismissed);
        let transport = spoken.filter_map(|connection| connection.endpoint.poll_timeout());
        let attachment = self.attachment.as_ref();
        Wake::earliest([
            transport
                .min()
                .map(|(at, cause)| (at, Wake::Transport(cause))),
            attachment.map(|attachment| (attachment.due(), Wake::Attachment)),
            self.session.due(),
            self.liveness.due().map(|at| (at, Wake::Silence)),
            self.telling_until().map(|at| (at, Wake::LastLines)),
            self.missed_until().map(|at| (at, Wake::Goodbye)),
        ])
    }

    /// Returns the time for which nothing has come from a client; `None` as long as there is one that was heard of
    /// lately, and if there never was any.
    pub fn unattended_for(&self, now: Time) -> Option<Duration> {
        let silence = self.liveness.silence(now);
        let has_left = self.connection.as_ref().is_some_and(Connection::is_left);
        silence.filter(|_| has_left || !self.liveness.is_attended())
    }

    /// Returns the screen that the client is to see.
    pub fn screen(&self) -> &Screen {
        self.session.shown()
    }

    /// Returns the dialect that is spoken with the client; undecided again once the session is over.
    pub fn dialect(&self) -> Dialect {
        let connection = self.connection.as_ref();
        connection.map_or(Dialect::Undecided, |connection| {
            connection.endpoint.dialect()
        })
    }

    /// Returns what is known of the connection to the client, if there is one.
    pub fn link_info(&self) -> Option<LinkInfo> {
        Some(LinkInfo::of(&self.connection.as_ref()?.endpoint))
    }

    /// Returns the number of sizes that the client has asked for and no window can have.
    pub fn ignored_resizes(&self) -> u64 {
        self.session.ignored_resizes()
    }

    /// Returns the number of answers to the program that were dropped because nobody read them in time.
    pub(crate) fn dropped_replies(&self) -> u64 {
        self.session.input().replies().dropped()
    }

    /// Has the attachment take the session if that datagram is its client's and in native. An attachment
    /// whose client speaks anything else than was agreed on is dropped.
    fn hear_attachment(&mut self, now: Time, arrival: Arrival<'_>) -> Option<Received> {
        let attachment = self.attachment.as_mut()?;
        let endpoint = &mut attachment.connection.endpoint;
        let received = endpoint.handle_datagram(now, arrival);
        received.sequence?;
        match endpoint.dialect() {
            Dialect::Undecided => {}
            Dialect::Native => self.take_over(now),
            Dialect::Legacy | Dialect::Altered => {
                tracing::info!("an attachment is dropped: its client does not keep the agreement");
                self.give_up_attachment();
            }
        }
        self.settle(now);
        Some(received)
    }

    fn take_over(&mut self, now: Time) {
        let Some(attachment) = self.attachment.take() else {
            return;
        };
        // What has arrived from the client before is still typed.
        self.handle_link_events(now);
        if !matches!(self.phase, Phase::Serving | Phase::Missed(_)) {
            return;
        }
        tracing::info!("another client has attached");
        self.session.change_client();
        let mut connection = attachment.connection;
        connection.begin_after(now, self.told());
        if connection.may_want_history() {
            self.session.keep_history(self.history);
        }
        if connection.reports_terminal() {
            self.session.await_report();
        }
        let before = self.connection.replace(connection);
        // One that was not heard yet may be on its way, too.
        if let Some(mut before) = before.filter(|before| !before.is_left()) {
            before.dismiss(now, attachment.taker);
            if self.dismissed.len() == DISMISSED_MAX {
                self.dismissed.pop_front();
            }
            self.dismissed.push_back(before);
        }
        self.events.push_back(ServerEvent::Attached);
        self.tell_newcomer(now);
    }

    /// Has the session go on without a client that has left it.
    fn leave_alone(&mut self, now: Time) {
        tracing::info!("the client has left the session");
        self.told_before = self.told().blank_after(Size::default());
        self.connection = None;
        if let Some(change) = self.liveness.note_left(now) {
            self.handle_change(now, change);
        }
    }

    /// Returns the connections whose clients were heard or may be.
    fn connections(&self) -> impl Iterator<Item = &Connection> {
        let attachment = self.attachment.as_ref();
        let attached = attachment.map(|attachment| &attachment.connection);
        let spoken = self.connection.iter().chain(&self.dismissed);
        spoken.chain(attached)
    }

    /// Returns the connections over which something is said.
    fn speaking(&mut self) -> impl Iterator<Item = &mut Connection> {
        self.connection.iter_mut().chain(&mut self.dismissed)
    }

    /// Drops the connections that are done with.
    fn drop_connections(&mut self, now: Time) {
        self.dismissed.retain_mut(|dismissed| {
            while let Some(event) = dismissed.endpoint.poll_event() {
                if let EndpointEvent::Ended(ending) = event {
                    tracing::info!(?ending, "a client before has been told");
                }
            }
            // One that did not answer is told when it wakes up.
            matches!(dismissed.endpoint.ending(), None | Some(Ending::Unanswered))
        });
        if self
            .attachment
            .as_ref()
            .is_some_and(|attachment| attachment.due() <= now)
        {
            tracing::info!("nobody has used an attachment");
            self.give_up_attachment();
        }
    }

    fn give_up_attachment(&mut self) {
        self.attachment = None;
        self.events.push_back(ServerEvent::AttachmentDropped);
    }

    /// Tells if the session serves on after a goodbye of its client.
    fn serves_on(&self) -> bool {
        let connection = self.connection.as_ref();
        self.phase == Phase::Serving
            && connection.is_some_and(|connection| !connection.ends_session())
    }

    fn is_idle(&self, now: Time) -> bool {
        let wanted = self.signal_timeout.unwrap_or_default();
        self.liveness
            .silence(now)
            .is_none_or(|silence| silence >= wanted)
    }

    /// Says goodbye to the client. If there is none, that is the end.
    fn close(&mut self, now: Time, why: ServerEnding) {
        let why = match self.phase {
            Phase::Telling(_) => ServerEnding::ProgramEnded,
            _ => why,
        };
        match &mut self.connection {
            _ if !matches!(self.phase, Phase::Serving | Phase::Telling(_)) => {}
            Some(connection) => {
                self.phase = Phase::Closing(why);
                if why == ServerEnding::ProgramEnded {
                    connection.persist_goodbye(self.status);
                }
                connection.endpoint.start_shutdown(now);
            }
            None => self.end(why),
        }
    }

    fn end(&mut self, why: ServerEnding) {
        if self.phase != Phase::Ended {
            let connection = self.connection.as_ref();
            let counters = connection.map(|connection| connection.endpoint.counters());
            let (ignored_resizes, dropped_replies) =
                (self.ignored_resizes(), self.dropped_replies());
            tracing::info!(
                ?why,
                ?counters,
                ignored_resizes,
                dropped_replies,
                "session ended"
            );
            self.phase = Phase::Ended;
            self.connection = None;
            self.attachment = None;
            self.dismissed.clear();
            self.events.push_back(ServerEvent::Ended(why));
        }
    }

    /// Draws the conclusions from whatever has happened.
    fn settle(&mut self, now: Time) {
        self.drop_connections(now);
        self.handle_link_events(now);
        if let Some(size) = self.session.advance(now)
            && self.has_started_shell
            && self.telling_until().is_none()
        {
            self.events.push_back(ServerEvent::ResizePty { size });
        }
        self.start_shell();
        if let Some(connection) = &mut self.connection {
            connection.follow(now, &self.session);
        }
        self.finish_telling(now);
        if self.missed_until().is_some_and(|until| until <= now) {
            self.end(ServerEnding::ProgramEnded);
        }
        while let Some(change) = self.liveness.look(now) {
            self.handle_change(now, change);
        }
    }

    fn handle_link_events(&mut self, now: Time) {
        while let Some(event) = self
            .connection
            .as_mut()
            .and_then(|connection| connection.endpoint.poll_event())
        {
            match event {
                EndpointEvent::RemoteAdvanced { number } => self.handle_state(now, number),
                EndpointEvent::DialectDecided { dialect } => self.handle_dialect(now, dialect),
                EndpointEvent::Ended(Ending::ByPeer) if self.serves_on() => self.leave_alone(now),
                EndpointEvent::Ended(Ending::Unanswered) if self.is_told_later() => {
                    self.wait_to_tell(now)
                }
                EndpointEvent::Ended(ending) => self.end(self.why(ending)),
                _ => {}
            }
        }
    }

    fn handle_dialect(&mut self, now: Time, dialect: Dialect) {
        tracing::info!(?dialect, "the client has spoken");
        let connection = self.connection.as_ref();
        if !connection.is_some_and(Connection::reports_terminal) {
            self.session.note_report(now, TerminalReport::default());
        }
        if dialect == Dialect::Altered {
            self.close(now, ServerEnding::Altered);
        }
    }

    fn handle_state(&mut self, now: Time, number: StateNumber) {
        let Some(connection) = &mut self.connection else {
            return;
        };
        let events = connection.take_events();
        let since = connection.endpoint.silent_since().unwrap_or(now);
        let change = self.liveness.note_state(since, connection.endpoint.path());
        // Once the end is being said, nobody reads what is typed.
        if self.phase == Phase::Serving {
            self.session.handle_events(now, number, &events);
        }
        if let Some(change) = change {
            self.handle_change(now, change);
        }
    }

    /// The program is started when somebody is there to see it, with the window that they have.
    fn start_shell(&mut self) {
        if !self.has_started_shell && self.liveness.has_met() && self.phase == Phase::Serving {
            self.has_started_shell = true;
            let size = self.session.size();
            self.events.push_back(ServerEvent::StartShell { size });
        }
    }

    fn handle_change(&mut self, now: Time, change: Change) {
        match change {
            Change::At(path) => {
                tracing::info!(path = path.get(), "client is there");
                self.events.push_back(ServerEvent::ClientAt { path });
            }
            Change::Detached => {
                tracing::info!("client is silent");
                self.events.push_back(ServerEvent::ClientDetached);
            }
            Change::NeverCame => self.end(ServerEnding::NobodyCame),
            Change::Expired if self.missed_until().is_some() => {
                self.end(ServerEnding::ProgramEnded)
            }
            Change::Expired => {
                self.close(now, ServerEnding::ClientAway);
                // A goodbye that was begun before is said to its end.
                if self.phase == Phase::Closing(ServerEnding::ClientAway) {
                    self.phase = Phase::Leaving(ServerEnding::ClientAway);
                }
            }
        }
    }

    fn why(&self, ending: Ending) -> ServerEnding {
        match (self.phase, ending) {
            (_, Ending::KeySpent) => ServerEnding::KeySpent,
            (_, Ending::Altered) => ServerEnding::Altered,
            (Phase::Closing(why) | Phase::Leaving(why), _) => why,
            (Phase::Telling(_) | Phase::Missed(_), _) => ServerEnding::ProgramEnded,
            (Phase::Serving | Phase::Ended, _) => ServerEnding::ClientLeft,
        }
    }
}

#[cfg(test)]
mod tests;
