//! A file that goes over all streams, on the sender's side.

use std::collections::BTreeMap;

use crate::chunks::Chunks;
use crate::digest::{Digest, FileDigest};
use crate::entry::Entry;
use crate::limits::STREAMS_MAX;

/// A file that is sent chunk by chunk, and what of it has been.
#[derive(Debug)]
pub(super) struct Large {
    pub(super) entry: Entry,
    pub(super) chunks: Chunks,
    /// The first chunk that no stream has taken.
    next: u64,
    /// Chunks from the front of which is known whether the receiver has them, or that are sent without knowing.
    checked: u64,
    /// Of all chunks; one that is still under way has none.
    digests: Vec<Option<Digest>>,
    missing: u64,
    /// The digests that the receiver says it has, of chunks not taken yet.
    claims: BTreeMap<u64, Digest>,
    /// The streams that know of the file.
    told: [bool; STREAMS_MAX],
}

/// A chunk for a stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Taken {
    pub(super) chunk: u64,
    /// The receiver has a chunk of this digest there.
    pub(super) claim: Option<Digest>,
}

impl Large {
    /// A file that begins, of which `checked` chunks need no word of the receiver's.
    pub(super) fn new(entry: Entry, checked: u64) -> Self {
        let chunks = Chunks::new(entry.kind.size());
        let count = usize::try_from(chunks.count()).unwrap_or(usize::MAX);
        Self {
            entry,
            chunks,
            next: 0,
            checked,
            digests: vec![None; count],
            missing: chunks.count(),
            claims: BTreeMap::new(),
            told: [false; STREAMS_MAX],
        }
    }

    /// Returns true if no stream has taken the last chunk.
    pub(super) fn has_untaken(&self) -> bool {
        self.next < self.chunks.count()
    }

    /// Returns true if a stream has taken a chunk.
    pub(super) fn has_begun(&self) -> bool {
        self.next > 0
    }

    /// The next chunk that has to be sent or compared, if that is known of it.
    pub(super) fn take(&mut self) -> Option<Taken> {
        let chunk = self.next;
        if chunk >= self.checked.min(self.chunks.count()) {
            return None;
        }
        self.next += 1;
        let claim = self.claims.remove(&chunk);
        Some(Taken { chunk, claim })
    }

    /// Notes what the receiver has; false when there is no such chunk. It is too late for one that is under way.
    pub(super) fn claim(&mut self, first: u64, digests: &[Digest]) -> bool {
        let count = self.chunks.count();
        if first >= count || digests.len() as u64 > count - first {
            return false;
        }
        let claimed = (first..)
            .zip(digests)
            .filter(|(chunk, _)| *chunk >= self.next);
        self.claims
            .extend(claimed.map(|(chunk, digest)| (chunk, *digest)));
        true
    }

    /// Notes that the receiver has looked for the first `chunks` chunks; false when there are not so many.
    pub(super) fn check(&mut self, chunks: u64) -> bool {
        self.checked = self.checked.max(chunks);
        chunks <= self.chunks.count()
    }

    /// A chunk is sent, or is there; the digest of the file once that was the last.
    pub(super) fn complete(&mut self, chunk: u64, digest: Digest) -> Option<Digest> {
        let place = usize::try_from(chunk)
            .ok()
            .and_then(|at| self.digests.get_mut(at))?;
        *place = Some(digest);
        self.missing -= 1;
        if self.missing > 0 {
            return None;
        }
        let mut file = FileDigest::default();
        self.digests
            .iter()
            .flatten()
            .for_each(|digest| file.push(*digest));
        Some(file.finish(self.entry.kind.size()))
    }

    /// Returns true if that stream has still to be told of the file; from now on it has been.
    pub(super) fn tell(&mut self, stream: usize) -> bool {
        self.told
            .get_mut(stream)
            .is_some_and(|told| !std::mem::replace(told, true))
    }
}
