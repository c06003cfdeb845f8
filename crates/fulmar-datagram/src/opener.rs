//! From a datagram to timestamps and a fragment, or to a verdict.

use crate::cipher::TAG_BYTES;
use crate::key::Filled;
use crate::limits::{DATAGRAM_BYTES_MAX, DATAGRAM_BYTES_MIN, SEQUENCE_AHEAD_MAX};
use crate::{Direction, Fragment, Key, Nonce, Sequence, Stamps};

/// The reason why a datagram was dropped. None of these ends a conversation.
///
/// All but [`BadSeal`](OpenError::BadSeal) are told from the datagram's first eight bytes and its
/// length, before the key is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Shorter than [`DATAGRAM_BYTES_MIN`].
    #[error("the datagram is too short")]
    TooShort,
    /// Longer than [`DATAGRAM_BYTES_MAX`].
    #[error("the datagram is too long")]
    TooLong,
    /// Has our own direction: a reflection, or another conversation.
    #[error("the datagram travels the other way")]
    WrongDirection,
    /// More than [`SEQUENCE_AHEAD_MAX`] above the highest sequence number that was accepted.
    #[error("the sequence number is out of reach")]
    OutOfReach,
    /// Wrong key, damage or forgery: the three cannot be told apart.
    #[error("the seal does not verify")]
    BadSeal,
}

/// The place of a genuine datagram among those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DatagramOrder {
    /// Newer than any before, or *fresh*: it may touch timestamps, round trip, the time last heard,
    /// the path.
    InOrder,
    /// Overtaken or repeated: its fragment still counts, and nothing else of it does.
    Late,
}

/// A genuine datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Opened<'a> {
    /// Its number.
    pub sequence: Sequence,
    /// Its place among those before it.
    pub order: DatagramOrder,
    /// Its timestamps.
    pub stamps: Stamps,
    /// Its fragment, in the caller's buffer.
    pub fragment: Fragment<'a>,
}

/// Opens the datagrams of one direction.
///
/// All that it remembers is the highest sequence number of a genuine datagram.
pub struct Opener {
    material: Filled,
    direction: Direction,
    highest: Option<Sequence>,
}

impl Opener {
    /// Returns an opener for what travels in `direction`: a server's is
    /// [`ToServer`](Direction::ToServer).
    pub fn new(key: &Key, direction: Direction) -> Opener {
        Opener {
            material: key.material(),
            direction,
            highest: None,
        }
    }

    /// Verifies and decrypts a datagram. The plaintext goes to `buffer`, whose former content is
    /// lost; a buffer that is used again costs no allocation.
    ///
    /// # Errors
    ///
    /// The opener is as before, and `buffer` is empty or holds nothing but zeros.
    pub fn open<'a>(
        &mut self,
        datagram: &[u8],
        buffer: &'a mut Vec<u8>,
    ) -> Result<Opened<'a>, OpenError> {
        buffer.clear();
        // Before the key is used: what is wrong by its looks costs no decryption
        // (docs/threat-model.md §5).
        let sealed = self.check(datagram)?;
        buffer.extend_from_slice(sealed.text);
        self.material
            .cipher()
            .open(&sealed.nonce.to_cipher(), buffer, sealed.tag)
            .map_err(|_| OpenError::BadSeal)?;

        let (stamps, fragment) = buffer.split_first_chunk().ok_or(OpenError::TooShort)?;
        let fragment = Fragment::decode(fragment).ok_or(OpenError::TooShort)?;
        let sequence = sealed.nonce.sequence;
        // Only now: a forged number moves nothing.
        let order = self.accept(sequence);
        Ok(Opened {
            sequence,
            order,
            stamps: Stamps::from_wire(*stamps),
            fragment,
        })
    }

    /// Returns the highest sequence number accepted.
    pub fn highest_sequence(&self) -> Option<Sequence> {
        self.highest
    }

    /// Finds the parts of a datagram that may be worth decrypting.
    fn check<'d>(&self, datagram: &'d [u8]) -> Result<Sealed<'d>, OpenError> {
        if datagram.len() < DATAGRAM_BYTES_MIN {
            return Err(OpenError::TooShort);
        }
        if datagram.len() > DATAGRAM_BYTES_MAX {
            return Err(OpenError::TooLong);
        }
        let sealed = Sealed::split(datagram).ok_or(OpenError::TooShort)?;
        if sealed.nonce.direction != self.direction {
            return Err(OpenError::WrongDirection);
        }
        // A hostile peer must not use up all numbers with one datagram, after which every other
        // would be late.
        let ahead = sealed
            .nonce
            .sequence
            .get()
            .saturating_sub(self.highest.unwrap_or_default().get());
        if ahead > SEQUENCE_AHEAD_MAX {
            return Err(OpenError::OutOfReach);
        }
        Ok(sealed)
    }

    /// Takes note of a genuine datagram.
    fn accept(&mut self, sequence: Sequence) -> DatagramOrder {
        if self.highest.is_some_and(|highest| sequence <= highest) {
            return DatagramOrder::Late;
        }
        self.highest = Some(sequence);
        DatagramOrder::InOrder
    }
}

/// The parts of a datagram before it is opened.
struct Sealed<'a> {
    nonce: Nonce,
    text: &'a [u8],
    tag: &'a [u8; TAG_BYTES],
}

impl<'a> Sealed<'a> {
    fn split(datagram: &'a [u8]) -> Option<Sealed<'a>> {
        let (nonce, rest) = datagram.split_first_chunk()?;
        let (text, tag) = rest.split_last_chunk()?;
        Some(Sealed {
            nonce: Nonce::from_wire(*nonce),
            text,
            tag,
        })
    }
}

#[cfg(test)]
mod tests;
