//! Sessions that carry much, or through an outage: that what is measured is what was carried.
//!
//! A busy machine makes every time longer, so there are lower bounds only.

mod support;

use std::time::Duration;

use fulmar_lab::instrument::load::{Load, Outage, Paste, Reader, Repaint, Text};
use fulmar_lab::trace::Size;
use support::measuring::{measured, value};

#[test]
fn a_text_is_carried_to_its_end_and_has_a_rate() {
    for peer in ["ssh", "fulmar-n"] {
        let Some(measured) = measured(peer, &Load::Throughput(Text::Words, 2_000_000)) else {
            return;
        };
        assert_eq!(value(&measured, "in_time"), 1.0);
        assert!(value(&measured, "rate") > 0.0 && value(&measured, "pty_rate") > 0.0);
        assert!(value(&measured, "server_cpu") > 0.0, "{peer}");
    }
}

#[test]
fn a_paste_arrives_whole_and_its_memory_is_seen() {
    let readers = [Reader::Quick, Reader::Slow(400_000), Reader::Writing];
    for (peer, reader) in readers
        .map(|reader| ("fulmar-n", reader))
        .into_iter()
        .chain([("ssh", Reader::Quick)])
    {
        let bytes = 200_000;
        let Some(measured) = measured(peer, &Load::Paste(Paste { bytes, reader })) else {
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
    let outage = Load::Outage(Outage {
        keys: 40,
        time: Duration::from_secs(2),
        round_trip: Duration::from_millis(20),
    });
    let Some(measured) = measured("fulmar-n", &outage) else {
        return;
    };
    assert_eq!(value(&measured, "in_time"), 1.0);
    assert!(value(&measured, "to_catch_up") > 0.0);
}

#[test]
fn a_flood_is_seen_on_the_link() {
    let Some(measured) = measured("ssh", &Load::Yes) else {
        return;
    };
    // Whoever sends every byte sends more than a screen.
    assert!(value(&measured, "bytes_down") > 100_000.0);
    assert!(value(&measured, "packets_up") > 0.0);
}

#[test]
fn a_screen_that_is_repainted_costs_time_at_both_ends() {
    let size = Size {
        columns: 80,
        rows: 24,
    };
    let second = Repaint {
        rate: 50,
        seconds: 1,
    };
    let Some(measured) = measured("fulmar-n", &Load::Repaint(size, second)) else {
        return;
    };
    for host in ["client", "server"] {
        let cpu = value(&measured, &format!("{host}_cpu"));
        assert!(cpu > 0.0, "{host}");
    }
}
