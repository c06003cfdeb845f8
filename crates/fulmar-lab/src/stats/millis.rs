//! Times as they are written to files: milliseconds, exact to the microsecond that records have.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::time::Duration;

/// Writes a time, cut to whole microseconds.
///
/// # Errors
///
/// The serializer's.
pub(crate) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    (time.as_micros() as f64 / 1000.0).serialize(to)
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

#[cfg(test)]
mod tests {
    use crate::stats::Observation::{self, After, Censored};
    use std::time::Duration;

    fn read(text: &str) -> Option<Observation> {
        serde_json::from_str(text).ok()
    }

    #[test]
    fn a_time_is_written_in_milliseconds_and_read_to_the_microsecond() {
        let micros = [0, 1, 999, 1_000, 1_001, 123_456_789, 86_400_000_001];
        let long = (0..50).map(|number| 20_000_000_000_001 + number * 7);
        for time in micros.into_iter().chain(long).map(Duration::from_micros) {
            for wait in [After(time), Censored(time)] {
                let text = serde_json::to_string(&wait).unwrap();
                assert_eq!(read(&text), Some(wait), "{text}");
            }
        }
        let text = serde_json::to_string(&After(Duration::from_nanos(1_500_999))).unwrap();
        assert_eq!(text, r#"{"ms":1.5}"#);
        let text = serde_json::to_string(&Censored(Duration::from_millis(2))).unwrap();
        assert_eq!(text, r#"{"ms":2.0,"censored":true}"#);
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            r#"{"ms":-1}"#,
            r#"{"ms":1e300}"#,
            r#"{"ms":null}"#,
            r#"{"ms":"1"}"#,
            "{}",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
