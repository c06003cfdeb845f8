//! Measures the cost of a peer's own processes: processor time and memory, read from outside while they live.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use anyhow::{Context as _, Result};
use fulmar_platform::lab::Network;

use super::Programs;

/// The programs that run a peer and are none of it, in sessions of a template: shells, and what the lab itself runs.
const AROUND: [&str; 10] = [
    "sh",
    "dash",
    "bash",
    "zsh",
    "fish",
    "ip",
    "lab",
    "fulmar-lab",
    "unshare",
    "perl",
];

/// The programs that carry a template's session where nothing else does.
const LOGIN: [&str; 3] = ["ssh", "sshd", "sshd-session"];

/// The cost of the processes of one host.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    /// Processor time since the start of the typing.
    pub(crate) cpu: Duration,
    /// The sum of what each had in memory at most, in bytes.
    pub(crate) memory: u64,
}

/// A process as it was seen last.
#[derive(Clone, Debug)]
struct Process {
    name: String,
    before: Duration,
    cpu: Duration,
    memory: u64,
}

/// Watches the processes of a host.
pub(crate) struct Costs {
    /// Device and file number of its network.
    network: (u64, u64),
    /// Processes that do not count.
    apart: Vec<u32>,
    processes: BTreeMap<u32, Process>,
}

impl Costs {
    /// Watches whoever is in this network, but for some.
    ///
    /// # Errors
    ///
    /// Where the network cannot be looked at.
    pub(crate) fn new(network: &Network, apart: &[u32]) -> Result<Self> {
        let namespace = File::from(network.as_fd().try_clone_to_owned()?);
        let namespace = namespace.metadata().context("looking at a network")?;
        Ok(Self {
            network: (namespace.dev(), namespace.ino()),
            apart: apart.to_vec(),
            processes: BTreeMap::new(),
        })
    }

    /// Looks, and counts processor time from here on.
    pub(crate) fn begin(&mut self) {
        self.look();
        for process in self.processes.values_mut() {
            process.before = process.cpu;
        }
    }

    /// Looks at all processes. One that has gone keeps what was seen of it last.
    pub(crate) fn look(&mut self) {
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let name = entry.file_name();
            let pid = name.to_str().and_then(|name| name.parse().ok());
            let Some(pid) = pid.filter(|pid| !self.apart.contains(pid) && self.is_here(*pid))
            else {
                continue;
            };
            // One that goes meanwhile is as one that was not there.
            if let Some(seen) = seen(pid) {
                self.take(pid, seen);
            }
        }
    }

    fn is_here(&self, pid: u32) -> bool {
        let network = fs::metadata(format!("/proc/{pid}/ns/net"));
        network.is_ok_and(|its| (its.dev(), its.ino()) == self.network)
    }

    fn take(&mut self, pid: u32, (name, cpu, memory): Seen) {
        let process = self.processes.entry(pid).or_insert_with(|| Process {
            name: String::new(),
            before: Duration::ZERO,
            cpu,
            memory,
        });
        if process.name != name {
            // It has become another program, with memory of its own.
            process.memory = 0;
        }
        process.name = name;
        // Neither becomes less, but for one that is just about to go.
        process.cpu = process.cpu.max(cpu);
        process.memory = process.memory.max(memory);
    }

    /// Returns what the processes with these names cost.
    fn of(&self, counts: impl Fn(&str) -> bool) -> Option<Cost> {
        let of_peer = self.processes.values().filter(|one| counts(&one.name));
        of_peer.fold(None, |sum: Option<Cost>, process| {
            let sum = sum.unwrap_or_default();
            Some(Cost {
                cpu: sum.cpu + process.cpu.saturating_sub(process.before),
                memory: sum.memory + process.memory,
            })
        })
    }
}

/// Returns what the peer cost on the client's host and on the server's, where it was seen.
pub(crate) fn costs(programs: Programs, [client, server]: [&Costs; 2]) -> [Option<Cost>; 2] {
    match programs {
        Programs::Named(on_client, on_server) => [
            client.of(|name| on_client.contains(&name)),
            server.of(|name| on_server.contains(&name)),
        ],
        Programs::Others => [client, server].map(|host| {
            let others = |name: &str| !AROUND.contains(&name) && !LOGIN.contains(&name);
            host.of(others)
                .or_else(|| host.of(|name| LOGIN.contains(&name)))
        }),
    }
}

/// Name, processor time and peak memory of a process.
type Seen = (String, Duration, u64);

fn seen(pid: u32) -> Option<Seen> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let field = |name: &str| {
        let mut lines = status.lines().filter_map(|line| line.split_once(":\t"));
        lines
            .find(|(field, _)| *field == name)
            .map(|(_, value)| value.trim())
    };
    let peak: u64 = field("VmHWM")?.strip_suffix(" kB")?.parse().ok()?;
    Some((program(field("Name")?).to_owned(), cpu(pid), peak * 1024))
}

/// Returns the program that a process of that name runs: a server of ours adds what it is and its port, as in
/// `fulmar-60001` and `fulmar-cp-60001`.
fn program(name: &str) -> &str {
    let ends_in_port = |rest: &str| rest.ends_with(|last: char| last.is_ascii_digit());
    match name.split_once('-') {
        Some((program @ "fulmar", rest)) if ends_in_port(rest) => program,
        _ => name,
    }
}

/// The time that all threads of a process had the processor: the first number of their schedstat.
fn cpu(pid: u32) -> Duration {
    let threads = fs::read_dir(format!("/proc/{pid}/task"));
    let times = threads
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|thread| {
            let line = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            line.split_whitespace().next()?.parse::<u64>().ok()
        });
    Duration::from_nanos(times.sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs_of(processes: &[(&str, u64, u64, u64)]) -> Costs {
        let process = |(name, before, cpu, memory): &(&str, u64, u64, u64)| Process {
            name: (*name).to_owned(),
            before: Duration::from_millis(*before),
            cpu: Duration::from_millis(*cpu),
            memory: *memory,
        };
        Costs {
            network: (0, 0),
            apart: Vec::new(),
            processes: (1..).zip(processes.iter().map(process)).collect(),
        }
    }

    fn cost(cpu: u64, memory: u64) -> Option<Cost> {
        Some(Cost {
            cpu: Duration::from_millis(cpu),
            memory,
        })
    }

    #[test]
    fn a_server_of_ours_is_known_whatever_its_port() {
        for name in ["fulmar", "fulmar-60001", "fulmar-d-60001", "fulmar-cp-7"] {
            assert_eq!(program(name), "fulmar");
        }
        assert_eq!(program("fulmar-lab"), "fulmar-lab");
        assert_eq!(program("mosh-server"), "mosh-server");
    }

    #[test]
    fn a_peer_s_own_processes_count_from_the_start_on() {
        let client = costs_of(&[("mosh-client", 100, 130, 5000), ("ssh", 0, 70, 9000)]);
        let server = costs_of(&[
            ("mosh-server", 10, 30, 400),
            ("mosh-server", 1, 2, 30),
            ("sh", 0, 9, 1),
        ]);
        assert_eq!(
            costs(super::super::MOSH, [&client, &server]),
            [cost(30, 5000), cost(21, 430)]
        );
    }

    #[test]
    fn of_a_template_all_but_what_is_around_it_counts() {
        let client = costs_of(&[("sh", 0, 5, 1), ("ssh", 0, 7, 20), ("tunnel", 0, 3, 100)]);
        let server = costs_of(&[("sshd", 0, 5, 10), ("bash", 0, 7, 20), ("lab", 0, 1, 1)]);
        assert_eq!(
            costs(Programs::Others, [&client, &server]),
            [cost(3, 100), cost(5, 10)]
        );
        assert_eq!(costs(Programs::Others, [&costs_of(&[]), &client])[0], None);
    }

    #[test]
    fn a_process_is_seen_with_what_it_has_used() {
        let (name, _, memory) = seen(std::process::id()).unwrap();
        assert!(!name.is_empty() && memory > 100_000, "{name} {memory}");
        assert_eq!(seen(u32::MAX), None);
    }

    #[test]
    fn a_process_keeps_the_most_that_was_seen_of_it_until_it_becomes_another() {
        let mut costs = costs_of(&[]);
        let mut take = |name: &str, cpu, memory| {
            let seen = (name.to_owned(), Duration::from_millis(cpu), memory);
            costs.take(7, seen);
            let process = &costs.processes[&7];
            (process.cpu.as_millis(), process.memory)
        };
        assert_eq!(take("sh", 5, 900), (5, 900));
        assert_eq!(take("sh", 4, 800), (5, 900));
        assert_eq!(take("ssh", 9, 300), (9, 300));
        assert_eq!(take("ssh", 9, 350), (9, 350));
        assert_eq!(costs.of(|name| name == "ssh"), cost(9, 350));
        assert_eq!(costs.of(|name| name == "sh"), None);
    }

    #[test]
    fn what_was_used_before_the_beginning_does_not_count() {
        let mut costs = costs_of(&[("ssh", 0, 70, 10)]);
        costs.begin();
        assert_eq!(costs.of(|_| true), cost(0, 10));
        costs.take(1, ("ssh".to_owned(), Duration::from_millis(75), 10));
        assert_eq!(costs.of(|_| true), cost(5, 10));
    }
}
