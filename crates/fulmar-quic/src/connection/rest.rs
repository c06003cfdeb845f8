//! Datagrams leave in bursts: a call of the system for each few of them is most of what a copy costs.

use std::time::Duration;

use fulmar_datagram::Time;

/// From the beginning of one burst to that of the next. At 500 Mbit/s these are 43 datagrams, about as
/// many as one call takes; at 20 Mbit/s two.
const BETWEEN: Duration = Duration::from_millis(1);

/// Whether a burst has ended and the next is not due yet.
#[derive(Default)]
pub(super) struct Rest {
    /// When the burst that is under way began.
    began: Option<Time>,
    until: Option<Time>,
    /// Somebody wanted to send meanwhile.
    is_wanted: bool,
}

impl Rest {
    /// Whether nothing leaves now; it may when [`ends`](Self::ends) says.
    pub(super) fn holds(&mut self, now: Time) -> bool {
        self.is_wanted = self.until.is_some_and(|until| now < until);
        self.is_wanted
    }

    /// Learns whether there was something to send: a burst ends when there is not.
    pub(super) fn note(&mut self, now: Time, has_sent: bool) {
        self.is_wanted = false;
        if has_sent {
            self.began.get_or_insert(now);
        } else if let Some(began) = self.began.take() {
            self.until = Some(began + BETWEEN);
        }
    }

    /// When to try again, given when there is something to do otherwise.
    pub(super) fn ends(&self, due: Option<Time>) -> Option<Time> {
        let until = self.until.filter(|_| self.is_wanted);
        due.into_iter().chain(until).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Time {
        Time::ZERO + Duration::from_micros(micros)
    }

    #[test]
    fn a_burst_is_followed_by_a_rest_from_its_beginning() {
        let mut rest = Rest::default();
        assert!(!rest.holds(at(0)));
        for now in [100, 300] {
            rest.note(at(now), true);
            assert!(!rest.holds(at(now)), "the burst goes on");
        }
        rest.note(at(400), false);
        assert_eq!(rest.ends(None), None, "nobody wants to send");
        assert!(rest.holds(at(1_099)));
        assert_eq!(rest.ends(None), Some(at(1_100)));
        assert_eq!(rest.ends(Some(at(500))), Some(at(500)));
        assert!(!rest.holds(at(1_100)));
        rest.note(at(1_100), false);
        assert_eq!(rest.ends(None), None);
        assert!(!rest.holds(at(1_101)), "nothing was sent, so nothing rests");
    }
}
