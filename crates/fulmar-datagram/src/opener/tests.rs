use super::*;
use crate::testing::{Random, key, sealed};

const TO_SERVER: Direction = Direction::ToServer;

fn opener() -> Opener {
    Opener::new(&key(1), TO_SERVER)
}

fn nonce(number: u64) -> Nonce {
    Nonce {
        direction: TO_SERVER,
        sequence: Sequence::new(number).unwrap(),
    }
}

/// Returns a genuine datagram of `bytes` bytes.
fn datagram(number: u64, bytes: usize) -> Vec<u8> {
    sealed(&key(1), nonce(number), &vec![0x55; bytes - 24])
}

/// Opens into a buffer that held something before.
fn open(opener: &mut Opener, datagram: &[u8]) -> Result<DatagramOrder, OpenError> {
    let mut buffer = vec![0xAA; 100];
    opener
        .open(datagram, &mut buffer)
        .map(|opened| opened.order)
}

/// Demands that a datagram leaves no byte of plaintext in the buffer and no trace in the opener.
fn assert_refused(opener: &mut Opener, datagram: &[u8], buffer: &mut Vec<u8>) -> OpenError {
    let before = (opener.highest, opener.direction);
    let error = opener
        .open(datagram, buffer)
        .expect_err("a datagram nobody sealed");
    assert_eq!((opener.highest, opener.direction), before);
    assert!(
        buffer.iter().all(|&byte| byte == 0),
        "{error} left {buffer:x?}"
    );
    error
}

#[test]
fn lengths_from_38_to_2048_are_looked_at() {
    for (bytes, verdict) in [
        (38, Ok(DatagramOrder::InOrder)),
        (2048, Ok(DatagramOrder::InOrder)),
        (2049, Err(OpenError::TooLong)),
    ] {
        // The cipher takes no text of 2025 bytes, so the last byte of 2049 is put after the seal.
        let mut datagram = datagram(0, bytes.min(2048));
        datagram.resize(bytes, 0);
        assert_eq!(open(&mut opener(), &datagram), verdict, "{bytes} bytes");
    }
    assert_eq!(open(&mut opener(), &[0xFF; 65507]), Err(OpenError::TooLong));
}

#[test]
fn a_datagram_without_a_whole_fragment_header_is_too_short_to_be_decrypted() {
    let (mut opener, mut buffer) = (opener(), Vec::new());
    let genuine = (24..38).map(|bytes| datagram(0, bytes));
    let shorter = (0..24).map(|bytes| vec![0; bytes]);
    for datagram in genuine.chain(shorter) {
        buffer.extend([0xAA; 50]);
        let error = assert_refused(&mut opener, &datagram, &mut buffer);
        assert_eq!(
            (error, buffer.len()),
            (OpenError::TooShort, 0),
            "{} bytes",
            datagram.len()
        );
    }
}

#[test]
fn our_own_datagram_thrown_back_is_refused() {
    let mut client = Opener::new(&key(1), Direction::ToClient);
    assert_eq!(
        open(&mut client, &datagram(0, 50)),
        Err(OpenError::WrongDirection)
    );
}

#[test]
fn a_wrong_direction_shows_before_the_seal_is_tried() {
    let mut datagram = datagram(0, 50);
    datagram[0] |= 0x80;
    datagram[40] ^= 1;
    assert_eq!(
        open(&mut opener(), &datagram),
        Err(OpenError::WrongDirection)
    );
}

#[test]
fn sequence_numbers_reach_2_to_the_32_above_the_highest_accepted() {
    const REACH: u64 = 1 << 32;
    let mut opener = opener();
    for highest in [0, REACH, 2 * REACH] {
        let out_of_reach = datagram(highest + REACH + 1, 50);
        assert_eq!(
            open(&mut opener, &datagram(highest, 50)),
            Ok(DatagramOrder::InOrder)
        );
        assert_eq!(open(&mut opener, &out_of_reach), Err(OpenError::OutOfReach));
    }
}

#[test]
fn before_anything_was_accepted_the_reach_is_counted_from_zero() {
    let mut opener = opener();
    assert_eq!(
        open(&mut opener, &datagram((1 << 32) + 1, 50)),
        Err(OpenError::OutOfReach)
    );
    assert_eq!(
        open(&mut opener, &datagram(1 << 32, 50)),
        Ok(DatagramOrder::InOrder)
    );
}

#[test]
fn overtaken_and_repeated_datagrams_are_late_and_move_nothing() {
    let mut opener = opener();
    let order = |number| (number, open(&mut opener, &datagram(number, 50)).unwrap());
    let (in_order, late) = (DatagramOrder::InOrder, DatagramOrder::Late);
    let arrivals = [0, 0, 3, 1, 3, 2, 4, 9, 4].map(order);
    assert_eq!(
        arrivals.map(|(_, order)| order),
        [
            in_order, late, in_order, late, late, late, in_order, in_order, late
        ]
    );
    assert_eq!(opener.highest_sequence().map(Sequence::get), Some(9));
}

#[test]
fn a_first_datagram_with_a_high_number_makes_the_lower_ones_late() {
    let mut opener = opener();
    assert_eq!(
        open(&mut opener, &datagram(7, 50)),
        Ok(DatagramOrder::InOrder)
    );
    assert_eq!(open(&mut opener, &datagram(0, 50)), Ok(DatagramOrder::Late));
}

#[test]
fn stamps_and_fragment_are_read_from_their_places() {
    let plaintext = [
        [0x12, 0x34, 0xFF, 0xFF].as_slice(),
        &0x0102_0304_0506_0708_u64.to_be_bytes(),
        &[0x80, 0x09],
        b"content",
    ]
    .concat();
    let (mut opener, mut buffer) = (opener(), Vec::new());
    let opened = opener
        .open(&sealed(&key(1), nonce(5), &plaintext), &mut buffer)
        .unwrap();
    assert_eq!(opened.sequence.get(), 5);
    assert_eq!(opened.stamps.sent.map(crate::Stamp::get), Some(0x1234));
    assert_eq!(opened.stamps.reply, None);
    assert_eq!(opened.fragment.header.id, 0x0102_0304_0506_0708);
    assert_eq!(opened.fragment.header.index.get(), 9);
    assert!(opened.fragment.header.is_final);
    assert_eq!(opened.fragment.content, b"content");
}

#[test]
fn a_buffer_used_again_is_not_allocated_again() {
    let (mut opener, mut buffer) = (opener(), Vec::new());
    opener.open(&datagram(0, 2048), &mut buffer).unwrap();
    let place = buffer.as_ptr();
    for bytes in [38, 100, 2048] {
        opener.open(&datagram(1, bytes), &mut buffer).unwrap();
        assert_eq!(buffer.as_ptr(), place, "{bytes} bytes");
    }
}

#[test]
fn a_refused_datagram_leaves_nothing_of_the_one_before() {
    let (mut opener, mut buffer) = (opener(), Vec::new());
    opener.open(&datagram(0, 200), &mut buffer).unwrap();
    for refused in [vec![], vec![0; 100], vec![0xFF; 100], vec![0; 3000]] {
        assert_refused(&mut opener, &refused, &mut buffer);
    }
}

/// T-K4 of docs/threat-model.md §12, first half; `examples/forgeries.rs` does it with more.
#[test]
fn a_datagram_with_any_bit_flipped_is_refused() {
    let (mut opener, mut buffer, mut random) = (opener(), Vec::new(), Random::seeded(4));
    open(&mut opener, &datagram(1000, 50)).unwrap();
    for number in 1001..1101 {
        let plaintext = random.bytes(14 + (number % 40) as usize);
        let mut datagram = sealed(&key(1), nonce(number), &plaintext);
        for bit in 0..8 * datagram.len() {
            datagram[bit / 8] ^= 1 << (bit % 8);
            let error = assert_refused(&mut opener, &datagram, &mut buffer);
            assert_eq!(
                error,
                refusal_of_flipped(bit),
                "bit {bit} of datagram {number}"
            );
            datagram[bit / 8] ^= 1 << (bit % 8);
        }
        assert_eq!(open(&mut opener, &datagram), Ok(DatagramOrder::InOrder));
    }
}

/// The first byte begins with the direction; the rest of the first four bytes, and the lowest bit
/// of the fourth too, is worth 2^32 or more of sequence number.
fn refusal_of_flipped(bit: usize) -> OpenError {
    match bit {
        7 => OpenError::WrongDirection,
        0..32 => OpenError::OutOfReach,
        _ => OpenError::BadSeal,
    }
}

/// T-K4 of docs/threat-model.md §12, second half; `examples/forgeries.rs` does it with more.
#[test]
fn forgeries_are_refused() {
    let (mut opener, mut buffer, mut random) = (opener(), Vec::new(), Random::seeded(5));
    open(&mut opener, &datagram(1000, 50)).unwrap();
    for number in 0..50_000 {
        let length = 38 + random.below(100);
        let mut forgery = random.bytes(length);
        forgery[..8].copy_from_slice(&nonce(number).to_wire());
        assert_eq!(
            assert_refused(&mut opener, &forgery, &mut buffer),
            OpenError::BadSeal
        );
    }
    assert_eq!(
        open(&mut opener, &datagram(1001, 50)),
        Ok(DatagramOrder::InOrder)
    );
}
