//! Short words for the durations and addresses that tests are full of.

use std::net::SocketAddr;
use std::time::Duration;

/// Returns a duration of so many milliseconds.
#[must_use]
pub const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// Returns a duration of so many seconds.
#[must_use]
pub const fn secs(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// Returns a duration of so many minutes.
#[must_use]
pub const fn minutes(count: u64) -> Duration {
    secs(60 * count)
}

/// Returns a duration of so many hours.
#[must_use]
pub const fn hours(count: u64) -> Duration {
    minutes(60 * count)
}

/// Returns a duration of so many days of 24 hours.
#[must_use]
pub const fn days(count: u64) -> Duration {
    hours(24 * count)
}

/// Reads an address and port as `198.51.100.7:4500` or `[2001:db8::7]:4500`.
///
/// # Panics
///
/// Where the text is neither: it is meant for literals in tests.
#[must_use]
pub fn address(text: &str) -> SocketAddr {
    match text.parse() {
        Ok(address) => address,
        Err(_) => panic!("`{text}` is not an IP address with a port"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_multiples_of_each_other() {
        assert_eq!(days(2), secs(2 * 86_400));
        assert_eq!(minutes(1), ms(60_000));
    }

    #[test]
    fn both_families_are_read() {
        assert!(address("198.51.100.7:4500").is_ipv4());
        assert!(address("[2001:db8::7]:4500").is_ipv6());
    }

    #[test]
    #[should_panic(expected = "`nowhere` is not an IP address with a port")]
    fn a_bad_literal_is_named() {
        let _ = address("nowhere");
    }
}
