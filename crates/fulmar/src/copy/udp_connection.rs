//! The local end's UDP: QUIC and its sockets, and what is done when nothing is heard.

use std::net::{IpAddr, UdpSocket};
use std::time::{Duration, Instant};

use fulmar_base::{Hint, PathId, Time};
use fulmar_platform::{Poller, boot_time};
use fulmar_quic::{Connection, ConnectionOptions, Secret};

use super::error::CopyError;
use super::local_sockets::LocalSockets;
use super::progress::PathState;
use super::reporter::Reporter;
use super::{SILENCE_NOTED, SILENCE_SHOWN};
use crate::clock::now;
use crate::random;
use crate::reactor::Token;

/// The silence after which another local port is tried, and again each time.
///
/// Source: docs/protocol.md §2.10.
const ANOTHER_PORT_EACH: Duration = Duration::from_secs(10);

/// The time for which a remote end is told that an interrupted copy is over. Chosen by eye: some round trips.
const CLOSED_WITHIN: Duration = Duration::from_secs(1);

/// The time between two times that it is told.
///
/// Source: docs/protocol.md §2.10.
const CLOSED_EACH: Duration = Duration::from_millis(100);

/// QUIC and its sockets.
pub(super) struct UdpConnection {
    pub(super) connection: Connection,
    pub(super) sockets: LocalSockets,
    /// Our address on the path there.
    address: Option<IpAddr>,
    /// The time at which the last port was opened.
    opened_at: Time,
    /// The time at which the machine last woke up.
    woke_at: Time,
    /// True if the user was told of the silence that there is.
    is_silence_noted: bool,
    /// True if the same command goes on where this one is ended.
    resumes: bool,
}

impl UdpConnection {
    /// Begins to connect; `None` if there is no socket for it.
    ///
    /// # Errors
    ///
    /// When the system has no randomness.
    pub(super) fn begin(
        now: Time,
        mut sockets: LocalSockets,
        secret: &Secret,
        window_max: Option<u64>,
        resumes: bool,
    ) -> Result<Option<UdpConnection>, CopyError> {
        let path = match sockets.open() {
            Ok(path) => path,
            Err(error) => {
                tracing::info!(%error, "no socket");
                return Ok(None);
            }
        };
        Ok(Some(UdpConnection {
            address: sockets.peer().and_then(address_towards),
            connection: connect(now, secret, path, window_max)?,
            sockets,
            opened_at: now,
            woke_at: now,
            is_silence_noted: false,
            resumes,
        }))
    }

    /// Takes note that the connection is there.
    pub(super) fn connected(&mut self, now: Time) {
        self.address = self.sockets.peer().and_then(address_towards);
        self.opened_at = now;
    }

    /// Returns how the bytes go.
    pub(super) fn path(&self) -> PathState {
        let statistics = self.connection.statistics();
        let (sent, lost) = (statistics.sent.0, statistics.lost);
        PathState::Udp {
            rtt: statistics.rtt,
            lost_of_thousand: (lost * 1000).checked_div(sent).unwrap_or(0),
        }
    }

    /// Returns for how long nothing was answered, if that is long. What the machine has slept does not count.
    pub(super) fn silent(&self, now: Time) -> Option<Duration> {
        let silent = self.connection.silent_for(now);
        let silent = silent.min(now.since(self.woke_at));
        (silent >= SILENCE_SHOWN).then_some(silent)
    }

    /// Says that nothing is heard, once for each long silence, and tries another port: a path that carries
    /// nothing may have forgotten ours.
    pub(super) fn look(&mut self, now: Time, reporter: &mut Reporter) {
        let silent = self.silent(now).unwrap_or_default();
        let is_long = silent >= SILENCE_NOTED;
        if is_long && !self.is_silence_noted {
            reporter.note(&silence_text(&self.sockets.label(), self.resumes));
        }
        self.is_silence_noted = is_long;
        if silent >= ANOTHER_PORT_EACH && self.opened_at + ANOTHER_PORT_EACH <= now {
            self.change_path(now);
        }
    }

    /// Learns what has happened to the machine and its network.
    pub(super) fn handle_hint(&mut self, now: Time, hint: Hint) {
        let has_slept = matches!(hint, Hint::Woke { .. });
        if has_slept {
            self.woke_at = now;
        }
        // Most changes of a machine's network are none of the path there.
        let address = self.sockets.peer().and_then(address_towards);
        if has_slept || address != self.address {
            self.address = address;
            self.change_path(now);
        }
    }

    fn change_path(&mut self, now: Time) {
        self.opened_at = now;
        match self.sockets.open() {
            Ok(path) => self.connection.handle_path_change(now, path),
            Err(error) => tracing::info!(%error, "no other socket"),
        }
    }

    /// Ends it, and tells the remote end: more than once if that cannot know.
    pub(super) fn close(&mut self, now: Time, is_done: bool) {
        self.connection.close(now);
        self.sockets.transmit_last(now, &mut self.connection);
        // A remote end that knows that all is done leaves by itself.
        if !is_done {
            self.linger();
        }
    }

    /// Says that it is closed until the remote end has gone, as its system says: what says so may be lost like anything else.
    fn linger(&mut self) {
        let limit = now() + CLOSED_WITHIN;
        let mut poller = Poller::new();
        while !self.sockets.is_peer_refusing() && now() < limit {
            let waited = poller.wait(Some(CLOSED_EACH), |registry| {
                self.sockets.register(registry);
            });
            if waited.is_err() {
                return;
            }
            self.sockets.begin_turn();
            for (token, readiness) in poller.ready() {
                if let Token::Socket(index) = token
                    && readiness.is_readable()
                {
                    self.sockets.receive(index, &mut self.connection);
                }
            }
            self.sockets.end_turn();
            self.sockets.repeat();
        }
    }
}

fn connect(
    now: Time,
    secret: &Secret,
    path: PathId,
    window_max: Option<u64>,
) -> Result<Connection, CopyError> {
    let mut options = ConnectionOptions::default();
    if let Some(window_max) = window_max {
        options.window_max = window_max;
    }
    let seed = random::seed()?;
    Ok(Connection::client(
        secret,
        seed,
        origin(),
        now,
        path,
        &options,
    ))
}

/// Returns the system's instant that stands for the origin of all times.
pub(super) fn origin() -> Instant {
    let now = Instant::now();
    now.checked_sub(boot_time()).unwrap_or(now)
}

fn silence_text(label: &str, resumes: bool) -> String {
    let kept = if resumes {
        " (you may end it: what is there is kept; run the same command again to continue)"
    } else {
        ""
    };
    format!(
        "no answer from {label} for {} s; still trying{kept}",
        SILENCE_NOTED.as_secs()
    )
}

/// Returns which of our addresses the system would send from. Nothing is sent.
fn address_towards(peer: std::net::SocketAddr) -> Option<IpAddr> {
    let anywhere: IpAddr = if peer.is_ipv4() {
        std::net::Ipv4Addr::UNSPECIFIED.into()
    } else {
        std::net::Ipv6Addr::UNSPECIFIED.into()
    };
    let socket = UdpSocket::bind((anywhere, 0)).ok()?;
    socket.connect(peer).ok()?;
    Some(socket.local_addr().ok()?.ip())
}
