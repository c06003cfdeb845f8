use std::time::Duration;

use super::*;

fn at(seconds: u64) -> Time {
    Time::from_origin(Duration::from_secs(seconds))
}

fn path(number: u64) -> PathId {
    PathId::new(number)
}

struct Told {
    hopping: Hopping,
    events: Events,
}

impl Told {
    /// A client that has opened paths 1, 2 and so on, a second apart from second 1 on.
    fn with_paths(count: u64) -> Told {
        let mut told = Told {
            hopping: Hopping::new(),
            events: Events::default(),
        };
        for number in 1..=count {
            told.opened(number, number);
        }
        told
    }

    fn opened(&mut self, now: u64, number: u64) {
        self.hopping.opened(at(now), path(number), &mut self.events);
    }

    fn heard(&mut self, now: u64) {
        self.hopping.heard(at(now), &mut self.events);
    }

    fn sent(&mut self, now: u64, proven: u64) {
        let departure = Departure {
            bytes: 100,
            news: None,
            proven: at(proven),
            excused: Duration::ZERO,
            hop_interval: Duration::from_secs(10),
        };
        self.hopping.sent(at(now), departure, &mut self.events);
    }

    fn events(&mut self) -> Vec<EndpointEvent> {
        std::iter::from_fn(|| self.events.pop()).collect()
    }
}

fn closed(numbers: impl IntoIterator<Item = u64>) -> Vec<EndpointEvent> {
    let event = |number| EndpointEvent::ClosePath { path: path(number) };
    numbers.into_iter().map(event).collect()
}

#[test]
fn the_newest_path_is_for_sending() {
    assert_eq!(Told::with_paths(0).hopping.current(), None);
    assert_eq!(Told::with_paths(3).hopping.current(), Some(path(3)));
}

#[test]
fn a_port_without_proof_for_10_s_is_replaced() {
    let mut told = Told::with_paths(1);
    told.sent(11, 0);
    assert_eq!(told.events(), [], "10 s are not more than 10 s");
    told.sent(12, 2);
    assert_eq!(told.events(), [], "proven 10 s ago");
    told.sent(13, 2);
    assert_eq!(told.events(), [EndpointEvent::OpenPath]);
}

#[test]
fn a_port_that_is_not_opened_is_asked_for_again_10_s_later() {
    let mut told = Told::with_paths(1);
    told.sent(12, 0);
    told.sent(22, 0);
    assert_eq!(told.events(), [EndpointEvent::OpenPath]);
    told.sent(23, 0);
    assert_eq!(told.events(), [EndpointEvent::OpenPath]);
    assert_eq!(told.hopping.current(), Some(path(1)));
}

#[test]
fn ten_paths_are_kept() {
    let mut told = Told::with_paths(10);
    assert_eq!(told.events(), []);
    told.opened(11, 11);
    assert_eq!(told.events(), closed([1]));
}

#[test]
fn once_the_newest_path_is_60_s_old_and_heard_the_others_close() {
    let mut told = Told::with_paths(3);
    told.heard(63);
    assert_eq!(told.events(), []);
    told.heard(64);
    assert_eq!(told.events(), closed([1, 2]));
    assert_eq!(told.hopping.current(), Some(path(3)));
}

#[test]
fn a_path_that_is_opened_twice_counts_once() {
    let mut told = Told::with_paths(2);
    told.opened(3, 1);
    assert_eq!(told.hopping.current(), Some(path(1)));
    assert_eq!(told.hopping.open.len(), 2);
}
