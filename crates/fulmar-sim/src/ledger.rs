//! Watches that no key seals two texts with one nonce.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::hash::Fnv;

/// The nonce of a datagram: its first 8 bytes, in which the direction is the highest bit.
type Nonce = [u8; 8];

/// Every nonce that was used with every key, and what it sealed.
///
/// Record at the sender, before the network can double or lose anything. To seal two texts with
/// one nonce breaks the cipher (docs/protocol.md §3); to send the same sealed bytes twice does not,
/// and is counted in [`repeats`](Self::repeats).
#[derive(Clone, Debug, Default)]
pub struct NonceLedger {
    sealed: BTreeMap<(u64, Nonce), Sealed>,
    repeats: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sealed {
    at: Duration,
    len: usize,
    hash: u64,
}

impl NonceLedger {
    /// Returns a ledger without entries.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Enters a sealed datagram that is sent at `at` under the key with this number.
    ///
    /// # Errors
    ///
    /// Where another text was sealed with this nonce before, or the datagram is too short to hold one.
    pub fn record(&mut self, at: Duration, key: u64, datagram: &[u8]) -> Result<(), NonceError> {
        let Some(nonce) = datagram.first_chunk() else {
            return Err(NonceError::Missing {
                len: datagram.len(),
            });
        };
        let sealed = Sealed {
            at,
            len: datagram.len(),
            hash: Fnv::of(datagram),
        };
        match self.sealed.get(&(key, *nonce)) {
            None => {
                self.sealed.insert((key, *nonce), sealed);
                Ok(())
            }
            Some(before) if (before.len, before.hash) == (sealed.len, sealed.hash) => {
                self.repeats += 1;
                Ok(())
            }
            Some(before) => Err(NonceError::Reused {
                key,
                nonce: u64::from_be_bytes(*nonce),
                first: before.at,
                first_len: before.len,
                again: at,
                again_len: sealed.len,
            }),
        }
    }

    /// Returns how many different (key, nonce) pairs were used.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sealed.len()
    }

    /// Tells whether nothing was entered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sealed.is_empty()
    }

    /// Returns how often a datagram was sent that had been sent before, byte for byte.
    #[must_use]
    pub fn repeats(&self) -> u64 {
        self.repeats
    }
}

/// The reason why a datagram could not be entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NonceError {
    /// It is shorter than a nonce.
    Missing {
        /// Its length in bytes.
        len: usize,
    },
    /// One nonce, two texts.
    Reused {
        /// The number of the key.
        key: u64,
        /// The nonce as a number, direction in the highest bit.
        nonce: u64,
        /// The time of its first use.
        first: Duration,
        /// The length of the datagram that used it first.
        first_len: usize,
        /// The time of its second use.
        again: Duration,
        /// The length of the datagram that used it again.
        again_len: usize,
    },
}

impl fmt::Display for NonceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { len } => write!(f, "a datagram of {len} bytes has no nonce"),
            Self::Reused {
                key,
                nonce,
                first,
                first_len,
                again,
                again_len,
            } => write!(
                f,
                "key {key} sealed two texts with the nonce {nonce:#018x}: {first_len} bytes at \
                 {first:?} and {again_len} bytes at {again:?}"
            ),
        }
    }
}

impl std::error::Error for NonceError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::ms;

    const NONCE: [u8; 8] = [0x80, 0, 0, 0, 0, 0, 0, 7];

    fn datagram(text: &[u8]) -> Vec<u8> {
        [&NONCE[..], text].concat()
    }

    #[test]
    fn two_texts_under_one_nonce_are_caught() {
        let mut ledger = NonceLedger::new();
        ledger.record(ms(1), 1, &datagram(b"one")).unwrap();
        let error = ledger.record(ms(2), 1, &datagram(b"four")).unwrap_err();
        let expected = "key 1 sealed two texts with the nonce 0x8000000000000007: 11 bytes at 1ms \
                        and 12 bytes at 2ms";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn texts_of_equal_length_are_told_apart() {
        let mut ledger = NonceLedger::new();
        ledger.record(ms(1), 1, &datagram(b"one")).unwrap();
        assert!(ledger.record(ms(2), 1, &datagram(b"two")).is_err());
    }

    #[test]
    fn the_same_bytes_again_are_counted_only() {
        let mut ledger = NonceLedger::new();
        ledger.record(ms(1), 1, &datagram(b"one")).unwrap();
        ledger.record(ms(2), 1, &datagram(b"one")).unwrap();
        assert_eq!((ledger.len(), ledger.repeats()), (1, 1));
    }

    #[test]
    fn another_key_may_use_the_nonce() {
        let mut ledger = NonceLedger::new();
        ledger.record(ms(1), 1, &datagram(b"one")).unwrap();
        ledger.record(ms(1), 2, &datagram(b"two")).unwrap();
        assert_eq!((ledger.len(), ledger.repeats()), (2, 0));
    }

    #[test]
    fn what_is_too_short_for_a_nonce_is_refused() {
        let mut ledger = NonceLedger::new();
        assert_eq!(
            ledger.record(ms(1), 1, &[0; 7]),
            Err(NonceError::Missing { len: 7 })
        );
        assert!(ledger.is_empty());
    }
}
