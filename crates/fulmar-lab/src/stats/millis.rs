//! Times as they are written to files: milliseconds, exact to the microsecond that records have.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::time::Duration;

/// Returns a time in milliseconds, cut to whole microseconds.
pub fn of(time: Duration) -> f64 {
    time.as_micros() as f64 / 1000.0
}

/// Writes a time.
///
/// # Errors
///
/// The serializer's.
pub(crate) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    of(*time).serialize(to)
}

/// Reads a time.
///
/// # Errors
///
/// Where it is no number, negative, or longer than a duration can be.
pub(crate) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Duration, D::Error> {
    let millis = f64::deserialize(from)?;
    let time = Duration::try_from_secs_f64((millis * 1000.0).round() / 1e6);
    // Through seconds a microsecond may become a nanosecond more or less.
    let micros = time.map(|time| (time.as_nanos() + 500) / 1000);
    micros
        .ok()
        .and_then(|micros| u64::try_from(micros).ok())
        .map(Duration::from_micros)
        .ok_or_else(|| de::Error::custom("this is no time"))
}
