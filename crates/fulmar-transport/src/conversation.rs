//! A conversation: everything between an instruction that arrived and an instruction to send.

use std::time::Duration;

use fulmar_base::{Ecn, Hint, PathId, Time};
use fulmar_datagram::DatagramOrder;

use crate::cause::{Cause, DropReason};
use crate::challenge::{Challenge, Responses};
use crate::clock::Clock;
use crate::congestion::Congestion;
use crate::counters::{Counters, tick};
use crate::departure::Departure;
use crate::dialect::{Addition, Dialect, Handshake};
use crate::ending::Ending;
use crate::event::{DatagramVerdict, EndpointEvent, Events, InstructionReceived, Received};
use crate::hopping::Hopping;
use crate::idle::{Idle, Question};
use crate::inbox::Heard;
use crate::instruction::{Instruction, Numbers};
use crate::limits::{
    ANSWER_FRAMES, COPY_DIFFERENCE_BYTES, INSTRUCTION_WORK_MAX, MUCH_INPUT_BYTES,
    PROBE_DIFFERENCE_BYTES, RETRY_MARGIN,
};
use crate::liveness::Liveness;
use crate::loss::LossEstimate;
use crate::outbox::{Cost, Outgoing};
use crate::path::Paths;
use crate::path_mtu::PathMtu;
use crate::policy::{difference_budget, window};
use crate::probe_answer::ProbeAnswer;
use crate::receiver::{Intake, Receiver, Refusal, StateOutcome};
use crate::redundancy::{Redundancy, copies};
use crate::roaming::Roaming;
use crate::sender::{Acknowledged, ChainState, Composed, Numbering, Sender, Trust};
use crate::shutdown::{Circumstances, Closing};
use crate::terms::Terms;
use crate::timing::{
    Deadlines, SendPermission, TimerInput, answer_timeout, backed_off, frame_interval,
    hop_interval, is_active, is_opening, schedule,
};
use crate::{Budget, Role, RoundTrip, StateNumber, Synced, WorkBudget};

use links::LinkPass;

mod links;
mod sizes;

/// Joins the objects, the paths, the clock and the end of a conversation. Asks each of them and
/// forwards; knows nothing of bytes.
pub(crate) struct Conversation<L, R> {
    pub(crate) role: Role,
    pub(crate) sender: Sender<L>,
    pub(crate) receiver: Receiver<R>,
    pub(crate) clock: Clock,
    pub(crate) congestion: Congestion,
    loss: LossEstimate,
    redundancy: Redundancy,
    links: LinkPass,
    /// The time that acknowledgements take.
    pub(crate) answers: RoundTrip,
    /// The number of frames that still count as the answer to a key.
    pub(crate) answer_frames: u8,
    pub(crate) paths: Paths,
    pub(crate) path_mtu: PathMtu,
    pub(crate) closing: Closing,
    pub(crate) handshake: Handshake,
    pub(crate) liveness: Liveness,
    /// True if pauses were agreed on, if the peer shows that it has agreed.
    agrees_on_idle: bool,
    /// True if challenges were, too.
    agrees_on_challenge: bool,
    responses: Responses,
    /// True if either end may probe the path's MTU, if the peer shows that it has agreed.
    agrees_on_sizes: bool,
    probe_answer: ProbeAnswer,
    pub(crate) idle: Idle,
    pub(crate) intake: Intake,
    pub(crate) events: Events,
    pub(crate) counters: Counters,
    pub(crate) ended: Option<Ending>,
}

/// The part of the missing difference that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// As much as the path allows.
    Whole,
    /// One link of what is long, on a path that loses datagrams.
    Link,
    /// As much as a probe can carry.
    Probe,
    /// Nothing but a number.
    Number,
}

impl<L: Synced, R: Synced> Conversation<L, R> {
    pub(crate) fn new(
        now: Time,
        role: Role,
        datagram_bytes: usize,
        agreement: Option<Terms>,
        local: L,
        remote: R,
    ) -> Conversation<L, R> {
        let paths = match role {
            Role::Client => Paths::Client(Hopping::new()),
            Role::Server => Paths::Server(Roaming::new()),
        };
        Conversation {
            role,
            sender: Sender::new(now, local, window(role)),
            receiver: Receiver::new(now, remote),
            clock: Clock::new(),
            congestion: Congestion::new(),
            loss: LossEstimate::default(),
            redundancy: Redundancy::new(now),
            links: LinkPass::new(),
            answers: RoundTrip::new(),
            answer_frames: 0,
            paths,
            path_mtu: PathMtu::new(datagram_bytes),
            closing: Closing::default(),
            handshake: Handshake::new(agreement.map(|terms| terms.digest)),
            liveness: Liveness::new(now, role),
            agrees_on_idle: agreement.is_some_and(|terms| terms.idle),
            agrees_on_challenge: agreement.is_some_and(|terms| terms.challenge),
            responses: Responses::default(),
            agrees_on_sizes: agreement.is_some_and(|terms| terms.sizes),
            probe_answer: ProbeAnswer::default(),
            idle: Idle::Off,
            intake: Intake::Open,
            events: Events::default(),
            counters: Counters::default(),
            ended: None,
        }
    }

    /// Takes in a genuine datagram.
    pub(crate) fn hear(&mut self, now: Time, path: PathId, ecn: Ecn, heard: Heard<'_>) -> Received {
        self.loss.hear(heard.sequence, heard.order);
        // A late or repeated datagram sets no timestamp, address or sign of life
        // (docs/threat-model.md §7).
        if heard.order == DatagramOrder::InOrder {
            let measured = self.clock.hear(now, heard.stamps, ecn);
            let timeout = self.clock.round_trip().timeout();
            let patience = timeout + self.excused() + self.idle.held_back();
            self.congestion.heard(now, patience);
            if let Some(round_trip) = measured {
                self.congestion.measured(now, round_trip);
            }
            self.liveness.found_alive(now, timeout);
            let before = self.paths.current();
            self.paths.heard(now, path, &mut self.events);
            if self.paths.current() != before {
                self.liveness.moved(now);
                self.idle.moved();
                self.congestion.moved();
                self.path_mtu.path_changed();
            }
        }
        let genuine = match heard.order {
            DatagramOrder::InOrder => DatagramVerdict::Fresh,
            DatagramOrder::Late => DatagramVerdict::Late,
        };
        let mut work = WorkBudget::new(INSTRUCTION_WORK_MAX);
        let mut received = Received {
            verdict: genuine,
            sequence: Some(heard.sequence),
            order: Some(heard.order),
            fragment: Some(heard.fragment),
            instruction: None,
            work: 0,
        };
        match heard.instruction {
            Ok(Some(instruction)) => {
                let outcome = self.take(now, path, heard.order, instruction, &mut work);
                if heard.order == DatagramOrder::InOrder {
                    self.hear_probe(now, heard.sequence, instruction.extensions);
                }
                received.instruction = Some(InstructionReceived {
                    numbers: instruction.numbers,
                    difference_bytes: instruction.difference.len(),
                    outcome: outcome.ok(),
                });
                received.verdict = outcome.map_or_else(DatagramVerdict::Dropped, |_| genuine);
            }
            Ok(None) => {}
            Err(reason) => received.verdict = DatagramVerdict::Dropped(reason),
        }
        received.work = heard.inflated_bytes as u64 + work.spent();
        received
    }

    /// Takes note of a change in the world.
    pub(crate) fn hint(&mut self, now: Time, hint: Hint) {
        self.idle.path_changed();
        self.path_mtu.path_changed();
        match hint {
            Hint::Woke { .. } => {
                self.clock.wake(now);
                self.liveness.probe_path(now);
            }
            Hint::AddressChanged | Hint::LinkUp => self.liveness.probe_path(now),
        }
    }

    /// Takes note that what changes next is the answer to a key.
    pub(crate) fn expect_echo(&mut self) {
        self.answer_frames = ANSWER_FRAMES;
    }

    /// Takes note that the edge has opened a path.
    pub(crate) fn path_opened(&mut self, now: Time, path: PathId) {
        if self.paths.current().is_some() {
            self.path_mtu.path_changed();
        }
        self.paths.opened(now, path, &mut self.events);
    }

    /// Returns the instruction to send for that cause, which counts as sent from then on; `None` for a copy that
    /// would be long.
    pub(crate) fn compose(&mut self, now: Time, path: PathId, cause: Cause) -> Option<Outgoing> {
        // On a path that may be dead nothing is assumed to have arrived. A new number makes the
        // peer answer even if it has the state already.
        let is_uncertain = matches!(cause, Cause::First | Cause::FirstRepeat | Cause::Probe);
        let is_small_retry = cause == Cause::Retry && self.liveness.large.is_none();
        let trust = if is_uncertain || is_small_retry {
            Trust::NONE
        } else {
            self.trust()
        };
        let numbering = match (self.closing.own(), is_uncertain) {
            (Some(_), _) => Numbering::Shutdown,
            (None, true) => Numbering::New,
            (None, false) => Numbering::Repeat,
        };
        let padded_to = match cause {
            Cause::SizeProbe => Some(self.begin_size_probe(now)?),
            _ => None,
        };
        if cause == Cause::Frame && self.is_answer() {
            self.answer_frames -= 1;
        }
        let asks_shortly = self.asks_shortly(now, cause);
        let budget = self.budget();
        // Without a budget only heartbeats may go there: an empty difference.
        let budget = budget.unwrap_or(Budget::of_bytes(0));
        let extent = if asks_shortly {
            Extent::Probe
        } else {
            self.extent(now, cause, trust, budget)
        };
        if extent != Extent::Link {
            // The next link would be due at once again.
            self.sender.pause_chain();
        }
        let composed = match extent {
            Extent::Link => self.compose_link(now, cause, trust, budget)?,
            _ if cause == Cause::Copy => {
                let budget = budget.min(Budget::of_bytes(COPY_DIFFERENCE_BYTES));
                let copy = self.sender.compose_copy(now, budget);
                if copy.is_none() {
                    self.redundancy.stop();
                }
                copy?
            }
            Extent::Number => self.sender.compose_number(now),
            Extent::Probe if budget.allows(PROBE_DIFFERENCE_BYTES) => {
                self.sender.compose_probe(now)
            }
            _ => self.sender.compose(now, trust, numbering, budget),
        };
        let Composed {
            source,
            target,
            is_new,
            throwaway,
            difference,
        } = composed;
        // A repetition may be lost and its state be there all the same, and so may a state before the
        // last one.
        let carried_by = if is_new {
            target
        } else {
            self.sender.sent_number().next()
        };
        let acknowledged = self.receiver.pledge(now, carried_by);
        Some(Outgoing {
            path,
            cause,
            numbers: Numbers {
                source,
                target,
                acknowledged,
                throwaway,
            },
            difference,
            addition: self.addition(path, cause, target),
            is_new,
            padded_to,
        })
    }

    /// Takes note of what sending an instruction costs.
    pub(crate) fn sent(&mut self, now: Time, outgoing: &Outgoing, cost: Cost) {
        self.counters.sent.count(outgoing.cause);
        let has_content = !outgoing.difference.is_empty();
        let question = Question::of(outgoing.addition.silence.is_some(), has_content);
        self.idle.sent(now, question);
        if outgoing.addition.challenge.is_some() || outgoing.cause == Cause::Response {
            self.responses.returned(now);
        }
        self.probe_answer.sent(now);
        self.liveness.sent(now, cost.datagrams, question.is_some());
        if cost.datagrams > 1 {
            // What is large is a new page, of which what follows is the rest, or a flood.
            self.answer_frames = 0;
        }
        if matches!(outgoing.cause, Cause::Frame | Cause::Resend | Cause::Retry) {
            self.sender.note_try(now);
        }
        if has_content {
            let number = outgoing.numbers.target;
            self.congestion.sent(now, number, cost.bytes);
        }
        self.note_length(now, outgoing, cost);
        if has_content || matches!(outgoing.cause, Cause::Copy | Cause::Retry) {
            self.plan_copies(now, outgoing.cause, cost);
        }
        if self.closing.sent(now) {
            self.events.push(EndpointEvent::PeerShutdown);
        }
        let departure = Departure {
            bytes: cost.bytes,
            // Only what was never sent elsewhere can prove a path (docs/threat-model.md §7).
            news: outgoing.is_new.then_some(outgoing.numbers.target),
            proven: self.unproven_since(),
            excused: self.excused(),
            hop_interval: hop_interval(self.clock.round_trip().smoothed()),
        };
        self.paths.sent(now, departure, &mut self.events);
    }

    /// Ends the conversation if its time has come.
    pub(crate) fn settle(&mut self, now: Time) {
        if self.idle.only_answers() {
            self.paths.expire(now, self.excused());
        }
        if self.ended.is_none()
            && let Some(ending) = self.closing.ending(self.circumstances(now))
        {
            self.end(self.handshake.ending(ending));
        }
    }

    /// Goes on after its end for a peer that is heard and did not answer the goodbye, to say it again. Returns whether
    /// it goes on.
    pub(crate) fn revive(&mut self, now: Time) -> bool {
        let ended = self.ended;
        let revives = ended.is_some_and(|ended| self.closing.begin_again(now, ended));
        if revives {
            self.ended = None;
        }
        revives
    }

    pub(crate) fn end(&mut self, ending: Ending) {
        self.ended = Some(ending);
        self.events.push(EndpointEvent::Ended(ending));
    }

    /// Returns when what is to happen.
    pub(crate) fn deadlines(&self, now: Time, assembly_expiry: Option<Time>) -> Deadlines {
        if self.ended.is_some() {
            return Deadlines::default();
        }
        let round_trip = self.clock.round_trip();
        schedule(&TimerInput {
            now,
            role: self.role,
            permission: self.permission(),
            has_sent: self.liveness.has_sent,
            last_sent: self.sender.sent_at(),
            large: self.liveness.large,
            sync_state: self.sender.sync_state(now, self.trust()),
            last_change: self.sender.last_change(),
            last_content: self.sender.content_at(),
            round_trip: round_trip.smoothed(),
            interval: frame_interval(round_trip.smoothed()),
            is_answer: self.is_answer(),
            is_echo: self.is_echo(),
            retry_pause: self.retry_pause(),
            retries: self.liveness.retries,
            copy: self.redundancy.due(),
            chain: self.chain(),
            chain_cause: self.links.cause,
            oldest_link: self.sender.oldest_link_at(),
            window_opens: self.window_opens(now),
            is_opening: is_opening(self.role, self.sender.sent_number()),
            timeout: round_trip.timeout(),
            heard: self.silent_since(),
            silence: self
                .idle
                .own_silence(self.sender.sent_at(), round_trip.timeout()),
            asked: [self.idle.asked(), self.probe_answer.due()]
                .into_iter()
                .flatten()
                .min(),
            size_probe: self.size_probe_due(now),
            challenged: self.responses.due(),
            unacknowledged_since: self.liveness.unacknowledged_since,
            owes_for_much_input: self.liveness.owes_for_much,
            path_probe: self.liveness.path_probe,
            assembly_expiry,
            own_shutdown: self.closing.own(),
            owes_answer: self.closing.owes_answer(),
            answered: self.closing.answered(),
        })
    }

    /// Returns the time from which on the peer's silence counts; `None` before its first state.
    pub(crate) fn silent_since(&self) -> Option<Time> {
        let heard = self.liveness.heard?;
        Some(self.idle.silent_since(heard, self.sender.sent_at()))
    }

    /// Returns the time from which on a round trip is missing.
    pub(crate) fn unproven_since(&self) -> Time {
        let proven = self.sender.acknowledged_sent_at();
        self.idle.unproven_since(proven, self.sender.sent_at())
    }

    /// Returns how much of the peer's silence was announced.
    pub(crate) fn excused(&self) -> Duration {
        let excused = |heard| self.silent_since().map(|since| since.since(heard));
        self.liveness.heard.and_then(excused).unwrap_or_default()
    }

    /// Returns our own fields of an instruction to that state.
    fn addition(&self, path: PathId, cause: Cause, target: StateNumber) -> Addition {
        let acknowledged = self.sender.acknowledged_number();
        let is_ping = matches!(cause, Cause::Heartbeat | Cause::Probe);
        Addition {
            silence: self.idle.silence().filter(|_| is_ping),
            moves: self.idle.moves(),
            challenge: self.challenge(path),
            probed: self.probe_answer.owed(),
            ..self.handshake.addition(target, acknowledged)
        }
    }

    /// Tells whether the current path is to be challenged, and nothing is there to do it with.
    pub(crate) fn wants_challenge(&self) -> bool {
        self.uses_challenges() && self.paths.want_challenge()
    }

    /// Returns where to send for that cause. A challenge is returned on the path on which it came.
    pub(crate) fn path_for(&self, cause: Cause) -> Option<PathId> {
        let came_on = self.responses.path().filter(|_| cause == Cause::Response);
        let is_open = |path: &PathId| self.paths.are_open(*path);
        came_on.filter(is_open).or(self.paths.current())
    }

    fn uses_challenges(&self) -> bool {
        self.agrees_on_challenge && self.handshake.dialect() == Dialect::Native
    }

    /// Returns what is to validate the path, or to prove that it is ours.
    fn challenge(&self, path: PathId) -> Option<Challenge> {
        match self.role {
            Role::Client => self.responses.for_path(path),
            Role::Server => self.paths.challenge(),
        }
    }

    fn hear_challenge(&mut self, now: Time, path: PathId, order: DatagramOrder, heard: Challenge) {
        match self.role {
            _ if !self.uses_challenges() => {}
            Role::Client if order == DatagramOrder::InOrder => {
                self.responses.hear(now, path, heard);
            }
            Role::Client => {}
            Role::Server => self.paths.responded(path, heard, &mut self.events),
        }
    }

    /// Applies an instruction.
    fn take(
        &mut self,
        now: Time,
        path: PathId,
        order: DatagramOrder,
        instruction: Instruction<'_>,
        work: &mut WorkBudget,
    ) -> Result<StateOutcome, DropReason> {
        let Instruction {
            numbers,
            difference,
            extensions,
            ..
        } = instruction;
        // First, as it decides what of the instruction may be made use of.
        if let Some(dialect) = self.handshake.hear(extensions) {
            self.speak(now, dialect);
        }
        if order == DatagramOrder::InOrder {
            self.idle.hear(now, extensions);
        }
        if let Some(challenge) = extensions.challenge {
            self.hear_challenge(now, path, order, challenge);
        }
        // Also where the difference is refused later on: what the peer has does not depend on that
        // (docs/protocol.md §5.2).
        if !numbers.contradict() {
            self.acknowledge(now, path, numbers.acknowledged);
        }
        let admitted = self.handshake.admit(numbers.target, difference);
        let difference = admitted.ok_or(DropReason::NotAgreed)?;
        let outcome = self
            .receiver
            .accept(now, numbers, difference, self.intake, work);
        if outcome == Err(Refusal::SourceMissing) && order == DatagramOrder::InOrder {
            // It believes that we have more than we do, and waits to hear of it.
            self.liveness.owe_acknowledgement(now);
        }
        let outcome = outcome?;
        if numbers.target == StateNumber::SHUTDOWN {
            self.handshake.hear_farewell(extensions);
        }
        self.advance(now, numbers.target, outcome);
        if outcome == StateOutcome::Newest {
            self.idle.advanced(!difference.is_empty());
        }
        let is_waiting = match outcome {
            StateOutcome::Newest => true,
            // It does not know that we have the state, unless this was sent before it knew.
            StateOutcome::Duplicate => order == DatagramOrder::InOrder,
            StateOutcome::Behind => false,
        };
        if is_waiting {
            self.answer(now, numbers.target, difference.len());
        }
        Ok(outcome)
    }

    /// Takes note of what will be spoken; there is nothing to say but goodbye if the ends have not
    /// seen the same agreement.
    fn speak(&mut self, now: Time, dialect: Dialect) {
        self.events.push(EndpointEvent::DialectDecided { dialect });
        match dialect {
            Dialect::Altered => self.closing.begin(now),
            Dialect::Native => {
                if self.agrees_on_idle {
                    self.idle = Idle::agreed(self.role);
                }
                if self.agrees_on_sizes {
                    self.path_mtu.allow_probes();
                }
            }
            Dialect::Undecided | Dialect::Legacy => {}
        }
    }

    fn acknowledge(&mut self, now: Time, path: PathId, number: StateNumber) {
        let acknowledged = self.sender.acknowledge(now, number);
        // A number that may never have been sent proves no path (docs/threat-model.md §7).
        if acknowledged != Acknowledged::Unknown {
            self.paths.acknowledged(path, number, &mut self.events);
        }
        if let Acknowledged::Newer { sent_at } = acknowledged {
            self.liveness.proven(sent_at);
            self.idle.proven(sent_at);
            if let Some(sent_at) = self.congestion.acknowledged(now, number) {
                self.answers.sample(now.since(sent_at));
            }
            self.judge_length(now, number);
            if std::mem::take(&mut self.links.is_alone) {
                self.sender.repeat_chain(now, self.skips_states());
            }
        }
    }

    fn advance(&mut self, now: Time, target: StateNumber, outcome: StateOutcome) {
        match outcome {
            StateOutcome::Newest => {
                tick(&mut self.counters.advanced);
                self.liveness.heard(now);
                self.events
                    .push(EndpointEvent::RemoteAdvanced { number: target });
            }
            StateOutcome::Duplicate => tick(&mut self.counters.duplicates),
            StateOutcome::Behind => {}
        }
    }

    /// Takes note that the peer waits for an answer.
    fn answer(&mut self, now: Time, target: StateNumber, difference_bytes: usize) {
        if self.role == Role::Server && difference_bytes >= MUCH_INPUT_BYTES {
            self.liveness.owe_acknowledgement_for_much(now);
        } else if difference_bytes > 0 {
            self.liveness.owe_acknowledgement(now);
        }
        if target == StateNumber::SHUTDOWN {
            self.closing.hear();
        }
    }

    /// Tells how much may be sent for that cause: what a probe can carry to a peer that has not been
    /// heard for as long as an active retry lasts, or that owes an acknowledgement of something large. Behind a full
    /// window a screen travels with nothing: else each key would add one to the queue, with its acknowledgement.
    /// The goodbye is no probe, nor is the first try of a path that may have changed.
    fn extent(&self, now: Time, cause: Cause, trust: Trust, budget: Budget) -> Extent {
        let timeout = self.clock.round_trip().timeout();
        if cause == Cause::SizeProbe {
            return Extent::Number;
        }
        let is_probe = match cause {
            _ if self.closing.own().is_some() => false,
            Cause::FirstRepeat => self.liveness.large.is_some(),
            Cause::Probe => self.liveness.path_probe.is_none_or(|probe| probe.tries > 0),
            _ => {
                let large = self.liveness.large;
                let heard = self.silent_since();
                large.is_some_and(|large| large.holds_back(now, timeout))
                    || heard.is_some() && !is_active(now, heard)
            }
        };
        if is_probe {
            Extent::Probe
        } else if self.is_link(now, cause, trust, budget) {
            Extent::Link
        } else if self.is_bookkeeping(now, cause) {
            Extent::Number
        } else {
            Extent::Whole
        }
    }

    /// Tells whether nothing but a number travels with an acknowledgement: behind a full window, and while links are on
    /// their way.
    fn is_bookkeeping(&self, now: Time, cause: Cause) -> bool {
        let is_busy = self.is_full(now) || self.chain() != ChainState::None;
        is_busy && is_sign_of_life(cause)
    }

    /// Returns the pause before what was sent last is sent again.
    fn retry_pause(&self) -> Duration {
        let timeout = self.clock.round_trip().timeout();
        if self.liveness.large.is_some() {
            return timeout + RETRY_MARGIN;
        }
        let last = match self.chain() {
            ChainState::None => self.sender.content_at(),
            _ => self.sender.oldest_link_at(),
        };
        let arrived = self.liveness.arrived;
        let usual = match self.role {
            Role::Client => self.answers.timeout(),
            // A client may hold back any acknowledgement, whatever it did before.
            Role::Server => timeout + RETRY_MARGIN,
        };
        let pause = answer_timeout(timeout, usual, last, arrived);
        backed_off(pause, self.liveness.retries)
    }

    /// Tells whether screens wait for the congestion window to open.
    fn is_full(&self, now: Time) -> bool {
        self.role == Role::Server && self.window_opens(now).is_some()
    }

    fn window_opens(&self, now: Time) -> Option<Time> {
        let timeout = self.clock.round_trip().timeout() + RETRY_MARGIN;
        self.congestion.opens(now, timeout)
    }

    /// Tells whether what has changed is the answer to a key, or a part of it.
    fn is_answer(&self) -> bool {
        self.answer_frames > 0 && self.sender.is_urgent()
    }

    /// Tells whether that is its echo. What comes after a first frame is more than an echo.
    fn is_echo(&self) -> bool {
        self.answer_frames == ANSWER_FRAMES && self.is_answer() && self.sender.is_echo()
    }

    fn trust(&self) -> Trust {
        Trust {
            timeout: self.clock.round_trip().timeout(),
            since: self.liveness.way_since,
            is_lossy: copies(self.loss.share()) > 0,
        }
    }

    fn budget(&self) -> Option<Budget> {
        difference_budget(self.paths.allowance(), self.path_mtu.datagram_bytes())
    }

    fn permission(&self) -> SendPermission {
        match (self.paths.current(), self.budget()) {
            (None, _) => SendPermission::Nowhere,
            (Some(_), None) => SendPermission::Heartbeats,
            (Some(_), Some(_)) => SendPermission::Open,
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
}

/// Tells whether something is sent for that cause even if nothing has changed.
fn is_sign_of_life(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::Acknowledgement | Cause::Heartbeat | Cause::Answer
    )
}
