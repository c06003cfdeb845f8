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
    pub(super) fn new(entry: Entry) -> Self {
        let chunks = Chunks::new(entry.kind.size());
        let count = usize::try_from(chunks.count()).unwrap_or(usize::MAX);
        Self {
            entry,
            chunks,
            next: 0,
            digests: vec![None; count],
            missing: chunks.count(),
            claims: BTreeMap::new(),
            told: [false; STREAMS_MAX],
        }
    }

    /// The next chunk that has to be sent or compared.
    pub(super) fn take(&mut self) -> Option<Taken> {
        let chunk = self.next;
        if chunk == self.chunks.count() {
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
