//! The part of the program around the two cores: `client/sockets.rs`, `client/event_loop/carrying.rs` and `server/carriers.rs`
//! of crates/fulmar, without pipes and processes.

use std::time::Duration;

use fulmar_base::{Hint, PathId, SendError, Time};
use fulmar_core::{ChosenWays, ClientEvent, Way};
use fulmar_transport::{Arrival, Transmit};

use super::world::{FIRST_STREAM, Flight, PER_ADDRESS, Stream, World, way_of};

/// As in `client/over_ssh.rs` and `server/carriers.rs` of the program.
pub(super) const ASK_AFTER: Duration = Duration::from_millis(400);
pub(super) const SILENT_MAX: Duration = Duration::from_secs(30);
const COPIED_FOR: Duration = Duration::from_secs(5);

/// The time that an ssh takes to log in.
const LOGIN: Duration = Duration::from_millis(800);

impl World {
    pub(super) fn handle_client_events(&mut self) {
        let now = self.time();
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::OpenPath => {
                    self.udp += 1;
                    self.client.handle_path_opened(now, PathId::new(self.udp));
                    self.ways.try_soon(now);
                    self.use_ssh();
                }
                ClientEvent::Ended(ending) => self.ending = Some(ending),
                _ => {}
            }
        }
    }

    pub(super) fn hear(&mut self, way: Way, arrival: Arrival<'_>) {
        let now = self.time();
        let path = arrival.path;
        let received = self.client.handle_datagram(now, arrival);
        let sequence = received.sequence;
        let is_proof = sequence.is_some_and(|sequence| self.ways.is_proof(way, sequence));
        let (is_fresh, instruction) = (received.is_fresh(), received.instruction);
        let acknowledged = instruction.map(|instruction| instruction.numbers.acknowledged);
        if is_proof && self.ways.handle_heard(now, way, is_fresh, acknowledged) {
            self.changes += 1;
            self.client.handle_path_opened(now, path);
        }
    }

    pub(super) fn send_up(&mut self, transmit: &Transmit, buffer: &[u8]) {
        let now = self.time();
        let own = way_of(transmit.path.get());
        if let Some(patience) = self.client.patience() {
            self.ways.set_patience(patience);
        }
        let chosen = if transmit.must_stay_whole() {
            ChosenWays {
                udp: own == Way::Udp,
                ssh: own == Way::Ssh,
            }
        } else {
            self.ways
                .choose(now, transmit.cause, transmit.numbers.instruction.target)
        };
        let newest = self.address * PER_ADDRESS + self.udp;
        let udp = chosen.udp.then_some(match own {
            Way::Udp => self.address * PER_ADDRESS + transmit.path.get(),
            Way::Ssh => newest,
        });
        let stream = self.stream.as_ref().map(|stream| stream.path);
        let paths = [udp, stream.filter(|_| chosen.ssh)];
        if !self.send(paths, true, transmit, buffer) {
            let error = SendError::Unreachable;
            self.client.handle_send_error(now, transmit.path, error);
        }
    }

    pub(super) fn send_down(&mut self, transmit: &Transmit, buffer: &[u8]) {
        let stream = self.stream.as_ref();
        let path = transmit.path.get();
        let paths = match way_of(path) {
            Way::Ssh => [stream.map(|one| one.path).filter(|one| *one == path), None],
            Way::Udp => {
                let is_heard = |heard| self.now.saturating_sub(heard) <= COPIED_FOR;
                let copies = stream.filter(|one| one.heard.is_some_and(is_heard));
                let copies = copies.filter(|_| !transmit.must_stay_whole());
                [Some(path), copies.map(|one| one.path)]
            }
        };
        if !self.send(paths, false, transmit, buffer) {
            let error = SendError::Unreachable;
            let now = self.time();
            self.server.handle_send_error(now, transmit.path, error);
        }
    }

    fn send(
        &mut self,
        paths: [Option<u64>; 2],
        is_up: bool,
        transmit: &Transmit,
        buffer: &[u8],
    ) -> bool {
        for datagram in transmit.split(buffer) {
            self.enter(datagram);
            for path in paths.into_iter().flatten() {
                let bytes = datagram.to_vec();
                self.launch(Flight { path, is_up, bytes });
            }
        }
        paths != [None, None]
    }

    pub(super) fn attend_ssh(&mut self) {
        let now = self.time();
        if self.coming.is_some_and(|coming| coming <= self.now) {
            self.coming = (!self.open.tcp).then_some(self.now + LOGIN);
            if self.open.tcp {
                self.open_ssh();
            }
        }
        let is_missing = self.client.is_answer_missing(now);
        let is_connected = self.client.is_connected();
        let in_use = self.ways.in_use();
        let in_doubt = self.ways.in_doubt_since(now).is_some();
        if let Some(stream) = &mut self.stream {
            let is_silent = in_use == Way::Ssh && is_missing;
            let since = *stream.silent_since.get_or_insert(self.now);
            stream.silent_since = stream.silent_since.filter(|_| is_silent);
            if is_silent && self.now.saturating_sub(since) >= SILENT_MAX {
                self.kill_ssh();
            } else if !self.ways.needs_ssh() && !in_doubt {
                self.close_ssh();
            }
        } else if self.coming.is_none() && !is_connected && self.now >= ASK_AFTER {
            self.coming = Some(self.now + self.delays[1] * 2);
        } else if self.coming.is_none() && is_connected {
            let lost = self.lost.map(Time::from_origin);
            let is_lost = lost.is_some_and(|lost| !self.ways.has_heard_udp_since(lost));
            if is_lost && in_doubt || in_use == Way::Ssh || is_missing {
                self.coming = Some(self.now + LOGIN);
            }
        }
    }

    fn open_ssh(&mut self) {
        let now = self.time();
        self.stream = Some(Stream {
            path: FIRST_STREAM + self.streams,
            heard: None,
            silent_since: None,
            is_dead: false,
        });
        self.streams += 1;
        self.lost = None;
        self.ways.handle_ssh_opened();
        self.use_ssh();
        self.client.handle_hint(now, Hint::LinkUp);
    }

    pub(super) fn close_ssh(&mut self) {
        let now = self.time();
        if self.stream.take().is_some() && self.ways.handle_ssh_closed(now) {
            self.client.handle_path_opened(now, PathId::new(self.udp));
            self.client.handle_hint(now, Hint::LinkUp);
        }
    }

    fn use_ssh(&mut self) {
        let stream = self.stream.as_ref();
        if let Some(stream) = stream.filter(|_| self.ways.in_use() == Way::Ssh) {
            let path = PathId::new(stream.path);
            self.client.handle_path_opened(self.time(), path);
        }
    }
}
