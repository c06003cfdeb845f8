//! Instructions are compressed whole, each into a zlib stream of its own.

mod brief;
mod stored;

use miniz_oxide::deflate::core::{CompressorOxide, TDEFLFlush, compress_to_output};
use miniz_oxide::deflate::{CompressionLevel, core::create_comp_flags_from_zip_params};
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_PARSE_ZLIB_HEADER, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

use self::brief::BRIEF_BYTES_MAX;
use crate::limits::INSTRUCTION_BYTES_MAX;
pub(crate) use stored::{STORED_OVERHEAD_BYTES, store};

/// Room that is made at first; a screen's worth of differences fits.
///
/// Chosen by eye.
const STEP_BYTES: usize = 4096;

/// A buffer that has grown above this is given back after use.
///
/// Chosen by eye.
const KEPT_BYTES: usize = 64 * 1024;

/// The window that a zlib stream may have, as a power of two.
///
/// Source: RFC 1950 §2.2.
const WINDOW_BITS: i32 = 15;

/// Compresses instructions.
///
/// A compressor has 300 KB of tables, which have to be cleared for each stream. So it is made when a
/// long instruction comes, kept from then on, and not used for brief ones.
///
/// Source: docs/protocol.md §4; docs/decisions/008-miniz.md.
#[derive(Default)]
pub struct Deflater {
    stream: Option<Box<CompressorOxide>>,
}

impl Deflater {
    /// Returns a compressor of zlib's usual level, 6.
    pub fn new() -> Deflater {
        Deflater::default()
    }

    /// Appends to `out` a zlib stream that holds `bytes`.
    pub fn deflate(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        if bytes.len() <= BRIEF_BYTES_MAX {
            return brief::deflate(bytes, out);
        }
        let stream = self.stream.get_or_insert_with(|| {
            let level = CompressionLevel::DefaultLevel as i32;
            let flags = create_comp_flags_from_zip_params(level, WINDOW_BITS, 0);
            Box::new(CompressorOxide::new(flags))
        });
        stream.reset();
        compress_to_output(stream, bytes, TDEFLFlush::Finish, |piece| {
            out.extend_from_slice(piece);
            true
        });
    }
}

/// The reason why compressed bytes were refused.
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
#[derive(Default)]
pub struct Inflater {
    stream: Box<DecompressorOxide>,
    /// The inflated bytes; what follows them has no meaning.
    room: Vec<u8>,
}

impl Inflater {
    /// Returns a decompressor.
    pub fn new() -> Inflater {
        Inflater::default()
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
        const FLAGS: u32 = TINFL_FLAG_PARSE_ZLIB_HEADER | TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        self.stream.init();
        self.room.truncate(KEPT_BYTES);
        self.room.shrink_to(KEPT_BYTES);
        let (mut taken, mut filled) = (0, 0);
        loop {
            let rest = compressed.get(taken..).unwrap_or_default();
            let (status, read, written) =
                decompress(&mut self.stream, rest, &mut self.room, filled, FLAGS);
            taken += read;
            filled += written;
            match status {
                TINFLStatus::HasMoreOutput => self.make_room(filled)?,
                TINFLStatus::Done if taken == compressed.len() => return self.finish(filled),
                _ => return Err(InflateError::Malformed),
            }
        }
    }

    /// Sees to it that there is room to write into, one byte beyond the longest instruction at most:
    /// that byte tells a stream that is too long from one that just fits.
    fn make_room(&mut self, filled: usize) -> Result<(), InflateError> {
        if filled > INSTRUCTION_BYTES_MAX {
            return Err(InflateError::TooLong);
        }
        let step = filled
            .max(STEP_BYTES)
            .min(INSTRUCTION_BYTES_MAX + 1 - filled);
        self.room.reserve_exact(step);
        self.room.resize(filled + step, 0);
        Ok(())
    }

    fn finish(&self, filled: usize) -> Result<&[u8], InflateError> {
        if filled > INSTRUCTION_BYTES_MAX {
            return Err(InflateError::TooLong);
        }
        self.room.get(..filled).ok_or(InflateError::Malformed)
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
        assert!(inflater.room.capacity() <= 2 * INSTRUCTION_BYTES_MAX);
        // And the next instruction gives it back.
        assert_eq!(inflater.inflate(&deflated(b"ls")), Ok(&b"ls"[..]));
        assert!(inflater.room.capacity() <= KEPT_BYTES);
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
