//! Sends what is long as links of one datagram, and what is short more than once, on a path that loses datagrams.
//!
//! Source: docs/protocol.md §5.4.

use fulmar_base::Time;
use fulmar_datagram::limits::DATAGRAM_BYTES_IPV4;

use super::Conversation;
use crate::allowance::Allowance;
use crate::cause::Cause;
use crate::limits::{COPIED_CHAIN_BYTES_MAX, LINK_DIFFERENCE_BYTES};
use crate::outbox::Cost;
use crate::redundancy::{copies, first_pause};
use crate::sender::{ChainState, Composed, Trust};
use crate::{Budget, Role, Synced};

/// One walk over the links that are missing.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkPass {
    /// The cause for which they are sent.
    pub(super) cause: Cause,
    /// True if only the first is sent, to ask whether the peer is there.
    pub(super) is_alone: bool,
    /// The bytes sent so far.
    bytes: usize,
}

impl LinkPass {
    pub(super) fn new() -> LinkPass {
        LinkPass::of(Cause::Frame)
    }

    fn of(cause: Cause) -> LinkPass {
        LinkPass {
            cause,
            is_alone: false,
            bytes: 0,
        }
    }
}

impl<L: Synced, R: Synced> Conversation<L, R> {
    /// Makes the next link, or the first again of those that are not acknowledged.
    pub(super) fn compose_link(
        &mut self,
        now: Time,
        cause: Cause,
        trust: Trust,
        budget: Budget,
    ) -> Option<Composed> {
        if self.chain() != ChainState::Ready || cause != self.links.cause {
            self.links = self.begin_pass(now, cause, trust);
        }
        let link_budget = budget.min(self.link_budget());
        let skips = self.skips_states();
        let link = self.sender.compose_link(now, link_budget, skips);
        if link.is_none() {
            self.redundancy.stop();
        }
        if self.links.is_alone {
            self.sender.pause_chain();
        }
        link
    }

    fn begin_pass(&mut self, now: Time, cause: Cause, trust: Trust) -> LinkPass {
        match cause {
            Cause::Frame => self.sender.begin_chain(now, trust),
            // A copy is of what was sent.
            Cause::Copy => self.sender.repeat_chain(now, false),
            _ => self.sender.repeat_chain(now, self.skips_states()),
        }
        if matches!(cause, Cause::Frame | Cause::Copy) {
            return LinkPass::of(cause);
        }
        self.congestion.given_up();
        // Nothing came back since all were sent again: one of them asks whether anything arrives.
        let is_alone = self.liveness.retries > 0;
        if !is_alone {
            self.sender.judge_links();
        }
        self.liveness.retries = self.liveness.retries.saturating_add(1);
        LinkPass {
            is_alone,
            ..LinkPass::of(Cause::Retry)
        }
    }

    /// Tells whether a state need not be reached if a newer one is: so it is with screens, and not with what somebody types.
    pub(super) fn skips_states(&self) -> bool {
        self.role == Role::Server
    }

    /// Returns how the links stand.
    pub(super) fn chain(&self) -> ChainState {
        if self.may_use_links() {
            self.sender.chain_state()
        } else {
            ChainState::None
        }
    }

    /// Returns how long the difference of a link may be: as much as fills a datagram.
    fn link_budget(&self) -> Budget {
        let datagram_bytes = self.path_mtu.datagram_bytes();
        Budget::of_bytes(LINK_DIFFERENCE_BYTES * datagram_bytes / DATAGRAM_BYTES_IPV4)
    }

    /// Tells whether what is long may go as links: to a path that is validated and keeps the order of datagrams, since a link
    /// that overtakes the one before it is of no use.
    fn may_use_links(&self) -> bool {
        self.paths.allowance() == Allowance::Unlimited
            && self.loss.keeps_order()
            && !self.sender.has_given_up_links()
    }

    /// Tells whether a link is sent for that cause: one of a chain that goes on, or the first of what would take more than
    /// a datagram on a path that loses some.
    pub(super) fn is_link(&self, now: Time, cause: Cause, trust: Trust, budget: Budget) -> bool {
        if self.closing.own().is_some() || !self.may_use_links() {
            return false;
        }
        match (cause, self.chain()) {
            (Cause::Frame | Cause::Retry | Cause::Copy, ChainState::Ready) => true,
            (Cause::Retry | Cause::Copy, ChainState::Blocked | ChainState::Sent) => true,
            (Cause::Frame | Cause::Resend | Cause::Retry, _) => {
                let link = budget.min(self.link_budget());
                // What is known of loss is that of the way here; a retry knows of the way there.
                let is_lossy = copies(self.loss.share()) > 0
                    || cause != Cause::Frame && self.liveness.large.is_some();
                is_lossy && self.sender.is_long(now, trust, link)
            }
            _ => false,
        }
    }

    /// Sees to it that what was sent just now is sent more than once, or that it was sent once more.
    pub(super) fn plan_copies(&mut self, now: Time, cause: Cause, cost: Cost) {
        let is_chain = self.chain() != ChainState::None;
        self.links.bytes = self.links.bytes.saturating_add(cost.bytes);
        match (cause, self.chain()) {
            // What a chain costs is known at its end.
            (Cause::Copy, ChainState::Ready) => return self.redundancy.charge(now, cost.bytes),
            (Cause::Copy, _) => return self.redundancy.sent(now, cost.bytes),
            (_, ChainState::Ready | ChainState::Blocked) => return self.redundancy.stop(),
            _ => {}
        }
        let bytes = if is_chain {
            self.links.bytes
        } else {
            cost.bytes
        };
        let is_small = cost.datagrams == 1 && bytes <= COPIED_CHAIN_BYTES_MAX;
        let is_wanted = is_small && !self.congestion.has_queue();
        let copies = if is_wanted {
            copies(self.loss.share())
        } else {
            0
        };
        let round_trip = self.clock.round_trip().smoothed();
        self.redundancy.begin(now, copies, first_pause(round_trip));
        if !is_chain && matches!(cause, Cause::Retry | Cause::Resend) {
            self.liveness.retries = self.liveness.retries.saturating_add(1);
        }
    }
}
