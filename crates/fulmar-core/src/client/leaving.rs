//! The ways in which a client goes.

use std::time::Duration;

use fulmar_base::Time;
use fulmar_transport::Dialect;

use super::{Client, ClientEvent};
use crate::capability::Capability;
use crate::client_lifecycle::{ClientEnding, Contact, ExitCause, WayOut};
use crate::exit_status::WIRE_DETACHED;

/// The time after which a client leaves without the rest of what was typed, if nothing more of that arrives.
///
/// Chosen by eye: some repetitions on a bad link.
const ARRIVES_WITHIN: Duration = Duration::from_secs(10);

/// The stage of leaving a session that goes on, before the goodbye.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Leaving {
    /// The user has not asked for it.
    #[default]
    No,
    /// The user has been told that what was typed does not arrive at present.
    Warned,
    /// All that was typed is to arrive first.
    Awaiting {
        /// The bytes that had not arrived by then.
        keys: usize,
        /// The time since when it has been so many.
        since: Time,
    },
}

impl Leaving {
    /// Takes note that something was typed of which the user was not told.
    pub(super) fn forget_warning(&mut self) {
        if *self == Leaving::Warned {
            *self = Leaving::No;
        }
    }
}

impl Client {
    /// Begins to leave; if that has begun before, leaves at once. It is not the user's wish to end the session, which goes on
    /// if it [can](Client::may_detach).
    pub fn request_exit(&mut self, now: Time, cause: ExitCause) {
        if self.may_detach() {
            self.say_that_it_goes_on();
        }
        self.quit(now, ClientEnding::Asked(cause));
        self.settle();
    }

    /// Begins to leave a session that is to go on. What was typed arrives first, unless nothing does at present: then the user
    /// is only told so. Once more leaves at once in either case. Returns false, and does nothing, if the session would not go
    /// on: see [`may_detach`](Client::may_detach).
    #[must_use = "a session that cannot be left is still there"]
    pub fn detach(&mut self, now: Time) -> bool {
        if !self.may_detach() {
            return false;
        }
        let keys = self.unacknowledged_keys();
        let has_arrived = keys == 0 || !self.lifecycle.is_open();
        let is_out_of_touch = self.notices.is_out_of_touch(now, self.liveness());
        match self.leaving {
            _ if has_arrived => self.leave_session(now),
            Leaving::Awaiting { .. } => self.leave_session(now),
            Leaving::Warned if is_out_of_touch => self.leave_session(now),
            _ if is_out_of_touch => {
                self.leaving = Leaving::Warned;
                self.notices.warn_of_loss(now);
            }
            _ => {
                self.leaving = Leaving::Awaiting { keys, since: now };
                self.notices.set_leaving();
            }
        }
        self.is_stale = true;
        true
    }

    /// Returns true if the session goes on without this client: [`Capability::Attach`] is agreed on, and the server has shown
    /// that.
    pub fn may_detach(&self) -> bool {
        self.capabilities.has(Capability::Attach) && self.dialect() == Dialect::Native
    }

    /// Leaves the session, which goes on.
    pub(super) fn leave_session(&mut self, now: Time) {
        self.say_that_it_goes_on();
        self.quit(now, ClientEnding::Detached);
        self.settle();
    }

    /// Leaves a session that was to be left as soon as all that was typed had arrived, if it has.
    pub(super) fn leave_if_all_arrived(&mut self, now: Time) {
        let left = self.unacknowledged_keys();
        match &mut self.leaving {
            Leaving::Awaiting { .. } if left == 0 && self.lifecycle.is_open() => {
                self.leave_session(now);
            }
            Leaving::Awaiting { keys, since } if left < *keys => (*keys, *since) = (left, now),
            _ => {}
        }
    }

    /// Returns the time at which what was typed is not waited for any more.
    pub(super) fn leaving_due(&self) -> Option<Time> {
        match self.leaving {
            Leaving::Awaiting { since, .. } if self.lifecycle.is_open() => {
                Some(since + ARRIVES_WITHIN)
            }
            _ => None,
        }
    }

    /// Returns true if what is typed is for the program.
    pub(super) fn takes_keys(&self) -> bool {
        self.lifecycle.is_open() && !matches!(self.leaving, Leaving::Awaiting { .. })
    }

    /// Has the goodbye, if it is not being said yet, tell that the session goes on.
    fn say_that_it_goes_on(&mut self) {
        if self.lifecycle.is_open() {
            self.lifecycle.note_going_on();
            self.endpoint.set_farewell(WIRE_DETACHED);
        }
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
            if self.attaches && !self.is_connected() {
                // What the server says meanwhile may still be heard, and this with our next goodbye.
                self.endpoint.set_farewell(WIRE_DETACHED);
            }
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
