//! A file while it is sent: stretches of data, holes, and whether somebody changed it meanwhile.

use std::os::fd::OwnedFd;

use bytes::Bytes;
use fulmar_copy::Piece;

use crate::system::{self, Errno, Facts, Result};

/// The most bytes of a file whose size is not known: it is kept in memory while it is sent.
///
/// Chosen by eye: the longest files in `/proc` that somebody copies, as the kernel's symbols, have less.
pub(crate) const UNSIZED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The longest file without blocks whose size is not believed.
///
/// Source: a file in `/sys` has the size of a page, of 64 KiB at most on the machines of Linux.
const PAGE_BYTES_MAX: u64 = 64 * 1024;

/// Bytes read first of a file whose size is not known. Chosen by eye: nearly all files of no size are empty.
const FIRST_BYTES: usize = 4096;

/// Bytes read at once of the rest. Chosen by eye: few calls, and little memory.
const NEXT_BYTES: usize = 64 * 1024;

/// An open file of the source.
#[derive(Debug)]
pub(crate) struct Reading {
    file: OwnedFd,
    /// As it was when it was opened.
    facts: Facts,
    /// The content of a file whose size says nothing.
    content: Option<Bytes>,
    /// The stretch of data that was found last.
    data: (u64, u64),
    /// It ended before its size.
    cut_short: bool,
}

impl Reading {
    /// Begins to read a file. One in `/proc` or `/sys` has another size than it says, and is read here.
    ///
    /// # Errors
    ///
    /// Those of reading; `FBIG` if it has more than [`UNSIZED_BYTES_MAX`] then.
    pub(crate) fn new(file: OwnedFd, facts: Facts) -> Result<Self> {
        let content = if is_sized(&file, &facts)? {
            None
        } else {
            Some(read_whole(&file)?).filter(|content| content.len() as u64 != facts.size)
        };
        let is_sparse = facts.stored < facts.size;
        Ok(Self {
            file,
            facts,
            content,
            // Nobody need be asked about a file that has room for all of its bytes.
            data: (0, if is_sparse { 0 } else { facts.size }),
            cut_short: false,
        })
    }

    /// Returns the size of the file when it was opened.
    pub(crate) fn size(&self) -> u64 {
        let content = self.content.as_ref();
        content.map_or(self.facts.size, |content| content.len() as u64)
    }

    /// Returns what is at `offset`, at most `limit` bytes of it. Nothing beyond the size that the file had
    /// when it was opened, or one that grows has no end.
    pub(crate) fn read(&mut self, offset: u64, limit: usize) -> Result<Piece> {
        let size = self.size();
        if offset >= size {
            return Ok(Piece::End);
        }
        if let Some(content) = &self.content {
            let start = usize::try_from(offset).unwrap_or(usize::MAX);
            let end = start.saturating_add(limit).min(content.len());
            return Ok(Piece::Bytes(content.slice(start..end)));
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

    /// Returns true if size, contents or rights of the file have changed since it was opened, as far as its times tell. What
    /// was read at once is of one moment.
    pub(crate) fn has_changed(&self) -> Result<bool> {
        if self.content.is_some() {
            return Ok(false);
        }
        let now = system::facts(&self.file)?;
        let same = now.size == self.facts.size
            && now.modified == self.facts.modified
            && now.changed == self.facts.changed;
        Ok(self.cut_short || !same)
    }
}

/// Returns true if the size of a file is that of its content. Where nothing is stored and yet something can be read, it may be a
/// file of the kernel, which makes its content when it is read. A file that is one hole has nothing to read.
fn is_sized(file: &OwnedFd, facts: &Facts) -> Result<bool> {
    if facts.size == 0 {
        return Ok(false);
    }
    if facts.stored > 0 || facts.size > PAGE_BYTES_MAX {
        return Ok(true);
    }
    let data = system::next_data(file, 0, facts.size)?;
    system::rewind(file)?;
    Ok(data.is_none_or(|(start, _)| start > 0))
}

/// Reads a file to its end. Step by step, as some files of the kernel cannot be asked for an offset.
fn read_whole(file: &OwnedFd) -> Result<Bytes> {
    let mut content = Vec::new();
    let mut limit = FIRST_BYTES;
    loop {
        let bytes = system::read(file, limit)?;
        if bytes.is_empty() {
            return Ok(content.into());
        }
        content.extend_from_slice(&bytes);
        if content.len() > UNSIZED_BYTES_MAX {
            return Err(Errno::FBIG);
        }
        limit = NEXT_BYTES;
    }
}
