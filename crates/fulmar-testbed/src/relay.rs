//! A network between client and server, small enough for one thread: it loses, delays, counts, can
//! be cut, and moves the client to other addresses.

use std::collections::VecDeque;
use std::io::{self, PipeReader, PipeWriter, Write as _};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fulmar_platform::{Interest, Poller};
use fulmar_sim::{Chance, Random};

/// The bytes that are received at once. Source: RFC 768, whose length has 16 bits.
const DATAGRAM_MAX: usize = 65_536;

/// The addresses left behind that are kept. Chosen by eye: nobody sends to the client's address of so long ago.
const LEFT_BEHIND_MAX: usize = 64;

/// Passes datagrams on until it is dropped.
pub struct Relay {
    port: u16,
    network: Arc<Mutex<Network>>,
    wake: PipeWriter,
    thread: Option<JoinHandle<()>>,
}

/// The direction of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Up,
    Down,
}

/// The traffic that has passed in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// Datagrams, the empty ones too.
    pub datagrams: u64,
    /// UDP payload only.
    pub bytes: u64,
}

impl Passed {
    fn add(&mut self, length: usize) {
        self.datagrams += 1;
        self.bytes += length as u64;
    }
}

struct Network {
    is_over: bool,
    is_cut: bool,
    /// The number of the client's next datagrams that are lost.
    doomed: u64,
    loss: Chance,
    random: Random,
    delay: Duration,
    /// The socket that the client talks to.
    outside: Arc<UdpSocket>,
    /// The socket whose address the server sees.
    inside: Arc<UdpSocket>,
    /// Sockets of the last addresses left behind: open, so that nothing comes back from there, and deaf.
    left_behind: VecDeque<Arc<UdpSocket>>,
    /// The address from which the client was last heard: it may change its port.
    client: Option<SocketAddr>,
    up: Passed,
    down: Passed,
    /// The nonces of the client's datagrams.
    nonces: Vec<u64>,
    in_flight: VecDeque<InFlight>,
}

struct InFlight {
    due: Instant,
    way: Way,
    bytes: Vec<u8>,
}

impl Relay {
    /// Opens a port of its own on loopback and passes what arrives there on to `server_port`.
    ///
    /// # Panics
    ///
    /// Where the system has no port.
    #[must_use]
    pub fn to(server_port: u16) -> Self {
        let server = SocketAddr::from((Ipv4Addr::LOCALHOST, server_port));
        let outside = bind(Ipv4Addr::LOCALHOST).expect("a port on loopback");
        let inside = connect(Ipv4Addr::LOCALHOST, server).expect("a port on loopback");
        let port = outside.local_addr().expect("a bound socket").port();
        let network = Network {
            is_over: false,
            is_cut: false,
            doomed: 0,
            loss: Chance::NEVER,
            random: Random::stream(0, 0),
            delay: Duration::ZERO,
            outside: Arc::new(outside),
            inside: Arc::new(inside),
            left_behind: VecDeque::new(),
            client: None,
            up: Passed::default(),
            down: Passed::default(),
            nonces: Vec::new(),
            in_flight: VecDeque::new(),
        };
        let network = Arc::new(Mutex::new(network));
        let (waiting, wake) = io::pipe().expect("a pipe");
        let thread = std::thread::spawn({
            let network = Arc::clone(&network);
            move || run(&network, &waiting)
        });
        Self {
            port,
            network,
            wake,
            thread: Some(thread),
        }
    }

    /// The port that the client talks to.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Loses `percent` of the datagrams, either way, by the given seed.
    pub fn lose(&self, percent: f64, seed: u64) {
        let mut network = lock(&self.network);
        network.loss = Chance::percent(percent);
        network.random = Random::stream(seed, 0);
    }

    /// Loses the next datagrams of the client.
    pub fn lose_the_next(&self, datagrams: u64) {
        lock(&self.network).doomed = datagrams;
    }

    /// Makes every datagram take this long.
    pub fn delay(&self, delay: Duration) {
        lock(&self.network).delay = delay;
    }

    /// Drops everything from here on, both ways, with what is under way.
    pub fn cut(&self) {
        let mut network = lock(&self.network);
        network.is_cut = true;
        network.in_flight.clear();
    }

    /// Passes everything on again.
    pub fn mend(&self) {
        lock(&self.network).is_cut = false;
    }

    /// Moves the client to another port of `address`, which is some 127.0.0.x. What is sent to the
    /// address before is lost.
    ///
    /// # Panics
    ///
    /// Where that is none of this machine's.
    pub fn move_to(&self, address: Ipv4Addr) {
        {
            let mut network = lock(&self.network);
            let server = network.inside.peer_addr().expect("a connected socket");
            let new = connect(address, server).expect("all of 127.0.0.0/8 is ours");
            let old = std::mem::replace(&mut network.inside, Arc::new(new));
            network.left_behind.push_back(old);
            if network.left_behind.len() > LEFT_BEHIND_MAX {
                network.left_behind.pop_front();
            }
        }
        self.wake();
    }

    /// Returns the traffic that the client has sent, lost datagrams included.
    pub fn up(&self) -> Passed {
        lock(&self.network).up
    }

    /// The nonces of all that the client has sent, in the order in which they came.
    pub fn nonces(&self) -> Vec<u64> {
        lock(&self.network).nonces.clone()
    }

    /// Returns the traffic that the server has sent, lost datagrams included.
    pub fn down(&self) -> Passed {
        lock(&self.network).down
    }

    /// Returns the address from which the client was last heard.
    pub fn client(&self) -> Option<SocketAddr> {
        lock(&self.network).client
    }

    /// Makes the thread look at the sockets anew.
    fn wake(&self) {
        // Only a thread that has panicked is not there to be woken; its panic was printed.
        let _ = (&self.wake).write_all(b"!");
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        lock(&self.network).is_over = true;
        self.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn bind(address: Ipv4Addr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((address, 0))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

fn connect(address: Ipv4Addr, server: SocketAddr) -> io::Result<UdpSocket> {
    let socket = bind(address)?;
    socket.connect(server)?;
    Ok(socket)
}

fn lock(network: &Mutex<Network>) -> MutexGuard<'_, Network> {
    network.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The reason why the thread looks at the sockets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RelayToken {
    Datagram,
    Wake,
}

fn run(network: &Mutex<Network>, mut waiting: &PipeReader) {
    let mut poller = Poller::new();
    loop {
        let (outside, inside, wait) = {
            let network = lock(network);
            if network.is_over {
                return;
            }
            let (outside, inside) = (&network.outside, &network.inside);
            (Arc::clone(outside), Arc::clone(inside), network.next_due())
        };
        let waited = poller.wait(wait, |registry| {
            registry.add(RelayToken::Datagram, &outside, Interest::Read);
            registry.add(RelayToken::Datagram, &inside, Interest::Read);
            registry.add(RelayToken::Wake, waiting, Interest::Read);
        });
        waited.expect("poll works");
        if poller.ready().any(|(call, _)| call == RelayToken::Wake) {
            let _ = io::Read::read(&mut waiting, &mut [0; 64]);
        }
        let mut network = lock(network);
        network.take(Way::Up);
        network.take(Way::Down);
        network.deliver(Instant::now());
    }
}

impl Network {
    /// Returns the time until a datagram arrives, if one is under way.
    fn next_due(&self) -> Option<Duration> {
        let first = self.in_flight.iter().map(|datagram| datagram.due).min()?;
        Some(first.saturating_duration_since(Instant::now()))
    }

    /// Takes what has come from one side, until there is no more.
    fn take(&mut self, way: Way) {
        let mut buffer = vec![0; DATAGRAM_MAX];
        while let Some(length) = self.receive(way, &mut buffer) {
            match way {
                Way::Up => {
                    self.up.add(length);
                    let nonce = buffer.first_chunk().copied();
                    self.nonces.extend(nonce.map(u64::from_be_bytes));
                }
                Way::Down => self.down.add(length),
            }
            if self.is_lost(way) {
                continue;
            }
            self.in_flight.push_back(InFlight {
                due: Instant::now() + self.delay,
                way,
                bytes: buffer[..length].to_vec(),
            });
        }
    }

    fn is_lost(&mut self, way: Way) -> bool {
        if way == Way::Up && self.doomed > 0 {
            self.doomed -= 1;
            return true;
        }
        self.is_cut || self.random.happens(self.loss)
    }

    fn receive(&mut self, way: Way, buffer: &mut [u8]) -> Option<usize> {
        match way {
            Way::Up => {
                let (length, from) = self.outside.recv_from(buffer).ok()?;
                self.client = Some(from);
                Some(length)
            }
            // An error tells that the server is gone, of which a client behind a network hears
            // nothing either.
            Way::Down => self.inside.recv(buffer).ok(),
        }
    }

    fn deliver(&mut self, now: Instant) {
        let (arrived, under_way) = self
            .in_flight
            .drain(..)
            .partition(|datagram: &InFlight| datagram.due <= now);
        self.in_flight = under_way;
        let arrived: VecDeque<InFlight> = arrived;
        for datagram in arrived {
            // What cannot be delivered is lost, as in any network.
            let _ = match (datagram.way, self.client) {
                (Way::Up, _) => self.inside.send(&datagram.bytes),
                (Way::Down, Some(client)) => self.outside.send_to(&datagram.bytes, client),
                (Way::Down, None) => Ok(0),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DEADLINE, TimedUdpSocket};

    fn udp_socket() -> TimedUdpSocket {
        TimedUdpSocket::on_loopback(DEADLINE).unwrap()
    }

    /// A server that has heard from the client through the relay, and the client.
    fn both_ends() -> (TimedUdpSocket, Relay, TimedUdpSocket) {
        let server = udp_socket();
        let relay = Relay::to(server.local_addr().unwrap().port());
        let client = udp_socket();
        client.connect((Ipv4Addr::LOCALHOST, relay.port())).unwrap();
        (server, relay, client)
    }

    fn heard(server: &TimedUdpSocket) -> (Vec<u8>, SocketAddr) {
        let mut buffer = [0; 64];
        let (length, from) = server.recv_from(&mut buffer).unwrap();
        (buffer[..length].to_vec(), from)
    }

    #[test]
    fn datagrams_pass_both_ways_and_are_counted() {
        let (server, relay, client) = both_ends();
        client.send(b"up").unwrap();
        let (bytes, from) = heard(&server);
        assert_eq!(bytes, b"up");
        server.send_to(b"down", from).unwrap();
        let mut buffer = [0; 64];
        assert_eq!(client.recv(&mut buffer).unwrap(), 4);
        let passed = |bytes| Passed {
            datagrams: 1,
            bytes,
        };
        assert_eq!((relay.up(), relay.down()), (passed(2), passed(4)));
    }

    #[test]
    fn the_server_sees_the_address_that_the_client_has_moved_to() {
        let (server, relay, client) = both_ends();
        client.send(b"one").unwrap();
        let (_, before) = heard(&server);
        let elsewhere = Ipv4Addr::new(127, 0, 0, 9);
        relay.move_to(elsewhere);
        client.send(b"two").unwrap();
        let (_, after) = heard(&server);
        assert_eq!(after.ip(), elsewhere);
        server.send_to(b"lost", before).unwrap();
        server.send_to(b"found", after).unwrap();
        let mut buffer = [0; 64];
        assert_eq!(client.recv(&mut buffer).unwrap(), 5);
    }

    /// Waits until the relay has taken so many datagrams of the client.
    fn wait_for_taken(relay: &Relay, datagrams: u64) {
        let deadline = Instant::now() + DEADLINE;
        while relay.up().datagrams < datagrams {
            assert!(Instant::now() < deadline, "the relay takes nothing");
            std::thread::yield_now();
        }
    }

    #[test]
    fn what_is_sent_while_the_relay_is_cut_is_lost() {
        let (server, relay, client) = both_ends();
        relay.cut();
        client.send(b"lost").unwrap();
        wait_for_taken(&relay, 1);
        relay.mend();
        client.send(b"found").unwrap();
        assert_eq!(heard(&server).0, b"found");
    }

    #[test]
    fn loss_takes_its_share_and_repeats_with_its_seed() {
        let arrived = || {
            let (server, relay, client) = both_ends();
            relay.lose(30.0, 7);
            for number in 0..100 {
                client.send(&[number]).unwrap();
            }
            wait_for_taken(&relay, 100);
            relay.lose(0.0, 7);
            client.send(b"end").unwrap();
            let numbers = std::iter::repeat_with(|| heard(&server).0);
            numbers.take_while(|bytes| bytes != b"end").count()
        };
        let count = arrived();
        assert!((55..85).contains(&count), "{count} of 100 arrived");
        assert_eq!(count, arrived());
    }
}
