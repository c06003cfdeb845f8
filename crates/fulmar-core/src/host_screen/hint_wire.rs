//! The message of hints, kind 64 of a screen's difference.
//!
//! ```text
//! Hints { uint32 flags = 1, uint32 cursor_shape = 2, uint32 class = 3, uint64 program = 4 }
//! ```
//!
//! Source: docs/protocol.md §13.7.

use fulmar_predict::{ProgramClass, TtyHints};
use fulmar_terminal::CursorShape;
use fulmar_transport::wire::{self, Fields, WireError};

const FLAGS: u32 = 1;
const CURSOR_SHAPE: u32 = 2;
const CLASS: u32 = 3;
const PROGRAM: u32 = 4;

const CANONICAL: u64 = 1;
const ECHO: u64 = 1 << 1;
const ALTERNATE: u64 = 1 << 2;
const STEADY: u64 = 1 << 3;

/// The most that the fields take: three small numbers and one of 64 bits.
///
/// Source: docs/protocol.md §13.7, as the encoding of Protocol Buffers has it.
pub(super) const BYTES_MAX: usize = 3 * 2 + 11;

/// Writes all fields, whatever they hold.
pub(super) fn encode(out: &mut Vec<u8>, hints: &TtyHints) {
    let flag = |is_set, bit| if is_set { bit } else { 0 };
    let flags = flag(hints.canonical, CANONICAL)
        | flag(hints.echo, ECHO)
        | flag(hints.alternate, ALTERNATE)
        | flag(hints.steady, STEADY);
    wire::put_uint(out, FLAGS, flags);
    wire::put_uint(out, CURSOR_SHAPE, hints.cursor_shape as u64);
    wire::put_uint(out, CLASS, number_of(hints.class));
    wire::put_uint(out, PROGRAM, hints.program);
}

/// Reads hints. Fields, flags and classes that we do not know are those of a later version.
///
/// # Errors
///
/// The bytes are no such message.
pub(super) fn decode(message: Fields<'_>) -> Result<TtyHints, WireError> {
    let mut hints = TtyHints::default();
    for field in message {
        let field = field?;
        match field.number {
            FLAGS => {
                let flags = field.uint()?;
                hints.canonical = flags & CANONICAL != 0;
                hints.echo = flags & ECHO != 0;
                hints.alternate = flags & ALTERNATE != 0;
                hints.steady = flags & STEADY != 0;
            }
            CURSOR_SHAPE => {
                let shape = u16::try_from(field.uint()?).ok();
                let shape = shape.and_then(CursorShape::from_number);
                hints.cursor_shape = shape.unwrap_or_default();
            }
            CLASS => hints.class = class_of(field.uint()?),
            PROGRAM => hints.program = field.uint()?,
            _ => {}
        }
    }
    Ok(hints)
}

/// 0 is [`ProgramClass::Unknown`], and so is every number that has no meaning yet.
const CLASSES: [ProgramClass; 6] = [
    ProgramClass::Unknown,
    ProgramClass::Shell,
    ProgramClass::LineEditor,
    ProgramClass::Editor,
    ProgramClass::Relay,
    ProgramClass::Other,
];

fn number_of(class: ProgramClass) -> u64 {
    let place = CLASSES.iter().position(|known| *known == class);
    place.map_or(0, |place| place as u64)
}

fn class_of(number: u64) -> ProgramClass {
    let place = usize::try_from(number).ok();
    let class = place.and_then(|place| CLASSES.get(place));
    class.copied().unwrap_or_default()
}
