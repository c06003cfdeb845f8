//! One exchange in both worlds: how closely virtual time and a real link agree.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use fulmar_platform::lab::{ThreadPriority, receive_stamped, stamp_arrivals, wall_time};
use fulmar_sim::{Datagram, Node, Transmit};

use crate::link::Link;
use crate::scenario::{CLIENT_IP, SERVER_IP, Scenario};

/// Between two requests: longer than the jitter of the scenarios that are tried, so that no packet
/// waits for another on account of when they are sent.
const INTERVAL: Duration = Duration::from_millis(10);

/// The payload: a number, and filling.
const BYTES: usize = 72;

/// The silence after which it is over: longer than any delay that is tried.
const QUIET: Duration = Duration::from_millis(300);

/// The passage of each packet of one way: for each number how long each copy was under way, in seconds and in
/// order of arrival. A number that is not there was lost.
pub(super) type TransitTimes = BTreeMap<u32, Vec<f64>>;

/// Both ways of an exchange: requests, and answers in the order in which they were sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Exchange {
    pub(super) requests: TransitTimes,
    pub(super) answers: TransitTimes,
}

/// The differences between two runs of one exchange.
#[derive(Clone, Debug)]
pub struct ExchangeAgreement {
    /// Packets that arrived in one world more often than in the other, lost ones included.
    pub other_fate: usize,
    /// Of those that arrived in both: by how much longer they took in the real one, in seconds, in
    /// order of size.
    pub longer: Vec<f64>,
    /// The priority of the real link's engine.
    pub priority: ThreadPriority,
}

/// Runs `count` requests, each answered as it comes, in virtual time and over a real link.
///
/// Times of the real one are from the reading of the clock before sending to the kernel's time of
/// arrival: programs that are slow to answer are not in them.
///
/// # Errors
///
/// Where the link cannot be made, or the simulation fails.
pub fn agreement(scenario: &Scenario, count: u32) -> Result<ExchangeAgreement> {
    let simulated = simulated(scenario, count)?;
    let link = Link::start(scenario)?;
    let real = real(&link, count)?;
    let mut agreement = ExchangeAgreement {
        other_fate: 0,
        longer: Vec::new(),
        priority: link.report()?.priority,
    };
    agreement.compare(&simulated.requests, &real.requests, count);
    agreement.compare(&simulated.answers, &real.answers, 2 * count);
    agreement.longer.sort_by(f64::total_cmp);
    Ok(agreement)
}

impl ExchangeAgreement {
    fn compare(&mut self, simulated: &TransitTimes, real: &TransitTimes, numbers: u32) {
        let none = Vec::new();
        for number in 0..numbers {
            let simulated = simulated.get(&number).unwrap_or(&none);
            let real = real.get(&number).unwrap_or(&none);
            self.other_fate += usize::from(simulated.len() != real.len());
            self.longer.extend(
                simulated
                    .iter()
                    .zip(real)
                    .map(|(simulated, real)| real - simulated),
            );
        }
    }
}

fn payload(number: u32) -> [u8; BYTES] {
    let mut payload = [0; BYTES];
    if let Some(start) = payload.first_chunk_mut() {
        *start = number.to_be_bytes();
    }
    payload
}

fn number_of(payload: &[u8]) -> Option<u32> {
    payload
        .first_chunk()
        .map(|bytes| u32::from_be_bytes(*bytes))
}

/// The times at which what was sent, and at which what arrived did.
#[derive(Debug, Default)]
struct PacketTimes {
    sent: Vec<Duration>,
    arrived: Vec<(u32, Duration)>,
}

impl PacketTimes {
    /// Adds a sending and returns its number.
    fn send(&mut self, now: Duration) -> u32 {
        self.sent.push(now);
        u32::try_from(self.sent.len() - 1).unwrap_or(u32::MAX)
    }

    fn arrive(&mut self, number: Option<u32>, at: Duration) {
        self.arrived.extend(number.map(|number| (number, at)));
    }

    /// Returns how long was under way what was sent here and arrived there.
    fn transit_times(&self, there: &Self) -> TransitTimes {
        let mut transit_times = TransitTimes::new();
        for (number, at) in &there.arrived {
            if let Some(sent) = self.sent.get(*number as usize) {
                let took = at.as_secs_f64() - sent.as_secs_f64();
                transit_times.entry(*number).or_default().push(took);
            }
        }
        transit_times
    }
}

/// Sends requests, or answers to what comes.
struct ExchangeNode {
    notes: PacketTimes,
    peer: SocketAddr,
    /// The number of requests still to be sent; 0 where it answers.
    requests: u32,
    outbox: Vec<Transmit>,
}

impl ExchangeNode {
    fn say(&mut self, now: Duration) {
        let number = self.notes.send(now);
        self.outbox
            .insert(0, Transmit::to(self.peer, payload(number)));
    }
}

impl Node for ExchangeNode {
    fn handle_datagram(&mut self, now: Duration, datagram: Datagram) {
        self.notes.arrive(number_of(&datagram.bytes), now);
        if self.requests == 0 && datagram.source.ip() == CLIENT_IP {
            self.say(now);
        }
    }

    fn handle_timeout(&mut self, now: Duration) {
        self.say(now);
        self.requests -= 1;
    }

    fn poll_transmit(&mut self, _now: Duration) -> Option<Transmit> {
        self.outbox.pop()
    }

    fn next_timeout(&self) -> Option<Duration> {
        let sent = u32::try_from(self.notes.sent.len()).unwrap_or(u32::MAX);
        (self.requests > 0).then(|| INTERVAL * sent)
    }
}

fn simulated(scenario: &Scenario, count: u32) -> Result<Exchange> {
    let node = |peer: SocketAddr, requests| ExchangeNode {
        notes: PacketTimes::default(),
        peer,
        requests,
        outbox: Vec::new(),
    };
    // The addresses that `Scenario::simulation` names.
    let client = node((SERVER_IP, 60_001).into(), count);
    let server = node((CLIENT_IP, 50_000).into(), 0);
    let mut simulation = scenario.simulation((client, server));
    let ran = simulation.run_for(INTERVAL * count + Duration::from_secs(60));
    ran.map_err(|failure| anyhow!("{failure}"))?;
    let (client, server) = (&simulation.nodes.0.notes, &simulation.nodes.1.notes);
    Ok(Exchange {
        requests: client.transit_times(server),
        answers: server.transit_times(client),
    })
}

fn real(link: &Link, count: u32) -> Result<Exchange> {
    let client = link.client.within(|| UdpSocket::bind("0.0.0.0:0"))??;
    let server = link.server.within(|| UdpSocket::bind("0.0.0.0:0"))??;
    client.connect((SERVER_IP, server.local_addr()?.port()))?;
    server.connect((CLIENT_IP, client.local_addr()?.port()))?;
    for socket in [&client, &server] {
        stamp_arrivals(socket).context("asking for times of arrival")?;
        socket.set_read_timeout(Some(QUIET))?;
    }
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let answering = scope.spawn(|| receive(&server, &is_over, true));
        let listening = scope.spawn(|| receive(&client, &is_over, false));
        let mut asked = PacketTimes::default();
        let start = wall_time();
        let sent = (0..count).try_for_each(|number| {
            let due = start + INTERVAL * number;
            std::thread::sleep(due.saturating_sub(wall_time()));
            let number = asked.send(wall_time());
            client.send(&payload(number)).map(drop)
        });
        is_over.store(true, Ordering::Release);
        let answered = answering.join().expect("a thread of ours does not panic")?;
        let heard = listening.join().expect("a thread of ours does not panic")?;
        sent.context("sending a request")?;
        Ok(Exchange {
            requests: asked.transit_times(&answered),
            answers: answered.transit_times(&heard),
        })
    })
}

/// Receives, and answers if it is to, until it is over and nothing comes any more.
fn receive(socket: &UdpSocket, is_over: &AtomicBool, answers: bool) -> Result<PacketTimes> {
    let mut notes = PacketTimes::default();
    let mut buffer = [0; BYTES];
    let mut quiet = 0;
    loop {
        match receive_stamped(socket, &mut buffer) {
            Ok(received) => {
                quiet = 0;
                let at = received.at.context("the kernel gives no time of arrival")?;
                notes.arrive(number_of(&buffer), at);
                if answers {
                    let number = notes.send(wall_time());
                    socket.send(&payload(number)).context("answering")?;
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                quiet += 1;
                // Twice, as what was sent last may have been answered during the first.
                if is_over.load(Ordering::Acquire) && quiet >= 2 {
                    return Ok(notes);
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error).context("receiving"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn copies_and_losses_are_found_by_number_and_what_nobody_sent_is_none() {
        let mut here = PacketTimes::default();
        for at in [100, 110, 120] {
            here.send(ms(at));
        }
        let mut there = PacketTimes::default();
        there.arrive(Some(0), ms(125));
        there.arrive(Some(2), ms(150));
        there.arrive(Some(0), ms(131));
        there.arrive(Some(7), ms(140));
        there.arrive(None, ms(141));
        let times = here.transit_times(&there);
        let near = |number: u32, wanted: &[f64]| {
            let seen = &times[&number];
            let is_near = |(seen, wanted): (&f64, &f64)| (seen - wanted).abs() < 1e-9;
            assert!(
                seen.len() == wanted.len() && seen.iter().zip(wanted).all(is_near),
                "{seen:?}"
            );
        };
        near(0, &[0.025, 0.031]);
        near(2, &[0.030]);
        assert_eq!(times.len(), 2);
    }

    #[test]
    fn worlds_differ_by_what_arrived_in_one_of_them_only() {
        let times = |all: &[(u32, &[f64])]| {
            let times = all.iter().map(|(number, times)| (*number, times.to_vec()));
            times.collect::<TransitTimes>()
        };
        let simulated = times(&[(0, &[0.1]), (1, &[0.1]), (3, &[0.2, 0.3])]);
        let real = times(&[(0, &[0.15]), (2, &[0.1]), (3, &[0.25])]);
        let mut agreement = ExchangeAgreement {
            other_fate: 0,
            longer: Vec::new(),
            priority: ThreadPriority::Usual,
        };
        agreement.compare(&simulated, &real, 5);
        // Lost in one world, in the other, and a copy that one has; number 4 was lost in both.
        assert_eq!(agreement.other_fate, 3);
        assert_eq!(agreement.longer.len(), 2);
        assert!(
            agreement
                .longer
                .iter()
                .all(|longer| (longer - 0.05).abs() < 1e-9)
        );
    }
}
