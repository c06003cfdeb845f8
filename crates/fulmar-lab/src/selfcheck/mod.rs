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
use serde_json::{Value, json};

use crate::link::Link;
use crate::scenario::Scenario;
use crate::trace::LinkTraces;
use checks::CheckExtent;
pub use exchange::{ExchangeAgreement, agreement};
use machine::{CpuLoad, MachineFacts, StealTime};
use row::CheckRow;

/// The findings of a self-check.
#[derive(Clone, Debug)]
pub struct SelfcheckReport {
    rows: Vec<CheckRow>,
    machine: MachineFacts,
    stolen: f64,
}

impl SelfcheckReport {
    /// Tells whether everything is as precise as it is meant to be.
    #[must_use]
    pub(crate) fn are_good(&self) -> bool {
        self.rows.iter().all(|row| row.is_good)
    }

    /// Returns the table for a person.
    #[must_use]
    pub fn table(&self) -> String {
        format!(
            "{}\n{}",
            row::table(&self.rows),
            self.machine.line(self.stolen) + "\n"
        )
    }

    /// Returns all of it as numbers.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "machine": self.machine.json(self.stolen),
            "checks": self.rows.iter().map(CheckRow::json).collect::<Vec<_>>(),
        })
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
    let stolen = StealTime::now();
    let priority = Link::start(&Scenario::default())?.report()?.priority;
    let machine = MachineFacts::here(priority);
    let mut rows = Vec::new();
    let mut add = |row: Result<CheckRow>| -> Result<()> {
        let row = row?;
        progress(&format!("{} {}: {}", row.what, row.setting, row.measured));
        rows.push(row);
        Ok(())
    };
    let ms = Duration::from_millis;
    let delays: &[u64] = match extent {
        CheckExtent::Quick => &[20],
        CheckExtent::Full => &[0, 1, 20, 250],
    };
    for &delay in delays {
        add(checks::delay(extent, ms(delay), "no load of ours"))?;
    }
    {
        let _load = CpuLoad::on_all_cores()?;
        for &delay in delays {
            add(checks::delay(extent, ms(delay), "all cores busy"))?;
        }
    }
    add(checks::loss(1.0))?;
    if extent == CheckExtent::Full {
        add(checks::loss(29.0))?;
        add(checks::burst_loss(5.0, 4.0))?;
    }
    add(checks::queue("24p", 300, 25))?;
    // 7 packets of 300 bytes fit into 2399, and one is being sent.
    add(checks::queue("2399B", 300, 8))?;
    let rates: &[f64] = match extent {
        CheckExtent::Quick => &[10.0],
        CheckExtent::Full => &[1.0, 10.0, 100.0, 300.0],
    };
    for &rate in rates {
        add(checks::rate(extent, rate))?;
    }
    // One that is generated is there on any machine.
    let names = std::iter::once("like-lte-down:1".to_owned()).chain(traces.names()?);
    for name in names {
        add(checks::trace(extent, &name, traces))?;
    }
    add(checks::worlds(extent))?;
    let stolen = stolen.share();
    Ok(SelfcheckReport {
        rows,
        machine,
        stolen,
    })
}
