//! Standard output, for whoever reads it as it comes: it is never waited for.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};

use fulmar_platform::{SharedOutput, Transfer};

/// The most bytes that wait for a reader before the copy waits, too. Chosen: what a pipe of Linux holds.
const WAITING_BYTES_MAX: usize = 64 * 1024;

/// Standard output.
pub(super) struct Printer {
    /// `None` when nobody reads it any more.
    output: Option<SharedOutput>,
    waiting: VecDeque<u8>,
    /// The reason why it cannot be written any more.
    error: Option<io::Error>,
}

impl Printer {
    /// Returns that of this process.
    pub(super) fn new() -> Printer {
        Printer {
            output: SharedOutput::take().ok(),
            waiting: VecDeque::new(),
            error: None,
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
            let first = whole_lines(self.waiting.make_contiguous());
            match output.write(first) {
                Ok(Transfer::Bytes(count)) if count > 0 => {
                    let count = count.min(first.len());
                    self.waiting.drain(..count);
                }
                Ok(Transfer::Bytes(_) | Transfer::WouldBlock) => return,
                Ok(Transfer::Closed) => self.end(),
                Err(error) => {
                    self.error = Some(error);
                    self.end();
                }
            }
        }
    }

    fn end(&mut self) {
        self.output = None;
        self.waiting.clear();
    }

    /// Returns why something could not be written, if it was not that nobody reads it.
    pub(super) fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
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

/// As many lines as are written at once, so that programs which share a pipe do not tear each other's; of a longer line,
/// the beginning.
fn whole_lines(bytes: &[u8]) -> &[u8] {
    let first = bytes.get(..SharedOutput::AT_ONCE).unwrap_or(bytes);
    let end = first.iter().rposition(|byte| *byte == b'\n');
    end.and_then(|at| first.get(..=at)).unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stay_whole_where_they_can() {
        assert_eq!(whole_lines(b"a\nb\nc"), b"a\nb\n");
        assert_eq!(whole_lines(b"abc"), b"abc");
        let line = [vec![b'x'; SharedOutput::AT_ONCE - 2], b"\n".to_vec()].concat();
        let two = [line.clone(), line.clone()].concat();
        assert_eq!(whole_lines(&two), line);
        let long = vec![b'x'; 3 * SharedOutput::AT_ONCE];
        assert_eq!(whole_lines(&long).len(), SharedOutput::AT_ONCE);
    }
}
