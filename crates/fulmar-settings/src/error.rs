//! The errors of settings.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::document::ConfigError;
use crate::file_fault::FileFault;
use crate::source::ValueSource;

/// The reason why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The configuration file cannot be read or should not be trusted.
    #[error("{}: {fault}", path.display())]
    ConfigFile {
        /// Its path.
        path: PathBuf,
        /// The fault of the file.
        fault: FileFault,
    },
    /// The configuration file makes no sense.
    #[error("{}", listed(path, faults).join("; "))]
    Config {
        /// Its path.
        path: PathBuf,
        /// The faults and their lines; at least one.
        faults: Vec<ConfigError>,
    },
    /// A setting has a value that it cannot have.
    #[error("{place}: {name} cannot be {}: {why}", shown(value))]
    Setting {
        /// The name of the setting.
        name: &'static str,
        /// As it was written.
        value: OsString,
        /// The place where it was set.
        place: ValueSource,
        /// The rule for its values.
        why: String,
    },
    /// `MOSH_PREDICTION_DISPLAY` makes no sense; an error under the stock name only.
    #[error("unknown prediction mode {}", mode.display())]
    PredictionMode {
        /// The variable's value.
        mode: OsString,
    },
}

impl SettingsError {
    /// Says what happened, in one line or, of a file with several faults, in one for each.
    pub fn lines(&self) -> Vec<String> {
        match self {
            SettingsError::Config { path, faults } => listed(path, faults),
            other => vec![other.to_string()],
        }
    }

    /// Says what to try next.
    pub fn advice(&self) -> String {
        match self {
            SettingsError::ConfigFile { path, fault } => {
                let path = path.display();
                match fault {
                    FileFault::OthersOwn => {
                        format!("make it yours with chown, or ignore it with --config none: {path}")
                    }
                    FileFault::OthersWrite(_) => format!("chmod go-w {path}"),
                    _ => "name another file with --config FILE, or none with --config none"
                        .to_owned(),
                }
            }
            SettingsError::Config { .. } => {
                "fulmar man describes all settings; --config none ignores the file".to_owned()
            }
            SettingsError::Setting { name, .. } => {
                format!("fulmar --help describes --{name}")
            }
            SettingsError::PredictionMode { .. } => {
                "MOSH_PREDICTION_DISPLAY is one of adaptive, always, never, experimental".to_owned()
            }
        }
    }
}

/// Returns each fault of a file with its place.
fn listed(path: &Path, faults: &[ConfigError]) -> Vec<String> {
    let path = path.display();
    let lines = faults.iter().map(|fault| format!("{path}:{fault}"));
    lines.collect()
}

fn shown(value: &OsStr) -> String {
    if value.is_empty() {
        "empty".to_owned()
    } else {
        value.display().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config_file::ConfigLocation;
    use crate::environment::Environment;

    fn location() -> ConfigLocation {
        let named = Some(Path::new("/c"));
        ConfigLocation::find(named, &Environment::default()).expect("a name")
    }

    #[test]
    fn each_fault_of_a_file_has_a_line_of_its_own() {
        let content = b"port = true\ncolour = 1\n".to_vec();
        let error = location().parse(Some(content)).unwrap_err();
        assert_eq!(
            error.lines(),
            [
                "/c:1:8: port cannot be true: it is a text in quotes",
                "/c:2:1: there is no setting colour",
            ]
        );
        assert_eq!(error.to_string(), error.lines().join("; "));
        assert!(error.advice().contains("--config none"));
    }

    #[test]
    fn the_advice_about_a_file_says_what_makes_it_fit() {
        let advice = |fault| location().refused(fault).advice();
        assert_eq!(advice(FileFault::OthersWrite(0o666)), "chmod go-w /c");
        assert!(advice(FileFault::OthersOwn).contains("chown"));
        for fault in [
            FileFault::NotAFile,
            FileFault::TooLong,
            FileFault::NotText(1),
        ] {
            assert!(advice(fault).contains("--config FILE"));
        }
    }

    #[test]
    fn an_empty_value_is_shown_as_empty() {
        let error = SettingsError::Setting {
            name: "ssh",
            value: OsString::new(),
            place: ValueSource::Flag("--ssh".to_owned()),
            why: "it begins with the name of a program".to_owned(),
        };
        let told = "--ssh: ssh cannot be empty: it begins with the name of a program";
        assert_eq!(error.lines(), [told]);
        assert!(error.advice().contains("--ssh"));
    }
}
