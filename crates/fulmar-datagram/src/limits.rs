//! The numbers of the datagram layer, each with where it comes from.

use std::time::Duration;

/// Bytes that every datagram spends on itself: nonce 8, timestamps 4, fragment header 10, tag 16.
///
/// Source: docs/protocol.md §3.6.
pub const DATAGRAM_OVERHEAD_BYTES: usize = 8 + 4 + 10 + 16;

/// The shortest datagram that is looked at: one whose fragment has no content.
///
/// Source: docs/threat-model.md §5.
pub const DATAGRAM_BYTES_MIN: usize = DATAGRAM_OVERHEAD_BYTES;

/// The longest datagram that is sent or looked at.
///
/// Source: docs/threat-model.md §6; stock Mosh discards longer ones too (docs/protocol.md §3.1).
pub const DATAGRAM_BYTES_MAX: usize = 2048;

/// The longest content of one fragment that fits into [`DATAGRAM_BYTES_MAX`].
pub const CONTENT_BYTES_MAX: usize = DATAGRAM_BYTES_MAX - DATAGRAM_OVERHEAD_BYTES;

/// The longest datagram that stock Mosh sends over IPv4: a 1280-byte packet less its headers.
///
/// Source: docs/protocol.md §3.6.
pub const DATAGRAM_BYTES_IPV4: usize = 1252;

/// The longest datagram that stock Mosh sends over IPv6: a 1280-byte packet less its headers and
/// 16 bytes kept in reserve.
///
/// Source: docs/protocol.md §3.6.
pub const DATAGRAM_BYTES_IPV6: usize = 1216;

/// The longest datagram after the system has once refused one for its size.
///
/// Source: docs/protocol.md §3.6.
pub const DATAGRAM_BYTES_AFTER_TOO_BIG: usize = 500;

/// The highest index of a fragment: 15 bits.
///
/// Source: docs/protocol.md §4.
pub const FRAGMENT_INDEX_MAX: u16 = 0x7FFF;

/// The highest sequence number: 63 bits, the 64th is the direction.
///
/// Source: docs/protocol.md §3.1.
pub const SEQUENCE_MAX: u64 = (1 << 63) - 1;

/// The most that a datagram's sequence number may be above the highest accepted one. At a million datagrams a
/// second the gap takes over an hour to open, so nothing honest comes near it.
///
/// Source: docs/threat-model.md §5.
pub const SEQUENCE_AHEAD_MAX: u64 = 1 << 32;

/// Blocks of 16 bytes that one side may encrypt under one key; the block that reaches the number is
/// not encrypted any more.
///
/// Source: docs/protocol.md §3.1, docs/threat-model.md §5.
pub const KEY_BLOCKS_MAX: u64 = 1 << 47;

/// A received timestamp is answered only while it is younger than this.
///
/// Source: docs/protocol.md §3.2.
pub const STAMP_REPLY_AGE_MAX: Duration = Duration::from_millis(1000);

/// The longest round trip that a reply may prove. Stock Mosh stops at 5 s, which on a path of that
/// length leaves it with no sample at all; the 16-bit clock is unambiguous up to 65 s.
///
/// Source: docs/protocol.md §3.2.
pub const ROUND_TRIP_MAX: Duration = Duration::from_secs(30);

/// The time that a congestion mark adds to the round trip that the peer measures, so that it slows down.
///
/// Source: docs/protocol.md §3.6.
pub const CONGESTION_PENALTY: Duration = Duration::from_millis(500);
