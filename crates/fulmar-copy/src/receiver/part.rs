//! The part of a file that a frame brings.

use bytes::Bytes;

use crate::digest::{ChunkDigest, SequentialDigest};
use crate::entry::EntryId;
use crate::entry_error::EntryError;
use crate::target::Target;

/// Bytes or zeros, at least one.
#[derive(Debug, Clone)]
pub(super) enum Part {
    Bytes(Bytes),
    Zeros(u64),
}

impl Part {
    pub(super) fn length(&self) -> u64 {
        match self {
            Part::Bytes(bytes) => bytes.len() as u64,
            Part::Zeros(length) => *length,
        }
    }

    pub(super) fn write(
        &self,
        target: &mut impl Target,
        id: EntryId,
        offset: u64,
    ) -> Result<(), EntryError> {
        match self {
            Part::Bytes(bytes) => target.write(id, offset, bytes),
            Part::Zeros(length) => target.zeros(id, offset, *length),
        }
    }

    pub(super) fn digest(&self, digest: &mut ChunkDigest) {
        match self {
            Part::Bytes(bytes) => digest.update(bytes),
            Part::Zeros(length) => digest.zeros(*length),
        }
    }

    pub(super) fn digest_in_order(&self, digest: &mut SequentialDigest) {
        match self {
            Part::Bytes(bytes) => digest.update(bytes),
            Part::Zeros(length) => digest.zeros(*length),
        }
    }
}
