//! Keys and seeds, from the system's random source.

use fulmar_core::Seed;
use fulmar_datagram::Key;
use zeroize::Zeroizing;

use crate::errors::{Failure, while_doing};

/// Returns a fresh key.
///
/// # Errors
///
/// When the system has no randomness.
pub(crate) fn key() -> Result<Key, Failure> {
    let mut bytes = Zeroizing::new([0; 16]);
    fulmar_platform::random(bytes.as_mut_slice()).map_err(while_doing("making a key"))?;
    Ok(Key::from_bytes(bytes))
}

/// Returns a seed for the chaff.
///
/// # Errors
///
/// As for [`key`].
pub(crate) fn seed() -> Result<Seed, Failure> {
    let mut seed = [0; 32];
    fulmar_platform::random(&mut seed).map_err(while_doing("asking for randomness"))?;
    Ok(seed)
}
