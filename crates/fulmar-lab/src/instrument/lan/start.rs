//! Measures how many round trips a prompt takes.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::shell::ShellHosts;
use super::{Figures, link, median, ms};
use crate::experiment::{Measured, Surroundings};
use crate::instrument::Kernel;
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
            let time = ms(median(took));
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

/// The straight line that is nearest to some points.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Line {
    slope: f64,
    /// The value at the place where the first number is zero.
    rest: f64,
}

impl Line {
    /// Least squares; `None` for fewer than two places.
    fn through(points: &[(f64, f64)]) -> Option<Self> {
        let count = points.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
        let (x, y) = (mean(|point| point.0), mean(|point| point.1));
        let spread: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
        let common: f64 = points
            .iter()
            .map(|point| (point.0 - x) * (point.1 - y))
            .sum();
        let slope = common / spread;
        (spread > 0.0).then_some(Self {
            slope,
            rest: y - slope * x,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_through_points_on_it() {
        let points = [0.02, 0.1, 0.3].map(|at| (at, 150.0 + 5500.0 * at));
        let line = Line::through(&points).unwrap();
        assert!((line.slope - 5500.0).abs() < 1e-6 && (line.rest - 150.0).abs() < 1e-6);
        assert_eq!(Line::through(&points[..1]), None);
        assert_eq!(Line::through(&[]), None);
    }

    #[test]
    fn points_beside_it_weigh_the_same_on_either_side() {
        let line = Line::through(&[(0.0, 1.0), (1.0, 0.0), (2.0, 1.0)]).unwrap();
        assert!(line.slope.abs() < 1e-9 && (line.rest - 2.0 / 3.0).abs() < 1e-9);
    }
}
