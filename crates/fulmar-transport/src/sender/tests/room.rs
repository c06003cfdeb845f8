use super::*;
use crate::WorkBudget;

/// A state that is as large as it says and shares nothing.
#[derive(Clone, Copy, Debug)]
struct Bulky {
    version: u64,
    bytes: usize,
}

impl Synced for Bulky {
    fn is_same(&self, other: &Bulky) -> bool {
        self.version == other.version
    }

    fn diff_from(&self, source: &Bulky, _: Budget) -> Difference<Bulky> {
        let steps = self.version - source.version;
        Difference::complete(vec![0; 1000 * steps as usize])
    }

    fn apply(&mut self, _: &[u8], _: &mut WorkBudget) -> Result<(), crate::ApplyError> {
        Ok(())
    }

    fn held_bytes(&self, neighbour: Option<&Bulky>) -> usize {
        match neighbour {
            Some(neighbour) if neighbour.is_same(self) => 0,
            _ => self.bytes,
        }
    }
}

fn bulky(version: u64, bytes: usize) -> Bulky {
    Bulky { version, bytes }
}

impl Sender<Bulky> {
    /// The versions of which states are kept.
    fn kept(&self) -> Vec<u64> {
        self.sent.iter().map(|sent| sent.state.version).collect()
    }
}

impl<S: Synced> Sender<S> {
    /// Holds what each state is said to hold against one reckoned from nothing.
    fn assert_measured(&self) {
        let mut before = None;
        for sent in &self.sent {
            assert_eq!(sent.bytes, sent.state.held_bytes(before));
            before = Some(&sent.state);
        }
    }
}

#[test]
fn sent_states_are_kept_within_64_mib() {
    const MIB: usize = 1024 * 1024;
    let mut sender = Sender::new(at(0), bulky(0, 16 * MIB), Budget::UNLIMITED);
    for n in 1..4 {
        sender.send(20 * n, bulky(n, 16 * MIB));
    }
    assert_eq!(sender.held_bytes(), SENT_BYTES_MAX);
    assert_eq!(sender.kept(), [0, 1, 2, 3]);
    sender.send(80, bulky(4, 1));
    assert_eq!(sender.held_bytes(), 48 * MIB + 1);
    assert_eq!(sender.count(), 4);
}

#[test]
fn what_sent_states_share_counts_once() {
    let mut sender = sender();
    sender.bytes_max = CELLS + 31;
    for n in 1..100 {
        let mut board = Board::blank(CELLS);
        board.write(n, b"x");
        sender.send(n as u64, board);
        sender.assert_measured();
    }
    // Each differs from the one before it in two cells, the second from the first in one.
    assert_eq!(sender.held_bytes(), CELLS + 31);
    assert_eq!(sender.count(), 17);
}

#[test]
fn the_acknowledged_and_the_newest_state_are_kept_however_large_they_are() {
    let mut sender = Sender::new(at(0), bulky(0, 1000), Budget::UNLIMITED);
    sender.bytes_max = 1000;
    for n in 1..10 {
        sender.send(20 * n, bulky(n, 1000));
        assert_eq!(sender.kept(), [0, n]);
    }
    // And the peer can be met all the same.
    let newest = sender.sent_number();
    let newer = sender.acknowledge(at(200), newest);
    assert_eq!(newer, Acknowledged::Newer { sent_at: at(180) });
    assert_eq!(sender.send(220, bulky(10, 1000)).source, newest);
}

#[test]
fn what_probes_lead_to_is_within_the_cap_too() {
    let mut sender = sender();
    sender.bytes_max = CELLS + 700;
    for n in 1..60 {
        let mut board = Board::blank(CELLS);
        board.write(0, &[b'a' + n as u8 % 26; 600]);
        sender.set_current(at(1000 * n), board);
        let probe = sender.compose_probe(at(1000 * n));
        assert!(sender.sent.iter().any(|sent| sent.number == probe.target));
        sender.resend(1000 * n + 500);
        sender.assert_measured();
        assert!(sender.held_bytes() <= sender.bytes_max || sender.count() == 2);
    }
}

#[test]
fn a_state_that_was_forgotten_is_no_longer_waited_for_than_one_that_was_lost() {
    let mut sender = Sender::new(at(0), bulky(0, 0), Budget::UNLIMITED);
    sender.bytes_max = 3000;
    // None arrives, and each but the first starts from the one before.
    let mut before = state(0);
    for n in 1..=15 {
        let composed = sender.send(20 * n, bulky(n, 1000));
        assert_eq!(composed.source, before);
        before = composed.target;
    }
    // The first was sent 300 ms ago, so from here on none starts from what may not be there …
    for n in 16..100 {
        let composed = sender.send(20 * n, bulky(n, 1000));
        assert_eq!(composed.source, state(0), "{n}");
        assert!(sender.held_bytes() <= 3000 && sender.count() <= 4);
    }
    // … until one is acknowledged.
    let newest = sender.sent_number();
    sender.acknowledge(at(2000), newest);
    let before = sender.send(2020, bulky(100, 1000)).target;
    assert_eq!(sender.send(2040, bulky(101, 1000)).source, before);
}

/// A peer that hears what is sent after half a round trip, if it is not lost, and 100 ms later tells the
/// newest state that it holds.
struct FarPeer {
    round_trip: u64,
    held: Vec<u64>,
    /// The instructions under way: arrival, source, and target.
    underway: VecDeque<(u64, u64, u64)>,
    tells_at: Option<u64>,
    told: VecDeque<(u64, u64)>,
}

impl FarPeer {
    fn new(round_trip: u64) -> FarPeer {
        FarPeer {
            round_trip,
            held: vec![0],
            underway: VecDeque::new(),
            tells_at: None,
            told: VecDeque::new(),
        }
    }

    fn take(&mut self, now: u64, composed: &Composed) {
        let [source, target, throwaway] = numbers(composed);
        self.held.retain(|held| *held >= throwaway);
        let arrival = now + self.round_trip / 2;
        self.underway.push_back((arrival, source, target));
    }

    /// Returns the acknowledgement that arrives now.
    fn turn(&mut self, now: u64) -> Option<u64> {
        while let Some(&(_, source, target)) = self.underway.front().filter(|one| one.0 <= now) {
            self.underway.pop_front();
            if self.held.contains(&source) {
                self.held.push(target);
                self.tells_at.get_or_insert(now + 100);
            }
        }
        if self.tells_at.is_some_and(|at| at <= now) {
            self.tells_at = None;
            let newest = self.held.iter().max().copied().unwrap_or_default();
            self.told.push_back((now + self.round_trip / 2, newest));
        }
        let (_, number) = self.told.front().filter(|told| told.0 <= now)?;
        let number = *number;
        self.told.pop_front();
        Some(number)
    }
}

/// Returns how many of a peer's acknowledgements were of any use in a minute in which everything
/// changes all the time and there is room for so many states.
fn met_in_a_minute(room: usize, round_trip: u64, loss_percent: u64) -> usize {
    let mut random = fulmar_sim::Random::stream(7, 0);
    let mut is_lost = || random.below(100) < loss_percent;
    let trust = Trust {
        timeout: Duration::from_millis((3 * round_trip / 2).max(50)),
        since: at(0),
        is_lossy: loss_percent > 0,
    };
    let mut sender = Sender::new(at(0), bulky(0, 1000), Budget::UNLIMITED);
    sender.bytes_max = 1000 * room;
    let mut peer = FarPeer::new(round_trip);
    let interval = (round_trip / 2).clamp(20, 250);
    let mut met = 0;
    for now in 1..60_000 {
        if let Some(number) = peer.turn(now).filter(|_| !is_lost()) {
            let acknowledged = sender.acknowledge(at(now), state(number));
            met += usize::from(matches!(acknowledged, Acknowledged::Newer { .. }));
        }
        if now % interval == 0 {
            sender.set_current(at(now), bulky(now, 1000));
            let composed = sender.compose(at(now), trust, Numbering::Repeat, Budget::UNLIMITED);
            if !is_lost() {
                peer.take(now, &composed);
            }
        }
        assert!(sender.held_bytes() <= sender.bytes_max);
    }
    met
}

#[test]
fn a_far_peer_is_met_however_little_room_there_is_and_whatever_is_lost() {
    for room in [3, 4, 8, 64] {
        for round_trip in [10, 40, 100, 600, 2000] {
            for loss in [0, 10, 30] {
                let met = met_in_a_minute(room, round_trip, loss);
                assert!(met > 3, "{room} states, {round_trip} ms, {loss} %: {met}");
            }
        }
    }
}
