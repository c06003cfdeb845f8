//! The message of a screen's difference.
//!
//! ```text
//! HostMessage { repeated Instruction = 1 }
//! Instruction { HostBytes = 2 | Resize = 3 | EchoAck = 7 | Hints = 64 | Clusters = 65 | History = 66 | Event = 67 }
//! HostBytes { bytes hoststring = 4 }    Resize { int32 width = 5, int32 height = 6 }
//! EchoAck { uint64 echo_ack_num = 8 }    Clusters { }    History: see `history_wire`    Event: see `event_wire`
//! ```
//!
//! Source: docs/protocol.md §6.2, §13.7, §13.12, §13.14, §13.15.

use fulmar_predict::TtyHints;
use fulmar_terminal::{Size, TerminalEvent};
use fulmar_transport::wire::{self, Fields, MessageReader, WireError};
use fulmar_transport::{ApplyError, StateNumber};

use super::event_wire;
use super::hint_wire;
use super::history_wire::{self, HistoryMessage};
use crate::user_stream::WindowSize;

// The numbers of the fields. Source: docs/protocol.md §6.2, §13.7, §13.12.
const INSTRUCTION: u32 = 1;
const HOST_BYTES: u32 = 2;
const RESIZE: u32 = 3;
const HOST_STRING: u32 = 4;
const WIDTH: u32 = 5;
const HEIGHT: u32 = 6;
const ECHO_ACK: u32 = 7;
const ECHO_ACK_NUMBER: u32 = 8;
const HINTS: u32 = 64;
const CLUSTERS: u32 = 65;
const HISTORY: u32 = 66;
const EVENT: u32 = 67;

/// The most that a message needs beside its frame: an echo ack, a resize, the word that cells hold clusters, and the three
/// headers of the host bytes.
///
/// Source: docs/protocol.md §6.2, §13.12, as the encoding of Protocol Buffers has it.
pub(super) const OVERHEAD_BYTES_MAX: usize = (2 + 2 + 11) + (2 + 2 + 6) + (2 + 3) + 3 * (1 + 5);

/// The most that hints need: their fields, and two headers, of which one has a long number.
///
/// Source: docs/protocol.md §13.7, as the encoding of Protocol Buffers has it.
pub(super) const HINT_BYTES_MAX: usize = (2 + 3) + hint_wire::BYTES_MAX;

/// The most that the history needs beside its lines: its fields, and two headers, each with a long number.
///
/// Source: docs/protocol.md §13.14, as the encoding of Protocol Buffers has it.
pub(super) const HISTORY_BYTES_MAX: usize = (2 + 5) + (1 + 5) + history_wire::BYTES_MAX;

/// The most that an event needs beside its texts: its fields, and two headers, each with a long number.
///
/// Source: docs/protocol.md §13.15, as the encoding of Protocol Buffers has it.
pub(super) const EVENT_BYTES_MAX: usize = event_wire::OVERHEAD_BYTES_MAX;

/// The content of a difference. Each part is written only if it is needed, and in stock's order: echo ack,
/// resize, frame. Hints come first of all: they tell what the frame is to be taken for.
pub(super) struct Message<'a> {
    pub(super) hints: Option<TtyHints>,
    /// True if cells hold grapheme clusters from here on.
    pub(super) clusters: bool,
    pub(super) echo_ack: Option<StateNumber>,
    pub(super) size: Option<Size>,
    /// Empty if the screen stays as it is.
    pub(super) frame: &'a [u8],
    /// Last of all: what it says holds for the screen that is there then.
    pub(super) history: Option<HistoryMessage<'a>>,
    /// Events, each with its number.
    pub(super) events: &'a [(u64, TerminalEvent)],
}

impl Message<'_> {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        if let Some(hints) = &self.hints {
            put_instruction(out, HINTS, |message| hint_wire::encode(message, hints));
        }
        if self.clusters {
            put_instruction(out, CLUSTERS, |_| {});
        }
        if let Some(echo_ack) = self.echo_ack {
            put_instruction(out, ECHO_ACK, |message| {
                wire::put_uint(message, ECHO_ACK_NUMBER, echo_ack.get());
            });
        }
        if let Some(size) = self.size {
            let WindowSize { width, height } = size.into();
            put_instruction(out, RESIZE, |message| {
                wire::put_int32(message, WIDTH, width);
                wire::put_int32(message, HEIGHT, height);
            });
        }
        if !self.frame.is_empty() {
            put_instruction(out, HOST_BYTES, |message| {
                wire::put_bytes(message, HOST_STRING, self.frame);
            });
        }
        if let Some(history) = &self.history {
            put_instruction(out, HISTORY, |message| history.encode(message));
        }
        for (number, event) in self.events {
            put_instruction(out, EVENT, |message| {
                event_wire::encode(message, *number, event);
            });
        }
    }
}

fn put_instruction(out: &mut Vec<u8>, kind: u32, write: impl FnOnce(&mut Vec<u8>)) {
    wire::put_message(out, INSTRUCTION, |instruction| {
        wire::put_message(instruction, kind, write);
    });
}

/// One thing that a difference says.
pub(super) enum Part<'a> {
    /// `None` if they cannot be read.
    Hints(Option<TtyHints>),
    /// Cells hold grapheme clusters from here on.
    Clusters,
    EchoAck(StateNumber),
    Resize(Size),
    Frame(&'a [u8]),
    /// `None` if it cannot be read.
    History(Option<HistoryMessage<'a>>),
    /// An event and its number; `None` if it cannot be read.
    Event(u64, Option<TerminalEvent>),
}

/// Hands the parts of a difference to `apply`, in their order. Kinds that we do not know are passed
/// over, and so are sizes that no screen can have.
///
/// # Errors
///
/// The bytes are no such message, or what `apply` returns; parts before it have been handed over.
pub(super) fn decode<'a>(
    difference: &'a [u8],
    mut apply: impl FnMut(Part<'a>) -> Result<(), ApplyError>,
) -> Result<(), ApplyError> {
    let mut reader = MessageReader::new();
    let fields = reader.message(difference);
    for field in fields.clone() {
        let field = field?;
        if field.number != INSTRUCTION {
            continue;
        }
        let instruction = reader.sub_message(&fields, &field)?;
        for field in instruction.clone() {
            let field = field?;
            let part = match field.number {
                ECHO_ACK => decode_echo_ack(reader.sub_message(&instruction, &field)?)?,
                RESIZE => decode_resize(reader.sub_message(&instruction, &field)?)?,
                HOST_BYTES => decode_host_bytes(reader.sub_message(&instruction, &field)?)?,
                // Stock has no such kind, so that what is in it cannot be a fault of the message.
                HINTS => {
                    let hints = reader.sub_message(&instruction, &field);
                    Some(Part::Hints(hints.and_then(hint_wire::decode).ok()))
                }
                CLUSTERS => Some(Part::Clusters),
                HISTORY => {
                    let history = reader.sub_message(&instruction, &field);
                    Some(Part::History(history.and_then(history_wire::decode).ok()))
                }
                EVENT => {
                    let event = reader.sub_message(&instruction, &field);
                    let event = event.and_then(event_wire::decode).ok();
                    event.map(|(number, event)| Part::Event(number, event))
                }
                _ => None,
            };
            part.map_or(Ok(()), &mut apply)?;
        }
    }
    Ok(())
}

fn decode_echo_ack<'a>(message: Fields<'_>) -> Result<Option<Part<'a>>, WireError> {
    let mut number = None;
    for field in message {
        let field = field?;
        if field.number == ECHO_ACK_NUMBER {
            number = Some(StateNumber::new(field.uint()?));
        }
    }
    Ok(number.map(Part::EchoAck))
}

fn decode_resize<'a>(message: Fields<'_>) -> Result<Option<Part<'a>>, WireError> {
    let mut size = WindowSize {
        width: 0,
        height: 0,
    };
    for field in message {
        let field = field?;
        match field.number {
            WIDTH => size.width = field.int32()?,
            HEIGHT => size.height = field.int32()?,
            _ => {}
        }
    }
    Ok(size.to_size().map(Part::Resize))
}

fn decode_host_bytes(message: Fields<'_>) -> Result<Option<Part<'_>>, WireError> {
    let mut bytes = None;
    for field in message {
        let field = field?;
        if field.number == HOST_STRING {
            bytes = Some(field.bytes()?);
        }
    }
    Ok(bytes.map(Part::Frame))
}
