//! One end of a conversation.

use fulmar_datagram::{Opener, Order, SealError, Sealer, Time};

use crate::cause::{Cause, DropReason};
use crate::clock::Clock;
use crate::counters::{Counters, tick};
use crate::event::{
    Arrival, Ending, Event, Events, Hint, InstructionReceived, Received, SendError, Transmit,
    Verdict,
};
use crate::hopping::Hopping;
use crate::inbox::{Heard, Inbox};
use crate::instruction::{Instruction, Numbers};
use crate::outbox::{Noise, Outbox};
use crate::path::Paths;
use crate::policy::difference_budget;
use crate::receiver::{Intake, Outcome, Receiver};
use crate::roaming::Roaming;
use crate::sender::{Acknowledged, Composed, Numbering, Sender, Trust};
use crate::shutdown::{Circumstances, Closing};
use crate::timing::{Deadlines, Doubt, Reach, Situation, frame_interval, schedule};
use crate::{Budget, PathId, RoundTrip, StateNumber, Synced};

/// Which end of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The one that begins, knows where the peer is, and never follows it.
    Client,
    /// The one that is found, and follows its peer.
    Server,
}

/// What an endpoint is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Which end.
    pub role: Role,
    /// The longest datagram to send, kept within 500 and 2048: see
    /// [`DATAGRAM_BYTES_IPV4`](fulmar_datagram::limits::DATAGRAM_BYTES_IPV4) and
    /// [`DATAGRAM_BYTES_IPV6`](fulmar_datagram::limits::DATAGRAM_BYTES_IPV6).
    pub datagram_bytes: usize,
}

/// One end of a conversation that keeps two objects equal at both ends: `L` changes here and is
/// copied there, `R` the other way round. Owns no socket, no clock, no thread, no randomness.
///
/// The methods are of five kinds:
///
/// - `handle_*` is told what happened: datagrams, errors, hints, the passing of time;
/// - commands: [`set_local`](Endpoint::set_local), [`set_intake`](Endpoint::set_intake),
///   [`forget_consumed`](Endpoint::forget_consumed), [`start_shutdown`](Endpoint::start_shutdown);
/// - `poll_transmit` gives datagrams to send;
/// - `poll_event` and `poll_timeout` give news and the time of the next wake-up;
/// - the others only look.
///
/// One turn of the owner's loop: hand over what has happened (one thing or a batch), fetch events,
/// set the local object, then drain `poll_transmit` until `None`, then sleep until `poll_timeout` at
/// the latest and call `handle_timeout`. After such a drain the next wake-up always lies in the
/// future.
///
/// A client begins when the edge has opened its first path ([`Hint::PathOpened`]), a server when the
/// first genuine datagram has arrived.
pub struct Endpoint<L, R> {
    role: Role,
    sender: Sender<L>,
    receiver: Receiver<R>,
    inbox: Inbox,
    outbox: Outbox,
    clock: Clock,
    paths: Paths,
    closing: Closing,
    contact: Contact,
    intake: Intake,
    deadlines: Deadlines,
    events: Events,
    counters: Counters,
    ended: Option<Ending>,
}

/// What is known of the peer's presence.
#[derive(Clone, Copy, Debug)]
struct Contact {
    /// Whether anything was ever sent.
    has_sent: bool,
    /// Whether what was sent last fitted into one datagram.
    was_small: bool,
    /// When the newest state of the peer arrived, if any has.
    heard: Option<Time>,
    /// Since when a state of the peer waits for its acknowledgement.
    unacknowledged_since: Option<Time>,
    doubt: Option<Doubt>,
}

impl<L: Synced, R: Synced> Endpoint<L, R> {
    /// Returns an endpoint at the beginning of a conversation, when both ends have `local` and
    /// `remote` as state 0.
    pub fn new(
        now: Time,
        config: Config,
        sealer: Sealer,
        opener: Opener,
        local: L,
        remote: R,
        noise: Box<dyn Noise>,
    ) -> Endpoint<L, R> {
        let paths = match config.role {
            Role::Client => Paths::Client(Hopping::new()),
            Role::Server => Paths::Server(Roaming::new()),
        };
        let mut endpoint = Endpoint {
            role: config.role,
            sender: Sender::new(now, local),
            receiver: Receiver::new(now, remote),
            inbox: Inbox::new(opener),
            outbox: Outbox::new(sealer, noise, config.datagram_bytes),
            clock: Clock::new(),
            paths,
            closing: Closing::default(),
            contact: Contact::new(now, config.role),
            intake: Intake::Open,
            deadlines: Deadlines::default(),
            events: Events::default(),
            counters: Counters::default(),
            ended: None,
        };
        endpoint.reschedule(now);
        endpoint
    }

    /// Takes in a datagram. Whatever it is, the conversation goes on.
    pub fn handle_datagram(&mut self, now: Time, arrival: Arrival<'_>) -> Received {
        self.counters.received(arrival.bytes.len());
        let received = self.receive(now, arrival);
        match received.verdict {
            Verdict::Fresh => tick(&mut self.counters.fresh),
            Verdict::Late => tick(&mut self.counters.late),
            Verdict::Dropped(reason) => self.counters.dropped.count(reason),
        }
        self.settle(now);
        received
    }

    /// Takes note that the system refused to send. Nothing is sent again at once; the timers see to
    /// it, in datagrams of 500 bytes from now on if that was the trouble.
    pub fn handle_send_error(&mut self, now: Time, path: PathId, error: SendError) {
        tick(&mut self.counters.send_errors);
        if self.paths.current() != Some(path) {
            return;
        }
        let doubt = self.contact.doubt.get_or_insert(Doubt::new(now, 1));
        doubt.is_failing = true;
        if error == SendError::TooBig && self.outbox.shorten() {
            *doubt = Doubt::new(now, 0);
        }
        self.reschedule(now);
    }

    /// Takes note of a change in the world.
    pub fn handle_hint(&mut self, now: Time, hint: Hint) {
        match hint {
            Hint::Woke { .. } => {
                self.clock.wake(now);
                self.contact.doubt_now(now);
            }
            Hint::AddressChanged | Hint::LinkUp => self.contact.doubt_now(now),
            Hint::PathOpened { path } => {
                let events = &mut self.events;
                self.paths
                    .opened(now, path, &mut |event| events.push(event));
            }
        }
        self.reschedule(now);
    }

    /// Takes note that time has passed.
    pub fn handle_timeout(&mut self, now: Time) {
        if let Some((due, cause)) = self.deadlines.earliest()
            && due <= now
        {
            self.counters.woken.count(cause);
        }
        self.inbox.expire(now);
        self.settle(now);
    }

    /// Takes over a snapshot of the local object. If the peer could not tell it from the one before,
    /// nothing happens; nor does it once a shutdown has begun.
    pub fn set_local(&mut self, now: Time, state: L) {
        if !self.closing.is_own() {
            self.sender.set_current(now, state);
            self.reschedule(now);
        }
    }

    /// Says whether new states of the peer are wanted at present.
    pub fn set_intake(&mut self, intake: Intake) {
        self.intake = intake;
    }

    /// Says that the owner has made use of all that the newest [`remote`](Endpoint::remote) state
    /// holds, so that its past may be forgotten.
    pub fn forget_consumed(&mut self) {
        self.receiver.forget_consumed();
    }

    /// Begins to end the conversation. The present local object is its last.
    pub fn start_shutdown(&mut self, now: Time) {
        self.closing.begin(now);
        self.settle(now);
    }

    /// Returns datagrams to send now, and puts them into `out` in place of what that held; `None` if
    /// there is nothing to send at present.
    pub fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> Option<Transmit> {
        if self.ended.is_some() {
            return None;
        }
        let transmit = match self.emit(now, out) {
            Ok(None) => {
                self.load(now)?;
                self.emit(now, out)
            }
            other => other,
        };
        match transmit {
            Ok(transmit) => transmit,
            Err(_) => {
                self.end(Ending::KeySpent);
                None
            }
        }
    }

    /// Returns the next news.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    /// Returns when the endpoint next wants to be woken, and what for.
    pub fn poll_timeout(&self) -> Option<(Time, Cause)> {
        self.deadlines.earliest()
    }

    /// Returns the newest state of the peer's object.
    pub fn remote(&self) -> &R {
        self.receiver.newest()
    }

    /// Returns the number of the newest state of the peer's object.
    pub fn remote_number(&self) -> StateNumber {
        self.receiver.newest_number()
    }

    /// Returns the local object as it was last set.
    pub fn local(&self) -> &L {
        self.sender.current()
    }

    /// Returns the newest state of the local object that the peer has acknowledged.
    pub fn acknowledged(&self) -> &L {
        self.sender.acknowledged()
    }

    /// Returns the number of the newest state of the local object that the peer has acknowledged.
    pub fn acknowledged_number(&self) -> StateNumber {
        self.sender.acknowledged_number()
    }

    /// Returns the number of the state of the local object that was sent last.
    pub fn sent_number(&self) -> StateNumber {
        self.sender.sent_number()
    }

    /// Returns when the newest acknowledged state was last sent: the newest proof that the way there
    /// and back works.
    pub fn proven_at(&self) -> Time {
        self.sender.acknowledged_sent_at()
    }

    /// Returns when the newest state of the peer arrived, if any has.
    pub fn heard_at(&self) -> Option<Time> {
        self.contact.heard
    }

    /// Returns the measured round trip.
    pub fn round_trip(&self) -> &RoundTrip {
        self.clock.round_trip()
    }

    /// Returns where datagrams are sent at present.
    pub fn path(&self) -> Option<PathId> {
        self.paths.current()
    }

    /// Returns how the conversation has ended, if it has.
    pub fn ending(&self) -> Option<Ending> {
        self.ended
    }

    /// Returns what has been counted.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the sender, to look at.
    pub fn sender(&self) -> &Sender<L> {
        &self.sender
    }

    /// Returns the receiver, to look at.
    pub fn receiver(&self) -> &Receiver<R> {
        &self.receiver
    }

    fn receive(&mut self, now: Time, arrival: Arrival<'_>) -> Received {
        if self.ended.is_some() {
            return Received::unopened(DropReason::Ended);
        }
        let Heard {
            sequence,
            order,
            stamps,
            fragment,
            instruction,
        } = match self.inbox.receive(now, arrival.bytes) {
            Ok(heard) => heard,
            Err(error) => return Received::unopened(error.into()),
        };
        let events = &mut self.events;
        if order == Order::InOrder {
            self.clock.hear(now, stamps, arrival.ecn);
            self.paths
                .heard(now, arrival.path, &mut |event| events.push(event));
        }
        let mut incoming = Incoming {
            now,
            path: arrival.path,
            order,
            intake: self.intake,
            sender: &mut self.sender,
            receiver: &mut self.receiver,
            paths: &mut self.paths,
            closing: &mut self.closing,
            contact: &mut self.contact,
            events,
            counters: &mut self.counters,
        };
        let (verdict, instruction) = match instruction {
            Ok(Some(instruction)) => incoming.apply(instruction),
            Ok(None) => (incoming.verdict(), None),
            Err(reason) => (Verdict::Dropped(reason), None),
        };
        Received {
            verdict,
            sequence: Some(sequence),
            fragment: Some(fragment),
            instruction,
        }
    }

    /// Makes an instruction of what is due; `None` if nothing is.
    fn load(&mut self, now: Time) -> Option<()> {
        self.settle(now);
        let path = self.paths.current()?;
        let (due, cause) = self.deadlines.earliest()?;
        if due > now || !is_send(cause) {
            return None;
        }
        let Composed {
            source,
            target,
            is_new,
            throwaway,
            difference,
        } = self.compose(now, cause);
        let numbers = Numbers {
            source,
            target,
            acknowledged: self.receiver.pledge(),
            throwaway,
        };
        let cost = self.outbox.load(path, cause, numbers, &difference);
        self.counters.sent.count(cause);
        self.contact.sent(cost.datagrams);
        if self.closing.sent(now) {
            self.events.push(Event::PeerShutdown);
        }
        let (events, proven) = (&mut self.events, self.sender.acknowledged_sent_at());
        self.paths.sent(
            now,
            cost.bytes,
            is_new.then_some(target),
            proven,
            &mut |event| {
                events.push(event);
            },
        );
        self.settle(now);
        Some(())
    }

    fn compose(&mut self, now: Time, cause: Cause) -> Composed {
        let in_doubt = matches!(cause, Cause::First | Cause::FirstRepeat | Cause::Probe);
        let numbering = if self.closing.is_own() {
            Numbering::Shutdown
        } else if in_doubt {
            Numbering::New
        } else {
            Numbering::Repeat
        };
        let trust = if in_doubt {
            Trust::Acknowledged
        } else {
            self.trust()
        };
        let budget = self.budget().unwrap_or(Budget::of_bytes(0));
        self.sender.compose(now, trust, numbering, budget)
    }

    fn emit(&mut self, now: Time, out: &mut Vec<u8>) -> Result<Option<Transmit>, SealError> {
        let transmit = self.outbox.emit(now, &mut self.clock, out)?;
        if let Some(transmit) = &transmit {
            self.counters
                .transmitted(transmit.datagrams(), transmit.length);
        }
        Ok(transmit)
    }

    fn budget(&self) -> Option<Budget> {
        let datagram_bytes = self.outbox.datagram_bytes();
        difference_budget(self.role, self.paths.allowance(), datagram_bytes)
    }

    fn trust(&self) -> Trust {
        Trust::Recent(self.clock.round_trip().timeout())
    }

    /// Ends the conversation if that is due, and sets the timers anew.
    fn settle(&mut self, now: Time) {
        if self.ended.is_none()
            && let Some(ending) = self.closing.ending(self.circumstances(now))
        {
            self.end(ending);
        }
        self.reschedule(now);
    }

    fn end(&mut self, ending: Ending) {
        self.ended = Some(ending);
        self.deadlines = Deadlines::default();
        self.events.push(Event::Ended(ending));
    }

    fn reschedule(&mut self, now: Time) {
        if self.ended.is_none() {
            self.deadlines = schedule(&self.situation(now));
        }
    }

    fn circumstances(&self, now: Time) -> Circumstances {
        let round_trip = self.clock.round_trip();
        Circumstances {
            now,
            role: self.role,
            is_acknowledged: self.sender.acknowledged_number() == StateNumber::SHUTDOWN,
            last_sent: self.sender.sent_at(),
            interval: frame_interval(round_trip.smoothed()),
            timeout: round_trip.timeout(),
        }
    }

    fn situation(&self, now: Time) -> Situation {
        let round_trip = self.clock.round_trip();
        Situation {
            now,
            role: self.role,
            reach: self.reach(),
            has_sent: self.contact.has_sent,
            last_sent: self.sender.sent_at(),
            was_small: self.contact.was_small,
            standing: self.sender.standing(now, self.trust()),
            last_change: self.sender.last_change(),
            interval: frame_interval(round_trip.smoothed()),
            timeout: round_trip.timeout(),
            heard: self.contact.heard,
            unacknowledged_since: self.contact.unacknowledged_since,
            doubt: self.contact.doubt,
            assembly_expiry: self.inbox.expires(),
            own_shutdown: self.closing.own(),
            owes_answer: self.closing.owes_answer(),
            answered: self.closing.answered(),
        }
    }

    fn reach(&self) -> Reach {
        match (self.paths.current(), self.budget()) {
            (None, _) => Reach::Nowhere,
            (Some(_), None) => Reach::Heartbeats,
            (Some(_), Some(_)) => Reach::Open,
        }
    }
}

/// Tells whether something is sent for that cause.
fn is_send(cause: Cause) -> bool {
    !matches!(
        cause,
        Cause::AssemblyExpiry | Cause::ShutdownLimit | Cause::LingerEnd
    )
}

impl Contact {
    /// Returns what is known at the beginning: a client does not know whether its way works, a server
    /// does not send before it does.
    fn new(now: Time, role: Role) -> Contact {
        let doubt = match role {
            Role::Client => Some(Doubt::new(now, 0)),
            Role::Server => None,
        };
        Contact {
            has_sent: false,
            was_small: true,
            heard: None,
            unacknowledged_since: None,
            doubt,
        }
    }

    fn doubt_now(&mut self, now: Time) {
        self.doubt = Some(Doubt::new(now, 0));
    }

    fn sent(&mut self, datagrams: usize) {
        self.has_sent = true;
        self.was_small = datagrams == 1;
        self.unacknowledged_since = None;
        if let Some(doubt) = &mut self.doubt {
            doubt.tries = doubt.tries.saturating_add(1);
            doubt.is_failing = false;
            doubt.is_costly = datagrams > 1;
        }
    }
}

impl Doubt {
    fn new(since: Time, tries: u32) -> Doubt {
        Doubt {
            since,
            tries,
            is_failing: false,
            is_costly: false,
        }
    }
}

/// The parts that an instruction touches.
struct Incoming<'a, L, R> {
    now: Time,
    path: PathId,
    order: Order,
    intake: Intake,
    sender: &'a mut Sender<L>,
    receiver: &'a mut Receiver<R>,
    paths: &'a mut Paths,
    closing: &'a mut Closing,
    contact: &'a mut Contact,
    events: &'a mut Events,
    counters: &'a mut Counters,
}

impl<L: Synced, R: Synced> Incoming<'_, L, R> {
    fn verdict(&self) -> Verdict {
        match self.order {
            Order::InOrder => Verdict::Fresh,
            Order::Late => Verdict::Late,
        }
    }

    fn apply(&mut self, instruction: Instruction<'_>) -> (Verdict, Option<InstructionReceived>) {
        let Instruction {
            numbers,
            difference,
            ..
        } = instruction;
        if !numbers.contradict() {
            self.acknowledge(numbers.acknowledged);
        }
        let accepted = self
            .receiver
            .accept(self.now, numbers, difference, self.intake);
        let received = InstructionReceived {
            numbers,
            difference_bytes: difference.len(),
            outcome: accepted.as_ref().ok().copied(),
        };
        let verdict = match accepted {
            Ok(outcome) => {
                self.advance(numbers.target, outcome, !difference.is_empty());
                self.verdict()
            }
            Err(refusal) => Verdict::Dropped(refusal.into()),
        };
        (verdict, Some(received))
    }

    fn acknowledge(&mut self, number: StateNumber) {
        let known = self.sender.acknowledge(number);
        if known != Acknowledged::Unknown {
            let events = &mut *self.events;
            self.paths
                .acknowledged(self.path, number, &mut |event| events.push(event));
        }
        if let Acknowledged::Newer { sent_at } = known {
            self.contact.doubt = self.contact.doubt.filter(|doubt| sent_at < doubt.since);
        }
    }

    fn advance(&mut self, target: StateNumber, outcome: Outcome, has_content: bool) {
        match outcome {
            Outcome::Newest => {
                tick(&mut self.counters.advanced);
                self.contact.heard = Some(self.now);
                self.events.push(Event::RemoteAdvanced { number: target });
            }
            Outcome::Duplicate => tick(&mut self.counters.duplicates),
            Outcome::Behind => return,
        }
        // A fresh datagram with a state that we have means that the peer does not know it.
        let is_news = outcome == Outcome::Newest || self.order == Order::InOrder;
        if has_content && is_news {
            self.contact.unacknowledged_since.get_or_insert(self.now);
        }
        if target == StateNumber::SHUTDOWN && is_news {
            self.closing.hear();
        }
    }
}

#[cfg(test)]
mod tests;
