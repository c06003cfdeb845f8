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

use std::io::{PipeWriter, Write as _};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context as _, Result};
use fulmar_sim::{CLIENT, Change, Entry, SERVER};

use crate::scenario::Scenario;
pub use engine::Report;
use engine::{Ends, Engine, Order, ips};
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
        let end = |name, host| -> Result<(Host, Ends)> {
            let (host, tun) = Host::new(name, &ips(&network, host))?;
            let ends = Ends {
                tun,
                addressing: host.addressing()?,
                network: host.network()?,
            };
            Ok((host, ends))
        };
        let (client, client_end) = end("client", CLIENT)?;
        let (server, server_end) = end("server", SERVER)?;
        let ends = [client_end, server_end];
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
        self.ask(move |engine| engine.apply(engine.now(), change))
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
        self.ask(move |engine| {
            let at = engine.now() + after;
            match every {
                None => engine.plan.once(at, change),
                Some(period) => engine.plan.every(at, period, change),
            }
            Ok(())
        })
    }

    /// Returns how the link has done so far.
    ///
    /// # Errors
    ///
    /// Where the engine has failed.
    pub fn report(&self) -> Result<Report> {
        self.ask(|engine| Ok(engine.report()))
    }

    /// Keeps so many events from here on, in place of some hundreds. One takes a hundred bytes or two.
    ///
    /// # Errors
    ///
    /// Where the engine has failed.
    pub fn keep(&self, events_max: usize) -> Result<()> {
        self.ask(move |engine| {
            engine.network.timeline.keep(events_max);
            Ok(())
        })
    }

    /// Returns what happened to packets, as far as it was kept; times count from the start.
    ///
    /// # Errors
    ///
    /// Where the engine has failed.
    pub fn log(&self) -> Result<Vec<Entry>> {
        self.ask(|engine| Ok(engine.network.timeline.entries().collect()))
    }

    /// As [`log`](Self::log), and forgets it; keeps so many events from here on. Who calls it again
    /// and again gets each event once.
    ///
    /// # Errors
    ///
    /// Where the engine has failed.
    pub(crate) fn take_log(&self, events_max: usize) -> Result<Vec<Entry>> {
        self.ask(move |engine| {
            let timeline = &mut engine.network.timeline;
            let log = timeline.entries().collect();
            timeline.keep(0);
            timeline.keep(events_max);
            Ok(log)
        })
    }

    /// Ends the link.
    ///
    /// # Errors
    ///
    /// What has ended it before.
    pub fn stop(mut self) -> Result<()> {
        self.join()
    }

    /// Has the engine do something, and returns what comes of it.
    fn ask<T: Send + 'static>(
        &self,
        order: impl FnOnce(&mut Engine) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (to, answer) = channel();
        let order: Order = Box::new(move |engine| {
            // Who has ordered it may have gone.
            let _ = to.send(order(engine)?);
            Ok(())
        });
        let orders = self.orders.as_ref().context(FAILED)?;
        orders.send(order).ok().context(FAILED)?;
        let mut wake = &self.wake;
        wake.write_all(&[0]).context(FAILED)?;
        answer.recv().context(FAILED)
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
