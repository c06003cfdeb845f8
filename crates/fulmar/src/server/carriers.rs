//! The processes that carry datagrams between this session and an ssh: paths, too, of its client.
//!
//! ```text
//!  client ══ ssh ══► carrier (the process that a login has started) ── session's socket ──► Carriers
//! ```
//!
//! Source: docs/protocol.md §2.12, docs/threat-model.md §7.

use std::io::{self, Read as _, Write as _};
use std::net::IpAddr;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use fulmar_base::{PathId, SendError, Time};
use fulmar_platform::{Interest, Transfer};

use crate::net::udp::{Batch, TurnBudget};
use crate::net::{FIRST_STREAM_PATH, PathHandler, StreamPath};
use crate::reactor::{Registry, Token};

/// The most carriers of one session; a further one takes the place of the one that was heard longest ago.
///
/// Source: docs/threat-model.md §6.
const CARRIERS_MAX: usize = 4;

/// The time after a datagram over ssh for which what goes over UDP goes over ssh as well: its client is not sure which of
/// the two works. Chosen by eye: longer than a client is silent that waits for an answer.
const COPIED_FOR: Duration = Duration::from_secs(5);

/// All carriers of a session.
#[derive(Debug, Default)]
pub(super) struct Carriers {
    carriers: Vec<Carrier>,
    opened: u64,
}

#[derive(Debug)]
struct Carrier {
    stream: UnixStream,
    path: StreamPath,
    client: Option<IpAddr>,
    /// The time at which something authentic came last, or at which it was opened.
    heard: Time,
    has_heard: bool,
}

impl Carriers {
    /// Takes a carrier, by the connection to it, for a client at that address.
    pub(super) fn open(&mut self, now: Time, stream: UnixStream, client: Option<IpAddr>) {
        if self.carriers.len() >= CARRIERS_MAX {
            let oldest = (0..self.carriers.len())
                .min_by_key(|at| self.carriers.get(*at).map(|one| one.heard));
            oldest.map(|oldest| self.carriers.remove(oldest));
        }
        let path = PathId::new(FIRST_STREAM_PATH.saturating_add(self.opened));
        self.opened += 1;
        tracing::info!(?path, ?client, "ssh carries datagrams");
        self.carriers.push(Carrier {
            stream,
            path: StreamPath::new(path, &[]),
            client,
            heard: now,
            has_heard: false,
        });
    }

    /// Registers all of them.
    pub(super) fn register<'fd>(&'fd self, registry: &mut Registry<'fd>) {
        for (index, carrier) in self.carriers.iter().enumerate() {
            let interest = if carrier.path.wants_room() {
                Interest::ReadWrite
            } else {
                Interest::Read
            };
            registry.add(Token::Carrier(index), &carrier.stream, interest);
        }
    }

    /// Tells if datagrams have come that no turn had the budget for.
    pub(super) fn has_more(&self) -> bool {
        self.carriers.iter().any(|carrier| carrier.path.has_more())
    }

    /// Hands over what an earlier turn has left.
    pub(super) fn resume(
        &mut self,
        now: Time,
        budget: &mut TurnBudget,
        handler: &mut impl PathHandler,
    ) {
        for carrier in &mut self.carriers {
            if carrier.path.has_more() {
                carrier.receive(now, budget, handler);
            }
        }
    }

    /// Hands over what has come from the one at that place, within the budget of the turn.
    pub(super) fn receive(
        &mut self,
        now: Time,
        index: usize,
        budget: &mut TurnBudget,
        handler: &mut impl PathHandler,
    ) {
        if let Some(carrier) = self.carriers.get_mut(index) {
            carrier.receive(now, budget, handler);
        }
    }

    /// Sends on one of their paths; `None` if it is another one.
    pub(super) fn send(&mut self, batch: &Batch<'_>) -> Option<Result<(), SendError>> {
        if batch.path.get() < FIRST_STREAM_PATH {
            return None;
        }
        let path = |carrier: &&mut Carrier| carrier.path.path() == batch.path;
        let carrier = self.carriers.iter_mut().find(path);
        Some(carrier.map_or(Err(SendError::Unreachable), |carrier| {
            carrier.path.send(batch)
        }))
    }

    /// Sends a copy of what goes over UDP to those that were heard lately. Returns whether there is one.
    pub(super) fn copy(&mut self, now: Time, batch: &Batch<'_>) -> bool {
        let mut is_copied = false;
        // What is to stay whole is about the path itself.
        for carrier in self.carriers.iter_mut().filter(|_| !batch.is_whole) {
            if carrier.has_heard && now.since(carrier.heard) <= COPIED_FOR {
                is_copied |= carrier.path.send(batch).is_ok();
            }
        }
        is_copied
    }

    /// Writes what was sent, and lets those go that have ended.
    pub(super) fn flush(&mut self) {
        for Carrier { stream, path, .. } in &mut self.carriers {
            path.flush(|bytes| transferred(stream.write(bytes)));
        }
        self.carriers.retain(|carrier| !carrier.path.is_gone());
    }

    /// Returns the address at the other end of a path.
    pub(super) fn client(&self, path: PathId) -> Option<IpAddr> {
        let carrier = self.carriers.iter().find(|one| one.path.path() == path);
        carrier?.client
    }
}

impl Carrier {
    fn receive(&mut self, now: Time, budget: &mut TurnBudget, handler: &mut impl PathHandler) {
        let stream = &mut self.stream;
        let read = |bytes: &mut [u8]| transferred(stream.read(bytes));
        if self.path.receive(budget, handler, read) {
            self.heard = now;
            self.has_heard = true;
        }
    }
}

fn transferred(outcome: io::Result<usize>) -> io::Result<Transfer> {
    match outcome {
        Ok(0) => Ok(Transfer::Closed),
        Ok(count) => Ok(Transfer::Bytes(count)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Transfer::WouldBlock),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
