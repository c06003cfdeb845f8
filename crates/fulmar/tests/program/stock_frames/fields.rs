//! Stock passes over what an instruction says beyond its own fields, and ends of ours that have an
//! agreement speak as stock does with it (docs/protocol.md §13.2, §13.5).

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Instant;

use fulmar_base::{Ecn, PathId};
use fulmar_core::{
    Agreement, Capabilities, Client, ClientConfig, ClientEnding, ClientEvent, ServerConfig,
};
use fulmar_datagram::{Direction, Key, Opener, Sealer, Stamps};
use fulmar_platform::{Interest, Poller, WindowSize, random, wait_for};
use fulmar_terminal::Row;
use fulmar_transport::{
    Arrival, Assembly, Challenge, Deflater, Dialect, Extensions, Fragmenter, Inflater, Instruction,
    Numbers, StateNumber, wire,
};

use super::libc_widths::LibcWidths;
use super::our_server::{DATAGRAM_BYTES_MAX, OurServer, now};
use super::stock_client::StockClient;
use crate::support::{DEADLINE, Rules, Server, Terminal, World, adopt_orphans, udp_socket};
use fulmar_testbed::{TimedUdpSocket, peers};

/// An agreement that no stock peer has.
fn agreement() -> Option<Agreement> {
    let offer =
        b"FULMAR OFFER 1 attach,challenge,events,exit,hints,idle,rich,sizes,ssh,terminal\nFULMAR END\n";
    let answer =
        b"FULMAR CONNECT 1 attach,challenge,events,exit,hints,history,idle,rich,sizes,ssh,terminal 0.1.0\n";
    Some(Agreement::of(offer, answer, Capabilities::ALL))
}

#[test]
fn a_stock_server_serves_a_client_of_ours_that_has_an_agreement() {
    let world = World::new();
    let Some(program) = peers::require("mosh-server") else {
        return;
    };
    let script = ["sh", "-c", "echo told; read -r word; exit 3"];
    let server = Server::start(&world, &program, &script);
    let mut client = OurClient::of(&server);
    client.run_until("the program", |client| shows(client, "told"));
    assert_eq!(client.client.dialect(), Dialect::Legacy);
    client.client.handle_keys(now(), b"word\r");
    client.run_until("the end", |client| client.ended.is_some());
    assert_eq!(client.ended, Some(ClientEnding::ServerEnded));
    assert_eq!(client.client.exit_status(), None);
    assert_eq!(server.wait_for_end(), Some(0));
}

#[test]
fn a_stock_client_is_served_by_a_server_of_ours_that_has_an_agreement() {
    let Some(program) = peers::require("mosh-client") else {
        return;
    };
    let mut server = OurServer::start_with(|config: &mut ServerConfig| {
        config.agreement = agreement();
    });
    let widths = LibcWidths::default();
    let mut client = StockClient::start(&program, server.port(), server.key(), widths);
    server.write(b"\x1b]2;told\x07");
    let began = Instant::now();
    let mut poller = Poller::new();
    while client.eye().window().title != "told" {
        assert!(began.elapsed() < DEADLINE, "the client shows nothing");
        server.turn();
        client.turn();
        let idle = server.idle_for().unwrap_or(DEADLINE);
        let waited = poller.wait(Some(idle), |registry| {
            registry.add((), &server, Interest::Read);
            registry.add((), &client, Interest::Read);
        });
        waited.expect("poll works");
    }
    assert_eq!(server.dialect(), Dialect::Legacy);
}

#[test]
fn a_stock_client_passes_over_a_digest_and_a_farewell() {
    let Some(program) = peers::require("mosh-client") else {
        return;
    };
    adopt_orphans();
    let world = World::new();
    let server = Insistent::start();
    let mut command = world.spawn(program);
    command
        .arg("127.0.0.1")
        .arg(server.port().to_string())
        .env("MOSH_KEY", KEY);
    let size = WindowSize {
        rows: 24,
        columns: 80,
    };
    let mut terminal = Terminal::start(&command, size, Rules::None);
    let serving = std::thread::spawn(move || server.serve());
    let acknowledged = serving.join().expect("the client acknowledges everything");
    assert_eq!(acknowledged, [StateNumber::new(1), StateNumber::SHUTDOWN]);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
}

fn shows(client: &OurClient, wanted: &str) -> bool {
    let screen = client.client.screen();
    let mut text = String::new();
    // A stock server leaves the first row blank.
    for row in 0..2 {
        screen.row(Row(row)).push_text(&mut text);
    }
    text.contains(wanted)
}

/// Our client on a UDP socket, without a terminal.
struct OurClient {
    client: Client,
    socket: TimedUdpSocket,
    ended: Option<ClientEnding>,
}

impl OurClient {
    /// Returns a client of a server on this machine with which it believes to have an agreement.
    fn of(server: &Server) -> OurClient {
        let mut seed = [0; 32];
        random(&mut seed).expect("randomness");
        let key = Key::from_base64(&server.key).expect("stock's keys are keys");
        let config = ClientConfig {
            agreement: agreement(),
            ..ClientConfig::new(key, seed)
        };
        let socket = udp_socket();
        socket
            .connect((Ipv4Addr::LOCALHOST, server.port))
            .expect("loopback is there");
        socket.set_nonblocking(true).expect("a socket can be told");
        let mut client = Client::new(now(), config);
        client.handle_path_opened(now(), PATH);
        OurClient {
            client,
            socket,
            ended: None,
        }
    }

    #[track_caller]
    fn run_until(&mut self, what: &str, is_there: impl Fn(&OurClient) -> bool) {
        let began = Instant::now();
        while !is_there(self) {
            assert!(began.elapsed() < DEADLINE, "waiting for {what}");
            self.turn();
        }
    }

    fn turn(&mut self) {
        let mut buffer = vec![0; DATAGRAM_BYTES_MAX];
        while let Some(transmit) = self.client.poll_transmit(now(), &mut buffer) {
            for datagram in transmit.split(&buffer) {
                // The server may have gone.
                let _ = self.socket.send(datagram);
            }
        }
        while let Some(event) = self.client.poll_event() {
            if let ClientEvent::Ended(ending) = event {
                self.ended = Some(ending);
                return;
            }
        }
        let idle = self.client.poll_timeout().map(|(at, _)| at.since(now()));
        let limit = idle.unwrap_or(DEADLINE);
        wait_for(&*self.socket, Interest::Read, Some(limit)).expect("poll works");
        buffer.resize(DATAGRAM_BYTES_MAX, 0);
        loop {
            match self.socket.recv(&mut buffer) {
                Ok(length) => {
                    let arrival = Arrival {
                        path: PATH,
                        ecn: Ecn::NotCapable,
                        bytes: &buffer[..length],
                    };
                    let _ = self.client.handle_datagram(now(), arrival);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // What was sent to a server that has gone.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
                Err(error) => panic!("receiving: {error}"),
            }
        }
        self.client.handle_timeout(now());
    }
}

const PATH: PathId = PathId::new(1);

const KEY: &str = "c68K8iLyuCr1oEM7Hszyjg";

/// A server that says our own fields with everything, whatever the client says.
struct Insistent {
    socket: TimedUdpSocket,
    opener: Opener,
    sealer: Sealer,
    assembly: Assembly,
    next_id: u64,
}

impl Insistent {
    fn start() -> Insistent {
        let key = || Key::from_base64(KEY).expect("a key");
        Insistent {
            socket: udp_socket(),
            opener: Opener::new(&key(), Direction::ToServer),
            sealer: Sealer::new(key(), Direction::ToClient),
            assembly: Assembly::new(),
            next_id: 1,
        }
    }

    fn port(&self) -> u16 {
        self.socket.local_addr().expect("it is bound").port()
    }

    /// Shows a word, says goodbye when the client has it, and returns which states it has
    /// acknowledged above 0.
    fn serve(mut self) -> Vec<StateNumber> {
        let mut acknowledged = Vec::new();
        while acknowledged.last() != Some(&StateNumber::SHUTDOWN) {
            let (numbers, client) = self.hear();
            if numbers.acknowledged > StateNumber::ZERO
                && acknowledged.last() != Some(&numbers.acknowledged)
            {
                acknowledged.push(numbers.acknowledged);
            }
            self.answer(numbers, client);
        }
        acknowledged
    }

    /// Waits for an instruction.
    fn hear(&mut self) -> (Numbers, SocketAddr) {
        let mut buffer = vec![0; DATAGRAM_BYTES_MAX];
        let mut plaintext = Vec::new();
        loop {
            let (length, from) = self.socket.recv_from(&mut buffer).expect("a datagram");
            let opened = self.opener.open(&buffer[..length], &mut plaintext);
            let fragment = opened.expect("it has the key").fragment;
            let whole = self.assembly.add(now(), fragment).expect("it is in order");
            let Some(compressed) = whole else { continue };
            let mut inflater = Inflater::new();
            let bytes = inflater.inflate(&compressed).expect("it is compressed");
            let instruction = Instruction::decode(bytes).expect("it is an instruction");
            return (instruction.numbers, from);
        }
    }

    fn answer(&mut self, heard: Numbers, client: SocketAddr) {
        let [source, target] = match heard.acknowledged {
            StateNumber::ZERO => [StateNumber::ZERO, StateNumber::new(1)],
            _ => [StateNumber::new(1), StateNumber::SHUTDOWN],
        };
        let numbers = Numbers {
            source,
            target,
            acknowledged: heard.target,
            throwaway: StateNumber::ZERO,
        };
        let mut difference = Vec::new();
        // HostMessage, its instruction, HostBytes, hoststring: docs/protocol.md §6.2.
        wire::put_message(&mut difference, 1, |instruction| {
            wire::put_message(instruction, 2, |host| wire::put_bytes(host, 4, b"told"));
        });
        let instruction = Instruction {
            extensions: Extensions {
                digest: Some(&[7; 32]),
                farewell: Some(3),
                farewell_words: Some(b"192.0.2.7"),
                silence: Some(15_000),
                moves: Some(1),
                challenge: Some(Challenge::new([7; Challenge::BYTES])),
                padding: Some(&[0; 300]),
                probed: Some(5),
            },
            ..Instruction::new(numbers, &difference, b"")
        };
        let (mut bytes, mut compressed) = (Vec::new(), Vec::new());
        instruction.encode(&mut bytes);
        Deflater::new().deflate(&bytes, &mut compressed);
        let mut fragments = Fragmenter::new(self.next_id, compressed, 1252).expect("it is short");
        self.next_id += 1;
        while let Some(fragment) = fragments.take() {
            let mut datagram = Vec::new();
            let sealed = self.sealer.seal(Stamps::NONE, fragment, &mut datagram);
            sealed.expect("the key is new");
            self.socket
                .send_to(&datagram, client)
                .expect("loopback takes it");
        }
    }
}
