//! Tinygrams over real links: that the mechanisms are there which the experiment is about.

mod support;

use std::path::PathBuf;
use std::time::Duration;

use fulmar_lab::experiment::{LabSetup, Measured, Work as _};
use fulmar_lab::instrument::tinygram::{Bottleneck, BurstShape, Tinygrams, cells};
use fulmar_lab::instrument::{Congestion, Kernel};
use fulmar_testbed::peers;

fn setup() -> LabSetup {
    LabSetup {
        fulmar: PathBuf::new(),
        data: None,
        recordings: PathBuf::new(),
        is_quick: true,
        ..LabSetup::default()
    }
}

/// So slow that it makes no difference when exactly a line of a burst is written.
const CRAWLING: Bottleneck = Bottleneck {
    bits_per_second: 64_000,
    queue_packets: 24,
};

/// So fast that nothing waits.
const FAST: Bottleneck = Bottleneck {
    bits_per_second: 10_000_000,
    ..CRAWLING
};

/// A connection whose window is wider than any burst.
const WIDE: Kernel = Kernel {
    congestion: Congestion::Losses,
    is_wide: true,
};

/// Measures so many lines in one burst, and another one; or says that the calling test cannot run.
#[track_caller]
fn measured(peer: &str, lines: usize, bottleneck: Bottleneck) -> Option<Measured> {
    support::link("")?;
    let work = Tinygrams {
        shape: BurstShape {
            lines,
            bytes: 80,
            within: Duration::from_millis(2),
        },
        kernel: WIDE,
        bottleneck,
        bursts: 2,
        quiet: Duration::from_millis(200),
    };
    let measured = work.measure(peer, 1, &setup());
    Some(measured.expect("it can be measured"))
}

fn value(measured: &Measured, name: &str) -> f64 {
    let figure = measured.figures.get(name);
    figure
        .unwrap_or_else(|| panic!("{name}: {measured:?}"))
        .value
}

#[test]
fn a_packet_for_each_line_overfills_the_queue_exactly() {
    let Some(measured) = measured("tcp-nodelay", 34, CRAWLING) else {
        return;
    };
    let lost = value(&measured, "lost_down");
    assert_eq!(lost, value(&measured, "lost_down_computed"));
    // 34 less the 25 that have room, twice; less what leaves while a busy machine writes slowly.
    assert!(lost >= 9.0, "{lost}");
    assert!(value(&measured, "packets_down") >= 2.0 * 34.0);
    assert_eq!(value(&measured, "bursts_not_whole"), 0.0);
}

#[test]
fn nagles_algorithm_makes_one_packet_of_what_waits_and_overfills_nothing() {
    let Some(nagle) = measured("tcp-nagle", 12, CRAWLING) else {
        return;
    };
    let Some(nodelay) = measured("tcp-nodelay", 12, CRAWLING) else {
        return;
    };
    assert!(value(&nodelay, "packets_down") >= 2.0 * 12.0);
    // The first line and the others; some acknowledgements travel alone.
    assert!(value(&nagle, "packets_down") <= 2.0 * 5.0, "{nagle:?}");
    assert_eq!(value(&nagle, "lost_down"), 0.0);
}

#[test]
fn it_waits_for_an_acknowledgement_that_is_delayed() {
    let Some(delayed) = measured("tcp-nagle-delayed-acks", 12, FAST) else {
        return;
    };
    // The first line's way, the delay of its acknowledgement (Linux: 40 ms), its way, that of the rest.
    assert!(value(&delayed, "all_lines") >= 50.0 + 40.0 + 50.0 + 50.0);
    // Who sees the first line late sees a shorter pause, so that has no lower bound on a busy machine.
    assert!(value(&delayed, "longest_pause") < value(&delayed, "all_lines_worst"));
}

#[test]
fn in_a_session_the_screen_says_when_all_lines_are_there() {
    if peers::require("sshd").is_none() {
        return;
    }
    let Some(ssh) = measured("ssh", 34, FAST) else {
        return;
    };
    assert_eq!(value(&ssh, "bursts_not_whole"), 0.0);
    assert!(value(&ssh, "all_lines") >= 50.0, "one way");
    assert!(value(&ssh, "bytes_down") > 2.0 * 34.0 * 80.0);
}

#[test]
fn a_peer_that_does_not_exist_is_named() {
    let cells = cells(&setup());
    let error = cells[0].work.measure("no-such", 1, &setup());
    assert!(error.is_err_and(|error| error.to_string().contains("no-such")));
}
