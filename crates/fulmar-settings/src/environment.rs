//! A process's environment as a value: read once, changed at will, handed on.

use std::ffi::{OsStr, OsString};

use fulmar_login::LOCALE_VARIABLES;

/// Variables and their values, in the order in which they came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment(Vec<(OsString, OsString)>);

impl Environment {
    /// Returns the value of a variable, which may be empty.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        let found = self.0.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_os_str())
    }

    /// Returns the value of a variable if there is one that is not empty.
    pub fn get_filled(&self, name: &str) -> Option<&OsStr> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// Returns the value of a variable if it is text.
    pub fn get_text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(OsStr::to_str)
    }

    /// Returns the variables of the locale that there are, which may be empty, in the order of [`LOCALE_VARIABLES`].
    pub fn locale(&self) -> Vec<(OsString, OsString)> {
        let variable = |name: &&str| Some((OsString::from(name), self.get(name)?.to_owned()));
        LOCALE_VARIABLES.iter().filter_map(variable).collect()
    }

    /// Sets a variable.
    pub fn set(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) {
        let (name, value) = (name.as_ref(), value.as_ref());
        match self.0.iter_mut().find(|(key, _)| key == name) {
            Some((_, old)) => *old = value.to_owned(),
            None => self.0.push((name.to_owned(), value.to_owned())),
        }
    }

    /// Removes a variable.
    pub fn remove(&mut self, name: &str) {
        self.0.retain(|(key, _)| key != name);
    }

    /// Lists the variables.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

impl<N: Into<OsString>, V: Into<OsString>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Environment {
        let pairs = variables.into_iter();
        Environment(
            pairs
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_set_once_and_removed_altogether() {
        let mut environment = Environment::from_iter([("A", "1"), ("B", "")]);
        environment.set("A", "2");
        environment.set("C", "3");
        assert_eq!(
            environment,
            Environment::from_iter([("A", "2"), ("B", ""), ("C", "3")])
        );
        assert_eq!(environment.get("B"), Some(OsStr::new("")));
        assert_eq!(environment.get_filled("B"), None);
        environment.remove("A");
        assert_eq!(environment.get("A"), None);
    }

    #[test]
    fn a_locale_is_what_is_set_of_its_variables_in_their_order() {
        let variables = [("LC_ALL", ""), ("LC_FOO", "x"), ("LANG", "de")];
        let locale = Environment::from_iter(variables).locale();
        let told: Vec<_> = locale.iter().map(|(name, value)| (name, value)).collect();
        assert_eq!(
            told,
            [
                (&"LANG".into(), &"de".into()),
                (&"LC_ALL".into(), &"".into())
            ]
        );
    }
}
