//! The times for which a session waits for its client, as the environment has them.
//!
//! Source: docs/protocol.md §2.6, docs/threat-model.md §9.

use std::time::Duration;

use fulmar_core::CompatMode;

use crate::environment::Environment;

/// The time for which a session outlives its client if nobody says: under our own name 30 days, for what is
/// forgotten is not to run for ever. Stock knows no limit.
///
/// Source: docs/threat-model.md §9.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(30 * 24 * 3600);

/// The limits that the environment sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerTimeouts {
    /// The time for which a session outlives the last sign of its client.
    pub network: Option<Duration>,
    /// The silence of the client after which SIGUSR1 is obeyed.
    pub signal: Option<Duration>,
    /// The variables that were ignored, and why.
    pub complaints: Vec<String>,
}

impl ServerTimeouts {
    /// Reads them. 0 is no limit.
    pub fn of(environment: &Environment, compat: CompatMode) -> ServerTimeouts {
        let mut complaints = Vec::new();
        let mut read = |name: &str| {
            let text = environment.get_filled(name)?;
            let seconds = text.to_str().and_then(|text| text.parse::<u64>().ok());
            if seconds.is_none() {
                complaints.push(format!("{name} is no number of seconds; it is ignored"));
            }
            seconds
        };
        let network = read("MOSH_SERVER_NETWORK_TMOUT");
        let signal = read("MOSH_SERVER_SIGNAL_TMOUT");
        let limit = |seconds: u64| (seconds > 0).then(|| Duration::from_secs(seconds));
        ServerTimeouts {
            network: match (network, compat) {
                (Some(seconds), _) => limit(seconds),
                (None, CompatMode::Fulmar) => Some(FORGOTTEN_AFTER),
                (None, CompatMode::Mosh) => None,
            },
            signal: signal.and_then(limit),
            complaints,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(network: &str, signal: &str, compat: CompatMode) -> ServerTimeouts {
        let variables = [
            ("MOSH_SERVER_NETWORK_TMOUT", network),
            ("MOSH_SERVER_SIGNAL_TMOUT", signal),
        ];
        ServerTimeouts::of(&variables.into_iter().collect(), compat)
    }

    #[test]
    fn seconds_are_read() {
        let both = of("604800", "4", CompatMode::Fulmar);
        assert_eq!(both.network, Some(Duration::from_secs(604_800)));
        assert_eq!(both.signal, Some(Duration::from_secs(4)));
        assert!(both.complaints.is_empty());
    }

    #[test]
    fn what_is_no_number_is_told_and_ignored() {
        for bad in ["x", "-2", "3s"] {
            let timeouts = of(bad, bad, CompatMode::Mosh);
            assert_eq!(timeouts.complaints.len(), 2, "{bad}");
            assert_eq!((timeouts.network, timeouts.signal), (None, None), "{bad}");
        }
    }

    #[test]
    fn a_forgotten_session_ends_after_30_days_but_not_under_the_stock_name() {
        for unset in ["", "x"] {
            assert_eq!(of(unset, "", CompatMode::Mosh).network, None);
            let own = of(unset, "", CompatMode::Fulmar);
            assert_eq!(own.network, Some(Duration::from_secs(2_592_000)));
            assert_eq!(own.signal, None);
        }
        assert_eq!(of("0", "0", CompatMode::Fulmar).network, None);
    }
}
