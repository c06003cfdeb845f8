//! The dialect of two ends with the same agreement, different ones, or none, whatever is lost.

use fulmar_datagram::Opened;

use super::*;
use crate::{Assembly, Dialect, Digest, Extensions, Inflater, Terms};

const ONE: Terms = terms(1);
const OTHER: Terms = terms(2);

/// Returns terms of which each pair of ends has others.
const fn terms(number: u8) -> Terms {
    Terms {
        digest: Digest::new([number; Digest::BYTES]),
        idle: true,
        challenge: true,
        sizes: true,
    }
}

/// The status that the server says goodbye with.
const STATUS: u64 = 7;

/// All ways in which two ends can stand to each other.
const STANDINGS: [[Option<Terms>; 2]; 5] = [
    [None, None],
    [Some(ONE), None],
    [None, Some(ONE)],
    [Some(ONE), Some(ONE)],
    [Some(ONE), Some(OTHER)],
];

/// An instruction that was sent.
struct SentInstruction {
    from: Role,
    bytes: Vec<u8>,
}

impl SentInstruction {
    fn instruction(&self) -> Instruction<'_> {
        Instruction::decode(&self.bytes).unwrap()
    }

    fn has_digest(&self) -> bool {
        self.instruction().extensions.digest.is_some()
    }

    fn is_goodbye(&self) -> bool {
        self.instruction().numbers.target == StateNumber::SHUTDOWN
    }

    /// The seven fields of stock as stock writes them, and nothing else.
    fn stock_part(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let instruction = Instruction {
            extensions: Extensions::default(),
            ..self.instruction()
        };
        instruction.encode(&mut out);
        out
    }
}

/// Reads what was sent from one end to the other.
fn overhear(pair: &Pair, from: Role) -> Vec<SentInstruction> {
    let mut opener = opener(match from {
        Role::Client => Direction::ToServer,
        Role::Server => Direction::ToClient,
    });
    let (mut assembly, mut inflater) = (Assembly::new(), Inflater::new());
    let mut said = Vec::new();
    let flights = pair.flights.iter().filter(|flight| flight.from == from);
    for flight in flights {
        let mut plaintext = Vec::new();
        let Opened { fragment, .. } = opener.open(&flight.bytes, &mut plaintext).unwrap();
        if let Some(compressed) = assembly.add(pair.now, fragment).unwrap() {
            let bytes = inflater.inflate(&compressed).unwrap().to_vec();
            said.push(SentInstruction { from, bytes });
        }
    }
    said
}

/// A mask that loses everything.
const EVERYTHING: u32 = u32::MAX;

/// Lets two ends conversation for 8 s and has the server say goodbye. The first datagrams of client and server
/// are lost as the bits of the two masks say.
fn conversation(agreements: [Option<Terms>; 2], losses: [u32; 2]) -> Pair {
    let mut pair = Pair::with(ms(20), agreements);
    pair.loses = Box::new(move |flight| {
        let mask = losses[usize::from(flight.from == Role::Server)];
        mask == EVERYTHING || (flight.nth < 32 && mask >> flight.nth & 1 == 1)
    });
    pair.server.set_farewell(STATUS);
    pair.type_text(b"ls\r");
    pair.run_for(ms(1000));
    pair.write(0, b"one  two");
    pair.run_for(ms(7000));
    pair.server.start_shutdown(pair.now);
    pair.run_for(ms(5000));
    pair
}

/// Loses each choice of the first three datagrams of either side.
fn all_losses() -> impl Iterator<Item = [u32; 2]> {
    (0..64).map(|mask| [mask & 0b111, mask >> 3])
}

#[test]
fn both_ends_come_to_the_same_dialect_whatever_is_lost() {
    for agreements in STANDINGS {
        let expected = match agreements {
            [Some(ours), Some(theirs)] if ours == theirs => Dialect::Native,
            [Some(_), Some(_)] => Dialect::Altered,
            _ => Dialect::Legacy,
        };
        for losses in all_losses() {
            let pair = conversation(agreements, losses);
            let dialects = [pair.client.dialect(), pair.server.dialect()];
            assert_eq!(dialects, [expected; 2], "{agreements:?} {losses:?}");
        }
    }
}

#[test]
fn a_farewell_arrives_between_natives_and_nowhere_else() {
    for agreements in STANDINGS {
        for losses in all_losses() {
            let pair = conversation(agreements, losses);
            let is_native = pair.client.dialect() == Dialect::Native;
            let farewell = is_native.then_some(STATUS);
            assert_eq!(pair.client.farewell(), farewell, "{agreements:?}");
            assert_eq!(pair.server.farewell(), None);
        }
    }
}

#[test]
fn a_stock_peer_sees_stock_fields_and_at_most_the_digest() {
    for agreements in STANDINGS.into_iter().filter(|ends| ends.contains(&None)) {
        for losses in all_losses() {
            let pair = conversation(agreements, losses);
            for (role, own) in [Role::Client, Role::Server].into_iter().zip(agreements) {
                for said in overhear(&pair, role) {
                    let mut bytes = said.stock_part();
                    if said.has_digest() {
                        let own = own.expect("who has no agreement says no digest");
                        bytes.extend([0x82, 0x04, 32]);
                        bytes.extend(own.digest.as_bytes());
                    }
                    assert_eq!(said.bytes, bytes);
                }
            }
        }
    }
}

#[test]
fn a_digest_is_said_until_the_peer_has_acknowledged_anything() {
    for agreements in [[Some(ONE), Some(ONE)], [Some(ONE), Some(OTHER)]] {
        for losses in all_losses() {
            let pair = conversation(agreements, losses);
            let said = [Role::Client, Role::Server].map(|role| overhear(&pair, role));
            for side in &said {
                let count = side.iter().take_while(|said| said.has_digest()).count();
                assert!(count >= 1, "the first has it");
                let later = side.get(count..).unwrap_or_default();
                assert!(
                    !later.iter().any(SentInstruction::has_digest),
                    "once left out, for good"
                );
            }
            let client_has_heard = |said: &&SentInstruction| {
                said.instruction().numbers.acknowledged > StateNumber::ZERO
            };
            let before = said[0].iter().take_while(|said| !client_has_heard(said));
            assert!(before.into_iter().all(SentInstruction::has_digest));
        }
    }
}

#[test]
fn nothing_native_is_said_before_the_peers_digest_was_read() {
    for agreements in STANDINGS {
        // No datagram of the client ever arrives.
        let pair = conversation(agreements, [EVERYTHING, 0]);
        assert!(overhear(&pair, Role::Server).is_empty());
        // The server's do not.
        let pair = conversation(agreements, [0, EVERYTHING]);
        assert_eq!(pair.client.dialect(), Dialect::Undecided);
        for said in overhear(&pair, Role::Client) {
            assert_eq!(said.from, Role::Client);
            assert_eq!(said.instruction().extensions.farewell, None);
            assert_eq!(said.has_digest(), agreements[0].is_some());
        }
    }
}

#[test]
fn altered_ends_take_nothing_and_end_at_once() {
    for losses in all_losses() {
        let pair = conversation([Some(ONE), Some(OTHER)], losses);
        let endings = [pair.client.ending(), pair.server.ending()];
        assert_eq!(endings, [Some(Ending::Altered); 2], "{losses:?}");
        assert_eq!(pair.client.remote().text(), "");
        let said = overhear(&pair, Role::Server);
        assert!(said.iter().all(SentInstruction::is_goodbye));
    }
    let mut pair = Pair::with(ms(20), [Some(ONE), Some(OTHER)]);
    pair.run_for(ms(500));
    assert_eq!(pair.client.ending(), Some(Ending::Altered));
    assert_eq!(pair.server.ending(), Some(Ending::Altered));
}

#[test]
fn what_is_replayed_or_comes_late_decides_nothing_anew() {
    let mut late = Pair::with(ms(20), [Some(ONE), Some(ONE)]);
    // The first two come after everything else.
    late.loses = Box::new(|flight| flight.from == Role::Client && flight.nth < 2);
    late.type_text(b"ls\r");
    late.run_for(ms(1000));
    for flight in late.flights.clone().into_iter().rev() {
        if flight.from == Role::Client {
            let _ = late.reach_server(PathId::new(9), &flight.bytes);
        }
    }
    assert_eq!(late.server.dialect(), Dialect::Native);
    assert_eq!(late.server.remote().since(0), b"ls\r");
    late.run_for(ms(1000));
    assert_eq!(late.client.dialect(), Dialect::Native);
}

/// Returns the first instruction of a client, with bytes of a test's choice behind its fields.
fn first_with(tail: &[u8]) -> Vec<u8> {
    let mut first = instruction([0, 1, 0, 0], b"a");
    first.extend(tail);
    first
}

#[test]
fn a_digest_that_is_none_is_altered_for_whoever_has_one_and_nothing_for_others() {
    let malformed: [&[u8]; 4] = [
        &[0x80, 0x04, 7],
        &[0x82, 0x04, 0],
        &[0x82, 0x04, 3, 1, 1, 1],
        &[0x81, 0x04, 1, 1, 1, 1, 1, 1, 1, 1],
    ];
    for tail in malformed {
        let datagram = RawPeer::new(Direction::ToServer)
            .say(&first_with(tail))
            .remove(0);
        let mut with = server_with(Some(ONE));
        let received = with.handle_datagram(at(0), arrival(SERVER_PATH, &datagram));
        assert_eq!(
            received.verdict,
            DatagramVerdict::Dropped(DropReason::NotAgreed)
        );
        assert_eq!(with.dialect(), Dialect::Altered);
        assert_eq!(with.remote().end(), 0);
        let mut without = server();
        let received = without.handle_datagram(at(0), arrival(SERVER_PATH, &datagram));
        assert_eq!(received.verdict, DatagramVerdict::Fresh);
        assert_eq!(without.dialect(), Dialect::Legacy);
    }
}

#[test]
fn the_dialect_is_told_once() {
    for (agreements, dialect) in [
        ([Some(ONE), Some(ONE)], Dialect::Native),
        ([None, None], Dialect::Legacy),
    ] {
        let mut pair = conversation(agreements, [0, 0]);
        let events = std::iter::from_fn(|| pair.server.poll_event());
        let told: Vec<EndpointEvent> = events
            .filter(|event| matches!(event, EndpointEvent::DialectDecided { .. }))
            .collect();
        assert_eq!(told, [EndpointEvent::DialectDecided { dialect }]);
    }
}
