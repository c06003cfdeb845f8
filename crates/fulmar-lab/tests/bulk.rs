//! Bulk over real links: that windows do what the formula says, and that tools copy.

mod support;

use std::time::Duration;

use fulmar_lab::experiment::{LabSetup, Measured, Work as _};
use fulmar_lab::instrument::bulk::{Bulk, Ciphers, cells};
use fulmar_testbed::peers;

/// So much that the time is over before.
const ENDLESS: u64 = 1 << 40;

/// A path as fast as any machine's emulation holds.
const PATH: Bulk = Bulk {
    rtt_ms: 200,
    rate_bits: 20_000_000,
    bytes: ENDLESS,
    time: Duration::from_secs(4),
};

/// Measures, or says that the calling test cannot run.
#[track_caller]
fn measured(bulk: Bulk, tool: &str) -> Option<Measured> {
    support::link("")?;
    let measured = bulk.measure(tool, 1, &LabSetup::default());
    Some(measured.expect("it can be measured"))
}

fn value(measured: &Measured, name: &str) -> f64 {
    let figure = measured.figures.get(name);
    figure
        .unwrap_or_else(|| panic!("{name}: {measured:?}"))
        .value
}

#[test]
fn a_window_is_carried_once_a_round_trip() {
    let Some(measured) = measured(PATH, "tcp-64k") else {
        return;
    };
    let formula = value(&measured, "window_over_rtt");
    assert_eq!(formula, 65_536.0 / 0.2);
    let goodput = value(&measured, "goodput_steady");
    // Hosts that are slow to answer are part of the round trip, so that it is a long one here.
    assert!(
        (goodput / formula - 1.0).abs() < 0.1,
        "{goodput} of {formula}"
    );
    assert_eq!(value(&measured, "lost_down"), 0.0);
}

#[test]
fn a_window_that_grows_carries_what_the_path_does() {
    let path = Bulk {
        rtt_ms: 100,
        ..PATH
    };
    let Some(measured) = measured(path, "tcp-auto") else {
        return;
    };
    let goodput = value(&measured, "goodput_steady");
    assert!(!measured.figures.contains_key("window_over_rtt"));
    assert!(goodput > 2.0 * 65_536.0 / 0.1, "{goodput} of 64 KiB's");
    // Over all of the time, and not over a part in which what had waited was read.
    let (seconds, bytes) = measured.series["bytes"].last().expect("bytes have come");
    let carried = bytes / seconds;
    assert!(carried < 1.05 * value(&measured, "rate_limit"), "{carried}");
}

#[test]
fn tools_copy_a_file_whole_and_their_cost_is_seen() {
    if peers::require("sshd").is_none() {
        return;
    }
    for (tool, program) in [
        ("ssh", "ssh"),
        ("scp", "scp"),
        ("sftp", "sftp"),
        ("rsync", "rsync"),
    ] {
        if peers::require(program).is_none() {
            continue;
        }
        let bulk = Bulk {
            rtt_ms: 10,
            rate_bits: 50_000_000,
            bytes: 3_000_001,
            time: support::DEADLINE,
        };
        let Some(measured) = measured(bulk, tool) else {
            return;
        };
        assert_eq!(value(&measured, "is_whole"), 1.0, "{tool}");
        assert_eq!(value(&measured, "bytes"), 3_000_001.0, "{tool}");
        assert!(value(&measured, "server_cpu") > 0.0, "{tool}");
    }
}

#[test]
fn a_copy_that_the_time_does_not_suffice_for_is_measured_as_far_as_it_came() {
    if peers::require("sshd").is_none() {
        return;
    }
    let bulk = Bulk {
        rtt_ms: 10,
        rate_bits: 5_000_000,
        bytes: 30_000_000,
        time: Duration::from_secs(1),
    };
    let Some(measured) = measured(bulk, "scp") else {
        return;
    };
    assert_eq!(value(&measured, "is_whole"), 0.0);
    assert!(value(&measured, "bytes") > 0.0);
}

#[test]
fn a_tool_that_does_not_exist_is_named() {
    let cells = cells(&LabSetup::default());
    let error = cells[0].work.measure("no-such", 1, &LabSetup::default());
    assert!(error.is_err_and(|error| error.to_string().contains("no-such")));
}

#[test]
fn a_byte_through_ssh_costs_both_ends_something() {
    if peers::require("sshd").is_none() {
        return;
    }
    if support::link("").is_none() {
        return;
    }
    let work = Ciphers { bytes: 4_000_000 };
    let setup = LabSetup::default();
    let measured = work
        .measure("aes128-ctr", 1, &setup)
        .expect("it can be measured");
    for name in ["client_cpu_a_byte", "server_cpu_a_byte", "goodput"] {
        assert!(value(&measured, name) > 0.0, "{name}");
    }
    let error = work.measure("rot13", 1, &setup);
    assert!(error.is_err_and(|error| error.to_string().contains("no cipher rot13")));
}
