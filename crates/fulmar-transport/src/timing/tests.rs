use super::*;

fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn at(millis: u64) -> Time {
    Time::from_origin(ms(millis))
}

/// A server in the middle of a conversation that sent something at 1000 and has nothing to do.
fn quiet() -> TimerInput {
    TimerInput {
        now: at(1000),
        role: Role::Server,
        permission: SendPermission::Open,
        has_sent: true,
        last_sent: at(1000),
        large: None,
        sync_state: SyncState::Settled,
        last_change: at(0),
        last_content: at(1000),
        round_trip: ms(100),
        interval: ms(50),
        is_answer: false,
        is_echo: false,
        window_opens: None,
        retry_pause: ms(300),
        retries: 0,
        copy: None,
        chain: ChainState::None,
        chain_cause: Cause::Frame,
        oldest_link: at(0),
        is_opening: false,
        timeout: ms(200),
        heard: Some(at(900)),
        silence: Silence::Usual,
        asked: None,
        size_probe: None,
        challenged: None,
        unacknowledged_since: None,
        owes_for_much_input: false,
        path_probe: None,
        assembly_expiry: None,
        own_shutdown: None,
        owes_answer: false,
        answered: None,
    }
}

fn next(input: &TimerInput) -> Option<(u64, Cause)> {
    let (time, cause) = schedule(input).earliest()?;
    Some((time.as_millis(), cause))
}

#[test]
fn frames_come_twice_in_a_round_trip_within_bounds() {
    let cases = [
        (Duration::ZERO, 20),
        (ms(40), 20),
        (ms(41), 21),
        (ms(100), 50),
        (Duration::from_micros(100_001), 51),
        (ms(500), 250),
        (ms(10_000), 250),
    ];
    for (smoothed, interval) in cases {
        assert_eq!(frame_interval(smoothed), ms(interval), "{smoothed:?}");
    }
}

#[test]
fn a_port_is_kept_for_10_s_or_two_round_trips() {
    for (smoothed, interval) in [(100, 10_000), (5000, 10_000), (7000, 14_000)] {
        assert_eq!(hop_interval(ms(smoothed)), ms(interval));
    }
}

#[test]
fn repeats_double_from_250_ms_to_3_s() {
    let pauses: Vec<_> = (0..8).map(|n| repeat_pause(n).as_millis()).collect();
    assert_eq!(pauses, [20, 250, 500, 1000, 2000, 3000, 3000, 3000]);
    assert_eq!(repeat_pause(u32::MAX), ms(3000));
}

#[test]
fn the_first_instruction_leaves_at_once() {
    let input = TimerInput {
        has_sent: false,
        sync_state: SyncState::Unsent { changed: at(1000) },
        ..quiet()
    };
    assert_eq!(next(&input), Some((1000, Cause::First)));
}

#[test]
fn a_settled_conversation_beats_every_3_s() {
    assert_eq!(next(&quiet()), Some((4000, Cause::Heartbeat)));
}

/// A change that began and ended at these times, and is to be sent.
fn changed(first: u64, last: u64) -> TimerInput {
    TimerInput {
        sync_state: SyncState::Unsent { changed: at(first) },
        last_change: at(last),
        ..quiet()
    }
}

#[test]
fn input_waits_for_nothing_to_travel_with() {
    assert_eq!(collected(Content::Input, at(1000), at(1003)), at(1000));
}

#[test]
fn an_echo_waits_until_the_program_pauses_and_any_other_screen_8_ms() {
    let cases = [
        (Content::Echo, 0, 500),
        (Content::Echo, 3000, 3500),
        (Content::Echo, 7500, 8000),
        (Content::Echo, 7900, 8000),
        (Content::Answer, 0, 8000),
        (Content::Answer, 7900, 8000),
        (Content::Output, 0, 8000),
        (Content::Output, 7900, 8000),
    ];
    for (content, last_change, expected) in cases {
        let micros = |count| at(1000) + Duration::from_micros(count);
        let collected = collected(content, at(1000), micros(last_change));
        assert_eq!(collected, micros(expected), "{content:?} {last_change}");
    }
}

#[test]
fn below_the_window_keys_and_answers_are_5_ms_apart_and_output_half_a_round_trip() {
    for (content, round_trip, pause) in [
        (Content::Input, 100, 5),
        (Content::Input, 5000, 5),
        (Content::Echo, 100, 5),
        (Content::Echo, 5000, 5),
        (Content::Answer, 100, 5),
        (Content::Answer, 5000, 5),
        (Content::Output, 0, 20),
        (Content::Output, 100, 50),
        (Content::Output, 5000, 250),
    ] {
        let paced = paced(content, at(1000), ms(round_trip), None);
        assert_eq!(paced, at(1000 + pause), "{content:?} {round_trip}");
    }
}

#[test]
fn behind_a_full_window_input_waits_half_a_round_trip_up_to_a_second() {
    for (round_trip, pause) in [(0, 20), (100, 50), (1000, 500), (2000, 1000), (5000, 1000)] {
        for opens in [1001, 9000] {
            let paced = paced(Content::Input, at(1000), ms(round_trip), Some(at(opens)));
            assert_eq!(paced, at(1000 + pause), "{round_trip}");
        }
    }
}

#[test]
fn behind_a_full_window_a_screen_waits_until_that_opens_and_for_the_frame_interval() {
    for content in [Content::Echo, Content::Answer, Content::Output] {
        let paced = |opens| paced(content, at(1000), ms(100), Some(at(opens)));
        assert_eq!(paced(1030), at(1050));
        assert_eq!(paced(1070), at(1070));
    }
}

#[test]
fn each_end_sends_its_kind_of_change() {
    let output = changed(1045, 1060);
    assert_eq!(next(&output), Some((1053, Cause::Frame)));
    let echo = TimerInput {
        is_echo: true,
        ..changed(1002, 1002)
    };
    assert_eq!(next(&echo), Some((1005, Cause::Frame)));
    let answer = TimerInput {
        is_answer: true,
        ..changed(1002, 1002)
    };
    assert_eq!(next(&answer), Some((1010, Cause::Frame)));
    let input = |is_echo, first| TimerInput {
        role: Role::Client,
        is_echo,
        ..changed(first, 1060)
    };
    for is_echo in [false, true] {
        assert_eq!(next(&input(is_echo, 1045)), Some((1045, Cause::Frame)));
        assert_eq!(next(&input(is_echo, 1002)), Some((1005, Cause::Frame)));
    }
}

#[test]
fn a_full_window_holds_a_change_back() {
    let full = TimerInput {
        window_opens: Some(at(1200)),
        ..changed(1002, 1002)
    };
    assert_eq!(next(&full), Some((1200, Cause::Frame)));
    let input = TimerInput {
        role: Role::Client,
        ..full
    };
    assert_eq!(next(&input), Some((1050, Cause::Frame)));
}

#[test]
fn a_full_window_holds_back_the_repetition_of_a_screen_but_not_of_keys() {
    for sync_state in [SyncState::Unassumed, SyncState::Unacknowledged] {
        let due = |role| {
            let table = schedule(&TimerInput {
                role,
                sync_state,
                window_opens: Some(at(2000)),
                ..quiet()
            });
            table.get(Cause::Resend).or(table.get(Cause::Retry))
        };
        assert_eq!(due(Role::Server), Some(at(2000)), "{sync_state:?}");
        assert!(due(Role::Client) < Some(at(2000)), "{sync_state:?}");
    }
}

#[test]
fn an_acknowledgement_does_not_put_off_the_next_frame() {
    let input = TimerInput {
        last_sent: at(1040),
        ..changed(1010, 1010)
    };
    assert_eq!(next(&input), Some((1050, Cause::Frame)));
}

#[test]
fn the_first_frames_of_a_server_wait_for_no_interval() {
    for (sent, is_first) in [(0, true), (1, true), (3, true), (4, false)] {
        let sent = StateNumber::new(sent);
        assert_eq!(is_opening(Role::Server, sent), is_first);
        assert!(!is_opening(Role::Client, sent));
    }
    let input = TimerInput {
        is_opening: true,
        round_trip: ms(500),
        ..changed(1005, 1006)
    };
    assert_eq!(next(&input), Some((1013, Cause::Frame)));
    let full = TimerInput {
        window_opens: Some(at(1300)),
        ..input
    };
    assert_eq!(next(&full), Some((1300, Cause::Frame)));
}

#[test]
fn a_change_is_sent_however_long_the_peer_was_silent() {
    let input = TimerInput {
        heard: None,
        ..changed(1000, 1000)
    };
    assert_eq!(next(&input), Some((1050, Cause::Frame)));
}

#[test]
fn a_change_asks_once_whether_a_silent_peer_is_there() {
    let input = |last_sent| TimerInput {
        now: at(20_000),
        sync_state: SyncState::Unsent {
            changed: at(19_000),
        },
        last_change: at(19_990),
        last_sent: at(last_sent),
        ..quiet()
    };
    let frame = |last_sent| schedule(&input(last_sent)).get(Cause::Frame);
    assert_eq!(frame(19_900), Some(at(20_150)));
    assert_eq!(frame(17_000), Some(at(19_008)));
    assert_eq!(frame(19_990), None);
}

#[test]
fn what_may_be_lost_is_resent_at_the_frame_interval_and_then_less_often() {
    let after = |retries| {
        let input = TimerInput {
            sync_state: SyncState::Unassumed,
            retries,
            ..quiet()
        };
        next(&input)
    };
    let resent = |at| Some((at, Cause::Resend));
    assert_eq!(
        [0, 1, 3, 4, 9].map(after),
        [1050, 1100, 1400, 1500, 1500].map(resent)
    );
}

#[test]
fn a_link_leaves_at_once_and_others_again_when_the_oldest_is_overdue() {
    let input = |chain| TimerInput {
        sync_state: SyncState::Unsent { changed: at(990) },
        chain,
        chain_cause: Cause::Copy,
        oldest_link: at(900),
        window_opens: Some(at(5000)),
        ..quiet()
    };
    let of_chain = |chain| next(&input(chain));
    assert_eq!(of_chain(ChainState::Ready), Some((1000, Cause::Copy)));
    assert_eq!(of_chain(ChainState::Blocked), Some((1200, Cause::Retry)));
    let sent = TimerInput {
        sync_state: SyncState::Unassumed,
        ..input(ChainState::Sent)
    };
    assert_eq!(next(&sent), Some((1200, Cause::Retry)));
    // What is new by then is a frame of its own.
    let due = schedule(&input(ChainState::Sent));
    assert_eq!(
        (due.get(Cause::Retry), due.get(Cause::Frame)),
        (None, Some(at(5000)))
    );
}

#[test]
fn what_is_unacknowledged_is_retried_after_the_timeout_and_100_ms() {
    let input = TimerInput {
        sync_state: SyncState::Unacknowledged,
        ..quiet()
    };
    assert_eq!(next(&input), Some((1300, Cause::Retry)));
}

#[test]
fn without_a_sign_of_the_peer_for_10_s_only_heartbeats_are_sent() {
    for sync_state in [SyncState::Unassumed, SyncState::Unacknowledged] {
        let input = |heard, now| TimerInput {
            sync_state,
            heard,
            last_sent: at(10_000),
            now: at(now),
            ..quiet()
        };
        let cause = |heard, now| next(&input(heard, now)).map(|(_, cause)| cause);
        assert_ne!(cause(Some(at(1000)), 10_000), Some(Cause::Heartbeat));
        assert_eq!(cause(Some(at(0)), 10_000), Some(Cause::Heartbeat));
        assert_eq!(cause(Some(at(1000)), 11_000), Some(Cause::Heartbeat));
        assert_eq!(cause(None, 10_000), Some(Cause::Heartbeat));
    }
}

#[test]
fn a_state_of_the_peer_is_acknowledged_within_100_ms() {
    let input = TimerInput {
        unacknowledged_since: Some(at(1020)),
        ..quiet()
    };
    assert_eq!(next(&input), Some((1120, Cause::Acknowledgement)));
}

#[test]
fn much_input_is_acknowledged_at_once() {
    let input = TimerInput {
        unacknowledged_since: Some(at(1020)),
        owes_for_much_input: true,
        ..quiet()
    };
    assert_eq!(next(&input), Some((1020, Cause::Acknowledgement)));
}

#[test]
fn a_peer_that_never_answered_is_tried_again_soon() {
    let input = |tries| TimerInput {
        role: Role::Client,
        heard: None,
        path_probe: Some(PathProbe::new(at(0), tries)),
        ..quiet()
    };
    assert_eq!(next(&input(1)), Some((1250, Cause::FirstRepeat)));
    assert_eq!(next(&input(3)), Some((2000, Cause::FirstRepeat)));
}

#[test]
fn a_path_is_probed_at_once_and_then_less_and_less() {
    let input = |tries, last_sent| TimerInput {
        now: at(9000),
        last_sent: at(last_sent),
        path_probe: Some(PathProbe::new(at(9000), tries)),
        ..quiet()
    };
    assert_eq!(next(&input(0, 8000)), Some((8020, Cause::Probe)));
    assert_eq!(next(&input(0, 8995)), Some((9015, Cause::Probe)));
    assert_eq!(next(&input(1, 9000)), Some((9250, Cause::Probe)));
    assert_eq!(next(&input(2, 9250)), Some((9750, Cause::Probe)));
}

#[test]
fn what_is_large_is_repeated_less_and_less() {
    let large = |tries| Large {
        since: at(1000),
        last: at(5000),
        tries,
    };
    assert!(!large(1).is_overdue(at(1299), ms(200)));
    assert!(large(1).is_overdue(at(1300), ms(200)));
    let next = |tries| large(tries).next_try(ms(200)).as_millis() - 5000;
    assert_eq!([1, 2, 3, 7, 8].map(next), [300, 600, 1200, 19_200, 38_400]);
    assert_eq!([9, 40].map(next), [60_000; 2]);
    assert!(large(2).holds_back(at(5599), ms(200)));
    assert!(!large(2).holds_back(at(5600), ms(200)));
    assert!(
        !large(2).holds_back(at(1299), ms(200)),
        "nothing is overdue"
    );
}

#[test]
fn while_something_large_is_overdue_the_way_is_probed_and_changes_wait() {
    let input = |role, sync_state| TimerInput {
        role,
        sync_state,
        now: at(1000),
        last_change: at(990),
        large: Some(Large {
            since: at(700),
            last: at(1000),
            tries: 2,
        }),
        ..quiet()
    };
    for role in [Role::Client, Role::Server] {
        for sync_state in [
            SyncState::Unsent { changed: at(990) },
            SyncState::Unassumed,
            SyncState::Unacknowledged,
        ] {
            let table = schedule(&input(role, sync_state));
            assert_eq!(table.earliest(), Some((at(1250), Cause::Probe)));
            let content = [Cause::Frame, Cause::Resend, Cause::Retry];
            let content = content.iter().find_map(|&cause| table.get(cause));
            assert_eq!(content, Some(at(1600)));
        }
    }
    let early = TimerInput {
        now: at(999),
        ..input(Role::Server, SyncState::Unsent { changed: at(990) })
    };
    assert_eq!(next(&early), Some((1050, Cause::Frame)));
}

#[test]
fn a_way_that_the_system_refuses_is_tried_every_second() {
    let failing = |tries| PathProbe {
        is_failing: true,
        ..PathProbe::new(at(0), tries)
    };
    assert_eq!(probe(at(0), failing(1)).0, at(250));
    assert_eq!(probe(at(0), failing(9)).0, at(1000));
}

#[test]
fn a_silent_way_is_probed_four_times_a_second_while_a_person_types() {
    let silent = |sync_state, last_change| TimerInput {
        role: Role::Client,
        now: at(100_000),
        last_sent: at(100_000),
        last_change: at(last_change),
        heard: Some(at(50_000)),
        sync_state,
        ..quiet()
    };
    let unacknowledged = |last_change| silent(SyncState::Unacknowledged, last_change);
    assert_eq!(next(&unacknowledged(99_000)), Some((100_250, Cause::Probe)));
    assert_eq!(next(&unacknowledged(70_000)), Some((100_250, Cause::Probe)));
    assert_eq!(next(&unacknowledged(40_000)), Some((100_500, Cause::Probe)));
    let (last_sent, hours_ago) = (at(9_000_000), at(0));
    assert_eq!(silence_probe(last_sent, hours_ago).0, at(9_003_000));
    let settled = silent(SyncState::Settled, 99_000);
    assert_eq!(next(&settled), Some((103_000, Cause::Heartbeat)));
    let server = TimerInput {
        role: Role::Server,
        ..unacknowledged(99_000)
    };
    assert_eq!(next(&server), Some((103_000, Cause::Heartbeat)));
    let large = TimerInput {
        large: Some(Large::again(None, at(99_900))),
        ..server
    };
    assert_eq!(next(&large), Some((100_250, Cause::Probe)));
}

#[test]
fn without_a_path_nothing_is_sent() {
    let input = TimerInput {
        permission: SendPermission::Nowhere,
        sync_state: SyncState::Unassumed,
        unacknowledged_since: Some(at(0)),
        assembly_expiry: Some(at(7000)),
        ..quiet()
    };
    assert_eq!(next(&input), Some((7000, Cause::AssemblyExpiry)));
}

#[test]
fn a_path_that_has_had_its_bytes_gets_heartbeats() {
    let input = TimerInput {
        permission: SendPermission::Heartbeats,
        sync_state: SyncState::Unassumed,
        unacknowledged_since: Some(at(0)),
        path_probe: Some(PathProbe::new(at(0), 0)),
        owes_answer: true,
        ..quiet()
    };
    assert_eq!(next(&input), Some((4000, Cause::Heartbeat)));
}

#[test]
fn our_end_is_said_at_the_frame_interval_for_16_times() {
    let input = |tries| TimerInput {
        own_shutdown: Some((at(500), tries)),
        sync_state: SyncState::Unassumed,
        ..quiet()
    };
    assert_eq!(next(&input(15)), Some((1050, Cause::Shutdown)));
    assert_eq!(next(&input(16)), Some((1300, Cause::ShutdownLimit)));
}

#[test]
fn an_end_is_given_up_10_s_after_it_began_at_the_latest() {
    let limit = |tries, last_sent| shutdown_limit(at(0), tries, at(last_sent), ms(5000)).0;
    assert_eq!(limit(16, 4000), at(9100));
    assert_eq!(limit(16, 5000), at(10_000));
    assert_eq!(limit(15, 0), at(10_000));
}

#[test]
fn the_peers_end_is_answered_at_the_frame_interval_and_then_lingered_for() {
    let owing = TimerInput {
        owes_answer: true,
        sync_state: SyncState::Unassumed,
        ..quiet()
    };
    assert_eq!(next(&owing), Some((1050, Cause::ShutdownAnswer)));
    let answered = TimerInput {
        answered: Some((at(1000), at(1000))),
        sync_state: SyncState::Unassumed,
        ..quiet()
    };
    assert_eq!(next(&answered), Some((1250, Cause::LingerEnd)));
    let client = TimerInput {
        role: Role::Client,
        ..answered
    };
    assert_eq!(next(&client), Some((1050, Cause::ShutdownAnswer)));
}

#[test]
fn of_what_is_due_the_first_cause_counts() {
    let mut table = Deadlines::default();
    table.set(heartbeat(at(0)));
    table.set((at(3500), Cause::Probe));
    table.set((at(1000), Cause::AssemblyExpiry));
    assert_eq!(table.earliest(), Some((at(1000), Cause::AssemblyExpiry)));
    assert_eq!(table.due(at(2999)), None);
    assert_eq!(table.due(at(3000)), Some(Cause::Heartbeat));
    assert_eq!(table.due(at(3500)), Some(Cause::Probe));
    assert_eq!(table.get(Cause::Probe), Some(at(3500)));
}
