//! Notices that long datagrams are lost for their length, by what is acknowledged.

use std::collections::VecDeque;
use std::time::Duration;

use fulmar_base::Time;
use fulmar_datagram::limits::DATAGRAM_BYTES_AFTER_TOO_BIG;

use crate::StateNumber;
use crate::limits::{
    BLACK_HOLE_CHANCE_MAX, BLACK_HOLE_LOSS_MIN, BLACK_HOLE_MISSES_MIN, DEPARTURES_MAX,
    OVERTAKING_MIN, PRESUMED_CHANCE_MAX, RETRY_MARGIN, SHORT_LOSS_SPAN_MAX, SHORT_LOSS_SPAN_MIN,
    VAIN_TRIES_CHANCE_AFTER_MISS_MAX, VAIN_TRIES_CHANCE_MAX,
};

/// The search for a black hole: a path that carries short datagrams, and drops long ones without a word.
///
/// An acknowledgement tells what has arrived, and so what has not:
///
/// ```text
///  sent           [7] short   [40] long   [41] from 40, long     [8] short
///                  │           ╳           ╳                      │
///  acknowledged    7                                              8: 40 has not arrived
/// ```
///
/// A state that was acknowledged although one of a higher number had been sent before says that the latter is lost, since a
/// peer acknowledges the newest that it has. So does one that had to be sent again in shorter datagrams. Either is a *miss*
/// of the long ones. A *hit*, something as long that has arrived, refutes all misses up to its length.
///
/// Misses are taken for more than chance when it would be very small, if long datagrams were lost as often as short ones
/// are, and those of the peer.
///
/// Source: RFC 8899 §4.3; docs/protocol.md §3.6.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlackHole {
    /// The instructions that may be on their way, in the order in which they were sent.
    departures: VecDeque<Departed>,
    /// Oldest first.
    misses: VecDeque<Miss>,
    short_loss: ShortLoss,
    /// True if something short was sent to see what becomes of it, and nothing long since.
    has_asked: bool,
}

/// The share of short datagrams that are lost on the way there.
#[derive(Clone, Copy, Debug, Default)]
struct ShortLoss {
    share: f64,
    span: u32,
}

impl ShortLoss {
    fn count(&mut self, lost: f64) {
        self.span = (self.span + 1).min(SHORT_LOSS_SPAN_MAX);
        self.share += (lost - self.share) / f64::from(self.span.max(SHORT_LOSS_SPAN_MIN));
    }
}

/// An instruction that was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departed {
    pub(crate) at: Time,
    pub(crate) source: StateNumber,
    pub(crate) target: StateNumber,
    /// The newest state that the peer had acknowledged. What starts from another may be of no use to it.
    pub(crate) acknowledged: StateNumber,
    /// The bytes of its longest datagram.
    pub(crate) longest: usize,
    pub(crate) datagrams: usize,
}

impl Departed {
    /// Tells whether the peer can make use of it, whatever else has arrived.
    fn is_useful(&self) -> bool {
        self.source == self.acknowledged
    }

    /// Tells whether it is never lost for its length.
    fn is_short(&self) -> bool {
        self.longest <= DATAGRAM_BYTES_AFTER_TOO_BIG
    }
}

/// An acknowledgement, and what is known of the path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    pub(crate) now: Time,
    pub(crate) number: StateNumber,
    pub(crate) round_trip: Duration,
    /// The time after which something is thought lost.
    pub(crate) timeout: Duration,
    /// The share of the peer's datagrams that are lost, from 0 to 1.
    pub(crate) loss: f64,
}

/// An instruction that has not arrived.
#[derive(Clone, Copy, Debug)]
struct Miss {
    longest: usize,
    /// The chance that one of its datagrams is lost whatever its length.
    chance: f64,
}

impl BlackHole {
    /// Takes note that an instruction was sent.
    pub(crate) fn sent(&mut self, departed: Departed) {
        self.has_asked &= departed.is_short() || !departed.is_useful();
        if self.departures.len() >= DEPARTURES_MAX {
            self.departures.pop_front();
        }
        self.departures.push_back(departed);
    }

    /// Takes note that a state was acknowledged. Returns whether there seems to be a black hole.
    pub(crate) fn acknowledged(&mut self, arrived: Arrived) -> bool {
        if let Some(place) = self.attempt_that_arrived(arrived) {
            let missed = self.judge(place, arrived);
            // Each acknowledgement tells of one miss: what an outage has taken was lost together.
            self.departures.drain(..=place);
            if missed.is_some() && self.misses.len() >= DEPARTURES_MAX {
                self.misses.pop_front();
            }
            self.misses.extend(missed);
        }
        self.departures
            .retain(|departed| departed.target > arrived.number);
        self.is_found()
    }

    /// Tells whether it is time to ask in a short datagram whether the long ones are lost for their length: so many have
    /// been sent in vain that one more would tell nothing.
    pub(crate) fn wants_short(&self, now: Time, timeout: Duration, loss: f64) -> bool {
        if self.has_asked {
            return false;
        }
        let mut lost = self.in_vain().peekable();
        if lost.peek().is_none_or(|last| now.since(last.at) < timeout) {
            return false;
        }
        let chances = lost.map(|sent| self.chance_of_loss(loss, sent.datagrams));
        let chance_max = if self.misses.is_empty() {
            VAIN_TRIES_CHANCE_MAX
        } else {
            VAIN_TRIES_CHANCE_AFTER_MISS_MAX
        };
        chances.product::<f64>() <= chance_max
    }

    /// Tells whether long datagrams have been sent in vain so often to a peer that was heard meanwhile that they seem to be
    /// lost, though nothing short can show it.
    pub(crate) fn is_presumed(&self, timeout: Duration, loss: f64, heard: Option<Time>) -> bool {
        let mut before = None;
        let mut chance = 1.0;
        for sent in self.in_vain() {
            if before.is_none() && heard.is_none_or(|heard| heard < sent.at) {
                return false;
            }
            // Copies and what an outage has taken count once.
            if before.is_none_or(|before: Time| before.since(sent.at) >= timeout) {
                before = Some(sent.at);
                chance *= self.chance_of_loss(loss, sent.datagrams);
            }
        }
        chance <= PRESUMED_CHANCE_MAX
    }

    /// Returns the long instructions that were sent since anything useful that was short, the newest first. Short ones that
    /// start from what was lost are of no use to the peer, and bring no answer.
    fn in_vain(&self) -> impl Iterator<Item = &Departed> {
        let newest_first = self.departures.iter().rev();
        let useful = newest_first.filter(|sent| sent.is_useful());
        useful.take_while(|sent| !sent.is_short())
    }

    /// Takes note that something short is sent for that.
    pub(crate) fn ask(&mut self) {
        self.has_asked = true;
    }

    /// Returns the place of the attempt that was acknowledged: of several the last that can have been, after about a
    /// round trip.
    fn attempt_that_arrived(&self, arrived: Arrived) -> Option<usize> {
        let is_attempt = |departed: &Departed| departed.target == arrived.number;
        let earliest_answer = arrived.round_trip * 3 / 4;
        let last = self.departures.iter().rposition(|departed| {
            is_attempt(departed) && arrived.now.since(departed.at) >= earliest_answer
        });
        last.or_else(|| self.departures.iter().position(is_attempt))
    }

    /// Takes note of what has arrived with the attempt at that place, and returns what has not, if anything.
    fn judge(&mut self, place: usize, arrived: Arrived) -> Option<Miss> {
        let attempt = *self.departures.get(place)?;
        let longest = self.longest_on_the_way_to(attempt);
        self.misses.retain(|miss| miss.longest > longest);
        let before = self.departures.range(..place).rev();
        let lost = before.filter(|departed| {
            departed.is_useful()
                && is_overdue(departed, &attempt, arrived.timeout, arrived.round_trip)
        });
        let lost: Vec<Departed> = lost.copied().collect();
        for _ in lost.iter().filter(|departed| departed.is_short()) {
            self.short_loss.count(1.0);
        }
        if attempt.is_short() {
            self.short_loss.count(0.0);
        }
        let is_long = |departed: &&Departed| !departed.is_short() && departed.longest > longest;
        let missed = lost.iter().find(is_long)?;
        Some(Miss {
            longest: missed.longest,
            chance: self.chance_of_loss(arrived.loss, missed.datagrams),
        })
    }

    /// Returns the longest length that is certain to have passed if that instruction has arrived: what it starts from was
    /// there before it, and so on.
    fn longest_on_the_way_to(&self, arrived: Departed) -> usize {
        let (mut longest, mut source) = (arrived.longest, arrived.source);
        loop {
            let attempts = self.departures.iter().filter(|sent| sent.target == source);
            // Of several attempts nobody knows which it was.
            let Some(shortest) = attempts.clone().min_by_key(|sent| sent.longest) else {
                return longest;
            };
            longest = longest.max(shortest.longest);
            let is_same = |sent: &Departed| sent.source == shortest.source;
            // Sources have lower numbers, but for a goodbye that is repeated.
            if shortest.source >= source || !attempts.clone().all(is_same) {
                return longest;
            }
            source = shortest.source;
        }
    }

    /// Returns the chance that one of so many datagrams is lost, if that share of the peer's are.
    fn chance_of_loss(&self, loss: f64, datagrams: usize) -> f64 {
        let share = loss.max(self.short_loss.share).max(BLACK_HOLE_LOSS_MIN);
        let datagrams = i32::try_from(datagrams).unwrap_or(i32::MAX);
        1.0 - (1.0 - share).powi(datagrams)
    }

    fn is_found(&self) -> bool {
        let chance: f64 = self.misses.iter().map(|miss| miss.chance).product();
        self.misses.len() >= BLACK_HOLE_MISSES_MIN && chance <= BLACK_HOLE_CHANCE_MAX
    }
}

/// Tells whether an instruction that left before the attempt that was acknowledged would have been acknowledged itself if
/// it had arrived.
fn is_overdue(
    departed: &Departed,
    attempt: &Departed,
    timeout: Duration,
    round_trip: Duration,
) -> bool {
    let earlier = attempt.at.since(departed.at);
    if departed.target > attempt.target {
        // It would have been the newest that the peer had when it acknowledged the other, unless that has overtaken it.
        earlier >= OVERTAKING_MIN.max(round_trip / 4)
    } else {
        // Both lead to the same state. A copy follows sooner than a retry.
        departed.target == attempt.target && earlier >= timeout.max(RETRY_MARGIN)
    }
}

#[cfg(test)]
mod tests;
