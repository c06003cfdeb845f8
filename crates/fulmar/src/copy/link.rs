//! The near end's connection: UDP that is being tried, ssh beside it, and what carries the lanes in the end.
//!
//! ```text
//!  connecting ──── QUIC is up ─────────────────────► over UDP
//!      └─ 3 s of silence ─► ssh is asked for it ───► over ssh
//! ```

use std::io;
use std::time::Duration;

use fulmar_base::Hint;
use fulmar_base::Time;
use fulmar_platform::{Piped, PollList, PollSlot, Stream, Transfer};
use fulmar_quic::Event;

use super::OVER_SSH_LINE;
use super::absence::GONE_AFTER;
use super::call::Call;
use super::near_sockets::NearSockets;
use super::opening::Found;
use super::pipe_lanes::{PipeLanes, Pipes};
use super::progress::PathState;
use super::reporter::Reporter;
use super::transcript::{Said, Trouble};
use super::udp_link::UdpLink;
use super::work::Carrier;
use crate::bootstrap::lines::CopyInvitation;
use crate::errors::{CopyFailure, Failure};
use crate::login::{SshProcess, SshReady, SshSlots};
use crate::surroundings;

/// How long QUIC may be silent at the beginning before ssh carries the copy.
///
/// Source: docs/protocol.md §2.10.
const UDP_WITHIN: Duration = Duration::from_secs(3);

/// For how long nothing may be heard before the copy is given up, the machine's sleep not counted. Chosen by
/// eye: longer than a train's tunnel and a router's restart.
const SILENT_MAX: Duration = Duration::from_secs(600);

/// The near end's connection.
pub(super) struct Link {
    host: String,
    call: Option<Call>,
    udp: Option<UdpLink>,
    pipes: Option<PipeLanes>,
    stage: Stage,
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
    /// Begins to connect to a far end that waits, for a copy that the same command would go on with, or not.
    ///
    /// # Errors
    ///
    /// When the system has no port or randomness left.
    pub(super) fn begin(
        now: Time,
        found: Found,
        window_max: Option<u64>,
        resumes: bool,
    ) -> Result<Link, Failure> {
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
            let CopyInvitation { secret, .. } = invitation;
            let sockets = NearSockets::new(destinations);
            link.udp = UdpLink::begin(now, sockets, &secret, window_max, resumes)?;
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
            (Stage::Udp, Some(udp)) => Some(udp.path()),
            (Stage::Ssh, _) => Some(PathState::Ssh),
            _ => None,
        }
    }

    /// Returns how many bytes the far end has acknowledged, if that is known.
    pub(super) fn acknowledged(&self) -> Option<u64> {
        let udp = self.udp.as_ref().filter(|_| self.stage == Stage::Udp)?;
        Some(udp.connection.statistics().acknowledged)
    }

    /// Returns where the far end is, as users are told of it.
    pub(super) fn label(&self) -> Option<String> {
        let udp = self.udp.as_ref().filter(|_| self.stage == Stage::Udp)?;
        Some(udp.sockets.label())
    }

    /// Returns for how long nothing was heard, if that is long.
    pub(super) fn silent(&self, now: Time) -> Option<Duration> {
        let udp = self.udp.as_ref().filter(|_| self.stage == Stage::Udp)?;
        udp.silent(now)
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
            has_more |= udp.sockets.receive(&ready.sockets, &mut udp.connection);
            udp.connection.handle_timeout(surroundings::now());
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
                    udp.connected(now);
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
        lost(&self.host, why)
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
        let lanes = lanes.map_err(|fault| lost(&self.host, fault.to_string()))?;
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
                    resumes: false,
                }));
            }
            Stage::Udp => {
                if let Some(udp) = &mut self.udp {
                    if udp.sockets.is_peer_gone() {
                        return Err(Failure::Copy(CopyFailure::Gone {
                            host: self.host.clone(),
                            seconds: GONE_AFTER.as_secs(),
                            resumes: false,
                        }));
                    }
                    udp.look(now, reporter);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Learns what has happened to the machine and its network.
    pub(super) fn handle_hints(&mut self, now: Time, hints: &[Hint]) {
        if let Some(udp) = &mut self.udp {
            udp.handle_hints(now, hints);
        }
    }

    /// Sends what there is to send. Returns whether anything has left: then lanes may have room again.
    ///
    /// # Errors
    ///
    /// When ssh carries the copy and does not any more.
    pub(super) fn transmit(&mut self) -> Result<bool, Failure> {
        if let Some(udp) = &mut self.udp {
            return Ok(udp.sockets.transmit(&mut udp.connection));
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
            udp.close(now, is_done);
        }
        match (self.call.take(), self.stage) {
            (Some(call), Stage::Udp) => call.release(),
            (Some(call), Stage::Ssh) if is_done => call.finish(),
            (Some(call), _) => call.end(),
            (None, _) => {}
        }
    }
}

/// The connection has ended. Whether the same command goes on is for others to say.
fn lost(host: &str, why: String) -> Failure {
    Failure::Copy(CopyFailure::Lost {
        host: host.to_owned(),
        why,
        resumes: false,
    })
}

fn over_ssh_text(udp: Option<&UdpLink>) -> String {
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

impl Pipes for Piped {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<Transfer> {
        Piped::read(self, Stream::Output, buffer)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<Transfer> {
        Piped::write(self, bytes)
    }
}
