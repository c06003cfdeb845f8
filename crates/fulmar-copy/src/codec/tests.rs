use bytes::{Bytes, BytesMut};
use proptest::prelude::*;

use super::frame::name;
use super::numbers::DATA;
use super::writer::{self, bytes, number};
use super::*;
use crate::digest::Digest;
use crate::entry::{Entry, EntryId, EntryKind, Timestamp};
use crate::entry_error::{EntryError, EntryErrorKind};
use crate::event::{Occupant, Totals};
use crate::exchange::Requester;
use crate::limits::{
    CONTROL_FRAME_BYTES_MAX, DATA_BYTES_MAX, OPERANDS_MAX, SIZE_MAX, WINDOW_ENTRIES,
};
use crate::path::{PathFault, RelativePath};
use crate::protocol_error::ProtocolError;
use crate::request::{Flags, Request};

/// Everything that bytes decode to, cut at the places given.
fn decode(bytes: &[u8], cuts: &[usize]) -> Result<Vec<Item>, ProtocolError> {
    let mut decoder = Decoder::default();
    let mut items = Vec::new();
    let mut from = 0;
    for to in cuts.iter().copied().chain([bytes.len()]) {
        let mut piece = Bytes::copy_from_slice(&bytes[from..to]);
        while let Some(item) = decoder.next(&mut piece)? {
            items.push(item);
        }
        assert!(piece.is_empty(), "all input is taken");
        from = to;
    }
    Ok(items)
}

fn encoded(frame: &Frame) -> Vec<u8> {
    let mut out = BytesMut::new();
    frame.encode(&mut out);
    out.to_vec()
}

/// A frame with any number and body.
fn raw(number: u8, body: impl FnOnce(&mut BytesMut)) -> Vec<u8> {
    let mut out = BytesMut::new();
    writer::frame(&mut out, number, body);
    out.to_vec()
}

fn one(bytes: &[u8]) -> Result<Item, ProtocolError> {
    decode(bytes, &[]).map(|mut items| {
        assert_eq!(items.len(), 1, "one whole frame");
        items.remove(0)
    })
}

fn path(text: &str) -> RelativePath {
    RelativePath::new(text.as_bytes()).unwrap()
}

fn entry(kind: EntryKind) -> Entry {
    let modified = Timestamp {
        seconds: -7,
        nanoseconds: 999_999_999,
    };
    Entry {
        operand: 3,
        path: path("a/b c"),
        kind,
        mode: 0o7777,
        modified,
    }
}

fn trouble() -> EntryError {
    EntryError::at(b"/etc/\xff", EntryErrorKind::Denied).with_note("no")
}

/// One of each.
fn frames() -> Vec<Frame> {
    let id = EntryId(70_000);
    let flags = Flags::all();
    let digests = vec![Digest([7; 32]), Digest([0; 32])];
    vec![
        Frame::Hello {
            version: 1,
            features: SIZE_MAX,
        },
        Frame::Request(Request::Put {
            target: b"~/x y".to_vec(),
            flags,
        }),
        Frame::Request(Request::Get {
            operands: vec![b"".to_vec(), b"*.c".to_vec()],
            flags,
        }),
        Frame::Ready { into_folder: true },
        Frame::Refused(trouble()),
        Frame::Entry(id, entry(EntryKind::Folder)),
        Frame::Entry(
            id,
            entry(EntryKind::File {
                size: Some(SIZE_MAX),
            }),
        ),
        Frame::Entry(id, entry(EntryKind::File { size: None })),
        Frame::Entry(
            id,
            entry(EntryKind::Link {
                target: b"../x".to_vec(),
            }),
        ),
        Frame::Entry(id, entry(EntryKind::Leave)),
        Frame::Zeros {
            id,
            offset: 5,
            length: SIZE_MAX - 5,
        },
        Frame::End {
            id,
            ending: Ending::Whole {
                size: 9,
                digest: Digest([1; 32]),
                is_changed: true,
            },
        },
        Frame::End {
            id,
            ending: Ending::Broken(trouble()),
        },
        Frame::EntryError(trouble()),
        Frame::Finished { entries: 0 },
        Frame::Have {
            id,
            first: 12,
            digests,
        },
        Frame::Checked { id, chunks: 4096 },
        Frame::Settled {
            first: id,
            count: WINDOW_ENTRIES,
        },
        Frame::Failed {
            id,
            trouble: EntryError::new(EntryErrorKind::Interrupted),
        },
        Frame::Found {
            id,
            occupant: Occupant::Another,
        },
        Frame::Found {
            id,
            occupant: Occupant::Partial,
        },
        Frame::Done(Totals {
            files: 1,
            folders: 2,
            links: 3,
            bytes: 4,
            troubles: SIZE_MAX,
        }),
    ]
}

#[test]
fn every_frame_is_read_as_it_was_written() {
    for frame in frames() {
        assert_eq!(one(&encoded(&frame)), Ok(Item::Frame(frame)));
    }
}

#[test]
fn a_frame_that_lacks_bytes_or_has_more_is_broken() {
    for frame in frames() {
        let whole = encoded(&frame);
        let body = whole[5..].to_vec();
        for length in 0..body.len() {
            // Fewer operands or digests are another good frame.
            let shorter = one(&raw(whole[0], |out| out.extend_from_slice(&body[..length])));
            assert_ne!(
                shorter,
                Ok(Item::Frame(frame.clone())),
                "{frame:?} cut at {length}"
            );
        }
        let longer = one(&raw(whole[0], |out| {
            out.extend_from_slice(&body);
            out.extend_from_slice(&[0]);
        }));
        assert_ne!(longer, Ok(Item::Frame(frame.clone())), "{frame:?}");
        let repeated = one(&raw(whole[0], |out| {
            out.extend_from_slice(&body);
            out.extend_from_slice(&body);
        }));
        assert_ne!(repeated, Ok(Item::Frame(frame.clone())), "{frame:?} twice");
        let empty = one(&raw(whole[0], |_| {}));
        assert_eq!(
            empty,
            Err(ProtocolError::Malformed(frame.name())),
            "{frame:?}"
        );
    }
}

/// The body of an entry with one field replaced.
#[derive(Clone)]
struct Fields {
    id: u64,
    operand: u64,
    path: Vec<u8>,
    mode: u64,
    seconds: u64,
    nanoseconds: u64,
    rest: Vec<u64>,
}

impl Fields {
    fn good() -> Self {
        let path = b"a".to_vec();
        Self {
            id: 1,
            operand: 0,
            path,
            mode: 0o644,
            seconds: 2,
            nanoseconds: 0,
            rest: vec![1, 10],
        }
    }

    fn read(&self) -> Result<Item, ProtocolError> {
        let whole = raw(0x11, |out| {
            number(out, self.id);
            number(out, self.operand);
            bytes(out, &self.path);
            number(out, self.mode);
            number(out, self.seconds);
            number(out, self.nanoseconds);
            self.rest.iter().for_each(|value| number(out, *value));
        });
        one(&whole)
    }
}

type Setter = fn(&mut Fields, u64);

#[test]
fn fields_of_an_entry_have_their_ranges() {
    let cases: &[(&str, Setter, u64, u64)] = &[
        ("id", |fields, value| fields.id = value, 0, SIZE_MAX),
        (
            "operand",
            |fields, value| fields.operand = value,
            0,
            u64::from(u32::MAX),
        ),
        ("mode", |fields, value| fields.mode = value, 0, 0o7777),
        (
            "seconds",
            |fields, value| fields.seconds = value,
            0,
            SIZE_MAX,
        ),
        (
            "nanoseconds",
            |fields, value| fields.nanoseconds = value,
            0,
            999_999_999,
        ),
        (
            "size",
            |fields, value| fields.rest = vec![1, value],
            0,
            SIZE_MAX,
        ),
        ("known", |fields, value| fields.rest = vec![value, 1], 1, 1),
    ];
    for (name, set, min, max) in cases {
        for value in [*min, *max] {
            let mut fields = Fields::good();
            set(&mut fields, value);
            assert!(fields.read().is_ok(), "{name} {value}");
        }
        if *max < SIZE_MAX {
            let mut fields = Fields::good();
            set(&mut fields, max + 1);
            assert_eq!(
                fields.read(),
                Err(ProtocolError::Malformed("File")),
                "{name}"
            );
        }
    }
}

#[test]
fn a_path_that_leads_elsewhere_is_refused() {
    let long = |count: usize| vec![b'x'; count];
    let deep = |count: usize| vec!["d"; count].join("/").into_bytes();
    let wide = vec!["w".repeat(255); 16].join("/").into_bytes();
    let cases: Vec<(Vec<u8>, Option<PathFault>)> = vec![
        (b"".to_vec(), Some(PathFault::EmptyName)),
        (b"/etc".to_vec(), Some(PathFault::EmptyName)),
        (b"a//b".to_vec(), Some(PathFault::EmptyName)),
        (b"a/".to_vec(), Some(PathFault::EmptyName)),
        (b".".to_vec(), Some(PathFault::Dots)),
        (b"a/../b".to_vec(), Some(PathFault::Dots)),
        (b"a/.".to_vec(), Some(PathFault::Dots)),
        (b"a\0b".to_vec(), Some(PathFault::Nul)),
        (b"...".to_vec(), None),
        (b"a\\..\\b".to_vec(), None),
        (long(255), None),
        (long(256), Some(PathFault::NameTooLong)),
        (deep(256), None),
        (deep(257), Some(PathFault::TooDeep)),
        (wide, None),
    ];
    for (path, fault) in cases {
        let fields = Fields {
            path: path.clone(),
            ..Fields::good()
        };
        let read = fields.read();
        match fault {
            Some(fault) => assert_eq!(read, Err(ProtocolError::Path(fault)), "{}", path.len()),
            None => assert!(read.is_ok(), "{}: {read:?}", path.len()),
        }
    }
    let fields = Fields {
        path: long(4097),
        ..Fields::good()
    };
    assert_eq!(fields.read(), Err(ProtocolError::Malformed("File")));
    assert_eq!(RelativePath::new(&long(4097)), Err(PathFault::TooLong));
}

/// Bodies that break one rule each.
#[test]
fn other_fields_have_their_ranges_too() {
    let numbers = |values: &'static [u64]| {
        move |out: &mut BytesMut| values.iter().for_each(|value| number(out, *value))
    };
    let broken: Vec<(&str, Vec<u8>)> = vec![
        ("Ready", raw(0x04, numbers(&[2]))),
        ("Put", raw(0x02, numbers(&[1 << 7, 0]))),
        ("Put", raw(0x02, numbers(&[1 << 32, 0]))),
        ("Get", raw(0x03, numbers(&[1]))),
        ("Zeros", raw(0x15, numbers(&[0, 0, 0]))),
        ("Zeros", raw(0x15, numbers(&[0, 1, SIZE_MAX]))),
        ("End", raw(0x16, numbers(&[0, 3]))),
        ("End", raw(0x16, numbers(&[0, 0, 0, 1]))),
        ("EntryError", raw(0x20, numbers(&[22, 0, 0]))),
        ("Settled", raw(0x31, numbers(&[0, 0]))),
        ("Settled", raw(0x31, numbers(&[0, WINDOW_ENTRIES + 1]))),
        ("Have", raw(0x30, numbers(&[0, 0]))),
        ("Have", raw(0x30, numbers(&[0, 0, 1]))),
        ("Failed", raw(0x32, numbers(&[0, 0, 4097]))),
        ("Data", raw(DATA, numbers(&[0, 0]))),
        ("Data", raw(DATA, numbers(&[0]))),
        (
            "Put",
            raw(0x02, |out| {
                number(out, 0);
                bytes(out, b"a\0b");
            }),
        ),
        (
            "Link",
            raw(0x12, |out| {
                number(out, 0);
                number(out, 0);
                bytes(out, b"a");
                (0..3).for_each(|_| number(out, 0));
                bytes(out, b"");
            }),
        ),
        (
            "EntryError",
            raw(0x20, |out| {
                number(out, 0);
                bytes(out, b"");
                bytes(out, &[b'n'; 257]);
            }),
        ),
    ];
    for (frame, whole) in broken {
        assert_eq!(
            one(&whole),
            Err(ProtocolError::Malformed(frame)),
            "{whole:?}"
        );
    }
}

#[test]
fn a_request_names_as_much_as_it_may_and_no_more() {
    let naming = |count: usize| {
        raw(0x03, |out| {
            number(out, 0);
            (0..count).for_each(|_| bytes(out, b"x"));
        })
    };
    let Ok(Item::Frame(Frame::Request(request))) = one(&naming(OPERANDS_MAX)) else {
        panic!("it is allowed");
    };
    let Request::Get { operands, .. } = &request else {
        panic!("it is another: {request:?}");
    };
    assert_eq!(operands.len(), OPERANDS_MAX);
    assert_eq!(
        one(&naming(OPERANDS_MAX + 1)),
        Err(ProtocolError::Malformed("Get"))
    );
    // Nor does this end ask for more.
    let asked = |count| {
        let operands = vec![b"x".to_vec(); count];
        let flags = Flags::empty();
        Requester::new(Request::Get { operands, flags }).map(drop)
    };
    assert_eq!(asked(OPERANDS_MAX), Ok(()));
    assert_eq!(
        asked(OPERANDS_MAX + 1).unwrap_err().kind,
        EntryErrorKind::Unsupported
    );
}

#[test]
fn a_length_is_judged_before_anything_is_held_for_it() {
    let control = (CONTROL_FRAME_BYTES_MAX - 5) as u32;
    let data = (DATA_BYTES_MAX + 16) as u32;
    for (frame, max) in [(0x20, control), (DATA, data)] {
        let head = |length: u32| [&[frame][..], &(0x8000_0000 | length).to_be_bytes()].concat();
        assert_eq!(decode(&head(max), &[]), Ok(vec![]));
        let name = name(frame).unwrap();
        assert_eq!(
            decode(&head(max + 1), &[]),
            Err(ProtocolError::TooLong(name))
        );
        let huge = [&[frame][..], &u64::MAX.to_be_bytes()].concat();
        assert_eq!(decode(&huge, &[]), Err(ProtocolError::TooLong(name)));
    }
    assert_eq!(decode(&[0x99], &[]), Err(ProtocolError::UnknownFrame(0x99)));
}

#[test]
fn data_is_at_most_64_kib() {
    let frame = |length: usize| {
        let mut out = BytesMut::new();
        data_head(&mut out, 1, 2, length);
        out.extend_from_slice(&vec![9; length]);
        out.to_vec()
    };
    let bytes = Bytes::from(vec![9; DATA_BYTES_MAX]);
    let read = Item::Data {
        id: EntryId(1),
        offset: 2,
        bytes,
    };
    assert_eq!(one(&frame(DATA_BYTES_MAX)), Ok(read));
    assert_eq!(
        one(&frame(DATA_BYTES_MAX + 1)),
        Err(ProtocolError::Malformed("Data"))
    );
}

#[test]
fn text_of_a_peer_is_safe_to_show() {
    let mut evil = EntryError::new(EntryErrorKind::Io);
    evil.note = "\x1b]0;x\x07\u{9b}".to_owned();
    evil.place = b"\x1b[2J\r".to_vec();
    let Ok(Item::Frame(Frame::EntryError(read))) = one(&encoded(&Frame::EntryError(evil))) else {
        panic!("a trouble");
    };
    assert!(!read.to_string().chars().any(char::is_control), "{read}");
    assert!(!read.note.chars().any(char::is_control), "{read:?}");
}

fn any_item() -> impl Strategy<Value = Vec<u8>> {
    let frames = frames();
    let count = frames.len();
    (0..=count, 1..400_usize).prop_map(move |(which, length)| match frames.get(which) {
        Some(frame) => encoded(frame),
        None => {
            let mut out = BytesMut::new();
            data_head(&mut out, which as u64, length as u64, length);
            out.extend_from_slice(&vec![3; length]);
            out.to_vec()
        }
    })
}

proptest! {
    #[test]
    fn input_may_be_cut_anywhere(
        items in proptest::collection::vec(any_item(), 1..8),
        mut cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..20),
    ) {
        let bytes = items.concat();
        cuts.sort_by_key(|cut| cut.index(bytes.len()));
        let cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len())).collect();
        let whole = decode(&bytes, &[]).unwrap();
        prop_assert_eq!(whole.len(), items.len());
        prop_assert_eq!(decode(&bytes, &cuts).unwrap(), whole);
    }

    #[test]
    fn arbitrary_bytes_give_a_verdict(
        bytes in proptest::collection::vec(any::<u8>(), 0..600),
        cut in any::<proptest::sample::Index>(),
    ) {
        let whole = decode(&bytes, &[]);
        let cut = cut.index(bytes.len() + 1).min(bytes.len());
        prop_assert_eq!(decode(&bytes, &[cut]), whole);
    }

    #[test]
    fn a_spoilt_frame_gives_a_verdict(
        item in any_item(),
        at in any::<proptest::sample::Index>(),
        value in any::<u8>(),
    ) {
        let mut bytes = item;
        let at = at.index(bytes.len());
        bytes[at] = value;
        if let Ok(items) = decode(&bytes, &[]) {
            for item in items {
                if let Item::Frame(frame) = item {
                    prop_assert_eq!(one(&encoded(&frame)), Ok(Item::Frame(frame)));
                }
            }
        }
    }

    #[test]
    fn numbers_have_one_shortest_form(value in 0..=SIZE_MAX) {
        let mut out = BytesMut::new();
        number(&mut out, value);
        prop_assert_eq!(reader::varint(&out), Some((value, out.len())));
    }
}
