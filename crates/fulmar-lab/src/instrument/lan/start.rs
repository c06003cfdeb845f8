//! Measures how many round trips a prompt takes.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::link;
use super::shell::ShellSession;
use crate::experiment::{LabSetup, Measured, Work};
use crate::instrument::Kernel;
use crate::instrument::figures::{Line, median, millis};
use crate::instrument::hosts::PeerHosts;
use crate::peer::Peer;

/// The number of round trips that a prompt takes: sessions of the peer in turns with ssh's.
#[derive(Clone, Debug)]
pub struct StartTime {
    /// The round trips of the links, in milliseconds.
    pub round_trips: Vec<u64>,
    /// The number of sessions over each.
    pub times: usize,
}

impl Work for StartTime {
    fn measure(&self, peer: &str, seed: u64, setup: &LabSetup) -> Result<Measured> {
        let peers = [Peer::parse(peer)?, Peer::parse("ssh")?];
        let mut measured = Measured::default();
        let mut points: [Vec<(f64, f64)>; 2] = Default::default();
        let mut commands = BTreeSet::new();
        let mut scenarios = Vec::new();
        for round_trip in &self.round_trips {
            let scenario = link(seed, Duration::from_millis(*round_trip), "")?;
            let hosts = PeerHosts::new(&scenario, Kernel::USUAL, setup)?;
            let mut took = [Vec::new(), Vec::new()];
            for _ in 0..self.times {
                for (peer, took) in peers.iter().zip(&mut took) {
                    let mut shell = ShellSession::enter(&hosts, peer)?;
                    took.push(shell.await_first_prompt()?);
                    commands.extend(hosts.commands(shell.line.clone()));
                    shell.leave()?;
                }
            }
            for ((name, points), took) in NAMES.iter().zip(&mut points).zip(took) {
                let time = millis(median(took).unwrap_or_default());
                measured.put(&format!("{name}to_prompt_{round_trip}ms"), time, "ms");
                points.push((*round_trip as f64 / 1e3, time));
            }
            scenarios.push(scenario.text);
        }
        for (name, points) in NAMES.iter().zip(points) {
            put_line(&mut measured, name, &points)?;
            measured.put_series(&format!("{name}to_prompt_by_round_trip"), points);
        }
        measured.scenario = scenarios.join("\n");
        measured.commands = commands.into_iter().collect();
        Ok(measured)
    }

    fn takes_any_peer(&self) -> bool {
        true
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![
            ("round trips in ms", format!("{:?}", self.round_trips)),
            ("sessions over each", self.times.to_string()),
        ]
    }
}

/// The beginnings of the figures of the peer, and of those of ssh.
const NAMES: [&str; 2] = ["", "ssh_"];

/// Notes how many round trips a prompt takes, and the time that is left at no distance, by times in milliseconds
/// over round trips in seconds.
fn put_line(measured: &mut Measured, whose: &str, points: &[(f64, f64)]) -> Result<()> {
    let fitted = Line::through(points).context("times over some round trips")?;
    // Milliseconds in a second of round trip.
    measured.put(
        &format!("{whose}round_trips"),
        fitted.slope / 1e3,
        "round trips",
    );
    measured.put(&format!("{whose}at_once"), fitted.rest, "ms");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_is_in_round_trips_and_the_rest_in_milliseconds() {
        // 180 ms, and five and a half round trips.
        let points = [0.02, 0.1, 0.3].map(|round_trip| (round_trip, 180.0 + 5500.0 * round_trip));
        let mut measured = Measured::default();
        put_line(&mut measured, "ssh_", &points).unwrap();
        let value = |name: &str| measured.figures[name].value;
        assert!((value("ssh_round_trips") - 5.5).abs() < 1e-9);
        assert!((value("ssh_at_once") - 180.0).abs() < 1e-9);
        assert!(put_line(&mut measured, "", &points[..1]).is_err());
    }
}
