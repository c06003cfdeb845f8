//! T-F2 of docs/threat-model.md: a copy that is killed leaves no half file under its final name, and the next one completes
//! it. And every system call that fails is a trouble with a name.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::{FileExt as _, symlink};
use std::os::unix::process::ExitStatusExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::rc::Rc;

use fulmar_copy::{
    Entry, EntryErrorKind, EntryId, EntryKind, RelativePath, Target as _, Timestamp,
};

use crate::partial::is_partial_name;
use crate::system::{Errno, tests_hook};
use crate::testing::{PRESERVE, Random, TARGET, context, copy, room, snapshot};
use crate::{TargetOptions, TreeTarget};

/// Points at which copies are killed.
const POINTS: u64 = 1000;

/// A tree with something of everything, and what an older copy of it has left in the target.
fn world() -> tempfile::TempDir {
    let world = room();
    let at = |path: &str| world.path().join(path);
    fs::create_dir_all(at("src/d/e")).unwrap();
    fs::create_dir_all(at("dst/src/d")).unwrap();
    let mut random = Random(1);
    for (path, length) in [
        ("a", 30_000),
        ("b", 1),
        ("c", 0),
        ("d/a", 40_000),
        ("d/e/a", 9000),
        ("d/e/same", 5000),
    ] {
        let content: Vec<u8> = (0..length)
            .map(|_| random.next().to_le_bytes()[0])
            .collect();
        fs::write(at("src").join(path), content).unwrap();
    }
    let sparse = fs::File::create(at("src/sparse")).unwrap();
    sparse.write_all_at(b"after a hole", 64 << 10).unwrap();
    sparse.set_len(128 << 10).unwrap();
    symlink("../a", at("src/d/link")).unwrap();
    fs::write(at("dst/src/a"), "an older version").unwrap();
    fs::write(at("dst/src/d/a"), vec![1; 40_000]).unwrap();
    symlink("older", at("dst/src/d/link")).unwrap();
    world
}

fn options() -> TargetOptions {
    PRESERVE
}

/// Returns true if the copy ended with the same files at both ends.
fn is_equal(world: &Path) -> bool {
    snapshot(&world.join("src")) == snapshot(&world.join("dst/src"))
}

/// Every file under its final name is whole, be it the new version or the one from before.
fn check_no_half(world: &Path, before: &Path, point: u64) {
    let new = snapshot(&world.join("src"));
    let old = snapshot(&before.join("dst/src"));
    for (path, seen) in snapshot(&world.join("dst/src")) {
        let name = path.file_name().unwrap().as_encoded_bytes();
        if seen.kind != 'f' || is_partial_name(name) {
            continue;
        }
        let is_whole = [&new, &old].iter().any(|tree| {
            tree.get(&path)
                .is_some_and(|expected| expected.kind == 'f' && expected.content == seen.content)
        });
        assert!(is_whole, "point {point}: half a file at {}", path.display());
    }
}

/// Copies, and counts the system calls.
fn calls() -> u64 {
    let world = world();
    let calls = Rc::new(Cell::new(0));
    let counter = Rc::clone(&calls);
    let hook = move || {
        counter.set(counter.get() + 1);
        Ok(())
    };
    let outcome = tests_hook::with(hook, || copy(world.path(), &["src"], "dst", options()));
    assert_eq!(outcome.troubles, []);
    assert!(is_equal(world.path()));
    calls.get()
}

/// As a kill, as far as files are concerned: nothing is done after the call before the `point`th.
/// Whether there was such a call.
fn copy_until(world: &Path, operand: &str, point: u64) -> bool {
    let mut left = point;
    let hook = move || {
        left = left
            .checked_sub(1)
            .unwrap_or_else(|| resume_unwind(Box::new("killed")));
        Ok(())
    };
    let killed = catch_unwind(AssertUnwindSafe(|| {
        tests_hook::with(hook, || copy(world, &[operand], "dst", options()));
    }));
    killed.is_err()
}

fn kill_and_go_on(point: u64, before: &Path) {
    let world = world();
    assert!(
        copy_until(world.path(), "src", point),
        "the copy was over before point {point}"
    );
    check_no_half(world.path(), before, point);
    let outcome = copy(world.path(), &["src"], "dst", options());
    assert_eq!(outcome.troubles, [], "point {point}");
    assert!(is_equal(world.path()), "point {point}");
}

#[test]
fn killed_at_a_thousand_points_no_half_file_has_its_final_name() {
    let calls = calls();
    let before = world();
    let points: Vec<u64> = (0..POINTS).map(|number| number * calls / POINTS).collect();
    for point in points {
        kill_and_go_on(point, before.path());
    }
}

/// Twice in a row: what goes on with parts is killed, too.
#[test]
fn killed_again_and_again_a_copy_still_gets_there() {
    let before = world();
    let world = world();
    let (mut random, calls) = (Random(7), calls());
    for round in 0..100 {
        copy_until(world.path(), "src", random.below(calls));
        check_no_half(world.path(), before.path(), round);
    }
    let outcome = copy(world.path(), &["src"], "dst", options());
    assert_eq!(outcome.troubles, []);
    assert!(is_equal(world.path()));
}

/// A file of a hundred pieces, whose copy takes more than a hundred system calls.
fn one_file() -> tempfile::TempDir {
    let world = room();
    fs::create_dir(world.path().join("dst")).unwrap();
    fs::write(world.path().join("file"), vec![b'x'; 4096 * 100]).unwrap();
    world
}

/// PartialFile that are held are not written again.
#[test]
fn a_copy_goes_on_with_the_parts_that_are_there() {
    let world = one_file();
    assert!(copy_until(world.path(), "file", 150));
    let outcome = copy(world.path(), &["file"], "dst", PRESERVE);
    assert_eq!(outcome.troubles, []);
    assert_eq!(outcome.held + outcome.written, 4096 * 100);
    assert!(outcome.held > 4096 * 50, "{outcome:?}");
    assert_eq!(
        fs::read(world.path().join("dst/file")).unwrap(),
        vec![b'x'; 4096 * 100]
    );
}

/// So that a newer version takes from the older one what has stayed the same.
#[test]
fn parts_of_an_older_version_are_compared_and_leave_nothing_behind() {
    let world = one_file();
    assert!(copy_until(world.path(), "file", 150));
    let mut newer = vec![b'x'; 4096 * 90];
    newer[4096 * 10] = b'y';
    fs::write(world.path().join("file"), &newer).unwrap();
    let outcome = copy(world.path(), &["file"], "dst", PRESERVE);
    assert_eq!(outcome.troubles, []);
    assert!(
        outcome.held > 4096 * 40 && outcome.written >= 4096,
        "{outcome:?}"
    );
    assert_eq!(fs::read(world.path().join("dst/file")).unwrap(), newer);
    assert_eq!(snapshot(&world.path().join("dst")).len(), 1);
}

#[test]
fn without_resuming_parts_are_removed_and_not_used() {
    let world = one_file();
    assert!(copy_until(world.path(), "file", 150));
    let names = || -> Vec<bool> {
        let there = snapshot(&world.path().join("dst"));
        there
            .keys()
            .map(|path| is_partial_name(path.as_os_str().as_encoded_bytes()))
            .collect()
    };
    assert_eq!(names(), [true]);
    let options = TargetOptions {
        resume: false,
        ..PRESERVE
    };
    let outcome = copy(world.path(), &["file"], "dst", options);
    assert_eq!((outcome.troubles.len(), outcome.held), (0, 0));
    assert_eq!(names(), [false]);
}

/// As on vfat or with sshfs, where what is made here has another owner than us.
#[test]
fn where_owners_are_mapped_a_copy_goes_on_with_its_parts_too() {
    let world = one_file();
    let partials = || snapshot(&world.path().join("dst")).len();
    tests_hook::with_mapped_owners(|| {
        for round in 0..20 {
            assert!(copy_until(world.path(), "file", 100 + round));
            assert_eq!(partials(), 1, "{round}");
        }
        let outcome = copy(world.path(), &["file"], "dst", TARGET);
        assert_eq!(outcome.troubles, []);
        assert!(outcome.held > 4096 * 30, "{outcome:?}");
    });
    assert_eq!(
        fs::read(world.path().join("dst/file")).unwrap(),
        vec![b'x'; 4096 * 100]
    );
    assert_eq!(partials(), 1);
}

/// Whatever is in the tree: modes cannot be set there, and are not missed unless they were asked for.
#[test]
fn where_owners_are_mapped_trees_are_copied() {
    let world = world();
    let outcome = tests_hook::with_mapped_owners(|| copy(world.path(), &["src"], "dst", TARGET));
    assert_eq!(outcome.troubles, []);
    let contents = |tree: &str| -> Vec<_> {
        let seen = snapshot(&world.path().join(tree)).into_iter();
        seen.map(|(path, seen)| (path, seen.kind, seen.content))
            .collect()
    };
    assert_eq!(contents("src"), contents("dst/src"));
}

/// They were asked for, so that is told; the file is whole and has its name all the same.
#[test]
fn where_owners_are_mapped_modes_and_times_are_missed() {
    let world = one_file();
    let outcome = tests_hook::with_mapped_owners(|| copy(world.path(), &["file"], "dst", PRESERVE));
    let whys: Vec<EntryErrorKind> = outcome
        .troubles
        .iter()
        .map(|trouble| trouble.kind)
        .collect();
    assert_eq!(whys, [EntryErrorKind::Denied]);
    assert!(
        outcome.troubles[0].note.contains("it is there"),
        "{outcome:?}"
    );
    let names: Vec<_> = snapshot(&world.path().join("dst")).into_keys().collect();
    assert_eq!(names, [Path::new("file")]);
    let copied = fs::read(world.path().join("dst/file")).unwrap();
    assert_eq!(copied, vec![b'x'; 4096 * 100]);
}

/// The name of the variable that tells the child which copy to make and when to die.
const CHILD: &str = "FULMAR_TREE_KILLED";

/// Not a test of its own: what the next one starts and what kills itself.
#[test]
fn child_that_kills_itself() {
    let Some(order) = std::env::var_os(CHILD) else {
        return;
    };
    let order = order.into_string().unwrap();
    let (point, world) = order.split_once(':').unwrap();
    let mut left: u64 = point.parse().unwrap();
    let hook = move || {
        if left == 0 {
            let own = rustix::process::getpid();
            rustix::process::kill_process(own, rustix::process::Signal::KILL).unwrap();
        }
        left -= 1;
        Ok(())
    };
    tests_hook::with(hook, || copy(Path::new(world), &["src"], "dst", options()));
}

#[test]
fn killed_by_the_kernel_it_is_the_same() {
    let calls = calls();
    let before = world();
    for number in 0..12 {
        let world = world();
        let point = number * calls / 12;
        let status = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "killed::child_that_kills_itself"])
            .env(CHILD, format!("{point}:{}", world.path().display()))
            .stdout(std::process::Stdio::null())
            .status()
            .unwrap();
        assert_eq!(status.signal(), Some(9), "point {point}");
        check_no_half(world.path(), before.path(), point);
        assert_eq!(
            copy(world.path(), &["src"], "dst", options()).troubles,
            [],
            "point {point}"
        );
        assert!(is_equal(world.path()), "point {point}");
    }
}

/// A name with a question mark on vfat, for example; a size that a file cannot have is another thing.
#[test]
fn only_a_call_with_a_name_finds_a_name_invalid() {
    let world = one_file();
    let invalid_from = |point: u64| {
        let mut left = point;
        let hook = move || {
            left = left.checked_sub(1).ok_or(Errno::INVAL)?;
            Ok(())
        };
        let outcome = tests_hook::with(hook, || copy(world.path(), &["file"], "dst", TARGET));
        outcome.troubles[0].kind
    };
    assert_eq!(invalid_from(150), EntryErrorKind::Io, "while it is written");
    let mut target = TreeTarget::open(&context(world.path()), b"dst", TARGET).unwrap();
    let entry = Entry {
        operand: 0,
        path: RelativePath::new(b"what?").unwrap(),
        kind: EntryKind::File { size: Some(1) },
        mode: 0o644,
        modified: Timestamp::default(),
    };
    let folder = Entry {
        kind: EntryKind::Folder,
        ..entry.clone()
    };
    let begun = tests_hook::with(|| Err(Errno::INVAL), || target.begin(EntryId(0), &entry));
    assert_eq!(begun.unwrap_err().kind, EntryErrorKind::BadName);
    let made = tests_hook::with(|| Err(Errno::INVAL), || target.folder(&folder));
    assert_eq!(made.unwrap_err().kind, EntryErrorKind::BadName);
}

/// Also of an empty one, into which nothing goes that would tell.
#[test]
fn a_folder_that_cannot_be_made_is_a_trouble() {
    let world = one_file();
    let mut target = TreeTarget::open(&context(world.path()), b"dst", TARGET).unwrap();
    let folder = Entry {
        operand: 0,
        path: RelativePath::new(b"folder").unwrap(),
        kind: EntryKind::Folder,
        mode: 0o755,
        modified: Timestamp::default(),
    };
    let made = tests_hook::with(|| Err(Errno::NOSPC), || target.folder(&folder));
    assert_eq!(made.unwrap_err().kind, EntryErrorKind::DiskFull);
}

/// Each call of a copy fails once, in each way: the trouble is named, the rest goes on, and a second copy completes it.
#[test]
fn every_call_that_fails_is_a_trouble_with_a_name() {
    let errors = [
        (Errno::NOSPC, EntryErrorKind::DiskFull),
        (Errno::DQUOT, EntryErrorKind::Quota),
        (Errno::ROFS, EntryErrorKind::ReadOnly),
        (Errno::ACCESS, EntryErrorKind::Denied),
        (Errno::FBIG, EntryErrorKind::TooLarge),
        (Errno::MFILE, EntryErrorKind::Exhausted),
        (Errno::IO, EntryErrorKind::Io),
    ];
    let calls = calls();
    let before = world();
    for point in 0..calls {
        let (error, why) = errors[usize::try_from(point % 7).unwrap()];
        let world = world();
        let mut count = 0;
        let hook = move || {
            count += 1;
            if count == point + 1 {
                Err(error)
            } else {
                Ok(())
            }
        };
        let outcome = tests_hook::with(hook, || copy(world.path(), &["src"], "dst", options()));
        assert!(
            outcome.troubles.iter().all(|trouble| trouble.kind == why),
            "{point}: {:?}",
            outcome.troubles
        );
        check_no_half(world.path(), before.path(), point);
        assert_eq!(
            copy(world.path(), &["src"], "dst", options()).troubles,
            [],
            "point {point}"
        );
        assert!(is_equal(world.path()), "point {point}");
    }
}
