//! Somebody off the path forges reports of why the datagrams of a session cannot arrive.
//!
//! Source: docs/threat-model.md §7.

use std::process::Child;
use std::time::Instant;

use super::scene::{FAR, Plan, Scene, Starter};
use crate::support::network::{Families, LEFT, RIGHT, narrow, udp_port, v4};
use crate::support::{DEADLINE, Machine, Person, Terminal, holds};
use fulmar_testbed::peers;

/// Sends to a host, until it is killed, ICMP messages about datagrams that the host has sent: no such
/// port, host and network, "forbidden", and that 552 bytes are the most.
const FORGER: &str = r#"
import socket, struct, sys, time
def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff
victim, peer = sys.argv[1], sys.argv[3]
port, peer_port = int(sys.argv[2]), int(sys.argv[4])
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
udp = struct.pack("!HHHH", port, peer_port, 1252 + 8, 0)
head = struct.pack("!BBHHHBBH", 0x45, 0, 1280, 0, 0, 64, 17, 0)
head += socket.inet_aton(victim) + socket.inet_aton(peer)
while True:
    for code in (3, 1, 0, 4, 13, 9):
        rest = struct.pack("!HH", 0, 552 if code == 4 else 0)
        message = struct.pack("!BBH", 3, code, 0) + rest + head + udp
        message = message[:2] + struct.pack("!H", checksum(message)) + message[4:]
        raw.sendto(message, (victim, 0))
    time.sleep(0.002)
"#;

/// The first port that a server tries (docs/protocol.md §2).
const SERVER_PORT: u16 = 60001;

/// One end of a session, as somebody sees it who has guessed its ports.
struct End<'a> {
    machine: &'a Machine,
    address: String,
    port: u16,
}

/// Forges reports to one end, about what it has sent to the other.
struct Forger(Child);

impl Forger {
    fn at(attacker: &Machine, victim: &End<'_>, peer: &End<'_>) -> Self {
        let mut python = attacker.command(Person::Root, "python3");
        python.args(["-c", FORGER, &victim.address, &victim.port.to_string()]);
        python.args([&peer.address, &peer.port.to_string()]);
        Self(attacker.inside(|| python.spawn().expect("python starts")))
    }
}

impl Drop for Forger {
    fn drop(&mut self) {
        // The group: what was started is the program that enters the machine.
        let group = rustix::process::Pid::from_child(&self.0);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.0.wait();
    }
}

/// Has the remote machine show screens that take more than a datagram each, and expects nothing else on
/// the screen.
fn expect_screens(terminal: &mut Terminal, name: &str, count: usize) {
    for number in 0..count {
        let command =
            format!("clear; head -c 1600 /dev/urandom | base64; echo {name} $(({number} + 100))\n");
        terminal.type_keys(command);
        let words = format!("{name} {}", number + 100);
        terminal.wait_for(&words, |screen| {
            assert!(!holds(screen, "cannot send"), "it was believed");
            holds(screen, &words)
        });
    }
}

/// Returns the number of datagrams of more than 1000 bytes that the client has `sent` or `received`, by its own account.
fn long(near: &Machine, verb: &str) -> usize {
    let trace = near.read_home(Person::Alice, TRACE).expect("a trace");
    let lines = trace.lines().filter(|line| line.contains(verb));
    let bytes = lines.filter_map(|line| line.split_once(" bytes=")?.1.split(' ').next());
    let lengths = bytes.filter_map(|bytes| bytes.parse::<usize>().ok());
    lengths.filter(|&length| length > 1000).count()
}

#[track_caller]
fn wait_for_long(near: &Machine, verb: &str, count: usize) {
    let deadline = Instant::now() + DEADLINE;
    while long(near, verb) < count {
        assert!(Instant::now() < deadline, "all that is{verb}is short");
        std::thread::yield_now();
    }
}

/// The file in Alice's home that the client writes.
const TRACE: &str = "trace";

fn with_session(act: impl FnOnce(&End<'_>, &End<'_>, &mut Terminal)) {
    if peers::require("python3").is_none() {
        return;
    }
    let plan = Plan {
        families: Families::V4,
        ..Plan::default()
    };
    let Some(scene) = Scene::new(&plan) else {
        return;
    };
    let Some(mut terminal) =
        scene.start(Starter::Fulmar, &["--trace", TRACE, &format!("bob@{FAR}")])
    else {
        return;
    };
    terminal.type_keys("echo be''gin\n");
    terminal.wait_for_text("begin");
    let near = End {
        machine: &scene.near,
        address: v4(0, 1),
        port: udp_port(&scene.near),
    };
    let far = End {
        machine: &scene.far,
        address: v4(0, 2),
        port: SERVER_PORT,
    };
    act(&near, &far, &mut terminal);
}

#[test]
fn to_a_client_that_is_answered_they_say_nothing() {
    with_session(|near, far, terminal| {
        let forger = Forger::at(far.machine, near, far);
        expect_screens(terminal, "forged", 20);
        drop(forger);
        // What is pasted goes in datagrams of the usual length.
        let before = long(near.machine, " sent ");
        terminal.type_keys("stty -echo; cat > pasted\n");
        let mut state = 1_u32;
        let mut pasted = String::new();
        for place in 1..3000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let letter = char::from(b'a' + (state >> 24) as u8 % 26);
            pasted.push(if place % 100 == 0 { '\n' } else { letter });
        }
        terminal.type_now(pasted);
        wait_for_long(near.machine, " sent ", before + 1);
    });
}

#[test]
fn to_a_server_that_is_answered_they_say_nothing() {
    with_session(|near, far, terminal| {
        let forger = Forger::at(near.machine, far, near);
        expect_screens(terminal, "forged", 20);
        drop(forger);
        let before = long(near.machine, " received ");
        expect_screens(terminal, "after", 5);
        wait_for_long(near.machine, " received ", before + 5);
    });
}

#[test]
fn a_way_that_is_truly_narrow_carries_large_screens_all_the_same() {
    with_session(|near, far, terminal| {
        narrow(near.machine, RIGHT, 900);
        narrow(far.machine, LEFT, 900);
        expect_screens(terminal, "narrow", 5);
    });
}
