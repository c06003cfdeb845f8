//! Chooses a client's sequence numbers, so that two with one key do not use the same.

use fulmar_datagram::Sequence;

use crate::random::{Seed, random_word};

/// From here on a client numbers its datagrams once the server has answered; below, before.
///
/// ```text
///  0                        2^31                       2^32
///  ├────────[first ──►───────┼────────[2^31 + first ──►──┼──►
///   not answered yet          answered
/// ```
///
/// A server follows the highest number that it has seen (docs/protocol.md §3.3), so a client that it
/// has never answered cannot take the session away from one that it has. Peers accept a number of up
/// to 2^32 above the highest: the first number and the leap are both less.
///
/// Source: docs/decisions/027-first-sequence-number.md.
const ANSWERED_FROM: u64 = 1 << 31;

/// The numbers at which a client begins to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbering {
    /// The number of its first datagram: any below 2^31.
    pub(crate) first: Sequence,
    /// The number with which it goes on when the server has answered.
    pub(crate) answered: Sequence,
}

impl Numbering {
    /// Returns the numbers that follow from the seed.
    pub(crate) fn from_seed(seed: Seed) -> Numbering {
        let first = u64::from(random_word(seed) >> 1);
        let sequence = |number| Sequence::new(number).expect("it is less than 2^32");
        Numbering {
            first: sequence(first),
            answered: sequence(first + ANSWERED_FROM),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_numbers_are_within_what_peers_accept() {
        for byte in 0..=255 {
            let Numbering { first, answered } = Numbering::from_seed([byte; 32]);
            assert!(first.get() < ANSWERED_FROM);
            assert!((ANSWERED_FROM..2 * ANSWERED_FROM).contains(&answered.get()));
        }
    }

    #[test]
    fn seeds_spread_over_all_of_the_range() {
        let mut quarters = [0; 4];
        for byte in 0..=255 {
            let first = Numbering::from_seed([byte; 32]).first.get();
            quarters[(first >> 29) as usize] += 1;
        }
        // 64 each, give or take five times the deviation of such a count.
        assert!(
            quarters.iter().all(|count| (30..100).contains(count)),
            "{quarters:?}"
        );
    }
}
