//! Starting the user's program on a pseudo terminal, with nothing of ours left in it.

use crate::{CoreLimit, Master, Slave};
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{Errno, read, write};
use rustix::process::{Pid, Signal, ioctl_tiocsctty, kill_process_group, setsid};
use rustix::termios::tcgetpgrp;
use std::ffi::{OsStr, OsString};
use std::io::{self, PipeReader, PipeWriter};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// A program to start, its arguments, and all of its environment.
///
/// Nothing is inherited but user, limits and file creation mask: the environment holds only what
/// [`env`](Self::env) named, descriptors 0 to 2 are the terminal and no other is open, signals have
/// their default dispositions and none is blocked.
#[derive(Clone, Debug)]
pub struct Spawn {
    program: OsString,
    argv0: Option<OsString>,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    directory: Option<PathBuf>,
    core_limit: Option<CoreLimit>,
}

impl Spawn {
    /// Names the program: a path, or a word that is looked up along the `PATH` of the new
    /// environment.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            argv0: None,
            arguments: Vec::new(),
            environment: Vec::new(),
            directory: None,
            core_limit: None,
        }
    }

    /// Sets the name under which the program is started; `-bash` makes a login shell of bash.
    pub fn argv0(&mut self, name: impl Into<OsString>) -> &mut Self {
        self.argv0 = Some(name.into());
        self
    }

    /// Adds an argument.
    pub fn arg(&mut self, argument: impl Into<OsString>) -> &mut Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds a variable to the environment; of several with one name the last counts.
    pub fn env(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> &mut Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Sets the directory to start in; otherwise it is ours.
    pub fn directory(&mut self, directory: impl Into<PathBuf>) -> &mut Self {
        self.directory = Some(directory.into());
        self
    }

    /// Gives back the core file limit that we had before we forbade core dumps of ourselves.
    pub fn core_limit(&mut self, limit: CoreLimit) -> &mut Self {
        self.core_limit = Some(limit);
        self
    }
}

/// The steps between deciding to start a program and its first instruction, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SpawnStep {
    /// Making descriptors and the new process.
    Fork = 1,
    /// Becoming leader of a session that has the pty as its terminal.
    Session,
    /// Giving back the limit on core files.
    CoreLimit,
    /// Keeping all descriptors but 0 to 2 to ourselves.
    Descriptors,
    /// Entering the starting directory.
    Directory,
    /// Running the program.
    Exec,
}

impl SpawnStep {
    const ALL: [Self; 6] = [
        Self::Fork,
        Self::Session,
        Self::CoreLimit,
        Self::Descriptors,
        Self::Directory,
        Self::Exec,
    ];

    fn of_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|step| *step as u8 == byte)
    }

    fn attempt(self) -> &'static str {
        match self {
            Self::Fork => "making a process for",
            Self::Session => "making a session for",
            Self::CoreLimit => "restoring the core limit for",
            Self::Descriptors => "closing descriptors for",
            Self::Directory => "entering",
            Self::Exec => "running",
        }
    }
}

/// The reason why a program was not started.
#[derive(Debug, thiserror::Error)]
#[error("{} {}: {error}", step.attempt(), subject.display())]
pub struct SpawnError {
    /// The step that failed.
    pub step: SpawnStep,
    /// The path that it was tried on: the directory for [`SpawnStep::Directory`], else the program.
    pub subject: PathBuf,
    /// The system's answer.
    pub error: io::Error,
    /// The terminal, for another attempt.
    pub slave: Slave,
}

/// A program that runs on a pseudo terminal. Dropping it neither ends nor reaps the program.
#[derive(Debug)]
pub struct Child {
    process: std::process::Child,
    pid: Pid,
    status: Option<ExitStatus>,
}

impl Child {
    /// Returns the number of the process, which is also that of its session.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Returns how the program ended, if it has, without waiting.
    ///
    /// # Errors
    ///
    /// When somebody else has reaped the process.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() {
            self.status = self.process.try_wait()?;
        }
        Ok(self.status)
    }

    /// Waits until the program ends.
    ///
    /// # Errors
    ///
    /// When somebody else has reaped the process.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        let status = self.process.wait()?;
        self.status = Some(status);
        Ok(status)
    }

    /// Tells the program, and whatever has the foreground of its terminal, that the terminal is
    /// gone. A stopped program is woken to hear it.
    ///
    /// # Errors
    ///
    /// When we may not signal the program, which runs as another user.
    pub fn hang_up(&self, master: &Master) -> io::Result<()> {
        self.signal_all(master, &[Signal::HUP, Signal::CONT])
    }

    /// Ends the program, and whatever has the foreground of its terminal, without asking.
    ///
    /// # Errors
    ///
    /// When we may not signal the program, which runs as another user.
    pub fn kill(&self, master: &Master) -> io::Result<()> {
        self.signal_all(master, &[Signal::KILL])
    }

    /// The program comes first: a shell whose job ends would go on with its next command.
    fn signal_all(&self, master: &Master, signals: &[Signal]) -> io::Result<()> {
        let job = self.foreground_group(master);
        for group in [Some(self.pid), job].into_iter().flatten() {
            for signal in signals {
                self.signal(group, *signal)?;
            }
        }
        Ok(())
    }

    fn foreground_group(&self, master: &Master) -> Option<Pid> {
        tcgetpgrp(master).ok().filter(|group| *group != self.pid)
    }

    // A process that was reaped has given its number back: it may be anybody's by now.
    fn signal(&self, group: Pid, signal: Signal) -> io::Result<()> {
        if self.status.is_some() {
            return Ok(());
        }
        match kill_process_group(group, signal) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl Slave {
    /// Starts a program on this terminal, as leader of a session of its own.
    ///
    /// This end is closed here on success, so that the master hangs up when the programs are done.
    ///
    /// # Errors
    ///
    /// Says which step failed, and returns the slave for another attempt.
    pub fn spawn(self, command: &Spawn) -> Result<Child, SpawnError> {
        let (progress, announced) = match progress_pipe() {
            Ok(pipe) => pipe,
            Err(error) => return Err(command.error(SpawnStep::Fork, error, self)),
        };
        let started = command
            .prepare(&self, announced)
            .and_then(|mut prepared| prepared.spawn());
        let process = match started {
            Ok(process) => process,
            Err(error) => return Err(command.error(last_step(progress.as_fd()), error, self)),
        };
        let pid = Pid::from_child(&process);
        Ok(Child {
            process,
            pid,
            status: None,
        })
    }
}

/// Makes a pipe for the child to announce its steps on. Reading it never waits, for a child of
/// another thread may hold the other end too.
fn progress_pipe() -> io::Result<(PipeReader, PipeWriter)> {
    let (progress, announced) = io::pipe()?;
    fcntl_setfl(&progress, fcntl_getfl(&progress)? | OFlags::NONBLOCK)?;
    Ok((progress, announced))
}

impl Spawn {
    fn prepare(&self, slave: &Slave, announced: PipeWriter) -> io::Result<Command> {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(slave.duplicate()?)
            .stdout(slave.duplicate()?)
            .stderr(slave.duplicate()?);
        if let Some(name) = &self.argv0 {
            command.arg0(name);
        }
        let directory = self.directory.as_deref().map(c_path).transpose()?;
        let core_limit = self.core_limit;
        let leave_us_behind = move || {
            let step = |step: SpawnStep| write(&announced, &[step as u8]);
            step(SpawnStep::Session)?;
            reset_signals();
            setsid()?;
            // SAFETY: the standard library has put the slave at descriptor 0 before it calls this.
            ioctl_tiocsctty(unsafe { BorrowedFd::borrow_raw(libc::STDIN_FILENO) })?;
            step(SpawnStep::CoreLimit)?;
            if let Some(limit) = &core_limit {
                limit.restore()?;
            }
            step(SpawnStep::Descriptors)?;
            mark_inherited_descriptors()?;
            step(SpawnStep::Directory)?;
            if let Some(directory) = &directory {
                rustix::process::chdir(directory.as_c_str())?;
            }
            step(SpawnStep::Exec)?;
            Ok(())
        };
        // SAFETY: the closure runs between fork and exec. It makes system calls only: it neither
        // allocates nor locks, and drops nothing.
        unsafe { command.pre_exec(leave_us_behind) };
        Ok(command)
    }

    fn error(&self, step: SpawnStep, error: io::Error, slave: Slave) -> SpawnError {
        let subject = match (step, &self.directory) {
            (SpawnStep::Directory, Some(directory)) => directory.clone(),
            _ => PathBuf::from(&self.program),
        };
        SpawnError {
            step,
            subject,
            error,
            slave,
        }
    }
}

fn c_path(path: &Path) -> io::Result<std::ffi::CString> {
    use std::os::unix::ffi::OsStrExt;
    let name: &OsStr = path.as_os_str();
    Ok(std::ffi::CString::new(name.as_bytes())?)
}

/// Returns the last step that the child announced: the one it did not come back from.
fn last_step(progress: BorrowedFd<'_>) -> SpawnStep {
    let mut steps = [0; SpawnStep::ALL.len()];
    let announced = read(progress, &mut steps).unwrap_or(0);
    steps[..announced]
        .last()
        .and_then(|byte| SpawnStep::of_byte(*byte))
        .unwrap_or(SpawnStep::Fork)
}

/// Gives all signals their default disposition, then lets all of them through.
///
/// `exec` would undo handlers by itself, but what is ignored or blocked stays so.
fn reset_signals() {
    // 64 is the highest signal number of Linux; other systems end earlier. Asking for a number
    // that does not exist, or that the C library keeps to itself, is refused and harmless.
    for signal in 1..=64 {
        // SAFETY: SIG_DFL is a valid disposition and installs no code of ours.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    // SAFETY: the set is initialised by sigemptyset before it is read, and lives on our stack.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// Lets `exec` close every descriptor above 2.
///
/// They are marked rather than closed because the standard library reports a failed `exec` through
/// one of them.
fn mark_inherited_descriptors() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: marks descriptors of this process only; the child runs no code that relies on
        // one of them surviving exec.
        let done = unsafe {
            libc::syscall(
                libc::SYS_close_range,
                3,
                libc::c_uint::MAX,
                libc::CLOSE_RANGE_CLOEXEC,
            )
        };
        if done == 0 {
            return Ok(());
        }
    }
    mark_one_by_one();
    Ok(())
}

/// Does the same where `close_range` is missing (Linux before 5.11) or filtered.
fn mark_one_by_one() {
    use rustix::process::{Resource, getrlimit};
    // No system hands out numbers beyond the limit; 65 536 bounds the work where there is none.
    let end = getrlimit(Resource::Nofile)
        .current
        .unwrap_or(65_536)
        .min(65_536);
    for number in 3..end as libc::c_int {
        // SAFETY: F_SETFD changes one flag of a descriptor, and fails if it is not open.
        unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{read_to_close, read_until};
    use crate::{WindowSize, pty};
    use rustix::io::{FdFlags, fcntl_dupfd_cloexec, fcntl_getfd, fcntl_setfd};

    const SIZE: WindowSize = WindowSize {
        rows: 31,
        columns: 97,
    };

    fn output_of(command: &Spawn) -> String {
        let (master, slave) = pty::open(SIZE).unwrap();
        let mut child = slave.spawn(command).unwrap();
        let output = read_to_close(&master).replace("\r\n", "\n");
        assert!(child.wait().unwrap().success(), "{output}");
        output
    }

    fn shell(script: &str) -> Spawn {
        let mut command = Spawn::new("/bin/sh");
        command.arg("-c").arg(script).env("PATH", "/usr/bin:/bin");
        command
    }

    #[test]
    fn the_program_leads_a_session_on_the_terminal() {
        let (master, slave) = pty::open(SIZE).unwrap();
        let mut child = slave
            .spawn(&shell("echo $$; tty; stty size; echo there >/dev/tty"))
            .unwrap();
        let expected = format!(
            "{}\r\n{}\r\n31 97\r\nthere\r\n",
            child.pid(),
            master.slave_name().display()
        );
        assert_eq!(read_to_close(&master), expected);
        assert!(child.wait().unwrap().success());
    }

    #[test]
    fn the_environment_is_the_list_and_nothing_else() {
        let mut command = Spawn::new("env");
        command
            .env("PATH", "/usr/bin:/bin")
            .env("A", "1")
            .env("A", "2")
            .env("Z", "");
        let output = output_of(&command);
        let mut lines: Vec<&str> = output.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["A=2", "PATH=/usr/bin:/bin", "Z="]);
    }

    #[test]
    fn the_name_of_the_program_can_be_another() {
        let mut command = Spawn::new("/bin/cat");
        command.argv0("-cat").arg("/proc/self/cmdline");
        assert_eq!(output_of(&command), "-cat\0/proc/self/cmdline\0");
    }

    #[test]
    fn the_program_starts_in_the_directory_asked_for() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path().canonicalize().unwrap();
        let mut command = shell("pwd -P");
        command.directory(&directory);
        assert_eq!(output_of(&command), format!("{}\n", directory.display()));
    }

    #[test]
    fn no_descriptor_of_ours_reaches_the_program() {
        // One that exec would keep, numbered so that it is not mistaken for one of the shell's.
        let inherited = fcntl_dupfd_cloexec(io::stderr(), 200).unwrap();
        fcntl_setfd(&inherited, FdFlags::empty()).unwrap();
        let output = output_of(&shell("echo /proc/self/fd/*"));
        for descriptor in ["/0", "/1", "/2"] {
            assert!(output.contains(&format!("fd{descriptor}")), "{output}");
        }
        // The shell itself has one more, for the directory that it lists.
        assert!(output.split_whitespace().count() <= 4, "{output}");

        // In the same test, because this marks the descriptors of all tests that run beside it.
        mark_one_by_one();
        assert!(fcntl_getfd(&inherited).unwrap().contains(FdFlags::CLOEXEC));
    }

    #[test]
    fn no_signal_is_ignored_caught_or_blocked_in_the_program() {
        // The runtime of Rust ignores SIGPIPE in this process already.
        // SAFETY: blocks one signal in this thread, with a set on the stack that is initialised.
        unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut set);
            libc::sigaddset(&raw mut set, libc::SIGUSR2);
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        }
        let mut command = Spawn::new("/bin/cat");
        command.arg("/proc/self/status");
        // The C library keeps 32 and 33 to itself: their disposition is what it was at our start.
        let ours_to_set = !(0b11_u64 << 31);
        let status = output_of(&command);
        for field in ["SigBlk:", "SigIgn:", "SigCgt:"] {
            let line = status.lines().find(|line| line.starts_with(field)).unwrap();
            let set = u64::from_str_radix(line.split_whitespace().nth(1).unwrap(), 16).unwrap();
            assert_eq!(set & ours_to_set, 0, "{line}");
        }
    }

    #[test]
    fn the_core_limit_is_given_back() {
        let mut limit = CoreLimit::current();
        // Half of what the host allows, so that it differs from what would be inherited.
        let soft = limit.0.maximum.map_or(1 << 20, |maximum| maximum / 2);
        limit.0.current = Some(soft);
        let mut command = Spawn::new("/bin/cat");
        command.arg("/proc/self/limits").core_limit(limit);
        let limits = output_of(&command);
        let line = limits
            .lines()
            .find(|line| line.starts_with("Max core file size"))
            .unwrap();
        assert_eq!(
            line.split_whitespace().nth(4),
            Some(soft.to_string().as_str()),
            "{line}"
        );
    }

    #[test]
    fn a_missing_program_is_named_and_the_terminal_returned() {
        let (master, slave) = pty::open(SIZE).unwrap();
        let error = slave.spawn(&Spawn::new("/nowhere/shell")).unwrap_err();
        assert_eq!(error.step, SpawnStep::Exec);
        assert_eq!(error.error.raw_os_error(), Some(libc::ENOENT));
        assert!(
            error.to_string().starts_with("running /nowhere/shell: "),
            "{error}"
        );
        let mut child = error.slave.spawn(&shell("echo second")).unwrap();
        assert_eq!(read_to_close(&master), "second\r\n");
        assert!(child.wait().unwrap().success());
    }

    #[test]
    fn a_file_that_is_no_program_is_told_from_a_missing_one() {
        let (_master, slave) = pty::open(SIZE).unwrap();
        let error = slave.spawn(&Spawn::new("/etc/passwd")).unwrap_err();
        assert_eq!(error.step, SpawnStep::Exec);
        assert_eq!(error.error.raw_os_error(), Some(libc::EACCES));
    }

    #[test]
    fn a_missing_directory_is_named() {
        let (_master, slave) = pty::open(SIZE).unwrap();
        let error = slave
            .spawn(shell("true").directory("/nowhere"))
            .unwrap_err();
        assert_eq!(error.step, SpawnStep::Directory);
        assert_eq!(error.subject, Path::new("/nowhere"));
    }

    #[test]
    fn an_argument_with_a_zero_byte_is_refused() {
        let (_master, slave) = pty::open(SIZE).unwrap();
        let error = slave.spawn(&shell("a\0b")).unwrap_err();
        assert_eq!(error.step, SpawnStep::Fork);
        assert_eq!(error.error.kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn the_exit_status_is_kept() {
        let (master, slave) = pty::open(SIZE).unwrap();
        let mut child = slave.spawn(&shell("exit 7")).unwrap();
        read_to_close(&master);
        assert_eq!(child.wait().unwrap().code(), Some(7));
        assert_eq!(child.try_wait().unwrap().unwrap().code(), Some(7));
        // The number is not ours any more: nothing is signalled, and that is no error.
        child.kill(&master).unwrap();
    }

    #[test]
    fn a_hang_up_ends_the_program() {
        use std::os::unix::process::ExitStatusExt;
        let (master, slave) = pty::open(SIZE).unwrap();
        let mut child = slave.spawn(&Spawn::new("/bin/cat")).unwrap();
        assert_eq!(child.try_wait().unwrap(), None);
        child.hang_up(&master).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGHUP));
    }

    #[test]
    fn a_kill_reaches_the_foreground_job() {
        use std::os::unix::process::ExitStatusExt;
        let (master, slave) = pty::open(SIZE).unwrap();
        // Job control gives the inner shell a group of its own; both ignore a hang-up.
        let script = "trap '' HUP; set -m; sh -c 'echo ready; exec cat'; echo survived";
        let mut child = slave.spawn(&shell(script)).unwrap();
        let output = read_until(&master, "ready\r\n");
        assert!(child.foreground_group(&master).is_some(), "{output:?}");
        child.kill(&master).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
        // The pty closes only when the last of them is gone.
        assert_eq!(read_to_close(&master), "");
    }
}
