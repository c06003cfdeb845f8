//! Two offices count votes together, over a link that loses a third of all datagrams.
//!
//! The transport moves any object that can make a difference of itself, not only keys and screens.
//! Here each office owns three counters and holds a copy of the other's: the same type in both
//! directions. Run it with
//!
//! ```text
//! cargo run -p fulmar-transport --example shared_counter
//! ```

use std::collections::VecDeque;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use fulmar_base::{Ecn, PathId, Time};
use fulmar_datagram::{Direction, Key, Opener, Sealer};
use fulmar_sim::{
    Datagram, Delay, Failure, Loss, Network, Node, Random, Simulation, address, ms, secs,
};
use fulmar_transport::wire::{self, MessageReader};
use fulmar_transport::{
    ApplyError, Arrival, Budget, Difference, Endpoint, EndpointConfig, Noise, Role, Synced,
    WorkBudget,
};

/// The drinks that people vote for.
const DRINKS: [&str; 3] = ["coffee", "tea", "water"];

/// The number of votes for each drink.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Votes([u64; DRINKS.len()]);

impl Votes {
    fn cast(&mut self, drink: usize) {
        self.0[drink] += 1;
    }

    fn with(mut self, other: Votes) -> Votes {
        let counters = self.0.iter_mut().zip(other.0);
        counters.for_each(|(sum, votes)| *sum += votes);
        self
    }
}

impl fmt::Display for Votes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (drink, votes) in DRINKS.iter().zip(self.0) {
            write!(f, "{drink} {votes:<4}")?;
        }
        Ok(())
    }
}

/// A difference is a message with a field for each counter that has changed, and its new value.
impl Synced for Votes {
    fn is_same(&self, other: &Votes) -> bool {
        self == other
    }

    fn diff_from(&self, source: &Votes, _: Budget) -> Difference<Votes> {
        let mut bytes = Vec::new();
        for (number, (&new, old)) in (1..).zip(self.0.iter().zip(source.0)) {
            if new != old {
                wire::put_uint(&mut bytes, number, new);
            }
        }
        // A few dozen bytes are within any budget.
        Difference::complete(bytes)
    }

    fn apply(&mut self, difference: &[u8], _: &mut WorkBudget) -> Result<(), ApplyError> {
        for field in MessageReader::new().message(difference) {
            let field = field?;
            let mut counters = (1..).zip(&mut self.0);
            let counter = counters.find(|(number, _)| *number == field.number);
            let (_, counter) = counter.ok_or(ApplyError::new("nobody votes for that"))?;
            *counter = field.uint()?;
        }
        Ok(())
    }

    fn held_bytes(&self, _: Option<&Votes>) -> usize {
        size_of::<Votes>()
    }
}

/// An office, where somebody votes now and then.
struct Office {
    endpoint: Endpoint<Votes, Votes>,
    votes: Votes,
    voters: Random,
    next_vote: Duration,
    last_vote: Duration,
    /// The address of the other office, as far as it is known.
    other: SocketAddr,
    queue: VecDeque<fulmar_sim::Transmit>,
    buffer: Vec<u8>,
}

/// Random bytes that a seed repeats.
struct Seeded(Random);

impl Noise for Seeded {
    fn fill(&mut self, bytes: &mut [u8]) {
        bytes.fill_with(|| self.0.bits() as u8);
    }
}

/// There is one path only.
const PATH: PathId = PathId::new(0);

impl Office {
    fn new(role: Role, last_vote: Duration) -> Office {
        let (out, back) = match role {
            Role::Client => (Direction::ToServer, Direction::ToClient),
            Role::Server => (Direction::ToClient, Direction::ToServer),
        };
        let key = || Key::from_base64("c68K8iLyuCr1oEM7Hszyjg").expect("this is a key");
        let config = EndpointConfig {
            role,
            datagram_bytes: 1252,
            agreement: None,
        };
        let stream = u64::from(role == Role::Server);
        let mut endpoint = Endpoint::new(
            Time::ZERO,
            config,
            Sealer::new(key(), out),
            Opener::new(&key(), back),
            Votes::default(),
            Votes::default(),
            Box::new(Seeded(Random::stream(7, stream))),
        );
        if role == Role::Client {
            endpoint.handle_path_opened(Time::ZERO, PATH);
        }
        Office {
            endpoint,
            votes: Votes::default(),
            voters: Random::stream(7, 10 + stream),
            next_vote: ms(10),
            last_vote,
            other: address("203.0.113.1:60001"),
            queue: VecDeque::new(),
            buffer: Vec::new(),
        }
    }

    /// Returns all votes as far as this office knows.
    fn sum(&self) -> Votes {
        self.votes.with(*self.endpoint.remote())
    }

    fn vote(&mut self, now: Duration) {
        while self.next_vote <= now && self.next_vote < self.last_vote {
            let drink = self.voters.below(DRINKS.len() as u64);
            self.votes.cast(drink as usize);
            self.next_vote += self.voters.between(ms(1), ms(300));
        }
        let now = Time::from_origin(now);
        self.endpoint.set_local(now, self.votes);
    }
}

impl Node for Office {
    fn handle_datagram(&mut self, now: Duration, datagram: Datagram) {
        let arrival = Arrival {
            path: PATH,
            ecn: Ecn::NotCapable,
            bytes: &datagram.bytes,
        };
        let now = Time::from_origin(now);
        let _ = self.endpoint.handle_datagram(now, arrival);
        self.other = datagram.source;
    }

    fn handle_timeout(&mut self, now: Duration) {
        self.vote(now);
        self.endpoint.handle_timeout(Time::from_origin(now));
    }

    fn poll_transmit(&mut self, now: Duration) -> Option<fulmar_sim::Transmit> {
        let now = Time::from_origin(now);
        if self.queue.is_empty()
            && let Some(transmit) = self.endpoint.poll_transmit(now, &mut self.buffer)
        {
            let to = self.other;
            let datagrams = transmit.split(&self.buffer);
            let datagrams = datagrams.map(|bytes| fulmar_sim::Transmit::to(to, bytes));
            self.queue.extend(datagrams);
        }
        self.queue.pop_front()
    }

    fn next_timeout(&self) -> Option<Duration> {
        let timeout = self.endpoint.poll_timeout();
        let timeout = timeout.map(|(due, _)| due.since_origin());
        let vote = (self.next_vote < self.last_vote).then_some(self.next_vote);
        timeout.into_iter().chain(vote).min()
    }
}

/// Lets people vote for so long, tells each second what each office shows, and returns what both
/// show when they agree.
fn count_votes(duration: Duration, mut tell: impl FnMut(String)) -> Result<Votes, Failure> {
    let net = Network::seeded(7).both([Delay::ms(80), Loss::percent(33)]);
    let here = Office::new(Role::Client, duration);
    let there = Office::new(Role::Server, duration);
    let mut sim = Simulation::new(net, (here, there)).with_ledger();
    while sim.now() < duration {
        sim.run_for(secs(1))?;
        let (here, there) = &sim.nodes;
        let second = sim.now().as_secs();
        let (here, there) = (here.sum(), there.sum());
        tell(format!("{second:>3} s   here: {here}   there: {there}"));
    }
    let took = sim.run_until(secs(10), |(here, there)| here.sum() == there.sum())?;
    tell(format!("They agree after another {} ms.", took.as_millis()));
    let (here, there) = &sim.nodes;
    for (name, office) in [("here", here), ("there", there)] {
        let counters = office.endpoint.counters();
        let (sent, received) = (counters.datagrams_sent, counters.datagrams_received);
        tell(format!(
            "{name}: {sent} datagrams sent, {received} received"
        ));
        tell(format!("  instructions by cause: {:?}", counters.sent));
    }
    Ok(here.sum())
}

fn main() -> Result<(), Failure> {
    count_votes(secs(15), |line| println!("{line}")).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_offices_count_every_vote() -> Result<(), Failure> {
        let mut lines = 0;
        let sum = count_votes(secs(60), |_| lines += 1)?;
        assert_eq!(lines, 60 + 5);
        // A vote every 150 ms in each of two offices.
        let votes: u64 = sum.0.iter().sum();
        assert!((700..900).contains(&votes), "{sum}");
        Ok(())
    }
}
