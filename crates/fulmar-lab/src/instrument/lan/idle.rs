//! Measures the traffic, and its cost, while nothing happens.

use std::time::Duration;

use anyhow::Result;

use super::shell::ShellSession;
use super::{IDLE, in_millis, link};
use crate::experiment::{LabSetup, Measured, Work};
use crate::instrument::Kernel;
use crate::instrument::figures::{HostCosts, Traffic, traffic};
use crate::instrument::hosts::PeerHosts;
use crate::peer::{Cost, Peer};

/// The cost of a session in which nobody does anything: the traffic on its link, and the use of the peer's processes.
#[derive(Clone, Copy, Debug)]
pub struct IdleTraffic {
    /// The time for which it is quiet before.
    pub quiet: Duration,
    /// The time for which it is counted.
    pub time: Duration,
}

impl Work for IdleTraffic {
    fn measure(&self, peer: &str, seed: u64, setup: &LabSetup) -> Result<Measured> {
        let peer = Peer::parse(peer)?;
        let scenario = link(seed, IDLE, "")?;
        let hosts = PeerHosts::new(&scenario, Kernel::USUAL, setup)?;
        let mut shell = ShellSession::enter(&hosts, &peer)?;
        shell.await_first_prompt()?;
        shell.watcher.watch(self.quiet)?;
        let mut costs = HostCosts::begin(&hosts.session)?;
        let before = hosts.session.link.report()?;
        shell.watcher.watch(self.time)?;
        let after = hosts.session.link.report()?;
        costs.look();
        let (time, traffic) = (after.at - before.at, traffic(&before, &after));
        let measured = figures(time, costs.of(peer.programs()), traffic);
        let commands = hosts.commands(shell.line.clone());
        shell.leave()?;
        Ok(measured.by(&scenario, commands))
    }

    fn takes_any_peer(&self) -> bool {
        true
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![
            ("round trip", in_millis(IDLE)),
            ("counted for", format!("{} s", self.time.as_secs())),
        ]
    }
}

/// Returns what was used and sent in this time, for each hour and minute.
fn figures(
    time: Duration,
    costs: impl Iterator<Item = (&'static str, Cost)>,
    traffic: [Traffic; 2],
) -> Measured {
    let minutes = time.as_secs_f64() / 60.0;
    let mut measured = Measured::default();
    for (host, cost) in costs {
        let cpu = cost.cpu.as_secs_f64() * 60.0 / minutes;
        measured.put(&format!("{host}_cpu_an_hour"), cpu, "s");
        measured.put(&format!("{host}_memory"), cost.memory as f64, "B");
    }
    for Traffic {
        way,
        packets,
        bytes,
        ..
    } in traffic
    {
        measured.put(
            &format!("packets_{way}_a_minute"),
            packets / minutes,
            "packets",
        );
        measured.put(&format!("bytes_{way}_a_minute"), bytes / minutes, "B");
    }
    measured
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_in_half_a_minute_is_told_for_an_hour_and_a_minute() {
        let cost = Cost {
            cpu: Duration::from_millis(20),
            memory: 4_000_000,
        };
        let traffic = [("up", 10.0, 600.0), ("down", 12.0, 900.0)];
        let traffic = traffic.map(|(way, packets, bytes)| Traffic {
            way,
            packets,
            bytes,
            lost: 0.0,
        });
        let costs = std::iter::once(("server", cost));
        let figures = figures(Duration::from_secs(30), costs, traffic).figures;
        let value = |name: &str| figures[name].value;
        assert!((value("server_cpu_an_hour") - 2.4).abs() < 1e-9);
        assert_eq!(value("server_memory"), 4e6);
        assert!(!figures.contains_key("client_memory"), "it was not seen");
        assert_eq!(
            (value("packets_up_a_minute"), value("bytes_down_a_minute")),
            (20.0, 1800.0)
        );
    }
}
