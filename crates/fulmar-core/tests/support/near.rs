//! The near end: a client, its sockets, and the user's terminal.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use fulmar_base::{Hint, PathId};
use fulmar_core::{Client, ClientConfig, ClientEnding, ClientEvent, OuterTerminal};
use fulmar_predict::{PredictionConfig, PredictionMode};
use fulmar_sim::{Datagram, Node, SendFailure, Transmit};
use fulmar_terminal::{Checker, Size, Terminal, Vocabulary};
use fulmar_transport::Arrival;

use super::{key, time};

/// A client as an edge would drive it.
pub(crate) struct Near {
    pub(crate) client: Client,
    pub(crate) ended: Option<ClientEnding>,
    /// The user's real terminal, fed with all that the client drew.
    pub(crate) terminal: Terminal,
    pub(crate) drawn_bytes: usize,
    pub(crate) frames: usize,
    /// The number of times that it was woken by nothing but time.
    pub(crate) wakes: usize,
    last_arrival: Duration,
    checker: Checker,
    server: SocketAddr,
    paths_opened: u64,
    /// The bytes that a read from the tty would give.
    pasted: VecDeque<u8>,
    /// True if the terminal answers no questions.
    pub(crate) is_mute: bool,
    /// True if what the terminal says of its attributes, the last of its answers, gets lost.
    pub(crate) loses_attributes: bool,
    /// Bytes that the tty takes each millisecond; all of them if `None`.
    tty_speed: Option<usize>,
    /// The bytes that the tty has not taken.
    undrawn: VecDeque<u8>,
    buffer: Vec<u8>,
    outgoing: VecDeque<Transmit>,
    notes: Vec<String>,
    now: Duration,
    pub(crate) largest_log: usize,
}

impl Near {
    pub(crate) fn new(
        size: Size,
        server: SocketAddr,
        configure: impl FnOnce(&mut ClientConfig),
    ) -> Near {
        let now = Duration::ZERO;
        let mut config = ClientConfig {
            size,
            outer: OuterTerminal {
                vocabulary: Vocabulary::FULL,
                enter: b"\x1b[?1049h".to_vec(),
                exit: b"\x1b[?1049l".to_vec(),
                synchronized_output: true,
                is_asked: true,
                ..OuterTerminal::default()
            },
            // What is seen is what has arrived, unless a test is about the rest.
            prediction: PredictionConfig {
                mode: PredictionMode::Never,
                ..PredictionConfig::default()
            },
            ..ClientConfig::new(key(), [1; 32])
        };
        configure(&mut config);
        let mut near = Near {
            client: Client::new(time(now), config),
            ended: None,
            terminal: Terminal::new(size),
            drawn_bytes: 0,
            frames: 0,
            wakes: 0,
            last_arrival: Duration::ZERO,
            checker: Checker::default(),
            server,
            paths_opened: 0,
            pasted: VecDeque::new(),
            is_mute: false,
            loses_attributes: false,
            tty_speed: None,
            undrawn: VecDeque::new(),
            buffer: Vec::new(),
            outgoing: VecDeque::new(),
            notes: Vec::new(),
            now,
            largest_log: 0,
        };
        near.open_path(now);
        near
    }

    pub(crate) fn type_keys(&mut self, now: Duration, keys: &[u8]) {
        self.notes
            .push(format!("types {:?}", String::from_utf8_lossy(keys)));
        self.client.handle_keys(time(now), keys);
        self.after_event(now);
    }

    /// Puts text where the client reads keys, as much at a time as a tty gives.
    pub(crate) fn paste(&mut self, text: &[u8]) {
        self.pasted.extend(text);
    }

    pub(crate) fn resize(&mut self, now: Duration, size: Size) {
        self.notes.push(format!("window is {size}"));
        self.terminal.resize(size);
        self.client.handle_resize(time(now), size);
        self.after_event(now);
    }

    pub(crate) fn limit_tty(&mut self, bytes_per_millisecond: usize) {
        self.tty_speed = Some(bytes_per_millisecond);
    }

    /// Leaves the terminal, as at the end of the process.
    pub(crate) fn leave(&mut self) {
        let mut out = Vec::new();
        self.client.leave(&mut out);
        self.undrawn.extend(out);
        self.flush_tty(usize::MAX);
    }

    fn open_path(&mut self, now: Duration) {
        self.paths_opened += 1;
        let path = PathId::new(self.paths_opened);
        self.client.handle_path_opened(time(now), path);
    }

    fn after_event(&mut self, now: Duration) {
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::OpenPath => {
                    self.notes.push("opens a path".to_owned());
                    self.open_path(now);
                }
                ClientEvent::Ended(why) => {
                    self.notes.push(format!("ended: {why:?}"));
                    self.ended = Some(why);
                }
                _ => {}
            }
        }
    }

    fn read_pasted(&mut self, now: Duration) {
        while !self.pasted.is_empty() && self.client.wants_keys() {
            let count = self.pasted.len().min(16 * 1024);
            let read: Vec<u8> = self.pasted.drain(..count).collect();
            self.client.handle_keys(time(now), &read);
        }
        self.largest_log = self.largest_log.max(self.client.unacknowledged_bytes());
    }

    fn draw(&mut self, now: Duration) {
        if let Some(speed) = self.tty_speed {
            let elapsed = now.saturating_sub(self.now).as_millis() as usize;
            self.flush_tty(speed.saturating_mul(elapsed));
        }
        self.now = now;
        if !self.undrawn.is_empty() {
            return;
        }
        let mut out = Vec::new();
        self.client.draw(time(now), &mut out);
        if !out.is_empty() {
            self.frames += 1;
            self.drawn_bytes += out.len();
            self.undrawn.extend(out);
        }
        if self.tty_speed.is_none() {
            self.flush_tty(usize::MAX);
        }
    }

    fn flush_tty(&mut self, bytes_max: usize) {
        let count = self.undrawn.len().min(bytes_max);
        let taken: Vec<u8> = self.undrawn.drain(..count).collect();
        if let Err(violation) = self.checker.check(&taken) {
            panic!("the client drew what it must not: {violation}");
        }
        self.terminal.process(&taken);
        // The checker sees that it asks once. What it is answered is read like a paste.
        let mut answers = self.terminal.take_replies();
        if self.loses_attributes {
            let left = answers
                .strip_suffix(b"\x1b[?64;6;21;22;28c")
                .map(<[u8]>::len);
            answers.truncate(left.unwrap_or(answers.len()));
        }
        if !self.is_mute {
            self.pasted.extend(answers);
        }
    }
}

impl Node for Near {
    fn handle_datagram(&mut self, now: Duration, datagram: Datagram) {
        self.last_arrival = now;
        let arrival = Arrival {
            path: PathId::new(self.paths_opened),
            ecn: datagram.ecn,
            bytes: &datagram.bytes,
        };
        let _ = self.client.handle_datagram(time(now), arrival);
    }

    fn handle_timeout(&mut self, now: Duration) {
        self.wakes += usize::from(self.last_arrival < now);
        self.client.handle_timeout(time(now));
    }

    fn poll_transmit(&mut self, now: Duration) -> Option<Transmit> {
        self.after_event(now);
        self.read_pasted(now);
        if self.outgoing.is_empty()
            && let Some(transmit) = self.client.poll_transmit(time(now), &mut self.buffer)
        {
            for datagram in transmit.split(&self.buffer) {
                let sent = Transmit::to(self.server, datagram)
                    .ecn(transmit.ecn)
                    .because(fulmar_transport::Countable::name(transmit.cause));
                self.outgoing.push_back(sent);
            }
        }
        if self.outgoing.is_empty() {
            self.draw(now);
            self.after_event(now);
        }
        self.outgoing.pop_front()
    }

    fn next_timeout(&self) -> Option<Duration> {
        let client = self.client.poll_timeout().map(|(at, _)| at.since_origin());
        let tty = (!self.undrawn.is_empty()).then(|| self.now + Duration::from_millis(1));
        [client, tty].into_iter().flatten().min()
    }

    fn poll_note(&mut self) -> Option<String> {
        (!self.notes.is_empty()).then(|| self.notes.remove(0))
    }

    fn handle_send_failure(&mut self, now: Duration, failure: SendFailure) {
        let path = PathId::new(self.paths_opened);
        self.client
            .handle_send_error(time(now), path, failure.error);
    }

    fn handle_hint(&mut self, now: Duration, hint: Hint) {
        self.client.handle_hint(time(now), hint);
    }
}
