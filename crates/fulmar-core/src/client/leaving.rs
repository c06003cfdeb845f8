//! The ways in which a client goes.

use fulmar_base::Time;
use fulmar_transport::Dialect;

use super::{Client, ClientEvent};
use crate::capability::Capability;
use crate::client_lifecycle::{ClientEnding, Contact, ExitCause, WayOut};
use crate::exit_status::WIRE_DETACHED;

impl Client {
    /// Begins to leave; if that has begun before, leaves at once. It is not the user's wish to end the session, which goes on
    /// if it [can](Client::detach).
    pub fn request_exit(&mut self, now: Time, cause: ExitCause) {
        if self.may_detach() && self.lifecycle.is_open() {
            self.endpoint.set_farewell(WIRE_DETACHED);
        }
        self.quit(now, ClientEnding::Asked(cause));
        self.settle();
    }

    /// Begins to leave a session that is to go on, or leaves at once if that has begun before. Returns false, and does
    /// nothing, if the session would not go on: see [`may_detach`](Client::may_detach).
    #[must_use = "a session that cannot be left is still there"]
    pub fn detach(&mut self, now: Time) -> bool {
        let is_possible = self.may_detach();
        if is_possible {
            if self.lifecycle.is_open() {
                self.endpoint.set_farewell(WIRE_DETACHED);
            }
            self.quit(now, ClientEnding::Detached);
            self.settle();
        }
        is_possible
    }

    /// Returns true if the session goes on without this client: [`Capability::Attach`] is agreed on, and the server has shown
    /// that.
    pub fn may_detach(&self) -> bool {
        self.capabilities.has(Capability::Attach) && self.dialect() == Dialect::Native
    }

    /// Says goodbye, unless nobody can hear it or it has been said.
    pub(super) fn quit(&mut self, now: Time, why: ClientEnding) {
        if let Some(way_out) = self.lifecycle.quit(why, self.contact()) {
            self.go(now, way_out);
        }
    }

    pub(super) fn go(&mut self, now: Time, way_out: WayOut) {
        match way_out {
            WayOut::Goodbye(why) => self.close(now, why),
            WayOut::End(why) => self.end(why),
        }
    }

    pub(super) fn contact(&self) -> Contact {
        Contact {
            is_connected: self.is_connected(),
            may_have_heard: self.could_be_heard(),
            is_heard: self.is_heard(),
        }
    }

    /// Returns true if the server may have received anything.
    pub(super) fn could_be_heard(&self) -> bool {
        let counters = self.endpoint.counters();
        counters.datagrams_sent > counters.send_errors + self.withheld
    }

    fn close(&mut self, now: Time, why: ClientEnding) {
        if self.lifecycle.close(now, why) {
            self.show_closing();
            self.endpoint.start_shutdown(now);
        }
    }

    pub(super) fn show_closing(&mut self) {
        self.notices.set_closing();
        self.is_stale = true;
    }

    pub(super) fn end(&mut self, why: ClientEnding) {
        if self.lifecycle.end() {
            let counters = self.endpoint.counters();
            let ignored_hints = self.endpoint.remote().ignored_hints();
            tracing::info!(?why, ?counters, ignored_hints, "session ended");
            self.events.push_back(ClientEvent::Ended(why));
        }
    }
}
