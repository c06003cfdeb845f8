//! Cables between machines, their addresses, and what is not let through.
//!
//! Addresses are those set aside for documents, in namespaces that no packet leaves.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{DEADLINE, Machine};

/// The families of addresses that a cable has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Families {
    V4,
    V6,
    Both,
}

/// The direction of a datagram, seen from the client's user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Out,
    Back,
}

/// The name of the interface to the next machine of a row.
pub(crate) const RIGHT: &str = "right";

/// The name of the interface to the machine before it in a row.
pub(crate) const LEFT: &str = "left";

/// The IPv4 address of the left (1) or right (2) end of a cable, the first cable being 0.
pub(crate) fn v4(cable: usize, end: usize) -> String {
    format!("192.0.2.{}", cable * 16 + end)
}

/// The same in IPv6.
pub(crate) fn v6(cable: usize, end: usize) -> String {
    format!("2001:db8:{cable}::{end}")
}

/// Joins machines in a row, each to the next. Those between two others pass on what is not theirs.
///
/// Cable number `n` is between machine `n` and the next.
pub(crate) fn join(row: &[&Machine], families: Families) {
    for (cable, pair) in row.windows(2).enumerate() {
        let [left, right] = pair else { unreachable!() };
        lay_cable(left, right);
        // Both ends first: an IPv6 address that comes while the other end is down loses the first
        // packet, and TCP a second with it.
        batch(left, &format!("link set {RIGHT} up\n"));
        batch(right, &format!("link set {LEFT} up\n"));
        for (machine, name, end) in [(left, RIGHT, 1), (right, LEFT, 2)] {
            let mut lines = String::new();
            if families != Families::V6 {
                let _ = writeln!(lines, "addr add {}/28 dev {name}", v4(cable, end));
            }
            if families != Families::V4 {
                let _ = writeln!(lines, "addr add {}/64 dev {name} nodad", v6(cable, end));
            }
            batch(machine, &lines);
        }
    }
    for (number, machine) in row.iter().enumerate() {
        route(machine, number, row.len() - 1, families);
    }
}

/// Puts one end of a new cable into each machine's network.
fn lay_cable(left: &Machine, right: &Machine) {
    let mut ip = Command::new(left.ip());
    let [left, right] = [left, right].map(|machine| machine.init().to_string());
    ip.args(["link", "add", RIGHT, "netns", &left, "type", "veth"]);
    ip.args(["peer", "name", LEFT, "netns", &right]);
    let output = ip.output().expect("ip starts");
    assert!(output.status.success(), "{ip:?} said {output:?}");
}

/// Tells a machine the way to all cables that it is not at.
fn route(machine: &Machine, number: usize, cables: usize, families: Families) {
    let mut lines = String::new();
    for cable in 0..cables {
        // The remote end of our own cable leads on, to the left or to the right.
        let via = match cable {
            _ if cable > number => (number, 2),
            _ if cable + 1 < number => (number - 1, 1),
            _ => continue,
        };
        if families != Families::V6 {
            let (net, via) = (v4(cable, 0), v4(via.0, via.1));
            let _ = writeln!(lines, "route add {net}/28 via {via}");
        }
        if families != Families::V4 {
            let via = v6(via.0, via.1);
            let _ = writeln!(lines, "route add 2001:db8:{cable}::/64 via {via}");
        }
    }
    batch(machine, &lines);
    if number > 0 && number < cables {
        let script = "echo 1 >/proc/sys/net/ipv4/ip_forward\n\
                      echo 1 >/proc/sys/net/ipv6/conf/all/forwarding\n";
        let mut command = machine.command(super::Person::Root, "sh");
        machine.output_of(command.args(["-c", script]));
    }
}

/// Adds an address to one end of a cable.
pub(crate) fn add_address(machine: &Machine, interface: &str, address: &str) {
    batch(
        machine,
        &format!("addr add {address} dev {interface} nodad\n"),
    );
}

/// Makes addresses dead for a machine. TCP hears so at once, because no test waits as long as ssh
/// would; anything else hears nothing.
pub(crate) fn kill(machine: &Machine, addresses: &[&str]) {
    for address in addresses {
        let family = if address.contains(':') { "ip6" } else { "ip" };
        rule(
            machine,
            "output",
            &format!("{family} daddr {address} meta l4proto tcp reject"),
        );
        rule(machine, "output", &format!("{family} daddr {address} drop"));
    }
}

/// Drops UDP that comes in to a machine or goes out of it.
pub(crate) fn block_udp(machine: &Machine, way: Way) {
    let hook = match way {
        Way::Out => "input",
        Way::Back => "output",
    };
    rule(machine, hook, "meta l4proto udp drop");
}

/// Lets through again what [`block_udp`] drops.
pub(crate) fn let_udp_pass(machine: &Machine, way: Way) {
    let hook = match way {
        Way::Out => "input",
        Way::Back => "output",
    };
    feed(
        machine,
        machine.nft(),
        &["-f", "-"],
        &format!("delete table inet {hook}\n"),
    );
}

/// Refuses UDP that comes in to a machine, and says so.
pub(crate) fn refuse_udp(machine: &Machine) {
    rule(
        machine,
        "input",
        "meta l4proto udp reject with icmpx admin-prohibited",
    );
}

/// Refuses UDP that comes in to a machine, in the words of a machine where nothing has the port.
pub(crate) fn reject_udp(machine: &Machine) {
    rule(
        machine,
        "input",
        "meta l4proto udp reject with icmpx port-unreachable",
    );
}

/// Refuses TCP between other machines: to log in one has to go from one to the next.
pub(crate) fn forbid_passing_tcp(machine: &Machine) {
    rule(machine, "forward", "meta l4proto tcp reject");
}

/// Lets one end of a cable carry no packets above so many bytes.
pub(crate) fn narrow(machine: &Machine, interface: &str, bytes: usize) {
    batch(machine, &format!("link set {interface} mtu {bytes}\n"));
}

/// Has a machine refuse to send to an address, as one does to which no network leads.
pub(crate) fn forget_route(machine: &Machine, address: &str) {
    batch(machine, &format!("route add unreachable {address}\n"));
}

/// Takes an address from one end of a cable, and has the machine at the other end look anew for who has it.
pub(crate) fn lose_address(
    machine: &Machine,
    interface: &str,
    address: &str,
    other: (&Machine, &str),
) {
    batch(machine, &format!("addr del {address} dev {interface}\n"));
    batch(other.0, &format!("neigh flush dev {}\n", other.1));
}

/// Gives one end of a cable another address.
pub(crate) fn change_address(machine: &Machine, interface: &str, from: &str, to: &str) {
    let lines = format!("addr del {from} dev {interface}\naddr add {to} dev {interface}\n");
    batch(machine, &lines);
}

/// The port of the only UDP socket on a machine.
#[track_caller]
pub(crate) fn udp_port(machine: &Machine) -> u16 {
    let sockets = machine.udp_sockets();
    let [socket] = sockets.as_slice() else {
        panic!("not one socket: {sockets:?}");
    };
    let local = socket.split_whitespace().nth(1).expect("an address");
    let (_, port) = local.rsplit_once(':').expect("a port");
    u16::from_str_radix(port, 16).expect("a number")
}

/// A way that has forgotten a port of a machine, and has another for it: what comes from the one seems
/// to come from the other.
///
/// Returns a counter of what has left since.
pub(crate) fn rebind(machine: &Machine, port: u16, seeming: u16) -> Counter<'_> {
    let out = format!("udp sport {port} counter udp sport set {seeming}");
    rule(machine, "output", &out);
    rule(
        machine,
        "input",
        &format!("udp dport {seeming} udp dport set {port}"),
    );
    Counter(machine)
}

/// Counts the packets that a machine sends.
pub(crate) struct Counter<'a>(&'a Machine);

impl<'a> Counter<'a> {
    /// Those to an address, of whoever it may be. The machine at the right end of the first cable is made to be the way there.
    pub(crate) fn of_packets_to(machine: &'a Machine, address: &str) -> Self {
        batch(machine, &format!("route add {address} via {}\n", v4(0, 2)));
        rule(machine, "output", &format!("ip daddr {address} counter"));
        Self(machine)
    }

    /// Those of UDP, from now on.
    pub(crate) fn of_udp_from(machine: &'a Machine) -> Self {
        rule(machine, "output", "meta l4proto udp counter");
        Self(machine)
    }

    /// Returns the number of them.
    pub(crate) fn packets(&self) -> u64 {
        self.number("counter packets ")
    }

    /// Returns the number of their bytes, with their heads.
    pub(crate) fn bytes(&self) -> u64 {
        self.number(" bytes ")
    }

    /// Waits until there were so many.
    #[track_caller]
    pub(crate) fn wait_for(&self, packets: u64) {
        let deadline = Instant::now() + DEADLINE;
        while self.packets() < packets {
            assert!(
                Instant::now() < deadline,
                "{} of {packets} packets",
                self.packets()
            );
        }
    }

    /// Waits until hardly any more come, and returns how many bytes they had. Two ends that are there say so now and then.
    #[track_caller]
    pub(crate) fn wait_until_still(&self) -> u64 {
        let deadline = Instant::now() + DEADLINE;
        let mut before = self.bytes();
        loop {
            std::thread::sleep(Duration::from_millis(500));
            let now = self.bytes();
            if now - before < 2000 {
                return now;
            }
            assert!(Instant::now() < deadline, "it goes on and on");
            before = now;
        }
    }

    fn number(&self, name: &str) -> u64 {
        let output = feed(self.0, self.0.nft(), &["list", "ruleset"], "");
        let (_, count) = output.split_once(name).expect("a counter");
        let count = count.split_whitespace().next().expect("a word");
        count.parse().expect("a number")
    }
}

fn rule(machine: &Machine, hook: &str, rule: &str) {
    let rules = format!(
        "add table inet {hook}\n\
         add chain inet {hook} it {{ type filter hook {hook} priority 0; }}\n\
         add rule inet {hook} it {rule}\n"
    );
    feed(machine, machine.nft(), &["-f", "-"], &rules);
}

fn batch(machine: &Machine, lines: &str) {
    if !lines.is_empty() {
        feed(machine, machine.ip(), &["-batch", "-"], lines);
    }
}

/// Runs a program of the distribution in a machine's network, gives it `input`, and returns its
/// output.
fn feed(machine: &Machine, program: &Path, arguments: &[&str], input: &str) -> String {
    let output = machine.inside(|| {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut pipe = child.stdin.take().expect("a pipe");
        pipe.write_all(input.as_bytes()).expect("it reads");
        drop(pipe);
        child.wait_with_output().expect("it ends")
    });
    let is_done = output.status.success();
    assert!(
        is_done,
        "on {} {} of {input:?} said {output:?}",
        machine.name(),
        program.display()
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_in_a_row_reach_each_other() {
        let [Some(near), Some(jump), Some(far)] = ["near", "jump", "far"].map(Machine::start)
        else {
            return;
        };
        join(&[&near, &jump, &far], Families::Both);
        for address in [v4(1, 2), v6(1, 2)] {
            let listener = far.inside(|| {
                std::net::TcpListener::bind((address.as_str(), 0)).expect("its own address")
            });
            let there = listener.local_addr().expect("a bound socket");
            near.inside(|| std::net::TcpStream::connect(there).expect("a way there"));
        }
    }
}
