use std::net::{SocketAddr, UdpSocket as Plain};
use std::time::Duration;

use fulmar_base::{AddressFamily, Ecn};
use fulmar_core::{ClientConfig, Server, ServerConfig};
use fulmar_datagram::Key;
use fulmar_platform::Poller;

use super::*;
use crate::clock::now;

fn key() -> Key {
    Key::from_base64("c68K8iLyuCr1oEM7Hszyjg").unwrap()
}

/// A socket of somebody who does not answer, and does not say so either.
fn silent(address: &str) -> Plain {
    let socket = Plain::bind(format!("{address}:0")).unwrap();
    socket.set_nonblocking(true).unwrap();
    socket
}

/// Returns the number of datagrams that have come.
fn count(socket: &Plain) -> usize {
    let mut buffer = [0; 2048];
    std::iter::from_fn(|| socket.recv(&mut buffer).ok()).count()
}

/// A real server core behind a socket.
struct Far {
    core: Server,
    socket: Plain,
    buffer: Vec<u8>,
    from: Option<SocketAddr>,
}

impl Far {
    fn at(address: &str) -> Far {
        Far {
            core: Server::new(now(), ServerConfig::new(key(), [2; 32])),
            socket: silent(address),
            buffer: Vec::new(),
            from: None,
        }
    }

    /// Takes what has come and answers.
    fn turn(&mut self, now: Time) {
        let mut bytes = [0; 2048];
        while let Ok((length, from)) = self.socket.recv_from(&mut bytes) {
            self.from = Some(from);
            let arrival = Arrival {
                path: PathId::new(0),
                ecn: Ecn::NotCapable,
                bytes: &bytes[..length],
            };
            self.core.handle_datagram(now, arrival);
        }
        self.core.handle_timeout(now);
        while let Some(transmit) = self.core.poll_transmit(now, &mut self.buffer) {
            for datagram in transmit.split(&self.buffer) {
                self.socket.send_to(datagram, self.from.unwrap()).unwrap();
            }
        }
    }
}

/// A client and its sockets.
struct Near {
    core: Client,
    sockets: Sockets,
}

impl Near {
    fn to(candidates: CandidateAddresses) -> Near {
        let mut near = Near {
            core: Client::new(now(), ClientConfig::new(key(), [1; 32])),
            sockets: Sockets::new(
                candidates,
                Ways::new(now(), fulmar_core::WayPreference::Auto),
                Trace::default(),
            ),
        };
        near.open(now());
        near
    }

    fn open(&mut self, now: Time) -> PathId {
        let path = self.sockets.open().unwrap();
        self.core.handle_path_opened(now, path);
        path
    }

    /// Sends what is due, and takes what has come of it.
    fn turn(&mut self, now: Time) {
        self.core.handle_timeout(now);
        self.sockets.transmit(now, &mut self.core);
        self.sockets.begin_turn();
        self.sockets.resume(now, &mut self.core);
        for index in 0..self.sockets.sockets.open_ports().len() {
            self.sockets.receive(now, index, &mut self.core);
        }
        self.sockets.end_turn();
    }

    /// Waits until something has come to it, but for errors.
    fn wait(&self) {
        let limit = Some(Duration::from_secs(30));
        let mut poller = Poller::new();
        poller
            .wait(limit, |registry| self.sockets.register(registry))
            .unwrap();
    }

    fn connect(&mut self, far: &mut Far) {
        self.turn_until(|near| {
            far.turn(now());
            near.sockets.candidates().peer().is_some()
        });
    }

    fn turn_until(&mut self, mut is_done: impl FnMut(&Near) -> bool) {
        for _ in 0..100 {
            self.turn(now());
            if is_done(self) {
                return;
            }
            self.wait();
        }
        panic!("it did not come");
    }
}

fn address(socket: &Plain) -> SocketAddr {
    socket.local_addr().unwrap()
}

/// An address where nobody listens, and the system says so.
fn closed() -> SocketAddr {
    address(&silent("127.0.0.2"))
}

#[test]
fn of_several_addresses_the_one_that_answers_is_used_from_then_on() {
    let mut far = Far::at("127.0.0.1");
    let mute = silent("127.0.0.3");
    let candidates = [closed(), address(&mute), address(&far.socket)];
    let mut near = Near::to(CandidateAddresses::found(candidates));
    near.connect(&mut far);
    let peer = near.sockets.candidates().peer();
    assert_eq!(peer, Some(address(&far.socket)));
    assert!(count(&mute) > 0, "all are tried");
    near.core.handle_keys(now(), b"x");
    let mut later = now();
    for _ in 0..10 {
        near.turn(later);
        far.turn(later);
        later += Duration::from_secs(1);
    }
    assert_eq!(count(&mute), 0, "the others are left alone");
}

#[test]
fn both_families_are_tried_and_the_other_ones_sockets_are_closed() {
    let v6 = Plain::bind("[::1]:0");
    let Ok(v6) = v6 else {
        return fulmar_platform::leave_out("this machine has no IPv6");
    };
    v6.set_nonblocking(true).unwrap();
    let mut far = Far::at("127.0.0.1");
    let candidates = [address(&v6), address(&far.socket)];
    let mut near = Near::to(CandidateAddresses::found(candidates));
    near.open(now());
    assert_eq!(
        near.sockets.sockets.open_ports().len(),
        4,
        "two paths of two families"
    );
    near.connect(&mut far);
    assert!(count(&v6) > 0);
    assert_eq!(near.sockets.sockets.open_ports().len(), 2);
    assert!(
        near.sockets
            .sockets
            .open_ports()
            .iter()
            .all(|open| open.family == AddressFamily::Ipv4)
    );
    let path = near.open(now());
    assert_eq!(near.sockets.sockets.open_ports().len(), 3);
    near.sockets.close(path);
    assert_eq!(near.sockets.sockets.open_ports().len(), 2);
}

#[test]
fn a_silent_address_gets_twenty_datagrams_in_all() {
    let mute = [silent("127.0.0.1"), silent("127.0.0.3")];
    let mut near = Near::to(CandidateAddresses::found(mute.iter().map(address)));
    let mut counts = [0; 2];
    let mut moment = now();
    // A minute of somebody typing.
    for _ in 0..600 {
        moment += Duration::from_millis(100);
        near.core.handle_keys(moment, b"x");
        near.turn(moment);
        for (total, socket) in counts.iter_mut().zip(&mute) {
            *total += count(socket);
        }
    }
    assert_eq!(counts, [20; 2]);
}

#[test]
fn a_refusal_is_the_clients_business_only_if_nobody_is_left() {
    let mute = silent("127.0.0.3");
    let mut near = Near::to(CandidateAddresses::found([closed(), address(&mute)]));
    near.turn_until(|near| near.sockets.candidates().tried()[0].error.is_some());
    assert_eq!(near.core.link_info().counters.send_errors, 0);
    let tried = near.sockets.candidates().tried();
    assert_eq!(tried[0].error, Some(SendError::Refused));
    assert_eq!(tried[1].error, None);

    let mut near = Near::to(CandidateAddresses::found([closed()]));
    near.turn_until(|near| near.core.link_info().counters.send_errors > 0);
}
