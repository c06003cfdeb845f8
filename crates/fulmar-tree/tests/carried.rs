//! Trees through the protocol: both crates together, with streams in memory that deliver as they like.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use bytes::Bytes;
use fulmar_copy::{
    Answer, Answerer, Arrived, CopyEvent, EntryError, EntryVerdict, Flags, Poll, Receiver, Request,
    Requester, Sender, StreamId, Streams, Totals,
};
use fulmar_tree::{Named, OperandContext, SourceOptions, TargetOptions, TreeSource, TreeTarget};

/// Data streams, and what each holds.
const STREAMS: usize = 4;
const CAPACITY: usize = 200_000;

/// Bytes that an end handles in one turn.
const BUDGET: usize = 100_000;

#[derive(Debug, Default)]
struct Pipe {
    held: VecDeque<Bytes>,
    bytes: usize,
    is_finished: bool,
}

/// One end of all streams; control has a pipe each way, of which the first leads to the receiver.
struct End {
    pipes: Rc<RefCell<Vec<Pipe>>>,
    is_sender: bool,
}

impl End {
    fn pipe(&self, stream: StreamId, is_out: bool) -> usize {
        match stream {
            StreamId::CONTROL => usize::from(is_out != self.is_sender),
            StreamId(number) => usize::from(number) + 1,
        }
    }
}

impl Streams for End {
    fn count(&self) -> usize {
        STREAMS
    }

    fn room(&mut self, stream: StreamId) -> usize {
        CAPACITY.saturating_sub(self.pipes.borrow()[self.pipe(stream, true)].bytes)
    }

    fn write(&mut self, stream: StreamId, bytes: &mut Bytes) {
        let taken = bytes.split_to(bytes.len().min(self.room(stream)));
        let at = self.pipe(stream, true);
        let pipe = &mut self.pipes.borrow_mut()[at];
        pipe.bytes += taken.len();
        if !taken.is_empty() {
            pipe.held.push_back(taken);
        }
    }

    fn read(&mut self, stream: StreamId, limit: usize) -> Arrived {
        let at = self.pipe(stream, false);
        let pipe = &mut self.pipes.borrow_mut()[at];
        let Some(front) = pipe.held.front_mut() else {
            return if pipe.is_finished {
                Arrived::Ended
            } else {
                Arrived::Nothing
            };
        };
        let taken = front.split_to(front.len().min(limit));
        if front.is_empty() {
            pipe.held.pop_front();
        }
        pipe.bytes -= taken.len();
        Arrived::Bytes(taken)
    }

    fn finish(&mut self, stream: StreamId) {
        let at = self.pipe(stream, true);
        self.pipes.borrow_mut()[at].is_finished = true;
    }
}

fn context(base: &Path) -> OperandContext {
    OperandContext {
        base: Some(File::open(base).unwrap().into()),
        patterns: true,
        home: None,
    }
}

fn ends() -> (End, End) {
    let pipes: Vec<Pipe> = (0..STREAMS + 2).map(|_| Pipe::default()).collect();
    let pipes = Rc::new(RefCell::new(pipes));
    let sender = End {
        pipes: Rc::clone(&pipes),
        is_sender: true,
    };
    (
        sender,
        End {
            pipes,
            is_sender: false,
        },
    )
}

const FLAGS: Flags = Flags::RECURSIVE
    .union(Flags::PRESERVE)
    .union(Flags::RESUME)
    .union(Flags::FOLLOW);

/// The outcome of a download. It is interrupted after `turns` of both ends.
struct Copied {
    troubles: Vec<EntryError>,
    totals: Option<Totals>,
    carried: u64,
}

fn copy(base: &Path, operands: &[&str], target: &str, turns: usize) -> Copied {
    let operands: Vec<Vec<u8>> = operands
        .iter()
        .map(|operand| operand.as_bytes().to_vec())
        .collect();
    let (mut remote, mut local) = ends();
    let mut requester = Requester::new(Request::Get {
        operands: operands.clone(),
        flags: FLAGS,
    })
    .unwrap();
    let mut answerer = Answerer::new();
    let _ = requester.poll(&mut local).unwrap();
    assert!(answerer.poll(&mut remote).unwrap().is_some());
    answerer.answer(&Answer::Ready { into_folder: true });
    let asked = operands.clone();
    let allowed = move |operand: u32, name: &[u8]| {
        let operand = &asked[operand as usize];
        Named::by(operand).allows(operand, name)
    };
    let mut sender = Sender::answering(answerer);
    let mut source = TreeSource::new(
        context(base),
        operands,
        SourceOptions {
            recursive: true,
            follow: true,
        },
    );
    let options = TargetOptions {
        recursive: true,
        preserve: true,
        resume: true,
        ..TargetOptions::default()
    };
    let mut target = TreeTarget::open(&context(base), target.as_bytes(), options).unwrap();
    sender.poll(&mut source, &mut remote, BUDGET).unwrap();
    assert_eq!(
        requester.poll(&mut local).unwrap(),
        Some(Answer::Ready { into_folder: true })
    );
    let mut receiver = Receiver::new(requester, Box::new(allowed));
    let mut troubles = Vec::new();
    for _ in 0..turns {
        let sent = sender.poll(&mut source, &mut remote, BUDGET).unwrap();
        let received = receiver.poll(&mut target, &mut local, BUDGET).unwrap();
        while sender.poll_event().is_some() {}
        while let Some(event) = receiver.poll_event() {
            match event {
                CopyEvent::EntryError(trouble)
                | CopyEvent::Settled {
                    verdict: EntryVerdict::Failed { error: trouble, .. },
                    ..
                } => troubles.push(trouble),
                _ => {}
            }
        }
        if (sent, received) == (Poll::Done, Poll::Done) {
            let totals = receiver.totals();
            return Copied {
                troubles,
                totals,
                carried: receiver.progress().bytes_carried,
            };
        }
    }
    receiver.interrupt(&mut target);
    Copied {
        troubles,
        totals: None,
        carried: receiver.progress().bytes_carried,
    }
}

/// Kind and mode, time, content.
type Seen = (u32, (i64, i64), Vec<u8>);

/// Everything below a folder.
fn snapshot(root: &Path) -> BTreeMap<PathBuf, Seen> {
    let mut seen = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let facts = path.symlink_metadata().unwrap();
            let content = if facts.is_dir() {
                folders.push(path.clone());
                Vec::new()
            } else if facts.is_symlink() {
                path.read_link()
                    .unwrap()
                    .into_os_string()
                    .into_encoded_bytes()
            } else {
                fs::read(&path).unwrap()
            };
            let below = path.strip_prefix(root).unwrap().to_path_buf();
            seen.insert(
                below,
                (facts.mode(), (facts.mtime(), facts.mtime_nsec()), content),
            );
        }
    }
    seen
}

/// Some hundred small files, one large one, one with holes, links and empty folders.
fn world() -> tempfile::TempDir {
    let world = tempfile::tempdir().unwrap();
    let at = |path: &str| world.path().join(path);
    fs::create_dir(at("dst")).unwrap();
    for folder in 0..10 {
        fs::create_dir_all(at(&format!("src/{folder}/empty"))).unwrap();
        for file in 0..30 {
            fs::write(
                at(&format!("src/{folder}/{file}")),
                format!("{folder} {file}").repeat(file * 10),
            )
            .unwrap();
        }
        symlink("../0/1", at(&format!("src/{folder}/link"))).unwrap();
    }
    let large: Vec<u8> = (0..5_000_000_u32)
        .map(|at| (at.wrapping_mul(2_654_435_761) >> 24).to_le_bytes()[0])
        .collect();
    fs::write(at("src/large"), large).unwrap();
    let sparse = File::create(at("src/sparse")).unwrap();
    sparse.write_all_at(b"in a hole", 6 << 20).unwrap();
    sparse.set_len(20 << 20).unwrap();
    world
}

#[test]
fn a_tree_goes_through_the_protocol_as_it_is() {
    let world = world();
    let copied = copy(world.path(), &["src"], "dst", 100_000);
    assert_eq!(copied.troubles, []);
    let totals = copied.totals.unwrap();
    assert_eq!(
        (totals.files, totals.folders, totals.links, totals.troubles),
        (302, 21, 10, 0)
    );
    assert!(snapshot(&world.path().join("src")) == snapshot(&world.path().join("dst/src")));
    let blocks = world
        .path()
        .join("dst/src/sparse")
        .metadata()
        .unwrap()
        .blocks();
    assert!(blocks * 512 < 1 << 20, "{blocks} blocks");
    // Once more: all of it is there.
    let again = copy(world.path(), &["src"], "dst", 100_000);
    assert_eq!(
        (again.troubles.len(), again.totals.unwrap().troubles),
        (0, 0)
    );
    assert!(snapshot(&world.path().join("src")) == snapshot(&world.path().join("dst/src")));
}

#[test]
fn a_copy_that_is_interrupted_again_and_again_gets_there() {
    let world = world();
    let mut interrupted = 0;
    for turns in (5..).step_by(9) {
        let copied = copy(world.path(), &["src"], "dst", turns);
        assert_eq!(copied.troubles, [], "{turns} turns");
        if copied.totals.is_some() {
            break;
        }
        interrupted += 1;
    }
    assert!(interrupted > 3, "{interrupted}");
    assert!(snapshot(&world.path().join("src")) == snapshot(&world.path().join("dst/src")));
}

/// Patterns are expanded at the remote end, and the files come under names that this end would have allowed.
#[test]
fn patterns_and_contents_come_under_their_own_names() {
    let world = world();
    let copied = copy(
        world.path(),
        &["src/0/1?", "src/1/.", "src/nothing*"],
        "dst",
        100_000,
    );
    let places: Vec<_> = copied
        .troubles
        .iter()
        .map(|trouble| trouble.place.as_slice())
        .collect();
    // Names in the second operand are called like those of the first.
    assert!(
        places.contains(&b"src/nothing*".as_slice()),
        "{:?}",
        copied.troubles
    );
    assert_eq!(places.len(), 11, "{:?}", copied.troubles);
    assert_eq!(
        fs::read(world.path().join("dst/12")).unwrap(),
        fs::read(world.path().join("src/0/12")).unwrap()
    );
    assert_eq!(
        fs::read(world.path().join("dst/2")).unwrap(),
        fs::read(world.path().join("src/1/2")).unwrap()
    );
    assert!(copied.carried > 0);
}
