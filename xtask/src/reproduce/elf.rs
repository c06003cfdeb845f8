//! The protections of a program that its ELF headers tell of.
//!
//! Source: System V ABI, chapters 4 and 5; the extensions in glibc's `elf.h`.

use anyhow::{Context as _, Result, ensure};

/// The protections that are looked for.
pub(super) const PROTECTIONS: [&str; 4] = [
    "position-independent code",
    "a stack that is not executable",
    "tables of symbols that are read-only once they are filled",
    "no memory that is both written and executed",
];

const TYPE_SHARED: u16 = 3;
const SEGMENT_LOAD: u32 = 1;
const SEGMENT_DYNAMIC: u32 = 2;
const SEGMENT_STACK: u32 = 0x6474_e551;
const SEGMENT_RELRO: u32 = 0x6474_e552;
const EXECUTE: u32 = 1;
const WRITE: u32 = 2;
const TAG_FLAGS: u64 = 30;
const FLAG_BIND_NOW: u64 = 8;
const TAG_FLAGS_1: u64 = 0x6fff_fffb;
const FLAG_1_NOW: u64 = 1;

/// A segment of the program, as its header says.
struct Segment {
    kind: u32,
    flags: u32,
    offset: usize,
    bytes: usize,
}

/// Returns the names of the protections that a program does not have.
///
/// # Errors
///
/// When this is no ELF of 64 bits, lowest byte first, or is cut.
pub(super) fn lacking(program: &[u8]) -> Result<Vec<&'static str>> {
    ensure!(
        program.starts_with(b"\x7fELF\x02\x01"),
        "not an ELF of 64 bits"
    );
    let segments = segments(program)?;
    let flags_of = |kind| {
        segments
            .iter()
            .find(|one| one.kind == kind)
            .map(|one| one.flags)
    };
    let is_both = |one: &Segment| {
        one.kind == SEGMENT_LOAD && one.flags & (WRITE | EXECUTE) == WRITE | EXECUTE
    };
    let has = [
        number::<2>(program, 16)? == u64::from(TYPE_SHARED),
        flags_of(SEGMENT_STACK).is_some_and(|flags| flags & EXECUTE == 0),
        flags_of(SEGMENT_RELRO).is_some() && binds_at_once(program, &segments)?,
        !segments.iter().any(is_both),
    ];
    let named = PROTECTIONS.into_iter().zip(has);
    Ok(named
        .filter(|(_, has)| !has)
        .map(|(name, _)| name)
        .collect())
}

fn segments(program: &[u8]) -> Result<Vec<Segment>> {
    let table = usize::try_from(number::<8>(program, 32)?)?;
    let length = usize::try_from(number::<2>(program, 54)?)?;
    let count = usize::try_from(number::<2>(program, 56)?)?;
    let segment = |index| {
        let at = table + index * length;
        Ok(Segment {
            kind: number::<4>(program, at)?.try_into()?,
            flags: number::<4>(program, at + 4)?.try_into()?,
            offset: number::<8>(program, at + 8)?.try_into()?,
            bytes: number::<8>(program, at + 32)?.try_into()?,
        })
    };
    (0..count).map(segment).collect()
}

/// Returns true if all symbols are found before the program begins, after which their table is read-only.
fn binds_at_once(program: &[u8], segments: &[Segment]) -> Result<bool> {
    let Some(dynamic) = segments.iter().find(|one| one.kind == SEGMENT_DYNAMIC) else {
        // Nothing is to be found.
        return Ok(true);
    };
    for at in (dynamic.offset..dynamic.offset + dynamic.bytes).step_by(16) {
        let (tag, value) = (number::<8>(program, at)?, number::<8>(program, at + 8)?);
        if tag == TAG_FLAGS && value & FLAG_BIND_NOW != 0
            || tag == TAG_FLAGS_1 && value & FLAG_1_NOW != 0
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the number of so many bytes that begins there.
fn number<const BYTES: usize>(program: &[u8], at: usize) -> Result<u64> {
    let bytes = program.get(at..at + BYTES).context("the program is cut")?;
    let number = bytes
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | u64::from(*byte));
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program of headers only: its type, its segments, and the entry of its dynamic section.
    fn program(kind: u16, segments: &[(u32, u32)], entry: [u64; 2]) -> Vec<u8> {
        let mut program = b"\x7fELF\x02\x01".to_vec();
        program.resize(64, 0);
        program[16..18].copy_from_slice(&kind.to_le_bytes());
        program[32..40].copy_from_slice(&64u64.to_le_bytes());
        program[54..56].copy_from_slice(&56u16.to_le_bytes());
        program[56..58].copy_from_slice(&(segments.len() as u16).to_le_bytes());
        let end = 64 + 56 * segments.len() as u64;
        for (kind, flags) in segments {
            program.extend(kind.to_le_bytes());
            program.extend(flags.to_le_bytes());
            program.extend(end.to_le_bytes());
            program.resize(program.len() + 16, 0);
            program.extend(16u64.to_le_bytes());
            program.resize(program.len() + 16, 0);
        }
        program.extend(entry.iter().flat_map(|number| number.to_le_bytes()));
        program
    }

    const GOOD: [(u32, u32); 5] = [
        (SEGMENT_LOAD, 4 | EXECUTE),
        (SEGMENT_LOAD, 4 | WRITE),
        (SEGMENT_DYNAMIC, 4),
        (SEGMENT_STACK, 4 | WRITE),
        (SEGMENT_RELRO, 4),
    ];
    const NOW: [u64; 2] = [TAG_FLAGS, FLAG_BIND_NOW];

    #[test]
    fn a_program_with_everything_lacks_nothing() {
        for entry in [NOW, [TAG_FLAGS_1, FLAG_1_NOW]] {
            assert!(
                lacking(&program(TYPE_SHARED, &GOOD, entry))
                    .unwrap()
                    .is_empty()
            );
        }
    }

    #[test]
    fn each_protection_is_missed() {
        let with = |index: usize, segment| {
            let mut segments = GOOD;
            segments[index] = segment;
            segments
        };
        let all = [
            (program(2, &GOOD, NOW), 0),
            (program(TYPE_SHARED, &with(3, (SEGMENT_STACK, 7)), NOW), 1),
            (program(TYPE_SHARED, &with(4, (SEGMENT_LOAD, 4)), NOW), 2),
            (program(TYPE_SHARED, &GOOD, [0, 0]), 2),
            (program(TYPE_SHARED, &with(0, (SEGMENT_LOAD, 7)), NOW), 3),
        ];
        for (program, missed) in all {
            assert_eq!(lacking(&program).unwrap(), [PROTECTIONS[missed]]);
        }
    }

    #[test]
    fn what_is_no_program_or_is_cut_is_an_error() {
        assert!(lacking(b"#!/bin/sh").is_err());
        let whole = program(TYPE_SHARED, &GOOD, NOW);
        assert!(lacking(&whole[..100]).is_err());
    }
}
