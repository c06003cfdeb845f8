mod ocb;

use data_encoding::HEXUPPER;

use self::ocb::Ocb;
use super::*;
use crate::testing::Random;

/// The samples of RFC 7253 appendix A that have no associated data: last byte of the nonce, length
/// of the plaintext 00 01 02 …, ciphertext with tag. The key is 00 01 … 0F, the nonce BB AA 99 … 11
/// and that last byte.
const RFC_7253: [(u8, u8, &str); 6] = [
    (0x00, 0, "785407BFFFC8AD9EDCC5520AC9111EE6"),
    (0x03, 8, "45DD69F8F5AAE72414054CD1F35D82760B2CD00D2F99BFA9"),
    (
        0x06,
        16,
        "5CE88EC2E0692706A915C00AEB8B2396F40E1C743F52436BDF06D8FA1ECA343D",
    ),
    (
        0x09,
        24,
        "221BD0DE7FA6FE993ECCD769460A0AF2D6CDED0C395B1C3CE725F32494B9F914D85C0B1EB38357FF",
    ),
    (
        0x0C,
        32,
        "2942BFC773BDA23CABC6ACFD9BFD5835BD300F0973792EF46040C53F1432BCDF\
         B5E1DDE3BC18A5F840B52E653444D5DF",
    ),
    (
        0x0F,
        40,
        "4412923493C57D5DE0D700F753CCE0D1D2D95060122E9F15A5DDBFC5787E50B5\
         CC55EE507BCB084E479AD363AC366B95A98CA5F3000B1479",
    ),
];

const RFC_KEY: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

fn rfc_nonce(last: u8) -> [u8; 12] {
    [
        0xBB, 0xAA, 0x99, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, last,
    ]
}

fn cipher(key: [u8; 16]) -> Cipher {
    Cipher::new(&key)
}

/// Returns ciphertext and tag in one.
fn seal(cipher: &Cipher, nonce: &[u8; 12], text: &[u8]) -> Vec<u8> {
    let mut sealed = text.to_vec();
    let tag = cipher.seal(nonce, &mut sealed);
    sealed.extend(tag);
    sealed
}

fn open(cipher: &Cipher, nonce: &[u8; 12], sealed: &[u8]) -> Option<Vec<u8>> {
    let (text, tag) = sealed.split_last_chunk().unwrap();
    let mut text = text.to_vec();
    cipher.open(nonce, &mut text, tag).ok().map(|()| text)
}

#[test]
fn the_samples_of_the_rfc_come_out_and_open() {
    let cipher = cipher(RFC_KEY);
    for (last, length, sample) in RFC_7253 {
        let text: Vec<u8> = (0..length).collect();
        let nonce = rfc_nonce(last);
        let sealed = seal(&cipher, &nonce, &text);
        assert_eq!(HEXUPPER.encode(&sealed), sample, "{length} bytes");
        assert_eq!(open(&cipher, &nonce, &sealed), Some(text), "{length} bytes");
    }
}

#[test]
fn the_second_implementation_agrees_with_the_rfc() {
    let ocb = Ocb::new(&RFC_KEY);
    for (last, length, sample) in RFC_7253 {
        let text: Vec<u8> = (0..length).collect();
        assert_eq!(
            HEXUPPER.encode(&ocb.encrypt(&rfc_nonce(last), &text)),
            sample
        );
    }
}

/// T-K2 of docs/threat-model.md §12: 100 000 messages under 1000 keys.
#[test]
fn two_implementations_agree_on_random_messages() {
    let mut random = Random::seeded(2);
    for _ in 0..1000 {
        let key = random.array();
        let (cipher, ocb) = (cipher(key), Ocb::new(&key));
        for _ in 0..100 {
            let (nonce, length) = (random.array(), random.below(160));
            assert_agreement(&cipher, &ocb, &nonce, &random.bytes(length));
        }
    }
}

#[test]
fn two_implementations_agree_at_every_length_that_a_datagram_has() {
    let mut random = Random::seeded(3);
    let key = random.array();
    let (cipher, ocb) = (cipher(key), Ocb::new(&key));
    for length in 0..=DATAGRAM_BYTES_MAX - NONCE_BYTES - TAG_BYTES {
        assert_agreement(&cipher, &ocb, &random.array(), &random.bytes(length));
    }
}

fn assert_agreement(cipher: &Cipher, ocb: &Ocb, nonce: &[u8; 12], text: &[u8]) {
    let sealed = ocb.encrypt(nonce, text);
    assert_eq!(
        seal(cipher, nonce, text),
        sealed,
        "nonce {nonce:x?}, text {text:x?}"
    );
    assert_eq!(
        open(cipher, nonce, &sealed).as_deref(),
        Some(text),
        "nonce {nonce:x?}"
    );
}

#[test]
fn another_key_does_not_open() {
    let sealed = seal(&cipher(RFC_KEY), &rfc_nonce(0), b"text");
    assert_eq!(open(&cipher([0; 16]), &rfc_nonce(0), &sealed), None);
}
