//! The secret that both ends share.

use std::convert::Infallible;
use std::hint::black_box;
use std::ops::{Deref, DerefMut};
use std::str;
use std::sync::Arc;

use data_encoding::BASE64_NOPAD;
use subtle::ConstantTimeEq as _;
use zeroize::{Zeroize as _, Zeroizing};

use crate::cipher::Cipher;
use crate::stack::wiped;

/// Bytes of a key: AES-128.
///
/// Source: docs/protocol.md §3.1.
const KEY_BYTES: usize = 16;

/// Characters of a key in base64 without padding.
const KEY_CHARS: usize = 22;

/// All that is secret about one conversation: the key, and what the cipher derives from it.
///
/// It is made blank, put into its memory, and then filled there by one of [`Key`]'s constructors.
/// Sealer and opener use it where it is, so it lies in one place.
///
/// ```text
///  ├─────┬──────────────────────────────┬──────────────────────┤
///  │ key │ round keys, for either way   │ offsets: L_*, L_$, … │   RFC 7253, section 4.1
///  ├─────┴──────────────────────────────┴──────────────────────┤
/// ```
pub struct KeyMaterial {
    bytes: [u8; KEY_BYTES],
    cipher: Cipher,
}

/// Memory that holds one conversation's [`KeyMaterial`].
///
/// This crate knows the heap only. A program passes in memory that the system neither dumps nor
/// hands on to children, and that overwrites itself when dropped.
pub trait KeyMemory: DerefMut<Target = KeyMaterial> + Send + Sync + 'static {}

impl<M: DerefMut<Target = KeyMaterial> + Send + Sync + 'static> KeyMemory for M {}

/// Key material that does not change any more.
pub(crate) type Filled = Arc<dyn Deref<Target = KeyMaterial> + Send + Sync>;

/// The key of one conversation, the same for both directions.
///
/// It can be neither printed, compared nor copied, stays at one place in memory however often the
/// value is moved, and is overwritten when the last that uses it is dropped. A
/// [`Sealer`](crate::Sealer) consumes it: whoever held a second one could start a second counter
/// under the same key, and so use a nonce twice.
pub struct Key(Filled);

/// Tells one key from others, and can do nothing else with it.
pub struct KeyMark(Filled);

/// The reason why a text is not a key. Says nothing of what the text contained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// Not 22 bytes long.
    #[error("a key has 22 characters, this text has {found}")]
    WrongLength {
        /// Bytes of the text.
        found: usize,
    },
    /// A character outside the base64 alphabet, or a last character that encodes more than the
    /// two bits which are left for it.
    #[error("the key is not base64")]
    NotBase64,
}

impl KeyMaterial {
    /// Returns key material without a secret: what follows from sixteen zeros.
    pub fn blank() -> KeyMaterial {
        let bytes = [0; KEY_BYTES];
        KeyMaterial {
            cipher: Cipher::new(&bytes),
            bytes,
        }
    }

    /// Returns what seals and opens.
    pub(crate) fn cipher(&self) -> &Cipher {
        &self.cipher
    }
}

impl Drop for KeyMaterial {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}

impl Key {
    /// Makes a key of the bytes that `fill` writes over zeros, in that memory and nowhere else.
    ///
    /// # Errors
    ///
    /// That of `fill`.
    pub fn filled_in<E>(
        mut memory: impl KeyMemory,
        fill: impl FnOnce(&mut [u8; KEY_BYTES]) -> Result<(), E>,
    ) -> Result<Key, E> {
        wiped(|| {
            let material = &mut *memory;
            fill(&mut material.bytes)?;
            material.cipher = Cipher::new(&material.bytes);
            // The same steps with another key, for the registers: round keys that are left there may
            // be stored with any value of which some bytes are undefined.
            black_box(KeyMaterial::blank());
            Ok(())
        })?;
        Ok(Key(Arc::new(memory)))
    }

    /// Reads the 22 characters that a server prints, as [`Key::from_base64`] does, into that memory.
    ///
    /// # Errors
    ///
    /// Any other text.
    pub fn read_into(memory: impl KeyMemory, text: &str) -> Result<Key, KeyError> {
        if text.len() != KEY_CHARS {
            return Err(KeyError::WrongLength { found: text.len() });
        }
        Key::filled_in(memory, |bytes| {
            let read = BASE64_NOPAD.decode_mut(text.as_bytes(), bytes);
            read.map(|_| ()).map_err(|_| KeyError::NotBase64)
        })
    }

    /// Takes over bytes of a key, to the heap.
    pub fn from_bytes(bytes: Zeroizing<[u8; KEY_BYTES]>) -> Key {
        let filled = Key::filled_in(on_the_heap(), |place| {
            place.copy_from_slice(bytes.as_slice());
            Ok::<(), Infallible>(())
        });
        let Ok(key) = filled;
        key
    }

    /// Reads the 22 characters that a server prints, to the heap: standard alphabet, no padding, and
    /// the last four bits zero, so that each key has exactly one text.
    ///
    /// # Errors
    ///
    /// Any other text; surrounding white space is not removed.
    pub fn from_base64(text: &str) -> Result<Key, KeyError> {
        Key::read_into(on_the_heap(), text)
    }

    /// Returns the text that [`Key::from_base64`] reads.
    pub fn to_base64(&self) -> Zeroizing<String> {
        let mut text = Zeroizing::new(String::with_capacity(KEY_CHARS));
        wiped(|| {
            let mut chars = Zeroizing::new([0; KEY_CHARS]);
            BASE64_NOPAD.encode_mut(&self.0.bytes, chars.as_mut_slice());
            text.push_str(str::from_utf8(chars.as_slice()).expect("base64 is ASCII"));
        });
        text
    }

    /// Returns what tells this key from others.
    pub fn mark(&self) -> KeyMark {
        KeyMark(Arc::clone(&self.0))
    }

    /// Returns the key material, for one who seals or opens.
    pub(crate) fn material(&self) -> Filled {
        Arc::clone(&self.0)
    }
}

impl KeyMark {
    /// Tells if it is that of this key, in constant time.
    pub fn is_of(&self, key: &Key) -> bool {
        self.0.bytes.ct_eq(&key.0.bytes).into()
    }
}

fn on_the_heap() -> Box<KeyMaterial> {
    Box::new(KeyMaterial::blank())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Direction, Opener, Sealer};

    #[test]
    fn sixteen_bytes_are_twenty_two_characters_and_back() {
        let bytes = [
            0x73, 0xAF, 0x0A, 0xF2, 0x22, 0xF2, 0xB8, 0x2A, 0xF5, 0xA0, 0x43, 0x3B, 0x1E, 0xCC,
            0xF2, 0x8E,
        ];
        let key = Key::from_bytes(Zeroizing::new(bytes));
        assert_eq!(key.material().bytes, bytes);
        assert_eq!(key.to_base64().as_str(), "c68K8iLyuCr1oEM7Hszyjg");
        let read = Key::from_base64("c68K8iLyuCr1oEM7Hszyjg").unwrap();
        assert_eq!(read.material().bytes, bytes);
    }

    #[test]
    fn other_texts_are_not_keys() {
        for (text, error) in [
            ("", KeyError::WrongLength { found: 0 }),
            ("c68K8iLyuCr1oEM7Hszyj", KeyError::WrongLength { found: 21 }),
            (
                "c68K8iLyuCr1oEM7Hszyjg==",
                KeyError::WrongLength { found: 24 },
            ),
            (
                "c68K8iLyuCr1oEM7Hszyjg\n",
                KeyError::WrongLength { found: 23 },
            ),
            ("c68K8iLyuCr1oEM7Hszyj=", KeyError::NotBase64),
            ("c68K8iLyuCr1oEM7Hszy g", KeyError::NotBase64),
            ("c68K8iLyuCr1oEM7Hszy_-", KeyError::NotBase64),
            ("c68K8iLyuCr1oEM7Hsz\u{e9}g", KeyError::NotBase64),
        ] {
            assert_eq!(Key::from_base64(text).err(), Some(error), "{text:?}");
        }
    }

    #[test]
    fn a_key_has_one_text_only() {
        // h, i, … v encode the same two bits as g does, and more.
        for last in 'h'..='v' {
            let text = format!("c68K8iLyuCr1oEM7Hszyj{last}");
            assert_eq!(
                Key::from_base64(&text).err(),
                Some(KeyError::NotBase64),
                "{text}"
            );
        }
    }

    #[test]
    fn an_error_does_not_repeat_the_text() {
        let error = Key::from_base64("c68K8iLyuCr1oEM7Hszy!g").err().unwrap();
        assert_eq!(error.to_string(), "the key is not base64");
    }

    #[test]
    fn a_mark_tells_a_key_from_others() {
        let read = |text| Key::from_base64(text).unwrap();
        let mark = read("c68K8iLyuCr1oEM7Hszyjg").mark();
        assert!(mark.is_of(&read("c68K8iLyuCr1oEM7Hszyjg")));
        assert!(!mark.is_of(&read("c68K8iLyuCr1oEM7Hszyjw")));
        assert!(!mark.is_of(&read("d68K8iLyuCr1oEM7Hszyjg")));
    }

    #[test]
    fn memory_that_could_not_be_filled_is_no_key() {
        let failed = Key::filled_in(on_the_heap(), |bytes| {
            bytes.fill(7);
            Err("no randomness")
        });
        assert_eq!(failed.err(), Some("no randomness"));
    }

    #[test]
    fn sealer_and_opener_use_the_key_where_it_is() {
        let key = Key::from_bytes(Zeroizing::new([7; KEY_BYTES]));
        let material = Arc::downgrade(&key.material());
        let opener = Opener::new(&key, Direction::ToClient);
        let sealer = Sealer::new(key, Direction::ToServer);
        assert_eq!(material.strong_count(), 2);
        drop((opener, sealer));
        assert_eq!(material.strong_count(), 0);
    }
}
