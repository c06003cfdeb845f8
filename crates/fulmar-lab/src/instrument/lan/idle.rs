//! Measures the traffic, and its cost, while nothing happens.

use std::time::Duration;

use anyhow::Result;

use super::Figures;
use super::shell::ShellHosts;
use crate::experiment::{Measured, Surroundings};
use crate::instrument::Kernel;
use crate::peer::{Costs, Peer, costs};
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
    let mut seen = hosts.stage.costs()?;
    seen.iter_mut().for_each(Costs::begin);
    let before = hosts.stage.link.report()?;
    shell.watch(time)?;
    let after = hosts.stage.link.report()?;
    seen.iter_mut().for_each(Costs::look);
    let mut figures = Figures::default();
    let minutes = (after.at - before.at).as_secs_f64() / 60.0;
    let costs = costs(peer.programs(), seen.each_ref());
    for (host, cost) in ["client", "server"].into_iter().zip(costs) {
        if let Some(cost) = cost {
            let cpu = cost.cpu.as_secs_f64() * 60.0 / minutes;
            figures.put(&format!("{host}_cpu_an_hour"), cpu, "s");
            figures.put(&format!("{host}_memory"), cost.memory as f64, "B");
        }
    }
    for (way, before, after) in [
        ("up", before.client, after.client),
        ("down", before.server, after.server),
    ] {
        let packets = (after.sent - before.sent) as f64 / minutes;
        let bytes = (after.sent_bytes - before.sent_bytes) as f64 / minutes;
        figures.put(&format!("packets_{way}_a_minute"), packets, "packets");
        figures.put(&format!("bytes_{way}_a_minute"), bytes, "B");
    }
    let mut commands = hosts.commands(&shell);
    commands.push(kernel);
    shell.leave()?;
    Ok(figures.measured(scenario, commands))
}
