//! Sessions that carry much, or through an outage: that what is measured is what was carried.
//!
//! A busy machine makes every time longer, so there are lower bounds only.

mod support;

use std::path::{Path, PathBuf};
use std::time::Duration;

use fulmar_lab::experiment::{Measured, Surroundings, Work as _};
use fulmar_lab::instrument::load::Load;
use fulmar_lab::peer::find;
use support::leave_out;

fn fulmar() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_fulmar-lab")).with_file_name("fulmar")
}

/// Measures, or says that the calling test cannot run here.
#[track_caller]
fn measured(peer: &str, load: Load) -> Option<Measured> {
    support::link("")?;
    let needed = ["sshd", "ssh", "ssh-keygen", "unshare"];
    if let Some(program) = needed.into_iter().find(|program| find(program).is_none()) {
        leave_out(&format!("{program} is not installed"));
        return None;
    }
    if peer.starts_with("fulmar") && !fulmar().is_file() {
        leave_out("fulmar is not built beside fulmar-lab");
        return None;
    }
    let around = Surroundings {
        fulmar: fulmar(),
        ..Surroundings::default()
    };
    match load.measure(peer, 1, &around) {
        Ok(measured) => Some(measured),
        Err(error) if format!("{error:#}").contains("sshd cannot be had") => {
            leave_out(&format!("{error:#}"));
            None
        }
        Err(error) => panic!("{error:#}"),
    }
}

fn value(measured: &Measured, name: &str) -> f64 {
    let figure = measured.figures.get(name);
    figure
        .unwrap_or_else(|| panic!("no {name} in {:?}", measured.figures))
        .value
}

#[test]
fn a_text_is_carried_to_its_end_and_has_a_rate() {
    for peer in ["ssh", "fulmar-n"] {
        let Some(measured) = measured(peer, Load::Throughput(2_000_000)) else {
            return;
        };
        assert_eq!(value(&measured, "in_time"), 1.0);
        assert!(value(&measured, "rate") > 0.0 && value(&measured, "pty_rate") > 0.0);
    }
}

#[test]
fn a_paste_arrives_whole_and_its_memory_is_seen() {
    for peer in ["ssh", "fulmar-n"] {
        let Some(measured) = measured(peer, Load::Paste(200_000)) else {
            return;
        };
        assert_eq!(value(&measured, "in_time"), 1.0, "{peer}");
        assert!(value(&measured, "to_arrive") > 0.0);
        for host in ["client", "server"] {
            // No program is smaller.
            assert!(value(&measured, &format!("{host}_memory")) > 1e6, "{peer}");
        }
    }
}

#[test]
fn keys_of_an_outage_arrive_after_it() {
    let outage = Load::Outage(40, Duration::from_secs(2));
    let Some(measured) = measured("fulmar-n", outage) else {
        return;
    };
    assert_eq!(value(&measured, "in_time"), 1.0);
    assert!(value(&measured, "to_catch_up") > 0.0);
}

#[test]
fn a_flood_is_seen_on_the_link() {
    let Some(measured) = measured("ssh", Load::Yes) else {
        return;
    };
    // Whoever sends every byte sends more than a screen.
    assert!(value(&measured, "bytes_down") > 100_000.0);
    assert!(value(&measured, "packets_up") > 0.0);
}
