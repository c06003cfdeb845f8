//! Single figures of a run, by name.

use std::time::Duration;

use anyhow::Result;

use crate::experiment::Measured;
use crate::link::Report;
use crate::outcome::Figure;
use crate::peer::{Cost, Costs, Programs, costs};
use crate::replay::SessionHosts;
use crate::scenario::Scenario;

impl Measured {
    /// Notes so many of a unit, where there is a value.
    pub(super) fn put(&mut self, name: &str, value: impl Into<Option<f64>>, unit: &str) {
        if let Some(value) = value.into() {
            let figure = Figure::new(value, unit);
            self.figures.insert(name.to_owned(), figure);
        }
    }

    /// Notes a time, in milliseconds, where there is one.
    pub(super) fn put_ms(&mut self, name: &str, time: impl Into<Option<Duration>>) {
        self.put(name, time.into().map(millis), "ms");
    }

    /// Notes whether something is so: the share of runs in which it is.
    pub(super) fn put_share(&mut self, name: &str, is_so: bool) {
        self.put(name, f64::from(u8::from(is_so)), "share");
    }

    /// Notes a series.
    pub(super) fn put_series(&mut self, name: &str, points: impl IntoIterator<Item = (f64, f64)>) {
        let points = points.into_iter().collect();
        self.series.insert(name.to_owned(), points);
    }

    /// Returns it with the link and the commands with which it was measured.
    pub(super) fn by(self, scenario: &Scenario, commands: Vec<String>) -> Self {
        Self {
            scenario: scenario.text.clone(),
            commands,
            ..self
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

/// The traffic that one host sent in a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Traffic {
    /// `up` from the client, `down` from the server.
    pub(super) way: &'static str,
    pub(super) packets: f64,
    /// The bytes of the packets, with all headers.
    pub(super) bytes: f64,
    /// The packets of it that were lost.
    pub(super) lost: f64,
}

/// Returns what client and server sent between two reports of a link.
pub(super) fn traffic(before: &Report, after: &Report) -> [Traffic; 2] {
    [
        ("up", &before.client, &after.client),
        ("down", &before.server, &after.server),
    ]
    .map(|(way, before, after)| Traffic {
        way,
        packets: (after.sent - before.sent) as f64,
        bytes: (after.sent_bytes - before.sent_bytes) as f64,
        lost: (after.lost_total() - before.lost_total()) as f64,
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
    use fulmar_sim::{Counts, LossCause};

    #[test]
    fn the_median_is_a_time() {
        let of = |all: &[u64]| median(all.iter().map(|one| Duration::from_millis(*one)));
        assert_eq!(of(&[5, 1, 9]), Some(Duration::from_millis(5)));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn traffic_is_what_was_sent_in_between_and_each_host_has_its_own() {
        let report = |client: [u64; 4], server: [u64; 4]| {
            let counts = |[sent, sent_bytes, by_chance, in_queue]: [u64; 4]| Counts {
                sent,
                sent_bytes,
                lost: [
                    (LossCause::Random, by_chance),
                    (LossCause::QueueFull, in_queue),
                ]
                .into(),
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
        let before = report([10, 1000, 1, 0], [20, 9000, 3, 2]);
        let after = report([13, 1240, 1, 0], [27, 19_500, 4, 4]);
        let way = |way, packets, bytes, lost| Traffic {
            way,
            packets,
            bytes,
            lost,
        };
        let expected = [way("up", 3.0, 240.0, 0.0), way("down", 7.0, 10_500.0, 3.0)];
        assert_eq!(traffic(&before, &after), expected);
    }

    #[test]
    fn figures_have_their_units_and_what_is_not_there_is_not_noted() {
        let mut figures = Measured::default();
        figures.put_ms("wait", Duration::from_micros(1500));
        figures.put_ms("never", None);
        figures.put("rate", Some(2.0), "B/s");
        figures.put_share("is_whole", true);
        figures.put_share("in_time", false);
        let expected = [
            ("in_time", 0.0, "share"),
            ("is_whole", 1.0, "share"),
            ("rate", 2.0, "B/s"),
            ("wait", 1.5, "ms"),
        ];
        assert_eq!(figures.told(), expected);
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

    #[test]
    fn what_is_measured_keeps_its_figures_with_its_link_and_its_commands() {
        let scenario = Scenario {
            text: "up delay 1ms".to_owned(),
            ..Scenario::default()
        };
        let mut measured = Measured::default();
        measured.put("rate", 2.0, "B/s");
        measured.put_series("bytes", [(0.0, 1.0), (1.0, 5.0)]);
        let measured = measured.by(&scenario, vec!["ssh".to_owned()]);
        assert_eq!(measured.scenario, "up delay 1ms");
        assert_eq!(measured.commands, ["ssh"]);
        assert_eq!(measured.told(), [("rate", 2.0, "B/s")]);
        assert_eq!(measured.series["bytes"], [(0.0, 1.0), (1.0, 5.0)]);
    }
}
