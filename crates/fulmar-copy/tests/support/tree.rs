//! Trees to copy.

use std::collections::BTreeMap;

use bytes::Bytes;
use fulmar_copy::{Entry, EntryKind, RelativePath, Timestamp};
use fulmar_sim::Random;

/// A thing that lies at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    File {
        content: Bytes,
        mode: u32,
        modified: Timestamp,
    },
    Folder {
        mode: u32,
    },
    Link {
        target: Vec<u8>,
    },
}

/// Nodes by path; a folder comes before what is in it.
pub(crate) type Tree = BTreeMap<RelativePath, Node>;

pub(crate) fn path(text: &str) -> RelativePath {
    RelativePath::new(text.as_bytes()).expect("a path")
}

pub(crate) fn time(seconds: i64) -> Timestamp {
    Timestamp {
        seconds,
        nanoseconds: 5,
    }
}

pub(crate) fn file(content: impl Into<Bytes>) -> Node {
    Node::File {
        content: content.into(),
        mode: 0o644,
        modified: time(7),
    }
}

/// Bytes of which most are zeros, so that many seeds are quick: one block in `rarity` is random.
pub(crate) fn content(random: &mut Random, size: usize, rarity: u64) -> Bytes {
    let mut bytes = vec![0; size];
    for block in bytes.chunks_mut(4096) {
        if random.below(rarity) == 0 {
            block
                .iter_mut()
                .for_each(|byte| *byte = random.bits() as u8);
        }
    }
    bytes.into()
}

/// A tree of one root with files of all sizes, some of more than one chunk.
pub(crate) fn random_tree(random: &mut Random) -> Tree {
    let mut tree = Tree::from([(path("top"), Node::Folder { mode: 0o755 })]);
    let mut folders = vec![path("top")];
    for number in 0..random.below(24) {
        let parent = folders[random.below(folders.len() as u64) as usize].clone();
        let name = format!(
            "{}{number}",
            ["a", "b c", "d\u{e9}"][random.below(3) as usize]
        );
        let here = parent.join(name.as_bytes()).expect("a name");
        let node = match random.below(10) {
            0 | 1 => {
                folders.push(here.clone());
                Node::Folder {
                    mode: 0o700 + random.below(8) as u32,
                }
            }
            2 => Node::Link {
                target: b"../else/where".to_vec(),
            },
            kind => random_file(random, kind),
        };
        tree.insert(here, node);
    }
    tree
}

fn random_file(random: &mut Random, kind: u64) -> Node {
    const MIB: u64 = 1 << 20;
    let size = match kind {
        3 => 0,
        4 if random.below(3) == 0 => MIB,
        5 => MIB + 1 + random.below(2 * MIB),
        _ => random.below(20_000),
    };
    let rarity = if size > 100_000 { 100 } else { 2 };
    let content = content(random, size as usize, rarity);
    let modified = time(random.below(1000) as i64);
    Node::File {
        content,
        mode: 0o600 + random.below(0o200) as u32,
        modified,
    }
}

/// The entries of a tree as a walk gives them: folders first, each left when all that is in it has come.
pub(crate) fn entries(tree: &Tree) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut within: Vec<Entry> = Vec::new();
    for (path, node) in tree {
        while let Some(folder) = within.pop_if(|folder| !is_below(path, &folder.path)) {
            entries.push(folder);
        }
        let entry = entry(path, node);
        if entry.kind == EntryKind::Folder {
            within.push(Entry {
                kind: EntryKind::Leave,
                ..entry.clone()
            });
        }
        entries.push(entry);
    }
    entries.extend(within.into_iter().rev());
    entries
}

fn is_below(path: &RelativePath, folder: &RelativePath) -> bool {
    let names: Vec<_> = folder.names().collect();
    path.names().take(names.len()).eq(names)
}

fn entry(path: &RelativePath, node: &Node) -> Entry {
    let (kind, mode, modified) = match node {
        Node::File {
            content,
            mode,
            modified,
        } => (
            EntryKind::File {
                size: Some(content.len() as u64),
            },
            *mode,
            *modified,
        ),
        Node::Folder { mode } => (EntryKind::Folder, *mode, time(1)),
        Node::Link { target } => (
            EntryKind::Link {
                target: target.clone(),
            },
            0o777,
            time(2),
        ),
    };
    Entry {
        operand: 0,
        path: path.clone(),
        kind,
        mode,
        modified,
    }
}
