//! A session that one client after another takes: at random moments, over a network that delays, reorders, loses and
//! fails for seconds, with keys on their way, with clients that vanish or detach and logins that nobody uses. What the server has accepted reaches the
//! program once and in order, no key of an old attachment is accepted, and no nonce is used twice.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use fulmar_base::{Ecn, PathId, Time};
use fulmar_core::{
    Agreement, AttachConfig, Capabilities, Capability, Client, ClientConfig, ClientEnding,
    ClientEvent, Server, ServerConfig, ServerEvent,
};
use fulmar_datagram::Key;
use fulmar_datagram::limits::DATAGRAM_BYTES_IPV4;
use fulmar_sim::{NonceLedger, Random, Seeds};
use fulmar_terminal::{Row, Size, Vocabulary};
use fulmar_transport::limits::TURN_WORK_MAX;
use fulmar_transport::{Arrival, FarewellWords};

#[path = "attach/leaving.rs"]
mod leaving;
#[path = "attach/lines.rs"]
mod lines;
#[path = "attach/telling.rs"]
mod telling;

const TURN: Duration = Duration::from_millis(10);

/// The clients of one run, each of which types a letter of its own: as many as are all told that their session was taken.
const CLIENTS: u8 = 5;

fn key(part: u8) -> Key {
    Key::from_bytes([part + 1; 16].into())
}

fn seed(number: u64, part: u8) -> [u8; 32] {
    let mut seed = [part; 32];
    seed[..8].copy_from_slice(&number.to_le_bytes());
    seed
}

fn agreement(part: u8) -> Agreement {
    let announcement = format!("FULMAR CONNECT 1 exit {part}\n");
    Agreement::of(b"an offer", announcement.as_bytes(), Capabilities::ALL)
}

fn without_attach() -> Agreement {
    let known = Capabilities::ALL.iter();
    let capabilities = known.filter(|one| *one != Capability::Attach).collect();
    Agreement::of(b"an offer", b"FULMAR CONNECT 1 exit 0\n", capabilities)
}

/// A client at a path of its own.
struct Seat {
    client: Client,
    part: u8,
    path: PathId,
    typed: u32,
    ending: Option<ClientEnding>,
    has_detached: bool,
}

/// The network between all clients and the server.
#[derive(Clone, Copy, Default)]
struct Network {
    /// Datagrams of a thousand that are lost.
    lost: u64,
    /// The time that each takes, in milliseconds, and the most that some take longer, so that others overtake them.
    delay: u64,
    jitter: u64,
    /// The time until which nothing passes.
    dead_until: Duration,
}

/// A datagram on its way: of the client of that part, to it or from it.
struct Flight {
    part: u8,
    is_up: bool,
    bytes: Vec<u8>,
}

struct World {
    now: Duration,
    number: u64,
    random: Random,
    network: Network,
    /// By the time at which each arrives, and the order in which they were sent.
    wire: BTreeMap<(Duration, u64), Flight>,
    sent: u64,
    server: Server,
    ledger: NonceLedger,
    /// Everything that the program has read.
    read: Vec<u8>,
    has_ended: bool,
}

impl World {
    fn new(number: u64, lost: u64) -> World {
        let mut config = ServerConfig::new(key(0), seed(number, 100));
        config.agreement = Some(agreement(0));
        World {
            now: Duration::ZERO,
            number,
            random: Random::stream(number, 0),
            network: Network {
                lost,
                ..Network::default()
            },
            wire: BTreeMap::new(),
            sent: 0,
            server: Server::new(Time::ZERO, config),
            ledger: NonceLedger::new(),
            read: Vec::new(),
            has_ended: false,
        }
    }

    fn time(&self) -> Time {
        Time::from_origin(self.now)
    }

    fn attach(&mut self, part: u8) -> bool {
        let config = AttachConfig {
            key: key(part),
            agreement: agreement(part),
            size: Size::default(),
            datagram_bytes: DATAGRAM_BYTES_IPV4,
            taker: FarewellWords::new(&format!("client {part}")),
            seed: seed(self.number, 100 + part),
        };
        self.server.attach(self.time(), config)
    }

    fn seat(&self, part: u8) -> Seat {
        let mut config = ClientConfig::new(key(part), seed(self.number, part));
        config.agreement = Some(agreement(part));
        config.attaches = part > 0;
        let mut client = Client::new(self.time(), config);
        let path = path_of(part);
        client.handle_path_opened(self.time(), path);
        Seat {
            client,
            part,
            path,
            typed: 0,
            ending: None,
            has_detached: false,
        }
    }

    /// Sends a datagram on its way, if it is not lost.
    fn launch(&mut self, part: u8, is_up: bool, datagram: &[u8]) {
        self.record(part, datagram);
        let network = self.network;
        if self.random.below(1000) < network.lost || self.now < network.dead_until {
            return;
        }
        let late = self.random.below(network.jitter + 1);
        let due = self.now + Duration::from_millis(network.delay + late);
        self.sent += 1;
        let bytes = datagram.to_vec();
        let flight = Flight { part, is_up, bytes };
        self.wire.insert((due, self.sent), flight);
    }

    /// Hands over what has arrived.
    fn deliver(&mut self, seats: &mut [Seat]) {
        let now = self.time();
        while let Some(entry) = self.wire.first_entry()
            && entry.key().0 <= self.now
        {
            let Flight { part, is_up, bytes } = entry.remove();
            if is_up {
                let path = path_of(part);
                let _ = self.server.handle_datagram(now, arrival(path, &bytes));
            } else if let Some(seat) = seats.iter_mut().find(|seat| seat.part == part) {
                let _ = seat.client.handle_datagram(now, arrival(seat.path, &bytes));
            }
        }
    }

    fn record(&mut self, part: u8, datagram: &[u8]) {
        let entered = self.ledger.record(self.now, u64::from(part), datagram);
        entered.unwrap_or_else(|error| panic!("seed {}: {error}", self.number));
    }

    fn turn(&mut self, seats: &mut [Seat]) {
        let now = self.time();
        let mut buffer = Vec::new();
        self.deliver(seats);
        for seat in seats.iter_mut() {
            seat.client.handle_timeout(now);
            while let Some(transmit) = seat.client.poll_transmit(now, &mut buffer) {
                for datagram in transmit.split(&buffer) {
                    self.launch(seat.part, true, datagram);
                }
            }
            while let Some(event) = seat.client.poll_event() {
                if let ClientEvent::Ended(ending) = event {
                    seat.ending = Some(ending);
                }
            }
        }
        self.deliver(seats);
        self.server.handle_timeout(now);
        self.run_program(now);
        while let Some(transmit) = self.server.poll_transmit(now, &mut buffer) {
            let part = u8::try_from(transmit.path.get() - 1).expect("a path of ours");
            for datagram in transmit.split(&buffer) {
                self.launch(part, false, datagram);
            }
        }
        self.run_program(now);
        self.now += TURN;
    }

    /// Reads what was typed, and echoes it.
    fn run_program(&mut self, now: Time) {
        while let Some(event) = self.server.poll_event() {
            self.has_ended |= matches!(event, ServerEvent::Ended(_));
        }
        while !self.server.pty_input().is_empty() {
            let input = self.server.pty_input().to_vec();
            self.server.pty_taken(now, input.len());
            let taken = self.server.handle_pty_output(now, &input, TURN_WORK_MAX);
            assert_eq!(taken, input.len());
            self.read.extend(input);
        }
    }

    fn run(&mut self, time: Duration, seats: &mut [Seat]) {
        let end = self.now + time;
        while self.now < end {
            self.turn(seats);
        }
    }

    /// Lets less than `millis` milliseconds pass.
    fn run_up_to(&mut self, millis: u64, seats: &mut [Seat]) {
        let time = Duration::from_millis(self.random.below(millis));
        self.run(time, seats);
    }

    fn screen(&self, seat: &Seat) -> String {
        let mut text = String::new();
        for row in 0..seat.client.screen().size().rows() {
            seat.client.screen().row(Row(row)).push_text(&mut text);
            text.push('\n');
        }
        text
    }
}

impl Seat {
    /// Types the next key: a letter that is the client's, then digits that count.
    fn type_key(&mut self, now: Time) {
        let text = format!("{}{:03};", char::from(b'a' + self.part), self.typed);
        self.client.handle_keys(now, text.as_bytes());
        self.typed += 1;
    }
}

fn path_of(part: u8) -> PathId {
    PathId::new(u64::from(part) + 1)
}

fn arrival(path: PathId, bytes: &[u8]) -> Arrival<'_> {
    Arrival {
        path,
        ecn: Ecn::NotCapable,
        bytes,
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "how many seeds to run is said from outside"
)]
fn seeds() -> Range<u64> {
    let wanted = std::env::var("FULMAR_SEEDS").ok();
    wanted
        .and_then(|seeds| Seeds::places(&seeds))
        .unwrap_or(0..20)
}

/// Seeds that once failed: a session was taken while a part of a word was on its way, in a chain of states.
const ONCE_FAILED: [u64; 2] = [1123, 3128];

/// Everything that a client has typed after so many words.
fn words(part: u8, count: u32) -> String {
    (0..count)
        .map(|number| format!("{}{number:03};", char::from(b'a' + part)))
        .collect()
}

/// Checks that the program has read, from each client, a beginning of what that one typed, in order, and
/// nothing of a client after one that took its place; all of it from the last, if that has stayed. A beginning may end
/// within a word: of what waits long, each datagram has as much as there is room for.
fn check_read(world: &World, typed: &[u32], last: Option<u8>) {
    let text = String::from_utf8(world.read.clone()).expect("letters");
    let mut rest = text.as_str();
    for part in 0..CLIENTS {
        let typed = words(part, typed[usize::from(part)]);
        let pairs = rest.bytes().zip(typed.bytes());
        let length = pairs.take_while(|(read, typed)| read == typed).count();
        if Some(part) == last {
            assert_eq!(length, typed.len(), "seed {}: {text}", world.number);
        }
        rest = &rest[length..];
    }
    assert_eq!(rest, "", "seed {}: {text}", world.number);
}

/// Has clients come, type, vanish and detach. Returns those that are there at the end, what each has typed, and the one
/// that has the session; `None` if that has detached.
fn take_turns(world: &mut World) -> (Vec<Seat>, [u32; CLIENTS as usize], Option<u8>) {
    let mut seats = vec![world.seat(0)];
    // A first client that gets no answer ends what it has begun.
    while !seats[0].client.is_connected() {
        world.turn(&mut seats);
    }
    let mut typed = [0; CLIENTS as usize];
    let mut newest = 0;
    for part in 0..CLIENTS {
        if part > 0 {
            assert!(world.attach(part), "seed {}", world.number);
            // A login that dies: its key is given out, and nobody comes.
            let is_settled = seats.last().is_some_and(|seat| seat.client.is_connected());
            if is_settled && world.random.below(4) == 0 {
                world.run_up_to(2000, &mut seats);
                continue;
            }
            // The client before may be gone.
            if world.random.below(3) == 0 {
                seats.clear();
            }
            let seat = world.seat(part);
            seats.push(seat);
            newest = part;
        }
        for _ in 0..world.random.below(40) {
            let now = world.time();
            for seat in seats.iter_mut().filter(|seat| seat.ending.is_none()) {
                seat.type_key(now);
                typed[usize::from(seat.part)] = seat.typed;
            }
            if world.random.below(60) == 0 {
                let dead = Duration::from_millis(world.random.below(14_000));
                world.network.dead_until = world.now + dead;
            }
            world.run_up_to(100, &mut seats);
        }
        let now = world.time();
        let wants_to_leave = world.random.below(3) == 0;
        let last = seats.last_mut().filter(|_| wants_to_leave);
        if let Some(seat) = last.filter(|seat| seat.part == newest && seat.ending.is_none())
            && seat.client.detach(now)
        {
            seat.has_detached = true;
            world.run_up_to(3000, &mut seats);
            // Who was only told that nothing arrives at present, or still waits for that, is in a hurry.
            let now = world.time();
            if let Some(seat) = seats.last_mut().filter(|seat| seat.ending.is_none()) {
                let _ = seat.client.detach(now);
            }
        }
    }
    let last = seats
        .last()
        .filter(|seat| seat.part == newest && !seat.has_detached);
    let last = last.map(|seat| seat.part);
    (seats, typed, last)
}

#[test]
fn clients_take_a_session_from_each_other_and_leave_it_at_random_moments() {
    for number in seeds().chain(ONCE_FAILED) {
        let mut world = World::new(number, number % 4 * 100);
        world.network.delay = world.random.below(150);
        world.network.jitter = world.random.below(60);
        let (mut seats, typed, last) = take_turns(&mut world);
        world.run(Duration::from_secs(60), &mut seats);
        assert!(!world.has_ended, "seed {number}");
        // One that got no answer for too long, and may or may not have been heard, has given up.
        let has_given_up = |seat: &Seat| seat.ending == Some(ClientEnding::NeverConnected);
        let newest_gave_up = seats.last().is_some_and(has_given_up);
        let last = last.filter(|_| !newest_gave_up);
        for seat in &seats {
            let ending = seat.ending;
            match seat.part {
                _ if has_given_up(seat) || newest_gave_up => {}
                _ if seat.has_detached => assert!(matches!(
                    ending,
                    Some(ClientEnding::Detached | ClientEnding::LeftUnheard)
                )),
                part if Some(part) == last => assert_eq!(ending, None, "seed {number}"),
                _ if !seat.client.is_connected() => {}
                _ => assert_eq!(ending, Some(ClientEnding::TakenOver), "seed {number}"),
            }
        }
        check_read(&world, &typed, last);
        if last.is_none() {
            let silence = world.server.unattended_for(world.time());
            assert!(silence.is_some() || newest_gave_up, "seed {number}");
            assert!(world.attach(CLIENTS), "seed {number}");
            let seat = world.seat(CLIENTS);
            seats = vec![seat];
            world.run(Duration::from_secs(30), &mut seats);
        }
        let last = last.unwrap_or(CLIENTS);
        let seat = seats.iter().find(|seat| seat.part == last);
        let seat = seat.expect("the last one");
        let [shown, drawn] = [seat.client.screen(), world.server.screen()]
            .map(|screen| screen.projected(&Vocabulary::STOCK));
        assert!(shown == drawn, "seed {number}");
    }
}

#[test]
fn an_attachment_that_nobody_uses_changes_nothing_and_is_dropped() {
    let mut world = World::new(1, 0);
    let mut seats = vec![world.seat(0)];
    world.run(Duration::from_secs(1), &mut seats);
    assert!(world.attach(1));
    world.run(Duration::from_secs(61), &mut seats);
    let late = world.seat(1);
    seats.push(late);
    let now = world.time();
    seats[1].type_key(now);
    seats[0].type_key(now);
    world.run(Duration::from_secs(2), &mut seats);
    assert_eq!(world.read, b"a000;");
    assert_eq!(seats[0].ending, None);
    assert!(!seats[1].client.is_connected());
}

#[test]
fn whoever_attaches_has_the_whole_screen_and_an_old_client_is_not_heard_any_more() {
    let mut world = World::new(2, 0);
    let mut seats = vec![world.seat(0)];
    world.run(Duration::from_secs(1), &mut seats);
    seats[0].type_key(world.time());
    world.run(Duration::from_secs(1), &mut seats);

    // The client sleeps while another one takes its session and leaves it for an hour.
    let mut asleep = seats.remove(0);
    assert!(world.attach(1));
    let mut seats = vec![world.seat(1)];
    world.run(Duration::from_secs(3600), &mut seats);
    assert!(world.screen(&seats[0]).starts_with("a000;"));

    asleep.type_key(world.time());
    seats.push(asleep);
    seats[0].type_key(world.time());
    world.run(Duration::from_secs(5), &mut seats);
    assert_eq!(world.read, b"a000;b000;");
    assert_eq!(seats[0].ending, None);
    assert_eq!(seats[1].ending, Some(ClientEnding::TakenOver));
    assert_eq!(seats[1].client.taken_by(), Some("client 1"));
    assert_eq!(seats[0].client.taken_by(), None);
}

#[test]
fn nothing_that_an_old_client_has_sent_counts_when_it_is_sent_again() {
    let mut world = World::new(5, 0);
    let mut seats = vec![world.seat(0)];
    // Recorded on the way, and lost.
    world.run(Duration::from_secs(1), &mut seats);
    seats[0].type_key(world.time());
    let mut recorded = Vec::new();
    let mut buffer = Vec::new();
    for _ in 0..20 {
        let now = world.time();
        seats[0].client.handle_timeout(now);
        while let Some(transmit) = seats[0].client.poll_transmit(now, &mut buffer) {
            recorded.extend(transmit.split(&buffer).map(<[u8]>::to_vec));
        }
        world.now += Duration::from_millis(100);
    }
    assert!(recorded.len() > 2, "{}", recorded.len());
    assert!(world.attach(1));
    let mut seats = vec![world.seat(1)];
    world.run(Duration::from_secs(1), &mut seats);
    assert!(seats[0].client.is_connected());
    for _ in 0..3 {
        // While the old client is being told, and long after that.
        for datagram in &recorded {
            let arrival = arrival(PathId::new(1), datagram);
            let _ = world.server.handle_datagram(world.time(), arrival);
        }
        world.run(Duration::from_secs(60), &mut seats);
    }
    seats[0].type_key(world.time());
    world.run(Duration::from_secs(1), &mut seats);
    assert_eq!(world.read, b"b000;");
    assert_eq!(seats[0].ending, None);
}

#[test]
fn a_client_that_is_heard_and_gets_no_answer_does_not_end_what_it_took() {
    let mut world = World::new(8, 0);
    let mut seats = vec![world.seat(0)];
    world.run(Duration::from_secs(1), &mut seats);
    assert!(world.attach(1));
    // Its datagrams arrive, and nothing comes back: it gives up after 15 s, and says so.
    let mut deaf = world.seat(1);
    let mut buffer = Vec::new();
    for _ in 0..3000 {
        let now = world.time();
        deaf.client.handle_timeout(now);
        while let Some(transmit) = deaf.client.poll_transmit(now, &mut buffer) {
            for datagram in transmit.split(&buffer) {
                world.launch(1, true, datagram);
            }
        }
        while let Some(event) = deaf.client.poll_event() {
            if let ClientEvent::Ended(ending) = event {
                deaf.ending = Some(ending);
            }
        }
        world.turn(&mut seats);
    }
    assert_eq!(deaf.ending, Some(ClientEnding::NeverConnected));
    assert_eq!(seats[0].ending, Some(ClientEnding::TakenOver));
    assert!(!world.has_ended);
    assert!(world.attach(2));
    let mut seats = vec![world.seat(2)];
    world.run(Duration::from_secs(2), &mut seats);
    seats[0].type_key(world.time());
    world.run(Duration::from_secs(1), &mut seats);
    assert_eq!(world.read, b"c000;");
}

#[test]
fn a_thousand_attachments_that_nobody_uses_leave_one_and_change_nothing() {
    let mut world = World::new(9, 0);
    let mut seats = vec![world.seat(0)];
    world.run(Duration::from_secs(1), &mut seats);
    for _ in 0..1000 {
        assert!(world.attach(1));
        world.turn(&mut seats);
    }
    seats[0].type_key(world.time());
    let used = world.seat(1);
    world.run(Duration::from_secs(1), &mut seats);
    assert_eq!((&*world.read, seats[0].ending), (&b"a000;"[..], None));
    seats.push(used);
    world.run(Duration::from_secs(2), &mut seats);
    assert_eq!(seats[0].ending, Some(ClientEnding::TakenOver));
    assert_eq!(seats[1].ending, None);
}

#[test]
fn a_session_that_was_left_serves_on_and_ends_with_its_program() {
    let mut world = World::new(6, 0);
    let mut seats = vec![world.seat(0)];
    world.run(Duration::from_secs(1), &mut seats);
    seats[0].type_key(world.time());
    assert!(seats[0].client.detach(world.time()));
    world.run(Duration::from_secs(2), &mut seats);
    assert_eq!(seats[0].ending, Some(ClientEnding::Detached));
    assert_eq!(world.read, b"a000;");
    let now = world.time();
    assert!(world.server.unattended_for(now).is_some());
    let taken = world.server.handle_pty_output(now, b"alone", TURN_WORK_MAX);
    assert_eq!(taken, 5);
    world.run(Duration::from_secs(60), &mut []);
    assert!(!world.has_ended);
    world.server.handle_pty_closed(world.time());
    world.run(Duration::from_secs(1), &mut []);
    assert!(world.has_ended);
}

#[test]
fn what_happens_once_is_told_to_one_client() {
    let mut world = World::new(9, 0);
    let happens = |world: &mut World, bytes: &[u8]| {
        let taken = world
            .server
            .handle_pty_output(world.time(), bytes, TURN_WORK_MAX);
        assert_eq!(taken, bytes.len());
    };
    let told = |seat: &Seat| {
        let screen = seat.client.screen();
        (screen.bell_count(), screen.clipboard().to_owned())
    };
    let mut seats = vec![world.seat(0)];
    world.run(Duration::from_secs(1), &mut seats);
    happens(&mut world, b"\x07\x1b]52;c;b25l\x07");
    world.run(Duration::from_secs(1), &mut seats);
    assert_eq!(told(&seats[0]), (1, "b25l".to_owned()));

    // It has rung for the client before, and its clipboard is another machine's.
    assert!(world.attach(1));
    let mut seats = vec![world.seat(1)];
    world.run(Duration::from_secs(1), &mut seats);
    assert_eq!(told(&seats[0]), (0, String::new()));

    // Nor is anybody told what has happened between a login and the client's first word, for another heard that.
    assert!(world.attach(4));
    happens(&mut world, b"\x07\x1b]52;c;eWVz\x07");
    world.run(Duration::from_secs(1), &mut seats);
    assert_eq!(told(&seats[0]), (1, "eWVz".to_owned()));
    let mut seats = vec![world.seat(4)];
    world.run(Duration::from_secs(1), &mut seats);
    assert_eq!(told(&seats[0]), (0, String::new()));

    // What happens while nobody is there waits for whoever comes.
    assert!(seats[0].client.detach(world.time()));
    world.run(Duration::from_secs(2), &mut seats);
    happens(&mut world, b"\x07\x1b]52;c;dHdv\x07");
    for (part, wanted) in [(2, (1, "dHdv")), (3, (0, ""))] {
        assert!(world.attach(part));
        let mut seats = vec![world.seat(part)];
        world.run(Duration::from_secs(1), &mut seats);
        assert_eq!(told(&seats[0]), (wanted.0, wanted.1.to_owned()));
        assert!(seats[0].client.detach(world.time()));
        world.run(Duration::from_secs(2), &mut seats);
    }
}

#[test]
fn a_client_that_has_said_goodbye_is_away_at_once() {
    let mut world = World::new(7, 0);
    let mut seats = vec![world.seat(0)];
    world.run(Duration::from_secs(1), &mut seats);
    assert!(seats[0].client.detach(world.time()));
    // The answer to it may still be asked for again.
    while seats[0].ending.is_none() {
        world.run(Duration::from_millis(5), &mut seats);
    }
    assert_eq!(seats[0].ending, Some(ClientEnding::Detached));
    assert!(world.server.unattended_for(world.time()).is_some());
}

#[test]
fn a_client_that_comes_after_another_has_taken_its_session_is_told() {
    let mut world = World::new(8, 0);
    let first = world.seat(0);
    assert!(world.attach(1));
    let mut seats = vec![world.seat(1)];
    world.run(Duration::from_secs(2), &mut seats);
    assert!(seats[0].client.is_connected());
    seats.push(first);
    world.run(Duration::from_secs(5), &mut seats);
    assert_eq!(seats[0].ending, None);
    assert_eq!(seats[1].ending, Some(ClientEnding::TakenOver));
}

/// Source: docs/threat-model.md §6, clients that are told that theirs was taken.
#[test]
fn of_five_clients_that_sleep_the_last_four_are_told_when_they_wake_up() {
    let mut world = World::new(9, 0);
    let mut asleep = Vec::new();
    let mut awake = vec![world.seat(0)];
    world.run(Duration::from_secs(2), &mut awake);
    for part in 1..=5 {
        assert!(world.attach(part));
        asleep.append(&mut awake);
        awake.push(world.seat(part));
        world.run(Duration::from_secs(2), &mut awake);
    }
    asleep.append(&mut awake);
    world.run(Duration::from_secs(5), &mut asleep);
    let told: Vec<_> = asleep.iter().map(|seat| seat.ending).collect();
    let taken = Some(ClientEnding::TakenOver);
    assert_eq!(told, [None, taken, taken, taken, taken, None]);
}

#[test]
fn a_session_that_would_end_is_not_left() {
    let mut world = World::new(7, 0);
    let mut seats = vec![world.seat(0)];
    assert!(!seats[0].client.detach(world.time()));
    world.run(Duration::from_secs(1), &mut seats);
    assert_eq!(seats[0].ending, None);
    let mut config = ServerConfig::new(key(0), seed(7, 100));
    config.agreement = Some(without_attach());
    world.server = Server::new(world.time(), config);
    let mut config = ClientConfig::new(key(0), seed(7, 50));
    config.agreement = Some(without_attach());
    seats[0].client = Client::new(world.time(), config);
    let path = seats[0].path;
    seats[0].client.handle_path_opened(world.time(), path);
    world.ledger = NonceLedger::new();
    world.run(Duration::from_secs(1), &mut seats);
    assert!(seats[0].client.is_connected());
    assert!(!seats[0].client.detach(world.time()));
}

#[test]
fn an_agreement_that_is_not_kept_takes_nothing() {
    let mut world = World::new(3, 0);
    let mut seats = vec![world.seat(0)];
    world.run(Duration::from_secs(1), &mut seats);
    assert!(world.attach(1));
    let mut config = ClientConfig::new(key(1), seed(3, 1));
    config.agreement = Some(agreement(2));
    let mut altered = world.seat(1);
    altered.client = Client::new(world.time(), config);
    altered
        .client
        .handle_path_opened(world.time(), altered.path);
    seats.push(altered);
    world.run(Duration::from_secs(5), &mut seats);
    seats[0].type_key(world.time());
    world.run(Duration::from_secs(1), &mut seats);
    assert_eq!(world.read, b"a000;");
    assert_eq!(seats[0].ending, None);
    assert!(!world.has_ended);
}

#[test]
fn what_one_client_began_to_type_is_not_finished_by_another() {
    let mut world = World::new(4, 0);
    let mut seats = vec![world.seat(0)];
    world.run(Duration::from_secs(1), &mut seats);
    seats[0].client.handle_keys(world.time(), b"\x1b");
    world.run(Duration::from_secs(1), &mut seats);
    assert!(world.attach(1));
    let second = world.seat(1);
    seats.push(second);
    seats[1].client.handle_keys(world.time(), b"OA");
    world.run(Duration::from_secs(1), &mut seats);
    // As one sequence it would be an arrow key, and be written as ESC [ A.
    assert_eq!(world.read, b"\x1bOA");
}
