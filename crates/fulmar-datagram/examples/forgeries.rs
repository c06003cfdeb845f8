//! T-K4 of docs/threat-model.md §12 at full size: each bit of a thousand datagrams flipped, and a
//! million forgeries. None of them may open, leave a byte of plaintext behind, or move the opener.
//!
//! ```text
//! cargo run --release -p fulmar-datagram --example forgeries
//! ```
//!
//! The same claims are unit tests with smaller numbers.

use fulmar_datagram::{
    DatagramOrder, Direction, Fragment, FragmentHeader, FragmentIndex, Key, Nonce, Opener,
    SealError, Sealer, Sequence, Stamps,
};

const DATAGRAMS: usize = 1000;
const FORGERIES: u64 = 1_000_000;

fn main() -> Result<(), SealError> {
    let mut sealer = Sealer::new(key(), Direction::ToServer);
    let mut victim = Victim::new();
    let mut flipped = 0;
    for length in (0..1252).cycle().step_by(31).take(DATAGRAMS) {
        let mut datagram = sealed(&mut sealer, length)?;
        for bit in 0..8 * datagram.len() {
            datagram[bit / 8] ^= 1 << (bit % 8);
            victim.must_refuse(&datagram);
            datagram[bit / 8] ^= 1 << (bit % 8);
            flipped += 1;
        }
        victim.must_open(&datagram);
    }
    println!("{flipped} flipped bits in {DATAGRAMS} datagrams: all refused, nothing left behind");

    let mut forgery = sealed(&mut sealer, 60)?;
    let mut noise = 1_u64;
    for number in 0..FORGERIES {
        for chunk in forgery.chunks_mut(8) {
            noise = noise
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            chunk.copy_from_slice(&noise.rotate_left(29).to_be_bytes()[..chunk.len()]);
        }
        let sequence = Sequence::new(number).expect("far below 63 bits");
        let nonce = Nonce {
            direction: Direction::ToServer,
            sequence,
        };
        forgery[..8].copy_from_slice(&nonce.to_wire());
        victim.must_refuse(&forgery);
    }
    victim.must_open(&sealed(&mut sealer, 60)?);
    println!("{FORGERIES} forgeries: all refused, nothing left behind");
    Ok(())
}

struct Victim {
    opener: Opener,
    buffer: Vec<u8>,
}

impl Victim {
    fn new() -> Victim {
        Victim {
            opener: Opener::new(&key(), Direction::ToServer),
            buffer: Vec::new(),
        }
    }

    fn must_refuse(&mut self, datagram: &[u8]) {
        let before = self.opener.highest_sequence();
        let verdict = self
            .opener
            .open(datagram, &mut self.buffer)
            .map(|opened| opened.sequence);
        assert!(verdict.is_err(), "opened {datagram:x?}");
        assert_eq!(
            self.opener.highest_sequence(),
            before,
            "moved by {datagram:x?}"
        );
        assert!(
            self.buffer.iter().all(|&byte| byte == 0),
            "plaintext left of {datagram:x?}"
        );
    }

    fn must_open(&mut self, datagram: &[u8]) {
        let order = self
            .opener
            .open(datagram, &mut self.buffer)
            .map(|opened| opened.order);
        assert_eq!(order, Ok(DatagramOrder::InOrder), "{datagram:x?}");
    }
}

fn sealed(sealer: &mut Sealer, length: usize) -> Result<Vec<u8>, SealError> {
    let content = vec![0x5A; length];
    let header = FragmentHeader {
        id: 1,
        index: FragmentIndex::ZERO,
        is_final: true,
    };
    let mut datagram = Vec::new();
    sealer.seal(
        Stamps::NONE,
        Fragment {
            header,
            content: &content,
        },
        &mut datagram,
    )?;
    Ok(datagram)
}

fn key() -> Key {
    Key::from_bytes([0x42; 16].into())
}
