//! What a copy sends in a turn, and what the system has no room for.

use fulmar_quic::{Connection, Transmit};
use fulmar_transport::{PathId, SendError};

use crate::surroundings::now;

/// Transmissions of one turn, each of up to 40 datagrams.
const TRANSMITS_PER_TURN: usize = 16;

/// What is being sent.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    buffer: Vec<u8>,
    /// What the system had no room for: it is in the buffer.
    pending: Option<Transmit>,
}

impl Outgoing {
    /// Returns the path on which something waits for room, if that is so.
    pub(super) fn waits_on(&self) -> Option<PathId> {
        self.pending.map(|pending| pending.path)
    }

    /// Has what there is to send be sent. Returns whether anything has left: then lanes may have room again.
    pub(super) fn transmit(
        &mut self,
        connection: &mut Connection,
        mut send: impl FnMut(&Transmit, &[u8]) -> Result<(), SendError>,
    ) -> bool {
        let mut has_sent = false;
        for _ in 0..TRANSMITS_PER_TURN {
            let transmit = match self.pending.take() {
                Some(pending) => Some(pending),
                None => connection.poll_transmit(now(), &mut self.buffer),
            };
            let Some(transmit) = transmit else { break };
            if let Err(SendError::NoRoom) = send(&transmit, &self.buffer) {
                self.pending = Some(transmit);
                break;
            }
            has_sent = true;
        }
        has_sent
    }
}
