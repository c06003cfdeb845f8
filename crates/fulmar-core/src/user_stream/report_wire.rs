//! The message of a terminal report, kind 64 of a user stream's difference.
//!
//! ```text
//! TerminalReport { uint64 text = 1, uint64 background = 2, uint64 cursor = 3, uint32 clustering = 4,
//!                  uint32 keyboard = 5, uint32 crops = 6, uint32 checksums = 7 }
//! ```
//!
//! Source: docs/protocol.md §13.12.

use fulmar_terminal::{Clustering, ColorLevels, TerminalReport};
use fulmar_transport::wire::{self, Fields, WireError};

const TEXT: u32 = 1;
const BACKGROUND: u32 = 2;
const CURSOR: u32 = 3;
const CLUSTERING: u32 = 4;
const KEYBOARD: u32 = 5;
const CROPS: u32 = 6;
const CHECKSUMS: u32 = 7;

/// The numbers of these; others are those of a later version.
const CLUSTERINGS: [Clustering; 3] = [
    Clustering::Unknown,
    Clustering::Switchable,
    Clustering::Permanent,
];

/// Writes what is known.
pub(super) fn encode(out: &mut Vec<u8>, report: &TerminalReport) {
    let colors = &report.colors;
    for (number, levels) in [
        (TEXT, colors.text),
        (BACKGROUND, colors.background),
        (CURSOR, colors.cursor),
    ] {
        if let Some([red, green, blue]) = levels {
            let levels = [red, green, blue].map(u64::from);
            wire::put_uint(out, number, levels[0] << 32 | levels[1] << 16 | levels[2]);
        }
    }
    wire::put_uint(out, CLUSTERING, report.clustering as u64);
    wire::put_uint(out, KEYBOARD, report.keyboard.into());
    if report.crops {
        wire::put_uint(out, CROPS, 1);
    }
    if report.checksums {
        wire::put_uint(out, CHECKSUMS, 1);
    }
}

/// Reads a report. Fields that we do not know are those of a later version, and so are numbers.
///
/// # Errors
///
/// The bytes are no such message.
pub(super) fn decode(message: Fields<'_>) -> Result<TerminalReport, WireError> {
    let mut report = TerminalReport::default();
    for field in message {
        let field = field?;
        match field.number {
            TEXT => report.colors.text = levels(field.uint()?),
            BACKGROUND => report.colors.background = levels(field.uint()?),
            CURSOR => report.colors.cursor = levels(field.uint()?),
            CLUSTERING => {
                let number = usize::try_from(field.uint()?).ok();
                let clustering = number.and_then(|number| CLUSTERINGS.get(number));
                report.clustering = clustering.copied().unwrap_or_default();
            }
            KEYBOARD => report.keyboard = field.uint()? == 1,
            CROPS => report.crops = field.uint()? == 1,
            CHECKSUMS => report.checksums = field.uint()? == 1,
            _ => {}
        }
    }
    Ok(report)
}

/// Returns the colour of 48 bits, red first.
fn levels(number: u64) -> Option<ColorLevels> {
    let [0, 0, levels @ ..] = number.to_be_bytes() else {
        return None;
    };
    let level = |at: usize| u16::from_be_bytes([levels[at], levels[at + 1]]);
    Some([level(0), level(2), level(4)])
}
