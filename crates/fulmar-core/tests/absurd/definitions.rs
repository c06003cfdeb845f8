//! The messages as they are defined: those of the objects in the documentation of the code that reads them, the
//! instruction in docs/protocol.md.

use std::collections::BTreeMap;

const PROTOCOL: &str = include_str!("../../../../docs/protocol.md");

/// The sources that define the messages which a client reads.
const OF_SCREEN: [&str; 3] = [
    include_str!("../../src/host_screen/wire.rs"),
    include_str!("../../src/host_screen/hint_wire.rs"),
    include_str!("../../src/host_screen/history_wire.rs"),
];

/// The sources that define the messages which a server reads.
const OF_KEYS: [&str; 2] = [
    include_str!("../../src/user_stream/wire.rs"),
    include_str!("../../src/user_stream/report_wire.rs"),
];

/// The content of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Number,
    Bytes,
    /// A message of that name.
    Message(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) number: u32,
    pub(crate) kind: Kind,
}

/// The fields of each message, by its name.
pub(crate) type Messages = BTreeMap<String, Vec<Field>>;

/// The messages of which a screen's difference consists; the outermost is `HostMessage`.
pub(crate) fn of_screen() -> Messages {
    OF_SCREEN.into_iter().flat_map(in_source).collect()
}

/// The messages of which a difference of the user stream consists; the outermost is `UserMessage`.
pub(crate) fn of_keys() -> Messages {
    OF_KEYS.into_iter().flat_map(in_source).collect()
}

/// The fields of an instruction: stock's, and those from 64 up.
pub(crate) fn of_instruction() -> Vec<Field> {
    let stock = table("### 5.1 ").filter_map(|row| match row.as_slice() {
        [name, number, kind, ..] => field(name, number, kind),
        _ => None,
    });
    let ours = table("| field of an instruction |").filter_map(|row| match row.as_slice() {
        [number, kind, meaning] => field(meaning, number, kind),
        _ => None,
    });
    stock.chain(ours).collect()
}

/// Returns the cells of the rows of the first table behind that text.
fn table(behind: &str) -> impl Iterator<Item = Vec<&'static str>> {
    let (_, rest) = PROTOCOL.split_once(behind).expect("the section is there");
    let rows = rest.lines().skip_while(|line| !line.starts_with('|'));
    let rows = rows.take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect())
}

fn field(name: &str, number: &str, kind: &str) -> Option<Field> {
    Some(Field {
        name: name.trim_matches('`').to_owned(),
        number: number.parse().ok()?,
        kind: if kind.starts_with("bytes") {
            Kind::Bytes
        } else {
            Kind::Number
        },
    })
}

/// Reads the block of text at the beginning of a source: `Name { uint32 field = 1, Other = 2 }`, and so on. What stands
/// between two definitions is prose.
fn in_source(source: &str) -> Messages {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let block = lines.skip_while(|line| line.trim() != "```text").skip(1);
    let block: Vec<&str> = block.take_while(|line| line.trim() != "```").collect();
    let text = block.join(" ");
    let mut messages = Messages::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        let (inside, after) = after.split_once('}').expect("a definition ends");
        let name = before.split_whitespace().last().expect("it has a name");
        let fields = inside.split([',', '|']).filter_map(defined).collect();
        messages.insert(name.to_owned(), fields);
        rest = after;
    }
    messages
}

fn defined(field: &str) -> Option<Field> {
    let (words, number) = field.split_once('=')?;
    let mut words = words.split_whitespace().filter(|word| *word != "repeated");
    let (kind, name) = (words.next()?, words.next_back());
    Some(Field {
        name: name.unwrap_or(kind).to_owned(),
        number: number.trim().parse().expect("a number"),
        kind: match kind {
            "bytes" => Kind::Bytes,
            "int32" | "uint32" | "uint64" => Kind::Number,
            message => Kind::Message(message.to_owned()),
        },
    })
}

/// A field that the code reads and the definitions lack would be left out of every test here.
#[test]
fn the_definitions_have_every_number_that_the_code_reads() {
    for source in OF_SCREEN.into_iter().chain(OF_KEYS) {
        let constants = source.lines().filter_map(|line| {
            let (_, number) = line.strip_prefix("const ")?.split_once(": u32 = ")?;
            number.trim_end_matches(';').parse::<u32>().ok()
        });
        let read: Vec<u32> = constants.collect();
        let messages = in_source(source);
        let fields = messages.values().flatten();
        let defined: Vec<u32> = fields.map(|field| field.number).collect();
        assert!(!read.is_empty());
        for number in read {
            assert!(defined.contains(&number), "{number} is not in {messages:?}");
        }
    }
    let instruction = of_instruction();
    let numbers: Vec<u32> = instruction.iter().map(|field| field.number).collect();
    assert!(
        numbers.starts_with(&[1, 2, 3, 4, 5, 6, 7, 64, 65]),
        "{numbers:?}"
    );
}
