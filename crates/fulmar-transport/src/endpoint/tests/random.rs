//! Whatever happens in whatever order, an endpoint keeps its promises.

use std::collections::BTreeSet;

use fulmar_datagram::Direction;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::limits::UNVALIDATED_BYTES_MAX;

/// Something that can happen to an endpoint.
#[derive(Clone, Debug)]
enum Step {
    Pass(u64),
    Hear {
        numbers: [u64; 4],
        bytes: usize,
        path: u64,
    },
    Junk(Vec<u8>),
    Write(usize, u8),
    Hint(u8),
    Fail(SendError),
    Hold(bool),
    Shutdown,
}

fn step() -> impl Strategy<Value = Step> {
    let number = prop_oneof![12 => 0..20_u64, 1 => Just(u64::MAX), 1 => any::<u64>()];
    let numbers = [number.clone(), number.clone(), number.clone(), number];
    let error = prop_oneof![Just(SendError::TooBig), Just(SendError::Unreachable)];
    prop_oneof![
        4 => prop_oneof![0..50_u64, 0..5000_u64, Just(100_000)].prop_map(Step::Pass),
        8 => (numbers, 0..300_usize, 0..4_u64)
            .prop_map(|(numbers, bytes, path)| Step::Hear { numbers, bytes, path }),
        1 => vec(any::<u8>(), 0..80).prop_map(Step::Junk),
        4 => (0..BOARD_CELLS - 500, any::<u8>()).prop_map(|(at, seed)| Step::Write(at, seed)),
        1 => (0..3_u8).prop_map(Step::Hint),
        1 => error.prop_map(Step::Fail),
        1 => any::<bool>().prop_map(Step::Hold),
        1 => Just(Step::Shutdown),
    ]
}

/// A server, and what is known of it from outside.
struct Watched {
    now: Time,
    server: Server,
    board: Board,
    raw_peer: RawPeer,
    /// The bytes sent to the current path, heartbeats apart, since the server moved there; `None` once it is validated.
    unvalidated: Option<usize>,
    validated: BTreeSet<PathId>,
}

impl Watched {
    fn new() -> Watched {
        Watched {
            now: at(0),
            server: server(),
            board: Board::blank(BOARD_CELLS),
            raw_peer: RawPeer::new(Direction::ToServer),
            unvalidated: Some(0),
            validated: BTreeSet::new(),
        }
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Pass(millis) => self.pass(ms(*millis)),
            Step::Hear {
                numbers,
                bytes,
                path,
            } => {
                let bytes = instruction(*numbers, &vec![b'x'; *bytes]);
                for datagram in self.raw_peer.say(&bytes) {
                    self.hear(*path, &datagram);
                }
            }
            Step::Junk(bytes) => self.hear(9, bytes),
            Step::Write(place, seed) => {
                let text: Vec<u8> = (0..500_u32).map(|n| ((n * n) >> 3) as u8 ^ seed).collect();
                self.board.write(*place, &text);
                self.server.set_local(self.now, self.board.clone());
            }
            Step::Hint(0) => self.server.handle_hint(self.now, Hint::LinkUp),
            Step::Hint(1) => self.server.handle_hint(self.now, Hint::AddressChanged),
            Step::Hint(_) => {
                let slept = ms(1000);
                self.server.handle_hint(self.now, Hint::Woke { slept });
            }
            Step::Fail(error) => {
                if let Some(path) = self.server.path() {
                    self.server.handle_send_error(self.now, path, *error);
                }
            }
            Step::Hold(true) => self.server.set_intake(Intake::Held),
            Step::Hold(false) => self.server.set_intake(Intake::Open),
            Step::Shutdown => self.server.start_shutdown(self.now),
        }
        self.drain();
    }

    fn hear(&mut self, path: u64, bytes: &[u8]) {
        let arrival = arrival(PathId::new(path), bytes);
        let _ = self.server.handle_datagram(self.now, arrival);
    }

    /// Lets time pass from one deadline to the next.
    fn pass(&mut self, span: Duration) {
        let end = self.now + span;
        self.drain();
        while let Some((due, _)) = self.server.poll_timeout()
            && due <= end
        {
            self.now = due;
            self.server.handle_timeout(self.now);
            self.drain();
        }
        self.now = end;
    }

    fn drain(&mut self) {
        self.fetch_events();
        let mut out = Vec::new();
        let mut count = 0;
        while let Some(transmit) = self.server.poll_transmit(self.now, &mut out) {
            count += 1;
            assert!(count < 50, "no end of datagrams");
            assert_eq!(out.len(), transmit.length);
            assert!(transmit.segment <= 1252 && transmit.datagrams() <= 64);
            if let Some(bytes) = &mut self.unvalidated
                && transmit.cause != Cause::Heartbeat
            {
                *bytes += transmit.length;
                assert!(*bytes <= UNVALIDATED_BYTES_MAX, "{bytes} bytes");
            }
            self.fetch_events();
        }
        if let Some((due, cause)) = self.server.poll_timeout() {
            assert!(due > self.now, "woken for {cause} without progress");
        }
        assert!(self.server.receiver().count() <= 65);
        assert!(self.server.sender().count() <= 32);
    }

    fn fetch_events(&mut self) {
        while let Some(event) = self.server.poll_event() {
            match event {
                // Where it was validated before it may still be; else it has had nothing, or less.
                EndpointEvent::PeerMoved { path } => {
                    self.unvalidated = (!self.validated.contains(&path)).then_some(0);
                }
                EndpointEvent::PathValidated { path } => {
                    self.validated.insert(path);
                    self.unvalidated = None;
                }
                _ => {}
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn no_promise_is_ever_broken(steps in vec(step(), 1..120)) {
        let mut watched = Watched::new();
        for step in &steps {
            watched.take(step);
        }
        watched.pass(ms(20_000));
    }
}
