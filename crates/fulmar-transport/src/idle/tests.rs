use super::*;

/// The time after which something is thought lost.
const TIMEOUT: Duration = ms(200);

const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn at(millis: u64) -> Time {
    Time::from_origin(ms(millis))
}

/// Returns the pauses after answers with these numbers of moves.
fn pauses(moves: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let mut pauses = Pauses::new();
    let after = |number| {
        pauses.answered(number);
        pauses.pause.as_millis() as u64
    };
    moves.into_iter().map(after).collect()
}

fn moves(number: u64) -> Extensions<'static> {
    Extensions {
        moves: Some(number),
        ..Extensions::default()
    }
}

fn silence(millis: u64) -> Extensions<'static> {
    Extensions {
        silence: Some(millis),
        ..Extensions::default()
    }
}

/// Pings at `now` and has that answered.
fn ping(idle: &mut Idle, now: Time, number: u64) {
    idle.sent(now, Some(Question::Ping));
    idle.proven(now);
    idle.hear(now + ms(100), moves(number));
    idle.advanced(false);
}

/// Returns a client that has been idle for long, and last pinged at `now`.
fn asking(now: Time) -> Idle {
    let mut idle = Idle::agreed(Role::Client);
    for _ in 0..9 {
        ping(&mut idle, now, 0);
    }
    idle
}

/// Returns when a client pings next that sent something last then.
fn next_ping(idle: &Idle, last_sent: Time) -> Time {
    match idle.own_silence(last_sent, TIMEOUT) {
        Silence::Until(end) => end,
        other => panic!("{other:?}"),
    }
}

/// Returns a server that has heard a ping with that announcement at `now`.
fn answering(now: Time, millis: u64) -> Idle {
    let mut idle = Idle::agreed(Role::Server);
    idle.hear(now, silence(millis));
    idle
}

#[test]
fn pauses_grow_by_3_s_with_each_that_was_survived_up_to_15_s() {
    let grown = pauses([7; 7]);
    assert_eq!(grown, [3000, 6000, 9000, 12_000, 15_000, 15_000, 15_000]);
}

#[test]
fn a_pause_that_was_not_survived_is_not_tried_again() {
    // The binding lives for 10 s: after the pause of 12 s the server has seen another address.
    let grown = pauses([0, 0, 0, 0, 1, 1, 1]);
    assert_eq!(grown, [3000, 6000, 9000, 12_000, 9000, 9000, 9000]);
    let grown = pauses([0, 0, 1, 1, 1]);
    assert_eq!(grown, [3000, 6000, 3000, 3000, 3000]);
}

#[test]
fn a_client_that_wanders_at_heartbeats_says_nothing_of_longer_pauses() {
    assert_eq!(
        pauses([0, 1, 2, 2, 2, 2]),
        [3000, 3000, 3000, 6000, 9000, 12_000]
    );
}

#[test]
fn another_way_is_judged_anew() {
    let mut idle = asking(at(0));
    ping(&mut idle, at(15_000), 1);
    assert_eq!(idle.silence(), Some(12_000));
    idle.path_changed();
    assert_eq!(idle.silence(), Some(6000));
    for number in [1, 1, 1, 1, 1] {
        ping(&mut idle, at(30_000), number);
    }
    assert_eq!(next_ping(&idle, at(30_000)), at(45_000));
}

#[test]
fn whatever_is_typed_or_drawn_begins_anew_at_3_s() {
    for is_typed in [true, false] {
        let mut idle = asking(at(0));
        assert_eq!(next_ping(&idle, at(0)), at(15_000));
        if is_typed {
            idle.sent(at(1000), Some(Question::Content));
            idle.advanced(false);
        } else {
            idle.advanced(true);
        }
        assert_eq!(next_ping(&idle, at(1000)), at(4000));
    }
}

#[test]
fn an_acknowledgement_is_no_question() {
    let mut idle = asking(at(0));
    idle.sent(at(1000), None);
    assert_eq!(next_ping(&idle, at(1000)), at(16_000));
    assert_eq!(idle.silent_since(at(100), at(1000)), at(13_000));
}

#[test]
fn an_unanswered_ping_is_repeated_soon_and_then_like_heartbeats() {
    let mut idle = asking(at(0));
    let mut now = at(15_000);
    let mut pauses = Vec::new();
    for _ in 0..6 {
        idle.sent(now, Some(Question::Ping));
        let next = next_ping(&idle, now);
        pauses.push(next.since(now).as_millis());
        now = next;
    }
    assert_eq!(pauses, [300, 600, 1200, 2400, 3000, 3000]);
    assert_eq!(ping_retry_pause(ms(10_000), 1), ms(10_100));
    assert_eq!(ping_retry_pause(ms(10_000), u32::MAX), ms(10_100));
}

#[test]
fn content_without_an_answer_is_followed_by_a_ping() {
    let mut idle = asking(at(0));
    for retry in [1000, 1300, 1900, 3900] {
        idle.sent(at(retry), Some(Question::Content));
    }
    assert_eq!(next_ping(&idle, at(3900)), at(4000));
}

#[test]
fn a_second_answer_to_one_question_does_not_lengthen_a_pause() {
    let mut idle = Idle::agreed(Role::Client);
    ping(&mut idle, at(0), 0);
    ping(&mut idle, at(3000), 0);
    idle.hear(at(3200), moves(0));
    idle.advanced(false);
    assert_eq!(next_ping(&idle, at(3000)), at(9000));
}

#[test]
fn silence_of_a_server_counts_from_a_heartbeat_before_the_question() {
    let mut idle = asking(at(0));
    assert_eq!(idle.silent_since(at(100), at(0)), at(12_000));
    idle.sent(at(15_000), Some(Question::Ping));
    idle.sent(at(15_300), Some(Question::Ping));
    assert_eq!(idle.silent_since(at(100), at(15_300)), at(12_000));
    let mut typing = asking(at(0));
    typing.sent(at(1000), Some(Question::Content));
    assert_eq!(typing.silent_since(at(100), at(1000)), at(100));
}

#[test]
fn a_round_trip_is_missing_from_the_first_question_on() {
    let mut idle = asking(at(0));
    assert_eq!(idle.unproven_since(at(0), at(0)), at(15_000));
    idle.sent(at(15_000), Some(Question::Ping));
    idle.sent(at(15_300), Some(Question::Ping));
    assert_eq!(idle.unproven_since(at(0), at(15_300)), at(15_000));
    // The answer to the first of them leaves the second open.
    idle.proven(at(15_000));
    assert_eq!(idle.unproven_since(at(15_000), at(15_300)), at(15_000));
    idle.proven(at(15_300));
    assert_eq!(idle.unproven_since(at(15_300), at(15_300)), at(30_300));
}

#[test]
fn a_server_answers_once_and_sends_no_heartbeats() {
    let mut idle = answering(at(1000), 9000);
    assert_eq!(idle.asked(), Some(at(1000)));
    idle.hear(at(1100), silence(9000));
    assert_eq!((idle.asked(), idle.moves()), (Some(at(1000)), Some(0)));
    idle.sent(at(1100), None);
    assert_eq!((idle.asked(), idle.moves()), (None, None));
    assert_eq!(idle.own_silence(at(1100), TIMEOUT), Silence::Endless);
}

#[test]
fn a_server_whose_client_never_pings_sends_heartbeats() {
    let mut idle = Idle::agreed(Role::Server);
    idle.hear(at(0), Extensions::default());
    assert_eq!(idle.own_silence(at(1000), TIMEOUT), Silence::Usual);
    assert!(!idle.only_answers());
}

#[test]
fn silence_of_a_client_counts_as_far_as_it_was_not_announced() {
    let mut idle = answering(at(1000), 9000);
    assert_eq!(idle.silent_since(at(1000), at(0)), at(7000));
    // What is no ping announces a heartbeat.
    idle.hear(at(2000), Extensions::default());
    assert_eq!(idle.silent_since(at(2000), at(0)), at(2000));
}

#[test]
fn a_client_announces_nothing_beyond_the_limits() {
    for (millis, since) in [(0, 1000), (15_000, 13_000), (u64::MAX, 13_000)] {
        let idle = answering(at(1000), millis);
        assert_eq!(idle.silent_since(at(1000), at(0)), at(since), "{millis}");
    }
}

#[test]
fn without_an_agreement_nothing_is_different() {
    let mut idle = Idle::Off;
    idle.hear(at(1000), silence(9000));
    idle.hear(at(1000), moves(3));
    idle.moved();
    idle.sent(at(2000), Some(Question::PingWithContent));
    assert_eq!(
        (idle.asked(), idle.silence(), idle.moves()),
        (None, None, None)
    );
    assert_eq!(idle.own_silence(at(2000), TIMEOUT), Silence::Usual);
    assert_eq!(idle.silent_since(at(1000), at(2000)), at(1000));
    assert_eq!(idle.unproven_since(at(1000), at(2000)), at(1000));
}
