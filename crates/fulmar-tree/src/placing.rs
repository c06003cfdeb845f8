//! Tests of the places that things go to, as scp has it. The expectations are what OpenSSH 9.2's scp did with
//! the same operands, but for what a comment says.

use std::fs;
use std::path::Path;

use fulmar_copy::EntryErrorKind;

use crate::testing::{Outcome, TARGET, copy, snapshot};

/// `src` with files a, b, a folder d (with x and an empty sub), links la -> a, ld -> d, and an empty `dst`.
fn world() -> tempfile::TempDir {
    let world = tempfile::tempdir().unwrap();
    let at = |path: &str| world.path().join(path);
    fs::create_dir_all(at("src/d/sub")).unwrap();
    fs::create_dir(at("dst")).unwrap();
    for (path, content) in [("src/a", "a"), ("src/b", "b"), ("src/d/x", "x")] {
        fs::write(at(path), content).unwrap();
    }
    std::os::unix::fs::symlink("a", at("src/la")).unwrap();
    std::os::unix::fs::symlink("d", at("src/ld")).unwrap();
    world
}

/// Returns all that is there but for `src`, in the manner of `find`.
fn result(world: &Path) -> Vec<String> {
    let seen = snapshot(world);
    let show = |(path, seen): (std::path::PathBuf, crate::testing::Seen)| {
        let content = String::from_utf8_lossy(&seen.content).into_owned();
        format!("{} {} {content}", path.display(), seen.kind)
            .trim_end()
            .to_owned()
    };
    seen.into_iter()
        .map(show)
        .filter(|line| !line.starts_with("src") && line != "dst d")
        .collect()
}

fn kinds(outcome: &Outcome) -> Vec<EntryErrorKind> {
    outcome
        .troubles
        .iter()
        .map(|trouble| trouble.kind)
        .collect()
}

/// Copies and says what is there then.
fn after(operands: &[&str], target: &str) -> (Vec<String>, Vec<EntryErrorKind>) {
    let world = world();
    let outcome = copy(world.path(), operands, target, TARGET);
    (result(world.path()), kinds(&outcome))
}

fn fine(lines: &[&str]) -> (Vec<String>, Vec<EntryErrorKind>) {
    (
        lines.iter().map(|line| (*line).to_owned()).collect(),
        Vec::new(),
    )
}

fn trouble(kind: EntryErrorKind) -> (Vec<String>, Vec<EntryErrorKind>) {
    (Vec::new(), vec![kind])
}

#[test]
fn a_file_goes_into_a_folder_or_takes_the_name() {
    assert_eq!(after(&["src/a"], "dst"), fine(&["dst/a f a"]));
    assert_eq!(after(&["src/a"], "dst/"), fine(&["dst/a f a"]));
    assert_eq!(after(&["src/a"], "dst/new"), fine(&["dst/new f a"]));
    assert_eq!(after(&["src/a"], ""), fine(&["a f a"]));
    assert_eq!(
        after(&["src/a"], "dst/new/"),
        trouble(EntryErrorKind::Missing)
    );
    assert_eq!(
        after(&["src/a"], "nothing/new"),
        trouble(EntryErrorKind::Missing)
    );
}

#[test]
fn a_folder_goes_into_a_folder_or_takes_the_name() {
    let inside = fine(&["dst/d d", "dst/d/sub d", "dst/d/x f x"]);
    let named = fine(&["new d", "new/sub d", "new/x f x"]);
    for operand in ["src/d", "src/d/"] {
        assert_eq!(after(&[operand], "dst"), inside);
        assert_eq!(after(&[operand], "new"), named);
        assert_eq!(after(&[operand], "new/"), named);
    }
}

/// With `..` scp puts what is in the folder beside the target. Here it goes into the target.
#[test]
fn what_has_no_name_means_what_is_in_it() {
    let inside = fine(&["dst/sub d", "dst/x f x"]);
    for operand in ["src/d/.", "src/d/./", "src/d/sub/.."] {
        assert_eq!(after(&[operand], "dst"), inside, "{operand}");
    }
}

#[test]
fn several_sources_need_a_folder() {
    assert_eq!(
        after(&["src/a", "src/b"], "dst"),
        fine(&["dst/a f a", "dst/b f b"])
    );
    assert_eq!(
        after(&["src/a", "src/b"], "src/a"),
        trouble(EntryErrorKind::NotFolder)
    );
    // With -r scp makes the folder at the remote end.
    let made = fine(&[
        "new d",
        "new/a f a",
        "new/d d",
        "new/d/sub d",
        "new/d/x f x",
    ]);
    assert_eq!(after(&["src/a", "src/d"], "new"), made);
}

#[test]
fn a_file_in_the_middle_of_a_path_is_named() {
    for (operand, target) in [
        ("src/a/b/c", "dst"),
        ("src/b", "src/a/b/c"),
        ("src/b", "src/a/"),
    ] {
        let outcome = copy(world().path(), &[operand], target, TARGET);
        let [trouble] = outcome.troubles.as_slice() else {
            panic!("{operand} {target}: {:?}", outcome.troubles);
        };
        assert_eq!(trouble.kind, EntryErrorKind::NotFolder);
        assert_eq!(trouble.place, b"src/a", "{operand} {target}");
    }
}

#[test]
fn a_pattern_that_is_several_sources_needs_a_folder() {
    assert_eq!(
        after(&["src/[ab]"], "new"),
        trouble(EntryErrorKind::Missing)
    );
    assert_eq!(after(&["src/[a]"], "new"), fine(&["new f a"]));
    assert_eq!(
        after(&["src/[ab]"], "dst"),
        fine(&["dst/a f a", "dst/b f b"])
    );
}

#[test]
fn links_that_are_named_are_followed_and_those_that_a_pattern_finds_are_not() {
    assert_eq!(after(&["src/la"], "dst"), fine(&["dst/la f a"]));
    assert_eq!(
        after(&["src/ld"], "dst"),
        fine(&["dst/ld d", "dst/ld/sub d", "dst/ld/x f x"])
    );
    assert_eq!(
        after(&["src/l*"], "dst"),
        fine(&["dst/la l a", "dst/ld l d"])
    );
}

#[test]
fn the_user_s_own_link_as_target_is_written_through() {
    let world = world();
    std::os::unix::fs::symlink("target", world.path().join("dst/l")).unwrap();
    for content in ["a", "b"] {
        let outcome = copy(world.path(), &[&format!("src/{content}")], "dst/l", TARGET);
        assert_eq!(kinds(&outcome), []);
        assert_eq!(
            result(world.path()),
            [
                "dst/l l target".to_owned(),
                format!("dst/target f {content}")
            ]
        );
    }
}

#[test]
fn a_link_inside_the_target_is_replaced() {
    let world = world();
    let at = |path: &str| world.path().join(path);
    fs::create_dir_all(at("dst/d")).unwrap();
    fs::create_dir(at("elsewhere")).unwrap();
    std::os::unix::fs::symlink("../../elsewhere", at("dst/d/sub")).unwrap();
    std::os::unix::fs::symlink("../../elsewhere/x", at("dst/d/x")).unwrap();
    assert_eq!(kinds(&copy(world.path(), &["src/d"], "dst", TARGET)), []);
    assert_eq!(
        result(world.path()),
        ["dst/d d", "dst/d/sub d", "dst/d/x f x", "elsewhere d"]
    );
}

#[test]
fn a_file_and_a_folder_do_not_replace_each_other() {
    let world = world();
    fs::create_dir(world.path().join("dst/a")).unwrap();
    fs::write(world.path().join("dst/d"), "a file").unwrap();
    assert_eq!(
        kinds(&copy(world.path(), &["src/a"], "dst", TARGET)),
        [EntryErrorKind::IsFolder]
    );
    let whys = kinds(&copy(world.path(), &["src/d"], "dst", TARGET));
    assert!(
        whys.iter().all(|why| *why == EntryErrorKind::NotFolder),
        "{whys:?}"
    );
    assert_eq!(result(world.path()), ["dst/a d", "dst/d f a file"]);
}

#[test]
fn two_sources_that_are_called_alike_are_a_trouble_of_the_second() {
    let (there, troubles) = after(&["src/d/x", "src/a", "src/d/x"], "dst");
    assert_eq!(there, ["dst/a f a", "dst/x f x"]);
    assert_eq!(troubles, [EntryErrorKind::Taken]);
}

#[test]
fn what_is_not_there_is_told_and_the_rest_goes_on() {
    let (there, troubles) = after(&["src/nope", "src/n*", "src/b"], "dst");
    assert_eq!(there, ["dst/b f b"]);
    assert_eq!(troubles, [EntryErrorKind::Missing, EntryErrorKind::Missing]);
}

#[test]
fn a_dry_run_tells_files_apart_by_size_and_time_and_links_by_their_text() {
    use fulmar_copy::{EntryKind, Occupant, Target as _};
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "four").unwrap();
    std::os::unix::fs::symlink("there", folder.path().join("link")).unwrap();
    let modified = crate::system::facts_at(fs::File::open(folder.path()).unwrap(), b"file")
        .unwrap()
        .modified;
    let options = crate::TargetOptions {
        dry_run: true,
        ..TARGET
    };
    let context = crate::testing::context(folder.path());
    let mut target = crate::TreeTarget::open(&context, b".", options).unwrap();
    let mut found = |name: &[u8], kind: EntryKind, later: i64| {
        let mut modified = modified;
        modified.seconds += later;
        let entry = fulmar_copy::Entry {
            operand: 0,
            path: fulmar_copy::RelativePath::new(name).unwrap(),
            kind,
            mode: 0o644,
            modified,
        };
        target.look(&entry).unwrap()
    };
    let file = |size| EntryKind::File { size: Some(size) };
    let link = |text: &[u8]| EntryKind::Link {
        target: text.to_vec(),
    };
    assert_eq!(found(b"file", file(4), 0), Occupant::Same);
    assert_eq!(found(b"file", file(4), 1), Occupant::Another);
    assert_eq!(found(b"file", file(5), 0), Occupant::Another);
    assert_eq!(
        found(b"file", EntryKind::File { size: None }, 0),
        Occupant::Another
    );
    assert_eq!(found(b"link", link(b"there"), 9), Occupant::Same);
    assert_eq!(found(b"link", link(b"elsewhere"), 0), Occupant::Another);
    assert_eq!(found(b"link", file(5), 0), Occupant::Another);
    assert_eq!(found(b"other", file(4), 0), Occupant::Nothing);
    for (name, occupant) in [
        (&b"other"[..], Occupant::Partial),
        (b"file", Occupant::Partial),
    ] {
        let part = crate::partial::name(name, 0);
        let part = folder.path().join(std::str::from_utf8(&part).unwrap());
        fs::write(&part, "").unwrap();
        assert_ne!(found(name, file(5), 0), occupant, "nothing is in it");
        fs::write(&part, "a part").unwrap();
        assert_eq!(found(name, file(5), 0), occupant);
    }
    assert_eq!(found(b"file", file(4), 0), Occupant::Same);
    assert_eq!(found(b"link", link(b"there"), 9), Occupant::Same);
}

#[test]
fn a_dry_run_changes_nothing_and_finds_what_would_go_wrong() {
    let world = world();
    fs::create_dir(world.path().join("dst/a")).unwrap();
    let before = snapshot(world.path());
    let operands = ["src/a", "src/b", "src/d"];
    let looked = crate::testing::looked(world.path(), &operands, "dst", TARGET);
    let whys: Vec<_> = looked.into_iter().filter_map(Result::err).collect();
    let whys: Vec<_> = whys.iter().map(|error| error.kind).collect();
    assert_eq!(whys, [EntryErrorKind::IsFolder]);
    assert_eq!(snapshot(world.path()), before);
}
