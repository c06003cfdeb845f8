//! Standard input and output, and pipes and devices as targets. Nothing of it waits.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};

use fulmar_copy::{
    CHUNK_BYTES_MIN, Entry, EntryErrorKind, EntryId, EntryKind, ExistingFile, NextEntry,
    PartialFile, Piece, RelativePath, Source as _, Target, Timestamp,
};
use fulmar_tree::{OperandContext, PipeSource, PipeTarget, TargetOptions, TreeTarget};

fn file(name: &str, size: Option<u64>) -> Entry {
    Entry {
        operand: 0,
        path: RelativePath::new(name.as_bytes()).unwrap(),
        kind: EntryKind::File { size },
        mode: 0o666,
        modified: Timestamp::default(),
    }
}

fn pipe() -> (File, OwnedFd) {
    let (reader, writer) = rustix::pipe::pipe().unwrap();
    (File::from(reader), writer)
}

fn remote(folder: &std::path::Path) -> OperandContext {
    OperandContext {
        base: Some(File::open(folder).unwrap().into()),
        patterns: true,
        home: None,
    }
}

const OPTIONS: TargetOptions = TargetOptions {
    recursive: true,
    preserve: false,
    resume: true,
    dry_run: false,
    into_folder: false,
    in_order: false,
    umask: 0o022,
};

#[test]
fn a_pipe_is_a_file_of_unknown_size_read_in_order_without_waiting() {
    let (reader, writer) = pipe();
    let mut source = PipeSource::new(reader.into());
    let NextEntry::Entry(entry) = source.next_entry(EntryId(0)) else {
        panic!("no entry")
    };
    assert_eq!(entry.kind, EntryKind::File { size: None });
    assert_eq!(source.next_entry(EntryId(1)), NextEntry::End);
    assert_eq!(source.read(EntryId(0), 0, 100), Ok(Piece::NotNow));
    let mut writer = File::from(writer);
    writer.write_all(b"first").unwrap();
    assert_eq!(
        source.read(EntryId(0), 0, 3),
        Ok(Piece::Bytes("fir".into()))
    );
    assert_eq!(
        source.read(EntryId(0), 3, 100),
        Ok(Piece::Bytes("st".into()))
    );
    assert_eq!(
        source.read(EntryId(0), 0, 100).unwrap_err().kind,
        EntryErrorKind::Unsupported
    );
    assert_eq!(source.read(EntryId(0), 5, 100), Ok(Piece::NotNow));
    drop(writer);
    assert_eq!(source.read(EntryId(0), 5, 100), Ok(Piece::End));
}

#[test]
fn a_pipe_that_is_full_is_not_waited_for() {
    let (mut reader, writer) = pipe();
    let mut target = PipeTarget::new(writer);
    let bytes = vec![b'x'; 1 << 20];
    target.begin(EntryId(0), &file("a", Some(1 << 20))).unwrap();
    target.write(EntryId(0), 0, &bytes).unwrap();
    target.zeros(EntryId(0), 1 << 20, 1 << 20).unwrap();
    target.commit(EntryId(0), 2 << 20).unwrap();
    assert!(!target.is_ready());
    let mut read = Vec::new();
    let mut buffer = vec![0; 10_000];
    while !target.is_ready() {
        let length = reader.read(&mut buffer).unwrap();
        read.extend_from_slice(&buffer[..length]);
    }
    drop(target);
    reader.read_to_end(&mut read).unwrap();
    assert_eq!(read.len(), 2 << 20);
    assert!(read == [bytes, vec![0; 1 << 20]].concat());
}

/// A hole may be as long as the sender says. Signals and timers have their turn in between.
#[test]
fn a_long_hole_is_written_a_piece_at_a_time() {
    const LENGTH: u64 = 64 << 20;
    let file_of_zeros = tempfile::NamedTempFile::new().unwrap();
    let null = File::options().write(true).open("/dev/null").unwrap();
    for pipe in [file_of_zeros.reopen().unwrap(), null] {
        let mut target = PipeTarget::new(pipe.into());
        target.begin(EntryId(0), &file("a", Some(LENGTH))).unwrap();
        target.zeros(EntryId(0), 0, LENGTH).unwrap();
        let looks = std::iter::repeat_with(|| target.is_ready())
            .take_while(|is_ready| !is_ready)
            .count();
        assert!((16..10_000).contains(&looks), "{looks}");
        target.commit(EntryId(0), LENGTH).unwrap();
    }
    assert_eq!(file_of_zeros.as_file().metadata().unwrap().len(), LENGTH);
}

#[test]
fn files_follow_one_another_on_standard_output() {
    let (mut reader, writer) = pipe();
    let mut target = PipeTarget::new(writer);
    for (number, name) in (0..).zip(["a", "b"]) {
        let id = EntryId(number);
        assert_eq!(
            target.begin(id, &file(name, Some(1))),
            Ok(ExistingFile::New)
        );
        target.write(id, 0, name.as_bytes()).unwrap();
        target.commit(id, 1).unwrap();
    }
    assert!(target.is_ready());
    drop(target);
    let mut read = String::new();
    reader.read_to_string(&mut read).unwrap();
    assert_eq!(read, "ab");
}

#[test]
fn a_reader_that_has_gone_is_a_trouble() {
    let (reader, writer) = pipe();
    let mut target = PipeTarget::new(writer);
    drop(reader);
    target.begin(EntryId(0), &file("a", Some(1))).unwrap();
    let trouble = target.write(EntryId(0), 0, b"a").unwrap_err();
    assert_eq!(trouble.kind, EntryErrorKind::Io);
    assert!(target.commit(EntryId(0), 1).is_err());
    assert!(target.is_ready(), "nothing is left to wait for");
}

#[test]
fn a_target_that_is_a_device_is_written_to_and_stays_one() {
    let mut target = TreeTarget::open(&OperandContext::local(), b"/dev/null", OPTIONS).unwrap();
    assert!(!target.is_folder());
    target.begin(EntryId(0), &file("a", Some(20))).unwrap();
    for offset in [10, 0] {
        target.write(EntryId(0), offset, b"ten bytes.").unwrap();
    }
    target.commit(EntryId(0), 20).unwrap();
    let second = target.begin(EntryId(1), &file("b", Some(0))).unwrap_err();
    assert_eq!(second.kind, EntryErrorKind::NotFolder);
    let folder = Entry {
        kind: EntryKind::Folder,
        ..file("d", None)
    };
    assert_eq!(
        target.folder(&folder).unwrap_err().kind,
        EntryErrorKind::NotFolder
    );
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn a_target_that_is_a_pipe_gets_what_comes_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        &path,
        rustix::fs::Mode::from_raw_mode(0o600),
    )
    .unwrap();
    let nobody = TreeTarget::open(&remote(folder.path()), b"pipe", OPTIONS).unwrap_err();
    assert_eq!(nobody.kind, EntryErrorKind::Io);
    assert!(nobody.note.contains("nobody reads"), "{nobody}");
    // Opened for both, so that opening does not wait.
    let mut reader = File::options().read(true).write(true).open(&path).unwrap();
    let mut target = TreeTarget::open(&remote(folder.path()), b"pipe", OPTIONS).unwrap();
    assert!(
        target
            .pipe()
            .is_some_and(|pipe| rustix::fs::fstat(pipe.as_fd()).is_ok())
    );
    target.begin(EntryId(0), &file("a", Some(8))).unwrap();
    target.write(EntryId(0), 0, b"in ").unwrap();
    assert_eq!(
        target.write(EntryId(0), 5, b"er").unwrap_err().kind,
        EntryErrorKind::Unsupported
    );
    target.write(EntryId(0), 3, b"order").unwrap();
    target.commit(EntryId(0), 8).unwrap();
    let mut read = [0; 8];
    reader.read_exact(&mut read).unwrap();
    assert_eq!(&read, b"in order");
}

/// Chunks come over many streams, in any order. It is told before anything has been written, and what to do instead.
#[test]
fn a_pipe_gets_no_large_file_unless_it_comes_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, mode).unwrap();
    let _reader = File::options().read(true).write(true).open(&path).unwrap();
    let open = |in_order| {
        let options = TargetOptions {
            in_order,
            ..OPTIONS
        };
        let target = TreeTarget::open(&remote(folder.path()), b"pipe", options).unwrap();
        assert!(target.is_pipe());
        target
    };
    let large = file("a", Some(CHUNK_BYTES_MIN + 1));
    for trouble in [
        open(false).begin(EntryId(0), &large).unwrap_err(),
        open(false).look(&large).unwrap_err(),
    ] {
        assert_eq!(trouble.kind, EntryErrorKind::Unsupported);
        assert!(trouble.note.contains("fulmar cp - host:name < file"));
    }
    for (in_order, size) in [
        (true, Some(1 << 40)),
        (false, Some(CHUNK_BYTES_MIN)),
        (false, None),
    ] {
        let begun = open(in_order).begin(EntryId(0), &file("a", size));
        assert_eq!(begun, Ok(ExistingFile::New), "{in_order} {size:?}");
    }
}

/// It takes what comes in any order, holes too.
#[test]
fn nowhere_takes_large_files() {
    let mut target = TreeTarget::open(&OperandContext::local(), b"/dev/null", OPTIONS).unwrap();
    target.begin(EntryId(0), &file("a", Some(1 << 20))).unwrap();
    target.zeros(EntryId(0), 1 << 19, 1 << 19).unwrap();
    while !target.is_ready() {}
    target.write(EntryId(0), 100, b"some").unwrap();
    target.commit(EntryId(0), 1 << 20).unwrap();
}

/// Standard input under a name: it is there when it is whole, and an interrupted one leaves nothing.
#[test]
fn a_pipe_becomes_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new");
    for parts in [PartialFile::Keep, PartialFile::Drop] {
        let mut target = TreeTarget::open(&remote(folder.path()), b"new", OPTIONS).unwrap();
        assert_eq!(
            target.begin(EntryId(0), &file("-", None)),
            Ok(ExistingFile::New)
        );
        target.write(EntryId(0), 0, b"some").unwrap();
        target.abandon(EntryId(0), parts);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
    let mut target = TreeTarget::open(&remote(folder.path()), b"new", OPTIONS).unwrap();
    target.begin(EntryId(0), &file("-", None)).unwrap();
    target.write(EntryId(0), 0, b"some").unwrap();
    assert!(!path.exists());
    target.commit(EntryId(0), 4).unwrap();
    assert_eq!(std::fs::read(path).unwrap(), b"some");
}

/// It has no name of its own.
#[test]
fn a_pipe_into_a_folder_is_a_trouble() {
    let folder = tempfile::tempdir().unwrap();
    let mut target = TreeTarget::open(&remote(folder.path()), b"", OPTIONS).unwrap();
    assert_eq!(
        target.begin(EntryId(0), &file("-", None)).unwrap_err().kind,
        EntryErrorKind::IsFolder
    );
}
