//! Reports about the path, true or forged.
//!
//! Source: docs/threat-model.md §7.

use super::*;
use fulmar_base::SendError;

const ERRORS: [SendError; 7] = [
    SendError::TooBig,
    SendError::Unreachable,
    SendError::Refused,
    SendError::SourceGone,
    SendError::Forbidden,
    SendError::NoRoom,
    SendError::Other,
];

/// A conversation with pauses, in which every 7 ms each end is told something. Returns all that was
/// sent, and when.
fn told(is_told: bool) -> Vec<(Time, Role, usize, Cause)> {
    let mut pair = Pair::new(ms(50));
    pair.type_text(b"begin");
    pair.run_for(ms(1000));
    for turn in 0..3000_u64 {
        // Something is typed and written for some seconds, and then nothing.
        if turn % 40 == 0 && turn % 1500 < 700 {
            pair.type_text(&[b'a'; 40]);
            pair.write((turn % 500) as usize, &[turn as u8; 900]);
        }
        pair.run_for(ms(7));
        if is_told {
            let error = ERRORS[turn as usize % ERRORS.len()];
            assert!(!pair.client.handle_report(pair.now, CLIENT_PATH, error));
            assert!(!pair.server.handle_report(pair.now, SERVER_PATH, error));
        }
    }
    assert_eq!(pair.client.remote(), &pair.board);
    assert_eq!(pair.server.remote().end(), pair.log.end());
    let sent = pair.sent.iter();
    sent.map(|sent| (sent.at, sent.from, sent.bytes, sent.cause))
        .collect()
}

#[test]
fn reports_change_nothing_about_a_conversation_that_goes_well() {
    let (with, without) = (told(true), told(false));
    assert!(without.len() > 100, "{}", without.len());
    assert_eq!(with, without);
}

#[test]
fn a_report_is_believed_when_nothing_has_been_answered_for_a_second() {
    let mut pair = Pair::new(ms(50));
    pair.type_text(b"begin");
    pair.run_for(ms(1000));
    pair.loses = Box::new(|_| true);
    pair.type_text(b"x");
    pair.run_for(ms(900));
    let refused = SendError::Refused;
    assert!(!pair.client.handle_report(pair.now, CLIENT_PATH, refused));
    assert_eq!(pair.client.counters().send_errors, 0);
    pair.run_for(ms(200));
    let elsewhere = PathId::new(9);
    assert!(!pair.client.handle_report(pair.now, elsewhere, refused));
    assert!(pair.client.handle_report(pair.now, CLIENT_PATH, refused));
    let counters = pair.client.counters();
    assert_eq!((counters.send_errors, counters.reports), (1, 3));
}

#[test]
fn datagrams_become_longer_again_after_ten_minutes_or_when_the_way_changes() {
    let longest = |wait: Duration, hint: Option<Hint>| {
        let mut pair = Pair::new(ms(50));
        pair.type_text(b"begin");
        pair.run_for(ms(1000));
        let too_big = SendError::TooBig;
        pair.client
            .handle_send_error(pair.now, CLIENT_PATH, too_big);
        pair.run_for(wait);
        if let Some(hint) = hint {
            pair.client.handle_hint(pair.now, hint);
        }
        let before = pair.flights.len();
        let noise = |n: u64| (n.wrapping_mul(n).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8;
        pair.type_text(&(0..5000).map(noise).collect::<Vec<u8>>());
        pair.run_for(ms(500));
        let flights = pair.flights[before..].iter();
        let flights = flights.filter(|flight| flight.from == Role::Client);
        flights.map(|flight| flight.bytes.len()).max()
    };
    assert_eq!(longest(ms(590_000), None), Some(500));
    assert_eq!(longest(ms(601_000), None), Some(1252));
    assert_eq!(longest(ms(1000), Some(Hint::AddressChanged)), Some(1252));
}
