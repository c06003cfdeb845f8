//! The end that gets the files.

use std::fmt;

use crate::event::{Event, Progress, Totals, Turn};
use crate::exchange::{Answerer, Requester};
use crate::lanes::Lanes;
use crate::request::Flags;
use crate::target::Target;
use crate::wrong::Wrong;

/// Whether an operand, by its index, may bring a root of that name. The requester decides: for `Get` it is what the user named or what fits the user's
/// pattern, for `Put` anything (the sender is the user's).
pub type Allowed = Box<dyn Fn(u32, &[u8]) -> bool>;

/// Receives into a [`Target`].
pub struct Receiver {
    flags: Flags,
    allowed: Allowed,
}

impl Receiver {
    /// For a requester's `Get` that was answered with [`Answer::Ready`](crate::Answer).
    pub fn new(requester: Requester, allowed: Allowed) -> Self {
        Self {
            flags: requester.request().flags(),
            allowed,
        }
    }

    /// For the answerer of a `Put`, which has answered that it is ready.
    pub fn answering(answerer: Answerer, allowed: Allowed) -> Self {
        let _ = answerer;
        Self {
            flags: Flags::empty(),
            allowed,
        }
    }

    /// Does what can be done now, but takes no more than about `budget` bytes off the lanes, and reads back no more than that of what is held.
    ///
    /// # Errors
    ///
    /// The sender has broken the rules, or a lane has ended too early. The copy is over then: call [`interrupt`](Receiver::interrupt).
    pub fn turn(
        &mut self,
        target: &mut impl Target,
        lanes: &mut impl Lanes,
        budget: usize,
    ) -> Result<Turn, Wrong> {
        let _ = (target.is_ready(), lanes.count(), budget, self.flags);
        Ok(Turn::Waiting)
    }

    /// The copy ends here, done or not: abandons every file that is begun, and keeps its parts. No `turn` may follow.
    pub fn interrupt(&mut self, target: &mut impl Target) {
        let _ = target.is_ready();
    }

    /// The next piece of news.
    pub fn poll_event(&mut self) -> Option<Event> {
        None
    }

    /// How far it is. `is_walked` and what is known come with what has arrived.
    pub fn progress(&self) -> Progress {
        Progress::default()
    }

    /// What the copy came to, once it is done.
    pub fn totals(&self) -> Option<Totals> {
        None
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let _ = &self.allowed;
        f.debug_struct("Receiver")
            .field("flags", &self.flags)
            .finish_non_exhaustive()
    }
}
