//! Somebody on the path who sees and keeps everything, and sends it again in whatever shape, from wherever: no end
//! panics, spins, answers, or keeps any of it, and the copy gets there.
//!
//! `FULMAR_SEEDS` says how many copies there are, each with twenty handshakes more; by itself few.

mod support;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use fulmar_quic::{ConnectionEvent, ConnectionOptions};
use fulmar_sim::{
    Datagram, Delay, Loss, Network, Node, Queue, Random, Rate, Reordering, Simulation, Transmit,
    address, ms, secs,
};
use support::{End, ends};

const MB: u64 = 1_000_000;

/// A place where nobody is who knows the secret.
const ELSEWHERE: &str = "198.51.100.9:4433";

/// Datagrams that are kept: the handshake's for good, and the latest.
const HANDSHAKE: usize = 12;
const LATEST: usize = 500;

/// The longest that is sent; longer than any end looks at.
const LENGTH_MAX: u64 = 9500;

/// The datagrams seen on the path, in both directions.
#[derive(Default)]
struct Tape {
    handshake: Vec<Vec<u8>>,
    latest: VecDeque<Vec<u8>>,
}

impl Tape {
    fn record(&mut self, bytes: &[u8]) {
        if self.handshake.len() < HANDSHAKE {
            self.handshake.push(bytes.to_vec());
        }
        self.latest.push_back(bytes.to_vec());
        if self.latest.len() > LATEST {
            self.latest.pop_front();
        }
    }

    /// One of them; the last ones often, as those are of the same moment.
    fn pick(&self, random: &mut Random) -> Vec<u8> {
        let (early, late) = (&self.handshake, &self.latest);
        match random.below(4) {
            0 => early[random.below(early.len() as u64) as usize].clone(),
            1 => late[late.len() - 1 - random.below(late.len().min(4) as u64) as usize].clone(),
            _ => late[random.below(late.len() as u64) as usize].clone(),
        }
    }

    /// Something that was never sent like this, as a rule.
    fn mangled(&self, random: &mut Random) -> Vec<u8> {
        let mut bytes = self.pick(random);
        let at = random.below(bytes.len() as u64 + 1) as usize;
        let other = self.pick(random);
        let there = random.below(other.len() as u64 + 1) as usize;
        match random.below(9) {
            // Again, as it was.
            0 => {}
            1 => bytes.truncate(at),
            2 => drop(bytes.drain(..at)),
            3 => {
                bytes.truncate(at);
                bytes.extend_from_slice(&other[there..]);
            }
            // Two in one, or the id of one on the other.
            4 => bytes.extend_from_slice(&other),
            5 => {
                let length = at.min(there).min(27);
                bytes[..length].copy_from_slice(&other[..length]);
            }
            6 => bytes.resize(random.below(LENGTH_MAX) as usize, random.below(256) as u8),
            // What is in the clear.
            7 => flip(&mut bytes, 27, random),
            _ => flip(&mut bytes, usize::MAX, random),
        }
        bytes
    }
}

/// Changes some bits before `end`.
fn flip(bytes: &mut [u8], end: usize, random: &mut Random) {
    let end = bytes.len().min(end) as u64;
    for _ in 0..=random.below(4) {
        if end > 0 {
            bytes[random.below(end) as usize] ^= 1 << random.below(8);
        }
    }
}

/// A way to meddle.
#[derive(Clone, Copy)]
struct Meddling {
    /// Datagrams sent in between for each one that comes.
    times: u64,
    /// True if some of those that come are kept back, to come from elsewhere later.
    keeps_back: bool,
}

/// An end with somebody before it who meddles.
struct Meddled {
    end: End,
    tape: Rc<RefCell<Tape>>,
    random: Random,
    meddling: Meddling,
    /// Datagrams and bytes of that.
    sent: (u64, u64),
    /// Of those datagrams the ones that the end took: as a rule they had been kept back.
    taken: u64,
    /// Bytes that it sent to the wrong place.
    diverted: usize,
    outbox: VecDeque<Transmit>,
}

impl Meddled {
    fn new(end: End, tape: &Rc<RefCell<Tape>>, random: Random, meddling: Meddling) -> Meddled {
        let (tape, outbox) = (tape.clone(), VecDeque::new());
        Meddled {
            end,
            tape,
            random,
            meddling,
            sent: (0, 0),
            taken: 0,
            diverted: 0,
            outbox,
        }
    }

    /// All that the end has to say: what it sends makes room for more.
    fn drain(&mut self, now: Duration) {
        loop {
            let before = self.outbox.len();
            self.end.touch();
            while let Some(transmit) = self.end.poll_transmit(now) {
                if transmit.destination == elsewhere() {
                    self.diverted += transmit.bytes.len();
                }
                self.outbox.push_back(transmit);
            }
            if self.outbox.len() == before {
                return;
            }
        }
    }

    /// Sends something in between. Unless it is the peer's and new, there is no answer. A server that was led astray
    /// by such a one may say a little more there.
    fn meddle(&mut self, now: Duration, home: &Datagram) {
        let mut datagram = home.clone();
        datagram.bytes = self.tape.borrow().mangled(&mut self.random);
        if self.random.below(2) == 0 {
            datagram.source = elsewhere();
        }
        let (genuine, said) = (self.end.genuine, self.outbox.len());
        self.sent.0 += 1;
        self.sent.1 += datagram.bytes.len() as u64;
        self.end.handle_datagram(now, datagram);
        self.drain(now);
        if self.end.genuine > genuine {
            self.taken += 1;
        } else if !self.meddling.keeps_back {
            assert_eq!(self.outbox.len(), said, "an answer at {now:?}");
        }
    }
}

impl Node for Meddled {
    fn handle_datagram(&mut self, now: Duration, datagram: Datagram) {
        self.tape.borrow_mut().record(&datagram.bytes);
        self.drain(now);
        let home = datagram.clone();
        let may_keep = self.meddling.keeps_back && self.end.is_connected();
        if !may_keep || self.random.below(50) > 0 {
            self.end.handle_datagram(now, datagram);
            self.drain(now);
        }
        for _ in 0..self.meddling.times {
            self.meddle(now, &home);
        }
    }

    fn handle_timeout(&mut self, now: Duration) {
        self.end.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Duration) -> Option<Transmit> {
        self.drain(now);
        self.outbox.pop_front()
    }

    fn next_timeout(&self) -> Option<Duration> {
        self.end.next_timeout()
    }
}

fn elsewhere() -> SocketAddr {
    address(ELSEWHERE)
}

/// Copies so many bytes in each direction.
fn copy(seed: u64, bytes: u64, meddling: Meddling) -> Simulation<(Meddled, Meddled)> {
    let net = Network::seeded(seed).both([
        Rate::kbit(50_000, Queue::bytes(200_000)),
        Delay::ms(20),
        Loss::percent(1),
        Reordering::percent(5, ms(10)),
    ]);
    let options = ConnectionOptions {
        window_max: 2 << 20,
        ..ConnectionOptions::default()
    };
    let (client, server) = ends(seed as u8, &options, bytes, bytes);
    let tape = Rc::default();
    let meddled = |end, stream| Meddled::new(end, &tape, Random::stream(seed, stream), meddling);
    let mut sim = Simulation::new(net, (meddled(client, 1), meddled(server, 2)));
    let done = sim.run_until(secs(600), |(client, server)| {
        client.end.received >= bytes && server.end.received >= bytes
    });
    if let Err(failure) = done {
        panic!("seed {seed}: {failure}");
    }
    let (client, server) = &sim.nodes;
    for end in [&client.end, &server.end] {
        assert_eq!(end.events, [ConnectionEvent::Connected], "seed {seed}");
    }
    if !meddling.keeps_back {
        // QUIC does not remember the number of the packet that a connection began with.
        assert!(client.taken == 0 && server.taken <= 1, "seed {seed}");
    }
    // 16 KiB and a datagram a second go to a place that does not answer (docs/threat-model.md §6).
    let seconds = sim.now().as_secs() as usize;
    let most = (16 << 10) + (seconds + 1) * 1452;
    assert_eq!(client.diverted, 0, "seed {seed}");
    assert!(server.diverted <= most, "seed {seed}: {}", server.diverted);
    sim
}

/// Nothing but what has arrived comes again, in whatever shape.
fn mangling(times: u64) -> Meddling {
    Meddling {
        times,
        keeps_back: false,
    }
}

#[expect(clippy::disallowed_methods, reason = "a test is told how much to do")]
fn seeds(few: u64) -> u64 {
    let told = std::env::var("FULMAR_SEEDS").ok();
    told.and_then(|told| told.parse().ok()).unwrap_or(few)
}

/// Bytes that this process has in memory.
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = pages.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    pages.unwrap_or(0_u64) * 4096
}

#[test]
fn what_is_repeated_and_mangled_is_not_answered_and_hinders_nothing() {
    for seed in 0..seeds(2) {
        let (client, server) = copy(seed, 2 * MB, mangling(8)).nodes;
        let sent = client.sent.0 + server.sent.0;
        assert!(sent > 20_000, "seed {seed}: {sent}");
        for handshake in 0..20 {
            copy(seed * 20 + handshake, 10_000, mangling(40));
        }
    }
}

#[test]
fn what_is_kept_back_leads_nobody_astray_for_long() {
    let (mut taken, mut diverted) = (0, 0);
    for seed in 0..seeds(2) {
        let meddling = Meddling {
            times: 8,
            keeps_back: true,
        };
        let (_, server) = copy(seed, 2 * MB, meddling).nodes;
        taken += server.taken;
        diverted += server.diverted;
        for handshake in 0..20 {
            copy(seed * 20 + handshake, 10_000, meddling);
        }
    }
    assert!(taken > 0 && diverted > 0, "no server was led astray");
}

#[test]
fn nothing_of_it_is_kept() {
    copy(1, MB, mangling(1));
    let before = resident();
    let (client, server) = copy(1, MB, mangling(60)).nodes;
    let grown = resident().saturating_sub(before);
    let sent = client.sent.1 + server.sent.1;
    assert!(
        sent > 100 * MB && grown < 16 * MB,
        "{grown} of {sent} bytes"
    );
}
