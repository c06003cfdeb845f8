//! Copies over real links: that each tool copies all of it, and that what it costs is seen.

mod support;

use std::time::Duration;

use fulmar_lab::experiment::LabSetup;
use fulmar_lab::instrument::copy::{
    KeysDuringCopy, ManyFiles, NetworkPath, OneFile, TransferDirection, cells,
};
use fulmar_testbed::peers;
use support::measuring::{measured, value};

/// A path as fast as any machine's emulation holds.
const PATH: NetworkPath = NetworkPath::clear(20, 50_000_000);

/// No multiple of any block.
const BYTES: u64 = 3_000_001;

const FILE: OneFile = OneFile {
    path: PATH,
    bytes: BYTES,
    time: support::DEADLINE,
};

#[test]
fn each_tool_copies_a_file_whole_and_slower_than_the_path() {
    for tool in ["fulmar", "scp", "sftp", "rsync"] {
        if tool != "fulmar" && peers::require(tool).is_none() {
            continue;
        }
        let Some(measured) = measured(tool, &FILE) else {
            return;
        };
        assert_eq!(value(&measured, "is_whole"), 1.0, "{tool}");
        assert_eq!(value(&measured, "bytes"), BYTES as f64, "{tool}");
        let rate = value(&measured, "rate") * 8.0;
        assert!(rate < PATH.rate_bits as f64, "{tool}: {rate}");
        assert!(value(&measured, "cpu_a_byte") > 0.0, "{tool}");
        let has_memory = measured.figures.contains_key("server_memory");
        assert_eq!(has_memory, tool == "fulmar", "{tool}");
    }
}

#[test]
fn a_stream_of_plain_tcp_carries_what_the_path_does() {
    let Some(measured) = measured("tcp-cubic", &FILE) else {
        return;
    };
    assert_eq!(value(&measured, "bytes"), BYTES as f64);
    let rate = value(&measured, "rate") * 8.0;
    assert!(rate < PATH.rate_bits as f64, "{rate}");
}

#[test]
fn what_the_time_does_not_suffice_for_is_told_by_what_has_arrived() {
    let work = OneFile {
        path: NetworkPath::clear(20, 5_000_000),
        bytes: 30_000_000,
        time: Duration::from_secs(3),
    };
    for tool in ["fulmar", "scp"] {
        let Some(measured) = measured(tool, &work) else {
            return;
        };
        assert_eq!(value(&measured, "in_time"), 0.0, "{tool}");
        assert_eq!(value(&measured, "is_whole"), 0.0, "{tool}");
        let bytes = value(&measured, "bytes");
        assert!(bytes < 30_000_000.0, "{tool}: {bytes}");
    }
}

#[test]
fn small_files_arrive_all_of_them() {
    let work = ManyFiles {
        path: PATH,
        files: 120,
        bytes: 1000,
        time: support::DEADLINE,
    };
    for tool in ["fulmar", "tar", "scp"] {
        let Some(measured) = measured(tool, &work) else {
            return;
        };
        assert_eq!(value(&measured, "files"), 120.0, "{tool}");
        assert_eq!(value(&measured, "is_whole"), 1.0, "{tool}");
    }
}

#[test]
fn keys_that_wait_behind_a_queue_are_seen_to_wait() {
    // A queue of 100 kB, which TCP with Cubic fills, takes 160 ms at this rate.
    let work = KeysDuringCopy {
        path: NetworkPath::clear(20, 5_000_000),
        keys: 40,
        direction: TransferDirection::Up,
    };
    let [Some(idle), Some(full)] = ["idle", "tcp-cubic"].map(|peer| {
        let is_built = measured("fulmar", &FILE).is_some();
        is_built.then(|| measured(peer, &work)).flatten()
    }) else {
        return;
    };
    let (idle, full) = (value(&idle, "key_median"), value(&full, "key_median"));
    assert!(idle >= 20.0 && full > idle + 20.0, "{idle} ms, {full} ms");
}

#[test]
fn a_tool_that_does_not_exist_is_named() {
    let cells = cells(&LabSetup::default());
    for cell in &cells {
        let measured = cell.work.measure("no-such", 1, &LabSetup::default());
        let error = measured.expect_err("nobody is called so").to_string();
        assert!(error.contains("no-such"), "{}: {error}", cell.name);
    }
}
