//! Absurd differences make an end keep no more than it may, even if their sender lets go of nothing.

use fulmar_base::{Ecn, PathId, Time};
use fulmar_core::{HostScreen, UserStream};
use fulmar_datagram::{Direction, Key, Opener, Sealer, Stamps};
use fulmar_terminal::Size;
use fulmar_transport::{
    Arrival, Deflater, Endpoint, EndpointConfig, Fragmenter, Instruction, Noise, Numbers, Role,
    Synced,
};

use crate::messages;
use crate::mutations::of_message;

/// Source: docs/threat-model.md §6, received states.
const RECEIVED_STATES_MAX: usize = 64;
const RECEIVED_BYTES_MAX: usize = 64 * 1024 * 1024;

struct Silence;

impl Noise for Silence {
    fn fill(&mut self, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}

fn key() -> Key {
    Key::from_bytes([1; 16].into())
}

/// Says every absurd difference, each from the newest state to the next, and returns how many were taken.
fn taken<L: Synced, R: Synced>(role: Role, local: L, remote: R) -> u64 {
    let (from, to) = match role {
        Role::Client => (Direction::ToClient, Direction::ToServer),
        Role::Server => (Direction::ToServer, Direction::ToClient),
    };
    let config = EndpointConfig {
        role,
        datagram_bytes: 1252,
        agreement: None,
    };
    let (opener, noise) = (Opener::new(&key(), from), Box::new(Silence));
    let sealer = Sealer::new(key(), to);
    let now = Time::ZERO;
    let mut endpoint = Endpoint::new(now, config, sealer, opener, local, remote, noise);
    let mut sealer = Sealer::new(key(), from);
    let (mut id, mut compressed, mut datagram) = (0, Vec::new(), Vec::new());
    let (messages, outermost) = messages(role);
    for (what, difference) in of_message(&messages, outermost) {
        let newest = endpoint.remote_number();
        let numbers = Numbers {
            source: newest,
            target: newest.next(),
            ..Numbers::default()
        };
        let mut instruction = Vec::new();
        Instruction::new(numbers, &difference, b"").encode(&mut instruction);
        compressed.clear();
        Deflater::new().deflate(&instruction, &mut compressed);
        id += 1;
        let fragments = Fragmenter::new(id, std::mem::take(&mut compressed), 1252);
        let mut fragments = fragments.expect("few enough");
        while let Some(fragment) = fragments.take() {
            datagram.clear();
            let sealed = sealer.seal(Stamps::NONE, fragment, &mut datagram);
            sealed.expect("the key is not spent");
            let arrival = Arrival {
                path: PathId::new(1),
                ecn: Ecn::NotCapable,
                bytes: &datagram,
            };
            let _ = endpoint.handle_datagram(now, arrival);
        }
        let receiver = endpoint.receiver();
        assert!(receiver.count() <= RECEIVED_STATES_MAX + 1, "{what}");
        // The floor and the newest are kept, however large they are.
        let newest = receiver.newest().held_bytes(None);
        let bytes = receiver.held_bytes();
        assert!(bytes <= RECEIVED_BYTES_MAX + 2 * newest, "{what}: {bytes}");
    }
    endpoint.remote_number().get()
}

#[test]
fn no_more_states_are_kept_than_may_be_whatever_they_hold() {
    let blank = HostScreen::blank(Size::default());
    let screens = taken(Role::Client, UserStream::writing(), blank.clone());
    let streams = taken(Role::Server, blank, UserStream::reading());
    let enough = 2 * RECEIVED_STATES_MAX as u64;
    assert!(screens > enough, "{screens} differences were taken");
    assert!(streams > enough, "{streams} differences were taken");
}
