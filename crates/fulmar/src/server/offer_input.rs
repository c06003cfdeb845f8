//! Standard input, on which a client says what session it wants, and which ends with the login.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd};

use fulmar_platform::{Interest, PollList};

use crate::bootstrap::offer_reader::{OfferReader, Received};
use crate::errors::{Failure, while_doing};

/// Standard input, past the buffer of the standard library.
#[derive(Debug)]
pub(crate) struct Input {
    file: File,
}

impl Input {
    /// Takes it.
    ///
    /// # Errors
    ///
    /// When no descriptor is left.
    pub(crate) fn take() -> io::Result<Input> {
        let file = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        Ok(Input { file })
    }

    /// Reads an offer.
    ///
    /// # Errors
    ///
    /// When none comes, or it makes no sense, or nothing can be read.
    pub(crate) fn offer(&mut self) -> Result<Received, Failure> {
        let mut reader = OfferReader::default();
        let mut bytes = [0; 4096];
        loop {
            let count = self
                .read(&mut bytes)
                .map_err(while_doing("reading standard input"))?;
            let Some(read) = bytes.get(..count).filter(|read| !read.is_empty()) else {
                return Err(Failure::NoOffer(reader.end()));
            };
            if let Some(received) = reader.take(read).map_err(Failure::NoOffer)? {
                return Ok(received);
            }
        }
    }

    /// Takes what has come, which nobody wants, and tells if no more can come. To be asked when
    /// there is something to read.
    pub(crate) fn has_ended(&mut self) -> bool {
        let mut unwanted = [0; 4096];
        matches!(self.read(&mut unwanted), Ok(0) | Err(_))
    }

    /// Reads, and waits for it if need be: whoever gave us this may have made it non-blocking.
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.file.read(bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let mut list = PollList::new();
                    list.add(&self.file, Interest::Read);
                    list.wait(None)?;
                }
                outcome => return outcome,
            }
        }
    }
}

impl AsFd for Input {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
