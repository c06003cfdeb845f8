//! The link of a typed session, for each seed.

use super::super::LabSetup;

/// A link, in the words of a scenario, with gaps for what differs from seed to seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Route {
    /// Lines of a scenario; `{up}` and `{down}` are for the traces.
    pub(super) lines: &'static str,
    /// The traces that it follows, if it does.
    pub(super) traces: Option<Traces>,
}

/// Two traces, `NAME.up` and `NAME.down`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Traces {
    /// The name.
    pub(super) name: &'static str,
    /// After so many seconds it comes again.
    pub(super) period: u64,
    /// The kind of generated link that is like it: the beginning of `like-lte-up`.
    pub(super) like: &'static str,
}

/// As the reproduction of the Mosh paper had it, from the Mahimahi distribution.
pub(super) const LTE: Traces = Traces {
    name: "Verizon-LTE-short",
    period: 140,
    like: "like-lte",
};

/// Third-generation data while driving, from the Mahimahi distribution.
pub(super) const EVDO: Traces = Traces {
    name: "Verizon-EVDO-driving",
    period: 1062,
    like: "like-evdo",
};

impl Route {
    /// A link that follows no trace.
    pub(super) const fn plain(lines: &'static str) -> Self {
        Self {
            lines,
            traces: None,
        }
    }

    /// A link that follows these traces.
    pub(super) const fn traced(traces: Traces, lines: &'static str) -> Self {
        Self {
            lines,
            traces: Some(traces),
        }
    }

    /// Returns the text of the scenario, but for the line of the seed.
    ///
    /// A published trace has no chance in it: the first seed starts at its beginning, as in the
    /// reproduction, and each further one a third of its period and a second later. A generated one
    /// is another for each seed.
    pub(super) fn scenario(&self, seed: u64, setup: &LabSetup) -> String {
        match self.traces {
            None => self.lines.to_owned(),
            Some(traces) if setup.is_generated => self
                .lines
                .replace("{up}", &format!("trace {}-up:{seed}", traces.like))
                .replace("{down}", &format!("trace {}-down:{seed}", traces.like)),
            Some(traces) => {
                let step = traces.period / 3 + 1;
                let start = seed.saturating_sub(1) % traces.period * step % traces.period;
                self.lines
                    .replace("{up}", &format!("trace {}.up from {start}s", traces.name))
                    .replace(
                        "{down}",
                        &format!("trace {}.down from {start}s", traces.name),
                    )
            }
        }
    }

    /// Returns the files of the folder of data that it follows.
    pub(super) fn needs(&self, is_generated: bool) -> Vec<String> {
        let traces = self.traces.filter(|_| !is_generated);
        let files = traces
            .map(|traces| ["up", "down"].map(|way| format!("link-traces/{}.{way}", traces.name)));
        files.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use crate::trace::LinkTraces;

    const ROUTE: Route = Route::traced(LTE, "up {up}\ndown {down} queue 64kB\nboth delay 9ms");

    #[test]
    fn seeds_start_at_other_places_of_a_trace_and_the_first_at_its_beginning() {
        let setup = LabSetup::default();
        let starts = [1, 2, 3, 4].map(|seed| ROUTE.scenario(seed, &setup));
        assert!(starts[0].contains("up trace Verizon-LTE-short.up from 0s\n"));
        assert!(starts[1].contains("down trace Verizon-LTE-short.down from 47s queue 64kB"));
        assert!(starts[2].contains("from 94s") && starts[3].contains("from 1s"));
        assert_eq!(
            ROUTE.needs(false),
            [
                "link-traces/Verizon-LTE-short.up",
                "link-traces/Verizon-LTE-short.down"
            ]
        );
    }

    #[test]
    fn a_generated_link_needs_no_file_and_differs_for_each_seed() {
        let setup = LabSetup {
            is_generated: true,
            ..LabSetup::default()
        };
        assert!(ROUTE.needs(true).is_empty());
        let lines = ROUTE.scenario(5, &setup);
        assert!(lines.starts_with("up trace like-lte-up:5\ndown trace like-lte-down:5 queue"));
        let scenarios = [1, 2].map(|seed| {
            Scenario::parse(&ROUTE.scenario(seed, &setup), &LinkTraces::none()).unwrap()
        });
        assert_ne!(scenarios[0].up, scenarios[1].up);
    }
}
