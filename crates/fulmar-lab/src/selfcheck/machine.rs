//! The machine that a measurement was made on, and load that is put on it.

use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result};
use fulmar_platform::lab::ThreadPriority;
use serde_json::{Value, json};

/// The machine, as far as a reader needs to know it to judge the figures.
#[derive(Clone, Debug)]
pub(super) struct MachineFacts {
    kernel: String,
    processor: String,
    cores: usize,
    load: String,
    /// The priority of the engine's thread.
    priority: ThreadPriority,
}

impl MachineFacts {
    pub(super) fn here(priority: ThreadPriority) -> Self {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let model = read("/proc/cpuinfo");
        let model = model
            .lines()
            .find_map(|line| line.strip_prefix("model name"));
        let processor = model
            .unwrap_or_default()
            .trim_start_matches([' ', '\t', ':']);
        Self {
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            processor: processor.to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            load: read("/proc/loadavg")
                .split(' ')
                .take(3)
                .collect::<Vec<_>>()
                .join(" "),
            priority,
        }
    }

    pub(super) fn json(&self, stolen: f64) -> Value {
        json!({
            "kernel": self.kernel,
            "processor": self.processor,
            "cores": self.cores,
            "load": self.load,
            "engine": format!("{:?}", self.priority),
            "optimised": !cfg!(debug_assertions),
            "stolen_percent": stolen * 100.0,
        })
    }

    pub(super) fn line(&self, stolen: f64) -> String {
        let Self {
            kernel,
            processor,
            cores,
            load,
            priority,
        } = self;
        let build = if cfg!(debug_assertions) {
            "not optimised"
        } else {
            "optimised"
        };
        format!(
            "Linux {kernel}, {cores} cores, {processor}; load before {load}; engine {priority:?}, \
             {build}; {:.1} % of the time taken by the host of this machine",
            stolen * 100.0
        )
    }
}

/// The time of the processor that a virtual machine was not given, since a moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct StealTime {
    total: f64,
    stolen: f64,
}

impl StealTime {
    pub(super) fn now() -> Self {
        let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        let ticks: Vec<f64> = line
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        // user, nice, system, idle, iowait, irq, softirq, steal: proc_stat(5).
        Self {
            total: ticks.iter().take(8).sum(),
            stolen: ticks.get(7).copied().unwrap_or(0.0),
        }
    }

    /// Returns the share, from 0 to 1, since then.
    pub(super) fn share(self) -> f64 {
        let now = Self::now();
        let total = now.total - self.total;
        if total <= 0.0 {
            return 0.0;
        }
        (now.stolen - self.stolen) / total
    }
}

/// A process for each core that does nothing but compute. They end with this value.
pub(super) struct CpuLoad(Vec<Child>);

impl CpuLoad {
    pub(super) fn on_all_cores() -> Result<Self> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mut load = Self(Vec::new());
        for _ in 0..cores {
            let mut shell = Command::new("sh");
            shell
                .args(["-c", "while :; do :; done"])
                .stdin(Stdio::null());
            load.0.push(shell.spawn().context("starting sh as load")?);
        }
        Ok(load)
    }
}

impl Drop for CpuLoad {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
