//! The interface of an object that is kept equal at both ends.

use crate::{ApplyError, WorkBudget};

/// An object whose versions travel.
///
/// The transport knows nothing else of what it moves. It keeps several versions at a time, so
/// cloning should be cheap: share what has not changed.
///
/// The contract, for all states `a` and `b` that belong to one object:
///
/// ```text
/// b.diff_from(a, unlimited) = { bytes, Target }      a.apply(bytes)  makes  a.is_same(b)
/// b.diff_from(a, budget)    = { bytes, Between(c) }  a.apply(bytes)  makes  a.is_same(c)
/// bytes of a difference that reached its target are empty  <=>  a.is_same(b)
/// ```
pub trait Synced: Clone {
    /// Tells whether the peer, once it holds the one, would be unable to tell it from the other.
    fn is_same(&self, other: &Self) -> bool;

    /// Tells whether somebody waits for what is new here since `sent`. What only keeps the books may travel with
    /// something else.
    fn is_urgent_after(&self, sent: &Self) -> bool {
        let _ = sent;
        true
    }

    /// Tells whether what is new here since `sent` looks like the whole echo of a key. Anything else waits for what may
    /// belong to it.
    fn is_echo_after(&self, sent: &Self) -> bool {
        let _ = sent;
        true
    }

    /// Returns what turns `source` into this state, or, where that would be longer than the budget,
    /// into some real state on the way.
    ///
    /// An object that cannot stop half-way, or has no state within the budget, returns
    /// [`Reached::Between`] the source itself and no bytes; it then waits for a larger budget. A
    /// budget is limited while a path is not validated, for probes and for links. Without a limit
    /// ([`Budget::UNLIMITED`]) the difference leads to this state: a sender whose links get nowhere relies on it.
    fn diff_from(&self, source: &Self, budget: Budget) -> Difference<Self>;

    /// Applies what the peer's object returned as difference from this state, and spends the work that
    /// this makes.
    ///
    /// # Errors
    ///
    /// The bytes are not such a difference, or make more work than the budget has. The state is
    /// discarded by the caller, so it may be left half changed.
    fn apply(&mut self, difference: &[u8], work: &mut WorkBudget) -> Result<(), ApplyError>;

    /// Told when nobody needs any more what lies before `held`: an object that is a growing list may
    /// cut it off in front. Objects without a past do nothing.
    ///
    /// Afterwards the state must behave as before towards all states that are not older than `held`.
    /// A state older than `held` may be asked to, as well.
    fn forget_before(&mut self, held: &Self) {
        let _ = held;
    }

    /// Returns the memory in bytes that this state needs and does not share with its neighbour.
    ///
    /// Source: docs/threat-model.md §6; it need not be exact, but must grow with what the peer sends.
    fn held_bytes(&self, neighbour: Option<&Self>) -> usize;
}

/// The most bytes that a difference may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Budget {
    bytes: usize,
}

impl Budget {
    /// As long as it takes.
    pub const UNLIMITED: Budget = Budget { bytes: usize::MAX };

    /// At most so many bytes.
    pub const fn of_bytes(bytes: usize) -> Budget {
        Budget { bytes }
    }

    /// Returns the most bytes that a difference may have.
    pub const fn bytes(self) -> usize {
        self.bytes
    }

    /// Tells whether a difference of so many bytes is within the budget.
    pub const fn allows(self, bytes: usize) -> bool {
        bytes <= self.bytes
    }
}

/// The bytes that turn one state into another, and where they lead.
#[derive(Clone, Debug)]
pub struct Difference<S> {
    /// The bytes for the peer's [`Synced::apply`].
    pub bytes: Vec<u8>,
    /// The state that the peer then has.
    pub reached: Reached<S>,
}

impl<S> Difference<S> {
    /// Returns a difference that leads all the way.
    pub fn complete(bytes: Vec<u8>) -> Difference<S> {
        Difference {
            bytes,
            reached: Reached::Target,
        }
    }
}

/// The state to which a difference leads.
#[derive(Clone, Debug)]
pub enum Reached<S> {
    /// The state that was asked for.
    Target,
    /// A real state on the way there: what is left follows later.
    Between(S),
}
