//! The content of one UDP payload: seal, nonce, timestamps, fragment header.
//!
//! [`Sealer`] turns a pair of timestamps and a fragment into a datagram, [`Opener`] turns a datagram
//! back into them or says why it will not. Between the two lies AES-128-OCB3, so a byte that was not
//! written by somebody who holds the [`Key`] never gets further than this crate.
//!
//! ```text
//!  0               8      10      12                 20      22           n-16       n
//!  ├───────────────┼───────┼───────┼──────────────────┼───────┼────────────┼──────────┤
//!  │ nonce         │ stamp │ reply │ instruction id   │ index │ content …  │ tag      │
//!  ├───────────────┼───────┴───────┴──────────────────┴───────┴────────────┼──────────┤
//!  │ in the clear  │ encrypted                                             │          │
//!  └───────────────┴───────────────────────────────────────────────────────┴──────────┘
//!    Nonce           Stamps          FragmentHeader             Fragment
//! ```
//!
//! All integers are big-endian. The layout is that of Mosh 1.4; `docs/protocol.md` §3 and §4 tell it
//! in full, [`limits`] has its numbers.
//!
//! Not here, on purpose: sockets, clocks and randomness ([`Time`](fulmar_base::Time) and key bytes come in as
//! arguments), compression and message decoding (a forged byte meets nothing but the seal),
//! reassembly, round-trip smoothing, addresses.
//!
//! ```
//! use fulmar_datagram::{Direction, Fragment, FragmentHeader, Key, Opener, Sealer, Stamps};
//!
//! let key = "c68K8iLyuCr1oEM7Hszyjg";
//! let mut client = Sealer::new(Key::from_base64(key)?, Direction::ToServer);
//! let mut server = Opener::new(&Key::from_base64(key)?, Direction::ToServer);
//!
//! let header = FragmentHeader { id: 1, index: Default::default(), is_final: true };
//! let fragment = Fragment { header, content: b"ls\r" };
//! let (mut datagram, mut plaintext) = (Vec::new(), Vec::new());
//! client.seal(Stamps::NONE, fragment, &mut datagram)?;
//! assert_eq!(server.open(&datagram, &mut plaintext)?.fragment, fragment);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod cipher;
mod fragment;
mod key;
pub mod limits;
mod nonce;
mod opener;
mod sealer;
mod stack;
mod stamp;
#[cfg(test)]
mod testing;

pub use fragment::{Fragment, FragmentHeader, FragmentIndex};
pub use key::{Key, KeyError, KeyMark, KeyMaterial, KeyMemory};
pub use nonce::{Direction, Nonce, Sequence};
pub use opener::{DatagramOrder, OpenError, Opened, Opener};
pub use sealer::{SealError, Sealer};
pub use stamp::{Stamp, StampClock, Stamps};
