//! Copies: whether our own command fills the path, what it costs, and what it leaves to others.
//!
//! | cells | what is done | figures |
//! |---|---|---|
//! | `45ms-clear` … `200ms-loss-1` | 300 MB from memory to memory, the whole command | `rate`: size over wall time; `cpu_a_byte`, both hosts together; `client_memory`, `server_memory` of ours |
//! | `many-200ms` | 10 000 files of 4 kB | `took`, `files` that have arrived in time |
//! | `lte-up` … `evdo-down` | a file over a measured cellular link | `of_capacity`: of what the link could carry meanwhile |
//! | `keys-…` | keys of a session while somebody copies | `key_median`, `key_p95`; those of `idle` are the path's |
//! | `beside-…` | a copy and a TCP stream with Cubic | `share` of the copy in what both carry |
//!
//! Beside ours stand scp, sftp, rsync and one stream of plain TCP, with Cubic and with BBR, whose buffers
//! hold any of these paths. All others have the settings that the kernel has by itself. The queue of a path
//! holds what the path does, and both ways are alike.
//!
//! `fulmar-lab selfcheck` finds how much the link holds: on two cores a stream of TCP without delay
//! gets through it at 900 Mbit/s. Copies are alone on the machine.

mod files;
mod network_path;
mod shared_path;

use std::time::Duration;

use super::transfer::{TcpSettings, Tool};
use super::{Congestion, cell};
use crate::experiment::{Cell, LabSetup};

pub use super::TransferDirection;
pub use files::{ManyFiles, OneFile, TracedCopy};
pub use network_path::NetworkPath;
pub use shared_path::{FairShare, KeysDuringCopy};

/// TCP streams whose buffers hold any of the paths.
const CUBIC: TcpSettings = TcpSettings {
    congestion: Congestion::Losses,
    window: None,
    has_wide_buffers: true,
};
const BBR: TcpSettings = TcpSettings {
    congestion: Congestion::Model,
    ..CUBIC
};

/// The tools that copy one file.
const FILE: [Tool; 6] = [
    Tool::tcp("tcp-cubic", CUBIC),
    Tool::tcp("tcp-bbr", BBR),
    Tool::ours("exec {fulmar} cp -q --config none -F {config} --server {fulmar} {from} {to}"),
    Tool::program("scp", "scp", "exec scp -q -F {config} {from} {to}"),
    Tool::program(
        "sftp",
        "sftp",
        "echo 'put {source} {target}' | sftp -q -b - -F {config} {host}",
    ),
    Tool::program(
        "rsync",
        "rsync",
        "exec rsync --inplace --whole-file -e '{ssh}' {from} {to}",
    ),
];

/// The tools that copy a folder.
const FOLDER: [Tool; 3] = [
    Tool::ours("exec {fulmar} cp -q -r --config none -F {config} --server {fulmar} {from} {to}"),
    Tool::program(
        "tar",
        "tar",
        "tar -C {source} -cf - . | {ssh} {host} 'mkdir {target} && tar -C {target} -xf -'",
    ),
    Tool::program("scp", "scp", "exec scp -q -r -F {config} {from} {to}"),
];

/// The rate of the paths.
pub const RATE_BITS: u64 = 500_000_000;

/// The number of bytes that are carried: as PSC's page of 2004 did.
const BYTES: u64 = 300_000_000;

/// The longest time for a copy: windows of 2 MiB need 36 s over the longest path. Where much is lost nobody
/// waits for what takes hours; what has arrived by then tells how fast it is.
const TIME: Duration = Duration::from_secs(45);
const TIME_LOSSY: Duration = Duration::from_secs(20);

/// Round trips without loss, in milliseconds: those of the two published tables (PSC 40, SWITCH 45), and of
/// longer paths.
const CLEAR_MS: [u64; 4] = [40, 45, 100, 200];

/// Round trips and losses, in percent.
const LOSSY: [(u64, f64); 4] = [(45, 0.1), (45, 1.0), (200, 0.1), (200, 1.0)];

/// Paths that hold 25 MB and 50 MB: what ours needs of memory there.
const LONG_MS: [u64; 2] = [400, 800];

/// The files of a tree, and for how long they are copied at most.
const FILES: usize = 10_000;
const FILE_BYTES: usize = 4096;
const MANY_TIME: Duration = Duration::from_secs(120);

/// The path on which keys are typed besides: one of a home, whose queue is slow.
const HOME: NetworkPath = NetworkPath::clear(40, 20_000_000);
const KEYS: usize = 150;

/// The path that is shared.
const SHARED: NetworkPath = NetworkPath::clear(45, 100_000_000);

/// Returns the settings of the experiment.
pub fn cells(setup: &LabSetup) -> Vec<Cell> {
    let mut cells = one_file(setup);
    cells.push(many(setup));
    cells.extend(traced());
    cells.extend(keys());
    cells.extend(beside());
    for cell in &mut cells {
        cell.is_alone = true;
    }
    cells
}

fn one_file(setup: &LabSetup) -> Vec<Cell> {
    let (bytes, takes) = if setup.is_quick {
        (BYTES / 10, TIME / 15)
    } else {
        (BYTES, TIME_LOSSY)
    };
    let clear = |rtt_ms| NetworkPath::clear(rtt_ms, RATE_BITS);
    let lossy = LOSSY.map(|(rtt_ms, loss)| NetworkPath {
        loss,
        ..clear(rtt_ms)
    });
    let file = |path: NetworkPath, peers: &[&str]| {
        let time = if path.loss > 0.0 { TIME_LOSSY } else { TIME };
        let work = OneFile { path, bytes, time };
        cell(path.name(), path.title(), peers, takes, work)
    };
    let all = FILE.map(|tool| tool.name);
    let usual = CLEAR_MS.map(clear).into_iter().chain(lossy);
    let long = LONG_MS.map(clear).into_iter();
    let usual = usual.map(|path| file(path, &all));
    usual
        .chain(long.map(|path| file(path, &["tcp-bbr", "fulmar"])))
        .collect()
}

fn many(setup: &LabSetup) -> Cell {
    let files = if setup.is_quick { FILES / 10 } else { FILES };
    let work = ManyFiles {
        path: NetworkPath::clear(200, RATE_BITS),
        files,
        bytes: FILE_BYTES,
        time: MANY_TIME,
    };
    let title = format!("{files} files of {FILE_BYTES} bytes, round trip 200 ms");
    let peers = FOLDER.map(|tool| tool.name);
    cell("many-200ms", title, &peers, MANY_TIME / 2, work)
}

/// A minute of each trace, about. The queues hold about a second of what the link carries in the
/// mean, as cellular networks have it. Chosen by eye, as is the round trip.
fn traced() -> Vec<Cell> {
    let lte = ("lte", "LTE", ["Verizon-LTE-short", "like-lte"], 600_000, 50);
    let evdo = (
        "evdo",
        "EV-DO",
        ["Verizon-EVDO-driving", "like-evdo"],
        100_000,
        100,
    );
    let (up, down) = (TransferDirection::Up, TransferDirection::Down);
    let all = [
        (lte, up, 45),
        (lte, down, 35),
        (evdo, up, 6),
        (evdo, down, 4),
    ];
    let made = all.map(|(network, direction, megabytes)| {
        let (name, title, [trace, like], queue, rtt_ms) = network;
        let word = direction.word();
        let work = TracedCopy {
            trace,
            like,
            direction,
            bytes: megabytes * 1_000_000,
            queue,
            rtt_ms,
            time: Duration::from_secs(180),
        };
        let title = format!("{title} as measured, {megabytes} MB {word}");
        let takes = Duration::from_secs(70);
        cell(format!("{name}-{word}"), title, &RIVALS, takes, work)
    });
    made.into()
}

/// Our copy, and the streams of plain TCP that fill any path.
const RIVALS: [&str; 3] = ["tcp-cubic", "tcp-bbr", "fulmar"];

fn keys() -> Vec<Cell> {
    let fast = NetworkPath::clear(45, RATE_BITS);
    let settings = [("keys-45ms", fast), ("keys-home", HOME)];
    let peers = [shared_path::IDLE, "fulmar", "scp", "tcp-cubic", "tcp-bbr"];
    let made = settings.map(|(name, path)| {
        let work = KeysDuringCopy {
            path,
            keys: KEYS,
            direction: TransferDirection::Up,
        };
        let title = format!("keys during a copy, {}", path.title());
        let takes = Duration::from_secs(35);
        cell(name, title, &peers, takes, work)
    });
    made.into()
}

fn beside() -> Vec<Cell> {
    let orders = [
        ("beside-first", "the copy begins", false),
        ("beside-second", "TCP begins", true),
    ];
    let made = orders.map(|(name, words, is_second)| {
        let work = FairShare {
            path: SHARED,
            is_second,
        };
        let title = format!("beside TCP with Cubic, {words}; {}", SHARED.title());
        cell(name, title, &RIVALS, shared_path::TAKES, work)
    });
    made.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::transfer::ToolKind;

    #[test]
    fn lines_hold_nothing_that_is_not_filled_and_name_both_ends() {
        let known = [
            "ssh", "config", "host", "source", "target", "from", "to", "fulmar",
        ];
        for tool in FILE.iter().chain(&FOLDER) {
            let ToolKind::Program { line, .. } = tool.kind else {
                continue;
            };
            let mut names = line
                .split('{')
                .skip(1)
                .filter_map(|rest| rest.split_once('}'));
            assert!(names.all(|(name, _)| known.contains(&name)), "{line}");
            let both = |near, far| line.contains(near) && line.contains(far);
            assert!(
                both("{from}", "{to}") || both("{source}", "{target}"),
                "{line}"
            );
        }
    }

    #[test]
    fn ours_needs_no_other_program_and_the_others_need_one() {
        for tool in FILE.iter().chain(&FOLDER) {
            if let ToolKind::Program { needs, .. } = tool.kind {
                assert_eq!(needs.is_none(), tool.name == "fulmar", "{}", tool.name);
            }
        }
    }
}
