//! Numbered states, kept equal at both ends.
//!
//! Each end owns one object and holds a copy of the other's. The versions of an object are numbered
//! states; an [`Endpoint`] sends whatever turns a state that the peer has into the present one, skips
//! what has become pointless, repeats what may have been lost, and follows a peer that moves. It
//! moves any object that can make a difference of itself: see [`Synced`].
//!
//! ```text
//!  set_local ─► Sender ─► Instruction ─► Fragmenter ─► seal ─► poll_transmit ═══ the edge's
//!                 ▲ acknowledged                                                 sockets
//!  remote ◄── Receiver ◄─ Instruction ◄─ Assembly ◄─ open ◄─ handle_datagram ═══
//! ```
//!
//! Not here, on purpose: sockets, clocks, randomness and logging (they come in as arguments and go out
//! as values); screens and keys (`fulmar-core` brings the objects); the seal itself
//! (`fulmar-datagram`).
//!
//! The wire is that of Mosh 1.4 and is told in `docs/protocol.md` §3 to §5. When to send is in
//! [`timing`], how much in [`policy`], every number in [`limits`].
//!
//! Two ends agree on a number, without a wire between them (`examples/shared_counter.rs` has one):
//!
//! ```
//! use fulmar_base::Time;
//! use fulmar_transport::{
//!     ApplyError, Budget, Difference, Intake, Numbering, Numbers, Receiver, Sender, Synced, Trust,
//!     WorkBudget,
//! };
//!
//! #[derive(Clone)]
//! struct Count(u8);
//!
//! impl Synced for Count {
//!     fn is_same(&self, other: &Count) -> bool {
//!         self.0 == other.0
//!     }
//!     fn diff_from(&self, source: &Count, _: Budget) -> Difference<Count> {
//!         let change = (self.0 != source.0).then_some(self.0);
//!         Difference::complete(change.into_iter().collect())
//!     }
//!     fn apply(&mut self, difference: &[u8], _: &mut WorkBudget) -> Result<(), ApplyError> {
//!         self.0 = *difference.last().ok_or(ApplyError::new("no count"))?;
//!         Ok(())
//!     }
//!     fn held_bytes(&self, _: Option<&Count>) -> usize {
//!         1
//!     }
//! }
//!
//! let now = Time::ZERO;
//! let mut sender = Sender::new(now, Count(0), Budget::UNLIMITED);
//! let mut receiver = Receiver::new(now, Count(0));
//!
//! sender.set_current(now, Count(7));
//! let sent = sender.compose(now, Trust::NONE, Numbering::Repeat, Budget::UNLIMITED);
//! let numbers = Numbers {
//!     source: sent.source,
//!     target: sent.target,
//!     throwaway: sent.throwaway,
//!     ..Numbers::default()
//! };
//! let mut work = WorkBudget::new(1000);
//! receiver.accept(now, numbers, &sent.difference, Intake::Open, &mut work)?;
//! assert_eq!(receiver.newest().0, 7);
//!
//! sender.acknowledge(now, receiver.newest_number());
//! assert_eq!(sender.acknowledged().0, 7);
//! # Ok::<(), fulmar_transport::Refusal>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod allowance;
mod apply_error;
mod assembly;
mod black_hole;
mod cause;
mod challenge;
mod clock;
mod compress;
mod congestion;
mod conversation;
mod counters;
mod departure;
mod dialect;
mod ending;
mod endpoint;
mod error;
mod event;
mod extensions;
mod farewell_words;
mod hopping;
mod idle;
mod inbox;
mod instruction;
pub mod limits;
mod liveness;
mod loss;
mod outbox;
mod path;
mod path_mtu;
pub mod policy;
mod probe_answer;
mod receiver;
mod redundancy;
mod roaming;
mod role;
mod rtt;
mod sender;
mod shutdown;
mod size_search;
mod state_number;
mod synced;
mod terms;
#[cfg(test)]
#[path = "../tests/support/objects.rs"]
mod testing;
pub mod timing;
pub mod wire;
mod work;

// The objects of `testing` name this crate as everybody else does.
#[cfg(test)]
extern crate self as fulmar_transport;

pub use allowance::Allowance;
pub use apply_error::ApplyError;
pub use assembly::{Assembly, AssemblyError, Fragmenter};
pub use cause::{Cause, Countable, DropReason, Tally};
pub use challenge::Challenge;
pub use compress::{Deflater, InflateError, Inflater};
pub use counters::Counters;
pub use dialect::{Dialect, Digest};
pub use ending::Ending;
pub use endpoint::{Endpoint, EndpointConfig};
pub use event::{
    Arrival, DatagramVerdict, EndpointEvent, InstructionReceived, Received, Transmit,
    TransmitNumbers,
};
pub use extensions::Extensions;
pub use farewell_words::FarewellWords;
pub use instruction::{Instruction, Numbers};
pub use outbox::Noise;
pub use receiver::{Intake, Receiver, Refusal, StateOutcome};
pub use role::Role;
pub use rtt::RoundTrip;
pub use sender::{Acknowledged, ChainState, Composed, Numbering, Sender, SyncState, Trust};
pub use state_number::StateNumber;
pub use synced::{Budget, Difference, Reached, Synced};
pub use terms::Terms;
pub use work::WorkBudget;
