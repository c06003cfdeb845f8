//! Decides how much to send at a time.

use fulmar_datagram::limits::DATAGRAM_OVERHEAD_BYTES;

use crate::allowance::Allowance;
use crate::assembly::fragments_of;
use crate::instruction::INSTRUCTION_OVERHEAD_BYTES_MAX;
use crate::limits::{INPUT_WINDOW_BYTES, INSTRUCTION_BYTES_MAX};
use crate::{Budget, Role};

/// Returns the most bytes that compression adds to what it cannot shorten: header and checksum of zlib, and five bytes
/// for each stored block, of which there is one for at least 16 KiB.
///
/// Source: RFC 1950, RFC 1951 section 3.2.4.
const fn compression_overhead_bytes(bytes: usize) -> usize {
    2 + 4 + 5 * (bytes / 16_384 + 1)
}

/// The longest difference: with it the instruction stays within 4 MiB before and after it is
/// compressed.
const DIFFERENCE_BYTES_MAX: usize = INSTRUCTION_BYTES_MAX
    - INSTRUCTION_OVERHEAD_BYTES_MAX
    - compression_overhead_bytes(INSTRUCTION_BYTES_MAX);

/// Below this a difference is hardly worth a datagram.
///
/// Chosen by eye.
const DIFFERENCE_BYTES_MIN: usize = 64;

/// Returns how far the peer may be led away from what it has acknowledged: input in pieces of
/// [`INPUT_WINDOW_BYTES`], a screen as far as it has changed.
///
/// Source: docs/protocol.md §5.3.
pub fn window(role: Role) -> Budget {
    match role {
        Role::Client => Budget::of_bytes(INPUT_WINDOW_BYTES),
        Role::Server => Budget::UNLIMITED,
    }
}

/// Returns how long a difference may be at present, or `None` if only heartbeats may be sent.
///
/// Anything that makes a legal instruction may go to a path that is validated or that we chose
/// ourselves. Towards another all datagrams together stay within its allowance, even if nothing can
/// be compressed.
///
/// Source: docs/protocol.md §5.3, docs/threat-model.md §6.
pub(crate) fn difference_budget(allowance: Allowance, datagram_bytes: usize) -> Option<Budget> {
    let bytes = match allowance {
        Allowance::Unlimited => DIFFERENCE_BYTES_MAX,
        Allowance::Bytes(bytes) => difference_within(bytes, datagram_bytes)?,
    };
    Some(Budget::of_bytes(bytes))
}

/// Returns how long a difference may be so that its datagrams do not exceed `bytes`.
fn difference_within(bytes: usize, datagram_bytes: usize) -> Option<usize> {
    let content_bytes = datagram_bytes.checked_sub(DATAGRAM_OVERHEAD_BYTES)?;
    let datagrams = fragments_of(bytes, content_bytes.max(1)) * DATAGRAM_OVERHEAD_BYTES;
    let overhead = datagrams + compression_overhead_bytes(bytes) + INSTRUCTION_OVERHEAD_BYTES_MAX;
    let within = bytes.checked_sub(overhead)?;
    (within >= DIFFERENCE_BYTES_MIN).then_some(within)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assembly::Fragmenter;
    use crate::compress::Deflater;
    use crate::limits::UNVALIDATED_BYTES_MAX;

    #[test]
    fn an_unvalidated_path_gets_less_and_then_nothing() {
        let budget = |bytes| difference_budget(Allowance::Bytes(bytes), 1252);
        let whole = budget(UNVALIDATED_BYTES_MAX).unwrap().bytes();
        assert!((15_000..16_384).contains(&whole), "{whole}");
        assert!(budget(1000).unwrap().bytes() < 1000);
        assert_eq!(budget(150), None);
        assert_eq!(budget(0), None);
    }

    #[test]
    fn what_is_within_the_budget_is_within_the_allowance() {
        for (allowance, datagram_bytes) in [(300, 1252), (16_384, 500), (16_384, 1252)] {
            let budget = difference_budget(Allowance::Bytes(allowance), datagram_bytes);
            // Multiplying by an odd constant and keeping the high bits leaves nothing to compress.
            let instruction: Vec<u8> = (0..budget.unwrap().bytes()
                + INSTRUCTION_OVERHEAD_BYTES_MAX)
                .map(|n| ((n as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8)
                .collect();
            let mut compressed = Vec::new();
            Deflater::new().deflate(&instruction, &mut compressed);
            let fragments = Fragmenter::new(1, compressed, datagram_bytes).unwrap();
            assert!(fragments.datagrams_bytes() <= allowance, "{fragments:?}");
        }
    }

    #[test]
    fn a_validated_path_gets_anything_that_makes_a_legal_instruction() {
        let budget = difference_budget(Allowance::Unlimited, 1252).unwrap();
        let whole = INSTRUCTION_BYTES_MAX - budget.bytes();
        assert!((INSTRUCTION_OVERHEAD_BYTES_MAX..2000).contains(&whole));
    }
}
