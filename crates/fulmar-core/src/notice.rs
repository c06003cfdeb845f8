//! The line that the client lays over the top row when there is something to say.

mod panel;
mod wording;

use std::time::Duration;

use fulmar_base::Time;

use crate::compat_mode::CompatMode;
use crate::escape_key::EscapeKey;

use self::wording::{Lateness, Parts};

/// The server is late when the newest server state is older than this: two heartbeats and a bit.
///
/// Source: docs/protocol.md §11.1.
const CONTACT_LATE_AFTER: Duration = Duration::from_millis(6500);
/// A reply is late when what was last acknowledged was sent longer ago than this.
///
/// Source: docs/protocol.md §11.1.
const REPLY_LATE_AFTER: Duration = Duration::from_secs(10);
/// The interval at which the time in a notice is renewed.
///
/// Source: docs/protocol.md §11.1.
const REFRESH: Duration = Duration::from_secs(1);
/// The same once contact was lost [`REFRESH_SLOWLY_AFTER`] ago.
///
/// Source: docs/protocol.md §11.1.
const REFRESH_SLOWLY: Duration = Duration::from_secs(3);
const REFRESH_SLOWLY_AFTER: Duration = Duration::from_secs(60);
/// The wait for the first answer after which a notice says what is being waited for.
///
/// Source: docs/protocol.md §2.8.
const CONNECTING_AFTER: Duration = Duration::from_millis(250);
/// The wait for the first answer after which the notice says what to check.
///
/// Source: docs/protocol.md §2.8.
pub(crate) const SUSPICIOUS_AFTER: Duration = Duration::from_secs(3);
/// Errors of sending are told once they have come again after this long: a single one is the
/// network's everyday life.
///
/// Source: docs/threat-model.md §7.
const SEND_FAILURE_AFTER: Duration = Duration::from_millis(250);
/// The time for which an error of sending is told after the last one: one heartbeat and a bit.
///
/// Source: docs/protocol.md §11.1.
const SEND_FAILURE_LASTS: Duration = Duration::from_millis(3100);
/// The time for which a next hop that does not answer is told: a heartbeat, three questions of a second each and a bit.
///
/// Source: docs/protocol.md §11.1; Linux, `mcast_solicit` and `retrans_time_ms`.
const SILENT_NEXT_HOP_LASTS: Duration = Duration::from_secs(7);
/// The time for which it is still told after something was heard.
///
/// Source: docs/protocol.md §11.1.
const SEND_FAILURE_FADES: Duration = Duration::from_secs(1);
/// The time for which help, link information and the like stay. Chosen by eye: time to read a line twice.
const INFORMATION_LASTS: Duration = Duration::from_secs(10);

/// The last signs of the server, as far as a notice cares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServerLiveness {
    /// The arrival of the newest server state; `None` before the first.
    pub(crate) heard: Option<Time>,
    /// The time from which on its silence means something.
    pub(crate) silent_since: Option<Time>,
    /// The time at which the newest of our states that the server has acknowledged was sent, or the first question
    /// after it.
    pub(crate) answered: Option<Time>,
    /// The smoothed round trip.
    pub(crate) round_trip: Duration,
}

impl ServerLiveness {
    /// Returns how long after its newest state the server counts as late. On a path whose round trip is longer than
    /// a few seconds the usual time would pass between any two states; and a pause that was agreed on is no silence.
    ///
    /// Source: docs/protocol.md §11.1.
    fn late_after(&self) -> Duration {
        let pause = |heard| Some(self.silent_since?.since(heard));
        let pause = self.heard.and_then(pause).unwrap_or_default();
        CONTACT_LATE_AFTER.max(self.round_trip * 2) + pause
    }

    /// Returns after how long a reply is late.
    ///
    /// Source: docs/protocol.md §11.1.
    fn reply_late_after(&self) -> Duration {
        REPLY_LATE_AFTER.max(self.round_trip * 2)
    }
}

/// The arrival of our datagrams at the server, as far as it is known before the server has answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// Nothing: the server does not tell.
    Unknown,
    /// The server has not said yet that anything has arrived.
    Awaited,
    /// The server has said so.
    Heard,
}

/// Something the user asked for, or that will pass.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Message {
    Help,
    LinkInfo,
    Told(String),
}

/// A run of errors of sending, each at most `lasts` after the one before.
#[derive(Clone, Debug)]
struct SendFailure {
    what: String,
    since: Time,
    last: Time,
    lasts: Duration,
}

/// Decides what the notice line says and when it has to be written anew.
#[derive(Debug)]
pub(crate) struct Notices {
    compat: CompatMode,
    /// The server's address as the user knows it, for instance `192.0.2.7, UDP port 60001`.
    server: String,
    /// True if nothing between the two ends can reject datagrams.
    is_server_local: bool,
    delivery: Delivery,
    escape: EscapeKey,
    started: Time,
    is_armed: bool,
    is_closing: bool,
    is_leaving: bool,
    is_input_full: bool,
    is_refusing: bool,
    message: Option<(Message, Time)>,
    send_failure: Option<SendFailure>,
    refusals: Option<Refusals>,
    is_session_missing: bool,
}

/// Words about a session that its machine does not know any more.
const SESSION_MISSING: &str = "the session has ended: its machine has none of that name any more";

/// Words about reports that nothing listens at the server's port: a firewall on the way may have sent them.
pub(crate) const REJECTED: &str = "UDP is rejected: a firewall, or a server that has gone";

/// Words about a next hop that does not answer, be it a router or the server itself.
const SILENT_NEXT_HOP: &str =
    "cannot send: neither the server nor a router answers on the local network";

/// A run of reports that nothing listens at the server's port.
#[derive(Clone, Copy, Debug)]
struct Refusals {
    since: Time,
    last: Time,
}

impl Notices {
    pub(crate) fn new(
        started: Time,
        compat: CompatMode,
        server: String,
        delivery: Delivery,
        escape: EscapeKey,
    ) -> Notices {
        Notices {
            compat,
            server,
            is_server_local: false,
            delivery,
            escape,
            started,
            is_armed: false,
            is_closing: false,
            is_leaving: false,
            is_input_full: false,
            is_refusing: false,
            message: None,
            send_failure: None,
            refusals: None,
            is_session_missing: false,
        }
    }

    /// Believes reports that nothing listens at the server's port: nothing on the way can have sent them.
    pub(crate) fn set_server_local(&mut self, is_server_local: bool) {
        self.is_server_local = is_server_local;
    }

    /// Shows what the escape key can do for as long as it is armed.
    pub(crate) fn set_armed(&mut self, is_armed: bool) {
        self.is_armed = is_armed;
    }

    /// Says from now on that the session is being closed.
    pub(crate) fn set_closing(&mut self) {
        self.is_closing = true;
    }

    /// Says from now on that the session is left as soon as what was typed has arrived.
    pub(crate) fn set_leaving(&mut self) {
        self.is_leaving = true;
    }

    /// Says that what was typed does not arrive at present, and how to leave all the same.
    pub(crate) fn warn_of_loss(&mut self, now: Time) {
        let key = self.escape.label().unwrap_or_default();
        self.tell(
            now,
            format!("what you typed has not arrived; {key} d again leaves without it"),
        );
    }

    /// Returns true if nothing comes from the server any more, or nothing arrives there.
    pub(crate) fn is_out_of_touch(&self, now: Time, liveness: ServerLiveness) -> bool {
        self.is_server_gone(liveness) || self.lateness(now, liveness).is_some()
    }

    /// Takes note that the server has heard us, by its own account.
    pub(crate) fn set_heard(&mut self) {
        self.delivery = Delivery::Heard;
    }

    /// Returns the server's address as the user knows it.
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// Returns what is known of our datagrams' arrival.
    pub(crate) fn delivery(&self) -> Delivery {
        self.delivery
    }

    /// Says for as long as it is so that keys are not read, and why. Returns whether that is news.
    pub(crate) fn set_input_full(&mut self, is_input_full: bool) -> bool {
        std::mem::replace(&mut self.is_input_full, is_input_full) != is_input_full
    }

    /// Says for as long as it is so that the server's newest screen was refused.
    pub(crate) fn set_refusing(&mut self, is_refusing: bool) {
        self.is_refusing = is_refusing;
    }

    /// Shows help for a while.
    pub(crate) fn show_help(&mut self, now: Time) {
        self.message = Some((Message::Help, now + INFORMATION_LASTS));
    }

    /// Shows what is known of the link for a while.
    pub(crate) fn show_link_info(&mut self, now: Time) {
        self.message = Some((Message::LinkInfo, now + INFORMATION_LASTS));
    }

    /// Shows something that the user is to know for a while.
    pub(crate) fn tell(&mut self, now: Time, what: String) {
        self.message = Some((Message::Told(what), now + INFORMATION_LASTS));
    }

    /// Takes away what was shown for a while.
    pub(crate) fn dismiss(&mut self) {
        self.message = None;
    }

    /// Returns true if a panel is shown, and this key, if it comes by itself, is meant for it.
    pub(crate) fn closes_panel(&self, now: Time, key: u8) -> bool {
        let is_panel = |message: &Message| matches!(message, Message::Help | Message::LinkInfo);
        let shown = self.message.as_ref();
        shown.is_some_and(|(message, until)| is_panel(message) && now < *until)
            && panel::is_closed_by(key)
    }

    /// Notes that a datagram could not be sent, and `what` is to be said of it.
    pub(crate) fn note_trouble(&mut self, now: Time, what: String) {
        let since = match &self.send_failure {
            Some(send_failure) if now.since(send_failure.last) <= send_failure.lasts => {
                send_failure.since
            }
            _ => now,
        };
        self.send_failure = Some(SendFailure {
            what,
            since,
            last: now,
            lasts: SEND_FAILURE_LASTS,
        });
    }

    /// Notes that this machine has asked in vain for the link address of the next hop. It asks several times before it
    /// says so, so once is enough.
    pub(crate) fn note_silent_next_hop(&mut self, now: Time) {
        self.send_failure = Some(SendFailure {
            what: SILENT_NEXT_HOP.to_owned(),
            since: now.saturating_sub(SEND_FAILURE_AFTER),
            last: now,
            lasts: SILENT_NEXT_HOP_LASTS,
        });
    }

    /// Takes note that nothing listens at the server's port, as far as somebody has reported it.
    pub(crate) fn note_refused(&mut self, now: Time) {
        let since = self.refusals.map_or(now, |refusals| refusals.since);
        self.refusals = Some(Refusals { since, last: now });
    }

    /// Takes note that the server's machine, asked by way of ssh, knows no such session.
    pub(crate) fn note_session_missing(&mut self) {
        self.is_session_missing = true;
    }

    /// Returns true if the server's machine knows no such session any more.
    pub(crate) fn is_session_missing(&self) -> bool {
        self.is_session_missing
    }

    /// Takes note that the server is there, whatever was reported.
    pub(crate) fn note_answer(&mut self) {
        self.refusals = None;
        self.is_session_missing = false;
    }

    /// Returns the text of the notice for a screen of `columns`, a line for each row, or `None` if there is
    /// nothing to say. `link` is asked when the user wants to know about the link.
    pub(crate) fn text(
        &self,
        now: Time,
        liveness: ServerLiveness,
        columns: u16,
        link: impl FnOnce() -> Vec<String>,
    ) -> Option<String> {
        let message = self.message_text(now, liveness);
        // Before the first answer either names the server, and once is enough.
        let is_named =
            |message: &String| liveness.heard.is_none() && message.contains(&self.server);
        let is_known = self.is_server_local || self.is_session_missing;
        let is_surely_gone = is_known && self.is_server_gone(liveness);
        let says_all = is_surely_gone || message.as_ref().is_some_and(is_named);
        let parts = Parts {
            program: self.compat.program(),
            message,
            lateness: self.lateness(now, liveness).filter(|_| !says_all),
            quit: self.quit_hint(),
        };
        let line = parts.fitting(usize::from(columns));
        let rows: Vec<String> = line.into_iter().chain(self.panel(now, link)).collect();
        (!rows.is_empty()).then(|| rows.join("\n"))
    }

    /// Returns the rows of what the user has asked for.
    fn panel(&self, now: Time, link: impl FnOnce() -> Vec<String>) -> Vec<String> {
        match &self.message {
            _ if self.is_armed || self.is_closing => Vec::new(),
            Some((Message::Help, until)) if now < *until => panel::help(self.escape),
            Some((Message::LinkInfo, until)) if now < *until => panel::link(&self.server, link()),
            _ => Vec::new(),
        }
    }

    /// Returns true if the server that was there has not been heard since nothing listens at its port any more, as far
    /// as anybody has said, or its machine knows no such session.
    /// A single report is the network's everyday life.
    pub(crate) fn is_server_gone(&self, liveness: ServerLiveness) -> bool {
        let lasts = |refusals: Refusals| refusals.last >= refusals.since + SEND_FAILURE_AFTER;
        let is_rejected = liveness.heard.is_some() && self.refusals.is_some_and(lasts);
        is_rejected || self.is_session_missing
    }

    /// Returns when the line will next be different although nothing happens.
    pub(crate) fn next_change(&self, now: Time, liveness: ServerLiveness) -> Option<Time> {
        let message_ends = self.message.as_ref().map(|&(_, until)| until);
        let link_renewed =
            matches!(&self.message, Some((Message::LinkInfo, until)) if now < *until)
                .then(|| now + REFRESH);
        let send_failure = self
            .send_failure
            .as_ref()
            .map(|send_failure| send_failure.ends(liveness));
        [
            message_ends,
            link_renewed,
            send_failure,
            self.next_lateness(now, liveness),
        ]
        .into_iter()
        .flatten()
        .filter(|&change| change > now)
        .min()
    }

    fn message_text(&self, now: Time, liveness: ServerLiveness) -> Option<String> {
        // In this order: what the user is doing, what the user has asked for, and then what is
        // wrong.
        if self.is_armed {
            return self.armed_text();
        }
        if self.is_closing {
            return Some("closing the session".to_owned());
        }
        if self.is_leaving {
            let key = self.escape.label().unwrap_or_default();
            return Some(format!(
                "leaving as soon as what you typed has arrived; {key} d leaves at once"
            ));
        }
        match &self.message {
            Some((Message::Told(what), until)) if now < *until => return Some(what.clone()),
            _ => {}
        }
        if self.is_server_gone(liveness) {
            let told = if self.is_session_missing {
                SESSION_MISSING
            } else if self.is_server_local {
                "the server is gone: nothing listens at its port"
            } else {
                REJECTED
            };
            return Some(told.to_owned());
        }
        if let Some(send_failure) = &self.send_failure
            && send_failure.is_shown(now, liveness)
        {
            return Some(send_failure.what.clone());
        }
        if self.is_input_full {
            return Some("keys are not read until the server has caught up".to_owned());
        }
        self.is_refusing
            .then(|| "what the server sends cannot be shown".to_owned())
    }

    fn armed_text(&self) -> Option<String> {
        let (key, pass) = (self.escape.label()?, self.escape.pass_label()?);
        let ours = match self.compat {
            CompatMode::Fulmar => ", ? for all keys",
            CompatMode::Mosh => "",
        };
        Some(format!(
            "{key}, then . to quit, Ctrl-Z to suspend, {pass} to type it{ours}"
        ))
    }

    /// Returns how a person would name the command of that key, if the client obeys any.
    pub(crate) fn command_label(&self, next: char) -> Option<String> {
        let is_own = self.compat == CompatMode::Fulmar;
        let key = self.escape.label().filter(|_| is_own)?;
        Some(format!("{key} {next}"))
    }

    fn quit_hint(&self) -> Option<String> {
        let key = self.escape.label()?;
        (!self.is_armed && !self.is_closing).then(|| format!("{key} . quits"))
    }

    fn lateness(&self, now: Time, liveness: ServerLiveness) -> Option<Lateness> {
        let Some(heard) = liveness.heard else {
            let waited = now.since(self.started);
            return match waited {
                _ if self.is_closing || waited < CONNECTING_AFTER => None,
                _ if waited < SUSPICIOUS_AFTER => Some(Lateness::Connecting {
                    server: self.server.clone(),
                }),
                _ => Some(Lateness::NeverHeard {
                    server: self.server.clone(),
                    delivery: self.delivery,
                    waited,
                }),
            };
        };
        let silence = now.since(heard);
        if silence > liveness.late_after() {
            return Some(Lateness::Contact { silence });
        }
        let unanswered = now.since(liveness.answered.unwrap_or(self.started));
        (unanswered > liveness.reply_late_after()).then_some(Lateness::Reply { unanswered })
    }

    /// Returns true if something is late.
    pub(crate) fn is_late(&self, now: Time, liveness: ServerLiveness) -> bool {
        self.lateness(now, liveness).is_some()
    }

    /// Returns when the lateness will next read differently.
    fn next_lateness(&self, now: Time, liveness: ServerLiveness) -> Option<Time> {
        let Some(heard) = liveness.heard else {
            return Some(next_of(
                now,
                self.started,
                &[CONNECTING_AFTER, SUSPICIOUS_AFTER],
            ));
        };
        let answered = liveness.answered.unwrap_or(self.started);
        // Just past the limit, since that is when it is passed.
        let just_past = Duration::from_millis(1);
        let silence_change = next_of(now, heard, &[liveness.late_after() + just_past]);
        let reply_change = next_of(now, answered, &[liveness.reply_late_after() + just_past]);
        Some(silence_change.min(reply_change))
    }
}

/// Returns the first of `limits` after `start` that is still to come, or else the next refresh of
/// a time counted from `start`.
fn next_of(now: Time, start: Time, limits: &[Duration]) -> Time {
    if let Some(limit) = limits.iter().find(|&&limit| start + limit > now) {
        return start + *limit;
    }
    let elapsed = now.since(start);
    let step = if elapsed < REFRESH_SLOWLY_AFTER {
        REFRESH
    } else {
        REFRESH_SLOWLY
    };
    // On the beat of the displayed number, so that no second is skipped.
    start + Duration::from_secs((elapsed.as_secs() / step.as_secs() + 1) * step.as_secs())
}

impl SendFailure {
    fn ends(&self, liveness: ServerLiveness) -> Time {
        let expires = self.last + self.lasts;
        match liveness.heard {
            Some(heard) if heard > self.last => expires.min(heard + SEND_FAILURE_FADES),
            _ => expires,
        }
    }

    fn is_shown(&self, now: Time, liveness: ServerLiveness) -> bool {
        self.last >= self.since + SEND_FAILURE_AFTER && now < self.ends(liveness)
    }
}

#[cfg(test)]
mod tests;
