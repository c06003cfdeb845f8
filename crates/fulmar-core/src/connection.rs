//! The connection of a session to one client.

use std::cell::RefCell;
use std::rc::Rc;

use fulmar_base::Time;
use fulmar_datagram::{Direction, Key, Opener, Sealer};
use fulmar_transport::{
    Dialect, Endpoint, EndpointConfig, FarewellWords, Intake, Role, StateNumber,
};

use crate::agreement::Agreement;
use crate::capability::{Capabilities, Capability};
use crate::exit_status::{ExitStatus, WIRE_DETACHED, WIRE_TAKEN_OVER};
use crate::host_screen::{HostScreen, ToldLines};
use crate::random::{Seed, SeededNoise};
use crate::session::Session;
use crate::user_stream::{UserEvent, UserStream};

/// A key, and the endpoint that speaks under it; all that a session knows of a client.
///
/// A session can be without one, and could have several.
pub(crate) struct Connection {
    pub(crate) endpoint: Endpoint<HostScreen, UserStream>,
    /// The capabilities that may be used once the client has shown that it agreed, too.
    capabilities: Capabilities,
    /// True if its client takes a session which is there.
    is_attachment: bool,
    /// The lines above the screen that the client may not have.
    lines: Rc<RefCell<ToldLines>>,
    /// The number of the first line that the client is told; `None` before there is one to tell.
    first_told: Option<u64>,
}

/// A client that takes a session is told so many screens of lines, and then what comes. Chosen by eye: what a person looks back to.
const FIRST_SCREENS: u64 = 3;

/// The most lines that are told beside a screen that the client has not acknowledged. Chosen by eye: as many as a
/// datagram has room for if they are short.
const SPARE_LINES: u64 = 32;

/// The settings of a connection, beside its key.
pub(crate) struct ConnectionConfig {
    pub(crate) agreement: Option<Agreement>,
    /// State 0 of the screen.
    pub(crate) blank: HostScreen,
    pub(crate) datagram_bytes: usize,
    pub(crate) seed: Seed,
}

impl Connection {
    /// Returns the connection to a client that has not been heard of.
    pub(crate) fn new(now: Time, key: Key, config: ConnectionConfig) -> Connection {
        let ConnectionConfig {
            agreement,
            blank,
            datagram_bytes,
            seed,
        } = config;
        let opener = Opener::new(&key, Direction::ToServer);
        let config = EndpointConfig {
            role: Role::Server,
            datagram_bytes,
            agreement: agreement.map(Agreement::terms),
        };
        Connection {
            capabilities: Agreement::capabilities_of(agreement),
            is_attachment: false,
            lines: Rc::default(),
            first_told: None,
            endpoint: Endpoint::new(
                now,
                config,
                Sealer::new(key, Direction::ToClient),
                opener,
                blank,
                UserStream::reading(),
                Box::new(SeededNoise::new(seed)),
            ),
        }
    }

    /// Has the client told, with the goodbye, how the program ended.
    pub(crate) fn tell_status(&mut self, status: ExitStatus) {
        if self.capabilities.has(Capability::Exit) {
            self.endpoint.set_farewell(status.to_wire());
        }
    }

    /// Has a client that does not answer the goodbye be told when it is heard again, how the program ended as well if that is known.
    /// A stock client, and one that learns nothing of the program's end, is not.
    pub(crate) fn persist_goodbye(&mut self, status: Option<ExitStatus>) {
        if let Some(status) = status {
            self.tell_status(status);
        }
        if self.is_told_later() {
            self.endpoint.persist_shutdown();
        }
    }

    /// Tells if the client learns how the program ended, now or later.
    pub(crate) fn is_told_later(&self) -> bool {
        self.capabilities.has(Capability::Exit) && self.endpoint.dialect() == Dialect::Native
    }

    /// Begins to tell the client that another one has taken its session, and who that is.
    pub(crate) fn dismiss(&mut self, now: Time, taker: Option<FarewellWords>) {
        if self.capabilities.has(Capability::Exit) {
            self.endpoint.set_farewell(WIRE_TAKEN_OVER);
            if let Some(taker) = taker {
                self.endpoint.set_farewell_words(taker);
            }
        }
        // It may be asleep, and learns of it when it wakes up.
        self.endpoint.persist_shutdown();
        self.endpoint.start_shutdown(now);
    }

    /// Returns it as one whose client takes a session which is there.
    pub(crate) fn attaching(self) -> Connection {
        Connection {
            is_attachment: true,
            ..self
        }
    }

    /// Takes note that a client before this one was told that state, and all that has happened once up to there.
    pub(crate) fn begin_after(&mut self, now: Time, told: &HostScreen) {
        let size = self.endpoint.local().screen().size();
        self.endpoint.begin_with(now, told.blank_after(size));
    }

    /// Tells if the client has left a session that is to go on.
    pub(crate) fn is_left(&self) -> bool {
        self.capabilities.has(Capability::Attach) && self.endpoint.farewell() == Some(WIRE_DETACHED)
    }

    /// Tells if a goodbye of the client ends the session. It does not if the client has said that it leaves, nor if it takes
    /// a session without having heard us: it gives up a way there, and does not know what it would end.
    pub(crate) fn ends_session(&self) -> bool {
        let has_heard_us = self.endpoint.acknowledged_number() > StateNumber::ZERO;
        !self.is_left() && (has_heard_us || !self.is_attachment)
    }

    /// Tells if the client wants to know about the program, beside its screen.
    pub(crate) fn wants_hints(&self) -> bool {
        self.capabilities.has(Capability::Hints) && self.endpoint.dialect() == Dialect::Native
    }

    /// Tells if the client may say what the user's terminal is like.
    pub(crate) fn reports_terminal(&self) -> bool {
        let may_be_native = matches!(
            self.endpoint.dialect(),
            Dialect::Undecided | Dialect::Native
        );
        self.capabilities.has(Capability::Terminal) && may_be_native
    }

    /// Takes what the client has typed since the last time.
    pub(crate) fn take_events(&mut self) -> Vec<UserEvent> {
        let mut events = self.endpoint.remote().take_new();
        self.endpoint.forget_consumed();
        if !self.reports_terminal() {
            events.retain(|event| !matches!(event, UserEvent::Terminal(_)));
        }
        events
    }

    /// Tells if the client may take the lines that leave the screen at its top.
    pub(crate) fn may_want_history(&self) -> bool {
        self.capabilities.has(Capability::History)
    }

    fn wants_history(&self) -> bool {
        self.may_want_history() && self.endpoint.dialect() == Dialect::Native
    }

    /// Tells if the client has not acknowledged all lines above the screen.
    pub(crate) fn owes_history(&self, session: &Session) -> bool {
        let Some((_, place)) = session.history().filter(|_| self.wants_history()) else {
            return false;
        };
        let told = self.endpoint.acknowledged().told();
        self.endpoint.ending().is_none() && told.unwrap_or(0) < place.end
    }

    /// Returns `state` with as much of the history as is to be told now: a few lines more with a screen that has to be sent, where there
    /// is room beside it; nothing until the client has acknowledged that; and then as much as may be on its way.
    fn with_history(&mut self, state: HostScreen, session: &Session) -> HostScreen {
        let Some((history, place)) = session.history().filter(|_| self.wants_history()) else {
            return state;
        };
        let first = *self.first_told.get_or_insert_with(|| {
            let screens = FIRST_SCREENS * u64::from(session.shown().size().rows());
            let is_attachment = self.is_attachment;
            let newest = place.end.saturating_sub(screens).max(history.first());
            if is_attachment { newest } else { 0 }
        });
        let acknowledged = self.endpoint.acknowledged();
        let known = acknowledged.told().unwrap_or(first);
        let last = self.endpoint.sender().sent();
        let sent = last.told().unwrap_or(first);
        let mut lines = self.lines.borrow_mut();
        lines.follow(known, &history, place);
        let all = lines.end().unwrap_or(sent).max(place.cleared_at);
        let told = if !state.shows_more_than(acknowledged) {
            all
        } else if state.shows_more_than(last) && history.first() <= sent {
            sent + SPARE_LINES
        } else {
            // In a flood lines go before they were told: those that are there when it is over come then.
            sent
        };
        let told = told.max(place.cleared_at).clamp(sent, all.max(sent));
        drop(lines);
        state.with_history(place, told, &self.lines)
    }

    /// Returns `state` with the events of the session. Those that the client has acknowledged are forgotten.
    fn with_events(&self, state: HostScreen, session: &Session) -> HostScreen {
        let has_agreed = self.capabilities.has(Capability::Events);
        if !has_agreed || self.endpoint.dialect() != Dialect::Native {
            return state;
        }
        let known = self.endpoint.acknowledged().events_end();
        session.outbox().borrow_mut().forget_before(known);
        state.with_events(session.outbox())
    }

    /// Has the client shown what the session shows, and lets it type as long as there is room.
    pub(crate) fn follow(&mut self, now: Time, session: &Session) {
        let state = self
            .endpoint
            .local()
            .with(Rc::clone(session.shown()), session.echo_ack());
        let state = match self.endpoint.dialect() {
            Dialect::Native => state.for_native_peer(self.capabilities),
            Dialect::Undecided | Dialect::Legacy | Dialect::Altered => state,
        };
        let state = match session.hints() {
            Some(hints) if self.wants_hints() => state.with_hints(hints),
            _ => state,
        };
        let state = self.with_history(state, session);
        let state = self.with_events(state, session);
        self.endpoint.set_local(now, state);
        self.endpoint
            // Without room, new states count as lost. The client sends them again (docs/protocol.md
            // §5.2).
            .set_intake(if session.input().has_room_for_a_state() {
                Intake::Open
            } else {
                Intake::Held
            });
    }
}
