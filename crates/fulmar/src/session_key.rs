//! A session's key, in memory that is neither dumped nor inherited (docs/threat-model.md §9).

use fulmar_datagram::{Key, KeyError, KeyMaterial};
use fulmar_platform::SecretBox;

use crate::system::{SystemError, while_doing};

/// Returns a fresh key.
///
/// # Errors
///
/// When the system has no randomness.
pub(crate) fn fresh() -> Result<Key, SystemError> {
    let filled = Key::filled_in(memory(), |bytes| fulmar_platform::random(bytes));
    filled.map_err(while_doing("making a key"))
}

/// Reads the text of a key.
///
/// # Errors
///
/// When it is not one. Nothing of it is repeated.
pub(crate) fn read(text: &str) -> Result<Key, KeyError> {
    Key::read_into(memory(), text)
}

fn memory() -> SecretBox<KeyMaterial> {
    SecretBox::new(KeyMaterial::blank())
}
