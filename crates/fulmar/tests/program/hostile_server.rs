//! A server that has the key and sends, as fast as it can, what is the most work for a client: keys and
//! signals are heard all the same (docs/threat-model.md §3, §6).

use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use fulmar_base::{Ecn, PathId, Time};
use fulmar_datagram::{Direction, Key, Opener, Sealer};
use fulmar_platform::{boot_time, random};
use fulmar_transport::{
    ApplyError, Arrival, Budget, Difference, Endpoint, EndpointConfig, Noise, Role, Synced,
    WorkBudget, wire,
};

use rustix::process::Signal;

use crate::support::{Make, Process, Setup, Terminal, World, rules};

const PATH: PathId = PathId::new(1);

/// An object that sends what it was told to.
#[derive(Clone, Default)]
struct Forged {
    number: u64,
    bytes: Arc<[u8]>,
}

impl Synced for Forged {
    fn is_same(&self, other: &Forged) -> bool {
        self.number == other.number
    }

    fn diff_from(&self, _: &Forged, _: Budget) -> Difference<Forged> {
        Difference::complete(self.bytes.to_vec())
    }

    fn apply(&mut self, _: &[u8], _: &mut WorkBudget) -> Result<(), ApplyError> {
        Ok(())
    }

    fn held_bytes(&self, _: Option<&Forged>) -> usize {
        0
    }
}

struct Silence;

impl Noise for Silence {
    fn fill(&mut self, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}

fn host_bytes(bytes: &[u8]) -> Vec<u8> {
    let mut message = Vec::new();
    wire::put_message(&mut message, 1, |instruction| {
        wire::put_message(instruction, 2, |host_bytes| {
            wire::put_bytes(host_bytes, 4, bytes);
        });
    });
    message
}

fn resize(columns: i32, rows: i32) -> Vec<u8> {
    let mut message = Vec::new();
    wire::put_message(&mut message, 1, |instruction| {
        wire::put_message(instruction, 3, |resize| {
            wire::put_int32(resize, 5, columns);
            wire::put_int32(resize, 6, rows);
        });
    });
    message
}

/// A server in a thread of its own, until it is dropped.
struct HostileServer {
    port: u16,
    key: String,
    is_over: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl HostileServer {
    /// Starts a server that greets its client and then sends `worst` for ever, a new state each time.
    fn start(worst: Vec<u8>) -> HostileServer {
        let mut key = [0; 16];
        random(&mut key).expect("randomness");
        let key = Key::from_bytes(key.into());
        let text = key.to_base64().to_string();
        let socket = UdpSocket::bind(("127.0.0.1", 0)).expect("a port");
        let patience = Some(Duration::from_millis(2));
        socket.set_read_timeout(patience).expect("it can be told");
        let port = socket.local_addr().expect("it is bound").port();
        let is_over = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&is_over);
        let thread = thread::spawn(move || attack(&socket, key, &worst, &until));
        HostileServer {
            port,
            key: text,
            is_over,
            thread: Some(thread),
        }
    }
}

impl Drop for HostileServer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn attack(socket: &UdpSocket, key: Key, worst: &[u8], is_over: &AtomicBool) {
    let now = || Time::from_origin(boot_time());
    let config = EndpointConfig {
        role: Role::Server,
        datagram_bytes: 1252,
        agreement: None,
    };
    let opener = Opener::new(&key, Direction::ToServer);
    let mut endpoint: Endpoint<Forged, Forged> = Endpoint::new(
        now(),
        config,
        Sealer::new(key, Direction::ToClient),
        opener,
        Forged::default(),
        Forged::default(),
        Box::new(Silence),
    );
    let (mut number, mut client, mut buffer) = (0, None, Vec::new());
    let mut datagram = [0; 2048];
    while !is_over.load(Ordering::Relaxed) {
        if let Ok((length, from)) = socket.recv_from(&mut datagram) {
            client = Some(from);
            let arrival = Arrival {
                path: PATH,
                ecn: Ecn::NotCapable,
                bytes: &datagram[..length],
            };
            let _ = endpoint.handle_datagram(now(), arrival);
        }
        let Some(client) = client else { continue };
        number += 1;
        let bytes = match number {
            1..10 => Arc::from(host_bytes(b"\x1b[Hready")),
            _ => Arc::from(worst),
        };
        endpoint.set_local(now(), Forged { number, bytes });
        endpoint.handle_timeout(now());
        while let Some(transmit) = endpoint.poll_transmit(now(), &mut buffer) {
            for datagram in transmit.split(&buffer) {
                let _ = socket.send_to(datagram, client);
            }
        }
        while endpoint.poll_event().is_some() {}
    }
}

/// Returns the differences that make the most work: screens of the largest size that are shifted, and
/// resized, in thousands of parts.
fn worst() -> [Vec<u8>; 3] {
    let shifts = b"\x1b[ @x\x1b[4095C\x1b[ Ay\r\n".repeat(100);
    let rows: Vec<u8> = (1..=256)
        .flat_map(|row| format!("\x1b[{row}H{row}").into_bytes())
        .collect();
    let screen = [resize(4096, 256), host_bytes(&rows)].concat();
    [
        [screen.clone(), host_bytes(&shifts).repeat(1500)].concat(),
        [resize(80, 24), resize(4096, 256)].concat().repeat(4000),
        [
            screen,
            [
                resize(4095, 256),
                host_bytes(b"x"),
                resize(4096, 256),
                host_bytes(b"y"),
            ]
            .concat()
            .repeat(2000),
        ]
        .concat(),
    ]
}

fn client_of(server: &HostileServer, world: &World) -> Terminal {
    let program = Make::Ours
        .program(world, "mosh-client")
        .expect("ours is there");
    let mut command = world.spawn(program);
    command.arg("127.0.0.1").arg(server.port.to_string());
    command.env("MOSH_KEY", &server.key);
    let mut terminal = Terminal::start(&command, Setup::default().size, rules(Make::Ours));
    terminal.wait_for_text("ready");
    terminal
}

#[test]
fn the_quit_key_is_heard_whatever_a_server_sends() {
    for worst in worst() {
        let world = World::new();
        let server = HostileServer::start(worst);
        let mut terminal = client_of(&server, &world);
        terminal.type_keys("\x1e.");
        terminal.wait_for_end();
        terminal.expect_restored();
    }
}

#[test]
fn sigterm_is_heard_whatever_a_server_sends() {
    for worst in worst() {
        let world = World::new();
        let server = HostileServer::start(worst);
        let mut terminal = client_of(&server, &world);
        let process = Process::of(terminal.pid()).expect("it runs");
        process.signal(Signal::TERM);
        terminal.wait_for_end();
        terminal.expect_restored();
    }
}
