//! The message of the history, kind 66 of a screen's difference.
//!
//! ```text
//! History { uint64 end = 1, uint64 clears = 2, uint64 cleared_at = 3, uint32 alternate = 4, uint64 first = 5, repeated bytes line = 6 }
//! ```
//!
//! Source: docs/protocol.md §13.14.

use fulmar_transport::wire::{self, Fields, WireError};

use crate::history_place::HistoryPlace;

const END: u32 = 1;
const CLEARS: u32 = 2;
const CLEARED_AT: u32 = 3;
const ALTERNATE: u32 = 4;
const FIRST: u32 = 5;
const LINE: u32 = 6;

/// The most that the fields take but for the lines: four numbers of 64 bits and a flag.
///
/// Source: docs/protocol.md §13.14, as the encoding of Protocol Buffers has it.
pub(super) const BYTES_MAX: usize = 4 * 11 + 2;

/// News of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HistoryMessage<'a> {
    pub(super) place: HistoryPlace,
    /// The number of the first line; `None` if it is the one behind the last that was told.
    pub(super) first: Option<u64>,
    pub(super) lines: Vec<&'a [u8]>,
}

impl HistoryMessage<'_> {
    /// Writes what is not 0.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let HistoryPlace {
            end,
            clears,
            cleared_at,
            is_alternate,
        } = self.place;
        let numbers = [
            (END, end),
            (CLEARS, clears),
            (CLEARED_AT, cleared_at),
            (ALTERNATE, u64::from(is_alternate)),
        ];
        for (field, number) in numbers {
            if number > 0 {
                wire::put_uint(out, field, number);
            }
        }
        if let Some(first) = self.first {
            wire::put_uint(out, FIRST, first);
        }
        for line in &self.lines {
            wire::put_bytes(out, LINE, line);
        }
    }
}

/// Reads news of the history. Fields that we do not know are those of a later version.
///
/// # Errors
///
/// The bytes are no such message.
pub(super) fn decode(message: Fields<'_>) -> Result<HistoryMessage<'_>, WireError> {
    let mut news = HistoryMessage {
        place: HistoryPlace::default(),
        first: None,
        lines: Vec::new(),
    };
    for field in message {
        let field = field?;
        match field.number {
            END => news.place.end = field.uint()?,
            CLEARS => news.place.clears = field.uint()?,
            CLEARED_AT => news.place.cleared_at = field.uint()?,
            ALTERNATE => news.place.is_alternate = field.uint()? != 0,
            FIRST => news.first = Some(field.uint()?),
            LINE => news.lines.push(field.bytes()?),
            _ => {}
        }
    }
    Ok(news)
}
