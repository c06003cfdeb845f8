//! Single figures of a run, by name.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;

use crate::experiment::Measured;
use crate::link::Report;
use crate::outcome::Figure;
use crate::peer::{Cost, Costs, Programs, costs};
use crate::replay::SessionHosts;
use crate::scenario::Scenario;

/// Figures by name.
#[derive(Default)]
pub(super) struct Figures(pub(super) BTreeMap<String, Figure>);

impl Figures {
    /// Notes so many of a unit.
    pub(super) fn put(&mut self, name: &str, value: f64, unit: &str) {
        self.0.insert(name.to_owned(), Figure::new(value, unit));
    }

    /// Notes so many of a unit, where there is a value.
    pub(super) fn put_some(&mut self, name: &str, value: Option<f64>, unit: &str) {
        if let Some(value) = value {
            self.put(name, value, unit);
        }
    }

    /// Notes a time, in milliseconds.
    pub(super) fn put_ms(&mut self, name: &str, time: Duration) {
        self.put(name, millis(time), "ms");
    }

    /// Notes a time, in milliseconds, where there is one.
    pub(super) fn put_some_ms(&mut self, name: &str, time: Option<Duration>) {
        self.put_some(name, time.map(millis), "ms");
    }

    /// Notes whether something is so: the share of runs in which it is.
    pub(super) fn put_share(&mut self, name: &str, is_so: bool) {
        self.put(name, f64::from(u8::from(is_so)), "share");
    }

    /// Returns what was measured, if these are all of it, with these commands over this link.
    pub(super) fn measured(self, scenario: &Scenario, commands: Vec<String>) -> Measured {
        Measured {
            scenario: scenario.text.clone(),
            commands,
            figures: self.0,
            ..Measured::default()
        }
    }
}

/// The costs of a peer's own processes on both hosts.
pub(super) struct HostCosts([Costs; 2]);

impl HostCosts {
    /// Counts from here on.
    pub(super) fn begin(hosts: &SessionHosts) -> Result<Self> {
        let mut hosts = hosts.costs()?;
        hosts.iter_mut().for_each(Costs::begin);
        Ok(Self(hosts))
    }

    /// Looks at all processes; what one does after the last look is not counted.
    pub(super) fn look(&mut self) {
        self.0.iter_mut().for_each(Costs::look);
    }

    /// Returns `client` and `server` with the cost there, where these programs were seen.
    pub(super) fn of(&self, programs: Programs) -> impl Iterator<Item = (&'static str, Cost)> {
        let costs = costs(programs, self.0.each_ref());
        let hosts = ["client", "server"].into_iter().zip(costs);
        hosts.filter_map(|(host, cost)| Some((host, cost?)))
    }
}

/// What the hosts sent between two reports of a link: the way, packets, and their bytes with all headers.
pub(super) fn traffic(before: &Report, after: &Report) -> [(&'static str, f64, f64); 2] {
    [
        ("up", &before.client, &after.client),
        ("down", &before.server, &after.server),
    ]
    .map(|(way, before, after)| {
        let packets = after.sent - before.sent;
        let bytes = after.sent_bytes - before.sent_bytes;
        (way, packets as f64, bytes as f64)
    })
}

/// Returns a time in milliseconds.
pub(super) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Returns the median of some times; nothing for nothing.
pub(super) fn median(times: impl IntoIterator<Item = Duration>) -> Option<Duration> {
    let seconds = times.into_iter().map(|time| time.as_secs_f64());
    fulmar_testbed::median(seconds).map(Duration::from_secs_f64)
}

/// The straight line that is nearest to some points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) slope: f64,
    /// The value where the first number is zero.
    pub(super) rest: f64,
}

impl Line {
    /// Least squares; `None` for fewer than two places.
    pub(super) fn through(points: &[(f64, f64)]) -> Option<Self> {
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
    use crate::link::Lateness;
    use fulmar_platform::lab::ThreadPriority;
    use fulmar_sim::Counts;

    #[test]
    fn the_median_is_a_time() {
        let of = |all: &[u64]| median(all.iter().map(|one| Duration::from_millis(*one)));
        assert_eq!(of(&[5, 1, 9]), Some(Duration::from_millis(5)));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn traffic_is_what_was_sent_in_between_and_each_host_has_its_own() {
        let report = |client: [u64; 2], server: [u64; 2]| {
            let counts = |[sent, sent_bytes]: [u64; 2]| Counts {
                sent,
                sent_bytes,
                ..Counts::default()
            };
            Report {
                at: Duration::ZERO,
                events: String::new(),
                client: counts(client),
                server: counts(server),
                lateness: Lateness::default(),
                undelivered: 0,
                priority: ThreadPriority::Usual,
            }
        };
        let before = report([10, 1000], [20, 9000]);
        let after = report([13, 1240], [27, 19_500]);
        let expected = [("up", 3.0, 240.0), ("down", 7.0, 10_500.0)];
        assert_eq!(traffic(&before, &after), expected);
    }

    #[test]
    fn figures_have_their_units_and_what_is_not_there_is_not_noted() {
        let mut figures = Figures::default();
        figures.put_ms("wait", Duration::from_micros(1500));
        figures.put_some_ms("never", None);
        figures.put_some("rate", Some(2.0), "B/s");
        figures.put_share("is_whole", true);
        figures.put_share("in_time", false);
        let noted = figures.0.iter();
        let noted: Vec<_> = noted
            .map(|(name, figure)| (name.as_str(), figure.value, figure.unit.as_str()))
            .collect();
        let expected = [
            ("in_time", 0.0, "share"),
            ("is_whole", 1.0, "share"),
            ("rate", 2.0, "B/s"),
            ("wait", 1.5, "ms"),
        ];
        assert_eq!(noted, expected);
    }

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
