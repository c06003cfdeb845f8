//! Differences of a screen.

use fulmar_core::HostScreen;
use fulmar_sim::Choices;
use fulmar_terminal::Size;
use fulmar_transport::limits::{INSTRUCTION_BYTES_MAX, INSTRUCTION_WORK_MAX};
use fulmar_transport::{Synced, WorkBudget, wire};

/// The work that one control function may make beyond the budget: all cells of the largest screen, copied and changed.
const FUNCTION_WORK_MAX: u64 = 4 * Size::CELLS_MAX as u64;

/// Applies differences, as they are or put together from fields, one after the other.
///
/// # Panics
///
/// Where a screen becomes larger, or more work is done, than may be.
pub(crate) fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let mut screen = HostScreen::blank(Size::default());
    while !choices.is_over() {
        let difference = match choices.below(4) {
            0 => choices.bytes().to_vec(),
            _ => message(&mut choices),
        };
        let mut next = screen.clone();
        let mut work = WorkBudget::new(INSTRUCTION_WORK_MAX);
        let applied = next.apply(&difference, &mut work);
        let most = INSTRUCTION_WORK_MAX + INSTRUCTION_BYTES_MAX as u64 + FUNCTION_WORK_MAX;
        assert!(work.spent() <= most, "{} units", work.spent());
        if applied.is_ok() {
            let size = next.screen().size();
            let cells = u32::from(size.rows()) * u32::from(size.columns());
            assert!(cells <= Size::CELLS_MAX, "{size}");
            assert!(next.is_same(&next.clone()));
            screen = next;
        }
    }
}

/// Puts a message together of the kinds that there are, and of one that there is not.
pub(crate) fn message(choices: &mut Choices<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    for _ in 0..choices.below(4) {
        let kind = [2, 2, 3, 7, 64, 65, 66, 67][usize::from(choices.below(8))];
        let fields = choices.below(5);
        wire::put_message(&mut out, 1, |instruction| {
            wire::put_message(instruction, kind, |message| {
                for _ in 0..fields {
                    field(choices, kind, message);
                }
            });
        });
    }
    out
}

fn field(choices: &mut Choices<'_>, kind: u32, message: &mut Vec<u8>) {
    let number = 1 + u32::from(choices.below(8));
    match (kind, choices.below(4)) {
        (2, 0..=2) => wire::put_bytes(message, 4, choices.bytes()),
        // Sizes that most often are some.
        (3, 0..=1) => wire::put_uint(message, 5 + number % 2, 1 + u64::from(choices.byte())),
        (66, 0..=1) => wire::put_bytes(message, 6, choices.bytes()),
        (_, 3) => wire::put_bytes(message, number, choices.bytes()),
        _ => wire::put_uint(message, number, choices.number()),
    }
}
