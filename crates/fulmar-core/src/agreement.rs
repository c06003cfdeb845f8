//! The agreement that both ends have before the first datagram.

use fulmar_transport::{Digest, Terms};
use sha2::{Digest as _, Sha256};

use crate::capability::{Capabilities, Capability};

/// The first bytes of what is hashed, so that the hash cannot be that of anything else.
///
/// Source: docs/protocol.md §13.4.
const PREFIX: &[u8] = b"fulmar bootstrap 1\n";

/// The agreement that client and server reached while the server was being started, and the digest by which
/// each finds that the other has seen the same offer and the same announcement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// The capabilities that may be used.
    pub capabilities: Capabilities,
    /// The digest of offer and announcement.
    pub digest: Digest,
}

impl Agreement {
    /// Returns what may be used under that agreement, if there is one.
    pub fn capabilities_of(agreement: Option<Agreement>) -> Capabilities {
        agreement.map_or(Capabilities::NONE, |agreement| agreement.capabilities)
    }

    /// Returns what of it is the transport's.
    pub(crate) fn terms(self) -> Terms {
        Terms {
            digest: self.digest,
            idle: self.capabilities.has(Capability::Idle),
            challenge: self.capabilities.has(Capability::Challenge),
            sizes: self.capabilities.has(Capability::Sizes),
        }
    }

    /// Returns the agreement on `capabilities`, as it follows from the offer, from `FULMAR OFFER` up
    /// to the LF after `FULMAR END`, and from the announcement, the line `FULMAR CONNECT …` with its LF. The
    /// client has the offer as it was sent and the announcement as it arrived, the server the other way
    /// round.
    ///
    /// Source: docs/protocol.md §13.4.
    pub fn of(offer: &[u8], announcement: &[u8], capabilities: Capabilities) -> Agreement {
        let hash = Sha256::new()
            .chain_update(PREFIX)
            .chain_update(offer)
            .chain_update(announcement);
        Agreement {
            capabilities,
            digest: Digest::new(hash.finalize().into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFER: &[u8] = b"FULMAR OFFER 1 exit\nsize 80 24\nFULMAR END\n";
    const ANNOUNCEMENT: &[u8] = b"FULMAR CONNECT 1 exit 0.1.0\n";

    fn digest(offer: &[u8], announcement: &[u8]) -> Digest {
        Agreement::of(offer, announcement, Capabilities::ALL).digest
    }

    #[test]
    fn the_digest_is_sha_256_of_prefix_offer_and_announcement() {
        // Reckoned by `sha256sum` of coreutils.
        let known = "3220e08a53c98545ccef59c20844baad09ffd27d3dfa29e4b310dda8b416be82";
        let digest = digest(OFFER, ANNOUNCEMENT);
        let hex: Vec<String> = digest
            .as_bytes()
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        assert_eq!(hex.concat(), known);
    }

    #[test]
    fn a_changed_byte_anywhere_changes_the_digest() {
        let whole = digest(OFFER, ANNOUNCEMENT);
        for (text, is_offer) in [(OFFER, true), (ANNOUNCEMENT, false)] {
            for place in 0..text.len() {
                let mut altered = text.to_vec();
                altered[place] ^= 1;
                let altered = if is_offer {
                    digest(&altered, ANNOUNCEMENT)
                } else {
                    digest(OFFER, &altered)
                };
                assert_ne!(altered, whole, "byte {place}");
            }
        }
    }
}
