//! Which of several values counts: flags beat the environment, and that beats the file.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

use fulmar_core::Names;

use super::flags::Flags;
use super::setting::{About, Setting};
use crate::environment::Environment;
use crate::errors::Failure;

/// Where settings come from, besides the environment.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    flags: Flags,
    /// The file that the user named.
    #[expect(dead_code, reason = "the file is not read yet")]
    file: Option<PathBuf>,
    /// The host as it was written, without the user.
    #[expect(dead_code, reason = "the file is not read yet")]
    host: Option<OsString>,
    names: Names,
}

/// Who has set a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// This flag.
    Flag(String),
    /// This variable.
    Variable(&'static str),
    /// A line of the file.
    #[expect(dead_code, reason = "the file is not read yet")]
    File {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
    },
    /// Nobody.
    Default,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Flag(flag) => f.write_str(flag),
            Source::Variable(name) => f.write_str(name),
            Source::File { path, line } => write!(f, "{}:{line}", path.display()),
            Source::Default => f.write_str("default"),
        }
    }
}

/// A value before it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found<'a> {
    /// As it was written, or in our words if it was stock's.
    pub(crate) text: Cow<'a, OsStr>,
    /// By whom.
    pub(crate) source: Source,
}

/// All sources together.
#[derive(Debug)]
pub(crate) struct Layers<'a> {
    sources: &'a Sources,
    environment: &'a Environment,
}

impl Sources {
    /// Returns the sources under our own name: flags, the file that was named or the usual one, and the
    /// host that was named, if any.
    pub(crate) fn own(flags: Flags, file: Option<PathBuf>, host: Option<OsString>) -> Sources {
        Sources {
            flags,
            file,
            host,
            names: Names::Own,
        }
    }

    /// Returns the sources under the names of stock: its variables and nothing else.
    pub(crate) fn stock() -> Sources {
        Sources {
            names: Names::Stock,
            ..Sources::own(Flags::default(), None, None)
        }
    }

    /// Returns under whose names the program runs.
    pub(crate) fn names(&self) -> Names {
        self.names
    }

    /// Puts them together.
    ///
    /// # Errors
    ///
    /// When there is a file and it cannot be used.
    pub(crate) fn layers<'a>(
        &'a self,
        environment: &'a Environment,
    ) -> Result<Layers<'a>, Failure> {
        Ok(Layers {
            sources: self,
            environment,
        })
    }
}

impl Layers<'_> {
    /// Returns the value of a setting.
    ///
    /// # Errors
    ///
    /// When what was found is not one.
    pub(super) fn value<T>(&self, setting: &'static Setting<T>) -> Result<T, Failure> {
        let Found { text, source } = self.find(&setting.about);
        (setting.parse)(&text).map_err(|why| Failure::Setting {
            name: setting.about.name,
            value: text.into_owned(),
            place: source,
            why,
        })
    }

    /// Finds what counts.
    pub(crate) fn find(&self, about: &'static About) -> Found<'_> {
        self.flag(about)
            .or_else(|| self.own_variable(about))
            .or_else(|| self.stock_variable(about))
            .unwrap_or_else(|| Found {
                text: Cow::Borrowed(OsStr::new(about.default)),
                source: Source::Default,
            })
    }

    fn flag(&self, about: &'static About) -> Option<Found<'_>> {
        let given = self.sources.flags.find(about.name)?;
        Some(Found {
            text: Cow::Borrowed(&given.text),
            source: Source::Flag(given.flag.clone()),
        })
    }

    /// An empty variable is none, so that one can be taken back for a single command.
    fn own_variable(&self, about: &'static About) -> Option<Found<'_>> {
        if self.sources.names == Names::Stock {
            return None;
        }
        let text = self.environment.get_filled(about.variable)?;
        Some(Found {
            text: Cow::Borrowed(text),
            source: Source::Variable(about.variable),
        })
    }

    fn stock_variable(&self, about: &'static About) -> Option<Found<'_>> {
        let variable = about.stock.as_ref()?;
        let text = self.environment.get(variable.name)?;
        Some(Found {
            text: Cow::Owned((variable.meaning)(text).into()),
            source: Source::Variable(variable.name),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::{ESCAPE_KEY, PREDICT};
    use super::*;

    fn found(
        sources: &Sources,
        variables: &[(&str, &str)],
        about: &'static About,
    ) -> (String, String) {
        let environment = variables.iter().copied().collect();
        let layers = sources.layers(&environment).unwrap();
        let found = layers.find(about);
        (
            found.text.to_string_lossy().into_owned(),
            found.source.to_string(),
        )
    }

    fn own() -> Sources {
        Sources::own(Flags::default(), None, None)
    }

    #[test]
    fn our_variable_beats_stocks_and_an_empty_one_is_none() {
        let stock = ("MOSH_PREDICTION_DISPLAY", "never");
        let say = |variables: &[_]| found(&own(), variables, &PREDICT.about);
        let told = |text: &str, source: &str| (text.to_owned(), source.to_owned());
        assert_eq!(say(&[]), told("adaptive", "default"));
        assert_eq!(say(&[stock]), told("never", stock.0));
        let both = [stock, ("FULMAR_PREDICT", "always")];
        assert_eq!(say(&both), told("always", "FULMAR_PREDICT"));
        let taken_back = [stock, ("FULMAR_PREDICT", "")];
        assert_eq!(say(&taken_back), told("never", stock.0));
    }

    #[test]
    fn stocks_value_is_told_in_our_words() {
        let told = found(&own(), &[("MOSH_ESCAPE_KEY", "\x1d")], &ESCAPE_KEY.about);
        assert_eq!(told, ("^]".to_owned(), "MOSH_ESCAPE_KEY".to_owned()));
    }

    #[test]
    fn a_value_that_makes_no_sense_is_told_with_its_place() {
        let environment = [("FULMAR_PREDICT", "some\ntimes")].into_iter().collect();
        let sources = own();
        let layers = sources.layers(&environment).unwrap();
        let failure = layers.value(&PREDICT).unwrap_err();
        assert_eq!(
            failure.to_string(),
            "FULMAR_PREDICT: predict cannot be some\ntimes: \
             it is one of adaptive, always, never, experimental"
        );
    }
}
