//! The measurements of what a remote shell costs by itself mean what they say, over real links.
//!
//! A busy machine makes every time longer, so there are lower bounds only.

mod support;

use std::time::Duration;

use fulmar_lab::instrument::lan::{
    EchoCost, FloodInterrupt, FloodSource, IdleTraffic, LoginTime, StartTime,
};
use support::measuring::{measured, value};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn an_echo_takes_the_link_and_what_the_peer_adds() {
    let (round_trip, keys) = (ms(30), 12);
    let Some(measured) = measured("ssh", &EchoCost { round_trip, keys }) else {
        return;
    };
    let verdict = measured.verdict.as_ref().expect("somebody typed");
    assert_eq!(verdict.keys.len(), keys);
    assert!(verdict.delivery.is_faithful() && verdict.is_settled);
    assert!(value(&measured, "link") >= 30.0 && value(&measured, "echo") >= 30.0);
    let cost = value(&measured, "echo") - value(&measured, "link");
    assert!((value(&measured, "cost") - cost).abs() < 1e-9);
}

#[test]
fn a_flood_ends_a_round_trip_after_it_was_interrupted_at_the_earliest() {
    for (peer, source) in [("ssh", FloodSource::Cat), ("fulmar", FloodSource::Yes)] {
        let flood = FloodInterrupt {
            round_trip: ms(40),
            link: "rate 100mbit",
            source,
            times: 1,
        };
        let Some(measured) = measured(peer, &flood) else {
            return;
        };
        let [prompt, answer] =
            ["interrupt_to_prompt", "interrupt_to_answer"].map(|name| value(&measured, name));
        assert!(prompt >= 40.0, "{peer}: {prompt}");
        assert!(answer >= prompt + 40.0, "{peer}: {prompt} {answer}");
        assert!(value(&measured, "packets_down") > 0.0);
    }
}

#[test]
fn a_start_takes_round_trips() {
    let start = StartTime {
        round_trips: vec![10, 60],
        times: 1,
    };
    let Some(measured) = measured("fulmar", &start) else {
        return;
    };
    for (name, round_trip) in [
        ("to_prompt_10ms", 10.0),
        ("to_prompt_60ms", 60.0),
        ("ssh_to_prompt_60ms", 60.0),
    ] {
        // A connection, both versions, the keys, who it is, a shell: RFC 9293 §3.5, RFC 4253 §4.2 and §7,
        // RFC 4252, RFC 4254 §6. Nobody does that in fewer than four.
        let took = value(&measured, name);
        assert!(took >= 4.0 * round_trip, "{name}: {took}");
    }
    assert_eq!(measured.series["to_prompt_by_round_trip"].len(), 2);
    assert!(measured.figures.contains_key("round_trips"));
}

#[test]
fn a_login_is_timed_with_its_steps_and_beside_ssh() {
    let login = LoginTime {
        round_trip: ms(10),
        times: 1,
    };
    let Some(measured) = measured("fulmar", &login) else {
        return;
    };
    // As above.
    assert!(value(&measured, "to_prompt") >= 4.0 * 10.0);
    assert!(measured.figures.contains_key("over_ssh"));
    let [hello, answer] = ["step_hello", "step_first_answer"].map(|step| value(&measured, step));
    // The answer is one round trip after the remote end has begun to listen: docs/login.md.
    assert!(hello >= 4.0 * 10.0 && answer > hello, "{hello} {answer}");
}

#[test]
fn who_is_idle_still_says_that_it_is_there() {
    let idle = IdleTraffic {
        quiet: ms(500),
        time: ms(7000),
    };
    let Some(measured) = measured("fulmar", &idle) else {
        return;
    };
    // docs/protocol.md §5.4: silence lasts for 3 s at most, so in 7 s there is a datagram each way.
    for way in ["up", "down"] {
        let packets = value(&measured, &format!("packets_{way}_a_minute"));
        assert!(packets >= 60.0 / 8.0, "{way}: {packets}");
        let bytes = value(&measured, &format!("bytes_{way}_a_minute"));
        assert!(bytes >= packets * 28.0, "{way}: {bytes}");
    }
}
