//! Differences between the screens of a program, there and back: the contract of `Synced`.

use std::rc::Rc;

use fulmar_core::HostScreen;
use fulmar_sim::Choices;
use fulmar_terminal::{Size, Terminal, Vocabulary};
use fulmar_transport::{Budget, Reached, StateNumber, Synced, WorkBudget};

/// Has a program write, and takes the difference between what was there and what is there then, in pieces of any length.
///
/// # Panics
///
/// Where a difference leads elsewhere than it says, or is empty between screens that differ.
pub(crate) fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let size = size(&mut choices);
    let mut terminal = Terminal::new(size);
    let first = HostScreen::blank(size);
    let mut before = first.clone();
    let mut shown = first.clone();
    let mut echo_ack = StateNumber::ZERO;
    while !choices.is_over() {
        match choices.below(8) {
            0 => terminal.resize(self::size(&mut choices)),
            1 => echo_ack = echo_ack.next(),
            _ => terminal.process(choices.bytes()),
        }
        let budget = match choices.below(4) {
            0 => Budget::of_bytes(usize::from(choices.byte()) * 4),
            _ => Budget::UNLIMITED,
        };
        let after = first.with(Rc::new(terminal.screen().clone()), echo_ack);
        before = advanced(&before, &mut shown, &after, budget);
    }
}

fn size(choices: &mut Choices<'_>) -> Size {
    let (rows, columns) = (choices.below(40), choices.below(100));
    let size = Size::new(1 + u16::from(rows), 1 + u16::from(columns));
    size.expect("it is small")
}

/// Returns the state to which the difference leads. `shown` is what the differences up to there have made.
fn advanced(
    before: &HostScreen,
    shown: &mut HostScreen,
    after: &HostScreen,
    budget: Budget,
) -> HostScreen {
    let difference = after.diff_from(before, budget);
    let applied = shown.apply(&difference.bytes, &mut WorkBudget::unlimited());
    assert!(applied.is_ok(), "{applied:?}");
    let reached = match difference.reached {
        Reached::Target => {
            let is_empty = difference.bytes.is_empty();
            assert_eq!(is_empty, after.is_same(before));
            after.clone()
        }
        Reached::Between(between) => {
            assert!(budget != Budget::UNLIMITED);
            between
        }
    };
    // A bell is heard once, however many there were: only what is seen has to be the same.
    let seen = |state: &HostScreen| state.screen().projected(&Vocabulary::STOCK);
    assert!(seen(shown) == seen(&reached), "it leads elsewhere");
    assert_eq!(shown.echo_ack(), reached.echo_ack());
    reached
}
