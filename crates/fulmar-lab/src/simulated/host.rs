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
                if let Some(early) = behind_start(bytes) {
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

/// Returns the bytes that were typed behind the start, if there is one.
fn behind_start(bytes: &[u8]) -> Option<&[u8]> {
    if let Some(early) = bytes.strip_prefix(UNSEEN_START) {
        return Some(early);
    }
    let start = bytes.iter().position(|byte| *byte == START)?;
    Some(&bytes[start + 1..])
}
