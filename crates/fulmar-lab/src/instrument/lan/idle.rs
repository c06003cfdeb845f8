//! Measures the traffic, and its cost, while nothing happens.

use std::time::Duration;

use anyhow::Result;

use super::shell::ShellHosts;
use crate::experiment::{Measured, Surroundings};
use crate::instrument::Kernel;
use crate::instrument::figures::{Figures, HostCosts, traffic};
use crate::peer::{Cost, Peer};
use crate::scenario::Scenario;

/// Counts what crosses the link of a session in which nobody does anything, after a quiet time, and what
/// the peer's processes use meanwhile.
pub(super) fn measure(
    peer: &Peer,
    scenario: &Scenario,
    [quiet, time]: [Duration; 2],
    around: &Surroundings,
) -> Result<Measured> {
    let hosts = ShellHosts::new(scenario, around)?;
    let kernel = Kernel::USUAL.set(&hosts.session.link)?;
    let mut shell = hosts.enter(peer)?;
    shell.await_first_prompt()?;
    shell.watch(quiet)?;
    let mut costs = HostCosts::begin(&hosts.session)?;
    let before = hosts.session.link.report()?;
    shell.watch(time)?;
    let after = hosts.session.link.report()?;
    costs.look();
    let time = after.at - before.at;
    let figures = figures(time, costs.of(peer.programs()), traffic(&before, &after));
    let mut commands = hosts.commands(&shell);
    commands.push(kernel);
    shell.leave()?;
    Ok(figures.measured(scenario, commands))
}

/// Returns what was used and sent in this time, for each hour and minute.
fn figures(
    time: Duration,
    costs: impl Iterator<Item = (&'static str, Cost)>,
    traffic: [(&'static str, f64, f64); 2],
) -> Figures {
    let minutes = time.as_secs_f64() / 60.0;
    let mut figures = Figures::default();
    for (host, cost) in costs {
        let cpu = cost.cpu.as_secs_f64() * 60.0 / minutes;
        figures.put(&format!("{host}_cpu_an_hour"), cpu, "s");
        figures.put(&format!("{host}_memory"), cost.memory as f64, "B");
    }
    for (way, packets, bytes) in traffic {
        figures.put(
            &format!("packets_{way}_a_minute"),
            packets / minutes,
            "packets",
        );
        figures.put(&format!("bytes_{way}_a_minute"), bytes / minutes, "B");
    }
    figures
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
        let costs = std::iter::once(("server", cost));
        let figures = figures(Duration::from_secs(30), costs, traffic).0;
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
