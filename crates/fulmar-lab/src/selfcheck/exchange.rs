//! One exchange in both worlds: how closely virtual time and a real link agree.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Result, anyhow};
use fulmar_platform::lab::ThreadPriority;
use fulmar_sim::{Datagram, Node, Transmit};

use super::probe::{self, Answers, HEADER_BYTES, PacketTimes, TransitTimes};
use crate::link::Link;
use crate::scenario::{CLIENT_IP, SERVER_IP, Scenario};

/// Between two requests: longer than the jitter of the scenarios that are tried, so that no packet
/// waits for another on account of when they are sent.
const INTERVAL: Duration = Duration::from_millis(10);

/// The payload: a number, and filling.
const BYTES: usize = 72;

/// The silence after which it is over: longer than any delay that is tried, twice, as what was sent last may have
/// been answered meanwhile.
const QUIET: Duration = Duration::from_millis(600);

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
    let real = probe::run(&link, Answers::Each, QUIET, |sender| {
        sender.evenly(count, INTERVAL, HEADER_BYTES + BYTES)
    })?;
    let mut agreement = ExchangeAgreement {
        other_fate: 0,
        longer: Vec::new(),
        priority: link.report()?.priority,
    };
    let ways = [&simulated, &real].map(|[client, server]| {
        // Requests, and answers in the order in which they were sent.
        [client.transit_times(server), server.transit_times(client)]
    });
    let [simulated, real] = &ways;
    agreement.compare(&simulated[0], &real[0], count);
    agreement.compare(&simulated[1], &real[1], 2 * count);
    agreement.longer.sort_by(f64::total_cmp);
    Ok(agreement)
}

impl ExchangeAgreement {
    /// Compares the packets with numbers below `numbers` of one way.
    fn compare(&mut self, simulated: &TransitTimes, real: &TransitTimes, numbers: u32) {
        for number in 0..numbers {
            let [simulated, real] = [simulated, real]
                .map(|world| world.get(&number).map(Vec::as_slice).unwrap_or_default());
            self.other_fate += usize::from(simulated.len() != real.len());
            let both = simulated.iter().zip(real);
            let longer = both.map(|(simulated, real)| real - simulated);
            self.longer.extend(longer);
        }
    }
}

/// Sends requests, or answers to what comes.
struct ExchangeNode {
    times: PacketTimes,
    peer: SocketAddr,
    /// The number of requests still to be sent; 0 where it answers.
    requests: u32,
    outbox: Vec<Transmit>,
}

impl ExchangeNode {
    fn new(peer: SocketAddr, requests: u32) -> Self {
        Self {
            times: PacketTimes::default(),
            peer,
            requests,
            outbox: Vec::new(),
        }
    }

    fn say(&mut self, now: Duration) {
        let mut payload = [0; BYTES];
        self.times.send(now, &mut payload);
        self.outbox.insert(0, Transmit::to(self.peer, payload));
    }
}

impl Node for ExchangeNode {
    fn handle_datagram(&mut self, now: Duration, datagram: Datagram) {
        self.times.arrive(now, &datagram.bytes);
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
        let sent = u32::try_from(self.times.sent.len()).unwrap_or(u32::MAX);
        (self.requests > 0).then(|| INTERVAL * sent)
    }
}

/// Returns the times of client and server in virtual time.
fn simulated(scenario: &Scenario, count: u32) -> Result<[PacketTimes; 2]> {
    // The addresses that `Scenario::simulation` names.
    let client = ExchangeNode::new((SERVER_IP, 60_001).into(), count);
    let server = ExchangeNode::new((CLIENT_IP, 50_000).into(), 0);
    let mut simulation = scenario.simulation((client, server));
    let ran = simulation.run_for(INTERVAL * count + Duration::from_secs(60));
    ran.map_err(|failure| anyhow!("{failure}"))?;
    let (client, server) = simulation.nodes;
    Ok([client.times, server.times])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::LinkTraces;

    #[test]
    fn worlds_differ_by_what_arrived_in_one_of_them_only() {
        let times = |all: &[(u32, &[f64])]| {
            let times = all.iter().map(|(number, times)| (*number, times.to_vec()));
            times.collect::<TransitTimes>()
        };
        let simulated = times(&[(0, &[0.1]), (1, &[0.1]), (3, &[0.2, 0.3])]);
        let real = times(&[(0, &[0.15]), (2, &[0.1]), (3, &[0.25]), (5, &[0.1])]);
        let mut agreement = ExchangeAgreement {
            other_fate: 0,
            longer: Vec::new(),
            priority: ThreadPriority::Usual,
        };
        agreement.compare(&simulated, &real, 5);
        // Lost in one world, in the other, and a copy that one has; number 4 was lost in both, and 5 is none.
        assert_eq!(agreement.other_fate, 3);
        assert_eq!(agreement.longer.len(), 2);
        let is_near = |longer: &f64| (longer - 0.05).abs() < 1e-9;
        assert!(agreement.longer.iter().all(is_near));
    }

    #[test]
    fn in_virtual_time_each_request_that_arrives_is_answered() {
        let text = "up delay 20ms\ndown delay 30ms";
        let scenario = Scenario::parse(text, &LinkTraces::none()).unwrap();
        let [client, server] = simulated(&scenario, 5).unwrap();
        let ms = Duration::from_millis;
        assert_eq!(client.sent, [0, 10, 20, 30, 40].map(ms));
        assert_eq!(server.sent, [20, 30, 40, 50, 60].map(ms));
        let arrived: Vec<_> = (0..5)
            .map(|number| (number, ms(50 + 10 * u64::from(number))))
            .collect();
        assert_eq!(client.arrived, arrived);
    }
}
