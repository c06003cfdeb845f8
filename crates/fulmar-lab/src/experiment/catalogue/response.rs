//! The time that answers take, for an estimate of how long runs take.

use std::time::Duration;

/// About how long the first answer to a key takes on average. Only the plan's times rest on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Response {
    /// Over TCP, and wherever nothing is predicted.
    pub(super) unpredicted_millis: u32,
    /// Wherever echoes are predicted.
    pub(super) predicted_millis: u32,
    /// Over TCP where it differs, as it does with loss.
    pub(super) tcp_millis: u32,
}

impl Response {
    /// Answers after this time, or after that where most of them are predicted.
    pub(super) const fn millis(unpredicted: u32, predicted: u32) -> Self {
        Self {
            unpredicted_millis: unpredicted,
            predicted_millis: predicted,
            tcp_millis: unpredicted,
        }
    }

    /// With another time for TCP.
    pub(super) const fn tcp(self, tcp_millis: u32) -> Self {
        Self { tcp_millis, ..self }
    }

    /// Returns the time of a peer.
    pub(super) fn of(self, peer: &str) -> Duration {
        let millis = match peer {
            "mosh" | "mosh-a" | "fulmar" | "fulmar-a" => self.predicted_millis,
            _ if peer.starts_with("mosh") || peer.starts_with("fulmar") => self.unpredicted_millis,
            _ => self.tcp_millis,
        };
        Duration::from_millis(millis.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_answers_as_its_transport_and_its_predictions_let_it() {
        let response = Response::millis(500, 100).tcp(3000);
        let of = |peer| response.of(peer).as_millis();
        assert_eq!((of("mosh"), of("mosh-a"), of("mosh-n")), (100, 100, 500));
        assert_eq!((of("fulmar"), of("fulmar-a")), (100, 100));
        assert_eq!((of("fulmar-n"), of("ssh"), of("plain")), (500, 3000, 3000));
        assert_eq!(Response::millis(500, 100).of("ssh").as_millis(), 500);
    }
}
