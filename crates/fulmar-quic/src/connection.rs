//! The connection: a client's or a server's end as a state machine.

mod clock;
mod config;
mod liveness;
mod pacer;
mod paths;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use fulmar_base::{Ecn, PathId, Time};
use quinn_proto::{
    ConnectionError, ConnectionHandle, DatagramEvent, Endpoint, FrameStats, Incoming, Side,
    StreamEvent, VarInt,
};

use crate::control::{self, SharedControl};
use crate::streams::Streams;
use crate::window::FlowControlWindow;
use crate::{
    ConnectionEnd, ConnectionEvent, ConnectionOptions, DatagramVerdict, InitialFilter, Secret,
    Statistics, StreamId, Transmit,
};
use clock::Clock;
use config::Config;
use liveness::Liveness;
use pacer::Pacer;
use paths::Paths;

/// The most datagrams that one transmission has: what a kernel segments at once is 64 of them and
/// 65 507 bytes.
///
/// Chosen by eye: 40 of the longest are 58 kB. Source of the bounds: udp(7), `UDP_SEGMENT`.
const SEGMENTS_MAX: usize = 40;

/// One end of a connection.
///
/// It is driven as every state machine here: hand over what has arrived, read and write streams, then
/// [`poll_transmit`](Connection::poll_transmit) until `None`, events until `None`, and
/// [`poll_timeout`](Connection::poll_timeout) last. Nothing is sent by any other call.
///
/// A server's end exists before there is a peer. It takes one connection, the first that is
/// genuine, and ignores every other for good.
pub struct Connection {
    side: Side,
    clock: Clock,
    config: Config,
    endpoint: Endpoint,
    peer: Option<Peer>,
    filter: InitialFilter,
    paths: Paths,
    streams: Streams,
    receive: FlowControlWindow,
    send: FlowControlWindow,
    /// Bytes of packets that the peer has acknowledged so far.
    acknowledged: u64,
    liveness: Liveness,
    pacer: Pacer,
    control: Arc<SharedControl>,
    events: VecDeque<ConnectionEvent>,
    is_connected: bool,
    has_ended: bool,
    /// The bytes that quinn wants to send to whom it does not know: never sent.
    unsaid: Vec<u8>,
    wake: Option<Time>,
}

/// The connection within QUIC.
struct Peer {
    handle: ConnectionHandle,
    quic: quinn_proto::Connection,
    /// Frames that had come when this was last looked at, acknowledgements apart: only genuine packets
    /// add to them.
    came: (u64, u64),
    /// Frames to be acknowledged that had left.
    left: u64,
    /// Something has come that is to be acknowledged, and nothing was sent since.
    owes: bool,
}

impl Connection {
    /// Returns a client's end, which begins with the next [`poll_transmit`](Self::poll_transmit).
    ///
    /// `seed` is 32 random bytes, used once; `origin` is the system's instant that stands for the
    /// origin of all times. Until the server has answered, `path` is where its first datagrams are
    /// to go; the edge may send copies of them to other addresses, and the path on which the first
    /// genuine answer comes is used from then on.
    #[must_use]
    pub fn client(
        secret: &Secret,
        seed: [u8; 32],
        origin: Instant,
        now: Time,
        path: PathId,
        options: &ConnectionOptions,
    ) -> Connection {
        let mut connection = Connection::new(Side::Client, secret, seed, origin, now, options);
        connection.paths = Paths::of_client(path);
        connection.connect(now);
        connection
    }

    /// Returns a server's end, which waits for its client.
    ///
    /// `seed` and `origin` are as for [`client`](Self::client).
    #[must_use]
    pub fn server(
        secret: &Secret,
        seed: [u8; 32],
        origin: Instant,
        now: Time,
        options: &ConnectionOptions,
    ) -> Connection {
        Connection::new(Side::Server, secret, seed, origin, now, options)
    }

    fn new(
        side: Side,
        secret: &Secret,
        seed: [u8; 32],
        origin: Instant,
        now: Time,
        options: &ConnectionOptions,
    ) -> Connection {
        let control = Arc::new(SharedControl::default());
        let config = Config::new(side, secret, seed, options, control.clone());
        Connection {
            side,
            clock: Clock::new(origin),
            endpoint: config.endpoint(),
            peer: None,
            filter: config.filter(),
            paths: Paths::of_server(),
            streams: Streams::new(side, config.streams),
            receive: FlowControlWindow::up_to(config.window_max),
            send: FlowControlWindow::up_to(config.window_max),
            acknowledged: 0,
            liveness: Liveness::from(now),
            pacer: Pacer::new(now),
            control,
            config,
            events: VecDeque::new(),
            is_connected: false,
            has_ended: false,
            unsaid: Vec::new(),
            wake: None,
        }
    }

    fn connect(&mut self, now: Time) {
        let begun = self.config.client().and_then(|config| {
            let remote = self.paths.remote();
            let now = self.clock.instant(now);
            self.endpoint.connect(now, config, remote, "fulmar").ok()
        });
        match begun {
            Some((handle, quic)) => self.peer = Some(Peer::new(handle, quic)),
            None => self.end(ConnectionEnd::Broken(
                "no keys can be made of the secret".to_owned(),
            )),
        }
        self.note_timeout();
    }

    /// Takes a datagram that has arrived. What is not from the peer changes nothing but a counter.
    pub fn handle_datagram(
        &mut self,
        now: Time,
        path: PathId,
        ecn: Ecn,
        bytes: &[u8],
    ) -> DatagramVerdict {
        if let Err(rejected) = self.filter.check(bytes) {
            return DatagramVerdict::Rejected(rejected);
        }
        let remote = self.paths.remote_of(path);
        let event = self.endpoint.handle(
            self.clock.instant(now),
            remote,
            None,
            clock::codepoint(ecn),
            BytesMut::from(bytes),
            &mut self.unsaid,
        );
        // QUIC may have written an answer to somebody unknown. It is never sent
        // (docs/threat-model.md §7.1).
        self.unsaid.clear();
        let verdict = match event {
            Some(DatagramEvent::ConnectionEvent(_, event)) => self.take(now, path, event),
            Some(DatagramEvent::NewConnection(incoming)) => self.accept(now, path, incoming),
            Some(DatagramEvent::Response(_)) | None => DatagramVerdict::Useless,
        };
        if verdict == DatagramVerdict::Genuine {
            // What was read would come in a bunch after each gap that is filled.
            self.receive.on_delivered(bytes.len() as u64);
            self.streams.unblock();
        }
        self.note_timeout();
        verdict
    }

    fn take(
        &mut self,
        now: Time,
        path: PathId,
        event: quinn_proto::ConnectionEvent,
    ) -> DatagramVerdict {
        let Some(peer) = &mut self.peer else {
            return DatagramVerdict::Useless;
        };
        peer.quic.handle_event(event);
        // QUIC does not say whether a packet was authentic. Only authentic ones add to its counts
        // of frames.
        let is_genuine = peer.has_heard();
        let acknowledged = self.control.take_acknowledged();
        self.send.on_delivered(acknowledged);
        self.acknowledged = self.acknowledged.saturating_add(acknowledged);
        self.settle(now);
        if !is_genuine {
            return DatagramVerdict::Useless;
        }
        // A peer that does not hear this end may go on sending. Only an acknowledgement proves both
        // directions.
        if acknowledged > 0 {
            self.liveness.heard(now);
        }
        self.paths.heard(path);
        DatagramVerdict::Genuine
    }

    /// Takes the first connection; others are forgotten without a word.
    fn accept(&mut self, now: Time, path: PathId, incoming: Incoming) -> DatagramVerdict {
        if self.peer.is_some() || self.has_ended {
            // Not `refuse`, which would send an answer (docs/threat-model.md §7.1).
            self.endpoint.ignore(incoming);
            return DatagramVerdict::Useless;
        }
        let id = *incoming.orig_dst_cid();
        let instant = self.clock.instant(now);
        let accepted = self
            .endpoint
            .accept(incoming, instant, &mut self.unsaid, None);
        self.unsaid.clear();
        let Ok((handle, quic)) = accepted else {
            return DatagramVerdict::Useless;
        };
        // First datagrams of others are rejected from now on, before QUIC does a key exchange for
        // them.
        self.filter.begin(&id);
        self.peer = Some(Peer::new(handle, quic));
        self.liveness.heard(now);
        self.paths.heard(path);
        self.settle(now);
        DatagramVerdict::Genuine
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Time) {
        let instant = self.clock.instant(now);
        if let Some(peer) = &mut self.peer {
            peer.quic.handle_timeout(instant);
        }
        self.settle(now);
        if self.is_open() {
            self.liveness.handle_timeout(now);
        }
        self.note_timeout();
    }

    /// Learns that sockets, addresses or the network have changed, or that the machine has slept.
    ///
    /// A client goes on by `path`, with everything that was known about the way forgotten; a server
    /// stays where it is until its client is heard elsewhere. Both ask at once whether the other is
    /// there.
    pub fn handle_path_change(&mut self, now: Time, path: PathId) {
        // Only a client migrates (RFC 9000 §9).
        if self.side.is_client()
            && self.paths.move_to(path)
            && let Some(peer) = &mut self.peer
        {
            peer.quic.path_changed(self.clock.instant(now));
        }
        if self.is_open() {
            self.liveness.want_probe();
        }
    }

    /// Returns the next datagrams to send, which are put into `out` instead of what it held.
    pub fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> Option<Transmit> {
        out.clear();
        // The handshake has no round trip yet to be paced by, and a probe is a single datagram.
        let may_rest = self.is_open() && !self.liveness.has_probe();
        if may_rest && self.pacer.is_holding(now) {
            return None;
        }
        self.flush(now);
        let transmit = self.next_transmit(now, out);
        self.pacer.on_transmit(now, transmit.is_some());
        self.settle(now);
        self.note_timeout();
        transmit
    }

    fn next_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> Option<Transmit> {
        let instant = self.clock.instant(now);
        let peer = self.peer.as_mut()?;
        let transmit = if self.liveness.take_probe(now) {
            // After an outage the congestion window is full of what was lost. A probe leaves past
            // it (docs/copy-protocol.md §10).
            self.control.set_open(true);
            peer.quic.ping();
            // One packet: several would be a burst into a path that may be dead.
            let transmit = peer.quic.poll_transmit(instant, 1, out);
            self.control.set_open(false);
            transmit?
        } else {
            let is_validated = control::is_path_validated(peer.quic.congestion_state());
            let mtu = peer.quic.current_mtu();
            let remote = peer.quic.remote_address();
            let segments = self
                .paths
                .allowance(remote, is_validated, mtu, SEGMENTS_MAX);
            // The address has had all that it may get before it is validated (docs/threat-model.md
            // §6). Only its answer changes that, so no timer is set.
            if segments == 0 {
                self.pacer.clear_wait();
                return None;
            }
            let (window, rtt) = (self.control.window(), peer.quic.rtt());
            // A flight of Startup leaves at once: how the path spreads it shows the rate of the
            // bottleneck.
            let allowed = if self.control.is_unpaced() {
                self.pacer.budget_unpaced(now)
            } else {
                self.pacer.budget(now, window, rtt, mtu)
            };
            let allowed = allowed.min(self.control.available_window());
            let datagrams = usize::try_from(allowed / u64::from(mtu)).unwrap_or(usize::MAX);
            // QUIC holds acknowledgements back together with what it has to say besides.
            self.control.set_open(datagrams > 0 || peer.owes);
            let transmit = peer
                .quic
                .poll_transmit(instant, segments.min(datagrams.max(1)), out);
            self.control.set_open(false);
            let transmit = transmit?;
            peer.owes = false;
            transmit
        };
        // Packets that only acknowledge are not in flight and not paced (RFC 9002 §7).
        if peer.has_asked() {
            self.control.on_sent(transmit.size as u64);
            self.pacer.spend(transmit.size);
        }
        self.paths.sent(transmit.destination, transmit.size);
        Some(Transmit {
            path: self.paths.path_of(transmit.destination),
            ecn: clock::mark(transmit.ecn),
            length: transmit.size,
            segment: transmit.segment_size.unwrap_or(transmit.size),
        })
    }

    /// Moves staged bytes into QUIC and lets the windows follow the path.
    fn flush(&mut self, now: Time) {
        let is_open = self.is_open();
        let Some(peer) = self.peer.as_mut().filter(|_| is_open) else {
            return;
        };
        let (rtt, shortest) = (peer.quic.rtt(), peer.quic.min_rtt());
        if let Some(window) = self.receive.advance(now, rtt, shortest) {
            peer.quic.set_receive_window(varint(window));
        }
        if let Some(window) = self.send.advance(now, rtt, shortest) {
            peer.quic.set_send_window(window);
            self.streams.unblock();
        }
        self.streams.flush(&mut peer.quic);
    }

    /// Returns when [`handle_timeout`](Self::handle_timeout) is to be called next.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        let asks = self.is_open().then(|| self.liveness.due());
        let due = self.wake.into_iter().chain(asks).min();
        self.pacer.next_wake(due)
    }

    /// Returns the next piece of news.
    pub fn poll_event(&mut self) -> Option<ConnectionEvent> {
        self.events.pop_front()
    }

    /// Returns how many data streams there are; their numbers begin at 1.
    #[must_use]
    pub fn streams(&self) -> usize {
        self.streams.count()
    }

    /// Returns how many bytes [`write`](Self::write) would take.
    #[must_use]
    pub fn room(&self, stream: StreamId) -> usize {
        if self.has_ended {
            0
        } else {
            self.streams.room(stream)
        }
    }

    /// Takes bytes off the front of `bytes`, as many as there is [`room`](Self::room) for.
    ///
    /// Writing may begin before the connection does.
    pub fn write(&mut self, stream: StreamId, bytes: &mut Bytes) {
        if self.has_ended {
            return;
        }
        self.streams.write(stream, bytes);
        if self.is_open()
            && let Some(peer) = &mut self.peer
        {
            self.streams.flush(&mut peer.quic);
        }
    }

    /// Ends what this end writes to a stream.
    pub fn finish(&mut self, stream: StreamId) {
        self.streams.finish(stream);
    }

    /// Reads what has come on a stream, in order and at most `limit` bytes; `None` if there is nothing
    /// now. What is read makes room for the peer to send more.
    pub fn read(&mut self, stream: StreamId, limit: usize) -> Option<Bytes> {
        let peer = self.peer.as_mut()?;
        self.streams.read(&mut peer.quic, stream, limit)
    }

    /// Returns true if the peer has finished the stream and all of it was read.
    #[must_use]
    pub fn is_ended(&self, stream: StreamId) -> bool {
        self.streams.is_ended(stream)
    }

    /// Returns true if the peer has acknowledged all of the streams that this end has finished.
    #[must_use]
    pub fn is_delivered(&self) -> bool {
        self.streams.is_delivered()
    }

    /// Ends the connection and tells the peer. What was not delivered is lost.
    pub fn close(&mut self, now: Time) {
        if let Some(peer) = &mut self.peer {
            peer.quic
                .close(self.clock.instant(now), VarInt::from_u32(0), Bytes::new());
        }
        self.end(ConnectionEnd::Here);
        self.note_timeout();
    }

    /// Returns for how long nothing has come that answers what this end has sent. A peer that is heard and does not hear is
    /// silent, too.
    #[must_use]
    pub fn silent_for(&self, now: Time) -> Duration {
        self.liveness.unanswered_for(now)
    }

    /// Returns true if both ends have proven who they are and neither has ended the connection.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.is_connected && !self.has_ended
    }

    /// Returns true if nothing is left to do, not even to repeat that the connection is closed.
    #[must_use]
    pub fn is_done(&self) -> bool {
        let is_drained = |peer: &Peer| peer.quic.is_drained();
        self.has_ended && self.peer.as_ref().is_none_or(is_drained)
    }

    /// Returns how the connection is doing.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        let mut statistics = Statistics {
            receive_window: self.receive.bytes(),
            send_window: self.send.bytes(),
            acknowledged: self.acknowledged,
            rejected: self.filter.counts(),
            ..Statistics::default()
        };
        if let Some(peer) = &self.peer {
            peer.describe(&mut statistics);
        }
        statistics
    }

    /// Carries news between the parts of QUIC, and out.
    fn settle(&mut self, now: Time) {
        let Some(peer) = &mut self.peer else { return };
        while let Some(event) = peer.quic.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(peer.handle, event) {
                peer.quic.handle_event(event);
            }
        }
        let mut lost = None;
        while let Some(event) = peer.quic.poll() {
            match event {
                quinn_proto::Event::Connected => {
                    self.is_connected = true;
                    self.liveness.heard(now);
                    self.events.push_back(ConnectionEvent::Connected);
                }
                quinn_proto::Event::ConnectionLost { reason } => lost = Some(reason),
                quinn_proto::Event::Stream(StreamEvent::Finished { id }) => {
                    self.streams.delivered(id);
                }
                quinn_proto::Event::Stream(StreamEvent::Readable { id }) => {
                    self.streams.arrived(id)
                }
                quinn_proto::Event::Stream(StreamEvent::Opened { .. }) => self.streams.opened(),
                // Streams are looked at, not waited for.
                _ => {}
            }
        }
        if let Some(reason) = lost {
            self.lose(reason);
        }
    }

    /// A handshake that fails at the server was begun by somebody who had only seen a first datagram:
    /// whoever has the secret may still come.
    fn lose(&mut self, reason: ConnectionError) {
        if self.side.is_server() && !self.is_connected {
            self.peer = None;
            self.filter.end();
            self.endpoint = self.config.endpoint();
            return;
        }
        self.end(why(reason));
    }

    fn end(&mut self, why: ConnectionEnd) {
        if !self.has_ended {
            self.has_ended = true;
            self.events.push_back(ConnectionEvent::Ended(why));
        }
    }

    fn note_timeout(&mut self) {
        let instant = self.peer.as_mut().and_then(|peer| peer.quic.poll_timeout());
        self.wake = instant.map(|instant| self.clock.time(instant));
    }
}

impl Peer {
    fn new(handle: ConnectionHandle, quic: quinn_proto::Connection) -> Peer {
        let stats = quic.stats();
        Peer {
            handle,
            came: counts(&stats.frame_rx),
            left: counts(&stats.frame_tx).0,
            owes: false,
            quic,
        }
    }

    /// Returns true if a genuine packet has come since this was last asked.
    fn has_heard(&mut self) -> bool {
        let before = self.came;
        self.came = counts(&self.quic.stats().frame_rx);
        self.owes |= self.came.0 != before.0;
        self.came != before
    }

    /// Returns true if something has left since this was last asked that is to be acknowledged.
    fn has_asked(&mut self) -> bool {
        let before = self.left;
        self.left = counts(&self.quic.stats().frame_tx).0;
        self.left != before
    }

    fn describe(&self, statistics: &mut Statistics) {
        let stats = self.quic.stats();
        statistics.rtt = stats.path.rtt;
        statistics.rtt_min = self.quic.min_rtt();
        statistics.sent = (stats.udp_tx.datagrams, stats.udp_tx.bytes);
        statistics.received = (stats.udp_rx.datagrams, stats.udp_rx.bytes);
        statistics.lost = stats.path.lost_packets;
        statistics.mtu = stats.path.current_mtu;
    }
}

/// Counts frames: those that are to be acknowledged, and the others. Each packet has at least one; a
/// repeated or forged one that comes adds none.
fn counts(frames: &FrameStats) -> (u64, u64) {
    let asking = [
        frames.ack_frequency,
        frames.crypto,
        frames.data_blocked,
        frames.handshake_done.into(),
        frames.immediate_ack,
        frames.max_data,
        frames.max_stream_data,
        frames.max_streams_bidi,
        frames.max_streams_uni,
        frames.new_connection_id,
        frames.path_challenge,
        frames.path_response,
        frames.ping,
        frames.reset_stream,
        frames.retire_connection_id,
        frames.stream_data_blocked,
        frames.streams_blocked_bidi,
        frames.streams_blocked_uni,
        frames.stop_sending,
        frames.stream,
    ];
    let asking = asking.into_iter().fold(0, u64::wrapping_add);
    (asking, frames.acks.wrapping_add(frames.connection_close))
}

fn why(reason: ConnectionError) -> ConnectionEnd {
    match reason {
        ConnectionError::LocallyClosed => ConnectionEnd::Here,
        ConnectionError::ApplicationClosed(_) => ConnectionEnd::There,
        ConnectionError::TimedOut => ConnectionEnd::IdleTimeout,
        other => ConnectionEnd::Broken(other.to_string()),
    }
}

fn varint(value: u64) -> VarInt {
    VarInt::from_u64(value).unwrap_or(VarInt::MAX)
}
