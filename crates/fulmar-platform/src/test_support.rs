//! Waiting in tests: always for a descriptor, never for a time.

use crate::{Master, Transfer};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::AsFd;

/// Longer than any machine needs; reached only by a test that fails.
const DEADLINE: Timespec = Timespec {
    tv_sec: 30,
    tv_nsec: 0,
};

/// Waits until `descriptor` is readable or hung up.
pub(crate) fn wait_readable(descriptor: impl AsFd) {
    let mut polled = [PollFd::new(&descriptor, PollFlags::IN)];
    assert_eq!(
        poll(&mut polled, Some(&DEADLINE)).unwrap(),
        1,
        "nothing came before the deadline"
    );
}

/// Returns everything that the programs on a pty write until the last of them is gone.
pub(crate) fn read_to_close(master: &Master) -> String {
    let mut output = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        match master.read(&mut buffer).unwrap() {
            Transfer::Bytes(length) => output.extend_from_slice(&buffer[..length]),
            Transfer::WouldBlock => wait_readable(master),
            Transfer::Closed => return String::from_utf8(output).unwrap(),
        }
    }
}
