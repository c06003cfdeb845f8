//! Two small programs on simulated hosts: what the loop, the network and the timeline promise.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use fulmar_base::{Ecn, Hint, SendError};
use fulmar_sim::{
    CLIENT, Change, Datagram, Delay, Failure, FailureKind, Filter, Jump, LinkDirection, Loss,
    LossCause, Marking, Mtu, Nat, Network, Node, Outage, Outlet, Picked, Queue, Rate, SERVER,
    SendFailure, Simulation, Stage, Transmit, address, days, hours, ms, secs,
};

#[test]
fn an_echo_takes_one_round_trip() -> Result<(), Failure> {
    let net = Network::seeded(7).up([Delay::ms(80)]).down([Delay::ms(20)]);
    let mut sim = echo(net);
    sim.nodes.0.say("hello");
    let took = sim.run_until(secs(1), |(client, _)| client.heard("hello"))?;
    assert_eq!(took, ms(100));
    assert_eq!(sim.now(), ms(100));
    Ok(())
}

#[test]
fn run_for_stops_at_its_end_and_not_at_the_last_event() -> Result<(), Failure> {
    let mut sim = echo(Network::seeded(7));
    sim.run_for(secs(5))?;
    assert_eq!(sim.now(), secs(5));
    Ok(())
}

#[test]
fn a_timer_that_is_due_at_the_end_of_a_run_runs_out_in_it() -> Result<(), Failure> {
    let mut sim = echo(Network::seeded(7));
    sim.nodes.0.every = Some(secs(1));
    sim.nodes.0.next = Some(secs(1));
    sim.run_for(secs(3))?;
    assert_eq!(sim.nodes.0.timeouts, [secs(1), secs(2), secs(3)]);
    Ok(())
}

#[test]
fn weeks_pass_in_no_time() -> Result<(), Failure> {
    let net = Network::seeded(7).both([Outage::between(secs(1), days(40))]);
    let mut sim = echo(net);
    sim.nodes.0.every = Some(hours(1));
    sim.nodes.0.next = Some(hours(1));
    let took = sim.run_until(days(50), |(client, _)| !client.inbox.is_empty())?;
    assert_eq!(took, days(40));
    assert_eq!(sim.net.counts(CLIENT).lost_total(), 40 * 24 - 1);
    Ok(())
}

#[test]
fn equal_seeds_give_equal_runs_and_others_do_not() -> Result<(), Failure> {
    let fingerprint = |seed| -> Result<u64, Failure> {
        let rough = [Loss::percent(30), Delay::reordering_jitter(ms(10), ms(90))];
        let mut sim = echo(Network::seeded(seed).both(rough));
        sim.nodes.0.every = Some(ms(20));
        sim.nodes.0.next = Some(ms(0));
        sim.plan_every(secs(1), Change::MoveOn(CLIENT));
        sim.run_for(secs(20))?;
        Ok(sim.net.timeline.fingerprint())
    };
    assert_eq!(fingerprint(7)?, fingerprint(7)?);
    assert_ne!(fingerprint(7)?, fingerprint(8)?);
    Ok(())
}

// Addresses

#[test]
fn who_moved_is_answered_at_the_new_address_only() -> Result<(), Failure> {
    let mut sim = echo(Network::seeded(7).both([Delay::ms(80)]));
    sim.nodes.0.say("old");
    sim.run_for(ms(100))?;
    sim.move_to(CLIENT, "198.51.100.7:4500");
    sim.nodes.0.say("new");
    sim.run_for(secs(1))?;
    assert_eq!(sim.nodes.0.texts(), ["new"]);
    assert_eq!(
        sim.nodes.1.sources(),
        [address("192.0.2.1:50000"), address("198.51.100.7:4500")]
    );
    assert_eq!(sim.net.counts(SERVER).lost[&LossCause::Nobody], 1);
    Ok(())
}

#[test]
fn a_planned_move_every_second_shows_a_new_address_each_time() -> Result<(), Failure> {
    for home in ["192.0.2.1:50000", "[2001:db8::1]:50000"] {
        let mut sim = echo(Network::seeded(7));
        sim.move_to(CLIENT, home);
        sim.plan_every(secs(1), Change::MoveOn(CLIENT));
        sim.nodes.0.every = Some(secs(1));
        sim.nodes.0.next = Some(ms(500));
        sim.run_for(secs(20))?;
        let mut sources = sim.nodes.1.sources();
        assert_eq!(sources.len(), 20);
        assert!(
            sources
                .iter()
                .all(|seen| seen.is_ipv4() == address(home).is_ipv4())
        );
        sources.sort();
        sources.dedup();
        assert_eq!(sources.len(), 20);
        sim.cancel_plan();
    }
    Ok(())
}

#[test]
fn a_host_may_have_two_addresses_and_choose() -> Result<(), Failure> {
    let mut sim = echo(Network::seeded(7));
    let (first, second) = (address("192.0.2.1:50000"), address("192.0.2.1:50001"));
    sim.apply(Change::Bind(CLIENT, second));
    sim.nodes.0.say("latest");
    sim.nodes
        .0
        .outbox
        .push_back(Transmit::to(SERVER_ADDRESS, "first").from(first));
    sim.run_for(ms(1))?;
    assert_eq!(sim.nodes.1.sources(), [second, first]);
    sim.apply(Change::Unbind(CLIENT, first));
    sim.nodes
        .0
        .outbox
        .push_back(Transmit::to(SERVER_ADDRESS, "gone").from(first));
    sim.run_for(ms(1))?;
    assert_eq!(sim.nodes.0.errors(), [SendError::SourceGone]);
    assert_eq!(sim.nodes.0.texts(), ["latest", "first"]);
    Ok(())
}

#[test]
fn behind_a_translator_the_server_sees_its_address_and_a_rebinding_changes_the_port()
-> Result<(), Failure> {
    let mut sim = echo(Network::seeded(7).client_behind(nat()));
    sim.nodes.0.say("one");
    sim.run_for(ms(1))?;
    sim.apply(Change::RebindNat(CLIENT));
    sim.nodes.0.say("two");
    sim.run_for(ms(1))?;
    let outside = [address("198.51.100.9:40000"), address("198.51.100.9:40001")];
    assert_eq!(sim.nodes.1.sources(), outside);
    assert_eq!(sim.nodes.0.texts(), ["one", "two"]);
    Ok(())
}

#[test]
fn an_expired_mapping_shuts_out_the_server_until_the_client_speaks() -> Result<(), Failure> {
    let open = nat().filtering(Filter::Open).expiring_after(secs(30));
    let mut sim = echo(Network::seeded(7).client_behind(open));
    sim.nodes.0.say("one");
    sim.run_for(secs(60))?;
    let seen = sim.nodes.1.sources()[0];
    sim.nodes.1.outbox.push_back(Transmit::to(seen, "late"));
    sim.run_for(secs(1))?;
    assert_eq!(sim.net.counts(SERVER).lost[&LossCause::Nat], 1);
    sim.nodes.0.say("two");
    sim.run_for(secs(1))?;
    assert_eq!(sim.nodes.0.texts(), ["one", "two"]);
    Ok(())
}

#[test]
fn three_hosts_reach_each_other() -> Result<(), Failure> {
    let mut net = Network::seeded(7);
    let third = net.add_host("third", address("203.0.113.9:9"));
    let net = net.link(third, LinkDirection::Down, [Delay::ms(30)]);
    let mut sim = Simulation::new(
        net,
        vec![Talker::default(), Talker::default(), Talker::default()],
    );
    sim.nodes[0]
        .outbox
        .push_back(Transmit::to(address("203.0.113.9:9"), "from the client"));
    sim.nodes[1]
        .outbox
        .push_back(Transmit::to(address("203.0.113.9:9"), "from the server"));
    sim.run_for(ms(30))?;
    assert_eq!(sim.nodes[2].texts(), ["from the client", "from the server"]);
    Ok(())
}

// What the path does

#[test]
fn too_large_a_datagram_is_reported_under_the_sender_s_own_address() -> Result<(), Failure> {
    let net = Network::seeded(7)
        .up([Mtu::reported(1280)])
        .client_behind(nat());
    let mut sim = echo(net);
    sim.nodes
        .0
        .outbox
        .push_back(Transmit::to(SERVER_ADDRESS, vec![b'x'; 1400]));
    sim.run_for(ms(1))?;
    let expected = SendFailure {
        source: address("192.0.2.1:50000"),
        destination: SERVER_ADDRESS,
        len: 1400,
        error: SendError::TooBig,
    };
    assert_eq!(sim.nodes.0.failures, [expected]);
    Ok(())
}

#[test]
fn a_cut_loses_what_is_under_way_and_what_is_sent() -> Result<(), Failure> {
    let mut sim = echo(Network::seeded(7).both([Delay::ms(80)]));
    sim.nodes.0.say("under way");
    sim.run_for(ms(100))?;
    sim.apply(Change::Cut(CLIENT));
    sim.nodes.0.say("sent");
    sim.run_for(secs(1))?;
    assert_eq!(sim.nodes.0.texts(), [""; 0]);
    assert_eq!(sim.nodes.1.texts(), ["under way"]);
    sim.apply(Change::Restore(CLIENT));
    sim.nodes.0.say("again");
    sim.run_for(secs(1))?;
    assert_eq!(sim.nodes.0.texts(), ["again"]);
    Ok(())
}

#[test]
fn room_is_made_in_the_receiver_s_queue_before_the_network_asks_for_it() -> Result<(), Failure> {
    // Each takes 10 ms on either link and nothing may wait: the second reaches the link down when
    // the first leaves it.
    let link = |room| Rate::bits(8 * (1 + 28) * 100, Queue::datagrams(room));
    let net = Network::seeded(7)
        .up([link(9)])
        .link(SERVER, LinkDirection::Down, [link(0)]);
    let mut sim = echo(net);
    sim.nodes.0.say("1");
    sim.nodes.0.say("2");
    sim.run_for(ms(30))?;
    assert_eq!(sim.nodes.1.texts(), ["1", "2"]);
    Ok(())
}

#[test]
fn settings_change_during_a_run() -> Result<(), Failure> {
    let mut sim = echo(Network::seeded(7).up([Delay::ms(10)]));
    sim.set(CLIENT, LinkDirection::Up, Delay::ms(500));
    sim.set(CLIENT, LinkDirection::Up, Picked::lost([0]));
    sim.nodes.0.say("one");
    sim.nodes.0.say("two");
    let took = sim.run_until(secs(1), |(client, _)| client.heard("two"))?;
    assert_eq!(took, ms(500));
    assert_eq!(sim.nodes.0.texts(), ["two"]);
    Ok(())
}

#[test]
fn marks_reach_the_receiver() -> Result<(), Failure> {
    let mut sim = echo(Network::seeded(7).up([Marking::percent(100)]));
    sim.nodes
        .0
        .outbox
        .push_back(Transmit::to(SERVER_ADDRESS, "x").ecn(Ecn::Capable0));
    sim.run_for(ms(1))?;
    assert_eq!(sim.nodes.1.inbox[0].ecn, Ecn::Congested);
    Ok(())
}

#[test]
fn a_test_may_bring_a_stage_of_its_own() -> Result<(), Failure> {
    /// Turns everything to capitals.
    #[derive(Debug)]
    struct Shout;
    impl Stage for Shout {
        fn take(&mut self, _now: Duration, mut datagram: Datagram, outlet: &mut Outlet) {
            datagram.bytes.make_ascii_uppercase();
            outlet.pass(datagram);
        }
    }
    let mut sim = echo(Network::seeded(7).stage(CLIENT, LinkDirection::Up, Box::new(Shout)));
    sim.nodes.0.say("hello");
    sim.run_for(ms(1))?;
    assert_eq!(sim.nodes.0.texts(), ["HELLO"]);
    Ok(())
}

// Sleep and clocks

#[test]
fn who_sleeps_hears_nothing_and_learns_how_long_it_slept() -> Result<(), Failure> {
    let mut sim = echo(Network::seeded(7));
    sim.nodes.0.every = Some(secs(1));
    sim.nodes.0.next = Some(secs(1));
    sim.run_for(ms(1500))?;
    sim.suspend(CLIENT);
    sim.nodes
        .1
        .outbox
        .push_back(Transmit::to(address("192.0.2.1:50000"), "missed"));
    sim.run_for(hours(8))?;
    sim.wake(CLIENT);
    sim.run_for(ms(0))?;
    assert!(!sim.nodes.0.heard("missed"));
    assert_eq!(sim.nodes.0.hints, [Hint::Woke { slept: hours(8) }]);
    assert_eq!(sim.nodes.0.timeouts, [secs(1), hours(8) + ms(1500)]);
    assert_eq!(sim.net.counts(SERVER).lost[&LossCause::Asleep], 1);
    Ok(())
}

#[test]
fn both_may_sleep_and_the_planned_morning_comes() -> Result<(), Failure> {
    let mut sim = echo(Network::seeded(7));
    for host in [CLIENT, SERVER] {
        sim.suspend(host);
        sim.plan(days(3), Change::Wake(host));
    }
    sim.nodes.0.say("good morning");
    let took = sim.run_until(days(4), |(client, _)| client.heard("good morning"))?;
    assert_eq!(took, days(3));
    assert_eq!(sim.nodes.1.hints, [Hint::Woke { slept: days(3) }]);
    Ok(())
}

#[test]
fn a_clock_that_jumps_forward_makes_timers_due() -> Result<(), Failure> {
    let mut sim = echo(Network::seeded(7));
    sim.nodes.0.next = Some(secs(100));
    sim.run_for(secs(1))?;
    sim.jump(CLIENT, Jump::Forward(secs(200)));
    sim.run_for(ms(0))?;
    assert_eq!(sim.nodes.0.timeouts, [secs(201)]);
    assert_eq!((sim.clock(CLIENT), sim.clock(SERVER)), (secs(201), secs(1)));
    Ok(())
}

#[test]
fn a_clock_that_jumps_back_keeps_timers_waiting() -> Result<(), Failure> {
    let mut sim = echo(Network::seeded(7));
    sim.nodes.0.next = Some(secs(100));
    sim.run_for(secs(90))?;
    sim.jump(CLIENT, Jump::Backward(secs(60)));
    let took = sim.run_until(secs(1000), |(client, _)| !client.timeouts.is_empty())?;
    assert_eq!(took, secs(70));
    assert_eq!(sim.nodes.0.timeouts, [secs(100)]);
    Ok(())
}

// Failures

#[test]
fn what_does_not_happen_in_time_fails_with_the_story() {
    let mut sim = echo(Network::seeded(7).up([Picked::lost([0])]));
    sim.note("nobody will hear this");
    sim.nodes.0.say("hello");
    let failure = sim
        .run_until(secs(1), |(client, _)| client.heard("hello"))
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::Late(secs(1)));
    let expected = "\
did not happen within 1s (at 1s, network seed 0x7)
      0.000000  -         ·         nobody will hear this
      0.000000  client    sent          #1     5 B  to 203.0.113.1:60001  told to
      0.000000  client    lost          #1     5 B  picked by the test
  client: sent 1 (5 B), delivered 0 (0 B), lost 1, refused 0, timers 0; picked by the test: 1
";
    assert_eq!(format!("{failure:?}"), expected);
}

#[test]
fn a_program_that_wants_to_be_woken_at_once_for_ever_is_caught() {
    let mut sim = echo(Network::seeded(7)).turns_max(50);
    sim.nodes.1.next = Some(secs(5));
    sim.nodes.1.every = Some(Duration::ZERO);
    sim.nodes.1.is_mute = true;
    let failure = sim.run_for(secs(10)).unwrap_err();
    assert_eq!(
        failure.kind,
        FailureKind::Spin {
            turns: 51,
            host: "server".to_owned()
        }
    );
    assert_eq!(failure.at, secs(5));
    assert!(
        failure
            .timeline
            .contains("5.000000  server    timer     every"),
        "{failure}"
    );
}

#[test]
fn two_programs_that_answer_each_other_for_ever_are_caught() {
    let mut sim = echo(Network::seeded(7));
    sim.nodes.0.echoes = true;
    sim.nodes.0.say("hello");
    let failure = sim.run_for(secs(10)).unwrap_err();
    assert!(
        matches!(failure.kind, FailureKind::Spin { .. }),
        "{:?}",
        failure.kind
    );
}

#[test]
fn a_program_that_never_stops_sending_is_caught() {
    struct Flood;
    impl Node for Flood {
        fn handle_datagram(&mut self, _now: Duration, _datagram: Datagram) {}
        fn handle_timeout(&mut self, _now: Duration) {}
        fn poll_transmit(&mut self, _now: Duration) -> Option<Transmit> {
            Some(Transmit::to(SERVER_ADDRESS, "x"))
        }
        fn next_timeout(&self) -> Option<Duration> {
            None
        }
    }
    let mut sim = Simulation::new(Network::seeded(7), (Flood, Talker::default()));
    sim = sim.datagrams_max(100);
    let failure = sim.run_for(secs(1)).unwrap_err();
    assert_eq!(
        failure.kind,
        FailureKind::Flood {
            datagrams: 100,
            host: "client".to_owned()
        }
    );
}

#[test]
fn a_nonce_that_seals_two_texts_fails_the_run() {
    let run = |second: &str, key| {
        let mut sim = echo(Network::seeded(7)).with_ledger();
        sim.nodes.1.is_mute = true;
        sim.nodes.0.say("nonce  7 one");
        sim.run_for(secs(1))?;
        sim.set_key(CLIENT, key);
        sim.nodes.0.say(second);
        sim.run_for(secs(1))?;
        Ok::<_, Failure>(sim.ledger().map(|ledger| (ledger.len(), ledger.repeats())))
    };
    assert_eq!(run("nonce  8 two", 0).unwrap(), Some((2, 0)));
    assert_eq!(run("nonce  7 one", 0).unwrap(), Some((1, 1)));
    assert_eq!(run("nonce  7 two", 1).unwrap(), Some((2, 0)));
    let failure = run("nonce  7 two", 0).unwrap_err();
    assert!(
        matches!(failure.kind, FailureKind::Nonce(_)),
        "{:?}",
        failure.kind
    );
}

#[test]
fn what_the_test_finds_comes_with_the_story() {
    let mut sim = echo(Network::seeded(7));
    sim.nodes.0.notes.push_back("screen is wrong".to_owned());
    sim.run_for(secs(1)).unwrap();
    let failure = sim.found("the screens differ");
    let text = failure.to_string();
    assert!(
        text.starts_with("the screens differ (at 1s, network seed 0x7)"),
        "{text}"
    );
    assert!(
        text.contains("client    ·         screen is wrong"),
        "{text}"
    );
}

#[test]
fn the_timeline_is_bounded_and_its_counts_are_not() -> Result<(), Failure> {
    let mut sim = echo(Network::seeded(7));
    sim.net.timeline.keep(10);
    sim.nodes.0.every = Some(ms(1));
    sim.nodes.0.next = Some(ms(1));
    sim.run_for(secs(1))?;
    let text = sim.net.timeline.to_string();
    assert_eq!(text.lines().count(), 1 + 10 + 2, "{text}");
    // Each millisecond: a timer, two sent and two delivered.
    assert!(
        text.starts_with("  (4990 earlier events are not shown)"),
        "{text}"
    );
    assert_eq!(sim.net.counts(CLIENT).sent, 1000);
    assert_eq!(sim.net.counts(CLIENT).timeouts, 1000);
    Ok(())
}

// Support

const SERVER_ADDRESS: SocketAddr = SocketAddr::new(
    std::net::IpAddr::V4(std::net::Ipv4Addr::new(203, 0, 113, 1)),
    60_001,
);

/// A client that says what it is told to, and a server that sends everything back.
fn echo(net: Network) -> Simulation<(Talker, Talker)> {
    let server = Talker {
        echoes: true,
        ..Talker::default()
    };
    Simulation::new(net, (Talker::default(), server))
}

fn nat() -> Nat {
    Nat::at(address("198.51.100.9:0").ip())
}

/// Sends what is in its outbox and keeps what it hears.
#[derive(Default)]
struct Talker {
    outbox: VecDeque<Transmit>,
    inbox: Vec<Datagram>,
    echoes: bool,
    /// Its timer says nothing.
    is_mute: bool,
    next: Option<Duration>,
    every: Option<Duration>,
    timeouts: Vec<Duration>,
    hints: Vec<Hint>,
    failures: Vec<SendFailure>,
    notes: VecDeque<String>,
}

impl Talker {
    fn say(&mut self, text: &str) {
        self.outbox
            .push_back(Transmit::to(SERVER_ADDRESS, text).because("told to"));
    }

    fn heard(&self, text: &str) -> bool {
        self.inbox
            .iter()
            .any(|datagram| datagram.bytes == text.as_bytes())
    }

    fn texts(&self) -> Vec<String> {
        let text = |datagram: &Datagram| String::from_utf8_lossy(&datagram.bytes).into_owned();
        self.inbox.iter().map(text).collect()
    }

    fn sources(&self) -> Vec<SocketAddr> {
        self.inbox.iter().map(|datagram| datagram.source).collect()
    }

    fn errors(&self) -> Vec<SendError> {
        self.failures.iter().map(|failure| failure.error).collect()
    }
}

impl Node for Talker {
    fn handle_datagram(&mut self, _now: Duration, datagram: Datagram) {
        if self.echoes && !self.is_mute {
            self.outbox
                .push_back(Transmit::to(datagram.source, datagram.bytes.clone()));
        }
        self.inbox.push(datagram);
    }

    fn handle_timeout(&mut self, now: Duration) {
        self.timeouts.push(now);
        self.next = self.every.map(|every| now + every);
        if !self.is_mute {
            self.say("tick");
        }
    }

    fn poll_transmit(&mut self, _now: Duration) -> Option<Transmit> {
        self.outbox.pop_front()
    }

    fn next_timeout(&self) -> Option<Duration> {
        self.next
    }

    fn timeout_reason(&self) -> &'static str {
        "every"
    }

    fn poll_note(&mut self) -> Option<String> {
        self.notes.pop_front()
    }

    fn handle_send_failure(&mut self, _now: Duration, failure: SendFailure) {
        self.failures.push(failure);
    }

    fn handle_hint(&mut self, _now: Duration, hint: Hint) {
        self.hints.push(hint);
    }
}
