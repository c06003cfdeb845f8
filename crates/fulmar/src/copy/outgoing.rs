//! Sends the datagrams of a copy's turn, and keeps those that the system has no room for.

use fulmar_base::{PathId, SendError};
use fulmar_quic::{Connection, Transmit};

use crate::clock::now;
use crate::net::udp::Batch;

/// Transmissions of one turn, each of up to 40 datagrams.
const TRANSMITS_PER_TURN: usize = 16;

/// The datagrams that are being sent.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    buffer: Vec<u8>,
    /// The transmission that the system had no room for: it is in the buffer.
    pending: Option<Transmit>,
}

impl Outgoing {
    /// Returns the path on which something waits for room, if that is so.
    pub(super) fn waits_on(&self) -> Option<PathId> {
        self.pending.map(|pending| pending.path)
    }

    /// Gives up what waits for room.
    pub(super) fn give_up(&mut self) {
        self.pending = None;
    }

    /// Has what there is to send be sent. Returns whether anything has left: then streams may have room again.
    pub(super) fn transmit(
        &mut self,
        connection: &mut Connection,
        mut send: impl FnMut(&Batch<'_>) -> Result<(), SendError>,
    ) -> bool {
        let mut has_sent = false;
        for _ in 0..TRANSMITS_PER_TURN {
            let transmit = match self.pending.take() {
                Some(pending) => Some(pending),
                None => connection.poll_transmit(now(), &mut self.buffer),
            };
            let Some(transmit) = transmit else { break };
            // Any other error is a loss to QUIC, which sends again.
            if let Err(SendError::NoRoom) = send(&batch(&transmit, &self.buffer)) {
                self.pending = Some(transmit);
                break;
            }
            has_sent = true;
        }
        has_sent
    }
}

/// Returns what QUIC put into `buffer`.
pub(super) fn batch<'a>(transmit: &Transmit, buffer: &'a [u8]) -> Batch<'a> {
    Batch {
        path: transmit.path,
        ecn: transmit.ecn,
        segment: transmit.segment,
        // A copy's sockets forbid that for all of them.
        is_whole: false,
        bytes: buffer.get(..transmit.length).unwrap_or(buffer),
    }
}

#[cfg(test)]
mod tests {
    use fulmar_quic::{ConnectionOptions, Secret};
    use zeroize::Zeroizing;

    use super::*;
    use crate::copy::udp_connection::origin;

    #[test]
    fn what_found_no_room_is_what_is_sent_next_unless_it_is_given_up() {
        let (secret, path) = (Secret::from_bytes(Zeroizing::new([7; 32])), PathId::new(3));
        let options = ConnectionOptions::default();
        let mut connection = Connection::client(&secret, [1; 32], origin(), now(), path, &options);
        let mut tried = Vec::new();
        let mut transmit = |outgoing: &mut Outgoing, outcome| {
            outgoing.transmit(&mut connection, |batch| {
                tried.push(batch.bytes.to_vec());
                outcome
            })
        };
        let mut outgoing = Outgoing::default();
        assert!(!transmit(&mut outgoing, Err(SendError::NoRoom)));
        assert_eq!(outgoing.waits_on(), Some(path));
        assert!(!transmit(&mut outgoing, Err(SendError::NoRoom)));
        outgoing.give_up();
        assert!(!transmit(&mut outgoing, Ok(())), "there is no more of it");
        assert_eq!((outgoing.waits_on(), tried.len()), (None, 2));
        assert!(!tried[0].is_empty() && tried[0] == tried[1]);
    }
}
