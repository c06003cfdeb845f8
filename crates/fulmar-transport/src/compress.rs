//! Instructions are compressed whole, each into a zlib stream of its own.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use crate::limits::INSTRUCTION_BYTES_MAX;

/// Room that is asked for at once; a screen's worth of differences fits.
const STEP_BYTES: usize = 4096;

/// A buffer that has grown above this is given back after use.
const KEPT_BYTES: usize = 64 * 1024;

/// Compresses instructions. Keeps its tables from one to the next, which is most of the cost.
///
/// Source: docs/protocol.md §4; docs/decisions/008-flate2-miniz.md.
pub struct Deflater {
    stream: Compress,
}

impl Deflater {
    /// Returns a compressor of zlib's usual level, 6.
    pub fn new() -> Deflater {
        Deflater {
            stream: Compress::new(Compression::default(), true),
        }
    }

    /// Appends to `out` a zlib stream that holds `bytes`.
    pub fn deflate(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        self.stream.reset();
        loop {
            out.reserve(STEP_BYTES.min(bytes.len() + 64));
            let taken = usize::try_from(self.stream.total_in()).unwrap_or(usize::MAX);
            let rest = bytes.get(taken..).unwrap_or_default();
            let status = self
                .stream
                .compress_vec(rest, out, FlushCompress::Finish)
                .expect("a compressor that was reset accepts any bytes");
            if status == Status::StreamEnd {
                return;
            }
        }
    }
}

impl Default for Deflater {
    fn default() -> Deflater {
        Deflater::new()
    }
}

/// Why compressed bytes were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum InflateError {
    /// Not one zlib stream, whole and with nothing after it.
    #[error("the compressed bytes are not one zlib stream")]
    Malformed,
    /// More than [`INSTRUCTION_BYTES_MAX`] came out.
    #[error("the instruction is too long")]
    TooLong,
}

/// Inflates instructions, never to more than [`INSTRUCTION_BYTES_MAX`].
///
/// Source: docs/protocol.md §4, docs/threat-model.md §6.
pub struct Inflater {
    stream: Decompress,
    inflated: Vec<u8>,
}

impl Inflater {
    /// Returns a decompressor.
    pub fn new() -> Inflater {
        Inflater {
            stream: Decompress::new(true),
            inflated: Vec::new(),
        }
    }

    /// Returns what the zlib stream holds.
    ///
    /// The room for it doubles as it fills, so a short stream never costs more than twice what
    /// comes out of it.
    ///
    /// # Errors
    ///
    /// The bytes are not one whole zlib stream, or a longer one than we accept.
    pub fn inflate(&mut self, compressed: &[u8]) -> Result<&[u8], InflateError> {
        self.stream.reset(true);
        self.inflated.clear();
        self.inflated.shrink_to(KEPT_BYTES);
        loop {
            let taken = usize::try_from(self.stream.total_in()).unwrap_or(usize::MAX);
            let rest = compressed.get(taken..).unwrap_or_default();
            self.make_room()?;
            let before = (self.stream.total_in(), self.inflated.len());
            let status = self
                .stream
                .decompress_vec(rest, &mut self.inflated, FlushDecompress::None)
                .map_err(|_| InflateError::Malformed)?;
            let after = (self.stream.total_in(), self.inflated.len());
            match status {
                Status::StreamEnd => return self.finish(compressed.len()),
                Status::Ok | Status::BufError if before == after => {
                    return Err(InflateError::Malformed);
                }
                Status::Ok | Status::BufError => {}
            }
        }
    }

    /// Sees to it that there is room to write into, one byte beyond the longest instruction at most:
    /// that byte tells a stream that is too long from one that just fits.
    fn make_room(&mut self) -> Result<(), InflateError> {
        let length = self.inflated.len();
        if length > INSTRUCTION_BYTES_MAX {
            return Err(InflateError::TooLong);
        }
        if length == self.inflated.capacity() {
            let step = length
                .max(STEP_BYTES)
                .min(INSTRUCTION_BYTES_MAX + 1 - length);
            self.inflated.reserve_exact(step);
        }
        Ok(())
    }

    fn finish(&self, compressed_bytes: usize) -> Result<&[u8], InflateError> {
        if self.stream.total_in() != compressed_bytes as u64 {
            return Err(InflateError::Malformed);
        }
        if self.inflated.len() > INSTRUCTION_BYTES_MAX {
            return Err(InflateError::TooLong);
        }
        Ok(&self.inflated)
    }
}

impl Default for Inflater {
    fn default() -> Inflater {
        Inflater::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deflated(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        Deflater::new().deflate(bytes, &mut out);
        out
    }

    /// Bytes that deflate cannot shorten: a linear congruence, high bits only.
    fn noise(length: usize) -> Vec<u8> {
        let mut state = 1_u64;
        let mut step = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        (0..length).map(|_| step()).collect()
    }

    #[test]
    fn what_goes_in_comes_out_again_and_again() {
        let (mut deflater, mut inflater) = (Deflater::new(), Inflater::new());
        for bytes in [
            vec![],
            b"ls\r".to_vec(),
            noise(100_000),
            vec![b' '; 1_000_000],
        ] {
            let mut out = b"before".to_vec();
            deflater.deflate(&bytes, &mut out);
            assert_eq!(&out[..6], b"before");
            assert_eq!(inflater.inflate(&out[6..]), Ok(&bytes[..]));
        }
    }

    #[test]
    fn an_instruction_may_have_4_mib_and_no_byte_more() {
        let mut inflater = Inflater::new();
        for bytes in [vec![0; INSTRUCTION_BYTES_MAX], noise(INSTRUCTION_BYTES_MAX)] {
            let inflated = inflater.inflate(&deflated(&bytes)).map(<[u8]>::len);
            assert_eq!(inflated, Ok(INSTRUCTION_BYTES_MAX));
        }
        let one_more = deflated(&vec![0; INSTRUCTION_BYTES_MAX + 1]);
        assert_eq!(inflater.inflate(&one_more), Err(InflateError::TooLong));
    }

    #[test]
    fn a_bomb_costs_no_more_memory_than_the_cap() {
        let mut inflater = Inflater::new();
        let bomb = deflated(&vec![0; 16 * INSTRUCTION_BYTES_MAX]);
        assert_eq!(inflater.inflate(&bomb), Err(InflateError::TooLong));
        assert!(inflater.inflated.capacity() <= 2 * INSTRUCTION_BYTES_MAX);
        // And the next instruction gives it back.
        assert_eq!(inflater.inflate(&deflated(b"ls")), Ok(&b"ls"[..]));
        assert!(inflater.inflated.capacity() <= KEPT_BYTES);
    }

    #[test]
    fn noise_fits_into_what_is_collected() {
        let longest = deflated(&noise(INSTRUCTION_BYTES_MAX)).len();
        assert!(longest <= crate::limits::COMPRESSED_BYTES_MAX, "{longest}");
    }

    #[test]
    fn a_stream_cut_short_or_followed_by_more_is_refused() {
        let mut inflater = Inflater::new();
        let whole = deflated(b"some text, some text, some text");
        for length in 0..whole.len() {
            assert_eq!(
                inflater.inflate(&whole[..length]),
                Err(InflateError::Malformed),
                "{length} bytes"
            );
        }
        let mut longer = whole.clone();
        longer.push(0);
        assert_eq!(inflater.inflate(&longer), Err(InflateError::Malformed));
    }

    #[test]
    fn damage_is_refused() {
        let mut inflater = Inflater::new();
        let mut damaged = deflated(b"some text");
        let last = damaged.len() - 1;
        damaged[last] ^= 1;
        assert_eq!(inflater.inflate(&damaged), Err(InflateError::Malformed));
        assert_eq!(inflater.inflate(b"ls"), Err(InflateError::Malformed));
    }
}
