use super::*;

fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn at(millis: u64) -> Time {
    Time::from_origin(ms(millis))
}

fn circumstances(now: u64) -> Circumstances {
    Circumstances {
        now: at(now),
        role: Role::Server,
        is_acknowledged: false,
        last_sent: at(0),
        interval: ms(20),
        timeout: ms(50),
    }
}

#[test]
fn it_ends_when_the_peer_knows() {
    let mut closing = Closing::default();
    closing.begin(at(0));
    assert_eq!(closing.ending(circumstances(100)), None);
    let known = Circumstances {
        is_acknowledged: true,
        ..circumstances(100)
    };
    assert_eq!(closing.ending(known), Some(Ending::Acknowledged));
}

#[test]
fn it_is_given_up_after_10_s() {
    let mut closing = Closing::default();
    closing.begin(at(0));
    closing.begin(at(5000));
    assert_eq!(closing.ending(circumstances(9_999)), None);
    let ending = closing.ending(circumstances(10_000));
    assert_eq!(ending, Some(Ending::Unanswered));
}

#[test]
fn a_goodbye_that_persists_begins_again_and_only_where_it_was_not_answered() {
    let mut closing = Closing::default();
    closing.begin(at(0));
    assert!(!closing.begin_again(at(20_000), Ending::Unanswered));
    closing.persist();
    assert!(!closing.begin_again(at(20_000), Ending::Acknowledged));
    assert_eq!(closing.own(), Some((at(0), 0)));
    assert!(closing.begin_again(at(20_000), Ending::Unanswered));
    assert_eq!(closing.own(), Some((at(20_000), 0)));
    assert_eq!(closing.ending(circumstances(29_999)), None);
}

#[test]
fn it_is_given_up_when_the_sixteenth_try_had_its_time() {
    let mut closing = Closing::default();
    closing.begin(at(0));
    for _ in 0..15 {
        assert!(!closing.sent(at(0)));
    }
    assert_eq!(closing.ending(circumstances(5000)), None);
    closing.sent(at(0));
    assert_eq!(closing.ending(circumstances(149)), None);
    assert_eq!(closing.ending(circumstances(150)), Some(Ending::Unanswered));
}

#[test]
fn a_server_that_has_answered_stays_for_a_repetition() {
    let mut closing = Closing::default();
    closing.hear();
    assert!(closing.owes_answer());
    assert_eq!(closing.ending(circumstances(10_000)), None, "not answered");
    assert!(closing.sent(at(1000)), "the first answer");
    assert!(!closing.owes_answer());
    assert_eq!(closing.ending(circumstances(1069)), None);
    closing.hear();
    assert!(!closing.sent(at(1060)), "the second answer");
    assert_eq!(closing.ending(circumstances(1129)), None);
    assert_eq!(closing.ending(circumstances(1130)), Some(Ending::ByPeer));
}

#[test]
fn nobody_is_held_by_repetitions_for_ever() {
    let mut closing = Closing::default();
    for now in (0..1000).step_by(10) {
        closing.hear();
        closing.sent(at(now));
        assert_eq!(closing.ending(circumstances(now)), None);
    }
    assert_eq!(closing.ending(circumstances(1000)), Some(Ending::ByPeer));
}

#[test]
fn a_client_stays_for_two_frame_intervals() {
    let mut closing = Closing::default();
    closing.hear();
    closing.sent(at(1000));
    let client = |now| Circumstances {
        role: Role::Client,
        ..circumstances(now)
    };
    assert_eq!(closing.ending(client(1039)), None);
    assert_eq!(closing.ending(client(1040)), Some(Ending::ByPeer));
}

#[test]
fn both_may_want_to_end() {
    let mut closing = Closing::default();
    closing.begin(at(0));
    closing.sent(at(0));
    closing.hear();
    let known = Circumstances {
        is_acknowledged: true,
        ..circumstances(100)
    };
    assert_eq!(closing.ending(known), None, "the peer waits for us");
    closing.sent(at(100));
    assert_eq!(closing.ending(known), Some(Ending::Acknowledged));
}
