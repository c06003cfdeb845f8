//! A bench on which the stages are tried, and the meaning of "near".

use std::time::Duration;

use fulmar_base::{Ecn, SendError};

use crate::datagram::{Content, Datagram};
use crate::impairment::{Fate, Impairment, LossCause};
use crate::path::{Path, PathEvent, PathOutcome};
use crate::units::{address, days};

/// Sends numbered datagrams through one path and keeps what happened.
pub(crate) struct Bench {
    path: Path,
    now: Duration,
    sent: Vec<Duration>,
    events: Vec<PathEvent>,
    /// The mark on what is sent.
    pub(crate) ecn: Ecn,
    /// The content of what is sent.
    pub(crate) content: Content,
}

impl Bench {
    /// The port that everything is sent to.
    pub(crate) const PORT: u16 = 60_001;

    pub(crate) fn of(impairment: Impairment) -> Self {
        Self::of_all([impairment])
    }

    pub(crate) fn of_all(impairments: impl IntoIterator<Item = Impairment>) -> Self {
        let mut path = Path::clear(7, 0);
        impairments
            .into_iter()
            .for_each(|impairment| path.add(impairment));
        let (sent, events) = (Vec::new(), Vec::new());
        Self {
            path,
            now: Duration::ZERO,
            sent,
            events,
            ecn: Ecn::NotCapable,
            content: Content::UdpPayload,
        }
    }

    /// Sends a payload of `len` bytes; calls come in order of time.
    pub(crate) fn send_at(&mut self, at: Duration, len: usize) {
        assert!(at >= self.now, "the bench goes forward");
        self.now = at;
        let source = address("192.0.2.1:50000");
        let destination = address(&format!("203.0.113.1:{}", Self::PORT));
        let mut datagram = Datagram::new(source, destination, vec![0; len]);
        datagram.ticket.serial = self.sent.len() as u64;
        datagram.ecn = self.ecn;
        datagram.content = self.content;
        self.sent.push(at);
        self.path.take(at, datagram, &mut self.events);
    }

    /// Sends `count`, the first now.
    pub(crate) fn send_many(&mut self, count: u32, interval: Duration, len: usize) {
        let start = self.now;
        for number in 0..count {
            self.send_at(start + interval * number, len);
        }
    }

    pub(crate) fn change_at(&mut self, at: Duration, impairment: Impairment) {
        self.look_at(at);
        self.path.set(at, impairment);
    }

    pub(crate) fn look_at(&mut self, at: Duration) {
        self.now = self.now.max(at);
        self.path.advance(at, &mut self.events);
    }

    fn finish(&mut self) {
        self.look_at(days(1000));
        assert_eq!(self.path.next_due(), None);
    }

    fn passed(&mut self) -> impl Iterator<Item = (Duration, &Datagram)> {
        self.finish();
        self.events.iter().filter_map(|event| match &event.what {
            PathOutcome::Passed(datagram) => Some((event.at, datagram)),
            PathOutcome::Met(..) | PathOutcome::Refused(..) => None,
        })
    }

    fn fates(&mut self) -> impl Iterator<Item = Fate> {
        self.finish();
        self.events.iter().filter_map(|event| match event.what {
            PathOutcome::Passed(_) => None,
            PathOutcome::Met(_, fate) => Some(fate),
            PathOutcome::Refused(_, error) => Some(Fate::Refused(error)),
        })
    }

    /// Returns the times of the arrivals, in order.
    pub(crate) fn arrivals(&mut self) -> Vec<Duration> {
        self.passed().map(|(at, _)| at).collect()
    }

    /// The number of each that arrived, in order of arrival.
    pub(crate) fn order(&mut self) -> Vec<u64> {
        self.passed()
            .map(|(_, datagram)| datagram.ticket.serial)
            .collect()
    }

    /// The mark on each that arrived.
    pub(crate) fn marks(&mut self) -> Vec<Ecn> {
        self.passed().map(|(_, datagram)| datagram.ecn).collect()
    }

    /// Returns the time for which each that arrived was under way.
    pub(crate) fn delays(&mut self) -> Vec<Duration> {
        let sent = self.sent.clone();
        self.passed()
            .map(|(at, datagram)| at - sent[datagram.ticket.serial as usize])
            .collect()
    }

    /// Sends `count` and returns how long each that arrived was under way.
    pub(crate) fn delays_of(&mut self, count: u32, interval: Duration) -> Vec<Duration> {
        self.send_many(count, interval, 100);
        self.delays()
    }

    /// Returns the times of the losses.
    pub(crate) fn loss_times(&mut self) -> Vec<Duration> {
        self.finish();
        let losses = self.events.iter().filter_map(|event| match event.what {
            PathOutcome::Met(_, Fate::Lost(_)) => Some(event.at),
            _ => None,
        });
        losses.collect()
    }

    pub(crate) fn losses(&mut self) -> Vec<LossCause> {
        let cause = |fate| {
            if let Fate::Lost(cause) = fate {
                Some(cause)
            } else {
                None
            }
        };
        self.fates().filter_map(cause).collect()
    }

    pub(crate) fn refusals(&mut self) -> Vec<SendError> {
        let error = |fate| {
            if let Fate::Refused(error) = fate {
                Some(error)
            } else {
                None
            }
        };
        self.fates().filter_map(error).collect()
    }
}

/// Tells whether the measured value is within three standard errors. Seeds are fixed, so a test
/// that passes once passes for ever.
pub(crate) fn is_near(measured: f64, expected: f64, standard_error: f64) -> bool {
    (measured - expected).abs() <= 3.0 * standard_error
}

/// As [`is_near`], for how often something with this chance happened in `of` independent draws.
pub(crate) fn is_near_share(happened: usize, of: u32, chance: f64) -> bool {
    let share = happened as f64 / f64::from(of);
    is_near(
        share,
        chance,
        (chance * (1.0 - chance) / f64::from(of)).sqrt(),
    )
}
