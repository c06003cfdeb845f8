//! Several connections, and somebody who measures the path, on one pair of hosts.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use fulmar_sim::{CLIENT, Change, Datagram, Network, Node, Simulation, Transmit, address, ms};

use super::End;

/// The first port of the client's programs; each has the next.
const PORT: u16 = 50_000;

/// Programs of one host, told apart by the client's port.
pub struct Many {
    pub ends: Vec<End>,
    /// Round trips of small datagrams, and when they ended, at the client.
    pub pings: Vec<(Duration, Duration)>,
    /// Between two measurements of the path.
    pub between_pings: Duration,
    is_client: bool,
    next_ping: Duration,
    outbox: VecDeque<Transmit>,
}

impl Many {
    fn new(ends: Vec<End>, is_client: bool) -> Many {
        let (pings, outbox) = (Vec::new(), VecDeque::new());
        Many {
            ends,
            pings,
            between_pings: ms(20),
            is_client,
            next_ping: Duration::ZERO,
            outbox,
        }
    }

    /// The port of the one who pings.
    fn ping_port(&self) -> u16 {
        PORT + self.ends.len() as u16
    }

    fn take_ping(&mut self, now: Duration, datagram: Datagram) {
        if self.is_client {
            let sent = datagram
                .bytes
                .first_chunk()
                .map_or(0, |sent| u64::from_be_bytes(*sent));
            self.pings.push((now, now - Duration::from_nanos(sent)));
        } else {
            let answer = Transmit::to(datagram.source, datagram.bytes);
            self.outbox.push_back(answer);
        }
    }

    /// The mean and the longest round trip of small datagrams between two instants.
    pub fn ping_between(&self, from: Duration, to: Duration) -> (Duration, Duration) {
        let trips: Vec<Duration> = self
            .pings
            .iter()
            .filter(|(at, _)| (from..to).contains(at))
            .map(|(_, trip)| *trip)
            .collect();
        let sum: Duration = trips.iter().sum();
        let longest = trips.iter().max().copied().unwrap_or_default();
        (sum / trips.len().max(1) as u32, longest)
    }
}

impl Node for Many {
    fn handle_datagram(&mut self, now: Duration, datagram: Datagram) {
        let of_client = if self.is_client {
            datagram.destination
        } else {
            datagram.source
        };
        match self.ends.get_mut(usize::from(of_client.port() - PORT)) {
            Some(end) => end.handle_datagram(now, datagram),
            None => self.take_ping(now, datagram),
        }
    }

    fn handle_timeout(&mut self, now: Duration) {
        for end in &mut self.ends {
            end.handle_timeout(now);
        }
        if self.is_client && now >= self.next_ping {
            self.next_ping = now + self.between_pings;
            let mut bytes = vec![0; 100];
            bytes[..8].copy_from_slice(&(now.as_nanos() as u64).to_be_bytes());
            let ping = Transmit::to(address(super::SERVER_ADDRESS), bytes);
            self.outbox.push_back(ping.from(client(self.ping_port())));
        }
    }

    fn poll_transmit(&mut self, now: Duration) -> Option<Transmit> {
        for (number, end) in (0..).zip(&mut self.ends) {
            if let Some(transmit) = end.poll_transmit(now) {
                let from = client(PORT + number);
                return Some(if self.is_client {
                    transmit.from(from)
                } else {
                    transmit
                });
            }
        }
        self.outbox.pop_front()
    }

    fn next_timeout(&self) -> Option<Duration> {
        let pings = self.is_client.then_some(self.next_ping);
        let ends = self.ends.iter().filter_map(Node::next_timeout);
        ends.chain(pings).min()
    }
}

fn client(port: u16) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1], port))
}

/// Puts pairs of client and server on one link.
pub fn share(net: Network, pairs: Vec<(End, End)>) -> Simulation<(Many, Many)> {
    let (clients, servers): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
    let nodes = (Many::new(clients, true), Many::new(servers, false));
    let ports = PORT..=nodes.0.ping_port();
    let mut sim = Simulation::new(net, nodes);
    for port in ports {
        sim.apply(Change::Bind(CLIENT, client(port)));
    }
    sim
}
