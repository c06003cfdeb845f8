//! One end of a conversation.

use fulmar_base::{Hint, PathId, SendError, Time};
use fulmar_datagram::{DatagramOrder, Opener, SealError, Sealer, Sequence};

use crate::cause::{Cause, DropReason};
use crate::conversation::Conversation;
use crate::counters::{Counters, tick};
use crate::dialect::Dialect;
use crate::ending::Ending;
use crate::event::{Arrival, DatagramVerdict, EndpointEvent, Received, Transmit};
use crate::farewell_words::FarewellWords;
use crate::inbox::Inbox;
use crate::outbox::{Noise, Outbox};
use crate::receiver::{Intake, Receiver};
use crate::sender::Sender;
use crate::terms::Terms;
use crate::timing::Deadlines;
use crate::{Role, RoundTrip, StateNumber, Synced};

/// The settings of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndpointConfig {
    /// The end that this endpoint is.
    pub role: Role,
    /// The longest datagram to send, kept within 500 and 2048: see
    /// [`DATAGRAM_BYTES_IPV4`](fulmar_datagram::limits::DATAGRAM_BYTES_IPV4) and
    /// [`DATAGRAM_BYTES_IPV6`](fulmar_datagram::limits::DATAGRAM_BYTES_IPV6).
    pub datagram_bytes: usize,
    /// The agreement with the peer, if there is one.
    pub agreement: Option<Terms>,
}

/// One end of a conversation that keeps two objects equal at both ends: `L` changes here and is
/// copied there, `R` the other way round. Owns no socket, no clock, no thread, no randomness.
///
/// The methods are of five kinds:
///
/// - `handle_*` is told what happened: datagrams, errors, hints, the passing of time;
/// - commands: [`set_local`](Endpoint::set_local), [`set_intake`](Endpoint::set_intake),
///   [`forget_consumed`](Endpoint::forget_consumed), [`set_farewell`](Endpoint::set_farewell),
///   [`start_shutdown`](Endpoint::start_shutdown);
/// - `poll_transmit` gives datagrams to send;
/// - `poll_event` and `poll_timeout` give news and the time of the next wake-up;
/// - the others only look.
///
/// One turn of the owner's loop: hand over what has happened (one thing or a batch), fetch events,
/// set the local object, then drain `poll_transmit` until `None`, then sleep until `poll_timeout` at
/// the latest and call `handle_timeout`. After such a drain the next wake-up always lies in the
/// future.
///
/// A client begins when the edge has opened its first path ([`handle_path_opened`]), a server when the
/// first genuine datagram has arrived.
///
/// [`handle_path_opened`]: Endpoint::handle_path_opened
pub struct Endpoint<L, R> {
    inbox: Inbox,
    conversation: Conversation<L, R>,
    outbox: Outbox,
    deadlines: Deadlines,
}

impl<L: Synced, R: Synced> Endpoint<L, R> {
    /// Returns an endpoint at the beginning of a conversation, when both ends have `local` and
    /// `remote` as state 0.
    pub fn new(
        now: Time,
        config: EndpointConfig,
        sealer: Sealer,
        opener: Opener,
        local: L,
        remote: R,
        noise: Box<dyn Noise>,
    ) -> Endpoint<L, R> {
        let EndpointConfig {
            role,
            datagram_bytes,
            agreement,
        } = config;
        let mut endpoint = Endpoint {
            inbox: Inbox::new(opener),
            conversation: Conversation::new(now, role, datagram_bytes, agreement, local, remote),
            outbox: Outbox::new(sealer, noise),
            deadlines: Deadlines::default(),
        };
        endpoint.settle(now);
        endpoint
    }

    /// Takes in a datagram. Whatever it is, the conversation goes on; one that is not genuine leaves
    /// a count behind and nothing else.
    pub fn handle_datagram(&mut self, now: Time, arrival: Arrival<'_>) -> Received {
        self.conversation.counters.received(arrival.bytes.len());
        let received = self.receive(now, arrival);
        match received.verdict {
            DatagramVerdict::Fresh => tick(&mut self.conversation.counters.fresh),
            DatagramVerdict::Late => tick(&mut self.conversation.counters.late),
            DatagramVerdict::Dropped(reason) => self.conversation.counters.dropped.count(reason),
        }
        received
    }

    /// Takes note that the system refused to send. Nothing is sent again at once; the timers see to
    /// it, in datagrams of 500 bytes if that was the trouble, for ten minutes or until the path changes. A probe
    /// of the path's MTU that is refused has told what it was to tell.
    ///
    /// Returns whether the error tells anything of the path in use.
    ///
    /// What somebody else has said of the path is for [`handle_report`](Endpoint::handle_report).
    pub fn handle_send_error(&mut self, now: Time, path: PathId, error: SendError) -> bool {
        let is_in_use = self.conversation.paths.current() == Some(path);
        let is_too_big = error == SendError::TooBig;
        if is_in_use && is_too_big && self.conversation.path_mtu.probe_refused(now) {
            self.settle(now);
            return false;
        }
        tick(&mut self.conversation.counters.send_errors);
        // An error of a path that was left says nothing about the present one.
        if is_in_use {
            // Shorter datagrams are tried at once, unless it was a short one that was refused.
            let is_mended = is_too_big && self.shorten(now);
            self.conversation.liveness.failed(now, is_mended);
            self.settle(now);
        }
        is_in_use
    }

    /// Takes note that somebody has reported why a datagram cannot have arrived. Returns whether that is
    /// believed: it may be forged, and is only as long as our own datagrams remain unanswered. Nothing
    /// has changed if it is not.
    ///
    /// Source: docs/threat-model.md §7.
    pub fn handle_report(&mut self, now: Time, path: PathId, error: SendError) -> bool {
        tick(&mut self.conversation.counters.reports);
        let timeout = self.round_trip().timeout();
        let excused = self.conversation.excused();
        let liveness = &self.conversation.liveness;
        let is_believed =
            self.path() == Some(path) && liveness.is_unanswered(now, timeout, excused);
        is_believed && self.handle_send_error(now, path, error)
    }

    /// Takes note of a change in the world.
    pub fn handle_hint(&mut self, now: Time, hint: Hint) {
        self.conversation.hint(now, hint);
        self.settle(now);
    }

    /// Takes note that a client's edge has opened a path, because of [`EndpointEvent::OpenPath`] or on its own.
    /// The first one lets the conversation begin. It is used from the next transmission on.
    pub fn handle_path_opened(&mut self, now: Time, path: PathId) {
        self.conversation.path_opened(now, path);
        self.settle(now);
    }

    /// Takes note that time has passed.
    pub fn handle_timeout(&mut self, now: Time) {
        if let Some((due, cause)) = self.deadlines.earliest()
            && due <= now
        {
            self.conversation.counters.woken.count(cause);
        }
        self.settle(now);
    }

    /// Takes over a snapshot of the local object. If the peer could not tell it from the one before,
    /// nothing happens; nor does it once a shutdown has begun.
    pub fn set_local(&mut self, now: Time, state: L) {
        if self.conversation.closing.own().is_none()
            && self.conversation.sender.set_current(now, state)
        {
            self.settle(now);
        }
    }

    /// Begins with that object instead of the one with which the endpoint was made, which the peer could not tell apart. Only
    /// before anything was sent; later nothing happens.
    pub fn begin_with(&mut self, now: Time, local: L) {
        self.conversation.sender.begin_with(now, local);
        self.settle(now);
    }

    /// Says that input of the peer has just been made use of: what changes next is an echo, which leaves
    /// sooner than other output.
    pub fn expect_echo(&mut self, now: Time) {
        self.conversation.expect_echo();
        self.settle(now);
    }

    /// Says whether new states of the peer are wanted at present.
    pub fn set_intake(&mut self, intake: Intake) {
        self.conversation.intake = intake;
    }

    /// Says that the owner has made use of all that the newest [`remote`](Endpoint::remote) state
    /// holds, so that its past may be forgotten.
    pub fn forget_consumed(&mut self) {
        self.conversation.receiver.forget_consumed();
    }

    /// Goes on at this sequence number with what is sent from here on, unless it has come as far by
    /// itself. The peer drops what is more than 2^32 above the highest number that it has accepted.
    pub fn skip_to(&mut self, sequence: Sequence) {
        self.outbox.skip_to(sequence);
    }

    /// Begins to end the conversation. The present local object is its last; of input that is longer than what
    /// may be ahead of the acknowledged state, that much.
    ///
    /// Source: docs/protocol.md §5.6.
    pub fn start_shutdown(&mut self, now: Time) {
        self.conversation.sender.end_within_window();
        self.conversation.closing.begin(now);
        self.settle(now);
    }

    /// Has a peer that does not answer the goodbye be told again when it is heard later, for it may have slept. Each time
    /// that is given up is an [end](EndpointEvent::Ended) that is [unanswered](Ending::Unanswered).
    pub fn persist_shutdown(&mut self) {
        self.conversation.closing.persist();
    }

    /// Says a number with the goodbye, if the peer speaks [`Dialect::Native`] by then. Best set before
    /// the shutdown begins, so that the first goodbye has it.
    pub fn set_farewell(&mut self, number: u64) {
        self.conversation.handshake.set_farewell(number);
    }

    /// Says a text with that number, under the same conditions.
    pub fn set_farewell_words(&mut self, words: FarewellWords) {
        self.conversation.handshake.set_farewell_words(words);
    }

    /// Returns datagrams to send now, and puts them into `out` in place of what that held; `None` if
    /// there is nothing to send at present.
    pub fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> Option<Transmit> {
        if self.conversation.ended.is_some() {
            return None;
        }
        let transmit = match self.emit(now, out) {
            Ok(None) => {
                // Only now, as a receiver assembles one instruction at a time: its fragments leave
                // in a row (docs/protocol.md §4).
                self.load(now)?;
                self.emit(now, out)
            }
            other => other,
        };
        match transmit {
            Ok(transmit) => transmit,
            Err(_) => {
                // The key has sealed all that it may (docs/threat-model.md §5).
                self.conversation.end(Ending::KeySpent);
                self.settle(now);
                None
            }
        }
    }

    /// Returns the next news.
    pub fn poll_event(&mut self) -> Option<EndpointEvent> {
        self.conversation.events.pop()
    }

    /// Returns when the endpoint next wants to be woken, and what for.
    pub fn poll_timeout(&self) -> Option<(Time, Cause)> {
        self.deadlines.earliest()
    }

    /// Returns the newest state of the peer's object.
    pub fn remote(&self) -> &R {
        self.conversation.receiver.newest()
    }

    /// Returns the number of the newest state of the peer's object.
    pub fn remote_number(&self) -> StateNumber {
        self.conversation.receiver.newest_number()
    }

    /// Returns the local object as it was last set.
    pub fn local(&self) -> &L {
        self.conversation.sender.current()
    }

    /// Returns the newest state of the local object that the peer has acknowledged.
    pub fn acknowledged(&self) -> &L {
        self.conversation.sender.acknowledged()
    }

    /// Returns the number of the newest state of the local object that the peer has acknowledged.
    pub fn acknowledged_number(&self) -> StateNumber {
        self.conversation.sender.acknowledged_number()
    }

    /// Returns the number of the state of the local object that was sent last.
    pub fn sent_number(&self) -> StateNumber {
        self.conversation.sender.sent_number()
    }

    /// Returns the time from which on a proof is missing that the path there and back works: the newest acknowledged
    /// state was last sent then. If pauses were agreed on, it is the time of the first question after that.
    pub fn unproven_since(&self) -> Time {
        self.conversation.unproven_since()
    }

    /// Returns when the newest state of the peer arrived, if any has.
    pub fn heard_at(&self) -> Option<Time> {
        self.conversation.liveness.heard
    }

    /// Returns the time from which on the peer's silence means something: when it was [last
    /// heard](Endpoint::heard_at), or later if it may pause.
    pub fn silent_since(&self) -> Option<Time> {
        self.conversation.silent_since()
    }

    /// Returns the measured round trip.
    pub fn round_trip(&self) -> &RoundTrip {
        self.conversation.clock.round_trip()
    }

    /// Returns where datagrams are sent at present.
    pub fn path(&self) -> Option<PathId> {
        self.conversation.paths.current()
    }

    /// Returns the most bytes that a datagram may have at present.
    pub fn datagram_bytes(&self) -> usize {
        self.conversation.path_mtu.datagram_bytes()
    }

    /// Tells whether a server knows of that path how it stands. As long as it does, the path has to
    /// keep its number; these are never more than
    /// [`UNVALIDATED_PATHS_MAX`](crate::limits::UNVALIDATED_PATHS_MAX) and two.
    pub fn remembers(&self, path: PathId) -> bool {
        self.conversation.paths.remember(path)
    }

    /// Returns what is spoken.
    pub fn dialect(&self) -> Dialect {
        self.conversation.handshake.dialect()
    }

    /// Returns the number that the peer said with its goodbye, if it did and what is spoken is
    /// [`Dialect::Native`].
    pub fn farewell(&self) -> Option<u64> {
        self.conversation.handshake.heard_farewell()
    }

    /// Returns the text that came with that number, if one did.
    pub fn farewell_words(&self) -> Option<&FarewellWords> {
        self.conversation.handshake.heard_farewell_words()
    }

    /// Returns how the conversation has ended, if it has.
    pub fn ending(&self) -> Option<Ending> {
        self.conversation.ended
    }

    /// Returns what has been counted.
    pub fn counters(&self) -> &Counters {
        &self.conversation.counters
    }

    /// Returns the sender, to look at.
    pub fn sender(&self) -> &Sender<L> {
        &self.conversation.sender
    }

    /// Returns the receiver, to look at.
    pub fn receiver(&self) -> &Receiver<R> {
        &self.conversation.receiver
    }

    fn receive(&mut self, now: Time, arrival: Arrival<'_>) -> Received {
        let ended = self.conversation.ended;
        if ended.is_some_and(|ended| !self.conversation.closing.is_told_again(ended)) {
            return Received::unopened(DropReason::Ended);
        }
        let heard = match self.inbox.receive(now, arrival.bytes) {
            Ok(heard) => heard,
            Err(error) => return Received::unopened(error.into()),
        };
        // What is old may have been recorded and sent again by anybody.
        let is_new = heard.order == DatagramOrder::InOrder;
        if ended.is_some() && !(is_new && self.conversation.revive(now)) {
            return Received::unopened(DropReason::Ended);
        }
        let received = self
            .conversation
            .hear(now, arrival.path, arrival.ecn, heard);
        self.settle(now);
        received
    }

    /// Makes an instruction of what is due; `None` if nothing is.
    fn load(&mut self, now: Time) -> Option<()> {
        self.settle(now);
        self.conversation.path_mtu.raise_in_time(now);
        let cause = self.deadlines.due(now)?;
        let path = self.conversation.path_for(cause)?;
        if self.conversation.wants_challenge() {
            let challenge = self.outbox.challenge();
            self.conversation.paths.set_challenge(challenge);
        }
        let composed = self.conversation.compose(now, path, cause);
        let Some(outgoing) = composed else {
            // A copy or a probe that is not sent: what else is due goes.
            return self.load(now);
        };
        let datagram_bytes = self.conversation.path_mtu.datagram_bytes();
        let cost = self.outbox.load(&outgoing, datagram_bytes);
        self.conversation.sent(now, &outgoing, cost);
        self.settle(now);
        Some(())
    }

    /// Sends shorter datagrams, and none of what is left of a longer instruction: the timers send the state again.
    /// Returns whether they were longer before.
    fn shorten(&mut self, now: Time) -> bool {
        self.outbox.drop_rest();
        self.conversation.path_mtu.refused(now)
    }

    fn emit(&mut self, now: Time, out: &mut Vec<u8>) -> Result<Option<Transmit>, SealError> {
        let transmit = self.outbox.emit(now, &mut self.conversation.clock, out)?;
        if let Some(transmit) = &transmit {
            let counters = &mut self.conversation.counters;
            counters.transmitted(transmit.datagrams(), transmit.length);
            if transmit.cause == Cause::SizeProbe {
                let sequence = transmit.numbers.sequence;
                self.conversation.path_mtu.probe_left(sequence);
                self.outbox.leap_from(sequence);
            }
        }
        Ok(transmit)
    }

    /// Ends what has run out, and sets the timers anew.
    fn settle(&mut self, now: Time) {
        self.inbox.expire(now);
        self.conversation.settle(now);
        self.deadlines = self.conversation.deadlines(now, self.inbox.expires());
    }
}

#[cfg(test)]
mod tests;
