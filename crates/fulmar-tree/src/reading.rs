//! A file while it is sent: stretches of data, holes, and whether somebody changed it meanwhile.

use std::os::fd::OwnedFd;

use bytes::Bytes;
use fulmar_copy::Piece;

use crate::system::{self, Facts, Result};

/// An open file of the source.
#[derive(Debug)]
pub(crate) struct Reading {
    file: OwnedFd,
    /// As it was when it was opened.
    facts: Facts,
    /// The stretch of data that was found last.
    data: (u64, u64),
    /// It ended before its size.
    cut_short: bool,
}

impl Reading {
    pub(crate) fn new(file: OwnedFd, facts: Facts) -> Self {
        let is_sparse = facts.stored < facts.size;
        Self {
            file,
            facts,
            // Nobody need be asked about a file that has room for all of its bytes.
            data: (0, if is_sparse { 0 } else { facts.size }),
            cut_short: false,
        }
    }

    /// Returns what is at `offset`, at most `limit` bytes of it. Nothing beyond the size that the file had
    /// when it was opened, or one that grows has no end.
    pub(crate) fn read(&mut self, offset: u64, limit: usize) -> Result<Piece> {
        let size = self.facts.size;
        if offset >= size {
            return Ok(Piece::End);
        }
        if !(self.data.0..self.data.1).contains(&offset) {
            self.data = system::next_data(&self.file, offset, size)?.unwrap_or((size, size));
        }
        if self.data.0 > offset {
            return Ok(Piece::Hole(self.data.0.min(size) - offset));
        }
        let left = usize::try_from(self.data.1 - offset).unwrap_or(usize::MAX);
        let bytes = system::read_at(&self.file, limit.min(left), offset)?;
        if bytes.is_empty() {
            self.cut_short = true;
            return Ok(Piece::End);
        }
        Ok(Piece::Bytes(Bytes::from(bytes)))
    }

    /// Returns true if size, contents or rights of the file have changed since it was opened, as far as its times tell.
    pub(crate) fn has_changed(&self) -> Result<bool> {
        let now = system::facts(&self.file)?;
        let same = now.size == self.facts.size
            && now.modified == self.facts.modified
            && now.changed == self.facts.changed;
        Ok(self.cut_short || !same)
    }
}
