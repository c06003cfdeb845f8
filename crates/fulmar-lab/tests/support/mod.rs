//! The parts that the tests on real links share.

#![allow(
    dead_code,
    clippy::allow_attributes,
    reason = "each test program uses a part of it"
)]

pub(crate) mod measuring;

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use fulmar_lab::link::{Host, Link};
use fulmar_lab::scenario::Scenario;
use fulmar_lab::trace::LinkTraces;
use fulmar_testbed::peers::{leave_out, require};
use fulmar_testbed::{Process, TimedUdpSocket};

/// Longer than any machine needs; reached only by a test that fails.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// The programs that a session over ssh takes.
pub(crate) const SSH: [&str; 4] = ["sshd", "ssh", "ssh-keygen", "unshare"];

/// The address that servers of the tests listen on.
pub(crate) const SERVER: &str = "203.0.113.1:7000";

/// Starts a link, or says that the calling test cannot run here.
#[track_caller]
pub(crate) fn link(scenario: &str) -> Option<Link> {
    let scenario = Scenario::parse(scenario, &LinkTraces::none()).expect("the scenario is right");
    match Link::start(&scenario) {
        Ok(link) => Some(link),
        Err(error) => {
            leave_out(&format!("no link can be made: {error:#}"));
            None
        }
    }
}

/// True where all these programs are; otherwise the calling test is left out.
#[track_caller]
pub(crate) fn has(programs: &[&str]) -> bool {
    programs.iter().all(|program| require(program).is_some())
}

/// Opens a UDP socket on a host; reading it gives up at the deadline.
pub(crate) fn udp(host: &Host, address: &str) -> TimedUdpSocket {
    let socket = host
        .within(|| UdpSocket::bind(address))
        .expect("the host can be entered")
        .expect("the address is free");
    TimedUdpSocket::new(socket, DEADLINE).expect("a deadline can be set")
}

/// Sends a text and returns the source that the server sees.
pub(crate) fn seen_by(server: &TimedUdpSocket, client: &TimedUdpSocket, text: &str) -> SocketAddr {
    client
        .send_to(text.as_bytes(), SERVER)
        .expect("it can be sent");
    let mut buffer = [0; 2000];
    loop {
        let (length, source) = server.recv_from(&mut buffer).expect("it arrives");
        if buffer.get(..length) == Some(text.as_bytes()) {
            return source;
        }
    }
}

/// Reads one impairment as a scenario writes it.
pub(crate) fn impairment(text: &str) -> fulmar_sim::Impairment {
    let scenario = Scenario::parse(&format!("up {text}"), &LinkTraces::none());
    let mut up = scenario.expect("the text is right").up;
    up.pop().expect("there is one")
}

/// Sends a signal such as `INT` to a process, or to a group of them by a number below zero. The shell does it: what
/// has the program `kill` may not be installed.
pub(crate) fn signal(name: &str, target: i64) {
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "kill -s \"$0\" -- \"$1\"", name, &target.to_string()]);
    assert!(shell.status().expect("there is a shell").success());
}

/// Waits until a process is gone, or at least dead and only not reaped yet by its new parent.
pub(crate) fn await_end(process: u32) {
    let ended = Process::of(process).is_none_or(|process| process.wait(DEADLINE));
    assert!(ended, "process {process} has stayed");
}

/// Returns the numbers of all processes below one.
pub(crate) fn descendants(process: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task"));
    let mut found = Vec::new();
    for task in tasks.into_iter().flatten().flatten() {
        let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for child in children.split_whitespace().flat_map(str::parse) {
            found.push(child);
            found.extend(descendants(child));
        }
    }
    found
}
