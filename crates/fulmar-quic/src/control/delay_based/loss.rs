//! Which losses are ours: those that stop when less is sent.

use std::collections::VecDeque;
use std::time::Instant;

/// How much more may be lost than without us before we send less: a share of what was sent, and what
/// chance does in standard deviations.
const EXCESS: f64 = 0.005;
const CHANCE: f64 = 2.0;

/// Bytes of a packet, for what chance does.
const PACKET: f64 = 1200.0;

/// How much courage a round without excess brings.
const RECOVERY: f64 = 1.0 / 64.0;

/// The least courage.
const COURAGE_MIN: f64 = 1.0 / 16.0;

/// The most that is made up for.
const BASE_MAX: f64 = 0.45;

/// How much of what was known counts when something new is.
const MEMORY: f64 = 0.75;

/// Packets that left in one phase, and what became of them.
#[derive(Clone)]
struct Span {
    began: Instant,
    is_low: bool,
}

/// Counts lost bytes apart: of what left while little was under way, and of the rest.
#[derive(Clone)]
pub(super) struct LossTracker {
    spans: VecDeque<Span>,
    low: Share,
    round: Share,
    courage: f64,
    is_excessive: bool,
    /// A router has marked a packet of this round.
    is_marked: bool,
}

impl Default for LossTracker {
    fn default() -> LossTracker {
        LossTracker {
            spans: VecDeque::new(),
            low: Share::default(),
            round: Share::default(),
            courage: 1.0,
            is_excessive: false,
            is_marked: false,
        }
    }
}

/// Bytes lost of bytes sent.
#[derive(Clone, Copy, Default)]
struct Share {
    lost: f64,
    all: f64,
}

impl Share {
    fn get(self) -> f64 {
        if self.all > 0.0 {
            self.lost / self.all
        } else {
            0.0
        }
    }
}

impl LossTracker {
    /// From now on leaves what belongs to another phase.
    pub(super) fn begin(&mut self, now: Instant, is_low: bool) {
        if is_low {
            self.low.lost *= MEMORY;
            self.low.all *= MEMORY;
        }
        let began = now;
        self.spans.push_back(Span { began, is_low });
        while self.spans.len() > 4 {
            self.spans.pop_front();
        }
    }

    pub(super) fn acknowledged(&mut self, sent: Instant, bytes: u64) {
        self.share_of(sent).all += bytes as f64;
    }

    pub(super) fn lost(&mut self, sent: Instant, bytes: u64) {
        let share = self.share_of(sent);
        share.all += bytes as f64;
        share.lost += bytes as f64;
    }

    /// A router says that its queue fills.
    pub(super) fn mark(&mut self) {
        self.is_marked = true;
    }

    fn share_of(&mut self, sent: Instant) -> &mut Share {
        let span = self.spans.iter().rev().find(|span| span.began <= sent);
        if span.is_some_and(|span| span.is_low) {
            return &mut self.low;
        }
        &mut self.round
    }

    /// Ends a round: losses beyond those without us make us timid, none makes us bolder.
    pub(super) fn end_round(&mut self) {
        let share = std::mem::take(&mut self.round);
        if share.all == 0.0 {
            return;
        }
        let is_marked = std::mem::take(&mut self.is_marked);
        let expected = self.base() * share.all;
        let chance = CHANCE * (expected * PACKET).sqrt();
        self.is_excessive = is_marked || share.lost > expected + EXCESS * share.all + chance;
        self.courage = if self.is_excessive {
            (self.courage / 2.0).max(COURAGE_MIN)
        } else {
            (self.courage + RECOVERY).min(1.0)
        };
    }

    /// What share is lost whatever we do.
    pub(super) fn base(&self) -> f64 {
        self.low.get().min(BASE_MAX)
    }

    /// How much of the slack may be used.
    pub(super) fn courage(&self) -> f64 {
        self.courage
    }

    /// Whether more was lost in the last round than without us.
    pub(super) fn is_excessive(&self) -> bool {
        self.is_excessive
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Sends rounds of so many packets, of which so many are lost, after a low one with its own share;
    /// the courage after them.
    fn after(low: (u64, u64), rounds: &[(u64, u64)]) -> LossTracker {
        #[expect(
            clippy::disallowed_methods,
            reason = "an instant can be made in no other way"
        )]
        let origin = Instant::now();
        let mut losses = LossTracker::default();
        let mut now = origin;
        let mut send = |losses: &mut LossTracker, (all, lost): (u64, u64)| {
            losses.acknowledged(now, (all - lost) * 1200);
            losses.lost(now, lost * 1200);
            losses.end_round();
            now += Duration::from_millis(50);
            now
        };
        losses.begin(origin, true);
        let next = send(&mut losses, low);
        losses.begin(next, false);
        for round in rounds {
            send(&mut losses, *round);
        }
        losses
    }

    #[test]
    fn losses_that_stop_with_us_halve_the_courage() {
        let losses = after((100, 0), &[(100, 1)]);
        assert!(losses.is_excessive());
        assert_eq!(losses.courage(), 0.5);
        assert_eq!(after((100, 0), &[(100, 1); 9]).courage(), COURAGE_MIN);
    }

    #[test]
    fn losses_that_are_there_anyway_are_made_up_for() {
        let losses = after((1000, 20), &[(1000, 20), (1000, 28)]);
        assert_eq!(losses.base(), 0.02);
        assert!(!losses.is_excessive(), "chance loses eight more of 1000");
        assert_eq!(losses.courage(), 1.0);
        // 20 expected, 5 allowed, 9 by chance.
        assert!(after((1000, 20), &[(1000, 35)]).is_excessive());
    }

    #[test]
    fn a_mark_is_as_good_as_a_loss_and_courage_returns_in_sixty_four_rounds() {
        let mut losses = after((100, 0), &[]);
        losses.mark();
        let marked = losses.clone();
        losses.acknowledged(losses.spans[1].began, 1200);
        losses.end_round();
        assert_eq!(losses.courage(), 0.5);
        assert_eq!(marked.courage(), 1.0, "only at the end of the round");
        for _ in 0..32 {
            losses.acknowledged(losses.spans[1].began, 1200);
            losses.end_round();
        }
        assert_eq!(losses.courage(), 1.0);
    }
}
