//! The frames that come in on one stream.

use bytes::Bytes;

use crate::codec::{Decoder, Item};
use crate::protocol_error::ProtocolError;
use crate::streams::{Arrived, StreamId, Streams};

/// One stream's frames.
#[derive(Debug, Default)]
pub(crate) struct Inlet {
    decoder: Decoder,
    /// The bytes that were read and are not decoded.
    input: Bytes,
    is_ended: bool,
}

impl Inlet {
    /// The next frame; `None` when nothing more has come, or `budget` bytes have been read.
    pub(crate) fn next(
        &mut self,
        stream: StreamId,
        streams: &mut impl Streams,
        budget: &mut usize,
    ) -> Result<Option<Item>, ProtocolError> {
        loop {
            if let Some(item) = self.decoder.next(&mut self.input)? {
                return Ok(Some(item));
            }
            if self.is_ended || *budget == 0 {
                return Ok(None);
            }
            match streams.read(stream, *budget) {
                Arrived::Bytes(bytes) => {
                    *budget = budget.saturating_sub(bytes.len());
                    self.input = bytes;
                }
                Arrived::Nothing => return Ok(None),
                // A stream ends between two frames or is broken (docs/copy-protocol.md §9).
                Arrived::Ended if self.decoder.is_within_frame() => {
                    return Err(ProtocolError::EndedEarly);
                }
                Arrived::Ended => self.is_ended = true,
            }
        }
    }

    /// Returns true if the peer has finished the stream, and all that came has been fetched.
    pub(crate) fn is_ended(&self) -> bool {
        self.is_ended
    }
}
