//! Contracts that hold for all values, tried with random ones.

use fulmar_datagram::limits::{CONTENT_BYTES_MAX, FRAGMENT_INDEX_MAX};
use fulmar_datagram::{
    DatagramOrder, Direction, Fragment, FragmentHeader, FragmentIndex, Key, Nonce, OpenError,
    Opener, Sealer, Stamp, Stamps,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

fn key(bytes: [u8; 16]) -> Key {
    Key::from_bytes(bytes.into())
}

fn headers() -> impl Strategy<Value = FragmentHeader> {
    (any::<u64>(), 0..=FRAGMENT_INDEX_MAX, any::<bool>()).prop_map(|(id, index, is_final)| {
        let index = FragmentIndex::new(index).expect("the range ends at the highest index");
        FragmentHeader {
            id,
            index,
            is_final,
        }
    })
}

fn stamps() -> impl Strategy<Value = Stamps> {
    (any::<u16>(), any::<u16>()).prop_map(|(sent, reply)| Stamps {
        sent: Stamp::from_wire(sent),
        reply: Stamp::from_wire(reply),
    })
}

fn directions() -> impl Strategy<Value = Direction> {
    prop_oneof![Just(Direction::ToServer), Just(Direction::ToClient)]
}

proptest! {
    #[test]
    fn what_is_sealed_opens_to_the_same(
        secret: [u8; 16],
        direction in directions(),
        stamps in stamps(),
        header in headers(),
        content in vec(any::<u8>(), 0..=CONTENT_BYTES_MAX),
    ) {
        let fragment = Fragment { header, content: &content };
        let (mut datagram, mut buffer) = (Vec::new(), Vec::new());
        let mut opener = Opener::new(&key(secret), direction);
        let sequence = Sealer::new(key(secret), direction).seal(stamps, fragment, &mut datagram)?;
        let opened = opener.open(&datagram, &mut buffer)?;
        prop_assert_eq!(opened.sequence, sequence);
        prop_assert_eq!((opened.stamps, opened.fragment), (stamps, fragment));
    }

    #[test]
    fn only_the_key_and_the_direction_of_the_sealer_open(
        secret: [u8; 16],
        bit in 0..128_usize,
        direction in directions(),
        header in headers(),
    ) {
        let (mut datagram, mut buffer) = (Vec::new(), Vec::new());
        let fragment = Fragment { header, content: b"text" };
        Sealer::new(key(secret), direction).seal(Stamps::NONE, fragment, &mut datagram)?;
        let mut other_way = Opener::new(&key(secret), direction.reversed());
        prop_assert_eq!(other_way.open(&datagram, &mut buffer), Err(OpenError::WrongDirection));
        let mut other_secret = secret;
        other_secret[bit / 8] ^= 1 << (bit % 8);
        let mut other_key = Opener::new(&key(other_secret), direction);
        prop_assert_eq!(other_key.open(&datagram, &mut buffer), Err(OpenError::BadSeal));
    }

    #[test]
    fn no_bytes_from_a_stranger_open_or_panic(
        secret: [u8; 16],
        direction in directions(),
        datagram in vec(any::<u8>(), 0..2100),
    ) {
        let mut buffer = Vec::new();
        let mut opener = Opener::new(&key(secret), direction);
        prop_assert!(opener.open(&datagram, &mut buffer).is_err());
        prop_assert_eq!(opener.highest_sequence(), None);
        prop_assert!(buffer.iter().all(|&byte| byte == 0));
    }

    #[test]
    fn in_order_means_above_all_before(arrivals in vec(any::<Index>(), 1..60)) {
        let mut sealer = Sealer::new(key([1; 16]), Direction::ToServer);
        let mut opener = Opener::new(&key([1; 16]), Direction::ToServer);
        let header = FragmentHeader { id: 1, index: FragmentIndex::ZERO, is_final: true };
        let datagrams: Vec<_> = (0..20).map(|_| {
            let mut datagram = Vec::new();
            sealer.seal(Stamps::NONE, Fragment { header, content: b"" }, &mut datagram).map(|_| datagram)
        }).collect::<Result<_, _>>()?;

        let (mut expected, mut buffer) = (0, Vec::new());
        for number in arrivals.iter().map(|arrival| arrival.index(datagrams.len())) {
            let order = if number < expected { DatagramOrder::Late } else { DatagramOrder::InOrder };
            expected = expected.max(number + 1);
            prop_assert_eq!(opener.open(&datagrams[number], &mut buffer)?.order, order);
        }
    }

    #[test]
    fn any_ten_bytes_and_more_are_a_fragment_that_encodes_to_them(bytes in vec(any::<u8>(), 0..40)) {
        match Fragment::decode(&bytes) {
            Some(fragment) => {
                let mut encoded = Vec::new();
                fragment.encode(&mut encoded);
                prop_assert_eq!(encoded, bytes);
            }
            None => prop_assert!(bytes.len() < 10),
        }
    }

    #[test]
    fn any_four_bytes_are_stamps_and_any_eight_a_nonce(stamps: [u8; 4], nonce: [u8; 8]) {
        prop_assert_eq!(Stamps::from_wire(stamps).to_wire(), stamps);
        prop_assert_eq!(Nonce::from_wire(nonce).to_wire(), nonce);
    }

    #[test]
    fn a_key_survives_its_text(secret: [u8; 16]) {
        let text = key(secret).to_base64();
        prop_assert_eq!(text.len(), 22);
        let again = Key::from_base64(&text)?;
        prop_assert_eq!(again.to_base64(), text);
    }

    #[test]
    fn a_text_that_is_a_key_is_the_text_of_that_key(text in "[A-Za-z0-9+/=_-]{22}|\\PC{0,30}") {
        if let Ok(key) = Key::from_base64(&text) {
            let again = key.to_base64();
            prop_assert_eq!(again.as_str(), text);
        }
    }
}
