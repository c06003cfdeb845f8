//! Standard input, on which a client says what session it wants, and which ends with the login.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd};

use fulmar_core::CompatMode;
use fulmar_login::{OfferError, OfferReader};

use crate::advice::Advice;
use crate::system::{SystemError, while_doing};

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

/// The advice about a command that does not fit into an offer.
pub(crate) const SHORTER: &str = "give the program fewer arguments, or put them into a file there";

/// The reason why there is no offer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OfferInputError {
    /// No client has said what session it wants.
    #[error("{0}")]
    NoOffer(OfferError),
    /// The system refuses something.
    #[error(transparent)]
    System(#[from] SystemError),
}

impl Advice for OfferInputError {
    fn passed_on(&self) -> Option<&dyn Advice> {
        match self {
            OfferInputError::NoOffer(_) => None,
            OfferInputError::System(failure) => Some(failure),
        }
    }

    fn advice(&self, compat: CompatMode) -> Option<String> {
        Some(match self {
            OfferInputError::NoOffer(OfferError::Missing | OfferError::Cut) => {
                "fulmar [user@]host starts a server by itself; by hand it is: fulmar server new"
                    .to_owned()
            }
            OfferInputError::NoOffer(OfferError::TooLong) => SHORTER.to_owned(),
            OfferInputError::NoOffer(OfferError::Version(_) | OfferError::Malformed(_)) => {
                "install the same version of fulmar on both machines".to_owned()
            }
            OfferInputError::System(_) => return self.passed_on()?.advice(compat),
        })
    }
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
    pub(crate) fn read(&mut self) -> Result<News, OfferInputError> {
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
            return Err(OfferInputError::NoOffer(reader.end()));
        };
        let received = reader.take(read).map_err(OfferInputError::NoOffer)?;
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
