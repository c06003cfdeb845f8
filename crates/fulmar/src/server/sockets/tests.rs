use std::net::UdpSocket as Plain;
use std::time::Duration;

use fulmar_base::Ecn;
use fulmar_core::{Client, ClientConfig, ServerConfig};
use fulmar_datagram::Key;
use fulmar_platform::Poller;
use fulmar_platform::udp::UdpOptions;

use super::*;
use crate::clock::now;
use crate::net::udp::DATAGRAMS_PER_TURN;

/// Ports that somebody else sends from: more than the table of paths has room for.
const OTHERS: usize = 200;

fn key() -> Key {
    Key::from_base64("c68K8iLyuCr1oEM7Hszyjg").unwrap()
}

fn plain() -> Plain {
    Plain::bind("127.0.0.1:0").unwrap()
}

/// A server behind its sockets, and a client of which every datagram is recorded.
struct Scene {
    server: Server,
    sockets: Sockets,
    client: Client,
    client_socket: Plain,
    tape: Vec<Vec<u8>>,
}

impl Scene {
    fn new() -> Scene {
        let anywhere = ([127, 0, 0, 1], 0).into();
        let socket = UdpSocket::bind(anywhere, UdpOptions::default()).unwrap();
        let client_socket = plain();
        client_socket
            .connect(socket.local_address().unwrap())
            .unwrap();
        client_socket.set_nonblocking(true).unwrap();
        let mut client = Client::new(now(), ClientConfig::new(key(), [1; 32]));
        let path = PathId::new(0);
        client.handle_path_opened(now(), path);
        Scene {
            server: Server::new(now(), ServerConfig::new(key(), [2; 32])),
            sockets: Sockets::new(vec![socket], Trace::default()),
            client,
            client_socket,
            tape: Vec::new(),
        }
    }

    /// Has both ends say what they have to say at that moment.
    fn turn(&mut self, now: Time) {
        self.client.handle_timeout(now);
        let mut buffer = Vec::new();
        while let Some(transmit) = self.client.poll_transmit(now, &mut buffer) {
            for datagram in transmit.split(&buffer) {
                self.tape.push(datagram.to_vec());
                self.client_socket.send(datagram).unwrap();
                self.take(now);
            }
        }
        self.server.handle_timeout(now);
        self.sockets.transmit(now, &mut self.server);
        let mut bytes = [0; 2048];
        while let Ok(length) = self.client_socket.recv(&mut bytes) {
            let arrival = Arrival {
                path: PathId::new(0),
                ecn: Ecn::NotCapable,
                bytes: &bytes[..length],
            };
            let _ = self.client.handle_datagram(now, arrival);
        }
    }

    /// Has the server take what has come to it.
    fn take(&mut self, now: Time) {
        let mut poller = Poller::new();
        let limit = Some(Duration::from_secs(30));
        poller
            .wait(limit, |registry| self.sockets.register(registry))
            .unwrap();
        self.sockets.begin_turn();
        self.sockets.resume(now, &mut self.server);
        self.sockets.receive(now, 0, &mut self.server);
    }

    /// The same; returns how much work the program's output may make then.
    fn take_for_work(&mut self, now: Time) -> u64 {
        self.take(now);
        self.sockets.output_work()
    }

    /// Sends bytes to the server from a port of somebody else.
    fn reach(&mut self, now: Time, from: &Plain, bytes: &[u8]) {
        let server = self.client_socket.peer_addr().unwrap();
        from.send_to(bytes, server).unwrap();
        self.take(now);
    }
}

/// Letters that take several datagrams.
fn words(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut letter = || {
        // Knuth's generator: its high bits leave nothing to compress.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        b'a' + (state >> 33) as u8 % 26
    };
    std::iter::repeat_with(&mut letter).take(8000).collect()
}

/// A session in which a lot was typed: of most of what was said the states are long forgotten.
fn session() -> (Scene, Time) {
    let (mut scene, mut moment) = (Scene::new(), now());
    for turn in 0..60 {
        scene.client.handle_keys(moment, &words(turn));
        for _ in 0..6 {
            moment += Duration::from_millis(50);
            scene.turn(moment);
        }
    }
    (scene, moment)
}

#[test]
fn repeating_and_forging_change_nothing_about_the_paths() {
    let (mut scene, moment) = session();
    let others: Vec<Plain> = std::iter::repeat_with(plain).take(OTHERS).collect();
    let before = format!("{:?}", scene.sockets.sockets.paths());
    assert!(before.contains("PathAddresses"), "{before}");
    let tape = scene.tape.clone();
    for (nth, datagram) in tape.iter().enumerate() {
        let mut forged = datagram.clone();
        forged[nth % datagram.len()] ^= 1;
        for bytes in [datagram, &forged] {
            let other = &others[nth % others.len()];
            scene.reach(moment, other, bytes);
        }
    }
    assert!(tape.len() > OTHERS, "{} datagrams", tape.len());
    assert_eq!(format!("{:?}", scene.sockets.sockets.paths()), before);
}

#[test]
fn output_waits_for_datagrams_that_are_more_than_a_turn_takes() {
    let (mut scene, moment) = (Scene::new(), now());
    let server = scene.client_socket.peer_addr().unwrap();
    let junk = |count| {
        let other = plain();
        for _ in 0..count {
            other.send_to(&[0; 64], server).unwrap();
        }
    };
    junk(DATAGRAMS_PER_TURN - 1);
    let usual = scene.take_for_work(moment);
    junk(DATAGRAMS_PER_TURN + 1);
    let under_flood = scene.take_for_work(moment);
    assert!(usual > 16 * under_flood, "{usual} and {under_flood}");
    assert_eq!(scene.take_for_work(moment), usual);
}
