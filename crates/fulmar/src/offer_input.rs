//! Standard input, on which a client says what session it wants, and which ends with the login.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd};

use fulmar_core::CompatMode;
use fulmar_login::{InputEndWatcher, OVER_SSH_LINE, OfferError, OfferReader, ReceivedOffer};
use fulmar_platform::tty::{is_terminal, make_raw};

use crate::advice::Advice;
use crate::system::{SystemError, while_doing};

/// Standard input, past the buffer of the standard library.
pub(crate) struct Input {
    file: File,
    /// Until there is an offer.
    reader: Option<OfferReader>,
    end_watcher: InputEndWatcher,
    /// The line that has come in part behind the offer, as far as it may be the one that asks for datagrams.
    line: Vec<u8>,
    /// True at an end that is not that of the login.
    has_ended: bool,
    is_terminal: bool,
}

/// The byte in which a terminal's input ends, as whoever has made it writes it: the key Ctrl-D.
const END_OF_INPUT: u8 = 0x04;

/// The news of the offer.
pub(crate) enum News {
    /// An offer that makes sense.
    Offer(ReceivedOffer),
    /// The client wants its datagrams to be carried over ssh. These bytes of them have come by now; the rest is not for the
    /// input to read.
    OverSsh(Vec<u8>),
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
    /// Takes it. What waits in a terminal is dropped, so the client is to write after this.
    ///
    /// # Errors
    ///
    /// When no descriptor is left, or the terminal has hung up.
    pub(crate) fn take() -> io::Result<Input> {
        let file = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let is_terminal = is_terminal(&file);
        if is_terminal {
            make_raw(&file)?;
        }
        Ok(Input {
            file,
            reader: Some(OfferReader::default()),
            end_watcher: InputEndWatcher::default(),
            line: Vec::new(),
            has_ended: false,
            is_terminal,
        })
    }

    /// Tells if there may be more to read, or the end of the login.
    pub(crate) fn is_open(&self) -> bool {
        !self.has_ended
    }

    /// Reads what there is. To be asked when there is something.
    ///
    /// # Errors
    ///
    /// When the input ends without an offer, or with one that makes no sense, or cannot be read until
    /// there is one.
    pub(crate) fn read(&mut self) -> Result<News, OfferInputError> {
        let mut bytes = [0; 4096];
        // A terminal's end is then found by itself.
        let room = if self.is_terminal { 1 } else { bytes.len() };
        let outcome = match self.file.read(bytes.split_at_mut(room).0) {
            Err(error) if is_passing(&error) => return Ok(News::Nothing),
            Ok(1) if self.is_terminal && bytes.first() == Some(&END_OF_INPUT) => Ok(0),
            outcome => outcome,
        };
        if let Ok(count) = outcome {
            self.end_watcher
                .take(bytes.get(..count).unwrap_or_default());
        }
        let Some(reader) = &mut self.reader else {
            self.has_ended = matches!(outcome, Ok(0)) && self.end_watcher.is_announced();
            return Ok(match outcome {
                Ok(0) | Err(_) if !self.has_ended => News::End,
                Ok(count) => self.look_for_wish(bytes.get(..count).unwrap_or_default()),
                Err(_) => News::Nothing,
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
                News::Offer(received)
            }
            None => News::Nothing,
        })
    }
}

impl Input {
    /// Tells if it can hold any bytes. What is written to a terminal may not be what is read from it.
    pub(crate) fn is_transparent(&self) -> bool {
        !self.is_terminal
    }

    /// Looks for the line that asks for datagrams. What is longer is none, and not kept.
    fn look_for_wish(&mut self, bytes: &[u8]) -> News {
        for (at, byte) in bytes.iter().enumerate() {
            if self.line.len() < OVER_SSH_LINE.len() {
                self.line.push(*byte);
            }
            if *byte == b'\n' {
                let line = std::mem::take(&mut self.line);
                if line == OVER_SSH_LINE.as_bytes() && self.is_transparent() {
                    return News::OverSsh(bytes.get(at + 1..).unwrap_or_default().to_vec());
                }
            }
        }
        News::Nothing
    }
}

impl io::Read for Input {
    /// Reads past the offer.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
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
