//! T-F2 of docs/threat-model.md: hostile trees, and somebody who swaps folders and files for links
//! while they are copied. Beside them stands a tree that nobody may touch.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use fulmar_copy::{
    Entry, EntryId, EntryKind, ExistingFile, PartialFile, RelativePath, Target as _, Timestamp,
};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};

use crate::partial;
use crate::system::tests_hook;
use crate::testing::{Outcome, Random, Seen, TARGET, carry, context, room, snapshot, source};
use crate::{TargetOptions, TreeTarget};

/// Trees of the whole test, and how many threads share them.
const TREES: u64 = 10_000;
const THREADS: u64 = 4;

/// The content that must never be read.
const SECRET: &[u8] = b"nobody may read this";

/// A tree outside of what is copied, and the kernel's word on who touches it.
struct Canary {
    room: tempfile::TempDir,
    before: BTreeMap<PathBuf, Seen>,
    watch: OwnedFd,
    /// The watch of the file that the actor gives more names.
    linked: i32,
}

impl Canary {
    fn new() -> Self {
        let room = room();
        let at = |path: &str| room.path().join(path);
        fs::create_dir_all(at("folder/a/b")).unwrap();
        for path in ["a", "b", "folder/a/a", "folder/b", "folder/a/b/c", "linked"] {
            fs::write(at(path), SECRET).unwrap();
        }
        let watch = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
        let before = snapshot(room.path());
        let add = |path: &Path| {
            inotify::add_watch(&watch, room.path().join(path), WatchFlags::ALL_EVENTS).unwrap()
        };
        add(Path::new(""));
        for path in before.keys() {
            add(path);
        }
        let linked = add(Path::new("linked"));
        let canary = Self {
            room,
            before,
            watch,
            linked,
        };
        canary.events();
        canary
    }

    /// Returns all that has happened to it since the last question.
    fn events(&self) -> Vec<String> {
        let mut buffer = [std::mem::MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(&self.watch, &mut buffer);
        let mut touched = Vec::new();
        while let Ok(event) = events.next() {
            let is_linked = event.wd() == self.linked || event.file_name() == Some(c"linked");
            // With a name inside it may be looked at there, and lose that name, but be neither read nor written to.
            let is_read = event
                .events()
                .intersects(ReadFlags::ACCESS | ReadFlags::MODIFY);
            if is_read || !is_linked {
                touched.push(format!("{event:?}"));
            }
        }
        touched
    }

    fn check(&self, seed: u64) {
        assert_eq!(
            self.events(),
            [] as [String; 0],
            "seed {seed}: somebody was outside"
        );
        assert_eq!(snapshot(self.room.path()), self.before, "seed {seed}");
        self.events();
    }

    fn path(&self) -> &Path {
        self.room.path()
    }
}

/// Names of a hostile tree: few, so that they meet as file, folder and link.
fn name(random: &mut Random) -> Vec<u8> {
    match random.below(24) {
        0..6 => b"a".to_vec(),
        6..11 => b"b".to_vec(),
        11..14 => b"c".to_vec(),
        14 | 15 => partial::name(b"a", 0),
        16 => partial::name(b"b", 1),
        17 => b"..".to_vec(),
        18 => b".".to_vec(),
        19 => b"".to_vec(),
        20 => b"a\0b".to_vec(),
        21 => vec![b'x'; 255],
        22 => vec![b'y'; 256],
        _ => b"\xff\xfe".to_vec(),
    }
}

fn path(random: &mut Random) -> Vec<u8> {
    if random.chance(2) {
        return b"/etc/passwd".to_vec();
    }
    if random.chance(1) {
        return vec![b"a".as_slice(); 300].join(&b'/');
    }
    let depth = 1 + random.below(4);
    (0..depth)
        .map(|_| name(random))
        .collect::<Vec<_>>()
        .join(&b'/')
}

fn link_text(random: &mut Random, canary: &Path) -> Vec<u8> {
    let canary = canary.as_os_str().as_bytes();
    let texts = [
        canary.to_vec(),
        [canary, b"/folder"].concat(),
        [canary, b"/a"].concat(),
        [canary, b"/folder/a/a"].concat(),
        b"..".to_vec(),
        b"../..".to_vec(),
        b"/proc/self/root".to_vec(),
        b"a".to_vec(),
        b".".to_vec(),
    ];
    random.pick(&texts).clone()
}

/// Somebody with rights in the target, between two system calls of the copy.
struct Actor {
    random: Random,
    target: PathBuf,
    canary: PathBuf,
    attic: PathBuf,
    /// True if it gives the canary's files more names. At the end that reads these would be inside.
    links_hard: bool,
    acts: Rc<RefCell<u64>>,
}

impl Actor {
    fn act(&mut self) {
        *self.acts.borrow_mut() += 1;
        let place = self.somewhere();
        match self.random.below(7) {
            0 | 1 => {
                self.put_away(&place);
                let text = link_text(&mut self.random, &self.canary);
                let _ = symlink(std::ffi::OsStr::from_bytes(&text), &place);
            }
            2 if self.links_hard => {
                self.put_away(&place);
                let _ = fs::hard_link(self.canary.join("linked"), &place);
            }
            3 => {
                let _ = fs::remove_file(&place);
                let _ = fs::create_dir(&place);
            }
            4 => {
                let other = self.somewhere();
                let _ = fs::rename(&place, other);
            }
            5 => {
                self.put_away(&place);
                let _ = fs::File::create_new(&place);
            }
            _ => {
                let mode = *self.random.pick(&[0o000, 0o700, 0o777]);
                if place.symlink_metadata().is_ok_and(|facts| facts.is_dir()) {
                    let _ = fs::set_permissions(&place, fs::Permissions::from_mode(mode));
                }
            }
        }
    }

    /// A path in the target, without a link of the actor's own on the way.
    fn somewhere(&mut self) -> PathBuf {
        let mut place = self.target.clone();
        for _ in 0..=self.random.below(3) {
            if place
                .symlink_metadata()
                .is_ok_and(|facts| facts.is_symlink())
            {
                break;
            }
            let name = match self.random.below(5) {
                0 => partial::name(b"a", 0),
                1 => partial::name(b"b", 0),
                2 => b"b".to_vec(),
                _ => b"a".to_vec(),
            };
            place.push(std::ffi::OsStr::from_bytes(&name));
        }
        place
    }

    fn put_away(&self, place: &Path) {
        let name = self.attic.join(self.acts.borrow().to_string());
        let _ = fs::rename(place, name);
    }
}

/// The number of times that things happened, to see that the test tests something.
#[derive(Default, Debug, Clone, Copy)]
struct Count {
    refused_paths: u64,
    acts: u64,
    committed: u64,
    troubles: u64,
    links: u64,
}

/// A peer that sends whatever it likes.
fn assault(target: &mut TreeTarget, random: &mut Random, canary: &Path, count: &mut Count) {
    let mut open: Vec<EntryId> = Vec::new();
    for number in 0..4 + random.below(16) {
        let Ok(path) = RelativePath::new(&path(random)) else {
            count.refused_paths += 1;
            continue;
        };
        let id = EntryId(number);
        let kind = match random.below(8) {
            0 => EntryKind::Folder,
            1 => EntryKind::Leave,
            2 | 3 => EntryKind::Link {
                target: link_text(random, canary),
            },
            _ => EntryKind::File {
                size: (!random.chance(10)).then(|| random.below(3) * 9),
            },
        };
        let modified = Timestamp {
            seconds: random.next().cast_signed() >> 3,
            nanoseconds: 7,
        };
        let mode = u32::try_from(random.below(0o10000)).unwrap();
        let entry = Entry {
            operand: 0,
            path,
            kind,
            mode,
            modified,
        };
        let done = match entry.kind {
            EntryKind::Folder => target.folder(&entry),
            EntryKind::Leave => target.leave(&entry),
            EntryKind::Link { .. } => {
                count.links += 1;
                target.link(&entry)
            }
            EntryKind::File { .. } => target.begin(id, &entry).map(|begun| {
                open.push(id);
                if matches!(begun, ExistingFile::Parts(_) | ExistingFile::Present) {
                    let read = target.read_back(id, 0, 4096);
                    assert!(read.is_err() || read.is_ok_and(|bytes| bytes != SECRET));
                }
            }),
        };
        count.troubles += u64::from(done.is_err());
        if random.chance(70) && !open.is_empty() {
            let id = open.swap_remove(usize::try_from(random.below(open.len() as u64)).unwrap());
            finish(target, id, random, count);
        }
    }
    for id in open {
        finish(target, id, random, count);
    }
}

fn finish(target: &mut TreeTarget, id: EntryId, random: &mut Random, count: &mut Count) {
    for _ in 0..random.below(3) {
        let offset = random.below(20);
        let _ = if random.chance(50) {
            target.write(id, offset, b"ten bytes.")
        } else {
            target.zeros(id, offset, 1 + random.below(5000))
        };
    }
    match random.below(8) {
        0 => target.abandon(id, PartialFile::Keep),
        1 => target.abandon(id, PartialFile::Drop),
        2 => {
            let _ = target.keep(id);
        }
        // Left as it is: the copy was killed.
        3 => {}
        _ => match target.commit(id, random.below(30)) {
            Ok(()) => count.committed += 1,
            Err(_) => target.abandon(id, PartialFile::Keep),
        },
    }
}

/// One tree.
fn run(seed: u64, canary: &Canary, count: &mut Count) {
    let room = room();
    let mut random = Random(seed);
    let target = room.path().join("target");
    let attic = room.path().join("attic");
    fs::create_dir(&target).unwrap();
    fs::create_dir(&attic).unwrap();
    let acts = Rc::new(RefCell::new(0));
    let mut actor = Actor {
        random: Random(random.next()),
        target,
        canary: canary.path().to_path_buf(),
        attic,
        links_hard: true,
        acts: Rc::clone(&acts),
    };
    // What is there before the copy.
    for _ in 0..random.below(6) {
        actor.act();
    }
    let options = TargetOptions {
        preserve: random.chance(50),
        resume: random.chance(70),
        ..TARGET
    };
    let named = *random.pick(&["target", "target", "target/a", "target/new"]);
    let Ok(mut tree) = open_inside(room.path(), named, options) else {
        return;
    };
    if random.chance(30) {
        tree.by_steps();
    }
    let pace = *random.pick(&[5, 20, 60]);
    let hook = move || {
        if actor.random.chance(pace) {
            actor.act();
        }
        Ok(())
    };
    tests_hook::with(hook, || {
        assault(&mut tree, &mut random, canary.path(), count)
    });
    count.acts += *acts.borrow();
    canary.check(seed);
    check_modes(room.path(), seed);
}

/// The target, unless a link there leads the user out of the room: then it is not the peer's doing.
fn open_inside(room: &Path, named: &str, options: TargetOptions) -> Result<TreeTarget, ()> {
    let path = room.join(named);
    if path
        .symlink_metadata()
        .is_ok_and(|facts| facts.is_symlink())
    {
        return Err(());
    }
    TreeTarget::open(&context(room), named.as_bytes(), options).map_err(|_| ())
}

/// No set-id and no sticky bit has come in.
fn check_modes(room: &Path, seed: u64) {
    for path in snapshot_names(room) {
        let facts = path.symlink_metadata().unwrap();
        assert_eq!(
            facts.permissions().mode() & 0o7000,
            0,
            "seed {seed}: {}",
            path.display()
        );
        assert!(
            facts.is_dir() || facts.is_file() || facts.is_symlink(),
            "seed {seed}: {}",
            path.display()
        );
    }
}

fn snapshot_names(room: &Path) -> Vec<PathBuf> {
    let mut names = Vec::new();
    let mut folders = vec![room.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let _ = fs::set_permissions(&folder, fs::Permissions::from_mode(0o700));
        for entry in fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                // Its mode is looked at before it is opened for all.
                let mode = entry.metadata().unwrap().permissions().mode();
                assert_eq!(mode & 0o7000, 0);
                folders.push(entry.path());
            } else {
                names.push(entry.path());
            }
        }
    }
    names
}

#[test]
fn ten_thousand_hostile_trees_touch_nothing_outside() {
    let share = TREES / THREADS;
    let counts: Vec<Count> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS)
            .map(|worker| {
                scope.spawn(move || {
                    let canary = Canary::new();
                    let mut count = Count::default();
                    for seed in worker * share..(worker + 1) * share {
                        run(seed, &canary, &mut count);
                    }
                    count
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .collect()
    });
    let sum = |what: fn(&Count) -> u64| counts.iter().map(what).sum::<u64>();
    let sums = [
        sum(|count| count.refused_paths),
        sum(|count| count.acts),
        sum(|count| count.committed),
        sum(|count| count.troubles),
        sum(|count| count.links),
    ];
    println!("{TREES} trees: paths refused, swaps, files committed, troubles, links: {sums:?}");
    assert!(sums.iter().all(|sum| *sum > TREES / 2), "{sums:?}");
}

/// The same for the end that reads: what is outside is not sent, whatever becomes of the tree meanwhile.
#[test]
fn a_source_that_is_swapped_meanwhile_gives_nothing_from_outside() {
    let canary = Canary::new();
    let mut written = 0;
    for seed in 0..1000 {
        written += read_hostile(seed, &canary);
    }
    assert!(written > 100_000, "{written}");
}

fn read_hostile(seed: u64, canary: &Canary) -> u64 {
    let room = room();
    let mut random = Random(seed);
    let at = |path: &str| room.path().join(path);
    fs::create_dir_all(at("src/a/a")).unwrap();
    fs::create_dir_all(at("src/b/b")).unwrap();
    for path in ["src/a/b", "src/a/a/a", "src/b/a", "src/b/b/b", "src/c"] {
        fs::write(
            at(path),
            vec![b'.'; usize::try_from(random.below(20_000)).unwrap()],
        )
        .unwrap();
    }
    fs::create_dir(at("attic")).unwrap();
    let mut actor = Actor {
        random: Random(random.next()),
        target: at("src"),
        canary: canary.path().to_path_buf(),
        attic: at("attic"),
        links_hard: false,
        acts: Rc::default(),
    };
    let hook = move || {
        if actor.random.chance(10) {
            actor.act();
        }
        Ok(())
    };
    let mut outcome = Outcome::default();
    let mut target = TreeTarget::open(&context(room.path()), b"dst", TARGET).unwrap();
    tests_hook::with(hook, || {
        carry(
            &mut source(room.path(), &["src"]),
            &mut target,
            &mut outcome,
        );
    });
    canary.check(seed);
    outcome.written
}

/// Not between two calls but at any moment: a second thread.
#[test]
fn a_thread_that_races_gets_nothing_outside_touched() {
    let canary = Canary::new();
    let room = room();
    let at = |path: &str| room.path().join(path);
    fs::create_dir_all(at("src/a/a/a")).unwrap();
    fs::create_dir_all(at("dst/src")).unwrap();
    fs::create_dir(at("attic")).unwrap();
    for path in ["src/a/b", "src/a/a/b", "src/a/a/a/b"] {
        fs::write(at(path), vec![b'.'; 10_000]).unwrap();
    }
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| race(&at("dst/src"), canary.path(), &is_over));
        // Also when a check fails, or the other thread would go on for ever.
        let _over = Over(&is_over);
        for round in 0..1000 {
            let options = TargetOptions {
                preserve: round % 2 == 0,
                ..TARGET
            };
            let mut target = TreeTarget::open(&context(room.path()), b"dst", options).unwrap();
            if round % 4 < 2 {
                target.by_steps();
            }
            carry(
                &mut source(room.path(), &["src"]),
                &mut target,
                &mut Outcome::default(),
            );
            canary.check(round);
        }
    });
}

/// Tells the other thread that it is over.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Swaps the folder and the files in it for links to the canary, and back, until it is over.
fn race(folder: &Path, canary: &Path, is_over: &AtomicBool) {
    let (inner, file, spare) = (folder.join("a"), folder.join("a/b"), folder.join("spare"));
    while !is_over.load(Ordering::Relaxed) {
        let _ = fs::rename(&inner, &spare);
        let _ = symlink(canary.join("folder"), &inner);
        let _ = fs::remove_file(&inner);
        // The copy may have made a folder in the place of the link.
        if fs::rename(&spare, &inner).is_err() {
            let _ = fs::remove_dir_all(&spare);
        }
        let is_link = inner
            .symlink_metadata()
            .is_ok_and(|facts| facts.is_symlink());
        if !is_link {
            let _ = symlink(canary.join("a"), &file);
        }
    }
}
