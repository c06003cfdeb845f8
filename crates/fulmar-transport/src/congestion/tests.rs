use super::*;

fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn at(millis: u64) -> Time {
    Time::from_origin(ms(millis))
}

fn number(number: u64) -> StateNumber {
    StateNumber::new(number)
}

/// The time after which something is thought lost.
const TIMEOUT: Duration = Duration::from_millis(200);

/// A path whose round trip of 100 ms is known.
fn measured() -> Congestion {
    let mut congestion = Congestion::new();
    congestion.measured(at(0), ms(100));
    congestion
}

/// The same with a window of so many bytes, which has grown by one acknowledgement in time.
fn grown(window: usize) -> Congestion {
    let mut congestion = measured();
    congestion.sent(at(0), number(1), window - WINDOW_BYTES_MIN);
    assert!(window >= WINDOW_BYTES_MIN * 3 / 2);
    congestion.acknowledged(at(100), number(1));
    assert_eq!(congestion.window, window);
    congestion
}

/// Takes note of so many round trips, one each 10 ms from then on.
fn measure(congestion: &mut Congestion, from: u64, round_trips: &[u64]) {
    for (index, &round_trip) in round_trips.iter().enumerate() {
        congestion.measured(at(from + 10 * index as u64), ms(round_trip));
    }
}

fn is_full(congestion: &Congestion, now: u64) -> bool {
    congestion.opens(at(now), TIMEOUT).is_some()
}

#[test]
fn a_window_of_two_full_datagrams_is_open_until_that_much_is_in_flight() {
    let mut congestion = Congestion::new();
    assert!(!is_full(&congestion, 0));
    congestion.sent(at(0), number(1), 2503);
    assert!(!is_full(&congestion, 0));
    congestion.sent(at(1), number(2), 1);
    assert!(is_full(&congestion, 1));
}

#[test]
fn the_window_grows_by_what_is_acknowledged() {
    let mut congestion = measured();
    congestion.sent(at(0), number(1), 2000);
    congestion.sent(at(1), number(2), 700);
    congestion.acknowledged(at(101), number(1));
    assert_eq!(congestion.window, 2504 + 2000);
    congestion.acknowledged(at(102), number(2));
    assert_eq!(congestion.window, 4504, "not a half of it was in flight");
}

#[test]
fn only_a_window_of_which_a_half_was_used_grows() {
    for (bytes, window) in [(1251, 2504), (1252, 2504 + 1252)] {
        let mut congestion = measured();
        congestion.sent(at(0), number(1), bytes);
        congestion.acknowledged(at(100), number(1));
        assert_eq!(congestion.window, window, "{bytes}");
    }
}

#[test]
fn the_window_grows_to_a_quarter_of_a_mebibyte() {
    let mut congestion = measured();
    congestion.sent(at(0), number(1), 300_000);
    congestion.acknowledged(at(100), number(1));
    assert_eq!(congestion.window, 262_144);
}

#[test]
fn a_window_grows_only_while_the_round_trip_is_short() {
    // The shortest and a half of it.
    for (round_trip, window) in [(150, 2504 + 2000), (151, 2504)] {
        let mut congestion = measured();
        congestion.measured(at(50), ms(round_trip));
        congestion.sent(at(100), number(1), 2000);
        congestion.acknowledged(at(200), number(1));
        assert_eq!(congestion.window, window, "{round_trip}");
    }
}

#[test]
fn a_window_grows_only_by_what_is_acknowledged_in_time() {
    // A round trip without a queue, and the delay of an acknowledgement.
    for (after, window) in [(250, 2504 + 2000), (251, 2504)] {
        let mut congestion = measured();
        congestion.sent(at(0), number(1), 2000);
        congestion.acknowledged(at(after), number(1));
        assert_eq!(congestion.window, window, "{after}");
    }
}

#[test]
fn nothing_grows_before_a_round_trip_is_known() {
    let mut congestion = Congestion::new();
    congestion.sent(at(0), number(1), 2000);
    congestion.acknowledged(at(1), number(1));
    assert_eq!(congestion.window, 2504);
}

#[test]
fn how_long_a_queue_may_be_depends_on_the_path() {
    for (shortest, delay) in [(0, 20), (40, 20), (100, 50), (400, 200), (5000, 250)] {
        assert_eq!(queue_delay_max(ms(shortest)), ms(delay), "{shortest}");
    }
}

#[test]
fn three_long_round_trips_are_jitter_and_four_close_the_window_to_its_share() {
    let mut congestion = grown(10_000);
    measure(&mut congestion, 200, &[200, 400, 250]);
    assert_eq!(congestion.window, 10_000);
    measure(&mut congestion, 230, &[100, 200, 400, 250]);
    assert_eq!(congestion.window, 10_000, "one of them was short");
    measure(&mut congestion, 270, &[300]);
    assert_eq!(congestion.window, 5000, "100 ms of the 200 that all take");
}

#[test]
fn a_queue_that_may_be_closes_nothing() {
    let mut congestion = grown(10_000);
    measure(&mut congestion, 200, &[150; 8]);
    assert_eq!(congestion.window, 10_000);
    assert!(!congestion.has_queue);
    measure(&mut congestion, 300, &[151; 4]);
    assert!(congestion.has_queue);
}

#[test]
fn the_window_closes_once_in_a_round_trip_and_never_below_two_datagrams() {
    let mut congestion = grown(10_000);
    // The fourth comes at 230.
    measure(&mut congestion, 200, &[200; 23]);
    assert_eq!(congestion.window, 5000);
    congestion.measured(at(429), ms(200));
    assert_eq!(congestion.window, 5000);
    congestion.measured(at(430), ms(200));
    assert_eq!(congestion.window, WINDOW_BYTES_MIN);
}

#[test]
fn a_mark_halves_the_window_although_it_is_alone() {
    for (round_trip, window) in [(599, 10_000), (600, 5000)] {
        let mut congestion = grown(10_000);
        congestion.measured(at(200), ms(round_trip));
        assert_eq!(congestion.window, window, "{round_trip}");
    }
    let mut congestion = grown(10_000);
    measure(&mut congestion, 200, &[600, 100, 600]);
    assert_eq!(congestion.window, 5000, "once in a round trip");
}

#[test]
fn a_full_window_opens_when_what_fills_it_is_acknowledged() {
    let mut congestion = measured();
    congestion.sent(at(0), number(1), 1500);
    congestion.sent(at(1), number(2), 1500);
    assert!(is_full(&congestion, 1));
    congestion.acknowledged(at(100), number(1));
    assert!(!is_full(&congestion, 100));
}

#[test]
fn a_full_window_opens_without_an_acknowledgement_when_one_is_overdue() {
    let mut congestion = measured();
    congestion.sent(at(0), number(1), 1000);
    congestion.sent(at(50), number(2), 1504);
    assert_eq!(congestion.opens(at(50), TIMEOUT), Some(at(250)));
    assert_eq!(congestion.opens(at(249), TIMEOUT), Some(at(250)));
    assert_eq!(congestion.opens(at(250), TIMEOUT), None);
}

#[test]
fn each_acknowledgement_is_a_reason_to_wait_for_the_next() {
    let mut congestion = measured();
    congestion.sent(at(0), number(1), 1000);
    congestion.sent(at(1), number(2), 3504);
    congestion.acknowledged(at(190), number(1));
    assert_eq!(congestion.opens(at(190), TIMEOUT), Some(at(390)));
}

#[test]
fn of_what_is_longer_than_the_window_an_acknowledgement_may_take_longer() {
    for (bytes, patience) in [
        (2504, 200),
        (2505, 400),
        (5008, 400),
        (5009, 600),
        (27_000, 2200),
        (100_000, 3000),
    ] {
        let mut congestion = measured();
        congestion.sent(at(0), number(1), bytes);
        assert_eq!(congestion.opens(at(0), TIMEOUT), Some(at(patience)));
    }
    let mut congestion = measured();
    congestion.sent(at(0), number(1), 5008);
    let opens = congestion.opens(at(0), ms(5000));
    assert_eq!(opens, Some(at(5000)), "no less than the timeout");
}

#[test]
fn what_was_sent_in_vain_prolongs_the_next_wait() {
    let mut congestion = measured();
    congestion.sent(at(0), number(1), 2504);
    congestion.sent(at(200), number(2), 2504);
    assert_eq!(congestion.opens(at(200), TIMEOUT), Some(at(600)));
}

#[test]
fn what_was_sent_several_times_has_arrived_as_a_whole() {
    let mut congestion = measured();
    congestion.sent(at(0), number(1), 3000);
    congestion.sent(at(300), number(1), 3000);
    congestion.acknowledged(at(400), number(1));
    assert_eq!(congestion.bytes_in_flight(), 0);
}

#[test]
fn what_was_sent_before_something_that_has_arrived_is_not_in_flight() {
    let mut congestion = measured();
    congestion.sent(at(0), number(20), 9000);
    congestion.sent(at(0), number(21), 9000);
    // A probe has a number that was left out.
    congestion.sent(at(300), number(4), 100);
    congestion.sent(at(301), number(22), 500);
    congestion.acknowledged(at(400), number(4));
    assert_eq!(congestion.bytes_in_flight(), 500);
}

#[test]
fn after_a_silence_longer_than_a_heartbeat_nothing_is_in_flight() {
    let mut congestion = measured();
    congestion.heard(at(1000), TIMEOUT);
    congestion.sent(at(1001), number(1), 9000);
    congestion.heard(at(4200), TIMEOUT);
    assert_eq!(congestion.bytes_in_flight(), 9000);
    congestion.heard(at(7401), TIMEOUT);
    assert_eq!(congestion.bytes_in_flight(), 0);
}

#[test]
fn so_many_instructions_are_told_apart_and_no_byte_is_forgotten() {
    let mut congestion = measured();
    for sent in 1..=300 {
        congestion.sent(at(sent), number(sent), 10);
    }
    assert_eq!(congestion.in_flight.len(), IN_FLIGHT_MAX);
    assert_eq!(congestion.bytes_in_flight(), 3000);
    congestion.acknowledged(at(400), number(255));
    assert_eq!(congestion.bytes_in_flight(), 450);
    congestion.acknowledged(at(400), number(300));
    assert_eq!(congestion.bytes_in_flight(), 0);
}

#[test]
fn the_shortest_round_trip_is_believed_for_30_to_60_s() {
    let mut shortest = ShortestRoundTrip::default();
    let mut sample = |second: u64, round_trip| shortest.sample(at(1000 * second), ms(round_trip));
    assert_eq!(sample(0, 200), Shortest::Known(ms(200)));
    assert_eq!(sample(10, 100), Shortest::Known(ms(100)));
    assert_eq!(sample(29, 300), Shortest::Known(ms(100)));
    assert_eq!(sample(30, 300), Shortest::Known(ms(100)));
    assert_eq!(sample(59, 250), Shortest::Known(ms(100)));
    assert_eq!(sample(60, 280), Shortest::InDoubt(ms(250)));
    assert_eq!(sample(61, 290), Shortest::Known(ms(250)));
    assert_eq!(sample(62, 90), Shortest::Known(ms(90)));
    assert_eq!(sample(90, 300), Shortest::Known(ms(90)));
}

#[test]
fn a_round_trip_is_in_doubt_if_none_of_a_period_was_as_short_as_once() {
    for (of_late, expected) in [
        (120, Shortest::Known(ms(120))),
        (121, Shortest::InDoubt(ms(121))),
    ] {
        let mut shortest = ShortestRoundTrip::default();
        let mut sample = |second: u64, trip| shortest.sample(at(1000 * second), ms(trip));
        sample(0, 100);
        sample(30, of_late);
        assert_eq!(sample(60, 300), expected);
    }
}

#[test]
fn while_the_shortest_round_trip_is_in_doubt_our_own_queue_drains() {
    let mut congestion = grown(10_000);
    congestion.measured(at(30_000), ms(140));
    assert_eq!(congestion.window, 10_000);
    congestion.measured(at(59_999), ms(140));
    assert_eq!(congestion.window, 10_000);
    congestion.measured(at(60_000), ms(140));
    assert_eq!(congestion.window, WINDOW_BYTES_MIN);
}

#[test]
fn of_another_path_nothing_is_known() {
    let mut congestion = grown(10_000);
    congestion.sent(at(200), number(2), 20_000);
    measure(&mut congestion, 200, &[300; 4]);
    congestion.moved();
    assert_eq!(congestion.bytes_in_flight(), 0);
    assert_eq!(congestion.window, WINDOW_BYTES_MIN);
    congestion.measured(at(300), ms(500));
    assert!(!congestion.has_queue);
}
