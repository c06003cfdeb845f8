//! Instructions that are longer than a datagram.

use std::borrow::Cow;
use std::collections::BTreeMap;

use fulmar_base::Time;
use fulmar_datagram::limits::{DATAGRAM_OVERHEAD_BYTES, FRAGMENT_INDEX_MAX};
use fulmar_datagram::{Fragment, FragmentHeader, FragmentIndex};

use crate::limits::{ASSEMBLY_AGE_MAX, COMPRESSED_BYTES_MAX};

/// The reason for which a fragment was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum AssemblyError {
    /// It belongs to an older instruction than the one that is being collected.
    #[error("the fragment's instruction was overtaken")]
    Overtaken,
    /// It contradicts an earlier fragment of its instruction, which is given up.
    #[error("two fragments of an instruction contradict each other")]
    Conflict,
    /// With it the instruction would be longer than [`COMPRESSED_BYTES_MAX`]; it is given up.
    #[error("the instruction is too long")]
    TooLong,
}

/// Collects the fragments of one instruction at a time.
///
/// A fragment that is a whole instruction passes by without disturbing what is collected. Of others
/// a newer instruction takes the place of an older one, which the peer has given up by then: it sends
/// all fragments of an instruction in a row.
///
/// Memory grows with the content that has arrived, not with the indices that it claims.
///
/// Source: docs/protocol.md §4, docs/threat-model.md §6.
#[derive(Debug, Default)]
pub struct Assembly {
    collection: Option<Collection>,
}

#[derive(Debug)]
struct Collection {
    id: u64,
    began: Time,
    pieces: BTreeMap<FragmentIndex, Box<[u8]>>,
    last: Option<FragmentIndex>,
    bytes: usize,
}

impl Assembly {
    /// Returns an assembly with nothing in it.
    pub fn new() -> Assembly {
        Assembly::default()
    }

    /// Takes a fragment, and returns the compressed instruction if that made it whole.
    ///
    /// # Errors
    ///
    /// The fragment was dropped, and with it the collection where it says so.
    pub fn add<'a>(
        &mut self,
        now: Time,
        fragment: Fragment<'a>,
    ) -> Result<Option<Cow<'a, [u8]>>, AssemblyError> {
        self.expire(now);
        let Fragment { header, content } = fragment;
        let collected = self.collection.as_ref().map(|collection| collection.id);
        if collected != Some(header.id) && is_whole(header) {
            return Ok(Some(Cow::Borrowed(content)));
        }
        if collected.is_some_and(|id| header.id < id) {
            return Err(AssemblyError::Overtaken);
        }
        let collection = match self.collection.take() {
            Some(current) if current.id == header.id => current,
            _ => Collection::new(header.id, now),
        };
        // A verdict against the fragment leaves the collection taken, and so given up.
        let collection = collection.with(header, content)?;
        if collection.is_complete() {
            return Ok(Some(Cow::Owned(collection.join())));
        }
        self.collection = Some(collection);
        Ok(None)
    }

    /// Gives up what has been collected for too long.
    pub(crate) fn expire(&mut self, now: Time) {
        if self.expires().is_some_and(|due| due <= now) {
            self.collection = None;
        }
    }

    /// Returns when what is being collected will be given up.
    pub fn expires(&self) -> Option<Time> {
        let collection = self.collection.as_ref()?;
        Some(collection.began + ASSEMBLY_AGE_MAX)
    }

    /// Returns how many bytes have been collected.
    pub fn held_bytes(&self) -> usize {
        self.collection.as_ref().map_or(0, |held| held.bytes)
    }
}

/// Tells whether a fragment is the only one of its instruction.
fn is_whole(header: FragmentHeader) -> bool {
    header.is_final && header.index == FragmentIndex::ZERO
}

impl Collection {
    fn new(id: u64, began: Time) -> Collection {
        Collection {
            id,
            began,
            pieces: BTreeMap::new(),
            last: None,
            bytes: 0,
        }
    }

    fn with(mut self, header: FragmentHeader, content: &[u8]) -> Result<Collection, AssemblyError> {
        self.check_index(header)?;
        match self.pieces.get(&header.index) {
            Some(held) if **held == *content => return Ok(self),
            Some(_) => return Err(AssemblyError::Conflict),
            None => {}
        }
        self.bytes += content.len();
        if self.bytes > COMPRESSED_BYTES_MAX {
            return Err(AssemblyError::TooLong);
        }
        self.pieces.insert(header.index, content.into());
        Ok(self)
    }

    /// Holds an index against what is known of the last one.
    fn check_index(&mut self, header: FragmentHeader) -> Result<(), AssemblyError> {
        let highest = self.pieces.keys().next_back();
        let contradicts = match self.last {
            Some(last) if header.is_final => header.index != last,
            Some(last) => header.index >= last,
            None => header.is_final && highest.is_some_and(|&highest| highest >= header.index),
        };
        if contradicts {
            return Err(AssemblyError::Conflict);
        }
        if header.is_final {
            self.last = Some(header.index);
        }
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.last
            .is_some_and(|last| self.pieces.len() == usize::from(last.get()) + 1)
    }

    fn join(&self) -> Vec<u8> {
        let mut whole = Vec::with_capacity(self.bytes);
        for piece in self.pieces.values() {
            whole.extend_from_slice(piece);
        }
        whole
    }
}

/// A compressed instruction that is being sent, cut into fragments one after the other.
///
/// All of them are full but the last, as stock Mosh has it.
///
/// Source: docs/protocol.md §4.
#[derive(Debug)]
pub struct Fragmenter {
    id: u64,
    compressed: Vec<u8>,
    content_bytes: usize,
    next: u16,
}

impl Fragmenter {
    /// Returns the fragments of an instruction, for datagrams of at most `datagram_bytes`; `None` if
    /// there would be more than the wire can count.
    ///
    /// An id is used for one instruction only; each is higher than those before.
    pub fn new(id: u64, compressed: Vec<u8>, datagram_bytes: usize) -> Option<Fragmenter> {
        let content_bytes = datagram_bytes.checked_sub(DATAGRAM_OVERHEAD_BYTES)?;
        let fragmenter = Fragmenter {
            id,
            compressed,
            content_bytes,
            next: 0,
        };
        let fits = content_bytes > 0 && fragmenter.count() <= usize::from(FRAGMENT_INDEX_MAX) + 1;
        fits.then_some(fragmenter)
    }

    /// Returns how many fragments there are in all: at least one.
    pub fn count(&self) -> usize {
        fragments_of(self.compressed.len(), self.content_bytes)
    }

    /// Returns how many bytes all datagrams together will have.
    pub(crate) fn datagrams_bytes(&self) -> usize {
        self.compressed.len() + self.count() * DATAGRAM_OVERHEAD_BYTES
    }

    /// Returns how many bytes the longest of them will have.
    pub(crate) fn longest_bytes(&self) -> usize {
        DATAGRAM_OVERHEAD_BYTES + self.compressed.len().min(self.content_bytes)
    }

    /// Tells whether the last fragment has been taken.
    pub fn is_done(&self) -> bool {
        usize::from(self.next) >= self.count()
    }

    /// Returns the next fragment, and passes on to the one after it.
    pub fn take(&mut self) -> Option<Fragment<'_>> {
        if self.is_done() {
            return None;
        }
        let header = FragmentHeader {
            id: self.id,
            index: FragmentIndex::new(self.next)?,
            is_final: usize::from(self.next) + 1 == self.count(),
        };
        let start = usize::from(self.next) * self.content_bytes;
        let end = (start + self.content_bytes).min(self.compressed.len());
        let content = self.compressed.get(start..end)?;
        self.next += 1;
        Some(Fragment { header, content })
    }
}

/// Returns how many fragments of `content_bytes` it takes for so many bytes.
pub(crate) fn fragments_of(bytes: usize, content_bytes: usize) -> usize {
    bytes.div_ceil(content_bytes.max(1)).max(1)
}

#[cfg(test)]
mod tests;
