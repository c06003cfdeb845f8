//! How long a session waits for its client, as the environment says.
//!
//! Source: docs/protocol.md §2.6.

use std::time::Duration;

use crate::environment::Environment;

/// The limits that the environment sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Timeouts {
    /// How long a session outlives the last sign of its client.
    pub(crate) network: Option<Duration>,
    /// How long the client must be silent for SIGUSR1 to be obeyed.
    pub(crate) signal: Option<Duration>,
    /// What was ignored, and why.
    pub(crate) complaints: Vec<String>,
}

impl Timeouts {
    /// Reads them.
    pub(crate) fn of(environment: &Environment) -> Timeouts {
        let mut complaints = Vec::new();
        let mut read = |name: &str| {
            let text = environment.get_filled(name)?;
            let seconds = text.to_str().and_then(|text| text.parse::<u64>().ok());
            if seconds.is_none() {
                complaints.push(format!("{name} is no number of seconds; it is ignored"));
            }
            seconds
                .filter(|&seconds| seconds > 0)
                .map(Duration::from_secs)
        };
        Timeouts {
            network: read("MOSH_SERVER_NETWORK_TMOUT"),
            signal: read("MOSH_SERVER_SIGNAL_TMOUT"),
            complaints,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_read_and_nonsense_is_told() {
        let of = |network: &str, signal: &str| {
            Timeouts::of(&Environment::from_iter([
                ("MOSH_SERVER_NETWORK_TMOUT", network),
                ("MOSH_SERVER_SIGNAL_TMOUT", signal),
            ]))
        };
        let both = of("604800", "4");
        assert_eq!(both.network, Some(Duration::from_secs(604_800)));
        assert_eq!(both.signal, Some(Duration::from_secs(4)));
        assert_eq!(of("0", ""), Timeouts::default());
        for bad in ["x", "-2", "3s"] {
            let timeouts = of(bad, "");
            assert_eq!(
                (timeouts.network, timeouts.complaints.len()),
                (None, 1),
                "{bad}"
            );
        }
        assert_eq!(Timeouts::of(&Environment::default()), Timeouts::default());
    }
}
