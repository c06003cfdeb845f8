//! Short texts as zlib streams.

/// The longest text that is compressed here.
///
/// Source: docs/decisions/008-miniz.md. On longer ones codes of their own save more than they cost.
pub(super) const BRIEF_BYTES_MAX: usize = 192;

/// The second byte makes a multiple of 31 of the two and says that the level was the usual one.
///
/// Source: RFC 1950 §2.2.
const HEADER: [u8; 2] = [0x78, 0x9c];

/// Of a text that looks like this a hash is kept, to find where it comes again.
///
/// Source: RFC 1951 §3.2.5.
const MATCH_MIN: usize = 3;

const HASH_BITS: u32 = 8;

/// Appends to `out` a zlib stream that holds `text`, which has at most [`BRIEF_BYTES_MAX`].
///
/// It is one block of the codes that are known beforehand (RFC 1951 §3.2.6), with a repetition put in
/// wherever the last text of equal hash is one.
pub(super) fn deflate(text: &[u8], out: &mut Vec<u8>) {
    debug_assert!(text.len() <= BRIEF_BYTES_MAX, "{} bytes", text.len());
    out.extend_from_slice(&HEADER);
    let mut block = Block::begin(out);
    // One above the place where a text of this hash was last seen; 0 for nowhere.
    let mut seen = [0_u16; 1 << HASH_BITS];
    let mut place = 0;
    while let Some(&byte) = text.get(place) {
        let length = match look_up(text, place, &mut seen) {
            Some(before) => {
                let length = common(text, before, place);
                block.repeat(length, place - before);
                length
            }
            None => {
                block.literal(byte);
                1
            }
        };
        for passed in place + 1..place + length {
            look_up(text, passed, &mut seen);
        }
        place += length;
    }
    block.end();
    out.extend_from_slice(&adler32(text).to_be_bytes());
}

/// Enters a place, and returns the one before that begins with the same three bytes, if that was the
/// last one of its hash.
fn look_up(text: &[u8], place: usize, seen: &mut [u16; 1 << HASH_BITS]) -> Option<usize> {
    let head: &[u8; MATCH_MIN] = text.get(place..)?.first_chunk()?;
    let [a, b, c] = head.map(u32::from);
    // Knuth's multiplicative hash.
    let hash = (a << 16 | b << 8 | c).wrapping_mul(0x9e37_79b1) >> (u32::BITS - HASH_BITS);
    let slot = seen.get_mut(hash as usize)?;
    let before = usize::from(std::mem::replace(slot, place as u16 + 1)).checked_sub(1)?;
    (text.get(before..)?.first_chunk() == Some(head)).then_some(before)
}

/// Returns how many bytes are the same from two places on.
fn common(text: &[u8], before: usize, place: usize) -> usize {
    let pairs = text.iter().skip(before).zip(text.iter().skip(place));
    pairs.take_while(|(one, other)| one == other).count()
}

/// Returns the checksum of bytes of which there are few: up to 4096 the sums fit without being reduced on the way.
///
/// Source: RFC 1950 §8.2.
pub(super) fn adler32(text: &[u8]) -> u32 {
    const BASE: u32 = 65_521;
    let (mut a, mut b) = (1, 0);
    for &byte in text {
        a += u32::from(byte);
        b += a;
    }
    ((b % BASE) << 16) | (a % BASE)
}

/// The last and only block of a deflate stream, in the making.
struct Block<'a> {
    out: &'a mut Vec<u8>,
    /// Bits that do not make a byte yet, the first one lowest.
    bits: u64,
    count: u32,
}

impl Block<'_> {
    fn begin(out: &mut Vec<u8>) -> Block<'_> {
        let mut block = Block {
            out,
            bits: 0,
            count: 0,
        };
        // The last block; fixed codes.
        block.put(0b1, 1);
        block.put(0b01, 2);
        block
    }

    fn literal(&mut self, byte: u8) {
        self.symbol(u32::from(byte));
    }

    /// Says that `length` bytes, 3 to 257, are as they were `distance` bytes before.
    ///
    /// Source: RFC 1951 §3.2.5: symbols stand for ranges, and the bits after them say which of the
    /// range. Ranges double, every fourth symbol for lengths and every second for distances.
    fn repeat(&mut self, length: usize, distance: usize) {
        let (length, distance) = (length as u32, distance as u32);
        let (symbol, extra) = range(length - 3, 2);
        self.symbol(257 + symbol);
        self.put((length - 3) & low(extra), extra);
        let (symbol, extra) = range(distance - 1, 1);
        self.put(reversed(symbol, 5), 5);
        self.put((distance - 1) & low(extra), extra);
    }

    fn end(mut self) {
        self.symbol(256);
        let rest = self.count.div_ceil(8) * 8 - self.count;
        self.put(0, rest);
    }

    /// Source: RFC 1951 §3.2.6.
    fn symbol(&mut self, symbol: u32) {
        let (code, length) = match symbol {
            0..=143 => (0b0011_0000 + symbol, 8),
            144..=255 => (0b1_1001_0000 + symbol - 144, 9),
            256..=279 => (symbol - 256, 7),
            _ => (0b1100_0000 + symbol - 280, 8),
        };
        self.put(reversed(code, length), length);
    }

    fn put(&mut self, bits: u32, count: u32) {
        self.bits |= u64::from(bits) << self.count;
        self.count += count;
        while self.count >= 8 {
            self.out.push(self.bits as u8);
            self.bits >>= 8;
            self.count -= 8;
        }
    }
}

/// Returns the number of the range in which a number is, and how many bits say which of it. The first
/// ranges hold one number each; `1 << fine` ranges later they have doubled.
fn range(number: u32, fine: u32) -> (u32, u32) {
    let extra = (u32::BITS - number.leading_zeros()).saturating_sub(fine + 1);
    (extra * (1 << fine) + (number >> extra), extra)
}

/// Returns the mask of the lowest bits.
fn low(count: u32) -> u32 {
    (1 << count) - 1
}

/// Codes travel highest bit first.
fn reversed(code: u32, length: u32) -> u32 {
    code.reverse_bits() >> (u32::BITS - length)
}

#[cfg(test)]
mod tests {
    use miniz_oxide::deflate::compress_to_vec_zlib;
    use proptest::prelude::*;

    use super::*;
    use crate::compress::Inflater;

    fn deflated(text: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        deflate(text, &mut out);
        out
    }

    #[test]
    fn known_streams_come_out() {
        // As zlib writes them, but for the last: it does not find what the very first byte begins.
        assert_eq!(deflated(b""), b"\x78\x9c\x03\x00\x00\x00\x00\x01");
        assert_eq!(deflated(b"a"), b"\x78\x9c\x4b\x04\x00\x00\x62\x00\x62");
        let repeated = b"\x78\x9c\x4b\x4c\x4a\x86\x22\x00\x15\x11\x03\xd4";
        assert_eq!(deflated(b"abcabcabca"), repeated);
    }

    #[test]
    fn every_length_and_distance_is_found_again() {
        let mut inflater = Inflater::new();
        for distance in 1..BRIEF_BYTES_MAX {
            for length in [3, 4, 10, 11, 18, 19, 34, 66, 130, 191] {
                // Nothing comes twice in the part that is repeated.
                let unlike =
                    (0..distance).map(|place| (place * 7 % 251) as u8 ^ (place / 251) as u8);
                let text: Vec<u8> = unlike.collect();
                let text: Vec<u8> = text
                    .iter()
                    .copied()
                    .cycle()
                    .take(distance + length)
                    .collect();
                let text = &text[..text.len().min(BRIEF_BYTES_MAX)];
                assert_eq!(inflater.inflate(&deflated(text)), Ok(text));
            }
        }
    }

    #[test]
    fn what_terminals_are_told_is_as_short_as_from_the_general_compressor() {
        let line = b"\x1b[1;31mdrwxr-xr-x\x1b[0m 2 user users  4096 Nov 21 12:34 \x1b[1;34mdocs\x1b[0m\r\n\
            -rw-r--r-- 1 user users 11357 Nov 21 12:31 LICENSE\r\n\
            -rw-r--r-- 1 user users  3121 Nov 21 12:31 README.md\r\n\
            \x1b[1;31mdrwxr-xr-x\x1b[0m 5 user users  4096 Nov 21 12:34 \x1b[1;34msrc\x1b[0m\r\n\
            -rw-r--r-- 1 user users 43711 Nov 21 12:31 Cargo.lock\r\n\
            \x1b[32muser@host\x1b[0m:\x1b[34m~/project\x1b[0m$ cargo build --release\x1b[K";
        for length in 0..=BRIEF_BYTES_MAX {
            let text = &line[..length];
            let (brief, general) = (deflated(text).len(), compress_to_vec_zlib(text, 6).len());
            assert!(brief <= general + 1, "{length} bytes: {brief}, {general}");
        }
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out(text in prop::collection::vec(any::<u8>(), 0..=BRIEF_BYTES_MAX)) {
            let mut inflater = Inflater::new();
            prop_assert_eq!(inflater.inflate(&deflated(&text)), Ok(&text[..]));
        }

        #[test]
        fn and_so_does_what_repeats_itself(text in prop::collection::vec(0_u8..3, 0..=BRIEF_BYTES_MAX)) {
            let mut inflater = Inflater::new();
            prop_assert_eq!(inflater.inflate(&deflated(&text)), Ok(&text[..]));
        }
    }
}
