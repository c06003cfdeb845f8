//! Decides when to send. Every rule is a function of named values, and a [`Deadlines`] table tells which of them comes
//! next and why.
//!
//! [`schedule`] puts the rules together. It is worked out anew after everything that happens; a rule
//! has no memory of its own.

use std::time::Duration;

use fulmar_base::Time;

use crate::Role;
use crate::cause::{Cause, Countable};
use crate::limits::{
    ACKNOWLEDGEMENT_DELAY, ACTIVE_RETRY, COLLECTION_DELAY, CONGESTED_INTERVAL_MAX, ECHO_QUIET,
    FRAME_INTERVAL_MAX, FRAME_INTERVAL_MIN, HEARTBEAT_INTERVAL, HOP_INTERVAL, LARGE_PAUSE_MAX,
    LINGER_MAX, OPENING_STATES_MAX, PROBE_INTERVAL_MAX, PROBE_INTERVAL_MIN, PROMPT_INTERVAL,
    REFUSED_PAUSE_MAX, REPEAT_MAX, REPEAT_MIN, RETRY_MARGIN, RETRY_PAUSE_MAX, SHUTDOWN_AGE_MAX,
    SHUTDOWN_TRIES_MAX,
};
use crate::rtt::whole_millis;
use crate::sender::{ChainState, SyncState};
use crate::state_number::StateNumber;

/// A moment, and what is to happen then.
pub type Due = (Time, Cause);

/// Returns the pause between two frames: half the smoothed round trip in whole milliseconds, within
/// 20 ms and 250 ms.
///
/// Source: docs/protocol.md §5.4.
pub fn frame_interval(smoothed: Duration) -> Duration {
    whole_millis(smoothed / 2).clamp(FRAME_INTERVAL_MIN, FRAME_INTERVAL_MAX)
}

/// Tells whether a frame after so many states is one of the first of a server, which wait for others
/// to travel with and for no interval: a shell's prompt comes a moment after the empty screen.
///
/// Source: docs/protocol.md §5.4.
pub(crate) fn is_opening(role: Role, sent: StateNumber) -> bool {
    role == Role::Server && sent.get() < OPENING_STATES_MAX
}

/// Returns for how long a client keeps a local port from which no round trip has been proven: 10 s,
/// or twice the round trip where that is longer.
///
/// Source: docs/protocol.md §3.5. With 10 s alone a client on a path of that length would leave each
/// port before it could be proven, and never stay at one.
pub(crate) fn hop_interval(smoothed: Duration) -> Duration {
    HOP_INTERVAL.max(smoothed * 2)
}

/// The kind of change that waits to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Keys: a terminal hands over together what belongs together.
    Input,
    /// A change of the screen that looks like the whole effect of a key.
    Echo,
    /// Any other change of the screen soon after a key, or one of the first.
    Answer,
    /// Any other change of the screen.
    Output,
}

/// Returns when a change has waited long enough for others to travel with: input at once, an echo when the program
/// pauses, and a screen after 8 ms, so that a redraw leaves whole.
///
/// Source: docs/protocol.md §5.4.
pub fn collected(content: Content, first_change: Time, last_change: Time) -> Time {
    let latest = first_change + COLLECTION_DELAY;
    match content {
        Content::Input => first_change,
        Content::Echo => latest.min(last_change + ECHO_QUIET),
        Content::Answer | Content::Output => latest,
    }
}

/// Returns when the path may take more content: as long as what is in flight leaves the congestion window
/// open, a key or an answer leaves at once, and output a frame interval after what left before. Behind a
/// full window input waits for half a round trip, and a screen until the window opens.
///
/// Source: docs/protocol.md §5.4.
pub fn paced(
    content: Content,
    last_content: Time,
    round_trip: Duration,
    opens: Option<Time>,
) -> Time {
    match (content, opens) {
        (Content::Input | Content::Echo | Content::Answer, None) => last_content + PROMPT_INTERVAL,
        (Content::Output, None) => last_content + frame_interval(round_trip),
        (Content::Input, Some(_)) => last_content + congested_interval(round_trip),
        (Content::Echo | Content::Answer | Content::Output, Some(opens)) => {
            opens.max(last_content + frame_interval(round_trip))
        }
    }
}

/// Returns the pause between pieces of input while the congestion window is full: half the smoothed round trip,
/// within 20 ms and a second.
///
/// Source: docs/protocol.md §5.4.
fn congested_interval(smoothed: Duration) -> Duration {
    whole_millis(smoothed / 2).clamp(FRAME_INTERVAL_MIN, CONGESTED_INTERVAL_MAX)
}

/// The first instruction leaves as soon as there is a path.
///
/// Source: docs/protocol.md §5.4.
pub fn first(made: Time) -> Due {
    (made, Cause::First)
}

/// A change is sent when others have had their chance to join it, and the path may take more.
///
/// Source: docs/protocol.md §5.4.
pub fn frame(collected: Time, paced: Time) -> Due {
    (collected.max(paced), Cause::Frame)
}

/// A state that is not assumed to have arrived is sent again at the pace of frames, and less and less often until the
/// peer is heard.
///
/// Source: docs/protocol.md §5.4.
pub(crate) fn resend(last_sent: Time, interval: Duration, retries: u32) -> Due {
    (last_sent + backed_off(interval, retries), Cause::Resend)
}

/// A state that is assumed to have arrived is sent again when its acknowledgement is overdue.
///
/// Source: docs/protocol.md §5.4.
pub fn retry(last_content: Time, pause: Duration) -> Due {
    (last_content + pause, Cause::Retry)
}

/// Returns how long an acknowledgement of something small may take: as long as they usually take, at least
/// the timeout, and at most that and what a peer may hold an acknowledgement back. A datagram that left the peer
/// after ours should have arrived, and acknowledges nothing, ends the wait.
///
/// Source: docs/protocol.md §5.4.
pub(crate) fn answer_timeout(
    timeout: Duration,
    usual: Duration,
    last_content: Time,
    arrived: Option<Time>,
) -> Duration {
    let is_missed = arrived.is_some_and(|arrived| arrived >= last_content + timeout);
    if is_missed {
        return timeout;
    }
    usual.clamp(timeout, timeout + RETRY_MARGIN)
}

/// Returns the pause before a retry that so many others came before without any answer: each is twice as long, up
/// to half a second or the first one.
///
/// Source: docs/protocol.md §5.4.
pub(crate) fn backed_off(pause: Duration, retries: u32) -> Duration {
    let factor = 1_u32.checked_shl(retries).unwrap_or(u32::MAX);
    pause.saturating_mul(factor).min(RETRY_PAUSE_MAX.max(pause))
}

/// Tells whether something may be sent again at `at` without a sign of the peer: within 10 s of its
/// newest state.
///
/// Source: docs/protocol.md §5.4.
pub fn is_active(at: Time, heard: Option<Time>) -> bool {
    heard.is_some_and(|heard| at < heard + ACTIVE_RETRY)
}

/// A new state of the peer is acknowledged within 100 ms, sooner if anything else is sent. Much input is
/// acknowledged at once, since the rest of a paste waits for that.
///
/// Source: docs/protocol.md §5.4.
pub fn acknowledgement(arrived: Time, is_much_input: bool) -> Due {
    let delay = if is_much_input {
        Duration::ZERO
    } else {
        ACKNOWLEDGEMENT_DELAY
    };
    (arrived + delay, Cause::Acknowledgement)
}

/// Silence lasts 3 s at most, if nothing else was agreed on.
///
/// Source: docs/protocol.md §5.4.
pub fn heartbeat(last_sent: Time) -> Due {
    (last_sent + HEARTBEAT_INTERVAL, Cause::Heartbeat)
}

/// The end of our own silence.
///
/// Source: docs/protocol.md §13.8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// After the usual [heartbeat].
    Usual,
    /// At that time.
    Until(Time),
    /// Only if the peer asks, or something happens.
    Endless,
}

/// A question whether we are there is answered at once.
///
/// Source: docs/protocol.md §13.8.
pub(crate) fn answer(asked: Time) -> Due {
    (asked, Cause::Answer)
}

/// Returns the pause after `tries` datagrams in vain: none of note at first, then 250 ms, doubling
/// to 3 s.
///
/// Source: docs/protocol.md §5.4.
pub(crate) fn repeat_pause(tries: u32) -> Duration {
    let Some(doublings) = tries.checked_sub(1) else {
        return FRAME_INTERVAL_MIN;
    };
    let factor = 1_u32.checked_shl(doublings).unwrap_or(u32::MAX);
    REPEAT_MIN.saturating_mul(factor).min(REPEAT_MAX)
}

/// A state that was sent to a peer that has never answered is sent again after 250 ms, 500 ms, 1 s, 2 s, and
/// then every 3 s. Stock Mosh waits 3 s at once.
///
/// Source: docs/protocol.md §5.4.
pub(crate) fn first_repeat(last_sent: Time, path_probe: PathProbe) -> Due {
    (last_sent + path_probe.pause(), Cause::FirstRepeat)
}

/// A path that may have changed is tried at once, and then like one that has never worked.
///
/// Source: docs/protocol.md §5.4.
pub fn probe(last_sent: Time, path_probe: PathProbe) -> Due {
    (last_sent + path_probe.pause(), Cause::Probe)
}

/// A path that is silent is tried every 250 ms while a person types; later on after a 120th of the time since the
/// last key, up to 3 s.
///
/// Source: docs/protocol.md §5.4. The 120th is chosen by eye: a minute after the last key an outage that ends is
/// noticed within half a second, and six minutes after it the pace is that of heartbeats.
pub(crate) fn silence_probe(last_sent: Time, last_change: Time) -> Due {
    let idle = last_sent.since(last_change);
    let pause = (idle / 120).clamp(PROBE_INTERVAL_MIN, PROBE_INTERVAL_MAX);
    (last_sent + pause, Cause::Probe)
}

/// Our shutdown is repeated at the pace of frames.
///
/// Source: docs/protocol.md §5.6.
pub fn shutdown(last_sent: Time, interval: Duration) -> Due {
    (last_sent + interval, Cause::Shutdown)
}

/// The peer's shutdown is answered at the pace of frames, each time that it arrives.
///
/// Source: docs/protocol.md §5.6. Stock Mosh answers the first one only.
pub(crate) fn shutdown_answer(last_sent: Time, interval: Duration) -> Due {
    (last_sent + interval, Cause::ShutdownAnswer)
}

/// A shutdown is given up after 10 s, or when the last of 16 tries had its time to be answered.
///
/// Source: docs/protocol.md §5.6. Stock Mosh gives up with the last try, so that on a path with a
/// round trip above 4 s no shutdown succeeds.
pub(crate) fn shutdown_limit(began: Time, tries: u32, last_sent: Time, timeout: Duration) -> Due {
    let mut limit = began + SHUTDOWN_AGE_MAX;
    if tries >= SHUTDOWN_TRIES_MAX {
        limit = limit.min(last_sent + timeout + RETRY_MARGIN);
    }
    (limit, Cause::ShutdownLimit)
}

/// An end that has answered the peer's shutdown stays for a moment, to answer a repetition.
///
/// A server stays until a repetition would have come; nobody waits for it. Behind a client there is
/// a person who waits for the prompt, so it stays for the repetition that is under way and no longer.
///
/// Source: docs/protocol.md §5.6.
pub(crate) fn linger_end(
    role: Role,
    first_answer: Time,
    last_answer: Time,
    interval: Duration,
    timeout: Duration,
) -> Due {
    let end = match role {
        Role::Client => first_answer + interval * 2,
        Role::Server => (last_answer + timeout + interval).min(first_answer + LINGER_MAX),
    };
    (end, Cause::LingerEnd)
}

/// The probe of a path that is not known to work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathProbe {
    /// The beginning of the probe; a round trip that began later ends it.
    pub since: Time,
    /// The number of datagrams sent in vain.
    pub tries: u32,
    /// True if the system refused the last one. It cost nothing then, and nobody saw it.
    pub is_failing: bool,
}

impl PathProbe {
    /// Returns a probe that begins now, after so many tries.
    pub const fn new(since: Time, tries: u32) -> PathProbe {
        PathProbe {
            since,
            tries,
            is_failing: false,
        }
    }

    /// Returns the pause before the next try.
    fn pause(self) -> Duration {
        let pause = repeat_pause(self.tries);
        if self.is_failing {
            pause.min(REFUSED_PAUSE_MAX)
        } else {
            pause
        }
    }
}

/// Instructions of several datagrams that were sent since the peer last acknowledged anything.
///
/// As soon as an acknowledgement is overdue they are sent again after pauses that double, and in between
/// [probes](crate::Sender::compose_probe) ask whether anything arrives at all.
///
/// Source: docs/protocol.md §5.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Large {
    /// The departure of the first of them.
    pub since: Time,
    /// The departure of the last of them.
    pub last: Time,
    /// The number of times they were sent.
    pub tries: u32,
}

impl Large {
    /// Returns what is to be remembered when another one leaves.
    pub fn again(before: Option<Large>, now: Time) -> Large {
        Large {
            since: before.map_or(now, |before| before.since),
            last: now,
            tries: before.map_or(1, |before| before.tries.saturating_add(1)),
        }
    }

    /// Tells whether the peer should have acknowledged something by now.
    pub(crate) fn is_overdue(&self, now: Time, timeout: Duration) -> bool {
        now >= self.since + timeout + RETRY_MARGIN
    }

    /// Returns when the next one may leave if the peer still has not.
    pub(crate) fn next_try(&self, timeout: Duration) -> Time {
        let doublings = self.tries.saturating_sub(1);
        let factor = 1_u32.checked_shl(doublings).unwrap_or(u32::MAX);
        let pause = (timeout + RETRY_MARGIN).saturating_mul(factor);
        self.last + pause.min(LARGE_PAUSE_MAX.max(timeout))
    }

    /// Tells whether it is too early for another one.
    pub(crate) fn holds_back(&self, now: Time, timeout: Duration) -> bool {
        self.is_overdue(now, timeout) && now < self.next_try(timeout)
    }
}

/// The kinds of datagram that may be sent at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendPermission {
    /// Nothing: there is no path.
    Nowhere,
    /// Heartbeats: the path is not validated and has had its bytes.
    Heartbeats,
    /// Everything.
    Open,
}

/// All that the rules look at.
#[derive(Clone, Debug)]
pub struct TimerInput {
    /// The present moment.
    pub now: Time,
    /// The end that we are.
    pub role: Role,
    /// The kinds of datagram that may be sent.
    pub permission: SendPermission,
    /// True once anything was sent.
    pub has_sent: bool,
    /// The time of the last send; at first, the time at which the endpoint was made.
    pub last_sent: Time,
    /// The instructions of several datagrams that wait for an acknowledgement.
    pub large: Option<Large>,
    /// The object in relation to what was sent.
    pub sync_state: SyncState,
    /// The time at which the object last changed.
    pub last_change: Time,
    /// The time at which anything but an empty difference was last sent.
    pub last_content: Time,
    /// The smoothed round trip.
    pub round_trip: Duration,
    /// The pause between frames.
    pub interval: Duration,
    /// True if the next frame is the answer to a key, or a part of it.
    pub is_answer: bool,
    /// True if that looks like a whole echo.
    pub is_echo: bool,
    /// The time at which the congestion window opens, if it is full.
    pub window_opens: Option<Time>,
    /// True if the next frame is one of those at the beginning, which wait for no interval.
    pub is_opening: bool,
    /// The time after which something is thought lost.
    pub timeout: Duration,
    /// The pause before what was sent last is sent again, if it is not acknowledged.
    pub retry_pause: Duration,
    /// The number of times that something was sent again since the peer was last heard.
    pub retries: u32,
    /// The time at which a copy of it is to be sent.
    pub copy: Option<Time>,
    /// The links of what is long, on a path that loses datagrams.
    pub chain: ChainState,
    /// The cause for which the next link leaves.
    pub chain_cause: Cause,
    /// The time at which the oldest link was sent that is not acknowledged.
    pub oldest_link: Time,
    /// The time from which on the peer's silence counts: the arrival of its newest state, or later if it has announced
    /// a pause; `None` if no state has come.
    pub heard: Option<Time>,
    /// The end of our own silence.
    pub silence: Silence,
    /// The time since which a question of the peer waits for its answer.
    pub asked: Option<Time>,
    /// The time at which the next probe of the path's MTU is to be sent.
    pub size_probe: Option<Time>,
    /// The time at which a challenge of the peer is to be returned.
    pub challenged: Option<Time>,
    /// The time since which a state of the peer waits for its acknowledgement.
    pub unacknowledged_since: Option<Time>,
    /// True if much input waits for it.
    pub owes_for_much_input: bool,
    /// The probe of the path, while there is one.
    pub path_probe: Option<PathProbe>,
    /// The time at which the instruction that is being assembled will be given up.
    pub assembly_expiry: Option<Time>,
    /// The time at which we began to shut down, and how often we have said so.
    pub own_shutdown: Option<(Time, u32)>,
    /// True if the peer's shutdown waits for an answer.
    pub owes_answer: bool,
    /// The times at which the peer's shutdown was first and last answered.
    pub answered: Option<(Time, Time)>,
}

/// Applies all rules.
pub fn schedule(input: &TimerInput) -> Deadlines {
    let mut table = Deadlines::default();
    if let Some(expiry) = input.assembly_expiry {
        table.set((expiry, Cause::AssemblyExpiry));
    }
    // A conversation ends in time, whether there is a path or not.
    input.limits(&mut table);
    match input.permission {
        SendPermission::Nowhere => {}
        SendPermission::Heartbeats => input.signs_of_life(&mut table),
        SendPermission::Open if input.is_ending() => input.ending_sends(&mut table),
        SendPermission::Open => input.sends(&mut table),
    }
    table
}

impl TimerInput {
    fn is_ending(&self) -> bool {
        self.own_shutdown.is_some() || self.owes_answer || self.answered.is_some()
    }

    /// Enters the time at which a conversation that is ending has ended.
    fn limits(&self, table: &mut Deadlines) {
        if let Some((began, tries)) = self.own_shutdown {
            table.set(shutdown_limit(began, tries, self.last_sent, self.timeout));
        } else if let Some((first, last)) = self.answered {
            let end = linger_end(self.role, first, last, self.interval, self.timeout);
            table.set(end);
        }
    }

    /// Tells whether an answer that may be lost is given once more. A client is gone soon, and the server may wait for it.
    fn repeats_answer(&self) -> bool {
        self.role == Role::Client && self.own_shutdown.is_none() && self.answered.is_some()
    }

    fn ending_sends(&self, table: &mut Deadlines) {
        if self.owes_answer || self.repeats_answer() {
            table.set(shutdown_answer(self.last_sent, self.interval));
        }
        if let Some((_, tries)) = self.own_shutdown
            && tries < SHUTDOWN_TRIES_MAX
        {
            table.set(shutdown(self.last_sent, self.interval));
        }
    }

    fn sends(&self, table: &mut Deadlines) {
        if !self.has_sent {
            table.set(first(self.last_sent));
            return;
        }
        self.signs_of_life(table);
        if let Some(arrived) = self.unacknowledged_since {
            table.set(acknowledgement(arrived, self.owes_for_much_input));
        }
        self.content(table);
        self.probes(table);
        if let Some(due) = self.size_probe {
            table.set((due, Cause::SizeProbe));
        }
    }

    /// Enters the time at which the peer is to hear from us, whether anything has changed or not.
    fn signs_of_life(&self, table: &mut Deadlines) {
        match self.silence {
            Silence::Usual => table.set(heartbeat(self.last_sent)),
            Silence::Until(end) => table.set((end, Cause::Heartbeat)),
            Silence::Endless => {}
        }
        if let Some(asked) = self.asked {
            table.set(answer(asked));
        }
        if let Some(due) = self.challenged {
            table.set((due, Cause::Response));
        }
    }

    /// Enters the time at which the object, or the missing part of it, is to be sent.
    fn content(&self, table: &mut Deadlines) {
        if let Some(copy) = self.copy.filter(|_| self.sync_state != SyncState::Settled) {
            table.set((copy, Cause::Copy));
        }
        let due = match self.sync_state {
            _ if self.chain == ChainState::Ready => (self.last_sent, self.chain_cause),
            _ if self.chain == ChainState::Blocked => self.chain_retry(),
            SyncState::Unsent { changed } => {
                let due = self.frame(changed);
                let due = match self.heard {
                    Some(_) if !is_active(self.now, self.heard) => self.asking(due),
                    _ => Some(self.held_back(due)),
                };
                if let Some(due) = due {
                    table.set(due);
                }
                return;
            }
            _ if self.chain == ChainState::Sent => self.chain_retry(),
            SyncState::Unassumed => resend(self.last_sent, self.interval, self.retries),
            SyncState::Unacknowledged => retry(self.last_content, self.retry_pause),
            SyncState::Settled => return,
        };
        let due = match self.chain {
            ChainState::None => self.held_back(due),
            // It is a part of a frame that the window had room for.
            _ => self.held_back_by_large(due),
        };
        // While the system refuses to send, only the pauses of the probe decide when to try again.
        let is_refused = self.path_probe.is_some_and(|probe| probe.is_failing);
        // Judged for the time at which it would leave, since active retry may be over by then.
        if is_active(due.0.max(self.now), self.heard) && !is_refused {
            table.set(due);
        }
    }

    /// Links are sent again when the oldest of them is overdue.
    fn chain_retry(&self) -> Due {
        retry(self.oldest_link, self.retry_pause)
    }

    fn frame(&self, changed: Time) -> Due {
        let content = self.kind_of_content();
        let collected = collected(content, changed, self.last_change);
        let (last_content, round_trip) = (self.last_content, self.round_trip);
        let paced = paced(content, last_content, round_trip, self.window_opens);
        frame(collected, paced)
    }

    fn kind_of_content(&self) -> Content {
        match self.role {
            Role::Client => Content::Input,
            Role::Server if self.is_echo => Content::Echo,
            Role::Server if self.is_answer || self.is_opening => Content::Answer,
            Role::Server => Content::Output,
        }
    }

    fn probes(&self, table: &mut Deadlines) {
        let probe = self.path_probe.map(|path_probe| match self.heard {
            None => first_repeat(self.last_sent, path_probe),
            Some(_) => probe(self.last_sent, path_probe),
        });
        let silence = self.is_asking().then(|| {
            // News of the world that came to nothing make nobody wait who types.
            silence_probe(self.last_sent, self.last_change)
        });
        if let Some(due) = probe.into_iter().chain(silence).min() {
            table.set(due);
        }
    }

    /// Tells whether something is missing at a peer that is silent and was there before.
    fn is_asking(&self) -> bool {
        let is_refused = self.path_probe.is_some_and(|probe| probe.is_failing);
        let is_missing = self.sync_state != SyncState::Settled;
        is_missing && self.heard.is_some() && !is_refused && self.is_silent()
    }

    /// Tells whether the peer has not been heard for so long that it is worth asking. A server asks
    /// only where it has something large to say: else a heartbeat does as well.
    fn is_silent(&self) -> bool {
        match self.large {
            Some(large) if large.is_overdue(self.now, self.timeout) => true,
            None if self.role == Role::Server => false,
            _ => !is_active(self.now, self.heard),
        }
    }

    /// Returns when a change asks a peer that was not heard for long whether it is there again: once,
    /// and no sooner than a probe.
    fn asking(&self, (time, cause): Due) -> Option<Due> {
        let is_news = self.last_change > self.last_sent;
        is_news.then_some((time.max(self.last_sent + PROBE_INTERVAL_MIN), cause))
    }

    /// Puts off what would be large again, and a screen for which the window is too full.
    fn held_back(&self, due: Due) -> Due {
        let (time, cause) = self.held_back_by_large(due);
        let opens = match self.role {
            Role::Client => None,
            Role::Server => self.window_opens,
        };
        (opens.map_or(time, |opens| time.max(opens)), cause)
    }

    fn held_back_by_large(&self, (time, cause): Due) -> Due {
        let overdue = self
            .large
            .filter(|large| large.is_overdue(self.now, self.timeout));
        let next_try = overdue.map(|large| large.next_try(self.timeout));
        (next_try.map_or(time, |next| time.max(next)), cause)
    }
}

/// One entry for each reason to wake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlines {
    at: [Option<Time>; Cause::ALL.len()],
    /// Asked for far more often than anything changes.
    earliest: Option<Due>,
}

impl Deadlines {
    /// Enters when something is to happen.
    pub fn set(&mut self, due: Due) {
        let (time, cause) = due;
        let Some(entry) = self.at.get_mut(cause.index()) else {
            return;
        };
        let is_moved = entry.replace(time).is_some();
        self.earliest = match self.earliest {
            // The entry that was moved may have been the earliest.
            Some(_) if is_moved => self.entries().min(),
            Some(earliest) => Some(earliest.min(due)),
            None => Some(due),
        };
    }

    /// Returns when something is to happen for that cause.
    pub fn get(&self, cause: Cause) -> Option<Time> {
        self.at.get(cause.index()).copied().flatten()
    }

    /// Returns the next thing to happen; of several at the same time, the one whose cause is first
    /// in [`Cause`].
    pub fn earliest(&self) -> Option<Due> {
        self.earliest
    }

    /// Returns the cause to send for now; of several, the one that is first in [`Cause`].
    pub fn due(&self, now: Time) -> Option<Cause> {
        self.earliest.filter(|&(time, _)| time <= now)?;
        let due = self.entries().filter(|&(time, _)| time <= now);
        due.map(|(_, cause)| cause).find(|cause| cause.sends())
    }

    fn entries(&self) -> impl Iterator<Item = Due> {
        let entries = Cause::ALL.iter().zip(&self.at);
        entries.filter_map(|(&cause, &at)| Some((at?, cause)))
    }
}

impl Default for Deadlines {
    fn default() -> Deadlines {
        Deadlines {
            at: [None; Cause::ALL.len()],
            earliest: None,
        }
    }
}

#[cfg(test)]
mod tests;
