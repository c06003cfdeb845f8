//! An emulated link between two real hosts.
//!
//! ```text
//!   programs ─ sockets ─ kernel ─ TUN ┐              ┌ TUN ─ kernel ─ sockets ─ programs
//!            client's network         └── engine ────┘         server's network
//! ```
//!
//! Each host is a network namespace without a name. The engine is one thread that reads packets from
//! both TUN devices, computes with the stages of `fulmar-sim` when each of them is to leave and
//! whether, and writes it then. All of it is held by descriptors of this process and gone with it.

mod engine;
mod host;
mod icmp;
mod lateness;
mod packet;
mod parameters;

use std::io::{PipeWriter, Write as _};
use std::net::IpAddr;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context as _, Result};
use fulmar_sim::{CLIENT, Change, Entry, SERVER};

use crate::scenario::Scenario;
pub use engine::Report;
use engine::{Ends, Engine, Order};
pub use host::Host;
pub use lateness::Lateness;

/// The message where the engine's thread has ended; the reason comes when the link is stopped.
const FAILED: &str = "the engine of the link has failed";

/// Two hosts and the link between them. It ends when this value is dropped, with what the kernel
/// has of it; programs that run on the hosts stay, without a link.
pub struct Link {
    /// The host at 192.0.2.1.
    pub client: Host,
    /// The host at 203.0.113.1.
    pub server: Host,
    orders: Option<Sender<Order>>,
    wake: PipeWriter,
    engine: Option<JoinHandle<Result<()>>>,
}

impl Link {
    /// Makes both hosts and starts the link; the times of the scenario count from here.
    ///
    /// # Errors
    ///
    /// Where networks or devices are not permitted, or `ip` (iproute2) is missing.
    pub fn start(scenario: &Scenario) -> Result<Self> {
        let network = scenario.network();
        let ips = |host| -> Vec<IpAddr> {
            let addresses = network.addresses(host).iter();
            addresses.map(|address| address.ip()).collect()
        };
        let (client, client_tun) = Host::new("client", &ips(CLIENT))?;
        let (server, server_tun) = Host::new("server", &ips(SERVER))?;
        let ends = [
            Ends {
                tun: client_tun,
                addressing: client.addressing()?,
                network: client.network()?,
            },
            Ends {
                tun: server_tun,
                addressing: server.addressing()?,
                network: server.network()?,
            },
        ];
        let scenario = scenario.clone();
        let (orders, ordered) = channel();
        let (woken, wake) = std::io::pipe()?;
        let engine = std::thread::Builder::new()
            .name("link".to_owned())
            .spawn(move || Engine::new(&scenario, ends).run(&ordered, &woken))?;
        Ok(Self {
            client,
            server,
            orders: Some(orders),
            wake,
            engine: Some(engine),
        })
    }

    /// Makes a change now: it is made when this returns. Packets that were sent before are not
    /// touched by it, unless they were very many.
    ///
    /// # Errors
    ///
    /// Where the engine has failed.
    pub fn apply(&self, change: Change) -> Result<()> {
        let (to, done) = channel();
        self.order(Order::Apply(change, to))?;
        done.recv().context(FAILED)
    }

    /// Makes a change after this time from now, and again after each period if there is one.
    ///
    /// # Errors
    ///
    /// Where the engine has failed.
    ///
    /// # Panics
    ///
    /// Where the period is zero.
    pub fn plan(&self, after: Duration, every: Option<Duration>, change: Change) -> Result<()> {
        assert!(every != Some(Duration::ZERO), "a period takes time");
        self.order(Order::Plan(after, every, change))
    }

    /// Returns how the link has done so far.
    ///
    /// # Errors
    ///
    /// Where the engine has failed.
    pub fn report(&self) -> Result<Report> {
        let (to, report) = channel();
        self.order(Order::Report(to))?;
        report.recv().context(FAILED)
    }

    /// Keeps so many events from here on, in place of some hundreds. One takes a hundred bytes or two.
    ///
    /// # Errors
    ///
    /// Where the engine has failed.
    pub fn keep(&self, events_max: usize) -> Result<()> {
        self.order(Order::Keep(events_max))
    }

    /// Returns what happened to packets, as far as it was kept; times count from the start.
    ///
    /// # Errors
    ///
    /// Where the engine has failed.
    pub fn log(&self) -> Result<Vec<Entry>> {
        let (to, log) = channel();
        self.order(Order::Log(to))?;
        log.recv().context(FAILED)
    }

    /// As [`log`](Self::log), and forgets it; keeps so many events from here on. Who calls it again
    /// and again gets each event once.
    ///
    /// # Errors
    ///
    /// Where the engine has failed.
    pub(crate) fn take_log(&self, events_max: usize) -> Result<Vec<Entry>> {
        let (to, log) = channel();
        self.order(Order::TakeLog(events_max, to))?;
        log.recv().context(FAILED)
    }

    /// Ends the link.
    ///
    /// # Errors
    ///
    /// What has ended it before.
    pub fn stop(mut self) -> Result<()> {
        self.join()
    }

    fn order(&self, order: Order) -> Result<()> {
        let orders = self.orders.as_ref().context(FAILED)?;
        orders.send(order).ok().context(FAILED)?;
        let mut wake = &self.wake;
        wake.write_all(&[0]).context(FAILED)
    }

    fn join(&mut self) -> Result<()> {
        self.orders = None;
        let Some(engine) = self.engine.take() else {
            return Ok(());
        };
        // It looks when it is woken; if it has ended it does not matter.
        let mut wake = &self.wake;
        let _ = wake.write_all(&[0]);
        match engine.join() {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.orders = None;
            return;
        }
        if let Err(error) = self.join() {
            eprintln!("the link ended early: {error:#}");
        }
    }
}
