//! A peer that has the key and means harm, or is broken.
//!
//! Source: docs/threat-model.md §12, test T-H1; docs/protocol.md §12.1.

use fulmar_datagram::{Direction, Fragment, FragmentHeader, FragmentIndex};

use super::*;
use crate::wire;

const EXTREMES: [u64; 9] = [
    0,
    1,
    2,
    3,
    u32::MAX as u64,
    1 << 32 | 2,
    i64::MAX as u64,
    u64::MAX - 1,
    u64::MAX,
];

/// Seven fields of an instruction, in their encoded form, to be bent one at a time.
fn fields() -> Vec<Vec<u8>> {
    let uint = |(number, value)| {
        let mut out = Vec::new();
        wire::put_uint(&mut out, number, value);
        out
    };
    let mut fields: Vec<_> = [(1, 2), (2, 1), (3, 2), (4, 1), (5, 1)].map(uint).into();
    for (number, bytes) in [(6, &b"x"[..]), (7, &b"chaff"[..])] {
        let mut out = Vec::new();
        wire::put_bytes(&mut out, number, bytes);
        fields.push(out);
    }
    fields
}

/// All instructions with one field bent: at its extremes, missing, doubled, of another type, cut.
fn bent_instructions() -> Vec<Vec<u8>> {
    let mut bent = Vec::new();
    for place in 0..7 {
        let number = place as u32 + 1;
        let mut replacements: Vec<Vec<u8>> = Vec::new();
        for extreme in EXTREMES {
            let mut uint = Vec::new();
            wire::put_uint(&mut uint, number, extreme);
            replacements.push(uint);
        }
        for bytes in [&b""[..], &[0xFF; 40], &[0; 5000]] {
            let mut field = Vec::new();
            wire::put_bytes(&mut field, number, bytes);
            replacements.push(field);
        }
        let usual = fields().remove(place);
        replacements.push(Vec::new());
        replacements.push([usual.clone(), usual.clone()].concat());
        replacements.push(usual[..usual.len() - 1].to_vec());
        replacements.push([&[(number << 3 | 7) as u8][..], &usual[1..]].concat());
        for replacement in replacements {
            let mut whole = fields();
            whole[place] = replacement;
            bent.push(whole.concat());
        }
    }
    bent
}

/// Drains and looks ahead, over and over, until half a minute has passed.
fn carry_on<L: Synced, R: Synced>(endpoint: &mut Endpoint<L, R>, mut now: Time) {
    let end = now + Duration::from_secs(30);
    let mut out = Vec::new();
    loop {
        while endpoint.poll_transmit(now, &mut out).is_some() {}
        while endpoint.poll_event().is_some() {}
        let Some((due, cause)) = endpoint.poll_timeout() else {
            return;
        };
        assert!(due > now, "woken for {cause} without progress");
        if due > end {
            return;
        }
        now = due;
        endpoint.handle_timeout(now);
    }
}

/// A client in the middle of a conversation with a raw peer, which has sent state 1.
fn talking_client(raw_peer: &mut RawPeer) -> Client {
    let mut client = client();
    client.handle_path_opened(at(0), CLIENT_PATH);
    let mut log = Log::default();
    log.append(b"ls\r");
    client.set_local(at(0), log);
    hear(
        &mut client,
        CLIENT_PATH,
        raw_peer.say(&instruction([0, 1, 0, 0], b"")),
    );
    carry_on(&mut client, at(0));
    client
}

fn talking_server(raw_peer: &mut RawPeer) -> Server {
    let mut server = server();
    hear(
        &mut server,
        SERVER_PATH,
        raw_peer.say(&instruction([0, 1, 0, 0], b"a")),
    );
    let mut board = Board::blank(BOARD_CELLS);
    board.write(0, b"hello");
    server.set_local(at(0), board);
    carry_on(&mut server, at(0));
    server
}

fn hear<L: Synced, R: Synced>(
    endpoint: &mut Endpoint<L, R>,
    path: PathId,
    datagrams: Vec<Vec<u8>>,
) -> DatagramVerdict {
    let verdicts = datagrams.iter().map(|bytes| {
        let received = endpoint.handle_datagram(at(30_000), arrival(path, bytes));
        received.verdict
    });
    verdicts.last().unwrap()
}

#[test]
fn no_bent_field_ends_an_endpoint_or_makes_it_spin() {
    for bytes in bent_instructions() {
        let mut raw_peer = RawPeer::new(Direction::ToServer);
        let mut server = talking_server(&mut raw_peer);
        hear(&mut server, SERVER_PATH, raw_peer.say(&bytes));
        carry_on(&mut server, at(30_000));
        let mut raw_peer = RawPeer::new(Direction::ToClient);
        let mut client = talking_client(&mut raw_peer);
        hear(&mut client, CLIENT_PATH, raw_peer.say(&bytes));
        carry_on(&mut client, at(30_000));
        // Only who says that it wants to end is taken at its word.
        let ends = Instruction::decode(&bytes)
            .is_ok_and(|read| read.numbers.target == StateNumber::SHUTDOWN);
        let is_held = server.remote_number() == StateNumber::SHUTDOWN;
        assert!(is_held <= ends, "{bytes:02x?}");
        assert_eq!(server.ending().is_some(), is_held);
    }
}

#[test]
fn an_endpoint_still_works_after_all_of_it() {
    let mut raw_peer = RawPeer::new(Direction::ToServer);
    let mut server = talking_server(&mut raw_peer);
    for bytes in bent_instructions() {
        let ends = Instruction::decode(&bytes)
            .is_ok_and(|read| read.numbers.target == StateNumber::SHUTDOWN);
        if !ends {
            hear(&mut server, SERVER_PATH, raw_peer.say(&bytes));
        }
    }
    let newest = server.remote_number().get();
    let next = instruction([newest, u64::MAX - 1, 0, newest], b"");
    let verdict = hear(&mut server, SERVER_PATH, raw_peer.say(&next));
    // The highest ordinary number may be there already.
    assert_eq!(verdict, DatagramVerdict::Fresh);
    assert_eq!(server.ending(), None);
}

#[test]
fn each_kind_of_harm_has_its_verdict() {
    let cases: [(Vec<u8>, DropReason); 6] = [
        (instruction([1, 2, 0, 2], b"x"), DropReason::BadNumbers),
        (instruction([1, 0, 0, 0], b"x"), DropReason::BadNumbers),
        (
            instruction([1, 2, 0, u64::MAX], b"x"),
            DropReason::BadNumbers,
        ),
        (instruction([7, 8, 0, 0], b"x"), DropReason::SourceMissing),
        (b"\x08".to_vec(), DropReason::BadInstruction),
        (b"\x08\x03".to_vec(), DropReason::WrongVersion),
    ];
    for (bytes, reason) in cases {
        let mut raw_peer = RawPeer::new(Direction::ToServer);
        let mut server = talking_server(&mut raw_peer);
        let verdict = hear(&mut server, SERVER_PATH, raw_peer.say(&bytes));
        assert_eq!(verdict, DatagramVerdict::Dropped(reason), "{bytes:02x?}");
        assert_eq!(server.counters().dropped.of(reason), 1);
        assert_eq!(server.remote_number().get(), 1);
    }
}

#[test]
fn a_difference_that_does_not_apply_is_dropped() {
    let mut raw_peer = RawPeer::new(Direction::ToClient);
    let mut client = talking_client(&mut raw_peer);
    let bad = raw_peer.say(&instruction([1, 2, 0, 1], b"no change of a board"));
    let verdict = hear(&mut client, CLIENT_PATH, bad);
    // A board takes differences in fives, and this one names a cell that it does not have.
    assert_eq!(verdict, DatagramVerdict::Dropped(DropReason::BadDifference));
    assert_eq!(client.remote_number().get(), 1);
}

#[test]
fn what_does_not_inflate_is_dropped() {
    let mut raw_peer = RawPeer::new(Direction::ToServer);
    let mut server = talking_server(&mut raw_peer);
    let verdict = hear(
        &mut server,
        SERVER_PATH,
        raw_peer.say_compressed(b"no zlib".to_vec()),
    );
    assert_eq!(
        verdict,
        DatagramVerdict::Dropped(DropReason::BadCompression)
    );
    let bomb = vec![0; crate::limits::INSTRUCTION_BYTES_MAX + 1];
    let verdict = hear(&mut server, SERVER_PATH, raw_peer.say(&bomb));
    assert_eq!(
        verdict,
        DatagramVerdict::Dropped(DropReason::InstructionTooLong)
    );
}

#[test]
fn fragments_that_contradict_each_other_are_dropped() {
    let mut raw_peer = RawPeer::new(Direction::ToServer);
    let mut server = talking_server(&mut raw_peer);
    let mut hear = |raw_peer: &mut RawPeer, content: &[u8]| {
        let header = FragmentHeader {
            id: 99,
            index: FragmentIndex::ZERO,
            is_final: false,
        };
        let datagram = raw_peer.seal(Fragment { header, content });
        hear(&mut server, SERVER_PATH, vec![datagram])
    };
    assert_eq!(hear(&mut raw_peer, b"one"), DatagramVerdict::Fresh);
    let conflict = DatagramVerdict::Dropped(DropReason::FragmentConflict);
    assert_eq!(hear(&mut raw_peer, b"two"), conflict);
}

#[test]
fn acknowledgements_of_what_was_never_sent_are_ignored() {
    let mut raw_peer = RawPeer::new(Direction::ToServer);
    let mut server = talking_server(&mut raw_peer);
    let before = server.acknowledged_number();
    for ours in [77, u64::MAX - 1, u64::MAX] {
        let next = 100 + ours % 97;
        let bytes = instruction([1, next, ours, 1], b"");
        hear(&mut server, SERVER_PATH, raw_peer.say(&bytes));
        assert_eq!(server.acknowledged_number(), before);
        assert_eq!(server.ending(), None);
    }
}

#[test]
fn thousands_of_states_leave_no_trace_in_memory() {
    let mut raw_peer = RawPeer::new(Direction::ToServer);
    let mut server = talking_server(&mut raw_peer);
    for n in 2..3000 {
        let bytes = instruction([1, n, 0, 0], &[b'x'; 1000]);
        hear(&mut server, SERVER_PATH, raw_peer.say(&bytes));
        assert!(server.receiver().count() <= 65);
    }
    assert!(server.receiver().held_bytes() <= 65 * 1002);
    assert_eq!(server.remote_number().get(), 2999);
}

#[test]
fn a_peer_that_repeats_its_end_for_ever_is_left() {
    let mut raw_peer = RawPeer::new(Direction::ToServer);
    let mut server = talking_server(&mut raw_peer);
    let mut out = Vec::new();
    for n in 0..1000 {
        let now = at(30_000 + n * 10);
        for bytes in raw_peer.say(&instruction([1, u64::MAX, 0, 1], b"")) {
            let _ = server.handle_datagram(now, arrival(SERVER_PATH, &bytes));
        }
        while server.poll_transmit(now, &mut out).is_some() {}
    }
    assert_eq!(server.ending(), Some(Ending::ByPeer));
    assert!(server.counters().sent.of(Cause::ShutdownAnswer) < 60);
}

#[test]
fn a_held_intake_takes_no_input_until_it_is_opened() {
    let mut raw_peer = RawPeer::new(Direction::ToServer);
    let mut server = talking_server(&mut raw_peer);
    server.set_intake(Intake::Held);
    let bytes = instruction([1, 2, 0, 1], b"b");
    let verdict = hear(&mut server, SERVER_PATH, raw_peer.say(&bytes));
    assert_eq!(verdict, DatagramVerdict::Dropped(DropReason::IntakeHeld));
    server.set_intake(Intake::Open);
    let verdict = hear(&mut server, SERVER_PATH, raw_peer.say(&bytes));
    assert_eq!(verdict, DatagramVerdict::Fresh);
    assert_eq!(server.remote().since(0), b"ab");
}
