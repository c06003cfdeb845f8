//! Giving the user's program a UTF-8 locale that there is, whatever the server was started with.
//!
//! Our emulator reads UTF-8 by itself and needs no locale, so a wrong one is a matter between the
//! program and its C library: it is put right as far as that can be done by variables, and never
//! a reason to refuse.
//!
//! Source: docs/protocol.md §2.7.

use std::ffi::{OsStr, OsString};

use fulmar_login::LOCALE_VARIABLES;
use fulmar_settings::Environment;

/// UTF-8 and otherwise no language, by the names that systems have for it; English where there is no
/// such thing.
const FALLBACKS: [&str; 3] = ["C.UTF-8", "C.utf8", "en_US.UTF-8"];

/// The locale that the program got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// One that the environment or the client named.
    Named,
    /// None of those would do: the environment's as far as there is such a thing, with the character
    /// set of this one.
    Fallback(&'static str),
    /// There is no UTF-8 locale at all on this machine.
    None,
}

/// The choice of a locale, and what was missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) choice: Choice,
    /// A locale that was named and is not here, if any: then things may look other than the user
    /// expects.
    missing: Option<OsString>,
}

impl Chosen {
    /// Says what the user is to know about it, if anything.
    pub(crate) fn warning(&self) -> Option<String> {
        let missing = || self.missing.as_deref().map(OsStr::display);
        match self.choice {
            Choice::Named => None,
            Choice::Fallback(name) => missing().map(|missing| {
                format!("there is no locale {missing} on this machine; programs get {name}")
            }),
            Choice::None => Some(
                "there is no UTF-8 locale on this machine; programs may garble all but ASCII. To make \
                 one: localedef -i en_US -f UTF-8 en_US.UTF-8"
                    .to_owned(),
            ),
        }
    }
}

/// Changes `environment` until programs find a UTF-8 locale, as little as possible. `offered` are the
/// client's variables, and `codeset` tells the character set of a locale that there is.
pub(crate) fn choose(
    environment: &mut Environment,
    offered: &[(OsString, OsString)],
    codeset: impl Fn(&str) -> Option<String>,
) -> Chosen {
    let judge = Judge { codeset };
    let mut clients = without(environment, |_| true);
    for (name, value) in offered {
        clients.set(name, value);
    }
    let named = [environment.clone(), clients];
    let missing = named.iter().rev().find_map(|named| judge.missing(named));
    let fitting = named.each_ref().map(|named| judge.without_missing(named));
    // First both as they are, as stock Mosh tries them, and only then without what is not installed
    // (docs/protocol.md §2.7).
    let mut all = named.iter().chain(&fitting);
    let choice = match all.find(|named| judge.is_fine(named)) {
        Some(fine) => {
            environment.clone_from(fine);
            Choice::Named
        }
        None => {
            environment.clone_from(&fitting[0]);
            judge.fall_back(environment)
        }
    };
    Chosen { choice, missing }
}

/// Returns an environment without those of the locale's variables.
fn without(environment: &Environment, is_unwanted: impl Fn(&str) -> bool) -> Environment {
    let mut rest = environment.clone();
    for name in LOCALE_VARIABLES
        .into_iter()
        .filter(|name| is_unwanted(name))
    {
        rest.remove(name);
    }
    rest
}

/// Judges environments as programs of this machine do.
struct Judge<F> {
    codeset: F,
}

impl<F: Fn(&str) -> Option<String>> Judge<F> {
    /// Tells if programs find a locale, and that it is UTF-8.
    fn is_fine(&self, environment: &Environment) -> bool {
        let character_set = ["LC_ALL", "LC_CTYPE", "LANG"]
            .iter()
            .find_map(|name| environment.get_filled(name));
        let is_utf8 = character_set.is_some_and(|name| self.is_utf8(name));
        is_utf8 && self.missing(environment).is_none()
    }

    fn is_utf8(&self, locale: &OsStr) -> bool {
        let codeset = locale.to_str().and_then(&self.codeset);
        codeset.is_some_and(|codeset| codeset.eq_ignore_ascii_case("UTF-8"))
    }

    /// Returns a locale that is looked for and that there is not: a single one keeps programs from
    /// using any.
    fn missing(&self, environment: &Environment) -> Option<OsString> {
        let is_missing = |name: &&str| self.is_missing(environment, name);
        let first = match environment.get_filled("LC_ALL") {
            Some(_) => Some("LC_ALL").filter(is_missing),
            None => LOCALE_VARIABLES.into_iter().find(is_missing),
        };
        environment.get(first?).map(OsStr::to_owned)
    }

    fn is_missing(&self, environment: &Environment, name: &str) -> bool {
        // Of languages there is a list, and what is not there is passed over.
        let locale = environment.get_filled(name).filter(|_| name != "LANGUAGE");
        locale.is_some_and(|locale| locale.to_str().and_then(&self.codeset).is_none())
    }

    fn without_missing(&self, environment: &Environment) -> Environment {
        without(environment, |name| self.is_missing(environment, name))
    }

    /// Sets the character set alone. LC_ALL, where it is set, outweighs LC_CTYPE.
    fn fall_back(&self, environment: &mut Environment) -> Choice {
        let name = match environment.get_filled("LC_ALL") {
            Some(_) => "LC_ALL",
            None => "LC_CTYPE",
        };
        let there = FALLBACKS
            .into_iter()
            .find(|name| self.is_utf8(OsStr::new(name)));
        environment.set(name, there.unwrap_or(FALLBACKS[0]));
        there.map_or(Choice::None, Choice::Fallback)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Variables = &'static [(&'static str, &'static str)];

    /// The locales of a machine, with their character sets.
    const HERE: &[(&str, &str)] = &[
        ("C", "ANSI_X3.4-1968"),
        ("POSIX", "ANSI_X3.4-1968"),
        ("C.UTF-8", "UTF-8"),
        ("de_DE", "ISO-8859-1"),
        ("de_DE.utf8@euro", "UTF-8"),
        ("en_US.UTF-8", "UTF-8"),
        ("en_IN", "UTF-8"),
        ("fr_FR.UTF-8", "UTF-8"),
    ];

    fn codeset(locales: &'static [(&str, &str)]) -> impl Fn(&str) -> Option<String> {
        |name| {
            let found = locales.iter().find(|(known, _)| *known == name);
            found.map(|(_, codeset)| (*codeset).to_owned())
        }
    }

    fn chosen(before: Variables, offered: Variables) -> (Chosen, Environment) {
        let mut environment = before.iter().copied().collect();
        let offered: Vec<_> = offered
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into()))
            .collect();
        let chosen = choose(&mut environment, &offered, codeset(HERE));
        (chosen, environment)
    }

    #[test]
    fn the_environments_own_utf8_stays_as_it_is() {
        for before in [
            &[("LANG", "en_US.UTF-8")] as Variables,
            &[("LANG", "C"), ("LC_CTYPE", "de_DE.utf8@euro")],
            &[("LC_ALL", "C.UTF-8"), ("LC_CTYPE", "C")],
            &[("LC_ALL", ""), ("LANG", "C.UTF-8")],
            &[("LC_ALL", "C.UTF-8"), ("LANG", "xx_XX.UTF-8")],
            &[("LANG", "en_IN"), ("LANGUAGE", "xx:yy")],
        ] {
            let (chosen, after) = chosen(before, &[("LANG", "fr_FR.UTF-8")]);
            assert_eq!(chosen.choice, Choice::Named, "{before:?}");
            assert_eq!(chosen.warning(), None);
            assert_eq!(after, before.iter().copied().collect(), "{before:?}");
        }
    }

    #[test]
    fn the_clients_locale_replaces_one_that_is_not_utf8() {
        let (chosen, after) = chosen(
            &[("LC_ALL", "C"), ("PATH", "/bin"), ("LANG", "de_DE")],
            &[("LANG", "fr_FR.UTF-8"), ("LC_TIME", "C")],
        );
        assert_eq!(chosen.choice, Choice::Named);
        let wanted = [("PATH", "/bin"), ("LANG", "fr_FR.UTF-8"), ("LC_TIME", "C")];
        assert_eq!(after, Environment::from_iter(wanted));
    }

    #[test]
    fn of_several_locales_the_missing_ones_are_left_out() {
        for (before, offered, after) in [
            (
                &[("LC_ALL", "xx_XX.UTF-8"), ("LANG", "en_US.UTF-8")] as Variables,
                &[] as Variables,
                &[("LANG", "en_US.UTF-8")] as Variables,
            ),
            (
                &[("LANG", "C")],
                &[("LANG", "fr_FR.UTF-8"), ("LC_TIME", "xx_XX.UTF-8")],
                &[("LANG", "fr_FR.UTF-8")],
            ),
        ] {
            let (chosen, changed) = chosen(before, offered);
            assert_eq!(chosen.choice, Choice::Named, "{before:?}");
            assert_eq!(changed, after.iter().copied().collect(), "{before:?}");
        }
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
            (
                &[("LANG", "xx_XX.UTF-8"), ("LC_TIME", "yy_YY")],
                &[("LC_CTYPE", "C.UTF-8")],
            ),
        ] {
            let (chosen, changed) = chosen(before, &[("LANG", "C")]);
            assert_eq!(chosen.choice, Choice::Fallback("C.UTF-8"), "{before:?}");
            assert_eq!(changed, after.iter().copied().collect(), "{before:?}");
        }
    }

    #[test]
    fn only_what_was_named_and_is_missing_is_told() {
        assert_eq!(chosen(&[("LANG", "C")], &[("LANG", "C")]).0.warning(), None);
        assert_eq!(chosen(&[], &[]).0.warning(), None);
        let (one, _) = chosen(&[("LANG", "C")], &[("LANG", "xx_XX.UTF-8")]);
        let told = one.warning().unwrap();
        assert!(told.contains("no locale xx_XX.UTF-8") && told.contains("get C.UTF-8"));
        let (other, _) = chosen(&[("LC_ALL", "yy_YY.UTF-8")], &[]);
        assert!(other.warning().unwrap().contains("yy_YY.UTF-8"));
    }

    #[test]
    fn a_machine_may_have_other_names_for_it_or_none() {
        for (locales, choice, value) in [
            (
                &[("C.utf8", "UTF-8")] as &[_],
                Choice::Fallback("C.utf8"),
                "C.utf8",
            ),
            (
                &[("en_US.UTF-8", "UTF-8"), ("C.UTF-8", "US-ASCII")],
                Choice::Fallback("en_US.UTF-8"),
                "en_US.UTF-8",
            ),
            (&[("C", "US-ASCII")], Choice::None, "C.UTF-8"),
        ] {
            let mut environment = Environment::default();
            let chosen = choose(&mut environment, &[], codeset(locales));
            assert_eq!(chosen.choice, choice);
            assert_eq!(environment.get("LC_CTYPE"), Some(OsStr::new(value)));
            assert_eq!(chosen.warning().is_some(), choice == Choice::None);
        }
    }
}
