//! Contents, modes, times, links and holes arrive as they were.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use fulmar_copy::{EntryErrorKind, EntryId, EntryKind, NextEntry, Source as _};
use proptest::prelude::*;

use crate::TargetOptions;
use crate::testing::{PRESERVE, Random, TARGET, copy, snapshot, source};

/// A tree of folders, files and links, by a seed.
fn grow(folder: &Path, random: &mut Random, depth: usize) {
    fs::create_dir(folder).unwrap();
    for number in 0..random.below(5) {
        let name = random.pick(&[
            "a", "b c", "d'e\"f", "-g", "$h", ".i", "*", "\u{e4}", "k\\l",
        ]);
        let path = folder.join(format!("{name}{number}"));
        match random.below(6) {
            0 | 1 if depth < 4 => grow(&path, random, depth + 1),
            2 => symlink(
                random.pick(&["/etc/passwd", "../x", "nowhere", "a0"]),
                &path,
            )
            .unwrap(),
            _ => fill(&path, random),
        }
    }
    let mode = *random.pick(&[0o755, 0o700, 0o711, 0o2775, 0o1777]);
    fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
    age(folder, random);
}

fn fill(path: &Path, random: &mut Random) {
    let length = *random.pick(&[0, 1, 4095, 4096, 4097, 20_000]);
    let content: Vec<u8> = (0..length)
        .map(|_| random.next().to_le_bytes()[0])
        .collect();
    fs::write(path, content).unwrap();
    let mode = *random.pick(&[0o644, 0o600, 0o755, 0o640, 0o4755, 0o666, 0o444]);
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    age(path, random);
}

fn age(path: &Path, random: &mut Random) {
    let time = std::time::UNIX_EPOCH
        + std::time::Duration::from_nanos(random.below(1_700_000_000_000_000_000));
    fs::File::open(path).unwrap().set_modified(time).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_tree_arrives_as_it_was(seed: u64) {
        let world = tempfile::tempdir().unwrap();
        let at = |path: &str| world.path().join(path);
        grow(&at("src"), &mut Random(seed), 0);
        let outcome = copy(world.path(), &["src"], "dst", PRESERVE);
        prop_assert!(outcome.troubles.is_empty(), "{:?}", outcome.troubles);
        let mut expected = snapshot(&at("src"));
        let mut there = snapshot(&at("dst"));
        // Set-id and sticky bits do not travel.
        for seen in expected.values_mut().chain(there.values_mut()) {
            seen.mode &= 0o777;
        }
        prop_assert_eq!(expected, there);
        let special = snapshot(&at("dst")).values().filter(|seen| seen.mode & 0o7000 != 0).count();
        prop_assert_eq!(special, 0);
    }

    #[test]
    fn a_second_copy_writes_nothing(seed: u64) {
        let world = tempfile::tempdir().unwrap();
        grow(&world.path().join("src"), &mut Random(seed), 0);
        copy(world.path(), &["src/."], "dst", TargetOptions { into_folder: true, ..PRESERVE });
        let before = snapshot(&world.path().join("dst"));
        let again = copy(world.path(), &["src/."], "dst", PRESERVE);
        prop_assert!(again.troubles.is_empty(), "{:?}", again.troubles);
        prop_assert_eq!(again.written, 0);
        prop_assert_eq!(before, snapshot(&world.path().join("dst")));
    }
}

fn world() -> tempfile::TempDir {
    let world = tempfile::tempdir().unwrap();
    fs::create_dir(world.path().join("src")).unwrap();
    fs::create_dir(world.path().join("dst")).unwrap();
    world
}

fn mode_of(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().permissions().mode() & 0o7777
}

#[test]
fn without_preserving_modes_go_through_the_umask_and_files_there_keep_theirs() {
    let world = world();
    let at = |path: &str| world.path().join(path);
    for (name, mode) in [("a", 0o777), ("b", 0o666), ("c", 0o4711)] {
        fs::write(at("src").join(name), name).unwrap();
        fs::set_permissions(at("src").join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    fs::write(at("dst/b"), "old and longer").unwrap();
    fs::set_permissions(at("dst/b"), fs::Permissions::from_mode(0o640)).unwrap();
    let options = TargetOptions {
        umask: 0o027,
        ..TARGET
    };
    assert_eq!(copy(world.path(), &["src/*"], "dst", options).troubles, []);
    let modes = ["dst/a", "dst/b", "dst/c"].map(|path| mode_of(&at(path)));
    assert_eq!(modes, [0o750, 0o640, 0o710]);
    assert_eq!(fs::read(at("dst/b")).unwrap(), b"b");
}

#[test]
fn a_folder_that_nobody_may_write_to_is_filled_and_closed_again() {
    let world = world();
    let at = |path: &str| world.path().join(path);
    fs::create_dir(at("src/closed")).unwrap();
    fs::write(at("src/closed/a"), "a").unwrap();
    fs::set_permissions(at("src/closed"), fs::Permissions::from_mode(0o555)).unwrap();
    for round in 0..2 {
        assert_eq!(
            copy(world.path(), &["src/closed"], "dst", PRESERVE).troubles,
            [],
            "{round}"
        );
        assert_eq!(mode_of(&at("dst/closed")), 0o555);
    }
    for path in ["src/closed", "dst/closed"] {
        fs::set_permissions(at(path), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn holes_stay_holes() {
    let world = world();
    let at = |path: &str| world.path().join(path);
    let file = fs::File::create(at("src/sparse")).unwrap();
    file.write_all_at(b"in the middle", 8 << 20).unwrap();
    file.set_len(64 << 20).unwrap();
    let stored = |path: &str| at(path).metadata().unwrap().blocks() * 512;
    assert!(
        stored("src/sparse") < 1 << 20,
        "the file system of this test has no holes"
    );
    let outcome = copy(world.path(), &["src/sparse"], "dst", TARGET);
    assert_eq!(outcome.troubles, []);
    assert!(outcome.written < 1 << 20);
    assert_eq!(stored("dst/sparse"), stored("src/sparse"));
    assert_eq!(
        fs::read(at("dst/sparse")).unwrap(),
        fs::read(at("src/sparse")).unwrap()
    );
}

/// The parts that an older version had written have no hole yet.
#[test]
fn a_hole_is_made_where_parts_lie() {
    let world = world();
    let at = |path: &str| world.path().join(path);
    let partial = at("dst").join(OsStr::from_bytes(&crate::partial::name(b"sparse", 0)));
    fs::write(&partial, vec![7; 3 << 20]).unwrap();
    let file = fs::File::create(at("src/sparse")).unwrap();
    file.write_all_at(&[7; 4096], 0).unwrap();
    file.set_len(2 << 20).unwrap();
    let outcome = copy(world.path(), &["src/sparse"], "dst", TARGET);
    assert_eq!(
        (outcome.troubles, outcome.held, outcome.written),
        (vec![], 4096, 0)
    );
    assert_eq!(
        fs::read(at("dst/sparse")).unwrap(),
        fs::read(at("src/sparse")).unwrap()
    );
    assert!(at("dst/sparse").metadata().unwrap().blocks() * 512 < 1 << 20);
    assert!(!partial.exists());
}

#[test]
fn names_that_are_no_text_go_along() {
    let world = world();
    let name = OsStr::from_bytes(b"\xff\xfe \n\x1b[31m");
    fs::write(world.path().join("src").join(name), "bytes").unwrap();
    assert_eq!(copy(world.path(), &["src"], "dst", TARGET).troubles, []);
    assert_eq!(
        fs::read(world.path().join("dst/src").join(name)).unwrap(),
        b"bytes"
    );
}

#[test]
fn long_names_go_along() {
    let world = world();
    for name in ["x".repeat(255), "\u{e4}".repeat(127)] {
        fs::write(world.path().join("src").join(&name), "long").unwrap();
        assert_eq!(copy(world.path(), &["src/*"], "dst", TARGET).troubles, []);
        assert_eq!(
            fs::read(world.path().join("dst").join(&name)).unwrap(),
            b"long"
        );
    }
}

#[test]
fn what_is_no_file_is_told_and_not_opened() {
    let world = world();
    let at = |path: &str| world.path().join(path);
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        at("src/pipe"),
        rustix::fs::Mode::from_raw_mode(0o600),
    )
    .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("src/socket")).unwrap();
    fs::write(at("src/file"), "file").unwrap();
    let whys: Vec<_> = copy(world.path(), &["src"], "dst", TARGET)
        .troubles
        .iter()
        .map(|trouble| trouble.kind)
        .collect();
    assert_eq!(whys, [EntryErrorKind::Special, EntryErrorKind::Special]);
    assert_eq!(fs::read(at("dst/src/file")).unwrap(), b"file");
}

#[test]
fn a_tree_that_is_too_deep_is_cut_there_and_told() {
    let world = world();
    let mut deep = world.path().join("src");
    for _ in 0..300 {
        deep.push("d");
    }
    fs::create_dir_all(&deep).unwrap();
    let outcome = copy(world.path(), &["src"], "dst", TARGET);
    let whys: Vec<_> = outcome
        .troubles
        .iter()
        .map(|trouble| trouble.kind)
        .collect();
    assert_eq!(whys, [EntryErrorKind::TooDeep]);
    let names = snapshot(&world.path().join("dst")).len();
    assert_eq!(names, fulmar_copy::DEPTH_MAX);
}

#[test]
fn a_file_that_changes_while_it_is_read_is_told() {
    for change in ["append", "truncate", "rewrite", "nothing"] {
        let world = world();
        let path = world.path().join("src/file");
        fs::write(&path, vec![1; 10_000]).unwrap();
        let mut source = source(world.path(), &["src/file"]);
        let id = EntryId(0);
        assert_eq!(source.next_entry(id), NextEntry::NotNow);
        assert!(matches!(source.next_entry(id), NextEntry::Entry(_)));
        source.read(id, 0, 4096).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        match change {
            "append" => file.write_all_at(&[2; 10], 10_000).unwrap(),
            "truncate" => file.set_len(5000).unwrap(),
            // As at once as can be: the times of the file system have steps of some milliseconds, so its own time is set.
            "rewrite" => {
                file.write_all_at(&[2; 10], 0).unwrap();
                file.set_modified(std::time::UNIX_EPOCH).unwrap();
            }
            _ => {}
        }
        let settled = source.close(id);
        let expected = if change == "nothing" {
            fulmar_copy::Settled::Same
        } else {
            fulmar_copy::Settled::Changed
        };
        assert_eq!(settled, expected, "{change}");
    }
}

/// One that grows has the size that it had, and an end.
#[test]
fn a_file_is_read_up_to_the_size_that_it_had() {
    let world = world();
    let path = world.path().join("src/file");
    fs::write(&path, vec![1; 5000]).unwrap();
    let mut source = source(world.path(), &["src/file"]);
    source.next_entry(EntryId(0));
    let NextEntry::Entry(entry) = source.next_entry(EntryId(0)) else {
        panic!("no entry")
    };
    assert_eq!(entry.kind, EntryKind::File { size: Some(5000) });
    fs::write(&path, vec![1; 9000]).unwrap();
    let fulmar_copy::Piece::Bytes(bytes) = source.read(EntryId(0), 4096, 65_536).unwrap() else {
        panic!("no bytes")
    };
    assert_eq!(bytes.len(), 904);
    assert_eq!(
        source.read(EntryId(0), 5000, 65_536).unwrap(),
        fulmar_copy::Piece::End
    );
}

/// `/proc` says that they are empty, and `/sys` that they fill a page.
#[test]
#[cfg(target_os = "linux")]
fn a_file_of_the_kernel_is_copied_as_it_is_read() {
    for path in [
        "/proc/version",
        "/proc/self/maps",
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/sys/kernel/uevent_seqnum",
    ] {
        if fs::read(path).is_err() {
            continue;
        }
        let world = world();
        let outcome = copy(world.path(), &[path], "copied", TARGET);
        assert!(
            outcome.troubles.is_empty(),
            "{path}: {:?}",
            outcome.troubles
        );
        assert_eq!(outcome.changed, 0, "{path}");
        let copied = fs::read(world.path().join("copied")).unwrap();
        assert!(!copied.is_empty() && !copied.ends_with(&[0]), "{path}");
        if path != "/proc/self/maps" {
            assert_eq!(copied, fs::read(path).unwrap(), "{path}");
        }
    }
}

/// The map of this process's pages has gigabytes, and says that it is empty.
#[test]
#[cfg(target_os = "linux")]
fn a_file_of_unknown_size_is_read_up_to_a_limit() {
    let map = "/proc/self/pagemap";
    let Ok(file) = fs::File::open(map) else {
        return;
    };
    if file.read_at(&mut [0; 8], 0).unwrap_or(0) == 0 {
        return;
    }
    let world = world();
    let outcome = copy(world.path(), &[map], "copied", TARGET);
    let whys: Vec<_> = outcome.troubles.iter().map(|error| error.kind).collect();
    assert_eq!(whys, [EntryErrorKind::Exhausted]);
    assert!(!world.path().join("copied").exists());
}

#[test]
fn what_a_broken_off_copy_left_is_not_copied() {
    let world = world();
    let left = crate::partial::name(b"file", 0);
    fs::write(
        world.path().join("src").join(OsStr::from_bytes(&left)),
        "part",
    )
    .unwrap();
    fs::write(world.path().join("src/file"), "whole").unwrap();
    assert_eq!(copy(world.path(), &["src"], "dst", TARGET).troubles, []);
    assert_eq!(snapshot(&world.path().join("dst/src")).len(), 1);
}
