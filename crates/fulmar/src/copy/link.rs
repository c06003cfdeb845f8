//! The near end's connection: UDP that is being tried, ssh beside it, and what carries the lanes in the end.
//!
//! ```text
//!  connecting ──── QUIC is up ─────────────────────► over UDP
//!      └─ 3 s of silence ─► ssh is asked for it ───► over ssh
//! ```

use std::io;
use std::net::{IpAddr, UdpSocket};
use std::time::{Duration, Instant};

use fulmar_datagram::Time;
use fulmar_platform::{Piped, PollList, PollSlot, Stream, Transfer, boot_time};
use fulmar_quic::{Connection, Event, Options, Secret};
use fulmar_transport::Hint;

use super::absence::GONE_AFTER;
use super::call::Call;
use super::near_sockets::NearSockets;
use super::opening::Found;
use super::pipe_lanes::{PipeLanes, Pipes};
use super::progress::PathState;
use super::reporter::Reporter;
use super::transcript::{Said, Trouble};
use super::work::Carrier;
use super::{OVER_SSH_LINE, SILENCE_NOTED, SILENCE_SHOWN};
use crate::bootstrap::lines::CopyInvitation;
use crate::errors::{CopyFailure, Failure};
use crate::login::{SshProcess, SshReady, SshSlots};
use crate::random;
use crate::surroundings::now;

/// How long QUIC may be silent at the beginning before ssh carries the copy.
///
/// Source: docs/protocol.md §2.10.
const UDP_WITHIN: Duration = Duration::from_secs(3);

/// For how long nothing may be heard before the copy is given up, the machine's sleep not counted. Chosen by
/// eye: longer than a train's tunnel and a router's restart.
const SILENT_MAX: Duration = Duration::from_secs(600);

/// After how long a silence another local port is tried, and again each time.
const ANOTHER_PORT_EACH: Duration = Duration::from_secs(10);

/// How long a far end is told that an interrupted copy is over. Chosen by eye: some round trips.
const CLOSED_WITHIN: Duration = Duration::from_secs(1);

/// How often.
const CLOSED_EACH: Duration = Duration::from_millis(100);

/// The near end's connection.
pub(super) struct Link {
    host: String,
    call: Option<Call>,
    udp: Option<Udp>,
    pipes: Option<PipeLanes>,
    stage: Stage,
}

/// QUIC and its sockets.
struct Udp {
    connection: Connection,
    sockets: NearSockets,
    /// Our address on the way there.
    address: Option<IpAddr>,
    /// When the last port was opened.
    opened_at: Time,
    /// When the machine last woke up.
    woke_at: Time,
    /// Whether the user was told of the silence that there is.
    is_silence_noted: bool,
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// QUIC is tried.
    Connecting { since: Time },
    /// ssh was asked to carry it. QUIC may yet be quicker.
    Asking,
    /// QUIC carries the lanes.
    Udp,
    /// ssh carries the lanes.
    Ssh,
}

/// Where all of it is in the list of one turn.
pub(super) struct Slots {
    sockets: Vec<PollSlot>,
    call: Option<SshSlots>,
}

/// What of it is ready.
pub(super) struct Ready {
    sockets: Vec<bool>,
    call: Option<SshReady>,
}

impl Link {
    /// Begins to connect to a far end that waits.
    ///
    /// # Errors
    ///
    /// When the system has no port or randomness left.
    pub(super) fn begin(now: Time, found: Found, window_max: Option<u64>) -> Result<Link, Failure> {
        let Found {
            invitation,
            destinations,
            call,
        } = found;
        let mut link = Link {
            host: call.host().to_owned(),
            call: Some(call),
            udp: None,
            pipes: None,
            stage: Stage::Connecting { since: now },
        };
        if let Some(destinations) = destinations {
            let mut sockets = NearSockets::new(destinations);
            match sockets.open() {
                Ok(path) => {
                    let CopyInvitation { secret, .. } = invitation;
                    let connection = connect(now, &secret, path, window_max)?;
                    link.udp = Some(Udp {
                        address: sockets.peer().and_then(address_towards),
                        connection,
                        sockets,
                        opened_at: now,
                        woke_at: now,
                        is_silence_noted: false,
                    });
                }
                Err(error) => tracing::info!(%error, "no socket"),
            }
        }
        Ok(link)
    }

    /// Returns where it goes, as the user wrote it.
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// Returns what carries the lanes, once something does.
    pub(super) fn carrier(&mut self) -> Option<Carrier<'_>> {
        match (self.stage, &mut self.udp, &mut self.pipes) {
            (Stage::Udp, Some(udp), _) => Some(Carrier::udp(&mut udp.connection)),
            (Stage::Ssh, _, Some(pipes)) => Some(Carrier::ssh(pipes)),
            _ => None,
        }
    }

    /// Returns how the bytes go, once that is known.
    pub(super) fn path(&self) -> Option<PathState> {
        match (self.stage, &self.udp) {
            (Stage::Udp, Some(udp)) => {
                let statistics = udp.connection.statistics();
                let (sent, lost) = (statistics.sent.0, statistics.lost);
                Some(PathState::Udp {
                    rtt: statistics.rtt,
                    lost_of_thousand: (lost * 1000).checked_div(sent).unwrap_or(0),
                })
            }
            (Stage::Ssh, _) => Some(PathState::Ssh),
            _ => None,
        }
    }

    /// Returns where the far end is, as users are told of it.
    pub(super) fn label(&self) -> Option<String> {
        let udp = self.udp.as_ref().filter(|_| self.stage == Stage::Udp)?;
        Some(udp.sockets.label())
    }

    /// Returns for how long nothing was heard, if that is long.
    pub(super) fn silent(&self, now: Time) -> Option<Duration> {
        let udp = self.udp.as_ref().filter(|_| self.stage == Stage::Udp)?;
        let silent = udp.connection.silent_for(now).min(now.since(udp.woke_at));
        (silent >= SILENCE_SHOWN).then_some(silent)
    }

    /// Returns when it is to be looked after again.
    pub(super) fn deadline(&self) -> Option<Time> {
        let stage = match self.stage {
            Stage::Connecting { since } => Some(since + UDP_WITHIN),
            _ => None,
        };
        let quic = self
            .udp
            .as_ref()
            .and_then(|udp| udp.connection.poll_timeout());
        [stage, quic].into_iter().flatten().min()
    }

    /// Puts all of it on the list.
    pub(super) fn enlist<'fd>(&'fd self, list: &mut PollList<'fd>) -> Slots {
        let sockets = self.udp.as_ref().map(|udp| udp.sockets.enlist(list));
        let call = self.call.as_ref().map(|call| match &self.pipes {
            Some(pipes) => call.enlist_frames(list, pipes.wants_more(), pipes.has_more()),
            None => call.enlist(list),
        });
        Slots {
            sockets: sockets.unwrap_or_default(),
            call,
        }
    }

    /// Reads the answer of the list.
    pub(super) fn ready(list: &PollList<'_>, slots: Slots) -> Ready {
        let is_readable = |slot: PollSlot| list.readiness(slot).is_readable();
        Ready {
            sockets: slots.sockets.into_iter().map(is_readable).collect(),
            call: slots.call.map(|slots| SshProcess::ready(list, slots)),
        }
    }

    /// Takes what has come. Returns whether there may be more at once.
    ///
    /// # Errors
    ///
    /// When the connection is over.
    pub(super) fn take_in(
        &mut self,
        now: Time,
        ready: &Ready,
        reporter: &mut Reporter,
    ) -> Result<bool, Failure> {
        let mut has_more = false;
        if let Some(udp) = &mut self.udp {
            has_more |= udp
                .sockets
                .receive(now, &ready.sockets, &mut udp.connection);
            udp.connection.handle_timeout(now);
        }
        self.take_events(now)?;
        match self.stage {
            Stage::Ssh => has_more |= self.turn_pipes(ready, reporter)?,
            _ => self.listen(ready, reporter)?,
        }
        self.decide(now, reporter)?;
        Ok(has_more)
    }

    fn take_events(&mut self, now: Time) -> Result<(), Failure> {
        let Some(udp) = &mut self.udp else {
            return Ok(());
        };
        let mut ended = None;
        while let Some(event) = udp.connection.poll_event() {
            match event {
                Event::Connected if matches!(self.stage, Stage::Connecting { .. }) => {
                    tracing::info!("over UDP");
                    self.stage = Stage::Udp;
                    udp.address = udp.sockets.peer().and_then(address_towards);
                    udp.opened_at = now;
                }
                Event::Connected => {}
                Event::Ended(why) => ended = Some(why.to_string()),
            }
        }
        match (ended, self.stage) {
            (None, _) => Ok(()),
            (Some(why), Stage::Udp) => Err(self.lost(why)),
            // ssh is left.
            (Some(why), _) => {
                tracing::info!(why, "QUIC has ended");
                self.udp = None;
                Ok(())
            }
        }
    }

    fn lost(&self, why: String) -> Failure {
        let host = self.host.clone();
        Failure::Copy(CopyFailure::Lost { host, why })
    }

    /// Reads what ssh says beside the copy.
    fn listen(&mut self, ready: &Ready, reporter: &mut Reporter) -> Result<(), Failure> {
        let (Some(call), Some(ready)) = (&mut self.call, ready.call) else {
            return Ok(());
        };
        let turn = call.turn(ready);
        reporter.show(&turn.printed);
        if let Some(trouble) = turn.trouble.filter(|_| self.stage != Stage::Udp) {
            return Err(call.failure_of(trouble));
        }
        if turn.said.contains(&Said::OverSsh) {
            return self.go_over_ssh();
        }
        if self
            .call
            .as_ref()
            .is_some_and(|call| call.status().is_some())
        {
            self.call = None;
        }
        Ok(())
    }

    fn go_over_ssh(&mut self) -> Result<(), Failure> {
        let Some(call) = self.call.as_mut().filter(|_| self.stage == Stage::Asking) else {
            let malformed = |call: &Call| call.failure_of(Trouble::Malformed);
            return self.call.as_ref().map(malformed).map_or(Ok(()), Err);
        };
        let lanes = PipeLanes::with(&call.take_early());
        let lanes = lanes.map_err(|fault| {
            Failure::Copy(CopyFailure::Lost {
                host: self.host.clone(),
                why: fault.to_string(),
            })
        })?;
        tracing::info!("over ssh");
        self.pipes = Some(lanes);
        self.stage = Stage::Ssh;
        // The far end has dropped it as well.
        self.udp = None;
        Ok(())
    }

    fn turn_pipes(&mut self, ready: &Ready, reporter: &mut Reporter) -> Result<bool, Failure> {
        let (Some(call), Some(lanes)) = (&mut self.call, &mut self.pipes) else {
            return Ok(false);
        };
        if let Some(ready) = ready.call {
            reporter.show(&call.look(ready));
        }
        let outcome = lanes.turn(call.pipes());
        outcome.map_err(|fault| self.lost(fault.to_string()))
    }

    /// Has ssh carry the copy if UDP does not, and gives up what is lost for good.
    fn decide(&mut self, now: Time, reporter: &mut Reporter) -> Result<(), Failure> {
        match self.stage {
            Stage::Connecting { since } => {
                let is_late = since + UDP_WITHIN <= now || self.udp.is_none();
                match (is_late, &mut self.call) {
                    (true, Some(call)) => {
                        reporter.note(&over_ssh_text(self.udp.as_ref()));
                        call.say(OVER_SSH_LINE.as_bytes());
                        self.stage = Stage::Asking;
                    }
                    (true, None) => return Err(self.lost("ssh has ended".to_owned())),
                    (false, _) => {}
                }
            }
            Stage::Asking if self.call.is_none() => match &self.udp {
                // The far end was quicker to connect than to read what we have asked.
                Some(udp) if udp.connection.is_open() => self.stage = Stage::Udp,
                _ => return Err(self.lost("ssh has ended".to_owned())),
            },
            Stage::Udp if self.silent(now).is_some_and(|silent| silent >= SILENT_MAX) => {
                return Err(Failure::Copy(CopyFailure::Silent {
                    host: self.host.clone(),
                    minutes: SILENT_MAX.as_secs() / 60,
                }));
            }
            Stage::Udp if self.is_far_end_gone() => {
                return Err(Failure::Copy(CopyFailure::Gone {
                    host: self.host.clone(),
                    seconds: GONE_AFTER.as_secs(),
                }));
            }
            Stage::Udp => {
                self.note_silence(now, reporter);
                self.try_another_port(now);
            }
            _ => {}
        }
        Ok(())
    }

    fn is_far_end_gone(&self) -> bool {
        self.udp
            .as_ref()
            .is_some_and(|udp| udp.sockets.is_peer_gone())
    }

    /// Says that nothing is heard, once for each long silence.
    fn note_silence(&mut self, now: Time, reporter: &mut Reporter) {
        let is_long = self
            .silent(now)
            .is_some_and(|silent| silent >= SILENCE_NOTED);
        let Some(udp) = &mut self.udp else { return };
        if is_long && !udp.is_silence_noted {
            reporter.note(&silence_text(&udp.sockets.label()));
        }
        udp.is_silence_noted = is_long;
    }

    /// A way that carries nothing may have forgotten our port.
    fn try_another_port(&mut self, now: Time) {
        let is_silent = self
            .silent(now)
            .is_some_and(|silent| silent >= ANOTHER_PORT_EACH);
        let Some(udp) = self.udp.as_mut().filter(|_| is_silent) else {
            return;
        };
        if udp.opened_at + ANOTHER_PORT_EACH <= now {
            udp.change_path(now);
        }
    }

    /// Learns what has happened to the machine and its network.
    pub(super) fn handle_hints(&mut self, now: Time, hints: &[Hint]) {
        let Some(udp) = self.udp.as_mut().filter(|_| !hints.is_empty()) else {
            return;
        };
        let has_slept = hints.iter().any(|hint| matches!(hint, Hint::Woke { .. }));
        if has_slept {
            udp.woke_at = now;
        }
        // Most changes of a machine's network are none of the way there.
        let address = udp.sockets.peer().and_then(address_towards);
        if has_slept || address != udp.address {
            udp.address = address;
            udp.change_path(now);
        }
    }

    /// Sends what there is to send. Returns whether anything has left: then lanes may have room again.
    ///
    /// # Errors
    ///
    /// When ssh carries the copy and does not any more.
    pub(super) fn transmit(&mut self, now: Time) -> Result<bool, Failure> {
        if let Some(udp) = &mut self.udp {
            return Ok(udp.sockets.transmit(now, &mut udp.connection));
        }
        match (&mut self.call, &mut self.pipes) {
            (Some(call), Some(lanes)) => {
                let outcome = lanes.flush(call.pipes());
                outcome.map_err(|fault| self.lost(fault.to_string()))
            }
            _ => Ok(false),
        }
    }

    /// Tells if nothing waits here to be written that the far end needs. Over UDP it does without the last
    /// words of ours: that the connection is closed says as much.
    pub(super) fn is_delivered(&self) -> bool {
        self.pipes.as_ref().is_none_or(|pipes| !pipes.has_more())
    }

    /// Ends it, whatever it is doing, and tells the far end.
    pub(super) fn close(mut self, now: Time, is_done: bool) {
        if let Some(udp) = &mut self.udp {
            udp.connection.close(now);
            udp.sockets.transmit_last(now, &mut udp.connection);
            if !is_done {
                udp.linger();
            }
        }
        match (self.call.take(), self.stage) {
            (Some(call), Stage::Udp) => call.release(),
            (Some(call), Stage::Ssh) if is_done => call.finish(),
            (Some(call), _) => call.end(),
            (None, _) => {}
        }
    }
}

impl Udp {
    /// Says that it is closed until the far end has gone, as its system says: what says so may be lost like anything else.
    fn linger(&mut self) {
        let limit = now() + CLOSED_WITHIN;
        while !self.sockets.is_peer_refusing() && now() < limit {
            let mut list = PollList::new();
            let slots = self.sockets.enlist(&mut list);
            if list.wait(Some(CLOSED_EACH)).is_err() {
                return;
            }
            let is_readable = |slot| list.readiness(slot).is_readable();
            let ready: Vec<bool> = slots.into_iter().map(is_readable).collect();
            self.sockets.receive(now(), &ready, &mut self.connection);
            self.sockets.repeat();
        }
    }

    fn change_path(&mut self, now: Time) {
        self.opened_at = now;
        match self.sockets.open() {
            Ok(path) => self.connection.handle_path_change(now, path),
            Err(error) => tracing::info!(%error, "no other socket"),
        }
    }
}

fn connect(
    now: Time,
    secret: &Secret,
    path: fulmar_transport::PathId,
    window_max: Option<u64>,
) -> Result<Connection, Failure> {
    let mut options = Options::default();
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

fn silence_text(label: &str) -> String {
    format!(
        "no answer from {label} for {} s; still trying (what is there is kept if you end it, and the same \
         command goes on)",
        SILENCE_NOTED.as_secs()
    )
}

fn over_ssh_text(udp: Option<&Udp>) -> String {
    match udp {
        Some(udp) => {
            let refused = match udp.sockets.refusals() {
                0 => "",
                _ => ", and somebody on the way refuses",
            };
            let label = udp.sockets.label();
            format!("nothing comes back over UDP from {label}{refused}; copying over ssh")
        }
        None => "no address for UDP is known; copying over ssh".to_owned(),
    }
}

/// Returns which of our addresses the system would send from. Nothing is sent.
fn address_towards(peer: std::net::SocketAddr) -> Option<IpAddr> {
    let anywhere: IpAddr = match peer.is_ipv4() {
        true => std::net::Ipv4Addr::UNSPECIFIED.into(),
        false => std::net::Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((anywhere, 0)).ok()?;
    socket.connect(peer).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

impl Pipes for Piped {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<Transfer> {
        Piped::read(self, Stream::Output, buffer)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<Transfer> {
        Piped::write(self, bytes)
    }
}
