//! Measures the traffic, and its cost, while nothing happens.

use std::time::Duration;

use anyhow::Result;

use super::shell::ShellHosts;
use crate::experiment::{Measured, Surroundings};
use crate::instrument::Kernel;
use crate::instrument::figures::{Figures, HostCosts, traffic};
use crate::peer::Peer;
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
    let kernel = Kernel::USUAL.set(&hosts.stage.link)?;
    let mut shell = hosts.enter(peer)?;
    shell.await_first_prompt()?;
    shell.watch(quiet)?;
    let mut costs = HostCosts::begin(&hosts.stage)?;
    let before = hosts.stage.link.report()?;
    shell.watch(time)?;
    let after = hosts.stage.link.report()?;
    costs.look();
    let mut figures = Figures::default();
    let minutes = (after.at - before.at).as_secs_f64() / 60.0;
    for (host, cost) in costs.of(peer.programs()) {
        let cpu = cost.cpu.as_secs_f64() * 60.0 / minutes;
        figures.put(&format!("{host}_cpu_an_hour"), cpu, "s");
        figures.put(&format!("{host}_memory"), cost.memory as f64, "B");
    }
    for (way, packets, bytes) in traffic(&before, &after) {
        figures.put(
            &format!("packets_{way}_a_minute"),
            packets / minutes,
            "packets",
        );
        figures.put(&format!("bytes_{way}_a_minute"), bytes / minutes, "B");
    }
    let mut commands = hosts.commands(&shell);
    commands.push(kernel);
    shell.leave()?;
    Ok(figures.measured(scenario, commands))
}
