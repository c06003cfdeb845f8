//! The events of a run, for a tired human.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use crate::datagram::{Datagram, HostId, Label};
use crate::hash::Fnv;
use crate::impairment::{Fate, LossCause};
use fulmar_base::SendError;

/// The number of events that are kept by default: what fits a few screens. Chosen by eye.
const EVENTS_MAX: usize = 400;

/// The last events of a run, and counts of all of them.
///
/// ```text
///     time in s  host    what
///      5.000000  client  sent       #12   98 B  to 203.0.113.1:60001  heartbeat
///      5.080000  client  lost       #12   98 B  by chance
/// ```
///
/// A datagram keeps its number on its way; a copy that the network made is marked with `'`. Where a
/// test panics before the timeline became part of a failure, it prints itself.
pub struct Timeline {
    seed: u64,
    /// It was written into a failure.
    is_told: bool,
    names: Vec<String>,
    events: VecDeque<Event>,
    events_max: usize,
    events_total: u64,
    counts: BTreeMap<HostId, Counts>,
    fingerprint: Fnv,
}

/// The number of times that things happened to one host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Datagrams it sent.
    pub sent: u64,
    /// The bytes of their payloads.
    pub sent_bytes: u64,
    /// Datagrams that reached it.
    pub delivered: u64,
    /// The bytes of their payloads.
    pub delivered_bytes: u64,
    /// Copies that the network made of what it sent.
    pub doubled: u64,
    /// The number of times that one of its datagrams had to wait in a queue.
    pub queued: u64,
    /// The number of its datagrams that were lost without a word, by cause.
    pub lost: BTreeMap<LossCause, u64>,
    /// The number of its datagrams that were lost, and its system told it.
    pub refused: u64,
    /// The number of times that its timer ran out.
    pub timeouts: u64,
}

impl Counts {
    /// Returns how many of its datagrams were lost without a word.
    #[must_use]
    pub fn lost_total(&self) -> u64 {
        self.lost.values().sum()
    }
}

#[derive(Clone, Debug)]
struct Event {
    at: Duration,
    host: Option<HostId>,
    label: Option<Label>,
    what: EventKind,
}

/// The kind of an event, as it is kept.
#[derive(Clone, Debug)]
pub(crate) enum EventKind {
    Sent(&'static str),
    Delivered,
    Met(Fate),
    Timeout(&'static str),
    Note(String),
}

/// One event of a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The time of the event.
    pub at: Duration,
    /// The host that had to do with it: the receiver of what was delivered, otherwise the sender.
    pub host: Option<HostId>,
    /// The number of the datagram, in the order of sending of all hosts.
    pub serial: Option<u64>,
    /// True if the network made that datagram, as a copy.
    pub is_copy: bool,
    /// Its length: of the payload, or of the packet where it is a whole one.
    pub bytes: usize,
    /// The kind of the event.
    pub what: EntryKind,
}

/// A kind of event.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EntryKind {
    /// A datagram was sent.
    Sent,
    /// It reached a host.
    Delivered,
    /// It was lost.
    Lost(LossCause),
    /// It was lost, and its sender is told.
    Refused(SendError),
    /// The network made a copy of it.
    Doubled,
    /// It had to wait in a queue.
    Queued,
    /// A program's timer ran out.
    Timeout,
    /// Something else, such as a change.
    Note(String),
}

impl Event {
    fn entry(&self) -> Entry {
        let what = match &self.what {
            EventKind::Sent(_) => EntryKind::Sent,
            EventKind::Delivered => EntryKind::Delivered,
            EventKind::Met(Fate::Lost(cause)) => EntryKind::Lost(*cause),
            EventKind::Met(Fate::Refused(error)) => EntryKind::Refused(*error),
            EventKind::Met(Fate::Doubled) => EntryKind::Doubled,
            EventKind::Met(Fate::Queued) => EntryKind::Queued,
            EventKind::Timeout(_) => EntryKind::Timeout,
            EventKind::Note(text) => EntryKind::Note(text.clone()),
        };
        let ticket = self.label.map(|label| label.ticket);
        Entry {
            at: self.at,
            host: self.host,
            serial: ticket.map(|ticket| ticket.serial),
            is_copy: ticket.is_some_and(|ticket| ticket.is_copy),
            bytes: self.label.map_or(0, |label| label.len),
            what,
        }
    }

    fn add_to(&self, hash: &mut Fnv) {
        hash.add(&self.at.as_nanos().to_le_bytes());
        hash.add(&[
            self.host.map_or(u8::MAX, |host| host.0 as u8),
            self.what.kind(),
        ]);
        if let Some(label) = &self.label {
            hash.add(&label.ticket.serial.to_le_bytes());
            for address in [label.source, label.destination] {
                hash.add(&address.port().to_le_bytes());
                match address.ip() {
                    IpAddr::V4(ip) => hash.add(&ip.octets()),
                    IpAddr::V6(ip) => hash.add(&ip.octets()),
                }
            }
        }
        if let EventKind::Note(text) = &self.what {
            hash.add(text.as_bytes());
        }
    }
}

impl EventKind {
    /// Returns a number for each kind, the same for ever.
    fn kind(&self) -> u8 {
        match self {
            Self::Sent(_) => 0,
            Self::Delivered => 1,
            Self::Timeout(_) => 2,
            Self::Note(_) => 3,
            Self::Met(Fate::Doubled) => 4,
            Self::Met(Fate::Queued) => 5,
            Self::Met(Fate::Refused(_)) => 6,
            Self::Met(Fate::Lost(_)) => 7,
        }
    }
}

impl Timeline {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            is_told: false,
            names: Vec::new(),
            events: VecDeque::new(),
            events_max: EVENTS_MAX,
            events_total: 0,
            counts: BTreeMap::new(),
            fingerprint: Fnv::START,
        }
    }

    /// Keeps the last `events_max` events from here on.
    pub fn keep(&mut self, events_max: usize) {
        self.events_max = events_max;
        self.trim();
    }

    /// Returns how often things happened to this host.
    #[must_use]
    pub fn counts(&self, host: HostId) -> Counts {
        self.counts.get(&host).cloned().unwrap_or_default()
    }

    /// Returns a number that is equal for two runs in which the same bytes went the same ways at the
    /// same times, and hardly ever for two others.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint.value()
    }

    /// Returns the events that are kept, in order.
    pub fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        self.events.iter().map(Event::entry)
    }

    /// Writes a line of the test's own.
    pub fn note(&mut self, at: Duration, text: impl Into<String>) {
        self.push(Event {
            at,
            host: None,
            label: None,
            what: EventKind::Note(text.into()),
        });
    }

    /// Returns all that is kept, as text, for a failure.
    pub(crate) fn tell(&mut self) -> String {
        self.is_told = true;
        self.to_string()
    }

    pub(crate) fn host_note(&mut self, at: Duration, host: HostId, text: impl Into<String>) {
        self.push(Event {
            at,
            host: Some(host),
            label: None,
            what: EventKind::Note(text.into()),
        });
    }

    pub(crate) fn add_host(&mut self, name: &str) {
        self.names.push(name.to_owned());
    }

    pub(crate) fn sent(&mut self, at: Duration, datagram: &Datagram, why: &'static str) {
        self.fingerprint.add(&datagram.bytes);
        let count = self.counts_of(datagram.ticket.sender);
        count.sent += 1;
        count.sent_bytes += datagram.bytes.len() as u64;
        self.datagram(
            at,
            datagram.ticket.sender,
            datagram.label(),
            EventKind::Sent(why),
        );
    }

    pub(crate) fn delivered(&mut self, at: Duration, host: HostId, datagram: &Datagram) {
        let count = self.counts_of(host);
        count.delivered += 1;
        count.delivered_bytes += datagram.bytes.len() as u64;
        self.datagram(at, host, datagram.label(), EventKind::Delivered);
    }

    pub(crate) fn met(&mut self, at: Duration, label: Label, fate: Fate) {
        let count = self.counts_of(label.ticket.sender);
        match fate {
            Fate::Lost(cause) => *count.lost.entry(cause).or_default() += 1,
            Fate::Refused(_) => count.refused += 1,
            Fate::Doubled => count.doubled += 1,
            Fate::Queued => count.queued += 1,
        }
        self.datagram(at, label.ticket.sender, label, EventKind::Met(fate));
    }

    pub(crate) fn timeout(&mut self, at: Duration, host: HostId, why: &'static str) {
        self.counts_of(host).timeouts += 1;
        self.push(Event {
            at,
            host: Some(host),
            label: None,
            what: EventKind::Timeout(why),
        });
    }

    fn datagram(&mut self, at: Duration, host: HostId, label: Label, what: EventKind) {
        self.push(Event {
            at,
            host: Some(host),
            label: Some(label),
            what,
        });
    }

    fn counts_of(&mut self, host: HostId) -> &mut Counts {
        self.counts.entry(host).or_default()
    }

    fn push(&mut self, event: Event) {
        event.add_to(&mut self.fingerprint);
        self.events_total += 1;
        self.events.push_back(event);
        self.trim();
    }

    fn trim(&mut self) {
        let surplus = self.events.len().saturating_sub(self.events_max);
        self.events.drain(..surplus);
    }

    fn name(&self, host: Option<HostId>) -> &str {
        host.and_then(|host| self.names.get(host.0))
            .map_or("-", String::as_str)
    }

    fn line(&self, event: &Event) -> String {
        let (at, host) = (event.at.as_secs_f64(), self.name(event.host));
        let (verb, rest) = describe(&event.what, event.label.as_ref());
        let datagram = event.label.map_or_else(String::new, |label| {
            format!("{:>6} {:>5} B  ", label.ticket.to_string(), label.len)
        });
        let line = format!("{at:>14.6}  {host:<8}  {verb:<9} {datagram}{rest}");
        line.trim_end().to_owned()
    }
}

/// Returns the verb of a line and what follows the datagram's number and size.
fn describe(what: &EventKind, label: Option<&Label>) -> (&'static str, String) {
    let to = |way, address: Option<SocketAddr>| {
        address.map_or_else(String::new, |address| format!("{way} {address}"))
    };
    match what {
        EventKind::Sent(why) => (
            "sent",
            format!("{}  {why}", to("to", label.map(|label| label.destination))),
        ),
        EventKind::Delivered => ("delivered", to("from", label.map(|label| label.source))),
        EventKind::Met(Fate::Lost(cause)) => ("lost", cause.to_string()),
        EventKind::Met(Fate::Refused(error)) => ("refused", SendError::to_string(error)),
        EventKind::Met(Fate::Doubled) => ("doubled", String::new()),
        EventKind::Met(Fate::Queued) => ("queued", String::new()),
        EventKind::Timeout(why) => ("timer", (*why).to_owned()),
        EventKind::Note(text) => ("·", text.clone()),
    }
}

impl fmt::Display for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let earlier = self.events_total - self.events.len() as u64;
        if earlier > 0 {
            writeln!(f, "  ({earlier} earlier events are not shown)")?;
        }
        for event in &self.events {
            writeln!(f, "{}", self.line(event))?;
        }
        for (host, counts) in &self.counts {
            write!(
                f,
                "  {}: sent {} ({} B), delivered {} ({} B), lost {}, refused {}, timers {}",
                self.name(Some(*host)),
                counts.sent,
                counts.sent_bytes,
                counts.delivered,
                counts.delivered_bytes,
                counts.lost_total(),
                counts.refused,
                counts.timeouts,
            )?;
            for (cause, count) in &counts.lost {
                write!(f, "; {cause}: {count}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Drop for Timeline {
    fn drop(&mut self) {
        if std::thread::panicking() && !self.is_told && !self.events.is_empty() {
            eprintln!("network seed {:#x}\n{self}", self.seed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{address, ms};

    fn datagram() -> Datagram {
        let (source, destination) = (address("192.0.2.1:1"), address("[2001:db8::1]:2"));
        Datagram::new(source, destination, *b"text")
    }

    fn fingerprint(write: impl FnOnce(&mut Timeline)) -> u64 {
        let mut timeline = Timeline::new(7);
        write(&mut timeline);
        timeline.fingerprint()
    }

    #[test]
    fn whatever_differs_shows_in_the_fingerprint() {
        let sent = |change: fn(&mut Datagram), at| {
            let mut datagram = datagram();
            change(&mut datagram);
            fingerprint(|timeline| timeline.sent(ms(at), &datagram, ""))
        };
        let same = sent(|_| (), 1);
        assert_eq!(sent(|_| (), 1), same);
        assert_ne!(sent(|_| (), 2), same);
        assert_ne!(sent(|datagram| datagram.bytes[3] = b's', 1), same);
        assert_ne!(sent(|datagram| datagram.source.set_port(9), 1), same);
        assert_ne!(sent(|datagram| datagram.destination.set_port(9), 1), same);
        assert_ne!(sent(|datagram| datagram.ticket.serial = 9, 1), same);
        assert_ne!(sent(|datagram| datagram.ticket.sender = HostId(1), 1), same);
        let delivered = fingerprint(|timeline| timeline.delivered(ms(1), HostId(0), &datagram()));
        assert_ne!(delivered, same);
    }

    #[test]
    fn fates_and_notes_show_in_the_fingerprint() {
        let met = |fate| fingerprint(|timeline| timeline.met(ms(1), datagram().label(), fate));
        assert_ne!(met(Fate::Queued), met(Fate::Doubled));
        let note = |text: &str| fingerprint(|timeline| timeline.note(ms(1), text));
        assert_ne!(note("one"), note("two"));
    }

    #[test]
    fn entries_tell_what_the_lines_tell() {
        let mut timeline = Timeline::new(7);
        let mut datagram = datagram();
        datagram.ticket.serial = 12;
        timeline.sent(ms(1), &datagram, "why");
        timeline.met(ms(1), datagram.label(), Fate::Queued);
        timeline.delivered(ms(3), HostId(1), &datagram);
        timeline.note(ms(4), "a change");
        let entries: Vec<Entry> = timeline.entries().collect();
        let whats = entries.iter().map(|entry| entry.what.clone());
        let expected = [
            EntryKind::Sent,
            EntryKind::Queued,
            EntryKind::Delivered,
            EntryKind::Note("a change".to_owned()),
        ];
        assert_eq!(whats.collect::<Vec<_>>(), expected);
        let delivered = &entries[2];
        assert_eq!((delivered.at, delivered.host), (ms(3), Some(HostId(1))));
        assert_eq!((delivered.serial, delivered.bytes), (Some(12), 4));
        assert_eq!(entries[3].serial, None);
    }

    #[test]
    fn each_fate_is_counted_for_the_sender() {
        let mut timeline = Timeline::new(7);
        let mut label = datagram().label();
        label.ticket.sender = HostId(1);
        let lost = [LossCause::Random, LossCause::Nat, LossCause::Nat].map(Fate::Lost);
        let others = [
            Fate::Queued,
            Fate::Doubled,
            Fate::Refused(SendError::TooBig),
        ];
        for fate in lost.into_iter().chain(others) {
            timeline.met(ms(1), label, fate);
        }
        let counts = timeline.counts(HostId(1));
        assert_eq!((counts.lost_total(), counts.lost[&LossCause::Nat]), (3, 2));
        assert_eq!((counts.queued, counts.doubled, counts.refused), (1, 1, 1));
        assert_eq!(timeline.counts(HostId(0)), Counts::default());
    }
}
