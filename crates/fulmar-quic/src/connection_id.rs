//! Connection ids that are authenticated: some random bytes and a keyed code (HMAC) over them.

use quinn_proto::ConnectionId;
use ring::hmac;
use subtle::ConstantTimeEq as _;

/// Bytes of the id that a client's first datagrams are addressed to: 8 random, 12 of the code.
///
/// Source: docs/copy-protocol.md §10.
pub(crate) const FIRST_ID_BYTES: usize = 20;

/// Bytes of all other ids: 3 random, 5 of the code. Every packet carries one.
///
/// Source: docs/copy-protocol.md §10.
pub(crate) const OWN_ID_BYTES: usize = 8;

/// Makes and recognises ids of one kind, which has a length of its own.
#[derive(Clone)]
pub(crate) struct ConnectionIdKey {
    key: hmac::Key,
    bytes: usize,
    random: usize,
}

impl ConnectionIdKey {
    /// Returns the key for the ids of a client's first datagrams.
    pub(crate) fn first(key: &[u8]) -> ConnectionIdKey {
        ConnectionIdKey::new(key, FIRST_ID_BYTES, 8)
    }

    /// Returns the key for the ids that one end gives out.
    pub(crate) fn own(key: &[u8]) -> ConnectionIdKey {
        ConnectionIdKey::new(key, OWN_ID_BYTES, 3)
    }

    fn new(key: &[u8], bytes: usize, random: usize) -> ConnectionIdKey {
        let key = hmac::Key::new(hmac::HMAC_SHA256, key);
        ConnectionIdKey { key, bytes, random }
    }

    /// Returns how long its ids are.
    pub(crate) fn id_bytes(&self) -> usize {
        self.bytes
    }

    /// Makes an id of random bytes, of which the first few are used.
    pub(crate) fn make(&self, random: &[u8; 32]) -> ConnectionId {
        let (random, _) = random.split_at(self.random);
        let mut id = [0; FIRST_ID_BYTES];
        let code = hmac::sign(&self.key, random);
        let bytes = random.iter().chain(code.as_ref()).take(self.bytes);
        id.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        let (id, _) = id.split_at(self.bytes);
        ConnectionId::new(id)
    }

    /// Returns whether this key made that id, in the same time for a good one as for a bad one.
    pub(crate) fn has_signed(&self, id: &[u8]) -> bool {
        if id.len() != self.bytes {
            return false;
        }
        let (random, found) = id.split_at(self.random);
        let code = hmac::sign(&self.key, random);
        let (expected, _) = code.as_ref().split_at(found.len());
        expected.ct_eq(found).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_knows_its_ids_and_no_bit_of_them_may_differ() {
        for key in [
            ConnectionIdKey::first(&[1; 32]),
            ConnectionIdKey::own(&[2; 32]),
        ] {
            let id = key.make(&[9; 32]);
            assert_eq!(id.len(), key.id_bytes());
            assert!(key.has_signed(&id));
            for bit in 0..8 * id.len() {
                let mut other = id.to_vec();
                other[bit / 8] ^= 1 << (bit % 8);
                assert!(!key.has_signed(&other), "bit {bit}");
            }
            assert!(!key.has_signed(&id[1..]));
            assert!(!key.has_signed(&[]));
        }
    }

    #[test]
    fn another_key_makes_other_ids() {
        let id = ConnectionIdKey::own(&[1; 32]).make(&[9; 32]);
        assert!(!ConnectionIdKey::own(&[2; 32]).has_signed(&id));
    }
}
