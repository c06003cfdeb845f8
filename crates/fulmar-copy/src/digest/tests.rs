use proptest::prelude::*;

use super::*;

fn digest(parts: &[&[u8]]) -> Digest {
    let mut digest = ChunkDigest::default();
    parts.iter().for_each(|part| digest.update(part));
    digest.finish()
}

/// By the definition of docs/copy-protocol.md §5, in one go.
fn by_definition(bytes: &[u8]) -> Digest {
    let mut hasher = Hasher::new();
    let mut zero_blocks = 0_u64;
    for block in bytes.chunks(BLOCK_BYTES) {
        if block.iter().any(|byte| *byte != 0) {
            hasher.update(&zero_blocks.to_be_bytes());
            hasher.update(blake3::hash(block).as_bytes());
            zero_blocks = 0;
        } else if block.len() == BLOCK_BYTES {
            zero_blocks += 1;
        }
    }
    hasher.update(&zero_blocks.to_be_bytes());
    hasher.update(&(bytes.len() as u64).to_be_bytes());
    Digest(hasher.finalize().into())
}

#[test]
fn a_hole_of_any_length_costs_the_same() {
    let mut hole = ChunkDigest::default();
    hole.zeros(u64::MAX / 2);
    hole.update(b"end");
    let mut other = ChunkDigest::default();
    other.zeros(u64::MAX / 2 + 1);
    other.update(b"end");
    assert_ne!(hole.finish(), other.finish());
}

#[test]
fn lengths_of_zeros_differ() {
    let zeros = vec![0; BLOCK_BYTES + 1];
    let lengths = [0, 1, 2, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1];
    let mut digests: Vec<_> = lengths
        .iter()
        .map(|length| digest(&[&zeros[..*length]]).0)
        .collect();
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len(), lengths.len());
}

#[test]
fn a_file_in_order_is_digested_as_its_chunks_are() {
    let bytes: Vec<u8> = (0..1000_u32).map(|value| value as u8).collect();
    let mut in_order = SequentialDigest::new(300);
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        let (part, left) = rest.split_at(rest.len().min(in_order.room() as usize).min(77));
        in_order.update(part);
        rest = left;
    }
    let mut file = FileDigest::default();
    bytes
        .chunks(300)
        .for_each(|chunk| file.push(digest(&[chunk])));
    assert_eq!(in_order.finish(1000), file.finish(1000));
}

proptest! {
    #[test]
    fn only_the_content_counts(
        pieces in proptest::collection::vec((any::<bool>(), 1..100_000_usize), 0..8),
        cut in any::<proptest::sample::Index>(),
    ) {
        let mut bytes = Vec::new();
        let mut with_zeros = ChunkDigest::default();
        for (is_zero, length) in pieces {
            let piece = vec![u8::from(!is_zero); length];
            if is_zero {
                with_zeros.zeros(length as u64);
            } else {
                with_zeros.update(&piece);
            }
            bytes.extend_from_slice(&piece);
        }
        let (front, back) = bytes.split_at(cut.index(bytes.len() + 1).min(bytes.len()));
        prop_assert_eq!(digest(&[front, back]), by_definition(&bytes));
        prop_assert_eq!(with_zeros.finish(), by_definition(&bytes));
    }
}
