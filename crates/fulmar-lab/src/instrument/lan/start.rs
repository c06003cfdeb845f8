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
        let kernel = Kernel::USUAL.set(&hosts.session.link)?;
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
        commands.extend([hosts.session.sshd.command.clone(), kernel]);
        scenarios.push(scenario.text.clone());
    }
    put_line(&mut figures, "", &points["to_prompt"])?;
    put_line(&mut figures, "ssh_", &points["ssh_to_prompt"])?;
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

/// Notes how many round trips a prompt takes, and the time that is left at no distance, by times in milliseconds
/// over round trips in seconds.
fn put_line(figures: &mut Figures, whose: &str, points: &[(f64, f64)]) -> Result<()> {
    let fitted = Line::through(points).context("times over some round trips")?;
    // Milliseconds in a second of round trip.
    figures.put(
        &format!("{whose}round_trips"),
        fitted.slope / 1e3,
        "round trips",
    );
    figures.put(&format!("{whose}at_once"), fitted.rest, "ms");
    Ok(())
}

/// Returns how long a session took to show a prompt, and how it was begun.
fn session(hosts: &ShellHosts, peer: &Peer) -> Result<(Duration, String)> {
    let mut shell = hosts.enter(peer)?;
    let took = shell.await_first_prompt()?;
    let line = shell.line.clone();
    shell.leave()?;
    Ok((took, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_is_in_round_trips_and_the_rest_in_milliseconds() {
        // 180 ms, and five and a half round trips.
        let points = [0.02, 0.1, 0.3].map(|round_trip| (round_trip, 180.0 + 5500.0 * round_trip));
        let mut figures = Figures::default();
        put_line(&mut figures, "ssh_", &points).unwrap();
        let value = |name: &str| figures.0[name].value;
        assert!((value("ssh_round_trips") - 5.5).abs() < 1e-9);
        assert!((value("ssh_at_once") - 180.0).abs() < 1e-9);
        assert!(put_line(&mut figures, "", &points[..1]).is_err());
    }
}
