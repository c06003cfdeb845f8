//! The names of sessions.

use std::fmt;

/// The name of a session: letters, digits, dots, dashes and underscores, with a letter or a digit first. So it is one word
/// to every shell, one name in a folder, and no option.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionName(String);

/// A word that cannot be the name of a session.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a session cannot be called {0:?}: a name has up to 32 letters from a to z, digits, dots, dashes and underscores, and begins \
     with a letter or digit"
)]
pub struct SessionNameError(String);

impl SessionName {
    /// The length of the longest name: it is a part of the path of a socket, which has room for some hundred bytes.
    ///
    /// Source: docs/protocol.md §2.9.
    pub const BYTES_MAX: usize = 32;

    /// Reads a name.
    ///
    /// # Errors
    ///
    /// When it is none.
    pub fn parse(text: &str) -> Result<SessionName, SessionNameError> {
        let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let begins = text.starts_with(|first: char| first.is_ascii_alphanumeric());
        if begins && text.len() <= SessionName::BYTES_MAX && text.bytes().all(is_inner) {
            Ok(SessionName(text.to_owned()))
        } else {
            Err(SessionNameError(text.to_owned()))
        }
    }

    /// Returns the name that the session of that number has on a machine of that name if the user gives it none.
    pub fn numbered(host: &str, number: u32) -> SessionName {
        let word = host.split('.').next().unwrap_or_default();
        let number = format!("-{number}");
        let word: String = word
            .chars()
            .filter(|character| character.is_ascii_alphanumeric() || *character == '-')
            .skip_while(|character| *character == '-')
            .take(SessionName::BYTES_MAX - number.len())
            .collect();
        let word = if word.is_empty() { "session" } else { &word };
        SessionName([word, &number].concat())
    }

    /// Returns it as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::str::FromStr for SessionName {
    type Err = SessionNameError;

    fn from_str(text: &str) -> Result<SessionName, SessionNameError> {
        SessionName::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_word_everywhere() {
        for name in ["work", "far-1", "a", "1.2_x", &"x".repeat(32)] {
            assert_eq!(SessionName::parse(name).unwrap().as_str(), name);
        }
        for other in [
            "",
            "-x",
            ".",
            "..",
            ".x",
            "_x",
            "a b",
            "a/b",
            "a\n",
            "ü",
            "a'b",
            &"x".repeat(33),
        ] {
            assert!(SessionName::parse(other).is_err(), "{other:?}");
        }
    }

    #[test]
    fn a_session_without_a_name_is_called_after_its_machine() {
        for (host, name) in [
            ("far", "far-1"),
            ("far.example.org", "far-1"),
            ("-a_b-c", "ab-c-1"),
            ("", "session-1"),
            ("(none)", "none-1"),
            (&"x".repeat(99), &format!("{}-1", "x".repeat(30))),
        ] {
            let numbered = SessionName::numbered(host, 1);
            assert_eq!(numbered.as_str(), name);
            assert_eq!(SessionName::parse(name), Ok(numbered));
        }
    }
}
