//! Waiting for one descriptor or a few: the one place of the program that sleeps.

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::{AsFd, BorrowedFd};
use rustix::io::Errno;
use std::io;
use std::mem;
use std::time::Duration;

/// The events that are waited for on one descriptor. Hang-up and error are always reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Hang-up and error only.
    Nothing,
    /// Something to read.
    Read,
    /// Room to write.
    Write,
    /// Either of the two.
    ReadWrite,
}

impl Interest {
    fn flags(self) -> PollFlags {
        match self {
            Self::Nothing => PollFlags::empty(),
            Self::Read => PollFlags::IN,
            Self::Write => PollFlags::OUT,
            Self::ReadWrite => PollFlags::IN | PollFlags::OUT,
        }
    }
}

/// Waits for descriptors, each registered with a token of the caller's.
///
/// What is registered is told anew for every wait, so a descriptor that is closed is never waited for. The
/// memory for it is kept: a wait that registers no more than an earlier one allocates nothing.
///
/// ```
/// use fulmar_platform::{Interest, Poller};
/// use std::time::Duration;
///
/// # fn main() -> std::io::Result<()> {
/// let (reader, writer) = std::io::pipe()?;
/// let mut poller = Poller::new();
/// poller.wait(Some(Duration::ZERO), |registry| {
///     registry.add("input", &reader, Interest::Read);
///     registry.add("output", &writer, Interest::Write);
/// })?;
/// let ready: Vec<_> = poller.ready().map(|(token, _)| token).collect();
/// assert_eq!(ready, ["output"]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Poller<T> {
    /// Empty between two waits.
    entries: Vec<PollFd<'static>>,
    tokens: Vec<T>,
    ready: Vec<(T, Readiness)>,
}

/// The descriptors of one wait.
#[derive(Debug)]
pub struct Registry<'fd, T> {
    entries: Vec<PollFd<'fd>>,
    tokens: Vec<T>,
    /// The tokens of things that need no waiting.
    ready: Vec<(T, Readiness)>,
}

impl<T> Default for Poller<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            tokens: Vec::new(),
            ready: Vec::new(),
        }
    }
}

impl<T: Copy> Poller<T> {
    /// Returns a poller that has not waited yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits until something that `register` names is ready or `limit` has passed.
    ///
    /// `None` waits without limit. A signal ends the wait with nothing ready. The limit stands still while the
    /// machine sleeps: deadlines belong into a [`DeadlineTimer`](crate::DeadlineTimer).
    ///
    /// # Errors
    ///
    /// When there are more descriptors than the system allows, or memory has run out.
    pub fn wait<'fd>(
        &mut self,
        limit: Option<Duration>,
        register: impl FnOnce(&mut Registry<'fd, T>),
    ) -> io::Result<()> {
        self.ready.clear();
        let mut registry = Registry {
            entries: mem::take(&mut self.entries),
            tokens: mem::take(&mut self.tokens),
            ready: mem::take(&mut self.ready),
        };
        register(&mut registry);
        let outcome = registry.poll(limit);
        let Registry {
            mut entries,
            mut tokens,
            ready,
        } = registry;
        entries.clear();
        // No element is left, and so this borrows nothing: only the memory is handed on.
        self.entries = entries.into_iter().map(|_| unreachable!()).collect();
        tokens.clear();
        self.tokens = tokens;
        self.ready = ready;
        outcome
    }

    /// Returns what the last wait found ready, in the order of registration, first what needed no waiting.
    pub fn ready(&self) -> impl Iterator<Item = (T, Readiness)> + '_ {
        self.ready.iter().copied()
    }
}

impl<'fd, T: Copy> Registry<'fd, T> {
    /// Registers `descriptor`.
    pub fn add(&mut self, token: T, descriptor: &'fd impl AsFd, interest: Interest) {
        self.add_borrowed(token, descriptor.as_fd(), interest);
    }

    /// Registers a descriptor that is borrowed already.
    pub fn add_borrowed(&mut self, token: T, descriptor: BorrowedFd<'fd>, interest: Interest) {
        self.entries
            .push(PollFd::from_borrowed_fd(descriptor, interest.flags()));
        self.tokens.push(token);
    }

    /// Registers what has no descriptor and is ready now: the wait does not sleep.
    pub fn add_ready(&mut self, token: T) {
        self.ready.push((token, Readiness(PollFlags::IN)));
    }

    fn poll(&mut self, limit: Option<Duration>) -> io::Result<()> {
        let limit = if self.ready.is_empty() {
            limit
        } else {
            Some(Duration::ZERO)
        };
        // A limit too long for the system's type is as good as none.
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        match rustix::event::poll(&mut self.entries, limit.as_ref()) {
            Ok(_) => {}
            // The system has written no answers then.
            Err(Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        for (entry, token) in self.entries.iter().zip(&self.tokens) {
            if !entry.revents().is_empty() {
                self.ready.push((*token, Readiness(entry.revents())));
            }
        }
        Ok(())
    }
}

/// Waits until one descriptor is ready or `limit` has passed, and returns what it is ready for.
///
/// Limits and signals are those of [`Poller::wait`].
///
/// # Errors
///
/// As for [`Poller::wait`].
pub fn wait_for(
    descriptor: &impl AsFd,
    interest: Interest,
    limit: Option<Duration>,
) -> io::Result<Readiness> {
    let mut entry = [PollFd::new(descriptor, interest.flags())];
    let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
    match rustix::event::poll(&mut entry, limit.as_ref()) {
        Ok(_) => Ok(Readiness(entry[0].revents())),
        Err(Errno::INTR) => Ok(Readiness(PollFlags::empty())),
        Err(error) => Err(error.into()),
    }
}

/// The operations on a descriptor that need not wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Readiness(PollFlags);

impl Readiness {
    /// True when there is anything of what was waited for, or a hang-up or an error.
    pub fn is_ready(self) -> bool {
        !self.0.is_empty()
    }

    /// True when a read would not wait, which includes that it would report the end or an error.
    pub fn is_readable(self) -> bool {
        self.0
            .intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR)
    }

    /// True when a write would not wait, which includes that it would report an error.
    pub fn is_writable(self) -> bool {
        self.0.intersects(PollFlags::OUT | PollFlags::ERR)
    }

    /// True when the other side is gone. There may be something left to read all the same.
    pub fn is_hung_up(self) -> bool {
        self.0.intersects(PollFlags::HUP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Write, pipe};

    const DEADLINE: Option<Duration> = Some(crate::test_support::DEADLINE);

    #[test]
    fn nothing_is_ready_on_an_empty_pipe_but_room() {
        let (reader, writer) = pipe().unwrap();
        let now = Some(Duration::ZERO);
        let quiet = wait_for(&reader, Interest::Read, now).unwrap();
        let unasked = wait_for(&writer, Interest::Nothing, now).unwrap();
        let room = wait_for(&writer, Interest::Write, now).unwrap();
        assert!(!quiet.is_ready() && !quiet.is_readable());
        assert!(!unasked.is_ready() && !unasked.is_writable());
        assert!(room.is_ready() && room.is_writable());
    }

    #[test]
    fn bytes_make_a_pipe_readable_but_not_hung_up() {
        let (reader, mut writer) = pipe().unwrap();
        writer.write_all(b"x").unwrap();
        let readiness = wait_for(&reader, Interest::Read, DEADLINE).unwrap();
        assert!(readiness.is_readable());
        assert!(!readiness.is_hung_up());
    }

    #[test]
    fn a_hang_up_is_reported_unasked() {
        let (reader, writer) = pipe().unwrap();
        drop(writer);
        let readiness = wait_for(&reader, Interest::Nothing, DEADLINE).unwrap();
        assert!(readiness.is_hung_up());
        assert!(readiness.is_readable());
    }

    #[test]
    fn a_pipe_without_reader_is_writable_for_its_error() {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let readiness = wait_for(&writer, Interest::Write, DEADLINE).unwrap();
        assert!(readiness.is_ready() && readiness.is_writable());
    }

    #[test]
    fn each_token_has_its_own_answer() {
        let (reader, mut writer) = pipe().unwrap();
        writer.write_all(b"x").unwrap();
        let mut poller = Poller::new();
        poller
            .wait(DEADLINE, |registry| {
                registry.add("input", &reader, Interest::Read);
                registry.add("output", &writer, Interest::Write);
            })
            .unwrap();
        let ready: Vec<_> = poller.ready().collect();
        let [("input", input), ("output", output)] = ready[..] else {
            panic!("{ready:?}");
        };
        assert!(input.is_readable() && !input.is_writable());
        assert!(output.is_writable() && !output.is_readable());
    }

    #[test]
    fn what_is_ready_is_told_in_the_order_of_registration() {
        let (quiet, _quiet_writer) = pipe().unwrap();
        let (reader, mut writer) = pipe().unwrap();
        writer.write_all(b"x").unwrap();
        let mut poller = Poller::new();
        poller
            .wait(DEADLINE, |registry| {
                registry.add(1, &writer, Interest::Write);
                registry.add(2, &quiet, Interest::Read);
                registry.add(3, &reader, Interest::Read);
            })
            .unwrap();
        let ready: Vec<i32> = poller.ready().map(|(token, _)| token).collect();
        assert_eq!(ready, [1, 3]);
    }

    #[test]
    fn nothing_is_left_of_an_earlier_wait() {
        let (reader, mut writer) = pipe().unwrap();
        writer.write_all(b"x").unwrap();
        let mut poller = Poller::new();
        for descriptor in [Some(&reader), None] {
            poller
                .wait(Some(Duration::ZERO), |registry| {
                    if let Some(descriptor) = descriptor {
                        registry.add((), descriptor, Interest::Read);
                    }
                })
                .unwrap();
            assert_eq!(poller.ready().count(), usize::from(descriptor.is_some()));
        }
    }

    #[test]
    fn what_is_ready_without_a_descriptor_lets_others_be_seen_and_nobody_sleep() {
        let (quiet, _quiet_writer) = pipe().unwrap();
        let (_reader, writer) = pipe().unwrap();
        let mut poller = Poller::new();
        poller
            .wait(None, |registry| {
                registry.add("quiet", &quiet, Interest::Read);
                registry.add("writer", &writer, Interest::Write);
                registry.add_ready("left over");
            })
            .unwrap();
        let ready: Vec<&str> = poller.ready().map(|(token, _)| token).collect();
        assert_eq!(ready, ["left over", "writer"]);
    }

    #[test]
    fn a_limit_beyond_the_systems_type_is_accepted() {
        let (reader, mut writer) = pipe().unwrap();
        writer.write_all(b"x").unwrap();
        let limit = Some(Duration::MAX);
        assert!(wait_for(&reader, Interest::Read, limit).unwrap().is_ready());
        let mut poller = Poller::new();
        poller
            .wait(limit, |registry| registry.add((), &reader, Interest::Read))
            .unwrap();
        assert_eq!(poller.ready().count(), 1);
    }
}
