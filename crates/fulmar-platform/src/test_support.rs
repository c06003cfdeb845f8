//! Waiting in tests: always for a descriptor, never for a time.

use crate::{Child, Interest, Master, Spawn, Transfer, WindowSize, pty, wait_for};
use rustix::fd::AsFd;
use std::process::ExitStatus;
use std::time::Duration;

/// Longer than any machine needs; reached only by a test that fails.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// Waits until `descriptor` is readable or hung up.
pub(crate) fn wait_readable(descriptor: impl AsFd) {
    let readiness = wait_for(&descriptor, Interest::Read, Some(DEADLINE)).unwrap();
    assert!(readiness.is_ready(), "nothing came before the deadline");
}

/// True when `descriptor` is readable or hung up by now.
pub(crate) fn is_readable(descriptor: impl AsFd) -> bool {
    let readiness = wait_for(&descriptor, Interest::Read, Some(Duration::ZERO)).unwrap();
    readiness.is_readable()
}

/// Returns everything that the programs on a pty write until the last of them is gone.
pub(crate) fn read_to_close(master: &Master) -> String {
    read_while(master, |_| true)
}

/// Returns what the programs on a pty write, up to where `end` is in it.
pub(crate) fn read_until(master: &Master, end: &str) -> String {
    let output = read_while(master, |output| !output.contains(end));
    assert!(output.contains(end), "closed before {end:?}: {output:?}");
    output
}

fn read_while(master: &Master, wanted: impl Fn(&str) -> bool) -> String {
    let mut output = String::new();
    let mut buffer = [0; 4096];
    while wanted(&output) {
        match master.read(&mut buffer).unwrap() {
            Transfer::Bytes(length) => {
                output.push_str(std::str::from_utf8(&buffer[..length]).unwrap());
            }
            Transfer::WouldBlock => wait_readable(master),
            Transfer::Closed => break,
        }
    }
    output
}

const CHILD_VARIABLE: &str = "FULMAR_TEST_CHILD";

/// True in the process that [`start_child`] started.
pub(crate) fn in_child() -> bool {
    std::env::var_os(CHILD_VARIABLE).is_some()
}

/// Runs one test of this crate by itself, on a pty and in a process of its own: for what would
/// disturb the tests that run beside it. The test asks [`in_child`] which of the two it is.
///
/// The test runner has a thread of its own there too; what must have one thread is tested in
/// `tests/single_thread.rs`.
pub(crate) fn start_child(test: &str) -> (Child, Master) {
    let (master, slave) = pty::open(WindowSize {
        rows: 24,
        columns: 80,
    })
    .unwrap();
    let mut command = Spawn::new(std::env::current_exe().unwrap());
    command
        .arg("--exact")
        .arg(test)
        .arg("--nocapture")
        .arg("--test-threads=1");
    command
        .env("PATH", "/usr/bin:/bin")
        .env(CHILD_VARIABLE, "1");
    (slave.spawn(&command).unwrap(), master)
}

/// Runs a test as [`start_child`] does, to its end, and returns what it wrote.
pub(crate) fn run_in_child(test: &str) -> (ExitStatus, String) {
    let (mut child, master) = start_child(test);
    let output = read_to_close(&master);
    (child.wait().unwrap(), output)
}
