//! Bytes as zlib streams that are not compressed, of which the length is known beforehand.

use super::brief::adler32;

/// The second byte makes a multiple of 31 of the two and says that no time was spent.
///
/// Source: RFC 1950 §2.2.
const HEADER: [u8; 2] = [0x78, 0x01];

/// The first byte of a stored block that is the last one.
///
/// Source: RFC 1951 §3.2.3 and §3.2.4.
const LAST_STORED_BLOCK: u8 = 1;

/// The bytes that a stream has beside those that it holds: header, block header, two lengths, checksum.
///
/// Source: RFC 1950 §2.2, RFC 1951 §3.2.4.
pub(crate) const STORED_OVERHEAD_BYTES: usize = 2 + 1 + 2 + 2 + 4;

/// Appends to `out` a zlib stream that holds `bytes`, of which there are as many as a datagram can have.
pub(crate) fn store(bytes: &[u8], out: &mut Vec<u8>) {
    let length = u16::try_from(bytes.len()).expect("a datagram has 2048 bytes at most");
    out.extend_from_slice(&HEADER);
    out.push(LAST_STORED_BLOCK);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&(!length).to_le_bytes());
    out.extend_from_slice(bytes);
    out.extend_from_slice(&adler32(bytes).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Inflater;

    #[test]
    fn what_is_stored_comes_out_and_has_the_length_that_was_said() {
        for length in [0, 1, 300, 1400, 2048] {
            let bytes = vec![0xff; length];
            let mut out = Vec::new();
            store(&bytes, &mut out);
            assert_eq!(out.len(), length + STORED_OVERHEAD_BYTES);
            assert_eq!(Inflater::new().inflate(&out), Ok(bytes.as_slice()));
        }
    }
}
