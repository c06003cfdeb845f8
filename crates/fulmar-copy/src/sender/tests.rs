//! A sender whose peer keeps to no rule (docs/copy-protocol.md §9), and what a sender does by itself.

use bytes::BytesMut;
use proptest::prelude::*;

use super::*;
use crate::digest::Digest;
use crate::entry_error::EntryErrorKind;
use crate::limits::{CHUNK_BYTES_MIN, SIZE_MAX, WALKED_AHEAD_MAX, WINDOW_ENTRIES};
use crate::request::Request;
use crate::streams::Arrived;
use crate::support::memory::MemorySource;
use crate::support::streams::{End, Link};
use crate::support::tree::{Node, Tree, file, path};

const CHUNK: usize = CHUNK_BYTES_MIN as usize;

struct Attack {
    link: Link,
    peer: End,
    ours: End,
    sender: Sender,
    source: MemorySource,
}

/// A folder with a small file and one of three chunks.
fn tree() -> Tree {
    let large = vec![7; 2 * CHUNK + 5];
    Tree::from([
        (path("r"), Node::Folder { mode: 0o755 }),
        (path("r/a"), file("small")),
        (path("r/b"), file(large)),
    ])
}

impl Attack {
    /// With streams of that capacity.
    fn new(tree: &Tree, capacities: &[usize]) -> Self {
        Self::with(tree, capacities, Flags::RECURSIVE)
    }

    fn with(tree: &Tree, capacities: &[usize], flags: Flags) -> Self {
        let link = Link::new(capacities);
        let (ours, peer) = (link.sender(), link.receiver());
        let request = Request::Put {
            target: Vec::new(),
            flags,
        };
        let sender = Sender::new(Requester::new(request).unwrap());
        Self {
            link,
            peer,
            ours,
            sender,
            source: MemorySource::of(tree),
        }
    }

    /// The peer has greeted and is ready.
    fn ready(tree: &Tree, capacities: &[usize]) -> Self {
        let mut attack = Self::new(tree, capacities);
        let said = [hello(1), Frame::Ready { into_folder: true }];
        assert_eq!(attack.run(&said), Ok(Poll::Waiting));
        attack
    }

    fn turn(&mut self) -> Result<Poll, ProtocolError> {
        loop {
            let turn = self
                .sender
                .poll(&mut self.source, &mut self.ours, usize::MAX)?;
            self.link.deliver_all();
            if turn != Poll::More {
                return Ok(turn);
            }
        }
    }

    fn run(&mut self, said: &[Frame]) -> Result<Poll, ProtocolError> {
        let mut turn = self.turn();
        for frame in said {
            let mut out = BytesMut::new();
            frame.encode(&mut out);
            self.peer.inject(StreamId::CONTROL, out.freeze());
            turn = turn.and_then(|_| self.turn());
        }
        turn
    }
}

fn hello(version: u64) -> Frame {
    Frame::Hello {
        version,
        features: 0,
    }
}

fn settled(first: u64, count: u64) -> Frame {
    Frame::Settled {
        first: EntryId(first),
        count,
    }
}

fn failed(id: u64) -> Frame {
    Frame::Failed {
        id: EntryId(id),
        trouble: EntryError::new(EntryErrorKind::Io),
    }
}

fn have(id: u64, first: u64, count: usize) -> Frame {
    Frame::Have {
        id: EntryId(id),
        first,
        digests: vec![Digest([5; 32]); count],
    }
}

/// A copy whose streams are wide, so that everything is sent: entries 0 to 3.
fn everything_sent() -> Attack {
    Attack::ready(&tree(), &[8 * CHUNK, 8 * CHUNK])
}

#[test]
fn each_broken_rule_ends_the_copy_with_its_name() {
    let done = || Frame::Done(Totals::default());
    let cases = [
        (
            "settled what never was",
            vec![settled(4, 1)],
            ProtocolError::NotSent,
        ),
        (
            "settled beyond the last",
            vec![settled(0, 5)],
            ProtocolError::NotSent,
        ),
        (
            "settled the highest",
            vec![settled(SIZE_MAX, WINDOW_ENTRIES)],
            ProtocolError::NotSent,
        ),
        (
            "settled twice",
            vec![settled(0, 2), settled(1, 1)],
            ProtocolError::NotSent,
        ),
        (
            "failed what never was",
            vec![failed(4)],
            ProtocolError::NotSent,
        ),
        (
            "failed twice",
            vec![failed(1), failed(1)],
            ProtocolError::NotSent,
        ),
        (
            "failed and settled",
            vec![failed(1), settled(1, 1)],
            ProtocolError::NotSent,
        ),
        (
            "has what never was",
            vec![have(4, 0, 1)],
            ProtocolError::NotSent,
        ),
        (
            "has the highest",
            vec![have(SIZE_MAX, SIZE_MAX, 1)],
            ProtocolError::NotSent,
        ),
        ("done too early", vec![done()], ProtocolError::Incomplete),
        (
            "ready twice",
            vec![Frame::Ready { into_folder: true }],
            ProtocolError::Misplaced("Ready"),
        ),
        (
            "refused too late",
            vec![Frame::Refused(EntryError::new(EntryErrorKind::Io))],
            ProtocolError::Misplaced("Refused"),
        ),
        (
            "a second greeting",
            vec![hello(1)],
            ProtocolError::Misplaced("Hello"),
        ),
        (
            "sends",
            vec![Frame::Finished { entries: 0 }],
            ProtocolError::Misplaced("Finished"),
        ),
        (
            "has trouble",
            vec![Frame::EntryError(EntryError::new(EntryErrorKind::Io))],
            ProtocolError::Misplaced("EntryError"),
        ),
    ];
    for (name, said, wrong) in cases {
        assert_eq!(everything_sent().run(&said), Err(wrong), "{name}");
    }
}

#[test]
fn before_the_answer_nothing_else_is_heard() {
    let cases = [
        (vec![hello(2)], ProtocolError::Version(2)),
        (
            vec![Frame::Ready { into_folder: true }],
            ProtocolError::Misplaced("Ready"),
        ),
        (
            vec![hello(1), settled(0, 1)],
            ProtocolError::Misplaced("Settled"),
        ),
        (
            vec![hello(1), have(0, 0, 1)],
            ProtocolError::Misplaced("Have"),
        ),
    ];
    for (said, wrong) in cases {
        assert_eq!(Attack::new(&tree(), &[CHUNK]).run(&said), Err(wrong));
    }
}

#[test]
fn what_is_still_being_sent_cannot_be_settled() {
    // 100 bytes are on their way, and nobody takes them.
    let link = Link::new(&[100]);
    let mut attack = Attack {
        link,
        ..Attack::new(&tree(), &[100])
    };
    (attack.ours, attack.peer) = (attack.link.sender(), attack.link.receiver());
    let begun = attack
        .sender
        .poll(&mut attack.source, &mut attack.ours, usize::MAX);
    assert!(begun.is_ok());
    for frame in [hello(1), Frame::Ready { into_folder: true }, settled(2, 1)] {
        let mut out = BytesMut::new();
        frame.encode(&mut out);
        attack.peer.inject(StreamId::CONTROL, out.freeze());
    }
    let turn = attack
        .sender
        .poll(&mut attack.source, &mut attack.ours, usize::MAX);
    assert_eq!(turn, Err(ProtocolError::NotSent));
}

#[test]
fn chunks_that_no_file_has_cannot_be_claimed() {
    for (first, count, is_right) in [
        (0, 3, true),
        (0, 4, false),
        (3, 1, false),
        (SIZE_MAX, 1, false),
    ] {
        let mut large = Large::new(
            Entry {
                operand: 0,
                path: path("r"),
                kind: EntryKind::File {
                    size: Some(2 * CHUNK as u64 + 5),
                },
                mode: 0,
                modified: crate::entry::Timestamp::default(),
            },
            0,
        );
        let digests = vec![Digest([0; 32]); count];
        assert_eq!(large.claim(first, &digests), is_right, "{first} {count}");
    }
}

/// A copy of one file of four chunks to a receiver that may have some of it.
fn resuming() -> Attack {
    let tree = Tree::from([(path("r"), file(vec![7; 4 * CHUNK]))]);
    let mut attack = Attack::with(&tree, &[8 * CHUNK, 8 * CHUNK], Flags::RESUME);
    let said = [hello(1), Frame::Ready { into_folder: true }];
    assert_eq!(attack.run(&said), Ok(Poll::Waiting));
    attack
}

fn checked(id: u64, chunks: u64) -> Frame {
    Frame::Checked {
        id: EntryId(id),
        chunks,
    }
}

#[test]
fn no_more_of_a_file_is_sent_than_the_receiver_has_looked_for() {
    let mut attack = resuming();
    let head_start = HEAD_START_CHUNKS * CHUNK as u64;
    assert_eq!(attack.sender.progress().bytes_carried, head_start);
    assert_eq!(attack.run(&[checked(0, 3)]), Ok(Poll::Waiting));
    assert_eq!(attack.sender.progress().bytes_carried, 3 * CHUNK as u64);
    // It cannot take back what it has said.
    assert_eq!(
        attack.run(&[checked(0, 1), checked(0, 4)]),
        Ok(Poll::Waiting)
    );
    assert_eq!(attack.sender.progress().bytes_carried, 4 * CHUNK as u64);
}

#[test]
fn only_the_first_file_has_a_head_start_and_small_ones_do_not_wait() {
    let mut tree = two_large();
    tree.insert(path("c"), file("small"));
    let mut attack = Attack::with(&tree, &[16 * CHUNK], Flags::RESUME);
    assert_eq!(attack.turn(), Ok(Poll::Waiting));
    let sent = HEAD_START_CHUNKS * CHUNK as u64 + "small".len() as u64;
    assert_eq!(attack.sender.progress().bytes_carried, sent);
    assert!(attack.sender.progress().is_walked);
}

#[test]
fn no_more_can_have_been_looked_for_than_there_is() {
    for (said, verdict) in [
        (checked(0, 4), Ok(Poll::Waiting)),
        (checked(0, 5), Err(ProtocolError::NotSent)),
        (checked(1, 0), Err(ProtocolError::NotSent)),
        (checked(SIZE_MAX, SIZE_MAX), Err(ProtocolError::NotSent)),
    ] {
        assert_eq!(
            resuming().run(std::slice::from_ref(&said)),
            verdict,
            "{said:?}"
        );
    }
}

#[test]
fn a_peer_that_goes_away_is_missed() {
    let mut attack = everything_sent();
    attack.peer.finish(StreamId::CONTROL);
    assert_eq!(attack.turn(), Err(ProtocolError::EndedEarly));
}

#[test]
fn a_refusal_ends_a_copy_that_had_begun() {
    let mut attack = Attack::new(&tree(), &[CHUNK]);
    let trouble = EntryError::at(b"there", EntryErrorKind::Denied);
    let said = [hello(1), Frame::Refused(trouble.clone())];
    assert_eq!(attack.run(&said), Ok(Poll::Done));
    assert_eq!(
        attack.sender.poll_event(),
        Some(CopyEvent::Answered(Answer::Refused(trouble)))
    );
    assert_eq!(attack.sender.totals(), None);
}

#[test]
fn files_that_fail_over_there_are_closed_here_and_named() {
    let mut attack = Attack::ready(&tree(), &[70_000]);
    assert!(
        !attack.source.open.is_empty(),
        "the large file is being sent"
    );
    assert_eq!(
        attack.run(&[failed(2), settled(0, 2), settled(3, 1)]),
        Ok(Poll::Waiting)
    );
    assert!(attack.source.open.is_empty(), "it is closed");
    let events: Vec<_> = std::iter::from_fn(|| attack.sender.poll_event()).collect();
    let named = events.iter().any(|event| {
        matches!(event, CopyEvent::Settled { path, verdict: EntryVerdict::Failed { end, error }, .. }
            if path.as_bytes() == b"r/b" && error.place == b"r/b" && *end == CopyEnd::Target)
    });
    assert!(named, "{events:?}");
}

#[test]
fn a_receiver_cannot_say_that_nothing_failed_after_all() {
    let mut attack = everything_sent();
    let said = [failed(2), settled(0, 2), settled(3, 1)];
    let done = [Frame::Done(Totals::default())];
    assert_eq!(
        attack.run(&[said.as_slice(), &done].concat()),
        Ok(Poll::Done)
    );
    let troubles = attack.sender.totals().map(|totals| totals.troubles);
    assert_eq!(troubles, Some(1));
}

/// Many small files in one folder.
fn crowd(count: u64) -> Tree {
    (0..count)
        .map(|number| (path(&format!("r/{number:06}")), file("content")))
        .collect()
}

#[test]
fn small_files_wait_for_no_answer_until_the_window_is_full() {
    let mut attack = Attack::ready(&crowd(10_000), &[1 << 30]);
    assert_eq!(attack.sender.progress().entries_known, WINDOW_ENTRIES);
    // One answer, and as many go on.
    assert_eq!(attack.run(&[settled(0, 1000)]), Ok(Poll::Waiting));
    assert_eq!(
        attack.sender.progress().entries_known,
        WINDOW_ENTRIES + 1000
    );
}

#[test]
fn a_stream_that_stands_still_stops_no_other() {
    let mut attack = Attack::ready(&crowd(1000), &[0, 1 << 30, 1 << 30]);
    assert_eq!(attack.run(&[settled(0, 1000)]), Ok(Poll::Waiting));
    assert_eq!(attack.sender.progress().entries, 1000);
}

#[test]
fn as_many_streams_are_used_as_there_may_be() {
    for (there_are, used) in [
        (STREAMS_MAX - 1, STREAMS_MAX - 1),
        (STREAMS_MAX + 1, STREAMS_MAX),
    ] {
        let mut attack = Attack::ready(&crowd(4000), &vec![1 << 30; there_are]);
        let streams = (1..=there_are).map(|stream| StreamId(u8::try_from(stream).unwrap()));
        let mut is_used = |stream| !matches!(attack.peer.read(stream, 1), Arrived::Nothing);
        assert_eq!(
            streams.map(&mut is_used).filter(|is_used| *is_used).count(),
            used
        );
    }
}

#[test]
fn a_walk_that_pauses_is_asked_again_at_once() {
    let mut attack = Attack::new(&tree(), &[8 * CHUNK]);
    attack.source.stalls = 2;
    let turn = attack
        .sender
        .poll(&mut attack.source, &mut attack.ours, usize::MAX);
    assert_eq!(turn, Ok(Poll::More));
    let turn = attack
        .sender
        .poll(&mut attack.source, &mut attack.ours, usize::MAX);
    assert_eq!(turn, Ok(Poll::Waiting));
    assert!(attack.sender.progress().is_walked);
}

#[test]
fn a_walk_that_pauses_is_asked_once_in_a_turn_however_many_streams_there_are() {
    let mut attack = Attack::new(&tree(), &[8 * CHUNK; 8]);
    attack.source.stalls = 5;
    for left in (1..5).rev() {
        let turn = attack
            .sender
            .poll(&mut attack.source, &mut attack.ours, usize::MAX);
        assert_eq!((turn, attack.source.stalls), (Ok(Poll::More), left));
    }
}

#[test]
fn what_cannot_be_read_failed_at_the_source() {
    let mut attack = Attack::new(&tree(), &[8 * CHUNK]);
    attack.source.unreadable.insert(path("r/b"));
    let said = [hello(1), Frame::Ready { into_folder: true }];
    let outcome = attack.run(&[said.as_slice(), &[failed(2), settled(0, 2)]].concat());
    assert_eq!(outcome, Ok(Poll::Waiting));
    let events: Vec<_> = std::iter::from_fn(|| attack.sender.poll_event()).collect();
    let failed_here = events.iter().any(|event| {
        matches!(event, CopyEvent::Settled { path, verdict: EntryVerdict::Failed { end: CopyEnd::Source, .. }, .. }
            if path.as_bytes() == b"r/b")
    });
    assert!(failed_here, "{events:?}");
}

/// Two files of five chunks, the first of which fills the only stream.
fn two_large() -> Tree {
    Tree::from([
        (path("a"), file(vec![1; 5 * CHUNK])),
        (path("b"), file(vec![2; 5 * CHUNK])),
    ])
}

#[test]
fn a_large_file_does_not_hide_how_much_there_is() {
    let attack = Attack::ready(&two_large(), &[70_000]);
    let progress = attack.sender.progress();
    assert!(
        progress.bytes <= 2 * CHUNK as u64,
        "the first is on its way"
    );
    assert!(progress.is_walked);
    assert_eq!(progress.bytes_known, 10 * CHUNK as u64);
    assert_eq!((progress.files, progress.files_known), (0, 2));
    let current = attack.sender.current_file().map(RelativePath::as_bytes);
    assert_eq!(current, Some(b"a".as_slice()));
}

#[test]
fn no_more_files_are_found_ahead_than_may_be_open() {
    let mut tree = crowd(1000);
    tree.insert(path("a"), file(vec![1; 5 * CHUNK]));
    let attack = Attack::ready(&tree, &[70_000]);
    assert!(!attack.sender.progress().is_walked);
    let known = attack.sender.progress().files_known;
    assert_eq!(known, 1 + WALKED_AHEAD_MAX as u64);
}

#[test]
fn the_receiver_hears_how_many_entries_there_are_before_it_has_them() {
    let mut attack = Attack::ready(&two_large(), &[70_000]);
    let mut said = Vec::new();
    while let Arrived::Bytes(bytes) = attack.peer.read(StreamId::CONTROL, usize::MAX) {
        said.extend_from_slice(&bytes);
    }
    let mut finished = BytesMut::new();
    Frame::Finished { entries: 2 }.encode(&mut finished);
    assert!(said.ends_with(&finished), "{said:?}");
}

#[test]
fn a_turn_reads_no_more_than_its_budget() {
    let tree = Tree::from([(path("r"), file(vec![1; 5 * CHUNK]))]);
    let mut attack = Attack::new(&tree, &[1 << 30]);
    for turn in 1..5 {
        let result = attack
            .sender
            .poll(&mut attack.source, &mut attack.ours, 200_000);
        assert_eq!(result, Ok(Poll::More));
        let read = attack.sender.progress().bytes;
        assert!(read <= turn * (200_000 + 65_536), "{read} in {turn} turns");
    }
}

#[test]
fn when_a_large_file_is_cut_short_hardly_any_chunk_is_begun_and_not_whole() {
    const STREAMS: usize = 32;
    const SENT: usize = 24;
    let tree = Tree::from([(path("r"), file(vec![1; 4 * SENT * CHUNK]))]);
    let mut attack = Attack::new(&tree, &[1 << 16; STREAMS]);
    for frame in [hello(1), Frame::Ready { into_folder: true }] {
        let mut out = BytesMut::new();
        frame.encode(&mut out);
        attack.peer.inject(StreamId::CONTROL, out.freeze());
    }
    while attack.sender.progress().bytes_carried < (SENT * CHUNK) as u64 {
        let turn = attack
            .sender
            .poll(&mut attack.source, &mut attack.ours, CHUNK / 16);
        assert_eq!(turn, Ok(Poll::More));
        attack.link.deliver_all();
    }
    let whole = (1..=STREAMS).map(|number| {
        let stream = StreamId(u8::try_from(number).unwrap());
        let mut bytes = 0;
        while let Arrived::Bytes(piece) = attack.peer.read(stream, usize::MAX) {
            bytes += piece.len();
        }
        bytes / CHUNK
    });
    let whole: usize = whole.sum();
    assert!(whole >= SENT - 4, "{whole} of {SENT} chunks");
}

fn any_frame() -> impl Strategy<Value = Frame> {
    let id = 0..6_u64;
    prop_oneof![
        (id.clone(), 1..4_u64).prop_map(|(first, count)| settled(first, count)),
        id.clone().prop_map(failed),
        (id.clone(), 0..5_u64).prop_map(|(id, chunks)| checked(id, chunks)),
        (id, 0..4_u64, 1..4_usize).prop_map(|(id, first, count)| have(id, first, count)),
        Just(Frame::Done(Totals::default())),
        Just(Frame::Finished { entries: 1 }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn whatever_is_said_the_sender_has_a_verdict(
        said in proptest::collection::vec(any_frame(), 1..20),
        capacity in prop_oneof![Just(1_usize), Just(5000), Just(4 * CHUNK)],
    ) {
        let mut attack = Attack::new(&tree(), &[capacity, capacity]);
        let mut frames = vec![hello(1), Frame::Ready { into_folder: true }];
        frames.extend(said);
        for frame in frames {
            let mut out = BytesMut::new();
            frame.encode(&mut out);
            attack.peer.inject(StreamId::CONTROL, out.freeze());
            let turn = attack.sender.poll(&mut attack.source, &mut attack.ours, 1 << 20);
            attack.link.deliver_all();
            if !matches!(turn, Ok(Poll::More | Poll::Waiting)) {
                break;
            }
        }
    }
}
