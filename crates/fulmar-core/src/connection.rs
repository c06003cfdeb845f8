//! The connection of a session to one client.

use std::rc::Rc;

use fulmar_base::Time;
use fulmar_datagram::{Direction, Key, Opener, Sealer};
use fulmar_transport::{Dialect, Endpoint, EndpointConfig, Intake, Role, StateNumber};

use crate::agreement::Agreement;
use crate::capability::{Capabilities, Capability};
use crate::exit_status::{ExitStatus, WIRE_DETACHED, WIRE_TAKEN_OVER};
use crate::host_screen::HostScreen;
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
}

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

    /// Begins to tell the client that another one has taken its session.
    pub(crate) fn dismiss(&mut self, now: Time) {
        if self.capabilities.has(Capability::Exit) {
            self.endpoint.set_farewell(WIRE_TAKEN_OVER);
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
