//! Two copies bring one file: the newer one wins, and nobody ever writes to what another has.

use std::cell::RefCell;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::rc::Rc;

use fulmar_copy::{
    EntryError, EntryErrorKind, EntryId, NextEntry, Piece, Source as _, Target as _,
};

use crate::system::tests_hook;
use crate::testing::{Outcome, TARGET, context, copy, room, snapshot, source};
use crate::{TargetOptions, TreeSource, TreeTarget};

/// Bytes of one piece, and how many the file has.
const PIECE: usize = 4096;
const PIECES: u64 = 100;

const ID: EntryId = EntryId(0);

/// A file in two versions that share all but one piece: `old/file` and `new/file`.
fn world() -> tempfile::TempDir {
    let world = room();
    for folder in ["old", "new", "dst"] {
        fs::create_dir(world.path().join(folder)).unwrap();
    }
    fs::write(world.path().join("old/file"), version(b'o')).unwrap();
    fs::write(world.path().join("new/file"), version(b'n')).unwrap();
    world
}

fn version(letter: u8) -> Vec<u8> {
    let mut bytes = vec![b'x'; PIECE * PIECES as usize];
    bytes[PIECE * 10..PIECE * 11].fill(letter);
    bytes
}

/// A copy that is in the middle of its file.
struct Vanished {
    source: TreeSource,
    target: TreeTarget,
    next: u64,
}

impl Vanished {
    /// Begins with the old version and writes so many pieces.
    fn after(world: &Path, pieces: u64) -> Self {
        let mut source = source(world, &["old/file"]);
        let mut target = TreeTarget::open(&context(world), b"dst", TARGET).unwrap();
        let entry = loop {
            match source.next_entry(ID) {
                NextEntry::Entry(entry) => break entry,
                NextEntry::NotNow => {}
                other => panic!("{other:?}"),
            }
        };
        target.begin(ID, &entry).unwrap();
        let mut vanished = Self {
            source,
            target,
            next: 0,
        };
        vanished.write(pieces);
        vanished
    }

    fn write(&mut self, pieces: u64) {
        for _ in 0..pieces {
            let offset = self.next * PIECE as u64;
            let Ok(Piece::Bytes(bytes)) = self.source.read(ID, offset, PIECE) else {
                panic!("the file ends at {offset}");
            };
            self.target.write(ID, offset, &bytes).unwrap();
            self.next += 1;
        }
    }

    /// Comes back and goes on to the end.
    fn finish(&mut self) -> Result<(), EntryError> {
        self.write(PIECES - self.next);
        self.target.commit(ID, PIECES * PIECE as u64)
    }
}

fn copy_new(world: &Path) -> Outcome {
    copy(world, &["new/file"], "dst", TARGET)
}

/// Nothing is in the target but the file in this version.
#[track_caller]
fn expect_only(world: &Path, letter: u8) {
    let there = snapshot(&world.join("dst"));
    assert_eq!(there.len(), 1, "{:?}", there.keys());
    assert!(fs::read(world.join("dst/file")).unwrap() == version(letter));
}

#[test]
fn a_newer_copy_goes_on_with_what_one_that_has_vanished_has() {
    let world = world();
    let mut vanished = Vanished::after(world.path(), 60);
    let outcome = copy_new(world.path());
    assert_eq!(outcome.troubles, []);
    let (held, written) = (outcome.held / PIECE as u64, outcome.written / PIECE as u64);
    assert_eq!((held, written), (59, 41));
    expect_only(world.path(), b'n');
    let trouble = vanished.finish().unwrap_err();
    assert_eq!(trouble.kind, EntryErrorKind::Taken);
    assert!(trouble.note.contains("a newer copy"), "{trouble:?}");
    expect_only(world.path(), b'n');
}

#[test]
fn the_one_of_several_that_has_most_is_gone_on_with() {
    let world = world();
    let _some = Vanished::after(world.path(), 20);
    let _most = Vanished::after(world.path(), 70);
    let _least = Vanished::after(world.path(), 0);
    let outcome = copy_new(world.path());
    assert_eq!(
        (outcome.troubles.len(), outcome.held),
        (0, 69 * PIECE as u64)
    );
    expect_only(world.path(), b'n');
}

#[test]
fn without_resuming_nothing_of_it_is_used() {
    let world = world();
    let mut vanished = Vanished::after(world.path(), 60);
    let options = TargetOptions {
        resume: false,
        ..TARGET
    };
    let outcome = copy(world.path(), &["new/file"], "dst", options);
    assert_eq!((outcome.troubles.len(), outcome.held), (0, 0));
    vanished.finish().unwrap_err();
    expect_only(world.path(), b'n');
}

#[test]
fn a_newer_copy_that_is_broken_off_takes_nothing_from_the_older() {
    let world = world();
    let mut older = Vanished::after(world.path(), 60);
    drop(Vanished::after(world.path(), 80));
    older.finish().unwrap();
    assert!(fs::read(world.path().join("dst/file")).unwrap() == version(b'o'));
    let outcome = copy_new(world.path());
    assert_eq!(outcome.troubles, []);
}

#[test]
fn what_both_of_them_have_left_is_gone_in_the_end() {
    let world = world();
    let vanished = Vanished::after(world.path(), 60);
    drop(Vanished::after(world.path(), 80));
    assert_eq!(snapshot(&world.path().join("dst")).len(), 2);
    drop(vanished);
    let outcome = copy_new(world.path());
    assert_eq!(
        (outcome.troubles.len(), outcome.held),
        (0, 59 * PIECE as u64)
    );
    expect_only(world.path(), b'n');
}

/// Between any two calls of the newer one. What the older one has brought then is not written to any more.
#[test]
fn whenever_the_older_one_gets_there_its_file_stays_whole_and_the_newer_one_replaces_it() {
    let mut met = 0;
    for point in 0.. {
        let world = world();
        let older = Rc::new(RefCell::new(Vanished::after(world.path(), 60)));
        let file = Rc::new(RefCell::new(None));
        let (hook_file, mut left) = (Rc::clone(&file), Some(point));
        let path = world.path().join("dst/file");
        let hook = move || {
            match left {
                Some(0) => {
                    left = None;
                    if older.borrow_mut().finish().is_ok() {
                        *hook_file.borrow_mut() = Some(fs::File::open(&path).unwrap());
                    }
                }
                Some(more) => left = Some(more - 1),
                None => {}
            }
            Ok(())
        };
        let outcome = tests_hook::with(hook, || copy_new(world.path()));
        assert_eq!(outcome.troubles, [], "point {point}");
        expect_only(world.path(), b'n');
        let brought = file.borrow_mut().take();
        if let Some(mut brought) = brought {
            let mut bytes = Vec::new();
            brought.read_to_end(&mut bytes).unwrap();
            assert!(bytes == version(b'o'), "point {point}");
            met += 1;
        } else if met > 0 {
            break;
        }
    }
    assert!(met > 200, "{met} points");
}

#[test]
fn a_link_that_replaces_a_file_leaves_alone_what_another_copy_is_at() {
    let world = world();
    let at = |path: &str| world.path().join(path);
    fs::create_dir(at("links")).unwrap();
    std::os::unix::fs::symlink("elsewhere", at("links/file")).unwrap();
    fs::write(at("dst/file"), "a file").unwrap();
    let mut vanished = Vanished::after(world.path(), 60);
    drop(Vanished::after(world.path(), 80));
    assert_eq!(snapshot(&at("dst")).len(), 3);
    let outcome = copy(world.path(), &["links/f*"], "dst", TARGET);
    assert_eq!(outcome.troubles, []);
    let is_link = || fs::symlink_metadata(at("dst/file")).unwrap().is_symlink();
    assert!(is_link());
    let there = snapshot(&at("dst"));
    assert_eq!(there.len(), 2, "the other's part stays: {:?}", there.keys());
    vanished.finish().unwrap();
    assert!(!is_link());
    expect_only(world.path(), b'o');
}
