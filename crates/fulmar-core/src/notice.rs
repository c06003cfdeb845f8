//! The line that the client lays over the top row when there is something to say.

use std::fmt;
use std::time::Duration;

use fulmar_datagram::Time;

use crate::escape_key::EscapeKey;
use crate::names::Names;

/// Contact is late when the newest server state is older than this: two heartbeats and a bit.
///
/// Source: docs/protocol.md §11.1.
const CONTACT_LATE_AFTER: Duration = Duration::from_millis(6500);
/// A reply is late when what was last acknowledged was sent longer ago than this.
///
/// Source: docs/protocol.md §11.1.
const REPLY_LATE_AFTER: Duration = Duration::from_secs(10);
/// How often the time in a notice is renewed.
///
/// Source: docs/protocol.md §11.1.
const REFRESH: Duration = Duration::from_secs(1);
/// The same once contact was lost [`REFRESH_SLOWLY_AFTER`] ago.
///
/// Source: docs/protocol.md §11.1.
const REFRESH_SLOWLY: Duration = Duration::from_secs(3);
const REFRESH_SLOWLY_AFTER: Duration = Duration::from_secs(60);
/// How long the first answer may take before a notice says what is being waited for.
///
/// Source: docs/protocol.md §2.8.
const CONNECTING_AFTER: Duration = Duration::from_millis(250);
/// How long the first answer may take before the notice says what to check.
///
/// Source: docs/protocol.md §2.8.
const SUSPICIOUS_AFTER: Duration = Duration::from_secs(3);
/// Errors of sending are told once they have lasted this long.
///
/// Source: docs/threat-model.md §7.
const TROUBLE_AFTER: Duration = Duration::from_millis(250);
/// How long an error of sending is told after the last one: one heartbeat and a bit.
///
/// Source: docs/protocol.md §11.1.
const TROUBLE_LASTS: Duration = Duration::from_millis(3100);
/// How long it is still told after something was heard.
///
/// Source: docs/protocol.md §11.1.
const TROUBLE_FADES: Duration = Duration::from_secs(1);
/// How long help and link information stay. Chosen by eye: time to read a line twice.
const INFORMATION_LASTS: Duration = Duration::from_secs(10);

/// How long ago things were, as far as a notice cares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contact {
    /// When the newest server state arrived; `None` before the first.
    pub(crate) heard: Option<Time>,
    /// When the newest of our states that the server has acknowledged was sent.
    pub(crate) answered: Option<Time>,
    /// The smoothed round trip.
    pub(crate) round_trip: Duration,
}

impl Contact {
    /// Returns after how long contact is late. On a path whose round trip is longer than a few
    /// seconds the usual time would pass between any two states.
    ///
    /// Source: docs/protocol.md §11.1.
    fn late_after(&self) -> Duration {
        CONTACT_LATE_AFTER.max(self.round_trip * 2)
    }

    /// Returns after how long a reply is late.
    ///
    /// Source: docs/protocol.md §11.1.
    fn reply_late_after(&self) -> Duration {
        REPLY_LATE_AFTER.max(self.round_trip * 2)
    }
}

/// Something the user asked for, or that will pass.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Message {
    Help,
    LinkInfo,
}

/// A run of errors of sending, each at most [`TROUBLE_LASTS`] after the one before.
#[derive(Clone, Debug)]
struct Trouble {
    what: String,
    since: Time,
    last: Time,
}

/// Decides what the notice line says and when it has to be written anew.
#[derive(Debug)]
pub(crate) struct Notices {
    names: Names,
    /// The server's address as the user knows it, for instance `192.0.2.7, UDP port 60001`.
    server: String,
    escape: EscapeKey,
    started: Time,
    is_armed: bool,
    is_closing: bool,
    is_input_full: bool,
    message: Option<(Message, Time)>,
    trouble: Option<Trouble>,
}

impl Notices {
    pub(crate) fn new(started: Time, names: Names, server: String, escape: EscapeKey) -> Notices {
        Notices {
            names,
            server,
            escape,
            started,
            is_armed: false,
            is_closing: false,
            is_input_full: false,
            message: None,
            trouble: None,
        }
    }

    /// Shows what the escape key can do for as long as it is armed.
    pub(crate) fn set_armed(&mut self, is_armed: bool) {
        self.is_armed = is_armed;
    }

    /// Says from now on that the session is being closed.
    pub(crate) fn set_closing(&mut self) {
        self.is_closing = true;
    }

    /// Says for as long as it is so that keys are not read, and why. Returns whether that is news.
    pub(crate) fn set_input_full(&mut self, is_input_full: bool) -> bool {
        std::mem::replace(&mut self.is_input_full, is_input_full) != is_input_full
    }

    /// Shows help for a while.
    pub(crate) fn show_help(&mut self, now: Time) {
        self.message = Some((Message::Help, now + INFORMATION_LASTS));
    }

    /// Shows what is known of the link for a while.
    pub(crate) fn show_link_info(&mut self, now: Time) {
        self.message = Some((Message::LinkInfo, now + INFORMATION_LASTS));
    }

    /// Takes help and link information away.
    pub(crate) fn dismiss(&mut self) {
        self.message = None;
    }

    /// Notes that a datagram could not be sent.
    pub(crate) fn note_trouble(&mut self, now: Time, what: String) {
        let since = match &self.trouble {
            Some(trouble) if now.since(trouble.last) <= TROUBLE_LASTS => trouble.since,
            _ => now,
        };
        self.trouble = Some(Trouble {
            what,
            since,
            last: now,
        });
    }

    /// Returns the text of the notice line for a screen of `columns`, or `None` if there is nothing
    /// to say. `link` is asked when the user wants to know about the link.
    pub(crate) fn text(
        &self,
        now: Time,
        contact: Contact,
        columns: u16,
        link: impl FnOnce() -> String,
    ) -> Option<String> {
        let parts = Parts {
            program: self.names.program(),
            message: self.message_text(now, contact, link),
            lateness: self.lateness(now, contact),
            quit: self.quit_hint(),
        };
        parts.fitting(usize::from(columns))
    }

    /// Returns when the line will next be different although nothing happens.
    pub(crate) fn next_change(&self, now: Time, contact: Contact) -> Option<Time> {
        let message_ends = self.message.as_ref().map(|&(_, until)| until);
        let link_renewed =
            matches!(&self.message, Some((Message::LinkInfo, until)) if now < *until)
                .then(|| now + REFRESH);
        let trouble = self
            .trouble
            .iter()
            .flat_map(|trouble| [trouble.since + TROUBLE_AFTER, trouble.ends(contact)]);
        [message_ends, link_renewed, self.next_lateness(now, contact)]
            .into_iter()
            .flatten()
            .chain(trouble)
            .filter(|&change| change > now)
            .min()
    }

    fn message_text(
        &self,
        now: Time,
        contact: Contact,
        link: impl FnOnce() -> String,
    ) -> Option<String> {
        if self.is_armed {
            return self.help_text();
        }
        if self.is_closing {
            return Some("closing the session".to_owned());
        }
        match &self.message {
            Some((Message::Help, until)) if now < *until => return self.help_text(),
            Some((Message::LinkInfo, until)) if now < *until => return Some(link()),
            _ => {}
        }
        if let Some(trouble) = &self.trouble
            && trouble.is_shown(now, contact)
        {
            return Some(format!("cannot send: {}", trouble.what));
        }
        self.is_input_full
            .then(|| "keys are not read until the server has caught up".to_owned())
    }

    fn help_text(&self) -> Option<String> {
        let (key, pass) = (self.escape.label()?, self.escape.pass_label()?);
        let ours = match self.names {
            Names::Own => ", i for link info",
            Names::Stock => "",
        };
        Some(format!(
            "{key}, then . to quit, Ctrl-Z to suspend, {pass} to type it{ours}"
        ))
    }

    fn quit_hint(&self) -> Option<String> {
        let key = self.escape.label()?;
        (!self.is_armed && !self.is_closing).then(|| format!("{key} . quits"))
    }

    fn lateness(&self, now: Time, contact: Contact) -> Option<Lateness> {
        let Some(heard) = contact.heard else {
            let waited = now.since(self.started);
            return match waited {
                _ if self.is_closing || waited < CONNECTING_AFTER => None,
                _ if waited < SUSPICIOUS_AFTER => Some(Lateness::Connecting {
                    server: self.server.clone(),
                }),
                _ => Some(Lateness::NeverHeard {
                    server: self.server.clone(),
                    waited,
                }),
            };
        };
        let silence = now.since(heard);
        if silence > contact.late_after() {
            return Some(Lateness::Contact { silence });
        }
        let unanswered = now.since(contact.answered.unwrap_or(self.started));
        (unanswered > contact.reply_late_after()).then_some(Lateness::Reply { unanswered })
    }

    /// Returns when the lateness will next read differently.
    fn next_lateness(&self, now: Time, contact: Contact) -> Option<Time> {
        let Some(heard) = contact.heard else {
            return Some(next_of(
                now,
                self.started,
                &[CONNECTING_AFTER, SUSPICIOUS_AFTER],
            ));
        };
        let answered = contact.answered.unwrap_or(self.started);
        // Just past the limit, since that is when it is passed.
        let just_past = Duration::from_millis(1);
        let contact_change = next_of(now, heard, &[contact.late_after() + just_past]);
        let reply_change = next_of(now, answered, &[contact.reply_late_after() + just_past]);
        Some(contact_change.min(reply_change))
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

impl Trouble {
    fn ends(&self, contact: Contact) -> Time {
        let expires = self.last + TROUBLE_LASTS;
        match contact.heard {
            Some(heard) if heard > self.last => expires.min(heard + TROUBLE_FADES),
            _ => expires,
        }
    }

    fn is_shown(&self, now: Time, contact: Contact) -> bool {
        now >= self.since + TROUBLE_AFTER && now < self.ends(contact)
    }
}

/// What has been waited for too long.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Lateness {
    Connecting { server: String },
    NeverHeard { server: String, waited: Duration },
    Contact { silence: Duration },
    Reply { unanswered: Duration },
}

impl Lateness {
    /// What happened and since when, then what to try; the most telling wording first.
    fn wordings(&self) -> [String; 3] {
        match self {
            Lateness::Connecting { server } => [
                format!("waiting for the first answer from {server}"),
                format!("waiting for {server}"),
                "waiting for the server".to_owned(),
            ],
            Lateness::NeverHeard { server, waited } => {
                let waited = Elapsed(*waited);
                [
                    format!("no answer from {server} for {waited}; does a firewall block it?"),
                    format!("no answer from {server}; does a firewall block it?"),
                    format!("no answer from {server}"),
                ]
            }
            Lateness::Contact { silence } => {
                let silence = Elapsed(*silence);
                [
                    format!(
                        "nothing heard for {silence}; check the network, what you type is kept"
                    ),
                    format!("nothing heard for {silence}; check the network"),
                    format!("nothing heard for {silence}"),
                ]
            }
            Lateness::Reply { unanswered } => {
                let unanswered = Elapsed(*unanswered);
                [
                    format!("the server has heard nothing for {unanswered}; what you type is kept"),
                    format!("the server has heard nothing for {unanswered}"),
                    format!("nothing arrives there for {unanswered}"),
                ]
            }
        }
    }
}

/// A span of time as a notice writes it: seconds, then m:ss, then h:mm:ss.
///
/// Source: docs/protocol.md §11.1.
struct Elapsed(Duration);

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
        match seconds {
            1 => write!(f, "1 second"),
            0..60 => write!(f, "{seconds} seconds"),
            60..3600 => write!(f, "{minutes}:{:02}", seconds % 60),
            _ => write!(f, "{hours}:{minutes:02}:{:02}", seconds % 60),
        }
    }
}

/// What a notice is put together from.
struct Parts {
    program: &'static str,
    message: Option<String>,
    lateness: Option<Lateness>,
    quit: Option<String>,
}

impl Parts {
    /// Returns the most telling wording that fits into `columns`, or the shortest there is. What
    /// happened is more than how to quit, and how to quit more than the last detail.
    fn fitting(&self, columns: usize) -> Option<String> {
        let Some(lateness) = &self.lateness else {
            self.message.as_ref()?;
            let candidates = [
                self.joined(None, self.quit.as_deref()),
                self.joined(None, None),
            ];
            return pick(candidates, columns);
        };
        let [long, middle, short] = lateness.wordings();
        let quit = self.quit.as_deref();
        let candidates = [
            self.joined(Some(&long), quit),
            self.joined(Some(&middle), quit),
            self.joined(Some(&middle), None),
            self.joined(Some(&short), quit),
            self.joined(Some(&short), None),
        ];
        pick(candidates, columns)
    }

    fn joined(&self, lateness: Option<&str>, quit: Option<&str>) -> String {
        let said: Vec<&str> = [self.message.as_deref(), lateness]
            .into_iter()
            .flatten()
            .collect();
        let quit = quit.map(|hint| format!(" ({hint})")).unwrap_or_default();
        format!("{}: {}{quit}", self.program, said.join("; "))
    }
}

/// Returns the first of the texts that fits into `columns`, or the last one.
fn pick<const N: usize>(texts: [String; N], columns: usize) -> Option<String> {
    let fits = |text: &String| text.chars().count() <= columns;
    let place = texts.iter().position(fits).unwrap_or(N.saturating_sub(1));
    texts.into_iter().nth(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE: u16 = 200;

    fn ms(millis: u64) -> Time {
        Time::from_origin(Duration::from_millis(millis))
    }

    fn notices() -> Notices {
        Notices::new(
            ms(0),
            Names::Own,
            "192.0.2.7, UDP port 60001".to_owned(),
            EscapeKey::default(),
        )
    }

    const SILENT: Contact = Contact {
        heard: None,
        answered: None,
        round_trip: Duration::from_millis(50),
    };

    fn heard_at(heard: u64, answered: u64) -> Contact {
        Contact {
            heard: Some(ms(heard)),
            answered: Some(ms(answered)),
            round_trip: Duration::from_millis(50),
        }
    }

    fn text(notices: &Notices, now: u64, contact: Contact) -> Option<String> {
        notices.text(ms(now), contact, WIDE, String::new)
    }

    #[test]
    fn connecting_is_told_after_a_quarter_second_and_doubted_after_three() {
        let notices = notices();
        assert_eq!(text(&notices, 249, SILENT), None);
        assert_eq!(notices.next_change(ms(0), SILENT), Some(ms(250)));
        let waiting = text(&notices, 250, SILENT).unwrap();
        assert!(waiting.contains("192.0.2.7, UDP port 60001"), "{waiting}");
        assert!(!waiting.contains("firewall"), "{waiting}");
        assert_eq!(notices.next_change(ms(250), SILENT), Some(ms(3000)));
        let doubting = text(&notices, 3000, SILENT).unwrap();
        assert!(doubting.contains("192.0.2.7, UDP port 60001"), "{doubting}");
        assert!(doubting.contains("3 seconds"), "{doubting}");
        assert!(doubting.contains("firewall"), "{doubting}");
        assert!(doubting.contains("Ctrl-^ . quits"), "{doubting}");
    }

    #[test]
    fn contact_is_late_after_six_and_a_half_seconds() {
        let notices = notices();
        let contact = heard_at(1000, 1000);
        assert_eq!(text(&notices, 7500, contact), None);
        assert_eq!(notices.next_change(ms(1000), contact), Some(ms(7501)));
        let late = text(&notices, 7501, contact).unwrap();
        assert!(late.contains("nothing heard for 6 seconds"), "{late}");
    }

    #[test]
    fn a_reply_is_late_after_ten_seconds_of_contact_without_it() {
        let notices = notices();
        assert_eq!(text(&notices, 11_000, heard_at(10_900, 1000)), None);
        let late = text(&notices, 11_001, heard_at(10_900, 1000)).unwrap();
        assert!(late.contains("heard nothing for 10 seconds"), "{late}");
        let both = text(&notices, 20_000, heard_at(10_000, 1000)).unwrap();
        assert!(both.contains("nothing heard for 10 seconds"), "{both}");
    }

    #[test]
    fn a_long_round_trip_is_not_lateness() {
        let notices = notices();
        let contact = Contact {
            round_trip: Duration::from_secs(10),
            ..heard_at(1000, 1000)
        };
        assert_eq!(text(&notices, 21_000, contact), None);
        assert!(text(&notices, 21_001, contact).is_some());
    }

    #[test]
    fn the_time_is_renewed_every_second_and_after_a_minute_every_third() {
        let notices = notices();
        let contact = heard_at(500, 500);
        assert_eq!(notices.next_change(ms(8000), contact), Some(ms(8500)));
        assert_eq!(notices.next_change(ms(8500), contact), Some(ms(9500)));
        assert_eq!(notices.next_change(ms(60_500), contact), Some(ms(63_500)));
        assert_eq!(notices.next_change(ms(63_500), contact), Some(ms(66_500)));
    }

    #[test]
    fn a_change_that_is_announced_lies_ahead() {
        let mut notices = notices();
        notices.show_link_info(ms(100));
        notices.note_trouble(ms(120), "no route".to_owned());
        for contact in [SILENT, heard_at(90, 90)] {
            let mut now = ms(0);
            for _ in 0..1000 {
                let next = notices.next_change(now, contact).unwrap();
                assert!(next > now);
                now = next;
            }
        }
    }

    #[test]
    fn times_are_seconds_then_minutes_then_hours() {
        let write = |seconds| Elapsed(Duration::from_secs(seconds)).to_string();
        assert_eq!(write(0), "0 seconds");
        assert_eq!(write(1), "1 second");
        assert_eq!(write(59), "59 seconds");
        assert_eq!(write(60), "1:00");
        assert_eq!(write(3599), "59:59");
        assert_eq!(write(3600), "1:00:00");
        assert_eq!(write(90_061), "25:01:01");
    }

    #[test]
    fn trouble_is_told_when_it_lasts_and_fades_when_it_ends() {
        let mut notices = notices();
        let contact = heard_at(1000, 1000);
        notices.note_trouble(ms(2000), "no route".to_owned());
        assert_eq!(text(&notices, 2249, contact), None);
        let shown = text(&notices, 2250, contact).unwrap();
        assert!(shown.contains("cannot send: no route"), "{shown}");
        assert!(text(&notices, 5099, contact).is_some());
        assert_eq!(text(&notices, 5100, contact), None);
        notices.note_trouble(ms(5000), "no route".to_owned());
        assert!(
            text(&notices, 5001, contact).is_some(),
            "still the same run"
        );
        assert!(text(&notices, 6299, heard_at(5300, 5300)).is_some());
        assert_eq!(text(&notices, 6300, heard_at(5300, 5300)), None);
    }

    #[test]
    fn the_armed_escape_key_explains_itself() {
        let mut notices = notices();
        notices.set_armed(true);
        let help = text(&notices, 100, SILENT).unwrap();
        assert!(help.contains(". to quit"), "{help}");
        assert!(help.contains("i for link info"), "{help}");
        notices.set_armed(false);
        assert_eq!(text(&notices, 100, SILENT), None);
    }

    #[test]
    fn link_information_stays_for_ten_seconds_or_until_dismissed() {
        let mut notices = notices();
        let contact = heard_at(1000, 1000);
        let shown = |notices: &Notices, now| {
            notices.text(ms(now), contact, WIDE, || "round trip 7 ms".to_owned())
        };
        notices.show_link_info(ms(1000));
        assert!(shown(&notices, 1000).unwrap().contains("round trip 7 ms"));
        assert_eq!(notices.next_change(ms(1000), contact), Some(ms(2000)));
        let later = heard_at(10_999, 10_999);
        assert!(notices.text(ms(10_999), later, WIDE, String::new).is_some());
        assert_eq!(notices.text(ms(11_000), later, WIDE, String::new), None);
        notices.show_link_info(ms(1000));
        notices.dismiss();
        assert_eq!(shown(&notices, 1000), None);
    }

    #[test]
    fn address_port_and_what_to_check_fit_into_80_columns() {
        let text = notices().text(ms(5000), SILENT, 80, String::new).unwrap();
        assert_eq!(
            text,
            "fulmar: no answer from 192.0.2.7, UDP port 60001; does a firewall block it?"
        );
    }

    #[test]
    fn help_fits_into_80_columns() {
        let mut notices = notices();
        notices.set_armed(true);
        let help = text(&notices, 100, SILENT).unwrap();
        assert!(help.len() <= 80, "{help}");
    }

    #[test]
    fn a_narrow_screen_gets_the_shorter_wording() {
        let notices = notices();
        let contact = heard_at(0, 0);
        let at = |columns| {
            notices
                .text(ms(12_000), contact, columns, String::new)
                .unwrap()
        };
        assert!(at(200).contains("what you type is kept"));
        assert_eq!(
            at(80),
            "fulmar: nothing heard for 12 seconds; check the network (Ctrl-^ . quits)"
        );
        assert_eq!(
            at(60),
            "fulmar: nothing heard for 12 seconds; check the network"
        );
        assert_eq!(
            at(54),
            "fulmar: nothing heard for 12 seconds (Ctrl-^ . quits)"
        );
        assert_eq!(at(40), "fulmar: nothing heard for 12 seconds");
        assert_eq!(at(1), "fulmar: nothing heard for 12 seconds");
    }
}
