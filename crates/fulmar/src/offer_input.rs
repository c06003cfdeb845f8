//! Standard input, on which a client says what session it wants, and which ends with the login.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd};

use fulmar_login::OfferReader;

use crate::errors::Failure;
use crate::system::while_doing;

/// Standard input, past the buffer of the standard library.
pub(crate) struct Input {
    file: File,
    /// Until there is an offer.
    reader: Option<OfferReader>,
}

/// The news of the offer.
pub(crate) enum News {
    /// The text of an offer that makes sense.
    Offer(Vec<u8>),
    /// A part of one, or something that nobody wants.
    Nothing,
    /// The end.
    End,
}

impl Input {
    /// Takes it.
    ///
    /// # Errors
    ///
    /// When no descriptor is left.
    pub(crate) fn take() -> io::Result<Input> {
        let file = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let reader = Some(OfferReader::default());
        Ok(Input { file, reader })
    }

    /// Reads what there is. To be asked when there is something.
    ///
    /// # Errors
    ///
    /// When the input ends without an offer, or with one that makes no sense, or cannot be read until
    /// there is one.
    pub(crate) fn read(&mut self) -> Result<News, Failure> {
        let mut bytes = [0; 4096];
        let outcome = match self.file.read(&mut bytes) {
            Err(error) if is_passing(&error) => return Ok(News::Nothing),
            outcome => outcome,
        };
        let Some(reader) = &mut self.reader else {
            return Ok(match outcome {
                Ok(0) | Err(_) => News::End,
                Ok(_) => News::Nothing,
            });
        };
        let count = outcome.map_err(while_doing("reading standard input"))?;
        let Some(read) = bytes.get(..count).filter(|read| !read.is_empty()) else {
            return Err(Failure::NoOffer(reader.end()));
        };
        let received = reader.take(read).map_err(Failure::NoOffer)?;
        Ok(match received {
            Some(received) => {
                self.reader = None;
                News::Offer(received.text)
            }
            None => News::Nothing,
        })
    }
}

/// Whoever gave us this may have made it non-blocking.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
    )
}

impl AsFd for Input {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
