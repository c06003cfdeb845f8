//! The numbers of the protocol, each with where it comes from.

/// The version of the protocol that is spoken here.
///
/// Source: docs/copy-protocol.md §3.
pub const VERSION: u64 = 1;

/// The longest frame but for [`Data`](crate::Sender), head included.
///
/// Source: docs/copy-protocol.md §2.
pub(crate) const CONTROL_FRAME_BYTES_MAX: usize = 64 * 1024;

/// The most bytes of a file in one frame.
///
/// Source: docs/copy-protocol.md §2.
pub(crate) const DATA_BYTES_MAX: usize = 64 * 1024;

/// Bytes that a frame spends before its body: number and length.
///
/// Source: docs/copy-protocol.md §2.
pub(crate) const FRAME_HEAD_BYTES: usize = 1 + 4;

/// The bytes that are read or written of one stream before the next has its turn.
///
/// Source: docs/copy-protocol.md §1.
pub(crate) const STREAM_SHARE_BYTES: usize = 128 * 1024;

/// Bytes that may wait to go out on the control stream before what causes more of them pauses.
///
/// Source: docs/copy-protocol.md §6.
pub(crate) const CONTROL_WAITING_BYTES: usize = 64 * 1024;

/// Data streams at most; 32 are used over QUIC, one over ssh.
///
/// Source: docs/copy-protocol.md §1.
pub const STREAMS_MAX: usize = 64;

/// Entries under way: an entry's number is less than this above the lowest that has not been settled.
/// 4096 files of 4 kB are 16 MB in a round trip.
///
/// Source: docs/copy-protocol.md §6.
pub(crate) const WINDOW_ENTRIES: u64 = 4096;

/// The smallest chunk of a large file. A file that is not longer is sent whole on one stream. An interrupted copy loses what
/// is begun and not complete, a chunk for each stream: 8 MiB with 32 of them.
///
/// Source: docs/copy-protocol.md §5.
pub const CHUNK_BYTES_MIN: u64 = 256 * 1024;

/// Chunks of one file at most; chunks grow for a file that would have more.
///
/// Source: docs/copy-protocol.md §5.
pub const CHUNKS_MAX: u64 = 4096;

/// Files of more than one chunk that are under way at the same time.
///
/// Source: docs/copy-protocol.md §6.
pub const LARGE_FILES_MAX: usize = 64;

/// Chunks of the first large file that are sent before the receiver has said what it has of it: so that the connection has
/// something to carry in its first round trip, in which its window is smaller.
///
/// Source: docs/copy-protocol.md §7.
pub(crate) const HEAD_START_CHUNKS: u64 = 1;

/// Entries that a sender has found ahead of its streams. Each file among them is open.
///
/// Chosen by eye: with the large files and those of the streams, fewer than 256 open files.
pub(crate) const WALKED_AHEAD_MAX: usize = 64;

/// The longest file: what a varint holds.
///
/// Source: docs/copy-protocol.md §2.
pub const SIZE_MAX: u64 = (1 << 62) - 1;

/// The longest name in a path.
///
/// Source: docs/threat-model.md §6; no usual file system holds longer ones.
pub const NAME_BYTES_MAX: usize = 255;

/// The longest path, and the longest content of a link.
///
/// Source: docs/threat-model.md §6.
pub(crate) const PATH_BYTES_MAX: usize = 4096;

/// Names in a path at most.
///
/// Source: docs/threat-model.md §6.
pub const DEPTH_MAX: usize = 256;

/// The most operands that one request may name. All of them have to fit into one frame, too.
///
/// Source: docs/copy-protocol.md §3.
pub(crate) const OPERANDS_MAX: usize = 4096;

/// The longest note of a trouble.
///
/// Source: docs/copy-protocol.md §4.
pub(crate) const NOTE_BYTES_MAX: usize = 256;

/// Events that wait for the edge; with more, `poll` does nothing until they are fetched.
///
/// Source: chosen to be more than one turn makes.
pub const EVENTS_MAX: usize = 4096;
