//! Pseudo terminals: the two descriptors between us and the user's programs.

#[cfg(target_os = "linux")]
use crate::{Interest, wait_for};
use crate::{Transfer, WindowSize};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl, open as open_file};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, tcgetattr, tcgetpgrp, tcsetattr,
};
#[cfg(target_os = "linux")]
use rustix::{io::ioctl_fionread, pty::ioctl_tiocgptpeer};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
#[cfg(target_os = "linux")]
use std::time::Duration;

/// Opens a pseudo terminal of the given size.
///
/// Both ends are closed on `exec` and the master never waits. The modes are the kernel's defaults
/// with UTF-8 input on, where the system knows that mode.
///
/// The master of a pty without an open slave reports a hang-up, so [`Slave`] is to be kept until
/// a program was started on it.
///
/// # Errors
///
/// When the system has no pseudo terminal or descriptor left.
pub fn open(size: WindowSize) -> io::Result<(Master, Slave)> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    // POSIX knows neither flag for the opening itself; a fork between the calls is not possible in
    // a program of one thread.
    fcntl_setfd(&master, FdFlags::CLOEXEC)?;
    fcntl_setfl(&master, fcntl_getfl(&master)? | OFlags::NONBLOCK)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let name = ptsname(&master, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let slave = open_file(name.as_c_str(), flags, Mode::empty())?;
    // Size and modes go in by the slave: some systems have neither on a master.
    size.apply_to(&slave)?;
    turn_on_utf8_input(&slave)?;
    let name = PathBuf::from(OsStr::from_bytes(name.as_bytes()));
    Ok((Master { fd: master, name }, Slave { fd: slave }))
}

fn turn_on_utf8_input(terminal: &OwnedFd) -> io::Result<()> {
    let mut modes = tcgetattr(terminal)?;
    modes.input_modes |= InputModes::IUTF8;
    Ok(tcsetattr(terminal, OptionalActions::Now, &modes)?)
}

/// Our end of a pseudo terminal: what programs write is read here, and keys are written here.
///
/// Closing it hangs up the programs on the other end.
#[derive(Debug)]
pub struct Master {
    fd: OwnedFd,
    name: PathBuf,
}

impl Master {
    /// Reads what programs have written. [`Transfer::Closed`] comes after the last byte, once
    /// every program has let go of the pty. `buffer` must not be empty.
    ///
    /// # Errors
    ///
    /// Any error of `read` but those that [`Transfer`] stands for.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<Transfer> {
        Transfer::read(&self.fd, buffer)
    }

    /// Types `bytes`, or as many of them as the pty takes without waiting.
    ///
    /// # Errors
    ///
    /// Any error of `write` but those that [`Transfer`] stands for.
    pub fn write(&self, bytes: &[u8]) -> io::Result<Transfer> {
        Transfer::write(&self.fd, bytes)
    }

    /// Returns the size that programs see.
    ///
    /// # Errors
    ///
    /// When the system has no size on a master.
    pub fn size(&self) -> io::Result<WindowSize> {
        WindowSize::of(&self.fd)
    }

    /// Changes the size; the foreground program gets `SIGWINCH` if it differs.
    ///
    /// # Errors
    ///
    /// When the system has no size on a master without slave.
    pub fn resize(&self, size: WindowSize) -> io::Result<()> {
        size.apply_to(&self.fd)
    }

    /// Returns what the terminal does with keys at the moment.
    ///
    /// # Errors
    ///
    /// When the system does not tell it on a master.
    pub fn discipline(&self) -> io::Result<Discipline> {
        let settings = tcgetattr(&self.fd)?;
        let modes = settings.local_modes;
        let flushes = modes.contains(LocalModes::ISIG) && !modes.contains(LocalModes::NOFLSH);
        let key =
            |index| Some(settings.special_codes[index]).filter(|key| flushes && *key != DISABLED);
        Ok(Discipline {
            is_canonical: modes.contains(LocalModes::ICANON),
            has_echo: modes.contains(LocalModes::ECHO),
            flush_keys: [
                key(SpecialCodeIndex::VINTR),
                key(SpecialCodeIndex::VQUIT),
                key(SpecialCodeIndex::VSUSP),
            ],
        })
    }

    /// Returns how many bytes that were written here no program has read yet, or fewer, but 0 only if
    /// there are none. While programs read whole lines, unfinished ones do not count.
    ///
    /// # Errors
    ///
    /// When the system does not tell it. Only Linux does.
    #[cfg(target_os = "linux")]
    pub fn unread(&self) -> io::Result<usize> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let slave = ioctl_tiocgptpeer(&self.fd, flags)?;
        // What was written is passed on later, unless somebody asks if it is there.
        wait_for(&slave, Interest::Read, Some(Duration::ZERO))?;
        Ok(usize::try_from(ioctl_fionread(&slave)?).unwrap_or(usize::MAX))
    }

    /// Returns how many bytes that were written here no program has read yet, or fewer, but 0 only if
    /// there are none. While programs read whole lines, unfinished ones do not count.
    ///
    /// # Errors
    ///
    /// When the system does not tell it. Only Linux does.
    #[cfg(not(target_os = "linux"))]
    pub fn unread(&self) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns the process group that has the foreground of the terminal, and `None` if none has.
    ///
    /// # Errors
    ///
    /// When the system does not tell it on a master.
    pub fn foreground(&self) -> io::Result<Option<u32>> {
        match tcgetpgrp(&self.fd) {
            Ok(group) => Ok(u32::try_from(group.as_raw_nonzero().get()).ok()),
            // A terminal that is nobody's has group 0, which the system reports in either way.
            Err(Errno::OPNOTSUPP | Errno::NOTTY) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the path of the slave, such as `/dev/pts/3`.
    pub fn slave_name(&self) -> &std::path::Path {
        &self.name
    }
}

impl AsFd for Master {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// The treatment that a terminal gives to keys before a program reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Discipline {
    /// True when programs read whole lines, which can be edited until then (`ICANON`).
    pub is_canonical: bool,
    /// True when the terminal itself echoes what is typed (`ECHO`).
    pub has_echo: bool,
    /// The keys that interrupt, quit and suspend, as far as there are such: upon each the terminal forgets
    /// what was written before it and not read (`ISIG` without `NOFLSH`).
    pub flush_keys: [Option<u8>; 3],
}

/// A special key that no key is.
///
/// Source: POSIX.1-2017, `_POSIX_VDISABLE`, which is 0 on Linux.
const DISABLED: u8 = 0;

/// The programs' end of a pseudo terminal, held until the first program has it.
#[derive(Debug)]
pub struct Slave {
    fd: OwnedFd,
}

impl Slave {
    pub(crate) fn duplicate(&self) -> io::Result<OwnedFd> {
        self.fd.try_clone()
    }
}

impl AsFd for Slave {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spawn;
    use crate::test_support::{read_to_close, wait_readable};
    use rustix::fs::fcntl_getfl;
    use rustix::io::fcntl_getfd;

    const SIZE: WindowSize = WindowSize {
        rows: 31,
        columns: 97,
    };

    #[test]
    fn a_new_pty_has_the_size_asked_for() {
        let (master, slave) = open(SIZE).unwrap();
        assert_eq!(master.size().unwrap(), SIZE);
        assert_eq!(WindowSize::of(&slave).unwrap(), SIZE);
    }

    #[test]
    fn a_resize_is_seen_on_the_other_end() {
        let (master, slave) = open(SIZE).unwrap();
        let other = WindowSize {
            rows: 1,
            columns: u16::MAX,
        };
        master.resize(other).unwrap();
        assert_eq!(WindowSize::of(&slave).unwrap(), other);
    }

    #[test]
    fn a_new_pty_has_default_modes_and_utf8_input() {
        let (_master, slave) = open(SIZE).unwrap();
        let modes = tcgetattr(&slave).unwrap();
        assert!(
            modes
                .input_modes
                .contains(InputModes::IUTF8 | InputModes::ICRNL)
        );
        let cooked = LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG | LocalModes::IEXTEN;
        assert!(modes.local_modes.contains(cooked));
    }

    #[test]
    fn the_discipline_is_seen_from_the_master() {
        let (master, slave) = open(SIZE).unwrap();
        let interrupts = [Some(0x03), Some(0x1c), Some(0x1a)];
        let discipline = |is_canonical, has_echo| Discipline {
            is_canonical,
            has_echo,
            flush_keys: if is_canonical { interrupts } else { [None; 3] },
        };
        assert_eq!(master.discipline().unwrap(), discipline(true, true));
        let mut modes = tcgetattr(&slave).unwrap();
        modes.local_modes -= LocalModes::ECHO;
        tcsetattr(&slave, OptionalActions::Now, &modes).unwrap();
        assert_eq!(master.discipline().unwrap(), discipline(true, false));
        modes.make_raw();
        tcsetattr(&slave, OptionalActions::Now, &modes).unwrap();
        assert_eq!(master.discipline().unwrap(), discipline(false, false));
    }

    #[test]
    fn keys_that_interrupt_are_known_while_they_do() {
        let (master, slave) = open(SIZE).unwrap();
        let mut modes = tcgetattr(&slave).unwrap();
        modes.special_codes[SpecialCodeIndex::VINTR] = b'i';
        modes.special_codes[SpecialCodeIndex::VQUIT] = DISABLED;
        tcsetattr(&slave, OptionalActions::Now, &modes).unwrap();
        let keys = || master.discipline().unwrap().flush_keys;
        assert_eq!(keys(), [Some(b'i'), None, Some(0x1a)]);
        modes.local_modes |= LocalModes::NOFLSH;
        tcsetattr(&slave, OptionalActions::Now, &modes).unwrap();
        assert_eq!(keys(), [None; 3]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_is_unread_is_counted_and_stays_unread() {
        let (master, slave) = open(SIZE).unwrap();
        let mut modes = tcgetattr(&slave).unwrap();
        modes.make_raw();
        tcsetattr(&slave, OptionalActions::Now, &modes).unwrap();
        assert_eq!(master.unread().unwrap(), 0);
        assert_eq!(master.write(b"keys").unwrap(), Transfer::Bytes(4));
        wait_readable(&slave);
        assert_eq!(master.unread().unwrap(), 4);
        let mut keys = [0; 3];
        assert_eq!(
            Transfer::read(&slave, &mut keys).unwrap(),
            Transfer::Bytes(3)
        );
        assert_eq!(master.unread().unwrap(), 1);
        drop(slave);
        assert_eq!(master.unread().unwrap(), 1);
        // Another test that has just forked may hold the slave until it executes its program.
        wait_readable(&master);
        assert_eq!(master.read(&mut [0; 16]).unwrap(), Transfer::Closed);
    }

    #[test]
    fn the_foreground_is_the_program_that_was_started() {
        let (master, slave) = open(SIZE).unwrap();
        assert_eq!(master.foreground().unwrap(), None);
        let mut child = slave.spawn(Spawn::new("/bin/cat").arg("-")).unwrap();
        assert_eq!(master.foreground().unwrap(), Some(child.pid()));
        child.kill(&master).unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn the_master_does_not_wait_and_neither_end_is_inherited() {
        let (master, slave) = open(SIZE).unwrap();
        assert!(fcntl_getfl(&master).unwrap().contains(OFlags::NONBLOCK));
        assert!(!fcntl_getfl(&slave).unwrap().contains(OFlags::NONBLOCK));
        assert!(fcntl_getfd(&master).unwrap().contains(FdFlags::CLOEXEC));
        assert!(fcntl_getfd(&slave).unwrap().contains(FdFlags::CLOEXEC));
        assert_eq!(master.read(&mut [0; 16]).unwrap(), Transfer::WouldBlock);
    }

    #[test]
    fn what_is_typed_is_echoed() {
        let (master, _slave) = open(SIZE).unwrap();
        assert_eq!(master.write(b"key").unwrap(), Transfer::Bytes(3));
        wait_readable(&master);
        let mut echo = [0; 16];
        assert_eq!(master.read(&mut echo).unwrap(), Transfer::Bytes(3));
        assert_eq!(&echo[..3], b"key");
    }

    #[test]
    fn a_full_pty_takes_a_part_and_then_would_block() {
        let (master, slave) = open(SIZE).unwrap();
        let mut modes = tcgetattr(&slave).unwrap();
        modes.make_raw();
        tcsetattr(&slave, OptionalActions::Now, &modes).unwrap();
        let block = [b'x'; 65_536];
        let mut taken = 0;
        let refused = loop {
            match master.write(&block).unwrap() {
                Transfer::Bytes(length) => taken += length,
                refused => break refused,
            }
            assert!(taken < 64 << 20, "the pty took everything");
        };
        assert_eq!(refused, Transfer::WouldBlock);
        assert!(taken > 0);
    }

    #[test]
    fn output_is_read_to_its_end_before_the_close_shows() {
        let (master, slave) = open(SIZE).unwrap();
        assert_eq!(
            Transfer::write(&slave, b"last words").unwrap(),
            Transfer::Bytes(10)
        );
        drop(slave);
        assert_eq!(read_to_close(&master), "last words");
        assert_eq!(master.read(&mut [0; 16]).unwrap(), Transfer::Closed);
    }

    #[test]
    fn the_slave_is_found_by_its_name() {
        let (master, _slave) = open(SIZE).unwrap();
        assert!(master.slave_name().starts_with("/dev"));
        assert!(master.slave_name().exists());
    }
}
