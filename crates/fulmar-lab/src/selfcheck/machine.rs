//! The machine that a measurement was made on, and load that is put on it.

use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use fulmar_platform::lab::ThreadPriority;
use fulmar_testbed::KilledChild;
use serde::Serialize;

/// The machine, as far as a reader needs to know it to judge the figures.
#[derive(Clone, Debug, Serialize)]
pub(super) struct MachineFacts {
    kernel: String,
    processor: String,
    cores: usize,
    load: String,
    /// The priority of the engine's thread.
    engine: String,
    optimised: bool,
    /// The share of its time that the host of this machine took while it was measured.
    pub(super) stolen_percent: f64,
}

impl MachineFacts {
    pub(super) fn here(priority: ThreadPriority) -> Self {
        let load = text("/proc/loadavg");
        let load: Vec<&str> = load.split(' ').take(3).collect();
        Self {
            kernel: text("/proc/sys/kernel/osrelease").trim().to_owned(),
            processor: model(&text("/proc/cpuinfo")).to_owned(),
            cores: cores(),
            load: load.join(" "),
            engine: format!("{priority:?}"),
            optimised: !cfg!(debug_assertions),
            stolen_percent: 0.0,
        }
    }

    /// Returns all of it in a line.
    pub(super) fn line(&self) -> String {
        let not = if self.optimised { "" } else { "not " };
        format!(
            "Linux {}, {} cores, {}; load before {}; engine {}, {not}optimised; \
             {:.1} % of the time taken by the host of this machine",
            self.kernel, self.cores, self.processor, self.load, self.engine, self.stolen_percent
        )
    }
}

/// Returns a file of the kernel's, or nothing where there is none.
fn text(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// Returns the first model that `/proc/cpuinfo` names.
fn model(cpuinfo: &str) -> &str {
    let mut lines = cpuinfo.lines();
    let model = lines.find_map(|line| line.strip_prefix("model name"));
    model
        .unwrap_or_default()
        .trim_start_matches([' ', '\t', ':'])
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The time of the processor that a virtual machine was not given, since a moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct StealTime {
    total: f64,
    stolen: f64,
}

impl StealTime {
    pub(super) fn now() -> Self {
        Self::of(&text("/proc/stat"))
    }

    fn of(stat: &str) -> Self {
        let words = stat.lines().next().unwrap_or_default().split_whitespace();
        let ticks: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
        // user, nice, system, idle, iowait, irq, softirq, steal: proc_stat(5).
        Self {
            total: ticks.iter().take(8).sum(),
            stolen: ticks.get(7).copied().unwrap_or(0.0),
        }
    }

    /// Returns the share of the time since then, in percent.
    pub(super) fn percent_until(self, now: Self) -> f64 {
        let total = now.total - self.total;
        if total <= 0.0 {
            return 0.0;
        }
        (now.stolen - self.stolen) / total * 100.0
    }
}

/// Starts a process for each core that does nothing but compute. They end with these values.
pub(super) fn busy_cores() -> Result<Vec<KilledChild>> {
    let start = |_| {
        let mut shell = Command::new("sh");
        let shell = shell
            .args(["-c", "while :; do :; done"])
            .stdin(Stdio::null());
        Ok(KilledChild(shell.spawn().context("starting sh as load")?))
    };
    (0..cores()).map(start).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_time_is_a_share_of_all_ticks_but_those_of_guests_which_count_as_users_time() {
        let before = StealTime::of("cpu  100 0 50 1000 20 0 5 25 90 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n");
        let after = StealTime::of("cpu  130 0 60 1040 25 0 10 35 99 0\n");
        // 30 + 10 + 40 + 5 + 5 + 10 ticks, of which the last 10.
        assert!((before.percent_until(after) - 10.0).abs() < 1e-9);
        assert_eq!(before.percent_until(before), 0.0);
        assert_eq!(after.percent_until(before), 0.0, "a clock that goes back");
        assert_eq!(before.percent_until(StealTime::of("")), 0.0);
        let old = StealTime::of("cpu 1 2 3 4");
        assert_eq!((old.total, old.stolen), (10.0, 0.0));
    }

    #[test]
    fn the_line_says_what_a_reader_has_to_know() {
        let machine = MachineFacts {
            kernel: "6.1.0".to_owned(),
            processor: model("processor\t: 0\nmodel name\t: A B\nmodel name\t: C\n").to_owned(),
            cores: 2,
            load: "0.1 0.2 0.3".to_owned(),
            engine: "RealTime".to_owned(),
            optimised: false,
            stolen_percent: 1.5,
        };
        let expected = "Linux 6.1.0, 2 cores, A B; load before 0.1 0.2 0.3; engine RealTime, not optimised; \
            1.5 % of the time taken by the host of this machine";
        assert_eq!(machine.line(), expected);
        let json = serde_json::to_value(&machine).unwrap();
        let expected = serde_json::json!({
            "kernel": "6.1.0", "processor": "A B", "cores": 2, "load": "0.1 0.2 0.3",
            "engine": "RealTime", "optimised": false, "stolen_percent": 1.5,
        });
        assert_eq!(json, expected);
        assert_eq!(model("no processor"), "");
    }
}
