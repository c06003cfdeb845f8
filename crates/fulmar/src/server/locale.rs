//! Giving the user's program a UTF-8 locale, whatever the server was started with.
//!
//! Our emulator reads UTF-8 by itself and needs no locale, so a wrong one is a matter between the
//! program and its C library: it is put right as far as that can be done by variables, and never
//! a reason to refuse.
//!
//! Source: docs/protocol.md §2.7.

use std::ffi::{OsStr, OsString};

use crate::environment::Environment;

/// The variables of a locale.
///
/// Source: docs/protocol.md §2.3.
pub(crate) const VARIABLES: [&str; 15] = [
    "LANG",
    "LANGUAGE",
    "LC_CTYPE",
    "LC_NUMERIC",
    "LC_TIME",
    "LC_COLLATE",
    "LC_MONETARY",
    "LC_MESSAGES",
    "LC_PAPER",
    "LC_NAME",
    "LC_ADDRESS",
    "LC_TELEPHONE",
    "LC_MEASUREMENT",
    "LC_IDENTIFICATION",
    "LC_ALL",
];

/// The locale that every current C library has: UTF-8, and otherwise no language.
const FALLBACK: &str = "C.UTF-8";

/// Which locale the program got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chosen {
    /// The one of the environment.
    Environment,
    /// The one that the client sent.
    Client,
    /// Neither was UTF-8: the environment's, with the character set of [`FALLBACK`].
    Fallback,
}

/// Changes `environment` until its character set is UTF-8, as little as possible. `offered` are the
/// client's variables.
pub(crate) fn choose(environment: &mut Environment, offered: &[(OsString, OsString)]) -> Chosen {
    if is_utf8(environment) {
        return Chosen::Environment;
    }
    let mut clients = environment.clone();
    for name in VARIABLES {
        clients.remove(name);
    }
    for (name, value) in offered {
        clients.set(name, value);
    }
    if is_utf8(&clients) {
        *environment = clients;
        return Chosen::Client;
    }
    // LC_ALL, where it is set, outweighs LC_CTYPE.
    if environment.get_filled("LC_ALL").is_some() {
        environment.set("LC_ALL", FALLBACK);
    } else {
        environment.set("LC_CTYPE", FALLBACK);
    }
    Chosen::Fallback
}

/// Tells if programs in this environment use UTF-8, going by the name of the locale.
fn is_utf8(environment: &Environment) -> bool {
    ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| environment.get_filled(name))
        .is_some_and(has_utf8_codeset)
}

/// Reads the part between dot and at sign of a name such as `de_DE.UTF-8@euro`. The name `UTF-8`
/// alone is a locale of macOS, which other systems do not have.
fn has_utf8_codeset(locale: &OsStr) -> bool {
    let Some(locale) = locale.to_str() else {
        return false;
    };
    let name = locale.split('@').next().unwrap_or(locale);
    let codeset = match name.split_once('.') {
        Some((_, codeset)) => codeset,
        None if cfg!(target_vendor = "apple") => name,
        None => return false,
    };
    codeset.eq_ignore_ascii_case("UTF-8") || codeset.eq_ignore_ascii_case("UTF8")
}

#[cfg(test)]
mod tests {
    use super::*;

    type Variables = &'static [(&'static str, &'static str)];

    fn chosen(before: Variables, offered: Variables) -> (Chosen, Environment) {
        let mut environment = before.iter().copied().collect();
        let offered: Vec<_> = offered
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into()))
            .collect();
        let chosen = choose(&mut environment, &offered);
        (chosen, environment)
    }

    #[test]
    fn the_environments_own_utf8_stays_as_it_is() {
        for before in [
            &[("LANG", "en_US.UTF-8")] as Variables,
            &[("LANG", "C"), ("LC_CTYPE", "de_DE.utf8@euro")],
            &[("LC_ALL", "C.UTF-8"), ("LC_CTYPE", "C")],
            &[("LC_ALL", ""), ("LANG", "C.utf-8")],
        ] {
            let (how, after) = chosen(before, &[("LANG", "fr_FR.UTF-8")]);
            assert_eq!(how, Chosen::Environment, "{before:?}");
            assert_eq!(after, before.iter().copied().collect(), "{before:?}");
        }
    }

    #[test]
    fn the_clients_locale_replaces_one_that_is_not_utf8() {
        let (how, after) = chosen(
            &[("LC_ALL", "C"), ("PATH", "/bin"), ("LANG", "de_DE")],
            &[("LANG", "fr_FR.UTF-8"), ("LC_TIME", "C")],
        );
        assert_eq!(how, Chosen::Client);
        let wanted = [("PATH", "/bin"), ("LANG", "fr_FR.UTF-8"), ("LC_TIME", "C")];
        assert_eq!(after, Environment::from_iter(wanted));
    }

    #[test]
    fn without_any_utf8_only_the_character_set_is_replaced() {
        for (before, after) in [
            (&[] as Variables, &[("LC_CTYPE", "C.UTF-8")] as Variables),
            (
                &[("LANG", "de_DE"), ("LC_TIME", "C")],
                &[("LANG", "de_DE"), ("LC_TIME", "C"), ("LC_CTYPE", "C.UTF-8")],
            ),
            (&[("LC_ALL", "POSIX")], &[("LC_ALL", "C.UTF-8")]),
        ] {
            let (how, changed) = chosen(before, &[("LANG", "C")]);
            assert_eq!(how, Chosen::Fallback, "{before:?}");
            assert_eq!(changed, after.iter().copied().collect(), "{before:?}");
        }
    }

    #[cfg(not(target_vendor = "apple"))]
    #[test]
    fn the_bare_name_that_macs_send_is_no_locale_here() {
        let (how, after) = chosen(&[("LC_CTYPE", "UTF-8")], &[]);
        assert_eq!(how, Chosen::Fallback);
        assert_eq!(after, Environment::from_iter([("LC_CTYPE", "C.UTF-8")]));
    }
}
