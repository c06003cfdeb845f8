//! Floods from both sides, told in turns: nothing here depends on how long one takes.

use std::net::{SocketAddr, UdpSocket as Plain};
use std::time::Instant;

use fulmar_base::{Ecn, PathId};
use fulmar_core::{ClientConfig, OuterTerminal, Server, ServerConfig};
use fulmar_datagram::Key;
use fulmar_login::CandidateAddresses;
use fulmar_platform::pty::{self, Slave};
use fulmar_platform::{Master, Poller, Transfer, Tty, WindowSize};
use fulmar_transport::Arrival;
use fulmar_transport::limits::TURN_WORK_MAX;

use super::*;
use crate::net::udp::DATAGRAMS_PER_TURN;
use crate::steps::Verbosity;
use crate::trace::Trace;

/// Longer than anything takes on a loaded machine; only a test that fails waits for it.
const PATIENCE: Duration = Duration::from_secs(60);

const PATH: PathId = PathId::new(0);

/// A client's loop on a terminal, and a server that is moved by hand.
struct Scene {
    event_loop: EventLoop,
    /// The other end of the client's terminal.
    user: Master,
    _terminal: Slave,
    /// Everything that was written to the terminal.
    drawn: Vec<u8>,
    server: Server,
    socket: Plain,
    from: Option<SocketAddr>,
    /// Everything that the program has got.
    typed: Vec<u8>,
}

impl Scene {
    /// Returns a session of which either end has heard the other.
    fn new() -> Scene {
        Scene::with(OuterTerminal::default())
    }

    /// The same, for that terminal.
    fn with(outer: OuterTerminal) -> Scene {
        let key = || Key::from_base64("c68K8iLyuCr1oEM7Hszyjg").unwrap();
        let size = WindowSize {
            rows: 24,
            columns: 80,
        };
        let (user, terminal) = pty::open(size).unwrap();
        let socket = Plain::bind("127.0.0.1:0").unwrap();
        socket.set_nonblocking(true).unwrap();
        let candidates = CandidateAddresses::named(socket.local_addr().unwrap());
        let config = ClientConfig {
            outer,
            ..ClientConfig::new(key(), [2; 32])
        };
        let mut scene = Scene {
            event_loop: EventLoop {
                pager: None,
                client: Client::new(now(), config),
                sockets: Sockets::new(
                    candidates,
                    fulmar_core::Ways::new(now(), fulmar_core::WayPreference::Auto),
                    Trace::default(),
                ),
                over_ssh: OverSsh::none(),
                terminal: Terminal::enter(Tty::open(&terminal).unwrap()).unwrap(),
                reactor: Reactor::new(&[]).unwrap(),
                login: None,
                goodbye_until: None,
                warnings: Vec::new(),
                steps: Steps::begin(now(), Verbosity::Usual),
                ended_by: None,
                is_cut_off: false,
                is_answer_late: false,
                trouble: None,
            },
            user,
            _terminal: terminal,
            drawn: Vec::new(),
            server: Server::new(now(), ServerConfig::new(key(), [1; 32])),
            socket,
            from: None,
            typed: Vec::new(),
        };
        let path = scene.event_loop.sockets.open().unwrap();
        scene.event_loop.client.handle_path_opened(now(), path);
        scene.turn_until(
            |scene| scene.event_loop.client.is_connected() && scene.from.is_some(),
            |_| {},
        );
        scene
    }

    /// Takes turns, with that before each, until something is so.
    fn turn_until(
        &mut self,
        mut is_so: impl FnMut(&Scene) -> bool,
        mut before_each: impl FnMut(&mut Scene),
    ) {
        let began = Instant::now();
        while !is_so(self) {
            assert!(began.elapsed() < PATIENCE, "it never is");
            before_each(self);
            self.client_turn();
            self.server_turn();
        }
    }

    fn client_turn(&mut self) {
        assert_eq!(self.event_loop.carry_out(now()), None);
        self.event_loop.wait().unwrap();
        self.event_loop.take_in(now());
        let mut drawn = [0; 65_536];
        while let Ok(Transfer::Bytes(count)) = self.user.read(&mut drawn) {
            self.drawn.extend_from_slice(&drawn[..count]);
        }
    }

    fn server_turn(&mut self) {
        let now = now();
        let mut bytes = [0; 2048];
        while let Ok((length, from)) = self.socket.recv_from(&mut bytes) {
            self.from = Some(from);
            let arrival = Arrival {
                path: PATH,
                ecn: Ecn::NotCapable,
                bytes: &bytes[..length],
            };
            let _ = self.server.handle_datagram(now, arrival);
        }
        self.server.handle_timeout(now);
        while self.server.poll_event().is_some() {}
        while !self.server.pty_input().is_empty() {
            let taken = self.server.pty_input().len();
            self.typed.extend_from_slice(self.server.pty_input());
            self.server.pty_taken(now, taken);
        }
        let mut buffer = Vec::new();
        while let Some(transmit) = self.server.poll_transmit(now, &mut buffer) {
            for datagram in transmit.split(&buffer) {
                self.socket.send_to(datagram, self.from.unwrap()).unwrap();
            }
        }
    }

    fn program_writes(&mut self, text: &[u8]) {
        let taken = self.server.handle_pty_output(now(), text, TURN_WORK_MAX);
        assert_eq!(taken, text.len());
    }

    /// Sends the client so many datagrams of junk.
    fn flood(&self, count: usize) {
        for _ in 0..count {
            self.socket.send_to(&[0; 64], self.from.unwrap()).unwrap();
        }
    }

    /// Tells if the client's socket has more than was taken.
    fn is_flooded(&self) -> bool {
        let mut poller = Poller::new();
        let sockets = &self.event_loop.sockets;
        let waited = poller.wait(Some(Duration::ZERO), |registry| sockets.register(registry));
        waited.unwrap();
        poller.ready().next().is_some()
    }

    /// Tells if keys can be read from the client's terminal, at that time at the latest.
    fn has_keys(&self, limit: Duration) -> bool {
        let terminal = &self.event_loop.terminal;
        let mut poller = Poller::new();
        let waited = poller.wait(Some(limit), |registry| terminal.register(registry, true));
        waited.unwrap();
        poller.ready().next().is_some()
    }

    fn has_drawn(&self, text: &[u8]) -> bool {
        self.drawn.windows(text.len()).any(|part| part == text)
    }
}

#[test]
fn a_turn_takes_its_share_of_a_flood_and_then_the_keys() {
    let mut scene = Scene::new();
    scene.flood(4 * DATAGRAMS_PER_TURN);
    let _ = scene.user.write(b"k").unwrap();
    assert!(scene.has_keys(PATIENCE), "the terminal has no key");
    scene.client_turn();
    assert!(scene.is_flooded(), "the turn has taken all");
    assert!(!scene.has_keys(Duration::ZERO), "the key was not read");
    scene.turn_until(|scene| scene.typed == b"k", |_| {});
}

#[test]
fn a_screen_is_drawn_and_keys_leave_although_neither_socket_nor_terminal_is_ever_empty() {
    let mut scene = Scene::new();
    scene.flood(DATAGRAMS_PER_TURN);
    scene.program_writes(b"an answer");
    scene.turn_until(
        |scene| scene.has_drawn(b"answer") && scene.typed.len() > 100_000,
        |scene| {
            scene.flood(DATAGRAMS_PER_TURN);
            // As much as it takes.
            while let Ok(Transfer::Bytes(1..)) = scene.user.write(&[b'k'; 4096]) {}
            assert!(scene.is_flooded());
        },
    );
    assert!(scene.typed.iter().all(|key| *key == b'k'));
}

#[test]
fn what_the_terminal_has_answered_is_read_before_it_is_given_back() {
    let mut scene = Scene::with(OuterTerminal {
        is_asked: true,
        ..OuterTerminal::default()
    });
    let is_asked = |scene: &Scene| scene.event_loop.client.answers_due().is_some();
    scene.turn_until(is_asked, |_| {});
    let answers = b"\x1b[?2026;2$y\x1b[?62;22c";
    let written = scene.user.write(answers).unwrap();
    assert_eq!(written, Transfer::Bytes(answers.len()));
    scene.event_loop.give_back();
    assert!(!is_asked(&scene));
    assert_eq!(scene.typed, b"");
}
