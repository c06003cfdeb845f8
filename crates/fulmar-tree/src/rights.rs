//! Tests of what a user may not do. They run as a user; started by root they start themselves again as one.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use fulmar_copy::EntryErrorKind;

use crate::partial;
use crate::testing::{Outcome, PRESERVE, Random, TARGET, copy, looked, snapshot};

/// A user without rights, by number: `nobody` on most systems.
const NOBODY: u32 = 65_534;

/// Returns true if the test is to go on: this process is no root. Root starts the test again as somebody
/// else; where it cannot, the test is left out and says so.
fn as_user(test: &str) -> bool {
    if crate::system::user() != 0 {
        return true;
    }
    if let Some(error) = start_as_user(test, "") {
        leave_out(&format!(
            "no program can be started as another user: {error}"
        ));
    }
    false
}

/// Starts a test again as somebody without rights, with a folder named in `FULMAR_TEST_WORLD`. Returns the error if that is
/// not possible here.
fn start_as_user(test: &str, world: impl AsRef<Path>) -> Option<std::io::Error> {
    // The program may lie where only root can read it.
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("test");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    for path in [folder.path(), &program] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let run = Command::new(&program)
        .args(["--exact", &format!("rights::{test}"), "--nocapture"])
        .uid(NOBODY)
        .gid(NOBODY)
        .env("TMPDIR", "/tmp")
        .env("FULMAR_TEST_WORLD", world.as_ref())
        .current_dir("/")
        .output();
    match run {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(
                output.status.success() && text.contains("1 passed"),
                "{text}{}",
                String::from_utf8_lossy(&output.stderr)
            );
            None
        }
        Err(error) => Some(error),
    }
}

/// Says that the calling test cannot run here, or not all of it. `cargo xtask test` lists these at its end.
fn leave_out(reason: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    eprintln!("left out: {test}: {reason}");
    // Somebody else, as whom the test was started again, may not write there.
    let list = std::env::var_os("FULMAR_TEST_SKIPPED")
        .and_then(|list| fs::OpenOptions::new().append(true).open(list).ok());
    if let Some(mut list) = list {
        let _ = list.write_all(format!("{test}\t{reason}\n").as_bytes());
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// `src` with a and b, and `dst`.
fn world() -> tempfile::TempDir {
    let world = tempfile::tempdir().unwrap();
    for folder in ["src", "dst"] {
        fs::create_dir(world.path().join(folder)).unwrap();
    }
    for file in ["src/a", "src/b"] {
        fs::write(world.path().join(file), file).unwrap();
    }
    world
}

fn whys(outcome: &Outcome) -> Vec<EntryErrorKind> {
    outcome
        .troubles
        .iter()
        .map(|trouble| trouble.kind)
        .collect()
}

#[test]
fn what_cannot_be_read_is_told_and_the_rest_goes_on() {
    if !as_user("what_cannot_be_read_is_told_and_the_rest_goes_on") {
        return;
    }
    let world = world();
    let at = |path: &str| world.path().join(path);
    fs::create_dir(at("src/closed")).unwrap();
    set_mode(&at("src/closed"), 0);
    set_mode(&at("src/a"), 0);
    let outcome = copy(world.path(), &["src"], "dst", TARGET);
    set_mode(&at("src/closed"), 0o700);
    assert_eq!(
        whys(&outcome),
        [EntryErrorKind::Denied, EntryErrorKind::Denied]
    );
    assert!(
        outcome
            .troubles
            .iter()
            .all(|trouble| trouble.place.starts_with(b"src/"))
    );
    assert_eq!(snapshot(&at("dst/src")).len(), 1);
    assert_eq!(fs::read(at("dst/src/b")).unwrap(), b"src/b");
}

#[test]
fn what_cannot_be_written_is_told_and_stays_as_it_is() {
    if !as_user("what_cannot_be_written_is_told_and_stays_as_it_is") {
        return;
    }
    let world = world();
    let at = |path: &str| world.path().join(path);
    fs::write(at("dst/a"), "read-only").unwrap();
    set_mode(&at("dst/a"), 0o444);
    let outcome = copy(world.path(), &["src/a", "src/b"], "dst", TARGET);
    assert_eq!(whys(&outcome), [EntryErrorKind::Denied]);
    assert_eq!(fs::read(at("dst/a")).unwrap(), b"read-only");
    assert_eq!(fs::read(at("dst/b")).unwrap(), b"src/b");
    set_mode(&at("dst"), 0o555);
    let outcome = copy(world.path(), &["src/a", "src/b", "src"], "dst", TARGET);
    set_mode(&at("dst"), 0o755);
    assert!(
        whys(&outcome)
            .iter()
            .all(|why| matches!(why, EntryErrorKind::Denied)),
        "{outcome:?}"
    );
    assert_eq!(snapshot(&at("dst")).len(), 2);
}

#[test]
fn a_folder_where_nothing_can_be_made_is_told_from_a_file_that_cannot_be_written() {
    if !as_user("a_folder_where_nothing_can_be_made_is_told_from_a_file_that_cannot_be_written") {
        return;
    }
    let world = world();
    let at = |path: &str| world.path().join(path);
    fs::write(at("dst/a"), "writable").unwrap();
    fs::write(at("dst/b"), "read-only").unwrap();
    set_mode(&at("dst/b"), 0o444);
    set_mode(&at("dst"), 0o555);
    let outcome = copy(world.path(), &["src/a", "src/b"], "dst", TARGET);
    let looked = ["a", "b"].map(|name| {
        let operand = format!("src/{name}");
        looked(world.path(), &[&operand], "dst", TARGET).remove(0)
    });
    set_mode(&at("dst"), 0o755);
    let notes: Vec<_> = outcome
        .troubles
        .iter()
        .map(|trouble| &trouble.note)
        .collect();
    assert_eq!(notes, ["no file can be made in its folder", ""]);
    let looked = looked.map(|looked| looked.unwrap_err().note);
    assert_eq!(looked, ["no file can be made in its folder", ""]);
}

/// A folder that cannot be made, and all that would be in it.
#[test]
fn a_dry_run_counts_nothing_below_a_folder_that_could_not_be_made() {
    if !as_user("a_dry_run_counts_nothing_below_a_folder_that_could_not_be_made") {
        return;
    }
    let world = world();
    let at = |path: &str| world.path().join(path);
    fs::create_dir(at("src/deep")).unwrap();
    fs::write(at("src/deep/c"), "c").unwrap();
    for (mode, refused) in [(0o755, 0), (0o555, 5)] {
        set_mode(&at("dst"), mode);
        let entries = looked(world.path(), &["src"], "dst", TARGET);
        let denied = entries.iter().filter(|looked| {
            looked
                .as_ref()
                .is_err_and(|error| error.kind == EntryErrorKind::Denied)
        });
        assert_eq!((entries.len(), denied.count()), (5, refused), "{mode:o}");
        set_mode(&at("dst"), 0o755);
    }
}

/// Its final mode was set, and then the copy was killed.
#[test]
fn a_part_that_forbids_writing_is_made_again() {
    if !as_user("a_part_that_forbids_writing_is_made_again") {
        return;
    }
    let world = world();
    let at = |path: &str| world.path().join(path);
    set_mode(&at("src/a"), 0o444);
    let part = at("dst").join(std::str::from_utf8(&partial::name(b"a", 0)).unwrap());
    fs::write(&part, "src").unwrap();
    set_mode(&part, 0o444);
    assert_eq!(whys(&copy(world.path(), &["src/a"], "dst", PRESERVE)), []);
    assert_eq!(fs::read(at("dst/a")).unwrap(), b"src/a");
    assert!(!part.exists());
}

/// `-p` on a folder that its owner had closed.
#[test]
fn a_closed_folder_is_opened_for_its_owner_and_closed_again() {
    if !as_user("a_closed_folder_is_opened_for_its_owner_and_closed_again") {
        return;
    }
    let world = world();
    let at = |path: &str| world.path().join(path);
    set_mode(&at("src"), 0o555);
    assert_eq!(whys(&copy(world.path(), &["src"], "dst", PRESERVE)), []);
    fs::remove_file(at("dst/src/a")).unwrap_err();
    assert_eq!(whys(&copy(world.path(), &["src"], "dst", PRESERVE)), []);
    let mode = at("dst/src").metadata().unwrap().permissions().mode() & 0o777;
    for folder in ["src", "dst/src"] {
        set_mode(&at(folder), 0o755);
    }
    assert_eq!(mode, 0o555);
}

/// A file that has the name of a part, but is not ours, is neither used nor removed.
#[test]
fn nobody_else_s_file_is_taken_for_a_part() {
    let world = world();
    let at = |path: &str| world.path().join(path);
    let part = at("dst").join(std::str::from_utf8(&partial::name(b"a", 0)).unwrap());
    let mut tried = Vec::new();
    for disguise in ["link", "hard link", "set-id", "folder", "somebody else's"] {
        let _ = fs::remove_file(&part);
        fs::write(at("other"), "src").unwrap();
        match disguise {
            "link" => symlink(at("other"), &part).unwrap(),
            "hard link" => fs::hard_link(at("other"), &part).unwrap(),
            "set-id" => {
                fs::write(&part, "src").unwrap();
                set_mode(&part, 0o4600);
            }
            "folder" => fs::create_dir(&part).unwrap(),
            _ => {
                fs::remove_dir(&part).unwrap();
                fs::write(&part, "src").unwrap();
                if chown(&part, Some(NOBODY), None).is_err() {
                    leave_out("a part of somebody else's: only root can make one");
                    continue;
                }
            }
        }
        let before = part.symlink_metadata().unwrap();
        let outcome = copy(world.path(), &["src/a"], "dst", TARGET);
        assert_eq!((whys(&outcome), outcome.held), (vec![], 0), "{disguise}");
        assert_eq!(fs::read(at("dst/a")).unwrap(), b"src/a", "{disguise}");
        let after = part.symlink_metadata().unwrap();
        assert_eq!(
            (before.ino(), before.mode(), before.uid()),
            (after.ino(), after.mode(), after.uid()),
            "{disguise}"
        );
        assert_eq!(fs::read(at("other")).unwrap(), b"src", "{disguise}");
        fs::remove_file(at("dst/a")).unwrap();
        tried.push(disguise);
    }
    assert!(tried.len() >= 4);
}

/// Two copies to one name at the same time: each has a part of its own.
#[test]
fn copies_to_one_name_do_not_write_into_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let open = || partial::open(fs::File::open(folder.path()).unwrap(), b"name", true).unwrap();
    let first = open();
    let second = open();
    assert_ne!(first.name, second.name);
    drop((first, second));
    assert!(!open().is_new);
}

/// Owner, group and mode.
fn rights(path: &Path) -> (u32, u32, u32) {
    let facts = path.symlink_metadata().unwrap();
    (facts.uid(), facts.gid(), facts.mode() & 0o7777)
}

/// Returns true if this process can give files away.
fn is_root() -> bool {
    let is_root = crate::system::user() == 0;
    if !is_root {
        leave_out("files of other users: only root can make them");
    }
    is_root
}

/// Some user's and some group's numbers, of which none is [`NOBODY`].
const SOMEBODY: u32 = 4242;
const SOME_GROUP: u32 = 4243;

#[test]
fn a_file_that_root_replaces_keeps_its_owner_and_group_but_no_set_id_bit() {
    if !is_root() {
        return;
    }
    let world = world();
    let at = |path: &str| world.path().join(path);
    for (options, mode) in [(TARGET, 0o750), (PRESERVE, 0o644)] {
        fs::write(at("dst/a"), "old").unwrap();
        chown(at("dst/a"), Some(SOMEBODY), Some(SOME_GROUP)).unwrap();
        set_mode(&at("dst/a"), 0o6750);
        set_mode(&at("src/a"), 0o644);
        assert_eq!(whys(&copy(world.path(), &["src/a"], "dst", options)), []);
        assert_eq!(fs::read(at("dst/a")).unwrap(), b"src/a");
        assert_eq!(rights(&at("dst/a")), (SOMEBODY, SOME_GROUP, mode));
    }
    assert_eq!(snapshot(&at("dst")).len(), 1);
}

/// The group of files that are made in the folder is another one than that of the files that are replaced.
#[test]
fn a_user_who_replaces_somebody_s_file_keeps_the_group_or_gives_another_one_no_rights() {
    let test = "a_user_who_replaces_somebody_s_file_keeps_the_group_or_gives_another_one_no_rights";
    if let Some(world) = std::env::var_os("FULMAR_TEST_WORLD") {
        let outcome = copy(Path::new(&world), &["src/a", "src/b"], "dst", TARGET);
        assert_eq!(whys(&outcome), []);
        return;
    }
    if !is_root() {
        return;
    }
    let world = world();
    let at = |path: &str| world.path().join(path);
    set_mode(world.path(), 0o755);
    for (name, owner, group, mode) in [
        ("a", SOMEBODY, NOBODY, 0o664),
        ("b", NOBODY, SOMEBODY, 0o664),
    ] {
        let path = at("dst").join(name);
        fs::write(&path, "old").unwrap();
        chown(&path, Some(owner), Some(group)).unwrap();
        set_mode(&path, mode);
    }
    chown(at("dst"), None, Some(SOME_GROUP)).unwrap();
    set_mode(&at("dst"), 0o2777);
    if let Some(error) = start_as_user(test, world.path()) {
        leave_out(&format!(
            "no program can be started as another user: {error}"
        ));
        return;
    }
    assert_eq!(rights(&at("dst/a")), (NOBODY, NOBODY, 0o664));
    assert_eq!(rights(&at("dst/b")), (NOBODY, SOME_GROUP, 0o644));
}

#[test]
fn a_part_s_name_is_short_enough_tells_its_file_and_is_known_again() {
    let mut random = Random(3);
    let mut seen = std::collections::BTreeSet::new();
    for length in 1..=255 {
        let name: Vec<u8> = (0..length).map(|_| *random.pick(b"ab\xc3\xa4.")).collect();
        let part = partial::name(&name, 0);
        assert!(part.len() <= 143, "{}", part.len());
        assert!(partial::is_partial_name(&part));
        assert!(!partial::is_partial_name(&name));
        seen.insert(part);
    }
    assert_eq!(seen.len(), 255);
    assert!(!partial::is_partial_name(b"..0123456789abcdef.fulmar-part"));
    assert!(!partial::is_partial_name(
        b".a.0123456789abcdeX.fulmar-part"
    ));
    // As long a name as there is, of characters of two bytes: it is cut between two.
    assert!(String::from_utf8(partial::name("\u{e4}".repeat(127).as_bytes(), 0)).is_ok());
}
