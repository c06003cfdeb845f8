//! Probes of the path's MTU, of peers that are honest and of others.

use super::*;
use crate::{Digest, Extensions, Numbers, Terms};

const SIZES: Terms = Terms {
    sizes: true,
    ..Terms::of(Digest::new([1; Digest::BYTES]))
};

/// A client that says what it wants, and a server that may probe.
struct Attack {
    peer: RawPeer,
    server: Server,
    /// The number of the client's last state.
    state: u64,
    now: u64,
}

/// Returns a server that has heard of the agreement, and its client.
fn attack(agreement: Option<Terms>) -> Attack {
    let mut attack = Attack {
        peer: RawPeer::new(Direction::ToServer),
        server: server_with(agreement),
        state: 0,
        now: 0,
    };
    let digest = Extensions {
        digest: Some(SIZES.digest.as_bytes()),
        ..Extensions::default()
    };
    attack.says(0, digest);
    attack.sends();
    attack
}

impl Attack {
    /// Has the server hear an instruction with those fields after so long. Returns the last datagram.
    fn says(&mut self, after: u64, extensions: Extensions<'_>) -> Vec<u8> {
        self.now += after;
        let numbers = Numbers {
            source: StateNumber::new(self.state),
            target: StateNumber::new(self.state + 1),
            acknowledged: self.server.sent_number(),
            throwaway: StateNumber::new(self.state),
        };
        self.state += 1;
        let mut bytes = Vec::new();
        let instruction = Instruction {
            extensions,
            ..Instruction::new(numbers, b"", b"")
        };
        instruction.encode(&mut bytes);
        let datagrams = self.peer.say(&bytes);
        for bytes in &datagrams {
            let _ = self
                .server
                .handle_datagram(at(self.now), arrival(SERVER_PATH, bytes));
        }
        datagrams.into_iter().last().unwrap()
    }

    /// Has the server hear a probe after so long.
    fn probes(&mut self, after: u64, padding: &[u8]) -> Vec<u8> {
        let extensions = Extensions {
            padding: Some(padding),
            ..Extensions::default()
        };
        self.says(after, extensions)
    }

    fn sends(&mut self) -> Vec<Cause> {
        let sent = drain(&mut self.server, at(self.now));
        sent.iter().map(|transmit| transmit.cause).collect()
    }

    /// Has the program draw what takes several datagrams, and the server send its probe. Returns its number.
    fn is_probed(&mut self) -> u64 {
        let mut board = Board::blank(BOARD_CELLS);
        let noise = |n: u32| (n.wrapping_mul(2_654_435_761) >> 24) as u8 | 1;
        board.write(0, &(0..1500).map(noise).collect::<Vec<_>>());
        self.now += 1000;
        self.server.set_local(at(self.now), board);
        self.now += 8;
        let sent = drain(&mut self.server, at(self.now));
        assert!(sent.iter().any(|transmit| transmit.datagrams() > 1));
        // An acknowledgement validates the path, and makes room.
        self.says(40, Extensions::default());
        let sent = drain(&mut self.server, at(self.now));
        let probe = sent.iter().find(|sent| sent.cause == Cause::SizeProbe);
        let probe = probe.expect("it has sent something long");
        assert!(probe.must_stay_whole());
        assert_eq!((probe.length, probe.datagrams()), (1472, 1));
        probe.numbers.sequence.get()
    }
}

#[test]
fn a_probe_is_answered_at_once_and_once() {
    let mut attack = attack(Some(SIZES));
    attack.probes(500, &[0; 1300]);
    assert_eq!(attack.sends(), [Cause::Answer]);
    attack.now += 50;
    assert_eq!(attack.sends(), []);
}

#[test]
fn a_probe_that_is_played_again_is_not_answered_again() {
    let mut attack = attack(Some(SIZES));
    let datagram = attack.probes(500, &[0; 1300]);
    attack.sends();
    attack.now += 500;
    let now = at(attack.now);
    let again = attack
        .server
        .handle_datagram(now, arrival(SERVER_PATH, &datagram));
    assert!(!again.is_fresh());
    assert_eq!(attack.sends(), []);
}

#[test]
fn a_flood_of_probes_is_answered_ten_times_a_second() {
    let mut attack = attack(Some(SIZES));
    let mut answers = 0;
    for _ in 0..1000 {
        attack.probes(1, &[0; 1300]);
        answers += attack.sends().len();
    }
    assert!((9..=11).contains(&answers), "{answers}");
}

#[test]
fn padding_of_any_length_is_answered_and_nothing_else() {
    let mut attack = attack(Some(SIZES));
    for length in [0, 1, 5000, 2_000_000] {
        attack.probes(500, &vec![0; length]);
        assert_eq!(attack.sends(), [Cause::Answer], "{length}");
        assert_eq!(attack.server.datagram_bytes(), 1252);
    }
}

#[test]
fn whoever_has_not_agreed_does_not_answer() {
    let mut attack = attack(None);
    attack.probes(500, &[0; 1300]);
    assert_eq!(attack.sends(), []);
}

#[test]
fn answers_that_nobody_has_asked_for_change_nothing() {
    let mut attack = attack(Some(SIZES));
    let mut claims = |numbers: &[u64]| {
        for &probed in numbers {
            let extensions = Extensions {
                probed: Some(probed),
                ..Extensions::default()
            };
            attack.says(10, extensions);
            assert_eq!(attack.server.datagram_bytes(), 1252, "{probed}");
        }
    };
    claims(&[0, 1, 2, 3, 1 << 62, u64::MAX]);
    let number = attack.is_probed();
    let mut claims = |numbers: &[u64]| {
        for &probed in numbers {
            let extensions = Extensions {
                probed: Some(probed),
                ..Extensions::default()
            };
            attack.says(10, extensions);
        }
        attack.server.datagram_bytes()
    };
    assert_eq!(claims(&[0, number - 1, number + 1, u64::MAX]), 1252);
    assert_eq!(claims(&[number]), 1472);
}

#[test]
fn a_probe_that_our_own_system_refuses_is_no_trouble() {
    let mut attack = attack(Some(SIZES));
    attack.is_probed();
    let now = at(attack.now);
    let refused =
        |server: &mut Server| server.handle_send_error(now, SERVER_PATH, SendError::TooBig);
    assert!(!refused(&mut attack.server));
    assert_eq!(attack.server.datagram_bytes(), 1252);
    assert_eq!(attack.server.counters().send_errors, 0);
    // The next length is tried at once; what is refused without a probe is something else.
    assert_eq!(attack.sends(), [Cause::SizeProbe]);
    assert!(!refused(&mut attack.server));
    attack.server.handle_hint(now, Hint::LinkUp);
    assert!(refused(&mut attack.server));
    assert_eq!(attack.server.datagram_bytes(), 500);
}

#[test]
fn a_path_that_is_not_validated_is_not_probed() {
    let mut attack = attack(Some(SIZES));
    let elsewhere = PathId::new(9);
    let bytes = attack.peer.say(&instruction([1, 2, 0, 1], b""));
    let moved = attack
        .server
        .handle_datagram(at(100), arrival(elsewhere, &bytes[0]));
    assert!(moved.is_fresh());
    let mut board = Board::blank(BOARD_CELLS);
    board.write(0, &[b'x'; 1500]);
    attack.server.set_local(at(4000), board);
    for now in [4008, 6000, 8000] {
        attack.now = now;
        assert!(!attack.sends().contains(&Cause::SizeProbe));
    }
}
