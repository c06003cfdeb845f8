//! The user's own terminal.

use crate::{Transfer, WindowSize};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, fstat, open};

use rustix::process::{getpgrp, getsid};
use rustix::termios::{
    Action, OptionalActions, OutputModes, QueueSelector, Termios, isatty, tcflow, tcflush,
    tcgetattr, tcgetpgrp, tcgetsid, tcsetattr, ttyname,
};
use std::io;

/// True when `descriptor` is a terminal.
pub fn is_terminal(descriptor: impl AsFd) -> bool {
    isatty(descriptor)
}

/// Tells if a terminal moves to the beginning of a line that begins. One in raw mode does not.
pub fn begins_lines(terminal: impl AsFd) -> bool {
    let both = OutputModes::OPOST | OutputModes::ONLCR;
    tcgetattr(terminal).is_ok_and(|modes| modes.output_modes.contains(both))
}

/// Switches a terminal to raw mode for good, and drops what waits to be read: of a line that is longer than a terminal's
/// its end is lost.
///
/// # Errors
///
/// When it is no terminal, or has hung up.
pub fn make_raw(terminal: impl AsFd) -> io::Result<()> {
    let terminal = terminal.as_fd();
    let mut modes = tcgetattr(terminal)?;
    modes.make_raw();
    set(terminal, &modes)?;
    Ok(tcflush(terminal, QueueSelector::IFlush)?)
}

/// The user's terminal, opened anew so that it can be read and written without waiting.
///
/// The descriptor that we inherited shares its flags with the shell that started us and with all
/// other programs on the terminal: if it were made non-blocking, they would be too, and would stay
/// so after we are gone.
#[derive(Debug)]
pub struct Tty {
    fd: OwnedFd,
    reopened: Reopened,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reopened {
    Yes,
    No,
}

impl Tty {
    /// Opens the terminal behind `inherited`, usually descriptor 0, for reading and writing.
    ///
    /// It is opened by its name, or as `/dev/tty` where it is the terminal of our session: a
    /// container has no name for a terminal of its host, and after `su` the name is another
    /// user's. Where neither works the inherited descriptor is used; it keeps its flags, and then
    /// a write may wait for a terminal that was stopped with `Ctrl-S`.
    ///
    /// # Errors
    ///
    /// When `inherited` is no terminal, or no descriptor is left.
    pub fn open(inherited: impl AsFd) -> io::Result<Self> {
        let inherited = inherited.as_fd();
        // Answers with ENOTTY or EBADF what is wrong with the descriptor.
        tcgetattr(inherited)?;
        let reopened = open_by_name(inherited).or_else(|| open_terminal_of_session(inherited));
        Ok(match reopened {
            Some(fd) => Self {
                fd,
                reopened: Reopened::Yes,
            },
            None => Self {
                fd: inherited.try_clone_to_owned()?,
                reopened: Reopened::No,
            },
        })
    }

    /// Reads what was typed. `buffer` must not be empty.
    ///
    /// # Errors
    ///
    /// Any error of `read` but those that [`Transfer`] stands for.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<Transfer> {
        if self.reopened == Reopened::No && !self.has_input()? {
            return Ok(Transfer::WouldBlock);
        }
        Transfer::read(&self.fd, buffer)
    }

    /// Writes `bytes`, or as many of them as the terminal takes without waiting.
    ///
    /// # Errors
    ///
    /// Any error of `write` but those that [`Transfer`] stands for.
    pub fn write(&self, bytes: &[u8]) -> io::Result<Transfer> {
        Transfer::write(&self.fd, bytes)
    }

    /// True when another job has the foreground of this terminal.
    pub fn is_in_background(&self) -> bool {
        is_in_background(&self.fd)
    }

    /// Stops, if another job has the foreground of this terminal, as a program is stopped that writes there: the shell
    /// tells its user of that. Returns once we have the foreground, or if nothing stops us: `SIGTTOU` is ignored, or no
    /// shell waits for us.
    pub fn wait_for_foreground(&self) {
        if self.is_in_background() {
            // Of all that a terminal refuses to a job in the background this changes least: it undoes a tcflow.
            let _ = rustix::io::retry_on_intr(|| tcflow(&self.fd, Action::OOn));
        }
    }

    /// Returns the size of the window, or `None` if the terminal does not know it: a serial line,
    /// for example, has 0 rows and columns.
    pub fn size(&self) -> Option<WindowSize> {
        WindowSize::of(&self.fd)
            .ok()
            .filter(|size| size.rows > 0 && size.columns > 0)
    }

    /// Remembers the terminal's modes, to put them back should another program leave them changed.
    ///
    /// # Errors
    ///
    /// When the terminal has hung up.
    pub fn modes(&self) -> io::Result<SavedModes> {
        let terminal = self.fd.try_clone()?;
        let modes = tcgetattr(&terminal)?;
        Ok(SavedModes { terminal, modes })
    }

    /// Switches to raw mode until the guard is dropped.
    ///
    /// # Errors
    ///
    /// When the terminal has hung up.
    pub fn raw_mode(&self) -> io::Result<RawMode> {
        RawMode::enter_on(self.fd.try_clone()?)
    }

    fn has_input(&self) -> io::Result<bool> {
        let now = Some(std::time::Duration::ZERO);
        Ok(crate::wait_for(&self.fd, crate::Interest::Read, now)?.is_readable())
    }
}

impl AsFd for Tty {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

fn flags() -> OFlags {
    OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC
}

fn open_by_name(inherited: BorrowedFd<'_>) -> Option<OwnedFd> {
    let name = ttyname(inherited, Vec::new()).ok()?;
    let reopened = open(name.as_c_str(), flags(), Mode::empty()).ok()?;
    let device = |of: BorrowedFd<'_>| fstat(of).map(|status| status.st_rdev);
    // In another mount namespace the name may belong to somebody else's terminal.
    (device(reopened.as_fd()) == device(inherited)).then_some(reopened)
}

fn open_terminal_of_session(inherited: BorrowedFd<'_>) -> Option<OwnedFd> {
    let is_of_session = tcgetsid(inherited).is_ok_and(|session| getsid(None) == Ok(session));
    is_of_session
        .then(|| open("/dev/tty", flags(), Mode::empty()).ok())
        .flatten()
}

/// The modes that a terminal had at some time.
#[derive(Debug)]
pub struct SavedModes {
    terminal: OwnedFd,
    modes: Termios,
}

impl SavedModes {
    /// Puts them back, unless another job has the foreground.
    ///
    /// # Errors
    ///
    /// When the terminal has hung up.
    pub fn restore(&self) -> io::Result<()> {
        if is_in_background(&self.terminal) {
            Ok(())
        } else {
            set(&self.terminal, &self.modes)
        }
    }
}

fn is_in_background(terminal: &OwnedFd) -> bool {
    tcgetpgrp(terminal).is_ok_and(|foreground| foreground != getpgrp())
}

// At once: waiting for the output to drain could take for ever on a stopped terminal.
fn set(terminal: impl AsFd, modes: &Termios) -> io::Result<()> {
    let terminal = terminal.as_fd();
    Ok(rustix::io::retry_on_intr(|| {
        tcsetattr(terminal, OptionalActions::Now, modes)
    })?)
}

/// A terminal in raw mode: every key arrives at once and as it is, and output is left alone.
///
/// The modes from before come back when this is dropped, or on demand. While another job has the
/// foreground nothing is changed: its shell has set the modes that it needs, and we would be
/// stopped for trying.
#[derive(Debug)]
pub struct RawMode {
    terminal: OwnedFd,
    /// The modes to come back to.
    before: Termios,
    is_raw: bool,
}

impl RawMode {
    fn enter_on(terminal: OwnedFd) -> io::Result<Self> {
        let before = tcgetattr(&terminal)?;
        let mut guard = Self {
            terminal,
            before,
            is_raw: false,
        };
        guard.reenter()?;
        Ok(guard)
    }

    /// Puts the modes from before back, as for a suspension. Does nothing if that was done.
    ///
    /// # Errors
    ///
    /// When the terminal has hung up.
    pub fn restore(&mut self) -> io::Result<()> {
        if !self.is_raw || self.is_in_background() {
            return Ok(());
        }
        set(&self.terminal, &self.before)?;
        self.is_raw = false;
        Ok(())
    }

    /// Switches to raw mode again after a suspension.
    ///
    /// If the modes had been restored, those that are found now will be restored the next time:
    /// the user may have changed them meanwhile. If we were stopped without a chance to restore
    /// them, what is found may be the shell's own, and the older modes stay.
    ///
    /// # Errors
    ///
    /// When the terminal has hung up.
    pub fn reenter(&mut self) -> io::Result<()> {
        if self.is_in_background() {
            return Ok(());
        }
        if !self.is_raw {
            self.before = tcgetattr(&self.terminal)?;
        }
        let mut raw = self.before.clone();
        raw.make_raw();
        set(&self.terminal, &raw)?;
        self.is_raw = true;
        Ok(())
    }

    /// True when another job has the foreground of this terminal.
    pub fn is_in_background(&self) -> bool {
        is_in_background(&self.terminal)
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        // A terminal that has hung up has no modes to restore, and nobody to tell.
        let _ = self.restore();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{in_child, read_to_close, run_in_child, start_child, wait_readable};
    use crate::{Master, Slave, pty};
    use rustix::fs::fcntl_getfl;
    use rustix::io::fcntl_getfd;
    use rustix::termios::{LocalModes, SpecialCodeIndex};

    const SIZE: WindowSize = WindowSize {
        rows: 31,
        columns: 97,
    };

    fn terminal() -> (Master, Slave, Tty) {
        let (master, slave) = pty::open(SIZE).unwrap();
        let tty = Tty::open(&slave).unwrap();
        (master, slave, tty)
    }

    fn is_raw(terminal: impl AsFd) -> bool {
        let modes = tcgetattr(terminal).unwrap();
        let cooked = LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG | LocalModes::IEXTEN;
        assert_ne!(
            modes.local_modes.intersects(cooked),
            !modes.output_modes.contains(OutputModes::OPOST),
            "neither raw nor cooked: {modes:?}"
        );
        !modes.local_modes.intersects(cooked)
    }

    #[test]
    fn a_pipe_is_no_terminal() {
        let (reader, _writer) = io::pipe().unwrap();
        assert!(!is_terminal(&reader));
        let error = Tty::open(&reader).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOTTY));
    }

    #[test]
    fn the_inherited_descriptor_keeps_its_flags() {
        let (_master, slave, tty) = terminal();
        assert!(is_terminal(&slave));
        assert!(fcntl_getfl(&tty).unwrap().contains(OFlags::NONBLOCK));
        assert!(
            fcntl_getfd(&tty)
                .unwrap()
                .contains(rustix::io::FdFlags::CLOEXEC)
        );
        assert!(!fcntl_getfl(&slave).unwrap().contains(OFlags::NONBLOCK));
    }

    #[test]
    fn the_terminal_of_the_session_is_opened_without_its_name() {
        if in_child() {
            let reopened = open_terminal_of_session(io::stdin().as_fd()).unwrap();
            rustix::io::write(&reopened, b"through /dev/tty\n").unwrap();
            // A terminal of another session must not be mistaken for ours.
            let (_master, slave) = pty::open(SIZE).unwrap();
            assert!(open_terminal_of_session(slave.as_fd()).is_none());
            return;
        }
        let name = "tty::tests::the_terminal_of_the_session_is_opened_without_its_name";
        let (status, output) = run_in_child(name);
        assert!(status.success(), "{output}");
        assert!(output.contains("through /dev/tty"), "{output}");
    }

    #[test]
    fn an_inherited_descriptor_in_use_is_not_waited_for() {
        let (master, slave) = pty::open(SIZE).unwrap();
        let fd = slave.as_fd().try_clone_to_owned().unwrap();
        let tty = Tty {
            fd,
            reopened: Reopened::No,
        };
        let mut buffer = [0; 8];
        assert_eq!(tty.read(&mut buffer).unwrap(), Transfer::WouldBlock);
        let _ = master.write(b"q\n").unwrap();
        wait_readable(&tty);
        assert_eq!(tty.read(&mut buffer).unwrap(), Transfer::Bytes(2));
    }

    #[test]
    fn a_size_of_zero_is_no_size() {
        let (master, _slave, tty) = terminal();
        assert_eq!(tty.size(), Some(SIZE));
        master
            .resize(WindowSize {
                rows: 24,
                columns: 0,
            })
            .unwrap();
        assert_eq!(tty.size(), None);
        master
            .resize(WindowSize {
                rows: 0,
                columns: 80,
            })
            .unwrap();
        assert_eq!(tty.size(), None);
    }

    #[test]
    fn keys_arrive_at_once_and_as_they_are_in_raw_mode() {
        let (master, _slave, tty) = terminal();
        let _raw = tty.raw_mode().unwrap();
        let mut buffer = [0; 8];
        assert_eq!(tty.read(&mut buffer).unwrap(), Transfer::WouldBlock);
        assert_eq!(master.write(b"\x03\r").unwrap(), Transfer::Bytes(2));
        wait_readable(&tty);
        assert_eq!(tty.read(&mut buffer).unwrap(), Transfer::Bytes(2));
        assert_eq!(&buffer[..2], b"\x03\r");
        assert_eq!(tty.write(b"\n").unwrap(), Transfer::Bytes(1));
        wait_readable(&master);
        assert_eq!(
            master.read(&mut buffer).unwrap(),
            Transfer::Bytes(1),
            "no CR is added"
        );
    }

    #[test]
    fn a_terminal_that_was_made_raw_has_lost_what_waited() {
        let (master, slave, tty) = terminal();
        assert_eq!(master.write(b"cut off\n").unwrap(), Transfer::Bytes(8));
        wait_readable(&tty);
        assert!(begins_lines(&slave));
        make_raw(&slave).unwrap();
        assert!(is_raw(&slave) && !begins_lines(&slave));
        assert_eq!(master.write(b"x").unwrap(), Transfer::Bytes(1));
        wait_readable(&tty);
        let mut buffer = [0; 8];
        assert_eq!(tty.read(&mut buffer).unwrap(), Transfer::Bytes(1));
        assert_eq!(buffer[0], b'x');
    }

    #[test]
    fn the_modes_come_back_when_the_guard_is_dropped() {
        let (_master, slave, tty) = terminal();
        let mut before = tcgetattr(&slave).unwrap();
        before.special_codes[SpecialCodeIndex::VINTR] = 0x19;
        tcsetattr(&slave, OptionalActions::Now, &before).unwrap();
        let raw = tty.raw_mode().unwrap();
        assert!(is_raw(&slave));
        drop(raw);
        let after = tcgetattr(&slave).unwrap();
        assert_eq!(format!("{after:?}"), format!("{before:?}"));
    }

    #[test]
    fn modes_that_another_program_left_are_put_back() {
        let (_master, slave, tty) = terminal();
        let saved = tty.modes().unwrap();
        std::mem::forget(tty.raw_mode().unwrap());
        assert!(is_raw(&slave));
        saved.restore().unwrap();
        assert!(!is_raw(&slave));
    }

    #[test]
    fn the_modes_come_back_after_a_panic() {
        let (_master, slave, tty) = terminal();
        let result = std::panic::catch_unwind(|| {
            let _raw = tty.raw_mode().unwrap();
            std::panic::resume_unwind(Box::new("a bug"));
        });
        assert!(result.is_err());
        assert!(!is_raw(&slave));
    }

    #[test]
    fn a_suspension_restores_and_enters_again_with_what_the_user_changed() {
        let (_master, slave, tty) = terminal();
        let mut raw = tty.raw_mode().unwrap();
        raw.restore().unwrap();
        assert!(!is_raw(&slave));
        let mut changed = tcgetattr(&slave).unwrap();
        changed.special_codes[SpecialCodeIndex::VINTR] = 0x19;
        tcsetattr(&slave, OptionalActions::Now, &changed).unwrap();
        raw.reenter().unwrap();
        assert!(is_raw(&slave));
        drop(raw);
        let after = tcgetattr(&slave).unwrap();
        assert_eq!(after.special_codes[SpecialCodeIndex::VINTR], 0x19);
        assert!(!is_raw(&slave));
    }

    #[test]
    fn a_stop_without_warning_does_not_take_the_shells_modes_for_the_users() {
        let (_master, slave, tty) = terminal();
        let mut raw = tty.raw_mode().unwrap();
        let mut of_the_shell = tcgetattr(&slave).unwrap();
        of_the_shell.special_codes[SpecialCodeIndex::VINTR] = 0x19;
        tcsetattr(&slave, OptionalActions::Now, &of_the_shell).unwrap();
        raw.reenter().unwrap();
        drop(raw);
        let after = tcgetattr(&slave).unwrap();
        assert_eq!(after.special_codes[SpecialCodeIndex::VINTR], 3);
        assert!(!is_raw(&slave));
    }

    #[test]
    fn nothing_is_changed_while_another_job_has_the_foreground() {
        if in_child() {
            let tty = Tty::open(io::stdin()).unwrap();
            let mut raw = tty.raw_mode().unwrap();
            assert!(!raw.is_in_background());
            // The foreground goes to a group of another process, as a shell does it.
            let mut other = std::process::Command::new("/bin/cat");
            std::os::unix::process::CommandExt::process_group(&mut other, 0);
            let mut other = other.spawn().unwrap();
            let group = rustix::process::Pid::from_child(&other);
            rustix::termios::tcsetpgrp(&tty, group).unwrap();
            assert!(raw.is_in_background());
            // An attempt to change the modes would stop us for good here.
            raw.restore().unwrap();
            raw.reenter().unwrap();
            assert!(is_raw(&tty));
            drop(raw);
            assert!(is_raw(&tty));
            other.kill().unwrap();
            other.wait().unwrap();
            std::process::exit(23);
        }
        let name = "tty::tests::nothing_is_changed_while_another_job_has_the_foreground";
        let (mut child, master) = start_child(name);
        let output = read_to_close(&master);
        assert_eq!(child.wait().unwrap().code(), Some(23), "{output}");
    }

    #[test]
    fn a_terminal_that_hung_up_is_closed() {
        let (master, _slave, tty) = terminal();
        let mut raw = tty.raw_mode().unwrap();
        drop(master);
        // Another test that has just forked may hold the master until it executes its program.
        wait_readable(&tty);
        assert_eq!(tty.read(&mut [0; 8]).unwrap(), Transfer::Closed);
        assert_eq!(raw.restore().unwrap_err().raw_os_error(), Some(libc::EIO));
    }
}
