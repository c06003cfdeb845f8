use super::*;

fn at(millis: u64) -> Time {
    Time::from_origin(Duration::from_millis(millis))
}

/// A path that carries datagrams of so many bytes, and what was sent there.
struct Path {
    carries: usize,
    present: usize,
    now: u64,
    sent: Vec<usize>,
}

impl Path {
    fn carrying(carries: usize) -> Path {
        Path {
            carries,
            present: 1252,
            now: 10_000,
            sent: Vec::new(),
        }
    }

    fn found(&self) -> Found {
        Found {
            present: self.present,
            timeout: Duration::from_millis(100),
            heard: Some(at(self.now)),
        }
    }

    /// Searches until nothing is left to try.
    fn search(&mut self, search: &mut SizeSearch) {
        while let Some(due) = search.due(&self.found()) {
            self.now = self.now.max(due.since_origin().as_millis() as u64);
            let Some(bytes) = search.begin(at(self.now), &self.found()) else {
                continue;
            };
            self.sent.push(bytes);
            let number = self.sent.len() as u64;
            search.left(Sequence::new(number).unwrap());
            if bytes <= self.carries {
                self.present = search.answered(at(self.now + 40), number).unwrap();
            }
        }
    }
}

#[test]
fn the_longest_that_passes_is_found() {
    let found = |packet_bytes: usize| {
        let mut path = Path::carrying(packet_bytes - 28);
        let mut search = SizeSearch::default();
        search.want();
        path.search(&mut search);
        (path.present, path.sent.len())
    };
    assert_eq!(found(9000), (1472, 1));
    assert_eq!(found(1500), (1472, 1));
    assert_eq!(found(1492), (1464, 5));
    assert_eq!(found(1480), (1452, 8));
    assert_eq!(found(1420), (1392, 10));
    assert_eq!(found(1280), (1252, 12));
}

#[test]
fn nothing_is_tried_while_nothing_long_is_sent() {
    let mut path = Path::carrying(1472);
    let mut search = SizeSearch::default();
    assert_eq!(search.due(&path.found()), None);
    path.search(&mut search);
    assert!(path.sent.is_empty());
}

#[test]
fn below_what_is_usual_there_is_something_to_try_too() {
    let mut path = Path::carrying(1220);
    path.present = 500;
    let mut search = SizeSearch::default();
    search.lose_length(1252);
    search.want();
    path.search(&mut search);
    assert_eq!((path.present, path.sent.len()), (1052, 4));
}

#[test]
fn a_probe_that_is_lost_is_sent_three_times_a_second_apart() {
    let path = Path::carrying(1252);
    let mut search = SizeSearch::default();
    search.want();
    for now in [1000, 2000, 3000] {
        assert_eq!(search.begin(at(now), &path.found()), Some(1472));
        assert_eq!(search.due(&path.found()), Some(at(now + 1000)));
    }
    assert_eq!(search.begin(at(4000), &path.found()), Some(1444));
}

#[test]
fn what_is_lost_in_an_outage_is_not_too_long() {
    let mut search = SizeSearch::default();
    search.want();
    let found = Found {
        heard: Some(at(900)),
        ..Path::carrying(1472).found()
    };
    for now in 1..20 {
        assert_eq!(search.begin(at(now * 1000), &found), Some(1472));
    }
}

#[test]
fn only_the_answer_to_the_last_probe_counts() {
    let path = Path::carrying(1472);
    let mut search = SizeSearch::default();
    assert_eq!(search.answered(at(1), 0), None, "none was sent");
    search.want();
    search.begin(at(1000), &path.found());
    assert_eq!(search.answered(at(1001), 0), None, "it has not left");
    search.left(Sequence::new(7).unwrap());
    search.begin(at(2000), &path.found());
    search.left(Sequence::new(9).unwrap());
    for absurd in [0, 7, 8, 10, u64::MAX] {
        assert_eq!(search.answered(at(2001), absurd), None);
    }
    assert_eq!(search.answered(at(2040), 9), Some(1472));
    assert_eq!(search.answered(at(2041), 9), None, "once is enough");
}

#[test]
fn a_probe_that_our_own_system_refuses_is_not_sent_again() {
    let path = Path::carrying(1472);
    let mut search = SizeSearch::default();
    assert!(!search.refused(at(900)));
    search.want();
    search.begin(at(1000), &path.found());
    assert!(search.refused(at(1000)));
    assert_eq!(search.due(&path.found()), Some(at(1000)));
    assert_eq!(search.begin(at(1000), &path.found()), Some(1464));
}

#[test]
fn what_was_too_long_is_tried_again_later() {
    let mut path = Path::carrying(1392);
    let mut search = SizeSearch::default();
    search.want();
    path.search(&mut search);
    assert_eq!(path.present, 1392);
    path.carries = 1472;
    search.raise();
    assert_eq!(search.due(&path.found()), None, "nothing long is sent");
    search.want();
    path.search(&mut search);
    assert_eq!(path.present, 1472);
}

#[test]
fn a_probe_of_a_length_that_was_given_up_meanwhile_counts_for_no_other() {
    let path = Path::carrying(0);
    let mut search = SizeSearch::default();
    search.want();
    assert_eq!(search.begin(at(0), &path.found()), Some(1472));
    search.lose_length(1252);
    let short = Found {
        present: 500,
        heard: Some(at(60_000)),
        ..path.found()
    };
    let begun = [0, 3, 6, 9].map(|seconds| search.begin(at(10_000 + 1000 * seconds), &short));
    assert!(
        begun[..3].iter().all(|bytes| *bytes == begun[0]),
        "{begun:?}"
    );
    assert_ne!(begun[3], begun[0]);
}
