//! What two ends speak: the stock protocol as it is, or with the extensions that they agreed on.

/// What stands for an agreement: both ends hash how they came to it, and only ends that have seen the
/// same have the same digest. It is no secret.
///
/// Source: docs/protocol.md §13.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digest([u8; Digest::BYTES]);

impl Digest {
    /// How long it is: that of SHA-256.
    pub const BYTES: usize = 32;

    /// Returns the digest of those bytes.
    pub const fn new(bytes: [u8; Digest::BYTES]) -> Digest {
        Digest(bytes)
    }

    /// Returns its bytes.
    pub const fn as_bytes(&self) -> &[u8; Digest::BYTES] {
        &self.0
    }
}

/// What is spoken.
///
/// Source: docs/protocol.md §13.5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Nothing has come from the peer yet that would tell.
    #[default]
    Undecided,
    /// The stock protocol, and nothing that a stock peer would not send.
    Legacy,
    /// The stock protocol with what was agreed on.
    Native,
    /// Nothing any more but goodbye: the two ends have not seen the same agreement.
    Altered,
}
