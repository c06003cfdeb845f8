//! The cost of a frame on the network.

use anyhow::{Context as _, Result};
use fulmar_core::HostScreen;
use fulmar_datagram::limits::{DATAGRAM_BYTES_IPV4, DATAGRAM_OVERHEAD_BYTES};
use fulmar_terminal::{Screen, Size};
use fulmar_transport::{
    Budget, Deflater, Fragmenter, Instruction, Numbers, StateNumber, Synced as _,
};

/// The headers of IPv4 and UDP.
const HEADER_BYTES: usize = 20 + 8;

/// Padding of the mean length, 8 bytes, in which nothing repeats.
///
/// Source: docs/protocol.md §5.1: 0 to 16 random bytes.
const PADDING: &[u8] = b"\x93\x1c\xe5\x47\x0a\xb8\x6f\xd2";

/// A server's frames, each a difference from the one before, as if nothing were lost.
pub(super) struct Wire {
    sent: HostScreen,
    deflater: Deflater,
    states: u64,
    pub(super) bytes: usize,
}

impl Wire {
    pub(super) fn new(size: Size) -> Self {
        Self {
            sent: HostScreen::blank(size),
            deflater: Deflater::new(),
            states: 0,
            bytes: 0,
        }
    }

    /// Tells whether a screen looks like an echo after the one that was sent last.
    pub(super) fn is_echo(&self, screen: &Screen) -> bool {
        screen.is_echo_after(self.sent.screen())
    }

    /// Sends a screen. Returns whether it differs from the one before; if not, nothing is sent.
    pub(super) fn send(&mut self, screen: &Screen) -> Result<bool> {
        let next = self.sent.with(screen.clone(), StateNumber::ZERO);
        if next.is_same(&self.sent) {
            return Ok(false);
        }
        let difference = next.diff_from(&self.sent, Budget::UNLIMITED).bytes;
        self.sent = next;
        let source = StateNumber::new(self.states);
        self.states += 1;
        let numbers = Numbers {
            source,
            target: source.next(),
            acknowledged: source,
            throwaway: source,
        };
        self.bytes += self.datagrams_bytes(&Instruction::new(numbers, &difference, PADDING))?;
        Ok(true)
    }

    fn datagrams_bytes(&mut self, instruction: &Instruction<'_>) -> Result<usize> {
        let (mut encoded, mut compressed) = (Vec::new(), Vec::new());
        instruction.encode(&mut encoded);
        self.deflater.deflate(&encoded, &mut compressed);
        let content = compressed.len();
        let fragments = Fragmenter::new(1, compressed, DATAGRAM_BYTES_IPV4);
        let fragments = fragments.context("a frame has too many fragments")?;
        Ok(content + fragments.count() * (DATAGRAM_OVERHEAD_BYTES + HEADER_BYTES))
    }
}
