//! The event loop of the other end of a copy, on the machine that ssh has reached.

use std::ffi::CStr;
use std::io;
use std::ops::ControlFlow;
use std::time::Duration;

use fulmar_base::Time;
use fulmar_copy::{Answerer, Poll, ProtocolError, RateLimiter};
use fulmar_login::{InputEndWatcher, OVER_SSH_LINE};
use fulmar_platform::process::{redirect_stdio_to_null, set_process_name};
use fulmar_platform::{Interest, Signal, StandardPipes, Transfer};
use fulmar_quic::{Connection, ConnectionEvent};

use super::WORK_BYTES_PER_TURN;
use super::file_transfer::CountedStreams;
use super::remote_sockets::RemoteSockets;
use super::remote_task::{RemoteTask, expand};
use super::ssh_streams::{PipeFault, Pipes, SshStreams};
use crate::clock::now;
use crate::login_parent::ParentHandle;
use crate::reactor::{Reactor, ReactorEvent, Token};

/// The longest wait for a local end.
///
/// Source: docs/threat-model.md §9.
const NOBODY_FOR: Duration = Duration::from_secs(60);

/// The time that the local end is given to leave once it has heard that all is done.
///
/// Source: docs/protocol.md §2.10.
const LINGER: Duration = Duration::from_secs(5);

/// The signal by which a newer copy of the same user asks for the port.
pub(super) const MAKE_WAY: Signal = Signal::User1;

/// The silence of the local end after which the port is let go of for a newer copy. Chosen by eye: a copy that goes on
/// hears something each second.
pub(super) const MAKES_WAY_AFTER: Duration = Duration::from_secs(3);

/// The most bytes read of the login's input before it makes sense: output of a start-up file, and one line.
///
/// Source: docs/threat-model.md §6, text before the line.
const ASKED_BYTES_MAX: usize = 64 * 1024;

/// The name of a process whose copy ssh carries.
const PORTLESS_TITLE: &CStr = c"fulmar-cp";

/// The remote end's side of the login that has started it, as long as that is needed.
pub(super) struct Login {
    /// The login's input and output.
    pub(super) pipes: StandardPipes,
    /// Whoever stays with the login.
    pub(super) parent: ParentHandle,
}

/// The stage that a remote end has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RemoteEndStage {
    /// Nobody has come, since then.
    Waiting(Time),
    /// The local end has come.
    Reached,
    /// All is done, and may not be known yet, since then.
    Over(Time),
}

/// The reason why a remote end leaves before all is done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum Leave {
    #[error("a signal")]
    Signalled,
    #[error("a newer copy wants the port")]
    MadeWay,
    #[error("the login has ended")]
    LoginEnded,
    #[error("nobody came")]
    Nobody,
    #[error("the near end has gone")]
    Gone,
    #[error("{0}")]
    Ended(String),
    #[error("{0}")]
    Pipes(#[from] PipeFault),
    #[error("the near end is wrong: {0}")]
    Wrong(#[from] ProtocolError),
}

/// A remote end.
pub(super) struct RemoteEnd {
    reactor: Reactor,
    /// UDP, unless ssh carries the copy.
    udp: Option<(RemoteSockets, Connection)>,
    login: Option<Login>,
    /// The streams over ssh, if it carries the copy.
    streams: Option<SshStreams>,
    /// The bytes that have come on the login's input.
    asked: Vec<u8>,
    end_watcher: InputEndWatcher,
    /// True if the login's input has ended, and the login has not.
    has_input_ended: bool,
    stage: RemoteEndStage,
    task: RemoteTask,
    /// The rate at which files are sent.
    pace: RateLimiter,
}

/// The news of the login in one turn.
#[derive(Clone, Copy, Debug, Default)]
struct LoginNews {
    /// There is input.
    input: bool,
    /// It has ended.
    is_parent_gone: bool,
}

impl RemoteEnd {
    /// Returns one that waits.
    pub(super) fn new(
        reactor: Reactor,
        sockets: RemoteSockets,
        connection: Connection,
        login: Login,
        pace: RateLimiter,
    ) -> RemoteEnd {
        RemoteEnd {
            reactor,
            udp: Some((sockets, connection)),
            login: Some(login),
            streams: None,
            asked: Vec::new(),
            end_watcher: InputEndWatcher::default(),
            has_input_ended: false,
            stage: RemoteEndStage::Waiting(now()),
            task: RemoteTask::Answering(Answerer::new()),
            pace,
        }
    }

    /// Works until there is nothing left to do.
    pub(super) fn run(mut self) {
        match self.go_on() {
            Ok(()) => tracing::info!("leaving: all is done"),
            Err(leave) => tracing::info!(why = %leave, "leaving"),
        }
        if let RemoteTask::Working(transfer) = &mut self.task {
            transfer.interrupt();
        }
        if let Some((sockets, connection)) = &mut self.udp {
            connection.close(now());
            sockets.transmit(connection);
        }
        if let Some(login) = self.login {
            login.parent.declare_heard();
        }
    }

    /// Works until all is done.
    fn go_on(&mut self) -> Result<(), Leave> {
        let mut has_more = false;
        while let ControlFlow::Continue(more) = self.turn(has_more)? {
            has_more = more;
        }
        Ok(())
    }

    /// Takes a turn. Goes on with whether there is more at once, unless all is done.
    fn turn(&mut self, mut has_more: bool) -> Result<ControlFlow<(), bool>, Leave> {
        // Before the wait, so that what the last turn has made does not wait for an event.
        has_more |= self.transmit()?;
        let waited = self.wait(has_more);
        waited.map_err(|error| Leave::Ended(error.to_string()))?;
        let now = now();
        let news = self.take_events()?;
        let mut has_more = self.look_after_udp()?;
        match self.take_input(now, news)? {
            ControlFlow::Continue(more) => has_more |= more,
            done => return Ok(done),
        }
        has_more |= self.work(now)?;
        Ok(if self.is_done(now)? {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(has_more)
        })
    }

    fn deadline(&self) -> Option<Time> {
        let stage = match self.stage {
            RemoteEndStage::Waiting(since) => Some(since + NOBODY_FOR),
            RemoteEndStage::Over(since) if self.is_heard() => Some(since + LINGER),
            RemoteEndStage::Over(_) | RemoteEndStage::Reached => None,
        };
        let quic = self
            .udp
            .as_ref()
            .and_then(|(_, connection)| connection.poll_timeout());
        let pace = match self.task {
            RemoteTask::Working(_) => self.pace.next(),
            _ => None,
        };
        [stage, quic, pace].into_iter().flatten().min()
    }

    fn wait(&mut self, has_more: bool) -> io::Result<()> {
        let deadline = self.deadline();
        let copied = match &mut self.task {
            RemoteTask::Working(transfer) => transfer.awaited(),
            _ => None,
        };
        let (reads, writes) = match &self.streams {
            Some(streams) => (streams.wants_more(), streams.has_more()),
            None => (!self.has_input_ended, false),
        };
        self.reactor.wait(deadline, |registry| {
            if has_more {
                registry.add_ready(Token::Backlog);
            }
            if let Some((sockets, _)) = &self.udp {
                sockets.register(registry);
            }
            if let Some(Login { pipes, parent }) = &self.login {
                registry.add(Token::ForkPeer, parent, Interest::Read);
                if let Some(input) = pipes.input().filter(|_| reads) {
                    registry.add_borrowed(Token::Input, input, Interest::Read);
                }
                if let Some(output) = pipes.output().filter(|_| writes) {
                    registry.add_borrowed(Token::Output, output, Interest::Write);
                }
            }
            if let Some((descriptor, interest)) = copied {
                registry.add_borrowed(Token::Copied, descriptor, interest);
            }
        })
    }

    /// Hands over what has come over UDP, and returns what has come of the login.
    fn take_events(&mut self) -> Result<LoginNews, Leave> {
        let mut news = LoginNews::default();
        if let Some((sockets, _)) = &mut self.udp {
            sockets.begin_turn();
        }
        while let Some(event) = self.reactor.poll_event() {
            match (event, &mut self.udp) {
                (ReactorEvent::Signal(MAKE_WAY), udp) => make_way(udp.as_ref())?,
                (ReactorEvent::Signal(_), _) => return Err(Leave::Signalled),
                (
                    ReactorEvent::Ready(Token::Socket(index), readiness),
                    Some((sockets, connection)),
                ) if readiness.is_readable() => {
                    sockets.receive(index, connection);
                }
                (ReactorEvent::Ready(Token::Input, _), _) => news.input = true,
                (ReactorEvent::Ready(Token::ForkPeer, _), _) => news.is_parent_gone = true,
                // Where a remote end is reached does not change by what happens to its network.
                _ => {}
            }
        }
        Ok(news)
    }

    fn transmit(&mut self) -> Result<bool, Leave> {
        if let Some((sockets, connection)) = &mut self.udp {
            return Ok(sockets.transmit(connection));
        }
        if let (Some(login), Some(streams)) = (&mut self.login, &mut self.streams) {
            return Ok(streams.flush(&mut login.pipes)?);
        }
        Ok(false)
    }

    fn look_after_udp(&mut self) -> Result<bool, Leave> {
        let Some((sockets, connection)) = &mut self.udp else {
            return Ok(false);
        };
        let has_more = sockets.has_more();
        if sockets.is_peer_gone() {
            return Err(Leave::Gone);
        }
        connection.handle_timeout(now());
        while let Some(event) = connection.poll_event() {
            match event {
                ConnectionEvent::Connected => {
                    tracing::info!("the near end is there, over UDP");
                    self.stage = RemoteEndStage::Reached;
                    // From here on the copy does not end with the login.
                    let_go(self.login.take());
                }
                ConnectionEvent::Ended(why) => return Err(Leave::Ended(why.to_string())),
            }
        }
        Ok(has_more)
    }

    /// Looks after the login: it may ask to carry the copy, carry it, or end. Goes on with whether there is more
    /// at once, unless all is done.
    fn take_input(&mut self, now: Time, news: LoginNews) -> Result<ControlFlow<(), bool>, Leave> {
        let Some(login) = &mut self.login else {
            return Ok(ControlFlow::Continue(false));
        };
        if news.is_parent_gone {
            return Err(Leave::LoginEnded);
        }
        if let Some(streams) = &mut self.streams {
            let is_over = matches!(self.stage, RemoteEndStage::Over(_));
            return match streams.turn(&mut login.pipes) {
                // The local end has closed ssh: it knows that all is done.
                Ok(_) | Err(PipeFault::Ended) if is_over && streams.has_input_ended() => {
                    Ok(ControlFlow::Break(()))
                }
                outcome => Ok(ControlFlow::Continue(outcome?)),
            };
        }
        if news.input {
            self.listen(now)?;
        }
        Ok(ControlFlow::Continue(false))
    }

    fn listen(&mut self, now: Time) -> Result<(), Leave> {
        let Some(login) = &mut self.login else {
            return Ok(());
        };
        let mut bytes = [0; 4096];
        match login.pipes.read(&mut bytes) {
            Ok(Transfer::Bytes(count)) => {
                let bytes = bytes.get(..count).unwrap_or_default();
                self.asked.extend_from_slice(bytes);
                self.end_watcher.take(bytes);
            }
            Ok(Transfer::WouldBlock) => return Ok(()),
            Ok(Transfer::Closed) if self.end_watcher.is_announced() => {
                self.has_input_ended = true;
                return Ok(());
            }
            Ok(Transfer::Closed) | Err(_) => return Err(Leave::LoginEnded),
        }
        let line = OVER_SSH_LINE.as_bytes();
        // Not only at the beginning: a start-up file may have left something before it.
        let found = self
            .asked
            .windows(line.len())
            .position(|window| window == line);
        if let Some(at) = found {
            let early = self.asked.get(at + line.len()..).unwrap_or_default();
            let mut streams = SshStreams::with(early)?;
            // The same line answers (docs/protocol.md §2.10). Who reads it gives UDP up, too.
            streams.say(line);
            tracing::info!(?now, "the near end is there, over ssh");
            self.streams = Some(streams);
            self.stage = RemoteEndStage::Reached;
            self.udp = None;
            name_process(PORTLESS_TITLE);
            self.asked = Vec::new();
        } else if self.asked.len() > ASKED_BYTES_MAX {
            // The line may come in two pieces.
            self.asked.drain(..self.asked.len() - line.len());
        }
        Ok(())
    }

    /// Does what there is to do. Returns whether there is more at once.
    fn work(&mut self, now: Time) -> Result<bool, Leave> {
        let mut streams = match (self.stage, &mut self.streams, &mut self.udp) {
            (RemoteEndStage::Waiting(_), ..) | (_, None, None) => return Ok(false),
            (_, Some(streams), _) => CountedStreams::ssh(streams),
            (_, None, Some((_, connection))) => CountedStreams::udp(connection),
        };
        match std::mem::replace(&mut self.task, RemoteTask::Done) {
            RemoteTask::Answering(mut answerer) => {
                let request = answerer.poll(&mut streams)?.cloned();
                let is_asked = request.is_some();
                self.task = match request {
                    None => RemoteTask::Answering(answerer),
                    Some(request) => RemoteTask::begin(answerer, request),
                };
                Ok(is_asked)
            }
            RemoteTask::Expanding(answerer, source) => {
                self.task = expand(answerer, source);
                Ok(true)
            }
            RemoteTask::Refusing(mut answerer) => {
                if answerer.flush(&mut streams) {
                    self.stage = RemoteEndStage::Over(now)
                } else {
                    self.task = RemoteTask::Refusing(answerer)
                }
                Ok(false)
            }
            RemoteTask::Working(mut transfer) => {
                let turn = match self.pace.allows(now, WORK_BYTES_PER_TURN) {
                    0 => Ok(Poll::Waiting),
                    budget => transfer.poll(&mut streams, budget),
                };
                self.pace.spend(streams.moved());
                while let Some(event) = transfer.poll_event() {
                    tracing::debug!(?event, "news");
                }
                let is_over = matches!(turn, Ok(Poll::Done)) && transfer.is_written();
                self.task = RemoteTask::Working(transfer);
                if is_over {
                    self.task = RemoteTask::Done;
                    self.stage = RemoteEndStage::Over(now);
                }
                Ok(turn? == Poll::More)
            }
            RemoteTask::Done => Ok(false),
        }
    }

    /// Tells if all is done, and known to be.
    fn is_done(&self, now: Time) -> Result<bool, Leave> {
        match self.stage {
            RemoteEndStage::Waiting(since) if since + NOBODY_FOR <= now => Err(Leave::Nobody),
            RemoteEndStage::Over(since) => Ok(since + LINGER <= now && self.is_heard()),
            _ => Ok(false),
        }
    }

    /// Returns true if the local end has all that was written, the last word too, or nobody can tell. An outage at the end
    /// is waited for as long as one in the middle.
    fn is_heard(&self) -> bool {
        let connection = self.udp.as_ref().map(|(_, connection)| connection);
        connection.is_none_or(Connection::is_delivered)
    }
}

/// Leaves for a newer copy that wants the port, if the local end has been silent for long enough.
fn make_way(udp: Option<&(RemoteSockets, Connection)>) -> Result<(), Leave> {
    match udp {
        Some((_, connection)) if connection.silent_for(now()) >= MAKES_WAY_AFTER => {
            Err(Leave::MadeWay)
        }
        _ => Ok(()),
    }
}

/// Has lists of processes know this one by a name. Where that cannot be, nobody is asked to make way.
pub(super) fn name_process(title: &CStr) {
    if let Err(error) = set_process_name(title) {
        tracing::debug!(%error, "naming the process");
    }
}

/// Lets the login end: nothing of it is needed any more.
fn let_go(login: Option<Login>) {
    let Some(login) = login else { return };
    drop(login.pipes);
    if let Err(error) = redirect_stdio_to_null() {
        tracing::warn!(%error, "letting go of the login");
    }
    login.parent.declare_heard();
}

impl Pipes for StandardPipes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<Transfer> {
        StandardPipes::read(self, buffer)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<Transfer> {
        StandardPipes::write(self, bytes)
    }
}
