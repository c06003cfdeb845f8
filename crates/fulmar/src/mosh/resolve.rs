//! Resolves the name of a host.

use std::ffi::OsStr;
use std::net::SocketAddr;

use fulmar_compat::{AddressPreference, MoshLoginError};
use fulmar_login::OnlyFamily;
use fulmar_platform::resolve::{Family, resolve};

use super::error::MoshError;

/// Returns the addresses of `host` that are wished for, at least one, with the port of `service`.
///
/// # Errors
///
/// When there are none, or the wish does not allow those that there are.
pub(crate) fn addresses(
    host: &OsStr,
    service: &OsStr,
    wish: AddressPreference,
) -> Result<Vec<SocketAddr>, MoshError> {
    let family = match wish.family() {
        OnlyFamily::Any => Family::Any,
        OnlyFamily::Inet => Family::V4,
        OnlyFamily::Inet6 => Family::V6,
    };
    let found = resolve(host, service, family).map_err(|error| MoshError::NoSuchHost {
        host: host.to_owned(),
        error,
    })?;
    let ordered = wish
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
                AddressPreference::of_word(OsStr::new(word)),
            )
        };
        assert!(addresses("::1", "inet6").is_ok_and(|found| found.len() == 1));
        for (host, word) in [("::1", "inet"), ("127.0.0.1", "inet6")] {
            let failure = addresses(host, word).unwrap_err();
            assert!(matches!(failure, MoshError::NoSuchHost { .. }), "{failure}");
        }
    }
}
