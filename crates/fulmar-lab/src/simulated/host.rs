//! The played host without its terminal: from its start on what [`Program`](crate::played::Program) is.

use std::time::Duration;

use crate::played::{CLEAR, Player, READY, START};
use crate::trace::{Event, NoTrace, Record, Size, Trace};

/// Starts the program as [`START`] does: an answer of a terminal, which is no key to a client that
/// predicts.
pub(crate) const UNSEEN_START: &[u8] = b"\x1b[0n";

/// A program in the session: waits to be started, plays a recording and notes what it does.
pub(crate) struct PlayedHost<'a> {
    recording: &'a Trace,
    is_stamped: bool,
    phase: Phase,
    records: Vec<Record>,
    /// The number of bytes of the recording that it has written.
    pub(super) written: usize,
}

enum Phase {
    /// Not yet started by its server.
    Absent,
    /// It is to show that it is ready.
    Arrived,
    /// It waits for the start.
    Ready,
    /// It is to clear the screen and begin; the keys that were received with the start.
    Started(Vec<u8>),
    Playing(Box<Player>),
}

impl<'a> PlayedHost<'a> {
    /// Returns a program that stamps what it writes.
    pub(crate) fn new(recording: &'a Trace) -> Self {
        Self {
            is_stamped: true,
            ..Self::unstamped(recording)
        }
    }

    /// Returns one that writes what was recorded and nothing else, also when its window gets another
    /// size.
    pub(crate) fn unstamped(recording: &'a Trace) -> Self {
        Self {
            recording,
            is_stamped: false,
            phase: Phase::Absent,
            records: Vec::new(),
            written: 0,
        }
    }

    /// Starts the program.
    pub(super) fn start(&mut self) {
        self.phase = Phase::Arrived;
    }

    /// Takes note that its window has got another size.
    pub(super) fn resize(&mut self, now: Duration, size: Size) {
        if let Phase::Playing(player) = &mut self.phase {
            player.resize(now, size);
        }
    }

    /// Takes what was typed.
    pub(super) fn receive(&mut self, now: Duration, bytes: &[u8]) {
        match &mut self.phase {
            Phase::Absent | Phase::Arrived => {}
            Phase::Ready => {
                if let Some(early) = cut_start(bytes) {
                    self.phase = Phase::Started(early.to_vec());
                }
            }
            Phase::Started(early) => early.extend(bytes),
            Phase::Playing(player) => {
                player.receive(now, bytes);
                self.note(now, Event::User(bytes.to_vec()));
            }
        }
    }

    /// Returns what is written now, in one call.
    pub(super) fn poll_output(&mut self, now: Duration) -> Option<Vec<u8>> {
        match &mut self.phase {
            Phase::Absent | Phase::Ready => None,
            Phase::Arrived => {
                self.phase = Phase::Ready;
                Some(format!("{CLEAR}{READY}").into_bytes())
            }
            Phase::Started(early) => {
                let early = std::mem::take(early);
                self.note(now, Event::Size(self.recording.size()));
                let player = Player::new(self.recording, now, self.is_stamped);
                let player = if self.is_stamped {
                    player
                } else {
                    player.with_sizes()
                };
                self.phase = Phase::Playing(Box::new(player));
                if !early.is_empty() {
                    self.receive(now, &early);
                }
                Some(CLEAR.as_bytes().to_vec())
            }
            Phase::Playing(player) => {
                let output = player.poll_output(now)?;
                let mut bytes = output.bytes.clone();
                let stamp = output.stamp.map(|stamp| stamp.sequence());
                bytes.extend(stamp.unwrap_or_default().into_bytes());
                self.written += output.bytes.len();
                self.note(now, Event::Host(output.bytes));
                Some(bytes)
            }
        }
    }

    /// Returns when to ask for output again.
    pub(super) fn poll_timeout(&self) -> Option<Duration> {
        match &self.phase {
            Phase::Playing(player) => player.poll_timeout(),
            Phase::Absent | Phase::Ready => None,
            // At once: before anything else can happen it is asked.
            Phase::Arrived | Phase::Started(_) => Some(Duration::ZERO),
        }
    }

    /// Returns the host's side of the run.
    pub(crate) fn finish(self) -> Result<Trace, NoTrace> {
        Trace::new(self.records)
    }

    fn note(&mut self, at: Duration, event: Event) {
        self.records.push(Record { at, event });
    }
}

/// Returns how many of so many bytes that were typed in all belong to the recording.
pub(crate) fn behind_start(typed: u64) -> usize {
    (typed as usize).saturating_sub(UNSEEN_START.len())
}

/// Returns the bytes that were typed behind the start, if there is one.
fn cut_start(bytes: &[u8]) -> Option<&[u8]> {
    if let Some(early) = bytes.strip_prefix(UNSEEN_START) {
        return Some(early);
    }
    let start = bytes.iter().position(|byte| *byte == START)?;
    Some(&bytes[start + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// A prompt, a key, and its echo after 2 ms.
    fn recording() -> Trace {
        let trace = b"0 SIZE 20 4\n0 HOST 2\n$ \n1000000 USER 1\nl\n1002000 HOST 1\nl\n";
        Trace::parse(trace).unwrap()
    }

    /// Returns what the host writes at a time, as text.
    fn written(host: &mut PlayedHost<'_>, now: u64) -> Vec<String> {
        let output = std::iter::from_fn(|| host.poll_output(ms(now)));
        output
            .map(|bytes| String::from_utf8(bytes).unwrap())
            .collect()
    }

    #[test]
    fn a_host_is_there_ready_and_plays_once_it_is_told() {
        let recording = recording();
        let mut host = PlayedHost::unstamped(&recording);
        host.receive(ms(1), UNSEEN_START);
        assert_eq!((written(&mut host, 1), host.poll_timeout()), (vec![], None));
        host.start();
        assert_eq!(host.poll_timeout(), Some(Duration::ZERO));
        assert_eq!(written(&mut host, 2), [format!("{CLEAR}{READY}")]);
        host.receive(ms(3), b"not yet");
        assert_eq!(
            (written(&mut host, 9000), host.poll_timeout()),
            (vec![], None)
        );
        host.receive(ms(10_000), UNSEEN_START);
        assert_eq!(written(&mut host, 10_000), [CLEAR, "$ "]);
        host.receive(ms(11_000), b"l");
        assert_eq!(
            (written(&mut host, 11_001), host.poll_timeout()),
            (vec![], Some(ms(11_002)))
        );
        assert_eq!(written(&mut host, 11_002), ["l"]);
        assert_eq!(host.written, 3);
    }

    #[test]
    fn it_notes_what_it_plays_and_nothing_before() {
        let recording = recording();
        let mut host = PlayedHost::new(&recording);
        host.start();
        written(&mut host, 0);
        host.receive(ms(5), b"x\r");
        written(&mut host, 7);
        host.receive(ms(8), b"l");
        let echo = written(&mut host, 20);
        assert_eq!(echo, [format!("l{}", crate::judge::Stamp(3).sequence())]);
        assert_eq!(host.written, 3, "stamps are not of the recording");
        let noted = host.finish().unwrap();
        let expected = [
            (7, Event::Size(recording.size())),
            (7, Event::Host(b"$ ".to_vec())),
            (8, Event::User(b"l".to_vec())),
            (20, Event::Host(b"l".to_vec())),
        ];
        let expected = expected.map(|(at, event)| Record { at: ms(at), event });
        assert_eq!(noted.records(), expected);
    }

    #[test]
    fn keys_that_come_with_the_start_are_played_with_it() {
        for (start, early) in [
            (&b"\x1b[0nl"[..], 1),
            (b"\rl", 1),
            (b"\r", 0),
            (b"\x1b[0n", 0),
        ] {
            let recording = recording();
            let mut host = PlayedHost::new(&recording);
            host.start();
            written(&mut host, 0);
            host.receive(ms(5), start);
            // More may come before it has begun.
            host.receive(ms(6), b"");
            written(&mut host, 7);
            let keys = host.finish().unwrap();
            assert_eq!(keys.user().count(), early, "{}", start.escape_ascii());
        }
    }

    #[test]
    fn the_start_is_no_part_of_the_recording() {
        assert_eq!([0, 3, 4, 5, 99].map(behind_start), [0, 0, 0, 1, 95]);
        assert_eq!(cut_start(b"abc"), None);
        assert_eq!(cut_start(b"a\rb\r"), Some(&b"b\r"[..]));
        assert_eq!(cut_start(b"\x1b[0n\r"), Some(&b"\r"[..]));
    }
}
