//! Resolves the name of a host.

use std::ffi::OsStr;
use std::net::SocketAddr;

use fulmar_compat::{MoshFamily, MoshLoginError};
use fulmar_platform::resolve::resolve;

use super::error::MoshError;

/// Returns the addresses of `host` of that family, at least one, with the port of `service`.
///
/// # Errors
///
/// When there are none, or those that there are are not wanted.
pub(crate) fn addresses(
    host: &OsStr,
    service: &OsStr,
    family: MoshFamily,
) -> Result<Vec<SocketAddr>, MoshError> {
    let found = resolve(host, service, family.only()).map_err(|error| MoshError::NoSuchHost {
        host: host.to_owned(),
        error,
    })?;
    let ordered = family
        .order(found)
        .ok_or_else(|| MoshLoginError::MixedFamilies {
            host: host.to_owned(),
        })?;
    Ok(ordered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_family_is_asked_of_the_system() {
        let addresses = |host: &str, word: &str| {
            addresses(
                OsStr::new(host),
                OsStr::new("22"),
                MoshFamily::of_word(OsStr::new(word)),
            )
        };
        assert!(addresses("::1", "inet6").is_ok_and(|found| found.len() == 1));
        for (host, word) in [("::1", "inet"), ("127.0.0.1", "inet6")] {
            let failure = addresses(host, word).unwrap_err();
            assert!(matches!(failure, MoshError::NoSuchHost { .. }), "{failure}");
        }
    }
}
