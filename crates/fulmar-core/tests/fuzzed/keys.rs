//! Differences of a user stream.

use fulmar_core::{UserEvent, UserStream};
use fulmar_sim::Choices;
use fulmar_transport::{Synced, WorkBudget, wire};

/// Applies differences, as they are or put together from fields, one after the other.
///
/// # Panics
///
/// Where more keys come out than bytes went in, or what was refused has changed something.
pub(crate) fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let mut stream = UserStream::reading();
    while !choices.is_over() {
        let difference = match choices.below(4) {
            0 => choices.bytes().to_vec(),
            _ => message(&mut choices),
        };
        let mut next = stream.clone();
        let mut work = WorkBudget::new(1 << 20);
        let applied = next.apply(&difference, &mut work);
        if applied.is_err() {
            assert!(stream.take_new().is_empty());
            continue;
        }
        let keys = next.take_new().into_iter().map(|event| match event {
            UserEvent::Keys(keys) => keys.len(),
            UserEvent::Resize(_) | UserEvent::Terminal(_) => 0,
        });
        assert!(keys.sum::<usize>() <= difference.len());
        assert!(next.take_new().is_empty(), "what was taken is new no more");
        stream = next;
    }
}

fn message(choices: &mut Choices<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    for _ in 0..choices.below(4) {
        let kind = [2, 3, 64, 7][usize::from(choices.below(4))];
        let fields = choices.below(4);
        wire::put_message(&mut out, 1, |instruction| {
            wire::put_message(instruction, kind, |message| {
                for _ in 0..fields {
                    let number = 1 + u32::from(choices.below(8));
                    match choices.below(2) {
                        0 => wire::put_bytes(message, number, choices.bytes()),
                        _ => wire::put_uint(message, number, choices.number()),
                    }
                }
            });
        });
    }
    out
}
