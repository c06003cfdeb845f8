//! A server that is told by a client what session it wants, and that stays with the login until the
//! client was heard (docs/protocol.md §2.9).

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsFd;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use fulmar_base::{Ecn, PathId, Time};
use fulmar_core::{Agreement, Capabilities, Client, ClientConfig};
use fulmar_datagram::Key;
use fulmar_platform::{Interest, wait_for};
use fulmar_transport::{Arrival, Dialect};
use rustix::process::Signal;

use crate::support::{
    DEADLINE, Process, Rules, Setup, Terminal, World, adopt_orphans, sees_environments, udp_socket,
};
use fulmar_testbed::TimedUdpSocket;

mod attachments;
mod over_ssh;

/// Asks for a program that waits to be ended, on a port of the system's choice.
const OFFER: &str = "FULMAR OFFER 1 attach,challenge,exit,hints,idle,rich,sizes,terminal\nport 0\nword cat\nFULMAR END\n";

/// The server's log, in its home.
const LOG: &str = "server.log";

/// `fulmar server` with pipes, as ssh starts it. What is left of it ends with the test.
struct Login {
    process: Child,
    input: Option<ChildStdin>,
    output: Option<ChildStdout>,
    /// The bytes that were read and are not a whole line yet.
    read: Vec<u8>,
    world: World,
}

impl Login {
    fn start(arguments: &[&str]) -> Self {
        Self::start_in(World::new(), arguments)
    }

    fn start_in(world: World, arguments: &[&str]) -> Self {
        let arguments = [&["--log", LOG], arguments].concat();
        Self::start_with(world, &arguments, Stdio::inherit())
    }

    fn start_with(world: World, arguments: &[&str], errors: Stdio) -> Self {
        adopt_orphans();
        let mut command = world.command(world.ours("fulmar"));
        command.arg("server").args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(errors);
        let mut process = command.spawn().expect("the server starts");
        let (input, output) = (process.stdin.take(), process.stdout.take());
        Self {
            process,
            input,
            output,
            read: Vec::new(),
            world,
        }
    }

    /// A server that was given [`OFFER`], and how to reach it.
    #[track_caller]
    fn asked() -> (Self, ServerParams) {
        let mut login = Self::start(&[]);
        login.write(OFFER);
        let params = login.params();
        (login, params)
    }

    fn write(&mut self, text: &str) {
        let input = self.input.as_mut().expect("it was not closed");
        // A server that has said no does not read on.
        let _ = input.write_all(text.as_bytes());
    }

    /// Returns the next line with its end, or what there is of it at the end of the output.
    #[track_caller]
    fn line(&mut self) -> String {
        loop {
            if let Some(end) = self.read.iter().position(|&byte| byte == b'\n') {
                let line = self.read.drain(..=end).collect();
                return String::from_utf8(line).expect("text");
            }
            let output = self.output.as_mut().expect("it was not closed");
            await_input(output);
            let mut bytes = [0; 4096];
            let count = output.read(&mut bytes).expect("a pipe can be read");
            if count == 0 {
                return String::from_utf8(std::mem::take(&mut self.read)).expect("text");
            }
            self.read.extend_from_slice(&bytes[..count]);
        }
    }

    #[track_caller]
    fn expect_line(&mut self, wanted: &str) {
        assert_eq!(self.line(), wanted);
    }

    /// Expects that the server agrees to an offer of a client that can attach: it says the session's name first.
    #[track_caller]
    fn expect_agreed(&mut self) {
        let name = self.line();
        assert!(name.starts_with("FULMAR NAME "), "{name}");
        self.expect_line("FULMAR AGREED\n");
    }

    #[track_caller]
    fn expect_hello(&mut self) {
        self.expect_line(concat!("FULMAR HELLO ", env!("CARGO_PKG_VERSION"), "\n"));
    }

    /// Reads what a server says before it has read an offer.
    #[track_caller]
    fn introduction(&mut self) -> ServerParams {
        self.expect_hello();
        let announcement = self.line();
        assert!(
            announcement.starts_with("FULMAR CONNECT 1 "),
            "{announcement}"
        );
        let line = self.line();
        let (port, key) = ServerParams::words(&line).expect("a connect line");
        ServerParams {
            announcement,
            port,
            key,
        }
    }

    /// Reads the lines of a server that has an offer.
    #[track_caller]
    fn params(&mut self) -> ServerParams {
        let mut params = self.introduction();
        loop {
            let line = self.line();
            if line == "FULMAR AGREED\n" {
                return params;
            }
            match ServerParams::words(&line) {
                Some((port, key)) => {
                    assert_eq!(key, params.key, "another server");
                    params.port = port;
                }
                None => assert!(is_news(&line), "{line}"),
            }
        }
    }

    /// Expects that it comes to nothing, with these words in the first line about it and a next
    /// step.
    #[track_caller]
    fn expect_refusal(self, words: &str) {
        self.expect_refusal_and_status(words, 255);
    }

    /// The same with another status than that of failures.
    #[track_caller]
    fn expect_refusal_and_status(mut self, words: &str, status: i32) {
        self.expect_hello();
        let mut errors = Vec::new();
        loop {
            let line = self.line();
            match line.strip_prefix("FULMAR ERROR ") {
                Some(error) => errors.push(error.to_owned()),
                None if line.is_empty() => break,
                // How to reach it may be said meanwhile.
                None => assert!(line.contains(" CONNECT "), "{line}"),
            }
        }
        assert!(errors.len() > 1, "{errors:?}");
        assert!(errors[0].contains(words), "no {words:?} in {errors:?}");
        self.expect_end(status);
    }

    /// Expects that the login leaves with that status and nothing else to say, and that nothing of
    /// it is left.
    #[track_caller]
    fn expect_end(mut self, status: i32) {
        if self.output.is_some() {
            self.expect_line("");
        }
        let login = Process::of(self.process.id()).expect("nobody has waited for it");
        assert!(login.wait(DEADLINE), "the login still runs");
        let ended = self.process.wait().expect("it has ended");
        assert_eq!(ended.code(), Some(status));
        self.expect_nothing_left();
    }

    /// Expects that all processes end, and not because nobody came for a minute.
    #[track_caller]
    fn expect_nothing_left(&self) {
        for process in Process::all_of(self.world.home()) {
            assert!(process.wait(DEADLINE), "{} still runs", process.pid());
        }
        let log = std::fs::read_to_string(self.world.home().join(LOG)).unwrap_or_default();
        assert!(!log.contains("NobodyCame"), "{log}");
    }

    /// The server in the background.
    #[track_caller]
    fn daemon(&self) -> Process {
        let own = self.process.id();
        let mut others = Process::all_of(self.world.home());
        others.retain(|process| process.pid() != own);
        others.pop().expect("there is one")
    }
}

impl Drop for Login {
    fn drop(&mut self) {
        for process in Process::all_of(self.world.home()) {
            process.kill();
        }
        // One that carries datagrams of another's session stays as long as that is open.
        drop(self.input.take());
        let _ = self.process.wait();
    }
}

#[track_caller]
fn await_input(descriptor: &impl AsFd) {
    let readiness = wait_for(descriptor, Interest::Read, Some(DEADLINE)).expect("it can be polled");
    assert!(readiness.is_ready(), "nothing comes");
}

/// The announcement, port and key with which a server is reached.
struct ServerParams {
    /// The line in which it said what it can do.
    announcement: String,
    port: u16,
    key: String,
}

impl ServerParams {
    /// Port and key in a line, if it has them.
    fn words(line: &str) -> Option<(u16, String)> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["MOSH", "CONNECT", port, key] => Some((port.parse().ok()?, key.to_owned())),
            _ => None,
        }
    }
}

/// Tells if a line is for the user of a session that begins.
fn is_news(line: &str) -> bool {
    ["FULMAR WARNING ", "FULMAR NAME "]
        .iter()
        .any(|start| line.starts_with(start))
}

/// A client without a terminal: the state machine on a socket.
struct Guest {
    client: Client,
    socket: TimedUdpSocket,
}

impl Guest {
    fn of(params: &ServerParams, agreement: Option<Agreement>) -> Self {
        let key = Key::from_base64(&params.key).expect("a key");
        let config = ClientConfig {
            agreement,
            ..ClientConfig::new(key, [7; 32])
        };
        let mut client = Client::new(Time::ZERO, config);
        let path = PathId::new(0);
        client.handle_path_opened(Time::ZERO, path);
        let socket = udp_socket();
        let server = (Ipv4Addr::LOCALHOST, params.port);
        socket.connect(server).expect("a port");
        Self { client, socket }
    }

    /// Returns the datagrams that it wants to send.
    fn datagrams(&mut self) -> Vec<Vec<u8>> {
        let mut datagrams = Vec::new();
        let mut buffer = Vec::new();
        while let Some(transmit) = self.client.poll_transmit(Time::ZERO, &mut buffer) {
            datagrams.extend(transmit.split(&buffer).map(<[u8]>::to_vec));
        }
        datagrams
    }

    /// Takes in one datagram.
    #[track_caller]
    fn receive(&mut self) {
        await_input(&*self.socket);
        let mut bytes = [0; 2048];
        let length = self.socket.recv(&mut bytes).expect("an answer");
        let arrival = Arrival {
            path: PathId::new(0),
            ecn: Ecn::NotCapable,
            bytes: &bytes[..length],
        };
        let _ = self.client.handle_datagram(Time::ZERO, arrival);
    }

    fn send(&self, datagrams: &[Vec<u8>]) {
        for datagram in datagrams {
            self.socket.send(datagram).expect("loopback takes it");
        }
    }
}

/// The line in which our server says what it can do.
const ANNOUNCEMENT: &str = concat!(
    "FULMAR CONNECT 1 attach,challenge,events,exit,hints,history,idle,rich,sizes,ssh,terminal ",
    env!("CARGO_PKG_VERSION"),
    "\n"
);

#[test]
fn a_server_can_be_reached_before_it_has_an_offer() {
    let mut login = Login::start(&[]);
    let params = login.introduction();
    assert_eq!(params.announcement, ANNOUNCEMENT);
    let mut guest = Guest::of(&params, None);
    let datagrams = guest.datagrams();
    guest.send(&datagrams);
    // What has come for it waits.
    login.write(OFFER);
    login.expect_agreed();
    login.expect_line("FULMAR HEARD\n");
    login.expect_line("");
    await_input(&*guest.socket);
}

#[test]
fn a_server_moves_to_where_the_offer_wishes_it_and_keeps_its_key() {
    let free = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let port = free.local_addr().expect("it is bound").port();
    drop(free);
    let mut login = Login::start(&[]);
    let first = login.introduction();
    login.write(&format!(
        "FULMAR OFFER 1 attach,challenge,exit,hints,idle,rich,sizes,ssh,terminal\nbind 127.0.0.1\nport {port}\nword cat\nFULMAR END\n"
    ));
    login.expect_line(&format!("MOSH CONNECT {port} {}\n", first.key));
    login.expect_agreed();
    let moved = ServerParams { port, ..first };
    let mut guest = Guest::of(&moved, None);
    let datagrams = guest.datagrams();
    guest.send(&datagrams);
    login.expect_line("FULMAR HEARD\n");
}

#[test]
fn a_wished_port_that_is_about_to_be_let_go_is_waited_for() {
    let busy = UdpSocket::bind("0.0.0.0:0").expect("a free port");
    let port = busy.local_addr().expect("it is bound").port();
    let mut login = Login::start_with(World::new(), &["-v"], Stdio::piped());
    login.introduction();
    login.write(&format!(
        "FULMAR OFFER 1 attach,challenge,exit,hints,idle,rich,sizes,ssh,terminal\nport {port}\nword cat\nFULMAR END\n"
    ));
    let log = login.process.stderr.take().expect("it is a pipe");
    let mut lines = BufReader::new(log).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("the port is taken")));
    drop(busy);
    let line = login.line();
    let at = ServerParams::words(&line).map(|(at, _)| at);
    assert_eq!(at, Some(port), "{line}");
    login.expect_agreed();
}

#[test]
fn a_server_that_is_where_it_is_wished_stays_there() {
    let mut login = Login::start(&["-p", "0"]);
    let first = login.introduction();
    login.write(&format!(
        "FULMAR OFFER 1 attach,challenge,exit,hints,idle,rich,sizes,ssh,terminal\nport {}:{}\nword cat\nFULMAR END\n",
        first.port - 1,
        first.port
    ));
    login.expect_agreed();
}

#[test]
fn a_wish_is_heard_where_no_port_was_free_before() {
    // With it not all addresses can be had, but the one that is wished can. Nobody is given one of these ports who asks for any.
    let mut ports = 20_000..30_000;
    let (_busy, port) = ports
        .find_map(|port| {
            let busy = UdpSocket::bind(("127.0.0.2", port)).ok()?;
            UdpSocket::bind(("127.0.0.1", port)).ok()?;
            Some((busy, port))
        })
        .expect("a free port");
    let mut login = Login::start(&["-p", &port.to_string()]);
    login.expect_hello();
    login.write(
        "FULMAR OFFER 1 attach,challenge,exit,hints,idle,rich,sizes,ssh,terminal\nbind 127.0.0.1\nword cat\nFULMAR END\n",
    );
    login.expect_line(ANNOUNCEMENT);
    let (at, _) = ServerParams::words(&login.line()).expect("a connect line");
    assert_eq!(at, port);
    login.expect_agreed();
}

#[test]
fn capabilities_that_only_one_end_has_are_no_reason_to_part() {
    for offered in ["-", "zzz", "aaa,exit,zzz"] {
        let mut login = Login::start(&["-p", "0"]);
        login.write(&format!("FULMAR OFFER 1 {offered}\nFULMAR END\n"));
        assert_eq!(login.params().announcement, ANNOUNCEMENT);
    }
}

#[test]
fn heard_is_said_once_the_first_genuine_datagram_has_come_and_the_server_stays() {
    if !sees_environments() {
        return;
    }
    // One that knows that ssh can carry datagrams ends the login itself.
    for offer in [OFFER.to_owned(), OFFER.replace("sizes", "sizes,ssh")] {
        expect_heard(&offer);
    }
}

#[track_caller]
fn expect_heard(offer: &str) {
    let mut login = Login::start(&[]);
    login.write(offer);
    let params = login.params();
    let daemon = login.daemon();
    let mut guest = Guest::of(&params, None);
    let datagrams = guest.datagrams();
    guest.send(&datagrams);
    login.expect_line("FULMAR HEARD\n");
    if offer.contains("ssh") {
        drop(login.input.take());
    }
    login.expect_line("");
    let status = login.process.wait().expect("it ends");
    assert_eq!(status.code(), Some(0));
    drop((login.input.take(), login.output.take()));
    // Its answer comes after the end of the login.
    await_input(&*guest.socket);
    assert!(!daemon.wait(Duration::ZERO), "the server has ended");
}

#[test]
fn what_is_not_genuine_is_not_heard() {
    let (mut login, params) = Login::asked();
    let mut altered = Guest::of(&params, None).datagrams();
    for datagram in &mut altered {
        *datagram.last_mut().expect("it is not empty") ^= 1;
    }
    let other_key = ServerParams {
        announcement: String::new(),
        port: params.port,
        key: "AAAAAAAAAAAAAAAAAAAAAA".to_owned(),
    };
    let mut stranger = Guest::of(&other_key, None);
    let foreign = stranger.datagrams();
    assert!(!altered.is_empty() && !foreign.is_empty());
    stranger.send(&altered);
    stranger.send(&foreign);
    stranger.send(&[vec![], vec![0; 100], b"FULMAR HEARD\n".to_vec()]);
    // The login ends: a server that had been heard would go on.
    drop(login.input.take());
    login.expect_line("FULMAR ERROR the login has ended before the client was heard\n");
    login.expect_end(255);
}

#[test]
fn a_login_that_is_killed_leaves_nothing() {
    for signal in [Signal::HUP, Signal::INT, Signal::TERM, Signal::KILL] {
        let (login, _) = Login::asked();
        let attendant = Process::of(login.process.id()).expect("it runs");
        attendant.signal(signal);
        assert!(attendant.wait(DEADLINE));
        login.expect_nothing_left();
    }
}

#[test]
fn a_server_that_dies_is_told_to_the_login() {
    if !sees_environments() {
        return;
    }
    for is_asked in [false, true] {
        let mut login = Login::start(&[]);
        login.introduction();
        if is_asked {
            login.write(OFFER);
            login.expect_agreed();
        }
        login.daemon().kill();
        login.expect_line("FULMAR ERROR the server has ended before it heard a client\n");
        let advice = login.line();
        assert!(advice.starts_with("FULMAR ERROR "), "{advice}");
        login.expect_end(255);
    }
}

#[test]
fn a_client_that_goes_before_it_has_said_anything_leaves_nothing() {
    let mut login = Login::start(&[]);
    login.introduction();
    drop(login.input.take());
    let words = "FULMAR ERROR no client has said on standard input what session it wants\n";
    login.expect_line(words);
    assert!(login.line().contains("fulmar server new"));
    login.expect_end(255);
}

#[test]
fn what_is_wrong_with_the_input_is_told_after_where_the_server_is() {
    for said in ["", "\n"] {
        let mut login = Login::start(&[]);
        login.write(said);
        drop(login.input.take());
        login.introduction();
        login.expect_line(
            "FULMAR ERROR no client has said on standard input what session it wants\n",
        );
        assert!(login.line().contains("fulmar server new"));
        login.expect_end(255);
    }
}

#[test]
fn a_login_that_ends_right_behind_its_offer_leaves_nothing() {
    let mut login = Login::start(&[]);
    let params = login.introduction();
    let mut guest = Guest::of(&params, None);
    let datagrams = guest.datagrams();
    guest.send(&datagrams);
    // Both are there when it looks for either.
    let attendant = Process::of(login.process.id()).expect("it runs");
    attendant.signal(Signal::STOP);
    attendant.wait_until_stopped();
    login.write(OFFER);
    let input = File::open(format!("/proc/{}/fd/0", login.process.id())).expect("a pipe");
    drop(login.input.take());
    // A child that another test starts has it open up to its exec.
    let hung_up = wait_for(&input, Interest::Nothing, Some(DEADLINE)).expect("a wait");
    assert!(hung_up.is_ready(), "somebody has it open");
    attendant.signal(Signal::CONT);
    login.expect_line("FULMAR ERROR the login has ended before the client was heard\n");
    login.expect_end(255);
}

#[test]
fn parameters_that_nobody_can_read_are_the_end() {
    let mut login = Login::start(&[]);
    login.expect_hello();
    drop(login.output.take());
    login.write(OFFER);
    login.expect_end(255);
}

#[test]
fn an_offer_is_found_after_other_lines_and_the_second_one_is_passed_over() {
    let mut login = Login::start(&[]);
    let noise = "\nFULMAR START\nFULMAR MOSH 'mosh-server' 'new'\n\nhello\n";
    login.write(&format!("{noise}{OFFER}"));
    let params = login.params();
    login.write(&format!("{noise}{OFFER}").repeat(100));
    let mut guest = Guest::of(&params, None);
    let datagrams = guest.datagrams();
    guest.send(&datagrams);
    login.expect_line("FULMAR HEARD\n");
    login.expect_line("");
}

#[test]
fn of_an_offer_whose_end_was_lost_the_second_copy_counts() {
    let mut login = Login::start(&[]);
    let other = "FULMAR OFFER 1 -\nport 0\nword no-such-program\nFULMAR E";
    login.write(&format!("{other}\n{OFFER}"));
    // The first one's program is not there.
    login.params();
}

#[test]
fn an_offer_that_is_cut_too_long_or_nonsense_is_refused() {
    let long = format!(
        "FULMAR OFFER 1 -\nword {}\nFULMAR END\n",
        "x".repeat(524_288)
    );
    for (text, words) in [
        ("FULMAR OFFER 1 -\nword rm\n", "cut off"),
        ("FULMAR OFFER 1 -\nFULMAR END", "cut off"),
        (&long, "too long"),
        (&"x\n".repeat(524_289), "too long"),
        ("FULMAR OFFER 2 -\nFULMAR END\n", "version 2"),
        ("FULMAR OFFER 1 -\nword a\nport x\nFULMAR END\n", "line 3"),
    ] {
        let mut login = Login::start(&[]);
        login.write(text);
        drop(login.input.take());
        login.expect_refusal(words);
    }
}

#[test]
fn a_program_that_is_not_there_is_refused_with_a_status_of_its_own() {
    let mut login = Login::start(&[]);
    login.write("FULMAR OFFER 1 -\nword no-such-program\nFULMAR END\n");
    drop(login.input.take());
    login.expect_refusal_and_status("cannot run no-such-program", 125);
}

#[test]
fn a_busy_port_is_told_to_the_client() {
    let busy = UdpSocket::bind("0.0.0.0:0").expect("a free port");
    let port = busy.local_addr().expect("it is bound").port();
    let mut login = Login::start(&[]);
    login.write(&format!("FULMAR OFFER 1 -\nport {port}\nFULMAR END\n"));
    login.expect_refusal(&format!("cannot listen on UDP port {port}"));
}

#[test]
fn where_ssh_came_from_is_told_first() {
    let mut world = World::new();
    world.set("SSH_CONNECTION", "192.0.2.1 5022 192.0.2.7 22");
    let mut login = Login::start_in(world, &[]);
    login.expect_hello();
    login.expect_line("MOSH SSH_CONNECTION 192.0.2.1 5022 192.0.2.7 22\n");
}

#[test]
fn what_could_not_be_had_is_a_warning() {
    let mut login = Login::start(&[]);
    login.write("FULMAR OFFER 1 -\nport 0\nbind 192.0.2.1\nFULMAR END\n");
    let first = login.introduction();
    let moved = login.line();
    assert!(ServerParams::words(&moved).is_some_and(|(_, key)| key == first.key));
    let warning = login.line();
    assert!(warning.starts_with("FULMAR WARNING "), "{warning}");
    assert!(warning.contains("192.0.2.1"), "{warning}");
}

#[test]
fn a_person_at_a_terminal_is_told_the_word_that_is_missing() {
    let world = World::new();
    let mut command = world.spawn(world.ours("fulmar"));
    command.arg("server");
    let mut terminal = Terminal::start(&command, Setup::default().size, Rules::None);
    terminal.wait_for_text("fulmar server new");
    assert_eq!(terminal.wait_for_end().code(), Some(255));
    assert!(!String::from_utf8_lossy(terminal.shown()).contains("HELLO"));
}

/// Runs a session to its end in which the program leaves a file `told`, and returns that.
#[track_caller]
fn told_by_the_program(world: World, arguments: &[&str], offer: &str) -> String {
    let mut login = Login::start_in(world, arguments);
    login.write(offer);
    let params = login.params();
    let world = &login.world;
    let mut client = world.spawn(world.ours("fulmar"));
    client.arg("client").arg("127.0.0.1");
    client.arg(params.port.to_string());
    client.env("MOSH_KEY", &params.key);
    let mut terminal = Terminal::start(&client, Setup::default().size, Rules::Client);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    login.expect_line("FULMAR HEARD\n");
    let told = std::fs::read_to_string(login.world.home().join("told"));
    login.expect_end(0);
    told.expect("the program was there")
}

#[test]
fn the_program_has_its_words_as_they_were_meant() {
    let offer = "FULMAR OFFER 1 attach,challenge,exit,hints,idle,rich,sizes,terminal\nport 0\ncolors 16777216\nlocale LANG=C.UTF-8\n\
        locale MARK=x\nword sh\nword -c\nword (stty size; echo \"$TERM $MARK $#\"; printf '<%25s>' \"$@\") > told\n\
        word sh\nword a b\nword \nword %C3%BC%0A\nmood good\nFULMAR END\n";
    let told = told_by_the_program(World::new(), &[], offer);
    assert_eq!(told, "24 80\nxterm-256color  3\n<a b><><ü\n>");
}

#[test]
fn the_program_has_a_utf8_locale_that_there_is() {
    let nowhere = "xx_XX.UTF-8";
    for (own, offered) in [
        (&[][..], ""),
        (&[("LANG", "C")], "locale LANG=C\n"),
        (&[("LC_ALL", "POSIX")], "locale LC_ALL=xx_XX.UTF-8\n"),
        (&[("LANG", nowhere), ("LC_TIME", nowhere)], ""),
        (&[("LC_ALL", nowhere)], "locale LC_TIME=xx_XX.UTF-8\n"),
    ] {
        let mut world = World::new();
        world.unset("LC_ALL");
        own.iter().for_each(|(name, value)| world.set(name, value));
        let script = "locale charmap >told 2>&1";
        let offer = format!(
            "FULMAR OFFER 1 -\nport 0\n{offered}word sh\nword -c\nword {script}\nFULMAR END\n"
        );
        assert_eq!(
            told_by_the_program(world, &[], &offer),
            "UTF-8\n",
            "{own:?}"
        );
    }
}

#[test]
fn a_command_line_outweighs_what_the_client_wants() {
    let program = ["--", "sh", "-c", "echo forced $TERM > told"];
    let arguments = [&["-p", "0", "-c", "8"][..], &program].concat();
    let busy = UdpSocket::bind("0.0.0.0:0").expect("a free port");
    let port = busy.local_addr().expect("it is bound").port();
    let offer = format!("FULMAR OFFER 1 -\nport {port}\ncolors 256\nword no-such\nFULMAR END\n");
    assert_eq!(
        told_by_the_program(World::new(), &arguments, &offer),
        "forced xterm\n"
    );
}

/// Returns the dialect that a guest finds, if its offer and the announcement change on the way like that.
#[track_caller]
fn spoken(offer: fn(&str) -> String, announcement: fn(&str) -> String) -> Dialect {
    let mut login = Login::start(&[]);
    login.write(&offer(OFFER));
    let params = login.params();
    let announcement = announcement(&params.announcement);
    let agreement = Agreement::of(OFFER.as_bytes(), announcement.as_bytes(), Capabilities::ALL);
    let mut guest = Guest::of(&params, Some(agreement));
    let datagrams = guest.datagrams();
    guest.send(&datagrams);
    login.expect_line("FULMAR HEARD\n");
    while guest.client.dialect() == Dialect::Undecided {
        guest.receive();
    }
    guest.client.dialect()
}

#[test]
fn the_agreement_is_on_the_very_bytes_of_offer_and_announcement() {
    assert_eq!(spoken(str::to_owned, str::to_owned), Dialect::Native);
    for altered in [
        spoken(|offer| offer.replace("cat", "cat\nword -u"), str::to_owned),
        spoken(|offer| offer.replace("exit", "exit,zzz"), str::to_owned),
        spoken(
            |offer| offer.replace("word", "mood sad\nword"),
            str::to_owned,
        ),
        spoken(str::to_owned, |line| line.replace("exit", "-")),
        spoken(
            |offer| offer.replace("exit", "-"),
            |line| line.replace("exit", "-"),
        ),
    ] {
        assert_eq!(altered, Dialect::Altered);
    }
}

#[test]
fn where_the_agreement_was_altered_no_program_starts_and_the_server_leaves() {
    if !sees_environments() {
        return;
    }
    // Without `exit`: nobody is waited for who is to learn how the program has ended.
    let offer = "FULMAR OFFER 1 attach,challenge,hints,idle,rich,sizes,ssh,terminal\nport 0\nword touch\nword started\nFULMAR END\n";
    for is_altered in [false, true] {
        let mut login = Login::start(&[]);
        login.write(offer);
        let params = login.params();
        let daemon = login.daemon();
        let seen = if is_altered {
            offer.replace("port 0", "port 1")
        } else {
            offer.to_owned()
        };
        let announcement = params.announcement.as_bytes();
        let agreement = Agreement::of(seen.as_bytes(), announcement, Capabilities::ALL);
        let mut guest = Guest::of(&params, Some(agreement));
        let datagrams = guest.datagrams();
        guest.send(&datagrams);
        // It says goodbye to a guest that has nothing more to say.
        assert!(daemon.wait(DEADLINE), "the server still runs");
        let has_started = login.world.home().join("started").exists();
        assert_eq!(has_started, !is_altered);
    }
}
