//! A client at which somebody types, and a server with a program that shows what was typed and more.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use fulmar_base::{Hint, PathId, Time};
use fulmar_datagram::{Direction, Key, Opener, Sealer};
use fulmar_sim::{
    Change, Datagram, Failure, Network, Node, Random, Seeds, SendFailure, Simulation, address, ms,
};
use fulmar_transport::{
    Arrival, Cause, Countable, DatagramVerdict, Endpoint, EndpointConfig, EndpointEvent, Noise,
    Numbers, Role, Synced, Terms, Transmit,
};

use crate::objects::{Board, Log};

/// The number of cells of the program's board. A difference of all of them takes seven datagrams.
pub(crate) const CELLS: usize = 1600;

/// Returns the `n`th key. The server knows it, too, and so sees at once if one is lost or doubled.
/// Many of them leave little to compress.
pub(crate) fn key(n: usize) -> u8 {
    let mixed = (n as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    b'a' + (mixed >> 32) as u8 % 26
}

/// Random bytes that a seed repeats.
struct Seeded(Random);

impl Noise for Seeded {
    fn fill(&mut self, bytes: &mut [u8]) {
        bytes.fill_with(|| self.0.bits() as u8);
    }
}

/// An endpoint with the paths that its edge has given numbers to.
pub(crate) struct Link<L, R> {
    pub(crate) endpoint: Endpoint<L, R>,
    pub(crate) events: Vec<EndpointEvent>,
    /// The number of a path is its place here.
    paths: Vec<SocketAddr>,
    queue: VecDeque<fulmar_sim::Transmit>,
    notes: VecDeque<String>,
    buffer: Vec<u8>,
}

impl<L: Synced, R: Synced> Link<L, R> {
    fn new(role: Role, seed: u64, agreement: Option<Terms>, local: L, remote: R) -> Link<L, R> {
        let (out, back) = match role {
            Role::Client => (Direction::ToServer, Direction::ToClient),
            Role::Server => (Direction::ToClient, Direction::ToServer),
        };
        let key = || Key::from_base64("c68K8iLyuCr1oEM7Hszyjg").expect("this is a key");
        let noise = Seeded(Random::stream(seed, 100 + u64::from(role == Role::Server)));
        let config = EndpointConfig {
            role,
            datagram_bytes: 1252,
            agreement,
        };
        Link {
            endpoint: Endpoint::new(
                Time::ZERO,
                config,
                Sealer::new(key(), out),
                Opener::new(&key(), back),
                local,
                remote,
                Box::new(noise),
            ),
            events: Vec::new(),
            paths: Vec::new(),
            queue: VecDeque::new(),
            notes: VecDeque::new(),
            buffer: Vec::new(),
        }
    }

    fn path(&mut self, address: SocketAddr) -> PathId {
        let known = self.paths.iter().position(|&path| path == address);
        let place = known.unwrap_or_else(|| {
            self.paths.push(address);
            self.paths.len() - 1
        });
        PathId::new(place as u64)
    }

    fn address(&self, path: PathId) -> SocketAddr {
        self.paths[path.get() as usize]
    }

    fn handle_datagram(&mut self, now: Time, path: PathId, datagram: &Datagram) -> DatagramVerdict {
        let arrival = Arrival {
            path,
            ecn: datagram.ecn,
            bytes: &datagram.bytes,
        };
        self.endpoint.handle_datagram(now, arrival).verdict
    }

    fn fetch_events(&mut self) -> Vec<EndpointEvent> {
        let mut fetched = Vec::new();
        while let Some(event) = self.endpoint.poll_event() {
            if !matches!(event, EndpointEvent::RemoteAdvanced { .. }) {
                self.notes.push_back(format!("{event:?}"));
            }
            fetched.push(event);
        }
        self.events.extend(&fetched);
        fetched
    }

    fn poll_transmit(
        &mut self,
        now: Time,
        destination: impl Fn(&Self, PathId) -> SocketAddr,
    ) -> Option<fulmar_sim::Transmit> {
        if let Some(next) = self.queue.pop_front() {
            return Some(next);
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        if let Some(transmit) = self.endpoint.poll_transmit(now, &mut buffer) {
            let to = destination(self, transmit.path);
            self.notes.push_back(told(&transmit));
            for datagram in transmit.split(&buffer) {
                let datagram = fulmar_sim::Transmit::to(to, datagram);
                let datagram = datagram.because(transmit.cause.name());
                self.queue
                    .push_back(datagram.ecn(fulmar_base::Ecn::Capable0));
            }
        }
        self.buffer = buffer;
        let next = self.queue.pop_front();
        if next.is_none() {
            self.assert_at_rest(now);
        }
        next
    }

    /// After a drain the next wake-up lies ahead, and nothing has outgrown its cap.
    fn assert_at_rest(&self, now: Time) {
        if let Some((due, cause)) = self.endpoint.poll_timeout() {
            assert!(due > now, "woken for {cause} without progress");
        }
        assert!(self.endpoint.sender().count() <= 32);
        assert!(self.endpoint.receiver().count() <= 65);
    }

    /// Returns when the endpoint wants to be woken.
    pub(crate) fn next_due(&self) -> Option<Duration> {
        let (due, _) = self.endpoint.poll_timeout()?;
        Some(due.since_origin())
    }

    fn handle_hint(&mut self, now: Time, hint: Hint) {
        self.endpoint.handle_hint(now, hint);
    }

    /// Returns how many instructions were sent for that cause.
    pub(crate) fn sent(&self, cause: Cause) -> u64 {
        self.endpoint.counters().sent.of(cause)
    }
}

/// Returns an instruction's numbers in a line for the timeline.
fn told(transmit: &Transmit) -> String {
    let Numbers {
        source,
        target,
        acknowledged,
        throwaway,
    } = transmit.numbers.instruction;
    let bytes = transmit.numbers.difference_bytes;
    format!("{source} → {target} in {bytes} B, has {acknowledged}, not below {throwaway}")
}

/// Something that happens again and again, at random intervals.
pub(crate) struct Habit {
    random: Random,
    next: Option<Duration>,
    until: Duration,
    mean: Duration,
}

impl Habit {
    fn new(seed: u64, stream: u64) -> Habit {
        Habit {
            random: Random::stream(seed, stream),
            next: None,
            until: Duration::ZERO,
            mean: Duration::ZERO,
        }
    }

    /// Begins now, and ends before `until`.
    pub(crate) fn keep(&mut self, now: Duration, until: Duration, mean: Duration) {
        (self.until, self.mean) = (until, mean);
        self.next = Some(now);
    }

    /// Tells whether it happens now, and plans the next time.
    fn happens(&mut self, now: Duration) -> bool {
        let happens = self.next.is_some_and(|next| next <= now);
        if happens {
            let pause = self.random.between(ms(1), self.mean * 2);
            self.next = Some(now + pause).filter(|&next| next < self.until);
        }
        happens
    }
}

/// A client at which somebody types.
pub(crate) struct Client {
    pub(crate) link: Link<Log, Board>,
    pub(crate) typing: Habit,
    pub(crate) typed: Log,
    pub(crate) server: SocketAddr,
    next_path: u64,
}

impl Client {
    fn new(seed: u64, server: SocketAddr, agreement: Option<Terms>) -> Client {
        let (local, remote) = (Log::default(), Board::blank(CELLS));
        let mut link = Link::new(Role::Client, seed, agreement, local, remote);
        let path = PathId::new(0);
        link.endpoint.handle_path_opened(Time::ZERO, path);
        Client {
            link,
            typing: Habit::new(seed, 101),
            typed: Log::default(),
            server,
            next_path: 1,
        }
    }

    /// Types so many keys at once.
    pub(crate) fn type_keys(&mut self, now: Duration, count: usize) {
        for _ in 0..count {
            let key = key(self.typed.end());
            self.typed.append(&[key]);
        }
        let now = Time::from_origin(now);
        self.link.endpoint.set_local(now, self.typed.clone());
    }

    fn turn(&mut self, now: Duration) {
        if self.typing.happens(now) {
            let keys = 1 + self.typing.random.below(3) as usize;
            self.type_keys(now, keys);
        }
        for event in self.link.fetch_events() {
            if event == EndpointEvent::OpenPath {
                let path = PathId::new(self.next_path);
                self.next_path += 1;
                let now = Time::from_origin(now);
                self.link.endpoint.handle_path_opened(now, path);
            }
        }
        // What is acknowledged is kept by nobody.
        let acknowledged = self.link.endpoint.acknowledged();
        self.typed.forget_before(acknowledged);
    }
}

impl Node for Client {
    fn handle_datagram(&mut self, now: Duration, datagram: Datagram) {
        let now = Time::from_origin(now);
        let _ = self.link.handle_datagram(now, PathId::new(0), &datagram);
    }

    fn handle_timeout(&mut self, now: Duration) {
        self.link.endpoint.handle_timeout(Time::from_origin(now));
    }

    fn poll_transmit(&mut self, now: Duration) -> Option<fulmar_sim::Transmit> {
        self.turn(now);
        let server = self.server;
        self.link
            .poll_transmit(Time::from_origin(now), |_, _| server)
    }

    fn next_timeout(&self) -> Option<Duration> {
        let timeouts = [self.link.next_due(), self.typing.next];
        timeouts.into_iter().flatten().min()
    }

    fn timeout_reason(&self) -> &'static str {
        let timeout = self.link.endpoint.poll_timeout();
        timeout.map_or("", |(_, cause)| cause.name())
    }

    fn poll_note(&mut self) -> Option<String> {
        self.link.notes.pop_front()
    }

    fn handle_send_failure(&mut self, now: Duration, failure: SendFailure) {
        let now = Time::from_origin(now);
        if let Some(path) = self.link.endpoint.path() {
            let error = failure.error;
            self.link.endpoint.handle_send_error(now, path, error);
        }
    }

    fn handle_hint(&mut self, now: Duration, hint: Hint) {
        self.link.handle_hint(Time::from_origin(now), hint);
    }
}

/// A server whose program shows each key, and now and then changes half of what it shows.
pub(crate) struct Server {
    pub(crate) link: Link<Board, Log>,
    pub(crate) drawing: Habit,
    pub(crate) board: Board,
    /// The number of keys that the program has had.
    pub(crate) consumed: usize,
}

impl Server {
    fn new(seed: u64, agreement: Option<Terms>) -> Server {
        let board = Board::blank(CELLS);
        Server {
            link: Link::new(Role::Server, seed, agreement, board.clone(), Log::default()),
            drawing: Habit::new(seed, 102),
            board,
            consumed: 0,
        }
    }

    fn turn(&mut self, now: Duration) {
        self.link.fetch_events();
        let keys = self.link.endpoint.remote().since(self.consumed).to_vec();
        for typed in keys {
            assert_eq!(typed, key(self.consumed), "key {}", self.consumed);
            self.board.write(self.consumed % 100, &[typed]);
            self.consumed += 1;
        }
        self.link.endpoint.forget_consumed();
        if self.drawing.happens(now) {
            self.draw();
        }
        let now = Time::from_origin(now);
        self.link.endpoint.set_local(now, self.board.clone());
    }

    /// Changes all that the program shows, but for the keys.
    pub(crate) fn repaint(&mut self) {
        let random = &mut self.drawing.random;
        let text: Vec<u8> = (100..CELLS)
            .map(|_| b'A' + random.below(26) as u8)
            .collect();
        self.board.write(100, &text);
    }

    fn draw(&mut self) {
        let random = &mut self.drawing.random;
        let start = 100 + random.below(CELLS as u64 - 900) as usize;
        let text: Vec<u8> = (0..800).map(|_| b'A' + random.below(26) as u8).collect();
        self.board.write(start, &text);
    }
}

impl Node for Server {
    fn handle_datagram(&mut self, now: Duration, datagram: Datagram) {
        let path = self.link.path(datagram.source);
        let now = Time::from_origin(now);
        let _ = self.link.handle_datagram(now, path, &datagram);
    }

    fn handle_timeout(&mut self, now: Duration) {
        self.link.endpoint.handle_timeout(Time::from_origin(now));
    }

    fn poll_transmit(&mut self, now: Duration) -> Option<fulmar_sim::Transmit> {
        self.turn(now);
        self.link
            .poll_transmit(Time::from_origin(now), |link, path| link.address(path))
    }

    fn next_timeout(&self) -> Option<Duration> {
        let timeouts = [self.link.next_due(), self.drawing.next];
        timeouts.into_iter().flatten().min()
    }

    fn timeout_reason(&self) -> &'static str {
        let timeout = self.link.endpoint.poll_timeout();
        timeout.map_or("", |(_, cause)| cause.name())
    }

    fn poll_note(&mut self) -> Option<String> {
        self.link.notes.pop_front()
    }

    fn handle_send_failure(&mut self, now: Duration, failure: SendFailure) {
        let now = Time::from_origin(now);
        let path = self.link.path(failure.destination);
        self.link
            .endpoint
            .handle_send_error(now, path, failure.error);
    }

    fn handle_hint(&mut self, now: Duration, hint: Hint) {
        self.link.handle_hint(Time::from_origin(now), hint);
    }
}

/// A run with both ends.
pub(crate) type Run = Simulation<(Client, Server)>;

/// Returns a run over that network, before anything has happened.
pub(crate) fn run(net: Network) -> Run {
    run_of(net, [None, None])
}

/// Returns a run over that network, in which the client and the server have these agreements.
pub(crate) fn run_of(net: Network, [client, server]: [Option<Terms>; 2]) -> Run {
    let seed = net.seed();
    let ends = (
        Client::new(seed, address("203.0.113.1:60001"), client),
        Server::new(seed, server),
    );
    Simulation::new(net, ends).with_ledger().turns_max(20)
}

/// Lets the person type and the program draw for so long, from now on.
pub(crate) fn keep_busy(run: &mut Run, duration: Duration) {
    let (now, until) = (run.now(), run.now() + duration);
    run.nodes.0.typing.keep(now, until, ms(150));
    run.nodes.1.drawing.keep(now, until, ms(400));
}

/// Tells whether both ends have the same of both objects, and know it.
pub(crate) fn is_settled((client, server): &(Client, Server)) -> bool {
    server.consumed == client.typed.end()
        && client.link.endpoint.acknowledged().end() == client.typed.end()
        && client.link.endpoint.remote() == &server.board
        && server.link.endpoint.acknowledged() == &server.board
}

/// Runs until both ends are equal.
pub(crate) fn settle(run: &mut Run, within: Duration) -> Result<Duration, Failure> {
    let took = run.run_until(within, is_settled)?;
    let repeats = run.ledger().map_or(0, fulmar_sim::NonceLedger::repeats);
    assert_eq!(repeats, 0, "a datagram was sent twice");
    Ok(took)
}

/// Plans that the client moves, and that its system says so.
pub(crate) fn plan_move(run: &mut Run, at: Duration) {
    run.plan(at, Change::MoveOn(fulmar_sim::CLIENT));
    let hint = Hint::AddressChanged;
    run.plan(at, Change::Hint(fulmar_sim::CLIENT, hint));
}

/// The seeds of a test: so many, or those that the environment names to repeat a failure.
pub(crate) fn seeds(count: u64) -> Seeds {
    #[expect(
        clippy::disallowed_methods,
        reason = "the only way to hand a seed to a test"
    )]
    let named = std::env::var("FULMAR_SEED");
    match named {
        Ok(text) => text.parse().expect("FULMAR_SEED is 0x1f00 or 1000@7"),
        Err(_) => Seeds::many(count, 7),
    }
}
