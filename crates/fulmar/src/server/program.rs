//! The user's program on its pty, from before it is started until it is gone.

use std::io::ErrorKind;
use std::mem;
use std::net::IpAddr;
use std::os::unix::process::ExitStatusExt as _;
use std::process;
use std::time::Duration;

use fulmar_base::Time;
use fulmar_core::{ExitStatus, Names, Server};
use fulmar_platform::{
    Child, CoreLimit, Interest, Master, PollList, PollSlot, Readiness, Slave, SpawnError,
    SpawnStep, Transfer, User, WindowSize, pty,
};
use fulmar_terminal::Size;

use super::foreground::Foreground;
use super::motd;
use super::shell::Shell;
use super::utmp::{LoginRecord, detached_host};
use crate::report::escaped;

/// The most that is read from the pty in one turn.
///
/// Source: docs/threat-model.md §6.
const OUTPUT_BYTES_PER_TURN: usize = 64 * 1024;

/// How long the user may read why the program did not start.
///
/// Source: docs/protocol.md §2.6.
const FAILURE_SHOWN: Duration = Duration::from_secs(3);

/// The time that a program which has closed its terminal may take to end, so that its status is known.
/// Usually both come in the same millisecond.
///
/// Source: docs/protocol.md §13.6.
const STATUS_WITHIN: Duration = Duration::from_millis(250);

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
    names: Names,
    pid: u32,
    record: LoginRecord,
    /// The address of the client, if there is one.
    client: Option<IpAddr>,
    stage: Stage,
    /// It has ended, and until then what it has left behind may have its terminal.
    let_go_at: Option<Time>,
    has_failed: bool,
    foreground: Foreground,
    output: Vec<u8>,
}

#[derive(Debug)]
enum Stage {
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
    /// Returns a program that is to be started by the server of that process number.
    pub(crate) fn new(
        shell: Shell,
        user: Option<User>,
        core_limit: CoreLimit,
        names: Names,
        pid: u32,
    ) -> Program {
        Program {
            shell,
            user,
            core_limit,
            names,
            pid,
            record: LoginRecord::new(pid),
            client: None,
            stage: Stage::Waiting,
            let_go_at: None,
            has_failed: false,
            foreground: Foreground::default(),
            output: vec![0; OUTPUT_BYTES_PER_TURN],
        }
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
                status: CANNOT_RUN,
            }),
        };
        match outcome {
            Ok((master, child)) => {
                tracing::info!(pid = child.pid(), "the program runs");
                self.stage = Stage::Running { master, child };
                self.record_client(self.client);
            }
            Err(unstarted) => self.fail(now, &unstarted, server),
        }
    }

    /// Has the pty follow the window.
    pub(crate) fn resize(&self, size: Size) {
        if let Stage::Running { master, .. } = &self.stage
            && let Err(error) = master.resize(window(size))
        {
            tracing::debug!(%error, "resizing the pty");
        }
    }

    /// Puts the pty on the list, if there is one.
    pub(crate) fn enlist<'fd>(
        &'fd self,
        list: &mut PollList<'fd>,
        server: &Server,
    ) -> Option<PollSlot> {
        let Stage::Running { master, .. } = &self.stage else {
            return None;
        };
        let interest = match server.pty_input() {
            [] => Interest::Read,
            _ => Interest::ReadWrite,
        };
        Some(list.add(master, interest))
    }

    /// Hands over what the program has written, within the budget of one turn.
    pub(crate) fn read(&mut self, now: Time, ready: Readiness, server: &mut Server) {
        let Stage::Running { master, .. } = &self.stage else {
            return;
        };
        if !ready.is_readable() {
            return;
        }
        let mut filled = 0;
        let end = loop {
            let Some(room) = self
                .output
                .get_mut(filled..)
                .filter(|room| !room.is_empty())
            else {
                break None;
            };
            match master.read(room) {
                Ok(Transfer::Bytes(count)) => filled += count,
                Ok(Transfer::WouldBlock) => break None,
                Ok(Transfer::Closed) => break Some(None),
                Err(error) => break Some(Some(error)),
            }
        };
        if let Some(output) = self
            .output
            .get(..filled)
            .filter(|output| !output.is_empty())
        {
            // What follows the output is known with it.
            self.foreground.look(now, master, server);
            let _ = server.handle_pty_output(now, output, u64::MAX);
        }
        if let Some(error) = end {
            tracing::info!(?error, "the program's terminal is closed");
            self.close(now, server);
        }
    }

    /// Writes what was typed, as far as the pty takes it.
    pub(crate) fn write(&mut self, now: Time, server: &mut Server) {
        let Stage::Running { master, .. } = &self.stage else {
            return;
        };
        let failure = loop {
            let input = server.pty_input();
            if input.is_empty() {
                break None;
            }
            // As they are at this moment, settings hold for these keys.
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
            self.close(now, server);
        }
    }

    /// Looks at what the terminal is set to, for a frame that may be made now.
    pub(crate) fn look(&mut self, now: Time, server: &mut Server) {
        if let Stage::Running { master, .. } = &self.stage {
            self.foreground.look(now, master, server);
        }
    }

    /// Does what has become due.
    pub(crate) fn handle_timeout(&mut self, now: Time, server: &mut Server) {
        if self.deadline().is_none_or(|deadline| deadline > now) {
            return;
        }
        if let Stage::Failed { status, .. } = self.stage {
            server.handle_program_ended(now, status);
        }
        self.finish(now, server);
    }

    /// Returns when there will be something to do.
    pub(crate) fn deadline(&self) -> Option<Time> {
        match &self.stage {
            Stage::Closed { until, .. } | Stage::Failed { until, .. } => Some(*until),
            Stage::Running { .. } => self.let_go_at,
            Stage::Waiting | Stage::Gone => None,
        }
    }

    /// Takes the program's status if it has ended. A program may end before whatever it has started
    /// lets go of the terminal, or after; under our own name that is waited for no longer than the
    /// status is.
    pub(crate) fn reap(&mut self, now: Time, server: &mut Server) {
        let (Stage::Running { child, .. } | Stage::Closed { child, .. }) = &mut self.stage else {
            return;
        };
        let Ok(Some(status)) = child.try_wait() else {
            return;
        };
        tracing::info!(%status, "the program has ended");
        if let Some(status) = exit_status(status) {
            server.handle_program_ended(now, status);
        }
        if let Stage::Closed { .. } = self.stage {
            self.finish(now, server);
        } else if self.names == Names::Own {
            // As ssh: a session is over with its program, whatever else has its terminal.
            self.let_go_at.get_or_insert(now + STATUS_WITHIN);
        }
    }

    /// Takes note that the server was told to end, and will hang up.
    pub(crate) fn condemn(&self, now: Time, server: &mut Server) {
        if matches!(self.stage, Stage::Running { .. }) && self.let_go_at.is_none() {
            server.handle_program_ended(now, HUNG_UP);
        }
    }

    /// Records where the client is; `None` for nowhere.
    pub(crate) fn record_client(&mut self, address: Option<IpAddr>) {
        self.client = address;
        let Stage::Running { master, .. } = &self.stage else {
            return;
        };
        match address {
            Some(address) => self.record.attached(master, address),
            None => self.record.detached(master),
        }
    }

    /// Hangs up, and takes the session out of the records.
    pub(crate) fn end(&mut self) {
        if let Stage::Running { master, child } | Stage::Closed { master, child, .. } = &self.stage
        {
            self.record.remove(master);
            if let Err(error) = child.hang_up(master) {
                tracing::debug!(%error, "hanging up");
            }
        }
        self.stage = Stage::Gone;
    }

    /// Tells if the program could not be started.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed
    }

    fn greeting(&self) -> Vec<u8> {
        let user = self.user.as_ref().map_or("", |user| &user.name);
        motd::greeting(
            self.shell.home(),
            user,
            &detached_host(self.pid),
            self.names,
        )
    }

    /// Starts the program in its home, or anywhere if it has none.
    fn spawn(&self, now: Time, slave: Slave, server: &mut Server) -> Result<Child, Unstarted> {
        let home = self.shell.home();
        match slave.spawn(&self.shell.spawn(home, self.core_limit)) {
            Err(error) if error.step == SpawnStep::Directory => {
                let _ = server.handle_pty_output(now, &self.line(&error.to_string()), u64::MAX);
                let anywhere = self.shell.spawn(None, self.core_limit);
                error.slave.spawn(&anywhere).map_err(Unstarted::from)
            }
            outcome => outcome.map_err(Unstarted::from),
        }
    }

    fn fail(&mut self, now: Time, unstarted: &Unstarted, server: &mut Server) {
        let Unstarted { reason, status } = unstarted;
        tracing::error!(reason, "the program did not start");
        let mut text = self.line(reason);
        text.extend_from_slice(b"  check the spelling of the program, and SHELL and PATH\r\n");
        let _ = server.handle_pty_output(now, &text, u64::MAX);
        self.has_failed = true;
        self.stage = Stage::Failed {
            until: now + FAILURE_SHOWN,
            status: *status,
        };
    }

    fn line(&self, what: &str) -> Vec<u8> {
        format!("{}: {}\r\n", self.names.program(), escaped(what)).into_bytes()
    }

    /// Takes note that the terminal is closed, and waits for the program's status.
    fn close(&mut self, now: Time, server: &mut Server) {
        if let Stage::Running { master, child } = mem::replace(&mut self.stage, Stage::Gone) {
            let until = now + STATUS_WITHIN;
            self.stage = Stage::Closed {
                master,
                child,
                until,
            };
            self.reap(now, server);
        }
    }

    fn finish(&mut self, now: Time, server: &mut Server) {
        self.end();
        server.handle_pty_closed(now);
    }
}

/// Why a program was not started, and the status that a shell would have had for it.
struct Unstarted {
    reason: String,
    status: ExitStatus,
}

impl From<SpawnError> for Unstarted {
    fn from(error: SpawnError) -> Unstarted {
        let is_missing = error.step == SpawnStep::Exec && error.error.kind() == ErrorKind::NotFound;
        Unstarted {
            reason: error.to_string(),
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
