//! Single figures of a run, by name.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::experiment::Measured;
use crate::outcome::Figure;
use crate::scenario::Scenario;

/// Figures by name.
#[derive(Default)]
pub(super) struct Figures(pub(super) BTreeMap<String, Figure>);

impl Figures {
    /// Notes so many of a unit.
    pub(super) fn put(&mut self, name: &str, value: f64, unit: &str) {
        self.0.insert(name.to_owned(), Figure::new(value, unit));
    }

    /// Notes a time, in milliseconds.
    pub(super) fn put_ms(&mut self, name: &str, time: Duration) {
        self.put(name, time.as_secs_f64() * 1e3, "ms");
    }

    /// Notes whether something is so: the share of runs in which it is.
    pub(super) fn put_share(&mut self, name: &str, is_so: bool) {
        self.put(name, f64::from(u8::from(is_so)), "share");
    }

    /// Returns what was measured, if these are all of it, with these commands over this link.
    pub(super) fn measured(self, scenario: &Scenario, commands: Vec<String>) -> Measured {
        Measured {
            scenario: scenario.text.clone(),
            commands,
            figures: self.0,
            ..Measured::default()
        }
    }
}
