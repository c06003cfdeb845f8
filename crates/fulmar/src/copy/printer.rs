//! Standard output, for whoever reads it as it comes: it is never waited for.

use std::collections::VecDeque;
use std::os::fd::{AsFd as _, BorrowedFd};

use fulmar_platform::{SharedOutput, Transfer};

/// What waits for a reader before the copy waits, too. Chosen: what a pipe of Linux holds.
const WAITING_BYTES_MAX: usize = 64 * 1024;

/// Standard output.
pub(super) struct Printer {
    /// `None` when nobody reads it any more.
    output: Option<SharedOutput>,
    waiting: VecDeque<u8>,
}

impl Printer {
    /// Returns that of this process.
    pub(super) fn new() -> Printer {
        Printer {
            output: SharedOutput::take().ok(),
            waiting: VecDeque::new(),
        }
    }

    /// Has text be written as soon as there is room. However much that is, it is kept: it is said only once.
    pub(super) fn print(&mut self, text: &str) {
        if self.output.is_some() {
            self.waiting.extend(text.as_bytes());
            self.flush();
        }
    }

    /// Writes what there is room for.
    pub(super) fn flush(&mut self) {
        while let Some(output) = &self.output
            && !self.waiting.is_empty()
        {
            let (first, _) = self.waiting.as_slices();
            match output.write(first) {
                Ok(Transfer::Bytes(count)) => {
                    self.waiting.drain(..count.min(first.len()));
                }
                Ok(Transfer::WouldBlock) => return,
                Ok(Transfer::Closed) | Err(_) => {
                    self.output = None;
                    self.waiting.clear();
                }
            }
        }
    }

    /// Tells if nothing waits.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Tells if so much waits that nothing should be added.
    pub(super) fn is_behind(&self) -> bool {
        self.waiting.len() > WAITING_BYTES_MAX
    }

    /// Returns what is to be waited for until there is room.
    pub(super) fn awaited(&self) -> Option<BorrowedFd<'_>> {
        let output = self.output.as_ref().filter(|_| !self.is_idle())?;
        Some(output.as_fd())
    }
}
