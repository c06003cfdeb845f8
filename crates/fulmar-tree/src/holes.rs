//! Holes where the file system cannot punch any into what is there.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use fulmar_copy::{
    Entry, EntryErrorKind, EntryId, EntryKind, ExistingFile, PartialFile, RelativePath,
    Target as _, Timestamp,
};

use crate::TreeTarget;
use crate::system::tests_hook::without_holes;
use crate::testing::{TARGET, context, room};

const ID: EntryId = EntryId(0);
const MIB: u64 = 1 << 20;

fn begin(room: &Path, size: u64) -> (TreeTarget, ExistingFile) {
    let mut target = TreeTarget::open(&context(room), b"file", TARGET).unwrap();
    let entry = Entry {
        operand: 0,
        path: RelativePath::new(b"file").unwrap(),
        kind: EntryKind::File { size: Some(size) },
        mode: 0o644,
        modified: Timestamp::default(),
    };
    let begun = target.begin(ID, &entry).unwrap();
    (target, begun)
}

/// Leaves a partial file with `data` at its beginning, and a byte at the end of `size`.
fn leave(room: &Path, data: &[u8], size: u64) {
    let (mut target, _) = begin(room, size);
    target.write(ID, 0, data).unwrap();
    target.write(ID, size - 1, b"x").unwrap();
    target.abandon(ID, PartialFile::Keep);
}

/// Returns the bytes that the one file of a folder takes on the disk.
fn stored(room: &Path) -> u64 {
    let file = fs::read_dir(room).unwrap().next().unwrap().unwrap();
    file.metadata().unwrap().blocks() * 512
}

/// Chunks come over many streams, the last ones first at times.
#[test]
fn what_was_never_written_is_no_hole_to_make() {
    let room = room();
    let (mut target, _) = begin(room.path(), 16 * MIB);
    without_holes(|| {
        target.write(ID, 16 * MIB - 5, b"a end").unwrap();
        target.zeros(ID, 8 * MIB, 8 * MIB - 5).unwrap();
        target.write(ID, 4 * MIB, b"some").unwrap();
        target.zeros(ID, 0, 4 * MIB).unwrap();
        target.zeros(ID, 4 * MIB + 4, 4 * MIB - 4).unwrap();
        target.commit(ID, 16 * MIB).unwrap();
    });
    let mut expected = vec![0; 16 << 20];
    expected[4 << 20..][..4].copy_from_slice(b"some");
    expected[(16 << 20) - 5..].copy_from_slice(b"a end");
    assert!(fs::read(room.path().join("file")).unwrap() == expected);
    assert!(stored(room.path()) <= MIB, "{}", stored(room.path()));
}

#[test]
fn what_was_written_becomes_zeros() {
    let room = room();
    let (mut target, _) = begin(room.path(), 1 << 50);
    without_holes(|| {
        target.write(ID, 10, b"first").unwrap();
        target.write(ID, MIB, b"last").unwrap();
        target.zeros(ID, 12, (1 << 50) - 12).unwrap();
        target.commit(ID, MIB + 4).unwrap();
    });
    let mut expected = vec![0; (1 << 20) + 4];
    expected[10..12].copy_from_slice(b"fi");
    assert!(fs::read(room.path().join("file")).unwrap() == expected);
}

#[test]
fn only_the_data_of_an_older_copy_is_overwritten() {
    let room = room();
    leave(room.path(), &[b'x'; 5000], 16 * MIB);
    let (mut target, begun) = begin(room.path(), 1 << 50);
    assert!(matches!(begun, ExistingFile::Parts(_)), "{begun:?}");
    without_holes(|| {
        target.zeros(ID, 1000, (1 << 50) - 1000).unwrap();
        target.commit(ID, 16 * MIB).unwrap();
    });
    let mut expected = vec![0; 16 << 20];
    expected[..1000].fill(b'x');
    assert!(fs::read(room.path().join("file")).unwrap() == expected);
    assert!(stored(room.path()) <= MIB, "{}", stored(room.path()));
}

/// Signals and timers have to wait for each call.
#[test]
fn more_than_can_be_overwritten_at_once_is_a_trouble() {
    let room = room();
    leave(room.path(), &vec![b'x'; 65 << 20], 66 * MIB);
    let (mut target, _) = begin(room.path(), 66 * MIB);
    without_holes(|| {
        let trouble = target.zeros(ID, 0, 66 * MIB).unwrap_err();
        assert_eq!(trouble.kind, EntryErrorKind::Unsupported);
        target.zeros(ID, 32 * MIB, 32 * MIB).unwrap();
    });
    let left = target.read_back(ID, 32 * MIB - 1, 2).unwrap();
    assert_eq!(left.as_ref(), b"x\0");
}
