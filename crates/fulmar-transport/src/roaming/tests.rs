use std::time::Duration;

use super::*;

const HOME: PathId = PathId::new(1);
const CAFE: PathId = PathId::new(2);
const TRAIN: PathId = PathId::new(3);

fn at(seconds: u64) -> Time {
    Time::from_origin(Duration::from_secs(seconds))
}

fn state(number: u64) -> StateNumber {
    StateNumber::new(number)
}

const fn challenge(number: u8) -> Challenge {
    Challenge::new([number; Challenge::BYTES])
}

fn departure(bytes: usize, news: Option<u64>) -> Departure {
    Departure {
        bytes,
        news: news.map(state),
        proven: Time::ZERO,
        excused: Duration::ZERO,
        hop_interval: Duration::ZERO,
    }
}

/// A roaming server together with the events it gave.
struct Told {
    roaming: Roaming,
    events: Events,
}

impl Told {
    fn new() -> Told {
        Told {
            roaming: Roaming::new(),
            events: Events::default(),
        }
    }

    /// A server whose client is at home beyond doubt.
    fn at_home() -> Told {
        let mut told = Told::new();
        told.heard(0, HOME);
        told.sent(0, 100, 1);
        told.acknowledged(HOME, 1);
        assert_eq!(told.roaming.allowance(), Allowance::Unlimited);
        while told.events.pop().is_some() {}
        told
    }

    fn heard(&mut self, now: u64, path: PathId) {
        self.roaming.heard(at(now), path, &mut self.events);
    }

    fn sent(&mut self, now: u64, bytes: usize, news: u64) {
        self.roaming.sent(at(now), departure(bytes, Some(news)));
    }

    fn acknowledged(&mut self, path: PathId, number: u64) {
        self.roaming
            .acknowledged(path, state(number), &mut self.events);
    }

    fn challenge(&mut self, number: u8) {
        assert!(self.roaming.wants_challenge());
        self.roaming.set_challenge(challenge(number));
    }

    fn responded(&mut self, path: PathId, number: u8) {
        self.roaming
            .responded(path, challenge(number), &mut self.events);
    }

    fn left(&self) -> usize {
        match self.roaming.allowance() {
            Allowance::Bytes(bytes) => bytes,
            Allowance::Unlimited => usize::MAX,
        }
    }
}

#[test]
fn nothing_is_sent_before_the_client_was_heard() {
    let mut told = Told::new();
    assert_eq!(told.roaming.current(), None);
    told.heard(1, HOME);
    assert_eq!(told.roaming.current(), Some(HOME));
    assert_eq!(
        told.events.pop(),
        Some(EndpointEvent::PeerMoved { path: HOME })
    );
}

#[test]
fn the_server_moves_at_once_and_says_so_once() {
    let mut told = Told::at_home();
    told.heard(1, CAFE);
    told.heard(2, CAFE);
    assert_eq!(told.roaming.current(), Some(CAFE));
    assert_eq!(
        told.events.pop(),
        Some(EndpointEvent::PeerMoved { path: CAFE })
    );
    assert_eq!(told.events.pop(), None);
}

#[test]
fn a_new_path_gets_16_kib() {
    let mut told = Told::at_home();
    told.heard(1, CAFE);
    assert_eq!(told.left(), UNVALIDATED_BYTES_MAX);
    told.sent(1, 16_000, 2);
    assert_eq!(told.left(), UNVALIDATED_BYTES_MAX - 16_000);
    told.sent(1, 1000, 3);
    assert_eq!(told.left(), 0);
}

#[test]
fn an_acknowledgement_of_what_was_first_sent_there_validates_a_path() {
    let mut told = Told::at_home();
    told.heard(1, CAFE);
    let _ = told.events.pop();
    told.acknowledged(CAFE, 1);
    assert_ne!(told.left(), usize::MAX, "state 1 was first sent home");
    told.sent(1, 100, 2);
    told.acknowledged(CAFE, 1);
    assert_ne!(told.left(), usize::MAX, "state 1 was first sent home");
    told.acknowledged(HOME, 2);
    assert_ne!(told.left(), usize::MAX, "it came from elsewhere");
    told.acknowledged(CAFE, 2);
    assert_eq!(told.left(), usize::MAX);
    assert_eq!(
        told.events.pop(),
        Some(EndpointEvent::PathValidated { path: CAFE })
    );
}

#[test]
fn a_repetition_of_an_older_state_validates_nothing() {
    let mut told = Told::at_home();
    told.heard(1, CAFE);
    told.roaming.sent(at(1), departure(100, None));
    told.acknowledged(CAFE, 1);
    assert_ne!(told.left(), usize::MAX);
}

#[test]
fn what_was_sent_during_an_earlier_stay_validates_nothing() {
    let mut told = Told::at_home();
    told.heard(1, CAFE);
    told.sent(1, 100, 2);
    told.heard(2, HOME);
    // State 2 goes to the client from there, too; somebody withholds its acknowledgement …
    told.roaming.sent(at(2), departure(100, None));
    // … and sends it from the café.
    told.heard(3, CAFE);
    told.acknowledged(CAFE, 2);
    assert_ne!(told.left(), usize::MAX);
}

#[test]
fn the_way_back_is_open_for_30_s() {
    let mut told = Told::at_home();
    told.heard(10, CAFE);
    told.heard(39, HOME);
    assert_eq!(told.left(), usize::MAX);
    let mut told = Told::at_home();
    told.heard(10, CAFE);
    told.heard(40, HOME);
    assert_eq!(told.left(), UNVALIDATED_BYTES_MAX);
}

#[test]
fn an_unvalidated_stop_does_not_close_the_way_back() {
    let mut told = Told::at_home();
    told.heard(1, CAFE);
    told.heard(2, TRAIN);
    told.heard(3, HOME);
    assert_eq!(told.left(), usize::MAX);
}

#[test]
fn coming_back_does_not_renew_the_allowance() {
    let mut told = Told::at_home();
    for now in 1..20 {
        told.heard(now, CAFE);
        told.sent(now, 1000, now);
        told.heard(now, HOME);
    }
    told.heard(20, CAFE);
    assert_eq!(told.left(), 0);
}

#[test]
fn strangers_are_remembered_up_to_a_number() {
    let mut told = Told::new();
    for path in 0..100 {
        told.heard(1, PathId::new(path));
        told.sent(1, 1000, path);
    }
    assert_eq!(told.roaming.unvalidated.len(), UNVALIDATED_PATHS_MAX);
    told.heard(1, PathId::new(98));
    assert_eq!(told.left(), UNVALIDATED_BYTES_MAX - 1000);
}

#[test]
fn after_40_s_of_silence_the_server_is_silent_too() {
    let mut told = Told::at_home();
    told.sent(40, 100, 2);
    assert_eq!(told.roaming.current(), Some(HOME));
    told.sent(41, 100, 3);
    assert_eq!(told.roaming.current(), None);
    assert_eq!(told.left(), 0);
    told.heard(50, HOME);
    assert_eq!(told.roaming.current(), Some(HOME));
}

#[test]
fn a_challenge_that_comes_back_from_there_validates_a_path() {
    let mut told = Told::at_home();
    told.heard(1, CAFE);
    told.challenge(7);
    assert_eq!(told.roaming.challenge(), Some(challenge(7)));
    told.responded(CAFE, 8);
    told.responded(HOME, 7);
    assert_ne!(told.left(), usize::MAX);
    told.responded(CAFE, 7);
    assert_eq!(told.left(), usize::MAX);
    assert_eq!(told.roaming.challenge(), None);
    assert!(!told.roaming.wants_challenge());
}

#[test]
fn each_visit_has_a_challenge_of_its_own() {
    let mut told = Told::at_home();
    told.heard(1, CAFE);
    told.challenge(7);
    told.heard(2, TRAIN);
    told.challenge(8);
    told.responded(TRAIN, 7);
    assert_ne!(told.left(), usize::MAX, "it was for another path");
    told.heard(3, CAFE);
    told.responded(CAFE, 7);
    assert_ne!(told.left(), usize::MAX, "it was for an earlier visit");
    told.challenge(9);
    told.responded(CAFE, 9);
    assert_eq!(told.left(), usize::MAX);
}

#[test]
fn without_a_challenge_nothing_is_a_response() {
    let mut told = Told::at_home();
    told.heard(1, CAFE);
    told.responded(CAFE, 0);
    assert_ne!(told.left(), usize::MAX);
}

#[test]
fn a_client_that_flips_between_two_validated_paths_keeps_both() {
    let mut told = Told::at_home();
    told.heard(1, CAFE);
    told.challenge(7);
    told.responded(CAFE, 7);
    for second in 2..20 {
        told.heard(second, if second % 2 == 0 { HOME } else { CAFE });
        assert_eq!(told.left(), usize::MAX, "{second}");
    }
}
