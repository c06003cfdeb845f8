//! Two ends of a connection on hosts of a simulated network.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::allow_attributes,
    reason = "each test uses a part of it"
)]

pub mod many;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use fulmar_base::{Hint, PathId, Time};
use fulmar_quic::{
    Connection, ConnectionEvent, ConnectionOptions, DatagramVerdict, Secret, StreamId,
};
use fulmar_sim::{Datagram, Network, Node, Simulation, Transmit, address};

pub const SERVER_ADDRESS: &str = "203.0.113.1:60001";

/// The period of the bytes that streams carry in tests: the byte at an offset is the offset modulo 251.
const PERIOD: usize = 251;

pub fn secret(number: u8) -> Secret {
    Secret::from_bytes([number; 32].into())
}

/// The origin of all times; which instant it is makes no difference.
pub fn origin() -> Instant {
    #[expect(
        clippy::disallowed_methods,
        reason = "an instant can be made in no other way"
    )]
    Instant::now()
}

/// One end: writes what it is to send to all data streams in turn, and reads all that comes.
pub struct End {
    pub connection: Connection,
    pub events: Vec<ConnectionEvent>,
    /// Bytes that are still to be written.
    pub to_send: u64,
    /// Bytes that came, and when the last of them did.
    pub received: u64,
    pub received_at: Duration,
    /// Bytes that came in each tenth of a second.
    pub rate: Vec<u64>,
    /// The time at which writing begins.
    pub starts: Duration,
    /// True if what comes is taken from the connection.
    pub reads: bool,
    pub sent_datagrams: u64,
    pub genuine: u64,
    /// Times and sizes of all that came.
    pub trace: Vec<(Duration, usize)>,
    streams: Vec<Progress>,
    next_stream: usize,
    block: Bytes,
    /// The address of each path, by its number.
    ways: Vec<SocketAddr>,
    outbox: VecDeque<Transmit>,
    is_fresh: bool,
    is_started: bool,
}

#[derive(Clone, Copy, Default)]
struct Progress {
    written: u64,
    read: u64,
}

impl End {
    pub fn client(seed: u8, options: &ConnectionOptions) -> End {
        let path = PathId::new(0);
        let connection =
            Connection::client(&secret(1), [seed; 32], origin(), Time::ZERO, path, options);
        End::new(connection, vec![address(SERVER_ADDRESS)])
    }

    pub fn server(seed: u8, options: &ConnectionOptions) -> End {
        let seed = [seed.wrapping_add(100); 32];
        let connection = Connection::server(&secret(1), seed, origin(), Time::ZERO, options);
        End::new(connection, Vec::new())
    }

    fn new(connection: Connection, ways: Vec<SocketAddr>) -> End {
        let streams = vec![Progress::default(); connection.streams() + 1];
        let pattern: Vec<u8> = (0..PERIOD * 256).map(|at| (at % PERIOD) as u8).collect();
        End {
            connection,
            events: Vec::new(),
            to_send: 0,
            received: 0,
            received_at: Duration::ZERO,
            rate: Vec::new(),
            starts: Duration::ZERO,
            reads: true,
            sent_datagrams: 0,
            genuine: 0,
            trace: Vec::new(),
            streams,
            next_stream: 1,
            block: pattern.into(),
            ways,
            outbox: VecDeque::new(),
            is_fresh: true,
            is_started: false,
        }
    }

    pub fn sending(mut self, bytes: u64) -> End {
        self.to_send = bytes;
        self
    }

    pub fn starting(mut self, at: Duration) -> End {
        self.starts = at;
        self
    }

    /// Looks for things to send at the next turn.
    pub fn touch(&mut self) {
        self.is_fresh = true;
    }

    /// Returns the number of paths that were believed.
    pub fn ways(&self) -> usize {
        self.ways.len()
    }

    /// Returns the number of data streams on which something has come.
    pub fn streams_heard(&self) -> usize {
        self.streams.iter().filter(|stream| stream.read > 0).count()
    }

    pub fn is_connected(&self) -> bool {
        self.connection.is_open()
    }

    /// Writes to streams while they have room.
    fn write(&mut self) {
        let mut full = 0;
        while self.to_send > 0 && full < self.connection.streams() {
            let number = self.next_stream;
            let progress = &mut self.streams[number];
            let stream = StreamId::new(number as u8);
            let room = self.connection.room(stream).min(self.to_send as usize);
            let at = (progress.written % PERIOD as u64) as usize;
            let end = self.block.len().min(at + room);
            let mut bytes = self.block.slice(at..end);
            self.connection.write(stream, &mut bytes);
            let taken = end - at - bytes.len();
            progress.written += taken as u64;
            self.to_send -= taken as u64;
            full = if taken == 0 { full + 1 } else { 0 };
            self.next_stream = number % self.connection.streams() + 1;
        }
    }

    fn read(&mut self, now: Duration) {
        for number in 1..self.streams.len() {
            while let Some(bytes) = self.connection.read(StreamId::new(number as u8), 1 << 15) {
                let progress = &mut self.streams[number];
                let at = (progress.read % PERIOD as u64) as usize;
                assert_eq!(
                    bytes,
                    self.block.slice(at..at + bytes.len()),
                    "stream {number}"
                );
                progress.read += bytes.len() as u64;
                self.note(now, bytes.len() as u64);
            }
        }
    }

    fn note(&mut self, now: Duration, bytes: u64) {
        self.received += bytes;
        self.received_at = now;
        let tenth = (now.as_millis() / 100) as usize;
        if self.rate.len() <= tenth {
            self.rate.resize(tenth + 1, 0);
        }
        self.rate[tenth] += bytes;
    }

    /// Returns the number of bytes that came until then, in tenths of a second.
    pub fn received_by(&self, at: Duration) -> u64 {
        let tenths = (at.as_millis() / 100) as usize;
        self.rate.iter().take(tenths).sum()
    }

    fn fill_outbox(&mut self, now: Time) {
        let mut buffer = Vec::new();
        while let Some(transmit) = self.connection.poll_transmit(now, &mut buffer) {
            let to = self.ways[transmit.path.get() as usize];
            for datagram in transmit.split(&buffer) {
                self.sent_datagrams += 1;
                let out = Transmit::to(to, datagram).ecn(transmit.ecn);
                self.outbox.push_back(out);
            }
        }
        while let Some(event) = self.connection.poll_event() {
            self.events.push(event);
        }
    }

    fn path_from(&mut self, source: SocketAddr) -> PathId {
        let known = self.ways.iter().position(|way| *way == source);
        PathId::new(known.unwrap_or(self.ways.len()) as u64)
    }
}

impl Node for End {
    fn handle_datagram(&mut self, now: Duration, datagram: Datagram) {
        let path = self.path_from(datagram.source);
        self.trace.push((now, datagram.bytes.len()));
        let ecn = datagram.ecn;
        let now = Time::from_origin(now);
        let verdict = self
            .connection
            .handle_datagram(now, path, ecn, &datagram.bytes);
        if verdict == DatagramVerdict::Genuine {
            self.genuine += 1;
            if path.get() as usize == self.ways.len() {
                self.ways.push(datagram.source);
            }
        }
        self.is_fresh = true;
    }

    fn handle_timeout(&mut self, now: Duration) {
        self.connection.handle_timeout(Time::from_origin(now));
        self.is_fresh = true;
    }

    fn poll_transmit(&mut self, now: Duration) -> Option<Transmit> {
        if std::mem::take(&mut self.is_fresh) {
            if self.reads {
                self.read(now);
            }
            if now >= self.starts {
                self.write();
            }
            self.is_started = now >= self.starts;
            self.fill_outbox(Time::from_origin(now));
        }
        self.outbox.pop_front()
    }

    fn next_timeout(&self) -> Option<Duration> {
        let starts = (!self.is_started).then_some(self.starts);
        let wakes = self.connection.poll_timeout().map(Time::since_origin);
        starts.into_iter().chain(wakes).min()
    }

    fn handle_hint(&mut self, now: Duration, _hint: Hint) {
        let now = Time::from_origin(now);
        self.connection.handle_path_change(now, PathId::new(0));
        self.is_fresh = true;
    }
}

/// A client that sends `up` bytes and a server that sends `down`.
pub fn ends(seed: u8, options: &ConnectionOptions, up: u64, down: u64) -> (End, End) {
    let client = End::client(seed, options).sending(up);
    (client, End::server(seed, options).sending(down))
}

/// Runs a copy of so many bytes to the server; returns the simulation after the last byte.
pub fn upload(
    net: Network,
    seed: u8,
    options: &ConnectionOptions,
    bytes: u64,
) -> Simulation<(End, End)> {
    let mut sim = Simulation::new(net, ends(seed, options, bytes, 0));
    let done = sim.run_until(Duration::from_secs(4000), |(_, server)| {
        server.received >= bytes
    });
    if let Err(failure) = done {
        panic!("{failure}");
    }
    sim
}
