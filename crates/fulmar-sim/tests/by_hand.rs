//! A network that is driven from outside: by a clock and packets that are somebody else's.

use std::net::SocketAddr;
use std::time::Duration;

use fulmar_base::SendError;
use fulmar_sim::{
    Arrival, Arrived, CLIENT, Change, Content, Datagram, Delay, HostId, Mtu, Nat, Network, Queue,
    Rate, SERVER, address, ms, secs,
};

/// A client and a server that have all ports of their addresses.
fn network() -> Network {
    let mut net = Network::without_hosts(7);
    net.add_host("client", address("192.0.2.1:0"));
    net.add_host("server", address("203.0.113.1:0"));
    net
}

fn packet(source: &str, destination: &str, len: usize) -> Datagram {
    let mut packet = Datagram::new(address(source), address(destination), vec![0; len]);
    packet.content = Content::OtherPacket;
    packet
}

fn request() -> Datagram {
    packet("192.0.2.1:50000", "203.0.113.1:22", 100)
}

/// Takes what has reached a host as times and sources.
fn arrived(net: &mut Network, host: HostId) -> Vec<(Duration, SocketAddr)> {
    let mut arrived = Vec::new();
    while let Some(Arrival { at, what }) = net.poll_arrival(host) {
        match what {
            Arrived::Datagram(datagram) => arrived.push((at, datagram.source)),
            Arrived::SendFailure { failure, .. } => panic!("{failure:?}"),
        }
    }
    arrived
}

#[test]
fn a_late_look_finds_the_time_that_was_due() {
    let mut net = network().up([Delay::ms(80), Rate::kbit(80, Queue::Endless)]);
    net.inject(ms(5), CLIENT, request());
    assert_eq!(net.next_due(), Some(ms(85)));
    net.advance(ms(84));
    assert_eq!(arrived(&mut net, SERVER), []);
    net.advance(secs(60));
    let from = address("192.0.2.1:50000");
    assert_eq!(arrived(&mut net, SERVER), [(ms(95), from)]);
    assert_eq!(net.next_due(), None);
}

#[test]
fn a_host_with_port_0_has_all_ports_of_its_address_and_no_other_address() {
    let mut net = network();
    net.inject(ms(0), CLIENT, request());
    net.inject(ms(0), CLIENT, packet("192.0.2.1:1", "203.0.113.1:9", 100));
    net.inject(ms(0), CLIENT, packet("192.0.2.1:1", "203.0.113.2:9", 100));
    assert_eq!(arrived(&mut net, SERVER).len(), 2);
    net.inject(ms(0), CLIENT, packet("192.0.2.2:1", "203.0.113.1:9", 100));
    assert_eq!(arrived(&mut net, SERVER), []);
}

#[test]
fn a_host_that_moves_on_keeps_all_ports() {
    let mut net = network();
    net.apply(ms(0), Change::MoveOn(CLIENT));
    let moved = net.address(CLIENT);
    assert_eq!(moved.port(), 0);
    let answer = |to: SocketAddr| packet("203.0.113.1:22", &to.to_string(), 100);
    net.inject(ms(1), SERVER, answer(SocketAddr::new(moved.ip(), 50_000)));
    net.inject(ms(1), SERVER, answer(address("192.0.2.1:50000")));
    assert_eq!(arrived(&mut net, CLIENT).len(), 1);
}

#[test]
fn a_change_comes_after_what_was_due_before_it() {
    let mut net = network().up([Delay::ms(10)]);
    net.inject(ms(0), CLIENT, request());
    net.inject(ms(5), CLIENT, request());
    net.apply(ms(12), Change::Cut(SERVER));
    assert_eq!(arrived(&mut net, SERVER).len(), 1);
}

#[test]
fn a_refused_packet_comes_back_with_its_bytes() {
    let mut net = network()
        .up([Mtu::reported(1280)])
        .client_behind(Nat::at(address("198.51.100.9:0").ip()));
    net.inject(ms(3), CLIENT, packet("192.0.2.1:5", "203.0.113.1:22", 1281));
    let Some(Arrival { at, what }) = net.poll_arrival(CLIENT) else {
        panic!("nothing came back");
    };
    let Arrived::SendFailure { failure, datagram } = what else {
        panic!("{what:?}");
    };
    assert_eq!((at, failure.error), (ms(3), SendError::TooBig));
    assert_eq!(failure.source, address("192.0.2.1:5"));
    assert_eq!(datagram.bytes.len(), 1281);
}
