//! The user's program on its pty, from before it is started until it is gone.

use std::io::{self, ErrorKind};
use std::mem;
use std::net::IpAddr;
use std::os::unix::process::ExitStatusExt as _;
use std::process;
use std::time::Duration;

use fulmar_base::Time;
use fulmar_core::{CompatMode, ExitStatus, Server};
use fulmar_login::SessionInfo;
use fulmar_platform::{
    Child, CoreLimit, Interest, Master, Readiness, Slave, SpawnError, SpawnStep, Transfer, User,
    WindowSize, pty,
};
use fulmar_terminal::Size;

use super::foreground::{Foreground, look_at_reader};
use super::motd;
use super::pty_output::PtyOutput;
use super::shell::Shell;
use super::utmp::LoginRecord;
use crate::advice::remedy;
use crate::reactor::{Registry, Token};
use crate::report::escaped;

/// The time that the user has to read why the program did not start.
///
/// Source: docs/protocol.md §2.6.
const FAILURE_SHOWN: Duration = Duration::from_secs(3);

/// The time that a program which has closed its terminal may take to end, so that its status is known.
/// Usually both come in the same millisecond.
///
/// Source: docs/protocol.md §13.6.
const STATUS_WITHIN: Duration = Duration::from_millis(250);

/// The time, beyond that, for drawing what a program has written before it ended. Chosen by eye: what is
/// usual is drawn in a millisecond.
const DRAWN_WITHIN: Duration = Duration::from_secs(1);

/// The advice where the system has enough of everything.
const ADVICE: &str = "check the spelling of the program, and SHELL and PATH";

/// The statuses that shells have for a program that is not there, or cannot be run.
///
/// Source: POSIX.1-2017, Shell Command Language, section 2.8.2.
const NOT_FOUND: ExitStatus = ExitStatus::Code(127);
const CANNOT_RUN: ExitStatus = ExitStatus::Code(126);

/// The status of a program that loses its terminal because its server is told to end: SIGHUP.
///
/// Source: docs/protocol.md §13.6.
const HUNG_UP: ExitStatus = ExitStatus::Signal(1);

/// The program, its terminal, and its entry in the login records.
#[derive(Debug)]
pub(crate) struct Program {
    shell: Shell,
    user: Option<User>,
    core_limit: CoreLimit,
    compat: CompatMode,
    record: LoginRecord,
    /// The other sessions of the user that have no client.
    detached: Vec<SessionInfo>,
    /// The address of the client, if there is one.
    client: Option<IpAddr>,
    stage: ProgramStage,
    /// It has ended, and until then what it has left behind may have its terminal.
    let_go_at: Option<Time>,
    has_failed: bool,
    /// Nothing more will be read, and what was read is still to be drawn.
    has_closed: bool,
    foreground: Foreground,
    output: PtyOutput,
}

#[derive(Debug)]
enum ProgramStage {
    /// Nobody is there to see it.
    Waiting,
    Running {
        master: Master,
        child: Child,
    },
    /// It has closed its terminal, and its status is waited for.
    Closed {
        master: Master,
        child: Child,
        until: Time,
    },
    /// It could not be started, which is being shown.
    Failed {
        until: Time,
        status: ExitStatus,
    },
    Gone,
}

impl Program {
    /// Returns a program that is to be started.
    pub(crate) fn new(
        shell: Shell,
        user: Option<User>,
        core_limit: CoreLimit,
        compat: CompatMode,
        record: LoginRecord,
    ) -> Program {
        Program {
            shell,
            user,
            core_limit,
            compat,
            record,
            detached: Vec::new(),
            client: None,
            stage: ProgramStage::Waiting,
            let_go_at: None,
            has_failed: false,
            has_closed: false,
            foreground: Foreground::default(),
            output: PtyOutput::new(),
        }
    }

    /// Has a login shell be preceded by a word on these sessions, which have no client.
    pub(crate) fn mention(&mut self, detached: Vec<SessionInfo>) {
        self.detached = detached;
    }

    /// Returns one of nobody in particular.
    #[cfg(test)]
    pub(crate) fn of_test(shell: Shell) -> Program {
        let (compat, core_limit) = (CompatMode::Fulmar, CoreLimit::current());
        let record = LoginRecord::new(1, 60001, compat);
        Program::new(shell, None, core_limit, compat, record)
    }

    /// Starts it, in a window of that size.
    pub(crate) fn start(&mut self, now: Time, size: Size, server: &mut Server) {
        if self.shell.is_login() {
            server.handle_greeting(now, &self.greeting());
        }
        let outcome = match pty::open(window(size)) {
            Ok((master, slave)) => self.spawn(now, slave, server).map(|child| (master, child)),
            Err(error) => Err(Unstarted {
                reason: format!("opening a pseudo terminal: {error}"),
                advice: remedy(&error).unwrap_or(ADVICE),
                status: CANNOT_RUN,
            }),
        };
        match outcome {
            Ok((master, child)) => {
                tracing::info!(pid = child.pid(), "the program runs");
                self.stage = ProgramStage::Running { master, child };
                self.record_client(self.client);
            }
            Err(unstarted) => self.fail(now, &unstarted, server),
        }
    }

    /// Has the pty follow the window.
    pub(crate) fn resize(&self, size: Size) {
        if let ProgramStage::Running { master, .. } = &self.stage
            && let Err(error) = master.resize(window(size))
        {
            tracing::debug!(%error, "resizing the pty");
        }
    }

    /// Registers the pty, if there is one.
    pub(crate) fn register<'fd>(&'fd self, registry: &mut Registry<'fd>, server: &Server) {
        let ProgramStage::Running { master, .. } = &self.stage else {
            return;
        };
        let interest = match (self.has_output(), server.pty_input()) {
            (true, []) => Interest::Nothing,
            (true, _) => Interest::Write,
            (false, []) => Interest::Read,
            (false, _) => Interest::ReadWrite,
        };
        registry.add(Token::Pty, master, interest);
    }

    /// Hands over what the program has written, as much of it as `work` units draw: what an earlier turn has
    /// left comes first.
    pub(crate) fn read(
        &mut self,
        now: Time,
        ready: Option<Readiness>,
        work: u64,
        server: &mut Server,
    ) {
        let ProgramStage::Running { master, .. } = &self.stage else {
            return;
        };
        let is_readable = ready.is_some_and(Readiness::is_readable);
        if is_readable || self.has_output() {
            // Whoever has written what comes asks to be answered.
            look_at_reader(now, master, server);
        }
        let end = if is_readable {
            fill(&mut self.output, master)
        } else {
            None
        };
        if self.has_output() {
            // What follows the output is known with it.
            self.foreground.look(now, master, server);
            let has_room = !self.output.room().is_empty();
            let drawn = server.handle_pty_output(now, self.output.waiting(), work);
            self.output.drawn(drawn);
            if has_room && !self.has_output() {
                server.handle_pty_drained();
            }
        }
        if let Some(error) = end {
            tracing::info!(?error, "the program's terminal is closed");
            self.has_closed = true;
        }
        self.close_if_drawn(now, server);
    }

    /// Tells if output waits for its turn.
    pub(crate) fn has_output(&self) -> bool {
        !self.output.waiting().is_empty()
    }

    /// Writes what was typed, as far as the pty takes it.
    pub(crate) fn write(&mut self, now: Time, server: &mut Server) {
        let ProgramStage::Running { master, .. } = &self.stage else {
            return;
        };
        let failure = loop {
            // As they are at this moment, settings hold for these keys.
            if server.wants_unread() || !server.pty_input().is_empty() {
                look_at_reader(now, master, server);
            }
            if server.pty_input().is_empty() {
                break None;
            }
            self.foreground.look(now, master, server);
            match master.write(server.pty_input()) {
                Ok(Transfer::Bytes(count)) if count > 0 => server.pty_taken(now, count),
                Ok(Transfer::Bytes(_) | Transfer::WouldBlock) => break None,
                Ok(Transfer::Closed) => break Some(None),
                Err(error) => break Some(Some(error)),
            }
        };
        if let Some(error) = failure {
            tracing::info!(?error, "the program's terminal takes no more");
            self.has_closed = true;
            self.close_if_drawn(now, server);
        }
    }

    /// Looks at what the terminal is set to, for a frame that may be made now.
    pub(crate) fn look(&mut self, now: Time, server: &mut Server) {
        if let ProgramStage::Running { master, .. } = &self.stage {
            self.foreground.look(now, master, server);
        }
    }

    /// Does what has become due.
    pub(crate) fn handle_timeout(&mut self, now: Time, server: &mut Server) {
        if self.deadline().is_none_or(|deadline| deadline > now) {
            return;
        }
        if let ProgramStage::Failed { status, .. } = self.stage {
            server.handle_program_ended(now, status);
        }
        if !self.is_drawing(now) {
            self.finish(now, server);
        }
    }

    /// Returns when there will be something to do.
    pub(crate) fn deadline(&self) -> Option<Time> {
        match &self.stage {
            ProgramStage::Closed { until, .. } | ProgramStage::Failed { until, .. } => Some(*until),
            ProgramStage::Running { .. } => self.let_go_at,
            ProgramStage::Waiting | ProgramStage::Gone => None,
        }
    }

    /// Takes the program's status if it has ended. A program may end before whatever it has started
    /// lets go of the terminal, or after; under our own name that is waited for no longer than the
    /// status is.
    pub(crate) fn reap(&mut self, now: Time, server: &mut Server) {
        let (ProgramStage::Running { child, .. } | ProgramStage::Closed { child, .. }) =
            &mut self.stage
        else {
            return;
        };
        let Ok(Some(status)) = child.try_wait() else {
            return;
        };
        tracing::info!(%status, "the program has ended");
        if let Some(status) = exit_status(status) {
            server.handle_program_ended(now, status);
        }
        if let ProgramStage::Closed { .. } = self.stage {
            self.finish(now, server);
        } else if self.compat == CompatMode::Fulmar {
            // As ssh: a session is over with its program, whatever else has its terminal.
            self.let_go_at.get_or_insert(now + STATUS_WITHIN);
        }
    }

    /// Takes note that the server was told to end, and will hang up.
    pub(crate) fn condemn(&self, now: Time, server: &mut Server) {
        if matches!(self.stage, ProgramStage::Running { .. }) && self.let_go_at.is_none() {
            server.handle_program_ended(now, HUNG_UP);
        }
    }

    /// Records where the client is; `None` for nowhere.
    pub(crate) fn record_client(&mut self, address: Option<IpAddr>) {
        self.client = address;
        let ProgramStage::Running { master, .. } = &self.stage else {
            return;
        };
        match address {
            Some(address) => self.record.attached(master, address),
            None => self.record.detached(master),
        }
    }

    /// Hangs up, and takes the session out of the records.
    pub(crate) fn end(&mut self) {
        if let ProgramStage::Running { master, child }
        | ProgramStage::Closed { master, child, .. } = &self.stage
        {
            self.record.remove(master);
            if let Err(error) = child.hang_up(master) {
                tracing::debug!(%error, "hanging up");
            }
        }
        self.stage = ProgramStage::Gone;
    }

    /// Tells if the program could not be started.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed
    }

    fn greeting(&self) -> Vec<u8> {
        let user = self.user.as_ref().map_or("", |user| &user.name);
        let (home, own) = (self.shell.home(), self.record.pid());
        motd::greeting(home, user, own, &self.detached, self.compat)
    }

    /// Starts the program in its home, or anywhere if it has none.
    fn spawn(&self, now: Time, slave: Slave, server: &mut Server) -> Result<Child, Unstarted> {
        let home = self.shell.home();
        match slave.spawn(&self.shell.spawn(home, self.core_limit)) {
            Err(error) if error.step == SpawnStep::Directory => {
                server.handle_greeting(now, &self.line(&error.to_string()));
                let anywhere = self.shell.spawn(None, self.core_limit);
                error.slave.spawn(&anywhere).map_err(Unstarted::from)
            }
            outcome => outcome.map_err(Unstarted::from),
        }
    }

    fn fail(&mut self, now: Time, unstarted: &Unstarted, server: &mut Server) {
        let Unstarted {
            reason,
            advice,
            status,
        } = unstarted;
        tracing::error!(reason, "the program did not start");
        let mut text = self.line(reason);
        text.extend_from_slice(format!("  {advice}\r\n").as_bytes());
        server.handle_greeting(now, &text);
        self.has_failed = true;
        self.stage = ProgramStage::Failed {
            until: now + FAILURE_SHOWN,
            status: *status,
        };
    }

    fn line(&self, what: &str) -> Vec<u8> {
        format!("{}: {}\r\n", self.compat.program(), escaped(what)).into_bytes()
    }

    /// Waits for the program's status once the terminal is closed and all that was read is drawn.
    fn close_if_drawn(&mut self, now: Time, server: &mut Server) {
        if !self.has_closed || self.has_output() {
            return;
        }
        if let ProgramStage::Running { master, child } =
            mem::replace(&mut self.stage, ProgramStage::Gone)
        {
            let until = now + STATUS_WITHIN;
            self.stage = ProgramStage::Closed {
                master,
                child,
                until,
            };
            // It may have ended already, and its signal does not come again.
            self.reap(now, server);
        }
    }

    /// Tells if what the program has written is still being drawn, turn by turn, and has time for it.
    fn is_drawing(&mut self, now: Time) -> bool {
        let (ProgramStage::Running { master, .. }, Some(let_go_at)) = (&self.stage, self.let_go_at)
        else {
            return false;
        };
        if !self.has_closed && !self.has_output() {
            self.has_closed = fill(&mut self.output, master).is_some();
        }
        self.has_output() && now < let_go_at + DRAWN_WITHIN
    }

    fn finish(&mut self, now: Time, server: &mut Server) {
        self.end();
        server.handle_pty_closed(now);
    }
}

/// Reads what there is, as much as may be read at present. Returns that, and why, nothing more will
/// come.
fn fill(output: &mut PtyOutput, master: &Master) -> Option<Option<io::Error>> {
    loop {
        let room = output.room();
        if room.is_empty() {
            return None;
        }
        match master.read(room) {
            Ok(Transfer::Bytes(count)) => output.filled(count),
            Ok(Transfer::WouldBlock) => return None,
            Ok(Transfer::Closed) => return Some(None),
            Err(error) => return Some(Some(error)),
        }
    }
}

/// The reason why a program was not started, and the status that a shell would have had for it.
struct Unstarted {
    reason: String,
    advice: &'static str,
    status: ExitStatus,
}

impl From<SpawnError> for Unstarted {
    fn from(error: SpawnError) -> Unstarted {
        let is_missing = error.step == SpawnStep::Exec && error.error.kind() == ErrorKind::NotFound;
        Unstarted {
            reason: error.to_string(),
            advice: remedy(&error.error).unwrap_or(ADVICE),
            status: if is_missing { NOT_FOUND } else { CANNOT_RUN },
        }
    }
}

/// Returns a status in the words of a session.
fn exit_status(status: process::ExitStatus) -> Option<ExitStatus> {
    let byte = |number: i32| u8::try_from(number).ok();
    match status.code() {
        Some(code) => byte(code).map(ExitStatus::Code),
        None => status.signal().and_then(byte).map(ExitStatus::Signal),
    }
}

fn window(size: Size) -> WindowSize {
    WindowSize {
        rows: size.rows(),
        columns: size.columns(),
    }
}

#[cfg(test)]
mod tests;
