//! The message of an event, kind 67 of a screen's difference.
//!
//! ```text
//! Event { uint64 number = 1, uint32 kind = 2, bytes text = 3, bytes more = 4, uint32 value = 5, uint32 second = 6 }
//! ```
//!
//! Source: docs/protocol.md §13.15.

use fulmar_terminal::{Progress, TerminalEvent};
use fulmar_transport::wire::{self, Fields, WireError};

const NUMBER: u32 = 1;
const KIND: u32 = 2;
const TEXT: u32 = 3;
const MORE: u32 = 4;
const VALUE: u32 = 5;
const SECOND: u32 = 6;

const NOTIFICATION: u64 = 1;
const PROGRESS: u64 = 2;
const DIRECTORY: u64 = 3;
const COMMAND_BEGINS: u64 = 4;
const COMMAND_ENDS: u64 = 5;
const SELECTION: u64 = 6;

/// The most that an event needs beside its texts: four numbers, two headers of texts, and two of the message.
///
/// Source: docs/protocol.md §13.15, as the encoding of Protocol Buffers has it.
pub(super) const OVERHEAD_BYTES_MAX: usize = (2 + 5) + (1 + 5) + 11 + 2 + 2 * (1 + 5) + 2 * 3;

/// Writes an event; what is empty or 0 is left out.
pub(super) fn encode(out: &mut Vec<u8>, number: u64, event: &TerminalEvent) {
    let (kind, text, more, value, second) = match event {
        TerminalEvent::Notification { title, body } => (NOTIFICATION, &**title, &**body, 0, 0),
        TerminalEvent::Progress(progress) => (
            PROGRESS,
            "",
            "",
            progress.state.into(),
            progress.percent.into(),
        ),
        TerminalEvent::Directory(address) => (DIRECTORY, &**address, "", 0, 0),
        TerminalEvent::CommandBegins => (COMMAND_BEGINS, "", "", 0, 0),
        TerminalEvent::CommandEnds(status) => (
            COMMAND_ENDS,
            "",
            "",
            status.map_or(0, |status| 1 + u64::from(status)),
            0,
        ),
        TerminalEvent::Selection { targets, text } => (SELECTION, &**targets, &**text, 0, 0),
    };
    wire::put_uint(out, NUMBER, number);
    wire::put_uint(out, KIND, kind);
    for (field, text) in [(TEXT, text), (MORE, more)] {
        if !text.is_empty() {
            wire::put_bytes(out, field, text.as_bytes());
        }
    }
    for (field, number) in [(VALUE, value), (SECOND, second)] {
        if number > 0 {
            wire::put_uint(out, field, number);
        }
    }
}

/// Reads an event and its number. The event is `None` if it is of a kind that we do not know, or its texts are not what they may be.
///
/// # Errors
///
/// The bytes are no such message.
pub(super) fn decode(message: Fields<'_>) -> Result<(u64, Option<TerminalEvent>), WireError> {
    let (mut number, mut kind, mut text, mut more) = (0, 0, &b""[..], &b""[..]);
    let (mut value, mut second) = (0, 0);
    for field in message {
        let field = field?;
        match field.number {
            NUMBER => number = field.uint()?,
            KIND => kind = field.uint()?,
            TEXT => text = field.bytes()?,
            MORE => more = field.bytes()?,
            VALUE => value = field.uint()?,
            SECOND => second = field.uint()?,
            _ => {}
        }
    }
    let texts = std::str::from_utf8(text)
        .ok()
        .zip(std::str::from_utf8(more).ok());
    Ok((
        number,
        texts.and_then(|(text, more)| event(kind, text, more, value, second)),
    ))
}

/// Returns an event that keeps the rules that a program's own has to keep.
fn event(kind: u64, text: &str, more: &str, value: u64, second: u64) -> Option<TerminalEvent> {
    match kind {
        NOTIFICATION => TerminalEvent::notification(text, more),
        PROGRESS => Progress::new(value.try_into().ok()?, second.try_into().ok()?)
            .map(TerminalEvent::Progress),
        DIRECTORY => TerminalEvent::directory(text),
        COMMAND_BEGINS => Some(TerminalEvent::CommandBegins),
        COMMAND_ENDS => {
            let status = value.checked_sub(1).map(u8::try_from).transpose().ok()?;
            Some(TerminalEvent::CommandEnds(status))
        }
        SELECTION => TerminalEvent::selection(text, more),
        _ => None,
    }
}
