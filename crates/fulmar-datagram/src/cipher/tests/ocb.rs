//! A second OCB3, to hold the first against: RFC 7253 section 4 word for word, in 128-bit integers,
//! one block at a time, no table. Only what we use: AES-128, 12-byte nonce, 16-byte tag, nothing
//! associated.

use aes::Aes128;
use aes::cipher::{BlockCipherEncrypt, KeyInit};

pub(super) struct Ocb(Aes128);

impl Ocb {
    pub(super) fn new(key: &[u8; 16]) -> Ocb {
        Ocb(Aes128::new(key.into()))
    }

    /// OCB-ENCRYPT, section 4.2: ciphertext, then tag.
    pub(super) fn encrypt(&self, nonce: &[u8; 12], text: &[u8]) -> Vec<u8> {
        let l_star = self.encipher(0);
        let l_dollar = double(l_star);
        let mut offset = self.offset_0(nonce);
        let mut checksum = 0;
        let mut sealed = Vec::with_capacity(text.len() + 16);

        let (blocks, rest) = text.as_chunks();
        for (block, i) in blocks.iter().zip(1_u32..) {
            let block = u128::from_be_bytes(*block);
            offset ^= l(l_dollar, i.trailing_zeros());
            sealed.extend((offset ^ self.encipher(block ^ offset)).to_be_bytes());
            checksum ^= block;
        }
        if !rest.is_empty() {
            offset ^= l_star;
            let pad = self.encipher(offset).to_be_bytes();
            sealed.extend(rest.iter().zip(pad).map(|(byte, pad)| byte ^ pad));
            let mut padded = [0; 16];
            padded[..rest.len()].copy_from_slice(rest);
            padded[rest.len()] = 0x80;
            checksum ^= u128::from_be_bytes(padded);
        }
        sealed.extend(self.encipher(checksum ^ offset ^ l_dollar).to_be_bytes());
        sealed
    }

    /// "Nonce-dependent and per-encryption variables" of section 4.2.
    fn offset_0(&self, nonce: &[u8; 12]) -> u128 {
        let mut block = [0; 16];
        block[3] = 1;
        block[4..].copy_from_slice(nonce);
        let block = u128::from_be_bytes(block);
        let bottom = block & 0x3F;
        let top = self.encipher(block ^ bottom);
        // Stretch has 192 bits, top and these 64; the offset is the 128 from number `bottom` on.
        let more = (top >> 64) as u64 ^ (top >> 56) as u64;
        (top << bottom) | ((u128::from(more) << bottom) >> 64)
    }

    fn encipher(&self, block: u128) -> u128 {
        let mut bytes = block.to_be_bytes().into();
        self.0.encrypt_block(&mut bytes);
        u128::from_be_bytes(bytes.into())
    }
}

/// L_i of section 4.1: `L_$` doubled once for L_0, once more for each further.
fn l(l_dollar: u128, i: u32) -> u128 {
    (0..=i).fold(l_dollar, |l, _| double(l))
}

/// Multiplication by x in GF(2^128), section 2.
fn double(value: u128) -> u128 {
    (value << 1) ^ (0x87 * (value >> 127))
}
