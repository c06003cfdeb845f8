//! The loop that drives programs in virtual time.

use std::time::Duration;

use crate::change::Change;
use crate::clock::{Clock, Jump};
use crate::datagram::HostId;
use crate::failure::{Failure, FailureKind};
use crate::host::{Arrived, LinkDirection};
use crate::impairment::Impairment;
use crate::ledger::NonceLedger;
use crate::network::Network;
use crate::node::{Node, Nodes};
use crate::plan::Plan;
use crate::units::address;
use fulmar_base::Hint;

/// The most turns that may pass at one instant by default. A turn hands over all that is due, so honest
/// programs need a handful. Chosen by eye.
const TURNS_MAX: u32 = 1_000;

/// The most datagrams that a program may send at one instant by default: more than any send window. Chosen by
/// eye.
const DATAGRAMS_MAX: u32 = 100_000;

/// Programs on hosts of a network, and the time that all of them share.
///
/// Nothing sleeps: when nothing is left to do at one instant, time jumps to the next.
pub struct Simulation<N: Nodes> {
    /// The programs, in the order of the hosts.
    pub nodes: N,
    /// The hosts and their links.
    pub net: Network,
    now: Duration,
    hosts: Vec<HostState>,
    plan: Plan,
    turns_max: u32,
    datagrams_max: u32,
    ledger: Option<NonceLedger>,
}

#[derive(Clone, Copy, Debug, Default)]
struct HostState {
    clock: Clock,
    suspended_since: Option<Duration>,
    /// The number of the key that its datagrams are sealed with.
    key: u64,
}

impl<N: Nodes> Simulation<N> {
    /// Starts the programs at time zero.
    ///
    /// # Panics
    ///
    /// Where there are not as many programs as hosts.
    #[must_use]
    pub fn new(net: Network, nodes: N) -> Self {
        assert_eq!(net.host_count(), nodes.count(), "one program for each host");
        Self {
            hosts: vec![HostState::default(); net.host_count()],
            nodes,
            net,
            now: Duration::ZERO,
            plan: Plan::default(),
            turns_max: TURNS_MAX,
            datagrams_max: DATAGRAMS_MAX,
            ledger: None,
        }
    }

    /// Allows so many turns at one instant, in place of 1000.
    #[must_use]
    pub fn turns_max(mut self, turns_max: u32) -> Self {
        self.turns_max = turns_max;
        self
    }

    /// Allows a program to send so many datagrams at one instant, in place of 100 000.
    #[must_use]
    pub fn datagrams_max(mut self, datagrams_max: u32) -> Self {
        self.datagrams_max = datagrams_max;
        self
    }

    /// Watches that no nonce seals two texts: from here on each run fails where one does.
    ///
    /// All hosts use one key, as the two ends of a session do; see [`set_key`](Self::set_key).
    #[must_use]
    pub fn with_ledger(mut self) -> Self {
        self.ledger = Some(NonceLedger::new());
        self
    }

    /// Says that a host seals with the key of this number from here on; 0 at the start.
    pub fn set_key(&mut self, host: HostId, key: u64) {
        self.state(host).key = key;
    }

    /// Returns the ledger, if one is kept.
    #[must_use]
    pub fn ledger(&self) -> Option<&NonceLedger> {
        self.ledger.as_ref()
    }

    /// Returns the time since the start of the simulation.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.now
    }

    /// Returns what a host's clock shows: the `now` to call its program with.
    #[must_use]
    pub fn clock(&self, host: HostId) -> Duration {
        self.hosts
            .get(host.0)
            .map_or(self.now, |state| state.clock.reading(self.now))
    }

    /// Runs for this long, and stops with nothing left to do.
    ///
    /// # Errors
    ///
    /// Where a program spins or floods, or a nonce is used twice.
    pub fn run_for(&mut self, duration: Duration) -> Result<(), Failure> {
        self.run(self.now.saturating_add(duration), |_| false)
            .map(|_| ())
    }

    /// Runs until this holds, and returns the time it has taken.
    ///
    /// # Errors
    ///
    /// Where it does not hold `within` this time, a program spins or floods, or a nonce is used twice.
    pub fn run_until(
        &mut self,
        within: Duration,
        holds: impl FnMut(&N) -> bool,
    ) -> Result<Duration, Failure> {
        let start = self.now;
        match self.run(start.saturating_add(within), holds)? {
            Reached::What => Ok(self.now - start),
            Reached::When => Err(self.failure(FailureKind::Late(within))),
        }
    }

    /// Makes a change now.
    pub fn apply(&mut self, change: Change) {
        self.net.apply(self.now, change.clone());
        match change {
            Change::Suspend(host) => self.fall_asleep(host),
            Change::Wake(host) => self.wake_up(host),
            Change::Jump(host, jump) => self.state(host).clock.jump(jump),
            Change::Hint(host, hint) => self.tell(host, hint),
            _ => {}
        }
    }

    /// Plans a change for an instant, counted from the start of the simulation.
    pub fn plan(&mut self, at: Duration, change: Change) {
        self.plan.once(at, change);
    }

    /// Plans a change for the end of each period from here on.
    ///
    /// # Panics
    ///
    /// Where the period is zero.
    pub fn plan_every(&mut self, period: Duration, change: Change) {
        self.plan_from(self.now + period, period, change);
    }

    /// Plans a change for an instant and for the end of each period after it.
    ///
    /// # Panics
    ///
    /// Where the period is zero.
    pub fn plan_from(&mut self, first: Duration, period: Duration, change: Change) {
        self.plan.every(first, period, change);
    }

    /// Drops whatever is planned.
    pub fn cancel_plan(&mut self) {
        self.plan.clear();
    }

    /// Moves a host to an address written as `198.51.100.7:4500`.
    ///
    /// # Panics
    ///
    /// Where it is not written so.
    pub fn move_to(&mut self, host: HostId, to: &str) {
        self.apply(Change::Move(host, address(to)));
    }

    /// Suspends a host.
    pub fn suspend(&mut self, host: HostId) {
        self.apply(Change::Suspend(host));
    }

    /// Wakes a host.
    pub fn wake(&mut self, host: HostId) {
        self.apply(Change::Wake(host));
    }

    /// Lets a host's clock jump.
    pub fn jump(&mut self, host: HostId, jump: Jump) {
        self.apply(Change::Jump(host, jump));
    }

    /// Tells a host's program something.
    pub fn hint(&mut self, host: HostId, hint: Hint) {
        self.apply(Change::Hint(host, hint));
    }

    /// Changes one path of a host's link.
    pub fn set(&mut self, host: HostId, way: LinkDirection, impairment: Impairment) {
        self.apply(Change::Set(host, way, impairment));
    }

    /// Writes a line of the test's own into the timeline.
    pub fn note(&mut self, text: impl Into<String>) {
        self.net.timeline.note(self.now, text);
    }

    /// Returns a failure for something that the test itself has found, with the timeline up to here.
    #[must_use]
    pub fn found(&mut self, what: impl Into<String>) -> Failure {
        self.failure(FailureKind::Found(what.into()))
    }

    fn failure(&mut self, kind: FailureKind) -> Failure {
        let timeline = self.net.timeline.tell();
        Failure {
            kind,
            at: self.now,
            seed: self.net.seed(),
            timeline,
        }
    }

    fn run(
        &mut self,
        until: Duration,
        mut holds: impl FnMut(&N) -> bool,
    ) -> Result<Reached, Failure> {
        let mut turns = 0;
        loop {
            let last_host = self.turn()?;
            if holds(&self.nodes) {
                return Ok(Reached::What);
            }
            match self.next_instant() {
                Some(next) if next <= self.now => {
                    turns += 1;
                    if turns > self.turns_max {
                        let host = self.net.name(last_host).to_owned();
                        return Err(self.failure(FailureKind::Spin { turns, host }));
                    }
                }
                Some(next) if next <= until => {
                    self.now = next;
                    turns = 0;
                }
                Some(_) | None => {
                    self.now = until;
                    return Ok(Reached::When);
                }
            }
        }
    }

    /// Does what is due at this instant, once for each host, and returns the host that was last at
    /// work.
    fn turn(&mut self) -> Result<HostId, Failure> {
        self.follow_plan();
        self.net.advance(self.now);
        let mut last = HostId(0);
        for host in (0..self.hosts.len()).map(HostId) {
            if !self.is_suspended(host) {
                let heard = self.hand_over(host);
                let timed_out = self.time_out(host);
                let sent = self.drain(host)?;
                if heard || timed_out || sent {
                    last = host;
                }
            }
        }
        Ok(last)
    }

    fn hand_over(&mut self, host: HostId) -> bool {
        let now = self.clock(host);
        let mut any = false;
        while let Some(arrival) = self.net.poll_arrival(host) {
            any = true;
            let node = node_mut(&mut self.nodes, host);
            match arrival.what {
                Arrived::Datagram(datagram) => node.handle_datagram(now, datagram),
                Arrived::SendFailure { failure, .. } => node.handle_send_failure(now, failure),
            }
        }
        any
    }

    fn time_out(&mut self, host: HostId) -> bool {
        let now = self.clock(host);
        let node = node_mut(&mut self.nodes, host);
        let is_due = node.next_timeout().is_some_and(|due| due <= now);
        if is_due {
            self.net
                .timeline
                .timeout(self.now, host, node.timeout_reason());
            node.handle_timeout(now);
        }
        is_due
    }

    fn drain(&mut self, host: HostId) -> Result<bool, Failure> {
        let now = self.clock(host);
        let mut sent = 0;
        while let Some(transmit) = node_mut(&mut self.nodes, host).poll_transmit(now) {
            let key = self.state(host).key;
            let checked = match &mut self.ledger {
                Some(ledger) => ledger.record(self.now, key, &transmit.bytes),
                None => Ok(()),
            };
            self.net.send(self.now, host, transmit);
            checked.map_err(|error| self.failure(FailureKind::Nonce(error)))?;
            sent += 1;
            if sent >= self.datagrams_max {
                let host = self.net.name(host).to_owned();
                return Err(self.failure(FailureKind::Flood {
                    datagrams: sent,
                    host,
                }));
            }
        }
        while let Some(note) = node_mut(&mut self.nodes, host).poll_note() {
            self.net.timeline.host_note(self.now, host, note);
        }
        Ok(sent > 0)
    }

    /// Returns when there is something to do next.
    fn next_instant(&self) -> Option<Duration> {
        let planned = self.plan.next_due();
        let hosts = (0..self.hosts.len())
            .map(HostId)
            .filter_map(|host| self.next_of(host));
        hosts.chain(planned).chain(self.net.next_due()).min()
    }

    fn next_of(&self, host: HostId) -> Option<Duration> {
        if self.is_suspended(host) {
            None
        } else if self.net.has_arrival(host) {
            Some(self.now)
        } else {
            let due = self.nodes.node(host.0)?.next_timeout()?;
            Some(self.hosts.get(host.0)?.clock.instant(due))
        }
    }

    fn follow_plan(&mut self) {
        while let Some(change) = self.plan.take_due(self.now) {
            self.apply(change);
        }
    }

    fn fall_asleep(&mut self, host: HostId) {
        let now = self.now;
        self.state(host).suspended_since.get_or_insert(now);
    }

    fn wake_up(&mut self, host: HostId) {
        if let Some(since) = self.state(host).suspended_since.take() {
            self.tell(
                host,
                Hint::Woke {
                    slept: self.now - since,
                },
            );
        }
    }

    fn tell(&mut self, host: HostId, hint: Hint) {
        let now = self.clock(host);
        node_mut(&mut self.nodes, host).handle_hint(now, hint);
    }

    fn is_suspended(&self, host: HostId) -> bool {
        self.hosts
            .get(host.0)
            .is_some_and(|state| state.suspended_since.is_some())
    }

    fn state(&mut self, host: HostId) -> &mut HostState {
        self.hosts
            .get_mut(host.0)
            .expect("the network has this host")
    }
}

/// The reason why a run stopped.
enum Reached {
    What,
    When,
}

fn node_mut<N: Nodes>(nodes: &mut N, host: HostId) -> &mut dyn Node {
    nodes
        .node_mut(host.0)
        .expect("there is a program for each host")
}
