//! More datagrams than a socket has room for by itself come while a program has no turn.

use std::net::{Ipv4Addr, UdpSocket};
use std::time::Instant;

use rustix::process::Signal;

use crate::support::{DEADLINE, Make, Pair, Session, Wire};

const OURS: Pair = Pair {
    server: Make::Ours,
    client: Make::Ours,
};

/// Sends more small datagrams than the usual 208 KiB hold, 277; and far more where the system lets the
/// program have the room that it asks for.
fn flood(port: u16) {
    let count = if rustix::process::geteuid().is_root() {
        5000
    } else {
        400
    };
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    for _ in 0..count {
        let sent = socket.send_to(&[7; 100], (Ipv4Addr::LOCALHOST, port));
        sent.expect("loopback takes it");
    }
}

/// Waits until five more have passed: what was there to say at first is in the last of them.
fn wait_for_five(passed: impl Fn() -> u64) {
    let (before, deadline) = (passed(), Instant::now() + DEADLINE);
    while passed() < before + 5 {
        assert!(Instant::now() < deadline, "nothing is sent");
        std::thread::yield_now();
    }
}

/// Waits until the program on the server's side has made this file.
fn wait_for_file(session: &Session, name: &str) {
    let (file, deadline) = (session.world.home().join(name), Instant::now() + DEADLINE);
    while !file.exists() {
        assert!(Instant::now() < deadline, "{name} is not there");
        std::thread::yield_now();
    }
}

#[test]
fn a_key_behind_a_burst_of_junk_is_received() {
    let Some(mut session) = Session::with_shell(OURS, Wire::Relayed) else {
        return;
    };
    session
        .terminal
        .type_keys("echo list''ening; read x; touch arrived\n");
    session.terminal.wait_for_text("listening");
    session.server.process.signal(Signal::STOP);
    flood(session.server.port);
    session.terminal.type_now("\n");
    wait_for_five(|| session.relay().up().datagrams);
    // Nothing is sent again from here on.
    session.relay().cut();
    session.server.process.signal(Signal::CONT);
    wait_for_file(&session, "arrived");
}

#[test]
fn a_screen_behind_a_burst_of_junk_is_received() {
    let Some(mut session) = Session::with_shell(OURS, Wire::Relayed) else {
        return;
    };
    let command = "until [ -e go ]; do sleep 0.1; done; echo it has ar''rived; touch said\n";
    session.terminal.type_keys(command);
    session.terminal.wait_for_text("echo it has");
    session.signal_client(Signal::STOP);
    flood(session.relay().client().expect("it was heard").port());
    std::fs::write(session.world.home().join("go"), "").expect("a file");
    // On a busy machine the program takes longer than five datagrams.
    wait_for_file(&session, "said");
    wait_for_five(|| session.relay().down().datagrams);
    session.relay().cut();
    session.signal_client(Signal::CONT);
    session.terminal.wait_for_text("it has arrived");
}
