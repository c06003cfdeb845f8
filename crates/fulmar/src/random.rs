//! Seeds, from the system's random source.

use fulmar_core::Seed;

use crate::system::{SystemError, while_doing};

/// Returns a seed for the chaff.
///
/// # Errors
///
/// When the system has no randomness.
pub(crate) fn seed() -> Result<Seed, SystemError> {
    let mut seed = [0; 32];
    fulmar_platform::random(&mut seed).map_err(while_doing("asking for randomness"))?;
    Ok(seed)
}
