//! Measures how many round trips a prompt takes.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::link;
use super::shell::ShellHosts;
use crate::experiment::{Measured, Surroundings};
use crate::instrument::Kernel;
use crate::instrument::figures::{Figures, Line, median, millis};
use crate::peer::Peer;

/// Begins sessions of the peer in turns with ssh's, over each of the round trips, in milliseconds.
pub(super) fn measure(
    peer: &Peer,
    seed: u64,
    round_trips: &[u64],
    times: usize,
    around: &Surroundings,
) -> Result<Measured> {
    let ssh = Peer::parse("ssh")?;
    let mut figures = Figures::default();
    let mut points: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    let mut commands = Vec::new();
    let mut scenarios = Vec::new();
    for round_trip in round_trips {
        let scenario = link(seed, Duration::from_millis(*round_trip), "")?;
        let hosts = ShellHosts::new(&scenario, around)?;
        let kernel = Kernel::USUAL.set(&hosts.stage.link)?;
        let mut took = [Vec::new(), Vec::new()];
        for _ in 0..times {
            for (peer, took) in [peer, &ssh].into_iter().zip(&mut took) {
                let (time, line) = session(&hosts, peer)?;
                took.push(time);
                commands.push(line);
            }
        }
        let names = ["to_prompt", "ssh_to_prompt"];
        for (name, took) in names.into_iter().zip(took) {
            let time = millis(median(took).unwrap_or_default());
            figures.put(&format!("{name}_{round_trip}ms"), time, "ms");
            let point = (*round_trip as f64 / 1e3, time);
            points.entry(name).or_default().push(point);
        }
        commands.extend([hosts.stage.daemon.command.clone(), kernel]);
        scenarios.push(scenario.text.clone());
    }
    for (name, [slope, rest]) in [
        ("to_prompt", ["round_trips", "at_once"]),
        ("ssh_to_prompt", ["ssh_round_trips", "ssh_at_once"]),
    ] {
        let fitted = Line::through(&points[name]).context("times over some round trips")?;
        // Milliseconds in a second of round trip.
        figures.put(slope, fitted.slope / 1e3, "round trips");
        figures.put(rest, fitted.rest, "ms");
    }
    commands.sort();
    commands.dedup();
    Ok(Measured {
        scenario: scenarios.join("\n"),
        commands,
        figures: figures.0,
        series: points
            .into_iter()
            .map(|(name, points)| (format!("{name}_by_round_trip"), points))
            .collect(),
        ..Measured::default()
    })
}

/// Returns how long a session took to show a prompt, and how it was begun.
fn session(hosts: &ShellHosts, peer: &Peer) -> Result<(Duration, String)> {
    let mut shell = hosts.enter(peer)?;
    let took = shell.await_first_prompt()?;
    let line = shell.line.clone();
    shell.leave()?;
    Ok((took, line))
}
