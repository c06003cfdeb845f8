//! The far end: a server, its sockets, a pty and the program on it.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use fulmar_base::{Hint, PathId};
use fulmar_core::{ExitStatus, Server, ServerConfig, ServerEnding, ServerEvent};
use fulmar_sim::{Datagram, Node, Random, SendFailure, Transmit};
use fulmar_terminal::{Reflow, Size, Terminal};
use fulmar_transport::Arrival;
use fulmar_transport::limits::TURN_WORK_MAX;

use super::{key, time};

/// A dull program: it shows what is typed, and floods or paints the screen when it is told to.
#[derive(Debug, Default)]
pub(crate) struct Program {
    /// All that was ever typed.
    pub(crate) typed: Vec<u8>,
    /// True if typed text is not shown.
    pub(crate) is_silent: bool,
    /// The number of lines that the flood still has.
    pub(crate) flood: u64,
    /// The time at which Ctrl-C ended a flood.
    pub(crate) interrupted: Option<Duration>,
    lines: u64,
    /// The painting, while there is one.
    painting: Option<Painting>,
}

/// A whole screen of chance every 10 ms, with the number of keys that were typed in its corner.
#[derive(Debug)]
struct Painting {
    random: Random,
    size: Size,
    next: Duration,
}

impl Painting {
    fn paint(&mut self, keys: usize) -> Vec<u8> {
        let mut out = b"\x1b[H".to_vec();
        let cells = usize::from(self.size.rows()) * usize::from(self.size.columns());
        out.extend((0..cells).map(|_| b'!' + self.random.below(94) as u8));
        out.extend(format!("\x1b[Hkeys: {keys} ").bytes());
        out
    }
}

impl Program {
    /// Reads what was typed and returns what is to be written.
    fn read(&mut self, now: Duration, typed: &[u8]) -> Vec<u8> {
        self.typed.extend(typed);
        if let Some(painting) = &mut self.painting {
            return painting.paint(self.typed.len());
        }
        let mut out = Vec::new();
        for &byte in typed {
            match byte {
                0x03 => {
                    if self.flood > 0 {
                        self.interrupted = Some(now);
                    }
                    self.flood = 0;
                    out.extend_from_slice(b"^C\r\n$ ");
                }
                b'\r' => out.extend_from_slice(b"\r\n$ "),
                0x7F => out.extend_from_slice(b"\x08 \x08"),
                _ if self.is_silent => {}
                byte if byte.is_ascii_control() => out.extend([b'^', byte ^ 0x40]),
                byte => out.push(byte),
            }
        }
        out
    }

    /// Returns what the flood or the painting writes now.
    fn pour(&mut self, now: Duration) -> Vec<u8> {
        let mut out = Vec::new();
        if let Some(painting) = &mut self.painting
            && painting.next <= now
        {
            painting.next = now + Duration::from_millis(10);
            out.extend(painting.paint(self.typed.len()));
        }
        while self.flood > 0 && out.len() < 8 * 1024 {
            self.flood -= 1;
            self.lines += 1;
            out.extend(format!("line {} of a flood\r\n", self.lines).bytes());
        }
        out
    }
}

/// A server as an edge would drive it.
pub(crate) struct Far {
    pub(crate) server: Server,
    pub(crate) program: Program,
    pub(crate) ended: Option<ServerEnding>,
    pub(crate) events: Vec<ServerEvent>,
    /// A terminal that is told what the program writes, directly.
    pub(crate) reference: Terminal,
    pub(crate) is_running: bool,
    /// The number of times that it was woken by nothing but time.
    pub(crate) wakes: usize,
    last_arrival: Duration,
    /// Bytes that the program reads each millisecond; all of them if `None`.
    pty_speed: Option<usize>,
    paths: Vec<SocketAddr>,
    buffer: Vec<u8>,
    outgoing: VecDeque<Transmit>,
    notes: Vec<String>,
    now: Duration,
    /// The address to which the last datagram was sent.
    pub(crate) sends_to: Option<SocketAddr>,
    pub(crate) largest_backlog: usize,
}

impl Far {
    pub(crate) fn new(size: Size, configure: impl FnOnce(&mut ServerConfig)) -> Far {
        let mut config = ServerConfig {
            size,
            ..ServerConfig::new(key(), [2; 32])
        };
        configure(&mut config);
        Far {
            server: Server::new(time(Duration::ZERO), config),
            program: Program::default(),
            ended: None,
            events: Vec::new(),
            reference: Terminal::new(size),
            is_running: false,
            wakes: 0,
            last_arrival: Duration::ZERO,
            pty_speed: None,
            paths: Vec::new(),
            buffer: Vec::new(),
            outgoing: VecDeque::new(),
            notes: Vec::new(),
            now: Duration::ZERO,
            sends_to: None,
            largest_backlog: 0,
        }
    }

    /// Has the program write something.
    pub(crate) fn write(&mut self, now: Duration, bytes: &[u8]) {
        self.notes
            .push(format!("program writes {} bytes", bytes.len()));
        self.output(now, bytes);
    }

    pub(crate) fn start_flood(&mut self, lines: u64) {
        self.notes.push(format!("program floods {lines} lines"));
        self.program.flood = lines;
    }

    pub(crate) fn start_painting(&mut self, now: Duration, seed: u64) {
        self.notes.push("program paints".to_owned());
        self.program.painting = Some(Painting {
            random: Random::stream(seed, 200),
            size: self.reference.screen().size(),
            next: now,
        });
    }

    pub(crate) fn stop_painting(&mut self) {
        self.notes.push("program paints no more".to_owned());
        self.program.painting = None;
    }

    pub(crate) fn exit(&mut self, now: Duration) {
        self.notes.push("program exits".to_owned());
        self.is_running = false;
        self.server.handle_pty_closed(time(now));
        self.after_event();
    }

    /// Has the edge learn how the program ended.
    pub(crate) fn learn_status(&mut self, now: Duration, status: ExitStatus) {
        self.notes.push(format!("program ended: {status:?}"));
        self.server.handle_program_ended(time(now), status);
        self.after_event();
    }

    pub(crate) fn limit_pty(&mut self, bytes_per_millisecond: usize) {
        self.pty_speed = Some(bytes_per_millisecond);
    }

    fn output(&mut self, now: Duration, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.reference.process(bytes);
            let mut rest: &[u8] = bytes;
            while !rest.is_empty() {
                let taken = self
                    .server
                    .handle_pty_output(time(now), rest, TURN_WORK_MAX);
                rest = &rest[taken..];
            }
            self.after_event();
        }
    }

    fn after_event(&mut self) {
        while let Some(event) = self.server.poll_event() {
            self.notes.push(format!("{event:?}"));
            self.events.push(event);
            match event {
                ServerEvent::StartShell { size } => {
                    assert!(!self.is_running, "the program is started once");
                    self.is_running = true;
                    self.reference.resize_with(size, Reflow::AboveCursor);
                }
                ServerEvent::ResizePty { size } => {
                    self.reference.resize_with(size, Reflow::AboveCursor)
                }
                ServerEvent::Ended(why) => self.ended = Some(why),
                _ => {}
            }
        }
    }

    fn run_program(&mut self, now: Duration) {
        let elapsed = now.saturating_sub(self.now).as_millis() as usize;
        let mut room = self
            .pty_speed
            .map_or(usize::MAX, |speed| speed.saturating_mul(elapsed));
        self.now = now;
        while self.is_running && room > 0 && !self.server.pty_input().is_empty() {
            let input = self.server.pty_input();
            let taken = input.get(..room).unwrap_or(input).to_vec();
            self.server.pty_taken(time(now), taken.len());
            room -= taken.len();
            let shown = self.program.read(now, &taken);
            self.output(now, &shown);
        }
        self.largest_backlog = self.largest_backlog.max(self.server.pty_input().len());
        self.after_event();
    }
}

impl Node for Far {
    fn handle_datagram(&mut self, now: Duration, datagram: Datagram) {
        self.last_arrival = now;
        let known = self.paths.iter().position(|path| *path == datagram.source);
        let path = known.unwrap_or_else(|| {
            self.paths.push(datagram.source);
            self.paths.len() - 1
        });
        let arrival = Arrival {
            path: PathId::new(path as u64),
            ecn: datagram.ecn,
            bytes: &datagram.bytes,
        };
        let _ = self.server.handle_datagram(time(now), arrival);
        self.after_event();
    }

    fn handle_timeout(&mut self, now: Duration) {
        self.wakes += usize::from(self.last_arrival < now);
        if self.is_running {
            let poured = self.program.pour(now);
            self.output(now, &poured);
        }
        self.server.handle_timeout(time(now));
        self.after_event();
    }

    fn poll_transmit(&mut self, now: Duration) -> Option<Transmit> {
        self.run_program(now);
        if self.outgoing.is_empty()
            && let Some(transmit) = self.server.poll_transmit(time(now), &mut self.buffer)
        {
            let to = self.paths[transmit.path.get() as usize];
            self.sends_to = Some(to);
            for datagram in transmit.split(&self.buffer) {
                let sent = Transmit::to(to, datagram)
                    .ecn(transmit.ecn)
                    .because(fulmar_transport::Countable::name(transmit.cause));
                self.outgoing.push_back(sent);
            }
        }
        self.after_event();
        self.outgoing.pop_front()
    }

    fn next_timeout(&self) -> Option<Duration> {
        let server = self.server.poll_timeout().map(|(at, _)| at.since_origin());
        let is_busy =
            self.is_running && (self.program.flood > 0 || !self.server.pty_input().is_empty());
        let program = is_busy.then(|| self.now + Duration::from_millis(1));
        let painting = self.program.painting.as_ref().map(|painting| painting.next);
        let painting = painting.filter(|_| self.is_running);
        [server, program, painting].into_iter().flatten().min()
    }

    fn poll_note(&mut self) -> Option<String> {
        (!self.notes.is_empty()).then(|| self.notes.remove(0))
    }

    fn handle_send_failure(&mut self, now: Duration, failure: SendFailure) {
        let path = self
            .paths
            .iter()
            .position(|path| *path == failure.destination);
        if let Some(path) = path {
            let path = PathId::new(path as u64);
            self.server
                .handle_send_error(time(now), path, failure.error);
        }
    }

    fn handle_hint(&mut self, now: Duration, hint: Hint) {
        self.server.handle_hint(time(now), hint);
    }
}
