//! Virtual time and a virtual network, for tests that take days in milliseconds.
//!
//! A [`Network`] is hosts with links; a link is two paths; a path is a list of [`Impairment`]s:
//! delay, loss, a slow link with its queue. A [`Simulation`] puts a program, a [`Node`], on each
//! host and jumps from one thing that is due to the next. Everything follows from a seed, to the
//! byte. When a test fails, the [`Timeline`] says what happened, and [`Seeds`] which run it was.
//!
//! It owns no clock, no socket and no thread, and knows nothing of Fulmar's protocol: a datagram is
//! bytes, so that every other crate can be tested with it.
//!
//! # Example
//!
//! A client asks until it is answered, over a link that loses a third.
//!
//! ```
//! use fulmar_sim::{CLIENT, Datagram, Delay, Failure, Loss, Network, Node, Simulation, Transmit};
//! use fulmar_sim::{address, ms, secs};
//! use std::time::Duration;
//!
//! /// Asks every 200 ms until it has an answer.
//! struct Client { answers: Vec<Vec<u8>>, next: Option<Duration>, asks: bool }
//!
//! impl Node for Client {
//!     fn handle_datagram(&mut self, _now: Duration, datagram: Datagram) {
//!         self.answers.push(datagram.bytes);
//!         self.next = None;
//!     }
//!     fn handle_timeout(&mut self, now: Duration) {
//!         (self.asks, self.next) = (true, Some(now + ms(200)));
//!     }
//!     fn poll_transmit(&mut self, _now: Duration) -> Option<Transmit> {
//!         let server = address("203.0.113.1:60001");
//!         std::mem::take(&mut self.asks).then(|| Transmit::to(server, "hello").because("asking"))
//!     }
//!     fn next_timeout(&self) -> Option<Duration> { self.next }
//! }
//!
//! /// Sends back whatever comes, to wherever it came from.
//! #[derive(Default)]
//! struct Echo { answers: Vec<Transmit> }
//!
//! impl Node for Echo {
//!     fn handle_datagram(&mut self, _now: Duration, datagram: Datagram) {
//!         self.answers.push(Transmit::to(datagram.source, datagram.bytes));
//!     }
//!     fn handle_timeout(&mut self, _now: Duration) {}
//!     fn poll_transmit(&mut self, _now: Duration) -> Option<Transmit> { self.answers.pop() }
//!     fn next_timeout(&self) -> Option<Duration> { None }
//! }
//!
//! # fn main() -> Result<(), Failure> {
//! let net = Network::seeded(7).up([Delay::ms(80), Loss::percent(30)]).down([Delay::ms(80)]);
//! let client = Client { answers: vec![], next: Some(ms(0)), asks: false };
//! let mut sim = Simulation::new(net, (client, Echo::default()));
//! sim.plan(ms(100), fulmar_sim::Change::Move(CLIENT, address("198.51.100.7:4500")));
//!
//! let took = sim.run_until(secs(10), |(client, _)| !client.answers.is_empty())?;
//! assert_eq!(sim.nodes.0.answers, [b"hello"]);
//! assert!(took >= ms(160));
//! # Ok(())
//! # }
//! ```

mod change;
mod choices;
mod clock;
mod codel;
mod datagram;
mod failure;
mod hash;
mod host;
mod impairment;
mod ledger;
mod link_trace;
mod nat;
mod network;
mod node;
mod path;
mod plan;
mod queue;
mod random;
mod seed;
mod simulation;
#[cfg(test)]
mod testing;
mod timeline;
mod units;

pub use change::Change;
pub use choices::Choices;
pub use clock::Jump;
pub use codel::CoDel;
pub use datagram::{Content, Datagram, HostId, SendFailure};
pub use failure::{Failure, FailureKind};
pub use host::{Arrival, Arrived, LinkDirection};
pub use impairment::{
    Blocked, BurstLoss, Delay, Duplication, Impairment, Loss, LossCause, Marking, Mtu, Notice,
    Outage, Outlet, Picked, Rate, Reordering, Stage, Traced,
};
pub use ledger::{NonceError, NonceLedger};
pub use link_trace::{LinkTrace, LinkTraceError};
pub use nat::{Filter, Nat};
pub use network::{CLIENT, Network, SERVER};
pub use node::{Node, Nodes, Transmit};
pub use plan::Plan;
pub use queue::Queue;
pub use random::{Chance, Random};
pub use seed::{Failed, Seeds};
pub use simulation::Simulation;
pub use timeline::{Counts, Entry, EntryKind, Timeline};
pub use units::{address, days, hours, minutes, ms, secs};
