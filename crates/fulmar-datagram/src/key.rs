//! The secret that both ends share.

use std::str;

use data_encoding::BASE64_NOPAD;
use zeroize::Zeroizing;

/// Bytes of a key: AES-128.
///
/// Source: docs/protocol.md §3.1.
const KEY_BYTES: usize = 16;

/// Characters of a key in base64 without padding.
const KEY_CHARS: usize = 22;

/// The key of one conversation, the same for both directions.
///
/// It can be neither printed, compared nor copied, stays at one place in memory however often the
/// value is moved, and is overwritten when dropped. A [`Sealer`](crate::Sealer) consumes it: whoever
/// held a second one could start a second counter under the same key, and so use a nonce twice.
pub struct Key(Box<Zeroizing<[u8; KEY_BYTES]>>);

/// Why a text is not a key. Says nothing of what the text contained.
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

impl Key {
    /// Takes over fresh random bytes.
    pub fn from_bytes(bytes: Zeroizing<[u8; KEY_BYTES]>) -> Key {
        // Copied to its final place, not moved there: a move would leave a copy behind unwiped.
        let mut key = Key(Box::new(Zeroizing::new([0; KEY_BYTES])));
        key.0.copy_from_slice(bytes.as_slice());
        key
    }

    /// Reads the 22 characters that a server prints: standard alphabet, no padding, and the last
    /// four bits zero, so that each key has exactly one text.
    ///
    /// # Errors
    ///
    /// Any other text; surrounding white space is not removed.
    pub fn from_base64(text: &str) -> Result<Key, KeyError> {
        if text.len() != KEY_CHARS {
            return Err(KeyError::WrongLength { found: text.len() });
        }
        let mut key = Key(Box::new(Zeroizing::new([0; KEY_BYTES])));
        match BASE64_NOPAD.decode_mut(text.as_bytes(), key.0.as_mut_slice()) {
            Ok(_) => Ok(key),
            Err(_) => Err(KeyError::NotBase64),
        }
    }

    /// Returns the text that [`Key::from_base64`] reads.
    pub fn to_base64(&self) -> Zeroizing<String> {
        let mut chars = Zeroizing::new([0; KEY_CHARS]);
        BASE64_NOPAD.encode_mut(self.0.as_slice(), chars.as_mut_slice());
        let mut text = Zeroizing::new(String::with_capacity(KEY_CHARS));
        text.push_str(str::from_utf8(chars.as_slice()).expect("base64 is ASCII"));
        text
    }

    /// Returns the bytes, for the cipher only.
    pub(crate) fn as_bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_bytes_are_twenty_two_characters_and_back() {
        let bytes = [
            0x73, 0xAF, 0x0A, 0xF2, 0x22, 0xF2, 0xB8, 0x2A, 0xF5, 0xA0, 0x43, 0x3B, 0x1E, 0xCC,
            0xF2, 0x8E,
        ];
        let key = Key::from_bytes(Zeroizing::new(bytes));
        assert_eq!(key.as_bytes(), &bytes);
        assert_eq!(key.to_base64().as_str(), "c68K8iLyuCr1oEM7Hszyjg");
        assert_eq!(
            Key::from_base64("c68K8iLyuCr1oEM7Hszyjg")
                .unwrap()
                .as_bytes(),
            &bytes
        );
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
}
