//! A source and a target in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use bytes::Bytes;
use fulmar_copy::{
    Entry, EntryError, EntryErrorKind, EntryId, EntryKind, ExistingFile, NextEntry, Occupant,
    PartialFile, Piece, RelativePath, Settled, Source, Target, Timestamp,
};

use super::tree::{Node, Tree};

/// Gives the entries of a tree, or of any list.
#[derive(Debug, Default)]
pub(crate) struct MemorySource {
    pub(crate) entries: Vec<Entry>,
    pub(crate) tree: Tree,
    next: usize,
    pub(crate) open: BTreeMap<EntryId, RelativePath>,
    /// These fail when byte 1000 is read.
    pub(crate) unreadable: BTreeSet<RelativePath>,
    /// These are reported as changed.
    pub(crate) changed: BTreeSet<RelativePath>,
    /// These end early.
    pub(crate) shrunk: BTreeSet<RelativePath>,
    /// The number of next calls that find nothing yet.
    pub(crate) stalls: usize,
}

impl MemorySource {
    pub(crate) fn of(tree: &Tree) -> Self {
        Self {
            entries: super::tree::entries(tree),
            tree: tree.clone(),
            ..Self::default()
        }
    }

    fn is_stalled(&mut self) -> bool {
        self.stalls = self.stalls.saturating_sub(1);
        self.stalls > 0
    }
}

impl Source for MemorySource {
    fn next_entry(&mut self, id: EntryId) -> NextEntry {
        if self.is_stalled() {
            return NextEntry::NotNow;
        }
        let Some(entry) = self.entries.get(self.next) else {
            return NextEntry::End;
        };
        self.next += 1;
        if matches!(entry.kind, EntryKind::File { .. }) {
            self.open.insert(id, entry.path.clone());
        }
        NextEntry::Entry(entry.clone())
    }

    fn read(&mut self, id: EntryId, offset: u64, limit: usize) -> Result<Piece, EntryError> {
        assert!(limit > 0, "something is asked for");
        let path = self.open[&id].clone();
        if self.is_stalled() {
            return Ok(Piece::NotNow);
        }
        let Some(Node::File { content, .. }) = self.tree.get(&path) else {
            panic!("{path} is a file");
        };
        if self.unreadable.contains(&path) && offset + limit as u64 > 1000 {
            return Err(EntryError::new(EntryErrorKind::Io).with_note("planted"));
        }
        let end = if self.shrunk.contains(&path) {
            content.len() / 2
        } else {
            content.len()
        };
        let offset = offset as usize;
        if offset >= end {
            return Ok(Piece::End);
        }
        let piece = content.slice(offset..end.min(offset + limit));
        // Blocks of zeros are a hole, if they are aligned.
        let blocks = content[offset..end].chunks_exact(4096).take(64);
        let zeros = blocks.take_while(|block| *block == [0; 4096]).count();
        if offset.is_multiple_of(4096) && zeros > 0 {
            return Ok(Piece::Hole((zeros * 4096) as u64));
        }
        Ok(Piece::Bytes(piece))
    }

    fn close(&mut self, id: EntryId) -> Settled {
        let path = self.open.remove(&id).expect("a file is closed once");
        if self.changed.contains(&path) {
            Settled::Changed
        } else {
            Settled::Same
        }
    }
}

/// The key by which the parts of an interrupted file are found again.
type PartsKey = (RelativePath, Option<u64>, Timestamp);

#[derive(Debug, Default, Clone)]
pub(crate) struct Partial {
    pub(crate) bytes: Vec<u8>,
    pub(crate) written: Vec<Range<u64>>,
}

#[derive(Debug)]
pub(crate) struct Open {
    entry: Entry,
    partial: Partial,
    is_present: bool,
}

/// Holds what has been committed, and the parts of what has not.
#[derive(Debug, Default)]
pub(crate) struct MemoryTarget {
    pub(crate) tree: Tree,
    pub(crate) parts: BTreeMap<PartsKey, Partial>,
    pub(crate) open: BTreeMap<EntryId, Open>,
    /// The content that may be committed under each path; none: anything.
    pub(crate) truth: Option<Tree>,
    /// These cannot begin.
    pub(crate) denied: BTreeSet<RelativePath>,
    /// These run out of room when byte 1000 is written.
    pub(crate) full: BTreeSet<RelativePath>,
    pub(crate) left: Vec<RelativePath>,
    pub(crate) kept: usize,
    pub(crate) looked: usize,
    /// The number of next questions that find it busy.
    pub(crate) stalls: usize,
    /// Every write has to follow the one before, in the only file that is open.
    pub(crate) is_strict: bool,
    /// The most that were open at a time.
    pub(crate) open_max: usize,
}

impl MemoryTarget {
    pub(crate) fn is_idle(&self) -> bool {
        self.open.is_empty()
    }

    fn space(&mut self, id: EntryId, offset: u64, length: u64) -> Result<&mut [u8], EntryError> {
        let count = self.open.len();
        let open = self.open.get_mut(&id).expect("a file that has begun");
        let end = offset + length;
        if self.is_strict {
            assert_eq!(
                (count, offset),
                (1, open.partial.bytes.len() as u64),
                "in order"
            );
        }
        if self.full.contains(&open.entry.path) && end > 1000 {
            return Err(EntryError::new(EntryErrorKind::DiskFull));
        }
        if let EntryKind::File { size: Some(size) } = open.entry.kind {
            assert!(end <= size, "nothing is written behind the end");
        }
        let bytes = &mut open.partial.bytes;
        if (bytes.len() as u64) < end {
            bytes.resize(end as usize, 0);
        }
        open.partial.written.push(offset..end);
        Ok(&mut bytes[offset as usize..end as usize])
    }

    /// Nothing comes into a folder that was left, if the sender keeps to the rules.
    fn check_not_left(&self, path: &RelativePath) {
        let above = std::iter::successors(Some(path.clone()), RelativePath::parent);
        for folder in above.filter(|_| self.truth.is_some()) {
            assert!(!self.left.contains(&folder), "{path} comes too late");
        }
    }

    fn put(&mut self, entry: &Entry, content: Bytes) {
        self.check_not_left(&entry.path);
        let Entry {
            path,
            mode,
            modified,
            ..
        } = entry.clone();
        let node = Node::File {
            content,
            mode,
            modified,
        };
        if let Some(truth) = &self.truth {
            assert!(truth.get(&path) == Some(&node), "{path} is as it was sent");
        }
        self.tree.insert(path, node);
    }
}

/// Ranges that touch, as one.
fn merged(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

impl Target for MemoryTarget {
    fn is_ready(&mut self) -> bool {
        self.stalls = self.stalls.saturating_sub(1);
        self.stalls == 0
    }

    fn begin(&mut self, id: EntryId, entry: &Entry) -> Result<ExistingFile, EntryError> {
        if self.denied.contains(&entry.path) {
            return Err(EntryError::new(EntryErrorKind::Denied));
        }
        let size = entry.kind.size();
        let key = (entry.path.clone(), Some(size), entry.modified);
        let partial = self.parts.remove(&key);
        let is_present = partial.is_none()
            && matches!(self.tree.get(&entry.path), Some(Node::File { content, .. }) if content.len() as u64 == size);
        let begun = match &partial {
            Some(partial) => ExistingFile::Parts(merged(partial.written.clone())),
            None if is_present => ExistingFile::Present,
            None => ExistingFile::New,
        };
        let partial = partial.unwrap_or_default();
        let before = self.open.insert(
            id,
            Open {
                entry: entry.clone(),
                partial,
                is_present,
            },
        );
        assert!(before.is_none(), "a file begins once");
        self.open_max = self.open_max.max(self.open.len());
        Ok(begun)
    }

    fn write(&mut self, id: EntryId, offset: u64, bytes: &[u8]) -> Result<(), EntryError> {
        assert!(!bytes.is_empty(), "something is written");
        self.space(id, offset, bytes.len() as u64)?
            .copy_from_slice(bytes);
        Ok(())
    }

    fn zeros(&mut self, id: EntryId, offset: u64, length: u64) -> Result<(), EntryError> {
        assert!(length > 0, "something is written");
        self.space(id, offset, length)?.fill(0);
        Ok(())
    }

    fn read_back(&mut self, id: EntryId, offset: u64, limit: usize) -> Result<Bytes, EntryError> {
        let open = &self.open[&id];
        let bytes: &[u8] = match self.tree.get(&open.entry.path) {
            Some(Node::File { content, .. }) if open.is_present => content,
            _ => &open.partial.bytes,
        };
        let end = bytes.len().min(offset as usize + limit);
        Ok(Bytes::copy_from_slice(&bytes[offset as usize..end]))
    }

    fn commit(&mut self, id: EntryId, size: u64) -> Result<(), EntryError> {
        let Open {
            entry, mut partial, ..
        } = self.open.remove(&id).expect("a file that has begun");
        partial.bytes.resize(size as usize, 0);
        self.put(&entry, partial.bytes.into());
        Ok(())
    }

    fn keep(&mut self, id: EntryId) -> Result<(), EntryError> {
        let Open {
            entry, is_present, ..
        } = self.open.remove(&id).expect("a file that has begun");
        assert!(is_present, "only what is there is kept");
        let Some(Node::File { content, .. }) = self.tree.get(&entry.path).cloned() else {
            panic!("{} is there", entry.path);
        };
        self.kept += 1;
        self.put(&entry, content);
        Ok(())
    }

    fn abandon(&mut self, id: EntryId, parts: PartialFile) {
        let Open { entry, partial, .. } = self.open.remove(&id).expect("a file that has begun");
        if parts == PartialFile::Keep && !partial.written.is_empty() {
            let EntryKind::File { size } = entry.kind else {
                panic!("a file");
            };
            self.parts
                .insert((entry.path, size, entry.modified), partial);
        }
    }

    fn folder(&mut self, entry: &Entry) -> Result<(), EntryError> {
        self.check_not_left(&entry.path);
        self.tree
            .insert(entry.path.clone(), Node::Folder { mode: 0o700 });
        Ok(())
    }

    fn link(&mut self, entry: &Entry) -> Result<(), EntryError> {
        self.check_not_left(&entry.path);
        let EntryKind::Link { target } = &entry.kind else {
            panic!("a link");
        };
        self.tree.insert(
            entry.path.clone(),
            Node::Link {
                target: target.clone(),
            },
        );
        Ok(())
    }

    fn leave(&mut self, entry: &Entry) -> Result<(), EntryError> {
        self.tree
            .insert(entry.path.clone(), Node::Folder { mode: entry.mode });
        self.left.push(entry.path.clone());
        Ok(())
    }

    fn look(&mut self, entry: &Entry) -> Result<Occupant, EntryError> {
        self.looked += 1;
        let has_another = self.tree.contains_key(&entry.path);
        Ok(if has_another {
            Occupant::Another
        } else {
            Occupant::Nothing
        })
    }
}
