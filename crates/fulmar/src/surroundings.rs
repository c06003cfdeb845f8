//! The events that a loop waits for besides its own descriptors: time, signals, changes of the network.

use std::io;

use fulmar_base::{Hint, Time};
use fulmar_platform::{
    DeadlineTimer, Interest, PollList, PollSlot, RouteSocket, Signal, SignalPipe, SleepWatch,
};

/// The clock's alarm, the signals and the news of the network.
#[derive(Debug)]
pub(crate) struct Surroundings {
    signals: SignalPipe,
    timer: DeadlineTimer,
    routes: Option<RouteSocket>,
    sleep: SleepWatch,
}

/// The places of those in the list of one turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots {
    signals: PollSlot,
    routes: Option<PollSlot>,
}

/// The ones of those that have something to tell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    signals: bool,
    routes: bool,
}

impl Surroundings {
    /// Begins to watch, for these signals among others.
    ///
    /// # Errors
    ///
    /// When the system has no descriptors left.
    pub(crate) fn watch(signals: &[Signal]) -> io::Result<Surroundings> {
        Ok(Surroundings {
            signals: SignalPipe::new(signals)?,
            timer: DeadlineTimer::new()?,
            routes: RouteSocket::open(),
            sleep: SleepWatch::new(),
        })
    }

    /// Sets when the next wait ends at the latest.
    ///
    /// # Errors
    ///
    /// When the system refuses, which it does not do to timers of ours.
    pub(crate) fn set_deadline(&mut self, deadline: Option<Time>) -> io::Result<()> {
        self.timer.set(deadline.map(Time::since_origin))
    }

    /// Puts everything on the list.
    pub(crate) fn enlist<'fd>(&'fd self, list: &mut PollList<'fd>) -> Slots {
        if let Some(descriptor) = self.timer.descriptor() {
            list.add_borrowed(descriptor, Interest::Read);
        }
        Slots {
            signals: list.add(&self.signals, Interest::Read),
            routes: self
                .routes
                .as_ref()
                .map(|routes| list.add(routes, Interest::Read)),
        }
    }

    /// Waits for anything on the list, or for the deadline.
    ///
    /// # Errors
    ///
    /// When the system has no memory for it.
    pub(crate) fn wait(&self, list: &mut PollList<'_>, slots: Slots) -> io::Result<Ready> {
        list.wait(self.timer.wait_limit())?;
        let is_ready = |slot| list.readiness(slot).is_readable();
        Ok(Ready {
            signals: is_ready(slots.signals),
            routes: slots.routes.is_some_and(is_ready),
        })
    }

    /// Tells if the deadline has come.
    pub(crate) fn is_due(&self) -> bool {
        self.timer.has_passed()
    }

    /// Returns the signals that have come, also after the wait has looked: a resize counts before
    /// the keys that were typed after it.
    pub(crate) fn signals(&mut self, ready: Ready) -> Vec<Signal> {
        if ready.signals || self.signals.has_come() {
            self.signals.drain().collect()
        } else {
            Vec::new()
        }
    }

    /// Returns what has happened to the machine and its network.
    pub(crate) fn hints(&mut self, ready: Ready) -> Vec<Hint> {
        let mut hints = Vec::new();
        if let Some(slept) = self.sleep.slept() {
            hints.push(Hint::Woke { slept });
        }
        if ready.routes {
            self.add_network_changes(&mut hints);
        }
        hints
    }

    fn add_network_changes(&mut self, hints: &mut Vec<Hint>) {
        let Some(routes) = &self.routes else { return };
        match routes.drain() {
            Ok(change) => {
                if change.addresses || change.routes {
                    hints.push(Hint::AddressChanged);
                }
                if change.link_up {
                    hints.push(Hint::LinkUp);
                }
            }
            // Without it the same things are noticed later, by their effects.
            Err(_) => self.routes = None,
        }
    }
}
