//! Frames out of the bytes of a stream, however they were cut.

use bytes::{Bytes, BytesMut};

use super::frame::{self, Frame};
use super::numbers::DATA;
use super::reader::varint;
use crate::entry::EntryId;
use crate::limits::{CONTROL_FRAME_BYTES_MAX, DATA_BYTES_MAX, FRAME_HEAD_BYTES};
use crate::protocol_error::ProtocolError;

/// The fields of a data frame before its bytes: two numbers of at most eight bytes.
///
/// Source: docs/copy-protocol.md §2.
const DATA_FIELDS_BYTES_MAX: usize = 16;

/// A frame, or a piece of data, that a stream brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Item {
    Frame(Frame),
    /// 1 to 64 KiB of a file.
    Data {
        id: EntryId,
        offset: u64,
        bytes: Bytes,
    },
}

impl Item {
    /// The name in docs/copy-protocol.md §2.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Item::Frame(frame) => frame.name(),
            Item::Data { .. } => "Data",
        }
    }

    /// The entry that it is about, if it belongs on a data stream.
    pub(crate) fn entry(&self) -> Option<EntryId> {
        match self {
            Item::Data { id, .. }
            | Item::Frame(Frame::Entry(id, _) | Frame::Zeros { id, .. } | Frame::End { id, .. }) => {
                Some(*id)
            }
            Item::Frame(_) => None,
        }
    }
}

/// Collects one frame at a time: it holds at most that frame, and no more than has arrived of it.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    begun: BytesMut,
}

impl Decoder {
    /// The next frame; `None` when `input` is used up. A frame that is whole in `input` is not copied.
    pub(crate) fn next(&mut self, input: &mut Bytes) -> Result<Option<Item>, ProtocolError> {
        loop {
            let view: &[u8] = if self.begun.is_empty() {
                input
            } else {
                &self.begun
            };
            match measure(view)? {
                Measure::Whole { head, length } if self.begun.is_empty() => {
                    return item(input.split_to(head + length), head).map(Some);
                }
                Measure::Whole { head, .. } => {
                    return item(self.begun.split().freeze(), head).map(Some);
                }
                Measure::Missing(_) if input.is_empty() => return Ok(None),
                Measure::Missing(missing) => {
                    let take = if self.begun.is_empty() {
                        input.len()
                    } else {
                        missing.min(input.len())
                    };
                    // No more than one frame, so that it is not moved while it grows.
                    self.begun.reserve(missing);
                    self.begun.extend_from_slice(&input.split_to(take));
                }
            }
        }
    }

    /// Returns true if it holds the beginning of a frame.
    pub(crate) fn is_within_frame(&self) -> bool {
        !self.begun.is_empty()
    }
}

/// The part of a frame that is there.
enum Measure {
    /// All of it: number and length in `head` bytes, then the body.
    Whole { head: usize, length: usize },
    /// At least that many bytes are missing, and none that is not of this frame.
    Missing(usize),
}

fn measure(view: &[u8]) -> Result<Measure, ProtocolError> {
    let Some((number, rest)) = view.split_first() else {
        return Ok(Measure::Missing(1));
    };
    let name = frame::name(*number).ok_or(ProtocolError::UnknownFrame(*number))?;
    let Some((length, used)) = varint(rest) else {
        let wanted = rest.first().map_or(1, |first| 1 << (first >> 6));
        return Ok(Measure::Missing(wanted - rest.len()));
    };
    let max = match *number {
        DATA => DATA_BYTES_MAX + DATA_FIELDS_BYTES_MAX,
        _ => CONTROL_FRAME_BYTES_MAX - FRAME_HEAD_BYTES,
    };
    // Before anything is kept of the frame: a length is only what a peer says (docs/threat-model.md
    // §6).
    let length = usize::try_from(length).ok().filter(|length| *length <= max);
    let length = length.ok_or(ProtocolError::TooLong(name))?;
    let head = 1 + used;
    Ok(match (head + length).checked_sub(view.len()) {
        None | Some(0) => Measure::Whole { head, length },
        Some(missing) => Measure::Missing(missing),
    })
}

/// Returns the content of a whole frame.
fn item(whole: Bytes, head: usize) -> Result<Item, ProtocolError> {
    let number = whole.first().copied().unwrap_or_default();
    let body = whole.slice(head..);
    if number != DATA {
        return Frame::decode(number, &body).map(Item::Frame);
    }
    let fault = ProtocolError::Malformed("Data");
    let (id, id_bytes) = varint(&body).ok_or(fault)?;
    let (offset, offset_bytes) = body.get(id_bytes..).and_then(varint).ok_or(fault)?;
    let bytes = body.slice(id_bytes + offset_bytes..);
    if bytes.is_empty() || bytes.len() > DATA_BYTES_MAX {
        return Err(fault);
    }
    Ok(Item::Data {
        id: EntryId(id),
        offset,
        bytes,
    })
}
