//! The request of one end to the other.

use bitflags::bitflags;

/// The requester's wish: to send, or to receive. Paths are as the user wrote them; the remote end makes sense of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// The requester sends.
    Put {
        /// The path to send to, at most 4096 bytes without NUL; empty is the home.
        target: Vec<u8>,
        /// The options of the copy.
        flags: Flags,
    },
    /// The requester receives.
    Get {
        /// The paths and patterns to send, at least one, each at most 4096 bytes without NUL; empty is the
        /// home. Entries name them by their index.
        operands: Vec<Vec<u8>>,
        /// The options of the copy.
        flags: Flags,
    },
}

impl Request {
    /// Returns the options of the copy.
    pub fn flags(&self) -> Flags {
        match self {
            Request::Put { flags, .. } | Request::Get { flags, .. } => *flags,
        }
    }
}

bitflags! {
    /// The options of a copy. On the wire they are this number (docs/copy-protocol.md §3).
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub struct Flags: u32 {
        /// Folders are copied with all that is in them.
        const RECURSIVE = 1;
        /// Times and modes are kept, beside the permission bits that always go along.
        const PRESERVE = 1 << 1;
        /// PartialFile of an interrupted copy are used.
        const RESUME = 1 << 2;
        /// Nothing is written.
        const DRY_RUN = 1 << 3;
        /// There are several sources or the target ends in a slash: it has to be a folder.
        const INTO_FOLDER = 1 << 4;
        /// Data comes in order: file after file, on one stream. For standard output.
        const IN_ORDER = 1 << 5;
        /// Links that the user names are followed; those within a tree are copied as links in any case.
        const FOLLOW = 1 << 6;
    }
}

impl Flags {
    /// Returns true if the receiver says what it has of large files, and the sender waits to hear it. Data in order is
    /// sent whole.
    pub(crate) fn is_resuming(self) -> bool {
        self.contains(Flags::RESUME) && !self.contains(Flags::IN_ORDER)
    }
}
