use fulmar_base::Ecn;
use fulmar_datagram::{Direction, Opener, Sealer};
use fulmar_transport::limits::TURN_WORK_MAX;
use fulmar_transport::{Endpoint, EndpointConfig, Role};

use super::*;
use crate::host_screen::HostScreen;
use crate::random::SeededNoise;
use crate::user_stream::UserStream;

const PATH: PathId = PathId::new(1);

fn key() -> Key {
    Key::from_base64("c68K8iLyuCr1oEM7Hszyjg").unwrap()
}

fn ms(millis: u64) -> Time {
    Time::from_origin(Duration::from_millis(millis))
}

/// A server, and the bare endpoint of a client.
struct Pair {
    server: Server,
    client: Endpoint<UserStream, HostScreen>,
    stream: UserStream,
    buffer: Vec<u8>,
}

impl Pair {
    fn new(configure: impl FnOnce(&mut ServerConfig)) -> Pair {
        let mut config = ServerConfig::new(key(), [2; 32]);
        configure(&mut config);
        let stream = UserStream::writing();
        let mut client = Endpoint::new(
            ms(0),
            EndpointConfig {
                role: Role::Client,
                datagram_bytes: 1252,
                agreement: None,
            },
            Sealer::new(key(), Direction::ToServer),
            Opener::new(&key(), Direction::ToClient),
            stream.clone(),
            HostScreen::blank(Size::default()),
            Box::new(SeededNoise::new([1; 32])),
        );
        client.handle_path_opened(ms(0), PATH);
        Pair {
            server: Server::new(ms(0), config),
            client,
            stream,
            buffer: Vec::new(),
        }
    }

    /// A pair whose client has come.
    fn met(configure: impl FnOnce(&mut ServerConfig)) -> Pair {
        let mut pair = Pair::new(configure);
        pair.resize(ms(0), 100, 30);
        pair.exchange(ms(0));
        pair.events();
        pair
    }

    fn resize(&mut self, now: Time, columns: u16, rows: u16) {
        self.stream.push_resize(Size::new(rows, columns).unwrap());
        self.client.set_local(now, self.stream.clone());
    }

    fn type_keys(&mut self, now: Time, keys: &[u8]) {
        self.stream.push_keys(keys);
        self.client.set_local(now, self.stream.clone());
    }

    fn exchange(&mut self, now: Time) {
        self.client.handle_timeout(now);
        self.server.handle_timeout(now);
        for _ in 0..8 {
            while let Some(transmit) = self.client.poll_transmit(now, &mut self.buffer) {
                for bytes in transmit.split(&self.buffer) {
                    let _ = self.server.handle_datagram(now, arrival(bytes));
                }
            }
            while let Some(transmit) = self.server.poll_transmit(now, &mut self.buffer) {
                for bytes in transmit.split(&self.buffer) {
                    let _ = self.client.handle_datagram(now, arrival(bytes));
                }
            }
        }
    }

    fn events(&mut self) -> Vec<ServerEvent> {
        std::iter::from_fn(|| self.server.poll_event()).collect()
    }
}

fn arrival(bytes: &[u8]) -> Arrival<'_> {
    Arrival {
        path: PATH,
        ecn: Ecn::NotCapable,
        bytes,
    }
}

fn size(columns: u16, rows: u16) -> Size {
    Size::new(rows, columns).unwrap()
}

#[test]
fn the_program_starts_with_the_first_state_and_its_window() {
    let mut pair = Pair::new(|_| ());
    pair.resize(ms(0), 100, 30);
    pair.type_keys(ms(0), b"early");
    assert_eq!(pair.events(), []);
    pair.exchange(ms(1));
    assert_eq!(
        pair.events(),
        [
            ServerEvent::ClientAt { path: PATH },
            ServerEvent::StartShell {
                size: size(100, 30)
            }
        ]
    );
    assert_eq!(pair.server.pty_input(), b"early");
}

#[test]
fn a_text_that_no_program_wrote_gets_no_answers() {
    let mut pair = Pair::met(|_| ());
    pair.server.handle_greeting(ms(1), b"hello\x1b[6n\x1b[c");
    assert_eq!(pair.server.pty_input(), b"");
    let _ = pair
        .server
        .handle_pty_output(ms(2), b"\x1b[6n", TURN_WORK_MAX);
    assert_eq!(pair.server.pty_input(), b"\x1b[1;6R");
}

#[test]
fn later_windows_resize_the_pty_and_a_hail_of_them_is_slowed_down() {
    let mut pair = Pair::met(|_| ());
    pair.resize(ms(300), 90, 30);
    pair.exchange(ms(301));
    let first = ServerEvent::ResizePty { size: size(90, 30) };
    assert_eq!(pair.events(), [first]);
    // Sooner than any client of stock sends its states.
    for columns in 100..120 {
        let resize = crate::UserEvent::Resize(size(columns, 25).into());
        let number = StateNumber::new(columns.into());
        pair.server
            .session
            .handle_events(ms(310), number, &[resize]);
        pair.server.settle(ms(310));
    }
    let applied = pair.events().len();
    assert!((1..20).contains(&applied), "{applied} of 20 at once");
    pair.server.handle_timeout(ms(400));
    let last = ServerEvent::ResizePty {
        size: size(119, 25),
    };
    assert_eq!(pair.events(), [last]);
}

#[test]
fn what_the_program_writes_reaches_the_client_with_the_echo_ack() {
    let mut pair = Pair::met(|_| ());
    pair.type_keys(ms(300), b"k");
    pair.exchange(ms(301));
    let input = pair.server.pty_input().len();
    pair.server.pty_taken(ms(302), input);
    let _ = pair.server.handle_pty_output(ms(303), b"k", TURN_WORK_MAX);
    let (echo_at, _) = pair.server.session.due().unwrap();
    assert_eq!(echo_at, ms(352));
    pair.exchange(ms(352));
    pair.exchange(ms(700));
    let mut text = String::new();
    let shown = pair.client.remote();
    shown
        .screen()
        .row(fulmar_terminal::Row(0))
        .push_text(&mut text);
    assert_eq!(text, "k");
    assert_eq!(shown.echo_ack(), pair.client.acknowledged_number());
}

#[test]
fn a_signal_without_a_client_ends_at_once() {
    let mut pair = Pair::new(|_| ());
    pair.server.request_exit(ms(10), ExitRequest::Now);
    assert_eq!(pair.events(), [ServerEvent::Ended(ServerEnding::Asked)]);
    assert_eq!(pair.server.poll_timeout(), None);
    assert_eq!(pair.server.pty_input(), b"");
}

#[test]
fn a_signal_says_goodbye_and_a_second_one_does_not_wait() {
    let mut pair = Pair::met(|_| ());
    pair.server.request_exit(ms(300), ExitRequest::Now);
    assert_eq!(pair.events(), []);
    pair.server.request_exit(ms(310), ExitRequest::Now);
    assert_eq!(pair.events(), [ServerEvent::Ended(ServerEnding::Asked)]);

    let mut pair = Pair::met(|_| ());
    pair.server.request_exit(ms(300), ExitRequest::Now);
    pair.exchange(ms(600));
    pair.exchange(ms(900));
    assert_eq!(pair.events(), [ServerEvent::Ended(ServerEnding::Asked)]);
}

#[test]
fn a_request_for_the_idle_is_obeyed_only_after_the_silence_asked_for() {
    let idle = |signal_timeout, after| {
        let mut pair = Pair::met(|config| config.signal_timeout = signal_timeout);
        pair.server.request_exit(ms(after), ExitRequest::IfIdle);
        pair.server.phase == Phase::Closing(ServerEnding::Asked)
    };
    assert!(idle(None, 600));
    assert!(idle(Some(Duration::ZERO), 600));
    assert!(!idle(Some(Duration::from_secs(3)), 600));
    assert!(idle(Some(Duration::from_secs(3)), 4000));
}

#[test]
fn the_last_screen_goes_out_with_the_end_of_the_program() {
    let mut pair = Pair::met(|_| ());
    // In the middle of a frame that will never end.
    let _ = pair
        .server
        .handle_pty_output(ms(300), b"\x1b[?2026hlast words", TURN_WORK_MAX);
    pair.server.handle_pty_closed(ms(301));
    assert_eq!(pair.server.pty_input(), b"");
    pair.exchange(ms(600));
    pair.exchange(ms(900));
    let mut text = String::new();
    let shown = pair.client.remote().screen();
    shown.row(fulmar_terminal::Row(0)).push_text(&mut text);
    assert_eq!(text, "last words");
    assert_eq!(
        pair.events(),
        [ServerEvent::Ended(ServerEnding::ProgramEnded)]
    );
}

#[test]
fn the_end_of_a_program_that_nobody_watches_waits_ten_seconds() {
    let mut pair = Pair::new(|_| ());
    pair.server.handle_pty_closed(ms(1000));
    pair.server.handle_timeout(ms(10_999));
    assert_eq!(pair.events(), []);
    pair.server.handle_timeout(ms(11_000));
    assert_eq!(
        pair.events(),
        [ServerEvent::Ended(ServerEnding::ProgramEnded)]
    );
}

#[test]
fn silence_may_end_a_session_and_is_said_once() {
    let mut pair = Pair::met(|config| config.network_timeout = Some(Duration::from_secs(4)));
    pair.server.handle_timeout(ms(4001));
    let mut sent = 0;
    while pair
        .server
        .poll_transmit(ms(4001), &mut pair.buffer)
        .is_some()
    {
        sent += 1;
    }
    assert_eq!(sent, 1);
    assert_eq!(
        pair.events(),
        [ServerEvent::Ended(ServerEnding::ClientAway)]
    );
}

#[test]
fn answers_to_the_program_are_capped() {
    let mut pair = Pair::met(|_| ());
    for now in 0..3000 {
        let _ =
            pair.server
                .handle_pty_output(ms(300 + now), &b"\x1b[5n".repeat(100), TURN_WORK_MAX);
    }
    assert!(pair.server.pty_input().len() <= 64 * 1024);
    assert!(pair.server.dropped_replies() > 0);
}

#[test]
fn no_new_states_are_taken_while_the_program_does_not_read() {
    let mut pair = Pair::met(|_| ());
    pair.server.session.handle_events(
        ms(1),
        StateNumber::new(2),
        &[crate::UserEvent::Keys(vec![b'x'; 16 << 20])],
    );
    pair.server.handle_timeout(ms(1));
    pair.type_keys(ms(300), b"held back");
    pair.exchange(ms(301));
    let mut taken = 0;
    while taken < 16 << 20 {
        let count = pair.server.pty_input().len();
        assert!(count > 0);
        pair.server.pty_taken(ms(400), count);
        taken += count;
    }
    assert_eq!(pair.server.pty_input(), b"");
    for now in [600, 900, 1200, 2000] {
        pair.exchange(ms(now));
    }
    assert_eq!(pair.server.pty_input(), b"held back");
}
