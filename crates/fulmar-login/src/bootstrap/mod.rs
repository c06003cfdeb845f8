//! The exchange between a client and a server before there is a session: lines of text on the pipe that ssh
//! is, an offer one way, an announcement and the key the other way.
//!
//! Everything here is a function of bytes; who reads and writes pipes is elsewhere.
//!
//! ```text
//!  client                                        server
//!  BootstrapRequest ─ text ─► (remote shell) ── text ──► OfferReader ─► Offer
//!  BootstrapLine ◄ LineSplitter ◄─────────── lines ─── BootstrapLine
//! ```
//!
//! Source: docs/protocol.md §2.9.

mod line_splitter;
mod lines;
mod offer;
mod offer_reader;
mod other_shell;
pub(crate) mod percent;

pub(crate) use self::line_splitter::{LineSplitter, OutputLine};
pub use self::lines::{
    Announcement, BootstrapLine, CopyParams, MalformedLine, MoshConnect, ReadKey, mosh_connect_line,
};
pub use self::offer::{
    BindAddress, BootstrapRequest, BootstrapRequestError, EncodedRequest, Offer, split_assignment,
};
pub use self::offer_reader::{OfferError, OfferReader, ReceivedOffer};
pub use self::other_shell::InputEndWatcher;
pub(crate) use self::other_shell::{INPUT_ENDS_LINE, becoming};

/// The version of the bootstrap that this program speaks.
///
/// Source: docs/protocol.md §2.9.
pub(crate) const WIRE_VERSION: u32 = 1;

/// The longest line that a client looks at, without its end.
///
/// Source: docs/threat-model.md §6.
pub(crate) const LINE_BYTES_MAX: usize = 1024;

/// The longest command of a session, with an end for each of its words: the longest line that sshd can hand to a shell.
///
/// Source: docs/protocol.md §2.9.
pub(crate) const COMMAND_BYTES_MAX: usize = 128 * 1024;

/// The most that a client writes in one go, and the longest offer that a server reads. The longest command fits, though
/// each of its bytes may become three.
///
/// Source: docs/threat-model.md §6.
pub(crate) const REQUEST_BYTES_MAX: usize = 512 * 1024;

/// Tells if a text has that line, or, if it is cut, one that begins so.
pub(crate) fn has_line(text: &[u8], line: &[u8], is_cut: bool) -> bool {
    let lines = text.split(|&byte| byte == b'\n');
    let mut lines = lines.filter(|written| written.starts_with(line));
    !line.is_empty() && lines.any(|written| is_cut || written.len() == line.len())
}
