//! The scenario of a run, for real links and for virtual time alike.
//!
//! # The text of a scenario
//!
//! One entry a line; `#` begins a comment.
//!
//! | line | meaning |
//! |---|---|
//! | `seed 7` | all chance follows from it; 0 otherwise |
//! | `up LIST`, `down LIST`, `both LIST` | what happens on the way from the client, to it, either; separated by commas, in this order |
//! | `nat IP [expiring 30s] [filter open\|address\|port]` | the client is behind a translator with this address outside |
//! | `at 10s CHANGE`, `every 10s CHANGE`, `at 5s every 10s CHANGE` | what changes during the run |
//!
//! | in a list | meaning |
//! |---|---|
//! | `delay 50ms`, `delay 40ms..60ms [reordering]` | time on the way; uniform jitter, which keeps the order unless it says otherwise |
//! | `loss 1%` | each lost for itself |
//! | `burst-loss 5% run 4` | lost in runs, with this mean (Gilbert) |
//! | `gilbert-elliott to-bad 1% to-good 20% good 0% bad 50%` | the model with all its chances |
//! | `duplicate 1%`, `reorder 2% hold 30ms` | some come twice; some are held up and overtaken |
//! | `rate 5mbit [queue Q]` | a slow link |
//! | `trace NAME [from 30s] [queue Q]` | a link that follows a Mahimahi trace: a file of the folder of traces, or generated, as `like-lte-down:7` |
//! | … `Q` | `endless`, `24p`, `64kB`, `codel [target 5ms] [interval 100ms] [1000p] [ecn]` |
//! | `mark 5%`, `unmark` | ECN: congestion experienced; all marks wiped |
//! | `mtu 1280 [reported]` | larger packets vanish, with a report (ICMP) or without |
//! | `outage 10s..20s [30s..31s]`, `outage never` | nothing gets through |
//! | `blocked [udp\|port 22] [rejected]`, `blocked nothing` | a firewall |
//!
//! A client that sleeps has all programs on its host stopped, and what reaches it is lost.
//!
//! A change is such a list behind `up`, `down` or `both`, which sets stages of its kinds anew, or `client moves
//! [to IP]`, `client sleeps`, `client wakes`, `link cut`, `link restored`, `nat rebinds`, `nat moves to IP`.
//!
//! A client on two networks at once: `client sends from IP` prefers this address, and adds it where it is new;
//! `client loses IP` takes one away.

mod text;
mod words;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use fulmar_sim::{CLIENT, Change, Impairment, Nat, Network, Nodes, Plan, SERVER, Simulation};

/// The client's first address, in either world.
pub(crate) const CLIENT_IP: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
/// The server's address, in either world.
pub(crate) const SERVER_IP: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 1);
/// The client's first address of the newer family, on real links without a translator.
pub(crate) const CLIENT_IP6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0xc, 0, 0, 0, 0, 1);
/// The server's address of the newer family, on real links.
pub(crate) const SERVER_IP6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0x5, 0, 0, 0, 0, 1);

/// The server's port in virtual time.
const SIMULATED_PORT: u16 = 60001;

/// The link of a client, and what changes about it during a run.
///
/// The same value runs between two real hosts ([`Link`](crate::link::Link)) and in virtual time
/// ([`simulation`](Self::simulation)). Chance is drawn from the seed in both, by the same stages and in the
/// order of the packets: where the same packets are sent in the same order, the same are lost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scenario {
    /// All chance follows from it.
    pub seed: u64,
    /// The impairments on the way from the client to the server, in this order.
    pub up: Vec<Impairment>,
    /// The impairments on the way from the server to the client, in this order.
    pub down: Vec<Impairment>,
    /// The translator that the client is behind.
    pub nat: Option<Nat>,
    /// The changes, and their times.
    pub changes: Vec<PlannedChange>,
    /// The text that it was read from; empty where it was made otherwise.
    pub text: String,
}

/// A change and when it is due, counted from the start of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedChange {
    /// The time of the change, or of the first.
    pub at: Duration,
    /// The period after which it comes again, each time; it comes once where there is none. Not zero.
    pub every: Option<Duration>,
    /// The change.
    pub change: Change,
}

impl Scenario {
    /// The same impairments both ways.
    #[must_use]
    pub fn both(seed: u64, impairments: impl IntoIterator<Item = Impairment>) -> Self {
        let up: Vec<_> = impairments.into_iter().collect();
        Self {
            seed,
            down: up.clone(),
            up,
            ..Self::default()
        }
    }

    /// Returns a simulation of it with these programs, the client's first. They talk from port 50000
    /// of the client to port 60001 of the server.
    #[must_use]
    pub fn simulation<N: Nodes>(&self, programs: N) -> Simulation<N> {
        let mut simulation = Simulation::new(self.impair(Network::seeded(self.seed)), programs);
        for PlannedChange { at, every, change } in &self.changes {
            match every {
                None => simulation.plan(*at, change.clone()),
                Some(period) => simulation.plan_from(*at, *period, change.clone()),
            }
        }
        simulation
    }

    /// Returns where the server of a [`simulation`](Self::simulation) is.
    #[must_use]
    pub(crate) fn simulated_server(&self) -> SocketAddr {
        SocketAddr::new(IpAddr::V4(SERVER_IP), SIMULATED_PORT)
    }

    /// Returns the network of it for real hosts, which have all ports of their addresses.
    #[must_use]
    pub(crate) fn network(&self) -> Network {
        let mut network = Network::without_hosts(self.seed);
        network.add_host("client", SocketAddr::new(IpAddr::V4(CLIENT_IP), 0));
        network.add_host("server", SocketAddr::new(IpAddr::V4(SERVER_IP), 0));
        // A translator knows one family.
        if self.nat.is_none() {
            for (host, ip, ip6) in [
                (CLIENT, CLIENT_IP, CLIENT_IP6),
                (SERVER, SERVER_IP, SERVER_IP6),
            ] {
                let [ip, ip6] = [IpAddr::V4(ip), IpAddr::V6(ip6)].map(|ip| SocketAddr::new(ip, 0));
                network.apply(Duration::ZERO, Change::Bind(host, ip6));
                // The address bound last is the one that a host moves on from.
                network.apply(Duration::ZERO, Change::Bind(host, ip));
            }
        }
        self.impair(network)
    }

    /// Returns the changes by their times.
    #[must_use]
    pub(crate) fn plan(&self) -> Plan {
        let mut plan = Plan::default();
        for PlannedChange { at, every, change } in &self.changes {
            match every {
                None => plan.once(*at, change.clone()),
                Some(period) => plan.every(*at, *period, change.clone()),
            }
        }
        plan
    }

    fn impair(&self, network: Network) -> Network {
        let network = network.up(self.up.clone()).down(self.down.clone());
        match self.nat {
            Some(nat) => network.client_behind(nat),
            None => network,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::LinkTraces;

    fn parse(text: &str) -> Scenario {
        Scenario::parse(text, &LinkTraces::none()).unwrap()
    }

    #[test]
    fn real_hosts_have_both_families_but_behind_a_translator_one() {
        let ips = |text: &str, host| -> Vec<IpAddr> {
            let network = parse(text).network();
            let addresses = network.addresses(host).iter();
            addresses.map(|address| address.ip()).collect()
        };
        for (host, ip, ip6) in [
            (CLIENT, CLIENT_IP, CLIENT_IP6),
            (SERVER, SERVER_IP, SERVER_IP6),
        ] {
            let both = ips("", host);
            assert!(
                both.contains(&ip.into()) && both.contains(&ip6.into()),
                "{both:?}"
            );
            let one = ips("nat 198.51.100.9", host);
            assert!(
                one.contains(&ip.into()) && !one.contains(&ip6.into()),
                "{one:?}"
            );
        }
    }

    #[test]
    fn what_changes_once_is_over_and_what_comes_again_is_due_again() {
        let secs = Duration::from_secs;
        let mut plan = parse("at 5s client moves\nat 3s every 10s link cut").plan();
        assert_eq!(plan.next_due(), Some(secs(3)));
        assert_eq!(plan.take_due(secs(3)), Some(Change::Cut(CLIENT)));
        assert_eq!(plan.take_due(secs(4)), None);
        assert_eq!(plan.take_due(secs(5)), Some(Change::MoveOn(CLIENT)));
        assert_eq!(plan.next_due(), Some(secs(13)));
    }

    #[test]
    fn a_simulation_has_its_server_where_it_is_said_to_be() {
        let server = parse("").simulated_server();
        assert_eq!(server.to_string(), "203.0.113.1:60001");
    }

    #[test]
    fn the_same_both_ways_is_the_same_as_the_text_says() {
        let loss = [fulmar_sim::Loss::percent(1)];
        let both = Scenario::both(7, loss);
        assert_eq!((both.seed, &both.up, &both.down), (7, &both.down, &both.up));
        assert_eq!(both.up, parse("both loss 1%").up);
    }
}
