//! Copies of which one thing is known in advance.

use bytes::Bytes;
use fulmar_copy::{
    CHUNK_BYTES_MIN, Entry, EntryErrorKind, EntryKind, EntryVerdict, Flags, Occupant, Totals,
};
use fulmar_sim::Random;

use crate::Copy;
use crate::support::memory::{MemorySource, MemoryTarget};
use crate::support::tree::{self, Node, Tree, path};

const MIB: usize = 1 << 20;

/// Bytes without a zero.
fn noise(seed: u64, size: usize) -> Bytes {
    let mut random = Random::stream(seed, 9);
    (0..size).map(|_| random.bits() as u8 | 1).collect()
}

fn file(content: impl Into<Bytes>) -> Node {
    tree::file(content)
}

/// Runs a copy to its end and returns it.
fn copied(seed: u64, source: MemorySource, target: &mut MemoryTarget, flags: Flags) -> Copy {
    let mut copy = Copy::new(Random::stream(seed, 1), source, Flags::RECURSIVE | flags);
    assert!(copy.run(target, u64::MAX));
    copy
}

#[test]
fn a_pipe_of_unknown_length_arrives_with_its_end() {
    for size in [0, 1, MIB, 3 * MIB + 7] {
        let tree = Tree::from([(path("top"), file(noise(1, size)))]);
        let mut source = MemorySource::of(&tree);
        source.entries[0].kind = EntryKind::File { size: None };
        let mut target = MemoryTarget {
            is_strict: true,
            ..MemoryTarget::default()
        };
        let copy = copied(size as u64, source, &mut target, Flags::IN_ORDER);
        assert_eq!(target.tree, tree);
        let totals = Totals {
            files: 1,
            bytes: size as u64,
            ..Totals::default()
        };
        assert_eq!(copy.sender.totals(), Some(totals));
        assert_eq!(copy.sender.progress().bytes_known, size as u64);
    }
}

#[test]
fn in_order_means_byte_after_byte_and_file_after_file() {
    let mut random = Random::stream(3, 3);
    let mut tree = tree::random_tree(&mut random);
    tree.insert(path("top/large"), file(noise(2, 2 * MIB)));
    for seed in 0..20 {
        let mut target = MemoryTarget {
            is_strict: true,
            ..MemoryTarget::default()
        };
        copied(seed, MemorySource::of(&tree), &mut target, Flags::IN_ORDER);
        assert_eq!(target.tree, tree);
        assert_eq!(target.open_max, 1);
    }
}

#[test]
fn a_dry_run_looks_and_writes_nothing() {
    let tree = tree::random_tree(&mut Random::stream(4, 4));
    let mut target = MemoryTarget::default();
    let copy = copied(4, MemorySource::of(&tree), &mut target, Flags::DRY_RUN);
    assert_eq!(target.looked, tree.len());
    assert!(target.tree.is_empty() && target.open_max == 0);
    let bytes = tree.values().map(|node| match node {
        Node::File { content, .. } => content.len() as u64,
        _ => 0,
    });
    assert_eq!(
        copy.receiver.totals().map(|totals| totals.bytes),
        Some(bytes.sum())
    );
    assert_eq!(copy.sender.progress().bytes_carried, 0);
    assert!(copy.source.open.is_empty(), "every file is closed");
}

#[test]
fn of_a_dry_run_the_sender_hears_what_is_there() {
    let tree = tree::random_tree(&mut Random::stream(5, 5));
    let there = tree.iter().step_by(2);
    let there: Tree = there
        .map(|(path, node)| (path.clone(), node.clone()))
        .collect();
    let mut target = MemoryTarget {
        tree: there.clone(),
        ..MemoryTarget::default()
    };
    let copy = copied(5, MemorySource::of(&tree), &mut target, Flags::DRY_RUN);
    let another = copy
        .looked
        .iter()
        .filter(|(_, found)| **found == Occupant::Another);
    assert!(another.map(|(path, _)| path).eq(there.keys()));
    assert_eq!(copy.looked.len(), tree.len());
    assert_eq!(target.tree, there);
}

#[test]
fn more_large_files_than_may_be_open_arrive() {
    let files = (0..100).map(|number| (path(&format!("top/{number}")), file(vec![0; MIB + 1])));
    let tree: Tree = [(path("top"), Node::Folder { mode: 0o755 })]
        .into_iter()
        .chain(files)
        .collect();
    let mut target = MemoryTarget::default();
    copied(5, MemorySource::of(&tree), &mut target, Flags::empty());
    assert_eq!(target.tree, tree);
    assert!(target.open_max <= 64 + 8, "{} are open", target.open_max);
}

#[test]
fn a_second_try_sends_what_is_missing_and_a_chunk_or_two() {
    const SIZE: usize = 24 * MIB;
    let tree = Tree::from([(path("top"), file(noise(6, SIZE)))]);
    for seed in 0..5 {
        let mut target = MemoryTarget {
            truth: Some(tree.clone()),
            ..MemoryTarget::default()
        };
        let mut first = Copy::new(
            Random::stream(seed, 1),
            MemorySource::of(&tree),
            Flags::RESUME,
        );
        while first.receiver.progress().bytes < SIZE as u64 / 2 {
            assert!(!first.run(&mut target, 1));
        }
        first.receiver.interrupt(&mut target);
        let arrived = first.receiver.progress().bytes;
        let second = copied(seed, MemorySource::of(&tree), &mut target, Flags::RESUME);
        assert_eq!(target.tree, tree);
        let sent = second.sender.progress().bytes_carried;
        let missing = SIZE as u64 - arrived;
        // A chunk on each of up to 8 streams was not complete, and one is sent before the first answer.
        let more = 9 * CHUNK_BYTES_MIN;
        assert!(
            sent <= missing + more,
            "{sent} bytes sent, {missing} were missing"
        );
        assert_eq!(sent + second.sender.progress().bytes_held, SIZE as u64);
    }
}

#[test]
fn a_file_that_is_there_is_kept() {
    let tree = Tree::from([(path("top"), file(noise(7, 9 * MIB)))]);
    let mut target = MemoryTarget {
        truth: Some(tree.clone()),
        ..MemoryTarget::default()
    };
    target.tree = tree.clone();
    let copy = copied(7, MemorySource::of(&tree), &mut target, Flags::RESUME);
    assert_eq!((target.kept, &target.tree), (1, &tree));
    expect_carried(&copy, CHUNK_BYTES_MIN);
}

/// Expects that no more than that was sent, and that the rest was there.
#[track_caller]
fn expect_carried(copy: &Copy, most: u64) {
    let progress = copy.sender.progress();
    assert!(progress.bytes_carried <= most, "{progress:?}");
    assert_eq!(progress.bytes_carried + progress.bytes_held, progress.bytes);
}

#[test]
fn of_a_changed_file_only_the_changed_chunks_are_sent() {
    let content = noise(11, 9 * MIB);
    let tree = Tree::from([(path("top"), file(content.clone()))]);
    let mut old = content.to_vec();
    old[5 * MIB] ^= 2;
    for seed in 0..5 {
        let mut target = MemoryTarget {
            tree: Tree::from([(path("top"), file(old.clone()))]),
            truth: Some(tree.clone()),
            ..MemoryTarget::default()
        };
        let copy = copied(seed, MemorySource::of(&tree), &mut target, Flags::RESUME);
        assert_eq!((target.kept, &target.tree), (0, &tree));
        expect_carried(&copy, 2 * CHUNK_BYTES_MIN);
    }
}

#[test]
fn of_a_tree_of_which_half_is_there_the_other_half_is_sent() {
    let names: Vec<_> = (0..20)
        .map(|number| path(&format!("top/{number}")))
        .collect();
    let files = names
        .iter()
        .enumerate()
        .map(|(number, name)| (name.clone(), file(noise(number as u64, MIB + number))));
    let tree: Tree = [(path("top"), Node::Folder { mode: 0o755 })]
        .into_iter()
        .chain(files)
        .collect();
    for seed in 0..5 {
        let there = tree.iter().step_by(2);
        let mut target = MemoryTarget {
            tree: there
                .map(|(path, node)| (path.clone(), node.clone()))
                .collect(),
            truth: Some(tree.clone()),
            ..MemoryTarget::default()
        };
        let copy = copied(seed, MemorySource::of(&tree), &mut target, Flags::RESUME);
        assert_eq!(target.tree, tree);
        expect_carried(&copy, 10 * (MIB as u64 + 20) + CHUNK_BYTES_MIN);
    }
}

#[test]
fn without_resume_what_is_there_is_not_looked_at() {
    let tree = Tree::from([(path("top"), file(noise(8, 2 * MIB)))]);
    let mut target = MemoryTarget {
        tree: tree.clone(),
        ..MemoryTarget::default()
    };
    let copy = copied(8, MemorySource::of(&tree), &mut target, Flags::empty());
    assert_eq!(copy.sender.progress().bytes_carried, 2 * MIB as u64);
    assert_eq!((target.kept, target.tree), (0, tree));
}

#[test]
fn what_the_wire_cannot_say_is_named_and_not_sent() {
    let tree = Tree::from([(path("top"), file("content"))]);
    let mut source = MemorySource::of(&tree);
    let link = |target: &[u8]| EntryKind::Link {
        target: target.to_vec(),
    };
    let kinds = [
        link(b""),
        link(b"a\0b"),
        link(&[b'x'; 4097]),
        EntryKind::File {
            size: Some(1 << 62),
        },
    ];
    for kind in kinds {
        source.entries.insert(
            0,
            Entry {
                kind,
                path: path("odd"),
                ..source.entries[0].clone()
            },
        );
    }
    let mut target = MemoryTarget::default();
    let copy = copied(9, source, &mut target, Flags::empty());
    assert_eq!(target.tree, tree);
    assert_eq!(
        copy.receiver.totals().map(|totals| totals.troubles),
        Some(4)
    );
    let whys: Vec<_> = copy.troubles.iter().map(|trouble| trouble.kind).collect();
    assert_eq!(
        whys,
        [
            EntryErrorKind::TooLarge,
            EntryErrorKind::TooDeep,
            EntryErrorKind::BadName,
            EntryErrorKind::BadName
        ]
    );
}

#[test]
fn a_file_that_changes_is_there_and_reported() {
    let tree = Tree::from([(path("top"), file("content"))]);
    let mut source = MemorySource::of(&tree);
    source.changed.insert(path("top"));
    let mut target = MemoryTarget::default();
    let copy = copied(10, source, &mut target, Flags::empty());
    assert_eq!(target.tree, tree);
    assert!(
        copy.changed.contains(&path("top")),
        "{:?}",
        EntryVerdict::Changed
    );
    assert_eq!(
        copy.receiver
            .totals()
            .map(|totals| (totals.files, totals.troubles)),
        Some((1, 1))
    );
}
