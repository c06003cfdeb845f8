//! Every message with one thing wrong.

use fulmar_transport::wire;

use crate::definitions::{Field, Kind, Messages};

/// Bytes, and what is wrong with them.
pub(crate) type Absurd = (String, Vec<u8>);

/// A number that is right in most places.
const PLAUSIBLE: u64 = 24;

/// Numbers at which something could turn over.
const NUMBERS: [u64; 17] = [
    0,
    1,
    2,
    255,
    4096,
    4097,
    65_535,
    65_536,
    i32::MAX as u64,
    1 << 31,
    u32::MAX as u64,
    1 << 32,
    i64::MAX as u64,
    i64::MIN as u64,
    i32::MIN as i64 as u64,
    u64::MAX - 1,
    u64::MAX,
];

/// Lengths at which something could turn over.
const LENGTHS: [usize; 8] = [0, 1, 7, 8, 9, 32, 4096, 65_537];

/// Field numbers that nobody has, the last of which is the highest.
const UNKNOWN: [u32; 2] = [63, (1 << 29) - 1];

/// More than a message may have of them.
const TOO_MANY: usize = 16_385;

/// The message with a plausible value in each of its fields.
pub(crate) fn plausible(messages: &Messages, name: &str) -> Vec<u8> {
    let fields = messages.get(name).map(Vec::as_slice).unwrap_or_default();
    let mut out = Vec::new();
    for field in fields {
        out.extend(plausible_field(messages, field));
    }
    out
}

fn plausible_field(messages: &Messages, field: &Field) -> Vec<u8> {
    let mut out = Vec::new();
    match &field.kind {
        Kind::Number => wire::put_uint(&mut out, field.number, PLAUSIBLE),
        Kind::Bytes => wire::put_bytes(&mut out, field.number, b"x"),
        Kind::Message(name) => wire::put_bytes(&mut out, field.number, &plausible(messages, name)),
    }
    out
}

/// Every way in which a message of that name can be wrong in one thing.
pub(crate) fn of_message(messages: &Messages, name: &str) -> Vec<Absurd> {
    let fields = messages.get(name).map(Vec::as_slice).unwrap_or_default();
    let mut all = Vec::new();
    for field in fields {
        let others = || fields.iter().filter(|other| *other != field);
        let others: Vec<u8> = others()
            .flat_map(|other| plausible_field(messages, other))
            .collect();
        let label = |what: &str| format!("{name}.{}: {what}", field.name);
        all.push((label("missing"), others.clone()));
        for (what, value) in of_field(field) {
            all.push((label(&what), [others.as_slice(), &value].concat()));
        }
        if let Kind::Message(inner) = &field.kind {
            let alone = |bytes: &[u8]| {
                let mut out = Vec::new();
                wire::put_bytes(&mut out, field.number, bytes);
                out
            };
            let inside = of_message(messages, inner).into_iter();
            all.extend(inside.map(|(what, bytes)| (what, alone(&bytes))));
        }
    }
    let whole = plausible(messages, name);
    for number in UNKNOWN {
        for (what, value) in of_shapes(number) {
            let what = format!("{name}: unknown field {number}, {what}");
            all.push((what, [whole.as_slice(), &value].concat()));
        }
    }
    all.push((format!("{name}: twice"), whole.repeat(2)));
    for length in 0..whole.len() {
        all.push((
            format!("{name}: ends after {length} bytes"),
            whole[..length].to_vec(),
        ));
    }
    for (what, rest) in broken_keys() {
        let what = format!("{name}: followed by {what}");
        all.push((what, [whole.as_slice(), &rest].concat()));
    }
    all
}

/// Every absurd value of a field, as it is encoded, key and all.
pub(crate) fn of_field(field: &Field) -> Vec<Absurd> {
    let mut all = of_shapes(field.number);
    let number = field.number;
    let mut twice = Vec::new();
    match &field.kind {
        Kind::Number => {
            wire::put_uint(&mut twice, number, 0);
            wire::put_uint(&mut twice, number, u64::MAX);
        }
        Kind::Bytes => {
            wire::put_bytes(&mut twice, number, b"one");
            wire::put_bytes(&mut twice, number, b"\x1b[999;999H\xff");
        }
        Kind::Message(_) => {
            let mut many = Vec::new();
            wire::put_bytes(&mut many, number, b"");
            twice.extend(many.repeat(2));
            all.push((format!("{TOO_MANY} of them"), many.repeat(TOO_MANY)));
        }
    }
    all.push(("two of them".to_owned(), twice));
    all
}

/// Values of every type, whatever the field's is.
fn of_shapes(number: u32) -> Vec<Absurd> {
    let mut all = Vec::new();
    for value in NUMBERS {
        let mut out = Vec::new();
        wire::put_uint(&mut out, number, value);
        all.push((format!("the number {value}"), out));
    }
    for length in LENGTHS {
        let mut out = Vec::new();
        wire::put_bytes(&mut out, number, &vec![b'A'; length]);
        all.push((format!("{length} bytes"), out));
    }
    // A message in itself, as deep as nobody reads.
    let mut nested = Vec::new();
    for _ in 0..100 {
        let inner = std::mem::take(&mut nested);
        wire::put_bytes(&mut nested, number, &inner);
    }
    all.push(("itself, a hundred deep".to_owned(), nested));
    for (what, wire_type, rest) in [
        ("four bytes", 5, b"\xff\xff\xff\xff".as_slice()),
        ("eight bytes", 1, b"\xff\xff\xff\xff\xff\xff\xff\xff"),
        ("three of four bytes", 5, b"\x01\x02\x03"),
        ("an integer without an end", 0, b"\x80\x80"),
        ("an integer of eleven bytes", 0, &[0xff; 11]),
        ("a length beyond the end", 2, b"\x7fabc"),
        (
            "a length of 2^63",
            2,
            b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
        ),
        ("a group that does not end", 3, b"\x08\x01"),
        ("the end of a group", 4, b""),
        ("a type that does not exist", 7, b"\x01"),
    ] {
        let mut out = key(number, wire_type);
        out.extend_from_slice(rest);
        all.push((what.to_owned(), out));
    }
    let groups = key(number, 3).repeat(100);
    all.push(("a hundred groups".to_owned(), groups));
    let group = [key(number, 3), vec![0x08, 1], key(number, 4)].concat();
    all.push(("a group".to_owned(), group));
    all
}

/// Keys that cannot be.
fn broken_keys() -> [Absurd; 3] {
    let named = |what: &str, bytes: &[u8]| (what.to_owned(), bytes.to_vec());
    [
        named("field 0", &[0, 0]),
        named(
            "a field above the highest",
            &[0x80, 0x80, 0x80, 0x80, 0x10, 0],
        ),
        named("a key of eleven bytes", &[0xff; 11]),
    ]
}

fn key(number: u32, wire_type: u64) -> Vec<u8> {
    let mut out = Vec::new();
    wire::put_varint(&mut out, u64::from(number) << 3 | wire_type);
    out
}
