use super::*;
use crate::limits::CHAIN_STATES_MAX;
use crate::testing::{Board, Log};
use crate::{Numbers, WorkBudget};

mod links;
mod probes;
mod room;

const TIMEOUT: Duration = Duration::from_millis(200);
const CELLS: usize = 4000;

fn at(millis: u64) -> Time {
    Time::from_origin(Duration::from_millis(millis))
}

fn state(number: u64) -> StateNumber {
    StateNumber::new(number)
}

fn recent() -> Trust {
    Trust {
        timeout: TIMEOUT,
        since: at(0),
        is_lossy: false,
    }
}

fn board(text: &str) -> Board {
    let mut board = Board::blank(CELLS);
    board.write(0, text.as_bytes());
    board
}

fn log(text: &str) -> Log {
    let mut log = Log::default();
    log.append(text.as_bytes());
    log
}

fn sender() -> Sender<Board> {
    Sender::new(at(0), Board::blank(CELLS), Budget::UNLIMITED)
}

impl<S: Synced> Sender<S> {
    /// Sets the state and sends what the usual rules say.
    fn send(&mut self, now: u64, state: S) -> Composed {
        self.set_current(at(now), state);
        self.resend(now)
    }

    fn resend(&mut self, now: u64) -> Composed {
        self.compose(at(now), recent(), Numbering::Repeat, Budget::UNLIMITED)
    }
}

/// The numbers of an instruction: source, target, throwaway.
fn numbers(composed: &Composed) -> [u64; 3] {
    [composed.source, composed.target, composed.throwaway].map(StateNumber::get)
}

#[test]
fn each_change_gets_the_next_number_and_starts_from_what_is_acknowledged() {
    let mut sender = sender();
    assert_eq!(numbers(&sender.send(10, board("a"))), [0, 1, 0]);
    assert_eq!(numbers(&sender.send(20, board("ab"))), [0, 2, 0]);
    assert_eq!(
        sender.acknowledge(at(0), state(2)),
        Acknowledged::Newer { sent_at: at(20) }
    );
    assert_eq!(numbers(&sender.send(30, board("abc"))), [2, 3, 2]);
}

#[test]
fn nothing_new_is_an_empty_acknowledgement_under_a_new_number() {
    let mut sender = sender();
    sender.send(10, board("a"));
    sender.acknowledge(at(0), state(1));
    let composed = sender.resend(20);
    assert_eq!(numbers(&composed), [1, 2, 1]);
    assert!(composed.difference.is_empty() && composed.is_new);
    assert_eq!(numbers(&sender.resend(30)), [1, 3, 1]);
}

#[test]
fn what_was_sent_is_repeated_under_its_number_and_counts_as_sent_again() {
    let mut sender = sender();
    sender.send(10, board("a"));
    let again = sender.resend(1000);
    assert_eq!(numbers(&again), [0, 1, 0]);
    assert!(!again.is_new);
    assert_eq!(sender.sent_at(), at(1000));
    assert_eq!(
        sender.acknowledge(at(0), state(1)),
        Acknowledged::Newer { sent_at: at(1000) }
    );
}

#[test]
fn a_probe_takes_a_new_number_for_the_same_state() {
    let mut sender = sender();
    sender.send(10, board("a"));
    let probe = sender.compose(at(20), Trust::NONE, Numbering::New, Budget::UNLIMITED);
    assert_eq!(numbers(&probe), [0, 2, 0]);
    assert!(probe.is_new && !probe.difference.is_empty());
}

#[test]
fn a_large_difference_starts_from_the_assumed_state() {
    let mut sender = sender();
    sender.send(10, board(&"x".repeat(300)));
    // 1500 bytes from state 0, five from state 1.
    let mut next = board(&"x".repeat(300));
    next.write(0, b"y");
    let composed = sender.send(20, next);
    assert_eq!(numbers(&composed), [1, 2, 0]);
    assert_eq!(composed.difference.len(), 5);
}

#[test]
fn prospective_resend_costs_less_than_100_bytes_and_1000_in_all() {
    let cases = [
        (0, 0, true),
        (0, 5, false),
        (50, 50, true),
        (5000, 5000, true),
        (5000, 6000, true),
        (5001, 5000, false),
        (149, 50, true),
        (150, 50, false),
        (999, 950, true),
        (1000, 950, false),
    ];
    for (resend, usual, preferred) in cases {
        assert_eq!(
            is_preferred(resend, usual),
            preferred,
            "{resend} for {usual}"
        );
    }
}

#[test]
fn a_state_is_assumed_for_the_timeout_and_100_ms() {
    let mut sender = sender();
    sender.send(1000, board("a"));
    let sync_state = |now| sender.sync_state(at(now), recent());
    assert_eq!(sync_state(1299), SyncState::Unacknowledged);
    assert_eq!(sync_state(1300), SyncState::Unassumed);
}

#[test]
fn the_first_old_state_ends_what_is_assumed() {
    let mut sender = sender();
    let long = |text: &str| board(&text.repeat(300));
    sender.send(1000, long("x"));
    sender.send(1200, long("y"));
    sender.send(1250, long("z"));
    let assumed = |now| sender.assumed(at(now), recent()).number.get();
    assert_eq!(assumed(1299), 3);
    assert_eq!(assumed(1300), 0);
}

#[test]
fn what_was_sent_before_the_way_changed_is_not_assumed() {
    let mut sender = sender();
    sender.send(1000, board("a"));
    let trust = Trust {
        since: at(1001),
        ..recent()
    };
    assert_eq!(sender.sync_state(at(1002), trust), SyncState::Unassumed);
    sender.resend(1002);
    assert_eq!(
        sender.sync_state(at(1002), trust),
        SyncState::Unacknowledged
    );
}

#[test]
fn on_a_clean_path_a_number_without_an_answer_makes_nothing_doubtful() {
    let mut sender = sender();
    sender.compose_number(at(1000));
    sender.send(9000, board("a"));
    let sync_state = |now, trust| sender.sync_state(at(now), trust);
    assert_eq!(sync_state(9001, recent()), SyncState::Unacknowledged);
    assert_eq!(sync_state(19_000, recent()), SyncState::Unassumed);
    let lossy = Trust {
        is_lossy: true,
        ..recent()
    };
    assert_eq!(sync_state(9001, lossy), SyncState::Unassumed);
}

#[test]
fn standing_follows_change_sending_and_acknowledgement() {
    let mut sender = sender();
    let sync_state = |sender: &Sender<Board>| sender.sync_state(at(30), recent());
    assert_eq!(sync_state(&sender), SyncState::Settled);
    sender.set_current(at(10), board("a"));
    sender.set_current(at(20), board("ab"));
    assert_eq!(sync_state(&sender), SyncState::Unsent { changed: at(10) });
    sender.resend(30);
    assert_eq!(sync_state(&sender), SyncState::Unacknowledged);
    sender.acknowledge(at(0), state(1));
    assert_eq!(sync_state(&sender), SyncState::Settled);
}

#[test]
fn a_change_taken_back_before_it_was_sent_is_none() {
    let mut sender = sender();
    sender.set_current(at(10), board("a"));
    sender.set_current(at(20), board(""));
    assert_eq!(sender.sync_state(at(20), recent()), SyncState::Settled);
    sender.set_current(at(30), board("b"));
    let sync_state = sender.sync_state(at(30), recent());
    assert_eq!(sync_state, SyncState::Unsent { changed: at(30) });
}

#[test]
fn a_change_taken_back_after_it_was_sent_is_sent_with_content_and_waited_for() {
    let mut sender = sender();
    sender.send(10, board("a"));
    let back = sender.send(20, board(""));
    // Not the empty difference from state 0, which the peer would be slow to acknowledge.
    assert_eq!(numbers(&back), [1, 2, 0]);
    assert!(!back.difference.is_empty());
    assert_eq!(
        sender.sync_state(at(30), recent()),
        SyncState::Unacknowledged
    );
    // If that was lost the peer may still have state 1, and an empty difference is all there is.
    let again = sender.resend(1000);
    assert_eq!(numbers(&again), [0, 3, 0]);
    assert!(again.difference.is_empty());
    sender.acknowledge(at(0), state(3));
    assert_eq!(sender.sync_state(at(1000), recent()), SyncState::Settled);
}

#[test]
fn acknowledgements_of_states_that_are_not_kept_are_ignored() {
    let mut sender = sender();
    sender.send(10, board("a"));
    sender.send(20, board("b"));
    for number in [3, 77, u64::MAX] {
        assert_eq!(
            sender.acknowledge(at(0), state(number)),
            Acknowledged::Unknown
        );
    }
    assert_eq!(sender.acknowledge(at(0), state(0)), Acknowledged::Known);
    sender.acknowledge(at(0), state(2));
    assert_eq!(sender.acknowledge(at(0), state(1)), Acknowledged::Unknown);
    assert_eq!(sender.acknowledged_number(), state(2));
}

#[test]
fn of_more_than_32_states_the_sixteenth_from_the_end_goes() {
    let mut sender = sender();
    let numbers = |sender: &Sender<Board>| -> Vec<u64> {
        sender.sent.iter().map(|sent| sent.number.get()).collect()
    };
    for n in 1..32 {
        sender.send(n, board(&n.to_string()));
    }
    assert_eq!(numbers(&sender), (0..32).collect::<Vec<_>>());
    sender.send(32, board("32"));
    let expected: Vec<u64> = (0..17).chain(18..33).collect();
    assert_eq!(numbers(&sender), expected);
    for n in 33..1000 {
        sender.send(n, board(&n.to_string()));
        assert_eq!(sender.count(), SENT_STATES_MAX);
    }
    let expected: Vec<u64> = (0..17).chain(985..1000).collect();
    assert_eq!(numbers(&sender), expected);
}

#[test]
fn a_budget_makes_a_real_state_in_between() {
    let mut sender = Sender::new(at(0), Log::default(), Budget::UNLIMITED);
    sender.set_current(at(10), log("abcdef"));
    let compose = |sender: &mut Sender<Log>, bytes| {
        sender.compose(at(10), recent(), Numbering::Repeat, Budget::of_bytes(bytes))
    };
    let first = compose(&mut sender, 4);
    assert_eq!(
        (numbers(&first), first.difference),
        ([0, 1, 0], b"abcd".to_vec())
    );
    assert_eq!(
        sender.sync_state(at(10), recent()),
        SyncState::Unsent { changed: at(10) }
    );
    let second = compose(&mut sender, 4);
    assert_eq!(
        (numbers(&second), second.difference),
        ([1, 2, 0], b"ef".to_vec())
    );
    assert_eq!(
        sender.sync_state(at(10), recent()),
        SyncState::Unacknowledged
    );
}

#[test]
fn an_object_that_ignores_the_budget_is_not_sent() {
    #[derive(Clone)]
    struct Stubborn(u8);

    impl Synced for Stubborn {
        fn is_same(&self, other: &Stubborn) -> bool {
            self.0 == other.0
        }

        fn diff_from(&self, _: &Stubborn, _: Budget) -> Difference<Stubborn> {
            Difference::complete(vec![self.0; 100])
        }

        fn apply(&mut self, _: &[u8], _: &mut WorkBudget) -> Result<(), crate::ApplyError> {
            Ok(())
        }

        fn held_bytes(&self, _: Option<&Stubborn>) -> usize {
            1
        }
    }

    let mut sender = Sender::new(at(0), Stubborn(0), Budget::UNLIMITED);
    sender.set_current(at(10), Stubborn(1));
    let composed = sender.compose(at(10), recent(), Numbering::Repeat, Budget::of_bytes(99));
    assert!(composed.difference.is_empty());
    let sync_state = sender.sync_state(at(10), recent());
    assert!(matches!(sync_state, SyncState::Unsent { .. }));
}

#[test]
fn the_last_state_has_the_number_of_the_end() {
    let mut sender = sender();
    sender.set_current(at(10), board("bye"));
    for now in [10, 20, 1000] {
        let end = sender.compose(at(now), recent(), Numbering::Shutdown, Budget::UNLIMITED);
        assert_eq!(numbers(&end), [0, u64::MAX, 0]);
        assert_eq!(sender.count(), 2);
    }
    sender.acknowledge(at(0), StateNumber::SHUTDOWN);
    assert_eq!(sender.acknowledged_number(), StateNumber::SHUTDOWN);
}

#[test]
fn the_end_comes_after_what_does_not_fit_with_it() {
    let mut sender = Sender::new(at(0), Log::default(), Budget::UNLIMITED);
    sender.set_current(at(10), log("abcdef"));
    let mut end = || {
        let budget = Budget::of_bytes(4);
        sender.compose(at(10), recent(), Numbering::Shutdown, budget)
    };
    assert_eq!(numbers(&end()), [0, 1, 0]);
    assert_eq!(numbers(&end()), [1, u64::MAX, 0]);
}

#[test]
fn an_object_that_ends_within_the_window_needs_no_acknowledgement_for_its_end() {
    let mut sender = Sender::new(at(0), Log::default(), Budget::of_bytes(4));
    sender.set_current(at(10), log("abcdefghij"));
    sender.end_within_window();
    let end = sender.compose(at(10), recent(), Numbering::Shutdown, Budget::UNLIMITED);
    assert_eq!(numbers(&end), [0, u64::MAX, 0]);
    assert_eq!(end.difference, b"abcd");
}

#[test]
fn what_is_acknowledged_is_forgotten_everywhere() {
    let mut sender = Sender::new(at(0), Log::default(), Budget::UNLIMITED);
    sender.send(10, log("abc"));
    sender.send(20, log("abcdef"));
    sender.acknowledge(at(0), state(1));
    let kept: Vec<_> = sender.sent.iter().map(|s| s.state.kept_bytes()).collect();
    assert_eq!((kept, sender.current().kept_bytes()), (vec![0, 3], 3));
}

#[test]
fn the_window_opens_as_the_peer_acknowledges() {
    let mut sender = Sender::new(at(0), Log::default(), Budget::of_bytes(4));
    sender.set_current(at(10), log("abcdefghij"));
    let first = sender.resend(10);
    assert_eq!(first.difference, b"abcd");
    assert_eq!(
        sender.sync_state(at(10), recent()),
        SyncState::Unacknowledged
    );
    sender.acknowledge(at(20), state(1));
    assert_eq!(
        sender.sync_state(at(20), recent()),
        SyncState::Unsent { changed: at(20) }
    );
    let second = sender.resend(20);
    assert_eq!(
        (numbers(&second), second.difference),
        ([1, 2, 1], b"efgh".to_vec())
    );
}

#[test]
fn states_never_lead_back_however_many_are_lost() {
    let mut sender = Sender::new(at(0), Log::default(), Budget::of_bytes(4));
    let mut reached = 0;
    for n in 0..100 {
        sender.set_current(at(n * 400), log(&"x".repeat(n as usize)));
        let composed = sender.resend(n * 400);
        let last = sender.last().state.end();
        assert!(
            last >= reached,
            "{composed:?} leads back from {reached} to {last}"
        );
        reached = last;
        if n % 7 == 0 {
            let number = sender.sent_number();
            sender.acknowledge(at(n * 400), number);
        }
    }
    assert!(reached > 50);
}

#[test]
fn the_end_waits_for_what_is_beyond_the_window() {
    let mut sender = Sender::new(at(0), Log::default(), Budget::of_bytes(4));
    sender.set_current(at(10), log("abcdef"));
    let end = |sender: &mut Sender<Log>| {
        sender.compose(at(10), recent(), Numbering::Shutdown, Budget::UNLIMITED)
    };
    assert_eq!(numbers(&end(&mut sender)), [0, 1, 0]);
    sender.acknowledge(at(10), state(1));
    assert_eq!(numbers(&end(&mut sender)), [1, u64::MAX, 1]);
}
