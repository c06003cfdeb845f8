//! The secret that both ends share before the first datagram.

use data_encoding::BASE64_NOPAD;
use zeroize::Zeroizing;

/// Bytes of a secret.
///
/// Source: docs/copy-protocol.md §10.
const SECRET_BYTES: usize = 32;

/// Characters of a secret in base64 without padding.
const SECRET_CHARS: usize = 43;

/// The secret of one connection: every key of it is derived from these 32 bytes.
///
/// It can be neither printed, compared nor copied, and is overwritten when dropped.
pub struct Secret(Box<Zeroizing<[u8; SECRET_BYTES]>>);

/// The reason why a text is not a secret. Says nothing of what the text contained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a secret: 43 characters of base64 are expected")]
pub struct SecretError;

impl Secret {
    /// Takes over fresh random bytes.
    #[must_use]
    pub fn from_bytes(bytes: Zeroizing<[u8; SECRET_BYTES]>) -> Secret {
        // Copied to its final place: a move would leave a copy behind that nobody wipes.
        let mut secret = Secret::empty();
        secret.0.copy_from_slice(bytes.as_slice());
        secret
    }

    /// Reads the 43 characters that [`to_base64`](Secret::to_base64) gives.
    ///
    /// # Errors
    ///
    /// Any other text; surrounding white space is not removed.
    pub fn from_base64(text: &str) -> Result<Secret, SecretError> {
        let mut secret = Secret::empty();
        if text.len() != SECRET_CHARS {
            return Err(SecretError);
        }
        match BASE64_NOPAD.decode_mut(text.as_bytes(), secret.0.as_mut_slice()) {
            Ok(_) => Ok(secret),
            Err(_) => Err(SecretError),
        }
    }

    /// Returns the secret as text: standard alphabet, no padding.
    #[must_use]
    pub fn to_base64(&self) -> Zeroizing<String> {
        let mut text = Zeroizing::new(String::with_capacity(SECRET_CHARS));
        BASE64_NOPAD.encode_append(self.0.as_slice(), &mut text);
        text
    }

    /// Returns the bytes, for deriving keys only.
    pub(crate) fn as_bytes(&self) -> &[u8; SECRET_BYTES] {
        &self.0
    }

    fn empty() -> Secret {
        Secret(Box::new(Zeroizing::new([0; SECRET_BYTES])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_forty_three_characters_and_back() {
        let bytes: [u8; 32] = std::array::from_fn(|index| index as u8 * 7);
        let secret = Secret::from_bytes(Zeroizing::new(bytes));
        let text = secret.to_base64();
        assert_eq!(text.len(), SECRET_CHARS);
        assert_eq!(Secret::from_base64(&text).unwrap().as_bytes(), &bytes);
    }

    #[test]
    fn other_texts_are_no_secrets() {
        let text = Secret::from_bytes(Zeroizing::new([0xA5; 32])).to_base64();
        let mut cut = text.to_string();
        cut.pop();
        let (longer, strange) = (format!("{}=", *text), format!("{cut}!"));
        // The last character holds four bits; one that says more is not its only text.
        let ambiguous = format!("{cut}9");
        for wrong in ["", &cut, &longer, &strange, &ambiguous] {
            assert_eq!(
                Secret::from_base64(wrong).err(),
                Some(SecretError),
                "{wrong}"
            );
        }
    }
}
