use std::io::Read as _;

use fulmar_base::Ecn;
use fulmar_transport::Arrival;

use super::*;
use crate::net::udp::DATAGRAMS_PER_TURN;
use crate::net::{Handled, Report};

/// One that takes everything for genuine, or nothing.
struct Judge {
    is_genuine: bool,
    heard: Vec<(u64, Vec<u8>)>,
}

impl PathHandler for Judge {
    fn handle_datagram(&mut self, arrival: Arrival<'_>) -> Handled {
        self.heard
            .push((arrival.path.get(), arrival.bytes.to_vec()));
        Handled {
            is_genuine: self.is_genuine,
            is_fresh: self.is_genuine,
            work: 0,
        }
    }

    fn handle_report(&mut self, _report: Report) {}
}

fn at(seconds: u64) -> Time {
    Time::from_origin(Duration::from_secs(seconds))
}

fn batch(path: u64, bytes: &[u8]) -> Batch<'_> {
    Batch {
        path: PathId::new(path),
        ecn: Ecn::NotCapable,
        segment: 1000,
        bytes,
        is_whole: false,
    }
}

/// Opens a carrier, and returns the other end of its connection.
fn open(carriers: &mut Carriers, now: Time) -> UnixStream {
    let (ours, theirs) = UnixStream::pair().unwrap();
    for stream in [&ours, &theirs] {
        stream.set_nonblocking(true).unwrap();
    }
    carriers.open(now, ours, Some([192, 0, 2, 7].into()));
    theirs
}

/// Has something come from the one at that place.
fn hear(carriers: &mut Carriers, now: Time, index: usize, from: &UnixStream, is_genuine: bool) {
    (&mut &*from).write_all(b"\0\x02hi").unwrap();
    let mut judge = Judge {
        is_genuine,
        heard: Vec::new(),
    };
    let mut budget = TurnBudget::of(DATAGRAMS_PER_TURN);
    carriers.receive(now, index, &mut budget, &mut judge);
    let heard = judge.heard.iter().map(|(_, bytes)| bytes.as_slice());
    assert_eq!(heard.collect::<Vec<_>>(), [b"hi"]);
}

/// Returns what has been written to the one at that end.
fn written(carriers: &mut Carriers, theirs: &UnixStream) -> Vec<u8> {
    carriers.flush();
    let mut bytes = [0; 4096];
    let count = (&mut &*theirs).read(&mut bytes).unwrap_or(0);
    bytes[..count].to_vec()
}

/// Tells if the connection to that end was closed.
fn is_closed(theirs: &UnixStream) -> bool {
    matches!((&mut &*theirs).read(&mut [0; 1]), Ok(0))
}

#[test]
fn of_more_than_four_the_one_that_was_heard_longest_ago_goes() {
    let mut carriers = Carriers::default();
    let ends: Vec<UnixStream> = (0..CARRIERS_MAX as u64)
        .map(|second| open(&mut carriers, at(second)))
        .collect();
    assert!(!ends.iter().any(is_closed));
    hear(&mut carriers, at(10), 0, &ends[0], true);
    // What nobody has sealed is no sign of life.
    hear(&mut carriers, at(11), 1, &ends[1], false);
    let fifth = open(&mut carriers, at(20));
    let closed: Vec<bool> = ends.iter().map(is_closed).collect();
    assert_eq!(closed, [false, true, false, false]);
    assert!(!is_closed(&fifth));
}

#[test]
fn each_is_a_path_of_its_own_and_those_of_udp_are_others() {
    let mut carriers = Carriers::default();
    let ends = [open(&mut carriers, at(0)), open(&mut carriers, at(0))];
    let second = FIRST_STREAM_PATH + 1;
    assert_eq!(carriers.send(&batch(second, b"two")), Some(Ok(())));
    assert_eq!(carriers.send(&batch(7, b"udp")), None);
    assert_eq!(
        carriers.send(&batch(second + 1, b"nobody")),
        Some(Err(SendError::Unreachable))
    );
    assert_eq!(written(&mut carriers, &ends[1]), b"\0\x03two");
    assert_eq!(written(&mut carriers, &ends[0]), b"");
    let client = carriers.client(PathId::new(second));
    assert_eq!(client, Some([192, 0, 2, 7].into()));
    assert_eq!(carriers.client(PathId::new(7)), None);
}

#[test]
fn one_that_ends_is_a_path_that_is_gone() {
    let mut carriers = Carriers::default();
    let end = open(&mut carriers, at(0));
    drop(end);
    let mut judge = Judge {
        is_genuine: true,
        heard: Vec::new(),
    };
    let mut budget = TurnBudget::of(DATAGRAMS_PER_TURN);
    carriers.receive(at(1), 0, &mut budget, &mut judge);
    carriers.flush();
    assert_eq!(
        carriers.send(&batch(FIRST_STREAM_PATH, b"x")),
        Some(Err(SendError::Unreachable))
    );
}

#[test]
fn what_goes_over_udp_is_copied_to_those_that_were_heard_lately() {
    let mut carriers = Carriers::default();
    let ends = [open(&mut carriers, at(0)), open(&mut carriers, at(0))];
    assert!(!carriers.copy(at(1), &batch(7, b"early")));
    hear(&mut carriers, at(1), 1, &ends[1], true);
    assert!(carriers.copy(at(6), &batch(7, b"late")));
    assert_eq!(written(&mut carriers, &ends[1]), b"\0\x04late");
    assert_eq!(written(&mut carriers, &ends[0]), b"");
    let whole = Batch {
        is_whole: true,
        ..batch(7, b"probe")
    };
    assert!(!carriers.copy(at(6), &whole));
    assert!(!carriers.copy(at(7), &batch(7, b"later")));
}
