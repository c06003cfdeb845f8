use std::time::Duration;

use super::*;
use crate::StateNumber;

fn at(seconds: u64) -> Time {
    Time::from_origin(Duration::from_secs(seconds))
}

#[test]
fn what_is_told_at_first_is_kept_within_what_datagrams_may_have() {
    let lengths = [0, 500, 1252, 2048, 9000].map(|base| PathMtu::new(base).datagram_bytes());
    assert_eq!(lengths, [500, 500, 1252, 2048, 2048]);
}

#[test]
fn a_refusal_shortens_once_and_for_ten_minutes() {
    let mut path_mtu = PathMtu::new(1252);
    assert!(path_mtu.refused(at(1)));
    assert!(!path_mtu.refused(at(2)));
    path_mtu.raise_in_time(at(601));
    assert_eq!(path_mtu.datagram_bytes(), 500);
    path_mtu.raise_in_time(at(602));
    assert_eq!(path_mtu.datagram_bytes(), 1252);
}

#[test]
fn on_another_path_the_limit_is_forgotten() {
    let mut path_mtu = PathMtu::new(1216);
    assert!(path_mtu.refused(at(1)));
    path_mtu.path_changed();
    assert_eq!(path_mtu.datagram_bytes(), 1216);
}

#[test]
fn a_black_hole_shortens_and_is_looked_for_anew() {
    let mut path_mtu = PathMtu::new(1252);
    let mut miss = |round: u64| {
        let [acknowledged, lost, short] = [round - 1, round + 10, round].map(StateNumber::new);
        for (millis, target, longest) in [(0, lost, 1252), (200, short, 300)] {
            path_mtu.sent(Departed {
                at: at(round) + Duration::from_millis(millis),
                source: acknowledged,
                target,
                acknowledged,
                longest,
                datagrams: 1,
            });
        }
        let is_found = path_mtu.acknowledged(Arrived {
            now: at(round) + Duration::from_millis(240),
            number: short,
            round_trip: Duration::from_millis(40),
            timeout: Duration::from_millis(60),
            loss: 0.0,
        });
        (is_found, path_mtu.datagram_bytes())
    };
    let found: Vec<_> = (1..=4).map(&mut miss).collect();
    assert_eq!(
        found,
        [(false, 1252), (false, 1252), (true, 500), (false, 500)]
    );
}

#[test]
fn what_is_presumed_ends_by_time_only_where_no_probes_find_out() {
    for probes in [false, true] {
        let mut path_mtu = PathMtu::new(1252);
        if probes {
            path_mtu.allow_probes();
        }
        for round in 0..8 {
            path_mtu.sent(Departed {
                at: at(round),
                source: StateNumber::ZERO,
                target: StateNumber::new(1 + round),
                acknowledged: StateNumber::ZERO,
                longest: 1252,
                datagrams: 2,
            });
        }
        assert!(path_mtu.presume(at(9), Duration::from_millis(100), 0.0, Some(at(9))));
        // A search that has begun goes on.
        let heard = Some(at(3600));
        let begin = |path_mtu: &mut PathMtu, second| {
            let timeout = Duration::from_millis(100);
            let bytes = path_mtu.begin_probe(at(second), timeout, heard);
            path_mtu.raise_in_time(at(second));
            bytes
        };
        let begun: Vec<_> = (0..20)
            .filter_map(|nth| begin(&mut path_mtu, 10 + 3 * nth))
            .collect();
        let longest = begun.iter().filter(|bytes| **bytes == 1472).count();
        assert_eq!(longest, if probes { 3 } else { 0 }, "{begun:?}");
        let present = path_mtu.datagram_bytes();
        assert_eq!(present, if probes { 500 } else { 1252 });
    }
}
