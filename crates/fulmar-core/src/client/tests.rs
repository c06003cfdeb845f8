use std::time::Duration;

use fulmar_base::PathId;
use fulmar_datagram::Key;

use super::*;
use crate::client_lifecycle::{ExitCause, Phase};
use crate::connection::{Connection, ConnectionConfig};
use crate::user_stream::UserEvent;

const PATH: PathId = PathId::new(1);

fn key() -> Key {
    Key::from_base64("c68K8iLyuCr1oEM7Hszyjg").unwrap()
}

fn ms(millis: u64) -> Time {
    Time::from_origin(Duration::from_millis(millis))
}

/// A client, and the server's half of its connection.
struct Pair {
    client: Client,
    server: Connection,
    buffer: Vec<u8>,
}

impl Pair {
    fn new(configure: impl FnOnce(&mut ClientConfig)) -> Pair {
        let mut config = ClientConfig::new(key(), [1; 32]);
        configure(&mut config);
        let mut client = Client::new(ms(0), config);
        client.handle_path_opened(ms(0), PATH);
        let connection = ConnectionConfig {
            agreement: None,
            blank: HostScreen::blank(Size::default()),
            datagram_bytes: 1252,
            seed: [2; 32],
        };
        Pair {
            client,
            server: Connection::new(ms(0), key(), connection),
            buffer: Vec::new(),
        }
    }

    fn own() -> Pair {
        Pair::new(|_| ())
    }

    /// Lets both ends say what they have to say, and returns what has newly been typed.
    fn exchange(&mut self, now: Time) -> Vec<UserEvent> {
        self.client.handle_timeout(now);
        self.server.endpoint.handle_timeout(now);
        for _ in 0..8 {
            while let Some(transmit) = self.client.poll_transmit(now, &mut self.buffer) {
                for bytes in transmit.split(&self.buffer) {
                    let _ = self.server.endpoint.handle_datagram(now, arrival(bytes));
                }
            }
            while let Some(transmit) = self.server.endpoint.poll_transmit(now, &mut self.buffer) {
                for bytes in transmit.split(&self.buffer) {
                    let _ = self.client.handle_datagram(now, arrival(bytes));
                }
            }
        }
        self.server.take_events()
    }

    fn events(&mut self) -> Vec<ClientEvent> {
        std::iter::from_fn(|| self.client.poll_event()).collect()
    }

    fn drawn(&mut self, now: Time) -> String {
        let mut out = Vec::new();
        self.client.draw(now, &mut out);
        String::from_utf8(out).unwrap()
    }
}

fn arrival(bytes: &[u8]) -> Arrival<'_> {
    Arrival {
        path: PATH,
        ecn: fulmar_base::Ecn::NotCapable,
        bytes,
    }
}

#[test]
fn the_first_event_is_the_windows_size() {
    let mut pair = Pair::new(|config| config.size = Size::new(50, 132).unwrap());
    pair.client.handle_keys(ms(0), b"early");
    let size = Size::new(50, 132).unwrap();
    assert_eq!(
        pair.exchange(ms(1)),
        [
            UserEvent::Resize(size.into()),
            UserEvent::Keys(b"early".to_vec())
        ]
    );
}

#[test]
fn a_window_that_keeps_its_size_is_repainted_and_not_told() {
    let mut pair = Pair::own();
    pair.exchange(ms(0));
    pair.drawn(ms(0));
    pair.client.handle_resize(ms(10), Size::default());
    assert!(pair.drawn(ms(10)).contains("\x1b[J"), "painted anew");
    assert_eq!(pair.exchange(ms(300)), []);
}

#[test]
fn control_l_is_typed_and_repaints() {
    let mut pair = Pair::own();
    pair.exchange(ms(0));
    pair.drawn(ms(0));
    assert_eq!(pair.drawn(ms(1)), "");
    pair.client.handle_keys(ms(2), b"\x0c");
    assert!(pair.drawn(ms(2)).contains("\x1b[J"));
    assert_eq!(pair.exchange(ms(300)), [UserEvent::Keys(vec![0x0c])]);
}

#[test]
fn suspending_draws_nothing_until_resumed() {
    let mut pair = Pair::own();
    pair.exchange(ms(0));
    assert!(pair.drawn(ms(0)).contains("\x1b[?1h"));
    pair.client.handle_keys(ms(10), b"a\x1e\x1ab");
    assert_eq!(pair.events(), [ClientEvent::Suspend]);
    let mut out = Vec::new();
    pair.client.leave(&mut out);
    assert!(String::from_utf8(out).unwrap().contains("\x1b[?1l"));
    assert_eq!(pair.drawn(ms(20)), "");
    pair.client.handle_resumed(ms(90_000));
    assert!(pair.drawn(ms(90_000)).contains("\x1b[?1h"));
    assert_eq!(pair.exchange(ms(90_001)), [UserEvent::Keys(b"ab".to_vec())]);
}

#[test]
fn help_and_link_information_are_shown_and_go_away() {
    let mut pair = Pair::own();
    pair.exchange(ms(0));
    pair.drawn(ms(0));
    pair.client.handle_keys(ms(10), b"\x1e");
    assert!(pair.drawn(ms(10)).contains(". to quit"));
    pair.client.handle_keys(ms(20), b"i");
    assert!(pair.drawn(ms(20)).contains("round trip"));
    pair.client.handle_keys(ms(30), b"x");
    assert_ne!(pair.drawn(ms(30)), "");
    let keys = pair.exchange(ms(300));
    assert_eq!(keys, [UserEvent::Keys(b"x".to_vec())]);
}

#[test]
fn quitting_tells_the_server_and_drops_what_is_typed_afterwards() {
    let mut pair = Pair::own();
    pair.exchange(ms(0));
    pair.client.handle_keys(ms(10), b"a\x1e.b");
    pair.client.handle_keys(ms(11), b"c");
    let keys = pair.exchange(ms(300));
    assert_eq!(keys, [UserEvent::Keys(b"a".to_vec())]);
    assert_eq!(pair.events(), [ClientEvent::Ended(ClientEnding::UserQuit)]);
    assert_eq!(pair.client.poll_timeout(), None);
}

#[test]
fn why_a_session_cannot_be_left_depends_on_its_server_having_answered() {
    let mut pair = Pair::own();
    pair.client.handle_keys(ms(10), b"\x1ed");
    assert!(pair.drawn(ms(10)).contains("once its server has answered"));
    pair.exchange(ms(300));
    pair.drawn(ms(300));
    pair.client.handle_keys(ms(310), b"\x1ed");
    assert!(pair.drawn(ms(310)).contains("without its client"));
}

#[test]
fn quitting_twice_ends_at_once() {
    let mut pair = Pair::own();
    pair.exchange(ms(0));
    pair.client.handle_keys(ms(10), b"\x1e.");
    assert_eq!(pair.events(), []);
    assert!(pair.drawn(ms(10)).contains("closing the session"));
    pair.client.handle_keys(ms(20), b"\x1e.");
    assert_eq!(
        pair.events(),
        [ClientEvent::Ended(ClientEnding::Unanswered)]
    );
}

#[test]
fn quitting_before_anything_could_be_sent_ends_at_once() {
    let mut pair = Pair::own();
    while pair.client.poll_transmit(ms(0), &mut pair.buffer).is_some() {
        let unreachable = SendError::Unreachable;
        pair.client.handle_send_error(ms(0), PATH, unreachable);
    }
    pair.client.handle_keys(ms(10), b"\x1e.");
    assert_eq!(
        pair.events(),
        [ClientEvent::Ended(ClientEnding::NeverConnected)]
    );
}

#[test]
fn what_nobody_was_sent_could_not_be_heard_however_much_was_typed() {
    let mut pair = Pair::own();
    let mut failures = 0;
    for second in 0..40 {
        pair.client.handle_keys(ms(second * 1000), b"x");
        while pair
            .client
            .poll_transmit(ms(second * 1000), &mut pair.buffer)
            .is_some()
        {
            failures += 1;
            // An unproven address gets so many.
            if failures <= 20 {
                let unreachable = SendError::Unreachable;
                pair.client
                    .handle_send_error(ms(second * 1000), PATH, unreachable);
            } else {
                pair.client.handle_withheld();
            }
        }
    }
    assert!(failures > 30, "{failures}");
    let why = pair.client.unsent_because();
    assert_eq!(why, Some(SendError::Unreachable));
}

#[test]
fn quitting_a_server_that_never_answered_says_so() {
    let mut pair = Pair::own();
    while pair.client.poll_transmit(ms(0), &mut pair.buffer).is_some() {}
    for millis in [10, 20] {
        pair.client.handle_keys(ms(millis), b"\x1e.");
    }
    assert_eq!(
        pair.events(),
        [ClientEvent::Ended(ClientEnding::NeverConnected)]
    );
}

#[test]
fn a_goodbye_to_a_server_that_never_answered_takes_a_second() {
    let mut pair = Pair::own();
    while pair.client.poll_transmit(ms(0), &mut pair.buffer).is_some() {}
    pair.client.handle_keys(ms(10), b"\x1e.");
    assert_eq!(pair.client.connect_limit(), Some(ms(1010)));
    pair.client.handle_timeout(ms(1010));
    let ended = ClientEvent::Ended(ClientEnding::NeverConnected);
    assert_eq!(pair.events(), [ended]);
}

#[test]
fn a_signal_ends_the_session_as_the_user_would() {
    let mut pair = Pair::own();
    pair.exchange(ms(0));
    pair.client.request_exit(ms(10), ExitCause::Signal);
    pair.exchange(ms(300));
    assert_eq!(
        pair.events(),
        [ClientEvent::Ended(ClientEnding::Asked(ExitCause::Signal))]
    );
}

#[test]
fn the_limit_for_the_first_answer_does_not_count_sleep() {
    let mut pair = Pair::own();
    assert_eq!(pair.client.connect_limit(), Some(ms(15_000)));
    let slept = Duration::from_secs(3600);
    pair.client.handle_hint(ms(3_600_000), Hint::Woke { slept });
    pair.client.handle_timeout(ms(3_600_000));
    assert_eq!(pair.client.lifecycle.phase, Phase::Open);
    pair.client.handle_timeout(ms(3_615_000));
    let never = Phase::Closing(ClientEnding::NeverConnected);
    assert_eq!(pair.client.lifecycle.phase, never);
}

#[test]
fn only_a_server_that_may_hear_us_is_told_that_we_give_up() {
    for (is_heard, ends_at_once) in [(None, false), (Some(false), true), (Some(true), false)] {
        let mut pair = Pair::new(|config| config.server_reports = is_heard.is_some());
        if is_heard == Some(true) {
            pair.client.note_heard();
        }
        while pair.client.poll_transmit(ms(0), &mut pair.buffer).is_some() {}
        pair.client.handle_timeout(ms(15_000));
        let ended = ClientEvent::Ended(ClientEnding::NeverConnected);
        assert_eq!(pair.events().contains(&ended), ends_at_once, "{is_heard:?}");
    }
}

#[test]
fn errors_of_sending_are_told_when_they_last() {
    let mut pair = Pair::own();
    pair.exchange(ms(0));
    pair.drawn(ms(0));
    let unreachable = SendError::Unreachable;
    pair.client.handle_send_error(ms(100), PATH, unreachable);
    assert_eq!(pair.drawn(ms(100)), "");
    let old = PathId::new(7);
    pair.client.handle_send_error(ms(350), old, unreachable);
    assert_eq!(pair.drawn(ms(350)), "", "not where we send");
    pair.client.handle_send_error(ms(351), PATH, unreachable);
    let drawn = pair.drawn(ms(351));
    assert!(drawn.contains("no network leads to the server"), "{drawn}");
}

#[test]
fn reports_are_told_when_the_server_does_not_answer_and_not_before() {
    let mut pair = Pair::own();
    pair.exchange(ms(0));
    pair.client.handle_keys(ms(10), b"x");
    for millis in [300, 500, 700] {
        pair.exchange(ms(millis));
    }
    pair.drawn(ms(700));
    for millis in (710..3000).step_by(10) {
        let error = [SendError::Refused, SendError::TooBig][millis as usize / 10 % 2];
        assert!(!pair.client.handle_report(ms(millis), PATH, error));
        assert_eq!(pair.drawn(ms(millis)), "");
    }
    for millis in [8000, 8300] {
        let error = SendError::Refused;
        assert!(pair.client.handle_report(ms(millis), PATH, error));
    }
    let drawn = pair.drawn(ms(8300));
    assert!(drawn.contains("UDP is rejected"), "{drawn}");
}

#[test]
fn a_firewall_that_refuses_is_named_with_the_address() {
    for is_there in [false, true] {
        for error in [SendError::Unreachable, SendError::Forbidden] {
            let label = "192.0.2.7, UDP port 60001";
            let mut pair = Pair::new(|config| config.server_label = label.to_owned());
            if is_there {
                pair.exchange(ms(0));
            }
            for millis in [8000, 8300] {
                assert!(pair.client.handle_report(ms(millis), PATH, error));
            }
            let drawn = pair.drawn(ms(8300));
            let told = format!("a firewall or router refuses {label} (Ctrl-^ . quits)");
            assert!(drawn.contains(&told), "{drawn}");
        }
    }
}

#[test]
fn who_rejects_datagrams_is_told_only_of_a_server_that_is_here() {
    let told = |is_server_local, is_there: bool| {
        let mut pair = Pair::new(|config| config.is_server_local = is_server_local);
        if is_there {
            pair.exchange(ms(0));
        }
        for millis in [8000, 8300] {
            let error = SendError::Refused;
            pair.client.handle_report(ms(millis), PATH, error);
        }
        (pair.drawn(ms(8300)), pair.client.is_server_gone())
    };
    let (drawn, is_gone) = told(false, false);
    assert!(
        drawn.contains("UDP is rejected: a firewall, or a server that has gone"),
        "{drawn}"
    );
    assert!(!is_gone);
    let (drawn, is_gone) = told(true, false);
    assert!(
        drawn.contains("nothing listens at the server's port"),
        "{drawn}"
    );
    assert!(!is_gone);
    let (drawn, is_gone) = told(true, true);
    assert!(drawn.contains("the server is gone"), "{drawn}");
    assert!(is_gone);
    let (drawn, is_gone) = told(false, true);
    assert!(
        drawn.contains("UDP is rejected: a firewall, or a server that has gone"),
        "{drawn}"
    );
    assert!(is_gone);
}

#[test]
fn a_key_that_closes_a_panel_is_not_typed_and_every_other_one_is() {
    for command in [&b"\x1ei"[..], b"\x1e?"] {
        for (keys, is_typed) in [
            (&b"q"[..], false),
            (b"\x1b", false),
            (b" ", false),
            (b"\r", false),
            (b"x", true),
            (b"\x1b[A", true),
            (b"quit\r", true),
        ] {
            let mut pair = Pair::own();
            pair.exchange(ms(0));
            pair.client.handle_keys(ms(300), command);
            assert!(pair.drawn(ms(300)).contains("closes this"));
            pair.client.handle_keys(ms(400), keys);
            let typed = UserEvent::Keys(keys.to_vec());
            assert_eq!(
                pair.exchange(ms(500)).contains(&typed),
                is_typed,
                "{keys:?}"
            );
            assert!(!pair.drawn(ms(500)).contains("closes this"), "{keys:?}");
            pair.client.handle_keys(ms(600), b"q");
            let typed = UserEvent::Keys(b"q".to_vec());
            assert!(
                pair.exchange(ms(900)).contains(&typed),
                "there is no panel any more"
            );
        }
    }
}

#[test]
fn keys_are_wanted_until_16_mib_wait() {
    let mut pair = Pair::own();
    pair.exchange(ms(0));
    let read = vec![b'x'; 1 << 20];
    for _ in 0..15 {
        pair.client.handle_keys(ms(1), &read);
        assert!(pair.client.wants_keys());
    }
    pair.client.handle_keys(ms(1), &read);
    assert!(!pair.client.wants_keys());
    assert!(pair.drawn(ms(2)).contains("keys are not read"));
}
