//! A login that changes what passes through it: a session as with stock, or a clear end before
//! anything is started (docs/protocol.md §13.5).

use std::net::{SocketAddr, UdpSocket};

use crate::support::{
    DEADLINE, Process, Rules, Setup, Terminal, World, adopt_orphans, udp_socket, write_program,
};

/// Runs the remote command on this machine. What goes in and what comes out passes through `sed`.
const SSH: &str = r#"#!/bin/sh
case " $* " in
    *" -V "*) echo OpenSSH_9.9p1 >&2; exit;;
    *" -G "*) echo hostname 127.0.0.1; exit;;
esac
for last; do :; done
PATH=$HOME/ours:$PATH
sed -u "$IN" | sh -c "$last" | sed -u "$OUT"
"#;

/// A session over such a login, whose program leaves a file behind and ends with status 7.
struct Login {
    terminal: Terminal,
    world: World,
}

impl Login {
    /// Begins one where `sed` does this to the offer and that to what the server says.
    fn through(offer: &str, said: &str) -> Login {
        Self::through_with(&[], offer, said)
    }

    fn through_with(options: &[&str], offer: &str, said: &str) -> Login {
        Self::of_program(options, &["sh", "-c", ": > started; exit 7"], offer, said)
    }

    fn of_program(options: &[&str], program: &[&str], offer: &str, said: &str) -> Login {
        adopt_orphans();
        let world = World::new();
        let ssh = world.home().join("ssh");
        write_program(&ssh, SSH);
        let mut fulmar = world.spawn(world.ours("fulmar"));
        fulmar.arg("--ssh").arg(&ssh);
        for option in options {
            fulmar.arg(*option);
        }
        fulmar.arg("far.example");
        for word in program {
            fulmar.arg(*word);
        }
        fulmar.env("IN", offer).env("OUT", said);
        let terminal = Terminal::start(&fulmar, Setup::default().size, Rules::Client);
        Login { terminal, world }
    }

    /// Expects that the client leaves with that status, and tells whether the program was started.
    #[track_caller]
    fn expect_end(mut self, status: i32) -> bool {
        assert_eq!(self.terminal.wait_for_end().code(), Some(status));
        self.terminal.expect_restored();
        self.world.home().join("started").exists()
    }
}

impl Drop for Login {
    fn drop(&mut self) {
        for process in Process::all_of(self.world.home()) {
            process.kill();
        }
    }
}

#[test]
fn what_passes_unchanged_makes_a_native_session() {
    assert!(Login::through("", "").expect_end(7));
}

#[test]
fn without_the_announcement_the_session_is_as_with_stock() {
    assert!(Login::through("", "/^FULMAR CONNECT/d").expect_end(0));
    let free = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let port = free.local_addr().expect("it is bound").port().to_string();
    drop(free);
    let moved = Login::through_with(&["-p", &port], "", "/^FULMAR CONNECT/d");
    assert!(moved.expect_end(0));
}

#[test]
fn without_the_word_that_all_is_well_there_is_a_session_unless_the_server_may_move() {
    assert!(Login::through("", "/^FULMAR AGREED/d").expect_end(7));
    for lost in ["/^FULMAR AGREED/d", "/^FULMAR AGREED/d;/^FULMAR HELLO/d"] {
        let mut login = Login::through_with(&["-p", "60001:60999"], "", lost);
        login.terminal.wait_for_text("not confirmed for 15 seconds");
        assert!(!login.expect_end(255), "{lost}");
    }
}

#[test]
fn what_is_announced_too_late_is_another_servers() {
    let later = "/^FULMAR CONNECT/{h;d};/^MOSH CONNECT/G";
    let mut login = Login::through("", later);
    login.terminal.wait_for_text("two servers");
    assert!(!login.expect_end(255));
}

#[test]
fn without_the_offer_there_is_no_session() {
    let mut login = Login::through("/^FULMAR OFFER/,/^FULMAR END/d", "");
    login.terminal.wait_for_text("not confirmed for 15 seconds");
    assert!(!login.expect_end(255));
}

#[test]
fn a_changed_offer_or_announcement_ends_the_session_before_the_program_starts() {
    for (offer, said) in [
        (
            "s/^FULMAR OFFER 1 attach,challenge,events,exit,hints,history,idle,rich,sizes,ssh,terminal/FULMAR OFFER 1 -/",
            "",
        ),
        (
            "s/^FULMAR OFFER 1 attach,challenge,events,exit,hints,history,idle,rich,sizes,ssh,terminal/FULMAR OFFER 1 attach,challenge,events,exit,hints,history,idle,reports,rich,sizes,ssh,terminal/",
            "",
        ),
        (
            "s/^FULMAR OFFER 1 attach,challenge,events,exit,hints,history,idle,rich,sizes,ssh,terminal/FULMAR OFFER 1 aaa,exit/",
            "",
        ),
        ("s/^size .*/size 81 24/", ""),
        ("s/^colors.*/mood sad/", ""),
        (
            "",
            "s/^FULMAR CONNECT 1 attach,challenge,events,exit,hints,history,idle,rich,sizes,ssh,terminal/FULMAR CONNECT 1 -/",
        ),
        (
            "",
            "s/^FULMAR CONNECT 1 attach,challenge,events,exit,hints,history,idle,rich,sizes,ssh,terminal/FULMAR CONNECT 1 exit,reports/",
        ),
        (
            "",
            "s/^\\(FULMAR CONNECT 1 attach,challenge,events,exit,hints,history,idle,rich,sizes,ssh,terminal\\).*/\\1 99.0/",
        ),
    ] {
        let mut login = Login::through(offer, said);
        login.terminal.wait_for_text("offered to the server");
        assert!(!login.expect_end(255), "{offer:?} {said:?}");
    }
}

#[test]
fn an_announcement_that_is_none_is_told() {
    let said = "s/^FULMAR CONNECT 1 attach,challenge,events,exit,hints,history,idle,rich,sizes,ssh,terminal/FULMAR CONNECT 1/";
    assert!(!Login::through("", said).expect_end(255));
}

#[test]
fn a_server_whose_word_that_it_hears_is_lost_hears_that_its_client_gives_up() {
    let between = udp_socket();
    let port = between.local_addr().expect("it is bound").port();
    let said =
        format!("/^FULMAR HEARD/d;/^MOSH CONNECT/{{w said\ns/CONNECT [0-9]*/CONNECT {port}/\n}}");
    let mut login = Login::of_program(&[], &["cat"], "", &said);
    let mut datagram = [0; 2048];
    let (length, _) = between.recv_from(&mut datagram).expect("a datagram");
    let home = login.world.home().to_owned();
    let said = std::fs::read_to_string(home.join("said")).expect("a connect line");
    let server = said.split(' ').nth(2).and_then(|port| port.parse().ok());
    let server = SocketAddr::from(([127, 0, 0, 1], server.expect("a port")));
    between
        .send_to(&datagram[..length], server)
        .expect("it is sent");
    // Its answer, which goes no further.
    while between.recv_from(&mut datagram).expect("a datagram").1 != server {}
    login.terminal.type_keys(b"\x03");
    // Given up, or after three seconds, which a busy machine may need, without an answer.
    let status = login.terminal.wait_for_end().code();
    assert!(matches!(status, Some(130 | 255)), "{status:?}");
    between.set_nonblocking(true).expect("a mode");
    while let Ok((length, from)) = between.recv_from(&mut datagram) {
        if from != server {
            between
                .send_to(&datagram[..length], server)
                .expect("it is sent");
        }
    }
    for process in Process::all_of(&home) {
        assert!(process.wait(DEADLINE), "{} still runs", process.pid());
    }
}
