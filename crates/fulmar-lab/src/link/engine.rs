//! The one thread that forwards packets between two real hosts.

use std::io::PipeReader;
use std::net::IpAddr;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

use anyhow::{Context as _, Result};
use fulmar_platform::lab::{Halt, Network as HostNetwork, ThreadPriority, Tun, raise_priority};
use fulmar_platform::{Interest, Poller, Transfer, boot_time};
use fulmar_sim::{Arrived, CLIENT, Change, HostId, Impairment, Network, Plan, SERVER, Timeline};

use super::host::Addressing;
use super::lateness::Lateness;
use super::{icmp, packet};
use crate::scenario::Scenario;

/// Packets that are read from one host before the other gets its turn.
const PACKETS_PER_TURN: usize = 64;

/// The largest packet that a device with our MTU gives out, with room to spare.
const PACKET_BYTES_MAX: usize = 2048;

/// An order to the engine, done between the packets before it and those after it.
pub(crate) type Order = Box<dyn FnOnce(&mut Engine) -> Result<()> + Send>;

/// The report of a link so far.
#[derive(Clone, Debug)]
pub struct Report {
    /// The time for which the link has been up.
    pub at: Duration,
    /// The events: counts, and the last ones.
    pub events: String,
    /// The fate of the packets that the client sent.
    pub client: fulmar_sim::Counts,
    /// The fate of the packets that the server sent.
    pub server: fulmar_sim::Counts,
    /// The lateness of packets: how much later than computed they were handed over.
    pub lateness: Lateness,
    /// Packets that a host would not take, because its device was down, or that could not be
    /// given the addresses that the network gave them.
    pub undelivered: u64,
    /// The priority of the engine's thread.
    pub priority: ThreadPriority,
}

/// The near ends of the link, by the number of the host.
pub(crate) struct Ends {
    pub(crate) tun: Tun,
    pub(crate) addressing: Addressing,
    /// The network of the host.
    pub(crate) network: HostNetwork,
}

/// The reason why the engine wakes up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Call {
    Packet,
    Order,
}

/// A network of stages, with a real clock and with packets for datagrams.
///
/// ```text
///   client's TUN ──► up ──► core ──► server's TUN      each packet: when it leaves is computed
///   client's TUN ◄── down ◄─ core ◄─ server's TUN      when it comes; late looks shift nothing
/// ```
pub(crate) struct Engine {
    pub(super) network: Network,
    pub(super) plan: Plan,
    ends: [Ends; 2],
    /// The reading of the clock at the start.
    start: Duration,
    lateness: Lateness,
    undelivered: u64,
    priority: ThreadPriority,
    /// The largest packet that a host is told of where one is too big.
    mtu: u16,
    poller: Poller<Call>,
}

impl Engine {
    pub(crate) fn new(scenario: &Scenario, ends: [Ends; 2]) -> Self {
        let mut engine = Self {
            network: scenario.network(),
            plan: scenario.plan(),
            ends,
            start: Duration::ZERO,
            lateness: Lateness::default(),
            undelivered: 0,
            priority: ThreadPriority::Usual,
            mtu: 1500,
            poller: Poller::new(),
        };
        for impairment in scenario.up.iter().chain(&scenario.down) {
            engine.set_mtu(impairment);
        }
        engine
    }

    /// Says what a host is told where a packet of its own is too big.
    fn set_mtu(&mut self, impairment: &Impairment) {
        if let Impairment::Mtu(mtu) = impairment {
            self.mtu = u16::try_from(mtu.packet_bytes_max()).unwrap_or(u16::MAX);
        }
    }

    /// Forwards until nobody can give orders any more. `orders` come with a byte on `wake` each.
    ///
    /// # Errors
    ///
    /// Where a device is gone.
    pub(crate) fn run(mut self, orders: &Receiver<Order>, wake: &PipeReader) -> Result<()> {
        self.priority = raise_priority();
        self.start = boot_time();
        loop {
            self.follow_plan()?;
            for host in [CLIENT, SERVER] {
                self.take_in(host)?;
            }
            // After the packets: what was sent before an order is not touched by it.
            if !self.follow(orders)? {
                return Ok(());
            }
            let now = self.now();
            self.network.advance(now);
            for host in [CLIENT, SERVER] {
                self.hand_over(host)?;
            }
            self.rest(wake)?;
        }
    }

    /// The time since the start.
    pub(super) fn now(&self) -> Duration {
        boot_time().saturating_sub(self.start)
    }

    /// Does what was ordered; false where there will be no more orders.
    fn follow(&mut self, orders: &Receiver<Order>) -> Result<bool> {
        loop {
            match orders.try_recv() {
                Ok(order) => order(self)?,
                Err(TryRecvError::Empty) => return Ok(true),
                Err(TryRecvError::Disconnected) => return Ok(false),
            }
        }
    }

    fn follow_plan(&mut self) -> Result<()> {
        while let Some(at) = self.plan.next_due()
            && let Some(change) = self.plan.take_due(self.now())
        {
            // As of the instant that was planned, unless something later has been done already.
            self.apply(at, change)?;
        }
        Ok(())
    }

    /// Makes a change as of that time.
    pub(super) fn apply(&mut self, at: Duration, change: Change) -> Result<()> {
        let host = change.host();
        if let Change::Set(_, _, impairment) = &change {
            self.set_mtu(impairment);
        }
        match change {
            Change::Suspend(host) => self.halt(host, Halt::Stop)?,
            Change::Wake(host) => self.halt(host, Halt::GoOn)?,
            _ => {}
        }
        let before = ips(&self.network, host);
        self.network.apply(at, change);
        let after = ips(&self.network, host);
        if before != after {
            self.end(host)?.addressing.change(&before, &after)?;
        }
        Ok(())
    }

    /// Stops a host's programs or lets them go on, in another thread: it takes some milliseconds.
    fn halt(&mut self, host: HostId, halt: Halt) -> Result<()> {
        let network = self.end(host)?.network.duplicate()?;
        let name = "halt".to_owned();
        let thread = std::thread::Builder::new().name(name);
        let halted = thread.spawn(move || network.halt(halt));
        halted.context("starting a thread").map(drop)
    }

    fn end(&mut self, host: HostId) -> Result<&mut Ends> {
        self.ends.get_mut(host.0).context("the link has two ends")
    }

    /// Reads what a host has sent.
    fn take_in(&mut self, host: HostId) -> Result<()> {
        let mut buffer = [0; PACKET_BYTES_MAX];
        for _ in 0..PACKETS_PER_TURN {
            match self.end(host)?.tun.read(&mut buffer)? {
                Transfer::Bytes(length) => {
                    let now = self.now();
                    let packet = buffer.get(..length).unwrap_or_default();
                    if let Some(datagram) = packet::datagram_of(packet) {
                        self.network.inject(now, host, datagram);
                    }
                }
                Transfer::WouldBlock | Transfer::Closed => break,
            }
        }
        Ok(())
    }

    /// Gives a host what has reached it.
    fn hand_over(&mut self, host: HostId) -> Result<()> {
        while let Some(arrival) = self.network.poll_arrival(host) {
            let packet = match arrival.what {
                Arrived::Datagram(datagram) => packet::packet_of(datagram).map(Some),
                Arrived::SendFailure { failure, datagram } => {
                    icmp::notice(failure, datagram, self.mtu)
                }
            };
            let end = self.ends.get(host.0).context("the link has two ends")?;
            // A device that is down, or has no room, is as a host that does not listen.
            match packet.map(|packet| packet.map(|packet| end.tun.write(&packet))) {
                Ok(None) => continue,
                Ok(Some(Ok(Transfer::Bytes(_)))) => {}
                Ok(Some(_)) | Err(_) => self.undelivered += 1,
            }
            let late = self.now().saturating_sub(arrival.at);
            self.lateness.add(late);
        }
        Ok(())
    }

    /// Waits for the next thing to do.
    fn rest(&mut self, wake: &PipeReader) -> Result<()> {
        let due = [self.network.next_due(), self.plan.next_due()];
        let due = due.into_iter().flatten().min();
        let limit = due.map(|due| due.saturating_sub(self.now()));
        if limit == Some(Duration::ZERO) {
            return Ok(());
        }
        self.poller.wait(limit, |registry| {
            for end in &self.ends {
                registry.add(Call::Packet, &end.tun, Interest::Read);
            }
            registry.add(Call::Order, wake, Interest::Read);
        })?;
        if self.poller.ready().any(|(call, _)| call == Call::Order) {
            use std::io::Read as _;
            let mut wake = wake;
            // At the end of the pipe nobody gives orders any more, as `follow` will see.
            let _ = wake.read(&mut [0; 64])?;
        }
        Ok(())
    }

    /// Tells how the link has done so far.
    pub(super) fn report(&self) -> Report {
        let timeline: &Timeline = &self.network.timeline;
        Report {
            at: self.now(),
            events: timeline.to_string(),
            client: timeline.counts(CLIENT),
            server: timeline.counts(SERVER),
            lateness: self.lateness.clone(),
            undelivered: self.undelivered,
            priority: self.priority,
        }
    }
}

/// Returns the addresses of a host, without ports.
pub(super) fn ips(network: &Network, host: HostId) -> Vec<IpAddr> {
    let addresses = network.addresses(host).iter();
    addresses.map(|address| address.ip()).collect()
}
