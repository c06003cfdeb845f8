//! The message of a user stream's difference.
//!
//! ```text
//! UserMessage { repeated Instruction = 1 }
//! Instruction { Keystroke = 2 | Resize = 3 | TerminalReport = 64 }
//! Keystroke { bytes keys = 4 }    Resize { int32 width = 5, int32 height = 6 }
//! ```
//!
//! Source: docs/protocol.md §6.1, §13.12.

use fulmar_transport::Budget;
use fulmar_transport::limits::SUB_MESSAGES_MAX;
use fulmar_transport::wire::{self, Field, Fields, MessageReader, WireError};

use super::log::Run;
use super::{Mark, WindowSize, report_wire};

const INSTRUCTION: u32 = 1;
const KEYSTROKE: u32 = 2;
const RESIZE: u32 = 3;
const TERMINAL_REPORT: u32 = 64;
const KEYS: u32 = 4;
const WIDTH: u32 = 5;
const HEIGHT: u32 = 6;

/// Runs in one difference; each is an instruction with one message in it.
///
/// Source: docs/threat-model.md §6, sub-messages in a message.
const RUNS_MAX: u32 = SUB_MESSAGES_MAX / 2;

/// The most that a run needs beside its keys: three keys of a byte and three lengths.
///
/// Source: docs/protocol.md §6.1, as the encoding of Protocol Buffers has it.
const RUN_OVERHEAD_BYTES_MAX: usize = 3 * (1 + 4);

/// Writes runs until there is no more room.
pub(super) struct Encoder {
    bytes: Vec<u8>,
    budget: Budget,
    runs_left: u32,
}

impl Encoder {
    pub(super) fn new(budget: Budget) -> Encoder {
        Encoder {
            bytes: Vec::new(),
            budget,
            runs_left: RUNS_MAX,
        }
    }

    /// Writes as much of a run as there is room for, and returns how many units that was.
    pub(super) fn push(&mut self, run: &Run<'_>) -> u64 {
        let Some(runs_left) = self.runs_left.checked_sub(1) else {
            return 0;
        };
        self.runs_left = runs_left;
        match *run {
            Run::Keys(first, second) => self.push_keys(first, second),
            Run::Mark(mark) => self.push_mark(mark),
        }
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.bytes
    }

    fn room(&self) -> usize {
        self.budget.bytes().saturating_sub(self.bytes.len())
    }

    fn push_keys(&mut self, first: &[u8], second: &[u8]) -> u64 {
        let room = self.room().saturating_sub(RUN_OVERHEAD_BYTES_MAX);
        let first = first.get(..room).unwrap_or(first);
        let second = second.get(..room - first.len()).unwrap_or(second);
        let length = first.len() + second.len();
        if length == 0 {
            return 0;
        }
        let keystroke = wire::bytes_field_bytes(KEYS, length);
        put_header(
            &mut self.bytes,
            INSTRUCTION,
            wire::bytes_field_bytes(KEYSTROKE, keystroke),
        );
        put_header(&mut self.bytes, KEYSTROKE, keystroke);
        put_header(&mut self.bytes, KEYS, length);
        self.bytes.extend_from_slice(first);
        self.bytes.extend_from_slice(second);
        length as u64
    }

    fn push_mark(&mut self, mark: Mark) -> u64 {
        let start = self.bytes.len();
        let room = self.room();
        wire::put_message(&mut self.bytes, INSTRUCTION, |instruction| match mark {
            Mark::Resize(size) => wire::put_message(instruction, RESIZE, |resize| {
                wire::put_int32(resize, WIDTH, size.width);
                wire::put_int32(resize, HEIGHT, size.height);
            }),
            Mark::Terminal(report) => wire::put_message(instruction, TERMINAL_REPORT, |message| {
                report_wire::encode(message, &report);
            }),
        });
        if self.bytes.len() - start > room {
            self.bytes.truncate(start);
            return 0;
        }
        1
    }
}

/// Appends what stands before the `length` bytes of a field.
fn put_header(out: &mut Vec<u8>, number: u32, length: usize) {
    const LENGTH_DELIMITED: u64 = 2;
    wire::put_varint(out, u64::from(number) << 3 | LENGTH_DELIMITED);
    wire::put_varint(out, length as u64);
}

/// Reads a difference as tolerantly as stock does: instructions of other kinds are passed over, and
/// one with several kinds counts as its keystroke, else as its resize, else as its terminal report.
///
/// # Errors
///
/// The bytes are no such message.
pub(super) fn decode(difference: &[u8]) -> Result<Vec<Run<'_>>, WireError> {
    let mut reader = MessageReader::new();
    let mut runs = Vec::new();
    let fields = reader.message(difference);
    for field in fields.clone() {
        let field = field?;
        if field.number == INSTRUCTION {
            let instruction = reader.sub_message(&fields, &field)?;
            runs.extend(decode_instruction(&mut reader, instruction)?);
        }
    }
    Ok(runs)
}

fn decode_instruction<'a>(
    reader: &mut MessageReader,
    instruction: Fields<'a>,
) -> Result<Option<Run<'a>>, WireError> {
    let (mut keys, mut resize, mut terminal) = (None, None, None);
    for field in instruction.clone() {
        let field = field?;
        match field.number {
            KEYSTROKE => keys = Some(decode_keystroke(reader.sub_message(&instruction, &field)?)?),
            RESIZE => resize = Some(decode_resize(reader.sub_message(&instruction, &field)?)?),
            TERMINAL_REPORT => {
                let report = report_wire::decode(reader.sub_message(&instruction, &field)?)?;
                terminal = Some(Run::Mark(Mark::Terminal(report)));
            }
            _ => {}
        }
    }
    Ok(keys.or(resize).or(terminal))
}

fn decode_keystroke<'a>(keystroke: Fields<'a>) -> Result<Run<'a>, WireError> {
    let mut keys: &[u8] = &[];
    for field in keystroke {
        let field: Field<'a> = field?;
        if field.number == KEYS {
            keys = field.bytes()?;
        }
    }
    Ok(Run::Keys(keys, &[]))
}

fn decode_resize<'a>(resize: Fields<'_>) -> Result<Run<'a>, WireError> {
    let mut size = WindowSize {
        width: 0,
        height: 0,
    };
    for field in resize {
        let field = field?;
        match field.number {
            WIDTH => size.width = field.int32()?,
            HEIGHT => size.height = field.int32()?,
            _ => {}
        }
    }
    Ok(Run::Mark(Mark::Resize(size)))
}
