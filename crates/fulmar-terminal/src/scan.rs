//! Finds the end of plain text, several bytes at a time.

/// Returns how many bytes come before the first C0 control, DEL or UTF-8 coded C1 control.
pub(crate) fn text_length(bytes: &[u8]) -> usize {
    let mut start = 0;
    while let Some(length) = bytes.get(start..).map(plain_length) {
        start += length;
        // C2 also begins U+00A0-U+00BF, which are text.
        match bytes.get(start..) {
            Some([0xc2, 0x80..=0x9f, ..]) => break,
            Some([0xc2, ..]) => start += 1,
            _ => break,
        }
    }
    start
}

/// Returns how many bytes come before the first C0 control, DEL or C2.
pub(crate) fn plain_length(bytes: &[u8]) -> usize {
    const LANES: usize = 32;
    let is_special = |byte: u8| (byte < 0x20) | (byte == 0x7f) | (byte == 0xc2);
    // Most lines are shorter than a block, and words are.
    if let Some(length) = bytes.first_chunk().and_then(first_special) {
        return length;
    }
    let mut blocks = bytes.chunks_exact(LANES);
    let mut length = 0;
    // Without an early exit inside a block the compiler compares all its bytes at once.
    while blocks
        .next()
        .is_some_and(|block| !block.iter().fold(false, |any, &b| any | is_special(b)))
    {
        length += LANES;
    }
    let mut rest = bytes.get(length..).unwrap_or_default();
    while let Some(word) = rest.first_chunk() {
        if let Some(place) = first_special(word) {
            return length + place;
        }
        length += word.len();
        rest = rest.get(word.len()..).unwrap_or_default();
    }
    length
        + rest
            .iter()
            .position(|&byte| is_special(byte))
            .unwrap_or(rest.len())
}

/// Returns the place of the first C0 control, DEL or C2 among eight bytes, by looking at all of them at once.
fn first_special(bytes: &[u8; 8]) -> Option<usize> {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    let word = u64::from_le_bytes(*bytes);
    // A byte below the limit borrows, which its highest bit tells; only those above the first that does may be wrong.
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & HIGH;
    let is = |byte: u64| below(word ^ (ONES * byte), 1);
    let special = below(word, 0x20) | is(0x7f) | is(0xc2);
    (special != 0).then(|| special.trailing_zeros() as usize / 8)
}
