use super::*;

const TIMEOUT: Duration = Duration::from_millis(100);

fn at(millis: u64) -> Time {
    Time::from_origin(Duration::from_millis(millis))
}

/// A path with a round trip of 40 ms that loses so many of the peer's datagrams.
struct Path {
    black_hole: BlackHole,
    loss: f64,
    acknowledged: u64,
}

fn path() -> Path {
    Path {
        black_hole: BlackHole::default(),
        loss: 0.0,
        acknowledged: 0,
    }
}

impl Path {
    /// Sends a difference from the acknowledged state.
    fn sends(&mut self, now: u64, target: u64, longest: usize, datagrams: usize) {
        self.sends_from(self.acknowledged, now, target, longest, datagrams);
    }

    fn sends_from(&mut self, source: u64, now: u64, target: u64, longest: usize, datagrams: usize) {
        self.black_hole.sent(Departed {
            at: at(now),
            source: StateNumber::new(source),
            target: StateNumber::new(target),
            acknowledged: StateNumber::new(self.acknowledged),
            longest,
            datagrams,
        });
    }

    fn hears(&mut self, now: u64, number: u64) -> bool {
        self.acknowledged = number;
        self.black_hole.acknowledged(Arrived {
            now: at(now),
            number: StateNumber::new(number),
            round_trip: Duration::from_millis(40),
            timeout: TIMEOUT,
            loss: self.loss,
        })
    }

    fn wants_short(&self, now: u64) -> bool {
        self.black_hole.wants_short(at(now), TIMEOUT, self.loss)
    }

    /// Sends something long that is lost, and something short of a lower number that is acknowledged.
    fn loses_a_long_one(&mut self, round: u64, datagrams: usize) -> bool {
        let (now, before) = (1000 * round, self.acknowledged);
        self.sends(now, before + 40, 1252, datagrams);
        self.sends(now + 200, before + 1, 300, 1);
        self.hears(now + 240, before + 1)
    }
}

#[test]
fn long_datagrams_that_are_lost_again_and_again_while_short_ones_arrive_meet_a_black_hole() {
    let mut path = path();
    assert!(!path.loses_a_long_one(1, 2));
    assert!(!path.loses_a_long_one(2, 2));
    assert!(path.loses_a_long_one(3, 2));
}

#[test]
fn of_many_datagrams_one_is_lost_easily_so_more_of_them_have_to_be() {
    let rounds_of = |datagrams, loss| {
        let mut path = path();
        path.loss = loss;
        (1..).find(|&round| path.loses_a_long_one(round, datagrams))
    };
    assert_eq!(rounds_of(1, 0.0), Some(3));
    assert_eq!(rounds_of(10, 0.0), Some(4));
    assert_eq!(rounds_of(50, 0.0), Some(14));
    assert_eq!(rounds_of(1, 0.29), Some(6));
}

#[test]
fn one_as_long_that_arrives_refutes_all_that() {
    let mut path = path();
    path.loses_a_long_one(1, 1);
    path.loses_a_long_one(2, 1);
    path.sends(2500, 250, 1252, 1);
    assert!(!path.hears(2540, 250));
    assert!(!path.loses_a_long_one(3, 1));
}

#[test]
fn a_shorter_one_that_arrives_does_not() {
    let mut path = path();
    path.loses_a_long_one(1, 1);
    path.loses_a_long_one(2, 1);
    path.sends(2500, 250, 1251, 1);
    assert!(!path.hears(2540, 250));
    assert!(path.loses_a_long_one(3, 1));
}

#[test]
fn what_a_short_one_starts_from_has_arrived() {
    let mut path = path();
    path.loses_a_long_one(1, 1);
    path.loses_a_long_one(2, 1);
    path.sends(3000, 240, 1252, 1);
    path.sends_from(240, 3200, 241, 300, 1);
    assert!(!path.hears(3240, 241));
    assert!(!path.loses_a_long_one(4, 1));
}

#[test]
fn a_state_that_had_to_be_sent_again_in_shorter_datagrams_is_a_miss_of_the_longer() {
    let mut path = path();
    for round in 1..=3 {
        let now = 1000 * round;
        path.sends(now, round, 1252, 1);
        path.sends(now + 200, round, 700, 1);
        assert_eq!(path.hears(now + 240, round), round == 3);
    }
}

#[test]
fn an_answer_that_comes_sooner_than_a_round_trip_is_to_the_longer() {
    let mut path = path();
    for round in 1..=9 {
        let now = 1000 * round;
        path.sends(now, round, 1252, 1);
        path.sends(now + 200, round, 700, 1);
        assert!(!path.hears(now + 229, round));
    }
}

#[test]
fn what_may_have_been_overtaken_is_not_lost() {
    let mut path = path();
    for round in 1..=9 {
        let (now, before) = (1000 * round, path.acknowledged);
        path.sends(now, before + 40, 1252, 1);
        path.sends(now + 9, before + 1, 300, 1);
        assert!(!path.hears(now + 199, before + 1));
    }
}

#[test]
fn misses_that_tell_little_are_not_remembered_without_end() {
    let mut path = path();
    path.loss = 0.9;
    for round in 1..=200 {
        assert!(!path.loses_a_long_one(round, 30));
    }
    assert_eq!(path.black_hole.misses.len(), DEPARTURES_MAX);
}

#[test]
fn what_an_outage_takes_counts_once() {
    let mut path = path();
    for number in 10..20 {
        path.sends(number * 100, number, 1252, 1);
    }
    for number in 2..6 {
        path.sends(number * 1000, number, 300, 1);
        assert!(!path.hears(number * 1000 + 40, number));
    }
    assert_eq!(path.black_hole.misses.len(), 1);
}

#[test]
fn what_is_short_is_never_lost_for_its_length() {
    let mut path = path();
    for round in 1..=9 {
        let (now, before) = (1000 * round, path.acknowledged);
        path.sends(now, before + 40, 500, 1);
        path.sends(now + 200, before + 1, 80, 1);
        assert!(!path.hears(now + 240, before + 1));
    }
}

#[test]
fn after_two_long_ones_in_vain_a_short_one_is_wanted_and_after_a_miss_one() {
    let mut path = path();
    path.sends(1000, 2, 1252, 1);
    assert!(!path.wants_short(1200));
    path.sends(1200, 2, 1252, 1);
    assert!(!path.wants_short(1299));
    assert!(path.wants_short(1300));
    path.sends(1300, 1, 300, 1);
    assert!(!path.wants_short(1400));
    path.hears(1340, 1);
    path.sends(1400, 3, 1252, 1);
    assert!(path.wants_short(1500));
}

#[test]
fn a_short_one_that_starts_from_a_lost_long_one_is_not_the_one_that_is_wanted() {
    let mut path = path();
    for now in [1000, 1200] {
        path.sends(now, 20, 1252, 1);
        path.sends_from(20, now, 21, 100, 1);
    }
    assert!(path.wants_short(1300));
}

#[test]
fn it_is_wanted_once_after_each_long_one() {
    let mut path = path();
    for now in [1000, 1200] {
        path.sends(now, 20, 1252, 1);
    }
    assert!(path.wants_short(1300));
    path.black_hole.ask();
    for number in 21..40 {
        path.sends_from(number - 1, 1300, number, 70, 1);
        assert!(!path.wants_short(1300));
    }
    path.sends(1400, 20, 1252, 1);
    assert!(path.wants_short(1500));
}

#[test]
fn where_much_is_lost_more_of_them_are_tried() {
    let mut path = path();
    path.loss = 0.29;
    for now in [1000, 1200, 1400, 1600] {
        path.sends(now, 2, 1252, 1);
        assert!(!path.wants_short(now + 100));
    }
    path.sends(1800, 2, 1252, 1);
    assert!(path.wants_short(1900));
}

#[test]
fn what_starts_from_something_lost_may_have_arrived_and_been_of_no_use() {
    let mut path = path();
    for round in 1..=9 {
        let (now, before) = (1000 * round, path.acknowledged);
        path.sends(now, before + 30, 300, 1);
        path.sends_from(before + 30, now, before + 40, 1252, 1);
        path.sends(now + 200, before + 1, 300, 1);
        assert!(!path.hears(now + 240, before + 1));
    }
}

#[test]
fn of_links_that_were_sent_twice_each_has_arrived_that_the_last_one_needs() {
    let mut path = path();
    path.loses_a_long_one(1, 1);
    path.loses_a_long_one(2, 1);
    for now in [3000, 3200] {
        path.sends(now, 30, 1252, 1);
        path.sends_from(30, now, 31, 1000, 1);
        path.sends_from(31, now, 32, 300, 1);
    }
    assert!(!path.hears(3240, 32));
    assert!(!path.loses_a_long_one(4, 1));
}

#[test]
fn where_short_ones_are_lost_as_well_on_the_way_there_it_is_no_black_hole() {
    let mut path = path();
    for round in 1..=9 {
        let (now, before) = (1000 * round, path.acknowledged);
        path.sends(now, before + 40, 1252, 4);
        for retry in 1..=3 {
            path.sends(now + 200 * retry, before + 1, 300, 1);
        }
        assert!(!path.hears(now + 640, before + 1));
    }
}
