//! Datagrams over the pipes of a login (docs/protocol.md §2.12).

use super::*;

const OVER_SSH: &str = "FULMAR OVER SSH\n";

/// Returns the offer of a client that knows of this.
fn offer() -> String {
    OFFER.replace("sizes", "sizes,ssh")
}

/// A session that is asked for over ssh, and its client, which has no other way to it.
pub(super) struct Carried {
    pub(super) login: Login,
    pub(super) guest: Guest,
    pub(super) name: String,
}

impl Login {
    fn write_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("it was not closed");
        // One that carries nothing any more does not read on.
        let _ = input.write_all(bytes);
    }

    /// Reads so many bytes; fewer at the end of the output.
    #[track_caller]
    fn bytes(&mut self, count: usize) -> Vec<u8> {
        while self.read.len() < count {
            let output = self.output.as_mut().expect("it was not closed");
            await_input(output);
            let mut bytes = [0; 4096];
            match output.read(&mut bytes).expect("a pipe can be read") {
                0 => break,
                count => self.read.extend_from_slice(&bytes[..count]),
            }
        }
        let count = count.min(self.read.len());
        self.read.drain(..count).collect()
    }

    #[track_caller]
    fn record(&mut self) -> Vec<u8> {
        let length = self.bytes(2);
        let length = <[u8; 2]>::try_from(length).expect("it has not ended");
        self.bytes(u16::from_be_bytes(length).into())
    }
}

impl Carried {
    /// Begins one whose client was not heard over anything.
    #[track_caller]
    fn asked() -> Carried {
        let mut login = Login::start(&[]);
        let offer = offer();
        login.write(&offer);
        let params = login.introduction();
        let name = login.line();
        let name = name.strip_prefix("FULMAR NAME ").expect("a name");
        let name = name.trim_end().to_owned();
        login.expect_line("FULMAR AGREED\n");
        login.write(OVER_SSH);
        login.expect_line(OVER_SSH);
        let announcement = params.announcement.as_bytes();
        let agreement = Agreement::of(offer.as_bytes(), announcement, Capabilities::ALL);
        let guest = Guest::of(&params, Some(agreement));
        Carried { login, guest, name }
    }

    /// The same, when either end has heard the other.
    #[track_caller]
    pub(super) fn begun() -> Carried {
        let mut carried = Carried::asked();
        let datagrams = carried.guest.datagrams();
        carried.login.write_bytes(&records(&datagrams));
        while !carried.guest.client.is_connected() {
            let datagram = carried.login.record();
            carried.guest.take(&datagram);
        }
        carried
    }

    /// Another login of the same user, which is to carry datagrams of that session, called so by now.
    #[track_caller]
    fn carrying(&self, name: &str, called: &str) -> Login {
        let mut login = self.again(name);
        login.expect_line(&format!("FULMAR NAME {called}\n"));
        login.expect_line("FULMAR AGREED\n");
        login
    }

    /// The same, before it has an answer.
    fn again(&self, name: &str) -> Login {
        let offer = offer().replace("port 0\nword cat", &format!("over-ssh {name}"));
        let mut command = self.login.world.command(self.login.world.ours("fulmar"));
        command.arg("server");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("the server starts");
        let mut login = Login {
            input: process.stdin.take(),
            output: process.stdout.take(),
            process,
            read: Vec::new(),
            world: World::new(),
        };
        login.write(&offer);
        login.introduction();
        login
    }
}

impl Guest {
    /// Types that text over that ssh, and waits until it is on the screen.
    #[track_caller]
    pub(super) fn expect_echo(&mut self, login: &mut Login, text: &str) {
        self.client.handle_keys(Time::ZERO, text.as_bytes());
        let datagrams = self.datagrams();
        login.write_bytes(&records(&datagrams));
        while !self.shows(text) {
            let datagram = login.record();
            self.take(&datagram);
        }
    }

    fn shows(&self, wanted: &str) -> bool {
        let mut text = String::new();
        let rows = self.client.screen().rows();
        rows.for_each(|row| row.push_text(&mut text));
        text.contains(wanted)
    }

    fn take(&mut self, datagram: &[u8]) {
        let arrival = Arrival {
            path: PathId::new(0),
            ecn: Ecn::NotCapable,
            bytes: datagram,
        };
        let _ = self.client.handle_datagram(Time::ZERO, arrival);
    }
}

fn records(datagrams: &[Vec<u8>]) -> Vec<u8> {
    let record = |datagram: &Vec<u8>| {
        let length = u16::try_from(datagram.len()).expect("it is short");
        [&length.to_be_bytes(), datagram.as_slice()].concat()
    };
    datagrams.iter().flat_map(record).collect()
}

#[test]
fn a_session_begins_over_ssh_alone_and_outlives_it() {
    if !sees_environments() {
        return;
    }
    let mut carried = Carried::begun();
    let daemon = carried.login.daemon();
    drop(carried.login.input.take());
    let attendant = Process::of(carried.login.process.id()).expect("nobody has waited for it");
    assert!(attendant.wait(DEADLINE), "the login still runs");
    assert!(!daemon.wait(Duration::ZERO), "the server has ended");
}

#[test]
fn a_login_that_ends_before_anything_authentic_has_come_leaves_nothing() {
    let mut carried = Carried::asked();
    carried.login.write_bytes(&records(&[vec![7; 1200]]));
    drop(carried.login.input.take());
    let attendant = Process::of(carried.login.process.id()).expect("nobody has waited for it");
    assert!(attendant.wait(DEADLINE), "the login still runs");
    carried.login.expect_nothing_left();
}

#[test]
fn another_login_carries_on_and_nonsense_ends_only_itself() {
    let mut carried = Carried::begun();
    for nonsense in [&b"\0\0"[..], b"\xff\xff", b"FULMAR OVER SSH\n"] {
        let mut login = carried.carrying(&carried.name, &carried.name);
        login.write(OVER_SSH);
        login.expect_line(OVER_SSH);
        // Half a record is waited for.
        login.write_bytes(&[4, 0, 1, 2, 3]);
        login.write_bytes(&vec![0; 1024]);
        login.write_bytes(nonsense);
        assert_eq!(login.bytes(1), [0_u8; 0], "it has not ended");
        assert_eq!(login.process.wait().expect("it ends").code(), Some(0));
    }
    let mut login = carried.carrying(&carried.name, &carried.name);
    login.write(OVER_SSH);
    login.expect_line(OVER_SSH);
    drop(carried.login.input.take());
    carried.guest.expect_echo(&mut login, "key");
}

#[test]
fn a_session_that_is_not_there_is_not_carried() {
    let carried = Carried::asked();
    let mut login = carried.again("nothing");
    let refusal = login.line();
    assert!(
        refusal.starts_with("FULMAR ERROR there is no session nothing"),
        "{refusal}"
    );
}

#[test]
fn a_session_that_was_renamed_is_carried_and_says_its_name() {
    if !sees_environments() {
        return;
    }
    let carried = Carried::begun();
    let world = &carried.login.world;
    let rename = |from: &str, to: &str| {
        let mut command = world.command(world.ours("fulmar"));
        let status = command.args(["rename", "--local", from, to]).status();
        assert!(status.expect("it starts").success());
    };
    rename(&carried.name, "work");
    rename("work", "play");
    for name in [&carried.name, "work", "play"] {
        carried.carrying(name, "play");
    }
}
