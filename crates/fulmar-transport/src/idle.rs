//! Spares datagrams while nothing happens: the client asks after pauses that grow, and the server only answers.

use std::time::Duration;

use fulmar_base::Time;

use crate::Role;
use crate::extensions::Extensions;
use crate::limits::{HEARTBEAT_INTERVAL, IDLE_PAUSE_MAX, IDLE_PAUSE_STEP, RETRY_MARGIN};
use crate::timing::Silence;

/// The silence that two ends have agreed on, as one of them knows it.
///
/// ```text
///  client                                                server
///     │ ── ping: "silent for 9 s at most from here on" ──► │
///     │ ◄── answer: "you have moved twice so far" ──────── │
///     ·                                                    ·
/// ```
///
/// What is longer than a heartbeat of an announced pause counts nowhere as silence: neither in notices, nor before
/// a new port, nor before a client is forgotten.
///
/// Source: docs/protocol.md §13.8.
#[derive(Clone, Debug)]
pub(crate) enum Idle {
    /// Each end sends heartbeats.
    Off,
    /// We are the client.
    Asking(Asking),
    /// We are the server.
    Answering(Answering),
}

impl Idle {
    /// Returns what an end knows that has just learned that the peer has agreed, too.
    pub(crate) fn agreed(role: Role) -> Idle {
        match role {
            Role::Client => Idle::Asking(Asking::new()),
            Role::Server => Idle::Answering(Answering::default()),
        }
    }

    /// Takes in what an instruction of the peer says that is newer than all before.
    pub(crate) fn hear(&mut self, now: Time, extensions: Extensions<'_>) {
        match self {
            Idle::Off => {}
            Idle::Asking(asking) => asking.hear(extensions.moves),
            Idle::Answering(answering) => answering.hear(now, extensions.silence),
        }
    }

    /// Takes note of a newest state of the peer, and whether anything is different in it.
    pub(crate) fn advanced(&mut self, is_changed: bool) {
        if let Idle::Asking(asking) = self {
            asking.advanced(is_changed);
        }
    }

    /// Takes note that the peer has moved to another path.
    pub(crate) fn moved(&mut self) {
        if let Idle::Answering(answering) = self {
            answering.moves = answering.moves.saturating_add(1);
        }
    }

    /// Takes note that the way to the peer may have changed: what it does to pauses is not known.
    pub(crate) fn path_changed(&mut self) {
        if let Idle::Asking(asking) = self {
            asking.pauses = Pauses::new();
        }
    }

    /// Takes note that an instruction was sent.
    pub(crate) fn sent(&mut self, now: Time, question: Option<Question>) {
        match self {
            Idle::Off => {}
            Idle::Asking(asking) => asking.sent(now, question),
            Idle::Answering(answering) => answering.asked = None,
        }
    }

    /// Takes note that a state was acknowledged which was last sent at that time.
    pub(crate) fn proven(&mut self, sent_at: Time) {
        if let Idle::Asking(asking) = self {
            asking.proven(sent_at);
        }
    }

    /// Returns the longest silence to announce in a ping, in milliseconds.
    pub(crate) fn silence(&self) -> Option<u64> {
        match self {
            Idle::Asking(asking) => u64::try_from(asking.pauses.next().as_millis()).ok(),
            Idle::Off | Idle::Answering(_) => None,
        }
    }

    /// Returns how often the peer has moved, if it waits to hear that.
    pub(crate) fn moves(&self) -> Option<u64> {
        match self {
            Idle::Answering(answering) => answering.asked.map(|_| answering.moves),
            Idle::Off | Idle::Asking(_) => None,
        }
    }

    /// Returns since when a ping of the peer waits for its answer.
    pub(crate) fn asked(&self) -> Option<Time> {
        match self {
            Idle::Answering(answering) => answering.asked,
            Idle::Off | Idle::Asking(_) => None,
        }
    }

    /// Returns when our own silence ends.
    pub(crate) fn own_silence(&self, last_sent: Time, timeout: Duration) -> Silence {
        match self {
            Idle::Asking(asking) => Silence::Until(asking.next_ping(last_sent, timeout)),
            Idle::Answering(answering) if answering.announced.is_some() => Silence::Endless,
            Idle::Off | Idle::Answering(_) => Silence::Usual,
        }
    }

    /// Returns the time from which on the silence of a peer counts that was last heard at `heard`: then, or a heartbeat
    /// before it was to answer.
    pub(crate) fn silent_since(&self, heard: Time, last_sent: Time) -> Time {
        match self {
            Idle::Off => heard,
            Idle::Asking(asking) => {
                let asked = asking.unheard.unwrap_or(last_sent + asking.pauses.pause);
                heard.max(asked.saturating_sub(HEARTBEAT_INTERVAL))
            }
            Idle::Answering(answering) => heard + answering.excused(),
        }
    }

    /// Returns the time from which on a round trip is missing, if the last proven one began at `proven`: then, or at the
    /// first question since.
    pub(crate) fn unproven_since(&self, proven: Time, last_sent: Time) -> Time {
        match self {
            Idle::Asking(asking) => {
                let asked = asking.unproven.unwrap_or(last_sent + asking.pauses.pause);
                proven.max(asked)
            }
            Idle::Off | Idle::Answering(_) => proven,
        }
    }

    /// Returns how much later than a heartbeat a peer may be heard that sends none: what comes next may be an
    /// acknowledgement that it held back.
    pub(crate) fn held_back(&self) -> Duration {
        match self {
            Idle::Off => Duration::ZERO,
            Idle::Asking(_) | Idle::Answering(_) => RETRY_MARGIN,
        }
    }

    /// Tells whether heartbeats are left to the peer, so that it may be gone without our noticing.
    pub(crate) fn only_answers(&self) -> bool {
        matches!(self, Idle::Answering(answering) if answering.announced.is_some())
    }
}

/// A kind of instruction that the peer answers soon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// It says for how long we may be silent, and is answered at once.
    Ping,
    /// It brings something new, which is acknowledged.
    Content,
    /// It is both.
    PingWithContent,
}

impl Question {
    /// Returns what kind of question an instruction is, if it is any.
    pub(crate) fn of(is_ping: bool, has_content: bool) -> Option<Question> {
        match (is_ping, has_content) {
            (true, true) => Some(Question::PingWithContent),
            (true, false) => Some(Question::Ping),
            (false, true) => Some(Question::Content),
            (false, false) => None,
        }
    }
}

/// A client that asks.
#[derive(Clone, Debug)]
pub(crate) struct Asking {
    pauses: Pauses,
    /// The departure of the first question since the peer's newest state arrived.
    unheard: Option<Time>,
    /// The number of pings since then.
    pings: u32,
    last_ping: Time,
    last_question: Time,
    /// The departure of the first question that is not known to have been answered.
    unproven: Option<Time>,
}

impl Asking {
    fn new() -> Asking {
        Asking {
            pauses: Pauses::new(),
            unheard: None,
            pings: 0,
            last_ping: Time::ZERO,
            last_question: Time::ZERO,
            unproven: None,
        }
    }

    fn hear(&mut self, moves: Option<u64>) {
        let Some(moves) = moves else { return };
        // An acknowledgement may name an earlier ping (docs/protocol.md §5.2). That there is an answer is proof enough.
        self.unproven = None;
        if self.unheard.is_some() && self.pings > 0 {
            self.pauses.answered(moves);
        }
    }

    fn advanced(&mut self, is_changed: bool) {
        self.unheard = None;
        self.pings = 0;
        if is_changed {
            self.pauses.begin_anew();
        }
    }

    fn sent(&mut self, now: Time, question: Option<Question>) {
        let Some(question) = question else { return };
        self.last_question = now;
        self.unheard.get_or_insert(now);
        self.unproven.get_or_insert(now);
        if question != Question::Ping {
            self.pauses.begin_anew();
        }
        if question != Question::Content {
            self.pings = self.pings.saturating_add(1);
            self.last_ping = now;
        }
    }

    fn proven(&mut self, sent_at: Time) {
        let is_asking = self.last_question > sent_at;
        let first = self.unproven.filter(|_| is_asking);
        self.unproven = first.map(|first| first.max(sent_at));
    }

    fn next_ping(&self, last_sent: Time, timeout: Duration) -> Time {
        match (self.unheard, self.pings) {
            (None, _) => last_sent + self.pauses.pause,
            // Content has retries of its own. A server that does not take it at present still answers a ping.
            (Some(asked), 0) => asked + HEARTBEAT_INTERVAL.max(timeout + RETRY_MARGIN),
            (Some(_), pings) => self.last_ping + ping_retry_pause(timeout, pings),
        }
    }
}

/// Returns the pause after so many pings without an answer: the time for one, doubling to that between two heartbeats.
///
/// Source: docs/protocol.md §13.8.
fn ping_retry_pause(timeout: Duration, pings: u32) -> Duration {
    let pause = timeout + RETRY_MARGIN;
    let factor = 1_u32
        .checked_shl(pings.saturating_sub(1))
        .unwrap_or(u32::MAX);
    pause
        .saturating_mul(factor)
        .min(HEARTBEAT_INTERVAL.max(pause))
}

/// The pauses between two pings. Each is a step longer than one that the address translators on the way have been
/// seen to survive.
#[derive(Clone, Debug)]
struct Pauses {
    pause: Duration,
    /// The longest that is tried.
    longest: Duration,
    /// The number of times that the server had followed us, when it last said so.
    moves: Option<u64>,
}

impl Pauses {
    fn new() -> Pauses {
        Pauses {
            pause: HEARTBEAT_INTERVAL,
            longest: IDLE_PAUSE_MAX,
            moves: None,
        }
    }

    fn next(&self) -> Duration {
        (self.pause + IDLE_PAUSE_STEP).min(self.longest)
    }

    fn begin_anew(&mut self) {
        self.pause = HEARTBEAT_INTERVAL;
    }

    /// Takes in the answer to the ping after a pause. A server that has seen us move although we know of no change
    /// has seen another translation of our address: the pause was too long for the one before.
    fn answered(&mut self, moves: u64) {
        match self.moves.replace(moves) {
            None => {}
            Some(before) if before == moves => self.pause = self.next(),
            // A client that wanders while somebody types says nothing of longer pauses.
            Some(_) if self.pause == HEARTBEAT_INTERVAL => {}
            Some(_) => {
                let shorter = self.pause.saturating_sub(IDLE_PAUSE_STEP);
                self.longest = shorter.max(HEARTBEAT_INTERVAL);
                self.pause = self.longest;
            }
        }
    }
}

/// A server that answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answering {
    /// The longest pause of the client as it last said; `None` before its first ping.
    announced: Option<Duration>,
    /// The arrival of the first ping that waits for its answer.
    asked: Option<Time>,
    /// The number of times that the client has moved.
    moves: u64,
}

impl Answering {
    fn hear(&mut self, now: Time, silence: Option<u64>) {
        match silence {
            Some(millis) => {
                let silence = Duration::from_millis(millis);
                self.announced = Some(silence.clamp(HEARTBEAT_INTERVAL, IDLE_PAUSE_MAX));
                self.asked.get_or_insert(now);
            }
            None => self.announced = self.announced.map(|_| HEARTBEAT_INTERVAL),
        }
    }

    /// Returns how much of the client's silence means nothing.
    fn excused(&self) -> Duration {
        let announced = self.announced.unwrap_or(HEARTBEAT_INTERVAL);
        announced.saturating_sub(HEARTBEAT_INTERVAL)
    }
}

#[cfg(test)]
mod tests;
