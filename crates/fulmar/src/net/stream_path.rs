//! A path over a stream of bytes each way: an ssh, or what leads to one.
//!
//! Source: docs/protocol.md §2.12.

use std::io;

use fulmar_base::{Ecn, PathId, SendError};
use fulmar_platform::Transfer;
use fulmar_transport::Arrival;

use super::path_handler::PathHandler;
use super::record::{self, RecordReader};
use super::udp::{Batch, TurnBudget};

/// The numbers of such paths begin here, far from those of UDP.
pub(crate) const FIRST_STREAM_PATH: u64 = 1 << 63;

/// The bytes that may wait to be written. What does not fit is lost, as in any queue of a network that is full.
///
/// Source: docs/threat-model.md §6.
const OUTGOING_BYTES_MAX: usize = 64 * 1024;

/// The bytes of one read: what a peer has written at once, usually.
const BYTES_AT_ONCE: usize = 16 * 1024;

/// A path whose datagrams go over a stream of bytes each way, neither of which waits.
///
/// All that one turn of a loop sends is gathered, so that it is one write, and one packet of an ssh.
#[derive(Debug)]
pub(crate) struct StreamPath {
    path: PathId,
    reader: RecordReader,
    outgoing: Vec<u8>,
    is_gone: bool,
}

impl StreamPath {
    /// Returns the path of that number, of whose bytes these have come already.
    pub(crate) fn new(path: PathId, early: &[u8]) -> StreamPath {
        let mut reader = RecordReader::default();
        reader.take(early);
        StreamPath {
            path,
            reader,
            outgoing: Vec::new(),
            is_gone: false,
        }
    }

    /// Takes bytes that have come by another way than its own.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.reader.take(bytes);
    }

    /// Returns its number.
    pub(crate) fn path(&self) -> PathId {
        self.path
    }

    /// Tells if nothing can come or go over it any more.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// Takes note that the stream has ended.
    pub(crate) fn end(&mut self) {
        self.is_gone = true;
    }

    /// Tells if datagrams have come that no turn had the budget for.
    pub(crate) fn has_more(&self) -> bool {
        !self.is_gone && self.reader.has_next()
    }

    /// Tells if something waits for room.
    pub(crate) fn wants_room(&self) -> bool {
        !self.is_gone && !self.outgoing.is_empty()
    }

    /// Hands over what has come and what `read` gives, within the budget of the turn. Returns whether any of it was
    /// authentic.
    pub(crate) fn receive(
        &mut self,
        budget: &mut TurnBudget,
        handler: &mut impl PathHandler,
        mut read: impl FnMut(&mut [u8]) -> io::Result<Transfer>,
    ) -> bool {
        let mut bytes = [0; BYTES_AT_ONCE];
        let mut is_genuine = false;
        while !self.is_gone {
            is_genuine |= self.hand_over(budget, handler);
            if self.is_gone || budget.is_spent() || !budget.has_work() {
                break;
            }
            match read(&mut bytes) {
                Ok(Transfer::Bytes(count)) if count > 0 => {
                    self.reader.take(bytes.get(..count).unwrap_or_default());
                }
                Ok(Transfer::WouldBlock) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(_) | Err(_) => self.end(),
            }
        }
        is_genuine
    }

    fn hand_over(&mut self, budget: &mut TurnBudget, handler: &mut impl PathHandler) -> bool {
        let mut is_genuine = false;
        while budget.has_work() && !budget.is_spent() {
            match self.reader.next() {
                Ok(Some(bytes)) => {
                    let handled = handler.handle_datagram(Arrival {
                        path: self.path,
                        ecn: Ecn::NotCapable,
                        bytes,
                    });
                    budget.spend_datagram(handled.work);
                    is_genuine |= handled.is_genuine;
                }
                Ok(None) => break,
                Err(record::MalformedRecord) => {
                    tracing::warn!(path = ?self.path, "something else than datagrams has come");
                    self.end();
                    break;
                }
            }
        }
        is_genuine
    }

    /// Has more to write.
    ///
    /// # Errors
    ///
    /// When the path is gone, or nobody has read what was written before. Of what fits in part the rest is lost.
    pub(crate) fn send(&mut self, batch: &Batch<'_>) -> Result<(), SendError> {
        if self.is_gone {
            return Err(SendError::Unreachable);
        }
        let before = self.outgoing.len();
        for datagram in batch.bytes.chunks(batch.segment.max(1)) {
            if self.outgoing.len() + datagram.len() > OUTGOING_BYTES_MAX {
                break;
            }
            record::append(&mut self.outgoing, datagram);
        }
        if self.outgoing.len() == before {
            Err(SendError::NoRoom)
        } else {
            Ok(())
        }
    }

    /// Writes what there is room for.
    pub(crate) fn flush(&mut self, mut write: impl FnMut(&[u8]) -> io::Result<Transfer>) {
        let mut written = 0;
        while let Some(rest) = self.outgoing.get(written..)
            && !rest.is_empty()
            && !self.is_gone
        {
            match write(rest) {
                Ok(Transfer::Bytes(count)) if count > 0 => written += count,
                Ok(Transfer::Bytes(_) | Transfer::WouldBlock) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Transfer::Closed) | Err(_) => self.end(),
            }
        }
        self.outgoing.drain(..written);
    }
}

#[cfg(test)]
mod tests;
