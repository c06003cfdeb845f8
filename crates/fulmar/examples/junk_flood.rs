//! Measures the share of a flood of junk, and of the keys with it, that the kernel throws away before a
//! server has seen it.
//!
//! ```text
//! cargo build --release -p fulmar
//! cargo run --release -p fulmar --example junk_flood
//! ```
//!
//! Starts stock's server, if it is there, and ours, each with a program that does nothing and with one that
//! writes for ever, and sends [`PER_SECOND`] small datagrams a second to its port, in bursts of a
//! millisecond. The share is that of the datagrams for which the socket had no room (`drops` of
//! `/proc/net/udp`).

#[path = "../tests/program/support/deaf.rs"]
mod deaf;
mod support;

use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::net::UdpSocket;
use std::thread;
use std::time::{Duration, Instant};

use deaf::DeafClient;
use fulmar_terminal::Size;
use support::{Server, ours};

/// Source: docs/threat-model.md §12, T-U3.
const PER_SECOND: u32 = 100_000;

/// The length of a flood. Chosen by eye.
const LASTS: Duration = Duration::from_secs(5);

/// The number of states of the screen, or the time, that shows that a session stands.
const STATES: u64 = 5;
const SET_UP: Duration = Duration::from_secs(1);

/// As long as a key's datagram.
const JUNK: [u8; 70] = [0x80; 70];

fn main() -> Result<(), Box<dyn Error>> {
    println!("{:<32} {:>8} {:>8}", "junk lost, %", "mosh", "fulmar");
    for (name, command) in [
        ("a program that does nothing", ["sleep", "120"]),
        ("a program that writes", ["yes", "text"]),
    ] {
        let stock = lost(OsStr::new("mosh-server"), &command).ok();
        let ours = lost(ours()?.as_os_str(), &command)?;
        let stock = stock.map_or("-".to_owned(), |share| format!("{share:.2}"));
        println!("{name:<32} {stock:>8} {ours:>8.2}");
    }
    Ok(())
}

/// Returns the share of a flood that a server's socket had no room for, in %.
fn lost(program: &OsStr, command: &[&str]) -> Result<f64, Box<dyn Error>> {
    let server = Server::start(program, command)?;
    // The program starts when somebody is there.
    let mut client = DeafClient::connect(server.port, &server.key);
    client.stay(Size::default(), STATES, SET_UP);
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    socket.connect(("127.0.0.1", server.port))?;
    let began = Instant::now();
    let mut sent = 0_u32;
    while began.elapsed() < LASTS {
        let due = (began.elapsed().as_secs_f64() * f64::from(PER_SECOND)) as u32;
        while sent < due {
            // What does not leave is not lost on the way.
            if socket.send(&JUNK).is_err() {
                return Err("the server has gone".into());
            }
            sent += 1;
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(100.0 * f64::from(drops(server.port)?) / f64::from(sent))
}

/// Returns how many datagrams the socket at a local port had no room for.
fn drops(port: u16) -> Result<u32, Box<dyn Error>> {
    let place = format!(":{port:04X} ");
    let sockets = fs::read_to_string("/proc/net/udp")?;
    let socket = sockets.lines().find(|line| {
        line.split_once(": ")
            .is_some_and(|(_, rest)| rest.get(8..14) == Some(&place))
    });
    let drops = socket.and_then(|line| line.split_whitespace().next_back());
    Ok(drops.ok_or("no socket at the port")?.parse()?)
}
