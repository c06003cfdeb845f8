//! Floods from both sides, told in turns: nothing here depends on how long one takes.

use std::net::UdpSocket as Plain;
use std::time::{Duration, Instant};

use fulmar_base::{Ecn, PathId};
use fulmar_core::{Client, ClientConfig, ServerConfig};
use fulmar_datagram::Key;
use fulmar_login::TerminalColors;
use fulmar_platform::udp::UdpOptions;
use fulmar_platform::{Poller, UdpSocket};
use fulmar_settings::Environment;
use fulmar_transport::Arrival;

use super::*;
use crate::net::udp::DATAGRAMS_PER_TURN;
use crate::server::shell::Shell;
use crate::trace::Trace;

/// Longer than anything takes on a loaded machine; only a test that fails waits for it.
const PATIENCE: Duration = Duration::from_secs(60);

const PATH: PathId = PathId::new(0);

/// A server's loop with a program, and a client that is moved by hand.
struct Scene {
    event_loop: EventLoop,
    client: Client,
    socket: Plain,
    /// Everything that the client has sent, to be sent again.
    tape: Vec<Vec<u8>>,
}

impl Scene {
    /// Serves a shell that does that, until the client sees that it is ready.
    fn of(script: &str) -> Scene {
        let key = || Key::from_base64("c68K8iLyuCr1oEM7Hszyjg").unwrap();
        let bound = UdpSocket::bind(([127, 0, 0, 1], 0).into(), UdpOptions::default()).unwrap();
        let socket = Plain::bind("127.0.0.1:0").unwrap();
        socket.connect(bound.local_address().unwrap()).unwrap();
        socket.set_nonblocking(true).unwrap();
        let command = ["sh", "-c", script].map(Into::into);
        let environment: Environment = [("PATH", "/usr/bin:/bin")].into_iter().collect();
        let shell = Shell::new(&command, environment, None, TerminalColors::Palette);
        let mut client = Client::new(now(), ClientConfig::new(key(), [2; 32]));
        client.handle_path_opened(now(), PATH);
        let mut scene = Scene {
            event_loop: EventLoop {
                server: Server::new(now(), ServerConfig::new(key(), [1; 32])),
                sockets: Sockets::new(vec![bound], Trace::default()),
                program: Program::of_test(shell),
                reactor: Reactor::new(&[]).unwrap(),
                parent: None,
                control: None,
            },
            client,
            socket,
            tape: Vec::new(),
        };
        scene.turn_until("ready", |_| {});
        scene
    }

    /// Takes turns, with that before each, until the client shows a row with the text.
    fn turn_until(&mut self, wanted: &str, mut before_each: impl FnMut(&mut Scene)) {
        let began = Instant::now();
        while !self.is_shown(wanted) {
            assert!(began.elapsed() < PATIENCE, "{wanted} is never shown");
            self.client_turn();
            before_each(self);
            self.server_turn();
        }
    }

    fn server_turn(&mut self) {
        self.event_loop.wait().unwrap();
        let now = now();
        self.event_loop.take_in(now);
        assert_eq!(self.event_loop.carry_out(now), None);
    }

    fn client_turn(&mut self) {
        let now = now();
        let mut bytes = [0; 2048];
        while let Ok(length) = self.socket.recv(&mut bytes) {
            let arrival = Arrival {
                path: PATH,
                ecn: Ecn::NotCapable,
                bytes: &bytes[..length],
            };
            let _ = self.client.handle_datagram(now, arrival);
        }
        self.client.handle_timeout(now);
        let mut buffer = Vec::new();
        while let Some(transmit) = self.client.poll_transmit(now, &mut buffer) {
            for datagram in transmit.split(&buffer) {
                self.tape.push(datagram.to_vec());
                self.socket.send(datagram).unwrap();
            }
        }
    }

    /// Sends the server so many datagrams: junk, and genuine ones that it has had before, in turns.
    fn flood(&self, count: usize) {
        let junk = vec![0; 64];
        let old = self.tape.iter().cycle();
        for (nth, old) in old.take(count).enumerate() {
            let datagram = if nth % 2 == 0 { &junk } else { old };
            self.socket.send(datagram).unwrap();
        }
    }

    /// Tells if the server's socket has more than was taken.
    fn is_flooded(&self) -> bool {
        let mut poller = Poller::new();
        let sockets = &self.event_loop.sockets;
        let waited = poller.wait(Some(Duration::ZERO), |registry| sockets.register(registry));
        waited.unwrap();
        poller.ready().next().is_some()
    }

    /// Waits for output of the program.
    fn await_output(&self) {
        let mut poller = Poller::new();
        let EventLoop {
            program, server, ..
        } = &self.event_loop;
        let waited = poller.wait(Some(PATIENCE), |registry| {
            program.register(registry, server);
        });
        waited.unwrap();
        assert!(poller.ready().next().is_some(), "nothing is written");
    }

    fn is_shown(&self, wanted: &str) -> bool {
        is_on(self.client.screen(), wanted)
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.event_loop.program.end();
    }
}

fn is_on(screen: &fulmar_terminal::Screen, wanted: &str) -> bool {
    screen.rows().any(|row| {
        let mut text = String::new();
        row.push_text(&mut text);
        text.contains(wanted)
    })
}

#[test]
fn a_turn_takes_its_share_of_a_flood_and_then_serves_keys_and_the_program() {
    let mut scene = Scene::of("echo ready; exec cat");
    scene.client.handle_keys(now(), b"k");
    scene.client_turn();
    scene.flood(4 * DATAGRAMS_PER_TURN);
    // The key is first, and so is in the share of the first turn.
    scene.server_turn();
    assert!(scene.is_flooded(), "the turn has taken all");
    scene.await_output();
    scene.server_turn();
    assert!(scene.is_flooded(), "two turns have taken all");
    assert!(is_on(scene.event_loop.server.screen(), "k"));
}

#[test]
fn a_key_is_answered_although_the_socket_is_never_empty() {
    let mut scene = Scene::of("echo ready; exec cat");
    scene.flood(DATAGRAMS_PER_TURN);
    scene.client.handle_keys(now(), b"key");
    scene.turn_until("key", |scene| {
        scene.flood(DATAGRAMS_PER_TURN);
        assert!(scene.is_flooded());
    });
}

#[test]
fn an_interrupt_is_heard_in_floods_from_the_network_and_the_program_at_once() {
    let mut scene =
        Scene::of("trap : INT; echo ready; read -r x; yes flood; echo all dry; exec cat");
    scene.client.handle_keys(now(), b"\r");
    scene.turn_until("flood", |_| {});
    scene.flood(DATAGRAMS_PER_TURN);
    scene.client.handle_keys(now(), b"\x03");
    scene.turn_until("all dry", |scene| scene.flood(DATAGRAMS_PER_TURN));
}

#[test]
fn input_and_output_that_never_end_get_there_both() {
    let mut scene = Scene::of("stty raw -echo; echo ready; exec cat");
    let (mut typed, mut seen) = (0, 0);
    // More than the terminal between them holds, many times over.
    while seen < 20 {
        let word = format!("{typed:>8}");
        let words = word.repeat(512);
        scene.client.handle_keys(now(), words.as_bytes());
        typed += 1;
        scene.client_turn();
        scene.server_turn();
        let oldest = format!("{seen:>8}");
        seen = (seen..typed)
            .rev()
            .find(|number| scene.is_shown(&format!("{number:>8}")))
            .map_or(seen, |number| number + 1);
        assert!(typed < 100_000, "{oldest} is never shown");
    }
}
