//! Decides which of several values counts: flags beat the environment, and that beats the file.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use fulmar_core::CompatMode;

use crate::config_file::{ConfigFile, ConfigLocation};
use crate::environment::Environment;
use crate::error::SettingsError;
use crate::flags::GivenFlags;
use crate::setting::{Setting, SettingInfo, ValueForm};
use crate::source::ValueSource;

/// The sources of settings, besides the environment.
#[derive(Clone, Debug)]
pub struct SettingSources {
    flags: GivenFlags,
    /// The file that the user named.
    file: Option<PathBuf>,
    /// The host as it was written, without the user.
    host: Option<OsString>,
    compat: CompatMode,
}

/// A value before it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawValue<'a> {
    /// As it was written, or in our words if it was stock's.
    pub(crate) text: Cow<'a, OsStr>,
    /// The source that has set it.
    pub(crate) source: ValueSource,
}

impl RawValue<'_> {
    /// Returns the failure that follows when the text makes no sense.
    pub(crate) fn refused(self, about: &SettingInfo, why: String) -> SettingsError {
        SettingsError::Setting {
            name: about.name,
            value: self.text.into_owned(),
            place: self.source,
            why,
        }
    }
}

/// All sources together.
#[derive(Debug)]
pub struct SettingLayers<'a> {
    sources: &'a SettingSources,
    environment: &'a Environment,
    config: Option<ConfigFile>,
}

impl SettingSources {
    /// Returns the sources under our own name: flags, the file that was named or the usual one, and the
    /// host that was named, if any.
    pub fn own(flags: GivenFlags, file: Option<PathBuf>, host: Option<&OsStr>) -> SettingSources {
        SettingSources {
            flags,
            file,
            host: host.map(|host| without_user(host).to_owned()),
            compat: CompatMode::Fulmar,
        }
    }

    /// Returns the sources of a stand-in for stock: its variables and nothing else.
    pub fn stock() -> SettingSources {
        SettingSources {
            compat: CompatMode::Mosh,
            ..SettingSources::own(GivenFlags::default(), None, None)
        }
    }

    /// Returns whether the program behaves as Fulmar or as Mosh.
    pub fn compat_mode(&self) -> CompatMode {
        self.compat
    }

    /// Returns which configuration file is to be read, if any.
    pub fn config_location(&self, environment: &Environment) -> Option<ConfigLocation> {
        match self.compat {
            CompatMode::Fulmar => ConfigLocation::find(self.file.as_deref(), environment),
            CompatMode::Mosh => None,
        }
    }

    /// Puts them together with the environment and with the file of
    /// [`config_location`](SettingSources::config_location), if there is to be one.
    pub fn layers<'a>(
        &'a self,
        environment: &'a Environment,
        config: Option<ConfigFile>,
    ) -> SettingLayers<'a> {
        SettingLayers {
            sources: self,
            environment,
            config,
        }
    }
}

impl SettingLayers<'_> {
    /// Returns the file, if there may be one.
    pub(crate) fn config(&self) -> Option<&ConfigFile> {
        self.config.as_ref()
    }

    /// Returns whether the program behaves as Fulmar or as Mosh.
    pub(crate) fn compat_mode(&self) -> CompatMode {
        self.sources.compat
    }

    /// Returns the host that the settings are for.
    pub(crate) fn host(&self) -> Option<&OsStr> {
        self.sources.host.as_deref()
    }

    /// Returns the value of a setting.
    ///
    /// # Errors
    ///
    /// When what was found is not one.
    pub(crate) fn value<T>(&self, setting: &'static Setting<T>) -> Result<T, SettingsError> {
        let found = self.find(&setting.about);
        let read = (setting.parse)(&found.text);
        read.map_err(|why| found.refused(&setting.about, why))
    }

    /// Finds what counts.
    pub(crate) fn find(&self, about: &'static SettingInfo) -> RawValue<'_> {
        self.flag(about)
            .or_else(|| self.own_variable(about))
            .or_else(|| self.stock_variable(about))
            .or_else(|| self.file(about))
            .unwrap_or_else(|| RawValue {
                text: Cow::Borrowed(OsStr::new(about.default)),
                source: ValueSource::Default,
            })
    }

    fn flag(&self, about: &'static SettingInfo) -> Option<RawValue<'_>> {
        let given = self.sources.flags.find(about.name)?;
        Some(RawValue {
            text: Cow::Borrowed(&given.text),
            source: ValueSource::Flag(given.flag.clone()),
        })
    }

    /// An empty variable is none, so that one can be taken back for a single command.
    fn own_variable(&self, about: &'static SettingInfo) -> Option<RawValue<'_>> {
        if self.sources.compat == CompatMode::Mosh {
            return None;
        }
        let text = self.environment.get_filled(about.variable)?;
        Some(RawValue {
            text: Cow::Borrowed(text),
            source: ValueSource::Variable(about.variable),
        })
    }

    fn stock_variable(&self, about: &'static SettingInfo) -> Option<RawValue<'_>> {
        let variable = about.stock.as_ref()?;
        let text = self.environment.get(variable.name)?;
        Some(RawValue {
            text: Cow::Owned((variable.meaning)(text).into()),
            source: ValueSource::Variable(variable.name),
        })
    }

    fn file(&self, about: &'static SettingInfo) -> Option<RawValue<'_>> {
        let ConfigFile { path, document } = self.config.as_ref()?;
        let host = self.sources.host.as_deref();
        let entry = document.as_ref()?.find(about.name, host)?;
        let text = match about.shape {
            ValueForm::Path => self.at_home(&entry.text),
            _ => Cow::Borrowed(entry.text.as_os_str()),
        };
        Some(RawValue {
            text,
            source: ValueSource::File {
                path: path.clone(),
                line: entry.line,
            },
        })
    }

    /// Puts the home folder for a `~` at the beginning of a path, as a shell would have done.
    fn at_home<'b>(&self, path: &'b OsStr) -> Cow<'b, OsStr> {
        let home = self.environment.get_filled("HOME");
        match (Path::new(path).strip_prefix("~"), home) {
            (Ok(rest), Some(home)) => Cow::Owned(Path::new(home).join(rest).into()),
            _ => Cow::Borrowed(path),
        }
    }
}

/// Returns the host of `user@host`; the last `@` parts them, as for ssh.
fn without_user(host: &OsStr) -> &OsStr {
    let bytes = host.as_bytes();
    let at = bytes.iter().rposition(|&byte| byte == b'@');
    OsStr::from_bytes(at.map_or(bytes, |at| bytes.get(at + 1..).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{ESCAPE_KEY, INIT, LOG, PREDICT};

    fn found(
        sources: &SettingSources,
        variables: &[(&str, &str)],
        about: &'static SettingInfo,
    ) -> (String, String) {
        let environment = variables.iter().copied().collect();
        told(sources.layers(&environment, None).find(about))
    }

    fn told(found: RawValue<'_>) -> (String, String) {
        let text = found.text.to_string_lossy().into_owned();
        (text, found.source.to_string())
    }

    fn own() -> SettingSources {
        SettingSources::own(GivenFlags::default(), None, None)
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
    fn the_user_is_no_part_of_the_host() {
        for (words, host) in [
            ("example.org", "example.org"),
            ("ada@example.org", "example.org"),
            ("user%x@gw@example.org", "example.org"),
            ("@", ""),
        ] {
            assert_eq!(without_user(OsStr::new(words)), host);
        }
    }

    #[test]
    fn a_file_counts_least_and_its_home_folder_is_the_users() {
        let text = "predict = \"never\"\nlog = \"~/log\"\n[[host]]\nmatch = \"a\"\ninit = false\n";
        let say = |host: &str, variables: &[_], about| {
            let host = Some(OsStr::new(host));
            let sources = SettingSources::own(GivenFlags::default(), Some("file".into()), host);
            let environment: Environment = variables.iter().copied().collect();
            let location = sources.config_location(&environment).expect("a name");
            let config = location.parse(Some(text.into())).unwrap();
            let layers = sources.layers(&environment, Some(config));
            told(layers.find(about))
        };
        let told = |text: &str, source: &str| (text.to_owned(), source.to_owned());
        let stock = ("MOSH_PREDICTION_DISPLAY", "always");
        assert_eq!(say("a", &[stock], &PREDICT.about), told("always", stock.0));
        assert_eq!(say("a", &[], &PREDICT.about), told("never", "file:1"));
        assert_eq!(say("ada@a", &[], &INIT.about), told("false", "file:5"));
        assert_eq!(say("b", &[], &INIT.about), told("true", "default"));
        let home = ("HOME", "/home/ada");
        assert_eq!(
            say("a", &[home], &LOG.about),
            told("/home/ada/log", "file:2")
        );
        assert_eq!(say("a", &[], &LOG.about), told("~/log", "file:2"));
    }

    #[test]
    fn under_stocks_name_there_is_no_file() {
        let environment = [("FULMAR_CONFIG", "file"), ("HOME", "/home/ada")];
        let environment = environment.into_iter().collect();
        assert_eq!(SettingSources::stock().config_location(&environment), None);
        assert!(own().config_location(&environment).is_some());
    }

    #[test]
    fn a_value_that_makes_no_sense_is_told_with_its_place() {
        let environment = [("FULMAR_PREDICT", "some\ntimes")].into_iter().collect();
        let sources = own();
        let layers = sources.layers(&environment, None);
        let failure = layers.value(&PREDICT).unwrap_err();
        assert_eq!(
            failure.to_string(),
            "FULMAR_PREDICT: predict cannot be some\ntimes: \
             it is one of adaptive, always, never, experimental"
        );
    }
}
