//! A receiver whose peer keeps to no rule (docs/copy-protocol.md §9).

mod arbitrary;
mod resume_offers;

use bytes::BytesMut;

use super::*;
use crate::answer::Answer;
use crate::codec::{Ending, data_head};
use crate::digest::{Digest, SequentialDigest};
use crate::entry::Timestamp;
use crate::entry_error::{EntryError, EntryErrorKind};
use crate::limits::{CHUNK_BYTES_MIN, EVENTS_MAX, LARGE_FILES_MAX, SIZE_MAX};
use crate::request::Request;
use crate::support::memory::{MemoryTarget, Partial};
use crate::support::streams::{End, Link};
use crate::support::tree::{Node, path};

const CHUNK: u64 = CHUNK_BYTES_MIN;
const LARGE: u64 = CHUNK + 100;
const ALL: Flags = Flags::RECURSIVE.union(Flags::RESUME);

/// A frame that the peer sends.
#[derive(Debug, Clone)]
enum Sent {
    Frame(u8, Frame),
    Data(u8, u64, u64, usize),
    /// Data that is not what the file should have.
    Spoilt(u8, u64, u64, usize),
    Finish(u8),
    Raw(u8, Vec<u8>),
}

struct Attack {
    link: Link,
    peer: End,
    ours: End,
    receiver: Receiver,
    target: MemoryTarget,
}

impl Attack {
    fn new(flags: Flags) -> Self {
        let link = Link::new(&[1 << 20, 1 << 20]);
        let (peer, mut ours) = (link.sender(), link.receiver());
        let hello = Frame::Hello {
            version: 1,
            features: 0,
        };
        let request = Frame::Request(Request::Put {
            target: Vec::new(),
            flags,
        });
        peer.inject(StreamId::CONTROL, encoded(&[hello, request]));
        let mut answerer = Answerer::new();
        assert!(matches!(answerer.poll(&mut ours), Ok(Some(_))));
        answerer.answer(&Answer::Ready { into_folder: true });
        let receiver = Receiver::answering(answerer, Box::new(|_, root| root == b"r"));
        Self {
            link,
            peer,
            ours,
            receiver,
            target: MemoryTarget::default(),
        }
    }

    fn send(&mut self, sent: &Sent) {
        match sent {
            Sent::Frame(stream, frame) => self
                .peer
                .inject(StreamId(*stream), encoded(std::slice::from_ref(frame))),
            Sent::Data(stream, id, offset, length) => {
                self.data(*stream, *id, *offset, pattern(*id, *offset, *length))
            }
            Sent::Spoilt(stream, id, offset, length) => {
                self.data(*stream, *id, *offset, vec![0xEE; *length])
            }
            Sent::Finish(stream) => self.peer.finish(StreamId(*stream)),
            Sent::Raw(stream, bytes) => self.peer.inject(StreamId(*stream), bytes.clone()),
        }
    }

    fn data(&self, stream: u8, id: u64, offset: u64, bytes: Vec<u8>) {
        let mut out = BytesMut::new();
        data_head(&mut out, id, offset, bytes.len());
        out.extend_from_slice(&bytes);
        self.peer.inject(StreamId(stream), out.freeze());
    }

    /// All that comes of what has been sent.
    fn turn(&mut self) -> Result<Poll, ProtocolError> {
        loop {
            let turn = self
                .receiver
                .poll(&mut self.target, &mut self.ours, usize::MAX)?;
            if turn != Poll::More {
                return Ok(turn);
            }
        }
    }

    fn run(&mut self, sent: &[Sent]) -> Result<Poll, ProtocolError> {
        let mut turn = self.turn();
        for sent in sent {
            if turn.is_ok() {
                self.send(sent);
                turn = self.turn();
            }
        }
        turn
    }

    fn failures(&mut self) -> Vec<EntryErrorKind> {
        let events = std::iter::from_fn(|| self.receiver.poll_event());
        events
            .filter_map(|event| match event {
                CopyEvent::Settled {
                    verdict: EntryVerdict::Failed { error: trouble, .. },
                    ..
                } => Some(trouble.kind),
                _ => None,
            })
            .collect()
    }
}

fn encoded(frames: &[Frame]) -> BytesMut {
    let mut out = BytesMut::new();
    frames.iter().for_each(|frame| frame.encode(&mut out));
    out
}

/// Returns a file's content: other bytes for each.
fn pattern(id: u64, offset: u64, length: usize) -> Vec<u8> {
    (offset..)
        .take(length)
        .map(|at| (at ^ (at >> 8) ^ (id << 3)) as u8 | 1)
        .collect()
}

fn named(id: u64, name: &str, kind: EntryKind) -> Frame {
    let modified = Timestamp::default();
    Frame::Entry(
        EntryId(id),
        Entry {
            operand: 0,
            path: path(name),
            kind,
            mode: 0o644,
            modified,
        },
    )
}

fn file(id: u64, size: u64) -> Frame {
    named(id, &format!("r/{id}"), EntryKind::File { size: Some(size) })
}

fn folder(id: u64) -> Frame {
    named(id, "r", EntryKind::Folder)
}

fn digest(id: u64, size: u64) -> Digest {
    let mut digest = SequentialDigest::new(CHUNK);
    let mut at = 0;
    while at < size {
        let part = digest.room().min(size - at);
        digest.update(&pattern(id, at, part as usize));
        at += part;
    }
    digest.finish(size)
}

fn end(id: u64, size: u64, digest: Digest) -> Frame {
    Frame::End {
        id: EntryId(id),
        ending: Ending::Whole {
            size,
            digest,
            is_changed: false,
        },
    }
}

fn on(stream: u8, frame: Frame) -> Sent {
    Sent::Frame(stream, frame)
}

fn finished(entries: u64) -> Sent {
    on(0, Frame::Finished { entries })
}

fn zeros(stream: u8, id: u64, offset: u64, length: u64) -> Sent {
    on(
        stream,
        Frame::Zeros {
            id: EntryId(id),
            offset,
            length,
        },
    )
}

/// The first chunk in frames of 64 KiB.
fn chunk(stream: u8, id: u64) -> Vec<Sent> {
    (0..CHUNK >> 16)
        .map(|part| Sent::Data(stream, id, part << 16, 1 << 16))
        .collect()
}

fn table() -> Vec<(&'static str, Vec<Sent>, ProtocolError)> {
    let small = || on(1, file(0, 10));
    let large = |stream| on(stream, file(0, LARGE));
    let bad = Digest([9; 32]);
    let window = WINDOW_ENTRIES;
    vec![
        (
            "data of nothing",
            vec![Sent::Data(1, 0, 0, 1)],
            ProtocolError::UnknownEntry,
        ),
        (
            "zeros of nothing",
            vec![zeros(1, 0, 0, 1)],
            ProtocolError::UnknownEntry,
        ),
        (
            "end of nothing",
            vec![on(1, end(0, 0, bad))],
            ProtocolError::UnknownEntry,
        ),
        (
            "data of another stream's file",
            vec![small(), Sent::Data(2, 0, 0, 1)],
            ProtocolError::UnknownEntry,
        ),
        (
            "a number beyond the window",
            vec![on(1, folder(window))],
            ProtocolError::BeyondWindow,
        ),
        (
            "the highest number",
            vec![on(1, folder(SIZE_MAX))],
            ProtocolError::BeyondWindow,
        ),
        (
            "a number twice on a stream",
            vec![small(), small()],
            ProtocolError::EntryTwice,
        ),
        (
            "a number twice on two streams",
            vec![small(), on(2, file(0, 10))],
            ProtocolError::EntryTwice,
        ),
        (
            "a folder with a file's number",
            vec![small(), on(2, folder(0))],
            ProtocolError::EntryTwice,
        ),
        (
            "a large file that differs",
            vec![large(1), on(2, file(0, LARGE + 1))],
            ProtocolError::EntryTwice,
        ),
        (
            "left twice",
            vec![
                on(1, named(5, "r", EntryKind::Leave)),
                on(1, named(5, "r", EntryKind::Leave)),
            ],
            ProtocolError::EntryTwice,
        ),
        (
            "a file in a file",
            vec![small(), on(1, file(1, 10))],
            ProtocolError::Unfinished,
        ),
        (
            "a folder in a file",
            vec![small(), on(1, folder(1))],
            ProtocolError::Unfinished,
        ),
        (
            "a gap",
            vec![small(), Sent::Data(1, 0, 1, 1)],
            ProtocolError::OutOfOrder,
        ),
        (
            "the same again",
            vec![small(), Sent::Data(1, 0, 0, 4), Sent::Data(1, 0, 0, 4)],
            ProtocolError::OutOfOrder,
        ),
        (
            "more than the file",
            vec![small(), Sent::Data(1, 0, 0, 11)],
            ProtocolError::Overrun,
        ),
        (
            "more zeros than the file",
            vec![small(), zeros(1, 0, 0, SIZE_MAX)],
            ProtocolError::Overrun,
        ),
        (
            "the highest offset",
            vec![small(), zeros(1, 0, SIZE_MAX - 1, 1)],
            ProtocolError::OutOfOrder,
        ),
        (
            "an end too early",
            vec![small(), on(1, end(0, 10, digest(0, 10)))],
            ProtocolError::Incomplete,
        ),
        (
            "an end of another size",
            vec![
                small(),
                Sent::Data(1, 0, 0, 4),
                on(1, end(0, 4, digest(0, 4))),
            ],
            ProtocolError::Incomplete,
        ),
        (
            "within a chunk",
            vec![large(1), Sent::Data(1, 0, 1, 1)],
            ProtocolError::OutOfOrder,
        ),
        (
            "behind the last chunk",
            vec![large(1), Sent::Data(1, 0, LARGE, 1)],
            ProtocolError::OutOfOrder,
        ),
        (
            "over a chunk's end",
            vec![large(1), zeros(1, 0, 0, CHUNK + 1)],
            ProtocolError::Overrun,
        ),
        (
            "over the last chunk's end",
            vec![large(1), zeros(1, 0, CHUNK, 101)],
            ProtocolError::Overrun,
        ),
        (
            "a chunk on two streams",
            vec![large(1), Sent::Data(1, 0, 0, 1), Sent::Data(2, 0, 0, 1)],
            ProtocolError::OutOfOrder,
        ),
        (
            "a chunk twice",
            vec![large(1), zeros(1, 0, 0, CHUNK), zeros(1, 0, 0, CHUNK)],
            ProtocolError::OutOfOrder,
        ),
        (
            "a chunk in a chunk",
            vec![large(1), Sent::Data(1, 0, 0, 1), Sent::Data(1, 0, CHUNK, 1)],
            ProtocolError::OutOfOrder,
        ),
        (
            "a large end of another size",
            vec![large(1), on(1, end(0, CHUNK, bad))],
            ProtocolError::Incomplete,
        ),
        (
            "a large end twice",
            vec![
                large(1),
                on(1, end(0, LARGE, bad)),
                on(2, end(0, LARGE, bad)),
            ],
            ProtocolError::EntryTwice,
        ),
        (
            "finished twice",
            vec![finished(3), finished(3)],
            ProtocolError::Misplaced("Finished"),
        ),
        (
            "finished below what came",
            vec![on(1, folder(1)), finished(1)],
            ProtocolError::BeyondWindow,
        ),
        (
            "an entry behind the last",
            vec![finished(1), on(1, folder(1))],
            ProtocolError::BeyondWindow,
        ),
        (
            "trouble behind the end",
            vec![
                finished(1),
                on(0, Frame::EntryError(EntryError::new(EntryErrorKind::Io))),
            ],
            ProtocolError::Misplaced("EntryError"),
        ),
        (
            "left out",
            vec![finished(1), Sent::Finish(1), Sent::Finish(2)],
            ProtocolError::Incomplete,
        ),
        (
            "a file left open",
            vec![small(), finished(1), Sent::Finish(1), Sent::Finish(2)],
            ProtocolError::Incomplete,
        ),
        (
            "no end",
            vec![small(), Sent::Finish(0)],
            ProtocolError::EndedEarly,
        ),
        (
            "an end within a frame",
            vec![Sent::Raw(1, vec![0x11, 9]), Sent::Finish(1)],
            ProtocolError::EndedEarly,
        ),
        (
            "noise",
            vec![Sent::Raw(2, b"SSH-2.0-x".to_vec())],
            ProtocolError::UnknownFrame(b'S'),
        ),
        (
            "data for control",
            vec![Sent::Data(0, 0, 0, 1)],
            ProtocolError::Misplaced("Data"),
        ),
        (
            "a second greeting",
            vec![on(
                0,
                Frame::Hello {
                    version: 1,
                    features: 0,
                },
            )],
            ProtocolError::Misplaced("Hello"),
        ),
    ]
}

#[test]
fn each_broken_rule_ends_the_copy_with_its_name() {
    for (name, sent, wrong) in table() {
        let mut attack = Attack::new(ALL);
        assert_eq!(attack.run(&sent), Err(wrong), "{name}");
        attack.receiver.interrupt(&mut attack.target);
        assert!(attack.target.is_idle(), "{name}: every file is abandoned");
        let is_file = |node: &Node| matches!(node, Node::File { .. });
        assert!(
            !attack.target.tree.values().any(is_file),
            "{name}: no file has its name"
        );
    }
}

#[test]
fn frames_of_the_other_end_or_stream_are_out_of_place() {
    let id = EntryId(0);
    let anywhere = [
        Frame::Ready { into_folder: true },
        Frame::Refused(EntryError::new(EntryErrorKind::Io)),
        Frame::Have {
            id,
            first: 0,
            digests: vec![Digest([0; 32])],
        },
        Frame::Settled {
            first: id,
            count: 1,
        },
        Frame::Failed {
            id,
            trouble: EntryError::new(EntryErrorKind::Io),
        },
        Frame::Done(Totals::default()),
        Frame::Request(Request::Put {
            target: Vec::new(),
            flags: ALL,
        }),
    ];
    let on_control = [folder(0), file(0, 1), end(0, 1, Digest([0; 32]))];
    let on_data = [
        Frame::Finished { entries: 0 },
        Frame::EntryError(EntryError::new(EntryErrorKind::Io)),
    ];
    let with = |stream, frames: &[Frame]| {
        frames
            .iter()
            .map(|frame| on(stream, frame.clone()))
            .collect::<Vec<_>>()
    };
    let cases = [
        with(0, &anywhere),
        with(1, &anywhere),
        with(0, &on_control),
        with(1, &on_data),
    ];
    for sent in cases.concat() {
        let Sent::Frame(_, frame) = &sent else {
            continue;
        };
        let wrong = ProtocolError::Misplaced(frame.name());
        assert_eq!(
            Attack::new(ALL).run(std::slice::from_ref(&sent)),
            Err(wrong),
            "{sent:?}"
        );
    }
}

#[test]
fn what_is_not_verified_gets_no_name() {
    let mut parts = chunk(1, 1);
    parts[3] = Sent::Spoilt(1, 1, 3 << 16, 1 << 16);
    let large = [
        vec![on(1, file(1, LARGE))],
        parts,
        vec![Sent::Data(2, 1, CHUNK, 100)],
    ]
    .concat();
    let cases = [
        vec![
            on(1, file(0, 4)),
            Sent::Spoilt(1, 0, 0, 4),
            on(1, end(0, 4, digest(0, 4))),
        ],
        vec![
            on(1, file(0, 4)),
            Sent::Data(1, 0, 0, 4),
            on(1, end(0, 4, Digest([0; 32]))),
        ],
        vec![on(1, file(0, 0)), on(1, end(0, 0, Digest([0; 32])))],
        [
            vec![on(2, folder(0))],
            large,
            vec![on(1, end(1, LARGE, digest(1, LARGE)))],
        ]
        .concat(),
    ];
    for sent in cases {
        let mut attack = Attack::new(ALL);
        assert_eq!(attack.run(&sent), Ok(Poll::Waiting));
        assert_eq!(attack.failures(), [EntryErrorKind::Digest]);
        let is_file = |node: &Node| matches!(node, Node::File { .. });
        assert!(
            !attack.target.tree.values().any(is_file),
            "no file has its name"
        );
        assert!(attack.target.parts.is_empty(), "and nothing of it is kept");
    }
}

#[test]
fn a_good_file_of_the_same_peer_does_get_its_name() {
    let mut attack = Attack::new(ALL);
    let sent = [
        vec![on(1, file(0, LARGE))],
        chunk(1, 0),
        vec![
            Sent::Data(2, 0, CHUNK, 100),
            on(2, end(0, LARGE, digest(0, LARGE))),
            finished(1),
        ],
    ]
    .concat();
    assert_eq!(attack.run(&sent), Ok(Poll::Done));
    let Some(Node::File { content, .. }) = attack.target.tree.get(&path("r/0")) else {
        panic!("it has its name");
    };
    assert_eq!(content[..], pattern(0, 0, LARGE as usize));
}

#[test]
fn a_held_chunk_that_differs_waits_for_the_one_on_its_way() {
    let mut attack = Attack::new(ALL);
    let partial = Partial {
        bytes: vec![9; CHUNK as usize],
        written: std::iter::once(0..CHUNK).collect(),
    };
    let key = (path("r/0"), Some(LARGE), Timestamp::default());
    attack.target.parts.insert(key, partial);
    let last = [
        on(1, file(0, LARGE)),
        Sent::Data(1, 0, CHUNK, 100),
        on(1, end(0, LARGE, digest(0, LARGE))),
    ];
    assert_eq!(attack.run(&last), Ok(Poll::Waiting));
    assert_eq!(attack.receiver.progress().bytes_held, CHUNK);
    let first = [vec![on(2, file(0, LARGE))], chunk(2, 0), vec![finished(1)]].concat();
    assert_eq!(attack.run(&first), Ok(Poll::Done));
    assert!(attack.target.tree.contains_key(&path("r/0")));
}

#[test]
fn only_what_was_asked_for_comes_into_being() {
    let file = |name: &str| on(1, named(0, name, EntryKind::File { size: Some(0) }));
    let link = on(
        1,
        named(
            0,
            "x",
            EntryKind::Link {
                target: b"/".to_vec(),
            },
        ),
    );
    let cases = [
        (ALL, file("x")),
        (ALL, file("x/r")),
        (ALL, on(1, named(0, "R", EntryKind::Folder))),
        (ALL, link),
        (ALL, on(1, named(0, "x", EntryKind::Leave))),
        (Flags::empty(), on(1, folder(0))),
        (Flags::empty(), file("r/below")),
        (Flags::DRY_RUN, file("x")),
    ];
    for (flags, sent) in cases {
        let mut attack = Attack::new(flags);
        assert_eq!(
            attack.run(std::slice::from_ref(&sent)),
            Ok(Poll::Waiting),
            "{sent:?}"
        );
        assert_eq!(attack.failures(), [EntryErrorKind::NotAsked], "{sent:?}");
        assert!(
            attack.target.tree.is_empty() && attack.target.is_idle(),
            "{sent:?}"
        );
        assert_eq!(attack.target.looked, 0, "{sent:?}");
    }
}

#[test]
fn in_order_is_a_rule_for_the_sender() {
    let large = || on(1, file(0, 2 * LARGE));
    let cases = [
        (vec![on(2, file(0, 1))], ProtocolError::Misplaced("File")),
        (
            vec![large(), Sent::Data(1, 0, CHUNK, 1)],
            ProtocolError::OutOfOrder,
        ),
        (vec![large(), on(1, file(1, 1))], ProtocolError::Unfinished),
        (
            vec![large(), on(1, file(1, LARGE))],
            ProtocolError::Unfinished,
        ),
    ];
    for (sent, wrong) in cases {
        assert_eq!(
            Attack::new(ALL | Flags::IN_ORDER).run(&sent),
            Err(wrong),
            "{sent:?}"
        );
    }
}

#[test]
fn sizes_that_no_sum_holds_are_counted_to_the_end() {
    let mut attack = Attack::new(ALL | Flags::DRY_RUN);
    let sent = [
        (0..8).map(|id| on(1, file(id, SIZE_MAX))).collect(),
        vec![finished(8)],
    ]
    .concat();
    assert_eq!(attack.run(&sent), Ok(Poll::Done));
    assert_eq!(attack.receiver.progress().bytes_known, u64::MAX);
    assert_eq!(
        attack.receiver.totals().map(|totals| totals.bytes),
        Some(SIZE_MAX)
    );
}

#[test]
fn a_stream_that_floods_leaves_the_others_their_share() {
    let mut attack = Attack::new(ALL);
    attack.send(&on(1, file(0, 4 * CHUNK)));
    for part in 0..64 {
        attack.send(&Sent::Data(1, 0, part << 16, 1 << 16));
    }
    attack.send(&on(2, file(1, 0)));
    attack.send(&on(2, end(1, 0, digest(1, 0))));
    let budget = 2 * STREAM_SHARE_BYTES;
    let turn = attack
        .receiver
        .poll(&mut attack.target, &mut attack.ours, budget);
    assert_eq!(turn, Ok(Poll::More));
    assert!(attack.target.tree.contains_key(&path("r/1")));
    assert!(attack.receiver.progress().bytes <= budget as u64);
}

#[test]
fn one_path_is_one_file_at_a_time() {
    let mut attack = Attack::new(ALL);
    let twice = [
        on(1, file(0, 10)),
        on(2, named(1, "r/0", EntryKind::File { size: Some(9) })),
    ];
    assert_eq!(attack.run(&twice), Ok(Poll::Waiting));
    assert_eq!(attack.failures(), [EntryErrorKind::Taken]);
    let more = [
        Sent::Data(2, 1, 0, 9),
        Sent::Data(1, 0, 0, 10),
        on(1, end(0, 10, digest(0, 10))),
    ];
    assert_eq!(attack.run(&more), Ok(Poll::Waiting));
    assert!(attack.target.tree.contains_key(&path("r/0")));
}

#[test]
fn as_many_large_files_are_open_as_may_be() {
    let mut attack = Attack::new(ALL);
    for id in 0..LARGE_FILES_MAX as u64 {
        assert_eq!(attack.run(&[on(1, file(id, LARGE))]), Ok(Poll::Waiting));
    }
    let last = [on(1, file(LARGE_FILES_MAX as u64, LARGE))];
    assert_eq!(attack.run(&last), Err(ProtocolError::TooManyFiles));
    assert_eq!(attack.target.open_max, LARGE_FILES_MAX);
}

#[test]
fn who_has_filled_the_disk_leaves_the_room_to_the_rest() {
    let mut attack = Attack::new(ALL);
    attack.target.full.insert(path("r/0"));
    let begun = [on(1, file(0, LARGE)), Sent::Data(1, 0, 0, 900)];
    assert_eq!(attack.run(&begun), Ok(Poll::Waiting));
    assert_eq!(attack.failures(), []);
    assert_eq!(attack.run(&[Sent::Data(1, 0, 900, 900)]), Ok(Poll::Waiting));
    assert_eq!(attack.failures(), [EntryErrorKind::DiskFull]);
    assert!(attack.target.parts.is_empty(), "nothing of it is kept");
}

#[test]
fn a_hole_that_never_ends_is_work_for_nobody() {
    let mut attack = Attack::new(ALL);
    let size = SIZE_MAX;
    let chunks = crate::chunks::Chunks::new(size);
    attack.target.full.insert(path("r/0"));
    let sent = [on(1, file(0, size)), zeros(1, 0, 0, chunks.length(0))];
    assert_eq!(attack.run(&sent), Ok(Poll::Waiting));
    assert_eq!(attack.failures(), [EntryErrorKind::DiskFull]);
}

#[test]
fn a_sender_that_does_not_listen_is_not_listened_to() {
    // Answers that nobody takes: nothing is read any more, so little is held.
    let link = Link::new(&[1 << 30]);
    let (peer, mut ours) = (link.sender(), link.receiver());
    let hello = Frame::Hello {
        version: 1,
        features: 0,
    };
    let request = Frame::Request(Request::Put {
        target: Vec::new(),
        flags: ALL,
    });
    peer.inject(StreamId::CONTROL, encoded(&[hello, request]));
    let mut answerer = Answerer::new();
    assert!(answerer.poll(&mut ours).is_ok());
    let mut receiver = Receiver::answering(answerer, Box::new(|_, _| false));
    let mut target = MemoryTarget::default();
    for id in 0..100_000 {
        peer.inject(StreamId(1), encoded(&[folder(id)]));
        if id % 1000 == 0 {
            receiver.poll(&mut target, &mut ours, 1 << 20).unwrap();
            while receiver.poll_event().is_some() {}
        }
    }
    let held = receiver.control.outbox.waiting();
    assert!(held < 2 * CONTROL_WAITING_BYTES, "{held} bytes are held");
}

#[test]
fn news_that_nobody_fetches_keep_what_makes_more_from_being_read() {
    let mut attack = Attack::new(ALL);
    let trouble = on(
        0,
        Frame::EntryError(EntryError::new(EntryErrorKind::Missing)),
    );
    for _ in 0..EVENTS_MAX + 1 {
        attack.send(&trouble);
    }
    let mut fetched = |expected: usize| {
        for _ in 0..100 {
            let turn = attack
                .receiver
                .poll(&mut attack.target, &mut attack.ours, usize::MAX);
            assert!(turn.is_ok(), "{turn:?}");
        }
        let news = std::iter::from_fn(|| attack.receiver.poll_event());
        assert_eq!(news.count(), expected);
    };
    fetched(EVENTS_MAX);
    fetched(1);
    fetched(0);
}
