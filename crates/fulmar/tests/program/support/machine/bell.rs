//! A way for a script on a machine to tell the test that it has come to some point.

use std::os::fd::OwnedFd;

use fulmar_platform::{Interest, wait_for};
use rustix::fs::{Mode, OFlags, open};

use super::{Machine, Person};
use crate::support::DEADLINE;

/// A pipe with a name in somebody's home. A script rings with `echo >~/NAME`, and waits until the
/// test has the pipe open, which is always.
pub(crate) struct Bell {
    pipe: OwnedFd,
    name: &'static str,
}

impl Bell {
    /// Hangs up a bell.
    pub(crate) fn new(machine: &Machine, person: Person, name: &'static str) -> Self {
        let mut mkfifo = machine.command(person, "mkfifo");
        machine.output_of(mkfifo.arg(name));
        let path = machine.path(&format!("{}/{name}", person.home()));
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let pipe = open(path, flags, Mode::empty()).expect("the pipe is there");
        Self { pipe, name }
    }

    /// Waits until it has rung.
    #[track_caller]
    pub(crate) fn wait(&self) {
        let waited = wait_for(&self.pipe, Interest::Read, Some(DEADLINE));
        let rung = waited.expect("poll works").is_ready();
        assert!(rung, "the bell {} did not ring", self.name);
    }
}
