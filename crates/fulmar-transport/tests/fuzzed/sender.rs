//! A sender whose peer acknowledges anything, and a path that brings some of what is sent.

use std::collections::BTreeMap;
use std::time::Duration;

use fulmar_base::Time;
use fulmar_sim::Choices;
use fulmar_transport::{
    Budget, Composed, Numbering, Sender, StateNumber, SyncState, Synced, Trust, WorkBudget,
};

use crate::objects::Board;

const CELLS: usize = 16;

/// Source: docs/threat-model.md §6, sent states.
const SENT_STATES_MAX: usize = 32;

/// Attempts to bring the peer up to date in the end, of which each brings some of the rest.
const ROUNDS: usize = 200;

/// Does what the bytes choose, beside a list of all states as the peer would have made them.
///
/// # Panics
///
/// Where a difference starts from nowhere, leads elsewhere than its number says, or where the peer never comes to have what
/// is here.
pub(crate) fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let mut now = Time::ZERO;
    let mut board = Board::blank(CELLS);
    let window = Budget::of_bytes(usize::from(choices.byte()).max(5));
    let mut sender = Sender::new(now, board.clone(), window);
    let mut peer = BTreeMap::from([(StateNumber::ZERO, board.clone())]);
    while !choices.is_over() {
        match choices.below(8) {
            0..=1 => {
                let place = usize::from(choices.below(CELLS as u8));
                board.write(place, &[choices.byte()]);
                sender.set_current(now, board.clone());
            }
            2..=4 => {
                let trust = match choices.below(3) {
                    0 => Trust::NONE,
                    kind => Trust {
                        timeout: Duration::from_millis(choices.number() & 0xfff),
                        since: Time::ZERO,
                        is_lossy: kind == 1,
                    },
                };
                let numbering = match choices.below(2) {
                    0 => Numbering::Repeat,
                    _ => Numbering::New,
                };
                let budget = match choices.below(3) {
                    0 => Budget::of_bytes(choices.byte().into()),
                    _ => Budget::UNLIMITED,
                };
                let composed = sender.compose(now, trust, numbering, budget);
                apply(&mut peer, &composed);
            }
            5 => {
                let number = match choices.below(4) {
                    0 => StateNumber::new(choices.number()),
                    1 => sender.sent_number(),
                    _ => {
                        let back = u64::from(choices.byte() & 31);
                        StateNumber::new(sender.sent_number().get().saturating_sub(back))
                    }
                };
                let before = sender.acknowledged_number();
                let _ = sender.acknowledge(now, number);
                assert!(sender.acknowledged_number() >= before);
                assert!(peer.contains_key(&sender.acknowledged_number()));
            }
            6 => {
                let budget = Budget::of_bytes(choices.byte().into());
                if let Some(composed) = sender.compose_copy(now, budget) {
                    apply(&mut peer, &composed);
                }
            }
            _ => now += Duration::from_millis(choices.number() & 0xffff),
        }
        assert!((1..=SENT_STATES_MAX).contains(&sender.count()));
    }
    settle(&mut sender, &mut peer, now, &board);
}

/// Brings what was sent to the peer, which keeps all states that it has ever had.
fn apply(peer: &mut BTreeMap<StateNumber, Board>, composed: &Composed) {
    let Composed {
        source,
        target,
        throwaway,
        ..
    } = *composed;
    assert!(throwaway <= source && source <= target);
    let mut state = peer.get(&source).expect("it was sent").clone();
    let applied = state.apply(&composed.difference, &mut WorkBudget::unlimited());
    assert!(applied.is_ok());
    match peer.get(&target) {
        Some(there) => assert_eq!(*there, state, "a number stands for one state"),
        None => {
            peer.insert(target, state);
        }
    }
}

fn settle(
    sender: &mut Sender<Board>,
    peer: &mut BTreeMap<StateNumber, Board>,
    now: Time,
    board: &Board,
) {
    for _ in 0..ROUNDS {
        if sender.sync_state(now, Trust::NONE) == SyncState::Settled
            && peer.get(&sender.sent_number()) == Some(board)
        {
            return;
        }
        let composed = sender.compose(now, Trust::NONE, Numbering::Repeat, Budget::UNLIMITED);
        apply(peer, &composed);
        let _ = sender.acknowledge(now, composed.target);
    }
    panic!(
        "the peer has {:?}, and not {board:?}",
        peer.last_key_value()
    );
}
