//! The local end's connection: UDP that is being tried, ssh beside it, and what carries the streams in the end.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use fulmar_base::{Hint, Time};
use fulmar_core::{Way, WayPreference};
use fulmar_login::{
    CopyParams, CopyService, LoginEvent, OVER_SSH_LINE, OutputError, RemoteService as _,
    TransportChoice, TransportError, TransportEvent,
};
use fulmar_platform::{Piped, Stream, Transfer};
use fulmar_quic::ConnectionEvent;

use super::copy_login::WaitingRemoteEnd;
use super::error::CopyError;
use super::file_transfer::CountedStreams;
use super::local_sockets::LocalSockets;
use super::progress::PathState;
use super::reporter::Reporter;
use super::ssh_streams::{Pipes, SshStreams};
use super::udp_connection::UdpConnection;
use super::unreachable_detector::GONE_AFTER;
use crate::clock;
use crate::reactor::{Registry, Token};
use crate::ssh_login::SshLogin;
use crate::steps::{Step, Steps};

/// The time for which nothing may be heard before the copy is given up, the machine's sleep not counted. Chosen by
/// eye: longer than a train's tunnel and a router's restart.
const SILENT_MAX: Duration = Duration::from_secs(600);

/// The time that a remote end has to end that has done its work. Chosen by eye: some round trips.
const FINISH_WITHIN: Duration = Duration::from_secs(5);

/// UDP, as what carries the streams.
const UDP: Option<fulmar_login::Transport> = Some(fulmar_login::Transport::Udp);

/// ssh, as what carries the streams.
const SSH: Option<fulmar_login::Transport> = Some(fulmar_login::Transport::Ssh);

/// The local end's connection.
pub(super) struct CopyConnection {
    host: String,
    login: Option<SshLogin<CopyService>>,
    udp: Option<UdpConnection>,
    pipes: Option<SshStreams>,
    choice: TransportChoice,
    /// True if the user wants no UDP, and need not be told why it is not used.
    is_ssh_wanted: bool,
    steps: Steps,
}

impl CopyConnection {
    /// Begins to connect in a wanted way to a remote end that waits, for a copy that the same command would go on with, or not.
    ///
    /// # Errors
    ///
    /// When the system has no port or randomness left.
    pub(super) fn begin(
        now: Time,
        found: WaitingRemoteEnd,
        wanted: WayPreference,
        window_max: Option<u64>,
        resumes: bool,
    ) -> Result<CopyConnection, CopyError> {
        let WaitingRemoteEnd {
            params,
            candidates,
            login,
            steps,
        } = found;
        let is_ssh_wanted = wanted == WayPreference::Only(Way::Ssh);
        let udp = match candidates {
            Some(candidates) if !is_ssh_wanted => {
                let CopyParams { secret, .. } = params;
                let sockets = LocalSockets::new(candidates);
                UdpConnection::begin(now, sockets, &secret, window_max, resumes)?
            }
            _ => None,
        };
        let mut choice = TransportChoice::begin(now, wanted, udp.is_some());
        if login.state().is_input_closed() {
            choice.handle_ssh_input_end();
        }
        let connection = CopyConnection {
            host: login.state().host().to_owned(),
            login: Some(login),
            choice,
            is_ssh_wanted,
            steps,
            udp,
            pipes: None,
        };
        Ok(connection)
    }

    /// Returns where it goes, as the user wrote it.
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// Returns what carries the streams, once something does.
    pub(super) fn streams(&mut self) -> Option<CountedStreams<'_>> {
        match (self.choice.transport(), &mut self.udp, &mut self.pipes) {
            (UDP, Some(udp), _) => Some(CountedStreams::udp(&mut udp.connection)),
            (SSH, _, Some(pipes)) => Some(CountedStreams::ssh(pipes)),
            _ => None,
        }
    }

    /// Returns how the bytes go, once that is known.
    pub(super) fn path(&self) -> Option<PathState> {
        match (self.choice.transport(), &self.udp) {
            (UDP, Some(udp)) => Some(udp.path()),
            (SSH, _) => Some(PathState::Ssh),
            _ => None,
        }
    }

    /// Returns how many bytes the remote end has acknowledged, if that is known.
    pub(super) fn acknowledged(&self) -> Option<u64> {
        let udp = self
            .udp
            .as_ref()
            .filter(|_| self.choice.transport() == UDP)?;
        Some(udp.connection.statistics().acknowledged)
    }

    /// Returns the address of the remote end, if it is reached over UDP.
    pub(super) fn peer(&self) -> Option<SocketAddr> {
        let udp = self
            .udp
            .as_ref()
            .filter(|_| self.choice.transport() == UDP)?;
        udp.sockets.peer()
    }

    /// Returns for how long nothing was heard, if that is long.
    pub(super) fn silent(&self, now: Time) -> Option<Duration> {
        let udp = self
            .udp
            .as_ref()
            .filter(|_| self.choice.transport() == UDP)?;
        udp.silent(now)
    }

    /// Returns when it is to be looked after again.
    pub(super) fn deadline(&self) -> Option<Time> {
        let quic = self
            .udp
            .as_ref()
            .and_then(|udp| udp.connection.poll_timeout());
        let login = self.login.as_ref().and_then(SshLogin::deadline);
        let times = [self.choice.poll_timeout(), login, quic];
        times.into_iter().flatten().min()
    }

    /// Registers all of it.
    pub(super) fn register<'fd>(&'fd self, registry: &mut Registry<'fd>) {
        if let Some(udp) = &self.udp {
            udp.sockets.register(registry);
        }
        match (&self.login, &self.pipes) {
            (Some(login), Some(pipes)) => {
                login.register_pipes(registry, pipes.wants_more(), pipes.has_more());
            }
            (Some(login), None) => login.register(registry),
            (None, _) => {}
        }
    }

    /// Begins a turn, which has a budget of its own.
    pub(super) fn begin_turn(&mut self) {
        if let Some(udp) = &mut self.udp {
            udp.sockets.begin_turn();
        }
    }

    /// Takes what has come on the descriptor of this token.
    pub(super) fn handle_ready(&mut self, now: Time, token: Token) {
        match (token, &mut self.udp, &mut self.login) {
            (Token::Socket(index), Some(udp), _) => {
                udp.sockets.receive(index, &mut udp.connection);
            }
            (_, _, Some(login)) => login.handle_ready(now, token),
            _ => {}
        }
    }

    /// Ends a turn: does what follows from what has come. Returns whether there may be more at once.
    ///
    /// # Errors
    ///
    /// When the connection is over.
    pub(super) fn end_turn(
        &mut self,
        now: Time,
        reporter: &mut Reporter,
    ) -> Result<bool, CopyError> {
        let mut has_more = false;
        if let Some(udp) = &mut self.udp {
            has_more |= udp.sockets.end_turn();
            udp.connection.handle_timeout(clock::now());
        }
        self.take_events(now);
        self.listen(now, reporter)?;
        if self.pipes.is_some() {
            has_more |= self.turn_pipes()?;
        }
        self.carry_out(now, reporter)?;
        self.look_after_udp(now, reporter)?;
        Ok(has_more)
    }

    fn take_events(&mut self, now: Time) {
        let Some(udp) = &mut self.udp else { return };
        while let Some(event) = udp.connection.poll_event() {
            match event {
                ConnectionEvent::Connected => {
                    if self.choice.transport().is_none() {
                        udp.connected(now);
                    }
                    self.choice.handle_udp_open();
                }
                ConnectionEvent::Ended(why) => {
                    tracing::info!(%why, statistics = ?udp.connection.statistics(), "QUIC has ended");
                    self.choice.handle_udp_end(why.to_string());
                }
            }
        }
    }

    fn lost(&self, why: String) -> CopyError {
        lost(&self.host, why)
    }

    /// Reads what ssh says beside the copy.
    fn listen(&mut self, now: Time, reporter: &mut Reporter) -> Result<(), CopyError> {
        let Some(login) = &mut self.login else {
            return Ok(());
        };
        login.end_turn(now);
        while let Some(event) = login.poll_event(now) {
            match event {
                LoginEvent::Show(text) => reporter.show(&text),
                LoginEvent::OverSsh(early) => {
                    self.choice.handle_over_ssh();
                    let streams = SshStreams::with(&early);
                    let streams = streams.map_err(|fault| lost(&self.host, fault.to_string()))?;
                    self.pipes = Some(streams);
                }
                LoginEvent::Failed(failure) => return Err(failure.into()),
                _ => {}
            }
        }
        // Where ssh carries the copy, its pipes are read to their end first.
        if login.state().exit().is_some() && self.pipes.is_none() {
            self.login = None;
            self.choice.handle_ssh_end();
        }
        Ok(())
    }

    fn turn_pipes(&mut self) -> Result<bool, CopyError> {
        let pipes = self.login.as_mut().and_then(SshLogin::pipes);
        let (Some(pipes), Some(streams)) = (pipes, &mut self.pipes) else {
            return Ok(false);
        };
        let outcome = streams.turn(pipes);
        outcome.map_err(|fault| self.lost(fault.to_string()))
    }

    /// Does what the choice between UDP and ssh wants.
    fn carry_out(&mut self, now: Time, reporter: &mut Reporter) -> Result<(), CopyError> {
        while let Some(event) = self.choice.poll_event(now) {
            match event {
                TransportEvent::AskSsh => {
                    if !self.is_ssh_wanted {
                        reporter.note(&over_ssh_text(self.udp.as_ref()));
                    }
                    if let Some(login) = &mut self.login {
                        login.write(OVER_SSH_LINE.as_bytes());
                    }
                }
                TransportEvent::Chosen(transport) => {
                    tracing::info!(transport = ?transport, "settled");
                    if Some(transport) == UDP {
                        self.steps.take(now, Step::FirstAnswer);
                    }
                    reporter.tell_steps(&mut self.steps);
                    // The login is not needed any more, so its end is no failure.
                    if let Some(login) = self.login.as_mut().filter(|_| Some(transport) == UDP) {
                        login.state_mut().handle_connected();
                    }
                }
                TransportEvent::DropUdp => self.udp = None,
                TransportEvent::Failed(TransportError::Lost(why)) => return Err(self.lost(why)),
                TransportEvent::Failed(TransportError::NotAsked) => {
                    let failure =
                        CopyService::failure_of_output(&self.host, OutputError::Malformed);
                    return Err(failure.into());
                }
            }
        }
        Ok(())
    }

    /// Gives up what is lost for good.
    fn look_after_udp(&mut self, now: Time, reporter: &mut Reporter) -> Result<(), CopyError> {
        if self.silent(now).is_some_and(|silent| silent >= SILENT_MAX) {
            return Err(CopyError::Silent {
                host: self.host.clone(),
                minutes: SILENT_MAX.as_secs() / 60,
                resumes: false,
            });
        }
        let is_chosen = self.choice.transport() == UDP;
        if let Some(udp) = self.udp.as_mut().filter(|_| is_chosen) {
            if udp.sockets.is_peer_gone() {
                return Err(CopyError::Gone {
                    host: self.host.clone(),
                    seconds: GONE_AFTER.as_secs(),
                    resumes: false,
                });
            }
            udp.look(now, reporter);
        }
        Ok(())
    }

    /// Learns what has happened to the machine and its network.
    pub(super) fn handle_hint(&mut self, now: Time, hint: Hint) {
        if let Some(udp) = &mut self.udp {
            udp.handle_hint(now, hint);
        }
    }

    /// Sends what there is to send. Returns whether anything has left: then streams may have room again.
    ///
    /// # Errors
    ///
    /// When ssh carries the copy and does not any more.
    pub(super) fn transmit(&mut self) -> Result<bool, CopyError> {
        if let Some(udp) = &mut self.udp {
            return Ok(udp.sockets.transmit(&mut udp.connection));
        }
        let pipes = self.login.as_mut().and_then(SshLogin::pipes);
        match (pipes, &mut self.pipes) {
            (Some(pipes), Some(streams)) => {
                let outcome = streams.flush(pipes);
                outcome.map_err(|fault| self.lost(fault.to_string()))
            }
            _ => Ok(false),
        }
    }

    /// Tells if nothing waits here to be written that the remote end needs. Over UDP it does without the last
    /// words of ours: that the connection is closed says as much.
    pub(super) fn is_delivered(&self) -> bool {
        self.pipes.as_ref().is_none_or(|pipes| !pipes.has_more())
    }

    /// Ends it, whatever it is doing, and tells the remote end.
    pub(super) fn close(mut self, now: Time, is_done: bool) {
        if let Some(udp) = &mut self.udp {
            udp.close(now, is_done);
        }
        if let Some(mut login) = self.login.take() {
            match self.choice.transport() {
                UDP => login.release(),
                SSH if is_done => login.end_within(FINISH_WITHIN),
                _ => login.end(),
            }
        }
    }
}

/// The connection has ended. Whether the same command goes on is for others to say.
fn lost(host: &str, why: String) -> CopyError {
    CopyError::Lost {
        host: host.to_owned(),
        why,
        resumes: false,
    }
}

fn over_ssh_text(udp: Option<&UdpConnection>) -> String {
    match udp {
        Some(udp) => {
            let refused = match udp.sockets.refusals() {
                0 => "",
                _ => ", and somebody on the way refuses",
            };
            let label = udp.sockets.label();
            format!("nothing comes back from {label}{refused}; copying over ssh")
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
