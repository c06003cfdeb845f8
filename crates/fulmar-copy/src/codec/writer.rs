//! Fields into a frame.

use bytes::{BufMut as _, BytesMut};

use super::numbers::DATA;
use crate::limits::SIZE_MAX;

/// A length is written in four bytes, so that it can be filled in afterwards.
const LENGTH_MARK: u32 = 0x8000_0000;

/// Appends a frame; `body` writes what is in it.
pub(super) fn frame(out: &mut BytesMut, number: u8, body: impl FnOnce(&mut BytesMut)) {
    out.put_u8(number);
    let at = out.len();
    out.put_u32(0);
    body(out);
    set_length(out, at, out.len() - at - 4);
}

/// Writes into the place at `at` how long a frame is.
fn set_length(out: &mut BytesMut, at: usize, length: usize) {
    let length = u32::try_from(length).expect("a frame is at most 64 KiB");
    let place = out.get_mut(at..at + 4).expect("its place was kept");
    place.copy_from_slice(&(LENGTH_MARK | length).to_be_bytes());
}

/// The head of a frame of data, all but its `length` bytes.
pub(crate) fn data_head(out: &mut BytesMut, id: u64, offset: u64, length: usize) {
    frame(out, DATA, |out| {
        number(out, id);
        number(out, offset);
    });
    let fields = out.len();
    let at = fields - number_bytes(id) - number_bytes(offset) - 4;
    let total = number_bytes(id) + number_bytes(offset) + length;
    set_length(out, at, total);
}

/// Appends a number (RFC 9000 §16). Ours are below 2^62: counters, and sizes that were checked.
pub(super) fn number(out: &mut BytesMut, value: u64) {
    debug_assert!(value <= SIZE_MAX, "62 bits");
    match number_bytes(value) {
        1 => out.put_u8(value as u8),
        2 => out.put_u16(value as u16 | 0x4000),
        4 => out.put_u32(value as u32 | 0x8000_0000),
        _ => out.put_u64(value | 0xC000_0000_0000_0000),
    }
}

fn number_bytes(value: u64) -> usize {
    match value {
        0..0x40 => 1,
        0x40..0x4000 => 2,
        0x4000..0x4000_0000 => 4,
        _ => 8,
    }
}

/// Appends a length and the bytes.
pub(super) fn bytes(out: &mut BytesMut, bytes: &[u8]) {
    number(out, bytes.len() as u64);
    out.put_slice(bytes);
}

/// A number with a sign as one without: 0, -1, 1, -2 become 0, 1, 2, 3.
pub(super) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}
