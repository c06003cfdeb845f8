//! Measures how precise the emulation is on this machine, from outside.
//!
//! Probes are sent by a socket on one host and received by one on the other. When a probe left is
//! read from the clock before it is sent; when it arrived is the kernel's own time. So nothing that
//! is measured comes from the engine, and all of its errors are in it.

mod checks;
mod exchange;
mod machine;
mod probe;
mod row;

use std::time::Duration;

use anyhow::Result;
use serde::Serialize;

use crate::link::Link;
use crate::scenario::Scenario;
use crate::trace::LinkTraces;
use checks::CheckExtent;
pub use exchange::{ExchangeAgreement, agreement};
use machine::{MachineFacts, StealTime, busy_cores};
use row::CheckRow;

/// The findings of a self-check, as a file holds them.
#[derive(Clone, Debug, Serialize)]
pub struct SelfcheckReport {
    machine: MachineFacts,
    checks: Vec<CheckRow>,
}

impl SelfcheckReport {
    /// Tells whether everything is as precise as it is meant to be.
    #[must_use]
    pub(crate) fn are_good(&self) -> bool {
        self.checks.iter().all(|row| row.is_good)
    }

    /// Returns the table for a person.
    #[must_use]
    pub fn table(&self) -> String {
        format!("{}\n{}\n", row::table(&self.checks), self.machine.line())
    }
}

/// Runs all checks, telling each row to `progress` when it is there.
///
/// # Errors
///
/// Where a link cannot be made or fails.
pub fn run(
    is_quick: bool,
    traces: &LinkTraces,
    progress: impl Fn(&str),
) -> Result<SelfcheckReport> {
    let extent = if is_quick {
        CheckExtent::Quick
    } else {
        CheckExtent::Full
    };
    let before = StealTime::now();
    let priority = Link::start(&Scenario::default())?.report()?.priority;
    let mut machine = MachineFacts::here(priority);
    let mut checks = Vec::new();
    let mut add = |row: Result<CheckRow>| -> Result<()> {
        let row = row?;
        progress(&format!("{} {}: {}", row.what, row.setting, row.measured));
        checks.push(row);
        Ok(())
    };
    let delays: &[u64] = extent.choose(&[20], &[0, 1, 20, 250]);
    let mut delays = |load| {
        let mut delays = delays.iter().copied().map(Duration::from_millis);
        delays.try_for_each(|delay| add(checks::delay(extent, delay, load)))
    };
    delays("no load of ours")?;
    let busy = busy_cores()?;
    delays("all cores busy")?;
    drop(busy);
    add(checks::loss(1.0))?;
    if extent == CheckExtent::Full {
        add(checks::loss(29.0))?;
        add(checks::burst_loss(5.0, 4.0))?;
    }
    add(checks::queue("24p", 300, 25))?;
    // 7 packets of 300 bytes fit into 2399, and one is being sent.
    add(checks::queue("2399B", 300, 8))?;
    let rates: &[f64] = extent.choose(&[10.0], &[1.0, 10.0, 100.0, 300.0]);
    for rate in rates {
        add(checks::rate(extent, *rate))?;
    }
    // One that is generated is there on any machine.
    let names = std::iter::once("like-lte-down:1".to_owned()).chain(traces.names()?);
    for name in names {
        add(checks::trace(extent, &name, traces))?;
    }
    add(checks::worlds(extent))?;
    machine.stolen_percent = before.percent_until(StealTime::now());
    Ok(SelfcheckReport { machine, checks })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulmar_platform::lab::ThreadPriority;

    fn report(are_good: &[bool]) -> SelfcheckReport {
        let row = |is_good: &bool| CheckRow {
            what: "delay",
            setting: "20 ms".to_owned(),
            measured: "+0.1 ms".to_owned(),
            wanted: "under +0.2 ms".to_owned(),
            is_good: *is_good,
            numbers: serde_json::json!({ "set_ms": 20.0 }),
        };
        SelfcheckReport {
            machine: MachineFacts::here(ThreadPriority::Usual),
            checks: are_good.iter().map(row).collect(),
        }
    }

    #[test]
    fn one_check_that_fails_makes_all_of_it_fail() {
        assert!(report(&[true, true]).are_good());
        assert!(!report(&[true, false]).are_good());
        let table = report(&[true, false]).table();
        assert_eq!(table.matches("NOT OK").count(), 1);
        assert!(
            table.contains("engine Usual") && table.ends_with("machine\n"),
            "{table}"
        );
    }

    #[test]
    fn the_file_has_the_names_that_reports_read() {
        let json = serde_json::to_value(report(&[true])).unwrap();
        let expected = serde_json::json!([{
            "what": "delay", "setting": "20 ms", "measured": "+0.1 ms", "wanted": "under +0.2 ms",
            "good": true, "numbers": { "set_ms": 20.0 },
        }]);
        assert_eq!(json["checks"], expected);
        assert_eq!(json["machine"]["engine"], "Usual");
        assert_eq!(json["machine"]["stolen_percent"], 0.0);
    }
}
